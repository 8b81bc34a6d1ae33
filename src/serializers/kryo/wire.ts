/**
 * Kryo's numbers and strings.
 *
 *   varint    7 bits a byte, least significant first, 0x80 = more, at most 5 bytes; `positive` as it is, else zigzag
 *   varlong   the same of at most 9 bytes, the ninth with all 8 bits
 *   flagged   first byte: 0x80 a flag, 0x40 more, 6 bits; then as varint                                            (Kryo 5)
 *   fixed     short, char, int, long, float, double: big-endian in Kryo 2, little-endian in Kryo 5
 *   string    ASCII of 2 or more characters: its bytes, the last one | 0x80
 *             others: first byte 0x80 | 6 bits of (UTF-16 units + 1), 0x40 = more, then 7 bits a byte, 0x80 = more; then the units
 *             in UTF-8 of 1 to 3 bytes each. 80 = null, 81 = ""
 *
 * com.esotericsoftware.kryo.io.Input / Output, 2.24.0 and 5.6.2.
 */
import type { Cursor } from '../../io/cursor.js';

/** Input.readVarInt(true): the int's bits as an unsigned number. */
export function readVarInt(c: Cursor, what = 'number'): number {
  let result = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const b = c.u8();
    result = (result | ((b & 0x7f) << shift)) >>> 0;
    if (b < 0x80) return result;
  }
  return c.fail(`${what} is longer than 5 bytes`);
}

/** Input.readVarInt(false) */
export function readZigzagInt(c: Cursor): number {
  const n = readVarInt(c);
  return (n >>> 1) ^ -(n & 1);
}

/** Input.readVarLong(true), as a signed 64-bit number. */
export function readVarLong(c: Cursor): bigint {
  let low = 0;
  let shift = 0;
  for (; shift < 28; shift += 7) {
    const b = c.u8();
    low += (b & 0x7f) * 2 ** shift;
    if (b < 0x80) return BigInt(low);
  }
  let result = BigInt(low);
  for (; shift < 56; shift += 7) {
    const b = c.u8();
    result |= BigInt(b & 0x7f) << BigInt(shift);
    if (b < 0x80) return result;
  }
  return BigInt.asIntN(64, result | (BigInt(c.u8()) << 56n));
}

/** Input.readVarLong(false) */
export function readZigzagLong(c: Cursor): bigint {
  const n = BigInt.asUintN(64, readVarLong(c));
  return BigInt.asIntN(64, (n >> 1n) ^ -(n & 1n));
}

/** Input.readVarIntFlag() and readVarIntFlag(true) of Kryo 5. */
export function readFlaggedInt(c: Cursor): { flag: boolean; value: number } {
  const first = c.u8();
  let value = first & 0x3f;
  if ((first & 0x40) !== 0) value += readVarInt(c) * 64;
  return { flag: (first & 0x80) !== 0, value };
}

/** Input.readString() */
export function readString(c: Cursor, what = 'string'): string | null {
  const at = c.position;
  const first = c.u8();
  if (first < 0x80) {
    let end = c.position;
    while (end < c.end && c.bytes[end] < 0x80) end++;
    if (end >= c.end) c.fail(`${what} has no end`, at);
    c.position = end + 1;
    const bytes = Buffer.from(c.bytes.subarray(at, end + 1));
    bytes[bytes.length - 1] &= 0x7f;
    return bytes.toString('latin1');
  }
  let units = first & 0x3f;
  if ((first & 0x40) !== 0) units += readVarInt(c, `length of ${what}`) * 64;
  if (units === 0) return null;
  units--;
  if (units > c.remaining) c.fail(`${what} has ${units} characters, but only ${c.remaining} bytes remain`, at);
  return readUnits(c, units, what);
}

function readUnits(c: Cursor, count: number, what: string): string {
  const { bytes } = c;
  let p = c.position;
  while (p < c.position + count && bytes[p] < 0x80) p++;
  if (p === c.position + count) {
    const out = Buffer.from(bytes.buffer, bytes.byteOffset + c.position, count).toString('latin1');
    c.position = p;
    return out;
  }
  let out = '';
  const units: number[] = [];
  for (let i = 0; i < count; i++) {
    const b = c.u8();
    if (b < 0x80) units.push(b);
    else if (b >> 5 === 6) units.push(((b & 0x1f) << 6) | (c.u8() & 0x3f));
    else if (b >> 4 === 14) units.push(((b & 0x0f) << 12) | ((c.u8() & 0x3f) << 6) | (c.u8() & 0x3f));
    else c.fail(`malformed ${what}`, c.position - 1);
    if (units.length >= 4096) out += String.fromCharCode(...units.splice(0));
  }
  return out + String.fromCharCode(...units);
}

/** Fixed-width numbers of one version of Kryo. */
export interface FixedNumbers {
  i16(c: Cursor): number;
  u16(c: Cursor): number;
  i32(c: Cursor): number;
  i64(c: Cursor): bigint;
  f32(c: Cursor): number;
  f64(c: Cursor): number;
}
const view = new DataView(new ArrayBuffer(8));
export const BIG_ENDIAN: FixedNumbers = {
  i16: c => c.i16(),
  u16: c => c.u16(),
  i32: c => c.i32(),
  i64: c => c.i64(),
  f32: c => c.f32(),
  f64: c => c.f64(),
};
export const LITTLE_ENDIAN: FixedNumbers = {
  i16: c => (c.u16le() << 16) >> 16,
  u16: c => c.u16le(),
  i32: c => c.i32le(),
  i64: c => c.i64le(),
  f32(c) {
    view.setInt32(0, c.i32le());
    return view.getFloat32(0);
  },
  f64(c) {
    view.setBigInt64(0, c.i64le());
    return view.getFloat64(0);
  },
};
