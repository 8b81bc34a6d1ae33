/**
 * What every block consists of: prefix-compressed entries, then restart points.
 *
 *   entries · u32 restart offset × n · [hash index: u8 bucket × m · u16 m] · u32 n (top bit: there is a hash index)
 *   entry = varint shared · varint unshared · varint value length · unshared key bytes · value
 *
 * A key is the first `shared` bytes of the key before it, then its own unshared bytes; at a restart point shared is 0. In index
 * blocks whose values are delta-encoded an entry has no value length (index-block.ts). The hash index (blocks up to 64 KiB) speeds
 * up point lookups inside a block and is not needed to read it.
 * Mirrors table/block_based/block_builder.cc, data_block_footer.cc and data_block_hash_index.h of RocksDB 8.10.
 */
import { CorruptError, type ErrorOrigin } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { readU32 } from './internal-key.js';

const HASH_INDEX = 0x80000000;
const MAX_HASH_INDEXED = 1 << 16;

export interface BlockLayout {
  /** entries lie in [start, entriesEnd), restart point i is the u32 at entriesEnd + 4i */
  readonly entriesEnd: number;
  readonly restarts: number;
}

/** Finds the parts of the block bytes[start, end). @throws CorruptError */
export function blockLayout(bytes: Uint8Array, start: number, end: number, origin: ErrorOrigin): BlockLayout {
  const size = end - start;
  if (size < 4) throw new CorruptError(`block of ${size} bytes`, origin);
  let restarts = readU32(bytes, end - 4);
  let restartsEnd = end - 4;
  if (size <= MAX_HASH_INDEXED && restarts >= HASH_INDEX) {
    restarts -= HASH_INDEX;
    const buckets = size < 6 ? 0 : bytes[end - 6] | (bytes[end - 5] << 8);
    restartsEnd -= 2 + buckets;
  }
  const entriesEnd = restartsEnd - 4 * restarts;
  if (entriesEnd < start) throw new CorruptError(`block of ${size} bytes claims ${restarts} restart points`, origin);
  return { entriesEnd, restarts };
}

/** What readLengths() read last: one object for all, so that nothing is allocated for an entry. */
export const lengths = { shared: 0, unshared: 0, length: 0 };

/** Reads the three varints that an entry begins with into `lengths`. @returns where they end, -1 when that is behind `limit` */
export function readLengths(bytes: Uint8Array, start: number, limit: number): number {
  let p = start;
  for (let i = 0; i < 3; i++) {
    let result = 0;
    for (let shift = 0; ; shift += 7) {
      if (p >= limit || shift > 28) return -1;
      const b = bytes[p++];
      result += (b & 0x7f) * 2 ** shift;
      if (b < 0x80) break;
    }
    if (i === 0) lengths.shared = result;
    else if (i === 1) lengths.unshared = result;
    else lengths.length = result;
  }
  return p;
}

/** Calls back with each entry of a small block (metaindex, properties, range deletions), in order; key and value are the block's. */
export function forEachEntry(
  block: Uint8Array,
  origin: ErrorOrigin,
  visit: (key: Uint8Array, value: Uint8Array, valueStart: number) => void,
): void {
  const { entriesEnd } = blockLayout(block, 0, block.length, origin);
  const cursor = new Cursor(block, 0, entriesEnd, origin);
  let key: Uint8Array = new Uint8Array(0);
  try {
    while (cursor.position < entriesEnd) {
      const shared = cursor.varint('shared length');
      const unshared = cursor.varint('unshared length');
      const valueLength = cursor.varint('value length');
      if (shared > key.length) cursor.fail(`${shared} bytes shared with a key of ${key.length}`);
      const delta = cursor.slice(unshared, 'key');
      const next = new Uint8Array(shared + unshared);
      next.set(key.subarray(0, shared));
      next.set(delta, shared);
      key = next;
      const valueStart = cursor.take(valueLength, 'value');
      visit(key, block.subarray(valueStart, valueStart + valueLength), valueStart);
    }
  } catch (error) {
    // offsets inside a block say nothing about the file when it was compressed
    if (error instanceof CorruptError) throw new CorruptError(error.message, origin);
    throw error;
  }
}
