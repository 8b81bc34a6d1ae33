/**
 * Bytes that the connectors' own serializers wrote (written/bytes.txt: name, version, hex; by the programs in written/java), and what
 * was handed to them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Versioned } from '../../src/connectors/bytes.js';
import { detailsJson } from '../../src/connectors/details.js';
import { decodeCommittables, decodeSource, decodeWriterStates } from '../../src/connectors/detect.js';
import { decodeBucketState, decodeCompactorRequests } from '../../src/connectors/file-sink.js';
import { LEGACY_SINKS } from '../../src/connectors/legacy-sinks.js';
import { LEGACY_SOURCES } from '../../src/connectors/legacy-sources.js';
import { Cursor } from '../../src/io/cursor.js';
import { jsonOf } from '../../src/io/json.js';
import { JAVA_CODEC } from '../../src/serializers/java-serializer.js';
import { readVersionedSnapshot } from '../../src/serializers/registry.js';

const BYTES = new Map<string, Versioned[]>();
for (const line of readFileSync(join(import.meta.dirname, 'written/bytes.txt'), 'utf8')
  .trim()
  .split('\n')) {
  const [name, version, hex] = line.split(' ');
  BYTES.set(name, [...(BYTES.get(name) ?? []), { version: Number(version), bytes: new Uint8Array(Buffer.from(hex, 'hex')) }]);
}
const bytesOf = (name: string): Versioned[] => BYTES.get(name) ?? [];
const json = (details: Parameters<typeof detailsJson>[0]): unknown => JSON.parse(detailsJson(details));

const source = (splits: string, enumerator?: string, names: string[] = []) =>
  decodeSource({ splits: bytesOf(splits), enumerator: enumerator === undefined ? undefined : bytesOf(enumerator)[0], names });

describe('Pulsar', () => {
  const decoded = source('pulsar-split', 'pulsar-enumerator');
  it('splits', () => {
    expect(decoded?.connector).toBe('pulsar');
    expect(decoded?.splits?.map(s => [s.splitId, s.topic, s.partition])).toEqual([
      ['persistent://public/default/ord-ž-partition-3', 'persistent://public/default/ord-ž', 3],
      ['persistent://public/default/plain', 'persistent://public/default/plain', null],
      ['persistent://public/default/plain', 'persistent://public/default/plain', null],
    ]);
    const details = decoded?.splits?.map(s => json(s.details)) as Record<string, Record<string, unknown>>[];
    expect(details[0]).toMatchObject({
      ranges: [
        { start: 0, end: 100 },
        { start: 200, end: 65535 },
      ],
      latest_consumed_id: { ledger_id: 12345678901, entry_id: 77, partition: 3 },
      uncommitted_transaction_id: '(1,-2)',
    });
    expect(details[1]).toMatchObject({
      stop_cursor: { $class: expect.stringContaining('EventTimestampStopCursor'), timestamp: 1700000000000 },
      latest_consumed_id: { ledger_id: 5, entry_id: 6, batch_index: 7 },
      uncommitted_transaction_id: null,
    });
    expect(details[2]).toMatchObject({ stop_cursor: { messageId: null }, latest_consumed_id: null });
  });
  it('enumerator', () => {
    expect(decoded?.enumerator?.splits.map(s => [s.holder, s.split.splitId])).toEqual([
      ['enumerator-assigned', 'persistent://public/default/ord-ž-partition-3'],
      ['enumerator-assigned', 'persistent://public/default/plain'],
    ]);
  });
  it('committable', () => {
    const sink = decodeCommittables(bytesOf('pulsar-committable'), []);
    expect(sink?.connector).toBe('pulsar');
    expect(sink?.items).toEqual([
      {
        transactionId: '(4,9223372036854775807)',
        details: { transaction_id: '(4,9223372036854775807)', topic: 'persistent://public/default/out' },
      },
    ]);
  });
});

describe('AWS', () => {
  it('Kinesis splits', () => {
    const decoded = source('kinesis-split');
    expect(decoded?.connector).toBe('kinesis');
    expect(decoded?.splits?.map(s => [s.splitId, s.topic, s.marker])).toEqual([
      ['shardId-000000000001', 'orders', 'earliest'],
      ['shardId-000000000002', 'orders', null],
      ['shardId-000000000003', 'orders', null],
    ]);
    expect(decoded?.splits?.map(s => json(s.details))).toMatchObject([
      { iterator_type: 'TRIM_HORIZON', starting_marker: null },
      { starting_marker: { sequence_number: '49590338271490256608559692538361571095921575989136588898' } },
      { iterator_type: 'AT_TIMESTAMP', starting_marker: { timestamp_ms: 1700000000123 } },
    ]);
  });
  it('SQS requests, by the name of the operator: Kinesis ones look alike', () => {
    expect(decodeWriterStates(bytesOf('sqs-writer'), ['sink-1'])).toBeUndefined();
    const sink = decodeWriterStates(bytesOf('sqs-writer'), ['sqs-out: Writer']);
    expect(sink?.connector).toBe('sqs');
    expect(sink?.items).toEqual([[{ state: 'buffered', details: { size_in_bytes: 8, body: 'hello ž', id: 'id-1' } }]]);
  });
  it('DynamoDB requests', () => {
    const sink = decodeWriterStates(bytesOf('dynamodb-writer'), []);
    expect(sink?.connector).toBe('dynamodb');
    expect(sink?.items[0].map(i => detailsJson(i.details))).toEqual([
      '{"size_in_bytes":1,"type":"PUT","item":{"s":"text ž","n":12345678901234567890.5,"bool":true,"nul":null,"b":"0001ff",' +
        '"ss":["a","b"],"ns":[1,2.5],"bs":["09"],"l":["x",1],"m":{"k":"v"}}}',
      '{"size_in_bytes":1,"type":"DELETE","item":{"id":7}}',
    ]);
  });
});

describe('Postgres CDC', () => {
  const decoded = source('postgres-split', 'postgres-enumerator');
  const offset = (lsn: string) => ({ lsn, txId: '555', ts_usec: '1700000000000000' });
  it('splits', () => {
    expect(decoded?.connector).toBe('postgres-cdc');
    expect(decoded?.splits?.map(s => [s.splitId, s.stored])).toEqual([
      ['public.objednávky:4', undefined],
      ['stream-split', 100n],
    ]);
    const [snapshot, stream] = (decoded?.splits ?? []).map(s => json(s.details)) as Record<string, unknown>[];
    expect(snapshot).toMatchObject({
      kind: 'snapshot',
      table: '"public"."objednávky"',
      split_key_type: 'ROW<`id` BIGINT>',
      split_start: [10],
      split_end: null,
      high_watermark: offset('9223372036854775806'),
      table_schemas: [],
    });
    expect(stream).toMatchObject({
      starting_offset: offset('100'),
      ending_offset: { lsn: '-1' },
      finished_splits: [{ table: 'public.objednávky', split_id: 'public.objednávky:0', split_start: null, split_end: [10] }],
      total_finished_split_size: 1,
      is_suspended: false,
      is_snapshot_completed: true,
    });
  });
  it('enumerator', () => {
    expect(decoded?.enumerator?.splits.map(s => [s.holder, s.split.splitId])).toEqual([
      ['enumerator-unassigned', 'public.objednávky:5'],
      ['enumerator-assigned', 'public.objednávky:4'],
      ['enumerator-unassigned', 'stream-split'],
    ]);
    expect(json(decoded?.enumerator?.facts ?? null)).toMatchObject({
      kind: 'hybrid',
      already_processed_tables: ['"public"."done"'],
      remaining_tables: ['"public"."todo"'],
      split_finished_offsets: [{ split_id: 'public.objednávky:4', offset: offset('123') }],
      assigner_status: 'NEWLY_ADDED_ASSIGNING',
      is_table_id_case_sensitive: true,
      split_finished_checkpoint_ids: [{ split_id: 'public.objednávky:4', checkpoint_id: 12 }],
      chunk_splitter_state: { next_chunk_start: [30], next_chunk_id: 6 },
      is_stream_split_assigned: false,
    });
  });
});

describe('RabbitMQ', () => {
  it('messages not acknowledged, by checkpoint', () => {
    const rabbit = LEGACY_SOURCES.find(f => f.state.test('message-acknowledging-source-state'));
    const [{ bytes }] = bytesOf('rabbitmq');
    const splits = rabbit?.read(JAVA_CODEC.type, [JAVA_CODEC.read(new Cursor(bytes))], 'message-acknowledging-source-state') ?? [];
    const sorted = splits.map(s => ({ ...s.details, unacknowledged_ids: [...(s.details['unacknowledged_ids'] as string[])].sort() }));
    expect(sorted).toEqual([
      { checkpoint_id: 41, unacknowledged_ids: ['msg-2', 'msg-ž'] },
      { checkpoint_id: 42, unacknowledged_ids: [] },
    ]);
  });
});

describe('Kafka 5.0', () => {
  it('writer states v2', () => {
    const sink = decodeWriterStates(bytesOf('kafka-writer'), []);
    expect(sink?.connector).toBe('kafka');
    const details = {
      transactional_id_prefix: 'pre-ž',
      owned_subtask_id: 2,
      total_owned_subtasks: 5,
      transaction_ownership: 'EXPLICIT_BY_WRITER_STATE',
    };
    expect(sink?.items).toEqual([
      [
        { state: 'writer', details },
        { state: 'pre-committed', checkpointId: 7n, transactionId: 'pre-ž-2-7', details },
        { state: 'pre-committed', checkpointId: 8n, transactionId: 'pre-ž-2-8', details },
      ],
      [
        {
          state: 'writer',
          details: {
            transactional_id_prefix: 'kafka-sink',
            owned_subtask_id: 0,
            total_owned_subtasks: 1,
            transaction_ownership: 'IMPLICIT_BY_SUBTASK_ID',
          },
        },
      ],
    ]);
  });
  it('dynamic enumerator v2: with the offsets initializers of each cluster', () => {
    const decoded = source('none', 'dynamic-kafka-enumerator');
    expect(decoded?.connector).toBe('dynamic-kafka');
    const rows = [...(decoded?.enumerator?.splits ?? [])].sort((a, b) => String(a.split.splitId).localeCompare(String(b.split.splitId)));
    expect(rows.map(({ holder, split }) => [holder, split.splitId, split.next, split.marker, split.stop])).toEqual([
      ['enumerator-assigned', 'cluster-a-t1-0', 42n, null, 100n],
      ['enumerator-unassigned', 'cluster-a-t2-1', null, 'earliest', null],
    ]);
    expect(json(decoded?.enumerator?.facts ?? null)).toMatchObject({
      streams: [
        {
          stream_id: 'stream-1',
          clusters: [
            {
              cluster_id: 'cluster-a',
              topics: ['t1', 't2'],
              bootstrap_servers: 'broker:9092',
              starting_offsets: { $class: expect.stringContaining('ReaderHandledOffsetsInitializer'), startingOffset: -2 },
              stopping_offsets: null,
            },
          ],
        },
      ],
      cluster_enumerators: [{ cluster_id: 'cluster-a', initial_discovery_finished: true }],
    });
  });
});

describe('Fluss 0.7', () => {
  const decoded = source('fluss-split', 'fluss-enumerator');
  it('splits', () => {
    expect(decoded?.connector).toBe('fluss');
    expect(decoded?.splits?.map(s => [s.partition, s.next, s.marker, s.stop])).toEqual([
      [3, 500n, null, 900n],
      [0, null, 'earliest', null],
      [1, 1000n, null, null],
    ]);
    expect(decoded?.splits?.map(s => json(s.details))).toMatchObject([
      { kind: 'log', table_id: 17, bucket: 3 },
      { kind: 'log', partition_id: 4, partition_name: '2024-ž' },
      { kind: 'snapshot', snapshot_id: 88, records_to_skip: 12, is_snapshot_finished: false },
    ]);
  });
  it('enumerator', () => {
    expect(decoded?.enumerator?.splits.map(s => [s.holder, s.split.partition])).toEqual([
      ['enumerator-assigned', 3],
      ['enumerator-assigned', 0],
    ]);
  });
});

describe('files', () => {
  it('committables: to commit, to clean up', () => {
    const sink = decodeCommittables(bytesOf('file-committable'), []);
    expect(sink?.connector).toBe('filesystem');
    expect(sink?.items.map(i => i.transactionId)).toEqual(['file:/data/b=ž/part-0', 'file:/data/b=ž/part-0', 'file:/data/b=ž/compacted-0']);
    const recoverable = { file_system: 'local', offset: 123, target: '/data/b=ž/part-0', temporary_file: '/data/b=ž/.part-0.inprogress' };
    expect(sink?.items.map(i => json(i.details))).toEqual([
      { bucket_id: 'b=ž', pending: { path: 'file:/data/b=ž/part-0', size: 123, recoverable } },
      { bucket_id: 'b=ž', in_progress_to_clean_up: { path: 'file:/data/b=ž/part-0', recoverable } },
      { bucket_id: 'b=ž', compacted_to_clean_up: 'file:/data/b=ž/compacted-0' },
    ]);
  });
  it('requests of a compaction', () => {
    const items = decodeCompactorRequests(bytesOf('compactor-requests')[0]);
    expect(items.map(i => [i.checkpointId, i.state, i.transactionId])).toEqual([
      [7n, 'to-compact', 'file:/data/b=ž/part-0'],
      [7n, 'to-compact', 'file:/data/b=ž/part-0'],
      [7n, 'to-pass-through', 'file:/data/b=ž/compacted-0'],
    ]);
  });
  it('a bucket of StreamingFileSink: its file in progress, pending ones by checkpoint', () => {
    const items = decodeBucketState(bytesOf('bucket-state')[0]);
    expect(items.map(i => [i.state, i.checkpointId, i.transactionId])).toEqual([
      ['in-progress', undefined, 'file:/data/b=ž/part-0'],
      ['pending', 5n, 'file:/data/b=ž/part-0'],
      ['pending', 5n, 'file:/data/b=ž/part-0'],
    ]);
    expect(json(items[0].details)).toMatchObject({ bucket_id: 'b=ž', bucket_path: 'file:/data/b=ž', creation_time: 1700000000000 });
  });
});

describe('HybridSource', () => {
  it('with a Kafka split inside is Kafka', () => {
    const decoded = source('hybrid-split');
    expect(decoded?.splits?.map(s => [s.connector, s.splitId, s.topic, s.partition, s.next])).toEqual([
      ['kafka', 'orders-3', 'orders', 3, 42n],
    ]);
    expect(json(decoded?.splits?.[0].details ?? null)).toMatchObject({
      source_index: 1,
      wrapped: { topic: 'orders', starting_offset: 42 },
    });
  });
});

describe('legacy Kafka producer', () => {
  const snapshotOf = (name: string) => {
    const c = new Cursor(bytesOf(`${name}-snapshot`)[0].bytes);
    const snapshot = readVersionedSnapshot(c);
    c.expectEnd('the snapshot');
    return snapshot;
  };
  it('transactions, open and waiting for their commit', () => {
    const snapshot = snapshotOf('legacy-kafka-state');
    const codec = snapshot.codec({ flinkMajor: 1 });
    expect(codec.opaque).toBeUndefined();
    const sink = LEGACY_SINKS.find(s => s.matches('state', snapshot))!;
    const c = new Cursor(bytesOf('legacy-kafka-state')[0].bytes);
    const value = codec.read(c);
    c.expectEnd('the state');
    const { connector, items } = sink.read(c.bytes, codec.type, () => value);
    expect(connector).toBe('kafka');
    expect(items.map(i => [i.state, i.transactionId, i.producerId, i.epoch])).toEqual([
      ['pending', 'txn-ž-1', 9223372036854775807n, 7],
      ['pre-committed', 'txn-ž-0', 5n, 32767],
      ['pre-committed', null, -1n, -1],
    ]);
  });
  it('hint of the next id', () => {
    const codec = snapshotOf('legacy-kafka-hint').codec({ flinkMajor: 1 });
    const value = codec.read(new Cursor(bytesOf('legacy-kafka-hint')[0].bytes));
    expect(JSON.parse(jsonOf(codec.type, value))).toEqual({ next_free_transactional_id: 123456789012, last_parallelism: 4 });
  });
});
