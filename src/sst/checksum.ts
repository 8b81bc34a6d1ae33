/**
 * Block checksums of block-based tables: over the payload and the compression type byte behind it.
 *
 *   0 none · 1 CRC-32C, masked · 2 XXH32 · 3 low half of XXH64 · 4 XXH3: low half of XXH3_64bits(payload) xor type × 0x6B9083D9
 *
 * Format version 6 adds a number that depends on the file and the block's offset, so that a block out of another place or
 * file does not pass: context ^ low32(offset) + high32(offset), nothing when the context is 0.
 * Mirrors table/format.cc (ComputeBuiltinChecksum, ChecksumModifierForContext) of RocksDB 8.10.
 */
import { UnsupportedError } from '../errors.js';
import { crc32c, maskCrc32c } from '../io/crc32c.js';
import { xxh3Low } from '../io/xxh3.js';
import { xxh32, xxh64Low } from '../io/xxhash.js';

export const CHECKSUM_NAMES: readonly string[] = ['none', 'crc32c', 'xxhash', 'xxhash64', 'xxh3'];

/**
 * The checksum of bytes[start, end) where bytes[end - 1] is the compression type, as u32; undefined for type 0.
 * @throws UnsupportedError for a type that is not known
 */
export function blockChecksum(type: number, bytes: Uint8Array, start: number, end: number): number | undefined {
  switch (type) {
    case 0:
      return undefined;
    case 1:
      return maskCrc32c(crc32c(bytes, start, end));
    case 2:
      return xxh32(bytes, start, end);
    case 3:
      return xxh64Low(bytes, start, end);
    case 4:
      return (xxh3Low(bytes, start, end - 1) ^ Math.imul(bytes[end - 1], 0x6b9083d9)) >>> 0;
    default:
      throw new UnsupportedError(`block checksum of type ${type}`);
  }
}

/** What format version 6 adds to the checksum of the block at `offset`, as u32. */
export function contextModifier(context: number, offset: number): number {
  if (context === 0) return 0;
  return (context ^ ((offset >>> 0) + Math.floor(offset / 4294967296))) >>> 0;
}
