/** Which snapshot a file belongs to: the `_metadata` beside or above it that refers to it. */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { StreamHandle } from '../checkpoint/handles.js';
import { type StreamReference, streamReferences } from '../checkpoint/references.js';
import { StateQueryError } from '../errors.js';
import { type OpenedSnapshot, type OpenOptions, openSnapshot } from '../tables/snapshot.js';

/** Directories looked through at one level, and levels above the file. */
const MAX_SIBLINGS = 200;
const LEVELS = 4;

export interface Found {
  readonly snapshot: OpenedSnapshot;
  /** the stream handles that mean the file */
  readonly references: readonly StreamReference[];
}

/** The snapshot that refers to a file; undefined when none around it does. The caller closes it. */
export function findSnapshot(path: string, options: OpenOptions): Found | undefined {
  const real = realpathSync(path);
  for (const metadata of candidates(path)) {
    let snapshot: OpenedSnapshot | undefined;
    try {
      snapshot = openSnapshot(metadata, options);
      const opened = snapshot;
      const references = [...streamReferences(opened.metadata)].filter(r => isFile(opened, r.stream, real));
      if (references.length > 0) return { snapshot, references };
    } catch (error) {
      // a snapshot that cannot be read refers to nothing
      if (!(error instanceof StateQueryError)) throw error;
    }
    snapshot?.close();
  }
  return undefined;
}

function isFile(snapshot: OpenedSnapshot, stream: StreamHandle, real: string): boolean {
  // names are compared before the file system is asked
  const written = innermost(stream);
  if (!('path' in written) || basename(written.path) !== basename(real)) return false;
  const found = snapshot.files.resolve(written);
  return found !== undefined && 'path' in found && realpathSync(found.path) === real;
}

export function innermost(stream: StreamHandle): StreamHandle {
  return stream.kind === 'key-groups-stream' ? innermost(stream.handle.stream) : stream;
}

/** `_metadata` beside the file, then in and below the directories above it, the newest first. */
function* candidates(path: string): Generator<string> {
  const seen = new Set<string>();
  let directory = dirname(resolve(path));
  for (let level = 0; level < LEVELS; level++) {
    const below = level === 0 ? [] : directoriesIn(directory);
    const found = [directory, ...below].map(d => join(d, '_metadata')).filter(file => !seen.has(file));
    for (const file of found) seen.add(file);
    const times = found.flatMap(file => {
      const time = timeOf(file);
      return time === undefined ? [] : [{ file, time }];
    });
    for (const { file } of times.sort((a, b) => b.time - a.time)) yield file;
    if (dirname(directory) === directory) return;
    directory = dirname(directory);
  }
}

function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .slice(0, MAX_SIBLINGS)
      .map(entry => join(directory, entry.name));
  } catch {
    return [];
  }
}

function timeOf(file: string): number | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.mtimeMs : undefined;
}
