/**
 * Errors as the user sees them: contract §4.
 *
 *   error: what failed (file, byte, place in the format; SQL: line and column)
 *   hint: what to do
 *
 * With --json one object on standard error: {"error":{"code","message","hint","file","offset"}}. The exit code says the kind.
 */
import { CommanderError } from 'commander';
import { InterruptedError, IoError, SqlError, StateQueryError, UsageError } from '../errors.js';
import type { Paint } from '../output/color.js';
import { escapeText } from '../output/escape.js';
import { OutputClosed } from '../output/sink.js';

/** Ends a run with 10: differences or incompatibilities were found, and have been written (contract §4). */
export class DifferencesFound extends Error {}

export interface ReportOptions {
  readonly json: boolean;
  readonly paint: Paint;
  /** a stack trace goes with it */
  readonly stack: boolean;
}

/** The text for standard error and the exit code. */
export function report(error: unknown, options: ReportOptions): { readonly text: string; readonly exitCode: number } {
  if (error instanceof OutputClosed) return { text: '', exitCode: 0 };
  if (error instanceof DifferencesFound) return { text: '', exitCode: 10 };
  if (error instanceof CommanderError && error.exitCode === 0) return { text: '', exitCode: 0 };
  const known = knownError(error);
  if (options.json) {
    const body = {
      code: known.code,
      message: messageOf(known),
      hint: known.hint ?? null,
      file: known.file ?? null,
      offset: known.offset ?? null,
      ...(known instanceof SqlError && known.line !== undefined ? { line: known.line, column: known.column ?? null } : {}),
    };
    return { text: `${JSON.stringify({ error: body })}\n`, exitCode: known.exitCode };
  }
  const { paint } = options;
  const lines = [`${paint.red('error:')} ${escapeLines(messageOf(known))}`];
  if (known.hint !== undefined) lines.push(`${paint.cyan('hint:')} ${escapeLines(known.hint)}`);
  if (options.stack) {
    const original = known.cause instanceof Error && known.code === 'BUG' ? known.cause : known;
    lines.push(paint.dim(original.stack ?? ''));
  }
  return { text: `${lines.join('\n')}\n`, exitCode: known.exitCode };
}

/** Where and what, on one line (a message of the engine may have more). */
function messageOf(error: StateQueryError): string {
  const text = error.describe();
  if (!(error instanceof SqlError) || error.line === undefined || /\bline \d/.test(text)) return text;
  return `${text} (line ${error.line}${error.column === undefined ? '' : `, column ${error.column}`})`;
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).join('\n');
}

function knownError(error: unknown): StateQueryError {
  if (error instanceof StateQueryError) return error;
  if (error instanceof CommanderError) return usage(error);
  if (error instanceof Error && 'syscall' in error && 'code' in error) return new IoError(error.message, { cause: error });
  if (error instanceof Error && error.name === 'AbortError') return new InterruptedError();
  const message = error instanceof Error ? error.message : String(error);
  return new StateQueryError('BUG', 1, `internal error: ${message}`, {
    hint: 'this is a bug in statequery; with -v -v it shows where',
    cause: error,
  });
}

/** commander's `error: unknown option '--x'\n(Did you mean --y?)` as message and hint. */
function usage(error: CommanderError): UsageError {
  const [first, ...rest] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = /^\((Did you mean .*)\)$/.exec(rest.join(' ').trim())?.[1];
  return new UsageError(first, {
    hint: suggestion === undefined ? 'statequery --help, or --help after a command' : suggestion.replace(/^D/, 'd'),
  });
}
