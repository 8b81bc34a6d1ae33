/**
 * state_meta: one row for each registered state (one for each form, where subtasks differ), and one for each raw,
 * coordinator or master blob. It costs one header read for each state file.
 */
import type { StreamHandle } from '../checkpoint/handles.js';
import { StateQueryError } from '../errors.js';
import { openOperatorState } from '../state/open.js';
import { BIGINT, BOOLEAN, INTEGER, type SqlType, sqlTypeText, VARCHAR } from '../types.js';
import { operatorScope } from './explain.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { enumeratorConnector } from './source-offsets.js';
import { column, OPERATOR_COLUMNS } from './spec.js';
import type { OperatorPart, OperatorStates, OperatorView, StateVariant } from './states.js';
import type { Filter, Table, TableSpec } from './table.js';

export const STATE_META: TableSpec = {
  name: 'state_meta',
  aliases: ['StateMeta'],
  description: 'one row for each registered state, and for each raw, coordinator or master blob',
  columns: [
    ...OPERATOR_COLUMNS,
    column('operator_uid_source', VARCHAR, 'snapshot, file, plan, stateinfo or inferred'),
    column('operator_hint', VARCHAR, 'what an operator without a name likely is'),
    column('state_name', VARCHAR, 'name of the state; NULL for raw, coordinator and master blobs'),
    column('state_kind', VARCHAR, 'keyed, operator, broadcast, timer, raw-keyed, raw-operator, coordinator or master'),
    column('state_type', VARCHAR, 'VALUE, LIST, MAP, REDUCING, AGGREGATING, FOLDING, PRIORITY_QUEUE, as written'),
    column('distribution_mode', VARCHAR, 'SPLIT_DISTRIBUTE, UNION or BROADCAST'),
    column('backend', VARCHAR, 'hashmap, rocksdb, forst, changelog, operator; canonical for the canonical format'),
    column('key_type', VARCHAR, 'SQL type of the key'),
    column('namespace_type', VARCHAR, 'SQL type of the namespace; NULL for the void namespace'),
    column('map_key_type', VARCHAR, 'SQL type of the map key'),
    column('value_type', VARCHAR, 'SQL type of the value, list element or map value'),
    column('key_serializer', VARCHAR, 'serializer of the key, as a tree'),
    column('namespace_serializer', VARCHAR, 'serializer of the namespace'),
    column('value_serializer', VARCHAR, 'serializer of the whole value, as a tree'),
    column('ttl', BOOLEAN, 'whether values carry the time of their last access'),
    column('parallelism', INTEGER, 'parallelism of the operator'),
    column('max_parallelism', INTEGER, 'number of key groups'),
    column('size_bytes', BIGINT, 'bytes, where known without a scan'),
    column('variant', INTEGER, 'number of the form, from 0, where subtasks differ; otherwise 0'),
    column('subtasks', VARCHAR, 'subtasks that registered this form'),
    column('decodable', BOOLEAN, 'whether every value can be decoded'),
    column('reason', VARCHAR, 'why not, or what else is to be known'),
  ],
  examples: ['SELECT operator_uid, state_name, state_type, key_type, value_type FROM state_meta'],
};

export function stateMetaTable(snapshot: OpenedSnapshot): Table {
  return rowTable(STATE_META, filters => stateMetaRows(snapshot, filters), {
    scope: filters => operatorScope(snapshot, filters, snapshot.metadata.masterStates.length > 0 ? 'inexact' : 'exact'),
  });
}

/** The rows of state_meta. */
export function* stateMetaRows(snapshot: OpenedSnapshot, filters: readonly Filter[] = []): Generator<Row> {
  for (const operator of snapshot.operators) {
    if (!operatorMightMatch(operator, filters)) continue;
    const states = snapshot.statesOf(operator);
    for (const variant of states.variants) yield stateRow(snapshot, states, variant);
    yield* blobRows(snapshot, operator, states);
  }
  for (const master of snapshot.metadata.masterStates) {
    yield {
      operator_name: master.name,
      state_kind: 'master',
      size_bytes: BigInt(master.bytes.length),
      variant: 0,
      decodable: false,
      reason: 'state of a master hook: its format is known to the connector alone',
    };
  }
}

function operatorCells(snapshot: OpenedSnapshot, operator: OperatorView): Row {
  return {
    operator_id: operator.id,
    operator_uid: operator.uid,
    operator_name: operator.name,
    operator_uid_source: operator.uidSource,
    operator_hint: snapshot.hintOf(operator),
    parallelism: operator.operator.parallelism,
    max_parallelism: operator.operator.maxParallelism,
  };
}

function stateRow(snapshot: OpenedSnapshot, states: OperatorStates, v: StateVariant): Row {
  const { shape, registered } = v;
  const type = (t: SqlType | undefined) => (t === undefined ? null : sqlTypeText(t));
  const reasons = [v.reason, ...v.notes, v.kind === 'broadcast' ? differingCopies(snapshot, states, v) : undefined].filter(
    r => r !== undefined,
  );
  return {
    ...operatorCells(snapshot, v.operator),
    state_name: v.name,
    state_kind: v.kind,
    state_type:
      v.kind === 'timer'
        ? 'PRIORITY_QUEUE'
        : v.kind === 'broadcast'
          ? 'MAP'
          : v.kind === 'operator'
            ? 'LIST'
            : (registered.stateType ?? 'UNKNOWN'),
    distribution_mode: registered.mode ?? (v.kind === 'broadcast' ? 'BROADCAST' : null),
    backend: v.backend,
    key_type: type(shape.key?.type),
    namespace_type: type(shape.namespace?.type),
    map_key_type: type(shape.mapKey?.type),
    value_type: v.kind === 'timer' ? null : type(shape.value.type),
    key_serializer: v.kind === 'broadcast' ? (registered.key?.text ?? null) : (v.keySnapshot?.text ?? null),
    namespace_serializer: registered.namespace?.text ?? null,
    value_serializer: registered.value?.text ?? null,
    ttl: shape.ttl,
    variant: v.variant,
    subtasks: v.subtasks.join(','),
    decodable: v.reason === undefined,
    reason: reasons.length === 0 ? null : reasons.join('; '),
  };
}

/** Broadcast files up to this size are compared with each other. */
const COMPARED_BYTES = 4 << 20;

/** Every subtask stores a full copy of broadcast state. Says so when they differ: operator_state shows one of them. */
function differingCopies(snapshot: OpenedSnapshot, states: OperatorStates, v: StateVariant): string | undefined {
  const parts = states.managed.filter(p => v.subtasks.includes(p.subtask));
  if (parts.length < 2 || parts.reduce((sum, p) => sum + handleBytes(p.handle.stream), 0) > COMPARED_BYTES) return undefined;
  try {
    const copies = new Set(parts.map(part => copyOf(snapshot, part, v)));
    return copies.size === 1 ? undefined : 'the copies of the subtasks differ: operator_state_all has each';
  } catch (error) {
    if (error instanceof StateQueryError) return undefined;
    throw error;
  }
}

/** The entries of one copy in one text; their order means nothing. */
function copyOf(snapshot: OpenedSnapshot, part: OperatorPart, v: StateVariant): string {
  const reader = openOperatorState(part.handle, snapshot.contextOf(part));
  try {
    const state = reader.header.states.find(s => s.name === v.name && s.kind === 'broadcast');
    const entries: string[] = [];
    if (state !== undefined)
      for (const e of reader.elements(state))
        entries.push(Buffer.from(e.bytes.subarray(e.start, Math.max(e.end, e.valueEnd))).toString('latin1'));
    return entries.sort().join('\0');
  } finally {
    reader.close();
  }
}

/** Bytes of a handle, as it says itself. */
export function handleBytes(stream: StreamHandle): number {
  switch (stream.kind) {
    case 'inline':
      return stream.bytes.length;
    case 'empty-segment':
      return 0;
    case 'key-groups-stream':
      return handleBytes(stream.handle.stream);
    default:
      return stream.size;
  }
}

/** Of a source whose enumerator can be read: where; otherwise that it cannot be. */
function coordinatorCells(snapshot: OpenedSnapshot, states: OperatorStates): Row {
  try {
    const connector = enumeratorConnector(snapshot, states);
    if (connector !== undefined) return { decodable: true, reason: `enumerator of a ${connector} source: source_offsets has its splits` };
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
  }
  return { decodable: false, reason: 'state of the operator coordinator: its connector is not known' };
}

function* blobRows(snapshot: OpenedSnapshot, operator: OperatorView, states: OperatorStates): Generator<Row> {
  const cells = operatorCells(snapshot, operator);
  if (operator.operator.coordinator !== undefined) {
    yield {
      ...cells,
      state_kind: 'coordinator',
      size_bytes: BigInt(handleBytes(operator.operator.coordinator)),
      variant: 0,
      ...coordinatorCells(snapshot, states),
    };
  }
  for (const [kind, pick] of RAW_KINDS) {
    const subtasks = operator.operator.subtasks.filter(s => s[pick] !== undefined);
    if (subtasks.length === 0) continue;
    if (kind === 'raw-keyed' && states.rawTimers === true) continue;
    let size = 0;
    for (const s of subtasks) {
      const handle = s[pick];
      if (handle !== undefined && 'stream' in handle) size += handleBytes(handle.stream);
    }
    yield {
      ...cells,
      state_kind: kind,
      size_bytes: BigInt(size),
      variant: 0,
      subtasks: subtasks.map(s => s.index).join(','),
      decodable: false,
      reason: 'raw state: its bytes, which the operator alone knows, are in the table raw_state',
    };
  }
  for (const problem of states.problems) {
    yield {
      ...cells,
      state_kind: problem.kind,
      variant: 0,
      subtasks: String(problem.subtask),
      decodable: false,
      reason: problem.error.describe(),
    };
  }
}

const RAW_KINDS = [
  ['raw-keyed', 'rawKeyed'],
  ['raw-operator', 'rawOperator'],
] as const;
