/**
 * Filters only ever restate what the statement says: thousands of generated conditions, in every place where a filter may pass
 * down, answered over scans that drop whatever the filters exclude, against tables of DuckDB's own.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import type { Filter } from '../../src/tables/table.js';
import { BIGINT, BOOLEAN, Decimal, DOUBLE, decimal, INTEGER, VARCHAR, type Value } from '../../src/types.js';
import { keyedState } from './data.js';
import { type FakeTable, fakeCatalog, fakeTable } from './fake-table.js';
import { answers, openOracle } from './harness.js';

/** xorshift: the same conditions in every run */
function random(seed: number) {
  let x = seed;
  return (n: number) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
  };
}

const columns = [
  { name: 'i', type: INTEGER },
  { name: 'b', type: BIGINT },
  { name: 'd', type: DOUBLE },
  { name: 'dec', type: decimal(6, 2) },
  { name: 't', type: VARCHAR },
  { name: 'f', type: BOOLEAN },
];
const big = 9007199254740992n;
const values: Readonly<Record<string, readonly Value[]>> = {
  i: [0, 1, 2, -1, 2147483647, null],
  b: [big, big + 1n, big - 1n, 5n, -(2n ** 63n), null],
  d: [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, null],
  dec: [new Decimal(150n, 2), new Decimal(0n, 2), new Decimal(-1n, 2), null],
  t: ['', 'a', 'ab', 'b', '%', 'a_b', '5', 'žluť', null],
  f: [true, false, null],
};
const constants: Readonly<Record<string, readonly string[]>> = {
  i: ['0', '1', '-1', '2147483647', '2147483648', '1.5', '1.0', '99999999999999999999', 'NULL'],
  b: ['9007199254740992', '9007199254740993', '5', '-9223372036854775808', '9223372036854775808', '5.5', 'NULL'],
  d: ['0', '1.5', '0.0', '1e300', '-1', 'NULL'],
  dec: ['1.5', '1.50', '1.500', '0', '-0.01', '1.501', 'NULL'],
  t: ["''", "'a'", "'ab'", "'%'", "'5'", "'žluť'", "'zz'", 'NULL'],
  f: ['true', 'false', 'NULL'],
};
const patterns = ["'a%'", "'a'", "'%b'", "'a\\_b'", "'a_%'", "''", "'%'", "'ž%'", 'NULL'];

function table(name: string, rows: number, seed: number): FakeTable {
  const r = random(seed);
  const data = Array.from({ length: rows }, () => columns.map(c => values[c.name][r(values[c.name].length)]));
  return fakeTable(name, columns, data, { batchSize: 7 });
}

/** A condition over the columns of a table, in all the forms that pushdown reads and some that it must not. */
function condition(r: (n: number) => number, prefix: string, depth = 2): string {
  const pick = <T>(list: readonly T[]): T => list[r(list.length)];
  if (depth > 0) {
    switch (r(8)) {
      case 0:
      case 1:
        return `(${condition(r, prefix, depth - 1)} AND ${condition(r, prefix, depth - 1)})`;
      case 2:
        return `(${condition(r, prefix, depth - 1)} OR ${condition(r, prefix, depth - 1)})`;
      case 3:
        return `NOT (${condition(r, prefix, depth - 1)})`;
    }
  }
  const name = pick(columns).name;
  const column = `${prefix}${name}`;
  const constant = () => pick(constants[name]);
  const op = pick(['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM']);
  switch (r(10)) {
    case 0:
      return `${constant()} ${op} ${column}`;
    case 1:
      return `${column} IN (${constant()}, ${constant()}, ${constant()})`;
    case 2:
      return `${column} NOT IN (${constant()}, ${constant()})`;
    case 3:
      return `${column} BETWEEN ${constant()} AND ${constant()}`;
    case 4:
      return `${column} IS ${pick(['', 'NOT '])}NULL`;
    case 5:
      return `${prefix}t ${pick(['LIKE', 'NOT LIKE'])} ${pick(patterns)}`;
    case 6:
      return `(${column} = ${constant()} OR ${column} = ${constant()})`;
    case 7:
      return pick([`${prefix}f`, `NOT ${prefix}f`, `starts_with(${prefix}t, 'a')`, `${prefix}t ^@ 'ž'`]);
    default:
      return `${column} ${op} ${constant()}`;
  }
}

/** Statements around a condition on t1 (aliases a) and one on t2 (b). */
const SHAPES: readonly ((a: string, b: string, plain: string) => string)[] = [
  (_a, _b, p) => `SELECT count(*), sum(i), min(t) FROM t1 WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*) FROM (SELECT * FROM t1) WHERE ${p}`,
  (_a, _b, p) => `WITH x AS (SELECT i, b, d, dec, t, f FROM t1) SELECT count(*) FROM x WHERE ${p}`,
  (_a, _b, p) => `WITH x AS (SELECT * FROM t1) SELECT (SELECT count(*) FROM x WHERE ${p}), (SELECT count(*) FROM x)`,
  (a, b) => `SELECT count(*), count(b.i) FROM t1 a LEFT JOIN t2 b ON a.i = b.i WHERE ${a} AND ${b}`,
  (a, b) => `SELECT count(*), count(b.i) FROM t1 a LEFT JOIN t2 b ON a.i = b.i AND ${b} WHERE ${a}`,
  (a, b) => `SELECT count(*), count(b.i) FROM t1 a LEFT JOIN t2 b ON a.i = b.i AND ${a} AND ${b}`,
  (a, b) => `SELECT count(*), count(a.i), count(b.i) FROM t1 a FULL JOIN t2 b ON a.i = b.i WHERE ${a} AND ${b}`,
  (a, b) => `SELECT count(*), count(a.i), count(b.i) FROM t1 a FULL JOIN t2 b ON a.i = b.i AND ${a} AND ${b}`,
  (a, b) => `SELECT count(*), count(a.i) FROM t1 a RIGHT JOIN t2 b ON a.i = b.i AND ${a} WHERE ${b}`,
  (a, b) => `SELECT count(*) FROM t1 a JOIN t2 b ON a.i = b.i AND ${a} AND ${b}`,
  (a, b) => `SELECT count(*) FROM t1 a SEMI JOIN t2 b ON a.i = b.i AND ${b} WHERE ${a}`,
  (a, b) => `SELECT count(*) FROM t1 a ANTI JOIN t2 b ON a.i = b.i AND ${b} WHERE ${a}`,
  (a, b) => `SELECT count(*) FROM t1 a ANTI JOIN t2 b ON a.i = b.i AND ${a} AND ${b}`,
  (a, _b) => `SELECT count(*), count(b.i) FROM (t1 a LEFT JOIN t2 b ON a.i = b.i) JOIN t2 c ON c.i = a.i AND ${a}`,
  (_a, b) => `SELECT count(*), count(a.i) FROM t2 c LEFT JOIN (t1 a LEFT JOIN t2 b ON a.i = b.i) ON c.i = a.i WHERE ${b}`,
  (_a, _b, p) => `SELECT count(*) FROM (SELECT * FROM t1 UNION ALL SELECT * FROM t2) WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*) FROM (SELECT * FROM t1 EXCEPT SELECT * FROM t2) WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*) FROM (SELECT DISTINCT i, b, d, dec, t, f FROM t1) WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*), sum(n) FROM (SELECT i, b, d, dec, t, f, count(*) AS n FROM t1 GROUP BY i, b, d, dec, t, f) WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*), sum(n) FROM (SELECT i, b, d, dec, t, f, count(*) OVER () AS n FROM t1) WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*) FROM (SELECT * FROM t1 ORDER BY i, b, d, dec, t, f LIMIT 20) WHERE ${p}`,
  (_a, _b, p) =>
    `SELECT count(*) FROM (SELECT max(i) AS i, max(b) AS b, max(d) AS d, max(dec) AS dec, max(t) AS t, bool_or(f) AS f FROM t1) WHERE ${p}`,
  (_a, b) => `SELECT count(*) FROM t1 a WHERE EXISTS (SELECT 1 FROM t2 b WHERE a.i = b.i AND ${b})`,
  (_a, b) => `SELECT count(*) FROM t1 a WHERE i NOT IN (SELECT i FROM t2 b WHERE i IS NOT NULL AND ${b})`,
  (_a, b) => `SELECT sum(n) FROM (SELECT (SELECT count(*) FROM t2 b WHERE b.i = a.i AND ${b}) AS n FROM t1 a)`,
  (a, b) => `SELECT count(*) FROM t1 a, LATERAL (SELECT * FROM t2 x WHERE x.i = a.i) b WHERE ${a} AND ${b}`,
  (_a, _b, p) =>
    `SELECT count(*) FROM (SELECT i, b, d, dec, t, f FROM t1 QUALIFY row_number() OVER (ORDER BY i, b, d, dec, t, f) <= 20) WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*), count(x) FROM (SELECT *, unnest([1, 2]) AS x FROM t1) WHERE ${p}`,
  (_a, _b, p) => `SELECT count(*) FILTER (WHERE ${p}) FROM t1`,
];

let db: Database;
let oracle: Awaited<ReturnType<typeof openOracle>>;
let tables: readonly FakeTable[];
beforeAll(async () => {
  tables = [table('t1', 60, 11), table('t2', 40, 23)];
  db = await openDatabase({ snapshots: new Map([['s', fakeCatalog(...tables)]]), threads: 1 });
  oracle = await openOracle([table('t1', 60, 11), table('t2', 40, 23)]);
});
afterAll(async () => {
  await db.close();
  await oracle.close();
});

describe('no condition loses or gains a row', () => {
  it.each(SHAPES.map((shape, i) => ({ shape, i, label: shape('A', 'B', 'P') })))('$label', async ({ shape, i }) => {
    const r = random(1000 + i * 77);
    let pushed = 0;
    for (let k = 0; k < 25; k++) {
      const sql = shape(condition(r, 'a.'), condition(r, 'b.'), condition(r, ''));
      for (const t of tables) t.recorder.requests.length = 0;
      const [answer] = await answers(db, sql);
      expect(answer.rows, sql).toEqual((await oracle.query(sql)).rows);
      pushed += tables.reduce((n, t) => n + t.recorder.requests.reduce((m, q) => m + q.filters.length, 0), 0);
    }
    // FILTER, LIMIT, aggregates without groups, windows and outer sides let little or nothing through
    if (i < 3) expect(pushed).toBeGreaterThan(8);
  });
});

describe('what goes down', () => {
  const asked = async (sql: string): Promise<readonly (readonly Filter[])[]> => {
    for (const t of tables) t.recorder.requests.length = 0;
    await answers(db, sql);
    return tables.flatMap(t => t.recorder.requests.map(q => q.filters));
  };
  const text = (value: string) => ({ kind: 'string', value });
  const int = (value: bigint) => ({ kind: 'integer', value });
  const cases: readonly (readonly [string, readonly unknown[]])[] = [
    ["t = 'a'", [{ column: 't', op: '=', value: text('a') }]],
    ["'a' < t", [{ column: 't', op: '>', value: text('a') }]],
    ['t = 5', [{ column: 't', op: '=', value: text('5') }]],
    ['t = 1.50', [{ column: 't', op: '=', value: text('1.50') }]],
    ['b = 9007199254740993', [{ column: 'b', op: '=', value: int(9007199254740993n) }]],
    ["b = '9007199254740993'", [{ column: 'b', op: '=', value: int(9007199254740993n) }]],
    ["b = '01'", [{ column: 'b', op: '=', value: int(1n) }]],
    // numbers that the type has not: their place in the order
    ["b <= '1.5'", [{ column: 'b', op: '<=', value: int(1n) }]],
    ['b < 1.5', [{ column: 'b', op: '<=', value: int(1n) }]],
    ['b >= -1.5', [{ column: 'b', op: '>', value: int(-2n) }]],
    [`b < 1${'0'.repeat(60)}`, [{ column: 'b', op: '<=', value: int(2n ** 63n - 1n) }]],
    [`b < -1${'0'.repeat(60)}`, [{ column: 'b', op: 'in', values: [] }]],
    ['b > -1e60', [{ column: 'b', op: 'is not null' }]],
    ['b = -170141183460469231731687303715884105728', [{ column: 'b', op: 'in', values: [] }]],
    ["b = 'x'", [{ column: 'b', op: 'in', values: [] }]],
    ["b <> 'x'", [{ column: 'b', op: 'is not null' }]],
    ["b IN (1, 'x', '2', NULL)", [{ column: 'b', op: 'in', values: [int(1n), int(2n)] }]],
    [
      'b NOT IN (1, 2)',
      [
        { column: 'b', op: '<>', value: int(1n) },
        { column: 'b', op: '<>', value: int(2n) },
      ],
    ],
    ['b NOT IN (1, NULL)', [{ column: 'b', op: 'in', values: [] }]],
    ['b = 1 OR b IN (2, 3)', [{ column: 'b', op: 'in', values: [int(1n), int(2n), int(3n)] }]],
    ['b = 1 OR i = 1', []],
    ['b = 1 OR b > 5', []],
    [
      'i BETWEEN 1 AND 5',
      [
        { column: 'i', op: '>=', value: int(1n) },
        { column: 'i', op: '<=', value: int(5n) },
      ],
    ],
    ['i IS NULL', [{ column: 'i', op: 'is null' }]],
    ['i IS NOT NULL', [{ column: 'i', op: 'is not null' }]],
    ["t LIKE 'ab%'", [{ column: 't', op: 'prefix', value: 'ab' }]],
    ["t LIKE 'ab_c%'", [{ column: 't', op: 'prefix', value: 'ab' }]],
    ["t LIKE 'ab'", [{ column: 't', op: '=', value: text('ab') }]],
    ["t LIKE '%ab'", []],
    ["t NOT LIKE 'ab%'", []],
    ["t ILIKE 'ab%'", []],
    ["starts_with(t, 'ab')", [{ column: 't', op: 'prefix', value: 'ab' }]],
    ['f', [{ column: 'f', op: '=', value: { kind: 'boolean', value: true } }]],
    ['NOT f', [{ column: 'f', op: '=', value: { kind: 'boolean', value: false } }]],
    ['i + 1 = 2', []],
    ['abs(i) = 1', []],
    ['i = b', []],
    ['i = (SELECT 1)', []],
    ['random() < 2', []],
    ['d = 1.5', [{ column: 'd', op: '=', value: { kind: 'decimal', text: '1.5' } }]],
    ['d = 1e300', [{ column: 'd', op: '=', value: { kind: 'decimal', text: '1e300' } }]],
    ['i = NULL', []],
    ['i IS DISTINCT FROM 5', []],
    ['i IS NOT DISTINCT FROM 5', [{ column: 'i', op: '=', value: int(5n) }]],
    [
      "i = 1 AND t = 'a' AND i = 1",
      [
        { column: 'i', op: '=', value: int(1n) },
        { column: 't', op: '=', value: text('a') },
      ],
    ],
  ];
  it.each(cases)('%s', async (where, filters) => {
    for (const sql of [`SELECT * FROM t1 WHERE ${where}`, `WITH x AS (SELECT * FROM t1) SELECT * FROM x WHERE ${where}`]) {
      // a scan of which nothing can come may not even be opened
      const all = await asked(sql);
      if (all.length > 0) expect(all).toEqual([filters]);
      else if (where !== 'i = NULL') expect(filters).toMatchObject([{ op: 'in', values: [] }]);
    }
  });

  it('as text where a column is mixed, the same through both engines', async () => {
    for (const engine of ['duckdb', 'alasql'] as const) {
      const table = keyedState();
      const mixed = await openDatabase({ engine, snapshots: new Map([['s', fakeCatalog(table)]]), threads: 1 });
      await answers(
        mixed,
        "SELECT value FROM keyed_state WHERE key = 662 AND key IN ('a', true) AND key LIKE 'a%' AND operator_uid = 'counter'",
      );
      await answers(mixed, "SELECT value FROM keyed_state WHERE key = 662 AND state_name = 'by-int'");
      await mixed.close();
      const uid = { column: 'operator_uid', op: '=', value: text('counter') };
      expect(table.recorder.requests.map(q => q.filters)).toEqual([
        [
          { column: 'key', op: '=', value: text('662') },
          { column: 'key', op: 'in', values: [text('a'), text('true')] },
          { column: 'key', op: 'prefix', value: 'a' },
          uid,
        ],
        [
          { column: 'key', op: '=', value: int(662n) },
          { column: 'state_name', op: '=', value: text('by-int') },
        ],
      ]);
      expect(table.recorder.binds).toEqual([
        [{ column: 'operator_uid', values: ['counter'] }],
        [{ column: 'state_name', values: ['by-int'] }],
      ]);
    }
  });

  it('not where it would change the answer', async () => {
    const never: readonly string[] = [
      "SELECT * FROM (SELECT * FROM t1 LIMIT 5) WHERE t = 'a'",
      "SELECT * FROM (SELECT *, row_number() OVER () AS n FROM t1) WHERE t = 'a'",
      "SELECT * FROM (SELECT max(t) AS t FROM t1) WHERE t = 'a'",
      "SELECT * FROM (SELECT upper(t) AS t FROM t1) WHERE t = 'a'",
      "WITH x AS (SELECT * FROM t1) SELECT * FROM x a, x b WHERE a.t = 'a'",
      "SELECT * FROM t1 TABLESAMPLE 50% WHERE t = 'a'",
      "SELECT * FROM t1 WHERE t = 'a' USING SAMPLE 5 ROWS",
      "SELECT * FROM t1 a POSITIONAL JOIN t2 b WHERE a.t = 'a'",
      'SELECT count(*) FROM t1 HAVING count(*) > 1',
      "SELECT * FROM (SELECT DISTINCT ON (i) * FROM t1) WHERE t = 'a'",
      "SELECT * FROM t2 a LEFT JOIN t1 b ON a.t = 'a'",
    ];
    for (const sql of never) for (const filters of await asked(sql)) expect(filters, sql).toEqual([]);
  });
});
