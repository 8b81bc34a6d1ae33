/**
 * What can go wrong, as the user sees it: contract §4. One class a kind; `code` names the reason, `exitCode` is the process's.
 *
 * UsageError 2 · NotFoundError 3 · IoError 4 · CorruptError 5 · UnsupportedError 6 · SqlError 7 · InterruptedError 130
 * Anything that is not a StateQueryError is a bug in statequery (1).
 */

export interface ErrorOrigin {
  /** path of the file, or what stands for it (`_metadata inline state "…"`) */
  readonly file?: string;
  /** byte offset in that file */
  readonly offset?: number;
  /** place in the format: `operator 2, subtask 0, keyed state handle` */
  readonly where?: string;
}

export interface ErrorDetails extends ErrorOrigin {
  readonly hint?: string;
  readonly cause?: unknown;
}

export class StateQueryError extends Error {
  readonly hint: string | undefined;
  readonly file: string | undefined;
  readonly offset: number | undefined;
  readonly where: string | undefined;
  constructor(
    readonly code: string,
    readonly exitCode: number,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.hint = details.hint;
    this.file = details.file;
    this.offset = details.offset;
    this.where = details.where;
  }
  /** The same error with its place in the format, where it does not have one, and with an action, where it has none. */
  with(details: { readonly where?: string; readonly hint?: string }): this {
    if ((this.where ?? details.where) === this.where && (this.hint ?? details.hint) === this.hint) return this;
    const copy = Object.create(Object.getPrototypeOf(this), Object.getOwnPropertyDescriptors(this)) as this;
    const values = { where: this.where ?? details.where, hint: this.hint ?? details.hint };
    for (const [name, value] of Object.entries(values)) Object.defineProperty(copy, name, { value, enumerable: true, configurable: true });
    return copy;
  }
  /** What failed, and where: the one line of the message. */
  describe(): string {
    const at = [
      this.file === undefined ? undefined : this.file,
      this.offset === undefined ? undefined : `byte ${this.offset}`,
      this.where,
    ].filter(x => x !== undefined);
    return at.length === 0 ? this.message : `${this.message} (${at.join(', ')})`;
  }
}

/** The command line is wrong. */
export class UsageError extends StateQueryError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('USAGE', 2, message, details);
  }
}
/** What the command line names, or a state file, is not there. */
export class NotFoundError extends StateQueryError {
  constructor(message: string, details: ErrorDetails = {}, code = 'NOT_FOUND') {
    super(code, 3, message, details);
  }
}
/** Permission, network, a file that vanished during the read. */
export class IoError extends StateQueryError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('IO', 4, message, details);
  }
}
/** The bytes contradict the format. */
export class CorruptError extends StateQueryError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('CORRUPT', 5, message, details);
  }
}
/** A version or format that is known of and not read. */
export class UnsupportedError extends StateQueryError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('UNSUPPORTED', 6, message, details);
  }
}
export type SqlErrorCode =
  | 'SQL_SYNTAX'
  | 'UNKNOWN_TABLE'
  | 'UNKNOWN_COLUMN'
  | 'REFUSED'
  | 'TIMEOUT'
  | 'OUT_OF_MEMORY'
  | 'VALUE_OUT_OF_RANGE'
  | 'SQL_ERROR';
/** The SQL text: syntax, names, refused, limits. */
export class SqlError extends StateQueryError {
  readonly line: number | undefined;
  readonly column: number | undefined;
  constructor(code: SqlErrorCode, message: string, details: ErrorDetails & { line?: number; column?: number } = {}) {
    super(code, 7, message, details);
    this.line = details.line;
    this.column = details.column;
  }
}
/** Ctrl-C. */
export class InterruptedError extends StateQueryError {
  constructor(message = 'interrupted') {
    super('INTERRUPTED', 130, message);
  }
}

/** An error as plain data: what comes to another thread. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: PlainError | undefined;
  /** of a StateQueryError */
  readonly ours: (ErrorDetails & { readonly code: string; readonly exitCode: number }) | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** An error, and those behind it, as plain data. */
export function plainError(error: unknown): PlainError {
  const e = error instanceof Error ? error : new Error(String(error));
  const { code, exitCode, file, offset, where, hint } = e as StateQueryError;
  const defined = { ...(file !== undefined && { file }), ...(offset !== undefined && { offset }), ...(where !== undefined && { where }) };
  return {
    name: e.name,
    message: e.message,
    stack: e.stack,
    cause: e.cause === undefined ? undefined : plainError(e.cause),
    ours: e instanceof StateQueryError ? { code, exitCode, ...defined, ...(hint !== undefined && { hint }) } : undefined,
    line: e instanceof SqlError ? e.line : undefined,
    column: e instanceof SqlError ? e.column : undefined,
  };
}

/** The error that `plainError` was made of: same class, place and words. */
export function errorOf({ name, message, stack, cause, ours, line, column }: PlainError): Error {
  const error = ours === undefined ? new Error(message) : ourError(message, ours, line, column);
  const values = { name, stack, ...(cause === undefined ? {} : { cause: errorOf(cause) }) };
  for (const [key, value] of Object.entries(values))
    Object.defineProperty(error, key, { value, enumerable: false, configurable: true, writable: true });
  return error;
}

function ourError(
  message: string,
  { code, exitCode, ...details }: ErrorDetails & { readonly code: string; readonly exitCode: number },
  line: number | undefined,
  column: number | undefined,
): StateQueryError {
  switch (exitCode) {
    case 2:
      return new UsageError(message, details);
    case 3:
      return new NotFoundError(message, details, code);
    case 4:
      return new IoError(message, details);
    case 5:
      return new CorruptError(message, details);
    case 6:
      return new UnsupportedError(message, details);
    case 7:
      return new SqlError(code as SqlErrorCode, message, {
        ...details,
        ...(line === undefined ? {} : { line }),
        ...(column === undefined ? {} : { column }),
      });
    case 130:
      return new InterruptedError(message);
    default:
      return new StateQueryError(code, exitCode, message, details);
  }
}
