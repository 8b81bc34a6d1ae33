/**
 * Filters only save reading: generated conditions over real snapshots of every format give the same rows whether scans use
 * them or not, and the same rows as tables of an engine of its own, which hold what the scans give without any filter.
 *
 * STATEQUERY_EQUIVALENCE=n: so many conditions a snapshot.
 */
import { describe, expect, it } from 'vitest';
import { columnValue } from '../../src/io/column.js';
import { ReadStats } from '../../src/io/source.js';
import { DuckDb } from '../../src/sql/duckdb/duckdb.js';
import { SCAN_FUNCTION } from '../../src/sql/duckdb/scans.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import type { Catalog, Table } from '../../src/tables/table.js';
import { fixture } from '../tables/support.js';
import { type Place, placesOf, random, statementOf } from './equivalence-predicates.js';
import { answers } from './harness.js';

const SNAPSHOTS = [
  '2.3-keys-hashmap-canonical',
  '2.3-kinds-hashmap-canonical-snappy',
  '2.3-keyed-rocksdb-native-p1',
  '2.3-types-hashmap-native',
  '2.3-small-rocksdb-incremental-mp129',
  '2.3-kinds-rocksdb-incremental-p1',
  '2.3-kinds-hashmap-checkpoint-changelog-nomat',
  '2.3-kinds-forst-incremental-v2async-p1',
  '2.3-windows-rocksdb-native-p1',
];
const COUNT = Number(process.env['STATEQUERY_EQUIVALENCE'] ?? 24);

/** The rows of a statement, sorted; or its error. */
async function rows(db: Database, sql: string): Promise<string> {
  try {
    const [answer] = await answers(db, sql);
    return answer.rows
      .map(row => String(row[0]))
      .sort()
      .join('\n');
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === undefined) throw error;
    return `${code}: ${message}`;
  }
}

/** What the statements did, so that the test is one. */
const done = { statements: 0, matching: 0, errors: 0, read: 0, readWithout: 0 };
const isError = (answer: string) => /^[A-Z_]+: /.test(answer);

describe('filters', () => {
  it.each(SNAPSHOTS)(
    'only save reading: %s',
    async name => {
      const stats = { pruned: new ReadStats(), whole: new ReadStats() };
      const pruned = openSnapshot(fixture(name), { stats: stats.pruned });
      const whole = openSnapshot(fixture(name), { stats: stats.whole, pushdown: false });
      const p = await openDatabase({ snapshots: new Map([['s', pruned.catalog]]), threads: 1 });
      const w = await openDatabase({ snapshots: new Map([['s', whole.catalog]]), threads: 1 });
      try {
        const r = random(name.length * 7919 + 17);
        const places = placesOf(whole.catalog);
        const before = stats.whole.entriesDecoded;
        for (let i = 0; i < COUNT; i++) {
          const sql = statementOf(r, places[r(places.length)], 's');
          const expected = await rows(w, sql);
          expect(await rows(p, sql), sql).toBe(expected);
          done.statements++;
          if (isError(expected)) done.errors++;
          else if (expected !== '') done.matching++;
        }
        done.read += stats.pruned.entriesDecoded;
        done.readWithout += stats.whole.entriesDecoded - before;
      } finally {
        await p.close();
        await w.close();
        pruned.close();
        whole.close();
      }
    },
    120_000,
  );

  it('do save it', () => {
    expect(done.statements).toBe(COUNT * SNAPSHOTS.length);
    expect(done.matching).toBeGreaterThan(done.statements / 3);
    expect(done.errors).toBe(0);
    expect(done.read).toBeLessThan(done.readWithout * 0.9);
  });

  it.each(SNAPSHOTS)(
    'give what an engine of its own gives: %s',
    async name => {
      const snapshot = openSnapshot(fixture(name));
      const db = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]), threads: 1 });
      const oracle = await DuckDb.open({ threads: 1 });
      try {
        const places = placesOf(snapshot.catalog).filter(place => place.operator !== undefined);
        const copies = new Map<Place, Place>();
        const r = random(name.length * 104729 + 5);
        for (let i = 0; i < COUNT / 2; i++) {
          const place = places[r(places.length)];
          const typed = { ...place, columns: place.columns.filter(c => !c.mixed) };
          const copy = copies.get(place) ?? (await copyOf(snapshot.catalog, oracle, typed, copies.size));
          copies.set(place, copy);
          const seed = r(1 << 30) + 1;
          const sql = statementOf(random(seed), typed, 's', true);
          const [answer] = await oracleRows(oracle, statementOf(random(seed), copy, 'main', true));
          expect(await rows(db, sql), sql).toBe(answer);
        }
      } finally {
        await oracle.close();
        await db.close();
        snapshot.close();
      }
    },
    120_000,
  );
});

/** The rows of a place without any filter, as a table of the oracle. */
async function copyOf(catalog: Catalog, oracle: DuckDb, place: Place, n: number): Promise<Place> {
  const bound = (catalog.find(place.from) as Table).bind([{ column: 'operator_id', values: [place.operator as string] }]);
  const columns = bound.columns.filter(c => c.name !== 'value');
  const id = oracle.scans.nextId();
  oracle.scans.register(id, {
    columns,
    open: wanted => bound.scan({ columns: wanted.map(i => ({ name: columns[i].name, form: 'value' })), filters: [] }),
  });
  await oracleRows(oracle, `CREATE TABLE copy${n} AS SELECT ${columns.map(c => `"${c.name}"`).join(', ')} FROM ${SCAN_FUNCTION}(${id})`);
  oracle.scans.release([id]);
  return { ...place, from: `copy${n}`, where: '' };
}

/** One text: the sorted rows of the first column. */
async function oracleRows(oracle: DuckDb, sql: string): Promise<readonly [string]> {
  const result = await oracle.stream(sql);
  const found: string[] = [];
  for await (const batch of result.batches) for (let i = 0; i < batch.length; i++) found.push(String(columnValue(batch.columns[0], i)));
  return [found.sort().join('\n')];
}
