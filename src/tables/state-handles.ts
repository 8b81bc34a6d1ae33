/**
 * state_handles: one row for each stream handle that `_metadata` names, where it stands there and where its bytes lie now. No state
 * file is opened; whether files are there is asked of the file system.
 *
 * Class names are Flink's (org.apache.flink.runtime.state, 1.20 and 2.3); which tag stands for which class: state-handles.ts of
 * `checkpoint/`.
 */
import type { StreamHandle } from '../checkpoint/handles.js';
import { remoteScheme } from '../checkpoint/paths.js';
import { type StreamReference, streamReferences } from '../checkpoint/references.js';
import { BIGINT, BOOLEAN, INTEGER, VARCHAR } from '../types.js';
import { operatorScope } from './explain.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, OPERATOR_COLUMNS } from './spec.js';
import type { OperatorView } from './states.js';
import type { Table, TableSpec } from './table.js';

export const STATE_HANDLES: TableSpec = {
  name: 'state_handles',
  aliases: ['StateHandles'],
  description: 'one row for each stream handle of the metadata: whose it is, what it holds, where its bytes lie',
  columns: [
    ...OPERATOR_COLUMNS,
    column('subtask_index', INTEGER, 'subtask; NULL for the coordinator'),
    column(
      'slot',
      VARCHAR,
      'managed-keyed, raw-keyed, managed-operator, raw-operator, input-channel, output-channel, coordinator or legacy',
    ),
    column('role', VARCHAR, 'what the stream is to its handle: keyed, raw-keyed, operator, meta, shared, private, changelog, channel, …'),
    column('handle_class', VARCHAR, "Flink's class of the handle that holds the stream"),
    column('stream_class', VARCHAR, "Flink's class of the stream handle"),
    column('first_key_group', INTEGER, 'first key group of the handle; NULL unless it is keyed'),
    column('last_key_group', INTEGER, 'last key group of the handle, inclusive'),
    column('materialized', BOOLEAN, 'under a changelog: whether it belongs to the materialized state'),
    column('gate_or_partition', INTEGER, 'of a channel: input gate or result partition'),
    column('channel_index', INTEGER, 'of a channel: input channel or result subpartition'),
    column('local_name', VARCHAR, "RocksDB's or ForSt's name of the file (000012.sst)"),
    column('handle_path', VARCHAR, 'path as written; NULL for bytes inside the metadata'),
    column('path', VARCHAR, 'where the file lies now; NULL when it was not found'),
    column('present', BOOLEAN, 'whether it was found; NULL on another file system, where nothing was looked up'),
    column('segment_start', BIGINT, 'where the bytes begin in a merged file, or inside the metadata; NULL for whole files'),
    column('size_bytes', BIGINT, 'bytes, as the handle says; NULL when it does not know'),
    column('scope', VARCHAR, 'of a merged file: EXCLUSIVE or SHARED'),
  ],
  examples: ['SELECT role, count(*), sum(size_bytes) FROM state_handles GROUP BY role'],
};

const HANDLE_CLASSES: Readonly<Record<number, string>> = {
  3: 'KeyGroupsStateHandle',
  4: 'OperatorStreamStateHandle',
  5: 'IncrementalRemoteKeyedStateHandle',
  7: 'KeyGroupsSavepointStateHandle',
  9: 'InMemoryChangelogStateHandle',
  10: 'ChangelogStateHandleStreamImpl',
  11: 'IncrementalRemoteKeyedStateHandle',
  12: 'KeyGroupsStateHandle',
  13: 'ChangelogStateHandleStreamImpl',
  17: 'FileMergingOperatorStreamStateHandle',
};
const STREAM_CLASSES: Readonly<Record<StreamHandle['kind'], string>> = {
  inline: 'ByteStreamStateHandle',
  file: 'FileStateHandle',
  relative: 'RelativeFileStateHandle',
  segment: 'SegmentFileStateHandle',
  'empty-segment': 'EmptySegmentFileStateHandle',
  'key-groups-stream': 'KeyGroupsStateHandle',
};

export function stateHandlesTable(snapshot: OpenedSnapshot): Table {
  const byOperator = new Map(snapshot.operators.map(o => [o.operator, o]));
  return rowTable(
    STATE_HANDLES,
    function* (filters) {
      for (const reference of streamReferences(snapshot.metadata)) {
        const view = byOperator.get(reference.operator) as OperatorView;
        if (operatorMightMatch(view, filters)) yield handleRow(snapshot, view, reference);
      }
    },
    {
      scope: filters => operatorScope(snapshot, filters),
      count: () => {
        let rows = 0;
        for (const _ of streamReferences(snapshot.metadata)) rows++;
        return rows;
      },
    },
  );
}

function handleRow(snapshot: OpenedSnapshot, view: OperatorView, r: StreamReference): Row {
  const { channel, keyGroups } = r;
  const stream = innermost(r.stream);
  const written = 'path' in stream ? stream.path : null;
  const resolved = snapshot.files.resolve(stream);
  const path = resolved !== undefined && 'path' in resolved ? resolved.path : null;
  return {
    operator_id: view.id,
    operator_uid: view.uid,
    operator_name: view.name,
    subtask_index: r.subtask < 0 ? null : r.subtask,
    slot: r.slot,
    role: r.role,
    handle_class: handleClass(r),
    stream_class: STREAM_CLASSES[r.stream.kind],
    first_key_group: keyGroups?.first ?? null,
    last_key_group: keyGroups === undefined ? null : keyGroups.first + keyGroups.count - 1,
    materialized: r.materialized ?? null,
    gate_or_partition: channel?.gateOrPartition ?? null,
    channel_index: channel?.channelIndex ?? null,
    local_name: r.localName ?? null,
    handle_path: written,
    path: written === null ? snapshot.metadataPath : path,
    present: written === null || path !== null ? true : remoteScheme(written) === undefined ? false : null,
    segment_start: stream.kind === 'segment' ? BigInt(stream.start) : stream.kind === 'inline' ? BigInt(stream.offset) : null,
    size_bytes: r.size < 0 ? null : BigInt(r.size),
    scope: stream.kind === 'segment' ? stream.scope : null,
  };
}

function innermost(stream: StreamHandle): StreamHandle {
  return stream.kind === 'key-groups-stream' ? innermost(stream.handle.stream) : stream;
}

function handleClass({ tag, channel }: StreamReference): string | null {
  if (channel === undefined) return tag === undefined ? null : (HANDLE_CLASSES[tag] ?? null);
  const merged = channel.merged === undefined ? '' : 'Merged';
  return channel.direction === 'input' ? `${merged}InputChannelStateHandle` : `${merged}ResultSubpartitionStateHandle`;
}
