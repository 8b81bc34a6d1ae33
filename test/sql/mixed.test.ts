/** Typed and mixed columns (contract §2 "Typing"), with answers stated by hand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { Decimal, JsonText, Struct, type Value } from '../../src/types.js';
import { keyedState, people } from './data.js';
import { type FakeTable, fakeCatalog } from './fake-table.js';
import { answers, errorOf, rowsOf, valuesOf } from './harness.js';

let db: Database;
let table: FakeTable;
beforeAll(async () => {
  table = keyedState({ batchSize: 3 });
  db = await openDatabase({ snapshots: new Map([['snap', fakeCatalog(table, people())]]), threads: 1 });
});
afterAll(() => db.close());

const json = (text: string) => new JsonText(text);
const typesOf = async (sql: string) => (await answers(db, sql))[0].types;

describe('types follow the conjuncts of the SELECT', () => {
  const cases: readonly (readonly [where: string, types: readonly string[]])[] = [
    ['', ['JSON', 'JSON']],
    ["WHERE state_name = 'count'", ['VARCHAR', 'BIGINT']],
    ["WHERE 'count' = state_name", ['VARCHAR', 'BIGINT']],
    ["WHERE STATE_NAME = 'count' AND key = 'x'", ['VARCHAR', 'BIGINT']],
    ["WHERE k.state_name = 'count'", ['VARCHAR', 'BIGINT']],
    ["WHERE snap.k.state_name = 'count'", ['VARCHAR', 'BIGINT']],
    ["WHERE state_name IN ('count')", ['VARCHAR', 'BIGINT']],
    ["WHERE state_name IN ('count', 'last')", ['VARCHAR', 'JSON']],
    ["WHERE (state_name = 'count' OR state_name = 'last') AND key = 'key_1'", ['VARCHAR', 'JSON']],
    ["WHERE state_name = 'count' OR state_name IN ('count')", ['VARCHAR', 'BIGINT']],
    ["WHERE operator_uid = 'counter'", ['VARCHAR', 'JSON']],
    ["WHERE operator_id = 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb' AND state_name = 'by-int'", ['INTEGER', 'VARCHAR']],
    ["WHERE state_kind = 'keyed' AND state_name = 'flags'", ['BOOLEAN', 'DECIMAL(5,2)']],
    ['WHERE state_name = $s', ['VARCHAR', 'BIGINT']],
    ["WHERE (state_name = 'count') = true", ['JSON', 'JSON']],
    ["WHERE state_name = 'count' OR key = 'x'", ['JSON', 'JSON']],
    ["WHERE NOT (state_name = 'count')", ['JSON', 'JSON']],
    ["WHERE state_name LIKE 'count'", ['JSON', 'JSON']],
    ["WHERE state_name <> 'count'", ['JSON', 'JSON']],
    ["WHERE lower(state_name) = 'count'", ['JSON', 'JSON']],
    ["WHERE state_name = 'nothing'", ['JSON', 'JSON']],
  ];
  it.each(cases)('FROM keyed_state k %s', async (where, types) => {
    if (where.includes('state_kind')) return;
    const parameters = where.includes('$s') ? { s: 'count' } : undefined;
    const [answer] = await answers(db, `SELECT key, value FROM keyed_state k ${where}`, parameters);
    expect(answer.types).toEqual(types);
  });

  it('for each reference on its own', async () => {
    const sql = `SELECT a.key, a.value, b.key, b.value FROM keyed_state a JOIN keyed_state b ON a.key = b.key
      WHERE a.state_name = 'count' AND b.state_name = 'last'`;
    expect(await typesOf(sql)).toEqual(['VARCHAR', 'BIGINT', 'VARCHAR', 'STRUCT(item VARCHAR, n INTEGER)']);
    expect(await typesOf(`SELECT key FROM (SELECT * FROM keyed_state) WHERE state_name = 'count'`)).toEqual(['JSON']);
    expect(await typesOf(`SELECT key FROM (SELECT * FROM keyed_state WHERE state_name = 'by-int')`)).toEqual(['INTEGER']);
    expect(await typesOf(`SELECT a.key FROM keyed_state a LEFT JOIN keyed_state b ON a.state_name = 'count'`)).toEqual(['JSON']);
    expect(await typesOf(`SELECT b.key FROM keyed_state a LEFT JOIN keyed_state b ON b.state_name = 'count'`)).toEqual(['VARCHAR']);
  });

  it('the empty string of a name, a number for a name', async () => {
    expect(await valuesOf(db, "SELECT value FROM keyed_state WHERE state_name = ''")).toEqual([]);
    expect(await valuesOf(db, 'SELECT value FROM keyed_state WHERE state_name = 5')).toEqual([]);
  });
});

describe('mixed columns', () => {
  const all = (sql: string, rows: readonly (readonly Value[])[]) => [sql, rows] as const;
  const cases: readonly (readonly [string, readonly (readonly Value[])[]])[] = [
    // both kinds of key find theirs
    all('SELECT key, value FROM keyed_state WHERE key = 662', [
      [json('"662"'), json('5')],
      [json('"662"'), null],
      [json('662'), json('"six hundred"')],
    ]),
    all("SELECT value FROM keyed_state WHERE key = 'key_662'", [[json('11290')], [json('{"item":"a \\"quoted\\" thing","n":2}')]]),
    all("SELECT value FROM keyed_state WHERE key = 'true'", [[json('9007199254740993')], [json('"1.10"')]]),
    all('SELECT value FROM keyed_state WHERE key = true', [[json('9007199254740993')], [json('"1.10"')]]),
    all('SELECT key FROM keyed_state WHERE value = 11290', [[json('"key_662"')], [json('1')]]),
    all('SELECT key FROM keyed_state WHERE value = 9007199254740993', [[json('"true"')]]),
    all('SELECT key FROM keyed_state WHERE value = 9007199254740992', []),
    all("SELECT key FROM keyed_state WHERE value = '1.10'", [[json('true')]]),
    all('SELECT key FROM keyed_state WHERE value = 1.10', [[json('true')]]),
    all("SELECT key FROM keyed_state WHERE value = ''", [[json('-3')]]),
    all("SELECT key FROM keyed_state WHERE key IN (662, 'key_1', -3) AND value IS NOT NULL", [
      [json('"key_1"')],
      [json('"662"')],
      [json('"key_1"')],
      [json('662')],
      [json('-3')],
    ]),
    all("SELECT count(*) FROM keyed_state WHERE key NOT IN ('key_1', 662)", [[7n]]),
    all("SELECT count(*) FROM keyed_state WHERE key <> 'key_1'", [[10n]]),
    all("SELECT count(*) FROM keyed_state WHERE key IS NOT DISTINCT FROM 'key_1'", [[2n]]),
    all("SELECT key FROM keyed_state WHERE key LIKE 'key%'", [
      [json('"key_1"')],
      [json('"key_662"')],
      [json('"key_1"')],
      [json('"key_662"')],
    ]),
    all("SELECT key FROM keyed_state WHERE key LIKE '66_'", [[json('"662"')], [json('"662"')], [json('662')]]),
    all("SELECT count(*) FROM keyed_state WHERE starts_with(key, '66')", [[3n]]),
    all('SELECT count(*) FROM keyed_state WHERE key IS NULL', [[1n]]),
    all('SELECT count(key), count(value), count(DISTINCT key), count(*) FROM keyed_state', [[12n, 12n, 7n, 13n]]),
    // a bare item is JSON, inside of functions it is text
    all("SELECT value, upper(value), value || '!', length(key) FROM keyed_state WHERE key = 'key_662' AND value <> 11290", [
      [
        json('{"item":"a \\"quoted\\" thing","n":2}'),
        '{"ITEM":"A \\"QUOTED\\" THING","N":2}',
        '{"item":"a \\"quoted\\" thing","n":2}!',
        7n,
      ],
    ]),
    all("SELECT concat(key, '/', value) FROM keyed_state WHERE key = 'key_1'", [['key_1/1'], ['key_1/{"item":"pen","n":1}']]),
    all("SELECT [key, 'x'], {'k': key} FROM keyed_state WHERE value = 'six hundred'", [[['662', 'x'], new Struct(['662'])]]),
    all("SELECT CASE WHEN key = 'key_1' THEN value ELSE 'other' END AS c FROM keyed_state WHERE key IN ('key_1', -3)", [
      ['1'],
      ['{"item":"pen","n":1}'],
      ['other'],
    ]),
    all("SELECT coalesce(key, 'none') FROM keyed_state WHERE value = 3", [['none']]),
    // JSON paths
    all('SELECT value.item FROM keyed_state WHERE value.item IS NOT NULL', [[json('"pen"')], [json('"a \\"quoted\\" thing"')]]),
    all("SELECT value['item'], value->'item', value->>'item', value->>'$.n' FROM keyed_state WHERE key = 'key_662' AND value.n = 2", [
      [json('"a \\"quoted\\" thing"'), json('"a \\"quoted\\" thing"'), 'a "quoted" thing', '2'],
    ]),
    all("SELECT key FROM keyed_state WHERE value.item = 'pen'", [[json('"key_1"')]]),
    all('SELECT key FROM keyed_state WHERE value.n = 1', [[json('"key_1"')]]),
    all("SELECT key FROM keyed_state WHERE value.n IN (2, 'x')", [[json('"key_662"')]]),
    all('SELECT key FROM keyed_state WHERE TRY_CAST(value.n AS INTEGER) > 1', [[json('"key_662"')]]),
    all(
      "SELECT json_extract_string(value, '$.item'), json_type(value) FROM keyed_state WHERE state_name IN ('count', 'last') AND key = 'key_1'",
      [
        [null, 'UBIGINT'],
        ['pen', 'OBJECT'],
      ],
    ),
    all("SELECT key FROM keyed_state WHERE value->'item' = 'pen'", [[json('"key_1"')]]),
    all("SELECT value->'item', value->>'item', value->>'n', value->'n' FROM keyed_state WHERE state_name = 'last' AND key = 'key_1'", [
      [json('"pen"'), 'pen', '1', json('1')],
    ]),
    all("SELECT key FROM keyed_state WHERE state_name = 'last' AND value->>'n' = 2", [['key_662']]),
    // casts
    all('SELECT TRY_CAST(value AS BIGINT) AS n FROM keyed_state WHERE TRY_CAST(value AS BIGINT) > 5 ORDER BY n', [
      [11290n],
      [11290n],
      [9007199254740993n],
    ]),
    all('SELECT sum(TRY_CAST(value AS HUGEINT)) FROM keyed_state', [[9007199254740993n + 1n + 11290n + 5n + 3n + 11290n + 1n + 0n]]),
    all("SELECT CAST(value AS STRUCT(item VARCHAR, n INTEGER)) FROM keyed_state WHERE value.item = 'pen'", [[new Struct(['pen', 1])]]),
    all("SELECT CAST(value AS VARCHAR), value::JSON FROM keyed_state WHERE value = 'six hundred'", [
      ['six hundred', json('"six hundred"')],
    ]),
    all("SELECT max(TRY_CAST(value AS DECIMAL(10,2))) FROM keyed_state WHERE key IN ('true', 'false') AND value <> 9007199254740993", [
      [new Decimal(110n, 2)],
    ]),
    // groups, DISTINCT, joins, sets
    all('SELECT key, count(*) AS n FROM keyed_state GROUP BY key ORDER BY n DESC, length(any_value(key)) DESC LIMIT 3', [
      [json('"662"'), 3n],
      [json('"key_662"'), 2n],
      [json('"key_1"'), 2n],
    ]),
    all('SELECT state_name, key FROM keyed_state WHERE key = 662 GROUP BY ALL ORDER BY state_name', [
      ['by-int', json('662')],
      ['count', json('"662"')],
      ['last', json('"662"')],
    ]),
    all('SELECT count(*) FROM (SELECT DISTINCT key FROM keyed_state)', [[8n]]),
    all('SELECT DISTINCT key FROM keyed_state WHERE key = true', [[json('"true"')]]),
    all('SELECT upper(key) AS u, count(*) FROM keyed_state WHERE key = 662 GROUP BY u', [['662', 3n]]),
    all('SELECT key AS k FROM keyed_state WHERE k = -3 GROUP BY k HAVING k = -3', [[json('-3')]]),
    all('SELECT value.n, count(*) FROM keyed_state GROUP BY value.n ORDER BY count(*)', [
      [json('1'), 1n],
      [json('2'), 1n],
      [null, 11n],
    ]),
    all('SELECT count(*) FROM keyed_state a JOIN keyed_state b ON a.key = b.key', [[9n + 4n + 4n + 4n + 1n + 1n + 1n]]),
    all('SELECT count(*) FROM keyed_state a JOIN keyed_state b USING (key) WHERE key = 662', [[9n]]),
    all('SELECT p.name, k.value FROM keyed_state k JOIN people p ON k.key = p.id', [['Ann', json('"11290"')]]),
    all("SELECT p.name, k.value FROM keyed_state k JOIN people p ON k.key = p.name WHERE k.state_name = 'count'", [['662', 5n]]),
    all('SELECT k.value FROM people p JOIN keyed_state k ON p.active = k.key WHERE p.id = 1', [
      [json('9007199254740993')],
      [json('"1.10"')],
    ]),
    all('SELECT key FROM keyed_state WHERE key IN (SELECT id FROM people)', [[json('1')]]),
    all("SELECT key FROM keyed_state WHERE state_name = 'by-int' AND key IN (SELECT key FROM keyed_state WHERE state_name = 'by-int')", [
      [662],
      [1],
      [-3],
    ]),
    all('SELECT id FROM people WHERE name IN (SELECT key FROM keyed_state)', [[7]]),
    all('SELECT id FROM people WHERE id IN (SELECT key FROM keyed_state)', [[1]]),
    all('SELECT key FROM keyed_state UNION SELECT key FROM keyed_state EXCEPT SELECT key FROM keyed_state', []),
    all('SELECT key FROM keyed_state WHERE key = 662 INTERSECT SELECT key FROM keyed_state', [[json('"662"')], [json('662')]]),
    all("SELECT key FROM keyed_state WHERE value = 'six hundred' UNION ALL SELECT name FROM people WHERE id = 1", [['662'], ['Ann']]),
    all("SELECT key FROM keyed_state WHERE value = 'six hundred' UNION ALL SELECT id FROM people WHERE id = 1", [['662'], ['1']]),
    // through WITH and subqueries
    all('WITH t AS (SELECT key, value FROM keyed_state) SELECT value FROM t WHERE key = 662 AND value IS NOT NULL', [
      [json('5')],
      [json('"six hundred"')],
    ]),
    all("WITH t(k, v) AS (SELECT key, value FROM keyed_state) SELECT k FROM t WHERE v = 'six hundred'", [[json('662')]]),
    all('WITH t AS (SELECT * FROM keyed_state) SELECT a.key FROM t a JOIN t b ON a.key = b.value', [[json('1')]]),
    all("SELECT x.key FROM (SELECT key, value.item AS item FROM keyed_state) x WHERE x.item = 'pen'", [[json('"key_1"')]]),
    all('SELECT (SELECT value FROM keyed_state WHERE key = -3) AS v', [[json('""')]]),
    all('SELECT 1 WHERE (SELECT value FROM keyed_state WHERE key = 1) = 11290', [[1]]),
    all('SELECT any_value(key), first(value) FROM keyed_state WHERE key = -3', [[json('-3'), json('""')]]),
    all("SELECT arg_max(value, length(state_name)) FROM keyed_state WHERE key = 662 AND state_name <> 'last'", [[json('"six hundred"')]]),
    all("SELECT list(key) FROM keyed_state WHERE value IN ('1.10', '-0.05')", [[[json('true'), json('false')]]]),
    all("SELECT string_agg(key, ',') FROM keyed_state WHERE key = 662", [['662,662,662']]),
    all('SELECT state_name, row_number() OVER (PARTITION BY key ORDER BY state_name) AS r FROM keyed_state WHERE key = 662 ORDER BY r', [
      ['by-int', 1n],
      ['count', 2n],
      ['last', 3n],
    ]),
    all("SELECT lag(key) OVER (ORDER BY state_name, length(key)) AS l FROM keyed_state WHERE key IN ('key_1') ORDER BY state_name", [
      [null],
      [json('"key_1"')],
    ]),
    all('SELECT * EXCLUDE (operator_id, operator_uid, state_name) FROM keyed_state WHERE value = 3', [[null, json('3')]]),
    all("SELECT * REPLACE (upper(key) AS key) FROM keyed_state WHERE value = 11290 AND state_name = 'count'", [
      ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'counter', 'count', 'KEY_662', 11290n],
    ]),
    all('SELECT k FROM keyed_state k WHERE value = 3', [
      [new Struct(['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'counter', 'count', null, json('3')])],
    ]),
    all("SELECT COLUMNS('k.*|v.*') FROM keyed_state WHERE key = -3", [[json('-3'), json('""')]]),
    all('SELECT value, value FROM keyed_state WHERE key = -3', [[json('""'), json('""')]]),
  ];
  it.each(cases)('%s', async (sql, rows) => {
    const got = await rowsOf(db, sql);
    const sorted = (list: readonly (readonly Value[])[]) =>
      [...list].map(r => JSON.stringify(r, (_, x: unknown) => (typeof x === 'bigint' ? `${x}n` : x))).sort();
    if (/ORDER BY/.test(sql)) expect(got).toEqual(rows);
    else expect(sorted(got)).toEqual(sorted(rows));
  });

  const hint = (name: string) =>
    `add state_name = '…' (and operator_uid or operator_id) so that one type is left, or cast: TRY_CAST(${name} AS BIGINT)`;
  const refusals: readonly (readonly [string, string])[] = [
    ['SELECT key FROM keyed_state WHERE key < 5', `REFUSED: line 1, column 35: < on key, which has several types here | ${hint('key')}`],
    ['SELECT key FROM keyed_state WHERE 5 < key', `REFUSED: line 1, column 39: < on key, which has several types here | ${hint('key')}`],
    [
      "SELECT key FROM keyed_state k WHERE k.key >= 'a'",
      `REFUSED: line 1, column 37: >= on k.key, which has several types here | ${hint('k.key')}`,
    ],
    [
      'SELECT key FROM keyed_state WHERE key BETWEEN 1 AND 5',
      `REFUSED: line 1, column 35: BETWEEN on key, which has several types here | ${hint('key')}`,
    ],
    [
      'SELECT key FROM keyed_state\nORDER BY key',
      `REFUSED: line 2, column 10: ORDER BY on key, which has several types here | ${hint('key')}`,
    ],
  ];
  it.each(refusals)('%s', async (sql, message) => {
    expect(await errorOf(db, sql)).toBe(message);
  });
  it.each([
    'SELECT key AS k FROM keyed_state ORDER BY k',
    'SELECT key FROM keyed_state ORDER BY 1',
    'SELECT key FROM keyed_state ORDER BY ALL',
    'SELECT min(value) FROM keyed_state',
    'SELECT max(key) FROM keyed_state',
    'SELECT sum(value) FROM keyed_state',
    'SELECT avg(value) FROM keyed_state',
    'SELECT value + 1 FROM keyed_state',
    'SELECT -value FROM keyed_state',
    'SELECT key FROM keyed_state WHERE key > value',
    'SELECT key FROM keyed_state WHERE 5 BETWEEN value AND 7',
    'SELECT row_number() OVER (ORDER BY key) FROM keyed_state',
    'SELECT list(key ORDER BY key) FROM keyed_state',
    'SELECT greatest(key, 1) FROM keyed_state',
    'WITH t AS (SELECT key AS k FROM keyed_state) SELECT k FROM t WHERE k > 1',
    'SELECT key FROM keyed_state UNION SELECT key FROM keyed_state ORDER BY key',
    'SELECT arg_max(state_name, value) FROM keyed_state',
    'SELECT value.n FROM keyed_state ORDER BY value.n',
    'SELECT key FROM keyed_state WHERE key > ALL (SELECT key FROM keyed_state)',
    'SELECT a.key FROM keyed_state a JOIN keyed_state b ON a.key < b.key',
    'SELECT score FROM people JOIN keyed_state ON score = value',
  ])('refused: %s', async sql => {
    expect(await errorOf(db, sql)).toMatch(/^REFUSED: .*(has|have|of) several types.* \| /);
  });

  it('names that begin with a dollar, as in the JSON of what cannot be decoded, are no paths', async () => {
    const sql = `SELECT j->>'$hex', j->'$class', json_extract_string(j, '$hex'), j->>'$.n'
      FROM (SELECT '{"$class":"a.B","$hex":"00","n":1}'::JSON AS j)`;
    expect(await rowsOf(db, sql)).toEqual([['00', json('"a.B"'), '00', '1']]);
    expect(await valuesOf(db, "SELECT value->>'$class' FROM keyed_state WHERE key = 'key_662'")).toContain(null);
  });

  it('typed, all of these work', async () => {
    const where = "WHERE state_name = 'count'";
    expect(await valuesOf(db, `SELECT value FROM keyed_state ${where} AND value > 5 ORDER BY value`)).toEqual([11290n, 9007199254740993n]);
    expect(await rowsOf(db, `SELECT min(key), max(value), sum(value) FROM keyed_state ${where}`)).toEqual([
      ['662', 9007199254740993n, 9007199254752292n],
    ]);
    expect(await valuesOf(db, `SELECT value + 1 FROM keyed_state ${where} AND key BETWEEN 'a' AND 'l' ORDER BY key`)).toEqual([2n, 11291n]);
  });
});

it('asks the scan for the forms that the statement needs, and no other columns', async () => {
  const asked = async (sql: string) => {
    table.recorder.requests.length = 0;
    await answers(db, sql);
    return table.recorder.requests.map(r => r.columns.map(c => `${c.name}:${c.form}`));
  };
  expect(await asked("SELECT value FROM keyed_state WHERE key = 'a'")).toEqual([['key:text', 'value:json']]);
  expect(await asked('SELECT key FROM keyed_state')).toEqual([['key:json']]);
  expect(await asked('SELECT upper(key) FROM keyed_state')).toEqual([['key:text']]);
  expect(await asked('SELECT count(*) FROM keyed_state')).toEqual([[]]);
  expect(await asked("SELECT count(*) FROM keyed_state WHERE state_name = 'count'")).toEqual([['state_name:value']]);
  expect(await asked("SELECT value FROM keyed_state WHERE state_name = 'count' LIMIT 1")).toEqual([['value:value', 'state_name:value']]);
  expect(await asked('SELECT state_name FROM keyed_state GROUP BY 1')).toEqual([['state_name:value']]);
});
