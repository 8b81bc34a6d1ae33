/**
 * Paths of state files, as Flink's Path.toString() wrote them, and where such a file may lie now.
 *
 *   file:/a/b   file:///a/b   /a/b      local
 *   s3://bucket/a/b   hdfs://nn:9000/a  another file system: found only as a local copy
 *
 * Nothing is percent-encoded. A moved snapshot keeps the absolute paths of where it was written: `--rebase old=new` says where the
 * files are, else the longest suffix of the path is taken that exists below the snapshot's directory or one of its three parents
 * (its siblings shared/, taskowned/, dstl/, the directories of other jobs).
 *
 * Flink: org.apache.flink.core.fs.Path, layouts of AbstractFsCheckpointStorageAccess (1.20).
 */
import { existsSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { IoError, UsageError } from '../errors.js';
import { fileError } from '../io/source.js';

/** A path prefix and what stands in its place. */
export interface Rebase {
  readonly from: string;
  readonly to: string;
}

/** Scheme of a path, undefined for local files. */
export function remoteScheme(path: string): string | undefined {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(path)?.[1];
  return scheme === undefined || scheme.toLowerCase() === 'file' ? undefined : scheme;
}

/** `file:/a`, `file:///a`, `file://localhost/a` and `/a` to `/a`; other schemes unchanged. No trailing slash. */
export function localPath(path: string): string {
  let local = path;
  if (/^file:/i.test(local)) {
    local = local.slice(5);
    if (local.startsWith('//')) local = local.slice(2).replace(/^localhost(?=\/|$)/, '');
  }
  return local.length > 1 ? local.replace(/\/+$/, '') || '/' : local;
}

/** The components below the root (and below the authority of another scheme). */
function components(path: string): string[] {
  const rest = remoteScheme(path) === undefined ? localPath(path) : path.replace(/^[^:]*:(\/\/[^/]*)?/, '');
  return rest.split('/').filter(c => c !== '');
}

/** `old=new`; a `=` in the old path is allowed when what follows the right one exists. @throws UsageError */
export function parseRebase(text: string): Rebase {
  const splits = [...text.matchAll(/=/g)].map(m => m.index);
  const usable = splits.filter(i => i > 0 && i < text.length - 1);
  if (usable.length === 0)
    throw new UsageError(`--rebase ${text}: expected old=new`, { hint: '--rebase file:/flink/checkpoints=/mnt/copy/checkpoints' });
  const at = usable.find(i => existsSync(localPath(text.slice(i + 1)))) ?? usable[0];
  return { from: localPath(text.slice(0, at)), to: localPath(text.slice(at + 1)) };
}

/** The path under each prefix that matches it whole components, the longest prefix first. */
export function rebased(path: string, rebase: readonly Rebase[]): string[] {
  const plain = localPath(path);
  return rebase
    .map(({ from, to }) => ({ from: localPath(from), to: localPath(to) }))
    .filter(({ from }) => plain === from || plain.startsWith(from.endsWith('/') ? from : `${from}/`))
    .sort((a, b) => b.from.length - a.from.length)
    .map(({ from, to }) => join(to, plain.slice(from.length)));
}

/** Whether a name or path has a part that Flink made unique: a UUID, or an id of 32 hex digits. */
export function hasUniquePart(path: string): boolean {
  return /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}/.test(path);
}

/** Looks for the longest suffix of a path below a snapshot's directory and its three parents. */
export class SuffixLookup {
  private readonly bases: readonly string[];
  /** directory of a path as written → existing directories that end like it, the longest suffix first */
  private readonly directories = new Map<string, readonly { readonly path: string; readonly suffix: string }[]>();

  /** @param directories the snapshot's own, and others that are as good */
  constructor(...directories: readonly string[]) {
    const bases: string[] = [];
    for (const start of directories.flatMap(directory => [resolve(directory), realPathOf(directory)])) {
      let base = start;
      for (let up = 0; up < 4; up++) {
        if (!bases.includes(base)) bases.push(base);
        base = dirname(base);
      }
    }
    this.bases = bases;
  }

  /** The file among the snapshot's directories, undefined when there is none. What was tried is added to `tried`. */
  find(path: string, tried: TriedPath[]): { readonly path: string; readonly size: number } | undefined {
    const parts = components(path);
    const name = parts.pop();
    if (name === undefined || name === '..' || parts.includes('..')) return undefined;
    const directory = parts.join('/');
    let candidates = this.directories.get(directory);
    if (candidates === undefined) {
      candidates = this.candidates(parts);
      this.directories.set(directory, candidates);
    }
    for (const candidate of candidates) {
      // a name such as 000012.sst is the same in many directories: a unique part of the path has to match too
      if (!hasUniquePart(name) && !hasUniquePart(candidate.suffix)) continue;
      const file = join(candidate.path, name);
      const stat = statOf(file, tried);
      if (stat !== undefined) return { path: file, size: stat.size };
    }
    return undefined;
  }

  private candidates(parts: readonly string[]): { path: string; suffix: string }[] {
    const found: { path: string; suffix: string }[] = [];
    for (let from = 0; from <= parts.length; from++) {
      const suffix = parts.slice(from).join('/');
      for (const base of this.bases) {
        const path = join(base, suffix);
        if (statOf(path)?.isDirectory() === true) found.push({ path, suffix });
      }
    }
    return found;
  }
}

/** A place where a file was looked for, and why it could not be looked at, if so. */
export interface TriedPath {
  readonly path: string;
  readonly error?: IoError;
}

/** stat, undefined when nothing is there or it cannot be looked at; the attempt is noted. */
export function statOf(path: string, tried: TriedPath[] = []): Stats | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    tried.push({ path });
    return stat;
  } catch (error) {
    const failure = fileError(error, path);
    tried.push(failure instanceof IoError ? { path, error: failure } : { path });
    return undefined;
  }
}

export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
