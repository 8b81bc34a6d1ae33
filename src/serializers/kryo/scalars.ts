/**
 * Bodies that are one value.
 *
 *   Boolean, Byte u8 · Short, Character fixed 2 · Integer zigzag varint · Long zigzag varlong · Float, Double fixed
 *   String, StringBuilder, StringBuffer, Currency, URI, URL, TimeZone, Charset   string        Pattern   string [· varint flags, Kryo 5]
 *   BigInteger   varint n + 1 (0 null) · n bytes                       BigDecimal   BigInteger · zigzag scale
 *   Date, sql.Date, sql.Time   varlong ms        Timestamp   varlong ms · varint nanos     Calendar   string zone · varlong ms · u8 · 2 varints · zigzag varlong
 *   UUID         Kryo 2: 2 × zigzag varlong;  Kryo 5: 2 × fixed long   BitSet   varint n · n × fixed long
 *   Locale       Kryo 2: a Java stream, without Flink's registration and in Kryo 5: three strings
 *   Class        class tag · u8 (Kryo 5: only for primitives and boxes)
 *   InetSocketAddress   string host · varint port      AtomicBoolean, Integer, Long (Kryo 5)   u8, zigzag varint, zigzag varlong
 *
 * DefaultSerializers of Kryo 2.24.0 and 5.6.2, com.twitter.chill.java 0.7.6, Flink's FlinkChillPackageRegistrar (1.20, 2.3).
 */
import { javaToJson } from '../../java/json.js';
import { javaScalar } from '../../java/scalars.js';
import { javaField } from '../../java/tree.js';
import {
  BIGINT,
  BOOLEAN,
  DATE,
  Decimal,
  DOUBLE,
  FLOAT,
  HUGEINT,
  INTEGER,
  JSON_TYPE,
  JsonText,
  list,
  SMALLINT,
  type SqlType,
  TIME,
  TIMESTAMPTZ,
  TINYINT,
  Timestamp,
  UUID,
  VARCHAR,
} from '../../types.js';
import { BOXES } from './classes.js';
import type { Body, KryoReader } from './reader.js';
import { type KryoNode, NULL_NODE, scalar, text } from './tree.js';
import { readString, readVarInt, readVarLong, readZigzagInt, readZigzagLong } from './wire.js';

/** Numbers larger than this are damage, or would take minutes as decimal text. */
const MAX_BIG_BYTES = 20_000;
const MAX_SCALE = 1_000_000;
const MS_PER_DAY = 86_400_000n;

const string: Body = r => text(readString(r.c));

function bigInteger(r: KryoReader): bigint | undefined {
  const at = r.c.position;
  const n = readVarInt(r.c, 'length of a BigInteger');
  if (n === 0) return undefined;
  if (n === 1 || n - 1 > MAX_BIG_BYTES) r.c.fail(`a BigInteger of ${n - 1} bytes`, at);
  const bytes = r.c.slice(n - 1, 'BigInteger');
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  return BigInt.asIntN(8 * bytes.length, value);
}

/** java.math.BigDecimal.toPlainString, for scales of any sign. */
function decimalText(r: KryoReader, unscaled: bigint, scale: number): string {
  if (Math.abs(scale) > MAX_SCALE) r.c.fail(`a BigDecimal of scale ${scale}`);
  return new Decimal(unscaled, scale).toString();
}

function dayOf(ms: bigint): number {
  return Number((ms - (((ms % MS_PER_DAY) + MS_PER_DAY) % MS_PER_DAY)) / MS_PER_DAY);
}
function nanosOfDay(ms: bigint): number {
  return Number(((ms % MS_PER_DAY) + MS_PER_DAY) % MS_PER_DAY) * 1_000_000;
}

function bits(r: KryoReader): KryoNode {
  const words = readVarInt(r.c, 'words of a BitSet');
  if (words * 8 > r.c.remaining) r.c.fail(`a BitSet of ${words} words, but only ${r.c.remaining} bytes remain`);
  const set: number[] = [];
  for (let i = 0; i < words; i++) {
    const word = BigInt.asUintN(64, r.numbers.i64(r.c));
    if (word === 0n) continue;
    for (let b = 0; b < 64; b++) if (((word >> BigInt(b)) & 1n) === 1n) set.push(i * 64 + b);
  }
  return scalar(list(INTEGER), set);
}

/** Locale.toString */
function localeText(language: string, country: string, variant: string): string {
  return [language, country, variant].join('_').replace(/_+$/, '');
}

const localeStrings: Body = r => text(localeText(readString(r.c) ?? '', readString(r.c) ?? '', readString(r.c) ?? ''));

/** An object in Java's own form: Flink's and Kryo's JavaSerializer. */
export const javaBody: Body = (r, ref) => {
  const at = r.c.position;
  // all exceptions share one stream, the other classes have their own
  const content = r.javaObject(r.dialect.classes.baseOf(ref.name) === 'throwable' ? 'throwable' : ref.name);
  if (content.kind === 'block' || content.kind === 'exception') return r.c.fail('no Java object', at);
  if (content.kind === 'object' && r.dialect.classes.baseOf(ref.name) === 'throwable') {
    const message = javaField(content, 'detailMessage', 'java.lang.Throwable');
    return {
      kind: 'object',
      className: content.classDesc.name,
      fields: [{ name: 'message', value: message?.kind === 'string' ? text(message.value) : NULL_NODE }],
    };
  }
  const value = javaScalar(content);
  return typeof value === 'string' ? text(value) : scalar(JSON_TYPE, new JsonText(javaToJson(content)));
};

/** Calendar: as the point in time it is; zone, leniency and first day of the week are left out. */
function calendar(r: KryoReader): KryoNode {
  readString(r.c, 'time zone');
  const ms = readVarLong(r.c);
  r.c.bool();
  readVarInt(r.c);
  readVarInt(r.c);
  readZigzagLong(r.c);
  return scalar(TIMESTAMPTZ, Timestamp.ofMillis(ms));
}

function classObject(r: KryoReader): KryoNode {
  const ref = r.readClass();
  const byPrimitive = Object.values(BOXES).includes(ref?.name ?? '');
  const name = ref === undefined ? null : ref.name;
  if (r.v5 && !byPrimitive) return text(name);
  const isPrimitive = r.c.u8() === 1;
  if (!byPrimitive || isPrimitive) return text(name);
  return text(Object.keys(BOXES).find(k => BOXES[k] === name) ?? name);
}

const boolean: Body = r => scalar(BOOLEAN, r.c.bool());
const byte: Body = r => scalar(TINYINT, r.c.i8());
const short: Body = r => scalar(SMALLINT, r.numbers.i16(r.c));
const char: Body = r => scalar(VARCHAR, String.fromCharCode(r.numbers.u16(r.c)));
const int: Body = r => scalar(INTEGER, readZigzagInt(r.c));
const long: Body = r => scalar(BIGINT, readZigzagLong(r.c));
const float: Body = r => scalar(FLOAT, r.numbers.f32(r.c));
const double: Body = r => scalar(DOUBLE, r.numbers.f64(r.c));

/** By class, of primitives and of their boxes. */
const BOXED: Readonly<Record<string, Body>> = { boolean, byte, short, char, int, long, float, double, void: () => NULL_NODE };

const date: Body = r => scalar(TIMESTAMPTZ, Timestamp.ofMillis(readVarLong(r.c)));

const BOTH: Readonly<Record<string, Body>> = {
  ...BOXED,
  ...Object.fromEntries(Object.entries(BOXES).map(([box, primitive]) => [box, BOXED[primitive]])),
  'java.lang.String': string,
  'java.lang.StringBuilder': string,
  'java.lang.StringBuffer': string,
  'java.util.Currency': string,
  'java.util.TimeZone': string,
  'java.lang.Class': classObject,
  'java.math.BigInteger': r => {
    const n = bigInteger(r);
    return n === undefined ? NULL_NODE : scalar(HUGEINT, n);
  },
  'java.math.BigDecimal': r => {
    const n = bigInteger(r);
    return n === undefined ? NULL_NODE : text(decimalText(r, n, readZigzagInt(r.c)));
  },
  'java.util.Date': date,
  'java.sql.Date': r => scalar(DATE, dayOf(readVarLong(r.c))),
  'java.sql.Time': r => scalar(TIME, nanosOfDay(readVarLong(r.c))),
  'java.util.GregorianCalendar': calendar,
  'java.util.JapaneseImperialCalendar': calendar,
  'sun.util.BuddhistCalendar': calendar,
  'java.util.Calendar': calendar,
  'sun.util.calendar.ZoneInfo': string,
  'java.util.SimpleTimeZone': string,
  'java.util.Collections$EmptyList': () => ({ kind: 'list', className: 'java.util.Collections$EmptyList', items: [] }),
  'java.util.Collections$EmptySet': () => ({ kind: 'list', className: 'java.util.Collections$EmptySet', items: [] }),
  'java.util.Collections$EmptyMap': () => ({ kind: 'map', className: 'java.util.Collections$EmptyMap', entries: [] }),
};

/** Flink's fixed registrations of Kryo 2, and what they are without them. */
const FIXED_2: Readonly<Record<string, Body>> = {
  'java.util.BitSet': bits,
  'java.util.regex.Pattern': string,
  'java.sql.Timestamp': r => {
    const ms = readVarLong(r.c);
    return scalar(TIMESTAMPTZ, new Timestamp(Timestamp.ofMillis(ms).seconds, readNanos(r)));
  },
  'java.net.URI': string,
  'java.net.InetSocketAddress': r => text(`${readString(r.c, 'host')}:${readVarInt(r.c, 'port')}`),
  'java.util.UUID': r => uuid(readZigzagLong(r.c), readZigzagLong(r.c)),
  'java.util.Locale': javaBody,
  'java.text.SimpleDateFormat': javaBody,
};
const PLAIN_2: Readonly<Record<string, Body>> = {
  'java.util.Locale': localeStrings,
  'java.sql.Timestamp': date,
};

const FIXED_5: Readonly<Record<string, Body>> = {
  'java.util.regex.Pattern': r => {
    const pattern = text(readString(r.c));
    readVarInt(r.c, 'flags');
    return pattern;
  },
  'java.sql.Timestamp': FIXED_2['java.sql.Timestamp'],
  'java.net.URI': string,
  'java.net.InetSocketAddress': FIXED_2['java.net.InetSocketAddress'],
  'java.util.UUID': r => uuid(r.numbers.i64(r.c), r.numbers.i64(r.c)),
  'java.text.SimpleDateFormat': javaBody,
};
const PLAIN_5: Readonly<Record<string, Body>> = {
  'java.util.BitSet': bits,
  'java.util.Locale': localeStrings,
  'java.net.URL': string,
  'java.nio.charset.Charset': string,
  'java.sql.Timestamp': date,
};

function readNanos(r: KryoReader): number {
  const at = r.c.position;
  const nanos = readVarInt(r.c, 'nanoseconds');
  return nanos > 999_999_999 ? r.c.fail(`${nanos} nanoseconds`, at) : nanos;
}

function uuid(high: bigint, low: bigint): KryoNode {
  const hex = [high, low].map(x => BigInt.asUintN(64, x).toString(16).padStart(16, '0')).join('');
  return scalar(UUID, `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`);
}

const own = (table: Readonly<Record<string, Body>>, name: string): Body | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** The body of a class that is one value, or undefined. */
export function scalarBody(name: string, v5: boolean, fixed: boolean): Body | undefined {
  const found = own(BOTH, name) ?? (fixed ? own(v5 ? FIXED_5 : FIXED_2, name) : undefined) ?? own(v5 ? PLAIN_5 : PLAIN_2, name);
  if (found !== undefined) return found;
  // charsets have classes of their own: sun.nio.cs.UTF_8
  return v5 && /^sun\.nio\.cs\./.test(name) ? string : undefined;
}

/** Primitive fields of FieldSerializer: the same forms as the boxes'. */
export function primitiveBody(name: string): Body | undefined {
  return own(BOXED, name);
}

/** SQL types of values whose class alone decides it: it is final, or Kryo writes every subclass in the same way. */
const TYPES: Readonly<Record<string, SqlType>> = {
  'java.lang.Integer': INTEGER,
  'java.lang.Long': BIGINT,
  'java.lang.Short': SMALLINT,
  'java.lang.Byte': TINYINT,
  'java.lang.Character': VARCHAR,
  'java.lang.Boolean': BOOLEAN,
  'java.lang.Float': FLOAT,
  'java.lang.Double': DOUBLE,
  'java.lang.String': VARCHAR,
  'java.lang.StringBuilder': VARCHAR,
  'java.lang.StringBuffer': VARCHAR,
  'java.lang.Class': VARCHAR,
  'java.math.BigInteger': HUGEINT,
  'java.math.BigDecimal': VARCHAR,
  'java.util.UUID': UUID,
  'java.util.BitSet': list(INTEGER),
  'java.util.Locale': VARCHAR,
  'java.util.Currency': VARCHAR,
  'java.util.regex.Pattern': VARCHAR,
  'java.util.Calendar': TIMESTAMPTZ,
  'java.util.GregorianCalendar': TIMESTAMPTZ,
  'java.util.TimeZone': VARCHAR,
  'java.sql.Date': DATE,
  'java.sql.Time': TIME,
  'java.sql.Timestamp': TIMESTAMPTZ,
  'java.net.URI': VARCHAR,
  'java.net.URL': VARCHAR,
  'java.net.InetSocketAddress': VARCHAR,
  'java.nio.charset.Charset': VARCHAR,
  'java.io.File': VARCHAR,
  'org.apache.flink.core.fs.Path': VARCHAR,
  'scala.Symbol': VARCHAR,
  'scala.util.matching.Regex': VARCHAR,
  'scala.math.BigDecimal': VARCHAR,
  'scala.math.BigInt': HUGEINT,
};

export function scalarType(name: string): SqlType | undefined {
  return Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
}
