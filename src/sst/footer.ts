/**
 * The footer of a block-based table, at the very end of the file.
 *
 *   legacy (version 0)   metaindex handle · index handle · zeros up to 40 bytes                          · magic u64    48 bytes
 *   versions 1 to 5      checksum type u8 · metaindex handle · index handle · zeros up to 41 · version u32 · magic u64   53 bytes
 *   version 6            checksum type u8 · 3E 00 7A 00 · footer checksum u32 · context u32 · metaindex size u32
 *                        · 24 zeros · version u32 · magic u64                                                           53 bytes
 *
 *   handle = varint offset · varint size (without the 5 bytes of a block trailer)
 *
 * In version 6 the metaindex block ends right before the footer, the index stands in the metaindex under `rocksdb.index`, and
 * the footer checksum is that of its 53 bytes with the checksum itself zeroed. All numbers are little-endian.
 * Mirrors table/format.h and format.cc (Footer, FooterBuilder) of RocksDB 8.10. Versions: 0 up to 2012 and Flink 1.10–1.13's
 * Java default, 2 RocksDB 3.10+, 3 and 4 index forms, 5 newer bloom filters, 6 RocksDB 8.6+.
 */
import { CorruptError, type ErrorOrigin, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { ByteSource } from '../io/source.js';
import { blockChecksum, contextModifier } from './checksum.js';
import { readU32 } from './internal-key.js';

export const BLOCK_TRAILER = 5;
const NEWEST_VERSION = 6;
const LEGACY_LENGTH = 48;
const LENGTH = 53;
const EXTENDED_MAGIC = 0x007a003e;

/** Where a block lies: `size` is that of its payload, 5 bytes of trailer follow. */
export interface BlockHandle {
  readonly offset: number;
  readonly size: number;
}

export interface Footer {
  readonly version: number;
  /** see checksum.ts */
  readonly checksumType: number;
  readonly metaindex: BlockHandle;
  /** undefined in version 6: the metaindex has it */
  readonly index: BlockHandle | undefined;
  /** version 6: what block checksums are salted with, else 0 */
  readonly context: number;
  /** where the footer begins: blocks end before */
  readonly offset: number;
}

const MAGICS: Readonly<Record<string, string>> = {
  '88e241b785f4cff7': 'block',
  db4775248b80fb57: 'legacy block',
  '8242229663bf9564': 'plain table',
  '4f3418eb7a8f13b8': 'plain table',
  '9a0f29ebdb80c5f1': 'cuckoo table',
};

/**
 * Reads the footer out of the last bytes of a file.
 * @param tail the last bytes of the file, at least 53 of them when it has that many
 * @throws CorruptError, UnsupportedError (other table formats, newer versions)
 */
export function decodeFooter(tail: Uint8Array, source: ByteSource, where: string | undefined): Footer {
  const origin: ErrorOrigin = { file: source.name, offset: source.base + source.size - 8, ...(where === undefined ? {} : { where }) };
  if (source.size < LEGACY_LENGTH)
    throw new CorruptError(`file of ${source.size} bytes is too short for a table`, { ...origin, offset: source.base });
  const magic = Buffer.from(tail.subarray(tail.length - 8))
    .reverse()
    .toString('hex');
  const kind = MAGICS[magic];
  if (kind === undefined)
    throw new CorruptError(`not a RocksDB table: its last 8 bytes are ${magic}`, {
      ...origin,
      hint: 'the file is truncated, or something else lies in its place',
    });
  if (!kind.endsWith('block')) throw new UnsupportedError(`${kind} format`, origin);
  const legacy = kind === 'legacy block';
  const length = legacy ? LEGACY_LENGTH : LENGTH;
  if (tail.length < length) throw new CorruptError(`file of ${source.size} bytes is too short for a table`, origin);
  const bytes = tail.subarray(tail.length - length);
  const offset = source.size - length;
  const cursor = new Cursor(bytes, 0, length, origin, source.base + offset);
  if (legacy) {
    const metaindex = readHandle(cursor, 'metaindex handle');
    return checked({ version: 0, checksumType: 1, metaindex, index: readHandle(cursor, 'index handle'), context: 0, offset }, origin);
  }
  const version = readU32(bytes, length - 12);
  if (version > NEWEST_VERSION || version === 0)
    throw new UnsupportedError(`table format version ${version} (known: 1 to ${NEWEST_VERSION})`, origin);
  const checksumType = cursor.u8();
  if (version < 6) {
    const metaindex = readHandle(cursor, 'metaindex handle');
    return checked({ version, checksumType, metaindex, index: readHandle(cursor, 'index handle'), context: 0, offset }, origin);
  }
  if (cursor.u32le() !== EXTENDED_MAGIC) cursor.fail('the footer of a table of version 6 is damaged', 1);
  const stored = cursor.u32le();
  const context = cursor.u32le();
  const metaindexSize = cursor.u32le();
  const zeroed = Uint8Array.from(bytes);
  zeroed.fill(0, 5, 9);
  // the last byte counts like a block's compression type
  const computed = blockChecksum(checksumType, zeroed, 0, length);
  if (computed !== undefined && (computed + contextModifier(context, offset)) >>> 0 !== stored)
    cursor.fail('the footer does not match its checksum', 5);
  const metaindex = { offset: offset - BLOCK_TRAILER - metaindexSize, size: metaindexSize };
  return checked({ version, checksumType, metaindex, index: undefined, context, offset }, origin);
}

/** Reads a handle: two varints. */
export function readHandle(cursor: Cursor, what: string): BlockHandle {
  const offset = readVarint64(cursor, what);
  return { offset, size: readVarint64(cursor, what) };
}

/** An unsigned varint up to 2^53. @throws CorruptError */
export function readVarint64(cursor: Cursor, what = 'varint'): number {
  let result = 0;
  const at = cursor.position;
  for (let shift = 0; ; shift += 7) {
    const b = cursor.bytes[cursor.take(1, what)];
    result += (b & 0x7f) * 2 ** shift;
    if (b < 0x80) break;
    if (shift >= 63) cursor.fail(`${what} is longer than 10 bytes`, at);
  }
  if (result > Number.MAX_SAFE_INTEGER) cursor.fail(`${what} is out of range`, at);
  return result;
}

function checked(footer: Footer, origin: ErrorOrigin): Footer {
  for (const handle of [footer.metaindex, footer.index])
    if (handle !== undefined && (handle.offset < 0 || handle.offset + handle.size + BLOCK_TRAILER > footer.offset))
      throw new CorruptError('a block handle in the footer points outside of the file', origin);
  return footer;
}
