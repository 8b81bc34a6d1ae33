/**
 * Raw Snappy blocks, decompressed by code of our own (wasm.ts): it gives what it is asked for into memory that is used again, and
 * copies eight bytes at a time.
 *
 *   block     varint uncompressed length · elements
 *   element   tag: low two bits
 *     0   literal of (tag >> 2) + 1 bytes; from 60 on that many minus 59 bytes follow with the length minus 1, little-endian
 *     1   copy of 4 + (tag >> 2 & 7) bytes, offset 11 bits: tag >> 5, then a byte
 *     2   copy of 1 + (tag >> 2) bytes, offset u16        3   the same, offset u32
 *
 *   memory    64: output, then at least 64 bytes that copies may run into, then input, and as much behind it
 *   f(from, end, to, toEnd)   0 when input and output end together, 1 when the block is damaged
 *
 * google/snappy format_description.txt.
 */
import {
  add32,
  and32,
  assemble,
  type Bytes,
  choose,
  copyMemory,
  equal,
  get,
  greater,
  I32,
  i32,
  instantiate,
  isZero,
  leave,
  less,
  load8,
  load16,
  load32,
  load64,
  loop,
  or32,
  reserve,
  set,
  shl32,
  shr32,
  store8,
  store64,
  sub32,
  type WasmCode,
  when,
} from './wasm.js';

const OUTPUT = 64;
const SLACK = 64;
/** what larger blocks need is not kept */
const KEPT = 1 << 24;

function body(): number[] {
  // locals: 0 from, 1 end, 2 to, 3 toEnd; 4 tag, 5 length, 6 offset, 7 more, 8 first output
  const [from, end, to, toEnd, tag, length, offset, more, first] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const damaged = leave(i32(1));
  const left = sub32(get(end), get(from));
  const room = sub32(get(toEnd), get(to));
  const upper = shr32(get(tag), i32(2));
  const step = (local: number, by: Bytes) => set(local, add32(get(local), by));
  const literal = [
    ...set(length, add32(upper, i32(1))),
    ...when(greater(get(length), i32(60)), [
      ...set(more, sub32(get(length), i32(60))),
      ...when(less(left, get(more)), damaged),
      // bytes behind the length are cut off
      ...set(length, and32(load32(get(from), 0), shr32(i32(-1), sub32(i32(32), shl32(get(more), i32(3)))))),
      ...when(equal(get(length), i32(-1)), damaged),
      ...set(length, add32(get(length), i32(1))),
      ...step(from, get(more)),
    ]),
    ...when(or32(less(left, get(length)), less(room, get(length))), damaged),
    ...choose(
      less(get(length), i32(17)),
      [...store64(get(to), load64(get(from), 0)), ...store64(get(to), load64(get(from), 8), 8)],
      copyMemory(get(to), get(from), get(length)),
    ),
    ...step(from, get(length)),
    ...step(to, get(length)),
  ];
  const short = [
    ...when(less(left, i32(1)), damaged),
    ...set(length, add32(and32(upper, i32(7)), i32(4))),
    ...set(offset, or32(shl32(shr32(get(tag), i32(5)), i32(8)), load8(get(from)))),
    ...step(from, i32(1)),
  ];
  const long = (width: number, load: Bytes) => [
    ...when(less(left, i32(width)), damaged),
    ...set(length, add32(upper, i32(1))),
    ...set(offset, load),
    ...step(from, i32(width)),
  ];
  const kind = and32(get(tag), i32(3));
  const copy = [
    ...choose(equal(kind, i32(1)), short, choose(equal(kind, i32(2)), long(2, load16(get(from))), long(4, load32(get(from), 0)))),
    ...when(or32(less(sub32(get(to), get(first)), get(offset)), or32(isZero(get(offset)), less(room, get(length)))), damaged),
    ...set(more, add32(get(to), get(length))),
    ...choose(
      less(get(offset), i32(8)),
      loop(equal(get(to), get(more)), [...store8(get(to), load8(sub32(get(to), get(offset)))), ...step(to, i32(1))]),
      [
        ...store64(get(to), load64(sub32(get(to), get(offset)), 0)),
        ...step(to, i32(8)),
        ...loop(isZero(less(get(to), get(more))), [...store64(get(to), load64(sub32(get(to), get(offset)), 0)), ...step(to, i32(8))]),
        ...set(to, get(more)),
      ],
    ),
  ];
  return [
    ...set(first, get(to)),
    ...loop(isZero(less(get(from), get(end))), [
      ...set(tag, load8(get(from))),
      ...step(from, i32(1)),
      ...choose(isZero(kind), literal, copy),
    ]),
    ...isZero(equal(get(to), get(toEnd))),
  ];
}

let module: Uint8Array | undefined;
let kept: WasmCode | undefined;
let memory: Uint8Array = new Uint8Array(0);

/**
 * Decompresses the elements block[start, end) into target[at, at + length).
 * @returns false when they do not give exactly `length` bytes
 */
export function uncompressInto(block: Uint8Array, start: number, end: number, target: Uint8Array, at: number, length: number): boolean {
  const input = OUTPUT + length + SLACK;
  const size = input + (end - start) + SLACK;
  module ??= assemble(4, [[5, I32]], body());
  const code = size > KEPT ? instantiate(module) : (kept ??= instantiate(module));
  if (code === undefined) throw new Error('this environment has no WebAssembly, which snappy blocks need');
  const buffer = reserve(code, size);
  if (memory.buffer !== buffer) memory = new Uint8Array(buffer);
  memory.set(block.subarray(start, end), input);
  if (code.f(input, input + (end - start), OUTPUT, OUTPUT + length) !== 0) return false;
  target.set(memory.subarray(OUTPUT, OUTPUT + length), at);
  return true;
}
