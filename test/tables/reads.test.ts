/**
 * How files are read: a scan once from the front to the back in large pieces, a lookup in a few small ones. Where files come over a
 * network, this is what a question costs.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashString, keyGroupOfHash } from '../../src/checkpoint/key-groups.js';
import { columnValue } from '../../src/io/column.js';
import { openDatabase } from '../../src/sql/engine.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { Struct, type Value } from '../../src/types.js';
import { stateFolder } from '../bench/folders.js';
import { amountOf, countOf, type GeneratedState, MAX_PARALLELISM, nameOf, statusOf, writeState } from '../bench/states.js';
import { TABLES_OF_A_KEY, writeTables } from '../bench/tables.js';
import { byFile, bytesOf, type Read, readsOf } from '../io/reads.js';

const KEYS = 60_000;
const MIB = 1 << 20;
const KIB = 1 << 10;
/** of a table: footer, metaindex and properties; and often more */
const TAIL = 16 * KIB;
/** a data block, and what does not fit into 4 KiB of it */
const BLOCK = 5 * KIB;
/** the header of a state file, and the number of a key group that is compared */
const HEADER = 8 * KIB;

const directory = mkdtempSync(join(tmpdir(), 'statequery-reads-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Asked {
  readonly rows: readonly (readonly Value[])[];
  /** of state files and tables, behind `_metadata` */
  readonly reads: readonly Read[];
}

async function ask(path: string, sql: string): Promise<Asked> {
  const snapshot = openSnapshot(path, {});
  const db = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]), threads: 1 });
  try {
    const { result, reads } = await readsOf(async () => {
      const rows: Value[][] = [];
      for await (const { batches } of db.query(sql))
        for await (const batch of batches) for (let i = 0; i < batch.length; i++) rows.push(batch.columns.map(c => columnValue(c, i)));
      return rows;
    });
    return { rows: result, reads: reads.filter(read => read.path.startsWith(path) && basename(read.path) !== '_metadata') };
  } finally {
    await db.close();
    snapshot.close();
  }
}

const isTable = (read: Read): boolean => read.path.endsWith('.sst');
const isData = (read: Read): boolean => read.position > 0 && read.length > 4;
const profile = (i: number) => new Struct([amountOf(i), BigInt(i), nameOf(i), statusOf(i)]);

/** Each read goes on where the one before ended, or up to a block before it: what was cut off at the end is read again whole. */
function expectSequential(reads: readonly Read[]): void {
  for (let i = 1; i < reads.length; i++) {
    const end = reads[i - 1].position + reads[i - 1].length;
    expect(reads[i].position).toBeLessThanOrEqual(end);
    expect(reads[i].position).toBeGreaterThan(end - BLOCK);
  }
}

describe.each(['canonical', 'heap'] as const)('a %s savepoint', form => {
  let state: GeneratedState;
  beforeAll(() => {
    state = writeState(join(directory, form), KEYS, form);
  });

  it('is scanned once, from the front to the back, in pieces of a MiB', async () => {
    const { rows, reads } = await ask(state.path, "SELECT sum(length(value.name)) FROM keyed_state WHERE state_name = 'profile'");
    expect(rows.length).toBe(1);
    expect(bytesOf(reads)).toBeLessThan(1.01 * state.bytes + HEADER * byFile(reads).size);
    for (const ofFile of byFile(reads).values()) {
      const data = ofFile.filter(isData);
      expect(ofFile.length - data.length).toBeLessThan(5);
      expectSequential(data);
      const large = data.slice(0, -1);
      expect(large.length).toBeGreaterThan(0);
      expect(bytesOf(large) / large.length).toBeGreaterThan(MIB / 2);
    }
  });

  it('is asked for a key in one file, in a read or two', async () => {
    const { rows, reads } = await ask(state.path, "SELECT value FROM keyed_state WHERE key = 'key_662' AND state_name = 'profile'");
    expect(rows).toEqual([[profile(662)]]);
    const data = reads.filter(isData);
    expect(byFile(data).size).toBe(1);
    expect(data.length).toBeLessThan(4);
    expect(bytesOf(reads)).toBeLessThan(state.bytes / 64);
  });

  it('is asked for keys of several subtasks in their key groups only', async () => {
    const keys = [1, 2, 3, 77, 5000].map(i => `'key_${i}'`).join(', ');
    const { rows, reads } = await ask(state.path, `SELECT key FROM keyed_state WHERE key IN (${keys}) AND state_name = 'count'`);
    expect(rows.length).toBe(5);
    const data = reads.filter(isData);
    expect(byFile(data).size).toBe(2);
    expect(data.length).toBeLessThan(5 * 4);
    expect(bytesOf(reads)).toBeLessThan((5 * state.bytes) / 64);
  });

  it('is read at its front for a LIMIT', async () => {
    const { rows, reads } = await ask(state.path, 'SELECT * FROM keyed_state LIMIT 10');
    expect(rows.length).toBe(10);
    expect(bytesOf(reads)).toBeLessThan(MIB + HEADER * byFile(reads).size);
  });
});

describe.each([
  ['without filters', {}],
  ['with bloom filters', { bloomBits: 10 }],
] as const)('a native savepoint %s', (_, form) => {
  let state: GeneratedState;
  beforeAll(() => {
    state = writeTables(join(directory, `native-${'bloomBits' in form}`), KEYS, form);
  });
  const lookup = (keys: readonly string[], more = '') =>
    ask(state.path, `SELECT value FROM keyed_state WHERE key IN (${keys.map(key => `'${key}'`).join(', ')}) ${more}`);

  it('says what was written, without what was overwritten or deleted', async () => {
    const { rows } = await ask(state.path, "SELECT count(*), sum(value), count(DISTINCT key) FROM keyed_state WHERE state_name = 'count'");
    let sum = 0;
    for (let i = 0; i < KEYS; i++) sum += countOf(i);
    expect(rows).toEqual([[BigInt(KEYS), BigInt(sum), BigInt(KEYS)]]);
  });

  it('is scanned once: of each table the tail, the index, and all blocks in growing pieces', async () => {
    const { reads } = await ask(state.path, 'SELECT count(*), count(value) FROM keyed_state');
    const tables = byFile(reads.filter(isTable));
    expect(tables.size).toBe(16);
    for (const ofTable of tables.values()) {
      const [tail, ...others] = ofTable;
      expect(tail.length).toBe(TAIL);
      const data = others.slice(others[0].position > 0 ? 1 : 0);
      expect(data[0].position).toBe(0);
      expectSequential(data);
      for (const [i, read] of data.slice(0, -1).entries()) expect(read.length).toBeGreaterThanOrEqual(Math.min(MIB, (256 * KIB) << i));
    }
    expect(bytesOf(reads)).toBeLessThan(state.bytes * 1.02 + tables.size * TAIL);
  });

  it('is asked for a key in the tables that can have it: tail, index and a block of each', async () => {
    for (const i of [662, 0, KEYS - 1]) {
      const { rows, reads } = await lookup([`key_${i}`], "AND state_name = 'profile'");
      expect(rows).toEqual([[profile(i)]]);
      const tables = byFile(reads.filter(isTable));
      expect(tables.size).toBe(TABLES_OF_A_KEY);
      for (const ofTable of tables.values()) {
        expect(ofTable.length).toBeLessThanOrEqual(3);
        expect(ofTable[0].length).toBe(TAIL);
        const block = ofTable[ofTable.length - 1];
        expect(block.length).toBeLessThan(BLOCK);
      }
    }
  });

  it('is asked for keys of several subtasks and states likewise', async () => {
    const { rows, reads } = await lookup(['key_1', 'key_2', 'key_3', 'tmp_20']);
    expect(rows.length).toBe(6);
    const tables = byFile(reads.filter(isTable));
    expect(new Set([...tables.keys()].map(path => basename(path).slice(0, 9)))).toEqual(new Set(['subtask-0', 'subtask-1']));
    // the tail, the index and a filter of a table are read once
    for (const ofTable of tables.values()) expect(ofTable.filter(read => read.length >= BLOCK).length).toBeLessThanOrEqual(3);
  });

  it('is asked for each of many keys in its own key group alone', async () => {
    const keys = Array.from({ length: 60 }, (_, i) => `key_${i * 911}`);
    const { rows, reads } = await lookup(keys, "AND state_name = 'profile'");
    expect(rows.length).toBe(60);
    const blocks = reads.filter(read => isTable(read) && read.length < BLOCK);
    expect(blocks.length).toBeGreaterThanOrEqual(keys.length);
    expect(blocks.length).toBeLessThanOrEqual(keys.length * TABLES_OF_A_KEY);
  });

  it('is read at the front of its first tables for a LIMIT', async () => {
    const { rows, reads } = await ask(state.path, 'SELECT * FROM keyed_state LIMIT 10');
    expect(rows.length).toBe(10);
    const tables = byFile(reads.filter(isTable));
    expect(tables.size).toBe(TABLES_OF_A_KEY);
    expect(bytesOf(reads)).toBeLessThan(TABLES_OF_A_KEY * (TAIL + 272 * KIB) + 4 * 8 * KIB);
  });
});

describe('bloom filters', () => {
  /** names that no key has, of one key group */
  const absent = (count: number): readonly string[] => {
    const names: string[] = [];
    for (let i = 0; names.length < count; i++)
      if (keyGroupOfHash(hashString(`nobody_${i}`), MAX_PARALLELISM) === 7) names.push(`'nobody_${i}'`);
    return names;
  };
  const readFor = async (count: number): Promise<{ without: number; filtered: number }> => {
    const sql = `SELECT value FROM keyed_state WHERE key IN (${absent(count).join(', ')}) AND state_name = 'profile'`;
    const [without, filtered] = [await ask(join(directory, 'native-false'), sql), await ask(join(directory, 'native-true'), sql)];
    expect([without.rows, filtered.rows]).toEqual([[], []]);
    return { without: bytesOf(without.reads), filtered: bytesOf(filtered.reads) };
  };

  it('are not read for one lookup, which needs less', async () => {
    const { without, filtered } = await readFor(1);
    expect(filtered).toBeLessThan(without + 512);
  });

  it('spare the blocks when many keys are looked for that are not there', async () => {
    const { without, filtered } = await readFor(60);
    expect(filtered).toBeLessThan(without / 2);
  });
});

/** What Flink wrote, where the bench has left it: a key of ten million. */
const LARGE = ['rocks-canon', 'rocks-native', 'rocks-inc', 'heap-native']
  .map(kind => join(stateFolder(), `${kind}-10m`))
  .filter(folder => existsSync(join(folder, 'TRUTH.json')));
const bytesOfFiles = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
if (LARGE.length > 0)
  describe.each(LARGE)('%s', folder => {
    it('is asked for a key in less than a hundredth of its bytes', async () => {
      const path = readFileSync(join(folder, 'PATH'), 'utf8').trim();
      const { rows, reads } = await ask(path, "SELECT value.id FROM keyed_state WHERE key = 'key_662' AND state_name = 'profile'");
      expect(rows).toEqual([[662n]]);
      expect(bytesOf(reads)).toBeLessThan(bytesOfFiles(folder) / 100);
      expect(reads.length).toBeLessThan(40);
    });
  });
