/**
 * Sizes as Flink reports them: StateObject.getStateSize() of every kind of handle, OperatorState.getStateSize(), and the columns of
 * the SQL function savepoint_metadata. They count what the handles say: a file that two handles share counts twice here
 * (`references.ts` counts each byte once).
 *
 *   inline        length of the bytes                 key groups, operator   the stream's
 *   file, segment the size written                    incremental            meta + shared + private
 *   changelog     materialized + non-materialized     changelog in memory    lengths of the changes
 *   channel       the size written; a merged entry's own size, once for all of its channels
 *
 * Flink: classes under org.apache.flink.runtime.state, org.apache.flink.runtime.checkpoint.OperatorState (1.20.5, 2.3.0).
 */
import type { ChannelHandle, KeyedHandle, MergedChannels, Metadata, Operator, StreamHandle, Subtask } from './handles.js';

/** Bytes behind a stream handle; -1 when Flink did not know. */
export function streamSize(stream: StreamHandle): number {
  switch (stream.kind) {
    case 'inline':
      return stream.bytes.length;
    case 'file':
    case 'relative':
    case 'segment':
      return stream.size;
    case 'empty-segment':
      return 0;
    case 'key-groups-stream':
      return streamSize(stream.handle.stream);
  }
}

const sum = <T>(items: readonly T[], size: (item: T) => number): number => items.reduce((total, item) => total + size(item), 0);

/** KeyedStateHandle.getStateSize(). */
export function keyedSize(handle: KeyedHandle): number {
  switch (handle.kind) {
    case 'key-groups':
      return streamSize(handle.stream);
    case 'incremental':
      return streamSize(handle.meta) + sum(handle.shared, f => streamSize(f.stream)) + sum(handle.private, f => streamSize(f.stream));
    case 'changelog':
      return sum(handle.materialized, keyedSize) + sum(handle.nonMaterialized, keyedSize);
    case 'changelog-memory':
      return sum(handle.changes, change => change.bytes.length);
    case 'changelog-stream':
      return handle.size;
  }
}

/** KeyedStateHandle.getCheckpointedSize(): bytes that this checkpoint wrote; the whole size where the handle does not say (tag 5, -1). */
export function keyedCheckpointedSize(handle: KeyedHandle): number {
  const own = 'checkpointedSize' in handle ? handle.checkpointedSize : undefined;
  return own === undefined || own < 0 ? keyedSize(handle) : own;
}

/** Whether a keyed handle says what the checkpoint wrote: full ones wrote all of it. */
function saysCheckpointedSize(handle: KeyedHandle | undefined): boolean {
  if (handle === undefined || handle.kind === 'key-groups' || handle.kind === 'changelog-memory') return true;
  return handle.checkpointedSize !== undefined && handle.checkpointedSize >= 0;
}

/** Bytes of channel state, merged entries once. */
export function channelsSize(channels: readonly ChannelHandle[]): number {
  const seen = new Set<MergedChannels>();
  return sum(channels, channel => {
    if (channel.merged === undefined) return channel.size;
    if (seen.has(channel.merged)) return 0;
    seen.add(channel.merged);
    return channel.merged.size;
  });
}

/** OperatorSubtaskState.getStateSize(). */
export function subtaskSize(subtask: Subtask): number {
  return (
    (subtask.managedOperator === undefined ? 0 : streamSize(subtask.managedOperator.stream)) +
    (subtask.rawOperator === undefined ? 0 : streamSize(subtask.rawOperator.stream)) +
    (subtask.managedKeyed === undefined ? 0 : keyedSize(subtask.managedKeyed)) +
    (subtask.rawKeyed === undefined ? 0 : keyedSize(subtask.rawKeyed)) +
    channelsSize(subtask.channels)
  );
}

export interface OperatorSizes {
  /** subtasks that have an entry in `_metadata`, finished ones too */
  readonly subtaskStateCount: number;
  readonly coordinatorBytes: number;
  readonly channelBytes: number;
  /** OperatorState.getStateSize() */
  readonly totalBytes: number;
}

export function operatorSizes(operator: Operator): OperatorSizes {
  const coordinatorBytes = operator.coordinator === undefined ? 0 : streamSize(operator.coordinator);
  return {
    subtaskStateCount: operator.subtasks.length,
    coordinatorBytes,
    channelBytes: sum(operator.subtasks, s => channelsSize(s.channels)),
    totalBytes: coordinatorBytes + sum(operator.subtasks, subtaskSize),
  };
}

export interface FinishedState {
  readonly finished: 'no' | 'partly' | 'fully';
  readonly finishedSubtasks: number;
}

/** Which subtasks had finished before the snapshot (1.14+). A fully finished operator has no entries for its subtasks. */
export function finishedState(operator: Operator): FinishedState {
  if (operator.fullyFinished) return { finished: 'fully', finishedSubtasks: operator.parallelism };
  const finishedSubtasks = operator.subtasks.filter(s => s.finished).length;
  if (finishedSubtasks === 0) return { finished: 'no', finishedSubtasks };
  return { finished: finishedSubtasks === operator.parallelism ? 'fully' : 'partly', finishedSubtasks };
}

/** OperatorSubtaskState.getCheckpointedSize(): as subtaskSize, with what this checkpoint wrote of the keyed state. */
function subtaskCheckpointedSize(subtask: Subtask): number {
  const managed = subtask.managedKeyed === undefined ? 0 : keyedCheckpointedSize(subtask.managedKeyed);
  const raw = subtask.rawKeyed === undefined ? 0 : keyedCheckpointedSize(subtask.rawKeyed);
  return subtaskSize({ ...subtask, managedKeyed: undefined, rawKeyed: undefined }) + managed + raw;
}

/**
 * OperatorState.getCheckpointedSize(): bytes that the checkpoint wrote for the operator. It is what savepoint_metadata shows as
 * `operator-total-size-in-bytes`; of incremental checkpoints it is less than the size of the state.
 */
export function operatorCheckpointedSize(operator: Operator): number {
  return (operator.coordinator === undefined ? 0 : streamSize(operator.coordinator)) + sum(operator.subtasks, subtaskCheckpointedSize);
}

/** Bytes that the checkpoint added, all operators together; undefined when a handle does not say (incremental ones before 1.15). */
export function newSize(metadata: Metadata): number | undefined {
  const said = metadata.operators.every(o =>
    o.subtasks.every(s => saysCheckpointedSize(s.managedKeyed) && saysCheckpointedSize(s.rawKeyed)),
  );
  return said ? sum(metadata.operators, operatorCheckpointedSize) : undefined;
}
