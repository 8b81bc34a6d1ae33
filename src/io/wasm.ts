/**
 * Small WebAssembly modules, put together in memory: one function `f` of i32 parameters with an i32 result, and the memory that it
 * works on. Each helper gives the bytes of an instruction with its operands in front, so that code reads like expressions.
 *
 * WebAssembly core specification 1.0, section 5 (binary format); memory.copy of the bulk memory instructions.
 */

export type Bytes = readonly number[];

export const I32 = 0x7f;
export const I64 = 0x7e;
const EMPTY = 0x40;

function unsigned(n: number): number[] {
  const out: number[] = [];
  for (let left = n; ; left >>>= 7) {
    if (left < 128) return [...out, left];
    out.push((left & 127) | 128);
  }
}
function signed(n: bigint): number[] {
  const out: number[] = [];
  for (let left = n; ; left >>= 7n) {
    const low = Number(left & 127n);
    const rest = left >> 7n;
    if ((rest === 0n && low < 64) || (rest === -1n && low >= 64)) return [...out, low];
    out.push(low | 128);
  }
}
const sized = (bytes: Bytes): number[] => [...unsigned(bytes.length), ...bytes];
const list = (items: readonly Bytes[]): number[] => [...unsigned(items.length), ...items.flat()];
const section = (id: number, items: readonly Bytes[]): number[] => [id, ...sized(list(items))];

// instructions
export const get = (local: number): number[] => [0x20, ...unsigned(local)];
export const set = (local: number, ...value: Bytes[]): number[] => [...value.flat(), 0x21, ...unsigned(local)];
export const i32 = (n: number): number[] => [0x41, ...signed(BigInt(n))];
export const i64 = (n: bigint): number[] => [0x42, ...signed(BigInt.asIntN(64, n))];
const operation =
  (code: number) =>
  (a: Bytes, b: Bytes): number[] => [...a, ...b, code];
export const add32 = operation(0x6a);
export const sub32 = operation(0x6b);
export const and32 = operation(0x71);
export const xor32 = operation(0x73);
export const shl32 = operation(0x74);
export const shr32 = operation(0x76);
export const add64 = operation(0x7c);
export const mul64 = operation(0x7e);
export const and64 = operation(0x83);
export const xor64 = operation(0x85);
export const shr64 = operation(0x88);
export const load32 = (at: Bytes, offset: number): number[] => [...at, 0x28, 0, ...unsigned(offset)];
export const load64 = (at: Bytes, offset: number): number[] => [...at, 0x29, 0, ...unsigned(offset)];
export const isZero = (a: Bytes): number[] => [...a, 0x45];
export const or32 = operation(0x72);
export const equal = operation(0x46);
export const less = operation(0x49);
export const greater = operation(0x4b);
export const load8 = (at: Bytes, offset = 0): number[] => [...at, 0x2d, 0, ...unsigned(offset)];
export const load16 = (at: Bytes, offset = 0): number[] => [...at, 0x2f, 0, ...unsigned(offset)];
export const store8 = (at: Bytes, value: Bytes): number[] => [...at, ...value, 0x3a, 0, 0];
export const store64 = (at: Bytes, value: Bytes, offset = 0): number[] => [...at, ...value, 0x37, 0, ...unsigned(offset)];
export const copyMemory = (to: Bytes, from: Bytes, length: Bytes): number[] => [...to, ...from, ...length, 0xfc, 0x0a, 0, 0];
export const choose = (condition: Bytes, yes: Bytes, no: Bytes): number[] => [...condition, 0x04, EMPTY, ...yes, 0x05, ...no, 0x0b];
export const leave = (value: Bytes): number[] => [...value, 0x0f];
/** block { loop { leave when `done` · body · again } } */
export const loop = (done: Bytes, body: Bytes): number[] => [0x02, EMPTY, 0x03, EMPTY, ...done, 0x0d, 1, ...body, 0x0c, 0, 0x0b, 0x0b];
export const when = (condition: Bytes, body: Bytes): number[] => [...condition, 0x04, EMPTY, ...body, 0x0b];

/** A module with one function `f` of `parameters` i32 that gives an i32, and its memory. */
export function assemble(parameters: number, locals: readonly (readonly [count: number, type: number])[], code: Bytes): Uint8Array {
  const name = (text: string): number[] => sized([...Buffer.from(text)]);
  const body = sized([...list(locals.map(([count, type]) => [...unsigned(count), type])), ...code, 0x0b]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [[0x60, ...list(Array.from({ length: parameters }, () => [I32])), ...list([[I32]])]]),
    ...section(3, [[0]]),
    ...section(5, [[0, 2]]),
    ...section(7, [
      [...name('memory'), 2, 0],
      [...name('f'), 0, 0],
    ]),
    ...section(10, [body]),
  ]);
}

export interface WasmCode {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  f(...parameters: number[]): number;
}

/** The code of a module; undefined where none can be made. */
export function instantiate(module: Uint8Array): WasmCode | undefined {
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(module), {}).exports as unknown as WasmCode;
  } catch {
    return undefined;
  }
}

/** The memory, with room for `size` bytes. */
export function reserve(code: WasmCode, size: number): ArrayBuffer {
  const missing = size - code.memory.buffer.byteLength;
  if (missing > 0) code.memory.grow(Math.ceil(missing / PAGE));
  return code.memory.buffer;
}
const PAGE = 65536;
