/**
 * MurmurHash3 x64 128, seed 0, forwards and backwards. The digest is h1, h2, each little-endian, as Guava's HashCode.asBytes() gives it.
 *
 *   block of 16 bytes (k1, k2 little-endian):   h1 ^= mix1(k1); h1 = (rotl(h1, 27) + h2)·5 + 0x52dce729
 *                                               h2 ^= mix2(k2); h2 = (rotl(h2, 31) + h1)·5 + 0x38495ab5
 *   rest of 0–15 bytes, zero-padded:            h1 ^= mix1(k1); h2 ^= mix2(k2)
 *   end:                                        h1 ^= n; h2 ^= n; h1 += h2; h2 += h1; fmix both; h1 += h2; h2 += h1
 *
 * Every step can be undone. So 16 bytes of the input follow from the digest when its length and all other bytes are known: that is how
 * a uid is found without trying all of them.
 *
 * 64-bit words are two 32-bit ints (high, low): a BigInt would make this some fifty times slower.
 */

/** h1 high, h1 low, h2 high, h2 low. */
export type MurmurState = Int32Array;

// results of the 64-bit operations below
let high = 0;
let low = 0;

function multiply(ah: number, al: number, bh: number, bl: number): void {
  const a0 = al & 0xffff;
  const a1 = al >>> 16;
  const b0 = bl & 0xffff;
  const b1 = bl >>> 16;
  const p00 = a0 * b0;
  const middle = a1 * b0 + (p00 >>> 16);
  const other = a0 * b1 + (middle & 0xffff);
  high = (a1 * b1 + (middle >>> 16) + (other >>> 16) + Math.imul(ah, bl) + Math.imul(al, bh)) | 0;
  low = Math.imul(al, bl);
}

function add(ah: number, al: number, bh: number, bl: number): void {
  const sum = (al >>> 0) + (bl >>> 0);
  low = sum | 0;
  high = (ah + bh + (sum > 0xffffffff ? 1 : 0)) | 0;
}

function subtract(ah: number, al: number, bh: number, bl: number): void {
  const difference = (al >>> 0) - (bl >>> 0);
  low = difference | 0;
  high = (ah - bh - (difference < 0 ? 1 : 0)) | 0;
}

function rotateLeft(h: number, l: number, by: number): void {
  if (by < 32) {
    high = (h << by) | (l >>> (32 - by));
    low = (l << by) | (h >>> (32 - by));
  } else if (by === 32) {
    high = l;
    low = h;
  } else {
    high = (l << (by - 32)) | (h >>> (64 - by));
    low = (h << (by - 32)) | (l >>> (64 - by));
  }
}

interface Word {
  readonly high: number;
  readonly low: number;
}
const word = (value: bigint): Word => ({ high: Number(BigInt.asIntN(32, value >> 32n)), low: Number(BigInt.asIntN(32, value)) });
/** The inverse of an odd number modulo 2^64, by Newton's iteration. */
function inverse(value: bigint): Word {
  let x = value;
  for (let i = 0; i < 6; i++) x = BigInt.asUintN(64, x * (2n - value * x));
  return word(x);
}
const C1 = word(0x87c37b91114253d5n);
const C2 = word(0x4cf5ad432745937fn);
const C1_INVERSE = inverse(0x87c37b91114253d5n);
const C2_INVERSE = inverse(0x4cf5ad432745937fn);
const F1 = word(0xff51afd7ed558ccdn);
const F2 = word(0xc4ceb9fe1a85ec53n);
const F1_INVERSE = inverse(0xff51afd7ed558ccdn);
const F2_INVERSE = inverse(0xc4ceb9fe1a85ec53n);
const FIVE_INVERSE = inverse(5n);

function mixFirst(h: number, l: number): void {
  multiply(h, l, C1.high, C1.low);
  rotateLeft(high, low, 31);
  multiply(high, low, C2.high, C2.low);
}
function unmixFirst(h: number, l: number): void {
  multiply(h, l, C2_INVERSE.high, C2_INVERSE.low);
  rotateLeft(high, low, 33);
  multiply(high, low, C1_INVERSE.high, C1_INVERSE.low);
}
function mixSecond(h: number, l: number): void {
  multiply(h, l, C2.high, C2.low);
  rotateLeft(high, low, 33);
  multiply(high, low, C1.high, C1.low);
}
function unmixSecond(h: number, l: number): void {
  multiply(h, l, C1_INVERSE.high, C1_INVERSE.low);
  rotateLeft(high, low, 31);
  multiply(high, low, C2_INVERSE.high, C2_INVERSE.low);
}

/** x ^= x >>> 33 is its own inverse: only the low half changes, by the high half shifted once. */
function finalMix(h: number, l: number, f1: Word, f2: Word): void {
  multiply(h, l ^ (h >>> 1), f1.high, f1.low);
  multiply(high, low ^ (high >>> 1), f2.high, f2.low);
  low ^= high >>> 1;
}

/** The little-endian word at `at`; bytes from `end` on are zero. */
function loadWord(bytes: Uint8Array, at: number, end: number): void {
  let h = 0;
  let l = 0;
  for (let i = 0; i < 4; i++) {
    if (at + i < end) l |= bytes[at + i] << (8 * i);
    if (at + 4 + i < end) h |= bytes[at + 4 + i] << (8 * i);
  }
  high = h;
  low = l;
}

/** Takes in the block at `at` (of which bytes from `end` on are zero), in place. `whole`: 16 bytes, not the rest at the end. */
export function absorbBlock(state: MurmurState, bytes: Uint8Array, at: number, end: number, whole: boolean): void {
  loadWord(bytes, at, end);
  mixFirst(high, low);
  state[0] ^= high;
  state[1] ^= low;
  if (whole) {
    rotateLeft(state[0], state[1], 27);
    add(high, low, state[2], state[3]);
    multiply(high, low, 0, 5);
    add(high, low, 0, 0x52dce729);
    state[0] = high;
    state[1] = low;
  }
  loadWord(bytes, at + 8, end);
  mixSecond(high, low);
  state[2] ^= high;
  state[3] ^= low;
  if (whole) {
    rotateLeft(state[2], state[3], 31);
    add(high, low, state[0], state[1]);
    multiply(high, low, 0, 5);
    add(high, low, 0, 0x38495ab5);
    state[2] = high;
    state[3] = low;
  }
}

/** Undoes the rotations and sums of a whole block in place: what is left differs from the state before by mix1(k1), mix2(k2) alone. */
function undoBlockStep(state: MurmurState): void {
  subtract(state[2], state[3], 0, 0x38495ab5);
  multiply(high, low, FIVE_INVERSE.high, FIVE_INVERSE.low);
  subtract(high, low, state[0], state[1]);
  rotateLeft(high, low, 33);
  const secondHigh = high;
  const secondLow = low;
  subtract(state[0], state[1], 0, 0x52dce729);
  multiply(high, low, FIVE_INVERSE.high, FIVE_INVERSE.low);
  // the first half was summed with the second before that changed: its value then is not known here, see releaseBlock
  state[0] = high;
  state[1] = low;
  state[2] = secondHigh;
  state[3] = secondLow;
}

/** Undoes absorbBlock in place, with the same bytes. */
export function releaseBlock(state: MurmurState, bytes: Uint8Array, at: number, end: number, whole: boolean): void {
  if (whole) undoBlockStep(state);
  loadWord(bytes, at + 8, end);
  mixSecond(high, low);
  state[2] ^= high;
  state[3] ^= low;
  if (whole) {
    subtract(state[0], state[1], state[2], state[3]);
    rotateLeft(high, low, 37);
    state[0] = high;
    state[1] = low;
  }
  loadWord(bytes, at, end);
  mixFirst(high, low);
  state[0] ^= high;
  state[1] ^= low;
}

/** The 16 bytes that lead from one state to the other. `after` is left as it was. */
export function solveBlock(before: MurmurState, after: MurmurState, whole: boolean, out: Uint8Array): void {
  const state = SCRATCH;
  state.set(after);
  if (whole) {
    undoBlockStep(state);
    subtract(state[0], state[1], before[2], before[3]);
    rotateLeft(high, low, 37);
    state[0] = high;
    state[1] = low;
  }
  unmixFirst(state[0] ^ before[0], state[1] ^ before[1]);
  storeWord(out, 0);
  unmixSecond(state[2] ^ before[2], state[3] ^ before[3]);
  storeWord(out, 8);
}
const SCRATCH: MurmurState = new Int32Array(4);

function storeWord(out: Uint8Array, at: number): void {
  for (let i = 0; i < 4; i++) {
    out[at + i] = low >>> (8 * i);
    out[at + 4 + i] = high >>> (8 * i);
  }
}

/** The end of the hash: state after all input of `length` bytes to digest. */
export function finish(state: MurmurState, length: number): Uint8Array {
  let [ah, al, bh, bl] = state;
  al ^= length;
  bl ^= length;
  add(ah, al, bh, bl);
  [ah, al] = [high, low];
  add(bh, bl, ah, al);
  [bh, bl] = [high, low];
  finalMix(ah, al, F1, F2);
  [ah, al] = [high, low];
  finalMix(bh, bl, F1, F2);
  [bh, bl] = [high, low];
  add(ah, al, bh, bl);
  [ah, al] = [high, low];
  const digest = new Uint8Array(16);
  storeWord(digest, 0);
  add(bh, bl, ah, al);
  storeWord(digest, 8);
  return digest;
}

/** The state after all input, from a digest and the length of the input. */
export function unfinish(digest: Uint8Array, length: number): MurmurState {
  loadWord(digest, 0, 16);
  let [ah, al] = [high, low];
  loadWord(digest, 8, 16);
  subtract(high, low, ah, al);
  let [bh, bl] = [high, low];
  subtract(ah, al, bh, bl);
  finalMix(high, low, F2_INVERSE, F1_INVERSE);
  [ah, al] = [high, low];
  finalMix(bh, bl, F2_INVERSE, F1_INVERSE);
  subtract(high, low, ah, al);
  [bh, bl] = [high, low];
  subtract(ah, al, bh, bl);
  return Int32Array.of(high, low ^ length, bh, bl ^ length);
}

/** MurmurHash3 x64 128 of the bytes, seed 0. */
export function murmur3(bytes: Uint8Array): Uint8Array {
  const state: MurmurState = new Int32Array(4);
  let at = 0;
  for (; at + 16 <= bytes.length; at += 16) absorbBlock(state, bytes, at, bytes.length, true);
  if (at < bytes.length) absorbBlock(state, bytes, at, bytes.length, false);
  return finish(state, bytes.length);
}
