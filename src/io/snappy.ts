/**
 * Snappy: raw blocks, and the framing format that Flink compresses state with.
 *
 *   raw block   varint uncompressed length · literals and copies
 *   frame       u8 type · u24 little-endian length · payload
 *     0xFF        "sNaPpY": begins a stream, may repeat
 *     0x00        u32 little-endian masked CRC-32C of the uncompressed bytes · raw block of at most 65,536 bytes
 *     0x01        u32 checksum · at most 65,536 bytes as they are
 *     0x80..0xFE  skipped
 *     0x02..0x7F  not readable
 *
 * google/snappy framing_format.txt; Flink writes it with org.xerial.snappy.SnappyFramedOutputStream
 * (SnappyStreamCompressionDecorator, 1.20). It is neither xerial's own SnappyOutputStream form nor Hadoop's.
 */
import { CorruptError, type ErrorOrigin } from '../errors.js';
import { crc32c, maskCrc32c } from './crc32c.js';
import { uncompressInto } from './snappy-code.js';
import type { ByteSource } from './source.js';
import { type ByteStream, Window } from './window.js';

/** A copy of 3 bytes gives at most 64: no honest block is longer than this many times its compressed form. */
const MAX_RATIO = 22;
const MAX_CHUNK = 65536;
/** what a stream of frames begins with */
export const STREAM_HEADER = Buffer.from('ff060000734e61507059', 'hex');

/**
 * The bytes of a raw block.
 * @param limit the most bytes that it may hold
 * @throws CorruptError
 */
export function decodeSnappy(block: Uint8Array, limit = 0x7fffffff, origin: ErrorOrigin = {}): Uint8Array {
  const length = checkedLength(block, 0, block.length, limit, origin);
  const out = new Uint8Array(length);
  uncompress(block, 0, block.length, out, length, origin);
  return out;
}

/**
 * The bytes of the raw block block[start, end), in `target`.
 * @param target when it is too short, a longer one is made
 * @returns where they stand, from 0 on, and how many
 * @throws CorruptError
 */
export function decodeSnappyInto(
  block: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  limit: number,
): { readonly bytes: Uint8Array; readonly length: number } {
  const length = checkedLength(block, start, end, limit, {});
  const bytes = length <= target.length ? target : new Uint8Array(Math.max(length, Math.min(limit, 2 * target.length)));
  uncompress(block, start, end, bytes, length, {});
  return { bytes, length };
}

function checkedLength(block: Uint8Array, start: number, end: number, limit: number, origin: ErrorOrigin): number {
  const length = snappyLength(block, origin, start, end);
  if (length > limit) throw new CorruptError(`snappy block of ${length} bytes, at most ${limit} expected`, origin);
  if (length > (end - start) * MAX_RATIO) throw new CorruptError(`snappy block claims ${length} bytes out of ${end - start}`, origin);
  return length;
}

function uncompress(block: Uint8Array, start: number, end: number, target: Uint8Array, length: number, origin: ErrorOrigin): void {
  let elements = start;
  while (block[elements++] >= 0x80);
  if (!uncompressInto(block, elements, end, target, 0, length)) throw new CorruptError('snappy block cannot be decompressed', origin);
}

/** The uncompressed length that a raw block begins with. */
export function snappyLength(block: Uint8Array, origin: ErrorOrigin = {}, start = 0, end = block.length): number {
  let length = 0;
  for (let i = 0; i < 5; i++) {
    if (start + i >= end) break;
    length += (block[start + i] & 0x7f) * 2 ** (7 * i);
    if (block[start + i] < 0x80) return length;
  }
  throw new CorruptError('snappy block without a length', origin);
}

/** The uncompressed bytes of the frames in [start, end) of a source, in order; each chunk's checksum is verified. */
export class SnappyFrames implements ByteStream {
  readonly name: string;
  private readonly input: Window;
  private chunk: Uint8Array = new Uint8Array(0);
  private spare: Uint8Array = new Uint8Array(0);
  private used = 0;
  private compressedLeft: number;
  private begun: boolean;
  private atHeader = false;

  /**
   * @param byStream stop before a stream header that follows data, until `nextStream()` is called
   * @param resumed the range may begin behind the stream header
   * @param verify false: checksums are not looked at
   * @param endsAt asked before each frame whether something else stands at `position`, where the frames end
   */
  constructor(
    source: ByteSource,
    start: number,
    end: number,
    private readonly options: {
      readonly byStream?: boolean;
      readonly resumed?: boolean;
      readonly endsAt?: (window: Window) => boolean;
      readonly verify?: boolean;
    } = {},
  ) {
    this.name = source.name;
    this.input = new Window(1 << 18);
    this.input.open(source, start, end);
    this.compressedLeft = end - start;
    this.end = source.base + end;
    this.begun = options.resumed === true;
  }
  private readonly end: number;

  get remaining(): number {
    return this.chunk.length - this.used + (this.atHeader ? 0 : this.compressedLeft * MAX_RATIO);
  }

  /** file offset of the next frame */
  get offset(): number {
    return this.end - this.compressedLeft;
  }

  fill(target: Uint8Array, start: number, end: number): number {
    let at = start;
    while (at < end) {
      if (this.used === this.chunk.length && !this.nextChunk()) break;
      const n = Math.min(end - at, this.chunk.length - this.used);
      target.set(this.used === 0 && n === this.chunk.length ? this.chunk : this.chunk.subarray(this.used, this.used + n), at);
      this.used += n;
      at += n;
    }
    return at - start;
  }

  /** true when every byte of the range was used */
  get done(): boolean {
    return this.used === this.chunk.length && this.compressedLeft === 0 && !this.atHeader;
  }

  /** With `byStream`: drops what is left of this stream and goes on behind the next header. @returns false at the end */
  nextStream(): boolean {
    while (!this.atHeader) {
      this.used = this.chunk.length;
      if (this.compressedLeft === 0 || (!this.nextChunk() && !this.atHeader)) return false;
    }
    this.used = this.chunk.length;
    this.atHeader = false;
    return true;
  }

  private nextChunk(): boolean {
    while (!this.atHeader && this.compressedLeft > 0) {
      const at = this.offset;
      const { input } = this;
      if (this.options.endsAt?.(input) === true) {
        this.compressedLeft = 0;
        return false;
      }
      if (!input.has(4)) this.fail('snappy frame is cut off', at);
      const { bytes, position: p } = input;
      const type = bytes[p];
      const length = bytes[p + 1] | (bytes[p + 2] << 8) | (bytes[p + 3] << 16);
      if (!this.begun && type !== 0xff) this.notFramed(at);
      if (length > this.compressedLeft - 4) this.fail(`snappy frame of ${length} bytes, ${this.compressedLeft - 4} remain`, at);
      if (type >= 0x02 && type <= 0x7f) this.fail(`snappy frame of type ${type}, which cannot be read`, at);
      if (!input.has(4 + length)) this.fail('snappy frame is cut off', at);
      const payload = input.bytes.subarray(input.position + 4, input.position + 4 + length);
      input.position += 4 + length;
      this.compressedLeft -= 4 + length;
      if (type === 0xff) {
        if (length !== 6 || Buffer.from(payload).toString('latin1') !== 'sNaPpY') this.fail('snappy stream header is damaged', at);
        if (this.begun && this.options.byStream === true) this.atHeader = true;
        this.begun = true;
      } else if (type <= 0x01) {
        this.chunk = this.decodeChunk(type, payload, at);
        this.used = 0;
        if (this.chunk.length > 0) return true;
      }
    }
    return false;
  }

  private decodeChunk(type: number, payload: Uint8Array, at: number): Uint8Array {
    if (payload.length < 4) this.fail('snappy frame without a checksum', at);
    const stored = (payload[0] | (payload[1] << 8) | (payload[2] << 16) | (payload[3] << 24)) >>> 0;
    const body = payload.subarray(4);
    const origin = { file: this.name, offset: at };
    const bytes = type === 0 ? this.decodeBlock(body, origin) : body;
    if (bytes.length > MAX_CHUNK) this.fail(`snappy frame of ${bytes.length} uncompressed bytes`, at);
    if (this.options.verify !== false && maskCrc32c(crc32c(bytes)) !== stored) this.fail('snappy frame does not match its checksum', at);
    return bytes;
  }

  /** Into the memory of the chunk before, which is used up. */
  private decodeBlock(body: Uint8Array, origin: ErrorOrigin): Uint8Array {
    const length = checkedLength(body, 0, body.length, MAX_CHUNK, origin);
    if (this.spare.length === 0) this.spare = new Uint8Array(MAX_CHUNK);
    uncompress(body, 0, body.length, this.spare, length, origin);
    return this.spare.subarray(0, length);
  }

  private notFramed(at: number): never {
    const { bytes, position: p } = this.input;
    const xerial = [0x82, 0x53, 0x4e, 0x41].every((b, i) => bytes[p + i] === b);
    return this.fail(
      xerial
        ? "compressed in xerial's own snappy form, the framing format is expected"
        : `expected a snappy stream header, found ${Buffer.from(bytes.subarray(p, p + 4)).toString('hex')}`,
      at,
    );
  }

  private fail(message: string, at: number): never {
    throw new CorruptError(message, { file: this.name, offset: at });
  }
}
