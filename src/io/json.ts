/**
 * Values as JSON text, exactly (contract §3): the one writer of JSON for values, made from the SQL type and the value.
 *
 *   integers, DECIMAL      every digit; DECIMAL with its scale (`1.10`); quoted on wish, by type
 *   DOUBLE, FLOAT          the shortest number that reads back to the same double or float; "NaN", "Infinity", "-Infinity"
 *   VARCHAR                escaped; a surrogate without its partner is `\ud800`
 *   BLOB, UUID             lower-case hex, 8-4-4-4-12
 *   DATE … TIMESTAMPTZ     ISO 8601, 0, 3, 6 or 9 fraction digits, the fewest that are exact; years beyond 9999 signed
 *   INTERVAL               ISO 8601 (`P1Y2M`, `PT1H0.5S`)
 *   STRUCT                 object: leading extras, fields, other extras; of a choice (Either, Try) the chosen field alone: the one
 *                          that is not NULL, both where the value does not tell
 *   LIST                   array
 *   MAP                    object when keys are text, numbers or booleans and no key is null or repeated; else [{"key","value"}]
 *   JSON                   its text as it is; so any value that is a JsonText (decoded in part only)
 */
import { type Decimal, type Interval, JsonText, type MapValue, type SqlType, type Struct, Timestamp, type Value } from '../types.js';

export interface JsonOptions {
  /** `string`: BIGINT, HUGEINT and DECIMAL are quoted */
  readonly numbers?: 'exact' | 'string';
  /** `string`: DECIMAL alone is quoted (what stands inside JSON columns) */
  readonly decimals?: 'number' | 'string';
}

/** For finished text inside JSON columns: exact integers, decimals as strings. */
export const INSIDE_JSON: JsonOptions = { numbers: 'exact', decimals: 'string' };

/** JSON text of a value of `type`. */
export function jsonOf(type: SqlType, value: Value, options: JsonOptions = {}): string {
  if (value === null) return 'null';
  if (value instanceof JsonText) return value.text;
  switch (type.kind) {
    case 'BOOLEAN':
      return value === true ? 'true' : 'false';
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
      return String(value);
    case 'BIGINT':
    case 'HUGEINT':
      return options.numbers === 'string' ? `"${value}"` : String(value);
    case 'DECIMAL': {
      const text = (value as Decimal).toString();
      return options.numbers === 'string' || options.decimals === 'string' ? `"${text}"` : text;
    }
    case 'FLOAT':
    case 'DOUBLE': {
      const text = numberText(value as number, type.kind === 'FLOAT');
      return Number.isFinite(value as number) ? text : `"${text}"`;
    }
    case 'JSON':
      throw new Error('a JSON value is a JsonText');
    case 'STRUCT':
      return structJson(type, value as Struct, options);
    case 'LIST': {
      const { element } = type;
      let out = '[';
      for (const [i, v] of (value as readonly Value[]).entries()) out += (i === 0 ? '' : ',') + jsonOf(element, v, options);
      return `${out}]`;
    }
    case 'MAP':
      return mapJson(type.key, type.value, value as MapValue, options);
    default:
      return jsonString(textOf(type, value, options));
  }
}

/** The JSON form without outer quotes: what tables, csv and text columns show. NULL is the word `null`. */
export function textOf(type: SqlType, value: Value, options: JsonOptions = {}): string {
  if (value === null) return 'null';
  if (value instanceof JsonText) return value.text.startsWith('"') ? (JSON.parse(value.text) as string) : value.text;
  switch (type.kind) {
    case 'VARCHAR':
    case 'UUID':
      return value as string;
    case 'BLOB':
      return hexOf(value as Uint8Array);
    case 'DATE':
      return dateText(BigInt(value as number));
    case 'TIME':
    case 'TIME_NS':
      return timeText(value as number);
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
      return timestampText(value as Timestamp);
    case 'TIMESTAMPTZ': {
      const text = timestampText(value as Timestamp);
      return text.endsWith('y') ? text : `${text}Z`;
    }
    case 'INTERVAL':
      return intervalText(value as Interval);
    case 'FLOAT':
    case 'DOUBLE':
      return numberText(value as number, type.kind === 'FLOAT');
    case 'BIGINT':
    case 'HUGEINT':
      return String(value);
    case 'DECIMAL':
      return (value as Decimal).toString();
    default:
      return jsonOf(type, value, options);
  }
}

/** A JSON string literal; lone surrogates come out as `\udXXX`. */
export function jsonString(text: string): string {
  return JSON.stringify(text);
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

function structJson({ fields, choice }: SqlType & { kind: 'STRUCT' }, value: Struct, options: JsonOptions): string {
  let out = '';
  const add = (name: string, json: string): void => {
    out += `${out === '' ? '' : ','}${jsonString(name)}:${json}`;
  };
  for (const x of value.extras ?? []) if (x.lead) add(x.name, x.json);
  const chosen = value.chosen ?? (choice ? onlyValue(value.values) : undefined);
  fields.forEach((f, i) => {
    if (chosen === undefined || chosen === i) add(f.name, jsonOf(f.type, value.values[i], options));
  });
  for (const x of value.extras ?? []) if (!x.lead) add(x.name, x.json);
  return `{${out}}`;
}

/** The index of the one value that is not NULL; undefined where there is none such. */
function onlyValue(values: readonly Value[]): number | undefined {
  const first = values.findIndex(v => v !== null);
  return first < 0 || values.some((v, i) => v !== null && i !== first) ? undefined : first;
}

function mapJson(keyType: SqlType, valueType: SqlType, value: MapValue, options: JsonOptions): string {
  const parts: string[] = [];
  if (isPlainKey(keyType)) {
    const seen = new Set<string | null>();
    for (const [k] of value.entries) seen.add(k === null ? null : textOf(keyType, k));
    if (seen.size === value.entries.length && !seen.has(null)) {
      for (const [k, v] of value.entries) parts.push(`${jsonString(textOf(keyType, k))}:${jsonOf(valueType, v, options)}`);
      return `{${parts.join(',')}}`;
    }
  }
  for (const [k, v] of value.entries) parts.push(`{"key":${jsonOf(keyType, k, options)},"value":${jsonOf(valueType, v, options)}}`);
  return `[${parts.join(',')}]`;
}

function isPlainKey(type: SqlType): boolean {
  switch (type.kind) {
    case 'VARCHAR':
    case 'BOOLEAN':
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'HUGEINT':
    case 'FLOAT':
    case 'DOUBLE':
    case 'DECIMAL':
      return true;
    default:
      return false;
  }
}

/** Shortest text of a double, or of a float (`float`), that reads back to it; `NaN`, `Infinity`, `-Infinity`, `-0.0`. */
export function numberText(n: number, float = false): string {
  if (n === 0) return Object.is(n, -0) ? '-0.0' : '0';
  return float && Number.isFinite(n) ? shortestFloat(n) : String(n);
}

function shortestFloat(n: number): string {
  if (Number.isInteger(n) && Math.abs(n) < 1e7) return String(n);
  for (let digits = 1; digits < 9; digits++) {
    const near = Number(n.toPrecision(digits));
    if (Math.fround(near) === n) return String(near);
    // at a power of two the gap below is half the gap above: the nearest decimal may miss where the next one up does not
    const exponent = Number(n.toExponential(digits - 1).split('e')[1]);
    const up = Number((near + Math.sign(n) * 10 ** (exponent - digits + 1)).toPrecision(digits));
    if (Math.fround(up) === n) return String(up);
  }
  return String(Number(n.toPrecision(9)));
}

/** Days since 1970-01-01 as a proleptic ISO date: `2026-01-31`, `+12345-01-01`, `-0001-12-31`. */
export function dateText(epochDay: bigint): string {
  const { year, month, day } = civilFromDays(epochDay);
  return `${yearText(year)}-${two(month)}-${two(day)}`;
}

function yearText(year: bigint): string {
  const digits = (year < 0n ? -year : year).toString().padStart(4, '0');
  return year < 0n ? `-${digits}` : year > 9999n ? `+${digits}` : digits;
}

/** Calendar date of a day number (proleptic Gregorian, year 0 exists). */
export function civilFromDays(epochDay: bigint): { year: bigint; month: number; day: number } {
  // days since 0000-03-01, in eras of 400 years (146,097 days)
  const z = epochDay + 719468n;
  const era = (z >= 0n ? z : z - 146096n) / 146097n;
  const dayOfEra = Number(z - era * 146097n);
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524) - Math.floor(dayOfEra / 146096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {
    year: BigInt(yearOfEra) + era * 400n + (month <= 2 ? 1n : 0n),
    month,
    day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  };
}

/** Day number of a calendar date; a safe integer for every i32 year. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * 146097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719468;
}

/** Nanoseconds of the day: `12:34:56`, `12:34:56.789`. */
export function timeText(nanosOfDay: number): string {
  const seconds = Math.floor(nanosOfDay / 1e9);
  return clock(seconds) + fraction(nanosOfDay - seconds * 1e9);
}

/** ISO date and time; `infinity`, `-infinity` for DuckDB's markers. */
function timestampText(t: Timestamp): string {
  if (t.seconds === Timestamp.INFINITY.seconds) return 'infinity';
  if (t.seconds === Timestamp.NEGATIVE_INFINITY.seconds) return '-infinity';
  let day = t.seconds / 86400n;
  let second = Number(t.seconds % 86400n);
  if (second < 0) {
    second += 86400;
    day -= 1n;
  }
  return `${dateText(day)}T${clock(second)}${fraction(t.nanos)}`;
}

function intervalText({ months, days, micros }: Interval): string {
  const years = Math.trunc(months / 12);
  const rest = months - years * 12;
  const date = `${years === 0 ? '' : `${years}Y`}${rest === 0 ? '' : `${rest}M`}${days === 0 ? '' : `${days}D`}`;
  const time = durationTime(micros / 1000000n, Number(micros % 1000000n) * 1000);
  return date + time === '' ? 'PT0S' : `P${date}${time === '' ? '' : `T${time}`}`;
}

/** java.time.Duration.toString: `PT8H6M12.345S`, `PT-0.5S`, `PT0S`. `nanos` 0..999,999,999 beside floor seconds. */
export function durationText(seconds: bigint, nanos: number): string {
  // count from zero, as Java does: -1 s + 0.5e9 ns is -0.5 s
  const borrow = seconds < 0n && nanos > 0;
  const time = durationTime(borrow ? seconds + 1n : seconds, borrow ? nanos - 1e9 : nanos);
  return time === '' ? 'PT0S' : `PT${time}`;
}

/** `seconds` and `nanos` of one sign. */
function durationTime(seconds: bigint, nanos: number): string {
  const hours = seconds / 3600n;
  const minutes = (seconds % 3600n) / 60n;
  const rest = Number(seconds % 60n);
  let out = `${hours === 0n ? '' : `${hours}H`}${minutes === 0n ? '' : `${minutes}M`}`;
  if (rest !== 0 || nanos !== 0) {
    const digits = nanos === 0 ? '' : `.${String(Math.abs(nanos)).padStart(9, '0').replace(/0+$/, '')}`;
    out += `${rest < 0 || nanos < 0 ? '-' : ''}${Math.abs(rest)}${digits}S`;
  }
  return out;
}

function clock(second: number): string {
  return `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
}

function fraction(nanos: number): string {
  if (nanos === 0) return '';
  const digits = String(nanos).padStart(9, '0');
  return `.${nanos % 1e6 === 0 ? digits.slice(0, 3) : nanos % 1e3 === 0 ? digits.slice(0, 6) : digits}`;
}

function two(n: number): string {
  return n < 10 ? `0${n}` : String(n);
}
