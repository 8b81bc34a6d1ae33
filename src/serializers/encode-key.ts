/**
 * What a statement says of keys, as serialized keys and key groups.
 *
 * Tests on `key` as a whole and on its fields give the values that it can have (keys/constants.ts); the serializer's form of
 * these is known for most types (keys/bytes.ts), and so is Java's hash of most (checkpoint/java-hash.ts), from which the key
 * group follows. A key is found by its bytes: the group alone would not do, the bytes alone would, in every key group.
 *
 *   times that are stored finer than their SQL type: a constant stands for a thousand keys
 *   NaN: its bytes are not known, its hash is (Java has one for all of them)
 */
import { type JavaKeyType, javaHashCode, javaKeyType } from '../checkpoint/java-hash.js';
import { keyGroupOfHash } from '../checkpoint/key-groups.js';
import { textOf } from '../io/json.js';
import { type SqlType, Struct, Timestamp, type Value } from '../types.js';
import type { SerializerSnapshot } from './codec.js';
import { encodeString, keyBytes, writesKeys } from './keys/bytes.js';
import { type ConstantForm, type KeyConstant, valuesOfConstant } from './keys/constants.js';
import { objectParts } from './keys/object-parts.js';

export { encodeString, type KeyConstant };

/** One of these constants equals the key, or the field of it at `path`. */
export interface KeyTest {
  readonly path: readonly string[];
  readonly values: readonly KeyConstant[];
  readonly form: ConstantForm;
}

/** Keys that can satisfy the tests: either is missing where it is not known. */
export interface EncodedKey {
  readonly bytes?: Uint8Array;
  /** key group among `maxParallelism` */
  readonly keyGroupOf?: (maxParallelism: number) => number;
}

/** Final classes that Kryo writes: their bytes may have several forms, their hash is known. */
const KRYO_HASHES: ReadonlyMap<string, JavaKeyType> = new Map([
  ['java.util.UUID', { kind: 'UUID' }],
  ['java.time.LocalDate', { kind: 'LocalDate' }],
  ['java.time.LocalTime', { kind: 'LocalTime' }],
  ['java.time.LocalDateTime', { kind: 'LocalDateTime' }],
]);

/** more candidates than these are not looked up one by one */
const MAX_CANDIDATES = 16384;

/**
 * The serialized keys that can satisfy all of the tests.
 * @param type SQL type of the keys, its field names as the tests have them
 * @returns `[]`: no key of this serializer can; undefined: nothing can be said
 */
export function encodeKeys(snapshot: SerializerSnapshot, type: SqlType, tests: readonly KeyTest[]): readonly EncodedKey[] | undefined {
  const values = candidates(snapshot, type, tests, 0);
  if (values === undefined) return undefined;
  const hashType =
    javaKeyType(snapshot) ?? KRYO_HASHES.get(snapshot.serializer === 'KryoSerializer' ? String(snapshot.details['typeClass']) : '');
  const out: EncodedKey[] = [];
  for (const value of values) {
    const forms = keyBytes(snapshot, value);
    if (forms?.length === 0) continue;
    if (hashType?.kind === 'BinaryRow') {
      // the hash is one of the bytes behind the length
      if (forms === undefined) return undefined;
      out.push(...forms.map(bytes => ({ bytes, ...groupOf(hashType, bytes.subarray(4)) })));
      continue;
    }
    const group = hashType === undefined ? {} : groupOf(hashType, value);
    if (forms === undefined) {
      if (!('keyGroupOf' in group)) return undefined;
      out.push(group);
    } else out.push(...forms.map(bytes => ({ bytes, ...group })));
  }
  return out;
}

function groupOf(type: JavaKeyType, value: Value): Pick<EncodedKey, 'keyGroupOf'> {
  const hash = javaHashCode(type, value);
  return hash === undefined ? {} : { keyGroupOf: max => keyGroupOfHash(hash, max) };
}

/** The values that can satisfy the tests; undefined: too many, or not to be known. */
function candidates(snapshot: SerializerSnapshot, type: SqlType, tests: readonly KeyTest[], depth: number): readonly Value[] | undefined {
  let found: readonly Value[] | undefined;
  for (const test of tests) {
    if (test.path.length > depth) continue;
    const values = wholeValues(snapshot, type, test);
    if (values !== undefined) found = found === undefined ? values : intersection(type, found, values);
    if (found?.length === 0) return [];
  }
  if (found !== undefined || type.kind !== 'STRUCT') return found;
  return structs(snapshot, type, tests, depth);
}

function wholeValues(snapshot: SerializerSnapshot, type: SqlType, test: KeyTest): readonly Value[] | undefined {
  const out: Value[] = [];
  for (const constant of test.values) {
    if (test.form !== 'typed' && constant.kind === 'string' && /^[[{]/.test(constant.value) && !writesKeys(snapshot)) {
      // whatever a serializer could decode in part only is shown as an object
      return undefined;
    }
    const values =
      type.kind === 'STRUCT' && test.form !== 'typed'
        ? shownStructs(snapshot, type, constant)
        : valuesOfConstant(type, constant, test.form);
    if (values === undefined) return undefined;
    const finer = test.form === 'typed' && (type.kind === 'TIMESTAMP' || type.kind === 'TIMESTAMPTZ') && storesNanos(snapshot);
    out.push(...(finer ? values.flatMap(withNanos) : values));
    if (out.length > MAX_CANDIDATES) return undefined;
  }
  return out;
}

/** Whether times are stored with nanoseconds, of which a TIMESTAMP column shows the microseconds. */
function storesNanos(snapshot: SerializerSnapshot): boolean {
  switch (snapshot.serializer) {
    case 'TimestampDataSerializer':
      return (snapshot.details['precision'] as number) > 3;
    case 'DateSerializer':
      return false;
    default:
      return true;
  }
}

function withNanos(value: Value): readonly Value[] {
  if (!(value instanceof Timestamp)) return [value];
  return Array.from({ length: 1000 }, (_, i) => new Timestamp(value.seconds, value.nanos + i));
}

/** The rows that are shown as this JSON object. */
function shownStructs(
  snapshot: SerializerSnapshot,
  type: SqlType & { kind: 'STRUCT' },
  constant: KeyConstant,
): readonly Value[] | undefined {
  if (constant.kind !== 'string') return undefined;
  if (!constant.value.startsWith('{')) return [];
  const parts = objectParts(constant.value);
  // what is shown beside the fields is not in the value
  if (parts === undefined || parts.length !== type.fields.length) return undefined;
  if (!type.fields.every((f, i) => f.name === parts[i].name)) return undefined;
  const tests = parts.map(({ name, json }): KeyTest => ({ path: [name], values: [{ kind: 'string', value: json }], form: 'json' }));
  return structs(snapshot, type, tests, 0);
}

/** Rows of which every field is known. */
function structs(
  snapshot: SerializerSnapshot,
  type: SqlType & { kind: 'STRUCT' },
  tests: readonly KeyTest[],
  depth: number,
): readonly Value[] | undefined {
  if (snapshot.children.length !== type.fields.length) return undefined;
  let rows: (readonly Value[])[] | undefined = [[]];
  for (const [i, field] of type.fields.entries()) {
    const own = tests.filter(t => t.path[depth]?.toLowerCase() === field.name.toLowerCase());
    const isNull = own.some(t => t.form === 'json' && t.values.every(v => v.kind === 'string' && v.value === 'null'));
    const values = isNull ? [null] : own.length === 0 ? undefined : candidates(snapshot.children[i].snapshot, field.type, own, depth + 1);
    if (values?.length === 0) return [];
    if (values === undefined || rows === undefined || rows.length * values.length > MAX_CANDIDATES) rows = undefined;
    else rows = rows.flatMap(row => values.map(value => [...row, value]));
  }
  return rows?.map(row => new Struct(row));
}

function intersection(type: SqlType, a: readonly Value[], b: readonly Value[]): readonly Value[] {
  const texts = new Set(b.map(v => textOf(type, v)));
  return a.filter(v => texts.has(textOf(type, v)));
}
