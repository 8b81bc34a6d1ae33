/**
 * Text constants as values of other types: what DuckDB's casts make of the usual spellings. Of what has the look of a value
 * but not a spelling known here nothing is said: the statement is refused.
 */
import { type SqlType, Timestamp, type Value } from '../../types.js';

/** `value`, no value (`none`), or not known here. */
export type Cast = { readonly kind: 'value'; readonly value: Value } | { readonly kind: 'none' } | { readonly kind: 'unknown' };

const NONE: Cast = { kind: 'none' };
const UNKNOWN: Cast = { kind: 'unknown' };
const value = (v: Value): Cast => ({ kind: 'value', value: v });

const DATE_TEXT = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME_TEXT = /^(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?$/;
const TIMESTAMP_TEXT = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?))?(Z|[+-]\d{2}(?::?\d{2})?)?$/;

/** The text as a value of the type. */
export function castText(text: string, type: SqlType): Cast {
  switch (type.kind) {
    case 'BOOLEAN':
      if (/^(true|t|1|yes|y)$/i.test(text)) return value(true);
      return /^(false|f|0|no|n)$/i.test(text) ? value(false) : NONE;
    case 'UUID': {
      const hex = text.replace(/^\{(.*)\}$/, '$1').toLowerCase();
      if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(hex)) return value(hex);
      return /^[0-9a-f{}-]{32,}$/.test(hex) ? UNKNOWN : NONE;
    }
    case 'DATE':
      return fromParts(text, DATE_TEXT, m => days(m[1], m[2], m[3]));
    case 'TIME':
    case 'TIME_NS':
      return fromParts(text, TIME_TEXT, m => nanosOfDay(m, type.kind === 'TIME' ? 6 : 9));
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMPTZ':
      return fromParts(text, TIMESTAMP_TEXT, m => timestamp(m, type.kind as 'TIMESTAMP'));
    default:
      return UNKNOWN;
  }
}

function fromParts(text: string, pattern: RegExp, make: (match: RegExpExecArray) => Value | undefined): Cast {
  const match = pattern.exec(text);
  const made = match === null ? undefined : make(match);
  if (made !== undefined) return value(made);
  // without digits no time is spelled, but for the engine's words
  return /\d/.test(text) || /^[+-]?\s*(epoch|inf|infinity|now|today)\s*$/i.test(text) ? UNKNOWN : NONE;
}

function days(year: string, month: string, day: string): number | undefined {
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const date = new Date(ms);
  if (Number(year) < 100 || date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  return ms / 86400000;
}

function nanosOfDay(match: readonly (string | undefined)[], digits: number): number | undefined {
  const [, hours, minutes, seconds, fraction = ''] = match;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59 || fraction.length > digits) return undefined;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1e9 + Number(fraction.padEnd(9, '0'));
}

function timestamp(match: RegExpExecArray, kind: 'TIMESTAMP' | 'TIMESTAMP_NS' | 'TIMESTAMPTZ'): Timestamp | undefined {
  const [, date, time = '00:00:00', zone] = match;
  if (zone !== undefined && kind !== 'TIMESTAMPTZ') return undefined;
  const day = DATE_TEXT.exec(date);
  const clock = TIME_TEXT.exec(time);
  const epochDay = day === null ? undefined : days(day[1], day[2], day[3]);
  const nanos = clock === null ? undefined : nanosOfDay(clock, kind === 'TIMESTAMP_NS' ? 9 : 6);
  if (epochDay === undefined || nanos === undefined) return undefined;
  const offset = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '');
  const minutes = offset === null ? 0 : (Number(offset[2]) * 60 + Number(offset[3] ?? 0)) * (offset[1] === '-' ? -1 : 1);
  const seconds = epochDay * 86400 + Math.floor(nanos / 1e9) - minutes * 60;
  return new Timestamp(BigInt(seconds), nanos % 1e9);
}
