/** Snappy frames (io/snappy.ts) as notes: type and length, checksum, compressed bytes. */
import { StateQueryError } from '../errors.js';
import { decodeSnappy, STREAM_HEADER } from '../io/snappy.js';
import type { ByteSource } from '../io/source.js';
import { hexText, type Note, unreadable } from './notes.js';

/** The frames in [start, end) of the source. What is no frame is one note to the end. */
export function* frameNotes(source: ByteSource, start: number, end: number): Generator<Note> {
  let at = start;
  while (at < end) {
    const offset = source.base + at;
    const head = end - at < 4 ? undefined : source.read(at, 4);
    const length = head === undefined ? -1 : head[1] | (head[2] << 8) | (head[3] << 16);
    if (head === undefined || length > end - at - 4) {
      yield { offset, length: end - at, field: 'no snappy frame', value: hexText(source.read(at, Math.min(65, end - at))) };
      return;
    }
    const type = head[0];
    if (type === 0xff) {
      const bytes = source.read(at, 4 + length);
      const right = STREAM_HEADER.equals(bytes);
      yield { offset, length: 4 + length, field: 'beginning of a stream of snappy frames', value: right ? 'sNaPpY' : hexText(bytes) };
    } else {
      yield { offset, length: 4, field: 'type and length of a snappy frame', value: `${type}, ${length} bytes` };
      if (type > 1 || length < 4) {
        if (length > 0) yield { offset: offset + 4, length, field: 'frame to be passed over', value: hexText(source.read(at + 4, length)) };
      } else {
        const body = source.read(at + 4, length);
        yield { offset: offset + 4, length: 4, field: 'masked CRC-32C', value: Buffer.from(body.subarray(0, 4)).reverse().toString('hex') };
        if (length > 4) yield bodyNote(type, body.subarray(4), offset + 8);
      }
    }
    at += 4 + length;
  }
}

function bodyNote(type: number, body: Uint8Array, offset: number): Note {
  if (type === 1) return { offset, length: body.length, field: 'bytes as they are', value: hexText(body) };
  try {
    return { offset, length: body.length, field: 'snappy block', value: `${decodeSnappy(body, 65536).length} bytes uncompressed` };
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return unreadable(offset, body.length, error);
  }
}
