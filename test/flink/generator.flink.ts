/** Flink itself, through the generator of the fixtures: snapshots written now are read here, and those of the fixtures are restored by Flink. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClassPool } from '../../src/java/jar.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { compareSnapshot, type Stated } from '../golden/compare.js';
import { parseExact } from '../golden/stated.js';

const ROOT = resolve(import.meta.dirname, '../..');
const RUN = join(ROOT, 'fixtures/generator/run.sh');

let temp: string;
beforeAll(() => {
  temp = mkdtempSync(join(tmpdir(), 'statequery-flink-'));
});
afterAll(() => rmSync(temp, { recursive: true, force: true }));

/** Runs the generator; what it prints. @throws when it fails */
function generator(args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const ran = spawnSync(RUN, args, {
    env: { ...process.env, FIXTURE_ROOT: join(temp, 'root'), ...env },
    encoding: 'utf8',
    timeout: 800_000,
    maxBuffer: 1 << 26,
  });
  if (ran.status !== 0) throw new Error(`${args.join(' ')}: ${ran.error?.message ?? `exit ${ran.status}`}\n${ran.stdout}\n${ran.stderr}`);
  return ran.stdout;
}

describe('snapshots written now', () => {
  // one case each: the names are whole but for the version
  it.each([
    ['2.3', 'kinds-rocksdb-incremental-p1'],
    ['2.3', 'small-hashmap-checkpoint-snappy'],
  ])('Flink %s %s', (version, filter) => {
    const out = join(temp, `${version}-${filter}`);
    generator([version, filter], { FIXTURE_OUT: out });
    const names = readdirSync(join(out, 'snapshots'));
    expect(names).toEqual([`${version}-${filter}`]);
    const directory = join(out, 'snapshots', names[0]);
    const stated = parseExact(readFileSync(join(directory, 'fixture.json'), 'utf8')) as unknown as Stated;
    const path = dirname(join(directory, stated.metadata_path ?? 'snapshot/_metadata'));
    const snapshot = openSnapshot(path, { classes: openClassPool([join(out, 'classes.jar')]) });
    try {
      expect(stated.operators.flatMap(o => o.states.flatMap(s => s.rows)).length).toBeGreaterThan(50);
      expect(compareSnapshot(snapshot, stated)).toEqual([]);
    } finally {
      snapshot.close();
    }
  });
});

describe('fixtures restored by Flink hold what they state', () => {
  it.each([['2.3', 'small-rocksdb-canonical']])('Flink %s %s', (version, filter) => {
    const printed = generator(['verify', version, filter]);
    const [, agreeing, all] = /(\d+) of (\d+) cases agree/.exec(printed) ?? [];
    expect(agreeing).toBe(all);
    expect(printed).toMatch(/ok [1-9]\d* keys of states/);
  });
});
