/**
 * What a run of the bench found: test/bench/results/<date>.json.
 *
 *   schema      1
 *   date        when it began, UTC
 *   commit      what was measured; `-dirty`: with changes
 *   machine     CPU, cores, memory, Node: times are comparable on one machine only, ratios nearly everywhere
 *   repeat      runs of a question, of which the median counts; those of start-up are five times as many
 *   threads     `--threads` of the statements; null: as statequery chooses
 *   start       `node -e 0`; version: `statequery --version`
 *   states[]    name, keys, bytes of all files, who made it, and, measured just before its answers: start, and cat, `cat` of all files
 *   answers[]   question, its runs (wall, rssMb: the median; cpu: the mean); limit and toLimit: its wall time by that of `node -e 0`
 *               and, where everything has to be read, `cat` of all files; bytesRead and reads: of the command itself;
 *               flink: a reader of Flink's that was asked the same
 *
 * Seconds, MB (2^20); load: load average before; others: cores that were busy with something else. There are no paths and no names of
 * machines.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { PeerRun } from './flink.js';

export interface Measured {
  readonly wall: number;
  readonly cpu?: number;
  readonly rssMb?: number;
  readonly load: number;
  readonly others?: number;
}

export interface Answer extends Measured {
  readonly question: string;
  readonly runs: number;
  readonly limit: 'read' | 'start';
  readonly toLimit: number;
  readonly rowsPerSecond?: number;
  readonly bytesRead?: number;
  readonly reads?: number;
  readonly flink?: PeerRun;
}

export interface StateResults {
  readonly state: string;
  readonly kind: string;
  readonly size: string;
  readonly keys: number;
  readonly bytes: number;
  /** `Flink 2.3.0`, or `states.ts` */
  readonly madeBy: string;
  readonly start: Measured;
  readonly cat: Measured & { readonly bytesPerSecond: number };
  readonly answers: readonly Answer[];
}

export interface Results {
  readonly schema: 1;
  readonly date: string;
  readonly commit: string | null;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGb: number;
    readonly node: string;
    readonly platform: string;
  };
  readonly repeat: number;
  readonly threads: number | null;
  readonly start: Measured;
  readonly version: Measured & { readonly toLimit: number };
  readonly states: readonly StateResults[];
}

const ROOT = resolve(import.meta.dirname, '../..');
const COMMITTED = 'test/bench/results';
export const RESULTS = join(ROOT, COMMITTED);

/** Writes `<date>.json`; a run of the same day is replaced. Returns its path. */
export function writeResults(results: Results, folder: string = RESULTS): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${results.date.slice(0, 10)}.json`);
  writeFileSync(path, `${JSON.stringify(results, undefined, 1)}\n`);
  return path;
}

/** The newest in a folder that a condition holds of. */
export function newestResults(folder: string = RESULTS, is: (results: Results) => boolean = () => true): Results | undefined {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter(name => name.endsWith('.json'));
  for (const name of names.sort().reverse()) {
    const results = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Results;
    if (is(results)) return results;
  }
  return undefined;
}

/** The last result that was committed. */
export function committedResults(): Results | undefined {
  const newest = git(['ls-tree', '--name-only', 'HEAD', `${COMMITTED}/`])
    ?.split('\n')
    .filter(name => name.endsWith('.json'))
    .sort()
    .at(-1);
  const text = newest === undefined ? undefined : git(['show', `HEAD:${newest}`]);
  return text === undefined ? undefined : (JSON.parse(text) as Results);
}

export const headCommit = (): string | null => git(['describe', '--always', '--dirty', '--exclude', '*'])?.trim() ?? null;

/** undefined: there is no git, or no such thing in it */
function git(args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}
