/**
 * Dates and times. Nulls are in band.
 *
 *   java.util.Date, java.sql.Date, java.sql.Time   i64 ms; null: i64 MIN
 *   java.sql.Timestamp                             i64 ms · i32 nanoseconds of the second (the ms repeat); null: i64 MIN · 0
 *   Instant                                        i64 seconds · i32 nanoseconds; null: i64 MIN · i32 MIN
 *   LocalDate                                      i32 year · i8 month · i8 day; null: i32 MIN · i16 MIN
 *   LocalTime                                      i8 hour · i8 minute · i8 second · i32 nanoseconds; null: i8 MIN · i16 MIN · i32 MIN
 *   LocalDateTime                                  LocalDate · LocalTime; null: both
 *
 * java.sql.Date is midnight in the writer's time zone, which nothing tells: its day is taken in UTC, as java.sql.Time's hour.
 * Flink: DateSerializer, SqlDateSerializer, SqlTimeSerializer, SqlTimestampSerializer, InstantSerializer, LocalDateSerializer,
 * LocalTimeSerializer, LocalDateTimeSerializer in org.apache.flink.api.common.typeutils.base (1.8–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import { daysFromCivil } from '../io/json.js';
import { DATE, TIME, TIME_NS, TIMESTAMP_NS, TIMESTAMPTZ, Timestamp } from '../types.js';
import { type Codec, codecOf } from './codec.js';
import { simpleDefinition } from './simple.js';

const NULL_LONG = -0x8000000000000000n;
const DAY_MS = 86400000n;
/** Instant.MAX is in the year 1,000,000,000 */
const MAX_SECOND = 31556889864403199n;
/** Instant.MIN in the year −1,000,000,000 */
const MIN_SECOND = -31557014167219200n;

function readMillis(c: Cursor): bigint | null {
  const ms = c.i64();
  return ms === NULL_LONG ? null : ms;
}

/** Day of a number of milliseconds since 1970 (floor). */
export function dayOfMillis(ms: bigint): number {
  return Number(ms / DAY_MS) - (ms % DAY_MS < 0n ? 1 : 0);
}

/** Nanoseconds of the day. */
export function nanosOfDay(ms: bigint): number {
  return Number(((ms % DAY_MS) + DAY_MS) % DAY_MS) * 1_000_000;
}

function readSqlTimestamp(c: Cursor): Timestamp | null {
  const ms = c.i64();
  const at = c.position;
  const nanos = c.i32();
  if (ms === NULL_LONG) return null;
  if (nanos < 0 || nanos > 999_999_999) c.fail(`nanoseconds ${nanos}`, at);
  return new Timestamp(Timestamp.ofMillis(ms).seconds, nanos);
}

function readInstant(c: Cursor): Timestamp | null {
  const seconds = c.i64();
  const at = c.position;
  const nanos = c.i32();
  if (seconds === NULL_LONG && nanos === -0x80000000) return null;
  if (nanos < 0 || nanos > 999_999_999) c.fail(`nanoseconds ${nanos}`, at);
  if (seconds > MAX_SECOND || seconds < MIN_SECOND) c.fail(`second ${seconds} of an Instant`, at - 8);
  return new Timestamp(seconds, nanos);
}

/** Epoch day or null. */
function readLocalDate(c: Cursor): number | null {
  const at = c.position;
  const year = c.i32();
  const month = c.i8();
  const day = c.i8();
  if (year === -0x80000000) return null;
  if (month < 1 || month > 12 || day < 1 || day > 31) c.fail(`date ${year}-${month}-${day}`, at);
  const epochDay = daysFromCivil(year, month, day);
  // the day before the first of the next month is this month's last one
  if (day > 28 && epochDay >= (month === 12 ? daysFromCivil(year + 1, 1, 1) : daysFromCivil(year, month + 1, 1)))
    c.fail(`date ${year}-${month}-${day}`, at);
  return epochDay;
}

/** Nanoseconds of the day or null. */
function readLocalTime(c: Cursor): number | null {
  const at = c.position;
  const hour = c.i8();
  const minute = c.i8();
  const second = c.i8();
  const nanos = c.i32();
  if (hour === -128) return null;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || nanos < 0 || nanos > 999_999_999)
    c.fail(`time ${hour}:${minute}:${second} and ${nanos} ns`, at);
  return ((hour * 60 + minute) * 60 + second) * 1e9 + nanos;
}

function readLocalDateTime(c: Cursor): Timestamp | null {
  const at = c.position;
  const day = readLocalDate(c);
  const time = readLocalTime(c);
  if (day === null && time === null) return null;
  if (day === null || time === null) c.fail('one of date and time is null', at);
  const seconds = Math.floor(time / 1e9);
  return new Timestamp(BigInt(day) * 86400n + BigInt(seconds), time - seconds * 1e9);
}

/** by the serializer's name */
const CODECS = {
  Date: ['Date', codecOf({ type: TIMESTAMPTZ, length: 8, read: c => ofMillis(readMillis(c)) })],
  SqlDate: ['java.sql.Date', codecOf({ type: DATE, length: 8, read: c => mapped(readMillis(c), dayOfMillis) })],
  SqlTime: ['java.sql.Time', codecOf({ type: TIME, length: 8, read: c => mapped(readMillis(c), nanosOfDay) })],
  SqlTimestamp: ['java.sql.Timestamp', codecOf({ type: TIMESTAMPTZ, length: 12, read: readSqlTimestamp })],
  Instant: ['Instant', codecOf({ type: TIMESTAMPTZ, length: 12, read: readInstant })],
  LocalDate: ['LocalDate', codecOf({ type: DATE, length: 6, read: readLocalDate })],
  LocalTime: ['LocalTime', codecOf({ type: TIME_NS, length: 7, read: readLocalTime })],
  LocalDateTime: ['LocalDateTime', codecOf({ type: TIMESTAMP_NS, length: 13, read: readLocalDateTime })],
} satisfies Readonly<Record<string, readonly [text: string, Codec]>>;

/** The codec that Flink gives a field of this class by itself; the local ones it leaves to Kryo. */
export const TIME_CODECS: ReadonlyMap<string, Codec> = new Map([
  ['java.util.Date', CODECS.Date[1]],
  ['java.sql.Date', CODECS.SqlDate[1]],
  ['java.sql.Time', CODECS.SqlTime[1]],
  ['java.sql.Timestamp', CODECS.SqlTimestamp[1]],
  ['java.time.Instant', CODECS.Instant[1]],
]);

function ofMillis(ms: bigint | null): Timestamp | null {
  return ms === null ? null : Timestamp.ofMillis(ms);
}
function mapped(ms: bigint | null, to: (ms: bigint) => number): number | null {
  return ms === null ? null : to(ms);
}

const BASE = 'org.apache.flink.api.common.typeutils.base.';
export const SERIALIZERS = Object.entries(CODECS).map(([name, [text, codec]]) =>
  simpleDefinition([`${BASE}${name}Serializer$${name}SerializerSnapshot`], `${name}Serializer`, text, () => codec),
);
