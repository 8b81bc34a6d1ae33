/**
 * A BSON document as the text that MongoDB's BsonDocument.toString gives: relaxed extended JSON, `{"_id": {"$oid": "64b7…"}}`.
 *
 *   document   i32 length of all (little-endian) · element* · 00          element   u8 type · name 00 · value
 *   value      1 double · 2 string i32 len+1, UTF-8 00 · 3 document · 4 array · 5 binary i32 len, u8 subtype · 6 undefined · 7 ObjectId ·
 *              8 bool · 9 date i64 ms · 10 null · 11 regex cstring ×2 · 13, 14 code, symbol as string · 16 i32 · 17 timestamp u64 ·
 *              18 i64 · 19 decimal128 · FF, 7F smallest, greatest key
 *
 * bsonspec.org 1.1.
 */
import type { Cursor } from '../io/cursor.js';
import { hexOf, jsonString, numberText, textOf } from '../io/json.js';
import { TIMESTAMPTZ, Timestamp } from '../types.js';

const MAX_DEPTH = 100;

/** Reads one document. */
export function readBson(c: Cursor): string {
  return document(c, false, 0);
}

function document(c: Cursor, array: boolean, depth: number): string {
  if (depth > MAX_DEPTH) c.fail(`document nested deeper than ${MAX_DEPTH}`);
  const start = c.position;
  const length = c.i32le();
  if (length < 5 || length > c.end - start) c.fail(`document of ${length} bytes`, start);
  const parts: string[] = [];
  for (;;) {
    const type = c.u8();
    if (type === 0) break;
    const name = cstring(c);
    const value = element(c, type, depth);
    parts.push(array ? value : `${jsonString(name)}: ${value}`);
  }
  if (c.position !== start + length) c.fail(`document of ${length} bytes ends after ${c.position - start}`, start);
  return array ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
}

function cstring(c: Cursor): string {
  const end = c.bytes.indexOf(0, c.position);
  if (end < 0 || end >= c.end) return c.fail('name without an end');
  const text = Buffer.from(c.slice(end - c.position, 'name')).toString('utf8');
  c.position++;
  return text;
}

function string(c: Cursor): string {
  const length = c.i32le();
  if (length < 1 || length > c.remaining) c.fail(`string of ${length} bytes`);
  const text = Buffer.from(c.slice(length - 1, 'string')).toString('utf8');
  if (c.u8() !== 0) c.fail('string without its last byte');
  return text;
}

function element(c: Cursor, type: number, depth: number): string {
  switch (type) {
    case 1: {
      const bits = c.u64le();
      const n = new Float64Array(new BigUint64Array([bits]).buffer)[0];
      if (!Number.isFinite(n)) return `{"$numberDouble": "${n}"}`;
      const text = numberText(n);
      return /[.e]/.test(text) ? text : `${text}.0`;
    }
    case 2:
      return jsonString(string(c));
    case 3:
      return document(c, false, depth + 1);
    case 4:
      return document(c, true, depth + 1);
    case 5: {
      const length = c.i32le();
      if (length < 0 || length > c.remaining) c.fail(`binary of ${length} bytes`);
      const subtype = c.u8();
      const base64 = Buffer.from(c.slice(length, 'binary')).toString('base64');
      return `{"$binary": {"base64": "${base64}", "subType": "${subtype.toString(16).padStart(2, '0')}"}}`;
    }
    case 6:
      return '{"$undefined": true}';
    case 7:
      return `{"$oid": "${hexOf(c.slice(12, 'ObjectId'))}"}`;
    case 8:
      return c.bool() ? 'true' : 'false';
    case 9: {
      const ms = c.i64le();
      // outside of 1970–9999 the number itself
      if (ms < 0n || ms > 253402300799999n) return `{"$date": {"$numberLong": "${ms}"}}`;
      return `{"$date": ${jsonString(textOf(TIMESTAMPTZ, Timestamp.ofMillis(ms)))}}`;
    }
    case 10:
      return 'null';
    case 11:
      return `{"$regularExpression": {"pattern": ${jsonString(cstring(c))}, "options": ${jsonString(cstring(c))}}}`;
    case 13:
      return `{"$code": ${jsonString(string(c))}}`;
    case 14:
      return `{"$symbol": ${jsonString(string(c))}}`;
    case 16:
      return String(c.i32le());
    case 17: {
      const increment = c.u32le();
      return `{"$timestamp": {"t": ${c.u32le()}, "i": ${increment}}}`;
    }
    case 18:
      return String(c.i64le());
    case 19: {
      const low = c.u64le();
      return `{"$numberDecimal": "${decimal128(c.u64le(), low)}"}`;
    }
    case 0xff:
      return '{"$minKey": 1}';
    case 0x7f:
      return '{"$maxKey": 1}';
    default:
      return c.fail(`element of type ${type}`);
  }
}

/** IEEE 754 decimal128, binary integer encoding. */
function decimal128(high: bigint, low: bigint): string {
  const sign = high >> 63n === 1n ? '-' : '';
  const combination = (high >> 58n) & 0x1fn;
  if (combination === 0x1fn) return 'NaN';
  if (combination === 0x1en) return `${sign}Infinity`;
  // a second form, of coefficients beyond 34 digits, stands for zero
  const second = combination >= 0x18n;
  const exponent = Number((second ? high >> 47n : high >> 49n) & 0x3fffn) - 6176;
  const digits = second ? '0' : (((high & 0x1ffffffffffffn) << 64n) | low).toString();
  if (exponent === 0) return sign + digits;
  if (exponent > 0 || digits.length - 1 + exponent < -6) {
    const point = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
    const power = digits.length - 1 + exponent;
    return `${sign}${point}E${power < 0 ? '' : '+'}${power}`;
  }
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
