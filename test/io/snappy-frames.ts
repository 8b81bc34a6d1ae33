/** Writes snappy frames, for tests. */
import { snappyCompress } from 'hysnappy';
import { crc32c, maskCrc32c } from '../../src/io/crc32c.js';

export const HEADER = Buffer.from('ff060000734e61507059', 'hex');

/** One chunk: type 0 compressed, 1 as it is. */
export function frame(type: 0 | 1, data: Uint8Array, crc = maskCrc32c(crc32c(data))): Buffer {
  const body = type === 0 ? snappyCompress(data) : data;
  const head = Buffer.alloc(8);
  head.writeUInt32LE(((body.length + 4) << 8) | type, 0);
  head.writeUInt32LE(crc, 4);
  return Buffer.concat([head, body]);
}

/** A whole stream of chunks of at most 64 KiB. */
export function framed(data: Uint8Array): Buffer {
  const parts: Uint8Array[] = [HEADER];
  for (let at = 0; at < data.length; at += 65536) parts.push(frame(0, data.subarray(at, at + 65536)));
  return Buffer.concat(parts);
}
