/**
 * Sinks of the old kind: states under names of their own.
 *
 *   state        TwoPhaseCommitSinkFunction: transactions open and waiting for their commit. Of Kafka's legacy producer where the
 *                serializer of the transaction is its own; otherwise a user's
 *
 * Flink: TwoPhaseCommitSinkFunction, FlinkKafkaProducer (1.x).
 */
import { jsonOf } from '../io/json.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import { type SqlType, Struct, type Value } from '../types.js';
import { RawJson } from './details.js';
import type { SinkItem } from './format.js';

export interface LegacySink {
  matches(state: string, serializer: SerializerSnapshot | undefined): boolean;
  read(bytes: Uint8Array, type: SqlType, value: () => Value): { readonly connector: string | null; readonly items: readonly SinkItem[] };
}

const TWO_PHASE_COMMIT: LegacySink = {
  matches: (_state, serializer) => serializer?.text.startsWith('TwoPhaseCommit(') === true,
  read(_bytes, type, read) {
    const value = read();
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

export const LEGACY_SINKS: readonly LegacySink[] = [TWO_PHASE_COMMIT];
