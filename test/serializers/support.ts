/** What the tests of serializers share: the corpus, a writer of Flink's bytes, the three ways of decoding. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { columnValue, createColumn } from '../../src/io/column.js';
import { Cursor } from '../../src/io/cursor.js';
import { jsonOf } from '../../src/io/json.js';
import type { Codec, SerializerSnapshot } from '../../src/serializers/codec.js';
import { readVersionedSnapshot } from '../../src/serializers/registry.js';
import type { Value } from '../../src/types.js';

export const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(import.meta.dirname, '../../../shared');
export const PAIRS = join(SHARED, 'corpus/serializers');
export const hasCorpus = existsSync(PAIRS);

/** The pairs of one serializer: folder and Flink version, oldest first. */
export function pairsOf(serializer: string): { folder: string; version: string }[] {
  if (!hasCorpus) return [];
  const order = (v: string) => Number(v.split('.')[0]) * 1000 + Number(v.split('.')[1]);
  return readdirSync(PAIRS)
    .filter(name => name.startsWith(`${serializer}-`) && /^\d+\.\d+$/.test(name.slice(serializer.length + 1)))
    .map(name => ({ folder: join(PAIRS, name), version: name.slice(serializer.length + 1) }))
    .sort((a, b) => order(a.version) - order(b.version));
}

/** java.io.DataOutput, as far as tests need it. */
export class Out {
  private readonly parts: Buffer[] = [];
  private fixed(size: number, write: (b: Buffer) => void): this {
    const b = Buffer.alloc(size);
    write(b);
    this.parts.push(b);
    return this;
  }
  u8(n: number): this {
    return this.fixed(1, b => void b.writeUInt8(n & 0xff));
  }
  bool(x: boolean): this {
    return this.u8(x ? 1 : 0);
  }
  i16(n: number): this {
    return this.fixed(2, b => void b.writeInt16BE(n));
  }
  u16(n: number): this {
    return this.fixed(2, b => void b.writeUInt16BE(n));
  }
  i32(n: number): this {
    return this.fixed(4, b => void b.writeInt32BE(n));
  }
  i64(n: bigint): this {
    return this.fixed(8, b => void b.writeBigInt64BE(n));
  }
  f32(n: number): this {
    return this.fixed(4, b => void b.writeFloatBE(n));
  }
  f64(n: number): this {
    return this.fixed(8, b => void b.writeDoubleBE(n));
  }
  raw(bytes: Uint8Array): this {
    this.parts.push(Buffer.from(bytes));
    return this;
  }
  /** writeUTF */
  utf(text: string): this {
    const bytes: number[] = [];
    for (let i = 0; i < text.length; i++) {
      const u = text.charCodeAt(i);
      if (u !== 0 && u < 0x80) bytes.push(u);
      else if (u < 0x800) bytes.push(0xc0 | (u >> 6), 0x80 | (u & 0x3f));
      else bytes.push(0xe0 | (u >> 12), 0x80 | ((u >> 6) & 0x3f), 0x80 | (u & 0x3f));
    }
    return this.u16(bytes.length).raw(Uint8Array.from(bytes));
  }
  varint(n: number): this {
    let left = n;
    for (; left >= 0x80; left = Math.floor(left / 128)) this.u8((left & 0x7f) | 0x80);
    return this.u8(left);
  }
  /** StringValue.writeString */
  string(text: string | null): this {
    if (text === null) return this.u8(0);
    this.varint(text.length + 1);
    for (let i = 0; i < text.length; i++) this.varint(text.charCodeAt(i));
    return this;
  }
  /** BigIntSerializer */
  bigInteger(n: bigint | null): this {
    if (n === null) return this.i32(0);
    if (n === 0n) return this.i32(1);
    if (n === 1n) return this.i32(2);
    if (n === 10n) return this.i32(3);
    let size = 1;
    while (BigInt.asIntN(size * 8, n) !== n) size++;
    const bytes = new Uint8Array(size);
    for (let i = 0; i < size; i++) bytes[size - 1 - i] = Number((n >> BigInt(i * 8)) & 0xffn);
    return this.i32(size + 4).raw(bytes);
  }
  get bytes(): Buffer {
    return Buffer.concat(this.parts);
  }
}

const BASE = 'org.apache.flink.api.common.typeutils.base.';
const RUNTIME = 'org.apache.flink.api.java.typeutils.runtime.';

/** Serializer snapshots as Flink ≥ 1.8 writes them; each function gives a versioned snapshot's bytes. */
export const snapshots = {
  simple: (name: string) => new Out().utf(`${BASE}${name}Serializer$${name}SerializerSnapshot`).i32(3).bytes,
  array: (name: string) => new Out().utf(`${BASE}array.${name}ArraySerializer$${name}ArraySerializerSnapshot`).i32(3).bytes,
  composite: (className: string, outerVersion: number, outer: Uint8Array, nested: readonly Uint8Array[]) => {
    const out = new Out().utf(className).i32(3).i32(911108).i32(outerVersion).raw(outer).i32(1333245).i32(1).i32(nested.length);
    for (const n of nested) out.raw(n);
    return out.bytes;
  },
  list: (element: Uint8Array) => snapshots.composite(`${BASE}ListSerializerSnapshot`, 1, NONE, [element]),
  set: (element: Uint8Array) => snapshots.composite(`${BASE}SetSerializerSnapshot`, 1, NONE, [element]),
  map: (key: Uint8Array, value: Uint8Array) => snapshots.composite(`${BASE}MapSerializerSnapshot`, 1, NONE, [key, value]),
  genericArray: (element: Uint8Array) =>
    snapshots.composite(`${BASE}GenericArraySerializerSnapshot`, 1, new Out().utf('java.lang.Object').bytes, [element]),
  tuple: (...fields: readonly Uint8Array[]) =>
    snapshots.composite(
      `${RUNTIME}TupleSerializerSnapshot`,
      2,
      new Out().utf(`org.apache.flink.api.java.tuple.Tuple${fields.length}`).bytes,
      fields,
    ),
  row: (...fields: readonly Uint8Array[]) =>
    snapshots.composite(`${RUNTIME}RowSerializer$RowSerializerSnapshot`, 4, Uint8Array.of(1), fields),
  either: (left: Uint8Array, right: Uint8Array) => snapshots.composite(`${RUNTIME}JavaEitherSerializerSnapshot`, 1, NONE, [left, right]),
  nullable: (inner: Uint8Array, padding: number) =>
    snapshots.composite(`${RUNTIME}NullableSerializer$NullableSerializerSnapshot`, 2, new Out().i32(padding).bytes, [inner]),
  enum: (...constants: readonly string[]) => {
    const out = new Out().utf(`${BASE}EnumSerializer$EnumSerializerSnapshot`).i32(3).utf('com.x.Color').i32(constants.length);
    for (const name of constants) out.utf(name);
    return out.bytes;
  },
  pojo: (
    fields: readonly (readonly [string, Uint8Array])[],
    registered: readonly (readonly [string, Uint8Array])[] = [],
    others: readonly (readonly [string, Uint8Array])[] = [],
    className = 'com.x.Pojo',
  ) => {
    const out = new Out().utf(`${RUNTIME}PojoSerializerSnapshot`).i32(2).utf(className);
    const optionalMap = (entries: readonly (readonly [string, Uint8Array, Uint8Array])[]): void => {
      out.i64(0x4f2c69a3d70n).i32(entries.length);
      for (const [name, key, value] of entries) out.utf(name).bool(true).i32(key.length).raw(key).bool(true).i32(value.length).raw(value);
    };
    optionalMap(fields.map(([name, s]) => [name, new Out().utf(className).utf(name).bytes, s] as const));
    optionalMap(registered.map(([name, s]) => [name, NONE, s] as const));
    optionalMap(others.map(([name, s]) => [name, NONE, s] as const));
    return out.bytes;
  },
  /** a CopyableValue of a class that nobody knows: its end is unknown */
  opaque: () => new Out().utf(`${RUNTIME}ValueSerializer$ValueSerializerSnapshot`).i32(2).utf('com.x.Secret').bytes,
};
const NONE = new Uint8Array(0);

/** Reads a versioned snapshot to its last byte. */
export function snapshotOf(bytes: Uint8Array): SerializerSnapshot {
  const c = new Cursor(bytes);
  const snapshot = readVersionedSnapshot(c);
  c.expectEnd('snapshot');
  return snapshot;
}

export function codecFor(bytes: Uint8Array): Codec {
  return snapshotOf(bytes).codec({});
}

export interface Decoded {
  readonly value: Value;
  readonly json: string;
  /** what a column of the type holds, as JSON; undefined when the column refuses the value */
  readonly column: string | undefined;
  readonly end: number;
}

/** Decodes by read, skip and append; fails unless the three end at the same byte. */
export function decode(codec: Codec, bytes: Uint8Array): Decoded {
  const c = new Cursor(bytes);
  const value = codec.read(c);
  const s = new Cursor(bytes);
  codec.skip(s);
  if (s.position !== c.position) throw new Error(`skip ends at ${s.position}, read at ${c.position}`);
  const a = new Cursor(bytes);
  const column = createColumn(codec.type, 1);
  let appended: string | undefined;
  try {
    codec.append(a, column);
    appended = jsonOf(codec.type, columnValue(column, 0));
    if (column.length !== 1) throw new Error(`append made ${column.length} rows`);
    if (a.position !== c.position) throw new Error(`append ends at ${a.position}, read at ${c.position}`);
  } catch (error) {
    if ((error as { code?: string }).code !== 'VALUE_OUT_OF_RANGE') throw error;
  }
  return { value, json: jsonOf(codec.type, value), column: appended, end: c.position };
}
