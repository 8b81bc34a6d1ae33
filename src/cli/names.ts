/** Names of operators from outside the snapshot: a file of uids, and uids found by their hash. */
import { readFileSync } from 'node:fs';
import { inferUids, matchUids, parseUidsFile } from '../checkpoint/uid.js';
import { fileError } from '../io/source.js';
import type { KnownName, OperatorNames } from '../names/operator-names.js';
import { type OpenOptions, openSnapshot } from '../tables/snapshot.js';
import type { ReadingFlags } from './options.js';

/** The names that --uids and --guess-uids give to the operators of a snapshot; undefined when neither is asked for. */
export function namesFor(path: string, flags: ReadingFlags, options: OpenOptions): OperatorNames | undefined {
  if (flags.uids === undefined && flags.guessUids !== true) return undefined;
  const { warn: _, ...quiet } = options;
  const snapshot = openSnapshot(path, quiet);
  const ids = snapshot.operators.filter(o => o.uidSource !== 'snapshot').map(o => o.id);
  snapshot.close();
  const names = new Map<string, KnownName>();
  if (flags.guessUids === true) for (const [id, { uid }] of inferUids(ids)) names.set(id, { uid, name: null, source: 'inferred' });
  if (flags.uids !== undefined)
    for (const [id, { uid, name }] of matchUids(ids, parseUidsFile(readUids(flags.uids), flags.uids)))
      names.set(id, { uid, name: name ?? null, source: 'file' });
  return names;
}

export function readUids(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw fileError(error, file);
  }
}
