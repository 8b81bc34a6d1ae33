/** The engine around a statement: streaming, limits, errors of scans, several snapshots and statements, EXPLAIN. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorruptError, IoError } from '../../src/errors.js';
import { ReadStats } from '../../src/io/source.js';
import { DuckDb } from '../../src/sql/duckdb/duckdb.js';
import { bytesOf } from '../../src/sql/duckdb/limits.js';
import { type Database, openDatabase, openEngine } from '../../src/sql/engine.js';
import type { Table } from '../../src/tables/table.js';
import { JsonText } from '../../src/types.js';
import { events, keyedState, orders, people } from './data.js';
import { type FakeTable, fakeCatalog } from './fake-table.js';
import { answers, errorOf, rowsOf, valuesOf } from './harness.js';

async function withDb<T>(tables: readonly FakeTable[], run: (db: Database) => Promise<T>, options: object = {}): Promise<T> {
  const db = await openDatabase({ snapshots: new Map([['s', fakeCatalog(...tables)]]), threads: 2, ...options });
  try {
    return await run(db);
  } finally {
    await db.close();
  }
}

describe('streaming', () => {
  it('LIMIT stops the scan early', async () => {
    const table = events({ repeat: 10_000_000, batchSize: 2048 });
    await withDb([table], async db => {
      expect((await rowsOf(db, 'SELECT n FROM events LIMIT 5')).length).toBe(5);
      expect(table.recorder.requests.at(-1)?.limit).toBe(5);
      expect((await rowsOf(db, 'SELECT n FROM events WHERE n > 3 LIMIT 5')).length).toBe(5);
      expect(table.recorder.requests.at(-1)?.limit).toBe(undefined);
      expect((await rowsOf(db, 'SELECT n FROM events LIMIT 3 OFFSET 4')).length).toBe(3);
      expect(table.recorder.requests.at(-1)?.limit).toBe(7);
      expect(table.recorder.batches).toBeLessThan(200);
      expect(table.recorder.open).toBe(0);
    });
  });

  it('the first rows come before the scan is read to its end; leaving closes it', async () => {
    const table = events({ repeat: 50_000_000, batchSize: 2048 });
    await withDb([table], async db => {
      for await (const result of db.query('SELECT n, kind FROM events')) {
        for await (const batch of result.batches) {
          expect(batch.length).toBeGreaterThan(0);
          break;
        }
      }
      expect(table.recorder.batches).toBeLessThan(2000);
      expect(table.recorder.open).toBe(0);
      expect(await valuesOf(db, 'SELECT 1')).toEqual([1]);
      // a result that nobody reads
      for await (const _ of db.query('SELECT n FROM events')) break;
      expect(await valuesOf(db, 'SELECT 2')).toEqual([2]);
    });
  });

  it('an error far into a result is an error, not its end', async () => {
    await withDb([events({ repeat: 400_000 })], async db => {
      const late = (where: string) =>
        `SELECT CASE WHEN i = 300000 THEN CAST('x' || i AS INTEGER) ELSE i END AS v FROM range(400000) r(i)${where}`;
      const expected = /^SQL_ERROR: .*Could not convert string 'x300000' to INTEGER \| TRY_CAST gives NULL instead of an error$/;
      expect(await errorOf(db, late(''))).toMatch(expected);
      expect((await rowsOf(db, late(' WHERE i < 300000'))).length).toBe(300_000);
      expect(await errorOf(db, 'SELECT n + 9223372036854775510 FROM events')).toMatch(/^VALUE_OUT_OF_RANGE: /);
      let rows = 0;
      const read = async () => {
        for await (const r of db.query(late(''))) for await (const batch of r.batches) rows += batch.length;
      };
      await expect(read()).rejects.toMatchObject({ exitCode: 7 });
      expect(rows).toBeGreaterThan(0);
      expect(rows).toBeLessThan(300_001);
    });
  });

  it('batches of any length come through whole', async () => {
    for (const batchSize of [1, 7, 2047, 2048, 2049, 10_000]) {
      await withDb([events({ repeat: 9_001, batchSize })], async db => {
        expect(await rowsOf(db, 'SELECT count(*), count(n), sum(n) FROM events')).toEqual([[9001n, 8821n, 1314180n]]);
        expect((await rowsOf(db, 'SELECT * FROM events')).length).toBe(9001);
      });
    }
  });
});

describe('limits', () => {
  it('a timeout ends a scan and a computation', async () => {
    await withDb(
      [events({ repeat: 2_000_000_000, batchSize: 2048 })],
      async db => {
        const message = 'TIMEOUT: the statement took longer than 0.3 s | give more with --timeout, or read less: name operator and state';
        expect(await errorOf(db, 'SELECT count(*) FROM events WHERE n < 0')).toBe(message);
        expect(await errorOf(db, 'SELECT count(*) FROM range(100000) a, range(100000) b, range(9999) c')).toBe(message);
        expect(await valuesOf(db, 'SELECT 1')).toEqual([1]);
      },
      { timeoutMs: 300 },
    );
  });

  it('an abort ends a scan, a computation, and a stream that is being read', async () => {
    const table = events({ repeat: 2_000_000_000, batchSize: 2048 });
    for (const sql of [
      'SELECT count(*) FROM events WHERE n < 0',
      'SELECT count(*) FROM range(100000) a, range(100000) b, range(9999) c',
      'SELECT * FROM events',
    ]) {
      for (const [engine, delay] of [
        ['duckdb', 100],
        ['duckdb', 0],
        ['duckdb', 3],
        ['alasql', 50],
      ] as const) {
        if (engine === 'alasql' && !sql.startsWith('SELECT * ')) continue;
        const controller = new AbortController();
        const started = performance.now();
        await withDb(
          [table],
          async db => {
            setTimeout(() => controller.abort(), delay);
            const drain = async () => {
              for await (const result of db.query(sql)) for await (const batch of result.batches) void batch;
            };
            await expect(drain()).rejects.toMatchObject({ code: 'INTERRUPTED', exitCode: 130 });
          },
          { signal: controller.signal, engine },
        );
        expect(performance.now() - started).toBeLessThan(10_000);
      }
    }
    expect(table.recorder.open).toBe(0);
  });

  it('memory: spills, or says what to do', async () => {
    const wide =
      "SELECT max(x) FROM (SELECT kind || repeat('-', 400) || n AS x, row_number() OVER (ORDER BY kind || repeat('-', 400) || n) AS r FROM events)";
    await withDb([events({ repeat: 300_000 })], async db => expect((await valuesOf(db, wide)).length).toBe(1), {
      memoryLimit: '120MB',
      threads: 1,
    });
    await withDb(
      [events({ repeat: 300_000 })],
      async db => {
        const message = await errorOf(db, wide);
        expect(message).toMatch(
          /^OUT_OF_MEMORY: .* \| give more with --max-memory, or read less: name operator and state, fewer columns$/s,
        );
        expect(message).not.toContain('SET ');
        expect(await valuesOf(db, 'SELECT 1')).toEqual([1]);
      },
      { memoryLimit: '60MB', threads: 1, spill: false },
    );
  });

  it('sizes of memory', () => {
    expect([bytesOf('512MB'), bytesOf('1.5 GiB'), bytesOf('100'), bytesOf('x'), bytesOf('5 parsec')]).toEqual([
      512e6,
      1.5 * 2 ** 30,
      100,
      undefined,
      undefined,
    ]);
  });

  it('removes its temp directory', async () => {
    const db = await DuckDb.open();
    const dir = db.tempDirectory as string;
    expect(existsSync(dir)).toBe(true);
    await db.close();
    await db.close();
    expect(existsSync(dir)).toBe(false);
    const without = await DuckDb.open({ spill: false });
    expect(without.tempDirectory).toBe(undefined);
    await without.close();
  });
});

describe('errors of scans', () => {
  it('come out as they were thrown, whatever the statement does with the rows', async () => {
    const error = new CorruptError('bad entry', { file: 'op-1', offset: 77 });
    for (const sql of [
      'SELECT * FROM events',
      'SELECT count(*) FROM events',
      'SELECT * FROM events ORDER BY n',
      'SELECT a.n FROM events a JOIN events b USING (n)',
      'WITH x AS (SELECT * FROM events) SELECT count(*) FROM x',
    ]) {
      await withDb([events({ batchSize: 50, failAt: { row: 120, error } })], async db => {
        await expect(answers(db, sql)).rejects.toBe(error);
        expect(await valuesOf(db, 'SELECT 1')).toEqual([1]);
      });
    }
    const io = new IoError('gone', { file: 'x' });
    await withDb(
      [events({ failAt: { row: 0, error: io } })],
      async db => {
        await expect(answers(db, 'SELECT n FROM events')).rejects.toBe(io);
      },
      { engine: 'alasql' },
    );
  });

  it('a bug in a scan stays what it is', async () => {
    const bug = new TypeError('x is not a function');
    await withDb([events({ failAt: { row: 3, error: bug } })], async db => {
      await expect(answers(db, 'SELECT * FROM events')).rejects.toBe(bug);
    });
  });
});

describe('several statements', () => {
  it('run in order; the first error ends', async () => {
    await withDb([people()], async db => {
      const all = await answers(db, "SELECT 1 AS a; -- one; two\n SELECT 'x;y' AS b;\n\n;SELECT $$;$$ AS c");
      expect(all.map(a => [a.columns, a.rows])).toEqual([
        [['a'], [[1]]],
        [['b'], [['x;y']]],
        [['c'], [[';']]],
      ]);
      const seen: string[] = [];
      const run = async () => {
        for await (const r of db.query('SELECT 1 AS first; SELECT nothing; SELECT 3 AS third')) {
          seen.push(r.columns[0].name);
          for await (const batch of r.batches) void batch;
        }
      };
      await expect(run()).rejects.toMatchObject({ code: 'UNKNOWN_COLUMN', line: 1, column: 27 });
      expect(seen).toEqual(['first']);
      expect(await errorOf(db, '  -- nothing\n')).toBe('SQL_SYNTAX: there is no statement | give SQL, as in "FROM state_meta"');
    });
  });

  it('names of results are unique', async () => {
    await withDb([people(), orders()], async db => {
      const [answer] = await answers(db, 'SELECT id, id, name AS id, 5 AS id_1, o.* FROM people JOIN orders o USING (id) LIMIT 1');
      expect(answer.columns).toEqual(['id', 'id_2', 'id_3', 'id_1', 'order_id', 'id_4', 'item', 'prices', 'attrs']);
    });
  });
});

describe('several snapshots', () => {
  let db: Database;
  beforeAll(async () => {
    const engine = await openEngine('duckdb', { threads: 1 });
    const before = keyedState();
    const after = keyedState();
    const snapshots = new Map([
      ['old', fakeCatalog(before, people())],
      ['New', fakeCatalog(after, orders())],
    ]);
    db = { query: (text, parameters) => engine.query(text, snapshots, parameters), close: () => engine.close() };
  });
  afterAll(() => db.close());

  it('tables are alias.table', async () => {
    expect(
      await valuesOf(db, 'SELECT count(*) FROM old.keyed_state o JOIN new.keyed_state n ON o.key = n.key AND o.state_name = n.state_name'),
    ).toEqual([12n]);
    expect(await valuesOf(db, 'SELECT count(*) FROM old.people')).toEqual([7n]);
    expect(await valuesOf(db, 'SELECT count(*) FROM OLD.KeyedState, NEW.orders')).toEqual([78n]);
    expect(
      await rowsOf(
        db,
        "SELECT old.keyed_state.value, new.keyed_state.key FROM old.keyed_state, new.keyed_state WHERE old.keyed_state.value = 3 AND new.keyed_state.value = 'six hundred'",
      ),
    ).toEqual([[new JsonText('3'), new JsonText('662')]]);
    expect(
      await rowsOf(
        db,
        `SELECT key, o.value AS before, n.value AS after FROM (SELECT * FROM old.keyed_state WHERE state_name = 'count') o
         FULL JOIN (SELECT * FROM new.keyed_state WHERE state_name = 'count') n USING (key) WHERE o.value IS DISTINCT FROM n.value ORDER BY before`,
      ),
    ).toEqual([
      [null, 3n, null],
      [null, null, 3n],
    ]);
    expect(await rowsOf(db, 'SELECT key, value FROM old.keyed_state EXCEPT SELECT key, value FROM new.keyed_state')).toEqual([]);
  });

  it('an unqualified name needs one of them', async () => {
    expect(await errorOf(db, 'SELECT * FROM keyed_state')).toBe(
      'UNKNOWN_TABLE: line 1, column 15: there are several snapshots (old, New), so "keyed_state" needs one | write old.keyed_state or New.keyed_state',
    );
    expect(await errorOf(db, 'SELECT * FROM people')).toContain('write old.people');
    expect(await errorOf(db, 'SELECT * FROM older.people')).toBe(
      'UNKNOWN_TABLE: line 1, column 15: there is no snapshot "older" | snapshots: old, New',
    );
    expect(await errorOf(db, 'SELECT * FROM new.people')).toContain('there is no table "new.people"');
    expect(await errorOf(db, 'SELECT keyed_state.key FROM old.keyed_state, new.keyed_state')).toContain('ambiguous');
    expect(await errorOf(db, 'SELECT key FROM old.keyed_state, new.keyed_state')).toContain('the name "key" is ambiguous | write');
    expect(await rowsOf(db, 'WITH people AS (SELECT 1 AS x) SELECT * FROM people')).toEqual([[1]]);
  });

  it('SHOW TABLES names them', async () => {
    const [answer] = await answers(db, 'SHOW TABLES');
    expect(answer.columns).toEqual(['snapshot', 'name']);
    expect(answer.rows).toEqual([
      ['old', 'keyed_state'],
      ['old', 'people'],
      ['New', 'keyed_state'],
      ['New', 'orders'],
    ]);
    expect(await valuesOf(db, 'SELECT name FROM (SHOW TABLES FROM new) ORDER BY 1')).toEqual(['keyed_state', 'orders']);
  });
});

describe('DESCRIBE, SHOW TABLES, SUMMARIZE', () => {
  it('tell the columns with their types, several types, and what they mean', async () => {
    await withDb([keyedState(), people()], async db => {
      const [answer] = await answers(db, 'DESCRIBE keyed_state');
      expect(answer.columns).toEqual(['column_name', 'column_type', 'null', 'key', 'default', 'extra']);
      expect(answer.rows.map(r => [r[0], r[1], r[5]])).toEqual([
        ['operator_id', 'VARCHAR', null],
        ['operator_uid', 'VARCHAR', null],
        ['state_name', 'VARCHAR', null],
        ['key', 'JSON', 'several types'],
        ['value', 'JSON', 'several types'],
      ]);
      expect(
        await rowsOf(
          db,
          "SELECT column_name, column_type FROM (DESCRIBE SELECT key, value.n, count(*) FROM keyed_state WHERE state_name = 'last' GROUP BY ALL)",
        ),
      ).toEqual([
        ['key', 'VARCHAR'],
        ['n', 'INTEGER'],
        ['count_star()', 'BIGINT'],
      ]);
      expect(await valuesOf(db, 'SHOW TABLES')).toEqual(['keyed_state', 'people']);
      expect(await valuesOf(db, 'SHOW ALL TABLES')).toEqual(['keyed_state', 'people']);
      expect(await rowsOf(db, "SELECT column_name, \"count\" FROM (SUMMARIZE keyed_state) WHERE column_name IN ('key', 'value')")).toEqual([
        ['key', 13n],
        ['value', 13n],
      ]);
    });
  });
});

describe('EXPLAIN', () => {
  it('says what each scan touches and runs nothing', async () => {
    const table = keyedState();
    await withDb([table, people()], async db => {
      const [text] = await answers(
        db,
        "EXPLAIN SELECT k.value, upper(k.key) FROM keyed_state k JOIN people p ON k.key = p.name WHERE k.operator_uid = 'counter' AND k.key = 662 AND p.id IN (1, 'x')",
      );
      expect(text.rows.map(r => r[0])).toEqual([
        'scan s.keyed_state AS k',
        '  operators: 1 of 1',
        '  states: 2 of 4',
        '  types: mixed in value',
        '  columns: key VARCHAR, operator_uid VARCHAR, value mixed (JSON)',
        '  filter: operator_uid = (inexact)',
        '  filter: key = (inexact)',
        '  rows: 8',
        'scan s.people AS p',
        '  operators: 1 of 1',
        '  states: 1 of 1',
        '  types: typed',
        '  columns: name VARCHAR, id INTEGER',
        '  filter: id in (inexact)',
        '  rows: 7',
        'engine: duckdb',
      ]);
      const [json] = await answers(db, 'EXPLAIN (FORMAT JSON) SELECT count(*) FROM keyed_state LIMIT 1');
      expect(json.types).toEqual(['JSON']);
      expect(JSON.parse((json.rows[0][0] as JsonText).text)).toEqual({
        engine: 'duckdb',
        scans: [
          {
            snapshot: 's',
            alias: 'keyed_state',
            table: 'keyed_state',
            operators: { kept: 1, of: 1 },
            states: { kept: 4, of: 4 },
            key_groups: null,
            types: 'mixed',
            mixed_columns: ['key', 'value'],
            columns: [],
            filters: [],
            restrictions: [],
            limit: null,
            rows: 13,
            state_files: null,
          },
        ],
        filters_left_to_engine: [],
        analyze: null,
      });
      expect(table.recorder.requests).toEqual([]);
      expect((await answers(db, 'EXPLAIN SELECT 1'))[0].rows).toEqual([['no table is read'], ['engine: duckdb']]);
      expect((await answers(db, 'EXPLAIN (SELECT 1)'))[0].rows[0]).toEqual(['no table is read']);
      expect((await answers(db, 'EXPLAIN SELECT * FROM people WHERE length(city) > id'))[0].rows.map(r => r[0])).toContain(
        'filter: (length(city) > id) (left to the engine)',
      );
      expect((await answers(db, '/* a */ explain -- b\n select * from people'))[0].rows[0]).toEqual(['scan s.people']);
    });
  });

  it('ANALYZE runs and counts what was read since the statement began', async () => {
    const table = people();
    const stats = new ReadStats();
    const bind = table.bind.bind(table);
    const reading: Table = {
      spec: table.spec,
      bind(restrictions) {
        // a header
        stats.fileRead('a', 100);
        const bound = bind(restrictions);
        return {
          ...bound,
          scan(request) {
            stats.fileRead('a', 10);
            stats.fileRead('b', 1);
            stats.entriesDecoded += 7;
            return bound.scan(request);
          },
        };
      },
    };
    const db = await openDatabase({ threads: 1, snapshots: new Map([['s', { ...fakeCatalog(reading), stats }]]) });
    for (const sql of [
      'EXPLAIN ANALYZE SELECT * FROM people WHERE id > 4',
      'EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM people WHERE id > 4',
    ]) {
      table.recorder.requests.length = 0;
      stats.fileRead('before', 1000);
      const results: unknown[] = [];
      for await (const r of db.query(sql)) {
        results.push(r.explanation);
        for await (const batch of r.batches) void batch;
      }
      expect(results).toMatchObject([{ engine: 'duckdb', analyze: { filesOpened: 2, bytesRead: 111, reads: 3, entries: 7, rows: 3 } }]);
      expect(table.recorder.requests.length).toBe(1);
    }
    await db.close();
  });
});

it('no column of the contract is a reserved word of the engine', async () => {
  const db = await DuckDb.open({ spill: false });
  const result = await db.stream("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'");
  const reserved = new Set<string>();
  const { columnValue } = await import('../../src/io/column.js');
  for await (const batch of result.batches) for (let i = 0; i < batch.length; i++) reserved.add(String(columnValue(batch.columns[0], i)));
  await db.close();
  expect(reserved.has('offset')).toBe(true);
  const { SPECS } = await import('./contract-columns.js');
  for (const [table, columns] of SPECS) for (const column of columns) expect(reserved.has(column), `${table}.${column}`).toBe(false);
});

describe('errors of the SQL text', () => {
  let db: Database;
  beforeAll(async () => {
    db = await openDatabase({ snapshots: new Map([['s', fakeCatalog(keyedState(), people(), orders())]]), threads: 1 });
  });
  afterAll(() => db.close());
  const cases: readonly (readonly [string, string | RegExp])[] = [
    ['SELEC 1', 'SQL_SYNTAX: line 1, column 1: syntax error at or near "SELEC"'],
    ['SELECT 1 +', /^SQL_SYNTAX: line 1, column 11: syntax error at end of input/],
    ['SELECT *\nFROM people\nWHERE', /^SQL_SYNTAX: line 3, column 6: /],
    ["SELECT 'ü🙂', )", /^SQL_SYNTAX: line 1, column 14: syntax error at or near "\)"/],
    ["SELECT 'abc", /^SQL_SYNTAX: .*unterminated quoted string/],
    ['SELECT nmae FROM people', 'UNKNOWN_COLUMN: line 1, column 8: there is no column "nmae" | did you mean name?'],
    ["SELECT 'ü🙂', nmae FROM people", 'UNKNOWN_COLUMN: line 1, column 14: there is no column "nmae" | did you mean name?'],
    ['SELECT p.nmae FROM people p', 'UNKNOWN_COLUMN: line 1, column 8: there is no column "nmae" of p | did you mean name?'],
    ['SELECT x.name FROM people p', /^UNKNOWN_COLUMN: line 1, column 8: there is no column "x"/],
    ['SELECT key_662 FROM people', /^UNKNOWN_COLUMN: line 1, column 8: there is no column "key_662" \| columns: .*'single quotes'$/],
    [
      'SELECT item.skuu FROM orders',
      'UNKNOWN_COLUMN: line 1, column 8: there is no field "skuu" in item | did you mean sku? fields: sku, qty, tags',
    ],
    [
      "SELECT value.nn FROM keyed_state WHERE state_name = 'last'",
      'UNKNOWN_COLUMN: line 1, column 8: there is no field "nn" in value | did you mean n? fields: item, n',
    ],
    ['SELECT * EXCLUDE (nmae) FROM people', /UNKNOWN_COLUMN: .*did you mean name\?/],
    ['SELECT q.* FROM people p', /^UNKNOWN_TABLE: line 1, column 8: there is no table "q" in FROM/],
    ['SELECT * FROM poeple', 'UNKNOWN_TABLE: line 1, column 15: there is no table "poeple" | did you mean people?'],
    ['SELECT * FROM people JOIN orders USING (nmae)', /^UNKNOWN_COLUMN: .*USING \(nmae\): the left side has no such column/],
    ['SELECT id FROM people, orders', /^UNKNOWN_COLUMN: line 1, column 8: the name "id" is ambiguous \| write people\.id or orders\.id/],
    ['SELECT nosuch(id) FROM people', /^REFUSED: line 1, column 8: the function nosuch does not exist or is refused/],
    ['SELECT sum(name) FROM people', /^SQL_ERROR: line 1, column 8: sum\(\) does not take \(VARCHAR\) \| cast/],
    ['SELECT CAST(name AS INTEGER) FROM people', /^SQL_ERROR: .*Could not convert string .* \| TRY_CAST gives NULL instead of an error$/],
    ['SELECT 9223372036854775807 + id FROM people', /^VALUE_OUT_OF_RANGE: /],
    ['SELECT id::TINYINT + 126::TINYINT FROM people', /^VALUE_OUT_OF_RANGE: /],
    ['SELECT city, id FROM people GROUP BY city', /^SQL_ERROR: .*must appear in the GROUP BY/],
    [`SELECT ${'('.repeat(200_000)}1${')'.repeat(200_000)}`, /^(SQL_SYNTAX|REFUSED|SQL_ERROR): /],
    [`SELECT ${'['.repeat(2_000)}1${']'.repeat(2_000)}`, /^(SQL_SYNTAX|REFUSED|SQL_ERROR): /],
    [`SELECT ${'1+'.repeat(3000)}1`, /^(SQL_SYNTAX|REFUSED): /],
    [`SELECT id FROM people WHERE ${'id = 1 OR '.repeat(300)}id = 2`, /./],
    ['SELECT a FROM (SELECT b.x AS a FROM (SELECT 1 AS y) b)', /^UNKNOWN_COLUMN: line 1, column 23: there is no column "x" of b/],
  ];
  it.each(cases.map(([sql, expected]) => ({ sql, expected, label: sql.slice(0, 60) })))('$label', async ({ sql, expected }) => {
    if (sql.includes('OR id = 2')) {
      expect(await valuesOf(db, sql)).toEqual([1, 2]);
      return;
    }
    const error = await errorOf(db, sql);
    if (typeof expected === 'string') expect(error).toBe(expected);
    else expect(error).toMatch(expected);
    expect(await valuesOf(db, 'SELECT 1')).toEqual([1]);
  });
});
