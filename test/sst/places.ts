/** What tests of snapshots with RocksDB and ForSt share: reading every table, and comparing the state of two snapshots. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { IncrementalHandle, Operator, Subtask } from '../../src/checkpoint/handles.js';
import { checkTable } from '../../src/sst/check.js';
import { CHECKSUM_NAMES } from '../../src/sst/checksum.js';
import { openTable } from '../../src/sst/table.js';
import { openKeyedState } from '../../src/state/open.js';
import { findMetadata, type Opened, openSnapshot } from '../state/snapshots.js';

export interface Place {
  readonly name: string;
  readonly directory: string;
}
export const placesIn = (directory: string): Place[] =>
  existsSync(directory) ? readdirSync(directory).map(name => ({ name, directory: join(directory, name) })) : [];
export const usesTables = ({ name }: Place): boolean => /rocksdb|forst/.test(name) && !/canonical|changelog/.test(name);

function openPlace({ directory, name }: Place): Opened | undefined {
  const [metadata] = findMetadata(directory);
  return metadata === undefined ? undefined : openSnapshot(metadata, name);
}

function* incrementalHandles(opened: Opened): Generator<{ operator: Operator; subtask: Subtask; handle: IncrementalHandle }> {
  for (const operator of opened.metadata.operators)
    for (const subtask of operator.subtasks)
      if (subtask.managedKeyed?.kind === 'incremental') yield { operator, subtask, handle: subtask.managedKeyed };
}

/** Reads every table that a snapshot refers to, checks it against its properties, and counts the forms seen. */
export function readTables(place: Place, forms: Map<string, number>): number {
  const opened = openPlace(place);
  if (opened === undefined) return 0;
  let tables = 0;
  for (const { operator, subtask, handle } of incrementalHandles(opened)) {
    const context = opened.context(operator, subtask);
    for (const file of [...handle.shared, ...handle.private]) {
      if (!file.localName.endsWith('.sst')) continue;
      const table = openTable(context.open(file.stream), { verify: true, where: `${place.name} ${file.localName}` });
      const { properties, footer } = table;
      expect(checkTable(table).entries, `${place.name} ${file.localName}`).toBeGreaterThanOrEqual(0);
      expect(properties.columnFamily).toBeTypeOf('string');
      const form = `version ${footer.version}, ${CHECKSUM_NAMES[footer.checksumType]}, ${properties.compression}, index ${properties.indexType}`;
      forms.set(form, (forms.get(form) ?? 0) + 1);
      tables++;
      table.close();
    }
  }
  opened.files.close();
  return tables;
}

/** A TTL value in hex without its time: 8 bytes in front, in a map behind the null flag, in a list in front of each long. */
function withoutTime(state: string, value: string): string {
  if (state === 'ttl-value') return value.slice(16);
  if (state === 'ttl-map') return value.slice(0, 2) + value.slice(18);
  if (state === 'ttl-list') return value.replace(/.{16}(.{16}(?:2c)?)/g, '$1');
  return value;
}

/** Every entry of every keyed state as hex, without key groups; TTL times are the job's own and left out. */
function contents(place: Place): Map<string, string[]> {
  const opened = openPlace(place);
  const states = new Map<string, string[]>();
  if (opened === undefined) return states;
  for (const operator of opened.metadata.operators)
    for (const subtask of operator.subtasks) {
      if (subtask.managedKeyed === undefined) continue;
      const reader = openKeyedState(subtask.managedKeyed, opened.context(operator, subtask));
      expect(reader.layout).toBe('composite');
      const cursor = reader.entries({});
      while (cursor.next()) {
        const state = reader.header.states[cursor.state];
        const part = (start: number, end: number) => Buffer.from(cursor.bytes.subarray(start, end)).toString('hex');
        const value = part(cursor.valueStart, cursor.valueEnd);
        const row = [
          part(cursor.keyStart, cursor.keyEnd),
          part(cursor.namespaceStart, cursor.namespaceEnd),
          part(cursor.userKeyStart, cursor.userKeyEnd),
          withoutTime(state.name, value),
        ].join(' ');
        const name = `${operator.id} ${state.name}`;
        const rows = states.get(name);
        if (rows === undefined) states.set(name, [row]);
        else rows.push(row);
      }
      cursor.close();
      reader.close();
    }
  opened.files.close();
  expect(opened.warnings).toEqual([]);
  for (const rows of states.values()) rows.sort();
  return states;
}

const WITHOUT_TIMERS = /heaptimers|v2async|native-v2/;
export function compare(place: Place, canonical: Place): void {
  const withoutTimers = ([name]: readonly [string, readonly string[]]) =>
    !WITHOUT_TIMERS.test(place.name) || !name.includes('_timer_state');
  const got = [...contents(place)].filter(withoutTimers).sort();
  const wanted = [...contents(canonical)].filter(withoutTimers).sort();
  expect(got.length).toBeGreaterThan(0);
  expect(got).toEqual(wanted);
}
