/**
 * `hashCode()` of the Java classes that keys commonly have, computed from our values.
 *
 *   String                     31·h + UTF-16 unit                    Byte Short Integer   the value      Character   the unit
 *   Long                       low ^ high                            Boolean              1231 | 1237
 *   Float, Double              IEEE bits with one NaN; Double: low ^ high
 *   BigInteger                 31·h + 32-bit word of the magnitude, times the sign
 *   BigDecimal                 31·hash(unscaled) + scale: 1.5 and 1.50 differ
 *   UUID                       low ^ high of (msb ^ lsb)
 *   java.util.Date, java.sql.* low ^ high of the milliseconds
 *   LocalDate                  (year & ~0x7ff) ^ ((year << 11) + (month << 6) + day)
 *   LocalTime                  as Long: nanosecond of the day        LocalDateTime   date ^ time
 *   Instant                    Long(seconds) + 51·nanos
 *   Tuple0..25                 31·h + hash(field), the first alone; null is 0
 *   Row                        up to 1.12: kind, then 31·h + e(field); since 1.13: 31·kind + A, A from 1; e(null) = 0, e(x) = 31 + hash(x)
 *   List                       31·h + hash(element) from 1; null is 0
 *   BinaryRowData              murmur3-32, seed 42, over the row's little-endian words
 *
 * Not here, because it is the user's own code or differs from JVM to JVM: POJOs, Avro, case classes, enums.
 *
 * JDK 17; Flink 1.20.5: Tuple1…25, Row, RowUtils, MurmurHashUtils.
 */
import { Decimal, Struct, Timestamp, type Value } from '../types.js';
import { hashLong, hashString } from './key-groups.js';

export type JavaKeyType =
  | { readonly kind: 'String' | 'Boolean' | 'Byte' | 'Short' | 'Integer' | 'Long' | 'Float' | 'Double' | 'Character' }
  | { readonly kind: 'BigInteger' | 'BigDecimal' | 'UUID' | 'LocalDate' | 'LocalTime' | 'LocalDateTime' | 'Instant' }
  | {
      /** java.util.Date, java.sql.Timestamp, Date, Time: a Timestamp or the milliseconds as bigint */
      readonly kind: 'Millis';
    }
  | { readonly kind: 'Tuple'; readonly fields: readonly JavaKeyType[] }
  | { readonly kind: 'Row'; readonly fields: readonly JavaKeyType[]; readonly form: 'until-1.12' | 'since-1.13' }
  | { readonly kind: 'List'; readonly element: JavaKeyType }
  | { /** the row's bytes, without a length in front */ readonly kind: 'BinaryRow' };

const MAX_DEPTH = 64;

/** The hash code as a 32-bit int; undefined when the value is not one of the type (or null at the top). */
export function javaHashCode(type: JavaKeyType, value: Value, depth = 0): number | undefined {
  if (depth > MAX_DEPTH) return undefined;
  switch (type.kind) {
    case 'String':
      return typeof value === 'string' ? hashString(value) : undefined;
    case 'Boolean':
      return typeof value === 'boolean' ? (value ? 1231 : 1237) : undefined;
    case 'Byte':
    case 'Short':
    case 'Integer':
      return typeof value === 'number' && Number.isInteger(value) ? value | 0 : undefined;
    case 'Character':
      if (typeof value === 'number') return value & 0xffff;
      return typeof value === 'string' && value.length === 1 ? value.charCodeAt(0) : undefined;
    case 'Long':
      return typeof value === 'bigint' ? hashLong(value) : undefined;
    case 'Float':
      return typeof value === 'number' ? floatBits(value) : undefined;
    case 'Double':
      return typeof value === 'number' ? doubleHash(value) : undefined;
    case 'BigInteger':
      return typeof value === 'bigint' ? bigIntegerHash(value) : undefined;
    case 'BigDecimal':
      return bigDecimalHash(value);
    case 'UUID':
      return typeof value === 'string' ? uuidHash(value) : undefined;
    case 'Millis':
      if (typeof value === 'bigint') return hashLong(value);
      return value instanceof Timestamp ? hashLong(value.seconds * 1000n + BigInt(Math.floor(value.nanos / 1_000_000))) : undefined;
    case 'LocalDate':
      return typeof value === 'number' ? localDateHash(value) : undefined;
    case 'LocalTime':
      return typeof value === 'number' ? hashLong(BigInt(value)) : undefined;
    case 'LocalDateTime': {
      if (!(value instanceof Timestamp)) return undefined;
      const days = floorDiv(value.seconds, 86400n);
      const nanoOfDay = (value.seconds - days * 86400n) * 1_000_000_000n + BigInt(value.nanos);
      return localDateHash(Number(days)) ^ hashLong(nanoOfDay);
    }
    case 'Instant':
      return value instanceof Timestamp ? (hashLong(value.seconds) + Math.imul(51, value.nanos)) | 0 : undefined;
    case 'Tuple':
      return tupleHash(type.fields, value, depth);
    case 'Row':
      return rowHash(type, value, depth);
    case 'List':
      return Array.isArray(value) ? listHash(type.element, value as readonly Value[], depth) : undefined;
    case 'BinaryRow':
      return value instanceof Uint8Array && value.length % 4 === 0 ? binaryRowHash(value) : undefined;
  }
}

function floatBits(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return Number.isNaN(value) ? 0x7fc00000 : view.getInt32(0);
}

function doubleHash(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return Number.isNaN(value) ? 0x7ff80000 : view.getInt32(0) ^ view.getInt32(4);
}

function bigIntegerHash(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  let h = 0;
  const hex = magnitude.toString(16);
  const padded = hex.padStart(Math.ceil(hex.length / 8) * 8, '0');
  for (let i = 0; i < padded.length; i += 8) h = (Math.imul(31, h) + Number.parseInt(padded.slice(i, i + 8), 16)) | 0;
  return value < 0n ? -h | 0 : h;
}

/** A Decimal, or the text of BigDecimal.toString(), which keeps the scale: `0.10`, `1E+3`. */
function bigDecimalHash(value: Value): number | undefined {
  if (value instanceof Decimal) return (Math.imul(31, bigIntegerHash(value.unscaled)) + value.scale) | 0;
  const parts = typeof value === 'string' ? /^(-?\d+)(?:\.(\d+))?(?:E([+-]?\d{1,10}))?$/.exec(value) : null;
  if (parts === null) return undefined;
  const [, whole, fraction = '', exponent = '0'] = parts;
  return (Math.imul(31, bigIntegerHash(BigInt(whole + fraction))) + fraction.length - Number(exponent)) | 0;
}

function uuidHash(text: string): number | undefined {
  const hex = text.replaceAll('-', '');
  if (!/^[0-9a-fA-F]{32}$/.test(hex)) return undefined;
  let h = 0;
  for (let i = 0; i < 32; i += 8) h ^= Number.parseInt(hex.slice(i, i + 8), 16);
  return h;
}

function floorDiv(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b < 0n ? q - 1n : q;
}

/** Proleptic Gregorian year, month, day of days since 1970-01-01. */
function localDateHash(days: number): number {
  const shifted = days + 719468; // from 0000-03-01
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return (year & 0xfffff800) ^ ((year << 11) + (month << 6) + day);
}

function fieldsOf(value: Value): readonly Value[] | undefined {
  if (value instanceof Struct) return value.values;
  return Array.isArray(value) ? (value as readonly Value[]) : undefined;
}

function tupleHash(types: readonly JavaKeyType[], value: Value, depth: number): number | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined || fields.length !== types.length) return undefined;
  let h = 0;
  for (let i = 0; i < types.length; i++) {
    const field = fields[i] === null ? 0 : javaHashCode(types[i], fields[i], depth + 1);
    if (field === undefined) return undefined;
    h = (Math.imul(31, h) + field) | 0;
  }
  return h;
}

function listHash(element: JavaKeyType, values: readonly Value[], depth: number): number | undefined {
  let h = 1;
  for (const value of values) {
    const hash = value === null ? 0 : javaHashCode(element, value, depth + 1);
    if (hash === undefined) return undefined;
    h = (Math.imul(31, h) + hash) | 0;
  }
  return h;
}

function rowHash(type: JavaKeyType & { kind: 'Row' }, value: Value, depth: number): number | undefined {
  const fields = fieldsOf(value);
  if (fields === undefined || fields.length !== type.fields.length) return undefined;
  // a key row is an insert: RowKind 0
  let h = type.form === 'since-1.13' ? 1 : 0;
  for (let i = 0; i < fields.length; i++) {
    const fieldType = type.fields[i];
    let field = 0;
    if (fields[i] !== null) {
      const hash = javaHashCode(fieldType, fields[i], depth + 1);
      // how 1.12 and before hashed a row in a row is not known
      if (hash === undefined || (fieldType.kind === 'Row' && type.form === 'until-1.12')) return undefined;
      field = (31 + hash) | 0;
    }
    h = (Math.imul(31, h) + field) | 0;
  }
  return h;
}

/** BinaryRowData.hashCode(): header, null bits, fixed and variable part, with the padding. */
export function binaryRowHash(row: Uint8Array): number {
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  let h = 42;
  for (let i = 0; i + 4 <= row.length; i += 4) {
    let k = Math.imul(view.getInt32(i, true), 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = (h << 13) | (h >>> 19);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  h ^= row.length;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** What of a serializer snapshot decides the key's Java type (serializers/codec.ts has the same shape). */
export interface KeySerializer {
  readonly serializer: string;
  readonly children: readonly { readonly snapshot: KeySerializer }[];
}

const TYPE_OF_SERIALIZER: Readonly<Record<string, Exclude<JavaKeyType['kind'], 'Tuple' | 'Row' | 'List'>>> = {
  StringSerializer: 'String',
  BooleanSerializer: 'Boolean',
  ByteSerializer: 'Byte',
  ShortSerializer: 'Short',
  IntSerializer: 'Integer',
  LongSerializer: 'Long',
  FloatSerializer: 'Float',
  DoubleSerializer: 'Double',
  CharSerializer: 'Character',
  BigIntSerializer: 'BigInteger',
  BigDecSerializer: 'BigDecimal',
  UUIDSerializer: 'UUID',
  DateSerializer: 'Millis',
  SqlTimestampSerializer: 'Millis',
  SqlDateSerializer: 'Millis',
  SqlTimeSerializer: 'Millis',
  LocalDateSerializer: 'LocalDate',
  LocalTimeSerializer: 'LocalTime',
  LocalDateTimeSerializer: 'LocalDateTime',
  InstantSerializer: 'Instant',
  BinaryRowDataSerializer: 'BinaryRow',
  RowDataSerializer: 'BinaryRow',
};

/** The key type of a serializer, undefined when its hash cannot be known. Row depends on the Flink that wrote it: not given. */
export function javaKeyType(serializer: KeySerializer, depth = 0): JavaKeyType | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (serializer.serializer === 'TupleSerializer') {
    const fields: JavaKeyType[] = [];
    for (const child of serializer.children) {
      const field = javaKeyType(child.snapshot, depth + 1);
      if (field === undefined) return undefined;
      fields.push(field);
    }
    return { kind: 'Tuple', fields };
  }
  if (serializer.serializer === 'ListSerializer' && serializer.children.length === 1) {
    const element = javaKeyType(serializer.children[0].snapshot, depth + 1);
    return element === undefined ? undefined : { kind: 'List', element };
  }
  const kind = TYPE_OF_SERIALIZER[serializer.serializer];
  return kind === undefined ? undefined : { kind };
}
