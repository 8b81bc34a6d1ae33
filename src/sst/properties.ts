/**
 * The properties block of a table: names and values, of which some are varints, some fixed numbers, some text.
 *
 *   rocksdb.num.entries, .deleted.keys, .merge.operands, .num.range-deletions, .num.data.blocks, .raw.key.size, …     varint
 *   rocksdb.column.family.id (2^31 - 1: unknown), rocksdb.index.key.is.user.key, rocksdb.index.value.is.delta.encoded  varint
 *   rocksdb.column.family.name, rocksdb.comparator, rocksdb.merge.operator, rocksdb.compression, rocksdb.filter.policy text
 *   rocksdb.block.based.table.index.type                                                                               u32
 *   rocksdb.external_sst_file.version (u32), rocksdb.external_sst_file.global_seqno (u64)                              fixed
 *
 * `num.entries` counts range deletions too. Mirrors table/table_properties.cc and block_based_table_factory.h of RocksDB 8.10.
 */
import { CorruptError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { type BlockFile, blockOrigin, checkHandle, checksumMatches, readBlock } from './block.js';
import { forEachEntry } from './entries.js';
import { BLOCK_TRAILER, type BlockHandle, readVarint64 } from './footer.js';
import { readU32 } from './internal-key.js';

export const UNKNOWN_COLUMN_FAMILY = 0x7fffffff;
export const INDEX_TYPES: readonly string[] = ['binary search', 'hash', 'two-level', 'binary search with first key'];

export interface TableProperties {
  /** name → bytes, as written */
  readonly all: ReadonlyMap<string, Uint8Array>;
  readonly columnFamilyId: number | undefined;
  readonly columnFamily: string | undefined;
  readonly comparator: string | undefined;
  readonly mergeOperator: string | undefined;
  readonly compression: string | undefined;
  readonly filterPolicy: string | undefined;
  /** all entries, range deletions among them */
  readonly entries: number | undefined;
  readonly deletions: number | undefined;
  readonly mergeOperands: number | undefined;
  readonly rangeDeletions: number;
  readonly dataBlocks: number | undefined;
  /** index into INDEX_TYPES */
  readonly indexType: number;
  /** separators in the index have no trailer */
  readonly indexKeyIsUserKey: boolean;
  readonly indexValueIsDelta: boolean;
  /** bloom filters hold whole user keys (not only prefixes) */
  readonly wholeKeyFiltering: boolean;
  /** sequence number that every key of an ingested file has; `stored` is 0 when only the manifest knows it */
  readonly globalSequence: { readonly stored: bigint } | undefined;
}

const GLOBAL_SEQUENCE = 'rocksdb.external_sst_file.global_seqno';

/** Reads the properties block. @throws CorruptError */
export function readProperties(file: BlockFile, handle: BlockHandle): TableProperties {
  const origin = blockOrigin(file, handle);
  const all = new Map<string, Uint8Array>();
  forEachEntry(readPropertiesBlock(file, handle), origin, (key, value) => {
    all.set(Buffer.from(key).toString('utf8'), Uint8Array.from(value));
  });
  const varint = (name: string): number | undefined => {
    const value = all.get(name);
    return value === undefined ? undefined : readVarint64(new Cursor(value, 0, value.length, origin), name);
  };
  const text = (name: string): string | undefined => {
    const value = all.get(name);
    return value === undefined ? undefined : Buffer.from(value).toString('utf8');
  };
  const u32 = (name: string): number | undefined => {
    const value = all.get(name);
    if (value !== undefined && value.length !== 4) throw new CorruptError(`property ${name} of ${value.length} bytes`, origin);
    return value === undefined ? undefined : readU32(value, 0);
  };
  const external = u32('rocksdb.external_sst_file.version');
  const global = all.get(GLOBAL_SEQUENCE);
  return {
    all,
    columnFamilyId: varint('rocksdb.column.family.id'),
    columnFamily: text('rocksdb.column.family.name'),
    comparator: text('rocksdb.comparator'),
    mergeOperator: text('rocksdb.merge.operator'),
    compression: text('rocksdb.compression'),
    filterPolicy: text('rocksdb.filter.policy'),
    entries: varint('rocksdb.num.entries'),
    deletions: varint('rocksdb.deleted.keys'),
    mergeOperands: varint('rocksdb.merge.operands'),
    rangeDeletions: varint('rocksdb.num.range-deletions') ?? 0,
    dataBlocks: varint('rocksdb.num.data.blocks'),
    indexType: u32('rocksdb.block.based.table.index.type') ?? 0,
    indexKeyIsUserKey: varint('rocksdb.index.key.is.user.key') === 1,
    indexValueIsDelta: varint('rocksdb.index.value.is.delta.encoded') === 1,
    wholeKeyFiltering: text('rocksdb.block.based.table.whole.key.filtering') === '1',
    globalSequence:
      external !== undefined && external >= 2 ? { stored: global?.length === 8 ? Buffer.from(global).readBigUInt64LE() : 0n } : undefined,
  };
}

/**
 * Ingestion may have written the global sequence number into the file after its checksum was made: then the block matches
 * with zeros in its place.
 */
function readPropertiesBlock(file: BlockFile, handle: BlockHandle): Uint8Array {
  checkHandle(file, handle);
  const raw = file.source.read(handle.offset, handle.size + BLOCK_TRAILER);
  if (!file.verify || checksumMatches(file, handle, raw, 0)) return readBlock(file, handle);
  const block = Uint8Array.from(raw.subarray(0, handle.size));
  const zeroed = Uint8Array.from(raw);
  try {
    forEachEntry(block, blockOrigin(file, handle), (key, value, valueStart) => {
      if (value.length === 8 && Buffer.from(key).toString('latin1') === GLOBAL_SEQUENCE) zeroed.fill(0, valueStart, valueStart + 8);
    });
  } catch {
    return readBlock(file, handle);
  }
  return checksumMatches(file, handle, zeroed, 0) ? block : readBlock(file, handle);
}
