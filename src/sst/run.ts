/**
 * A sorted run: tables whose key ranges follow each other, read as one, one table open at a time.
 */
import { CorruptError, type ErrorOrigin } from '../errors.js';
import { blockOrigin, checkHandle, decodeBlock } from './block.js';
import { BlockCursor, NO_BYTES } from './block-cursor.js';
import { BLOCK_TRAILER } from './footer.js';
import type { IndexCursor } from './index-block.js';
import { compareBytes, TRAILER } from './internal-key.js';
import { ReadAhead } from './read-ahead.js';
import { globalSequence, type Table } from './table.js';

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

/** A cursor over the entries (all versions) of a run, in order. */
export class Run extends BlockCursor {
  /** the open table; undefined before the first and behind the last entry */
  table: Table | undefined;

  private index: IndexCursor | undefined;
  private file: TableFile | undefined;
  private nextFile = 0;
  /** the table is read from its first entry on */
  private fromStart = true;
  private readonly window: ReadAhead;
  /** what blocks are decompressed into */
  private scratch: Uint8Array = NO_BYTES;
  /** of a seek, until its block is loaded */
  private target: Uint8Array | undefined;

  constructor(
    private readonly files: readonly TableFile[],
    private readonly options: RunOptions,
  ) {
    super();
    this.window = new ReadAhead(options.readAhead);
  }

  /** The block that the current entry is in. */
  override origin(): ErrorOrigin {
    return this.table === undefined ? {} : blockOrigin(this.table, { offset: this.index?.offset ?? 0, size: 0 });
  }

  /** Gives the table back. */
  close(): void {
    this.finish();
  }

  protected override nextSlowly(): boolean {
    if (this.valueEnd < this.limit) return this.readFirst();
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
        if (this.valueEnd < this.limit) return this.readFirst();
      }
    }
  }

  private readFirst(): boolean {
    this.readFresh();
    if (this.entries === 1 && this.fromStart) this.checkSmallest();
    return !this.checkUpper || this.belowUpper();
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
      if (this.options.exact !== undefined && table.filterForLookup()?.mightMatch(this.options.exact) === false) {
        this.forget();
        this.nextFile--;
        continue;
      }
      this.index = table.index();
      this.entries = 0;
      this.window.forget();
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

  protected override belowUpper(): boolean {
    const upper = this.options.upper;
    if (upper === undefined || compareBytes(this.bytes, this.keyStart, this.keyEnd, upper, 0, upper.length) < 0) return true;
    return this.finish();
  }

  private loadBlock(index: IndexCursor): void {
    const table = this.opened();
    const handle = { offset: index.offset, size: index.size };
    checkHandle(table, handle);
    const start = this.window.fetch(table, handle.offset, handle.size + BLOCK_TRAILER);
    const decoded = decodeBlock(table, handle, this.window.bytes, start, table.dictionary, this.scratch);
    const origin = blockOrigin(table, handle);
    if (decoded === undefined) this.show(this.window.bytes, start, start + handle.size, origin);
    else {
      this.scratch = decoded.bytes;
      this.show(decoded.bytes, 0, decoded.length, origin);
    }
    const { upper } = this.options;
    this.checkUpper = upper !== undefined && index.compareSeparator(upper) >= 0;
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
}

const compareUserKey = (internal: Uint8Array, userKey: Uint8Array): number =>
  compareBytes(internal, 0, internal.length - TRAILER, userKey, 0, userKey.length);

/** The seven bytes that replace every sequence number of an ingested file. */
function sequenceBytes(sequence: bigint | undefined): Uint8Array | undefined {
  if (sequence === undefined) return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(sequence);
  return bytes.subarray(0, 7);
}
