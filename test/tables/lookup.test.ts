/** What a lookup and a LIMIT read: counted bytes, of states made here. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnValue } from '../../src/io/column.js';
import { ReadStats } from '../../src/io/source.js';
import { openDatabase } from '../../src/sql/engine.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { Struct, type Value } from '../../src/types.js';
import { amountOf, countOf, type Form, type GeneratedState, nameOf, statusOf, writeState } from '../bench/states.js';

const KEYS = 60_000;

interface Asked {
  readonly rows: readonly (readonly Value[])[];
  readonly bytes: number;
  readonly reads: number;
}

/** Rows of a statement, and what was read for it behind `_metadata` and the headers of the state files. */
async function ask(path: string, sql: string): Promise<Asked> {
  const stats = new ReadStats();
  const snapshot = openSnapshot(path, { stats });
  const db = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]) });
  try {
    for (const operator of snapshot.operators) snapshot.statesOf(operator);
    const { bytesRead, reads } = stats;
    const rows: Value[][] = [];
    for await (const { batches } of db.query(sql))
      for await (const batch of batches) for (let i = 0; i < batch.length; i++) rows.push(batch.columns.map(c => columnValue(c, i)));
    return { rows, bytes: stats.bytesRead - bytesRead, reads: stats.reads - reads };
  } finally {
    await db.close();
    snapshot.close();
  }
}

const profile = (i: number) => new Struct([amountOf(i), BigInt(i), nameOf(i), statusOf(i)]);

describe.each<Form>(['canonical', 'heap'])('a %s savepoint of 60,000 keys', form => {
  const directory = mkdtempSync(join(tmpdir(), 'statequery-lookup-'));
  let state: GeneratedState;
  beforeAll(() => {
    state = writeState(join(directory, 'savepoint'), KEYS, form);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('one key reads its key group, below one percent', async () => {
    for (const i of [662, 0, KEYS - 1]) {
      const { rows, bytes, reads } = await ask(
        state.path,
        `SELECT state_name, value FROM keyed_state WHERE key = 'key_${i}' AND state_name = 'profile'`,
      );
      expect(rows).toEqual([['profile', profile(i)]]);
      expect(bytes).toBeLessThan(state.bytes / 100);
      expect(reads).toBeLessThan(6);
    }
  });

  it('a key that nobody has reads no more', async () => {
    const { rows, bytes } = await ask(state.path, "SELECT * FROM keyed_state WHERE key = 'nobody'");
    expect(rows).toEqual([]);
    expect(bytes).toBeLessThan(state.bytes / 100);
  });

  it('several keys read their key groups', async () => {
    const { rows, bytes } = await ask(
      state.path,
      "SELECT value FROM keyed_state WHERE state_name = 'count' AND key IN ('key_1', 'key_77', 'key_5000') ORDER BY key",
    );
    expect(rows).toEqual([[BigInt(countOf(1))], [BigInt(countOf(5000))], [BigInt(countOf(77))]]);
    expect(bytes).toBeLessThan((3 * state.bytes) / 100);
  });

  it('a LIMIT stops reading', async () => {
    const { rows, bytes } = await ask(state.path, 'SELECT * FROM keyed_state LIMIT 10');
    expect(rows.length).toBe(10);
    expect(bytes).toBeLessThanOrEqual((1 << 20) + 4096);
  });

  it('everything is read once, in large pieces', async () => {
    const { rows, bytes, reads } = await ask(state.path, 'SELECT count(*) FROM keyed_state');
    expect(rows).toEqual([[BigInt(2 * KEYS)]]);
    expect(bytes).toBeLessThanOrEqual(state.bytes + 2 * 4096);
    expect(reads).toBeLessThan(2 * Math.ceil(state.bytes / (1 << 20)) + 8);
  });

  it('says what was written', async () => {
    const groups = await ask(
      state.path,
      "SELECT value.status, count(*), sum(value.id)::BIGINT, sum(value.amount) FROM keyed_state WHERE state_name = 'profile' GROUP BY ALL ORDER BY ALL",
    );
    const expected = [0, 1, 2, 3, 4].map(status => {
      const numbers = Array.from({ length: KEYS }, (_, i) => i).filter(i => statusOf(i) === status);
      const sum = (of: (i: number) => number) => numbers.reduce((total, i) => total + of(i), 0);
      return [status, BigInt(numbers.length), BigInt(sum(i => i)), sum(amountOf)];
    });
    expect(groups.rows).toEqual(expected);
    const names = await ask(
      state.path,
      "SELECT count(DISTINCT value.name), max(length(value.name)) FROM keyed_state WHERE state_name = 'profile'",
    );
    expect(names.rows).toEqual([[BigInt(new Set(Array.from({ length: KEYS }, (_, i) => nameOf(i))).size), BigInt(15)]]);
  });
});
