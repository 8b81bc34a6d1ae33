/**
 * LZ4 raw blocks (LZ4 block format, 1.9), with an optional dictionary. No package decodes raw blocks with a dictionary
 * without a native build, and the format is this small:
 *
 *   token u8: high nibble literals, low nibble match length - 4 · [more literals: 255 … <255] · literals
 *   · u16 little-endian distance · [more match length: 255 … <255]
 *
 * The last sequence ends after its literals. A distance may reach back into the dictionary, which stands before the output.
 */
import { CorruptError } from '../errors.js';

/** One byte of match length gives at most 255 bytes. */
export const LZ4_MAX_RATIO = 255;

/**
 * The bytes of a raw block.
 * @param length bytes it must give
 * @throws CorruptError (without an origin)
 */
export function decodeLz4(block: Uint8Array, length: number, dictionary?: Uint8Array): Uint8Array {
  const out = new Uint8Array(length);
  const inEnd = block.length;
  let p = 0;
  let at = 0;
  while (p < inEnd) {
    const token = block[p++];
    let literals = token >> 4;
    if (literals === 15) {
      let more = 255;
      while (more === 255) {
        if (p >= inEnd) fail('length is cut off', p);
        literals += more = block[p++];
      }
    }
    if (literals > inEnd - p) fail(`${literals} literals, ${inEnd - p} bytes remain`, p);
    if (literals > length - at) fail(`more than ${length} bytes come out`, p);
    if (literals > 24) {
      out.set(block.subarray(p, p + literals), at);
      p += literals;
      at += literals;
    } else for (const end = p + literals; p < end; ) out[at++] = block[p++];
    if (p === inEnd) break;

    if (inEnd - p < 2) fail('distance is cut off', p);
    const distance = block[p] | (block[p + 1] << 8);
    p += 2;
    let match = (token & 15) + 4;
    if (match === 19) {
      let more = 255;
      while (more === 255) {
        if (p >= inEnd) fail('length is cut off', p);
        match += more = block[p++];
      }
    }
    if (match > length - at) fail(`more than ${length} bytes come out`, p);
    if (distance === 0) fail('distance is 0', p);
    let from = at - distance;
    if (from < 0) {
      const back = dictionary === undefined ? -1 : dictionary.length + from;
      if (dictionary === undefined || back < 0) return fail(`distance ${distance} reaches back behind the start`, p);
      const inDictionary = Math.min(match, -from);
      out.set(dictionary.subarray(back, back + inDictionary), at);
      at += inDictionary;
      match -= inDictionary;
      from = 0;
    }
    if (match > 24 && distance >= match) {
      out.copyWithin(at, from, from + match);
      at += match;
    } else for (const end = at + match; at < end; ) out[at++] = out[from++];
  }
  if (at !== length) fail(`${at} bytes come out, ${length} expected`, p);
  return out;
}

function fail(what: string, at: number): never {
  throw new CorruptError(`LZ4 block: ${what}, at its byte ${at}`);
}
