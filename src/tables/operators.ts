/**
 * operators, metadata and snapshot: what `_metadata` alone tells. No state file is opened.
 */
import { finishedState, operatorCheckpointedSize, operatorSizes } from '../checkpoint/sizes.js';
import { BIGINT, BOOLEAN, INTEGER, TIMESTAMPTZ, Timestamp, VARCHAR } from '../types.js';
import { type Row, rowTable } from './row-table.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, OPERATOR_COLUMNS } from './spec.js';
import type { Table, TableSpec } from './table.js';

export const OPERATORS: TableSpec = {
  name: 'operators',
  aliases: ['Operators'],
  description: 'one row for each operator of the snapshot',
  columns: [
    ...OPERATOR_COLUMNS,
    column('parallelism', INTEGER, 'parallelism when the snapshot was taken'),
    column('max_parallelism', INTEGER, 'number of key groups'),
    column('subtask_state_count', INTEGER, 'subtasks that have state'),
    column('finished', VARCHAR, 'no, partly or fully'),
    column('finished_subtasks', INTEGER, 'subtasks that had finished'),
    column('coordinator_state_size_in_bytes', BIGINT, 'state of the operator coordinator'),
    column('channel_state_size_in_bytes', BIGINT, 'in-flight data of unaligned checkpoints'),
    column('total_size_in_bytes', BIGINT, "state of all subtasks and the coordinator, as Flink's OperatorState.getStateSize()"),
    column('checkpoint_id', BIGINT, 'id of the checkpoint'),
  ],
  examples: ['SELECT operator_uid, parallelism, total_size_in_bytes FROM operators ORDER BY total_size_in_bytes DESC'],
};

export function operatorsTable(snapshot: OpenedSnapshot): Table {
  return rowTable(OPERATORS, () => operatorRows(snapshot), { count: () => snapshot.operators.length });
}

function* operatorRows(snapshot: OpenedSnapshot): Generator<Row> {
  for (const view of snapshot.operators) {
    const { operator } = view;
    const sizes = operatorSizes(operator);
    const { finished, finishedSubtasks } = finishedState(operator);
    yield {
      operator_id: view.id,
      operator_uid: view.uid,
      operator_name: view.name,
      parallelism: operator.parallelism,
      max_parallelism: operator.maxParallelism,
      subtask_state_count: sizes.subtaskStateCount,
      finished,
      finished_subtasks: finishedSubtasks,
      coordinator_state_size_in_bytes: BigInt(sizes.coordinatorBytes),
      channel_state_size_in_bytes: BigInt(sizes.channelBytes),
      total_size_in_bytes: BigInt(sizes.totalBytes),
      checkpoint_id: BigInt(snapshot.metadata.checkpointId),
    };
  }
}

export const METADATA: TableSpec = {
  name: 'metadata',
  aliases: ['Metadata'],
  description: "the columns of Flink's savepoint_metadata function",
  columns: [
    column('checkpoint-id', BIGINT, 'id of the checkpoint'),
    column('operator-name', VARCHAR, 'name of the operator'),
    column('operator-uid', VARCHAR, 'uid of the operator'),
    column('operator-uid-hash', VARCHAR, 'operator id'),
    column('operator-parallelism', INTEGER, 'parallelism'),
    column('operator-max-parallelism', INTEGER, 'number of key groups'),
    column('operator-subtask-state-count', INTEGER, 'subtasks that have state'),
    column('operator-coordinator-state-size-in-bytes', BIGINT, 'state of the operator coordinator'),
    column('operator-total-size-in-bytes', BIGINT, 'state of all subtasks and the coordinator'),
  ],
  examples: ['SELECT "operator-uid", "operator-total-size-in-bytes" FROM metadata'],
};

export function metadataTable(snapshot: OpenedSnapshot): Table {
  return rowTable(
    METADATA,
    function* () {
      for (const view of snapshot.operators) {
        const sizes = operatorSizes(view.operator);
        yield {
          'checkpoint-id': BigInt(snapshot.metadata.checkpointId),
          'operator-name': view.name,
          'operator-uid': view.uid,
          'operator-uid-hash': view.id,
          'operator-parallelism': view.operator.parallelism,
          'operator-max-parallelism': view.operator.maxParallelism,
          'operator-subtask-state-count': sizes.subtaskStateCount,
          'operator-coordinator-state-size-in-bytes': BigInt(sizes.coordinatorBytes),
          'operator-total-size-in-bytes': BigInt(operatorCheckpointedSize(view.operator)),
        };
      }
    },
    { count: () => snapshot.operators.length },
  );
}

export const SNAPSHOT: TableSpec = {
  name: 'snapshot',
  aliases: ['Snapshot'],
  description: 'one row: the snapshot itself',
  columns: [
    column('path', VARCHAR, 'directory of the snapshot'),
    column('kind', VARCHAR, 'savepoint or checkpoint'),
    column('format', VARCHAR, 'canonical or native; NULL when nothing tells'),
    column('metadata_version', INTEGER, 'version of the `_metadata` file'),
    column('flink_versions', VARCHAR, 'Flink releases that write such files, inferred'),
    column('checkpoint_id', BIGINT, 'id of the checkpoint'),
    column('checkpoint_type', VARCHAR, 'type in the checkpoint properties (1.16 and later)'),
    column('modified_at', TIMESTAMPTZ, 'time of the `_metadata` file, not of Flink'),
    column('unaligned', BOOLEAN, 'whether it holds in-flight data'),
    column('total_size_in_bytes', BIGINT, 'all referenced bytes, each once, and `_metadata`'),
    column('new_size_in_bytes', BIGINT, 'bytes that this checkpoint added, where its handles say so'),
    column('channel_state_size_in_bytes', BIGINT, 'in-flight data'),
    column('metadata_size_in_bytes', BIGINT, 'bytes of `_metadata`'),
    column('self_contained', BOOLEAN, 'whether every file lies in its own directory'),
    column('relocatable', BOOLEAN, 'whether it can be moved: no absolute path in it'),
  ],
  examples: ['SELECT kind, format, flink_versions, total_size_in_bytes FROM snapshot'],
};

export function snapshotTable(snapshot: OpenedSnapshot): Table {
  return rowTable(SNAPSHOT, () => [snapshotRow(snapshot)], { count: () => 1 });
}

export function snapshotRow(snapshot: OpenedSnapshot): Row {
  const facts = snapshot.facts();
  return {
    path: facts.path,
    kind: facts.kind,
    format: facts.format,
    metadata_version: facts.metadataVersion,
    // the serializers in the headers of the state files narrow it: they are read only for who asks
    get flink_versions() {
      return snapshot.flinkVersions().text;
    },
    checkpoint_id: BigInt(facts.checkpointId),
    checkpoint_type: facts.checkpointType,
    modified_at: facts.modifiedAtMillis === null ? null : Timestamp.ofMillis(BigInt(facts.modifiedAtMillis)),
    unaligned: facts.unaligned,
    total_size_in_bytes: BigInt(facts.totalBytes),
    new_size_in_bytes: facts.newBytes === null ? null : BigInt(facts.newBytes),
    channel_state_size_in_bytes: BigInt(facts.channelBytes),
    metadata_size_in_bytes: BigInt(facts.metadataBytes),
    self_contained: facts.selfContained,
    relocatable: facts.relocatable,
  };
}
