/**
 * Keyed state of the RocksDB and ForSt backends as they store it themselves: native savepoints and checkpoints.
 *
 *   meta blob    header (header.ts), never compressed, nothing behind it
 *   tables       a column family a state, named like it (rocksdb-files.ts); user keys are composite keys (composite-key.ts),
 *                values those of entry.ts in layout `composite`; elements of lists are joined by the merge operator
 *   timers       column families `_timer_state/…` with keys only; map entries a key each
 *
 * After a rescale a database may hold key groups that are not its own any more: only those of the handle's range count.
 * ForSt's files have the same formats (forst.ts).
 *
 * Flink: RocksDBKeyedStateBackend, RocksDBIncrementalRestoreOperation, ForStKeyedStateBackend (1.8–2.3).
 */
import type { IncrementalHandle } from '../checkpoint/handles.js';
import { CorruptError } from '../errors.js';
import { ColumnFamily } from '../sst/column-family.js';
import type { Visible } from '../sst/visible.js';
import { CompositeKeys, keyGroupBytes } from './composite-key.js';
import type { EntryCursor, EntryFilter, EntryRange, KeyedHeader, KeyedStateReader, RegisteredState, StateContext } from './entry.js';
import { instanceBackend } from './forst.js';
import { readKeyedHeader, withWhere } from './header.js';
import { KeyFilter } from './key-filter.js';
import { rangesOf } from './key-groups.js';
import { type FamilyFiles, liveTables } from './rocksdb-files.js';
import { type KeyRange, keyGroupRuns, keyRange, lookupRanges, lookupsOf } from './rocksdb-ranges.js';

/** Opens a handle. Reads the meta blob only; the tables are opened when their states are asked for. @throws StateQueryError */
export function openRocksdbState(handle: IncrementalHandle, context: StateContext): KeyedStateReader {
  const header = readMeta(handle, context);
  const keys = new CompositeKeys(header, context);
  let database: Database | undefined;
  let backend: 'rocksdb' | 'forst' | undefined;
  return {
    header,
    layout: 'composite',
    get backend() {
      backend ??= instanceBackend(handle, header, context);
      return backend;
    },
    entries(filter) {
      database ??= new Database(handle, header, context);
      return new RocksdbCursor(database, handle, header, keys, filter, context);
    },
    ranges(filter, bytes) {
      // a table's number of entries is only checked where it is read from end to end: without checksums that is wanted
      if (!context.verify) return undefined;
      database ??= new Database(handle, header, context);
      return database.ranges(header, filter, bytes);
    },
    close() {
      database?.close();
    },
  };
}

function readMeta(handle: IncrementalHandle, context: StateContext): KeyedHeader {
  const source = context.open(handle.meta);
  try {
    const header = readKeyedHeader(source, source.size, context.where);
    if (header.compressed) throw new CorruptError('the meta file claims compressed key groups', { file: source.name, offset: source.base });
    if (header.size !== source.size)
      throw new CorruptError(`${source.size - header.size} bytes left over after the header`, {
        file: source.name,
        offset: source.base + header.size,
      });
    return header;
  } catch (error) {
    throw withWhere(error, context.where, source.name);
  } finally {
    source.close();
  }
}

/** The column families of one instance, by state. */
class Database {
  private readonly families: ReadonlyMap<string, FamilyFiles>;
  private readonly complete: boolean;
  private readonly opened = new Map<number, ColumnFamily>();

  constructor(
    private readonly handle: IncrementalHandle,
    header: KeyedHeader,
    private readonly context: StateContext,
  ) {
    const { families, complete } = liveTables(handle, context);
    this.families = families;
    this.complete = complete;
    const names = new Set(header.states.map(columnFamilyName));
    for (const { name, files } of families.values())
      if (files.length > 0 && !names.has(name))
        context.warn(
          `${context.where}: column family ${JSON.stringify(name)} is no registered state, its ${files.length} files are not read`,
        );
  }

  /** The tables of a state; undefined when it has none. */
  family(state: RegisteredState): ColumnFamily | undefined {
    let family = this.opened.get(state.id);
    if (family === undefined) {
      const name = columnFamilyName(state);
      const found = this.families.get(name);
      const where = `${this.context.where}, state ${state.name}`;
      if (found === undefined) {
        if (this.complete) throw new CorruptError(`the MANIFEST has no column family for the state`, { where });
        return undefined;
      }
      family = new ColumnFamily(found.files, {
        verify: this.context.verify,
        where,
        onTable(table, file) {
          const { columnFamily } = table.properties;
          if (columnFamily !== undefined && columnFamily !== '' && columnFamily !== name)
            throw new CorruptError(`${file.name} is a table of column family ${JSON.stringify(columnFamily)}`, {
              ...table.origin,
              hint: 'another file lies in its place',
            });
        },
      });
      const { first, count } = this.handle.range;
      if (count > 0) {
        const { lower, upper } = keyRange(first, first + count - 1, keyGroupBytes(this.context.maxParallelism));
        family.checkOutside(lower, upper);
      }
      this.opened.set(state.id, family);
    }
    return family;
  }

  /** bytes of a state's tables, when the MANIFEST says them */
  size(state: RegisteredState): number {
    return this.families.get(columnFamilyName(state))?.files.reduce((sum, file) => sum + (file.size ?? 0), 0) ?? 0;
  }

  /** Each state for itself, its tables' bytes spread evenly over the key groups; undefined without a MANIFEST. */
  ranges(header: KeyedHeader, filter: EntryFilter, bytes: number): readonly EntryRange[] | undefined {
    if (!this.complete) return undefined;
    const { first, count } = this.handle.range;
    const keyGroups = Array.from({ length: count }, (_, i) => first + i).filter(
      keyGroup => filter.keyGroups === undefined || filter.keyGroups.has(keyGroup),
    );
    return header.states
      .filter(state => filter.states === undefined || filter.states.has(state.id))
      .flatMap(state => {
        const each = this.size(state) / count;
        return rangesOf(
          keyGroups.map(keyGroup => ({ keyGroup, bytes: each })),
          [state.id],
          bytes,
        );
      });
  }

  close(): void {
    for (const family of this.opened.values()) family.close();
  }
}

/** A state's name as Java writes it in UTF-8: what is half a surrogate pair becomes a question mark. */
const columnFamilyName = (state: RegisteredState): string => state.name.replace(/\p{Surrogate}/gu, '?');

/** States in the order of the header, their key groups ascending. */
class RocksdbCursor implements EntryCursor {
  state = -1;
  keyGroup = -1;
  bytes: Uint8Array = new Uint8Array(0);
  readonly base = -1;
  keyStart = 0;
  keyEnd = 0;
  namespaceStart = 0;
  namespaceEnd = 0;
  userKeyStart = 0;
  userKeyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  unsplitKey: string | undefined;

  private readonly prefix: 1 | 2;
  private readonly states: readonly RegisteredState[];
  private readonly keyGroups: readonly number[];
  private readonly keyFilter: KeyFilter | undefined;
  private readonly split: boolean;
  private nextState = 0;
  private ranges: readonly KeyRange[] = [];
  private nextRange = 0;
  private family: ColumnFamily | undefined;
  private visible: Visible | undefined;
  /** the one key that the current range was looked up for */
  private sought: Uint8Array | undefined;

  constructor(
    private readonly database: Database,
    handle: IncrementalHandle,
    header: KeyedHeader,
    private readonly keys: CompositeKeys,
    private readonly filter: EntryFilter,
    private readonly context: StateContext,
  ) {
    this.prefix = keyGroupBytes(context.maxParallelism);
    this.states = header.states.filter(state => filter.states === undefined || filter.states.has(state.id));
    const { first, count } = handle.range;
    this.keyGroups = Array.from({ length: count }, (_, i) => first + i).filter(
      keyGroup => filter.keyGroups === undefined || filter.keyGroups.has(keyGroup),
    );
    this.keyFilter = filter.keys === undefined ? undefined : new KeyFilter(filter.keys);
    this.split = filter.split !== false || filter.keys !== undefined;
  }

  next(): boolean {
    try {
      for (;;) {
        const { visible } = this;
        if (visible === undefined || !visible.next()) {
          if (!this.openNext()) return false;
        } else if (this.take(visible)) return true;
      }
    } catch (error) {
      throw withWhere(error, this.context.where);
    }
  }

  skip(limit: number): number {
    let passed = 0;
    try {
      while (passed < limit) {
        const { visible } = this;
        if (visible === undefined || !visible.next()) {
          if (!this.openNext()) break;
        } else if (this.take(visible)) passed++;
      }
    } catch (error) {
      throw withWhere(error, this.context.where);
    }
    return passed;
  }

  splitNow(): void {
    const { visible } = this;
    if (!this.split && visible !== undefined) this.splitKey(visible, visible.bytes, visible.keyStart + this.prefix, visible.keyEnd);
  }

  close(): void {
    this.visible?.close();
    this.visible = undefined;
    this.ranges = [];
    this.nextState = this.states.length;
  }

  /** Opens the next range of keys that may have something. @returns false behind the last one */
  private openNext(): boolean {
    this.visible?.close();
    this.visible = undefined;
    while (this.nextRange === this.ranges.length) {
      if (this.nextState === this.states.length) return false;
      const state = this.states[this.nextState++];
      this.family = this.keyGroups.length === 0 ? undefined : this.database.family(state);
      this.ranges = this.family === undefined || this.family.fileCount === 0 ? [] : this.rangesOf(state);
      this.nextRange = 0;
      this.state = state.id;
    }
    const range = this.ranges[this.nextRange++];
    this.sought = range.key;
    this.visible = this.family?.scan({ ...range, lookup: range.key !== undefined });
    return true;
  }

  /** Single keys are looked up when that touches less than reading everything would. */
  private rangesOf(state: RegisteredState): readonly KeyRange[] {
    const wanted = this.filter.keys;
    if (wanted !== undefined && state.kind !== 'timer') {
      const lookups = lookupsOf(wanted, this.keyGroups, this.filter.keyGroupOf);
      if (lookups.count <= MIN_LOOKUPS || (lookups.count <= MAX_LOOKUPS && lookups.count * LOOKUP_COST < this.database.size(state)))
        return lookupRanges(lookups, this.prefix, state);
    }
    return keyGroupRuns(this.keyGroups).map(([from, to]) => keyRange(from, to, this.prefix));
  }

  private take(visible: Visible): boolean {
    const { bytes, keyStart, keyEnd } = visible;
    const { prefix } = this;
    if (keyEnd - keyStart < prefix)
      throw new CorruptError(`key of ${keyEnd - keyStart} bytes, shorter than its key group`, visible.origin());
    this.keyGroup = prefix === 1 ? bytes[keyStart] : (bytes[keyStart] << 8) | bytes[keyStart + 1];
    if (this.split && !this.splitKey(visible, bytes, keyStart + prefix, keyEnd)) return false;
    this.bytes = bytes;
    this.valueStart = visible.valueStart;
    this.valueEnd = visible.valueEnd;
    return true;
  }

  private splitKey(visible: Visible, bytes: Uint8Array, start: number, end: number): boolean {
    const key = this.keys.of(this.state);
    const { keyFilter, sought } = this;
    if (keyFilter !== undefined && !keyFilter.mightBegin(bytes, key.isTimer ? start + 8 : start, end)) return false;
    try {
      key.split(bytes, start, end, -1);
    } catch (error) {
      // offsets inside of a block say nothing about the file
      if (error instanceof CorruptError) throw new CorruptError(error.message, { ...visible.origin(), cause: error });
      throw error;
    }
    if (sought !== undefined ? key.keyEnd - key.keyStart !== sought.length : keyFilter?.has(bytes, key.keyStart, key.keyEnd) === false)
      return false;
    this.keyStart = key.keyStart;
    this.keyEnd = key.keyEnd;
    this.namespaceStart = key.namespaceStart;
    this.namespaceEnd = key.namespaceEnd;
    this.userKeyStart = key.userKeyStart;
    this.userKeyEnd = key.userKeyEnd;
    this.unsplitKey = key.unsplit;
    return true;
  }
}

/** so few lookups are made in any case */
const MIN_LOOKUPS = 16;
const MAX_LOOKUPS = 1 << 16;
/** bytes that a lookup may read: a block or two of each of a few tables */
const LOOKUP_COST = 16 << 10;
