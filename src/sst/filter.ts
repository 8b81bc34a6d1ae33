/**
 * Bloom filters: whether a table might have a user key. Only lookups ask them; a "no" is certain, everything else is "maybe".
 *
 *   fullfilter.<policy>          one filter block
 *   partitionedfilter.<policy>   an index block (index-block.ts) over filter blocks, in the form of the table's index
 *   filter.<policy>              block-based filters up to RocksDB 6: not used
 *
 *   filter block = bits · 5 bytes
 *     first of the 5 > 0    legacy: number of probes · u32 lines. A line is hash % lines, the bits are in that line
 *     -1, then 0            newer (format version 5): u8 probes (5 bits) and line size (3 bits, 64 bytes << n) · u16 0
 *     -2                    Ribbon: not used
 *
 * Mirrors table/block_based/filter_policy.cc, util/bloom_impl.h and util/hash.cc of RocksDB 8.10.
 */
import { xxh3Preview } from '../io/xxh3-preview.js';
import { type BlockFile, blockOrigin, readBlock } from './block.js';
import type { BlockHandle } from './footer.js';
import { IndexCursor, type IndexForm } from './index-block.js';
import { readU32 } from './internal-key.js';
import type { TableProperties } from './properties.js';

const POLICY = 'rocksdb.BuiltinBloomFilter';
const METADATA = 5;
const NEWER = 0xff;
/** newer filters have lines of 64 bytes, 512 bits */
const LINE = 64;

export interface FilterBlock {
  /** false only when the table has no version of the user key (range deletions aside) */
  mightMatch(userKey: Uint8Array): boolean;
}

/** The filter of a table; undefined when it has none, or one that is not understood, or one of prefixes only. */
export function openFilter(
  file: BlockFile,
  metaindex: ReadonlyMap<string, BlockHandle>,
  properties: TableProperties,
  form: IndexForm,
): FilterBlock | undefined {
  if (!properties.wholeKeyFiltering || properties.filterPolicy === undefined) return undefined;
  const full = metaindex.get(`fullfilter.${POLICY}`);
  if (full !== undefined) {
    const bits = readBlock(file, full);
    return { mightMatch: userKey => filterMightMatch(bits, userKey) };
  }
  const partitioned = metaindex.get(`partitionedfilter.${POLICY}`);
  if (partitioned === undefined) return undefined;
  const index = readBlock(file, partitioned);
  const flat: IndexForm = { ...form, twoLevel: false, firstKeys: false };
  return {
    mightMatch(userKey) {
      const cursor = new IndexCursor(file, flat, index, blockOrigin(file, partitioned));
      cursor.seek(userKey);
      return !cursor.next() || filterMightMatch(readBlock(file, { offset: cursor.offset, size: cursor.size }), userKey);
    },
  };
}

/** Bytes of the filter that has to be read to ask it; 0: it is read in parts, or there is none. */
export function wholeFilterSize(metaindex: ReadonlyMap<string, BlockHandle>): number {
  return metaindex.get(`fullfilter.${POLICY}`)?.size ?? 0;
}

/** Asks one filter block. */
export function filterMightMatch(filter: Uint8Array, userKey: Uint8Array): boolean {
  const length = filter.length - METADATA;
  if (length <= 0) return true;
  const first = filter[length];
  if (first > 0 && first < 0x80) return legacyMightMatch(filter, length, first, readU32(filter, length + 1), userKey);
  if (first !== NEWER || filter[length + 1] !== 0 || filter[length + 3] !== 0 || filter[length + 4] !== 0) return true;
  const probes = filter[length + 2] & 31;
  if (filter[length + 2] >> 5 !== 0 || probes === 0 || probes > 30 || length % LINE !== 0) return true;
  return newerMightMatch(filter, length, probes, userKey);
}

function newerMightMatch(filter: Uint8Array, length: number, probes: number, userKey: Uint8Array): boolean {
  const hash = xxh3Preview(userKey);
  if (hash === undefined) return true;
  const line = Number(((hash & 0xffffffffn) * BigInt(length / LINE)) >> 32n) * LINE;
  let h = Number(hash >> 32n);
  for (let i = 0; i < probes; i++) {
    const bit = h >>> 23;
    if ((filter[line + (bit >> 3)] & (1 << (bit & 7))) === 0) return false;
    h = Math.imul(h, 0x9e3779b9);
  }
  return true;
}

function legacyMightMatch(filter: Uint8Array, length: number, probes: number, lines: number, userKey: Uint8Array): boolean {
  if (lines === 0 || length % lines !== 0) return true;
  const lineBytes = length / lines;
  if ((lineBytes & (lineBytes - 1)) !== 0) return true;
  let h = hash32(userKey);
  const line = (h % lines) * lineBytes;
  const delta = ((h >>> 17) | (h << 15)) >>> 0;
  for (let i = 0; i < probes; i++) {
    const bit = h & (lineBytes * 8 - 1);
    if ((filter[line + (bit >> 3)] & (1 << (bit & 7))) === 0) return false;
    h = (h + delta) >>> 0;
  }
  return true;
}

/** LevelDB's hash with the seed of bloom filters; the last bytes count as signed. */
function hash32(key: Uint8Array): number {
  const m = 0xc6a4a793;
  const { length } = key;
  let h = 0xbc9f1d34 ^ Math.imul(length, m);
  let p = 0;
  for (; p + 4 <= length; p += 4) {
    h = Math.imul((h + readU32(key, p)) | 0, m);
    h ^= h >>> 16;
  }
  if (p < length) {
    for (let i = length - p - 1; i >= 0; i--) h = (h + (((key[p + i] << 24) >> 24) << (8 * i))) | 0;
    h = Math.imul(h, m);
    h ^= h >>> 24;
  }
  return h >>> 0;
}
