/**
 * Where bytes come from: a file, memory, or a part of another source. Reads are synchronous: the SQL engine pulls rows
 * through synchronous callbacks. Every read is counted, so that EXPLAIN ANALYZE and the tests can say what was touched.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CorruptError, IoError, NotFoundError } from '../errors.js';

/** What was read since a mark. */
export interface ReadCounts {
  /** files that bytes were read from, each once; one that was open already counts too */
  readonly files: number;
  readonly bytesRead: number;
  readonly reads: number;
  readonly entriesDecoded: number;
}

/** A moment in the life of ReadStats. */
export type ReadMark = Omit<ReadCounts, 'files'>;

const BEGINNING: ReadMark = { bytesRead: 0, reads: 0, entriesDecoded: 0 };

/** What was read: plain counters, shared by all sources of a snapshot. */
export class ReadStats {
  filesOpened = 0;
  bytesRead = 0;
  reads = 0;
  entriesDecoded = 0;
  /** the number of the last read of each file */
  private readonly lastRead = new Map<string, number>();

  /** Notes a read of a file. */
  fileRead(path: string, bytes: number): void {
    this.reads++;
    this.bytesRead += bytes;
    this.lastRead.set(path, this.reads);
  }

  /** Counts what was read elsewhere, and the files that it was read from. */
  add(counts: ReadCounts, files: readonly string[]): void {
    this.reads += counts.reads;
    this.bytesRead += counts.bytesRead;
    this.entriesDecoded += counts.entriesDecoded;
    for (const path of files) this.lastRead.set(path, this.reads);
  }

  /** The files that `since` counts. */
  filesSince(mark: ReadMark = BEGINNING): string[] {
    return [...this.lastRead].flatMap(([path, read]) => (read > mark.reads ? [path] : []));
  }

  mark(): ReadMark {
    const { bytesRead, reads, entriesDecoded } = this;
    return { bytesRead, reads, entriesDecoded };
  }

  since(mark: ReadMark = BEGINNING): ReadCounts {
    let files = 0;
    for (const read of this.lastRead.values()) if (read > mark.reads) files++;
    return {
      files,
      bytesRead: this.bytesRead - mark.bytesRead,
      reads: this.reads - mark.reads,
      entriesDecoded: this.entriesDecoded - mark.entriesDecoded,
    };
  }
}

export interface ByteSource {
  /** path, or what stands for it in messages */
  readonly name: string;
  /** offset of this source's byte 0 in the file `name` (a segment of a merged file) */
  readonly base: number;
  readonly size: number;
  /** Fills `target` from `position` on; returns the bytes read, fewer only at the end. */
  readInto(target: Uint8Array, position: number): number;
  /** A fresh or borrowed array of exactly `length` bytes; CorruptError when the source ends before. */
  read(position: number, length: number): Uint8Array;
  close(): void;
}

/** A local file. @throws NotFoundError, IoError */
export function openFile(path: string, stats: ReadStats = new ReadStats()): ByteSource {
  let fd: number;
  let size: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    throw fileError(error, path);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new IoError('not a regular file', { file: path });
    size = stat.size;
  } catch (error) {
    closeSync(fd);
    throw error instanceof IoError ? error : fileError(error, path);
  }
  stats.filesOpened++;
  let open = true;
  const source: ByteSource = {
    name: path,
    base: 0,
    size,
    readInto(target, position) {
      let done = 0;
      try {
        while (done < target.length) {
          const n = readSync(fd, target, done, target.length - done, position + done);
          if (n === 0) break;
          done += n;
        }
      } catch (error) {
        throw fileError(error, path);
      }
      stats.fileRead(path, done);
      return done;
    },
    read(position, length) {
      return readExactly(source, position, length);
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
  return source;
}

/** Bytes in memory (state inlined in `_metadata`). `base`: offset of bytes[0] in the file `name`. */
export function memorySource(bytes: Uint8Array, name: string, base = 0, stats: ReadStats = new ReadStats()): ByteSource {
  const source: ByteSource = {
    name,
    base,
    size: bytes.length,
    readInto(target, position) {
      const part = bytes.subarray(position, position + target.length);
      target.set(part);
      stats.reads++;
      stats.bytesRead += part.length;
      return part.length;
    },
    read(position, length) {
      if (position < 0 || length < 0 || position + length > bytes.length) throw shortRead(source, position, length);
      stats.reads++;
      stats.bytesRead += length;
      return bytes.subarray(position, position + length);
    },
    close() {},
  };
  return source;
}

/** The bytes [start, start + size) of another source, which is closed with it. */
export function segmentOf(outer: ByteSource, start: number, size: number): ByteSource {
  if (start < 0 || size < 0 || start + size > outer.size)
    throw new CorruptError(`segment of ${size} bytes at ${start} is outside the file of ${outer.size} bytes`, {
      file: outer.name,
      offset: outer.base + Math.max(0, start),
    });
  const source: ByteSource = {
    name: outer.name,
    base: outer.base + start,
    size,
    readInto(target, position) {
      if (position >= size) return 0;
      return outer.readInto(target.length > size - position ? target.subarray(0, size - position) : target, start + position);
    },
    read(position, length) {
      if (position < 0 || length < 0 || position + length > size) throw shortRead(source, position, length);
      return outer.read(start + position, length);
    },
    close() {
      outer.close();
    },
  };
  return source;
}

function readExactly(source: ByteSource, position: number, length: number): Uint8Array {
  if (position < 0 || length < 0 || position + length > source.size) throw shortRead(source, position, length);
  const target = Buffer.allocUnsafe(length);
  if (source.readInto(target, position) !== length) throw shortRead(source, position, length);
  return target;
}

function shortRead(source: ByteSource, position: number, length: number): CorruptError {
  return new CorruptError(`${length} bytes wanted, the file ends at ${source.base + source.size}`, {
    file: source.name,
    offset: source.base + Math.max(0, position),
    hint: 'the file is truncated, or its snapshot was not completed',
  });
}

/** A node:fs error as ours. */
export function fileError(error: unknown, path: string): IoError | NotFoundError {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new NotFoundError('no such file', { file: path, cause: error });
  const words: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'is a directory',
    EMFILE: 'too many open files',
    ELOOP: 'too many symbolic links',
    ENAMETOOLONG: 'name too long',
  };
  return new IoError(words[code ?? ''] ?? `cannot be read: ${code ?? String(error)}`, { file: path, cause: error });
}
