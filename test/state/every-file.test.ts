/** Every keyed and operator file of every snapshot at hand is read to its last byte; the backends of one job agree. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UnsupportedError } from '../../src/errors.js';
import { openChannels } from '../../src/state/channel.js';
import { openKeyedState, openOperatorState } from '../../src/state/open.js';
import { openRawKeyedState } from '../../src/state/raw-keyed.js';
import { rawPartitions } from '../../src/state/raw-operator.js';
import { keyedRows, operatorRows } from './rows.js';
import { FIXTURES, findMetadata, hasShared, openSnapshot, SHARED, subtasks } from './snapshots.js';

interface Walked {
  files: number;
  entries: number;
  refused: string[];
}

/** Walks all state of a snapshot without looking into values. */
function walk(metadata: string): Walked {
  const snapshot = openSnapshot(metadata);
  const walked: Walked = { files: 0, entries: 0, refused: [] };
  for (const { operator, subtask, context } of subtasks(snapshot)) {
    const guard = (f: () => void) => {
      try {
        f();
        walked.files++;
      } catch (error) {
        if (!(error instanceof UnsupportedError)) throw error;
        walked.refused.push(`${operator.id} ${error.message}`);
      }
    };
    const { managedKeyed, rawKeyed, managedOperator, rawOperator } = subtask;
    if (managedKeyed !== undefined && managedKeyed.kind !== 'incremental')
      guard(() => {
        const reader = openKeyedState(managedKeyed, context);
        const cursor = reader.entries({});
        while (cursor.next()) walked.entries++;
        cursor.close();
        reader.close();
      });
    if (rawKeyed !== undefined)
      guard(() => {
        const raw = openRawKeyedState(rawKeyed, context);
        if (raw.kind === 'bytes') for (const group of raw.groups()) walked.entries += group.bytes.length > 0 ? 1 : 0;
        else {
          const cursor = raw.reader.entries({});
          while (cursor.next()) walked.entries++;
        }
        raw.close();
      });
    if (managedOperator !== undefined)
      guard(() => {
        const reader = openOperatorState(managedOperator, context);
        for (const state of reader.header.states)
          for (const element of reader.elements(state)) walked.entries += element.end >= element.start ? 1 : 0;
        reader.close();
      });
    if (rawOperator !== undefined)
      guard(() => {
        for (const partition of rawPartitions(rawOperator, context)) walked.entries += partition.bytes.length >= 0 ? 1 : 0;
      });
    guard(() => {
      for (const channel of openChannels(subtask.channels.map(handle => ({ handle, context })))) {
        for (const element of channel.elements()) walked.entries += element.end >= element.start ? 1 : 0;
        channel.close();
      }
    });
  }
  snapshot.files.close();
  return walked;
}

function walkAll(root: string): Walked & { snapshots: number } {
  const total = { snapshots: 0, files: 0, entries: 0, refused: [] as string[] };
  for (const metadata of findMetadata(root)) {
    const { files, entries, refused } = walk(metadata);
    total.snapshots++;
    total.files += files;
    total.entries += entries;
    total.refused.push(...refused);
  }
  return total;
}

describe('the fixtures of the repository', () => {
  it('are read to their last byte', () => {
    const { snapshots, entries, refused } = walkAll(FIXTURES);
    expect(refused).toEqual([]);
    expect(snapshots).toBeGreaterThan(4);
    expect(entries).toBeGreaterThan(2000);
  });
});

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
