/**
 * java.time in Kryo 5, and what the fields that Kryo 2 writes of the same classes mean.
 *
 *   Instant          varlong s · varint ns            Duration      fixed long s · varint ns
 *   LocalDate        varint year · u8 · u8             LocalDateTime LocalDate · LocalTime
 *   LocalTime        h [· m [· s [· varint ns]]]: the last of the bytes is written complemented when zeros follow
 *   ZoneOffset       i8 quarters of an hour, 127: fixed int seconds                 ZoneId   string
 *   OffsetTime       LocalTime · ZoneOffset            OffsetDateTime   LocalDate · LocalTime · ZoneOffset
 *   ZonedDateTime    LocalDate · LocalTime · ZoneId    Year varint · YearMonth varint · u8 · MonthDay u8 · u8 · Period 3 × varint
 *   Optional         class and object                  OptionalInt, Long, Double   u8 · [fixed]
 *
 * Texts are those of the classes' toString. TimeSerializers, OptionalSerializers (5.6.2).
 */
import { dateText, daysFromCivil, durationText, timeText } from '../../io/json.js';
import {
  BIGINT,
  DATE,
  DOUBLE,
  INTEGER,
  type SqlType,
  TIME_NS,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  Timestamp,
  VARCHAR,
  type Value,
} from '../../types.js';
import type { Body, KryoReader } from './reader.js';
import { type KryoNode, NULL_NODE, scalar, text } from './tree.js';
import { readString, readVarInt, readVarLong } from './wire.js';

const two = (n: number): string => String(n).padStart(2, '0');
function yearText(n: number): string {
  const digits = String(Math.abs(n)).padStart(4, '0');
  return n < 0 ? `-${digits}` : n > 9999 ? `+${digits}` : digits;
}

function offsetText(seconds: number): string {
  if (seconds === 0) return 'Z';
  const n = Math.abs(seconds);
  const rest = n % 60;
  return `${seconds < 0 ? '-' : '+'}${two(Math.floor(n / 3600))}:${two(Math.floor(n / 60) % 60)}${rest === 0 ? '' : `:${two(rest)}`}`;
}

function timestamp(day: number, nanosOfDay: number): Timestamp {
  const seconds = Math.floor(nanosOfDay / 1e9);
  return new Timestamp(BigInt(day) * 86400n + BigInt(seconds), nanosOfDay - seconds * 1e9);
}
const dateTimeText = (day: number, nanosOfDay: number): string => `${dateText(BigInt(day))}T${timeText(nanosOfDay)}`;

function periodText(years: number, months: number, days: number): string {
  const shown = [years, months, days].map((n, i) => (n === 0 ? '' : `${n}${'YMD'[i]}`)).join('');
  return `P${shown === '' ? '0D' : shown}`;
}

const MAX_YEAR = 999_999_999;
/** A number that java.time checks; anything else is damage. */
function within(r: KryoReader, n: number, from: number, to: number): number {
  return n >= from && n <= to ? n : r.c.fail(`${n} in a time, expected ${from} to ${to}`);
}

function readDay(r: KryoReader): number {
  const at = r.c.position;
  const year = readVarInt(r.c, 'year') | 0;
  return day(r, year, r.c.u8(), r.c.u8(), at);
}
function day(r: KryoReader, year: number, month: number, dayOfMonth: number, at: number): number {
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > 31 || Math.abs(year) > MAX_YEAR)
    r.c.fail(`a date of year ${year}, month ${month}, day ${dayOfMonth}`, at);
  return daysFromCivil(year, month, dayOfMonth);
}
function readTime(r: KryoReader): number {
  const at = r.c.position;
  const parts = [0, 0, 0];
  let nanos = 0;
  for (let i = 0; ; i++) {
    if (i === 3) {
      nanos = readVarInt(r.c, 'nanoseconds');
      break;
    }
    const n = r.c.i8();
    parts[i] = n < 0 ? ~n : n;
    if (n < 0) break;
  }
  return time(r, parts[0], parts[1], parts[2], nanos, at);
}
function time(r: KryoReader, hour: number, minute: number, second: number, nanos: number, at: number): number {
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || nanos < 0 || nanos > 999_999_999)
    r.c.fail(`a time of ${hour} h, ${minute} min, ${second} s, ${nanos} ns`, at);
  return (hour * 3600 + minute * 60 + second) * 1e9 + nanos;
}
function readOffset(r: KryoReader): number {
  const quarters = r.c.i8();
  return quarters === 127 ? r.numbers.i32(r.c) : quarters * 900;
}
function nanosOf(r: KryoReader): number {
  const at = r.c.position;
  const n = readVarInt(r.c, 'nanoseconds');
  return n > 999_999_999 ? r.c.fail(`${n} nanoseconds`, at) : n;
}

const optional =
  (type: SqlType, read: (r: KryoReader) => Value): Body =>
  r =>
    r.c.bool() ? scalar(type, read(r)) : NULL_NODE;

const BODIES: Readonly<Record<string, Body>> = {
  'java.time.Instant': r => {
    const seconds = readVarLong(r.c);
    return scalar(TIMESTAMPTZ, new Timestamp(seconds, nanosOf(r)));
  },
  'java.time.Duration': r => {
    const seconds = r.numbers.i64(r.c);
    return text(durationText(seconds, nanosOf(r)));
  },
  'java.time.LocalDate': r => scalar(DATE, readDay(r)),
  'java.time.LocalTime': r => scalar(TIME_NS, readTime(r)),
  'java.time.LocalDateTime': r => scalar(TIMESTAMP_NS, timestamp(readDay(r), readTime(r))),
  'java.time.ZoneOffset': r => text(offsetText(readOffset(r))),
  'java.time.ZoneRegion': r => text(readString(r.c, 'time zone')),
  'java.time.OffsetTime': r => {
    const at = readTime(r);
    return text(`${timeText(at)}${offsetText(readOffset(r))}`);
  },
  'java.time.OffsetDateTime': r => {
    const at = dateTimeText(readDay(r), readTime(r));
    return text(`${at}${offsetText(readOffset(r))}`);
  },
  'java.time.ZonedDateTime': r => {
    const local = [readDay(r), readTime(r)] as const;
    return text(zonedText(local[0], local[1], readString(r.c, 'time zone') ?? ''));
  },
  'java.time.Year': r => text(String(within(r, readVarInt(r.c) | 0, -MAX_YEAR, MAX_YEAR))),
  'java.time.YearMonth': r => {
    const year = within(r, readVarInt(r.c) | 0, -MAX_YEAR, MAX_YEAR);
    return text(`${yearText(year)}-${two(within(r, r.c.u8(), 1, 12))}`);
  },
  'java.time.MonthDay': r => text(`--${two(within(r, r.c.u8(), 1, 12))}-${two(within(r, r.c.u8(), 1, 31))}`),
  'java.time.Period': r => text(periodText(readVarInt(r.c) | 0, readVarInt(r.c) | 0, readVarInt(r.c) | 0)),
  'java.util.Optional': r => r.classAndObject(),
  'java.util.OptionalInt': optional(INTEGER, r => r.numbers.i32(r.c)),
  'java.util.OptionalLong': optional(BIGINT, r => r.numbers.i64(r.c)),
  'java.util.OptionalDouble': optional(DOUBLE, r => r.numbers.f64(r.c)),
};

/** ZonedDateTime.toString: the offset follows from the zone's rules, where it is not the zone itself. */
function zonedText(dayNumber: number, nanosOfDay: number, zone: string): string {
  const local = dateTimeText(dayNumber, nanosOfDay);
  if (zone === 'Z' || /^[+-]\d\d:/.test(zone)) return `${local}${zone}`;
  const offset = offsetOfZone(dayNumber * 86400 + Math.floor(nanosOfDay / 1e9), zone);
  return `${local}${offset === undefined ? '' : offsetText(offset)}[${zone}]`;
}

/** Offset in seconds at a local time: the earlier one where clocks are set back, that before the gap where they are set on. */
function offsetOfZone(localSeconds: number, zone: string): number | undefined {
  if (/^(UTC|GMT|UT)$/.test(zone)) return 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  } catch {
    return undefined;
  }
  const offsetAt = (utcSeconds: number): number | undefined => {
    if (Math.abs(utcSeconds) > 8.64e12) return undefined;
    const parts = Object.fromEntries(format.formatToParts(new Date(utcSeconds * 1000)).map(p => [p.type, p.value]));
    const year = parts['era'] === 'BC' ? 1 - Number(parts['year']) : Number(parts['year']);
    const seconds = Number(parts['hour']) * 3600 + Number(parts['minute']) * 60 + Number(parts['second']);
    return daysFromCivil(year, Number(parts['month']), Number(parts['day'])) * 86400 + seconds - utcSeconds;
  };
  const around = [-86400, 86400].map(d => offsetAt(localSeconds + d));
  const [before, after] = around;
  if (before === undefined || after === undefined) return undefined;
  for (const offset of [before, after]) if (offsetAt(localSeconds - offset) === offset) return offset;
  return before;
}

/** Kryo 5's own serializers. */
export function timeBody(name: string): Body | undefined {
  return Object.hasOwn(BODIES, name) ? BODIES[name] : undefined;
}

type Fields = ReadonlyMap<string, KryoNode>;
const num = (f: Fields, name: string): number => {
  const node = f.get(name);
  return node?.kind === 'scalar' ? Number(node.value) : 0;
};
const big = (f: Fields, name: string): bigint => {
  const node = f.get(name);
  return node?.kind === 'scalar' && typeof node.value === 'bigint' ? node.value : 0n;
};
const str = (f: Fields, name: string): string => {
  const node = f.get(name);
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : '';
};
/** Day and nanoseconds of a LocalDateTime node. */
function local(node: KryoNode | undefined): readonly [number, number] {
  const t = node?.kind === 'scalar' ? node.value : undefined;
  if (!(t instanceof Timestamp)) return [0, 0];
  const dayNumber = Math.floor(Number(t.seconds) / 86400);
  return [dayNumber, (Number(t.seconds) - dayNumber * 86400) * 1e9 + t.nanos];
}

/** What the fields of a class mean, by its name: the value that they stand for. */
const MEANINGS: Readonly<Record<string, (r: KryoReader, f: Fields) => KryoNode>> = {
  'java.time.Instant': (r, f) => scalar(TIMESTAMPTZ, new Timestamp(big(f, 'seconds'), within(r, num(f, 'nanos'), 0, 999_999_999))),
  'java.time.Duration': (r, f) => text(durationText(big(f, 'seconds'), within(r, num(f, 'nanos'), 0, 999_999_999))),
  'java.time.LocalDate': (r, f) => scalar(DATE, day(r, num(f, 'year'), num(f, 'month'), num(f, 'day'), r.c.position)),
  'java.time.LocalTime': (r, f) =>
    scalar(TIME_NS, time(r, num(f, 'hour'), num(f, 'minute'), num(f, 'second'), num(f, 'nano'), r.c.position)),
  'java.time.LocalDateTime': (_r, f) => scalar(TIMESTAMP_NS, timestamp(num(f, 'date'), num(f, 'time'))),
  'java.time.ZoneOffset': (_r, f) => text(offsetText(num(f, 'totalSeconds'))),
  'java.time.ZoneRegion': (_r, f) => text(str(f, 'id')),
  'java.time.OffsetTime': (_r, f) => text(`${timeText(num(f, 'time'))}${str(f, 'offset')}`),
  'java.time.OffsetDateTime': (_r, f) => text(`${dateTimeText(...local(f.get('dateTime')))}${str(f, 'offset')}`),
  'java.time.ZonedDateTime': (_r, f) => {
    const [offset, zone] = [str(f, 'offset'), str(f, 'zone')];
    return text(`${dateTimeText(...local(f.get('dateTime')))}${offset}${zone === offset ? '' : `[${zone}]`}`);
  },
  'java.time.Year': (r, f) => text(String(within(r, num(f, 'year'), -MAX_YEAR, MAX_YEAR))),
  'java.time.YearMonth': (r, f) =>
    text(`${yearText(within(r, num(f, 'year'), -MAX_YEAR, MAX_YEAR))}-${two(within(r, num(f, 'month'), 1, 12))}`),
  'java.time.MonthDay': (r, f) => text(`--${two(within(r, num(f, 'month'), 1, 12))}-${two(within(r, num(f, 'day'), 1, 31))}`),
  'java.time.Period': (_r, f) => text(periodText(num(f, 'years'), num(f, 'months'), num(f, 'days'))),
  'java.util.Optional': (_r, f) => f.get('value') ?? NULL_NODE,
  'java.util.OptionalInt': (_r, f) => present(f),
  'java.util.OptionalLong': (_r, f) => present(f),
  'java.util.OptionalDouble': (_r, f) => present(f),
};
function present(f: Fields): KryoNode {
  const there = f.get('isPresent');
  return there?.kind === 'scalar' && there.value === true ? (f.get('value') ?? NULL_NODE) : NULL_NODE;
}

export function timeMeaning(name: string): ((r: KryoReader, fields: Fields) => KryoNode) | undefined {
  return Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
}

/** SQL types of classes that are final. */
const TYPES: Readonly<Record<string, SqlType>> = {
  'java.time.Instant': TIMESTAMPTZ,
  'java.time.LocalDate': DATE,
  'java.time.LocalTime': TIME_NS,
  'java.time.LocalDateTime': TIMESTAMP_NS,
  'java.util.OptionalInt': INTEGER,
  'java.util.OptionalLong': BIGINT,
  'java.util.OptionalDouble': DOUBLE,
  ...Object.fromEntries(
    ['Duration', 'Period', 'ZoneOffset', 'ZoneId', 'OffsetTime', 'OffsetDateTime', 'ZonedDateTime', 'Year', 'YearMonth', 'MonthDay'].map(
      n => [`java.time.${n}`, VARCHAR] as const,
    ),
  ),
};
export function timeType(name: string): SqlType | undefined {
  return Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
}
