/**
 * The states that the bench reads: `<folder>/<kind>-<size>/` with TRUTH.json, PATH (where the snapshot is) and the snapshot.
 *
 * What is not there yet is made: by Flink, where `bench-flink` and Java are at hand (flink.ts), otherwise by states.ts.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Flink, makeFlinkStates } from './flink.js';
import { FLINK_KINDS, type Kind, OWN_KINDS } from './questions.js';
import { writeState } from './states.js';
import { readTruth, type Truth, truthOfMade } from './truth.js';

export interface BenchState {
  /** `rocks-canon-1m` */
  readonly name: string;
  readonly kind: Kind;
  readonly size: string;
  readonly snapshot: string;
  /** of the snapshot, all of them */
  readonly files: readonly string[];
  readonly bytes: number;
  readonly truth: Truth;
}

/** Where states are kept, outside of any repository. */
export const stateFolder = (): string => process.env['STATES'] ?? join(homedir(), '.cache/bench-states');

/** `10k`, `1m` as numbers. @throws Error */
export function keysOfSize(size: string): number {
  const parts = /^([1-9]\d*)(k|m)$/.exec(size);
  if (parts === null) throw new Error(`${size} is no size: 10k, 1m, 10m`);
  return Number(parts[1]) * (parts[2] === 'k' ? 1e3 : 1e6);
}

/**
 * States of one size, made when they are missing.
 * @param flink undefined: only states of states.ts
 */
export async function statesOfSize(
  folder: string,
  size: string,
  flink: Flink | undefined,
  say: (text: string) => void,
): Promise<readonly BenchState[]> {
  if (flink !== undefined) await makeFlinkStates(flink, folder, size, keysOfSize(size), say);
  const found = FLINK_KINDS.filter(kind => existsSync(join(folder, `${kind}-${size}`, 'TRUTH.json')));
  const kinds: readonly Kind[] = found.length > 0 ? found : OWN_KINDS;
  for (const kind of found.length > 0 ? [] : OWN_KINDS) makeOwn(folder, kind, size, say);
  return kinds.map(kind => openState(folder, kind, size));
}

/** The states of states.ts, whatever Flink's there are. */
export function ownStates(folder: string, size: string, say: (text: string) => void): readonly BenchState[] {
  return OWN_KINDS.map(kind => {
    makeOwn(folder, kind, size, say);
    return openState(folder, kind, size);
  });
}

function makeOwn(folder: string, kind: (typeof OWN_KINDS)[number], size: string, say: (text: string) => void): void {
  const directory = join(folder, `${kind}-${size}`);
  if (existsSync(join(directory, 'TRUTH.json'))) return;
  rmSync(directory, { recursive: true, force: true });
  say(`writing ${kind}-${size}`);
  const keys = keysOfSize(size);
  const { path } = writeState(join(directory, 'savepoint'), keys, kind === 'own-heap' ? 'heap' : 'canonical');
  writeFileSync(join(directory, 'PATH'), `${path}\n`);
  writeFileSync(join(directory, 'TRUTH.json'), `${JSON.stringify(truthOfMade(keys), undefined, 2)}\n`);
}

function openState(folder: string, kind: Kind, size: string): BenchState {
  const name = `${kind}-${size}`;
  const directory = join(folder, name);
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter(file => file !== 'PATH' && file !== 'TRUTH.json')
    .map(file => join(directory, file))
    .filter(file => statSync(file).isFile())
    .sort();
  return {
    name,
    kind,
    size,
    snapshot: readFileSync(join(directory, 'PATH'), 'utf8')
      .trim()
      .replace(/^file:/, ''),
    files,
    bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
    truth: readTruth(join(directory, 'TRUTH.json')),
  };
}
