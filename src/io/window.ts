/**
 * A window that slides over bytes in order: frames of any length stand contiguous in it, without an allocation for each.
 *
 *   bytes  [ ....done.... | position … end | free ]      base + position = offset in the file
 *
 * What is left is moved to the front when more is needed, and the buffer grows only with bytes that really came, so a
 * length out of a damaged file costs no memory. Ranges that fit a window are read at once (inline state is not copied).
 */
import { CorruptError, UnsupportedError } from '../errors.js';
import type { ByteSource } from './source.js';

/** Bytes that come in order: a part of a file, or what a decompressor makes of it. */
export interface ByteStream {
  readonly name: string;
  /** Fills target[start, end) as far as the bytes reach; fewer than asked for means that the stream has ended. */
  fill(target: Uint8Array, start: number, end: number): number;
  /** at most this many bytes can still come */
  readonly remaining: number;
  /** where in the file the next bytes come from, for errors */
  readonly offset: number;
  /** what they are called in errors, when they are not the file's own in order: `decompressed data` */
  readonly what?: string;
}

/** The bytes [start, end) of a source as a stream. */
export function streamOf(source: ByteSource, start = 0, end = source.size): ByteStream {
  let at = start;
  return {
    name: source.name,
    fill(target, from, to) {
      const wanted = Math.min(to - from, end - at);
      if (wanted <= 0) return 0;
      const got = source.readInto(target.subarray(from, from + wanted), at);
      at += got;
      return got;
    },
    get remaining() {
      return Math.max(0, end - at);
    },
    get offset() {
      return source.base + at;
    },
  };
}

/** A copy of bytes[start, end). (`slice` of a Buffer is no copy.) */
export function copyOf(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  const copy = new Uint8Array(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}

const CHUNK = 1 << 20;
/** Java's arrays end here, and so does every frame that Flink can write. */
const MAX_FRAME = 0x7fffffff;
const spare: Uint8Array[] = [];

export class Window {
  bytes: Uint8Array = new Uint8Array(0);
  position = 0;
  end = 0;
  /** file offset of bytes[0]; -1 when the bytes are not those of the file (decompressed) */
  base = 0;
  private buffer: Uint8Array | undefined;
  private stream: ByteStream | undefined;
  private source: ByteSource | undefined;
  /** decompressed bytes that went through before bytes[0] */
  private before = 0;

  /** @param chunk bytes to read at once */
  constructor(private readonly chunk = CHUNK) {}

  /** Shows the bytes [start, end) of a source, from start on. What is still there of the same source is kept. */
  open(source: ByteSource, start: number, end: number): void {
    if (end > source.size || start > end || start < 0)
      throw new CorruptError(`bytes ${start} to ${end} are outside of the ${source.size} bytes there are`, {
        file: source.name,
        offset: source.base + Math.max(0, Math.min(start, source.size)),
        hint: 'the file is truncated, or its snapshot was not completed',
      });
    if (end - start <= this.chunk) {
      this.bytes = source.read(start, end - start);
      this.position = 0;
      this.end = end - start;
      this.stream = undefined;
    } else {
      this.restart();
      this.stream = streamOf(source, start, end);
    }
    this.source = source;
    this.base = source.base + start;
    this.before = 0;
  }

  /** Shows what a decompressor gives. */
  openStream(stream: ByteStream): void {
    this.restart();
    this.stream = stream;
    this.source = undefined;
    this.base = -1;
    this.before = 0;
  }

  private restart(): void {
    this.buffer ??= spare.pop() ?? Buffer.allocUnsafe(this.chunk);
    this.bytes = this.buffer;
    this.position = 0;
    this.end = 0;
  }

  /** Whether `count` bytes stand at the position, reading on when they do not yet. */
  has(count: number): boolean {
    while (this.end - this.position < count) if (!this.more()) return false;
    return true;
  }

  /** @throws CorruptError unless `count` bytes stand at the position */
  need(count: number, what: string): void {
    if (this.end - this.position >= count && count >= 0) return;
    if (count < 0) this.fail(`negative length ${count} of ${what}`);
    if (!this.has(count)) this.fail(`${what} needs ${count} bytes, ${this.end - this.position} remain`);
  }

  /** Reads on behind `end`. What stands from the position on is kept, moved to the front. @returns false at the end */
  more(): boolean {
    const { stream } = this;
    if (stream === undefined || stream.remaining <= 0) return false;
    const kept = this.end - this.position;
    let target = this.bytes;
    const room = target.length - kept;
    if (room < Math.min(stream.remaining, target.length >> 1)) {
      if (kept >= MAX_FRAME)
        throw new UnsupportedError(`a value longer than ${MAX_FRAME} bytes`, { file: stream.name, offset: this.offset });
      target = Buffer.allocUnsafe(Math.min(target.length * 2, kept + stream.remaining));
      target.set(this.bytes.subarray(this.position, this.end));
    } else if (this.position > 0) target.copyWithin(0, this.position, this.end);
    if (this.base >= 0) this.base += this.position;
    this.before += this.position;
    this.bytes = target;
    this.position = 0;
    this.end = kept + stream.fill(target, kept, target.length);
    return this.end > kept;
  }

  /** true when every byte was used */
  atEnd(): boolean {
    return this.position === this.end && !this.more();
  }

  /** Offset in the file of the position; of decompressed bytes: of the compressed ones that come next. */
  get offset(): number {
    return this.base >= 0 ? this.base + this.position : (this.stream?.offset ?? 0);
  }

  /** the source that is shown, undefined for a decompressor's bytes */
  get name(): string {
    return this.stream?.name ?? this.source?.name ?? '';
  }

  fail(message: string, at = this.position): never {
    throw this.error(message, at);
  }

  /** A CorruptError at `at` in the window; where the bytes are not the file's own, the message says how far into them. */
  error(message: string, at = this.position): CorruptError {
    if (this.base >= 0) return new CorruptError(message, { file: this.name, offset: this.base + at });
    return new CorruptError(`${message}, ${this.before + at} bytes into the ${this.stream?.what ?? 'decompressed data'}`, {
      file: this.name,
      offset: this.offset,
    });
  }

  i32(what: string): number {
    this.need(4, what);
    const { bytes, position: p } = this;
    this.position = p + 4;
    return (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3];
  }

  u16(what: string): number {
    this.need(2, what);
    const { bytes, position: p } = this;
    this.position = p + 2;
    return (bytes[p] << 8) | bytes[p + 1];
  }

  u8(what: string): number {
    this.need(1, what);
    return this.bytes[this.position++];
  }

  /** Gives the buffer back. */
  close(): void {
    if (this.buffer !== undefined && this.chunk === CHUNK && spare.length < 4) spare.push(this.buffer);
    this.buffer = undefined;
    this.bytes = new Uint8Array(0);
    this.position = 0;
    this.end = 0;
    this.stream = undefined;
  }
}
