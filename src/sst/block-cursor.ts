/**
 * A cursor over the entries of data blocks, which a subclass loads one after the other (run.ts).
 *
 * Keys are completed in place. In a block an entry has only the end of its key, and right behind it the value:
 *
 *   … key of the entry before · its value │ shared unshared length │ end of the key · value │ …
 *                                └─ the shared bytes are moved here ┘
 *
 * What is overwritten belongs to the entry before, which is done with, and there is always room: the new key ends further
 * right than the old one by more than it is longer. So key and value stand contiguous in one array, nothing is allocated for an
 * entry, and values are never copied. The array is the block itself: decompressed, or in the run's own read buffer.
 *
 * Keys must ascend; the length that a key shares with the one before it comes out of that check.
 */
import { CorruptError, type ErrorOrigin } from '../errors.js';
import { blockLayout, lengths, readLengths } from './entries.js';
import { compareBytes, readU32, TRAILER } from './internal-key.js';

export const NO_BYTES: Uint8Array = new Uint8Array(0);
/** so many bytes are worth a call */
const LONG = 48;

/** Fields are valid until next(). */
export abstract class BlockCursor {
  bytes: Uint8Array = NO_BYTES;
  keyStart = 0;
  /** the user key is bytes[keyStart, keyEnd), 8 bytes of trailer follow */
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** the user key is that of the entry before: an older version of it */
  same = false;
  /** bytes that the user key shares with that of the entry before */
  shared = 0;

  /** where the entries of the block end */
  protected limit = 0;
  /** the next entry is the first one of its block (or of a seek in it) */
  protected fresh = true;
  /** entries read since a subclass set it to 0 */
  protected entries = 0;
  /** the last user key of the block before, -1: there is none */
  protected lastKey: Uint8Array = new Uint8Array(64);
  protected lastKeyLength = -1;
  /** whether keys of this block may be at or behind the upper bound */
  protected checkUpper = false;
  /** replaces the sequence numbers of an ingested file */
  protected global: Uint8Array | undefined;
  private view = new DataView(NO_BYTES.buffer);
  private blockStart = 0;
  private restarts = 0;

  /** Steps to the next entry, the first time to the first one at or behind `lower`. @returns false at the end */
  next(): boolean {
    const bytes = this.bytes;
    let p = this.valueEnd;
    if (this.fresh || p + 3 > this.limit) return this.nextSlowly();
    let shared = bytes[p];
    let unshared = bytes[p + 1];
    let length = bytes[p + 2];
    if ((shared | unshared | length) < 128) p += 3;
    else {
      p = this.lengthsAt(p);
      ({ shared, unshared, length } = lengths);
    }
    const valueStart = p + unshared;
    const valueEnd = valueStart + length;
    const lastStart = this.keyStart;
    const lastLength = this.keyEnd - lastStart;
    const keyLength = shared + unshared - TRAILER;
    if (valueEnd > this.limit || shared > lastLength + TRAILER || keyLength < 0) this.badEntry(shared, unshared, length);

    // key[i] is bytes[p - shared + i] once it is complete
    const shorter = Math.min(keyLength, lastLength);
    let common = shared;
    if (common < shorter) {
      while (common < shorter && bytes[p + common - shared] === bytes[lastStart + common]) common++;
      if (common < shorter && bytes[p + common - shared] < bytes[lastStart + common]) this.badOrder();
    } else common = shorter;
    if (common === keyLength && keyLength < lastLength) this.badOrder();
    this.same = common === keyLength && keyLength === lastLength;
    this.shared = common;

    const keyStart = p - shared;
    if (shared < LONG) {
      // four bytes at a time, from the end: the ranges may overlap. What the first four overwrite in front is done with
      const { view } = this;
      for (let i = shared - 4; i > -4; i -= 4) view.setInt32(keyStart + i, view.getInt32(lastStart + i));
    } else bytes.copyWithin(keyStart, lastStart, lastStart + shared);
    this.keyStart = keyStart;
    this.keyEnd = keyStart + keyLength;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    this.entries++;
    if (this.global !== undefined) this.setSequence(this.global);
    return !this.checkUpper || this.belowUpper();
  }

  /** Where the current block lies. */
  abstract origin(): ErrorOrigin;
  /** What next() does where a block begins or ends. */
  protected abstract nextSlowly(): boolean;
  /** Whether the current key is below the upper bound; ends the cursor when it is not. */
  protected abstract belowUpper(): boolean;

  /** Shows the block bytes[start, end), from its first entry on. */
  protected show(bytes: Uint8Array, start: number, end: number, origin: ErrorOrigin): void {
    const layout = blockLayout(bytes, start, end, origin);
    if (bytes !== this.bytes) this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.bytes = bytes;
    this.blockStart = start;
    this.valueEnd = start;
    this.limit = layout.entriesEnd;
    this.restarts = layout.restarts;
    this.fresh = true;
  }

  /** The first entry of a block, or of the seek in it: its key is whole. */
  protected readFresh(): void {
    const { bytes } = this;
    const p = this.lengthsAt(this.valueEnd);
    const { shared, unshared, length } = lengths;
    const valueStart = p + unshared;
    if (shared !== 0 || unshared < TRAILER || valueStart + length > this.limit) this.badEntry(shared, unshared, length);
    this.fresh = false;
    this.keyStart = p;
    this.keyEnd = valueStart - TRAILER;
    this.valueStart = valueStart;
    this.valueEnd = valueStart + length;
    this.entries++;
    const last = this.lastKeyLength;
    const keyLength = unshared - TRAILER;
    let common = 0;
    if (last >= 0) {
      const shorter = Math.min(keyLength, last);
      while (common < shorter && bytes[p + common] === this.lastKey[common]) common++;
      if (common < shorter ? bytes[p + common] < this.lastKey[common] : keyLength < last) this.badOrder();
    }
    this.same = common === last && keyLength === last;
    this.shared = common;
    if (this.global !== undefined) this.setSequence(this.global);
  }

  /** Remembers the current key across the end of its block. */
  protected keepKey(): void {
    if (this.fresh) return;
    const length = this.keyEnd - this.keyStart;
    if (length > this.lastKey.length) this.lastKey = new Uint8Array(length * 2);
    if (length < 32) for (let i = 0; i < length; i++) this.lastKey[i] = this.bytes[this.keyStart + i];
    else this.lastKey.set(this.bytes.subarray(this.keyStart, this.keyEnd));
    this.lastKeyLength = length;
    this.fresh = true;
  }

  /** Stands at the last restart point below the user key. */
  protected seekInBlock(target: Uint8Array): void {
    let low = 0;
    let high = this.restarts - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const p = this.lengthsAt(this.restartPoint(middle));
      const { shared, unshared, length } = lengths;
      if (shared !== 0 || unshared < TRAILER || unshared > this.limit - p) this.badEntry(shared, unshared, length);
      if (compareBytes(this.bytes, p, p + unshared - TRAILER, target, 0, target.length) < 0) low = middle;
      else high = middle - 1;
    }
    this.valueEnd = this.restartPoint(low);
  }

  private restartPoint(i: number): number {
    if (this.restarts === 0) return this.limit;
    const at = this.blockStart + readU32(this.bytes, this.limit + 4 * i);
    if (at > this.limit) this.fail(`restart point ${i} lies behind the entries`);
    return at;
  }

  /** Steps to the first entry that is not below the user key. */
  protected skipTo(target: Uint8Array): boolean {
    while (this.next()) if (compareBytes(this.bytes, this.keyStart, this.keyEnd, target, 0, target.length) >= 0) return true;
    return false;
  }

  private lengthsAt(start: number): number {
    const end = readLengths(this.bytes, start, this.limit);
    return end < 0 ? this.fail('entry is cut off') : end;
  }

  private setSequence(sequence: Uint8Array): void {
    for (let i = 0; i < 7; i++) this.bytes[this.keyEnd + 1 + i] = sequence[i];
  }

  private badEntry(shared: number, unshared: number, length: number): never {
    return this.fail(`entry with ${shared} shared, ${unshared} own key bytes and a value of ${length}`);
  }

  private badOrder(): never {
    return this.fail('keys do not ascend');
  }

  private fail(message: string): never {
    throw new CorruptError(`data block: ${message}`, this.origin());
  }
}
