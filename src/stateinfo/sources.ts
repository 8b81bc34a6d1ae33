/**
 * Names from outside a snapshot: what the user gives, and what lies beside `_metadata`. The most trusted first:
 *
 *   names file · list of uids · job graph · compiled plan, else plan.json beside it · stateInfo file, else stateInfo beside it
 *   `_stateinfo` beside it · uids found by their hash
 *
 * What lies there without being asked for never keeps a snapshot from being read: where it is damaged or of another job, that is said.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Metadata } from '../checkpoint/handles.js';
import { locateSnapshot } from '../checkpoint/locate.js';
import { readMetadataFile } from '../checkpoint/metadata.js';
import { inferUids, matchUids, parseUidsFile } from '../checkpoint/uid.js';
import { StateQueryError, UsageError } from '../errors.js';
import { fileError, ReadStats } from '../io/source.js';
import type { ClassPool } from '../java/class-file.js';
import { namesOfFile, readNamesFile } from '../names/names-file.js';
import { type KnownName, mergeNames, type OperatorNames, planNames } from '../names/operator-names.js';
import { planBeside, readPlan } from '../names/plan.js';
import { nameOperators } from '../tables/names.js';
import { type OpenOptions, openSnapshot } from '../tables/snapshot.js';
import { nearest } from '../tables/suggest.js';
import { decodeStateInfoFile, readStateInfoFile } from './bytedance.js';
import { graphNames, type JobGraph } from './graph.js';
import { decodeStateInfo, isStateInfo, readBytes, STATE_INFO_NAME, type StateInfo } from './message.js';
import { describedNames, poolOf, staleness, stateInfoNames } from './names.js';

/** Files by path. */
export interface NameSources {
  readonly names?: string;
  readonly uids?: string;
  readonly graph?: JobGraph;
  readonly plan?: string;
  readonly stateInfo?: string;
  /** look for uids that hash to the operator ids */
  readonly guessUids?: boolean;
  /** false: nothing beside the snapshot is read */
  readonly beside?: boolean;
}

/** What opening a snapshot takes of them. */
export interface GatheredNames {
  readonly names: OperatorNames;
  readonly classes?: ClassPool;
}

/** ByteDance's file beside `_metadata`. */
export const DESCRIBED_NAME = '_stateinfo';

/** @param options those that the snapshot will be opened with. @throws StateQueryError for what is given and wrong */
export async function gatherNames(path: string, sources: NameSources, options: OpenOptions = {}): Promise<GatheredNames> {
  const { metadataPath } = locateSnapshot(path);
  const metadata = readMetadataFile(metadataPath, new ReadStats());
  const ids = metadata.operators.map(o => o.id);
  const warn = options.warn ?? (() => undefined);
  const lying = (file: string | undefined): string | undefined =>
    sources.beside !== false && file !== undefined && existsSync(file) ? file : undefined;
  const found: OperatorNames[] = [];
  let classes: ClassPool | undefined;

  if (sources.uids !== undefined) found.push(listedUids(metadata, sources.uids, warn));
  if (sources.graph !== undefined) found.push(graphNames(sources.graph));
  const plan = sources.plan ?? lying(planBeside(metadataPath));
  if (plan !== undefined) {
    const planned = (await orWarn(sources.plan === undefined, plan, warn, () => planNames(readPlan(plan), metadata))) ?? new Map();
    if (sources.plan !== undefined && planned.size === 0) warn(`${plan}: no operator of the plan is in the snapshot`);
    found.push(planned);
  }
  const stateInfo = sources.stateInfo ?? lying(join(dirname(metadataPath), STATE_INFO_NAME));
  if (stateInfo !== undefined) {
    const read = await orWarn(sources.stateInfo === undefined, stateInfo, warn, () => openStateInfo(stateInfo, path, options));
    if (read !== undefined) {
      found.push(read.names);
      classes = read.info === undefined ? undefined : poolOf(read.info.classes, options.classes);
    }
  }
  const described = lying(join(dirname(metadataPath), DESCRIBED_NAME));
  if (described !== undefined)
    found.push((await orWarn(true, described, warn, () => describedNames(readStateInfoFile(described)))) ?? new Map());
  if (sources.guessUids === true)
    found.push(new Map([...inferUids(ids)].map(([id, { uid }]): [string, KnownName] => [id, { uid, name: null, source: 'inferred' }])));

  let names = mergeNames(...found);
  if (sources.names !== undefined) {
    const file = await readNamesFile(sources.names);
    const operators = nameOperators(metadata, names);
    const byHand = namesOfFile(file, operators, (key, line) => {
      const known = operators.flatMap(o => [o.uid, o.name, o.id].filter(n => n !== null));
      warn(`${file.file}, line ${line}: there is no operator ${key} in the snapshot${didYouMean(key, known)}`);
    });
    names = mergeNames(byHand, names);
  }
  return { names, ...(classes === undefined ? {} : { classes }) };
}

async function orWarn<T>(
  beside: boolean,
  file: string,
  warn: (message: string) => void,
  read: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!beside || !(error instanceof StateQueryError)) throw error;
    const at = [...(error.offset === undefined ? [] : [`byte ${error.offset}`]), ...(error.where === undefined ? [] : [error.where])];
    warn(`${file} is not used: ${error.message}${at.length === 0 ? '' : ` (${at.join(', ')})`}`);
    return undefined;
  }
}

/** A file of either kind, checked against the snapshot. @throws UsageError when it is of another job */
async function openStateInfo(
  file: string,
  path: string,
  { warn: _, ...options }: OpenOptions,
): Promise<{ readonly names: OperatorNames; readonly info?: StateInfo }> {
  const bytes = readBytes(file);
  const snapshot = openSnapshot(path, options);
  try {
    if (!isStateInfo(bytes) && basenameIs(file, DESCRIBED_NAME)) return { names: describedNames(decodeStateInfoFile(bytes, file)) };
    const info = await decodeStateInfo(bytes, file);
    const reasons = staleness(info, snapshot);
    if (reasons.length > 0) {
      const more = reasons.length > 1 ? ` (and ${reasons.length - 1} more)` : '';
      throw new UsageError(`the stateInfo file does not belong to this snapshot: ${reasons[0]}${more}`, {
        file,
        hint: 'build it again: statequery stateinfo build <snapshot> -o FILE',
      });
    }
    return { names: stateInfoNames(info, file), info };
  } finally {
    snapshot.close();
  }
}

const basenameIs = (file: string, name: string): boolean => file.endsWith(name);

const didYouMean = (name: string, known: readonly string[]): string => {
  const near = nearest(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
};

function listedUids(metadata: Metadata, file: string, warn: (message: string) => void): OperatorNames {
  const ids = metadata.operators.map(o => o.id);
  const entries = parseUidsFile(readText(file), file);
  const matched = matchUids(ids, entries);
  const unused = entries.filter(entry => matchUids(ids, [entry]).size === 0).map(entry => entry.uid);
  if (unused.length > 0) {
    const known = nameOperators(metadata).flatMap(o => o.uid ?? []);
    const told =
      unused.length === entries.length
        ? 'none of its uids is of an operator of the snapshot'
        : `${unused.length} of ${entries.length} uids match no operator of the snapshot: ${unused.slice(0, 5).join(', ')}${unused.length > 5 ? ', …' : ''}`;
    const near = unused.map(uid => didYouMean(uid, known)).find(text => text !== '') ?? '';
    warn(`${file}: ${told}${near}`);
  }
  return new Map([...matched].map(([id, { uid, name }]): [string, KnownName] => [id, { uid, name: name ?? null, source: 'file' }]));
}

/** @throws NotFoundError, IoError */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw fileError(error, file);
  }
}
