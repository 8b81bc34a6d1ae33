/** What scans are spared: fields of a STRUCT that no part of a statement reads, and rows that are only counted. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ColumnBatch, columnValue, createColumn } from '../../src/io/column.js';
import { DuckDb } from '../../src/sql/duckdb/duckdb.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { COUNT_COLUMN } from '../../src/sql/scan-use.js';
import type { BoundTable, ScanRequest, Table } from '../../src/tables/table.js';
import { DOUBLE, INTEGER, Struct, struct, VARCHAR } from '../../src/types.js';
import { type FakeTable, fakeCatalog, fakeTable } from './fake-table.js';
import { type Answer, answers, openOracle } from './harness.js';

const INNER = struct(['x', INTEGER], ['Status', VARCHAR]);
const VALUE = struct(['status', INTEGER], ['amount', DOUBLE], ['inner', INNER], ['value', INTEGER]);

const rows = (n: number) =>
  Array.from({ length: n }, (_, i) => [
    `k${i}`,
    i % 7 === 6 ? null : new Struct([i % 3, i / 2, i % 5 === 4 ? null : new Struct([i, `s${i}`]), i % 2]),
    i,
  ]);
const columns = [
  { name: 'key', type: VARCHAR },
  { name: 'value', type: VALUE },
  { name: 'n', type: INTEGER },
];

/** A table that really leaves out what it may. */
function sparing(table: FakeTable, requests: ScanRequest[]): Table {
  return {
    spec: table.spec,
    bind(restrictions): BoundTable {
      const bound = table.bind(restrictions);
      return {
        ...bound,
        scan(request) {
          requests.push(request);
          const scan = bound.scan(request);
          return {
            next(): ColumnBatch | undefined {
              const batch = scan.next();
              if (batch === undefined) return undefined;
              const spared = batch.columns.map((column, i) => {
                const { fields } = request.columns[i];
                if (fields === undefined) return column;
                const narrow = createColumn(column.type, 16, fields);
                for (let r = 0; r < batch.length; r++) narrow.push(columnValue(column, r));
                return narrow;
              });
              return { length: batch.length, columns: spared };
            },
            close: () => scan.close(),
          };
        },
      };
    },
  };
}

const FIELDS: readonly (readonly [sql: string, fields: readonly string[] | undefined])[] = [
  ['SELECT value.status FROM t', ['status']],
  ['SELECT t.value.status, "VALUE"."Amount" FROM t', ['status', 'amount']],
  ['SELECT value.status, count(*), avg(value.amount) FROM t GROUP BY ALL', ['status', 'amount']],
  ['SELECT key FROM t WHERE value.inner.x > 3', ['inner']],
  // the column's own name at the end: perhaps the column
  ['SELECT value.value FROM t', undefined],
  ['SELECT a.value.status FROM t a JOIN u b ON a.key = b.key', ['status']],
  ['SELECT s.value.status FROM (SELECT * FROM t) s', undefined],
  ['SELECT value.status, value FROM t', undefined],
  ['SELECT * FROM t WHERE value.status = 1', undefined],
  ['SELECT value.status FROM t WHERE value IS NULL', undefined],
  ['SELECT t FROM t WHERE value.status = 1', undefined],
  ['SELECT x FROM t AS x WHERE x.value.status = 1', undefined],
  ["SELECT struct_extract(value, 'amount') FROM t", undefined],
  ["SELECT (value)['amount'], value.status FROM t", undefined],
  ['SELECT v.amount FROM t AS r(k, v, m)', ['amount']],
  ['SELECT value.status FROM t NATURAL JOIN u', undefined],
  ['SELECT value.status FROM t JOIN u USING (value)', undefined],
  ['WITH c AS (SELECT value FROM t) SELECT value.status FROM c', undefined],
  ['WITH c AS (SELECT value.status AS value FROM t) SELECT value FROM c', undefined],
  ['SELECT value.status FROM t UNION ALL SELECT value.amount FROM t', ['status', 'amount']],
  ['SELECT unnest(value), value.status FROM t', undefined],
  ['SELECT value.* FROM t', undefined],
  ["SELECT COLUMNS('val.*') FROM t WHERE value.status = 1", undefined],
  ['SELECT list(value), max(value.status) FROM t', undefined],
  ['SELECT (SELECT max(value.status) FROM u) FROM t WHERE t.value.amount > 2', ['amount', 'status']],
  ['SELECT key, (SELECT count(*) FROM u WHERE u.value = t.value) FROM t WHERE value.status = 0', undefined],
  ['SELECT key FROM t ORDER BY value.amount DESC NULLS LAST, key', ['amount']],
  ['SELECT DISTINCT value.status FROM t', ['status']],
  ['SELECT value.status AS value, value.amount FROM t ORDER BY value.amount, key', ['status', 'amount']],
  ['SELECT sum(value.amount) OVER (PARTITION BY value.status ORDER BY n) FROM t', ['amount', 'status']],
  ['SELECT to_json(value) FROM t WHERE value.amount > 1', undefined],
  ['SELECT list_transform([1, 2], value -> value + 1), value.status FROM t', undefined],
  ['SELECT value.status FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.value.amount = t.value.amount)', ['status', 'amount']],
  ['FROM t', undefined],
];

const COUNTS: readonly (readonly [sql: string, counted: boolean])[] = [
  ['SELECT count(*) FROM t', true],
  ['SELECT count(*) AS rows FROM t', true],
  ['SELECT count(*), 5, count(*) AS again FROM t', true],
  ['SELECT count(1) FROM t', false],
  ['SELECT count(*) + 1 FROM t', false],
  ['SELECT count(*) FROM (SELECT * FROM t LIMIT 7)', false],
  ['SELECT count(*) FROM t WHERE n > 3', false],
  ['SELECT count(*) FILTER (WHERE n > 3) FROM t', false],
  ['SELECT count(*) FROM t GROUP BY n % 2', false],
  ['SELECT count(*) FROM t HAVING count(*) > 1000000', false],
  ['SELECT count(*), max(1) FROM t', false],
  ['SELECT 1 FROM t', false],
  ['SELECT count(*) FROM empty', true],
  ['SELECT (SELECT count(*) FROM t), n FROM t WHERE n < 3', true],
  ['SELECT count(*) FROM t UNION ALL SELECT count(*) FROM empty', true],
  ['WITH c AS (SELECT count(*) AS c FROM t) SELECT a.c + b.c FROM c a, c b', true],
  ['SELECT count(*) FROM t, u', false],
  ['SELECT count(DISTINCT n) FROM t', false],
  ['SELECT count(*) OVER () FROM t', false],
  ['SELECT n FROM t WHERE n = (SELECT count(*) - 1 FROM u)', false],
];

describe('narrowed scans', () => {
  it('a count has the name that it has without', async () => {
    expect((await answers(db, 'SELECT count(*), count(*) AS c FROM t'))[0].columns).toEqual(['count_star()', 'c']);
  });

  const requests: ScanRequest[] = [];
  const tables = [fakeTable('t', columns, rows(5000)), fakeTable('u', columns, rows(20)), fakeTable('empty', columns, [])];
  let db: Database;
  let oracle: Awaited<ReturnType<typeof openOracle>>;
  beforeAll(async () => {
    const catalog = fakeCatalog(...(tables.map(t => sparing(t, requests)) as FakeTable[]));
    db = await openDatabase({ snapshots: new Map([['s', catalog]]), threads: 1 });
    oracle = await openOracle(tables);
  });
  afterAll(async () => {
    await db.close();
    await oracle.close();
  });

  afterEach(() => void vi.restoreAllMocks());

  /** Names aside, which are made distinct in our own way. */
  const outcome = async (run: () => Promise<Answer>): Promise<unknown> => {
    try {
      const { types, rows } = await run();
      const sorted = rows.map(r => JSON.stringify(r, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v))).sort();
      return { types, rows: sorted };
    } catch {
      return 'error';
    }
  };

  it.each(FIELDS)('%s', async (sql, fields) => {
    requests.length = 0;
    const ours = await outcome(async () => (await answers(db, sql))[0]);
    const theirs = await outcome(() => oracle.query(sql));
    if (ours !== 'error') expect(ours).toEqual(theirs);
    const asked = requests.flatMap(r => r.columns).find(c => c.name === 'value')?.fields;
    expect(asked === undefined ? undefined : [...asked].sort()).toEqual(fields === undefined ? undefined : [...fields].sort());
  });

  it.each(COUNTS)('%s', async (sql, counted) => {
    const stream = vi.spyOn(DuckDb.prototype, 'stream');
    const ours = await outcome(async () => (await answers(db, sql))[0]);
    expect(stream.mock.calls.some(([text]) => text.includes(COUNT_COLUMN))).toBe(counted);
    expect(ours).toEqual(await outcome(() => oracle.query(sql)));
  });
});
