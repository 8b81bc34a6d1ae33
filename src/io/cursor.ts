/**
 * A cursor over bytes with the rules of java.io.DataInput: big-endian, two's complement.
 *
 *   i8 i16 i32 i64 f32 f64   1 2 4 8 4 8 bytes
 *   bool                     1 byte, 0 or 1 (anything else is corrupt)
 *   utf                      u16 byte length + modified UTF-8: U+0000 is C0 80, a character above U+FFFF is two 3-byte surrogates
 *   varint                   7 bits a byte, least significant first, high bit = more (Flink's StringValue, Kryo, RocksDB)
 *
 * Mirrors java.io.DataInputStream (JDK 17) and org.apache.flink.core.memory.DataInputDeserializer (Flink 1.20).
 * A cursor never reads past `end`: a `CorruptError` tells file, offset and what was being read.
 */
import { CorruptError, type ErrorOrigin } from '../errors.js';

export class Cursor {
  position: number;
  end: number;
  private view: DataView;

  /**
   * @param bytes the buffer; the cursor sees `bytes[start, end)`
   * @param origin where the bytes came from, for errors; `base` is the file offset of `bytes[0]`
   */
  constructor(
    public bytes: Uint8Array,
    start = 0,
    end: number = bytes.length,
    public origin: ErrorOrigin = {},
    public base = 0,
  ) {
    this.position = start;
    this.end = end;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Points this cursor at other bytes without allocating (hot loops). `base`: file offset of `bytes[0]`. */
  reset(bytes: Uint8Array, start: number, end: number, base = 0): this {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.position = start;
    this.end = end;
    this.base = base;
    return this;
  }

  get remaining(): number {
    return this.end - this.position;
  }
  /** Offset in the file. */
  get offset(): number {
    return this.base + this.position;
  }

  /** Throws CorruptError at the current position (or `at`). */
  fail(message: string, at: number = this.position): never {
    throw new CorruptError(message, { ...this.origin, offset: this.base + at });
  }

  /** Checks that `count` bytes remain and steps over them; returns where they began. */
  take(count: number, what = 'value'): number {
    const at = this.position;
    if (!(count >= 0) || count > this.end - at) this.short(count, what);
    this.position = at + count;
    return at;
  }
  private short(count: number, what: string): never {
    return this.fail(
      count < 0 ? `negative length ${count} of ${what}` : `${what} needs ${count} bytes, ${this.end - this.position} remain`,
    );
  }

  i8(what = 'byte'): number {
    return this.view.getInt8(this.take(1, what));
  }
  u8(what = 'byte'): number {
    return this.bytes[this.take(1, what)];
  }
  bool(what = 'boolean'): boolean {
    const b = this.bytes[this.take(1, what)];
    if (b > 1) this.fail(`boolean byte is ${b}, expected 0 or 1`, this.position - 1);
    return b === 1;
  }
  i16(what = 'short'): number {
    return this.view.getInt16(this.take(2, what));
  }
  u16(what = 'short'): number {
    return this.view.getUint16(this.take(2, what));
  }
  i32(what = 'int'): number {
    return this.view.getInt32(this.take(4, what));
  }
  u32(what = 'int'): number {
    return this.view.getUint32(this.take(4, what));
  }
  i64(what = 'long'): bigint {
    return this.view.getBigInt64(this.take(8, what));
  }
  f32(what = 'float'): number {
    return this.view.getFloat32(this.take(4, what));
  }
  f64(what = 'double'): number {
    return this.view.getFloat64(this.take(8, what));
  }
  /** little-endian forms, for RocksDB and BinaryRow */
  u16le(): number {
    return this.view.getUint16(this.take(2, 'short'), true);
  }
  i32le(): number {
    return this.view.getInt32(this.take(4, 'int'), true);
  }
  u32le(): number {
    return this.view.getUint32(this.take(4, 'int'), true);
  }
  i64le(): bigint {
    return this.view.getBigInt64(this.take(8, 'long'), true);
  }
  u64le(): bigint {
    return this.view.getBigUint64(this.take(8, 'long'), true);
  }

  /** An i64 that is a file offset, size or count: a safe number, or corrupt. */
  i64Number(what = 'long'): number {
    const at = this.take(8, what);
    const high = this.view.getInt32(at);
    if (high > 0x1fffff || high < -0x200000) this.fail(`${what} ${this.view.getBigInt64(at)} is out of range`, at);
    return high * 4294967296 + this.view.getUint32(at + 4);
  }

  /** Unsigned varint of at most 5 bytes, as u32. */
  varint(what = 'varint'): number {
    if (this.position < this.end) {
      const first = this.bytes[this.position];
      if (first < 0x80) {
        this.position++;
        return first;
      }
    }
    let result = 0;
    let shift = 0;
    const at = this.position;
    for (;;) {
      const b = this.bytes[this.take(1, what)];
      result += (b & 0x7f) * 2 ** shift;
      if (b < 0x80) break;
      shift += 7;
      if (shift > 28) this.fail(`${what} is longer than 5 bytes`, at);
    }
    if (result > 0xffffffff) this.fail(`${what} ${result} is out of range`, at);
    return result;
  }

  /** A count of things that take at least `minBytes` each: checked against what remains. */
  count(what: string, minBytes = 1): number {
    const at = this.position;
    const n = this.i32(what);
    if (n < 0) this.fail(`${what} is ${n}`, at);
    if (n * minBytes > this.remaining) this.fail(`${what} is ${n}, but only ${this.remaining} bytes remain`, at);
    return n;
  }

  /** A view (not a copy) of the next `length` bytes; its own `slice()` copies, which a Buffer's would not. */
  slice(length: number, what = 'bytes'): Uint8Array {
    const at = this.take(length, what);
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + at, length);
  }

  /** java.io.DataInput.readUTF */
  utf(what = 'UTF string'): string {
    const length = this.u16(`length of the ${what}`);
    const at = this.take(length, what);
    return decodeModifiedUtf8(this.bytes, at, at + length, p => this.fail(`malformed modified UTF-8 in ${what}`, p));
  }

  /** Throws unless every byte was read. */
  expectEnd(what: string): void {
    if (this.position !== this.end) this.fail(`${this.end - this.position} bytes left over after ${what}`);
  }
}

/** Modified UTF-8 to UTF-16 units; surrogates stay as they are. */
export function decodeModifiedUtf8(bytes: Uint8Array, start: number, end: number, fail: (position: number) => never): string {
  let ascii = start;
  while (ascii < end && bytes[ascii] < 0x80 && bytes[ascii] !== 0) ascii++;
  if (ascii === end) return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
  const units: number[] = [];
  let out = '';
  for (let p = start; p < end; ) {
    const b = bytes[p];
    if (b < 0x80) {
      units.push(b);
      p += 1;
    } else if (b >> 5 === 6) {
      if (p + 2 > end || bytes[p + 1] >> 6 !== 2) fail(p);
      units.push(((b & 0x1f) << 6) | (bytes[p + 1] & 0x3f));
      p += 2;
    } else if (b >> 4 === 14) {
      if (p + 3 > end || bytes[p + 1] >> 6 !== 2 || bytes[p + 2] >> 6 !== 2) fail(p);
      units.push(((b & 0x0f) << 12) | ((bytes[p + 1] & 0x3f) << 6) | (bytes[p + 2] & 0x3f));
      p += 3;
    } else fail(p);
    if (units.length >= 4096) out += String.fromCharCode(...units.splice(0));
  }
  return out + String.fromCharCode(...units);
}
