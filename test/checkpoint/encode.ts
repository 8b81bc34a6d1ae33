/**
 * Writes `_metadata` by its layout, for what no reachable Flink writes any more (the versions of 1.3, 1.11 and 1.14) and for damage.
 * It shares nothing with the reader but the format.
 */

/** Parts of a file: numbers are single bytes, arrays are joined. */
export type Part = number | Uint8Array | readonly Part[];

export function bytesOf(...parts: readonly Part[]): Buffer {
  const flat: Buffer[] = [];
  const add = (part: Part): void => {
    if (typeof part === 'number') flat.push(Buffer.of(part));
    else if (part instanceof Uint8Array) flat.push(Buffer.from(part));
    else for (const p of part) add(p);
  };
  add(parts);
  return Buffer.concat(flat);
}

export const i32 = (n: number): Buffer => {
  const b = Buffer.alloc(4);
  b.writeInt32BE(n | 0);
  return b;
};
export const i64 = (n: number | bigint): Buffer => {
  const b = Buffer.alloc(8);
  b.writeBigInt64BE(BigInt(n));
  return b;
};
/** DataOutput.writeUTF of ASCII text. */
export const utf = (text: string): Buffer => {
  const b = Buffer.alloc(2 + text.length, text);
  b.writeUInt16BE(text.length);
  b.write(text, 2, 'latin1');
  return b;
};
export const list = (items: readonly Part[]): Part => [i32(items.length), ...items];
export const hex = (text: string): Buffer => Buffer.from(text.replace(/\s+/g, ''), 'hex');

export const NULL = 0;
export const inline = (name: string, bytes: Uint8Array): Part => [1, utf(name), i32(bytes.length), bytes];
export const file = (path: string, size: number): Part => [2, i64(size), utf(path)];
export const relative = (path: string, size: number): Part => [6, utf(path), i64(size)];
export const segment = (path: string, start: number, size: number, scope: 0 | 1): Part => [
  15,
  i64(start),
  i64(size),
  i32(scope),
  utf(path),
  utf('logical-1'),
];
export const EMPTY_SEGMENT = 16;

export const keyGroups = (tag: 3 | 7 | 12, first: number, offsets: readonly number[], stream: Part): Part => [
  tag,
  i32(first),
  list(offsets.map(i64)),
  stream,
  tag === 12 ? utf('kg-id') : [],
];

export interface SubtaskParts {
  readonly managedOperator?: Part;
  readonly rawOperator?: Part;
  readonly managedKeyed?: Part;
  readonly rawKeyed?: Part;
  readonly inputs?: readonly Part[];
  readonly outputs?: readonly Part[];
}

export interface OperatorParts {
  readonly id?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly parallelism?: number;
  readonly maxParallelism?: number;
  readonly coordinator?: Part;
  /** undefined: fully finished */
  readonly subtasks?: readonly { readonly index: number; readonly body?: SubtaskParts; readonly legacy?: Part }[];
}

/** A whole file. V4 and later end with a Java stream of null. */
export function metadata(version: number, operators: readonly OperatorParts[], masterStates: readonly Part[] = []): Buffer {
  return bytesOf(
    hex('4960672d'),
    i32(version),
    i64(7),
    list(masterStates),
    list(operators.map(o => operatorPart(version, o))),
    version >= 4 ? hex('aced0005 70') : [],
  );
}

function operatorPart(version: number, o: OperatorParts): Part {
  return [
    version >= 5 ? [utf(o.name ?? ''), utf(o.uid ?? '')] : [],
    hex(o.id ?? '8409efe6adc6d20787611f16017c808f'),
    i32(o.parallelism ?? 2),
    i32(o.maxParallelism ?? 128),
    version >= 3 ? (o.coordinator ?? NULL) : i32(1),
    o.subtasks === undefined ? i32(-1) : list(o.subtasks.map(s => subtaskPart(version, s))),
  ];
}

function subtaskPart(version: number, s: NonNullable<OperatorParts['subtasks']>[number]): Part {
  const { body } = s;
  if (body === undefined) return i32(-s.index - 1);
  const optional = (part: Part | undefined): Part => (part === undefined ? i32(0) : [i32(1), part]);
  return [
    i32(s.index),
    version === 2 ? [i64(-1), list(s.legacy === undefined ? [] : [s.legacy])] : [],
    optional(body.managedOperator),
    optional(body.rawOperator),
    body.managedKeyed ?? NULL,
    body.rawKeyed ?? NULL,
    version >= 3 ? [list(body.inputs ?? []), list(body.outputs ?? [])] : [],
  ];
}

/** One operator with one subtask that has a keyed handle. */
export const withKeyed = (version: number, managedKeyed: Part): Buffer =>
  metadata(version, [{ subtasks: [{ index: 0, body: { managedKeyed } }] }]);

/** For `expect.addEqualityTesters`: a Buffer and a Uint8Array of the same bytes are equal. */
export function sameBytes(a: unknown, b: unknown): boolean | undefined {
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array)) return undefined;
  return Buffer.compare(a, b) === 0;
}
