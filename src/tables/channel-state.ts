/**
 * channel_state and channel_records: data that was in flight when an unaligned checkpoint was taken.
 *
 *   channel_state     a row a channel, out of `_metadata` alone; size_bytes adds up to operators.channel_state_size_in_bytes
 *   channel_records   a row an element; each byte of a channel is in one row. Elements that are cut (they begin or end on the other
 *                     side of the connection) have complete = false
 *
 * Nothing in a snapshot says which serializer wrote the records: their value is bytes. Watermarks, statuses, latency markers and
 * attributes are of a known form. Layouts: state/channel.ts.
 */

import type { ChannelHandle } from '../checkpoint/handles.js';
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { opaqueJson } from '../serializers/opaque.js';
import { type ChannelElement, type ChannelReader, openChannel, openChannels } from '../state/channel.js';
import type { StateContext } from '../state/entry.js';
import { BIGINT, BLOB, BOOLEAN, INTEGER, JSON_TYPE, JsonText, VARCHAR } from '../types.js';
import { operatorScope } from './explain.js';
import { isDamage } from './keyed-rows.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, OPERATOR_COLUMNS, SUBTASK_INDEX } from './spec.js';
import type { OperatorView } from './states.js';
import type { Filter, Table, TableSpec } from './table.js';

const CHANNEL_COLUMNS = [
  ...OPERATOR_COLUMNS,
  SUBTASK_INDEX,
  column('direction', VARCHAR, 'input or output'),
  column('gate_or_partition', INTEGER, 'input gate or result partition'),
  column('channel_index', INTEGER, 'input channel or result subpartition'),
  column('buffers', BIGINT, 'buffers of the channel'),
  column('size_bytes', BIGINT, 'bytes of the channel, with the 4 of each buffer that say its length'),
];

export const CHANNEL_STATE: TableSpec = {
  name: 'channel_state',
  aliases: ['ChannelState'],
  description: 'one row for each channel with in-flight data of an unaligned checkpoint',
  columns: CHANNEL_COLUMNS,
  examples: ['SELECT operator_name, direction, sum(buffers), sum(size_bytes) FROM channel_state GROUP BY ALL ORDER BY 4 DESC'],
};
export const CHANNEL_RECORDS: TableSpec = {
  name: 'channel_records',
  aliases: ['ChannelRecords'],
  description: 'one row for each record, watermark or other stream element in flight',
  columns: [
    ...CHANNEL_COLUMNS,
    column('record_index', BIGINT, 'position in the channel, from 0'),
    column(
      'record_kind',
      VARCHAR,
      'record, watermark, latency-marker, watermark-status, record-attributes, internal-watermark, or continuation: the end of an element that began on the other side',
    ),
    column('value', JSON_TYPE, 'value; of records the bytes, as nothing tells their serializer'),
    column('value_bytes', BLOB, 'bytes behind kind and timestamp'),
    column('complete', BOOLEAN, 'false: the element is cut, its other part is on the other side of the connection'),
    column('record_timestamp_ms', BIGINT, 'timestamp of a record that has one, or of a watermark; milliseconds since 1970'),
  ],
  examples: ["SELECT operator_name, count(*) FROM channel_records WHERE record_kind = 'record' GROUP BY operator_name"],
};

interface Channel {
  readonly view: OperatorView;
  readonly subtask: number;
  readonly handle: ChannelHandle;
  readonly context: StateContext;
}

function channelsOf(snapshot: OpenedSnapshot): Channel[] {
  return snapshot.operators.flatMap(view =>
    view.operator.subtasks.flatMap(({ index, channels }) => {
      const context = snapshot.contextOf({ operator: view, subtask: index });
      return channels.map(handle => ({ view, subtask: index, handle, context }));
    }),
  );
}

export function channelStateTable(snapshot: OpenedSnapshot): Table {
  return rowTable(CHANNEL_STATE, () => channelsOf(snapshot).map(channelRow), { count: () => channelsOf(snapshot).length });
}

function channelRow({ view, subtask, handle }: Channel): Row {
  return {
    operator_id: view.id,
    operator_uid: view.uid,
    operator_name: view.name,
    subtask_index: subtask,
    direction: handle.direction,
    gate_or_partition: handle.gateOrPartition,
    channel_index: handle.channelIndex,
    buffers: BigInt(handle.offsets.length),
    size_bytes: BigInt(handle.size),
  };
}

export function channelRecordsTable(snapshot: OpenedSnapshot): Table {
  return rowTable(CHANNEL_RECORDS, filters => recordRows(snapshot, filters), {
    scope: filters => operatorScope(snapshot, filters),
  });
}

function* recordRows(snapshot: OpenedSnapshot, filters: readonly Filter[]): Generator<Row> {
  const { skipDamaged, damaged, stats } = snapshot.pumpContext;
  const pass = (error: unknown): void => {
    if (!(error instanceof StateQueryError) || !skipDamaged || !isDamage(error)) throw error;
    damaged(error);
  };
  const channels = channelsOf(snapshot);
  const opened = openAll(channels, pass, skipDamaged);
  try {
    for (let i = 0; i < channels.length; i++) {
      const channel = channels[i];
      const reader = opened[i];
      if (reader === undefined || !operatorMightMatch(channel.view, filters)) continue;
      const row = channelRow(channel);
      try {
        for (const element of reader.elements()) {
          stats.entriesDecoded++;
          yield recordRow(row, element);
        }
      } catch (error) {
        pass(error);
      }
    }
  } finally {
    for (const reader of opened) reader?.close();
  }
}

/** All channels together, as the cut elements of one tell where those of another begin; damaged ones alone where that is asked for. */
function openAll(channels: readonly Channel[], pass: (error: unknown) => void, skip: boolean): (ChannelReader | undefined)[] {
  if (!skip) return openChannels(channels);
  try {
    return openChannels(channels);
  } catch {
    return channels.map(({ handle, context }) => {
      try {
        return openChannel(handle, context);
      } catch (error) {
        pass(error);
        return undefined;
      }
    });
  }
}

function recordRow(channel: Row, element: ChannelElement): Row {
  const bytes = element.bytes.slice(element.start, element.end);
  return {
    ...channel,
    record_index: BigInt(element.index),
    record_kind: element.kind,
    value: new JsonText(elementJson(element, bytes)),
    value_bytes: bytes,
    complete: element.complete,
    record_timestamp_ms: element.timestamp ?? null,
  };
}

function elementJson({ kind, complete }: ChannelElement, bytes: Uint8Array): string {
  const c = new Cursor(bytes);
  if (complete)
    switch (kind) {
      case 'watermark':
        return `{"timestamp":${c.i64()}}`;
      case 'internal-watermark':
        return `{"subpartition":${c.i32()},"timestamp":${c.i64()}}`;
      case 'watermark-status': {
        const status = c.i32();
        return `{"status":${status === 0 ? '"active"' : status === -1 ? '"idle"' : status}}`;
      }
      case 'record-attributes':
        return `{"backlog":${c.u8() !== 0}}`;
      case 'latency-marker': {
        const marked = c.i64();
        const operator = Buffer.from(bytes.subarray(8, 24)).toString('hex');
        c.position = 24;
        return `{"marked_at":${marked},"operator_id":"${operator}","subtask":${c.i32()}}`;
      }
      default:
    }
  return opaqueJson('unknown', bytes);
}
