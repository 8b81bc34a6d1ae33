/**
 * RocksDB's log format, in which MANIFEST files (and write-ahead logs) are written.
 *
 *   file = blocks of 32 KiB; a record never starts in the last 6 bytes of a block, which are zero
 *   u32 masked CRC-32C of type and payload · u16 length · u8 type · payload                      (little-endian)
 *     type 1 whole · 2 first · 3 middle · 4 last part · 5–8 the same with a u32 log number before the payload (recycled logs)
 *     · 0x80 set: may be skipped
 *
 * RocksDB takes zeros for space that was allocated and not written. A snapshot's files are cut to what was written, so zeros in
 * them are damage here.
 *
 * Mirrors db/log_format.h and db/log_reader.cc of RocksDB 8.10.
 */
import { CorruptError, type ErrorOrigin, UnsupportedError } from '../errors.js';
import { crc32c, maskCrc32c } from '../io/crc32c.js';
import { readU32 } from './internal-key.js';

const BLOCK = 32768;
const HEADER = 7;
const RECYCLABLE_HEADER = 11;
const IGNORABLE = 0x80;

export interface LogRecord {
  readonly payload: Uint8Array;
  /** where it begins in the file */
  readonly offset: number;
}

/**
 * The records of a log in order.
 * @param origin `offset` of it is ignored
 * @throws CorruptError for a record that is cut off or does not match its checksum
 */
export function* logRecords(bytes: Uint8Array, origin: ErrorOrigin, base = 0): Generator<LogRecord> {
  let parts: Uint8Array[] | undefined;
  let start = 0;
  for (let p = 0; p < bytes.length; ) {
    const left = BLOCK - (p % BLOCK);
    if (left < HEADER) {
      p += left;
      continue;
    }
    const fail = (message: string): never => {
      throw new CorruptError(message, { ...origin, offset: base + p });
    };
    if (bytes.length - p < HEADER) fail('log record is cut off');
    const length = bytes[p + 4] | (bytes[p + 5] << 8);
    let type = bytes[p + 6];
    const recycled = type >= 5 && type <= 8;
    const header = recycled ? RECYCLABLE_HEADER : HEADER;
    if (header + length > left || header + length > bytes.length - p) fail(`log record of ${length} bytes is cut off`);
    // a recycled record's checksum covers its log number as well
    if (maskCrc32c(crc32c(bytes, p + 6, p + header + length)) !== readU32(bytes, p)) fail('log record does not match its checksum');
    const payload = bytes.subarray(p + header, p + header + length);
    if (recycled) type -= 4;
    if (type === 0) fail('log record of type 0');
    if (type > 4) {
      if ((type & IGNORABLE) === 0) throw new UnsupportedError(`log record of type ${type}`, { ...origin, offset: base + p });
    } else if (type === 1 || type === 2) {
      if (parts !== undefined) fail('log record begins inside of another');
      if (type === 1) yield { payload, offset: base + p };
      else parts = [payload];
      start = base + p;
    } else {
      if (parts === undefined) return fail('log record without a beginning');
      parts.push(payload);
      if (type === 4) {
        yield { payload: Buffer.concat(parts), offset: start };
        parts = undefined;
      }
    }
    p += header + length;
  }
  if (parts !== undefined) throw new CorruptError('the last log record is cut off', { ...origin, offset: start });
}
