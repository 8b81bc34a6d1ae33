/**
 * XXH3 (its long form) and CRC-32C as WebAssembly, which has the 64-bit products that JavaScript lacks: what every block of a large
 * scan goes through. The modules are put together here, instruction by instruction, from the constants of xxh3.ts and crc32c.ts,
 * which stay in use for short inputs and few calls, and where no module can be made.
 *
 *   memory   0: XXH3's secret (192 bytes) · 1024: CRC tables, 8 × 256 u32 · 16384: input
 *   f(p, n)        XXH3: low 32 bits of XXH3_64bits of n > 240 bytes at p
 *   f(p, n, crc)   CRC-32C, n a multiple of 8; start value and result inverted
 */

import {
  add32,
  add64,
  and32,
  and64,
  assemble,
  type Bytes,
  get,
  I32,
  I64,
  i32,
  i64,
  instantiate,
  isZero,
  load32,
  load64,
  loop,
  mul64,
  reserve,
  set,
  shl32,
  shr32,
  shr64,
  sub32,
  type WasmCode,
  when,
  xor32,
  xor64,
} from './wasm.js';

const INPUT = 16384;
const TABLES = 1024;
/** longer inputs are left to JavaScript */
const MAX_INPUT = 1 << 24;
/** so many calls are made before the module pays */
const CALLS = 64;

export interface Xxh3Constants {
  readonly secret: Uint8Array;
  /** the initial accumulators */
  readonly initial: readonly bigint[];
  readonly prime32: bigint;
  readonly prime64: bigint;
  readonly mixer: bigint;
}

const LOW = i64(0xffffffffn);
const high = (a: Bytes): number[] => shr64(a, i64(32n));
const low = (a: Bytes): number[] => and64(a, LOW);

function xxh3Body({ secret, initial, prime32, prime64, mixer }: Xxh3Constants): number[] {
  // locals: 0 p, 1 n, 2 stripes left, 3 stripe of the block, 4 end of the input; 5 data, 6 key, 7 sum, 8 a, 9 b; 10… accumulators
  const [p, n, left, inBlock, end, data, key, sum, a, b, acc] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const secretAt = (at: number) => new DataView(secret.buffer, secret.byteOffset).getBigUint64(at, true);
  const stripe = (at: Bytes, secretBase: Bytes, offset: number): number[] =>
    Array.from({ length: 8 }, (_, i) => [
      ...set(data, load64(at, 8 * i)),
      ...set(key, xor64(get(data), load64(secretBase, offset + 8 * i))),
      ...set(acc + (i ^ 1), add64(get(acc + (i ^ 1)), get(data))),
      ...set(acc + i, add64(get(acc + i), mul64(low(get(key)), high(get(key))))),
    ]).flat();
  const scramble = Array.from({ length: 8 }, (_, i) => {
    const mixed = xor64(xor64(get(acc + i), shr64(get(acc + i), i64(47n))), i64(secretAt(128 + 8 * i)));
    return set(acc + i, mul64(mixed, i64(prime32)));
  }).flat();
  /** both halves of the 128-bit product of locals a and b, xored */
  const fold = (): number[] => {
    const cross = add64(
      add64(high(mul64(low(get(a)), low(get(b)))), low(mul64(high(get(a)), low(get(b))))),
      mul64(low(get(a)), high(get(b))),
    );
    const upper = add64(add64(high(mul64(high(get(a)), low(get(b)))), mul64(high(get(a)), high(get(b)))), high(get(data)));
    return [...set(data, cross), ...xor64(upper, mul64(get(a), get(b)))];
  };
  return [
    ...initial.flatMap((value, i) => set(acc + i, i64(value))),
    ...set(end, add32(get(p), get(n))),
    ...set(left, shr32(sub32(get(n), i32(1)), i32(6))),
    ...loop(isZero(get(left)), [
      ...stripe(get(p), shl32(get(inBlock), i32(3)), 0),
      ...set(p, add32(get(p), i32(64))),
      ...set(left, sub32(get(left), i32(1))),
      ...set(inBlock, and32(add32(get(inBlock), i32(1)), i32(15))),
      ...when(isZero(get(inBlock)), scramble),
    ]),
    ...set(p, sub32(get(end), i32(64))),
    ...stripe(get(p), i32(0), 121),
    ...set(sum, mul64([...get(n), 0xad], i64(prime64))),
    ...Array.from({ length: 4 }, (_, i) => [
      ...set(a, xor64(get(acc + 2 * i), i64(secretAt(11 + 16 * i)))),
      ...set(b, xor64(get(acc + 2 * i + 1), i64(secretAt(11 + 16 * i + 8)))),
      ...set(sum, add64(get(sum), fold())),
    ]).flat(),
    ...set(sum, mul64(xor64(get(sum), shr64(get(sum), i64(37n))), i64(mixer))),
    ...xor64(get(sum), shr64(get(sum), i64(32n))),
    // i32.wrap_i64
    0xa7,
  ];
}

function crcBody(): number[] {
  // locals: 0 p, 1 n, 2 crc; 3 low word, 4 high word
  const [p, n, crc, first, second] = [0, 1, 2, 3, 4];
  const entry = (table: number, word: number, shift: number): number[] => {
    const shifted = shift === 0 ? shl32(and32(get(word), i32(255)), i32(2)) : and32(shr32(get(word), i32(shift - 2)), i32(1020));
    return load32(shifted, TABLES + 1024 * table);
  };
  const entries = [0, 8, 16, 24].flatMap((shift, i) => [entry(7 - i, first, shift), entry(3 - i, second, shift)]);
  return [
    ...loop(isZero(get(n)), [
      ...set(first, xor32(get(crc), load32(get(p), 0))),
      ...set(second, load32(get(p), 4)),
      ...set(crc, entries.reduce(xor32)),
      ...set(p, add32(get(p), i32(8))),
      ...set(n, sub32(get(n), i32(8))),
    ]),
    ...get(crc),
  ];
}

/** A checksum's code, made when it has been asked for often enough. */
class FastChecksum {
  private calls = 0;
  private code: WasmCode | undefined;
  private input: Uint8Array = new Uint8Array(0);

  /**
   * @param make the module
   * @param data what stands in its memory, and where
   */
  constructor(
    private readonly make: () => Uint8Array,
    private readonly data: Uint8Array,
    private readonly at: number,
  ) {}

  /** Calls the code for bytes[start, end), with `more` behind address and length. @returns undefined when JavaScript is to do it */
  call(bytes: Uint8Array, start: number, end: number, more = 0): number | undefined {
    if (this.code === undefined && (++this.calls < CALLS || !this.instantiate())) return undefined;
    const { code } = this;
    if (code === undefined || end - start > MAX_INPUT) return undefined;
    const memory = reserve(code, INPUT + (end - start));
    if (this.input.buffer !== memory) this.input = new Uint8Array(memory);
    this.input.set(bytes.subarray(start, end), INPUT);
    return code.f(INPUT, end - start, more);
  }

  private instantiate(): boolean {
    this.code = instantiate(this.make());
    if (this.code === undefined) this.calls = Number.NEGATIVE_INFINITY;
    else new Uint8Array(this.code.memory.buffer).set(this.data, this.at);
    return this.code !== undefined;
  }
}

/** Low 32 bits of XXH3_64bits of more than 240 bytes, as u32; undefined: not done here. */
export function fastXxh3(constants: Xxh3Constants): (bytes: Uint8Array, start: number, end: number) => number | undefined {
  const locals = [
    [3, I32],
    [13, I64],
  ] as const;
  const fast = new FastChecksum(() => assemble(2, locals, xxh3Body(constants)), constants.secret, 0);
  return (bytes, start, end) => {
    const low = fast.call(bytes, start, end);
    return low === undefined ? undefined : low >>> 0;
  };
}

/** The inverted CRC after bytes[start, end), a multiple of 8 of them, from the inverted one before; undefined: not done here. */
export function fastCrc32c(tables: Int32Array): (bytes: Uint8Array, start: number, end: number, crc: number) => number | undefined {
  const data = new Uint8Array(tables.buffer, tables.byteOffset, tables.byteLength);
  const fast = new FastChecksum(() => assemble(3, [[2, I32]], crcBody()), data, TABLES);
  return (bytes, start, end, crc) => fast.call(bytes, start, end, crc);
}
