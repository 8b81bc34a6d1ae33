/**
 * A sorted run: tables whose key ranges follow each other, read as one, one table open at a time.
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
import { blockOrigin, checkHandle, decodeBlock } from './block.js';
import { blockLayout, moveUp } from './entries.js';
import { BLOCK_TRAILER } from './footer.js';
import type { IndexCursor } from './index-block.js';
import { compareBytes, readU32, TRAILER } from './internal-key.js';
import { globalSequence, type Table } from './table.js';

const MAX_READ = 1 << 20;
const MIN_READ = 16 << 10;

/** A table of a column family: opened when it is needed. */
export interface TableFile {
  /** its name in the database */
  readonly name: string;
  /** internal keys, when the manifest says them */
  readonly smallest?: Uint8Array;
  readonly largest?: Uint8Array;
  /** of all its keys, for ingested files that do not say their sequence number */
  readonly largestSequence?: bigint;
  acquire(): Table;
  release(): void;
}

export interface RunOptions {
  /** user keys: from `lower` on, before `upper` */
  readonly lower?: Uint8Array;
  readonly upper?: Uint8Array;
  /** the only user key that is wanted: tables whose filter does not have it are passed over */
  readonly exact?: Uint8Array;
  /** bytes to read at once, to begin with; doubled as the run goes on, up to 1 MiB. 0: the block alone */
  readonly readAhead: number;
  /** told of each table before the first key that it may hold */
  onOpen(table: Table, file: TableFile): void;
}

const NO_BYTES = new Uint8Array(0);

/** A cursor over the entries (all versions) of a run, in order. Fields are valid until next(). */
export class Run {
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
  /** the open table; undefined before the first and behind the last entry */
  table: Table | undefined;

  private limit = 0;
  /** the next entry is the first one of its block (or of the seek in it) */
  private fresh = true;
  private checkUpper = false;
  private index: IndexCursor | undefined;
  private file: TableFile | undefined;
  private nextFile = 0;
  private entries = 0;
  private fromStart = true;
  private lastKey: Uint8Array = new Uint8Array(64);
  private lastKeyLength = -1;
  private buffer: Uint8Array = NO_BYTES;
  private bufferOffset = 0;
  private bufferEnd = 0;
  private readSize: number;
  private blockStart = 0;
  private restarts = 0;
  /** of a seek, until its block is loaded */
  private target: Uint8Array | undefined;
  /** replaces the sequence numbers of an ingested file */
  private global: Uint8Array | undefined;

  constructor(
    private readonly files: readonly TableFile[],
    private readonly options: RunOptions,
  ) {
    this.readSize = options.readAhead;
  }

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
      p = this.readLengths(p);
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
    if (shared > 0) moveUp(bytes, keyStart, lastStart, shared);
    this.keyStart = keyStart;
    this.keyEnd = keyStart + keyLength;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    this.entries++;
    if (this.global !== undefined) this.setSequence(this.global);
    return !this.checkUpper || this.belowUpper();
  }

  /** The block that the current entry is in. */
  origin(): ErrorOrigin {
    return this.table === undefined ? {} : blockOrigin(this.table, { offset: this.index?.offset ?? 0, size: 0 });
  }

  /** Gives the table back. */
  close(): void {
    this.finish();
  }

  private nextSlowly(): boolean {
    if (this.valueEnd < this.limit) return this.readFresh();
    this.keepKey();
    for (;;) {
      const { index } = this;
      if (index === undefined) {
        if (!this.openNextFile()) return this.finish();
      } else if (!index.next()) this.closeFile();
      else {
        this.loadBlock(index);
        const target = this.target;
        if (target !== undefined) {
          this.target = undefined;
          this.seekInBlock(target);
          return this.skipTo(target);
        }
        if (this.valueEnd < this.limit) return this.readFresh();
      }
    }
  }

  /** The first entry of a block, or of the seek in it: its key is whole. */
  private readFresh(): boolean {
    const { bytes } = this;
    const p = this.readLengths(this.valueEnd);
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
    if (this.entries === 1 && this.fromStart) this.checkSmallest();
    if (this.global !== undefined) this.setSequence(this.global);
    return !this.checkUpper || this.belowUpper();
  }

  /** Remembers the current key across the end of its block. */
  private keepKey(): void {
    if (this.fresh) return;
    const length = this.keyEnd - this.keyStart;
    if (length > this.lastKey.length) this.lastKey = new Uint8Array(length * 2);
    if (length < 32) for (let i = 0; i < length; i++) this.lastKey[i] = this.bytes[this.keyStart + i];
    else this.lastKey.set(this.bytes.subarray(this.keyStart, this.keyEnd));
    this.lastKeyLength = length;
    this.fresh = true;
  }

  private openNextFile(): boolean {
    const { lower, upper } = this.options;
    for (; this.nextFile < this.files.length; this.nextFile++) {
      const file = this.files[this.nextFile];
      if (lower !== undefined && file.largest !== undefined && compareUserKey(file.largest, lower) < 0) continue;
      if (upper !== undefined && file.smallest !== undefined && compareUserKey(file.smallest, upper) >= 0) return false;
      this.nextFile++;
      const table = file.acquire();
      this.file = file;
      this.table = table;
      this.global = sequenceBytes(globalSequence(table.properties, file.largestSequence));
      this.options.onOpen(table, file);
      if (this.options.exact !== undefined && table.filter()?.mightMatch(this.options.exact) === false) {
        this.forget();
        this.nextFile--;
        continue;
      }
      this.index = table.index();
      this.entries = 0;
      this.bufferEnd = 0;
      this.fromStart = lower === undefined || (file.smallest !== undefined && compareUserKey(file.smallest, lower) >= 0);
      if (lower !== undefined && !this.fromStart) {
        this.index.seek(lower);
        this.target = lower;
      }
      return true;
    }
    return false;
  }

  private closeFile(): void {
    const { table, file } = this;
    if (table === undefined || file === undefined) return;
    if (this.fromStart) {
      const { entries, rangeDeletions } = table.properties;
      if (entries !== undefined && this.entries !== entries - rangeDeletions)
        throw new CorruptError(`table has ${this.entries} entries, its properties say ${entries - rangeDeletions}`, table.origin);
    }
    if (this.lastKeyLength >= 0 && this.entries > 0 && file.largest !== undefined) {
      const { largest } = file;
      if (compareBytes(this.lastKey, 0, this.lastKeyLength, largest, 0, largest.length - TRAILER) > 0)
        this.foreign(table, 'behind the last');
    }
    this.forget();
  }

  private forget(): void {
    this.file?.release();
    this.file = undefined;
    this.table = undefined;
    this.index = undefined;
  }

  private finish(): boolean {
    this.forget();
    this.nextFile = this.files.length;
    this.bytes = NO_BYTES;
    this.keyStart = this.keyEnd = this.valueStart = this.valueEnd = this.limit = 0;
    this.fresh = true;
    return false;
  }

  private belowUpper(): boolean {
    const upper = this.options.upper;
    if (upper === undefined || compareBytes(this.bytes, this.keyStart, this.keyEnd, upper, 0, upper.length) < 0) return true;
    return this.finish();
  }

  private loadBlock(index: IndexCursor): void {
    const table = this.opened();
    const handle = { offset: index.offset, size: index.size };
    checkHandle(table, handle);
    const start = this.fetch(table, handle.offset, handle.size + BLOCK_TRAILER);
    const decoded = decodeBlock(table, handle, this.buffer, start, table.dictionary);
    this.bytes = decoded ?? this.buffer;
    this.blockStart = decoded === undefined ? start : 0;
    const layout = blockLayout(
      this.bytes,
      this.blockStart,
      decoded === undefined ? start + handle.size : decoded.length,
      blockOrigin(table, handle),
    );
    this.valueEnd = this.blockStart;
    this.limit = layout.entriesEnd;
    this.restarts = layout.restarts;
    this.fresh = true;
    const { upper } = this.options;
    this.checkUpper = upper !== undefined && index.compareSeparator(upper) >= 0;
  }

  /** Makes bytes of the file stand in the buffer; returns where. */
  private fetch(table: Table, offset: number, length: number): number {
    if (offset >= this.bufferOffset && offset + length <= this.bufferEnd) return offset - this.bufferOffset;
    const wanted = Math.max(length, Math.min(this.readSize, table.footer.offset - offset));
    if (wanted > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow(Math.max(wanted, Math.min(this.readSize, MAX_READ)));
    const target = this.buffer.subarray(0, wanted);
    const got = table.source.readInto(target, offset);
    if (got < length)
      throw new CorruptError(`block of ${length} bytes wanted, the file ends after ${got}`, {
        ...table.origin,
        offset: table.source.base + offset,
      });
    this.bufferOffset = offset;
    this.bufferEnd = offset + got;
    this.readSize = Math.min(MAX_READ, Math.max(MIN_READ, this.readSize * 2));
    return 0;
  }

  /** Stands at the last restart point below the user key. */
  private seekInBlock(target: Uint8Array): void {
    let low = 0;
    let high = this.restarts - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const p = this.readLengths(this.restartPoint(middle));
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

  private skipTo(target: Uint8Array): boolean {
    while (this.next()) if (compareBytes(this.bytes, this.keyStart, this.keyEnd, target, 0, target.length) >= 0) return true;
    return false;
  }

  /** Reads three varints into `lengths`; returns where they end. */
  private readLengths(start: number): number {
    let p = start;
    for (let i = 0; i < 3; i++) {
      let result = 0;
      for (let shift = 0; ; shift += 7) {
        if (p >= this.limit || shift > 28) this.fail('entry is cut off');
        const b = this.bytes[p++];
        result += (b & 0x7f) * 2 ** shift;
        if (b < 0x80) break;
      }
      if (i === 0) lengths.shared = result;
      else if (i === 1) lengths.unshared = result;
      else lengths.length = result;
    }
    return p;
  }

  private setSequence(sequence: Uint8Array): void {
    for (let i = 0; i < 7; i++) this.bytes[this.keyEnd + 1 + i] = sequence[i];
  }

  /** The manifest says where a file's keys begin and end: a table with others is not the one that it means. */
  private checkSmallest(): void {
    const smallest = this.file?.smallest;
    if (smallest !== undefined && compareBytes(this.bytes, this.keyStart, this.keyEnd, smallest, 0, smallest.length - TRAILER) < 0)
      this.foreign(this.opened(), 'before the first');
  }

  private foreign(table: Table, where: string): never {
    throw new CorruptError(`table has a key ${where} one that the manifest says of ${this.file?.name}`, {
      ...table.origin,
      hint: 'another file lies in its place',
    });
  }

  private opened(): Table {
    if (this.table === undefined) throw new Error('run is not open');
    return this.table;
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

const lengths = { shared: 0, unshared: 0, length: 0 };

const compareUserKey = (internal: Uint8Array, userKey: Uint8Array): number =>
  compareBytes(internal, 0, internal.length - TRAILER, userKey, 0, userKey.length);

/** The seven bytes that replace every sequence number of an ingested file. */
function sequenceBytes(sequence: bigint | undefined): Uint8Array | undefined {
  if (sequence === undefined) return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(sequence);
  return bytes.subarray(0, 7);
}
