/**
 * The three questions that have to be one line each, over several types and backends: what is in the state, which offsets
 * were read, why is this key's result what it is. And a fourth: what changed between two snapshots.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { operatorIdOf } from '../../src/checkpoint/uid.js';
import { jsonOf } from '../../src/io/json.js';
import { ReadStats } from '../../src/io/source.js';
import { openDatabase } from '../../src/sql/engine.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { BIGINT, JsonText, type Value } from '../../src/types.js';
import { rowsOf } from '../sql/harness.js';
import { fixture, HAS_SHARED, SHARED } from './support.js';

interface StatedState {
  readonly name: string;
  readonly kind: string;
  readonly rows: readonly { readonly key: Stated; readonly value: Stated }[];
}
type Stated = string | null | { readonly [name: string]: Stated };

function statedState(name: string, uid: string, state: string): StatedState {
  const { operators } = JSON.parse(readFileSync(join(fixture(name), '../fixture.json'), 'utf8')) as {
    operators: readonly { uid: string | null; states: readonly StatedState[] }[];
  };
  const found = operators.find(o => o.uid === uid)?.states.find(s => s.name === state);
  if (found === undefined) throw new Error(`${name} states no ${uid} ${state}`);
  return found;
}

/** Runs statements over snapshots under aliases. */
async function ask<T>(
  paths: Readonly<Record<string, string>>,
  use: (query: (sql: string) => Promise<readonly (readonly Value[])[]>, stats: ReadStats) => Promise<T>,
): Promise<T> {
  const stats = new ReadStats();
  const opened = Object.entries(paths).map(([alias, path]) => [alias, openSnapshot(path, { stats })] as const);
  const db = await openDatabase({ snapshots: new Map(opened.map(([alias, s]) => [alias, s.catalog])), threads: 1 });
  try {
    return await use(sql => rowsOf(db, sql), stats);
  } finally {
    await db.close();
    for (const [, s] of opened) s.close();
  }
}

const plain = (value: Value): unknown =>
  value instanceof JsonText ? JSON.parse(value.text) : typeof value === 'bigint' ? jsonOf(BIGINT, value) : value;

const WORDCOUNTS = ['2.3-wordcount-hashmap-canonical', '2.3-wordcount-rocksdb-canonical', '1.20-wordcount-rocksdb-canonical'];

describe.each(WORDCOUNTS)('%s', name => {
  it('says what is in its state', () =>
    ask({ s: fixture(name) }, async query => {
      const rows = await query(
        "SELECT operator_id, state_name, state_kind, key_type, value_type FROM state_meta WHERE state_kind IN ('keyed', 'operator') ORDER BY state_name DESC",
      );
      expect(rows).toEqual([
        [operatorIdOf('offsets'), 'offsets', 'operator', null, 'STRUCT(f0 VARCHAR, f1 BIGINT)'],
        [operatorIdOf('word-count'), 'count', 'keyed', 'VARCHAR', 'BIGINT'],
        [operatorIdOf('words'), 'SourceReaderState', 'operator', null, 'BLOB'],
      ]);
    }));
  it('says which offsets were read', () =>
    ask({ s: fixture(name) }, async query => {
      const rows = await query("SELECT value.f0, value.f1 FROM operator_state WHERE state_name = 'offsets' ORDER BY 1");
      expect(rows).toEqual([0, 1, 2, 3].map(i => [`words-${i}`, 2500n]));
    }));
  it('says why key_662 is what it is, and reads one key group for it', () =>
    ask({ s: fixture(name) }, async (query, stats) => {
      const rows = await query("SELECT operator_id, state_name, key, value FROM keyed_state WHERE key = 'key_662'");
      expect(rows.map(r => r.map(plain))).toEqual([[operatorIdOf('word-count'), 'count', 'key_662', '11290']]);
      expect(stats.entriesDecoded).toBe(1);
    }));
});

/** The literal of a key: a constant, or one with its fields. */
function literal(key: Stated, type: (field: string) => 'text' | 'number'): string {
  if (key === null) return 'NULL';
  if (typeof key === 'string') return type('') === 'text' ? `'${key}'` : key;
  return `{${Object.entries(key)
    .map(([name, value]) => `'${name}': ${literal(value, () => type(name))}`)
    .join(', ')}}`;
}
/** `key.f0 = …` for every field. */
function fields(key: Stated, type: (field: string) => 'text' | 'number'): string {
  if (key === null || typeof key === 'string') return `key = ${literal(key, type)}`;
  return Object.entries(key)
    .map(([name, value]) => (value === null ? `key.${name} IS NULL` : `key.${name} = ${literal(value, () => type(name))}`))
    .join(' AND ');
}

const KEYED = ['2.3-keyed-hashmap-canonical', '2.3-keyed-hashmap-native', '2.3-keyed-rocksdb-native-p1', '1.20-keyed-hashmap-canonical'];
const OPERATORS: readonly (readonly [uid: string, type: (field: string) => 'text' | 'number', pruned: boolean])[] = [
  ['keyed-long', () => 'number', true],
  ['keyed-int', () => 'number', true],
  ['keyed-tuple2', field => (field === 'f0' ? 'text' : 'number'), true],
  ['keyed-pojo', field => (field === 'region' ? 'text' : 'number'), false],
];

describe.each(KEYED)('%s', name => {
  it.each(OPERATORS)('finds every key of %s', (uid, type, pruned) =>
    ask({ s: fixture(name) }, async (query, stats) => {
      for (const { key, value } of statedState(name, uid, 'sum').rows) {
        for (const condition of [`key = ${literal(key, type)}`, fields(key, type)]) {
          const before = stats.entriesDecoded;
          const rows = await query(
            `SELECT value FROM keyed_state WHERE operator_id = '${operatorIdOf(uid)}' AND state_name = 'sum' AND ${condition}`,
          );
          expect(
            rows.map(r => r.map(plain)),
            condition,
          ).toEqual([[value]]);
          if (pruned) expect(stats.entriesDecoded - before, condition).toBe(1);
        }
      }
    }),
  );
  it('finds keys of several types by their text', () =>
    ask({ s: fixture(name) }, async (query, stats) => {
      // 2, once as an Integer and not as a Long, where no key is 2
      const before = stats.entriesDecoded;
      const rows = await query("SELECT DISTINCT operator_id FROM keyed_state WHERE key = '2' ORDER BY 1");
      expect(rows).toEqual([[operatorIdOf('keyed-int')]]);
      expect(stats.entriesDecoded - before).toBeLessThan(100);
      const tuple = `SELECT operator_id, value.f0, value.f1 FROM keyed_state WHERE key = '{"f0":"a","f1":-2}' AND state_name = 'mean'`;
      expect((await query(tuple)).map(r => r.map(plain))).toEqual([[operatorIdOf('keyed-tuple2'), '246', '3']]);
      expect(await query("SELECT count(*) FROM keyed_state WHERE key IN ('02', '2.0', ' 2', 'x')")).toEqual([[0n]]);
      // no key of these types is shown as such a text: nothing is read
      const read = stats.entriesDecoded;
      expect(await query("SELECT * FROM keyed_state WHERE key IN ('key_662', '1.5', '2147483648.0')")).toEqual([]);
      expect(stats.entriesDecoded - read).toBe(0);
    }));
});

describe.runIf(HAS_SHARED)('SQL jobs', () => {
  const group = join(SHARED, 'stated/sql/group-agg-6000-keys-rocksdb-incremental-1.20/snapshot');
  it('have rows as keys, looked up by their fields', () =>
    ask({ s: group }, async (query, stats) => {
      const keys = await query('SELECT DISTINCT key.f0 FROM keyed_state ORDER BY 1 LIMIT 5');
      expect(keys.length).toBe(5);
      for (const [key] of keys) {
        const all = await query(`SELECT key_json, value_bytes FROM keyed_state_raw WHERE key_json->>'f0' = '${key}' ORDER BY ALL`);
        const before = stats.entriesDecoded;
        const condition = `key.f0 = '${key}'`;
        expect(await query(`SELECT count(*) FROM keyed_state WHERE ${condition}`)).toEqual([[BigInt(all.length)]]);
        expect(await query(`SELECT count(*) FROM keyed_state WHERE key = {'f0': '${key}'}`)).toEqual([[BigInt(all.length)]]);
        expect(stats.entriesDecoded - before).toBe(2 * all.length);
      }
    }));
});

describe('two snapshots', () => {
  const copy = mkdtempSync(join(tmpdir(), 'statequery-stories-'));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  /** The word count with one count more for one word. */
  function changed(): string {
    cpSync(fixture('2.3-wordcount-hashmap-canonical'), copy, { recursive: true });
    const key = Buffer.concat([Buffer.of(8), Buffer.from('key_662')]);
    let found = 0;
    for (const file of readdirSync(copy)) {
      const bytes = readFileSync(join(copy, file));
      const at = file === '_metadata' ? -1 : bytes.indexOf(key);
      if (at < 0) continue;
      // key, void namespace, i32 length, i64 count
      const value = at + key.length + 1 + 4;
      expect(bytes.readBigInt64BE(value)).toBe(11290n);
      bytes.writeBigInt64BE(11291n, value);
      writeFileSync(join(copy, file), bytes);
      found++;
    }
    expect(found).toBe(1);
    return copy;
  }
  const DIFF = `
    SELECT key, o.value, n.value FROM old.keyed_state o FULL JOIN new.keyed_state n USING (operator_id, state_name, key)
    WHERE state_name = 'count' AND o.value IS DISTINCT FROM n.value`;

  it('say in three lines which keys changed', async () => {
    const next = changed();
    await ask({ old: fixture('2.3-wordcount-hashmap-canonical'), new: next }, async query => {
      expect((await query(DIFF)).map(r => r.map(plain))).toEqual([['key_662', '11290', '11291']]);
    });
    await ask({ old: fixture('2.3-wordcount-rocksdb-canonical'), new: fixture('2.3-wordcount-hashmap-canonical') }, async query => {
      expect(await query(DIFF)).toEqual([]);
      const counts = await query(
        'SELECT (SELECT count(*) FROM old.keyed_state), (SELECT count(*) FROM new.keyed_state), (SELECT count(*) FROM (SELECT key_json, value_json FROM old.keyed_state_raw EXCEPT SELECT key_json, value_json FROM new.keyed_state_raw))',
      );
      expect(counts).toEqual([[1000n, 1000n, 0n]]);
    });
  });
});
