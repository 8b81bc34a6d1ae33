/**
 * The hash of RocksDB's newer bloom filters: XXH3_64bits as it was in a preview (xxHash 0.7.2), seed 0, for up to 240 bytes.
 *
 * Against the final XXH3 (xxh3.ts): another multiplier at the end, other forms up to 16 bytes, and another one above 240,
 * which is left out: keys that long are rare, and a filter need not be asked.
 * Mirrors util/xxph3.h (XXPH3_64bits) of RocksDB 8.10.
 */
import { fold128, get64, mix16, PRIME64_1, PRIME64_2, PRIME64_3, secret64, sumUpTo128 } from './xxh3.js';

const PRIME32_1 = 0x9e3779b1n;
const MASK = 0xffffffffffffffffn;

/** The hash of up to 240 bytes; undefined for more. */
export function xxh3Preview(bytes: Uint8Array): bigint | undefined {
  const { length } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  if (length > 240) return undefined;
  if (length > 128) return upTo240(view, length);
  if (length > 16) return avalanche(sumUpTo128(view, length));
  if (length > 8) {
    const low = get64(view, 0) ^ secret64(0);
    const high = get64(view, length - 8) ^ secret64(8);
    return avalanche(BigInt(length) + low + high + fold128(low, high));
  }
  if (length >= 4) {
    const keyed = (BigInt(view.getUint32(0, true)) | (BigInt(view.getUint32(length - 4, true)) << 32n)) ^ secret64(0);
    const mixed = (BigInt(length) + (keyed ^ (keyed >> 51n)) * PRIME32_1) & MASK;
    return avalanche((mixed ^ (mixed >> 47n)) * PRIME64_2);
  }
  if (length > 0) {
    const combined = view.getUint8(0) | (view.getUint8(length >> 1) << 8) | (view.getUint8(length - 1) << 16) | (length << 24);
    return avalanche((BigInt(combined) ^ (secret64(0) & 0xffffffffn)) * PRIME64_1);
  }
  return fold128(secret64(0), PRIME64_2);
}

function upTo240(view: DataView, length: number): bigint {
  let acc = BigInt(length) * PRIME64_1;
  for (let i = 0; i < 8; i++) acc += mix16(view, 16 * i, 16 * i);
  acc = avalanche(acc);
  for (let i = 8; i < length >> 4; i++) acc += mix16(view, 16 * i, 16 * (i - 8) + 3);
  return avalanche(acc + mix16(view, length - 16, 136 - 17));
}

function avalanche(sum: bigint): bigint {
  let h = sum & MASK;
  h ^= h >> 37n;
  h = (h * PRIME64_3) & MASK;
  return h ^ (h >> 32n);
}
