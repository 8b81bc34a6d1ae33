/** Every file of state of foreign snapshots is read to its last byte; the backends of one job agree. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openKeyedState, openOperatorState } from '../../src/state/open.js';
import { openRawKeyedState } from '../../src/state/raw-keyed.js';
import { keyedRows, operatorRows } from './rows.js';
import { hasShared, openSnapshot, SHARED, subtasks } from './snapshots.js';
import { walkAll } from './walk.js';

describe.runIf(hasShared)('shared snapshots', () => {
  it('of the corpus are read to their last byte', () => {
    const { snapshots, files, refused } = walkAll(join(SHARED, 'corpus/snapshots'));
    // one was written by Flink 1.6
    expect(refused).toEqual([expect.stringContaining('which Flink 1.6 wrote, is not read')]);
    expect(snapshots).toBe(172);
    expect(files).toBeGreaterThan(2000);
  });
  it('of SQL jobs are read to their last byte', () => {
    const { snapshots, refused } = walkAll(join(SHARED, 'corpus/sql'));
    expect(refused).toEqual([]);
    expect(snapshots).toBe(144);
  });
  it('with stated contents are read to their last byte', () => {
    for (const folder of ['stated/datastream', 'stated/sql']) {
      const { snapshots, refused } = walkAll(join(SHARED, folder));
      expect(refused).toEqual([]);
      expect(snapshots).toBeGreaterThan(70);
    }
  });
});

describe.runIf(hasShared)('canonical and native snapshots of one job', () => {
  const root = join(SHARED, 'corpus/snapshots');
  const jobs = new Map<string, string[]>();
  for (const name of existsSync(root) ? readdirSync(root).sort() : []) {
    const job = /^(new-stateful.*flink[\d.]+)-(?:hashmap|rocksdb)-(?:savepoint|checkpoint|savepoint-native)$/.exec(name)?.[1];
    if (job !== undefined) jobs.set(job, [...(jobs.get(job) ?? []), name]);
  }
  const rowsOf = (name: string): { rows: string[]; guessed: boolean } => {
    const snapshot = openSnapshot(join(root, name, '_metadata'));
    const rows: string[] = [];
    let guessed = false;
    for (const { operator, subtask, context } of subtasks(snapshot)) {
      const add = (reader: ReturnType<typeof openKeyedState>) => {
        guessed ||= reader.header.keyGuess !== undefined;
        // processing timers depend on when the snapshot was taken
        for (const row of keyedRows(reader, context))
          rows.push(`${operator.id} ${JSON.stringify(row.state.startsWith('_timer_state/proc') ? { ...row, value: 0 } : row)}`);
        reader.close();
      };
      if (subtask.managedKeyed !== undefined) add(openKeyedState(subtask.managedKeyed, context));
      if (subtask.rawKeyed !== undefined) {
        const raw = openRawKeyedState(subtask.rawKeyed, context);
        if (raw.kind === 'timers') add(raw.reader);
      }
      if (subtask.managedOperator !== undefined) {
        const reader = openOperatorState(subtask.managedOperator, context);
        for (const row of operatorRows(reader, context)) rows.push(`${operator.id} ${JSON.stringify({ ...row, index: 0 })}`);
        reader.close();
      }
    }
    snapshot.files.close();
    return { rows: rows.sort(), guessed };
  };
  it.each([...jobs].filter(([, names]) => names.length > 1))('%s', (_job, names) => {
    const [first, ...others] = names.map(rowsOf).filter(({ guessed }) => !guessed);
    expect(first.rows.length).toBeGreaterThan(30);
    for (const other of others) expect(other.rows).toEqual(first.rows);
    expect(others.length).toBeGreaterThan(2);
  });
});
