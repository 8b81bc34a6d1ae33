/** `sql` and `find` from outside: the stories, several snapshots, parameters, scripts, limits, signals, broken pipes. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BIN, ensureBuilt, ROOT, statequery, WORDCOUNT } from './run.js';

const OLDER = join(ROOT, 'fixtures/snapshots/1.20-wordcount-rocksdb-canonical/snapshot');

let temp: string;
beforeAll(async () => {
  temp = mkdtempSync(join(tmpdir(), 'statequery-sql-'));
  await ensureBuilt();
});
afterAll(() => {
  rmSync(temp, { recursive: true, force: true });
});

const ok = (stdout: string) => ({ code: 0, stdout, stderr: '' });

describe('the three stories', () => {
  it('what is in the state', async () => {
    const ran = await statequery([
      'sql',
      "SELECT operator_uid, state_name, state_kind, key_type, value_type FROM state_meta WHERE state_kind = 'keyed'",
      WORDCOUNT,
      '--json',
    ]);
    expect(ran).toEqual(
      ok('[{"operator_uid":"word-count","state_name":"count","state_kind":"keyed","key_type":"VARCHAR","value_type":"BIGINT"}]\n'),
    );
  });
  it('which offsets the source had read', async () => {
    const ran = await statequery([
      'sql',
      "SELECT value.f0 AS split, value.f1 AS next_offset FROM operator_state WHERE state_name = 'offsets' ORDER BY split",
      WORDCOUNT,
      '--csv',
    ]);
    expect(ran).toEqual(ok('split,next_offset\nwords-0,2500\nwords-1,2500\nwords-2,2500\nwords-3,2500\n'));
  });
  it('why key_662 is what it is', async () => {
    expect(await statequery(['sql', "SELECT value FROM keyed_state WHERE key = 'key_662'", WORDCOUNT, '--json'])).toEqual(
      ok('[{"value":11290}]\n'),
    );
    expect(await statequery(['sql', 'SELECT value FROM keyed_state WHERE key = 662', WORDCOUNT, '--json'])).toEqual(ok('[]\n'));
    expect(await statequery(['sql', "SELECT value FROM KeyedState WHERE key = 'key_662'", WORDCOUNT])).toEqual(
      ok('+-------+\n| value |\n+-------+\n| 11290 |\n+-------+\n'),
    );
  });
});

describe('statements', () => {
  it('come from a file, from standard input, with parameters', async () => {
    const file = join(temp, 'query.sql');
    writeFileSync(file, '-- one key\nSELECT value FROM keyed_state WHERE key = $key;\n');
    expect(await statequery(['sql', '-f', file, WORDCOUNT, '-p', 'key=key_662', '--csv'])).toEqual(ok('value\n11290\n'));
    expect(await statequery(['sql', '-', WORDCOUNT, '--csv'], { input: 'SELECT count(*) AS n FROM keyed_state' })).toEqual(ok('n\n1000\n'));
    expect(await statequery(['sql', '-f', '-', WORDCOUNT, '--csv'], { input: 'SELECT 1 AS a' })).toEqual(ok('a\n1\n'));
    expect(await statequery(['sql', 'SELECT $a AS a', '-p', 'a=x=y', '--csv', WORDCOUNT])).toEqual(ok('a\nx=y\n'));
  });
  it('may be several: an array each, and the first error stops the run', async () => {
    expect(await statequery(['sql', 'SELECT 1 AS a; SELECT 2 AS b;', WORDCOUNT, '--json'])).toEqual(ok('[{"a":1}]\n[{"b":2}]\n'));
    const ran = await statequery(['sql', 'SELECT 1 AS a; SELECT nope FROM timers; SELECT 3', WORDCOUNT, '--json']);
    expect(ran).toMatchObject({ code: 7, stdout: '[{"a":1}]\n' });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'UNKNOWN_COLUMN', line: 1, column: 23 } });
    for (const form of ['csv', 'tsv', 'markdown'])
      expect(await statequery(['sql', 'SELECT 1; SELECT 2', WORDCOUNT, '-o', form])).toEqual({
        code: 2,
        stdout: '',
        stderr: `error: -o ${form} holds one result, the statements give 2\nhint: run them one by one, or use -o json: one array for each result\n`,
      });
  });
  it('with names twice get them made unique', async () => {
    expect(await statequery(['sql', 'SELECT 1 AS value, 2 AS value', WORDCOUNT, '--json'])).toEqual(ok('[{"value":1,"value_1":2}]\n'));
  });
});

describe('several snapshots', () => {
  it('are alias.table in one statement', async () => {
    const sql = 'SELECT n.key, o.value AS old, n.value AS new FROM old.keyed_state o JOIN new.keyed_state n USING (key) WHERE n.key = $key';
    expect(await statequery(['sql', sql, '-s', `old=${OLDER}`, '-s', `new=${WORDCOUNT}`, '-p', 'key=key_662', '--json'])).toEqual(
      ok('[{"key":"key_662","old":11290,"new":11290}]\n'),
    );
  });
  it('need names, each once, none of the engine; unqualified tables name the aliases', async () => {
    const run = async (...args: string[]) => statequery(['sql', 'SELECT count(*) FROM keyed_state', ...args]);
    expect(await run('-s', `a=${WORDCOUNT}`, '-s', OLDER)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('each needs a name') as string,
    });
    expect(await run('-s', `a=${WORDCOUNT}`, '-s', `A=${OLDER}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('two snapshots are named A') as string,
    });
    for (const alias of ['main', 'temp', 'system', 'pg_catalog', 'Information_Schema'])
      expect(await run('-s', `${alias}=${WORDCOUNT}`)).toMatchObject({ code: 2, stdout: '' });
    const both = await run('-s', `a=${WORDCOUNT}`, '-s', `b=${OLDER}`);
    expect(both).toMatchObject({ code: 7, stdout: '' });
    expect(both.stderr).toContain('hint: write a.keyed_state or b.keyed_state');
    expect(await run('-s', `a=${WORDCOUNT}`, '--csv')).toEqual(ok('count_star()\n1000\n'));
  });
});

describe('a statement that begins with a comment', () => {
  it('is no option', async () => {
    for (const text of ['-- what\nSELECT 1 AS x', '--what\nSELECT 1 AS x', '--\nSELECT 1 AS x'])
      expect(await statequery(['sql', text, WORDCOUNT, '--csv'])).toMatchObject({ code: 0, stdout: 'x\n1\n' });
    expect(await statequery(['sql', '--csv', '-- what\nSELECT 1 AS x', WORDCOUNT])).toMatchObject({ code: 0, stdout: 'x\n1\n' });
    expect((await statequery(['sql', '-- what\nSELECT nocol', WORDCOUNT])).stderr).toContain(
      'line 2, column 8: there is no column "nocol"',
    );
    expect(await statequery(['sql', '-- what', WORDCOUNT])).toMatchObject({ code: 7 });
  });
  it('nor is the value of one a statement', async () => {
    const ran = await statequery(['sql', '--null', '-- none', 'SELECT NULL AS x', WORDCOUNT, '--csv']);
    expect(ran).toMatchObject({ code: 0, stdout: 'x\n-- none\n' });
    expect(await statequery(['sql', '--nul', 'SELECT 1', WORDCOUNT])).toMatchObject({ code: 2 });
  });
});

it('a directory for temporary files that is not there', async () => {
  const ran = await statequery(['sql', 'SELECT 1', WORDCOUNT], { env: { TMPDIR: '/nowhere-at-all' } });
  expect(ran).toMatchObject({ code: 4, stdout: '' });
  expect(ran.stderr).toContain('temporary files cannot be made: there is no such directory (/nowhere-at-all)');
  expect(ran.stderr).toContain('hint: set TMPDIR to a directory that can be written');
});

describe('usage', () => {
  const cases: readonly (readonly [readonly string[], number, string])[] = [
    [['sql'], 2, 'no statement is given'],
    [['sql', WORDCOUNT, 'SELECT 1'], 2, 'the statements come first, then the snapshot'],
    [['sql', 'SELECT 1'], 2, 'no snapshot is named'],
    [['sql', '-f', 'x.sql', WORDCOUNT, 'more'], 2, 'with -f only the snapshot is one'],
    [['sql', '-f', '/nope/x.sql', WORDCOUNT], 3, 'no such file'],
    [['sql', 'SELECT 1', WORDCOUNT, '-p', 'x'], 2, 'expected name=value'],
    [['sql', 'SELECT $x', WORDCOUNT, '-p', 'x=1', '-p', 'x=2'], 2, 'given twice'],
    [['sql', 'SELECT 1', WORDCOUNT, '--max-memory', 'lots'], 2, 'not a size: lots'],
    [['sql', 'SELECT 1', WORDCOUNT, '--timeout', 'soon'], 2, 'expected seconds'],
    [['sql', 'SELECT 1', WORDCOUNT, '--engine', 'sqlite'], 2, 'Allowed choices are duckdb, alasql'],
    [['sql', '', WORDCOUNT], 7, 'there is no statement'],
    [['sql', 'SELEC 1', WORDCOUNT], 7, 'syntax error'],
    [['sql', "SELECT * FROM read_csv('x.csv')", WORDCOUNT], 7, 'refused'],
    [['sql', "COPY (SELECT 1) TO 'x.csv'", WORDCOUNT], 7, 'refused'],
    [['sql', 'SELECT * FROM keyed_stat', WORDCOUNT], 7, 'did you mean keyed_state?'],
    [['sql', 'SELECT kee FROM keyed_state', WORDCOUNT], 7, 'did you mean key?'],
  ];
  for (const [args, code, text] of cases)
    it(`${code}: ${args.map(a => (a === WORDCOUNT ? '<snapshot>' : a)).join(' ')}`, async () => {
      const ran = await statequery(args);
      expect(ran).toMatchObject({ code, stdout: '' });
      expect(ran.stderr).toContain(text);
    });
});

describe('notes', () => {
  it('on integers that doubles cannot hold: once, on standard error, unless quoted or quiet', async () => {
    const sql = 'SELECT 9007199254740993 AS a UNION ALL SELECT 9007199254740995';
    const ran = await statequery(['sql', sql, WORDCOUNT, '-o', 'ndjson']);
    expect(ran).toMatchObject({ code: 0, stdout: '{"a":9007199254740993}\n{"a":9007199254740995}\n' });
    expect(ran.stderr).toMatch(/^note: integers beyond 2\^53 .*\n$/);
    expect(await statequery(['sql', sql, WORDCOUNT, '-o', 'ndjson', '-q'])).toMatchObject({ stderr: '' });
    expect(await statequery(['sql', sql, WORDCOUNT, '-o', 'ndjson', '--json-numbers', 'string'])).toEqual(
      ok('{"a":"9007199254740993"}\n{"a":"9007199254740995"}\n'),
    );
    expect(await statequery(['sql', sql, WORDCOUNT, '--csv'])).toMatchObject({ stderr: '' });
  });
});

describe('limits', () => {
  const ENDLESS = 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b';
  it('--timeout ends with 7', async () => {
    const ran = await statequery(['sql', ENDLESS, WORDCOUNT, '--timeout', '0.3', '--json']);
    expect(ran).toMatchObject({ code: 7, stdout: '' });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'TIMEOUT', message: 'the statement took longer than 0.3 s' } });
  });
  it('Ctrl-C ends with 130', async () => {
    const child = spawn(process.execPath, [BIN, 'sql', ENDLESS, WORDCOUNT], { stdio: ['ignore', 'pipe', 'pipe'] });
    const stderr: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk.toString()));
    const ended = new Promise<number | null>(resolve => child.on('close', resolve));
    // again and again: the first may come before the command has its handler
    await new Promise(resolve => setTimeout(resolve, 1500));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(stderr.join('')).toBe('error: interrupted\n');
  });
  it('a closed pipe ends quietly, long before the rows do', () => {
    const script = `node ${JSON.stringify(BIN)} sql 'SELECT k.key FROM keyed_state k, range(100000000)' ${JSON.stringify(WORDCOUNT)} -o csv 2>&1 | head -n 1; echo "codes \${PIPESTATUS[*]}"`;
    expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' })).toBe('key\ncodes 0 0\n');
  });
});

describe('an error after the first rows', () => {
  it('of the engine: exit code and standard error tell, a JSON array stays open', async () => {
    const sql = "SELECT CAST(CASE WHEN range = 500000 THEN 'abc' ELSE '1' END AS INTEGER) AS n FROM range(1000000)";
    const ran = await statequery(['sql', sql, WORDCOUNT, '--json']);
    expect(ran.code).toBe(7);
    expect(ran.stdout).toMatch(/^\[\{"n":1\},\n/);
    expect(ran.stdout.endsWith(']\n')).toBe(false);
    expect(ran.stderr).toContain("'abc'");
  });
  it('of the time limit: the same', async () => {
    const ran = await statequery(['sql', 'SELECT k.key FROM keyed_state k, range(100000000)', WORDCOUNT, '--json', '--timeout', '0.7']);
    expect(ran).toMatchObject({ code: 7 });
    expect(ran.stdout.endsWith(']\n')).toBe(false);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'TIMEOUT' } });
  });
});

describe('engines', () => {
  it('alasql answers its subset and refuses the rest', async () => {
    expect(
      await statequery(['sql', '--engine', 'alasql', "SELECT key, value FROM keyed_state WHERE key = 'key_662'", WORDCOUNT, '--json']),
    ).toEqual(ok('[{"key":"key_662","value":11290}]\n'));
    expect(await statequery(['sql', '--engine', 'alasql', 'SELECT sum(value) FROM keyed_state', WORDCOUNT])).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringContaining('use --engine duckdb') as string,
    });
  });
});

describe('forms', () => {
  it('-o sql is read back by DuckDB', async () => {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const { stdout } = await statequery(['sql', 'SELECT key, value, key_group FROM keyed_state', WORDCOUNT, '-o', 'sql']);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(stdout);
    const answer = await connection.runAndReadAll("SELECT count(*), sum(value), max(value) FILTER (key = 'key_662') FROM result");
    const expected = await statequery([
      'sql',
      "SELECT count(*), sum(value), max(value) FILTER (key = 'key_662') FROM keyed_state",
      WORDCOUNT,
      '-o',
      'list',
      '--no-header',
    ]);
    expect(answer.getRowsJson().map(row => row.join('|'))).toEqual(expected.stdout.trimEnd().split('\n'));
    connection.closeSync();
  });
  it('every one writes every type', async () => {
    const sql =
      "SELECT true AS b, 1::TINYINT AS i8, 9223372036854775807 AS i64, 170141183460469231731687303715884105727 AS i128, 0.1::FLOAT AS f, 'NaN'::DOUBLE AS d, 1.10 AS dec, 'x' AS s, '\\xAB'::BLOB AS bl, DATE '2026-01-31' AS da, TIMESTAMPTZ '2026-01-31 12:34:56.789+00' AS ts, {'a': 1} AS st, [1, NULL] AS li, MAP {'k': 2} AS ma, '{\"j\":1}'::JSON AS js, NULL AS n";
    const { stdout } = await statequery(['sql', sql, WORDCOUNT, '-o', 'ndjson', '-q']);
    expect(stdout).toBe(
      '{"b":true,"i8":1,"i64":9223372036854775807,"i128":170141183460469231731687303715884105727,"f":0.1,"d":"NaN","dec":1.10,"s":"x","bl":"ab","da":"2026-01-31","ts":"2026-01-31T12:34:56.789Z","st":{"a":1},"li":[1,null],"ma":{"k":2},"js":{"j":1},"n":null}\n',
    );
    for (const form of ['table', 'box', 'csv', 'tsv', 'markdown', 'line', 'list', 'sql'])
      expect((await statequery(['sql', sql, WORDCOUNT, '-o', form])).stdout).toContain('9223372036854775807');
  });
});

describe('find', () => {
  it('counts a key in every keyed state and timer service', async () => {
    const ran = await statequery(['find', 'key_662', WORDCOUNT, '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: 'note: found in 1 of 3 keyed states and timer services\n' });
    const rows = JSON.parse(ran.stdout) as { operator_uid: string; state_name: string; rows: number }[];
    expect(rows.map(r => [r.operator_uid, r.state_name, r.rows])).toEqual([
      ['word-count', 'count', 1],
      ['word-count', '_timer_state/processing_user-timers', 0],
      ['word-count', '_timer_state/event_user-timers', 0],
    ]);
    const none = await statequery(['find', 'key_1000', WORDCOUNT, '--csv']);
    expect(none).toMatchObject({ code: 0, stderr: 'note: found in 0 of 3 keyed states and timer services\n' });
  });
  it('knows nested keys as JSON', async () => {
    const keyed = join(ROOT, 'fixtures/snapshots/2.3-keyed-hashmap-native/snapshot');
    const ran = await statequery(['find', '{ "f0": "a", "f1": 4 }', keyed, '--json', '-q']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const rows = JSON.parse(ran.stdout) as { operator_uid: string; state_name: string; rows: number }[];
    expect(rows.filter(r => r.rows > 0).map(r => `${r.operator_uid}/${r.state_name} ${r.rows}`)).toContain('keyed-tuple2/last 1');
    expect(rows.filter(r => r.rows > 0).every(r => r.operator_uid === 'keyed-tuple2')).toBe(true);
  });
});

describe('uid', () => {
  it('hash gives the operator id', async () => {
    expect(await statequery(['uid', 'hash', 'word-count', 'words', '--csv'])).toEqual(
      ok('uid,operator_id\nword-count,fdae8dad403fd2441defe2c3680362f5\nwords,e26755e342920e3b2790c00553617b42\n'),
    );
  });
  it('match, --uids and --guess-uids name operators', async () => {
    const file = join(temp, 'uids');
    writeFileSync(file, 'word-count\tThe words\nnone\n');
    const matched = await statequery(['uid', 'match', OLDER, file, '--csv']);
    expect(matched).toMatchObject({ code: 0, stderr: 'note: 1 of 3 operators matched, 1 uids of the file match none\n' });
    expect(matched.stdout).toContain('fdae8dad403fd2441defe2c3680362f5,word-count,The words\n');
    const sql = 'SELECT DISTINCT operator_uid, operator_uid_source AS source FROM state_meta WHERE operator_uid IS NOT NULL ORDER BY 1';
    expect(await statequery(['sql', sql, OLDER, '--uids', file, '--csv'])).toEqual({
      code: 0,
      stdout: 'operator_uid,source\nword-count,file\n',
      stderr: `note: ${file}: 1 of 2 uids match no operator of the snapshot: none\n`,
    });
    expect(await statequery(['sql', sql, OLDER, '--guess-uids', '--csv'])).toEqual(
      ok('operator_uid,source\noffsets,inferred\nword-count,inferred\nwords,inferred\n'),
    );
  });
  it('without a word is its help, as an error', async () => {
    const ran = await statequery(['uid']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('Usage: statequery uid');
  });
});

describe('npm start', () => {
  it('answers the three stories', () => {
    const out = execFileSync(process.execPath, [join(ROOT, 'bin/demo.js')], { encoding: 'utf8', cwd: temp });
    expect(out).toContain('| words-3 |        2500 |');
    expect(out).toMatch(/\| word-count +\| count +\| key_662 \| 11290 \|/);
    expect(out.match(/^\$ statequery /gm)?.length).toBe(3);
  });
});
