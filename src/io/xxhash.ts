/**
 * xxHash, the two older members: XXH32 and XXH64, seed 0. RocksDB block checksum types 2 and 3 (the low 32 bits of XXH64).
 *
 * Both eat 16 or 32 bytes a step with four lanes, join the lanes, add the length, and take the last bytes one by one:
 *
 *   lane = rotate(lane + word × P2) × P1         XXH32: words of 4 bytes, rotated by 13 · XXH64: of 8 bytes, by 31
 *
 * XXH64's lanes are kept as (low, high) words, because BigInt is too slow for them; only its tail is done in BigInt.
 */

const P32_1 = 0x9e3779b1 | 0;
const P32_2 = 0x85ebca77 | 0;
const P32_3 = 0xc2b2ae3d | 0;
const P32_4 = 0x27d4eb2f;
const P32_5 = 0x165667b1;

/** XXH32 of bytes[start, end), as u32. */
export function xxh32(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = start;
  let h: number;
  if (end - start >= 16) {
    let a = (P32_1 + P32_2) | 0;
    let b = P32_2;
    let c = 0;
    let d = -P32_1 | 0;
    for (; at <= end - 16; at += 16) {
      a = Math.imul(rotate32((a + Math.imul(view.getInt32(at, true), P32_2)) | 0, 13), P32_1);
      b = Math.imul(rotate32((b + Math.imul(view.getInt32(at + 4, true), P32_2)) | 0, 13), P32_1);
      c = Math.imul(rotate32((c + Math.imul(view.getInt32(at + 8, true), P32_2)) | 0, 13), P32_1);
      d = Math.imul(rotate32((d + Math.imul(view.getInt32(at + 12, true), P32_2)) | 0, 13), P32_1);
    }
    h = (rotate32(a, 1) + rotate32(b, 7) + rotate32(c, 12) + rotate32(d, 18)) | 0;
  } else h = P32_5;
  h = (h + (end - start)) | 0;
  for (; at <= end - 4; at += 4) h = Math.imul(rotate32((h + Math.imul(view.getInt32(at, true), P32_3)) | 0, 17), P32_4);
  for (; at < end; at++) h = Math.imul(rotate32((h + Math.imul(bytes[at], P32_5)) | 0, 11), P32_1);
  h = Math.imul(h ^ (h >>> 15), P32_2);
  h = Math.imul(h ^ (h >>> 13), P32_3);
  return (h ^ (h >>> 16)) >>> 0;
}

const rotate32 = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

const P64_1 = 0x9e3779b185ebca87n;
const P64_2 = 0xc2b2ae3d27d4eb4fn;
const P64_3 = 0x165667b19e3779f9n;
const P64_4 = 0x85ebca77c2b2ae63n;
const P64_5 = 0x27d4eb2f165667c5n;
const MASK = 0xffffffffffffffffn;
const P64_1_LOW = 0x85ebca87;
const P64_1_HIGH = 0x9e3779b1;
const P64_2_LOW = 0x27d4eb4f;
const P64_2_HIGH = 0xc2b2ae3d;

/** four lanes as (low, high) words */
const lanes = new Int32Array(8);
const lanes64 = new BigUint64Array(lanes.buffer);

/** XXH64 of bytes[start, end). */
export function xxh64(bytes: Uint8Array, start = 0, end = bytes.length): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = start;
  let h = P64_5;
  if (end - start >= 32) {
    lanes64[0] = (P64_1 + P64_2) & MASK;
    lanes64[1] = P64_2;
    lanes64[2] = 0n;
    lanes64[3] = MASK + 1n - P64_1;
    for (; at <= end - 32; at += 32) for (let lane = 0; lane < 8; lane += 2) eatWord(view, at + lane * 4, lane);
    h = rotate64(lanes64[0], 1n) + rotate64(lanes64[1], 7n) + rotate64(lanes64[2], 12n) + rotate64(lanes64[3], 18n);
    for (const lane of lanes64) h = ((h & MASK) ^ round(lane)) * P64_1 + P64_4;
  }
  h = (h + BigInt(end - start)) & MASK;
  for (; at <= end - 8; at += 8) h = (rotate64(h ^ round(view.getBigUint64(at, true)), 27n) * P64_1 + P64_4) & MASK;
  for (; at <= end - 4; at += 4) h = (rotate64(h ^ ((BigInt(view.getUint32(at, true)) * P64_1) & MASK), 23n) * P64_2 + P64_3) & MASK;
  for (; at < end; at++) h = (rotate64(h ^ ((BigInt(bytes[at]) * P64_5) & MASK), 11n) * P64_1) & MASK;
  h = ((h ^ (h >> 33n)) * P64_2) & MASK;
  h = ((h ^ (h >> 29n)) * P64_3) & MASK;
  return h ^ (h >> 32n);
}

/** The low 32 bits of XXH64 of bytes[start, end), as u32. */
export function xxh64Low(bytes: Uint8Array, start = 0, end = bytes.length): number {
  return Number(xxh64(bytes, start, end) & 0xffffffffn);
}

/** lane = rotate(lane + word × P2, 31) × P1, on 32-bit halves. */
function eatWord(view: DataView, at: number, lane: number): void {
  const wordLow = view.getInt32(at, true) >>> 0;
  const wordHigh = view.getInt32(at + 4, true);
  let productLow = Math.imul(wordLow, P64_2_LOW) >>> 0;
  let productHigh = (highProduct(wordLow, P64_2_LOW, productLow) + Math.imul(wordLow, P64_2_HIGH) + Math.imul(wordHigh, P64_2_LOW)) | 0;
  const low = (lanes[lane] >>> 0) + productLow;
  const high = (lanes[lane + 1] + productHigh + (low > 0xffffffff ? 1 : 0)) | 0;
  const rotatedLow = ((low << 31) | (high >>> 1)) >>> 0;
  const rotatedHigh = (high << 31) | ((low >>> 0) >>> 1);
  productLow = Math.imul(rotatedLow, P64_1_LOW) >>> 0;
  productHigh =
    (highProduct(rotatedLow, P64_1_LOW, productLow) + Math.imul(rotatedLow, P64_1_HIGH) + Math.imul(rotatedHigh, P64_1_LOW)) | 0;
  lanes[lane] = productLow;
  lanes[lane + 1] = productHigh;
}

/** The high half of the product of two u32, from its low half: the double product is off by less than 2^12. */
const highProduct = (a: number, b: number, low: number): number => ((a * b - low) / 4294967296 + 0.5) >>> 0;
const round = (word: bigint): bigint => (rotate64((word * P64_2) & MASK, 31n) * P64_1) & MASK;
const rotate64 = (value: bigint, bits: bigint): bigint => ((value << bits) | (value >> (64n - bits))) & MASK;
