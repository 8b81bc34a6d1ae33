/**
 * JDK objects that are one value: boxed primitives, big numbers, times, identifiers, texts.
 *
 *   Integer … Boolean      field value                       AtomicInteger, AtomicLong, AtomicBoolean  field value
 *   BigInteger             fields signum, magnitude byte[] (big-endian, unsigned)     BigDecimal  fields intVal, scale
 *   Date                   block i64 ms (java.sql.Date, Time; Timestamp: and field nanos)
 *   UUID                   fields mostSigBits, leastSigBits  URI  field string        Currency field currencyCode
 *   URL                    fields protocol, host, port, file, ref                     Locale   fields language, country, …
 *   Pattern                field pattern                     StringBuilder, StringBuffer  block i32 n, char[] · fields value, count
 *   BitSet                 field bits long[]: numbers of the set bits                 File     field path
 *   java.time.*            java.time.Ser, externalizable: block u8 kind, then the kind's bytes
 *
 * java.time.Ser: 1 Duration i64 s, i32 ns · 2 Instant i64 s, i32 ns · 3 LocalDate i32 y, u8 m, u8 d · 4 LocalTime h[, m[, s[, i32 ns]]],
 * the last byte written complemented · 5 LocalDateTime · 6 ZonedDateTime local, offset, zone (with its kind byte) · 7 ZoneRegion UTF
 * 8 ZoneOffset i8 quarters of an hour, 127: i32 seconds · 9 OffsetTime · 10 OffsetDateTime · 11 Year i32 · 12 YearMonth i32, u8
 * 13 MonthDay u8, u8 · 14 Period i32 y, i32 m, i32 d
 *
 * Mirrors the serialized forms of JDK 8 to 21. Texts are as the class's toString gives them; points in time as ISO 8601 in UTC.
 */

import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { durationText, textOf, timeText } from '../io/json.js';
import { Decimal, TIMESTAMP, TIMESTAMPTZ, Timestamp } from '../types.js';
import { type JavaObject, type JavaValue, javaAnnotation, javaField } from './tree.js';

/** Numbers as number (float, double, up to int) or bigint (long and beyond); set bits as an array; everything else as text. */
export type JavaScalar = string | number | bigint | boolean | null | readonly number[];

/** The one value that `value` stands for, or undefined when it is no scalar. */
export function javaScalar(value: JavaValue): JavaScalar | undefined {
  switch (value.kind) {
    case 'null':
      return null;
    case 'string':
    case 'byte':
    case 'short':
    case 'int':
    case 'float':
    case 'double':
    case 'long':
    case 'char':
    case 'boolean':
      return value.value;
    case 'enum':
      return value.constant;
    case 'class':
      return value.classDesc.name;
    case 'object': {
      const name = value.classDesc.name;
      if (!Object.hasOwn(SCALARS, name)) return undefined;
      try {
        return SCALARS[name](value);
      } catch (e) {
        // a class of that name with other content: shown with its fields
        if (e instanceof StateQueryError) return undefined;
        throw e;
      }
    }
    default:
      return undefined;
  }
}

/** Bytes of a BigInteger that is still turned into digits: the time for that grows faster than its length. */
const MAX_MAGNITUDE = 65_536;

type Reader = (o: JavaObject) => JavaScalar | undefined;

const field =
  (name: string): Reader =>
  o => {
    const v = javaField(o, name);
    return v === undefined ? undefined : v.kind === 'object' ? javaScalar(v) : plain(v);
  };
function plain(v: JavaValue): JavaScalar | undefined {
  return v.kind === 'object' ? undefined : javaScalar(v);
}
function text(o: JavaObject, name: string): string | undefined {
  const v = javaField(o, name);
  return v?.kind === 'string' ? v.value : undefined;
}
function int(o: JavaObject, name: string): number | undefined {
  const v = javaField(o, name);
  return v?.kind === 'int' ? v.value : undefined;
}
/** A cursor over the block that `className` (default: the class itself) wrote. */
function block(o: JavaObject, className?: string): Cursor | undefined {
  const first = javaAnnotation(o, className).find(c => c.kind === 'block');
  return first?.kind === 'block' ? new Cursor(first.bytes) : undefined;
}

/** A signed magnitude as java.math.BigInteger writes it. */
function bigInteger(o: JavaObject): bigint | undefined {
  const magnitude = javaField(o, 'magnitude');
  const signum = int(o, 'signum');
  if (magnitude?.kind !== 'primitive-array' || magnitude.component !== 'B' || signum === undefined) return undefined;
  const bytes = magnitude.values;
  if (bytes.length > MAX_MAGNITUDE) return undefined;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  const n = hex === '' ? 0n : BigInt(`0x${hex}`);
  return signum < 0 ? -n : n;
}

function bigDecimal(o: JavaObject): string | undefined {
  const unscaled = javaField(o, 'intVal');
  const scale = int(o, 'scale');
  const n = unscaled?.kind === 'object' ? bigInteger(unscaled) : undefined;
  return n === undefined || scale === undefined || Math.abs(scale) > 10_000 ? undefined : new Decimal(n, scale).toString();
}

function millis(o: JavaObject): bigint | undefined {
  return block(o, 'java.util.Date')?.i64();
}
function isoUtc(seconds: bigint, nanos: number): string {
  return textOf(TIMESTAMPTZ, new Timestamp(seconds, nanos));
}
const SCALARS: Readonly<Record<string, Reader>> = {
  'java.lang.Byte': field('value'),
  'java.lang.Short': field('value'),
  'java.lang.Integer': field('value'),
  'java.lang.Long': field('value'),
  'java.lang.Float': field('value'),
  'java.lang.Double': field('value'),
  'java.lang.Character': field('value'),
  'java.lang.Boolean': field('value'),
  'java.util.concurrent.atomic.AtomicInteger': field('value'),
  'java.util.concurrent.atomic.AtomicLong': field('value'),
  'java.util.concurrent.atomic.AtomicBoolean': o => {
    const v = int(o, 'value');
    return v === undefined ? undefined : v !== 0;
  },
  'java.math.BigInteger': bigInteger,
  'java.math.BigDecimal': bigDecimal,
  'java.util.Date': o => {
    const ms = millis(o);
    return ms === undefined ? undefined : textOf(TIMESTAMPTZ, Timestamp.ofMillis(ms));
  },
  'java.sql.Timestamp': o => {
    // the milliseconds that java.util.Date writes are whole seconds here
    const ms = millis(o);
    const nanos = int(o, 'nanos');
    return ms === undefined || nanos === undefined ? undefined : isoUtc(Timestamp.ofMillis(ms).seconds, nanos);
  },
  'java.sql.Date': o => {
    const ms = millis(o);
    return ms === undefined ? undefined : textOf(TIMESTAMP, Timestamp.ofMillis(ms)).split('T')[0];
  },
  'java.sql.Time': o => {
    const ms = millis(o);
    return ms === undefined ? undefined : textOf(TIMESTAMP, Timestamp.ofMillis(ms)).split('T')[1];
  },
  'java.util.UUID': o => {
    const high = javaField(o, 'mostSigBits');
    const low = javaField(o, 'leastSigBits');
    if (high?.kind !== 'long' || low?.kind !== 'long') return undefined;
    const hex = [high, low].map(x => BigInt.asUintN(64, x.value).toString(16).padStart(16, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  },
  'java.net.URI': field('string'),
  'java.net.URL': o => {
    const [protocol, host, file, ref] = ['protocol', 'host', 'file', 'ref'].map(n => text(o, n));
    const port = int(o, 'port');
    if (protocol === undefined || file === undefined) return undefined;
    const authority = text(o, 'authority') ?? `${host ?? ''}${port === undefined || port < 0 ? '' : `:${port}`}`;
    return `${protocol}:${authority === '' ? '' : `//${authority}`}${file}${ref === undefined ? '' : `#${ref}`}`;
  },
  'java.io.File': field('path'),
  'java.util.Currency': field('currencyCode'),
  'java.util.regex.Pattern': field('pattern'),
  'java.util.Locale': o => {
    const [language, country, variant, script, extensions] = ['language', 'country', 'variant', 'script', 'extensions'].map(
      n => text(o, n) ?? '',
    );
    const head = [language, country, variant].join('_').replace(/_+$/, '');
    const tail = [script === '' ? '' : `#${script}`, extensions].filter(x => x !== '').join('_');
    return tail === ''
      ? head
      : `${head}${variant === '' && country === '' ? '__' : '_'}${extensions !== '' && script === '' ? '#' : ''}${tail}`;
  },
  'java.lang.StringBuilder': o => {
    const n = block(o)?.i32();
    return n === undefined ? undefined : chars(javaAnnotation(o).find(c => c.kind === 'primitive-array') as JavaValue | undefined, n);
  },
  'java.lang.StringBuffer': o => chars(javaField(o, 'value'), int(o, 'count') ?? -1),
  'java.util.BitSet': o => {
    const bits = javaField(o, 'bits');
    if (bits?.kind !== 'primitive-array' || bits.component !== 'J') return undefined;
    const set: number[] = [];
    bits.values.forEach((word, i) => {
      for (let b = 0; b < 64; b++) if (((word >> BigInt(b)) & 1n) === 1n) set.push(i * 64 + b);
    });
    return set;
  },
  'java.time.Ser': o => {
    const c = block(o);
    if (c === undefined) return undefined;
    const value = javaTime(c, c.u8());
    return c.remaining === 0 ? value : undefined;
  },
};

function chars(array: JavaValue | undefined, n: number): string | undefined {
  if (array?.kind !== 'primitive-array' || array.component !== 'C' || n < 0 || n > array.values.length) return undefined;
  return Buffer.from(array.values.buffer, array.values.byteOffset, n * 2).toString('utf16le');
}

/** The value of one `java.time.Ser` kind, in the text of its toString. */
function javaTime(c: Cursor, kind: number): string | undefined {
  switch (kind) {
    case 1:
      return durationText(c.i64(), c.i32());
    case 2: {
      const seconds = c.i64();
      return isoUtc(seconds, c.i32());
    }
    case 3:
      return localDate(c);
    case 4:
      return localTime(c);
    case 5:
      return `${localDate(c)}T${localTime(c)}`;
    case 6: {
      const at = `${localDate(c)}T${localTime(c)}${offset(c)}`;
      const zoneKind = c.u8();
      const zone = zoneKind === 7 ? c.utf() : zoneKind === 8 ? undefined : c.fail(`time zone of kind ${zoneKind}`);
      if (zone === undefined) offset(c);
      return zone === undefined ? at : `${at}[${zone}]`;
    }
    case 7:
      return c.utf('time zone');
    case 8:
      return offset(c);
    case 9:
      return `${localTime(c)}${offset(c)}`;
    case 10:
      return `${localDate(c)}T${localTime(c)}${offset(c)}`;
    case 11:
      return String(c.i32());
    case 12:
      return `${year(c.i32())}-${two(c.u8())}`;
    case 13:
      return `--${two(c.u8())}-${two(c.u8())}`;
    case 14: {
      const parts = [c.i32(), c.i32(), c.i32()];
      const shown = parts.map((n, i) => (n === 0 ? '' : `${n}${'YMD'[i]}`)).join('');
      return `P${shown === '' ? '0D' : shown}`;
    }
    default:
      return undefined;
  }
}

const two = (n: number): string => String(n).padStart(2, '0');
function year(n: number): string {
  const digits = String(Math.abs(n)).padStart(4, '0');
  return n < 0 ? `-${digits}` : n > 9999 ? `+${digits}` : digits;
}
function localDate(c: Cursor): string {
  return `${year(c.i32())}-${two(c.u8())}-${two(c.u8())}`;
}
function localTime(c: Cursor): string {
  const parts = [0, 0, 0];
  let nanos = 0;
  for (let i = 0; ; i++) {
    if (i === 3) {
      nanos = c.i32();
      break;
    }
    const n = c.i8();
    parts[i] = n < 0 ? ~n : n;
    if (n < 0) break;
  }
  return timeText((parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1e9 + nanos);
}
function offset(c: Cursor): string {
  const b = c.i8();
  const total = b === 127 ? c.i32() : b * 900;
  if (total === 0) return 'Z';
  const n = Math.abs(total);
  const seconds = n % 60;
  return `${total < 0 ? '-' : '+'}${two(Math.floor(n / 3600))}:${two(Math.floor(n / 60) % 60)}${seconds === 0 ? '' : `:${two(seconds)}`}`;
}
