/**
 * Values as serialized keys: for the serializers whose bytes follow from the value alone.
 *
 *   String            varint (UTF-16 units + 1), then a varint a unit          StringValue   without the + 1
 *   Byte … Long       1 2 4 8 bytes big-endian    Boolean 1    Char 2          …Value        the same bytes
 *   Float, Double     4 8 bytes; NaN has many: none is given
 *   BigInteger        i32 code · bytes (big-numbers.ts); zero, one and ten may be written either way
 *   BigDecimal        the unscaled BigInteger · i32 scale
 *   Date, Timestamp, Instant, LocalDate, LocalTime, LocalDateTime     times.ts. java.sql.Date and Time: a day has many
 *   enum              i32 index        byte[]   i32 n · bytes
 *   tuple, case class field · field    Row      mask · fields, of each row kind
 *   StringData, DecimalData, TimestampData      table/values.ts          RowData   the snapshot's own `encode`
 *
 * Not here: POJOs (an object of a subclass has other bytes and is the same in SQL), Kryo, Avro, collections.
 * Flink: the serializers named, 1.8–2.3.
 */
import { civilFromDays } from '../../io/json.js';
import { Decimal, Struct, Timestamp, type Value } from '../../types.js';
import type { SerializerSnapshot } from '../codec.js';

/** more ways to write one key are not tried */
const MAX_FORMS = 64;

/**
 * All byte strings that the serializer may have written the value as. `[]`: it is no value of the type.
 * @returns undefined: not known
 */
export function keyBytes(snapshot: SerializerSnapshot, value: Value): readonly Uint8Array[] | undefined {
  if (snapshot.encode !== undefined) {
    const bytes = snapshot.encode(value);
    return bytes === undefined ? undefined : [bytes];
  }
  return WRITERS[snapshot.serializer]?.(value, snapshot);
}

/** Whether the bytes of values of this serializer are known. */
export function writesKeys(snapshot: SerializerSnapshot): boolean {
  return snapshot.encode !== undefined || Object.hasOwn(WRITERS, snapshot.serializer);
}

type Writer = (value: Value, snapshot: SerializerSnapshot) => readonly Uint8Array[] | undefined;

/** One form, or none if the value is of another type. */
const one =
  (write: (value: Value, snapshot: SerializerSnapshot) => Uint8Array | undefined): Writer =>
  (value, snapshot) => {
    const bytes = write(value, snapshot);
    return bytes === undefined ? [] : [bytes];
  };

const integer = (width: 1 | 2 | 4): Writer =>
  one(value => {
    const limit = 2 ** (8 * width - 1);
    if (typeof value !== 'number' || !Number.isInteger(value) || value < -limit || value >= limit) return undefined;
    const out = Buffer.alloc(width);
    out.writeIntBE(value, 0, width);
    return out;
  });

const long = one(value => (typeof value === 'bigint' ? i64(value) : undefined));

const float =
  (width: 4 | 8): Writer =>
  value => {
    if (typeof value !== 'number') return [];
    if (Number.isNaN(value)) return undefined;
    const out = Buffer.alloc(width);
    if (width === 4) out.writeFloatBE(value);
    else out.writeDoubleBE(value);
    return [out];
  };

const boolean = one(value => (typeof value === 'boolean' ? Uint8Array.of(value ? 1 : 0) : undefined));

const char = one(value => {
  if (typeof value !== 'string' || value.length !== 1) return undefined;
  const unit = value.charCodeAt(0);
  return Uint8Array.of(unit >> 8, unit & 0xff);
});

const utf16 = (extra: 0 | 1): Writer => one(value => (typeof value === 'string' ? stringBytes(value, extra) : undefined));

function stringBytes(text: string, extra: 0 | 1): Uint8Array {
  const out: number[] = [];
  const varint = (n: number) => {
    let rest = n;
    while (rest >= 0x80) {
      out.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    out.push(rest);
  };
  varint(text.length + extra);
  for (let i = 0; i < text.length; i++) varint(text.charCodeAt(i));
  return Uint8Array.from(out);
}

/** StringValue.writeString of a non-null string. */
export const encodeString = (text: string): Uint8Array => stringBytes(text, 1);

function i32(n: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeInt32BE(n);
  return out;
}

function i64(n: bigint): Buffer | undefined {
  if (BigInt.asIntN(64, n) !== n) return undefined;
  const out = Buffer.alloc(8);
  out.writeBigInt64BE(n);
  return out;
}

/** BigInteger.toByteArray: the fewest bytes of two's complement, big-endian. */
function twosComplement(n: bigint): Buffer {
  const bits = (n < 0n ? -n - 1n : n).toString(2).length + (n === 0n || n === -1n ? 0 : 1);
  const length = Math.max(1, Math.ceil(bits / 8));
  const hex = BigInt.asUintN(length * 8, n).toString(16);
  return Buffer.from(hex.padStart(length * 2, '0'), 'hex');
}

/** Serializers compare with the constants ZERO, ONE and TEN by identity: other objects of these values are written as bytes. */
const SHORT_CODES: ReadonlyMap<bigint, number> = new Map([
  [0n, 1],
  [1n, 2],
  [10n, 3],
]);

function bigIntegerForms(n: bigint): readonly Uint8Array[] {
  const bytes = twosComplement(n);
  const whole = Buffer.concat([i32(bytes.length + 4), bytes]);
  const code = SHORT_CODES.get(n);
  return code === undefined ? [whole] : [i32(code), whole];
}

/** BigDecimal from its text, which keeps the scale. */
function bigDecimalForms(value: Value): readonly Uint8Array[] {
  const parts = typeof value === 'string' ? /^(-?[0-9]{1,10000})(?:\.([0-9]{1,10000}))?(?:E([+-]?[0-9]{1,10}))?$/.exec(value) : null;
  if (parts === null) return [];
  const [, whole, fraction = '', exponent = '0'] = parts;
  const scale = fraction.length - Number(exponent);
  if ((scale | 0) !== scale) return [];
  return bigIntegerForms(BigInt(whole + fraction)).map(form => Buffer.concat([form, i32(scale)]));
}

const DAY = 86400n;

/** Epoch milliseconds, when there is nothing finer; the least i64 is null. */
function millisOf(value: Value): bigint | undefined {
  if (!(value instanceof Timestamp) || value.nanos % 1_000_000 !== 0) return undefined;
  const ms = value.seconds * 1000n + BigInt(value.nanos / 1_000_000);
  return ms === -(1n << 63n) ? undefined : ms;
}

function concat(...parts: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  return parts.includes(undefined) ? undefined : Buffer.concat(parts as readonly Uint8Array[]);
}

const floorMillis = (t: Timestamp): bigint => t.seconds * 1000n + BigInt(Math.floor(t.nanos / 1_000_000));

function localDate(day: number): Uint8Array | undefined {
  const { year, month, day: dayOfMonth } = civilFromDays(BigInt(day));
  const y = Number(year);
  return (y | 0) === y && y !== -0x80000000 ? Buffer.concat([i32(y), Uint8Array.of(month, dayOfMonth)]) : undefined;
}

function localTime(nanosOfDay: number): Uint8Array {
  const second = Math.floor(nanosOfDay / 1e9);
  const clock = Uint8Array.of(Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60);
  return Buffer.concat([clock, i32(nanosOfDay - second * 1e9)]);
}

function localDateTime(t: Timestamp): Uint8Array | undefined {
  const second = ((t.seconds % DAY) + DAY) % DAY;
  return concat(localDate(Number((t.seconds - second) / DAY)), localTime(Number(second) * 1e9 + t.nanos));
}

/** Every combination of one form of each field. */
function joined(parts: readonly (readonly Uint8Array[])[]): readonly Uint8Array[] | undefined {
  let out: Uint8Array[] = [new Uint8Array(0)];
  for (const forms of parts) {
    if (out.length * forms.length > MAX_FORMS) return undefined;
    out = out.flatMap(before => forms.map(form => Buffer.concat([before, form])));
  }
  return out;
}

/** Fields of a STRUCT as bytes, null where the field is null. */
function fieldForms(value: Value, snapshot: SerializerSnapshot): readonly (readonly Uint8Array[] | null)[] | undefined | 'none' {
  if (!(value instanceof Struct) || value.values.length !== snapshot.children.length) return 'none';
  const out: (readonly Uint8Array[] | null)[] = [];
  for (const [i, child] of snapshot.children.entries()) {
    const field = value.values[i];
    const forms = field === null ? null : keyBytes(child.snapshot, field);
    if (forms === undefined) return undefined;
    if (forms?.length === 0) return 'none';
    out.push(forms);
  }
  return out;
}

const tuple: Writer = (value, snapshot) => {
  const fields = fieldForms(value, snapshot);
  if (fields === undefined) return undefined;
  // a tuple has no null fields
  if (fields === 'none' || fields.includes(null)) return [];
  return joined(fields as readonly (readonly Uint8Array[])[]);
};

const row: Writer = (value, snapshot) => {
  const fields = fieldForms(value, snapshot);
  if (fields === undefined) return undefined;
  if (fields === 'none') return [];
  const kindBits = snapshot.details['supportsRowKind'] === true ? 2 : 0;
  const masks: Uint8Array[] = [];
  for (let kind = 0; kind < 1 << kindBits; kind++) {
    const mask = new Uint8Array((fields.length + kindBits + 7) >> 3);
    // the low bit of the kind stands first
    if (kind & 1) mask[0] |= 0x80;
    if (kind & 2) mask[0] |= 0x40;
    for (const [i, field] of fields.entries()) if (field === null) mask[(i + kindBits) >> 3] |= 0x80 >> ((i + kindBits) & 7);
    masks.push(mask);
  }
  return joined([masks, ...fields.filter(f => f !== null)]);
};

const WRITERS: Readonly<Record<string, Writer>> = {
  StringSerializer: utf16(1),
  StringValueSerializer: utf16(0),
  BooleanSerializer: boolean,
  BooleanValueSerializer: boolean,
  ByteSerializer: integer(1),
  ByteValueSerializer: integer(1),
  ShortSerializer: integer(2),
  ShortValueSerializer: integer(2),
  IntSerializer: integer(4),
  IntValueSerializer: integer(4),
  LongSerializer: long,
  LongValueSerializer: long,
  FloatSerializer: float(4),
  FloatValueSerializer: float(4),
  DoubleSerializer: float(8),
  DoubleValueSerializer: float(8),
  CharSerializer: char,
  CharValueSerializer: char,
  BigIntSerializer: value => (typeof value === 'bigint' ? bigIntegerForms(value) : []),
  BigDecSerializer: bigDecimalForms,
  DateSerializer: one(value => {
    const ms = millisOf(value);
    return ms === undefined ? undefined : i64(ms);
  }),
  SqlTimestampSerializer: one(value => (value instanceof Timestamp ? concat(i64(floorMillis(value)), i32(value.nanos)) : undefined)),
  InstantSerializer: one(value => (value instanceof Timestamp ? concat(i64(value.seconds), i32(value.nanos)) : undefined)),
  LocalDateSerializer: one(value => (typeof value === 'number' ? localDate(value) : undefined)),
  LocalTimeSerializer: one(value => (typeof value === 'number' ? localTime(value) : undefined)),
  LocalDateTimeSerializer: one(value => (value instanceof Timestamp ? localDateTime(value) : undefined)),
  EnumSerializer: one((value, snapshot) => {
    const index = (snapshot.details['constants'] as readonly string[]).indexOf(value as string);
    return index < 0 ? undefined : i32(index);
  }),
  BytePrimitiveArraySerializer: one(value => (value instanceof Uint8Array ? Buffer.concat([i32(value.length), value]) : undefined)),
  TupleSerializer: tuple,
  ScalaCaseClassSerializer: tuple,
  RowSerializer: row,
  StringDataSerializer: one(value => {
    if (typeof value !== 'string') return undefined;
    const utf8 = Buffer.from(value, 'utf8');
    return Buffer.concat([i32(utf8.length), utf8]);
  }),
  DecimalDataSerializer: one((value, snapshot) => {
    if (!(value instanceof Decimal) || value.scale !== snapshot.details['scale']) return undefined;
    if ((snapshot.details['precision'] as number) <= 18) return i64(value.unscaled);
    const bytes = twosComplement(value.unscaled);
    return Buffer.concat([i32(bytes.length), bytes]);
  }),
  TimestampDataSerializer: one((value, snapshot) => {
    if (!(value instanceof Timestamp)) return undefined;
    if ((snapshot.details['precision'] as number) > 3) return concat(i64(floorMillis(value)), i32(value.nanos % 1_000_000));
    const ms = millisOf(value);
    return ms === undefined ? undefined : i64(ms);
  }),
};
