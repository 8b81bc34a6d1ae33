/**
 * Flink's own readers of snapshots, by the program `bench-flink` that lies beside the repository (or where STATEQUERY_SHARED says): its SQL
 * connector, its State Processor API, and RocksDB's C++ iterator. Each run is a new JVM, measured whole by that program, whose answer it
 * compares with the state's TRUTH.json itself.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from './process.js';
import { FLINK_KINDS, type Peer } from './questions.js';

/** The program, where Java, Maven and Python are there to run it. */
export interface Flink {
  readonly script: string;
}

export interface PeerRun extends Peer {
  readonly wall: number;
  readonly cpu: number;
  readonly rssMb: number;
  readonly load: number;
}

/** What bench-flink writes about a run, a line of JSON. */
interface Line {
  readonly state: string;
  readonly peer: string;
  readonly query: string;
  readonly wall: number;
  readonly user: number;
  readonly sys: number;
  readonly rss_mb: number;
  readonly load_before: number;
  readonly rc: number;
  readonly ok: boolean | null;
}

export function findFlink(): Flink | undefined {
  const shared = process.env['STATEQUERY_SHARED'] ?? resolve(import.meta.dirname, '../../../shared');
  const script = join(shared, 'bench-flink/run.sh');
  const programs = { java: '-version', mvn: '--version', python3: '--version' };
  const isThere = ([program, flag]: readonly [string, string]): boolean => spawnSync(program, [flag], { stdio: 'ignore' }).status === 0;
  return existsSync(script) && Object.entries(programs).every(isThere) ? { script } : undefined;
}

/** Makes those that are missing: minutes for 10^7 keys. */
export async function makeFlinkStates(
  flink: Flink,
  folder: string,
  size: string,
  keys: number,
  say: (text: string) => void,
): Promise<void> {
  for (const [prefix, backend] of [
    ['rocks', 'rocksdb'],
    ['heap', 'hashmap'],
  ]) {
    const kinds = FLINK_KINDS.filter(kind => kind.startsWith(prefix));
    if (kinds.every(kind => existsSync(join(folder, `${kind}-${size}`, 'TRUTH.json')))) continue;
    say(`Flink writes ${kinds.map(kind => `${kind}-${size}`).join(', ')}`);
    await run('bash', [flink.script, 'states', String(keys), backend], { env: { ...process.env, STATES: folder } });
  }
}

/** Runs Flink's readers, each question once; what was recorded before counts as well. */
export class FlinkReaders {
  private readonly runs: Line[];

  /** @param recorded a file of lines that bench-flink wrote */
  constructor(
    private readonly flink: Flink | undefined,
    private readonly folder: string,
    recorded: string | undefined,
  ) {
    this.runs = recorded === undefined ? [] : linesOf(readFileSync(recorded, 'utf8'));
  }

  /** The fastest run. @throws Error when it fails or answers wrongly */
  async ask(state: string, peer: Peer): Promise<PeerRun | undefined> {
    if (this.find(state, peer).length === 0 && this.flink !== undefined) {
      const command =
        peer.tool === 'rocksjni' ? ['limits', state] : peer.query === 'meta' ? ['meta', state] : [peer.tool, state, peer.query];
      const env = { ...process.env, STATES: this.folder };
      this.runs.push(...linesOf((await run('bash', [this.flink.script, ...command, '1'], { env })).stdout));
    }
    const [best] = [...this.find(state, peer)].sort((a, b) => a.wall - b.wall);
    if (best === undefined) return undefined;
    if (best.rc !== 0 || best.ok === false) throw new Error(`${peer.tool} ${peer.query} of ${state} failed`);
    return { ...peer, wall: best.wall, cpu: best.user + best.sys, rssMb: best.rss_mb, load: best.load_before };
  }

  private find(state: string, { tool, query }: Peer): readonly Line[] {
    return this.runs.filter(line => line.state === state && line.peer === tool && line.query === query);
  }
}

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Line);
}
