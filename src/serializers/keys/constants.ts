/**
 * Constants of a statement as values of a SQL type: the inverse of how values are shown.
 *
 *   typed   the constant as the planner brings it to a column's type: text as it is, numbers as numbers, every other type in
 *           the engine's spelling (`2026-01-31 12:00:00+00`, `\xAB` in BLOBs). FLOAT and DOUBLE are equal by their rounded value
 *   text    the text form of mixed columns: only a value that is shown as exactly this text can match
 *   json    the same of JSON columns
 *
 * The answer may hold too many values, never too few.
 */
import { daysFromCivil, jsonOf, textOf } from '../../io/json.js';
import { Decimal, type SqlType, Timestamp, type Value } from '../../types.js';

/** A constant of the statement (tables/table.ts has the same shape). */
export type KeyConstant =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'decimal'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean };

export type ConstantForm = 'typed' | 'text' | 'json';

/** The values of `type` that can equal the constant: none of them is `[]`; undefined: it cannot be said. */
export function valuesOfConstant(type: SqlType, constant: KeyConstant, form: ConstantForm): readonly Value[] | undefined {
  if (form === 'typed') return typedValues(type, constant);
  if (constant.kind !== 'string') return undefined;
  const shown = constant.value;
  // a lone surrogate is U+FFFD in SQL text: such a constant stands for many values
  if (shown.includes('\ufffd')) return undefined;
  const text = form === 'text' ? shown : unquoted(shown);
  const values = text === undefined ? [] : shownValues(type, text);
  return values?.filter(v => (form === 'text' ? textOf(type, v) : jsonOf(type, v)) === shown);
}

/** JSON text without the quotes of a string; undefined when it is no JSON string. */
function unquoted(json: string): string | undefined {
  if (!json.startsWith('"')) return json;
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}

/** Values of the type whose text may be this one. Times of day, dates and numbers are checked by whoever calls. */
function shownValues(type: SqlType, text: string): readonly Value[] | undefined {
  switch (type.kind) {
    case 'BOOLEAN':
      return text === 'true' ? [true] : text === 'false' ? [false] : [];
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'HUGEINT':
      return INTEGER.test(text) && text.length <= 100_000 ? integerValues(type.kind, BigInt(text)) : [];
    case 'FLOAT':
    case 'DOUBLE':
      return NUMBER.test(text) || SPECIAL.test(text) ? [Number(text)] : [];
    case 'DECIMAL':
      return decimalValues(type, text);
    case 'VARCHAR':
      return [text];
    case 'UUID':
      return UUID_TEXT.test(text) ? [text] : [];
    case 'BLOB':
      return /^(?:[0-9a-f]{2})*$/.test(text) ? [Uint8Array.from(Buffer.from(text, 'hex'))] : [];
    case 'DATE':
    case 'TIME':
    case 'TIME_NS':
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMPTZ':
      return timeValues(type.kind, text);
    default:
      return undefined;
  }
}

function typedValues(type: SqlType, constant: KeyConstant): readonly Value[] | undefined {
  switch (type.kind) {
    case 'VARCHAR': {
      const text = constant.kind === 'string' ? constant.value : constant.kind === 'integer' ? String(constant.value) : undefined;
      return text === undefined || text.includes('\ufffd') ? undefined : [text];
    }
    case 'BOOLEAN':
      return constant.kind === 'boolean' ? [constant.value] : undefined;
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'HUGEINT': {
      const number = numberOf(constant);
      if (number === undefined) return isNoNumber(constant) ? [] : undefined;
      // the engine compares the largest integers with fractions, and with what is larger yet, by way of rounded numbers
      if (number.unscaled > MAX_EXACT || number.unscaled < -MAX_EXACT || number.scale > 19) return undefined;
      if (number.scale > 0 && type.kind === 'HUGEINT') return undefined;
      const one = 10n ** BigInt(number.scale);
      return number.unscaled % one === 0n ? integerValues(type.kind, number.unscaled / one) : [];
    }
    case 'DECIMAL': {
      const number = numberOf(constant);
      if (number === undefined) return isNoNumber(constant) ? [] : undefined;
      const digits = String(number.unscaled).replace('-', '').length;
      const scale = Math.max(type.scale, number.scale);
      // beyond 38 digits the engine rounds
      if (Math.max(type.precision - type.scale, digits - number.scale) + scale > 38) return undefined;
      return decimalValues(type, new Decimal(number.unscaled, number.scale).toString());
    }
    case 'FLOAT':
    case 'DOUBLE': {
      const number = numberOf(constant);
      if (number === undefined) return isNoNumber(constant) ? [] : floatingValues(constant, type.kind === 'FLOAT');
      if (String(number.unscaled).length > 30) return undefined;
      return floatValues(new Decimal(number.unscaled, number.scale).toString(), type.kind === 'FLOAT');
    }
    case 'BLOB':
      return constant.kind === 'string' ? blobValues(constant.value) : undefined;
    case 'UUID':
      return constant.kind === 'string' && UUID_TEXT.test(constant.value) ? [constant.value] : undefined;
    case 'DATE':
    case 'TIME':
    case 'TIME_NS':
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMPTZ': {
      if (constant.kind !== 'string') return undefined;
      const values = timeValues(type.kind, constant.value);
      return values.length === 0 ? undefined : values;
    }
    default:
      return undefined;
  }
}

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?$/;
const SPECIAL = /^(?:NaN|-?Infinity)$/;
const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BITS = { TINYINT: 8, SMALLINT: 16, INTEGER: 32, BIGINT: 64, HUGEINT: 0 } as const;
const MAX_EXACT = 10n ** 37n;

function integerValues(kind: keyof typeof BITS, n: bigint): readonly Value[] {
  if (kind === 'HUGEINT') return [n];
  if (BigInt.asIntN(BITS[kind], n) !== n) return [];
  return [kind === 'BIGINT' ? n : Number(n)];
}

/** The number that the constant is under the literal rule; undefined: none, or one that only the engine can read. */
function numberOf(c: KeyConstant): Decimal | undefined {
  if (c.kind === 'integer') return new Decimal(c.value, 0);
  if (c.kind === 'boolean') return undefined;
  const parts = /^([+-]?)([0-9]*)(?:\.([0-9]*))?$/.exec((c.kind === 'string' ? c.value : c.text).trim());
  if (parts === null) return undefined;
  const [, sign, whole, fraction = ''] = parts;
  const digits = fraction.replace(/0+$/, '');
  if (whole === '' && fraction === '') return undefined;
  if (whole.length + digits.length > 1000) return undefined;
  const unscaled = BigInt(whole + digits);
  return new Decimal(sign === '-' ? -unscaled : unscaled, digits.length);
}

/** Text that spells no number in any way the engine knows. */
function isNoNumber(c: KeyConstant): boolean {
  return c.kind === 'string' && !/[0-9]/.test(c.value) && !/inf|nan/i.test(c.value);
}

function decimalValues(type: SqlType & { kind: 'DECIMAL' }, text: string): readonly Value[] {
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text);
  if (parts === null) return [];
  const [, sign, whole, fraction = ''] = parts;
  const kept = fraction.slice(0, type.scale).padEnd(type.scale, '0');
  if (/[1-9]/.test(fraction.slice(type.scale)) || whole.length > 60) return [];
  const unscaled = BigInt(whole + kept);
  return unscaled >= 10n ** BigInt(type.precision) ? [] : [new Decimal(sign === '-' ? -unscaled : unscaled, type.scale)];
}

/** `1e3`, `NaN`, `-inf` */
function floatingValues(c: KeyConstant, single: boolean): readonly Value[] | undefined {
  const text = c.kind === 'decimal' ? c.text.trim() : c.kind === 'string' ? c.value.trim() : '';
  if (/^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,4}$/.test(text)) return floatValues(text, single);
  if (/^\+?nan$/i.test(text)) return [Number.NaN];
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text);
  return infinite === null ? undefined : [infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY];
}

/** All floats that the engine may take the decimal for: it rounds in one step or in two. Both zeros are equal. */
function floatValues(text: string, single: boolean): readonly Value[] {
  const round = single ? Math.fround : (n: number) => n;
  const near = round(Number(text));
  const values = new Set<number>([near]);
  const exact = Number.isSafeInteger(near) && new RegExp(`^${near}(?:\\.0*)?$`).test(text) && (!single || Math.abs(near) <= 1 << 24);
  if (!exact) {
    let [below, above] = [near, near];
    for (let i = 0; i < 2; i++) {
      below = neighbour(below, -1, single);
      above = neighbour(above, 1, single);
      values.add(below).add(above);
    }
  }
  if (values.has(0)) return [...values, -0];
  return [...values];
}

/** The next float or double in a direction. */
function neighbour(n: number, direction: 1 | -1, single: boolean): number {
  if (!Number.isFinite(n)) return n;
  const view = new DataView(new ArrayBuffer(8));
  if (n === 0) {
    if (single) view.setInt32(0, 1);
    else view.setBigInt64(0, 1n);
    return direction * (single ? view.getFloat32(0) : view.getFloat64(0));
  }
  const away = n > 0 === direction > 0;
  if (single) {
    view.setFloat32(0, n);
    view.setInt32(0, view.getInt32(0) + (away ? 1 : -1));
    return view.getFloat32(0);
  }
  view.setFloat64(0, n);
  view.setBigInt64(0, view.getBigInt64(0) + (away ? 1n : -1n));
  return view.getFloat64(0);
}

/** BLOB as the engine prints it: printable ASCII, everything else `\xHH`. */
function blobValues(text: string): readonly Value[] | undefined {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x5c) {
      const hex = /^\\x([0-9a-fA-F]{2})/.exec(text.slice(i, i + 4));
      if (hex === null) return undefined;
      bytes.push(Number.parseInt(hex[1], 16));
      i += 3;
    } else if (unit < 0x20 || unit > 0x7e) return undefined;
    else bytes.push(unit);
  }
  return [Uint8Array.from(bytes)];
}

const DATE_TEXT = '([+-]?[0-9]{4,10})-([0-9]{2})-([0-9]{2})';
const TIME_TEXT = '([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\\.([0-9]{1,9}))?';
const DATE_ONLY = new RegExp(`^${DATE_TEXT}$`);
const TIME_ONLY = new RegExp(`^${TIME_TEXT}$`);
const LOCAL = new RegExp(`^${DATE_TEXT}[ T]${TIME_TEXT}$`);
const ZONED = new RegExp(`^${DATE_TEXT}[ T]${TIME_TEXT}(?:Z|\\+00)$`);

/** Dates and times in the spelling of the engine or of JSON. */
function timeValues(kind: 'DATE' | 'TIME' | 'TIME_NS' | 'TIMESTAMP' | 'TIMESTAMP_NS' | 'TIMESTAMPTZ', text: string): readonly Value[] {
  const pattern = kind === 'DATE' ? DATE_ONLY : kind === 'TIME' || kind === 'TIME_NS' ? TIME_ONLY : kind === 'TIMESTAMPTZ' ? ZONED : LOCAL;
  const parts = pattern.exec(text);
  if (parts === null) return [];
  if (kind === 'TIME' || kind === 'TIME_NS') return [secondsOf(parts, 1) * 1e9 + nanosOf(parts[4])];
  const day = daysFromCivil(Number(parts[1]), Number(parts[2]), Number(parts[3]));
  if (kind === 'DATE') return [day];
  return [new Timestamp(BigInt(day) * 86400n + BigInt(secondsOf(parts, 4)), nanosOf(parts[7]))];
}

const secondsOf = (parts: RegExpExecArray, at: number): number =>
  (Number(parts[at]) * 60 + Number(parts[at + 1])) * 60 + Number(parts[at + 2]);
const nanosOf = (fraction: string | undefined): number => (fraction === undefined ? 0 : Number(fraction.padEnd(9, '0')));
