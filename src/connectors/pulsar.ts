/**
 * Pulsar: topic partitions with the last message read, transactions of the sink.
 *
 *   partition            utf topic · i32 partition (−1: not partitioned) · i32 n × (i32 first, i32 last hash)
 *                          v0: one pair without a number · v1: as v2, and an i32 behind
 *   split v0–v2          partition · i32 len · Java StopCursor · bool [i32 len · message id] · bool [i64, i64 transaction]
 *   enumerator v1–v3     i32 n × partition (of split version 0, 1, 2)
 *              v0        … · i32 n × split · i32 n × (i32 subtask · splits) · i32 n × (i32 subtask · i32 m × utf) · bool
 *   committable v1       i64, i64 transaction · utf topic
 *   message id           protobuf MessageIdData: 1 ledger · 2 entry · 3 partition · 4 batch index · 6 batch size
 *
 * The message id is that of the last message read; the reader goes on behind it. Ids are pairs of 64 bits: `details`.
 * flink-connector-pulsar 3.0–4.1: PulsarPartitionSplitSerializer, PulsarSourceEnumStateSerializer, PulsarCommittableSerializer.
 */
import type { Cursor } from '../io/cursor.js';
import { javaDetails, readList, readName, readOptional, readWhole } from './bytes.js';
import type { Details, DetailsObject } from './details.js';
import type { SinkFormat, SourceFormat, Split } from './format.js';

interface Partition {
  readonly topic: string;
  readonly partition: number;
  readonly ranges: readonly DetailsObject[];
}

function readRange(c: Cursor): DetailsObject {
  const start = c.i32();
  const end = c.i32();
  if (start < 0 || end < start || end > 65535) c.fail(`range from ${start} to ${end}`);
  return { start, end };
}

function readPartition(c: Cursor, version: number): Partition {
  const topic = readName(c, 'topic');
  const partition = c.i32();
  if (partition < -1) c.fail(`partition ${partition}`);
  const ranges = version === 0 ? [readRange(c)] : readList(c, 'ranges', 8, () => readRange(c));
  if (version === 1) c.take(4, 'read mode');
  return { topic, partition, ranges };
}

function split({ topic, partition, ranges }: Partition, more: DetailsObject = {}): Split {
  const full = partition < 0 ? topic : `${topic}-partition-${partition}`;
  return {
    splitId: full,
    topic,
    partition: partition < 0 ? null : partition,
    details: { topic, partition, ranges, ...more },
  };
}

function readSplit(c: Cursor, version: number): Split {
  const partition = readPartition(c, version);
  const stop = javaDetails(c.slice(c.count('length of a stop cursor'), 'stop cursor'), 'stop cursor');
  const last = readOptional(c, () => readWhole(c.slice(c.count('length of a message id'), 'message id'), 'message id', readMessageId));
  const transaction = readOptional(c, () => readTransaction(c));
  return split(partition, { stop_cursor: stop, latest_consumed_id: last, uncommitted_transaction_id: transaction });
}

/** (most significant 64 bits, least significant 64 bits), as Pulsar prints them. */
function readTransaction(c: Cursor): string {
  const most = c.i64();
  return `(${most},${c.i64()})`;
}

const MESSAGE_ID = ['', 'ledger_id', 'entry_id', 'partition', 'batch_index', 'ack_set', 'batch_size'] as const;

/** MessageIdData of Pulsar's protocol: varint fields; signed ones as 64-bit two's complement. */
function readMessageId(c: Cursor): DetailsObject {
  const id: Record<string, Details> = {};
  while (c.remaining > 0) {
    const tag = c.varint('tag');
    const name = MESSAGE_ID[tag >>> 3];
    if ((tag & 7) !== 0) {
      // first_chunk_message_id
      if ((tag & 7) !== 2) c.fail(`field of wire type ${tag & 7}`);
      id[name ?? `field_${tag >>> 3}`] = readWhole(c.slice(c.varint('length'), 'field'), 'message id', readMessageId);
      continue;
    }
    let value = 0n;
    let shift = 0n;
    for (;;) {
      const b = c.u8();
      value |= BigInt(b & 0x7f) << shift;
      if (b < 0x80) break;
      shift += 7n;
      if (shift > 63n) c.fail('varint is too long');
    }
    id[name || `field_${tag >>> 3}`] = BigInt.asIntN(64, value);
  }
  if (id['ledger_id'] === undefined || id['entry_id'] === undefined) c.fail('message id without ledger and entry');
  return id;
}

export const PULSAR_SOURCE: SourceFormat = {
  connector: 'pulsar',
  hint: /pulsar/i,
  splitVersions: [0, 2],
  readSplit,
  enumeratorVersions: [0, 3],
  readEnumerator(c, version) {
    const partitionVersion = version <= 1 ? 0 : version - 1;
    const splits = readList(c, 'partitions', 10, () => ({
      holder: 'enumerator-assigned' as const,
      split: split(readPartition(c, partitionVersion)),
    }));
    if (version > 0) return { splits };
    const pending = readList(c, 'splits', 10, () => readSplit(c, 0));
    const bySubtask = readList(c, 'subtasks', 8, () => ({ subtask: c.i32(), splits: readList(c, 'splits', 10, () => readSplit(c, 0)) }));
    const assignment = readList(c, 'subtasks', 8, () => ({
      subtask: c.i32(),
      topics: readList(c, 'topics', 2, () => readName(c, 'topic')),
    }));
    return {
      splits: [
        ...splits,
        ...[...pending, ...bySubtask.flatMap(s => s.splits)].map(s => ({ holder: 'enumerator-unassigned' as const, split: s })),
      ],
      facts: { reader_assignment: assignment, initialized: c.bool() },
    };
  },
};

export const PULSAR_SINK: SinkFormat = {
  connector: 'pulsar',
  hint: /pulsar/i,
  committable: {
    versions: [1, 1],
    read(c) {
      const transactionId = readTransaction(c);
      return { transactionId, details: { transaction_id: transactionId, topic: readName(c, 'topic') } };
    },
  },
};
