/**
 * Reading a block: bytes at a handle, checked and decompressed.
 *
 *   payload · compression type u8 · checksum u32 little-endian over both
 *
 *   type   payload, format version ≥ 2                        format version < 2
 *   0      the block itself                                   the same
 *   1      snappy block (has its own length)                  the same
 *   2      varint length · raw deflate                        raw deflate
 *   3      varint length · bzip2 stream                       bzip2 stream
 *   4, 5   varint length · LZ4 raw block                      u64 length (little-endian, of which RocksDB uses 32 bits) · LZ4 raw block
 *   7, 64  varint length · zstd frame                         the same
 *
 * Mirrors table/block_fetcher.cc and util/compression.h of RocksDB 8.10 (the older forms: 4.11).
 */
import { CorruptError, type ErrorOrigin, StateQueryError, UnsupportedError } from '../errors.js';
import { type BlockCodec, decompress, MAX_BLOCK } from '../io/compression.js';
import { Cursor } from '../io/cursor.js';
import { decodeSnappyInto } from '../io/snappy.js';
import type { ByteSource } from '../io/source.js';
import { blockChecksum, CHECKSUM_NAMES, contextModifier } from './checksum.js';
import { BLOCK_TRAILER, type BlockHandle, type Footer } from './footer.js';
import { readU32 } from './internal-key.js';

export const COMPRESSION_NAMES: Readonly<Record<number, string>> = {
  0: 'none',
  1: 'snappy',
  2: 'zlib',
  3: 'bzip2',
  4: 'lz4',
  5: 'lz4hc',
  6: 'xpress',
  7: 'zstd',
  64: 'zstd',
};
const CODECS: Readonly<Record<number, BlockCodec>> = { 1: 'snappy', 2: 'zlib', 3: 'bzip2', 4: 'lz4', 5: 'lz4', 7: 'zstd', 64: 'zstd' };

/** What is needed to read blocks of one file. */
export interface BlockFile {
  readonly source: ByteSource;
  readonly footer: Footer;
  /** false: checksums are not computed */
  readonly verify: boolean;
  /** place in the snapshot, for errors */
  readonly where: string | undefined;
}

/** The origin of the block at `handle`, for errors. */
export function blockOrigin(file: BlockFile, handle: BlockHandle): ErrorOrigin {
  return {
    file: file.source.name,
    offset: file.source.base + handle.offset,
    ...(file.where === undefined ? {} : { where: file.where }),
  };
}

/**
 * The contents of the block at `handle`; not to be written to.
 * @throws CorruptError, UnsupportedError
 */
export function readBlock(file: BlockFile, handle: BlockHandle, dictionary?: Uint8Array): Uint8Array {
  checkHandle(file, handle);
  const raw = file.source.read(handle.offset, handle.size + BLOCK_TRAILER);
  const decoded = decodeBlock(file, handle, raw, 0, dictionary, NO_BYTES);
  return decoded === undefined ? raw.subarray(0, handle.size) : decoded.bytes.subarray(0, decoded.length);
}

const NO_BYTES = new Uint8Array(0);

/** @throws CorruptError when the block does not lie before the footer */
export function checkHandle(file: BlockFile, handle: BlockHandle): void {
  if (handle.offset + handle.size + BLOCK_TRAILER > file.footer.offset)
    throw new CorruptError(`block of ${handle.size} bytes at ${handle.offset} reaches into the footer`, {
      ...blockOrigin(file, handle),
      offset: file.source.base + file.footer.offset,
    });
}

/**
 * Checks the block that stands at raw[start, start + size + 5), and decompresses it.
 * @param scratch memory that the contents may stand in; larger memory is made when they need it
 * @returns the contents, from 0 on, or undefined when the payload itself is the contents
 */
export function decodeBlock(
  file: BlockFile,
  handle: BlockHandle,
  raw: Uint8Array,
  start: number,
  dictionary: Uint8Array | undefined,
  scratch: Uint8Array,
): { readonly bytes: Uint8Array; readonly length: number } | undefined {
  const end = start + handle.size;
  if (file.verify && !checksumMatches(file, handle, raw, start))
    throw new CorruptError(`block does not match its ${CHECKSUM_NAMES[file.footer.checksumType]} checksum`, blockOrigin(file, handle));
  const type = raw[end];
  if (type === 0) return undefined;
  const codec = CODECS[type];
  if (codec === undefined)
    throw new UnsupportedError(`blocks compressed with ${COMPRESSION_NAMES[type] ?? `type ${type}`}`, blockOrigin(file, handle));
  try {
    if (codec === 'snappy') return decodeSnappyInto(raw, start, end, scratch, MAX_BLOCK);
    const bytes = decodeSized(codec, file.footer.version, raw, start, end, dictionary);
    return { bytes, length: bytes.length };
  } catch (error) {
    throw located(error, blockOrigin(file, handle));
  }
}

/** Whether the checksum behind the block is that of its bytes. @throws UnsupportedError for unknown checksum types */
export function checksumMatches(file: BlockFile, handle: BlockHandle, raw: Uint8Array, start: number): boolean {
  const end = start + handle.size;
  const { checksumType, context } = file.footer;
  const computed = blockChecksum(checksumType, raw, start, end + 1);
  if (computed === undefined) return true;
  return (computed + contextModifier(context, handle.offset)) >>> 0 === readU32(raw, end + 1);
}

function decodeSized(
  codec: BlockCodec,
  version: number,
  raw: Uint8Array,
  start: number,
  end: number,
  dictionary: Uint8Array | undefined,
): Uint8Array {
  if (version >= 2 || codec === 'zstd') {
    const cursor = new Cursor(raw, start, end);
    const length = cursor.varint('uncompressed length');
    return decompress(codec, raw.subarray(cursor.position, end), length, dictionary);
  }
  if (codec === 'lz4') {
    if (end - start < 8) throw new CorruptError('the uncompressed length is cut off');
    return decompress(codec, raw.subarray(start + 8, end), readU32(raw, start), dictionary);
  }
  return decompress(codec, raw.subarray(start, end), undefined, dictionary);
}

/** The error with the origin that it lacks. */
function located(error: unknown, origin: ErrorOrigin): unknown {
  if (error instanceof CorruptError) return new CorruptError(error.message, { ...origin, cause: error.cause });
  if (error instanceof UnsupportedError)
    return new UnsupportedError(error.message, { ...origin, ...(error.hint === undefined ? {} : { hint: error.hint }) });
  return error instanceof StateQueryError ? error : new CorruptError(String(error), { ...origin, cause: error });
}
