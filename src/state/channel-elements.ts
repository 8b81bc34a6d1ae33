/**
 * Stream elements in the data of a channel: their kinds and sizes, and where the first whole one begins.
 *
 *   i32 length · u8 kind · rest          kinds and their rest: channel.ts
 *
 * A result subpartition may begin inside an element whose beginning the receiver holds. What the receiver's input lacks then
 * says where the next one begins; otherwise the first position from which lengths and kinds chain on to the end is taken.
 */
import { type ByteStream, copyOf, Window } from '../io/window.js';

export type ChannelElementKind =
  | 'record'
  | 'watermark'
  | 'latency-marker'
  | 'watermark-status'
  | 'record-attributes'
  | 'internal-watermark'
  | 'continuation';

export const KINDS: readonly ChannelElementKind[] = [
  'record',
  'record',
  'watermark',
  'latency-marker',
  'watermark-status',
  'record-attributes',
  'internal-watermark',
];
/** bytes of an element with its kind; records: at least */
const SIZES: readonly number[] = [9, 1, 9, 29, 5, 2, 13];
const FIXED: readonly boolean[] = [false, false, true, true, true, true, true];

/** What a cut element of an input lacks: bytes, or, where not even its length and kind are there, the bytes that are. */
export type Lack = number | Uint8Array;

export function int(bytes: Uint8Array, at: number): number {
  return (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
}

export function plausible(length: number, kind: number): boolean {
  return kind < KINDS.length && (FIXED[kind] ? length === SIZES[kind] : length >= SIZES[kind]);
}

/** What the last element of an input channel lacks. */
export function lackOf(stream: ByteStream): Lack | undefined {
  const window = new Window();
  window.openStream(stream);
  try {
    while (window.has(5)) {
      const length = int(window.bytes, window.position);
      if (!plausible(length, window.bytes[window.position + 4])) return undefined;
      let left = 4 + length;
      while (left > 0 && window.has(1)) {
        const step = Math.min(left, window.end - window.position);
        window.position += step;
        left -= step;
      }
      if (left > 0) return left;
    }
    return window.end > window.position ? copyOf(window.bytes, window.position, window.end) : undefined;
  } finally {
    window.close();
  }
}

/** Elements looked at to tell whether a chain of them is one. */
const CHAIN = 64;

/**
 * Where the first element begins: where one that an input lacks ends, at the beginning, or at the first position from which
 * elements follow each other to the end of the data (or of the window, or CHAIN of them).
 * @returns the position relative to the window's; all that there is when there is no such position
 */
export function findBegin(window: Window, lacking: readonly Lack[]): number {
  window.has(1 << 18);
  const { bytes, position, end } = window;
  // whole elements from `begin` on; -1: something else stands there
  const chain = (begin: number): number => {
    let at = begin;
    let elements = 0;
    while (at + 5 <= end && elements < CHAIN) {
      const length = int(bytes, at);
      if (!plausible(length, bytes[at + 4])) return -1;
      if (at + 4 + length > end) break;
      at += 4 + length;
      elements++;
    }
    return elements;
  };
  let best = 0;
  let most = chain(position);
  for (const lack of lacking) {
    const length = typeof lack === 'number' ? lack : restOf(lack, bytes.subarray(position, position + 5));
    if (length <= 0 || position + length > end) continue;
    const elements = chain(position + length);
    if (elements > most) {
      most = elements;
      best = length;
    }
  }
  // one element that does not even end says little: a chain elsewhere says more
  if (most > 0) return best;
  for (let begin = position + 1; begin < end; begin++) if (chain(begin) > (most < 0 ? 0 : 1)) return begin - position;
  return most < 0 ? end - position : best;
}

/** How much of an element is in `after`'s data, when `before` (fewer than 5 bytes) is its beginning; -1: it is none. */
function restOf(before: Uint8Array, after: Uint8Array): number {
  const head = Buffer.concat([before, after]);
  if (head.length < 5 || !plausible(int(head, 0), head[4])) return -1;
  return 4 + int(head, 0) - before.length;
}
