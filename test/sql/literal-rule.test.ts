/** The literal rule of contract §2: every kind of constant against every type of column, with answers stated by hand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  Decimal,
  DOUBLE,
  decimal,
  FLOAT,
  HUGEINT,
  INTEGER,
  INTERVAL,
  Interval,
  JSON_TYPE,
  JsonText,
  list,
  MapValue,
  map,
  type SqlType,
  Struct,
  struct,
  TIME,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  Timestamp,
  UUID,
  VARCHAR,
  type Value,
} from '../../src/types.js';
import { keyedState, orders, people } from './data.js';
import { type FakeTable, fakeCatalog, fakeTable } from './fake-table.js';
import { errorOf, rowsOf, valuesOf } from './harness.js';

/** A column with one value and one NULL of each type, named after it. */
const columns: readonly (readonly [name: string, type: SqlType, value: Value])[] = [
  ['i', INTEGER, 662],
  ['b', BIGINT, 9007199254740993n],
  ['h', HUGEINT, 2n ** 100n],
  ['f', FLOAT, 0.1],
  ['d', DOUBLE, 0.1],
  ['nan', DOUBLE, Number.NaN],
  ['dec', decimal(10, 2), new Decimal(110n, 2)],
  ['t', VARCHAR, '662'],
  ['w', VARCHAR, 'key_662'],
  ['bool', BOOLEAN, true],
  ['uuid', UUID, '00000000-0000-0000-0000-0000000000ff'],
  ['blob', BLOB, new Uint8Array([0x61, 0x62])],
  ['date', DATE, 20484],
  ['time', TIME, 45296000000000],
  ['ts', TIMESTAMP, new Timestamp(1769862896n, 0)],
  ['tns', TIMESTAMP_NS, new Timestamp(1769862896n, 5)],
  ['tz', TIMESTAMPTZ, new Timestamp(1769862896n, 0)],
  ['iv', INTERVAL, new Interval(0, 3, 0n)],
  ['s', struct(['a', INTEGER]), new Struct([1])],
  ['l', list(INTEGER), [1, 2]],
  ['m', map(VARCHAR, INTEGER), new MapValue([['k', 1]])],
  ['j', JSON_TYPE, new JsonText('{"a": 1}')],
  ['jn', JSON_TYPE, new JsonText('5')],
];

let db: Database;
let types: FakeTable;
beforeAll(async () => {
  types = fakeTable(
    'types',
    columns.map(([name, type]) => ({ name, type })),
    [columns.map(c => c[2]), columns.map(() => null)],
  );
  db = await openDatabase({
    snapshots: new Map([['s', fakeCatalog(types, people(), orders(), keyedState())]]),
    threads: 1,
  });
});
afterAll(() => db.close());

/** condition → what it is for the value (true or false); for the NULL row it is NULL, unless said otherwise */
const CONDITIONS: readonly (readonly [string, boolean, boolean?])[] = [
  // text that spells a number, against numbers
  ["i = '662'", true],
  ["i = ' 662 '", true],
  ["i = '0662'", true],
  ["i = '662.0'", true],
  ["i = '662.5'", false],
  ["i = '6.62e2'", true],
  ["i = 'key_662'", false],
  ["i = ''", false],
  ["i = '662x'", false],
  ["i = 'NaN'", false],
  ["i = '99999999999999999999999999999999999999999999'", false],
  ["'662' = i", true],
  ["i <> '662'", false],
  ["i <> 'key_662'", true],
  ["i <> '663'", true],
  ["i < '663'", true],
  ["i < '1000'", true],
  ["i > '7'", true],
  ["i < 'key'", false],
  ["i >= 'key'", false],
  ["'663' > i", true],
  ["i BETWEEN '1' AND '700'", true],
  ["i BETWEEN 'a' AND 'b'", false],
  ["i BETWEEN '1' AND 'b'", false],
  ["i NOT BETWEEN 'a' AND 'b'", true],
  ["i IN ('a', '662')", true],
  ["i IN ('a', 'b')", false],
  ["i NOT IN ('a', 'b')", true],
  ["i NOT IN ('a', '662')", false],
  ["i IN ('a', 662)", true],
  ["i IN (661, '663')", false],
  ["NOT (i = 'key')", true],
  ["i = 'key' OR i = 662", true],
  ["i IS DISTINCT FROM 'key'", true, true],
  ["i IS NOT DISTINCT FROM 'key'", false, false],
  ["i IS NOT DISTINCT FROM '662'", true, false],
  ["CASE i WHEN 'key' THEN true WHEN '662' THEN true ELSE false END", true, false],
  // exact beyond 2^53
  ["b = '9007199254740993'", true],
  ["b = '9007199254740992'", false],
  ['b = 9007199254740993', true],
  ['b = 9007199254740992', false],
  ["b > '9007199254740992'", true],
  ["b = '9007199254740993.0'", true],
  ["b IN (9007199254740992, '9007199254740993')", true],
  ["h = '1267650600228229401496703205376'", true],
  ["h = '1267650600228229401496703205377'", false],
  ['h = 1267650600228229401496703205376', true],
  ["h < '1e31'", true],
  // floats, decimals
  ["d = '0.1'", true],
  ["d = '1e-1'", true],
  ["d = '0.10'", true],
  ["d < '0.2'", true],
  ["d = 'x'", false],
  ["f = '0.1'", true],
  ["nan = 'NaN'", true],
  ["nan = 'nan'", true],
  ["nan = '1'", false],
  ["nan > 'Infinity'", true],
  ["dec = '1.1'", true],
  ["dec = '1.10'", true],
  ["dec = '1.101'", false],
  ["dec < '1.2'", true],
  ["dec = 'one'", false],
  ['dec = 1.1', true],
  ['dec = 1.100', true],
  ['i = 662.0', true],
  ['i = 662.5', false],
  ['i < 662.5', true],
  // numbers against text
  ['t = 662', true],
  ['t = 0662', true],
  ['t = 662.0', false],
  ["t = '0662'", false],
  ['w = 662', false],
  ['w <> 662', true],
  ['w < 662', false],
  ['t IN (661, 662)', true],
  ["w IN (1, 'key_662')", true],
  ['t BETWEEN 661 AND 663', true],
  ['t = true', false],
  ['t LIKE 662', true],
  ["i LIKE '66%'", true],
  ['662 = t', true],
  ['t IS NOT DISTINCT FROM 662', true, false],
  // booleans
  ["bool = 'true'", true],
  ["bool = 'yes'", true],
  ["bool = 'key'", false],
  ["bool <> 'key'", true],
  ['bool = 1', true],
  // other types
  ["uuid = '00000000-0000-0000-0000-0000000000FF'", true],
  ["uuid = 'key'", false],
  ['uuid = 255', false],
  ["blob = '6162'", true],
  ['blob = 5', false],
  ["date = '2026-01-31'", true],
  ["date = 'key'", false],
  ['date = 20484', false],
  ["date < '2026-02-01'", true],
  ["date < 'key'", false],
  ["time = '12:34:56'", true],
  ["time = 'noon'", false],
  ["ts = '2026-01-31 12:34:56'", true],
  ["ts = '2026-01-31T12:34:56'", true],
  ["ts = 'key'", false],
  ['ts = 5', false],
  ["tns = '2026-01-31 12:34:56.000000005'", true],
  ["tz = '2026-01-31 13:34:56+01'", true],
  ["tz > '2026-01-01'", true],
  ["tz = 'key'", false],
  ["iv = '3 days'", true],
  ["iv = 'key'", false],
  ["s = 'key'", false],
  ['s = 662', false],
  ["s = '{a: 1}'", true],
  ["l = '[1, 2]'", true],
  ["l = 'key'", false],
  ['l = 5', false],
  ["m = 'key'", false],
  ["j = 'key'", false],
  ['jn = 5', true],
  ["jn = '5'", true],
  ['jn = 6', false],
  // paths and expressions
  ["s.a = '1'", true],
  ["s.a = 'x'", false],
  ["s['a'] = '1'", true],
  ["l[1] = '1'", true],
  ["l[1] = 'x'", false],
  ["m['k'] = 'x'", false],
  ["i + 1 = '663'", true],
  ["i + 1 = 'x'", false],
  ["-i = '-662'", true],
  ["length(w) = '7'", true],
  ["length(w) = 'x'", false],
  ['lower(w) = 662', false],
  ['upper(t) = 662', true],
  ["coalesce(i, 0) = 'x'", false, false],
  ["CASE WHEN bool THEN i END = 'x'", false],
  ["j->>'a' = 1", true],
  ["j->>'a' = '1'", true],
  ["CAST(t AS BIGINT) = 'x'", false],
  ["(i, w) = (662, 'key_662')", true],
  ["(i, t) = ('662', 662)", true],
  ["(i, w) = ('x', 'key_662')", false],
  ["(i, w) IN (('x', 'y'), ('662', 'key_662'))", true],
  ["(SELECT max(x.i) FROM types x) = 'x' AND i IS NOT NULL", false, false],
  ["(SELECT max(x.i) FROM types x) = '662' AND i IS NOT NULL", true, false],
  ["'key' IN (SELECT x.i FROM types x WHERE x.i IS NOT NULL) AND i IS NOT NULL", false, false],
  ["'662' IN (SELECT x.i FROM types x WHERE x.i IS NOT NULL) AND i IS NOT NULL", true, false],
];

describe('constants against columns', () => {
  it.each(CONDITIONS.map(([c, e, n]) => ({ condition: c, expected: e, ofNull: n })))(
    '$condition is $expected',
    async ({ condition, expected, ofNull }) => {
      const values = await valuesOf(db, `SELECT ${condition} FROM types`);
      expect(values).toEqual([expected, ofNull ?? null]);
      // as a condition, with whatever was pushed down
      const kept = await valuesOf(db, `SELECT i IS NULL FROM types WHERE ${condition}`);
      expect(kept).toEqual([...(expected ? [false] : []), ...(ofNull === true ? [true] : [])]);
      // the parser turns NOT (a < b) into a >= b: with a constant that has no place in the order both are false
      if (/[<>]=? '(key|b)'|< 662$/.test(condition)) return;
      const dropped = await valuesOf(db, `SELECT i IS NULL FROM types WHERE NOT (${condition})`);
      expect(dropped).toEqual([...(expected ? [] : [false]), ...(ofNull === false ? [true] : [])]);
    },
  );
});

describe('the rule reaches through', () => {
  const through: readonly (readonly [string, number])[] = [
    ["SELECT 1 FROM (SELECT id AS x FROM people) WHERE x = 'abc'", 0],
    ["SELECT 1 FROM (SELECT id AS x FROM people) WHERE x = '3'", 1],
    ["WITH t AS (SELECT id + 0 AS x FROM people) SELECT 1 FROM t WHERE x IN ('3', 'abc')", 1],
    ["WITH t(x) AS (SELECT id FROM people) SELECT 1 FROM t WHERE x < '3'", 2],
    ["SELECT 1 FROM people p JOIN orders o ON p.id = o.id WHERE o.order_id = 'abc'", 0],
    ["SELECT 1 FROM people p JOIN orders o ON p.id = o.id AND o.order_id = '10'", 1],
    ["SELECT 1 FROM people p LEFT JOIN orders o ON p.id = o.id AND o.order_id = 'abc'", 7],
    ["SELECT count(*) AS n FROM people GROUP BY city HAVING n = 'abc'", 0],
    ["SELECT count(*) AS n FROM people GROUP BY city HAVING count(*) = '3'", 1],
    ["SELECT id FROM people QUALIFY row_number() OVER (ORDER BY id) = '3'", 1],
    ["SELECT 1 FROM (SELECT id FROM people UNION ALL SELECT id FROM orders) WHERE id = 'abc'", 0],
    ["SELECT 1 FROM (SELECT id FROM people UNION ALL SELECT id FROM orders) WHERE id = '1'", 3],
    ['SELECT 1 FROM orders, unnest(item.tags) t(x) WHERE x = 5', 0],
    ["SELECT 1 FROM range(5) r(i) WHERE i = 'abc'", 0],
    ["SELECT 1 FROM range(5) r(i) WHERE i = '3'", 1],
    ["SELECT 1 FROM (VALUES (1), (2)) v(i) WHERE i = 'abc'", 0],
    ["SELECT 1 FROM people p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = p.id AND o.order_id = 'abc')", 0],
    ["SELECT 1 FROM people p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.id = p.id AND p.id = '1')", 1],
    ["SELECT id AS x FROM people WHERE x = 'abc'", 0],
    ['SELECT list_filter(item.tags, t -> t = 5) FROM orders', 6],
    ['SELECT 1 FROM people WHERE name = 662', 1],
    ["SELECT max(id) FILTER (WHERE id = 'abc') FROM people", 1],
  ];
  it.each(through)('%s: %d rows', async (sql, rows) => {
    expect((await rowsOf(db, sql)).length).toBe(rows);
  });

  it('parameters are text under the same rule', async () => {
    expect(await valuesOf(db, 'SELECT name FROM people WHERE id = $k', { k: '2' })).toEqual(['Bob']);
    expect(await valuesOf(db, 'SELECT name FROM people WHERE id = $K', { k: 'key_662' })).toEqual([]);
    expect(await valuesOf(db, 'SELECT id FROM people WHERE name = $k', { k: "O'Neil; --" })).toEqual([]);
    expect(await valuesOf(db, 'SELECT id FROM people WHERE id IN ($a, $b) ORDER BY id LIMIT $n', { a: '2', b: '3', n: '1' })).toEqual([2]);
    expect(await valuesOf(db, 'SELECT $a || $a', { a: 'x' })).toEqual(['xx']);
    expect(await valuesOf(db, 'SELECT big FROM people WHERE big = $b', { b: '9007199254740993' })).toEqual([9007199254740993n]);
    expect(await errorOf(db, 'SELECT $a')).toBe('SQL_ERROR: line 1, column 8: the parameter $a has no value | give it with -p a=…');
    expect(await errorOf(db, 'SELECT 1', { zz: '1' })).toBe(
      'USAGE: no statement has the parameter $zz | it is written $name in the statement',
    );
    expect(await errorOf(db, 'SELECT ?')).toContain('has no value');
  });
});
