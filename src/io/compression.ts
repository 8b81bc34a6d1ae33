/**
 * The codecs of compressed blocks under one name each. All of them decode synchronously, because scans run inside
 * synchronous callbacks; those that are optional packages are loaded when the first such block comes.
 *
 *   snappy   own (WebAssembly)                      bzip2   @openpgp/seek-bzip (optional)
 *   lz4      own                                   zstd    @bokuweb/zstd-wasm (optional)
 *   zlib     node:zlib
 */
import { CorruptError } from '../errors.js';
import { decodeBzip2 } from './bzip2.js';
import { decodeLz4, LZ4_MAX_RATIO } from './lz4.js';
import { decodeSnappy } from './snappy.js';
import { DEFLATE_MAX_RATIO, decodeDeflate } from './zlib.js';
import { decodeZstd } from './zstd.js';

export type BlockCodec = 'snappy' | 'lz4' | 'zlib' | 'bzip2' | 'zstd';

/** No block is longer: a value of a state backend ends long before. */
export const MAX_BLOCK = 1 << 29;

/**
 * The bytes of a compressed block.
 * @param length bytes it must give; undefined when nothing says it (zlib and bzip2 end by themselves)
 * @param dictionary what stands before the output (zlib, lz4, zstd)
 * @throws CorruptError (without an origin), UnsupportedError when the codec's package is not there
 */
export function decompress(codec: BlockCodec, block: Uint8Array, length: number | undefined, dictionary?: Uint8Array): Uint8Array {
  switch (codec) {
    case 'snappy':
      return decodeSnappy(block, MAX_BLOCK);
    case 'lz4':
      return decodeLz4(block, checked(length, LZ4_MAX_RATIO, block), dictionary);
    case 'zlib':
      return length === undefined
        ? decodeDeflate(block, Math.min(MAX_BLOCK, block.length * DEFLATE_MAX_RATIO), dictionary, false)
        : decodeDeflate(block, checked(length, DEFLATE_MAX_RATIO, block), dictionary);
    case 'bzip2':
      return length === undefined
        ? decodeBzip2(block, MAX_BLOCK, false)
        : decodeBzip2(block, checked(length, Number.POSITIVE_INFINITY, block));
    case 'zstd':
      return decodeZstd(block, checked(length, Number.POSITIVE_INFINITY, block), dictionary);
  }
}

/** Refuses lengths that no honest block has, before anything is allocated. */
function checked(length: number | undefined, maxRatio: number, block: Uint8Array): number {
  if (length === undefined) throw new CorruptError('block does not say its length');
  if (length > MAX_BLOCK || length > block.length * maxRatio + 64)
    throw new CorruptError(`block claims ${length} bytes out of ${block.length}`);
  return length;
}
