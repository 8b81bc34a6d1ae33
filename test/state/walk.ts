/** Every file of state of a snapshot, read to its last byte. */
import { UnsupportedError } from '../../src/errors.js';
import { openChannels } from '../../src/state/channel.js';
import { openKeyedState, openOperatorState } from '../../src/state/open.js';
import { openRawKeyedState } from '../../src/state/raw-keyed.js';
import { rawPartitions } from '../../src/state/raw-operator.js';
import { findMetadata, openSnapshot, subtasks } from './snapshots.js';

export interface Walked {
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

export function walkAll(root: string): Walked & { snapshots: number } {
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
