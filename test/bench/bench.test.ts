/** The bench itself: that it asks, checks and records, and what it calls worse. Nothing here depends on how long anything takes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BIN, ensureBuilt } from '../cli/run.js';
import { bench } from './bench.js';
import { growthOf, regressions } from './compare.js';
import { FlinkReaders } from './flink.js';
import { type BenchState, keysOfSize, ownStates } from './folders.js';
import { growthText, readmeTable, regressionText, tableOf } from './report.js';
import { type Answer, newestResults, type Results, writeResults } from './results.js';
import { namesByDigit } from './truth.js';

describe('a run over ten thousand keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'statequery-bench-test-'));
  let states: readonly BenchState[] = [];
  beforeAll(async () => {
    await ensureBuilt();
    states = ownStates(folder, '10k', () => {});
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('answers rightly, and is written and found again', async () => {
    const results = await bench({ command: BIN, states, repeat: 1, only: ['group', 'export'], say: () => {} });
    expect(results.states.map(s => [s.state, s.keys, s.answers.map(a => a.question)])).toEqual([
      ['own-canon-10k', 10_000, ['group', 'export']],
      ['own-heap-10k', 10_000, ['group']],
    ]);
    for (const { bytes, answers } of results.states) {
      expect(bytes).toBeGreaterThan(500_000);
      for (const answer of answers) {
        expect(answer.wall).toBeGreaterThan(0);
        expect(answer.toLimit).toBeGreaterThan(0);
        expect(answer.bytesRead).toBeGreaterThan(0);
      }
    }
    expect(tableOf(results)).toContain('own-heap-10k');
    writeResults(results, join(folder, 'results'));
    expect(newestResults(join(folder, 'results'))).toEqual(results);
    expect(JSON.stringify(results)).not.toContain(folder);
  });

  it('stops at a wrong answer', async () => {
    const [canonical] = states;
    const wrong = { ...canonical, truth: { ...canonical.truth, sumCount: canonical.truth.sumCount + 1 } };
    const asked = bench({ command: BIN, states: [wrong], repeat: 1, only: ['sum'], say: () => {} });
    await expect(asked).rejects.toThrow(/^wrong answer: own-canon-10k sum\n\[\{"total":4995000\}\]/);
    const lines = bench({
      command: BIN,
      states: [{ ...canonical, truth: { ...canonical.truth, keys: 10_001 } }],
      repeat: 1,
      only: ['export'],
      say: () => {},
    });
    await expect(lines).rejects.toThrow('20000 lines instead of 20002');
  });
});

it('sizes are thousands and millions', () => {
  expect([keysOfSize('10k'), keysOfSize('1m'), keysOfSize('25m')]).toEqual([10_000, 1_000_000, 25_000_000]);
  for (const size of ['', '0m', '10', '1g', '1.5m']) expect(() => keysOfSize(size)).toThrow('is no size');
});

it("names in Flink's states are known without reading", () => {
  const keys = 3000;
  const truth = { flink: '2.3.0', keys, sumCount: 0, eventEntries: 0, eventSum: 0, byStatus: [], samples: {} };
  const counts = new Map<string, number>();
  for (let i = 0; i < keys; i++) {
    const digits = (BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n) >> 20n).toString(16);
    counts.set(`user-${digits[0]}`, (counts.get(`user-${digits[0]}`) ?? 0) + 1);
  }
  expect(namesByDigit(truth)).toEqual([...counts].sort());
});

const answer = (question: string, more: Partial<Answer> = {}): Answer => ({
  question,
  runs: 3,
  limit: 'read',
  wall: 1,
  cpu: 1,
  rssMb: 100,
  load: 0,
  others: 0,
  toLimit: 5,
  ...more,
});

function resultsOf(answers: Readonly<Record<string, readonly Answer[]>>, more: Partial<Results> = {}): Results {
  return {
    schema: 1,
    date: '2026-11-30T12:00:00.000Z',
    commit: 'abcdef1',
    machine: { cpu: 'A CPU', cores: 2, memoryGb: 8, node: 'v20.0.0', platform: 'linux x64' },
    repeat: 3,
    threads: null,
    start: { wall: 0.05, cpu: 0.05, rssMb: 40, load: 0 },
    version: { wall: 0.05, cpu: 0.05, rssMb: 40, load: 0, toLimit: 1 },
    states: Object.entries(answers).map(([state, list]) => ({
      state,
      kind: state.replace(/-\w+$/, ''),
      size: state.replace(/.*-/, ''),
      keys: keysOfSize(state.replace(/.*-/, '')),
      bytes: 1e8,
      madeBy: 'Flink 2.3.0',
      start: more.start ?? { wall: 0.05, cpu: 0.05, rssMb: 40, load: 0 },
      cat: { wall: 0.15, cpu: 0.15, load: 0, bytesPerSecond: 1e9 },
      answers: list,
    })),
    ...more,
  };
}

describe('worse', () => {
  const before = resultsOf({ 'rocks-canon-1m': [answer('count'), answer('key', { limit: 'start', bytesRead: 1e6 })] });
  const found = (answers: readonly Answer[], more: Partial<Results> = {}) =>
    regressions(before, resultsOf({ 'rocks-canon-1m': answers }, more)).map(r => `${r.what}: ${r.measure} ${r.before} ${r.after}`);

  it('is nothing that stayed the same, became better, or is new', () => {
    expect(found([answer('count'), answer('sum', { wall: 100 })])).toEqual([]);
    expect(found([answer('count', { wall: 0.5, cpu: 0.5, rssMb: 50 }), answer('key', { limit: 'start', bytesRead: 10 })])).toEqual([]);
  });
  it('is a longer time on a quiet machine, whatever the CPU time says', () => {
    expect(found([answer('count', { wall: 1.2 })])).toEqual([]);
    expect(found([answer('count', { wall: 1.5 })])).toEqual(['rocks-canon-1m count: time 5 7.5']);
  });
  it('is a longer time on a busy machine when the CPU time is longer as well', () => {
    expect(found([answer('count', { wall: 3, others: 1 })])).toEqual([]);
    expect(found([answer('count', { wall: 3, cpu: 1.4, others: 1 })])).toEqual(['rocks-canon-1m count: time 5 15']);
  });
  it('is measured by the limit, not in seconds', () => {
    const slow = { wall: 0.5, cpu: 0.5, rssMb: 40, load: 0 };
    expect(found([answer('key', { limit: 'start', wall: 8, cpu: 8 })], { start: slow, version: { ...slow, toLimit: 1 } })).toEqual([]);
    expect(found([answer('key', { limit: 'start', wall: 8, cpu: 8 })])).toEqual(['rocks-canon-1m key: time 20 160']);
  });
  it('is more memory, and more bytes read', () => {
    expect(found([answer('count', { rssMb: 135 })])).toEqual([]);
    expect(found([answer('count', { rssMb: 150 })])).toEqual(['rocks-canon-1m count: memory 100 150']);
    expect(found([answer('key', { limit: 'start', bytesRead: 1_030_000 })])).toEqual(['rocks-canon-1m key: bytes read 1000000 1030000']);
  });
  it('is a start of --version, too', () => {
    expect(found([], { version: { wall: 0.1, cpu: 0.1, load: 0, toLimit: 2 } })).toEqual(['--version: time 1 2']);
  });
  it('is told with its numbers', () => {
    const after = resultsOf({ 'rocks-canon-1m': [answer('count', { wall: 2 })] });
    expect(regressionText(regressions(before, after), before.date)).toBe(
      'worse than on 2026-11-30 (times as ratios to the limit):\n  rocks-canon-1m count: time 5.00 -> 10.0 (+100 %)\n',
    );
    expect(regressionText([], before.date)).toBe('no worse than on 2026-11-30\n');
  });
});

it('growth is that of scans, from size to size', () => {
  const results = resultsOf({
    'rocks-inc-1m': [answer('count'), answer('key', { limit: 'start' })],
    'rocks-inc-10m': [answer('count', { wall: 9 }), answer('key', { limit: 'start' })],
    'heap-chk-10m': [answer('count', { wall: 90 })],
  });
  expect(growthOf(results)).toEqual([{ what: 'rocks-inc count', keys: 10, time: 9 }]);
  expect(growthText(results)).toBe('linear: at most 9.00 × the time for 10 × the keys (rocks-inc count)\n');
  const worse = resultsOf({ 'rocks-inc-1m': [answer('count')], 'rocks-inc-10m': [answer('count', { wall: 11 })] });
  expect(growthText(worse)).toBe('not linear: rocks-inc count 11.0 × for 10 ×\n');
});

it("Flink's readers stand beside what they were asked as well", async () => {
  const directory = mkdtempSync(join(tmpdir(), 'statequery-bench-test-'));
  try {
    const line = { state: 'rocks-canon-1m', peer: 'sql', query: 'count', user: 20, sys: 2, rss_mb: 700, load_before: 0, rc: 0 };
    const file = join(directory, 'results.jsonl');
    const lines = [
      { ...line, wall: 50, ok: true },
      { ...line, wall: 40, ok: true },
      { ...line, state: 'rocks-inc-1m', peer: 'spa', query: 'key', wall: 1, ok: false },
    ];
    writeFileSync(file, lines.map(l => `${JSON.stringify(l)}\n`).join(''));
    const readers = new FlinkReaders(undefined, directory, file);
    const flink = await readers.ask('rocks-canon-1m', { tool: 'sql', query: 'count' });
    expect(flink).toEqual({ tool: 'sql', query: 'count', wall: 40, cpu: 22, rssMb: 700, load: 0 });
    expect(await readers.ask('rocks-canon-1m', { tool: 'sql', query: 'sum' })).toBeUndefined();
    await expect(readers.ask('rocks-inc-1m', { tool: 'spa', query: 'key' })).rejects.toThrow('spa key of rocks-inc-1m failed');
    if (flink === undefined) throw new Error('there is one');
    const table = readmeTable(resultsOf({ 'rocks-canon-1m': [answer('count', { wall: 0.4, flink }), answer('sum')] }));
    expect(table).toContain('| | 1,000,000 keys | Flink | faster |\n|---|---|---|---|\n');
    expect(table).toContain('| count(*) of everything, canonical | 0.40 s, 100 MB | SQL: 40.0 s, 700 MB | 100 × |\n');
    expect(table).not.toContain('sum');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
