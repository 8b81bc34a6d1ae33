/**
 * From the path a user gives to a snapshot.
 *
 *   <dir>/_metadata          the directory is the snapshot
 *   the file itself          its directory is
 *   <dir>/X/_metadata        a parent directory: of one job's chk-N the highest N, otherwise the newest `_metadata`,
 *   <dir>/X/chk-N/_metadata  ties by name
 *
 * Flink's directories: <checkpoints>/<job id>/chk-N, shared, taskowned; <savepoints>/savepoint-<job id>-<random>. A chk-N without
 * `_metadata` is a checkpoint that was not completed.
 */
import { type Dirent, opendirSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { IoError, NotFoundError, type StateQueryError, UnsupportedError } from '../errors.js';
import { fileError } from '../io/source.js';
import { localPath, remoteScheme, statOf, type TriedPath } from './paths.js';

/** entries of one directory that are looked at */
const MAX_ENTRIES = 200_000;
/** directories that are looked into for one path */
const MAX_DIRECTORIES = 100_000;

export interface LocatedSnapshot {
  /** the snapshot's own directory, as given and made absolute */
  readonly directory: string;
  readonly metadataPath: string;
  /** of a parent directory: how many other snapshots are below it */
  readonly others: number;
  /** of a parent directory: one line for the user, saying what was chosen */
  readonly note?: string;
}

/** `_metadata` of a directory and where it stands in Flink's layout. */
export interface SnapshotPlace {
  readonly directory: string;
  readonly metadataPath: string;
  /** N of chk-N */
  readonly checkpoint: number | undefined;
  readonly modifiedMillis: number;
  readonly metadataSize: number;
}

/**
 * Finds the snapshot that a path means.
 * @param path a directory, file or parent directory; with or without `file:`
 * @throws NotFoundError what was looked at, with a hint; IoError no permission; UnsupportedError another file system
 */
export function locateSnapshot(path: string): LocatedSnapshot {
  const scheme = remoteScheme(path);
  // a drive letter or a local name with a colon is no scheme
  if (scheme !== undefined && (path.includes('://') || statOf(path) === undefined))
    throw new UnsupportedError(`${scheme}:// paths are not read`, {
      file: path,
      hint: 'copy the snapshot’s directory here and name the copy',
    });
  const given = resolve(scheme === undefined ? localPath(path) : path);
  const tried: TriedPath[] = [];
  const stat = statOf(given, tried);
  if (stat === undefined) throw tried[0].error ?? missing(given);
  if (!stat.isDirectory()) {
    if (!stat.isFile()) throw new IoError('neither a file nor a directory', { file: given });
    return { directory: dirname(given), metadataPath: given, others: 0 };
  }
  const own = placeOf(given);
  if (own instanceof IoError) throw own;
  if (own !== undefined) return { directory: given, metadataPath: own.metadataPath, others: 0 };
  return chooseBelow(given);
}

function missing(given: string): NotFoundError {
  let parent = dirname(given);
  while (statOf(parent) === undefined && parent !== dirname(parent)) parent = dirname(parent);
  const hint =
    parent === dirname(given)
      ? `${parent} has no ${basename(given)}`
      : `${parent} exists, ${join(parent, given.slice(parent.length).split('/').filter(Boolean)[0] ?? '')} does not`;
  return new NotFoundError('no such snapshot', { file: given, hint });
}

/** The snapshot in a directory; undefined when it has no `_metadata`, an error when that cannot be looked at. */
function placeOf(directory: string): SnapshotPlace | IoError | undefined {
  const metadataPath = join(directory, '_metadata');
  const tried: TriedPath[] = [];
  const stat = statOf(metadataPath, tried);
  if (stat === undefined) return tried[0].error;
  if (!stat.isFile()) return new IoError('_metadata is not a regular file', { file: metadataPath });
  return { directory, metadataPath, checkpoint: checkpointNumber(directory), modifiedMillis: stat.mtimeMs, metadataSize: stat.size };
}

function checkpointNumber(directory: string): number | undefined {
  const n = /^chk-(\d{1,15})$/.exec(basename(directory))?.[1];
  return n === undefined ? undefined : Number(n);
}

/** Directories in a directory, then links to some, each in order of name: of two names of one directory its own comes first. @throws IoError */
function subdirectories(directory: string): string[] {
  const { directories, links } = childrenOf(directory);
  return [...directories, ...links];
}

function childrenOf(directory: string): { readonly directories: readonly string[]; readonly links: readonly string[] } {
  const names: string[] = [];
  const links: string[] = [];
  let dir: ReturnType<typeof opendirSync> | undefined;
  try {
    dir = opendirSync(directory, { bufferSize: 256 });
    let entry: Dirent | null;
    let count = 0;
    while ((entry = dir.readSync()) !== null) {
      if (++count > MAX_ENTRIES)
        throw new IoError(`the directory has more than ${MAX_ENTRIES} entries`, { file: directory, hint: NAME_IT });
      if (entry.isDirectory()) names.push(entry.name);
      else if (entry.isSymbolicLink()) links.push(entry.name);
    }
  } catch (error) {
    throw error instanceof IoError ? error : fileError(error, directory);
  } finally {
    dir?.closeSync();
  }
  return { directories: names.sort(), links: links.sort() };
}

/** never snapshots, and often huge */
const STATE_DIRECTORIES = new Set(['shared', 'taskowned', 'dstl']);
const NAME_IT = 'name the directory of the savepoint or checkpoint itself';

interface Below {
  readonly places: SnapshotPlace[];
  /** chk-N directories without `_metadata` */
  readonly incomplete: string[];
  readonly errors: StateQueryError[];
  /** directories that are a place or incomplete, by device and inode */
  readonly found: Set<string>;
  looked: number;
}

const nothingYet = (): Below => ({ places: [], incomplete: [], errors: [], found: new Set(), looked: 0 });

function chooseBelow(given: string): LocatedSnapshot {
  const below = nothingYet();
  if (checkpointNumber(given) !== undefined) throw incompleteCheckpoint(given);
  const { directories, links } = childrenOf(given);
  // links last: of a directory and a link to it, the directory counts
  for (const children of [directories, links]) {
    for (const name of children) lookIn(join(given, name), below);
    const snapshots = new Set(below.places.map(place => place.directory));
    for (const name of children) {
      const child = join(given, name);
      if (/^chk-\d+$/.test(name) || STATE_DIRECTORIES.has(name) || snapshots.has(child)) continue;
      for (const checkpoint of checkpointsIn(child, below)) lookIn(checkpoint, below);
    }
  }
  if (below.places.length === 0) throw nothingBelow(given, below);
  const chosen = latest(below.places);
  const others = below.places.length - 1;
  const why = below.places.every(p => p.checkpoint !== undefined && dirname(p.directory) === dirname(chosen.directory))
    ? 'the highest checkpoint'
    : 'the newest snapshot';
  const which = others === 0 ? `reading ${chosen.directory}` : `reading ${chosen.directory}, ${why} of ${others + 1} below ${given}`;
  const unread = below.errors.length === 0 ? '' : `; not looked into: ${below.errors.length} (${below.errors[0].describe()})`;
  return { directory: chosen.directory, metadataPath: chosen.metadataPath, others, note: which + unread };
}

function lookIn(directory: string, below: Below): void {
  if (++below.looked > MAX_DIRECTORIES)
    throw new IoError(`more than ${MAX_DIRECTORIES} directories to look into`, { file: dirname(directory), hint: NAME_IT });
  const place = placeOf(directory);
  if (place instanceof IoError) below.errors.push(place);
  else if (place !== undefined) {
    if (isNew(directory, below)) below.places.push(place);
  } else if (checkpointNumber(directory) !== undefined && isNew(directory, below)) below.incomplete.push(directory);
}

/** False for another name of a directory that was found already. */
function isNew(directory: string, { found }: Below): boolean {
  const stat = statOf(directory);
  const identity = stat === undefined ? directory : `${stat.dev}:${stat.ino}`;
  if (found.has(identity)) return false;
  found.add(identity);
  return true;
}

function checkpointsIn(directory: string, below: Below): string[] {
  try {
    return subdirectories(directory)
      .filter(name => /^chk-\d+$/.test(name))
      .map(name => join(directory, name));
  } catch (error) {
    // a link to a file, or a directory that may not be listed
    if (error instanceof IoError) below.errors.push(error);
    return [];
  }
}

/** Of each job directory the highest chk-N counts; of those and the savepoints the newest, ties by name. */
export function latest(places: readonly SnapshotPlace[]): SnapshotPlace {
  const best = new Map<string, SnapshotPlace>();
  for (const place of places) {
    const group = place.checkpoint === undefined ? place.directory : `${dirname(place.directory)}/chk-`;
    const known = best.get(group);
    if (known === undefined || (place.checkpoint ?? 0) > (known.checkpoint ?? 0)) best.set(group, place);
  }
  return [...best.values()].sort(
    (a, b) => b.modifiedMillis - a.modifiedMillis || (a.directory < b.directory ? -1 : a.directory > b.directory ? 1 : 0),
  )[0];
}

function incompleteCheckpoint(directory: string): NotFoundError {
  const below = nothingYet();
  for (const other of checkpointsIn(dirname(directory), below)) lookIn(other, below);
  const hint =
    below.places.length === 0
      ? 'the checkpoint was not completed, or was removed'
      : `the checkpoint was not completed, or was removed; the highest complete one beside it is ${latest(below.places).directory}`;
  return new NotFoundError('no _metadata in the checkpoint directory', { file: directory, hint });
}

function nothingBelow(given: string, below: Below): StateQueryError {
  if (below.errors.length > 0) return below.errors[0];
  const looked = `looked for ${given}/_metadata, ${given}/*/_metadata and ${given}/*/chk-*/_metadata`;
  const hint =
    below.incomplete.length === 0
      ? looked
      : `${looked}; ${below.incomplete[0]} has none: ${below.incomplete.length === 1 ? 'a checkpoint' : 'checkpoints'} not completed`;
  return new NotFoundError('no savepoint or checkpoint here', { file: given, hint });
}

/** For `ls`: everything in a directory that is a snapshot or an incomplete checkpoint, four levels deep. */
export interface FoundSnapshots {
  readonly places: readonly SnapshotPlace[];
  readonly incomplete: readonly { readonly directory: string; readonly modifiedMillis: number }[];
  /** what could not be looked at */
  readonly errors: readonly StateQueryError[];
}

const LIST_DEPTH = 4;

/** Finds all snapshots below a directory, without following a link twice. @throws NotFoundError, IoError, UnsupportedError */
export function findSnapshots(path: string): FoundSnapshots {
  const scheme = remoteScheme(path);
  if (scheme !== undefined && path.includes('://'))
    throw new UnsupportedError(`${scheme}:// paths are not read`, { file: path, hint: 'copy the directory here and name the copy' });
  const given = resolve(scheme === undefined ? localPath(path) : path);
  const tried: TriedPath[] = [];
  const stat = statOf(given, tried);
  if (stat === undefined) throw tried[0].error ?? missing(given);
  if (!stat.isDirectory())
    throw new NotFoundError('not a directory', { file: given, hint: 'name a directory that has snapshots below it' });
  const below = nothingYet();
  const seen = new Set<string>();
  const visit = (directory: string, depth: number): void => {
    const at: Stats | undefined = statOf(directory);
    if (at === undefined || !at.isDirectory()) return;
    const identity = `${at.dev}:${at.ino}`;
    if (seen.has(identity)) return;
    seen.add(identity);
    const before = below.places.length + below.incomplete.length;
    lookIn(directory, below);
    if (below.places.length + below.incomplete.length > before || depth === LIST_DEPTH) return;
    let names: string[];
    try {
      names = subdirectories(directory);
    } catch (error) {
      if (depth === 0) throw error;
      if (error instanceof IoError) below.errors.push(error);
      return;
    }
    for (const name of names) if (!STATE_DIRECTORIES.has(name)) visit(join(directory, name), depth + 1);
  };
  visit(given, 0);
  return {
    places: below.places,
    incomplete: below.incomplete.map(directory => ({ directory, modifiedMillis: statOf(directory)?.mtimeMs ?? 0 })),
    errors: below.errors,
  };
}
