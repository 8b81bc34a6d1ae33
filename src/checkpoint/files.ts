/**
 * The files of a snapshot: opens a stream handle as bytes, wherever the file lies now.
 *
 *   inline              the bytes in `_metadata` itself; offsets in errors are those of `_metadata`
 *   relative            <directory>/<path>, beside the target of a linked `_metadata` too, else the same name in the directories around (state that a CLAIM restore took over)
 *   file, segment       --rebase, then the path itself, then its longest suffix around the snapshot (`paths.ts`)
 *   empty-segment       no bytes
 *   key-groups-stream   the stream it wraps
 *
 * A file is opened once for all handles; of many files the least recently used are closed and opened again when read.
 *
 * Flink: StreamStateHandle.openInputStream() of the handle classes (1.20.5).
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { CorruptError, IoError, NotFoundError } from '../errors.js';
import { type ByteSource, memorySource, openFile, ReadStats, segmentOf } from '../io/source.js';
import type { StreamHandle } from './handles.js';
import { hasUniquePart, localPath, type Rebase, realPathOf, rebased, remoteScheme, SuffixLookup, statOf, type TriedPath } from './paths.js';

export { parseRebase, type Rebase } from './paths.js';

export interface SnapshotFilesOptions {
  readonly rebase?: readonly Rebase[];
  readonly stats?: ReadStats;
  /** files kept open at a time */
  readonly maxOpen?: number;
}

/** Where a handle's file is. */
export interface ResolvedFile {
  readonly path: string;
  /** bytes of the whole file, when it was found */
  readonly size: number;
  readonly via: 'path' | 'directory' | 'rebase' | 'suffix' | 'sibling';
}

/** A handle's file that was not found. */
export interface MissingFile {
  readonly tried: readonly TriedPath[];
  /** the file system it is on, when that is not this machine's */
  readonly scheme?: string;
}

/** Siblings looked through for a file that should lie in the snapshot's own directory. */
const MAX_SIBLINGS = 1000;

export class SnapshotFiles {
  private readonly rebase: readonly Rebase[];
  private readonly stats: ReadStats;
  private readonly maxOpen: number;
  /** the snapshot's own, and that of the file which `_metadata` is a link to */
  readonly directories: readonly string[];
  private readonly suffixes: SuffixLookup;
  private readonly resolved = new Map<string, ResolvedFile | MissingFile>();
  /** open files in the order of their last use */
  private readonly open_ = new Map<string, ByteSource>();
  private siblings: readonly string[] | undefined;
  private closed = false;

  /** @param directory the snapshot's own @param metadataPath its `_metadata` */
  constructor(
    readonly directory: string,
    readonly metadataPath: string,
    options: SnapshotFilesOptions = {},
  ) {
    this.rebase = options.rebase ?? [];
    this.stats = options.stats ?? new ReadStats();
    this.maxOpen = Math.max(1, options.maxOpen ?? 256);
    // as Flink has it, files lie beside the path that is named; where that is a link, they may lie beside what it points to
    const target = dirname(realPathOf(metadataPath));
    this.directories = target === realPathOf(directory) ? [directory] : [directory, target];
    this.suffixes = new SuffixLookup(...this.directories);
  }

  /**
   * The bytes behind a handle. Closing the source keeps the file open for the next handle; close() of this object closes all.
   * @throws NotFoundError what was tried; IoError no permission, not a file; CorruptError shorter than the handle says
   */
  open(stream: StreamHandle): ByteSource {
    switch (stream.kind) {
      case 'inline':
        return memorySource(stream.bytes, this.metadataPath, stream.offset, this.stats);
      case 'empty-segment':
        return memorySource(new Uint8Array(0), 'empty file segment', 0, this.stats);
      case 'key-groups-stream':
        return this.open(stream.handle.stream);
      case 'segment': {
        const file = this.openResolved(stream);
        if (stream.start + stream.size > file.size) throw shorter(file, stream.start + stream.size);
        return segmentOf(file, stream.start, stream.size);
      }
      default: {
        const file = this.openResolved(stream);
        if (file.size < stream.size && stream.uncompressed !== true) throw shorter(file, stream.size);
        return file;
      }
    }
  }

  /** Where the file of a handle lies; undefined for handles that have none. */
  resolve(stream: StreamHandle): ResolvedFile | MissingFile | undefined {
    switch (stream.kind) {
      case 'file':
      case 'segment':
        return this.resolveOnce(stream.path, () => this.lookAround(stream.path));
      case 'relative':
        return this.resolveOnce(`./${stream.path}`, () => this.lookInside(stream.path));
      case 'key-groups-stream':
        return this.resolve(stream.handle.stream);
      default:
        return undefined;
    }
  }

  close(): void {
    this.closed = true;
    for (const source of this.open_.values()) source.close();
    this.open_.clear();
  }

  private resolveOnce(key: string, find: () => ResolvedFile | MissingFile): ResolvedFile | MissingFile {
    let found = this.resolved.get(key);
    if (found === undefined) {
      found = find();
      this.resolved.set(key, found);
    }
    return found;
  }

  private lookAround(path: string): ResolvedFile | MissingFile {
    const tried: TriedPath[] = [];
    for (const candidate of rebased(path, this.rebase)) {
      const stat = statOf(candidate, tried);
      if (stat !== undefined) return { path: candidate, size: stat.size, via: 'rebase' };
    }
    const scheme = remoteScheme(path);
    if (scheme === undefined) {
      const local = resolve(localPath(path));
      const stat = statOf(local, tried);
      if (stat !== undefined) return { path: local, size: stat.size, via: 'path' };
    }
    const near = this.suffixes.find(path, tried);
    if (near !== undefined) return { ...near, via: 'suffix' };
    return scheme === undefined ? { tried } : { tried, scheme };
  }

  private lookInside(path: string): ResolvedFile | MissingFile {
    // in practice a bare file name; anything that leaves the directory is no RelativeFileStateHandle
    if (path === '' || isAbsolute(path) || path.split('/').includes('..')) return { tried: [] };
    const tried: TriedPath[] = [];
    const own = join(this.directory, path);
    for (const directory of this.directories) {
      const stat = statOf(join(directory, path), tried);
      if (stat !== undefined) return { path: join(directory, path), size: stat.size, via: 'directory' };
    }
    for (const candidate of rebased(resolve(own), this.rebase)) {
      const moved = statOf(candidate, tried);
      if (moved !== undefined) return { path: candidate, size: moved.size, via: 'rebase' };
    }
    const name = basename(path);
    for (const directory of hasUniquePart(name) ? this.siblingDirectories() : []) {
      const other = statOf(join(directory, name));
      if (other !== undefined) return { path: join(directory, name), size: other.size, via: 'sibling' };
    }
    tried.push({ path: `${dirname(resolve(this.directory))}/*/${name}` });
    return { tried };
  }

  /** Directories beside the snapshot's, and beside its parent's: where a claimed savepoint may lie. */
  private siblingDirectories(): readonly string[] {
    if (this.siblings !== undefined) return this.siblings;
    const own = this.directories.map(directory => resolve(directory));
    const found: string[] = [];
    for (const parent of new Set(own.flatMap(directory => [dirname(directory), dirname(dirname(directory))]))) {
      try {
        for (const entry of readdirSync(parent, { withFileTypes: true }).slice(0, MAX_SIBLINGS)) {
          const path = join(parent, entry.name);
          if (!own.includes(path) && (entry.isDirectory() || entry.isSymbolicLink())) found.push(path);
        }
      } catch {
        // a parent that cannot be listed is no place to look
      }
    }
    this.siblings = found;
    return found;
  }

  private openResolved(stream: StreamHandle & { kind: 'file' | 'relative' | 'segment' }): ByteSource {
    const resolved = this.resolve(stream) as ResolvedFile | MissingFile;
    if (!('path' in resolved)) throw this.notFound(stream, resolved);
    const { path } = resolved;
    const { size } = this.fileOf(path);
    return {
      name: path,
      base: 0,
      size,
      readInto: (target, position) => this.fileOf(path).readInto(target, position),
      read: (position, length) => this.fileOf(path).read(position, length),
      close() {},
    };
  }

  /** The open file of a resolved path, opened (again) when it is not. */
  private fileOf(path: string): ByteSource {
    let source = this.open_.get(path);
    if (source !== undefined) {
      this.open_.delete(path);
      this.open_.set(path, source);
      return source;
    }
    if (this.closed) throw new IoError('the snapshot is closed', { file: path });
    // a pipe or a device would block the open
    if (statOf(path)?.isFile() === false) throw new IoError('not a regular file', { file: path });
    try {
      source = openFile(path, this.stats);
    } catch (error) {
      if (error instanceof NotFoundError)
        throw new IoError('the file vanished while the snapshot was being read', { file: path, cause: error, hint: VANISHED });
      throw error;
    }
    this.open_.set(path, source);
    if (this.open_.size > this.maxOpen) {
      const [oldest, old] = this.open_.entries().next().value as [string, ByteSource];
      this.open_.delete(oldest);
      old.close();
    }
    return source;
  }

  private notFound(stream: StreamHandle & { path: string }, missing: MissingFile): NotFoundError | IoError | CorruptError {
    const denied = missing.tried.find(t => t.error !== undefined)?.error;
    if (denied !== undefined) return denied;
    if (statOf(this.metadataPath) === undefined)
      return new IoError('the snapshot vanished while it was being read', { file: this.metadataPath, hint: VANISHED });
    if (stream.kind === 'relative' && missing.tried.length === 0)
      return new CorruptError(`the relative path "${stream.path}" leaves the snapshot's directory`, { file: this.metadataPath });
    const shown = missing.tried
      .slice(0, 8)
      .map(t => t.path)
      .join(', ');
    const more = missing.tried.length > 8 ? ` and ${missing.tried.length - 8} more` : '';
    const looked = missing.tried.length === 0 ? '' : `looked at ${shown}${more}; `;
    const prefix = stream.kind === 'relative' ? resolve(this.directory) : rebasePrefix(stream.path);
    const what =
      missing.scheme === undefined
        ? 'state file not found'
        : `state file not found: it is on ${missing.scheme}://, and there is no copy here`;
    const action = missing.scheme === undefined ? 'if it was moved, add' : 'copy the checkpoint’s whole tree and add';
    return new NotFoundError(what, {
      file: stream.kind === 'relative' ? join(this.directory, stream.path) : stream.path,
      hint: `${looked}${action} --rebase ${prefix}=<where it is now>`,
    });
  }
}

const VANISHED = 'a running job removes its old checkpoints: copy the checkpoint first, or take a savepoint';

/** The part of a path above the directories that Flink makes: what a move usually changes. */
function rebasePrefix(path: string): string {
  const at = /^(.+?)\/(?:[0-9a-f]{32}\/)?(?:shared|taskowned|dstl|chk-\d+)\//.exec(path)?.[1];
  return at ?? path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

function shorter(file: ByteSource, wanted: number): CorruptError {
  return new CorruptError(`the file has ${file.size} bytes, its state handle says ${wanted}`, {
    file: file.name,
    offset: file.size,
    hint: 'the file is truncated, or its copy was not completed',
  });
}
