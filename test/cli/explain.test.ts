/** EXPLAIN, EXPLAIN ANALYZE and -v, as a user sees them: text and JSON, both engines, several kinds of tables, the shell. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, openSnapshot } from '../../src/index.js';
import { ensureBuilt, ROOT, statequery, WORDCOUNT } from './run.js';

beforeAll(ensureBuilt);

const fixture = (name: string): string => join(ROOT, 'fixtures/snapshots', name, 'snapshot');
const KEYED = fixture('2.3-keyed-hashmap-native');

interface Explained {
  readonly engine: string;
  readonly scans: readonly {
    readonly table: string;
    readonly operators: { readonly kept: number; readonly of: number; readonly names: readonly string[] } | null;
    readonly states: { readonly kept: number; readonly of: number; readonly names: readonly string[] } | null;
    readonly key_groups: { readonly kept: number; readonly of: number } | null;
    readonly types: string;
    readonly mixed_columns: readonly string[];
    readonly columns: readonly { readonly name: string; readonly type: string }[];
    readonly filters: readonly { readonly filter: string; readonly use: string }[];
    readonly limit: number | null;
    readonly rows: number | null;
    readonly state_files: { readonly files: number; readonly bytes: number } | null;
  }[];
  readonly filters_left_to_engine: readonly string[];
  readonly analyze: Readonly<Record<'files_opened' | 'bytes_read' | 'reads' | 'entries_decoded' | 'rows' | 'time_ms', number>> | null;
}

async function explain(sql: string, snapshot: string, ...args: string[]): Promise<Explained> {
  const ran = await statequery(['sql', sql, snapshot, '--json', ...args]);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  const documents = JSON.parse(ran.stdout) as Explained[];
  expect(documents).toHaveLength(1);
  return documents[0];
}

/** The lines of a table without its frame. */
const lines = (table: string): string[] => table.split('\n').flatMap(line => /^\| (.*?) *\|$/.exec(line)?.[1] ?? []);

describe('EXPLAIN', () => {
  it('as text: what the contract asks of each scan', async () => {
    const sql =
      "EXPLAIN SELECT value FROM keyed_state WHERE state_name = 'count' AND key = 'key_662' AND value > 3 AND length(key) = value";
    const ran = await statequery(['sql', sql, WORDCOUNT]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(lines(ran.stdout)).toEqual([
      'plan',
      'scan snapshot.keyed_state',
      '  operators: 1 of 3 (word-count)',
      '  states: 1 of 1 (count)',
      '  key groups: 1 of 128',
      '  types: typed',
      '  columns: value BIGINT, state_name VARCHAR, key VARCHAR',
      "  filter: state_name = 'count' (exact)",
      "  filter: key = 'key_662' (inexact)",
      '  filter: value > 3 (left to the engine)',
      expect.stringMatching(/^ {2}state files: 1, \d+ bytes$/) as string,
      'filter: (length("key") = "value") (left to the engine)',
      'engine: duckdb',
    ]);
  });
  it('as JSON: one document, in json and in ndjson, of either engine', async () => {
    const sql = "EXPLAIN SELECT key, value FROM keyed_state WHERE key = 'key_662'";
    for (const engine of ['duckdb', 'alasql']) {
      const document = await explain(sql, WORDCOUNT, '--engine', engine);
      expect(document).toMatchObject({
        engine,
        scans: [
          {
            snapshot: 'snapshot',
            table: 'keyed_state',
            operators: { kept: 1, of: 3, names: ['word-count'] },
            states: { kept: 1, of: 1, names: ['count'] },
            key_groups: { kept: 1, of: 128 },
            types: 'typed',
            mixed_columns: [],
            filters: [{ filter: "key = 'key_662'", use: 'inexact' }],
            limit: null,
            rows: null,
          },
        ],
        filters_left_to_engine: [],
        analyze: null,
      });
      expect(document.scans[0].columns.map(c => `${c.name} ${c.type}`).sort()).toEqual(['key VARCHAR', 'value BIGINT']);
      const ndjson = await statequery(['sql', sql, WORDCOUNT, '-o', 'ndjson', '--engine', engine]);
      expect(ndjson.stdout.split('\n')).toHaveLength(2);
      expect(JSON.parse(ndjson.stdout)).toEqual(document);
    }
  });
  it('(FORMAT JSON) gives the document as one value in every form', async () => {
    const ran = await statequery(['sql', 'EXPLAIN (FORMAT JSON) SELECT 1', WORDCOUNT, '-o', 'list', '--no-header']);
    expect(JSON.parse(ran.stdout)).toEqual({ engine: 'duckdb', scans: [], filters_left_to_engine: [], analyze: null });
  });
  it('says typed or mixed', async () => {
    const mixed = await explain('EXPLAIN SELECT value FROM keyed_state', KEYED);
    expect(mixed.scans[0]).toMatchObject({ types: 'mixed', mixed_columns: expect.arrayContaining(['key']) as string[] });
    const typed = await explain("EXPLAIN SELECT value FROM keyed_state WHERE operator_uid = 'keyed-tuple2'", KEYED);
    expect(typed.scans[0].mixed_columns).not.toContain('key');
    const text = await statequery(['sql', 'EXPLAIN SELECT key FROM keyed_state', KEYED]);
    expect(text.stdout).toMatch(/types: mixed in key/);
  });
  it('reads no entry', async () => {
    for (const sql of [
      'EXPLAIN SELECT * FROM keyed_state',
      'EXPLAIN SELECT * FROM "uid_word-count_keyed"',
      'EXPLAIN SELECT * FROM key_groups',
    ]) {
      const ran = await statequery(['sql', sql, WORDCOUNT, '-v']);
      expect(ran.stderr).toMatch(/^\d+ files opened, \d+ bytes read in \d+ reads, 0 entries decoded, \d+ ms\n$/);
    }
  });
  it('knows the key groups and filters of every kind of table', async () => {
    const id = 'fdae8dad403fd2441defe2c3680362f5';
    const cases: readonly (readonly [table: string, key: string])[] = [
      ['keyed_state', 'key'],
      ['keyed_state_raw', 'key_json'],
      ['timers', 'key'],
      ['"uid_word-count_keyed"', 'state_key'],
      [`"${id}#count"`, 'key'],
      [`"${id}#all_keyed_states"`, 'key'],
      ['all_states', 'key'],
    ];
    for (const [table, key] of cases) {
      const constant = key === 'key_json' ? `'"key_662"'` : "'key_662'";
      const [scan] = (await explain(`EXPLAIN SELECT count(*) FROM ${table} WHERE ${key} = ${constant}`, WORDCOUNT)).scans;
      expect(scan.key_groups, table).toEqual({ kept: 1, of: 128 });
      expect(
        scan.filters.map(f => f.use),
        table,
      ).toEqual(['inexact']);
      expect(scan.operators?.names, table).toContain('word-count');
    }
    const [operators] = (await explain("EXPLAIN SELECT 1 FROM state_handles WHERE operator_uid = 'words'", WORDCOUNT)).scans;
    expect(operators).toMatchObject({ operators: { kept: 1, of: 3, names: ['words'] }, states: null, key_groups: null });
    expect(operators.filters).toEqual([{ filter: "operator_uid = 'words'", use: 'exact' }]);
    const [elements] = (await explain("EXPLAIN SELECT 1 FROM operator_state WHERE state_name LIKE 'off%' AND state_name > 'a'", WORDCOUNT))
      .scans;
    expect(elements).toMatchObject({ operators: { names: ['offsets'] }, states: { names: ['offsets'] } });
    expect(elements.filters.map(f => f.use)).toEqual(['exact', 'engine']);
  });
  it('a filter that cannot be used to read less is left to the engine', async () => {
    const of = async (condition: string) =>
      (await explain(`EXPLAIN SELECT 1 FROM keyed_state WHERE operator_uid = 'keyed-tuple2' AND ${condition}`, KEYED)).scans[0].filters
        .slice(1)
        .map(f => f.use);
    // one field of a tuple says nothing of its hash, both do
    expect(await of("key.f0 = 'a'")).toEqual(['engine']);
    expect(await of("key.f0 = 'a' AND key.f1 = 4")).toEqual(['inexact', 'inexact']);
    expect(await of('key_group = 3')).toEqual(['inexact']);
    expect(await of('key_group > 3')).toEqual(['engine']);
  });
});

describe('EXPLAIN ANALYZE', () => {
  const files = readdirSync(WORDCOUNT).filter(name => name !== '_metadata');
  const bytes = files.reduce((sum, name) => sum + statSync(join(WORDCOUNT, name)).size, 0);

  it('counts the files, bytes and entries of the statement', async () => {
    const whole = await explain('EXPLAIN ANALYZE SELECT key, value FROM keyed_state', WORDCOUNT);
    expect(whole.analyze).toMatchObject({ files_opened: files.length, entries_decoded: 1000, rows: 1000 });
    expect(whole.analyze?.bytes_read).toBeGreaterThan(whole.scans[0].state_files?.bytes ?? 0);
    expect(whole.analyze?.bytes_read).toBeLessThan(bytes * 1.2);
    const one = await explain(
      "EXPLAIN ANALYZE SELECT value FROM keyed_state WHERE key = 'key_662' AND operator_uid = 'word-count'",
      WORDCOUNT,
    );
    expect(one.analyze).toMatchObject({ files_opened: 2, entries_decoded: 1, rows: 1 });
    expect(one.analyze?.bytes_read).toBeLessThan((whole.analyze?.bytes_read ?? 0) / 4);
    for (const table of ['"uid_word-count_keyed"', 'key_groups', 'all_keyed_states'])
      expect((await explain(`EXPLAIN ANALYZE SELECT * FROM ${table}`, WORDCOUNT)).analyze?.entries_decoded, table).toBeGreaterThanOrEqual(
        1000,
      );
  });
  it('of either engine, as text', async () => {
    for (const engine of ['duckdb', 'alasql']) {
      const ran = await statequery(['sql', 'EXPLAIN ANALYZE SELECT key FROM keyed_state', WORDCOUNT, '--engine', engine]);
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      const [plan, ...rest] = lines(ran.stdout).slice(-6);
      expect([plan, ...rest.map(line => line.replace(/\d[\d.]*/, 'N'))]).toEqual([
        `engine: ${engine}`,
        'files opened: N',
        'bytes read: N',
        'entries decoded: N',
        'rows: N',
        'time: N ms',
      ]);
      expect(rest[0]).toBe(`files opened: ${files.length}`);
      expect(rest[2]).toBe('entries decoded: 1000');
    }
  });
  it('in the shell: a document in .mode json, and what the second statement reads by itself', async () => {
    const sql = 'EXPLAIN ANALYZE SELECT count(value) FROM keyed_state;';
    const ran = await statequery(['shell', WORDCOUNT], { input: `.mode json\n${sql}\n${sql}\n` });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const [first, second] = ran.stdout
      .trimEnd()
      .split('\n')
      .map(line => (JSON.parse(line) as Explained[])[0].analyze);
    expect(first).toMatchObject({ files_opened: files.length, rows: 1 });
    // the headers are known by then
    expect(second).toMatchObject({ files_opened: 2, rows: 1 });
  });
  it('in the library', async () => {
    const snapshot = openSnapshot(WORDCOUNT);
    const database = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]) });
    for await (const { explanation, batches } of database.query('EXPLAIN ANALYZE SELECT key, value FROM keyed_state')) {
      expect(explanation?.scans).toMatchObject([{ table: 'keyed_state', keyGroups: { kept: 128, of: 128 } }]);
      expect(explanation?.analyze).toMatchObject({ filesOpened: files.length, entries: 1000, rows: 1000 });
      for await (const _ of batches);
    }
    for await (const { scans, batches } of database.query("SELECT value FROM keyed_state WHERE key = 'key_662'")) {
      for await (const _ of batches);
      expect(scans?.()).toMatchObject([{ keyGroups: { kept: 1, of: 128 } }]);
    }
    await database.close();
    snapshot.close();
  });
});

describe('-v', () => {
  it('tells files, bytes, key groups and time', async () => {
    const ran = await statequery([
      'sql',
      "SELECT value FROM keyed_state WHERE key = 'key_662'; SELECT count(*) AS n FROM operators",
      WORDCOUNT,
      '-v',
    ]);
    expect(ran).toMatchObject({
      code: 0,
      stdout: '+-------+\n| value |\n+-------+\n| 11290 |\n+-------+\n\n+---+\n| n |\n+---+\n| 3 |\n+---+\n',
    });
    expect(ran.stderr).toMatch(
      /^snapshot\.keyed_state: operators 1 of 3 \(word-count\), states 1 of 1 \(count\), key groups 1 of 128\nsnapshot\.operators: of the whole snapshot\n\d+ files opened, \d+ bytes read in \d+ reads, 1 entries decoded, \d+ ms\n$/,
    );
    expect(await statequery(['sql', 'SELECT 1 AS a', WORDCOUNT, '-v', '-q', '--csv'])).toEqual({ code: 0, stdout: 'a\n1\n', stderr: '' });
  });
  it('of find and of the shell too', async () => {
    const found = await statequery(['find', 'key_662', WORDCOUNT, '-v']);
    expect(found.stderr).toContain('snapshot.keyed_state: operators 1 of 3 (word-count), states 1 of 1 (count), key groups 1 of 128\n');
    const shell = await statequery(['shell', WORDCOUNT, '-v'], { input: "SELECT value FROM keyed_state WHERE key = 'key_662';" });
    expect(shell.stderr).toMatch(/key groups 1 of 128\n\d+ files opened, .* 1 entries decoded, \d+ ms\n$/);
  });
});
