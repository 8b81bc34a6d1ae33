/**
 * Zstandard frames (RFC 8878), with an optional dictionary, raw or trained, through the optional package `@bokuweb/zstd-wasm`
 * (libzstd as WebAssembly).
 *
 *   0xFD2FB528 little-endian · u8 descriptor · [u8 window] · [0 1 2 4 bytes dictionary id] · [0 1 2 4 8 bytes content size] · blocks
 *     descriptor: bits 7-6 size of the content size · bit 5 single segment (no window) · bits 1-0 size of the dictionary id
 *
 * The package allocates what the frame says it holds, so that is read and checked here first.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CorruptError, UnsupportedError } from '../errors.js';

const PACKAGE = '@bokuweb/zstd-wasm@0.0.27';
const MAGIC = 0xfd2fb528;

type Zstd = typeof import('@bokuweb/zstd-wasm');
let zstd: Zstd | undefined;
let context: number | undefined;

/**
 * Loads the package when the first zstd block comes. Synchronously: blocks are decoded inside synchronous callbacks, and the
 * package's own init() waits for a promise, so its module is instantiated here through the hook that its loader has.
 */
function loadZstd(): Zstd {
  if (zstd !== undefined) return zstd;
  try {
    const require = createRequire(import.meta.url);
    const directory = dirname(require.resolve('@bokuweb/zstd-wasm'));
    const { Module } = require(join(directory, 'module.js')) as { Module: WasmModule };
    const wasm = new WebAssembly.Module(readFileSync(join(directory, 'zstd.wasm')));
    Module.instantiateWasm = (imports, receive) => {
      const instance = new WebAssembly.Instance(wasm, imports);
      receive(instance);
      return instance.exports;
    };
    Module.init(new Uint8Array(0));
    zstd = require('@bokuweb/zstd-wasm') as Zstd;
  } catch (cause) {
    throw new UnsupportedError('zstd needs a package that is not installed', { hint: `npm install ${PACKAGE}`, cause });
  }
  return zstd;
}

/** The loader of the package's WebAssembly module. */
interface WasmModule {
  instantiateWasm(imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void): WebAssembly.Exports;
  init(bytes: Uint8Array): void;
}

/**
 * The bytes of one frame.
 * @param length bytes it must give
 * @throws CorruptError (without an origin), UnsupportedError when the package is not there
 */
export function decodeZstd(block: Uint8Array, length: number, dictionary?: Uint8Array): Uint8Array {
  const zstd = loadZstd();
  const claimed = contentSize(block);
  if (claimed !== undefined && claimed !== length)
    throw new CorruptError(`zstd block: its frame holds ${claimed} bytes, ${length} expected`);
  let out: Uint8Array;
  try {
    if (dictionary === undefined) out = zstd.decompress(block, { defaultHeapSize: length });
    else {
      context ??= zstd.createDCtx();
      out = zstd.decompressUsingDict(context, block, dictionary, { defaultHeapSize: length });
    }
  } catch (cause) {
    throw new CorruptError('zstd block cannot be decompressed', { cause });
  }
  if (out.length !== length) throw new CorruptError(`zstd block: ${out.length} bytes come out, ${length} expected`);
  return out;
}

/** What the frame header says of the size of the content; undefined when it says nothing. */
function contentSize(block: Uint8Array): number | undefined {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  if (block.length < 6 || view.getUint32(0, true) !== MAGIC) throw new CorruptError('zstd block: not a zstd frame');
  const descriptor = block[4];
  const singleSegment = (descriptor & 0x20) !== 0;
  const at = 5 + (singleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  const width = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6];
  if (at + width > block.length) throw new CorruptError('zstd block: the frame header is cut off');
  switch (width) {
    case 0:
      return undefined;
    case 1:
      return block[at];
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}
