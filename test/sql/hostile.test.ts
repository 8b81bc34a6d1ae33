import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckDb } from '../../src/sql/duckdb/duckdb.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { orders, people } from './data.js';
import { fakeCatalog } from './fake-table.js';
import { answers, errorOf, valuesOf } from './harness.js';
import { HARMLESS, HOSTILE } from './hostile.js';

let dir: string;
let file: string;
const temps: string[] = [];
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'sql-hostile-'));
  file = join(dir, 'secret.csv');
  writeFileSync(file, 'a,b\nsecret,2\n');
});
afterAll(() => {
  for (const path of [dir, ...temps]) rmSync(path, { recursive: true, force: true });
});

const kinds = [
  { name: 'duckdb', engine: 'duckdb', spill: false },
  { name: 'duckdb, spilling', engine: 'duckdb', spill: true },
  { name: 'alasql', engine: 'alasql', spill: false },
] as const;

it('there are enough of them', () => {
  expect(new Set(HOSTILE).size).toBe(HOSTILE.length);
  expect(HOSTILE.length).toBeGreaterThanOrEqual(200);
});

describe.each(kinds)('$name', ({ engine, spill }) => {
  let db: Database;
  let spillDir: string;
  beforeAll(async () => {
    const before = process.env.TMPDIR;
    const temp = mkdtempSync(join(tmpdir(), 'sql-hostile-spill-'));
    process.env.TMPDIR = temp;
    try {
      db = await openDatabase({
        engine,
        spill,
        memoryLimit: '200MB',
        timeoutMs: 20_000,
        snapshots: new Map([['s', fakeCatalog(people(), orders())]]),
      });
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
    temps.push(temp);
    spillDir = join(temp, readdirSync(temp)[0] ?? 'none');
  });
  afterAll(() => db.close());
  const spelled = (sql: string) => sql.replaceAll('FILE', file).replaceAll('DIR', spillDir);

  it.each(HOSTILE)('refuses %s', async sql => {
    const error = await errorOf(db, spelled(sql));
    expect(error).toMatch(/^(REFUSED|SQL_SYNTAX|UNKNOWN_TABLE|SQL_ERROR|UNKNOWN_COLUMN): /);
    expect(error).not.toContain('secret,2');
  });

  it('has not written, changed or lost anything', async () => {
    expect(readdirSync(dir)).toEqual(['secret.csv']);
    if (spill) expect(readdirSync(spillDir)).toEqual([]);
    expect(({} as Record<string, unknown>).x).toBe(undefined);
    expect(await valuesOf(db, 'SELECT count(*) FROM people')).toEqual([7n]);
    expect((await answers(db, 'SELECT id FROM people WHERE id = 1'))[0].rows).toEqual([[1]]);
  });

  it.each(HARMLESS)(engine === 'duckdb' ? 'runs %s' : 'refuses %s', async sql => {
    if (engine === 'duckdb') expect((await answers(db, spelled(sql))).length).toBe(1);
    else if (!sql.includes('FROM people')) expect(await errorOf(db, spelled(sql))).toMatch(/^(REFUSED|SQL_SYNTAX): /);
  });
});

describe('the settings behind the guard', () => {
  it('keep an unguarded statement away from everything outside', async () => {
    const raw = await DuckDb.open({ spill: false });
    try {
      for (const sql of [
        `SELECT * FROM read_text('${file}')`,
        `COPY (SELECT 1) TO '${join(dir, 'x.csv')}'`,
        `ATTACH '${join(dir, 'x.db')}'`,
        'INSTALL httpfs',
        'LOAD httpfs',
        "SET memory_limit = '10GB'",
        'SET enable_external_access = true',
        "SET TimeZone = 'Asia/Tokyo'",
      ]) {
        await expect(
          raw.stream(sql).then(r => r.batches.next()),
          sql,
        ).rejects.toThrow();
      }
      expect(readdirSync(dir)).toEqual(['secret.csv']);
    } finally {
      await raw.close();
    }
  });
});
