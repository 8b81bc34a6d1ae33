/**
 * Sources of the old kind: a list state under a name of their own, in whose elements the position stands.
 *
 *   topic-partition-offset-states   Tuple2(Kryo KafkaTopicPartition {topic, partition}, Long): the last record read, or
 *                                   −915623761776 not set · …775 earliest · …774 latest · …773 committed group offset
 *   Kinesis-Stream-Shard-State      Tuple2(Pojo StreamShardMetadata, Kryo SequenceNumber {sequenceNumber, subSequenceNumber})
 *   offset-states                   byte[]: JSON {sourcePartition, sourceOffset} of Debezium; history-records-states beside it
 *   message-acknowledging-source-state   Java SerializedCheckpointData[] {checkpointId, serializedData, numIds}: RabbitMQ
 *   <field>-sequence-state          Long: numbers that a sequence field of DataGen will give yet, in their order
 *
 * Flink: FlinkKafkaConsumerBase (1.x), FlinkKinesisConsumer, DebeziumSourceFunction (Flink CDC), SequenceGenerator,
 * MessageAcknowledgingSourceBase (1.x).
 */
import { StateQueryError } from '../errors.js';
import { jsonOf } from '../io/json.js';
import { readFlinkString } from '../serializers/string.js';
import { type SqlType, Struct, type Value } from '../types.js';
import { isText, readWhole } from './bytes.js';
import { RawJson } from './details.js';
import type { Split } from './format.js';

export interface LegacySource {
  readonly connector: string;
  /** name of the state */
  readonly state: RegExp;
  /** Splits of the elements of one subtask. Elements of another type than the connector's give nothing but details. */
  read(type: SqlType, values: readonly Value[], state: string): readonly Split[];
}

const each =
  (read: (type: SqlType, value: Value) => Split): LegacySource['read'] =>
  (type, values) =>
    values.map(value => read(type, value));

const KAFKA_MARKERS: ReadonlyMap<bigint, Split['marker']> = new Map([
  [-915623761776n, null],
  [-915623761775n, 'earliest'],
  [-915623761774n, 'latest'],
  [-915623761773n, 'committed'],
]);

/** The members of a JSON object; undefined for anything else. */
function members(type: SqlType | undefined, value: Value | undefined): Readonly<Record<string, unknown>> | undefined {
  if (type === undefined || value === undefined || value === null) return undefined;
  const parsed: unknown = JSON.parse(jsonOf(type, value));
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Record<string, unknown>) : undefined;
}

function field(type: SqlType, value: Value, index: number): readonly [SqlType | undefined, Value | undefined] {
  return type.kind === 'STRUCT' && value instanceof Struct ? [type.fields[index]?.type, value.values[index]] : [undefined, undefined];
}

const undecoded = (type: SqlType, value: Value): Split => ({
  splitId: null,
  connector: null,
  details: { value: new RawJson(jsonOf(type, value)) },
});

const LEGACY_KAFKA: LegacySource = {
  connector: 'kafka',
  state: /^topic-partition-offset-states$/,
  read: each((type, value) => {
    const partition = members(...field(type, value, 0));
    const [, stored] = field(type, value, 1);
    const topic = partition?.['topic'];
    const number = partition?.['partition'];
    if (typeof topic !== 'string' || typeof number !== 'number' || typeof stored !== 'bigint') return undecoded(type, value);
    const marked = KAFKA_MARKERS.has(stored);
    return {
      splitId: `${topic}-${number}`,
      topic,
      partition: number,
      stored,
      next: marked || stored < -1n ? null : stored + 1n,
      marker: KAFKA_MARKERS.get(stored) ?? null,
      details: { topic, partition: number, stored_offset: stored, stored: stored === -915623761776n ? 'not set' : 'last record read' },
    };
  }),
};

const SEQUENCE_MARKERS: Readonly<Record<string, Split['marker']>> = {
  LATEST_SEQUENCE_NUM: 'latest',
  EARLIEST_SEQUENCE_NUM: 'earliest',
};

const LEGACY_KINESIS: LegacySource = {
  connector: 'kinesis',
  state: /^Kinesis-Stream-Shard-State$/,
  read: each((type, value) => {
    const shard = members(...field(type, value, 0));
    const sequence = members(...field(type, value, 1));
    const stream = shard?.['streamName'];
    const id = shard?.['shardId'];
    const text = sequence?.['sequenceNumber'];
    if (typeof stream !== 'string' || typeof id !== 'string' || typeof text !== 'string') return undecoded(type, value);
    return {
      splitId: id,
      topic: stream,
      marker: SEQUENCE_MARKERS[text] ?? null,
      details: { shard: new RawJson(JSON.stringify(shard)), sequence: new RawJson(JSON.stringify(sequence)) },
    };
  }),
};

/** Connectors by the keys of a Debezium offset. */
export function debeziumConnector(offset: Readonly<Record<string, unknown>>): string | undefined {
  if ('lsn' in offset || 'lsn_proc' in offset) return 'postgres-cdc';
  if ('resumeToken' in offset || 'resume_token' in offset || ('sec' in offset && 'ord' in offset)) return 'mongodb-cdc';
  if ('commit_lsn' in offset || 'change_lsn' in offset) return 'sqlserver-cdc';
  if ('scn' in offset) return 'oracle-cdc';
  if ('file' in offset && 'pos' in offset) return 'mysql-cdc';
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const LEGACY_DEBEZIUM: LegacySource = {
  connector: 'debezium',
  state: /^offset-states$/,
  read: each((type, value) => {
    if (!(value instanceof Uint8Array)) return undecoded(type, value);
    const text = Buffer.from(value).toString('utf8');
    let parsed: { sourcePartition?: unknown; sourceOffset?: unknown };
    try {
      parsed = JSON.parse(text) as typeof parsed;
    } catch {
      return undecoded(type, value);
    }
    const { sourcePartition, sourceOffset } = parsed ?? {};
    if (!isObject(sourcePartition) || !isObject(sourceOffset)) return undecoded(type, value);
    const offset = sourceOffset;
    const server = sourcePartition['server'];
    const connector = debeziumConnector(offset);
    return {
      splitId: typeof server === 'string' && isText(server) ? server : null,
      details: { offset: new RawJson(text) },
      ...(connector === undefined ? {} : { connector }),
    };
  }),
};

const DATAGEN_SEQUENCE: LegacySource = {
  connector: 'datagen',
  state: /-sequence-state$/,
  read(type, values, state) {
    const numbers = values.filter(v => typeof v === 'bigint');
    if (numbers.length < values.length || numbers.length === 0) return values.map(value => undecoded(type, value));
    const [next] = numbers;
    const field = state.slice(0, -'-sequence-state'.length);
    const last = numbers[numbers.length - 1];
    return [{ splitId: field, next, stored: next, details: { field, next, last, numbers_left: numbers.length } }];
  },
};

/** What was read and not yet acknowledged, by checkpoint. Ids are Flink strings, in no order. */
const RABBITMQ: LegacySource = {
  connector: 'rabbitmq',
  state: /^message-acknowledging-source-state$/,
  read: (type, values) =>
    values.flatMap(value => {
      const parsed: unknown = value === null ? undefined : JSON.parse(jsonOf(type, value));
      const checkpoints = Array.isArray(parsed) ? parsed.map(unacknowledged) : [undefined];
      return checkpoints.every(c => c !== undefined) ? checkpoints : [undecoded(type, value)];
    }),
};

function unacknowledged(checkpoint: unknown): Split | undefined {
  const { checkpointId, numIds, serializedData } = (checkpoint ?? {}) as Record<string, unknown>;
  if (typeof checkpointId !== 'number' || typeof numIds !== 'number' || typeof serializedData !== 'string') return undefined;
  try {
    const ids = readWhole(new Uint8Array(Buffer.from(serializedData, 'hex')), 'ids', c => {
      const read: (string | null)[] = [];
      for (let i = 0; i < numIds; i++) read.push(readFlinkString(c));
      return read;
    });
    return { splitId: null, details: { checkpoint_id: checkpointId, unacknowledged_ids: ids } };
  } catch (error) {
    if (error instanceof StateQueryError) return undefined;
    throw error;
  }
}

export const LEGACY_SOURCES: readonly LegacySource[] = [LEGACY_KAFKA, LEGACY_KINESIS, LEGACY_DEBEZIUM, DATAGEN_SEQUENCE, RABBITMQ];
