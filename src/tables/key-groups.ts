/**
 * key_groups: entries and bytes of each key group in each state: skew at a glance. It reads all keyed state.
 */
import { openRawKeyedState } from '../state/raw-keyed.js';
import { BIGINT, VARCHAR } from '../types.js';
import { countRows } from './entry-counts.js';
import { operatorScope } from './explain.js';
import { passOver } from './raw-state.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, KEY_GROUP, OPERATOR_COLUMNS, STATE_NAME, SUBTASK_INDEX } from './spec.js';
import type { StateVariant } from './states.js';
import type { Filter, Table, TableSpec } from './table.js';

export const KEY_GROUPS: TableSpec = {
  name: 'key_groups',
  aliases: ['KeyGroups'],
  description: 'entries and bytes for each operator, state and key group that has any; reads all keyed state',
  columns: [
    ...OPERATOR_COLUMNS,
    STATE_NAME,
    column('state_kind', VARCHAR, 'keyed, timer, or raw-keyed (state_name is NULL, entries are not known)'),
    KEY_GROUP,
    SUBTASK_INDEX,
    column('entries', BIGINT, 'values, list elements, map entries or timers: rows of keyed_state or timers'),
    column('size_bytes', BIGINT, 'serialized bytes: each key and namespace once, map keys and values'),
  ],
  examples: [
    'SELECT key_group, sum(entries) AS entries, sum(size_bytes) AS bytes FROM key_groups GROUP BY key_group ORDER BY bytes DESC LIMIT 10',
  ],
};

interface Counted {
  readonly variant: StateVariant;
  readonly keyGroup: number;
  readonly subtask: number;
  entries: number;
  bytes: number;
}

export function keyGroupsTable(snapshot: OpenedSnapshot): Table {
  return rowTable(KEY_GROUPS, filters => keyGroupRows(snapshot, filters), {
    scope: filters => operatorScope(snapshot, filters),
  });
}

function* keyGroupRows(snapshot: OpenedSnapshot, filters: readonly Filter[]): Generator<Row | undefined> {
  for (const view of snapshot.operators) {
    if (!operatorMightMatch(view, filters)) continue;
    const states = snapshot.statesOf(view);
    const counted = new Map<StateVariant, Map<number, Counted>>();
    let current: Counted | undefined;
    yield* countRows(snapshot, states, filters, (row, bytes) => {
      const { variant } = row;
      const { keyGroup } = row.entry;
      const { subtask } = row.part;
      if (current === undefined || current.variant !== variant || current.keyGroup !== keyGroup || current.subtask !== subtask) {
        let groups = counted.get(variant);
        if (groups === undefined) counted.set(variant, (groups = new Map()));
        // two subtasks have one key group when a checkpoint was taken while the job was rescaled
        const at = keyGroup * 65536 + subtask;
        current = groups.get(at);
        if (current === undefined) groups.set(at, (current = { variant, keyGroup, subtask, entries: 0, bytes: 0 }));
      }
      current.entries++;
      current.bytes += bytes;
    });
    const named = { operator_id: view.id, operator_uid: view.uid, operator_name: view.name };
    for (const [variant, groups] of counted)
      for (const { keyGroup, subtask, entries, bytes } of [...groups.values()].sort((a, b) => a.keyGroup - b.keyGroup))
        yield {
          ...named,
          state_name: variant.name,
          state_kind: variant.kind,
          key_group: keyGroup,
          subtask_index: subtask,
          entries: BigInt(entries),
          size_bytes: BigInt(bytes),
        };
    if (states.rawTimers === true) continue;
    for (const subtask of view.operator.subtasks) {
      const handle = subtask.rawKeyed;
      if (handle === undefined) continue;
      const groups = passOver(snapshot, () => {
        const raw = openRawKeyedState(handle, snapshot.contextOf({ operator: view, subtask: subtask.index }));
        try {
          return raw.kind === 'bytes' ? [...raw.groups()].map(g => ({ keyGroup: g.keyGroup, size: g.bytes.length })) : [];
        } finally {
          raw.close();
        }
      });
      for (const { keyGroup, size } of groups ?? [])
        yield {
          ...named,
          state_kind: 'raw-keyed',
          key_group: keyGroup,
          subtask_index: subtask.index,
          size_bytes: BigInt(size),
        };
    }
  }
}
