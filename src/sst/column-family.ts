/**
 * A column family: its tables, opened when a scan or a lookup comes to them.
 *
 * Tables whose key ranges do not overlap (those of one level, and often more) are chained into one run, so that a scan has as
 * many tables open as overlap at one place, whatever the levels say. Tables whose range is not known are runs of their own.
 */
import { CorruptError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import { readBlock } from './block.js';
import { forEachEntry } from './entries.js';
import { compareBytes, compareInternalKeys, TRAILER } from './internal-key.js';
import { RangeDeletions } from './range-deletions.js';
import { Run, type TableFile } from './run.js';
import { openTable, type Table, type TableOptions } from './table.js';
import { Visible } from './visible.js';

/** What joins the operands of Flink's list states. */
export const LIST_DELIMITER = 0x2c;
const SCAN_READ = 256 << 10;
const SCAN_MEMORY = 16 << 20;
/** tables kept open that no cursor uses */
const IDLE_TABLES = 64;

/** A live file of a column family. */
export interface ColumnFamilyFile {
  /** its name in the database: `000012.sst` */
  readonly name: string;
  /** what the manifest says of it: internal keys, and the largest sequence number */
  readonly smallest?: Uint8Array;
  readonly largest?: Uint8Array;
  readonly largestSequence?: bigint;
  open(): ByteSource;
}

export interface ColumnFamilyOptions extends TableOptions {
  /** Told of each table when it is opened. */
  onTable?(table: Table, file: ColumnFamilyFile): void;
}

export interface ScanOptions {
  /** user keys: from `lower` on, before `upper` */
  readonly lower?: Uint8Array;
  readonly upper?: Uint8Array;
  /** the only user key that is wanted; lets bloom filters be asked */
  readonly exact?: Uint8Array;
  /** few small reads instead of large ones */
  readonly lookup?: boolean;
}

export class ColumnFamily {
  private readonly files: readonly CachedFile[];
  private readonly idle = new Set<CachedFile>();

  constructor(files: readonly ColumnFamilyFile[], options: ColumnFamilyOptions) {
    this.files = files.map(file => new CachedFile(file, options, this.idle));
  }

  get fileCount(): number {
    return this.files.length;
  }

  /** The visible entries in a range of user keys, ascending. The cursor must be closed. @throws CorruptError, UnsupportedError */
  scan(options: ScanOptions = {}): Visible {
    const { lower, upper } = options;
    const chains = chain(this.files.filter(file => file.mightOverlap(lower, upper)));
    const deletions = new RangeDeletions();
    const readAhead = options.lookup === true ? 0 : Math.min(SCAN_READ, Math.floor(SCAN_MEMORY / Math.max(1, chains.length)));
    const runs = chains.map(
      files =>
        new Run(files, {
          ...(lower === undefined ? {} : { lower }),
          ...(upper === undefined ? {} : { upper }),
          ...(options.exact === undefined ? {} : { exact: options.exact }),
          readAhead,
          onOpen: (table, file) => {
            if (table.metaindex.has('rocksdb.range_del'))
              deletions.add(table.rangeDeletions(file.largestSequence), file.smallest, file.largest);
          },
        }),
    );
    try {
      return new Visible(runs, deletions, LIST_DELIMITER);
    } catch (error) {
      for (const run of runs) run.close();
      throw error;
    }
  }

  /**
   * Looks into the files that cannot have a key in the range by what the manifest says of them: one that has is not the file that the
   * manifest means. Reads one block of each. @throws CorruptError
   */
  checkOutside(lower: Uint8Array | undefined, upper: Uint8Array | undefined): void {
    for (const file of this.files) {
      if (file.mightOverlap(lower, upper)) continue;
      const table = file.acquire();
      try {
        const index = table.index();
        if (!index.next()) continue;
        const block = readBlock(table, { offset: index.offset, size: index.size }, table.dictionary);
        let first: Uint8Array | undefined;
        forEachEntry(block, table.origin, key => {
          first ??= Uint8Array.from(key.subarray(0, Math.max(0, key.length - TRAILER)));
        });
        if (first !== undefined && !file.mightOverlap(first, undefined)) file.foreign(table);
        if (
          first !== undefined &&
          file.smallest !== undefined &&
          compareBytes(first, 0, first.length, file.smallest, 0, file.smallest.length - TRAILER) < 0
        )
          file.foreign(table);
      } finally {
        file.release();
      }
    }
  }

  /** Closes the tables that no cursor uses; those in use are closed with their cursors. */
  close(): void {
    for (const file of [...this.idle]) file.evict();
    for (const file of this.files) file.closed = true;
  }
}

/** A file with its open table, which is kept for the next cursor. */
class CachedFile implements TableFile {
  readonly name: string;
  readonly smallest?: Uint8Array;
  readonly largest?: Uint8Array;
  readonly largestSequence?: bigint;
  closed = false;
  private table: Table | undefined;
  private users = 0;

  constructor(
    private readonly file: ColumnFamilyFile,
    private readonly options: ColumnFamilyOptions,
    private readonly idle: Set<CachedFile>,
  ) {
    this.name = file.name;
    if (file.smallest !== undefined) this.smallest = file.smallest;
    if (file.largest !== undefined) this.largest = file.largest;
    if (file.largestSequence !== undefined) this.largestSequence = file.largestSequence;
  }

  mightOverlap(lower: Uint8Array | undefined, upper: Uint8Array | undefined): boolean {
    const { smallest, largest } = this;
    if (lower !== undefined && largest !== undefined && compareBytes(largest, 0, largest.length - TRAILER, lower, 0, lower.length) < 0)
      return false;
    return (
      upper === undefined || smallest === undefined || compareBytes(smallest, 0, smallest.length - TRAILER, upper, 0, upper.length) < 0
    );
  }

  foreign(table: Table): never {
    throw new CorruptError(`the first key of ${this.name} is not among those that the manifest says of it`, {
      ...table.origin,
      hint: 'another file lies in its place, or in that of the MANIFEST',
    });
  }

  acquire(): Table {
    if (this.table === undefined) {
      const source = this.file.open();
      try {
        this.table = openTable(source, this.options);
        this.options.onTable?.(this.table, this.file);
      } catch (error) {
        this.table = undefined;
        source.close();
        throw error;
      }
    }
    this.users++;
    this.idle.delete(this);
    return this.table;
  }

  release(): void {
    if (--this.users > 0) return;
    if (this.closed) {
      this.evict();
      return;
    }
    this.idle.add(this);
    const [oldest] = this.idle;
    if (this.idle.size > IDLE_TABLES) oldest.evict();
  }

  evict(): void {
    this.idle.delete(this);
    this.table?.close();
    this.table = undefined;
  }
}

/** Chains files that do not overlap: as few chains as there are files over one place. */
export function chain<F extends Pick<TableFile, 'smallest' | 'largest'>>(files: readonly F[]): F[][] {
  const chains: F[][] = [];
  const bounded: (F & { smallest: Uint8Array; largest: Uint8Array })[] = [];
  for (const file of files) {
    if (hasBounds(file)) bounded.push(file);
    else chains.push([file]);
  }
  const ends: { files: F[]; largest: Uint8Array }[] = [];
  bounded.sort((a, b) => compareInternalKeys(a.smallest, b.smallest));
  for (const file of bounded) {
    const free = ends.find(end => compareInternalKeys(end.largest, file.smallest) < 0);
    if (free === undefined) ends.push({ files: [file], largest: file.largest });
    else {
      free.files.push(file);
      free.largest = file.largest;
    }
  }
  return [...chains, ...ends.map(end => end.files)];
}

function hasBounds<F extends Pick<TableFile, 'smallest' | 'largest'>>(file: F): file is F & { smallest: Uint8Array; largest: Uint8Array } {
  return file.smallest !== undefined && file.largest !== undefined;
}
