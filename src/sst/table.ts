/**
 * A block-based table (SST file), opened: what stands around its data blocks.
 *
 *   data blocks · [filter] · [index partitions] · [index] · [compression dictionary] · [range deletions] · properties · metaindex · footer
 *
 * The metaindex block maps names to handles: `rocksdb.properties` (`rocksdb.stats` in old files), `rocksdb.range_del`,
 * `rocksdb.compression_dict`, `fullfilter.<policy>`, `partitionedfilter.<policy>`, `rocksdb.index` (version 6), and others.
 * Opening reads the last 16 KiB of the file in one piece; what does not fit (large indexes) is read when it is used.
 * Mirrors table/block_based/block_based_table_reader.cc of RocksDB 8.10.
 */
import { CorruptError, type ErrorOrigin, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { ByteSource } from '../io/source.js';
import { type BlockFile, blockOrigin, readBlock } from './block.js';
import { forEachEntry } from './entries.js';
import { type FilterBlock, openFilter, wholeFilterSize } from './filter.js';
import { type BlockHandle, decodeFooter, readHandle } from './footer.js';
import { IndexCursor, type IndexForm } from './index-block.js';
import { RANGE_DELETION, readU32, sequenceOf, TRAILER } from './internal-key.js';
import { INDEX_TYPES, readProperties, type TableProperties } from './properties.js';

const TAIL = 16 << 10;
/** a data block, and so what one lookup reads, is about as large */
const BLOCK = 4 << 10;
export const BYTEWISE_COMPARATOR = 'leveldb.BytewiseComparator';

export interface TableOptions {
  /** false: block checksums are not computed */
  readonly verify: boolean;
  /** place in the snapshot, for errors */
  readonly where?: string;
}

/** All user keys in [start, end) older than `sequence` are deleted. */
export interface RangeDeletion {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly sequence: bigint;
}

export interface Table extends BlockFile {
  readonly origin: ErrorOrigin;
  readonly properties: TableProperties;
  readonly metaindex: ReadonlyMap<string, BlockHandle>;
  readonly indexHandle: BlockHandle;
  /** what zlib, lz4 and zstd data blocks were compressed with */
  readonly dictionary: Uint8Array | undefined;
  /** A new cursor over the data blocks. */
  index(): IndexCursor;
  /**
   * As written: not cut to the file's key range.
   * @param largestSequence of an ingested file that does not say its sequence number
   */
  rangeDeletions(largestSequence?: bigint): readonly RangeDeletion[];
  /** The bloom filter, or undefined when there is none that is understood. */
  filter(): FilterBlock | undefined;
  /**
   * The bloom filter, for one more lookup: undefined as well while reading it would take more bytes than the lookups have without it.
   * A filter of a whole table is often larger than its index.
   */
  filterForLookup(): FilterBlock | undefined;
  close(): void;
}

/**
 * Opens a table; closing it closes the source.
 * @throws CorruptError, UnsupportedError
 */
export function openTable(source: ByteSource, options: TableOptions): Table {
  const { where } = options;
  const origin: ErrorOrigin = { file: source.name, ...(where === undefined ? {} : { where }) };
  const tailed = withTail(source);
  const footer = decodeFooter(tailed.read(Math.max(0, source.size - 53), Math.min(53, source.size)), tailed, where);
  const file: BlockFile = { source: tailed, footer, verify: options.verify, where };
  const metaindex = readMetaindex(file);
  const propertiesHandle = metaindex.get('rocksdb.properties') ?? metaindex.get('rocksdb.stats');
  if (propertiesHandle === undefined) throw new CorruptError('the table has no properties block', origin);
  const properties = readProperties(file, propertiesHandle);
  checkProperties(properties, origin);
  const indexHandle = footer.index ?? metaindex.get('rocksdb.index');
  if (indexHandle === undefined) throw new CorruptError('the table has no index', origin);
  const form: IndexForm = {
    userKeys: properties.indexKeyIsUserKey,
    deltaValues: properties.indexValueIsDelta,
    firstKeys: properties.indexType === 3,
    twoLevel: properties.indexType === 2,
  };
  const dictionaryHandle = metaindex.get('rocksdb.compression_dict');
  const dictionary = dictionaryHandle === undefined ? undefined : readBlock(file, dictionaryHandle);
  let root: Uint8Array | undefined;
  let filter: FilterBlock | null | undefined;
  const readFilter = (): FilterBlock | undefined => {
    if (filter === undefined) filter = openFilter(file, metaindex, properties, form) ?? null;
    return filter ?? undefined;
  };
  /** bytes that lookups have read that a filter might have spared */
  let spent = 0;
  return {
    ...file,
    origin,
    properties,
    metaindex,
    indexHandle,
    dictionary: dictionary?.length === 0 ? undefined : dictionary,
    index() {
      root ??= readBlock(file, indexHandle);
      return new IndexCursor(file, form, root, blockOrigin(file, indexHandle));
    },
    rangeDeletions(largestSequence) {
      const handle = metaindex.get('rocksdb.range_del');
      return handle === undefined ? [] : readRangeDeletions(file, handle, globalSequence(properties, largestSequence));
    },
    filter: readFilter,
    filterForLookup() {
      if (filter === undefined) {
        spent += BLOCK + (root === undefined ? indexHandle.size : 0);
        if (wholeFilterSize(metaindex) > spent) return undefined;
      }
      return readFilter();
    },
    close() {
      source.close();
    },
  };
}

function readMetaindex(file: BlockFile): ReadonlyMap<string, BlockHandle> {
  const origin = blockOrigin(file, file.footer.metaindex);
  const handles = new Map<string, BlockHandle>();
  forEachEntry(readBlock(file, file.footer.metaindex), origin, (key, value) => {
    const name = Buffer.from(key).toString('utf8');
    // the values of some names (properties of partitioned filters) are handles as well; nothing else stands here
    handles.set(name, readHandle(new Cursor(value, 0, value.length, origin), `handle of ${name}`));
  });
  return handles;
}

function checkProperties(properties: TableProperties, origin: ErrorOrigin): void {
  const { comparator, indexType } = properties;
  if (comparator !== undefined && comparator !== '' && comparator !== BYTEWISE_COMPARATOR)
    throw new UnsupportedError(`comparator ${comparator} (known: ${BYTEWISE_COMPARATOR})`, origin);
  if (indexType >= INDEX_TYPES.length) throw new UnsupportedError(`index of type ${indexType}`, origin);
}

/**
 * The sequence number of every key of an ingested file; undefined: keys have their own.
 * @param largestSequence what the manifest says, for files that do not say it themselves
 */
export function globalSequence(properties: TableProperties, largestSequence: bigint | undefined): bigint | undefined {
  if (properties.globalSequence === undefined) return undefined;
  const { stored } = properties.globalSequence;
  const sequence = stored === 0n ? (largestSequence ?? 0n) : stored;
  return sequence === 0n ? undefined : sequence;
}

/** key: start user key and trailer; value: end user key, exclusive. */
function readRangeDeletions(file: BlockFile, handle: BlockHandle, global: bigint | undefined): readonly RangeDeletion[] {
  const origin = blockOrigin(file, handle);
  const found: RangeDeletion[] = [];
  forEachEntry(readBlock(file, handle), origin, (key, value) => {
    const at = key.length - TRAILER;
    if (at < 0) throw new CorruptError(`internal key of ${key.length} bytes`, origin);
    const low = readU32(key, at);
    if ((low & 0xff) !== RANGE_DELETION) throw new CorruptError(`entry of type ${low & 0xff} among the range deletions`, origin);
    const sequence = global ?? sequenceOf(low, readU32(key, at + 4));
    found.push({ start: Uint8Array.from(key.subarray(0, at)), end: Uint8Array.from(value), sequence });
  });
  return found;
}

/** The same source, with its last bytes held in memory. */
function withTail(source: ByteSource): ByteSource {
  const length = Math.min(TAIL, source.size);
  const start = source.size - length;
  const tail = source.read(start, length);
  return {
    name: source.name,
    base: source.base,
    size: source.size,
    readInto: (target, position) => source.readInto(target, position),
    read(position, wanted) {
      if (position >= start && wanted >= 0 && position + wanted <= source.size)
        return tail.subarray(position - start, position - start + wanted);
      return source.read(position, wanted);
    },
    close: () => source.close(),
  };
}
