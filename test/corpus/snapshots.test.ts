/**
 * Snapshots that Flink's own releases wrote, through the tables: every one opens, its states and their rows are there, and what
 * canonical savepoints, native savepoints and checkpoints of one job and release hold is equal.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { columnValue } from '../../src/io/column.js';
import { jsonOf } from '../../src/io/json.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import { SHARED } from '../state/snapshots.js';

const ROOT = join(SHARED, 'corpus/snapshots');
const names = existsSync(ROOT) ? readdirSync(ROOT).sort() : [];

/** before Flink 1.8, and in a format that 1.8 does not read either */
const WRITTEN_BY_1_6 = 'state-evolution-1.6';

function* cellsOf(snapshot: OpenedSnapshot, table: string, columns: readonly string[]): Generator<readonly string[]> {
  const scan = snapshot.catalog
    .find(table)!
    .bind([])
    .scan({ columns: columns.map(name => ({ name, form: 'value' })), filters: [] });
  for (let batch = scan.next(); batch !== undefined; batch = scan.next())
    for (let i = 0; i < batch.length; i++)
      yield batch.columns.map(c => {
        const value = columnValue(c, i);
        return value === null ? 'null' : jsonOf(c.type, value);
      });
}

/** What a job holds, whatever the backend and format: no key groups' order, no subtasks, no processing times of the job's own clock. */
function contents(snapshot: OpenedSnapshot): { readonly states: readonly string[]; readonly opaque: ReadonlySet<string> } {
  const states: string[] = [];
  const opaque = new Set<string>();
  const add = (kind: string, cells: readonly string[]): void => {
    if (cells.some(cell => cell.includes('"$hex"'))) opaque.add(cells[1]);
    states.push([kind, ...cells].join(' '));
  };
  const keyed = ['operator_id', 'state_name', 'key_json', 'namespace_json', 'map_key_json', 'list_index', 'value_json'];
  for (const cells of cellsOf(snapshot, 'keyed_state_raw', keyed)) add('keyed', cells);
  const operator = ['operator_id', 'state_name', 'distribution_mode', 'map_key_json', 'value_json'];
  for (const cells of cellsOf(snapshot, 'operator_state_raw', operator)) add('operator', cells);
  const timers = ['operator_id', 'timer_service', 'time_domain', 'key', 'namespace', 'fires_at_ms'];
  for (const cells of cellsOf(snapshot, 'timers', timers)) add('timer', cells[2] === '"processing"' ? cells.slice(0, -1) : cells);
  return { states: states.sort(), opaque };
}

/** Rows, and what cannot be decoded, of one snapshot. */
function open(name: string): ReturnType<typeof contents> & { readonly undecodable: readonly string[]; readonly registered: number } {
  const warnings: string[] = [];
  const snapshot = openSnapshot(join(ROOT, name), { warn: message => void warnings.push(message) });
  try {
    const meta = [...cellsOf(snapshot, 'state_meta', ['state_kind', 'state_name', 'decodable', 'reason', 'value_serializer'])];
    const undecodable = meta.filter(cells => cells[2] === 'false').map(cells => cells.join(' '));
    return { ...contents(snapshot), undecodable: [...undecodable, ...warnings], registered: meta.length };
  } finally {
    snapshot.close();
  }
}

/** `job of Flink version` of a snapshot's name: what its backends and formats share. */
function jobOf(name: string): string | undefined {
  return /^(.*-flink[\d.]+)-(?:(?:hashmap|rocksdb|jobmanager)-)?(?:savepoint|savepoint-native|checkpoint)$/.exec(name)?.[1];
}
const jobs = new Map<string, string[]>();
for (const name of names) {
  const job = jobOf(name) ?? name;
  jobs.set(job, [...(jobs.get(job) ?? []), name]);
}

// A changelog without a base does not have the key serializer; some keys of this job are Tuple1, which looks like its field.
const KEYS_GUESSED = 'new-stateful-udf-migration-itcase-flink1.17-hashmap-checkpoint';
const withoutTuple1 = (rows: readonly string[]): readonly string[] => rows.map(row => row.replaceAll(/\{"f0":(\d+)\}/g, '$1')).sort();

describe.runIf(names.length > 0)('snapshots of the corpus', () => {
  it('are 172', () => {
    expect([names.length, jobs.size]).toEqual([172, 64]);
  });

  it.each([...jobs])('%s', (_job, members) => {
    const opened = members.filter(name => name !== WRITTEN_BY_1_6).map(name => ({ name, ...open(name) }));
    for (const { name, states, registered, undecodable, opaque } of opened) {
      expect([name, registered > 0, states.length > 0]).toEqual([name, true, true]);
      // the master hook's state is the connector's own
      expect([name, undecodable.filter(line => !line.startsWith('"master"'))]).toEqual([name, []]);
      expect([name, [...opaque]]).toEqual([name, []]);
    }
    const [first, ...others] = opened.sort((a, b) => Number(a.name === KEYS_GUESSED) - Number(b.name === KEYS_GUESSED));
    for (const { name, states } of others) {
      const shown = name === KEYS_GUESSED ? withoutTuple1 : (rows: readonly string[]) => rows;
      expect([name, shown(states)]).toEqual([name, shown(first.states)]);
    }
  });

  it('of Flink 1.6 is refused by its version', () => {
    expect(() => open(WRITTEN_BY_1_6)).toThrow('which Flink 1.6 wrote, is not read');
  });
});
