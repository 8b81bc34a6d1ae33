/** The second engine: the same answers as the default one on a common set, and everything else refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareText, likeTest } from '../../src/sql/alasql/compare.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { events, keyedState, orders, people } from './data.js';
import { fakeCatalog } from './fake-table.js';
import { answers, errorOf, valuesOf } from './harness.js';

const QUERIES: readonly string[] = [
  'SELECT * FROM people',
  'SELECT p.* FROM people p',
  'SELECT id, name FROM people',
  'SELECT ID AS nr, NAME n FROM PEOPLE',
  'SELECT people.id FROM people',
  'SELECT id, id, name AS id FROM people',
  'SELECT "id", `name` FROM "people" AS "p q"',
  'SELECT count(*) FROM people',
  'SELECT COUNT(*) AS n FROM people WHERE id > 3',
  'SELECT count(*), count(*) FROM orders',
  'SELECT value FROM keyed_state',
  "SELECT value, key FROM keyed_state WHERE state_name = 'count'",
  "SELECT value FROM keyed_state WHERE key = 'key_662'",
  'SELECT key, value FROM keyed_state WHERE key = 662',
  "SELECT key FROM keyed_state WHERE value = 11290 OR value = 'six hundred'",
  "SELECT key FROM KeyedState WHERE value = 9007199254740993 AND state_name = 'count'",
  "SELECT key FROM keyed_state WHERE state_name = 'count' AND value > 9007199254740992",
  "SELECT key FROM keyed_state WHERE state_name = 'count' AND value = 9007199254740992",
  "SELECT key FROM keyed_state WHERE state_name = 'count' AND value IN (1, '5', 'x', 9007199254740993) ORDER BY value DESC",
  "SELECT key FROM keyed_state WHERE state_name = 'count' AND value <> 'x'",
  "SELECT key FROM keyed_state WHERE state_name = 'count' AND value < 'x'",
  "SELECT key FROM keyed_state WHERE key LIKE 'key%'",
  "SELECT key FROM keyed_state WHERE key LIKE 'KEY%'",
  "SELECT key FROM keyed_state WHERE key LIKE '66_' AND operator_uid = 'counter'",
  "SELECT value FROM keyed_state WHERE state_name = 'flags' AND key = true",
  "SELECT value FROM keyed_state WHERE state_name = 'flags' AND key = 'FALSE'",
  "SELECT value FROM keyed_state WHERE state_name = 'flags' AND key = 'x'",
  "SELECT value FROM keyed_state WHERE state_name = 'by-int' AND key IN (662, -3) ORDER BY key",
  "SELECT key FROM keyed_state WHERE state_name IN ('count', 'last') AND key <> '662'",
  "SELECT id FROM people WHERE city = 'Berlin' AND id > 1 OR city = 'Oslo' AND active = false",
  "SELECT id FROM people WHERE (city = 'Berlin' OR city = 'Oslo') AND id < 4",
  "SELECT id FROM people WHERE city <> 'Berlin'",
  "SELECT id FROM people WHERE city IN ('Berlin', 'Rome') ORDER BY id DESC",
  "SELECT id FROM people WHERE city IN ('Berlin', NULL)",
  'SELECT id FROM people WHERE city = NULL',
  "SELECT id FROM people WHERE name = ''",
  "SELECT id FROM people WHERE name > 'B' AND name < 'E'",
  'SELECT id FROM people WHERE name = 662',
  'SELECT id FROM people WHERE big = 9007199254740993',
  'SELECT id FROM people WHERE big < -5',
  "SELECT id FROM people WHERE big = '-5'",
  'SELECT id FROM people WHERE huge = 1267650600228229401496703205376',
  'SELECT id FROM people WHERE huge > 5 ORDER BY huge',
  'SELECT id FROM people WHERE balance = 1.1',
  'SELECT id FROM people WHERE balance = 1.100',
  "SELECT id FROM people WHERE balance > '-5.001' AND balance < 10.51",
  'SELECT id FROM people WHERE score = 1.5',
  'SELECT id FROM people WHERE score = 0',
  'SELECT id FROM people WHERE score > 1e299',
  "SELECT id FROM people WHERE score = 'NaN'",
  "SELECT id FROM people WHERE score > 'infinity'",
  'SELECT id FROM people WHERE id = 1.5 OR id = 2.0',
  "SELECT id FROM people WHERE id = 'abc' OR id = '3'",
  'SELECT id FROM people WHERE active = true',
  "SELECT id FROM people WHERE uid = '00000000-0000-0000-0000-0000000000FF'",
  "SELECT id FROM people WHERE uid = 'nothing'",
  "SELECT id FROM people WHERE born = '1990-01-31' ORDER BY name",
  "SELECT id FROM people WHERE born > '1990-01-31'",
  "SELECT id FROM people WHERE born < 'abc'",
  "SELECT id FROM people WHERE seen > '2026-01-01' ",
  "SELECT id FROM people WHERE seen = '2026-01-31 13:34:56.789+01'",
  "SELECT id FROM people WHERE local = '2026-01-31T12:34:56'",
  "SELECT id FROM people WHERE name LIKE '%o%'",
  "SELECT id FROM people WHERE name LIKE '%long%twelve%'",
  "SELECT id FROM people WHERE name LIKE '_o_'",
  "SELECT id FROM people WHERE name LIKE 'Çel__'",
  "SELECT id FROM people WHERE id LIKE '1%'",
  'SELECT id FROM people WHERE id <= 2 OR id >= 7 OR id != 5 AND id > 4',
  'SELECT id, name FROM people ORDER BY name',
  'SELECT id, name FROM people ORDER BY name DESC, id',
  'SELECT id, city FROM people ORDER BY city DESC, id DESC',
  'SELECT id FROM people ORDER BY score, id',
  'SELECT id FROM people ORDER BY raw, id',
  'SELECT id FROM people ORDER BY active, uid, id',
  'SELECT id AS city FROM people ORDER BY city DESC',
  'SELECT id FROM people ORDER BY seen, local, id LIMIT 3',
  'SELECT id FROM people LIMIT 2',
  "SELECT id FROM people WHERE city = 'Berlin' LIMIT 1",
  'SELECT n FROM events ORDER BY kind, n DESC LIMIT 7',
  "SELECT n, moment FROM events WHERE kind = 'tick' AND n > 100 ORDER BY moment",
  'SELECT item, prices, attrs FROM orders ORDER BY order_id',
  'SELECT order_id -- a comment\n FROM /* another; */ orders',
  "SELECT id FROM people WHERE name = 'it''s' OR name = 'semi;colon'",
  'SELECT id FROM people; SELECT count(*) FROM people',
  'SELECT id FROM s.people WHERE people.id = 1',
];

const REFUSED: readonly string[] = [
  'SELECT id + 1 FROM people',
  'SELECT upper(name) FROM people',
  'SELECT sum(id) FROM people',
  'SELECT count(id) FROM people',
  'SELECT count(*), id FROM people',
  'SELECT DISTINCT city FROM people',
  'SELECT city FROM people GROUP BY city',
  'SELECT 1',
  'SELECT 1 FROM people',
  'VALUES (1)',
  'FROM people',
  'WITH x AS (SELECT 1) SELECT * FROM x',
  'SELECT * FROM people, orders',
  'SELECT * FROM people JOIN orders ON people.id = orders.id',
  'SELECT * FROM people LEFT JOIN orders USING (id)',
  'SELECT * FROM (SELECT * FROM people)',
  'SELECT * FROM people UNION SELECT * FROM people',
  'SELECT * FROM people WHERE NOT id = 1',
  'SELECT * FROM people WHERE id NOT IN (1)',
  'SELECT * FROM people WHERE id IS NULL',
  'SELECT * FROM people WHERE id BETWEEN 1 AND 2',
  "SELECT * FROM people WHERE name NOT LIKE 'A%'",
  "SELECT * FROM people WHERE name LIKE 'A!%' ESCAPE '!'",
  'SELECT * FROM people WHERE id IN (SELECT id FROM orders)',
  'SELECT * FROM people WHERE EXISTS (SELECT 1 FROM orders)',
  'SELECT * FROM people WHERE id + 1 = 2',
  'SELECT * FROM people WHERE active',
  'SELECT * FROM people WHERE 1 = 1',
  'SELECT * FROM people WHERE id = id + 0',
  'SELECT * FROM people LIMIT 0',
  'SELECT * FROM people LIMIT -1',
  'SELECT * FROM people LIMIT 1.5',
  'SELECT * FROM people LIMIT 1 OFFSET 1',
  'SELECT * FROM people ORDER BY 1',
  'SELECT * FROM people ORDER BY id NULLS FIRST',
  'SELECT * FROM orders ORDER BY item',
  "SELECT * FROM orders WHERE item = 'x'",
  'SELECT item.sku FROM orders',
  'SELECT * FROM keyed_state ORDER BY key',
  'SELECT * FROM keyed_state WHERE key < 5',
  'SELECT row_number() OVER () FROM people',
  'SELECT CASE WHEN id = 1 THEN 2 END FROM people',
  'SELECT CAST(id AS VARCHAR) FROM people',
  'SELECT id::VARCHAR FROM people',
  'SELECT * FROM people HAVING count(*) > 1',
  'SELECT TOP 3 * FROM people',
  'DESCRIBE people',
  'SHOW TABLES',
  'SUMMARIZE people',
];

let duck: Database;
let ala: Database;
beforeAll(async () => {
  const open = (engine: 'duckdb' | 'alasql') =>
    openDatabase({
      engine,
      threads: 1,
      snapshots: new Map([['s', fakeCatalog(people({ batchSize: 2 }), orders(), events(), keyedState({ batchSize: 4 }))]]),
    });
  duck = await open('duckdb');
  ala = await open('alasql');
});
afterAll(async () => {
  await duck.close();
  await ala.close();
});

describe('both engines give the same', () => {
  it.each(QUERIES)('%s', async sql => {
    const spelled = (s: string) => s.replaceAll('`', '"');
    const expected = await answers(duck, spelled(sql));
    const got = await answers(ala, sql);
    expect(got.map(a => [a.columns, a.types])).toEqual(expected.map(a => [a.columns, a.types]));
    // ties of ORDER BY are the engine's
    const text = (v: unknown) => JSON.stringify(v, (_, x: unknown) => (typeof x === 'bigint' ? `${x}n` : Number.isNaN(x) ? 'NaN' : x));
    const order = (rows: readonly unknown[]) => (/ORDER BY/.test(sql) ? rows : [...rows].map(text).sort());
    expect(got.map(a => order(a.rows))).toEqual(expected.map(a => order(a.rows)));
  });
});

describe('everything else is refused and names the default engine', () => {
  it.each(REFUSED)('%s', async sql => {
    expect(await errorOf(ala, sql)).toMatch(/^(REFUSED|SQL_SYNTAX): .*(--engine duckdb|state_name = '…')/);
  });
});

it('EXPLAIN and EXPLAIN ANALYZE', async () => {
  const lines = async (sql: string) => valuesOf(ala, sql);
  expect(await lines("EXPLAIN SELECT name FROM people WHERE id IN (1, 'x') AND (city LIKE '%n' OR id = 2)")).toEqual([
    'scan s.people',
    '  operators: 1 of 1',
    '  states: 1 of 1',
    '  types: typed',
    '  columns: id INTEGER, city VARCHAR, name VARCHAR',
    '  filter: id in (inexact)',
    '  rows: 7',
    "filter: ((city LIKE '%n') OR (id = 2)) (left to the engine)",
    'engine: alasql',
  ]);
  expect(await lines('/* a */ EXPLAIN ANALYZE SELECT count(*) FROM people')).toEqual(expect.arrayContaining(['engine: alasql', 'rows: 1']));
  expect(await errorOf(ala, 'EXPLAIN SELECT nope FROM people')).toContain('UNKNOWN_COLUMN: line 1, column 16');
});

it('names, parameters and errors are as in the default engine', async () => {
  expect(await errorOf(ala, 'SELECT kye FROM keyed_state')).toBe(
    'UNKNOWN_COLUMN: line 1, column 8: there is no column "kye" | did you mean key?',
  );
  expect(await errorOf(ala, 'SELECT *\nFROM keyedstat')).toBe(
    'UNKNOWN_TABLE: line 2, column 6: there is no table "keyedstat" | did you mean keyed_state?',
  );
  expect(await errorOf(ala, "SELECT * FROM 'x.csv'")).toContain('--engine duckdb');
  expect(await errorOf(ala, 'SELECT * FROM "x.csv"')).toContain('REFUSED');
  expect(await errorOf(ala, 'SELECT o.id FROM people p')).toContain('UNKNOWN_TABLE: line 1, column 8');
  expect(await valuesOf(ala, 'SELECT name FROM people WHERE id = $k', { k: '2' })).toEqual(['Bob']);
  expect(await valuesOf(ala, 'SELECT id FROM people WHERE name = $k', { k: "' OR '1'='1" })).toEqual([]);
  expect(await errorOf(ala, 'SELECT id FROM people WHERE id = $k')).toBe(
    'SQL_ERROR: line 1, column 34: the parameter $k has no value | give it with -p k=…',
  );
  expect(await errorOf(ala, 'SELECT id FROM people', { z: '1' })).toContain('USAGE');
  expect(await errorOf(ala, '')).toContain('SQL_SYNTAX');
});

it('text is ordered by the bytes of UTF-8', () => {
  const texts = ['', 'a', 'b', 'ab', 'Z', 'é', '\uffff', '\ue000', '🙂', '\ud83d\ude00a', 'z\u{10ffff}', 'zz', '\u07ff', '\u0800'];
  for (const a of texts) for (const b of texts) expect(compareText(a, b)).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
});

it('LIKE patterns', () => {
  expect(likeTest('a%b_c%')('axxbxbyc')).toBe(true);
  expect(likeTest('%')('')).toBe(true);
  expect(likeTest('_')('🙂')).toBe(true);
  expect(likeTest('a%')('A')).toBe(false);
  expect(likeTest(`${'%a'.repeat(30)}b`)('a'.repeat(2000))).toBe(false);
});
