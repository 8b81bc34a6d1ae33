/**
 * raw_state: the bytes of state whose format only its writer knows.
 *
 *   raw-keyed      a row a key group that was written
 *   raw-operator   a row a partition, in the order in which they were begun
 *   coordinator    a row an operator that has one
 *   master         a row a master hook; operator_name is the hook's identifier
 *
 * Raw keyed state of old jobs that holds timers is in `timers`. keyed_state and operator_state have none of this: nothing tells keys
 * from values here.
 */
import { StateQueryError } from '../errors.js';
import { openRawKeyedState } from '../state/raw-keyed.js';
import { rawPartitions } from '../state/raw-operator.js';
import { BIGINT, BLOB, INTEGER, VARCHAR } from '../types.js';
import { operatorScope } from './explain.js';
import { isDamage } from './keyed-rows.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, OPERATOR_COLUMNS } from './spec.js';
import type { OperatorView } from './states.js';
import type { Filter, Table, TableSpec } from './table.js';

export const RAW_STATE: TableSpec = {
  name: 'raw_state',
  aliases: ['RawState'],
  description: 'bytes of raw keyed state by key group, raw operator state by partition, coordinators and master hooks',
  columns: [
    ...OPERATOR_COLUMNS,
    column('state_kind', VARCHAR, 'raw-keyed, raw-operator, coordinator or master'),
    column('subtask_index', INTEGER, 'subtask that stored it; NULL for coordinators and master hooks'),
    column('key_group', INTEGER, 'raw keyed state: key group'),
    column('list_index', BIGINT, 'raw operator state: partition, from 0 in each subtask'),
    column('value_bytes', BLOB, 'the bytes as the operator wrote them'),
    column('value_size', BIGINT, 'bytes of it'),
  ],
  examples: ["SELECT subtask_index, key_group, value_bytes FROM raw_state WHERE state_kind = 'raw-keyed'"],
};

export function rawStateTable(snapshot: OpenedSnapshot): Table {
  return rowTable(RAW_STATE, filters => rawStateRows(snapshot, filters), {
    scope: filters => operatorScope(snapshot, filters),
  });
}

/** What `read` gives; undefined when it met damage that is to be passed over. */
export function passOver<T>(snapshot: OpenedSnapshot, read: () => T): T | undefined {
  const { skipDamaged, damaged } = snapshot.pumpContext;
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StateQueryError) || !skipDamaged || !isDamage(error)) throw error;
    damaged(error);
    return undefined;
  }
}

/** Steps of a generator; damage ends it where that is to be passed over. */
function* passingOver<T>(snapshot: OpenedSnapshot, items: () => Generator<T>): Generator<T> {
  const iterator = items();
  for (;;) {
    const next = passOver(snapshot, () => iterator.next());
    if (next === undefined || next.done === true) return;
    yield next.value;
  }
}

function* rawStateRows(snapshot: OpenedSnapshot, filters: readonly Filter[]): Generator<Row> {
  for (const view of snapshot.operators) if (operatorMightMatch(view, filters)) yield* operatorRows(snapshot, view);
  for (const { name, bytes } of snapshot.metadata.masterStates)
    yield { operator_name: name, state_kind: 'master', value_bytes: bytes, value_size: BigInt(bytes.length) };
}

function* operatorRows(snapshot: OpenedSnapshot, view: OperatorView): Generator<Row> {
  const named = { operator_id: view.id, operator_uid: view.uid, operator_name: view.name };
  const value = (bytes: Uint8Array) => ({ value_bytes: bytes, value_size: BigInt(bytes.length) });
  const { coordinator, subtasks } = view.operator;
  if (coordinator !== undefined) {
    const bytes = passOver(snapshot, () => {
      const source = snapshot.files.open(coordinator);
      return source.read(0, source.size);
    });
    if (bytes !== undefined) yield { ...named, state_kind: 'coordinator', ...value(bytes) };
  }
  for (const { index, rawKeyed, rawOperator } of subtasks) {
    const context = snapshot.contextOf({ operator: view, subtask: index });
    if (rawKeyed !== undefined)
      yield* passingOver(snapshot, function* () {
        const raw = openRawKeyedState(rawKeyed, context);
        try {
          if (raw.kind === 'bytes')
            for (const { keyGroup, bytes } of raw.groups())
              yield { ...named, state_kind: 'raw-keyed', subtask_index: index, key_group: keyGroup, ...value(bytes) };
        } finally {
          raw.close();
        }
      });
    if (rawOperator !== undefined)
      yield* passingOver(snapshot, function* () {
        for (const partition of rawPartitions(rawOperator, context))
          yield {
            ...named,
            state_kind: 'raw-operator',
            subtask_index: index,
            list_index: BigInt(partition.index),
            ...value(partition.bytes),
          };
      });
  }
}
