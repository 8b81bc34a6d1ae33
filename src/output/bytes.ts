/**
 * Output as bytes: a growing buffer with the few writers that every output form is made of. Rows never become JavaScript strings
 * where their columns hold the bytes already; that is what carries more than 300,000 rows a second.
 */

/** 2^53: beyond it a double, and so most JSON readers, cannot tell neighbours apart. */
export const EXACT_LIMIT = 9007199254740992n;
const DIGIT_0 = 0x30;
const MINUS = 0x2d;

export class ByteWriter {
  bytes: Buffer;
  length = 0;
  constructor(capacity = 1 << 17) {
    this.bytes = Buffer.allocUnsafe(capacity);
  }

  /** Makes room for `extra` more bytes. */
  reserve(extra: number): void {
    if (this.length + extra <= this.bytes.length) return;
    const next = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + extra));
    this.bytes.copy(next, 0, 0, this.length);
    this.bytes = next;
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  copy(from: Uint8Array, start = 0, end = from.length): void {
    const n = end - start;
    this.reserve(n);
    const { bytes } = this;
    let at = this.length;
    if (n < 40) for (let i = start; i < end; i++) bytes[at++] = from[i];
    else bytes.set(start === 0 && end === from.length ? from : from.subarray(start, end), at);
    this.length += n;
  }

  /** ASCII only. */
  ascii(text: string): void {
    const n = text.length;
    this.reserve(n);
    const { bytes } = this;
    let at = this.length;
    if (n < 24) for (let i = 0; i < n; i++) bytes[at++] = text.charCodeAt(i);
    else bytes.write(text, at, 'latin1');
    this.length += n;
  }

  /** Any text as UTF-8; lone surrogates become U+FFFD. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.length += this.bytes.write(text, this.length, 'utf8');
  }

  repeat(value: number, count: number): void {
    if (count <= 0) return;
    this.reserve(count);
    this.bytes.fill(value, this.length, this.length + count);
    this.length += count;
  }

  /** An integer of at most 2^53 in size. */
  integer(value: number): void {
    this.reserve(20);
    const { bytes } = this;
    let n = value;
    if (n < 0) {
      bytes[this.length++] = MINUS;
      n = -n;
    }
    let at = this.length + digitsOf(n);
    this.length = at;
    while (n > 0x7fffffff) {
      const q = Math.floor(n / 10);
      bytes[--at] = DIGIT_0 + (n - q * 10);
      n = q;
    }
    let small = n | 0;
    do {
      const q = (small / 10) | 0;
      bytes[--at] = DIGIT_0 + (small - q * 10);
      small = q;
    } while (small !== 0);
  }

  /** A signed 64-bit integer from its halves; true when it is beyond ±2^53. */
  integer64(low: number, high: number): boolean {
    if (high === low >> 31) {
      this.integer(low);
      return false;
    }
    if (high >= -0x200000 && high < 0x200000) {
      this.integer(high * 4294967296 + (low >>> 0));
      return false;
    }
    const exact = (BigInt(high) << 32n) | BigInt(low >>> 0);
    this.ascii(exact.toString());
    return exact > EXACT_LIMIT || exact < -EXACT_LIMIT;
  }

  /** What was written, leaving this writer empty with memory of its own. */
  take(): Buffer {
    const out = this.bytes.subarray(0, this.length);
    this.bytes = Buffer.allocUnsafe(Math.max(1 << 17, Math.min(this.bytes.length, 1 << 20)));
    this.length = 0;
    return out;
  }
}

function digitsOf(n: number): number {
  if (n < 100000) return n < 10 ? 1 : n < 100 ? 2 : n < 1000 ? 3 : n < 10000 ? 4 : 5;
  let digits = 6;
  for (let limit = 1000000; n >= limit; limit *= 10) digits++;
  return digits;
}
