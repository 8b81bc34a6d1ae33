/**
 * Sinks of the old kind: states under names of their own.
 *
 *   state        TwoPhaseCommitSinkFunction: transactions open and waiting for their commit. Of Kafka's legacy producer where the
 *                serializer of the transaction is its own; otherwise a user's
 *   bucket-states                   byte[]: i32 version · i32 len · bucket (file-sink.ts)
 *   remaining_compact_commit_raw_state, remaining_requests_raw_state   byte[]: FileSink's compaction (file-sink.ts)
 *   iceberg-files-committer-state   SortedMap(Long checkpoint, byte[] manifests)
 *
 * Flink: TwoPhaseCommitSinkFunction, FlinkKafkaProducer, StreamingFileSink (1.x), IcebergFilesCommitter.
 */
import { StateQueryError } from '../errors.js';
import { jsonOf } from '../io/json.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import { MapValue, type SqlType, Struct, type Value } from '../types.js';
import { readVersioned, readWhole, type Versioned } from './bytes.js';
import { RawJson } from './details.js';
import { decodeBucketState, decodeCompactorCommittable, decodeCompactorRequests } from './file-sink.js';
import type { SinkItem } from './format.js';
import { decodeManifests } from './iceberg.js';

export interface LegacySink {
  /** By the state's name or its serializer. */
  matches(state: string, serializer: SerializerSnapshot | undefined): boolean;
  read(
    bytes: Uint8Array,
    type: SqlType,
    value: () => Value | undefined,
  ): { readonly connector: string | null; readonly items: readonly SinkItem[] };
}

const TWO_PHASE_COMMIT: LegacySink = {
  matches: (_state, serializer) => serializer?.text.startsWith('TwoPhaseCommit(') === true,
  read(_bytes, type, read) {
    const value = read();
    if (value === undefined) return { connector: null, items: [] };
    if (type.kind !== 'STRUCT' || !(value instanceof Struct)) return { connector: null, items: [rest(type, value)] };
    const [pending, pendingCommit] = value.values;
    const [pendingType, listType] = type.fields.map(f => f.type);
    const elementType = listType?.kind === 'LIST' ? listType.element : listType;
    const transactions = [
      ...(pending === null ? [] : [{ type: pendingType, value: pending, state: 'pending' }]),
      ...(Array.isArray(pendingCommit) ? (pendingCommit as readonly Value[]) : []).map(v => ({
        type: elementType,
        value: v,
        state: 'pre-committed',
      })),
    ];
    const kafka = isKafka(pendingType);
    return {
      connector: kafka ? 'kafka' : null,
      items: transactions.map(t => ({ state: t.state, ...transaction(t.type, t.value), details: new RawJson(jsonOf(t.type, t.value)) })),
    };
  },
};

const rest = (type: SqlType, value: Value): SinkItem => ({ details: new RawJson(jsonOf(type, value)) });
const KAFKA_FIELDS = ['transactional_id', 'producer_id', 'epoch'];

/** FlinkKafkaProducer's transactions have exactly these fields (kafka-producer.ts). */
function isKafka(type: SqlType): boolean {
  return type.kind === 'STRUCT' && type.fields.map(f => f.name).join() === KAFKA_FIELDS.join();
}

function transaction(type: SqlType, value: Value): Partial<SinkItem> {
  if (!isKafka(type) || !(value instanceof Struct)) return {};
  const [id, producer, epoch] = value.values;
  return {
    transactionId: typeof id === 'string' ? id : null,
    producerId: typeof producer === 'bigint' ? producer : null,
    epoch: typeof epoch === 'number' ? epoch : null,
  };
}

/** States of byte arrays, each a version, a length and what `decode` reads. */
function fileSink(state: string, decode: (entry: Versioned) => SinkItem[]): LegacySink {
  return {
    matches: name => name === state,
    read(bytes, type, read) {
      try {
        // the element is a byte[]: i32 length, bytes
        return { connector: 'filesystem', items: decode(readWhole(bytes.subarray(4), 'entry', c => readVersioned(c, 'entry'))) };
      } catch (error) {
        if (!(error instanceof StateQueryError)) throw error;
        const value = read();
        return { connector: null, items: value === undefined ? [] : [rest(type, value)] };
      }
    },
  };
}
const FILE_SINKS = [
  fileSink('bucket-states', decodeBucketState),
  fileSink('remaining_compact_commit_raw_state', decodeCompactorCommittable),
  fileSink('remaining_requests_raw_state', decodeCompactorRequests),
];

const ICEBERG_FILES_COMMITTER: LegacySink = {
  matches: state => state === 'iceberg-files-committer-state',
  read(_bytes, type, read) {
    const value = read();
    if (value === undefined) return { connector: null, items: [] };
    if (!(value instanceof MapValue)) return { connector: 'iceberg', items: [rest(type, value)] };
    const items = value.entries.map(([checkpoint, manifests]): SinkItem => {
      const bytes = manifests instanceof Uint8Array ? manifests : new Uint8Array(0);
      return {
        checkpointId: typeof checkpoint === 'bigint' ? checkpoint : null,
        state: 'pending',
        details: { manifest: decodeManifests(bytes), manifest_hex: bytes },
      };
    });
    return { connector: 'iceberg', items };
  },
};

export const LEGACY_SINKS: readonly LegacySink[] = [TWO_PHASE_COMMIT, ...FILE_SINKS, ICEBERG_FILES_COMMITTER];
