/** Everything that the public contract names is in the README and in the help, and works. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { openDatabase, openSnapshot } from '../../src/index.js';
import { ensureBuilt, ROOT, statequery, WORDCOUNT } from '../cli/run.js';
import { COMMANDS, NAMED_TABLES, OPTIONS, OTHER_TABLES, TABLES } from './public.js';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const fixture = (name: string): string => join(ROOT, 'fixtures/snapshots', name, 'snapshot');

let temp: string;
let paths: Readonly<Record<string, string>>;
beforeAll(async () => {
  await ensureBuilt();
  temp = mkdtempSync(join(tmpdir(), 'statequery-public-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(temp, name), text);
    return join(temp, name);
  };
  paths = {
    SNAPSHOT: WORDCOUNT,
    DIR: join(ROOT, 'fixtures/snapshots/2.3-small-hashmap-native'),
    METADATA: join(WORDCOUNT, '_metadata'),
    SQL: file('a.sql', 'SELECT 1 AS a;'),
    NAMES: file('names.yaml', 'operators: {word-count: {name: words}}\n'),
    UIDS: file('uids', 'word-count\n'),
    PROTO: file('a.proto', 'syntax = "proto3"; message A { int64 n = 1; }'),
    PLAN: file('plan.json', JSON.stringify({ flinkVersion: '2.0', nodes: [], edges: [] })),
    STATEINFO: join(temp, 'stateInfo'),
    JAR: join(ROOT, 'test/java/fixtures', readdirSync(join(ROOT, 'test/java/fixtures')).find(f => f.endsWith('.jar')) ?? 'none.jar'),
  };
  await statequery(['stateinfo', 'build', WORDCOUNT, '-o', paths['STATEINFO']]);
});
afterAll(() => rmSync(temp, { recursive: true, force: true }));

describe('commands', () => {
  it.each(COMMANDS)('%s', async name => {
    const command = createProgram('0.0.0').commands.find(c => c.name() === name);
    expect(command?.description().length).toBeGreaterThan(20);
    expect(readme).toContain(`statequery ${name}`);
    const help = await statequery(['help', name]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain(`Usage: statequery ${name}`);
  });
});

describe('options', () => {
  it.each(Object.entries(OPTIONS))('%s', async (option, args) => {
    const [name] = args;
    const help = await statequery(['help', name]);
    expect(help.stdout).toMatch(new RegExp(`(^|\\s)${option}[ ,\\n]`, 'm'));
    // `-o` of `-o, --output`
    expect(readme).toMatch(new RegExp('`[^`]*(^|[ `])' + option + '[ ,`]'));
    const real = args.map(arg => arg.replace(/[A-Z]{3,}/g, word => paths[word] ?? word));
    expect((await statequery(real)).code, real.join(' ')).toBe(0);
  });
});

describe('tables', () => {
  it('with a name of their own: in the README, in `tables`, with every column described', async () => {
    const listed = (await statequery(['tables', WORDCOUNT, '-o', 'list', '--no-header'])).stdout
      .split('\n')
      .map(line => line.split('|')[0]);
    for (const name of [...TABLES, ...OTHER_TABLES]) expect(readme, name).toContain(name);
    for (const name of TABLES) expect(listed).toContain(name);
    const snapshot = openSnapshot(WORDCOUNT);
    for (const name of TABLES)
      for (const c of snapshot.catalog.find(name)?.spec.columns ?? []) expect(c.description.length, `${name}.${c.name}`).toBeGreaterThan(2);
    snapshot.close();
  });
  it('answer', async () => {
    const all = [...[...TABLES, ...OTHER_TABLES].map(name => ['2.3-inflight-hashmap-checkpoint', name] as const), ...NAMED_TABLES];
    for (const [name, table] of all) {
      const snapshot = openSnapshot(fixture(name));
      const database = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]) });
      const found = snapshot.catalog.find(table);
      expect(found, `${name} ${table}`).toBeDefined();
      let columns = 0;
      for await (const result of database.query(`SELECT * FROM "${table}"`)) {
        for await (const _ of result.batches);
        columns = result.columns.length;
      }
      expect(columns, table).toBe(found?.bind([]).columns.length);
      await database.close();
      snapshot.close();
    }
  });
});
