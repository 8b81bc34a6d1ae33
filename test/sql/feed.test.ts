import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnValue, createColumn } from '../../src/io/column.js';
import { DuckDb } from '../../src/sql/duckdb/duckdb.js';
import type { FeedMode } from '../../src/sql/duckdb/feed.js';
import { SCAN_FUNCTION } from '../../src/sql/duckdb/scans.js';
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
  SMALLINT,
  type SqlType,
  Struct,
  sqlTypeText,
  struct,
  TIME,
  TIME_NS,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  TINYINT,
  Timestamp,
  UUID,
  VARCHAR,
  type Value,
} from '../../src/types.js';

/** Feeds the columns as one or more batches and reads the statement's rows. `$` stands for the scan. */
async function run(
  db: DuckDb,
  types: readonly SqlType[],
  rows: readonly (readonly Value[])[],
  sql: string,
  batchSize = 5000,
): Promise<Value[][]> {
  let at = 0;
  const id = db.scans.nextId();
  db.scans.register(id, {
    columns: types.map((type, i) => ({ name: `c${i}`, type })),
    open(wanted) {
      at = 0;
      const out = wanted.map(w => createColumn(types[w], 4));
      return {
        next() {
          if (at >= rows.length) return undefined;
          for (const c of out) c.clear();
          const end = Math.min(rows.length, at + batchSize);
          const length = end - at;
          for (; at < end; at++) wanted.forEach((w, i) => void out[i].push(rows[at][w]));
          return { length, columns: out };
        },
        close() {},
      };
    },
  });
  try {
    const columns = types.map((_, i) => `c${i}`).join(', ');
    const result = await db.stream(sql.replace('$', `(SELECT ${columns} FROM ${SCAN_FUNCTION}(${id}))`));
    const out: Value[][] = [];
    for await (const batch of result.batches) for (let i = 0; i < batch.length; i++) out.push(batch.columns.map(c => columnValue(c, i)));
    return out;
  } finally {
    db.scans.release([id]);
  }
}

const samples: readonly (readonly [SqlType, readonly Value[]])[] = [
  [BOOLEAN, [true, false, null]],
  [TINYINT, [-128, 0, 127, null]],
  [SMALLINT, [-32768, 32767, null]],
  [INTEGER, [-2147483648, 2147483647, null]],
  [BIGINT, [-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n, null]],
  [HUGEINT, [-(2n ** 127n), 2n ** 127n - 1n, 0n, -1n, null]],
  [FLOAT, [1.5, -0, Number.NaN, Number.POSITIVE_INFINITY, null]],
  [DOUBLE, [0.1, Number.MAX_VALUE, Number.NaN, Number.NEGATIVE_INFINITY, null]],
  [VARCHAR, ['', 'a', 'twelve bytes', 'thirteen byte', 'żółć', '🙂'.repeat(9), null]],
  [BLOB, [new Uint8Array([0, 255, 1]), new Uint8Array(40).fill(254), new Uint8Array(), null]],
  [UUID, ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', null]],
  [DATE, [-719528, 0, 20000, null]],
  [TIME, [0, 86399999999000, null]],
  [TIME_NS, [0, 86399999999999, null]],
  [TIMESTAMP, [new Timestamp(-1n, 999999000), new Timestamp(1700000000n, 1000), null]],
  [TIMESTAMP_NS, [new Timestamp(-1n, 999999999), new Timestamp(1700000000n, 1), null]],
  [TIMESTAMPTZ, [new Timestamp(0n, 0), new Timestamp(253402300799n, 999999000), null]],
  [INTERVAL, [new Interval(-3, 4, -5n), new Interval(0, 0, 0n), null]],
  [decimal(4, 2), [new Decimal(-9999n, 2), new Decimal(110n, 2), null]],
  [decimal(9, 3), [new Decimal(-999999999n, 3), null]],
  [decimal(18, 0), [new Decimal(999999999999999999n, 0), null]],
  [decimal(38, 10), [new Decimal(10n ** 38n - 1n, 10), new Decimal(-1n, 10), null]],
  [JSON_TYPE, [new JsonText('{"a":[1,2,{"b":"longer than twelve"}]}'), new JsonText('1'), null]],
  [struct(['f0', VARCHAR], ['Odd "name', BIGINT]), [new Struct(['some rather long text', 5n]), new Struct([null, null]), null]],
  [list(VARCHAR), [['a', null, 'a string of some length'], [], null, ['x']]],
  [list(list(INTEGER)), [[[1, 2], [], null, [3]], [], null]],
  [list(struct(['a', list(VARCHAR)], ['b', DOUBLE])), [[new Struct([['x', 'y'], 1.5]), null], [], null]],
  [
    map(VARCHAR, struct(['n', BIGINT])),
    [
      new MapValue([
        ['k', new Struct([1n])],
        ['a much longer key', null],
      ]),
      new MapValue([]),
      null,
    ],
  ],
  [
    struct(['m', map(INTEGER, list(VARCHAR))], ['s', struct(['x', decimal(10, 2)])]),
    [new Struct([new MapValue([[1, ['p', 'q']]]), new Struct([new Decimal(5n, 2)])]), null, new Struct([null, null])],
  ],
];

describe.each(['fast', 'safe'] as const)('feed, %s form', (feed: FeedMode) => {
  let db: DuckDb;
  beforeAll(async () => {
    db = await DuckDb.open({ threads: 2, memoryLimit: '200MB', feed });
  });
  afterAll(() => db.close());

  it.each(samples.map(([type, values]) => [sqlTypeText(type), type, values] as const))(
    '%s comes back as it went in',
    async (_n, type, values) => {
      const rows = values.map(v => [v]);
      expect(await run(db, [type], rows, 'SELECT * FROM $')).toEqual(rows);
      expect(await run(db, [type], rows, 'SELECT c0 FROM $', 2)).toEqual(rows);
    },
  );

  it('agrees on types and texts with values that the engine makes itself', async () => {
    for (const [type, values] of samples) {
      const got = await run(db, [type], [[values[0]]], 'SELECT typeof(c0) FROM $');
      expect(String(got[0][0]).replaceAll('"', '').replaceAll(' ', '')).toBe(
        sqlTypeText(type).replaceAll('"', '').replaceAll(' ', '').replace('TIMESTAMPTZ', 'TIMESTAMPWITHTIMEZONE'),
      );
    }
    const texts = async (type: SqlType, value: Value) => (await run(db, [type], [[value]], 'SELECT c0::VARCHAR FROM $'))[0][0];
    expect(await texts(TIMESTAMPTZ, new Timestamp(1769863496n, 789000000))).toBe('2026-01-31 12:44:56.789+00');
    expect(await texts(TIME_NS, 45296789000001)).toBe('12:34:56.789000001');
    expect(await texts(UUID, '0123abcd-0000-0000-8000-00000000000f')).toBe('0123abcd-0000-0000-8000-00000000000f');
    expect(await texts(decimal(38, 10), new Decimal(-12345n, 10))).toBe('-0.0000012345');
    expect(await texts(map(VARCHAR, BIGINT), new MapValue([['k', 1n]]))).toBe('{k=1}');
  });

  it('random strings of 0 to 100 KB with NULLs: read, sorted, grouped, joined', async () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 300 }), fc.constant(100_000));
    const value = fc.option(
      fc.tuple(lengths, fc.constantFrom('x', 'ü', '🙂', 'ab')).map(([n, unit]) => unit.repeat(n / unit.length)),
      { nil: null },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 300 }), async raw => {
        const rows = raw.map(([a, b], i): Value[] => [a === null ? null : `${a}#${i % 7}`, b, BigInt(i)]);
        const types = [VARCHAR, VARCHAR, BIGINT];
        expect(await run(db, types, rows, 'SELECT * FROM $', 64)).toEqual(rows);
        const sorted = await run(db, types, rows, 'SELECT c0, c1, c2 FROM $ ORDER BY c2 DESC', 64);
        expect(sorted).toEqual([...rows].reverse());
        const counts = new Map<Value, bigint>();
        for (const [a] of rows) counts.set(a, (counts.get(a) ?? 0n) + 1n);
        const grouped = await run(db, types, rows, 'SELECT c0, count(*) FROM $ GROUP BY c0');
        expect(new Map(grouped.map(([a, n]) => [a, n]))).toEqual(counts);
        const joined = await run(
          db,
          types,
          rows,
          'WITH t AS (FROM $) SELECT count(*) FROM t a JOIN t b ON a.c0 = b.c0 AND a.c1 IS NOT DISTINCT FROM b.c1',
        );
        const expected = rows.reduce((n, [a, b]) => n + rows.filter(([x, y]) => a !== null && x === a && y === b).length, 0);
        expect(joined).toEqual([[BigInt(expected)]]);
      }),
      { seed: 7, numRuns: 12 },
    );
  });

  it('lists longer than a vector, with NULL elements at every nesting', async () => {
    const rows: Value[][] = [];
    for (let i = 0; i < 40; i++)
      rows.push([
        i % 9 === 0 ? null : Array.from({ length: i * 97 }, (_, k) => (k % 5 === 0 ? null : `element ${k} of list ${i}`)),
        new Struct([i % 3 === 0 ? null : Array.from({ length: i * 31 }, (_, k) => (k % 4 === 0 ? null : BigInt(k)))]),
      ]);
    const types = [list(VARCHAR), struct(['inner', list(BIGINT)])];
    expect(await run(db, types, rows, 'SELECT * FROM $')).toEqual(rows);
    expect(await run(db, types, rows, 'SELECT * FROM $ WHERE len(c0) % 2 = 1')).toEqual(
      rows.filter(([a]) => a !== null && (a as Value[]).length % 2 === 1),
    );
    const sum = await run(db, types, rows, 'SELECT sum(x) FROM (SELECT unnest(c1.inner) AS x FROM $)');
    const total = rows
      .flatMap(r => ((r[1] as Struct).values[0] as (bigint | null)[] | null) ?? [])
      .reduce((a: bigint, b) => a + (b ?? 0n), 0n);
    expect(sum).toEqual([[total]]);
  });

  it('sorts more than its memory by spilling', async () => {
    const small = await DuckDb.open({ threads: 1, memoryLimit: '100MB', feed });
    try {
      const count = 200_000;
      const rows = Array.from({ length: count }, (_, i): Value[] => [
        `${String((i * 7919) % count).padStart(8, '0')}${'-'.repeat(600)}${i}`,
      ]);
      const got = await run(small, [VARCHAR], rows, 'SELECT left(c0, 8), length(c0) FROM $ ORDER BY c0');
      expect(got.length).toBe(count);
      expect(got.map(r => r[0])).toEqual(rows.map(r => String(r[0]).slice(0, 8)).sort());
    } finally {
      await small.close();
    }
  });
});

it('refuses columns whose offsets or bytes do not hold together', async () => {
  const db = await DuckDb.open({ threads: 1 });
  const broken = async (damage: (c: import('../../src/io/column.js').BytesColumn) => void) => {
    const { BytesColumn } = await import('../../src/io/column.js');
    const column = new BytesColumn(VARCHAR, 4);
    column.push('a string that is longer than twelve');
    column.push('another string, also longer');
    damage(column);
    let given = false;
    const id = db.scans.nextId();
    db.scans.register(id, {
      columns: [{ name: 'c', type: VARCHAR }],
      open: () => ({
        next: () => {
          if (given) return undefined;
          given = true;
          return { length: 2, columns: [column] };
        },
        close() {},
      }),
    });
    try {
      const r = await db.stream(`SELECT c FROM ${SCAN_FUNCTION}(${id})`);
      for await (const _ of r.batches);
    } finally {
      db.scans.release([id]);
    }
  };
  await expect(broken(c => void (c.offsets[1] = 4000))).rejects.toThrow('string column: offset of row 2 lies before row 1');
  await expect(broken(c => void (c.offsets[2] = 400000))).rejects.toThrow('string column: offsets end after the heap');
  await expect(broken(c => void (c.heap[3] = 0xff))).rejects.toThrow('string column: the heap is not UTF-8');
  await db.close();
});
