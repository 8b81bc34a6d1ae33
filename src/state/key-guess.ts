/**
 * The key serializer of a changelog without a base: the only place where Flink does not write it.
 *
 * The registration of a timer state has it. Otherwise common serializers are tried on the changes: all keys must decode, what
 * stands behind them must end exactly, and each key must hash to the key group that it was logged under. Types whose keys
 * look and hash alike (Long and Double, a Tuple1 and its field) cannot be told apart: the most common one is taken. Kryo (generic
 * keys, those of Scala jobs among them) writes the class in front of each key; strings and whole numbers can be checked.
 */
import { javaHashCode, javaKeyType } from '../checkpoint/java-hash.js';
import { hashLong, hashString, keyGroupOfHash } from '../checkpoint/key-groups.js';
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { Codec, CodecContext, SerializerSnapshot } from '../serializers/codec.js';
import { readVersionedSnapshot } from '../serializers/registry.js';
import { JsonText, type Value } from '../types.js';

/** A change of keyed state: the bytes behind the state id, and what must follow the key. */
export interface KeySample {
  readonly keyGroup: number;
  readonly bytes: Uint8Array;
  /** steps over namespace and payload; @throws unless they end exactly */
  readonly rest: (c: Cursor) => void;
}

const BASE = 'org.apache.flink.api.common.typeutils.base.';
/** the most common ones first */
const SIMPLE = [
  'String',
  'Long',
  'Int',
  'Short',
  'Byte',
  'Boolean',
  'Double',
  'Float',
  'Char',
  'BigInt',
  'BigDec',
  'Date',
  'LocalDate',
  'LocalTime',
  'LocalDateTime',
  'Instant',
];
const FIELDS = ['String', 'Long', 'Int'];

/** The serializer that fits all samples, and how sure that is; undefined when none does. */
export function guessKey(
  samples: readonly KeySample[],
  maxParallelism: number,
  context: CodecContext,
): { readonly snapshot: SerializerSnapshot; readonly reason: string } | undefined {
  if (samples.length === 0) return undefined;
  const fitting: SerializerSnapshot[] = [];
  for (const snapshot of candidates()) {
    // a tuple, and Kryo, is looked for only when nothing simpler fits
    if (fitting.length > 0 && /^(Tuple|Kryo)Serializer$/.test(snapshot.serializer)) break;
    const type = javaKeyType(snapshot);
    const hashes = type === undefined ? kryoHashes : (value: Value) => [javaHashCode(type, value)];
    if (fits(samples, snapshot.codec(context), hashes, maxParallelism)) fitting.push(snapshot);
  }
  if (fitting.length === 0) return undefined;
  const [snapshot, ...alike] = fitting;
  const changes = new Set(
    samples.map(s => Buffer.from(s.bytes.buffer, s.bytes.byteOffset, Math.min(64, s.bytes.length)).toString('latin1')),
  );
  const also = alike.length === 0 ? '' : `; so does ${alike.map(s => s.text).join(', ')}`;
  return {
    snapshot,
    reason: `the changelog does not have the key serializer; ${snapshot.text} fits ${changes.size} different changes and their key groups${also}`,
  };
}

/** Hash codes that an object of this value may have: whole numbers are Integers or Longs. */
function kryoHashes(value: Value): readonly number[] {
  if (!(value instanceof JsonText)) return [];
  if (/^-?\d{1,19}$/.test(value.text)) return [hashLong(BigInt(value.text)), Number(BigInt.asIntN(32, BigInt(value.text)))];
  return value.text.startsWith('"') ? [hashString(JSON.parse(value.text) as string)] : [];
}

function fits(
  samples: readonly KeySample[],
  codec: Codec,
  hashes: (value: Value) => readonly (number | undefined)[],
  maxParallelism: number,
): boolean {
  const c = new Cursor(new Uint8Array(0));
  try {
    for (const { keyGroup, bytes, rest } of samples) {
      c.reset(bytes, 0, bytes.length);
      const possible = hashes(codec.read(c));
      if (!possible.some(hash => hash !== undefined && keyGroupOfHash(hash, maxParallelism) === keyGroup)) return false;
      rest(c);
    }
    return true;
  } catch (error) {
    if (error instanceof StateQueryError) return false;
    throw error;
  }
}

function* candidates(): Generator<SerializerSnapshot> {
  for (const name of SIMPLE) yield read(simple(name));
  for (const fields of tuples(2)) yield read(tuple(fields));
  for (const fields of tuples(3)) yield read(tuple(fields));
  yield read(kryo());
}

function* tuples(arity: number): Generator<readonly string[]> {
  if (arity === 0) yield [];
  else for (const rest of tuples(arity - 1)) for (const field of FIELDS) yield [...rest, field];
}

function read(bytes: Buffer): SerializerSnapshot {
  return readVersionedSnapshot(new Cursor(bytes));
}

function utf(text: string): Buffer {
  const bytes = Buffer.from(`\0\0${text}`, 'latin1');
  bytes.writeUInt16BE(text.length);
  return bytes;
}

function ints(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => void bytes.writeInt32BE(value, i * 4));
  return bytes;
}

/** utf class · i32 3 */
function simple(name: string): Buffer {
  return Buffer.concat([utf(`${BASE}${name}Serializer$${name}SerializerSnapshot`), ints(3)]);
}

/** utf class · i32 3 · i32 magic · i32 2 · utf tuple class · i32 magic · i32 1 · i32 n · fields */
function tuple(fields: readonly string[]): Buffer {
  return Buffer.concat([
    utf('org.apache.flink.api.java.typeutils.runtime.TupleSerializerSnapshot'),
    ints(3, 911108, 2),
    utf(`org.apache.flink.api.java.tuple.Tuple${fields.length}`),
    ints(1333245, 1, fields.length),
    ...fields.map(simple),
  ]);
}

/** utf class · i32 2 · utf type class · the type's own registration (kind 0) · no default serializers: LinkedOptionalMaps */
function kryo(): Buffer {
  const name = utf('java.lang.Object');
  const map = (...entries: readonly Buffer[]) => Buffer.concat([ints(0x4f2, 0xc69a3d70 | 0, entries.length), ...entries]);
  const present = (bytes: Buffer) => Buffer.concat([Buffer.of(1), ints(bytes.length), bytes]);
  return Buffer.concat([
    utf('org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializerSnapshot'),
    ints(2),
    name,
    map(Buffer.concat([name, present(name), present(Buffer.concat([name, ints(0)]))])),
    map(),
    map(),
  ]);
}
