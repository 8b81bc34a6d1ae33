/** Raw deflate (RFC 1951), with an optional dictionary that stands before the output. Node's own zlib. */
import { inflateRawSync } from 'node:zlib';
import { CorruptError } from '../errors.js';

/** RFC 1951: one symbol of two bits gives at most 258 bytes. */
export const DEFLATE_MAX_RATIO = 1032;

/**
 * The bytes of a raw deflate stream.
 * @param length bytes it must give, or the most that it may when `exact` is false
 * @throws CorruptError (without an origin)
 */
export function decodeDeflate(block: Uint8Array, length: number, dictionary?: Uint8Array, exact = true): Uint8Array {
  let out: Uint8Array;
  try {
    out = inflateRawSync(block, { maxOutputLength: Math.max(1, length), ...(dictionary === undefined ? {} : { dictionary }) });
  } catch (cause) {
    throw new CorruptError(`zlib block: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (exact && out.length !== length) throw new CorruptError(`zlib block: ${out.length} bytes come out, ${length} expected`);
  return out;
}
