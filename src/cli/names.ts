/**
 * Names from outside the snapshot, by the reading options and by what lies beside `_metadata`. The most trusted first:
 *
 *   --names · --uids · --plan, else plan.json beside it · --state-info, else stateInfo beside it · _stateinfo beside it · --guess-uids
 */
import { readFileSync } from 'node:fs';
import { locateSnapshot } from '../checkpoint/locate.js';
import { readMetadataFile } from '../checkpoint/metadata.js';
import { inferUids, matchUids, parseUidsFile } from '../checkpoint/uid.js';
import { StateQueryError } from '../errors.js';
import { fileError, ReadStats } from '../io/source.js';
import { namesOfFile, readNamesFile } from '../names/names-file.js';
import { type KnownName, mergeNames, type OperatorNames, planNames } from '../names/operator-names.js';
import { planBeside, readPlan } from '../names/plan.js';
import { nameOperators } from '../tables/names.js';
import type { ReadingFlags } from './options.js';

/** What the options and the files beside a snapshot tell of its operators. @throws StateQueryError */
export async function namesFor(path: string, flags: ReadingFlags, warn: (message: string) => void): Promise<OperatorNames> {
  const { metadataPath } = locateSnapshot(path);
  const metadata = readMetadataFile(metadataPath, new ReadStats());
  const ids = metadata.operators.map(o => o.id);
  const sources: OperatorNames[] = [];
  if (flags.uids !== undefined) sources.push(uidNames(ids, flags.uids));
  const plan = flags.plan ?? planBeside(metadataPath);
  if (plan !== undefined) sources.push(orWarn(flags.plan === undefined, plan, warn, () => planNames(readPlan(plan), metadata)));
  if (flags.guessUids === true)
    sources.push(new Map([...inferUids(ids)].map(([id, { uid }]): [string, KnownName] => [id, { uid, name: null, source: 'inferred' }])));
  if (flags.names === undefined) return mergeNames(...sources);
  const known = mergeNames(...sources);
  const byHand = namesOfFile(await readNamesFile(flags.names), nameOperators(metadata, known), (key, line) =>
    warn(`${flags.names}, line ${line}: there is no operator ${key} in the snapshot`),
  );
  return mergeNames(byHand, known);
}

/** What lies beside a snapshot without being asked for must not keep it from being read. */
export function orWarn(beside: boolean, file: string, warn: (message: string) => void, read: () => OperatorNames): OperatorNames {
  try {
    return read();
  } catch (error) {
    if (!beside || !(error instanceof StateQueryError)) throw error;
    warn(`${file} is not used: ${error.message}`);
    return new Map();
  }
}

function uidNames(ids: readonly string[], file: string): OperatorNames {
  const matched = matchUids(ids, parseUidsFile(readUids(file), file));
  return new Map([...matched].map(([id, { uid, name }]): [string, KnownName] => [id, { uid, name: name ?? null, source: 'file' }]));
}

export function readUids(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw fileError(error, file);
  }
}
