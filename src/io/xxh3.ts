/**
 * XXH3, 64 bits, seed 0, default secret: xxHash 0.8, XXH3_64bits(). RocksDB 6.25+ takes its low 32 bits for block checksums.
 *
 * Inputs of up to 240 bytes go through one of five short forms. Longer ones are eaten in stripes of 64 bytes by eight 64-bit
 * accumulators, which are scrambled every 16 stripes (1024 bytes) and folded at the end:
 *
 *   lane i of a stripe:  acc[i ^ 1] += data       acc[i] += low32(data ^ secret) × high32(data ^ secret)
 *
 * The long form works on pairs of 32-bit halves: BigInt is fifty times slower. A 32 × 32 → 64 product is Math.imul for the
 * low half; the high half follows from the double product, whose error (below 2^12) vanishes in the division by 2^32.
 */
import { fastXxh3 } from './checksum-code.js';

const SECRET = Uint8Array.from(
  (
    'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c' +
    '3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364' +
    'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e'
  ).match(/../g) ?? [],
  hex => Number.parseInt(hex, 16),
);
const SECRET_VIEW = new DataView(SECRET.buffer);
const PRIME32_1 = 0x9e3779b1;
const PRIME32_2 = 0x85ebca77;
const PRIME32_3 = 0xc2b2ae3d;
export const PRIME64_1 = 0x9e3779b185ebca87n;
export const PRIME64_2 = 0xc2b2ae3d27d4eb4fn;
export const PRIME64_3 = 0x165667b19e3779f9n;
const PRIME64_4 = 0x85ebca77c2b2ae63n;
const PRIME64_5 = 0x27d4eb2f165667c5n;
const PRIME_MX1 = 0x165667919e3779f9n;
const PRIME_MX2 = 0x9fb21c651e98df25n;
const MASK = 0xffffffffffffffffn;

const STRIPE = 64;
const STRIPES_PER_BLOCK = 16;
/** of the secret: scrambling, the last stripe, and folding start at these bytes */
const SCRAMBLE_SECRET = 128;
const LAST_SECRET = 121;
const FOLD_SECRET = 11;

/** XXH3_64bits of bytes[start, end). */
export function xxh3(bytes: Uint8Array, start = 0, end = bytes.length): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  const length = end - start;
  if (length > 240) return long(view, length);
  if (length > 128) return upTo240(view, length);
  if (length > 16) return upTo128(view, length);
  if (length > 8) return upTo16(view, length);
  if (length >= 4) return upTo8(view, length);
  if (length > 0) return upTo3(view, length);
  return xxh64Avalanche(secret64(56) ^ secret64(64));
}

/** The low 32 bits of XXH3_64bits of bytes[start, end), as u32. */
export function xxh3Low(bytes: Uint8Array, start = 0, end = bytes.length): number {
  if (end - start > 240) {
    const low = fastLow(bytes, start, end);
    if (low !== undefined) return low;
  }
  return Number(xxh3(bytes, start, end) & 0xffffffffn);
}

export const secret64 = (at: number): bigint => SECRET_VIEW.getBigUint64(at, true);
export const get64 = (view: DataView, at: number): bigint => view.getBigUint64(at, true);

function upTo3(view: DataView, length: number): bigint {
  const combined = ((view.getUint8(0) << 16) | (view.getUint8(length >> 1) << 24) | view.getUint8(length - 1) | (length << 8)) >>> 0;
  const flip = (SECRET_VIEW.getUint32(0, true) ^ SECRET_VIEW.getUint32(4, true)) >>> 0;
  return xxh64Avalanche(BigInt((combined ^ flip) >>> 0));
}

function upTo8(view: DataView, length: number): bigint {
  const input = BigInt(view.getUint32(length - 4, true)) + (BigInt(view.getUint32(0, true)) << 32n);
  let h = input ^ secret64(8) ^ secret64(16);
  h ^= rotate(h, 49n) ^ rotate(h, 24n);
  h = (h * PRIME_MX2) & MASK;
  h ^= (h >> 35n) + BigInt(length);
  h = (h * PRIME_MX2) & MASK;
  return h ^ (h >> 28n);
}

function upTo16(view: DataView, length: number): bigint {
  const low = get64(view, 0) ^ secret64(24) ^ secret64(32);
  const high = get64(view, length - 8) ^ secret64(40) ^ secret64(48);
  return avalanche(BigInt(length) + swap64(low) + high + fold128(low, high));
}

function upTo128(view: DataView, length: number): bigint {
  return avalanche(sumUpTo128(view, length));
}

/** The sum that 17 to 128 bytes come to. */
export function sumUpTo128(view: DataView, length: number): bigint {
  let acc = BigInt(length) * PRIME64_1;
  for (let i = (length - 1) >> 5; i >= 0; i--) acc += mix16(view, 16 * i, 32 * i) + mix16(view, length - 16 * (i + 1), 32 * i + 16);
  return acc;
}

function upTo240(view: DataView, length: number): bigint {
  let acc = BigInt(length) * PRIME64_1;
  for (let i = 0; i < 8; i++) acc += mix16(view, 16 * i, 16 * i);
  acc = avalanche(acc);
  for (let i = 8; i < length >> 4; i++) acc += mix16(view, 16 * i, 16 * (i - 8) + 3);
  return avalanche(acc + mix16(view, length - 16, 136 - 17));
}

export function mix16(view: DataView, at: number, secretAt: number): bigint {
  return fold128(get64(view, at) ^ secret64(secretAt), get64(view, at + 8) ^ secret64(secretAt + 8));
}

/** Low and high half of the 128-bit product, xored. */
export function fold128(a: bigint, b: bigint): bigint {
  const product = a * b;
  return (product & MASK) ^ (product >> 64n);
}

function rotate(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & MASK;
}

function swap64(value: bigint): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value, true);
  return view.getBigUint64(0, false);
}

function avalanche(sum: bigint): bigint {
  let h = sum & MASK;
  h ^= h >> 37n;
  h = (h * PRIME_MX1) & MASK;
  return h ^ (h >> 32n);
}

function xxh64Avalanche(value: bigint): bigint {
  let h = value;
  h ^= h >> 33n;
  h = (h * PRIME64_2) & MASK;
  h ^= h >> 29n;
  h = (h * PRIME64_3) & MASK;
  return h ^ (h >> 32n);
}

/** The secret as 32-bit words, and the 16 words at the odd offset that the last stripe uses. */
const SECRET_WORDS = new Int32Array(SECRET.buffer);
const LAST_WORDS = new Int32Array(SECRET.slice(LAST_SECRET, LAST_SECRET + STRIPE).buffer);
const INITIAL = new BigUint64Array([
  BigInt(PRIME32_3),
  PRIME64_1,
  PRIME64_2,
  PRIME64_3,
  PRIME64_4,
  BigInt(PRIME32_2),
  PRIME64_5,
  BigInt(PRIME32_1),
]);
const INITIAL_WORDS = new Int32Array(INITIAL.buffer);
const fastLow = fastXxh3({
  secret: SECRET,
  initial: [...INITIAL],
  prime32: BigInt(PRIME32_1),
  prime64: PRIME64_1,
  mixer: PRIME_MX1,
});
/** eight accumulators as (low, high) words */
const acc = new Int32Array(16);
const acc64 = new BigUint64Array(acc.buffer);

function long(view: DataView, length: number): bigint {
  acc.set(INITIAL_WORDS);
  let left = Math.floor((length - 1) / STRIPE);
  let at = 0;
  for (; left >= STRIPES_PER_BLOCK; left -= STRIPES_PER_BLOCK) {
    accumulate(view, at, STRIPES_PER_BLOCK, SECRET_WORDS);
    scramble();
    at += STRIPES_PER_BLOCK * STRIPE;
  }
  accumulate(view, at, left, SECRET_WORDS);
  accumulate(view, length - STRIPE, 1, LAST_WORDS);

  let result = BigInt(length) * PRIME64_1;
  for (let i = 0; i < 4; i++)
    result += fold128(acc64[2 * i] ^ secret64(FOLD_SECRET + 16 * i), acc64[2 * i + 1] ^ secret64(FOLD_SECRET + 16 * i + 8));
  return avalanche(result);
}

/**
 * Eats `count` stripes from `at` on, one neighbouring pair of lanes after the other, so that the four words of a pair stay in
 * registers. `words`: the secret, of which each stripe begins 8 bytes further.
 */
function accumulate(view: DataView, at: number, count: number, words: Int32Array): void {
  for (let pair = 0; pair < 16; pair += 4) {
    let aLow = acc[pair] >>> 0;
    let aHigh = acc[pair + 1];
    let bLow = acc[pair + 2] >>> 0;
    let bHigh = acc[pair + 3];
    let p = at + pair * 4;
    let s = pair;
    for (let i = 0; i < count; i++) {
      const low = view.getInt32(p, true) >>> 0;
      const high = view.getInt32(p + 4, true);
      const otherLow = view.getInt32(p + 8, true) >>> 0;
      const otherHigh = view.getInt32(p + 12, true);

      let keyLow = (low ^ words[s]) >>> 0;
      let keyHigh = (high ^ words[s + 1]) >>> 0;
      let productLow = Math.imul(keyLow, keyHigh) >>> 0;
      let sum = aLow + productLow + otherLow;
      aHigh = (aHigh + highHalf(keyLow, keyHigh, productLow) + otherHigh + carries(sum)) | 0;
      aLow = sum >>> 0;

      keyLow = (otherLow ^ words[s + 2]) >>> 0;
      keyHigh = (otherHigh ^ words[s + 3]) >>> 0;
      productLow = Math.imul(keyLow, keyHigh) >>> 0;
      sum = bLow + productLow + low;
      bHigh = (bHigh + highHalf(keyLow, keyHigh, productLow) + high + carries(sum)) | 0;
      bLow = sum >>> 0;
      p += STRIPE;
      s += 2;
    }
    acc[pair] = aLow;
    acc[pair + 1] = aHigh;
    acc[pair + 2] = bLow;
    acc[pair + 3] = bHigh;
  }
}

/** The high half of the product of two u32, from its low half. */
const highHalf = (a: number, b: number, low: number): number => ((a * b - low) / 4294967296 + 0.5) >>> 0;
/** What a sum of three u32 has above 32 bits. */
const carries = (sum: number): number => (sum >= 8589934592 ? 2 : sum >= 4294967296 ? 1 : 0);

/** acc = (acc ^ (acc >> 47) ^ secret) × PRIME32_1 in each lane. */
function scramble(): void {
  for (let lane = 0; lane < 16; lane += 2) {
    const high = acc[lane + 1];
    const low = (acc[lane] ^ (high >>> 15) ^ SECRET_WORDS[SCRAMBLE_SECRET / 4 + lane]) >>> 0;
    const mixed = high ^ SECRET_WORDS[SCRAMBLE_SECRET / 4 + lane + 1];
    const productLow = Math.imul(low, PRIME32_1) >>> 0;
    acc[lane] = productLow;
    acc[lane + 1] = highHalf(low, PRIME32_1, productLow) + Math.imul(mixed, PRIME32_1);
  }
}
