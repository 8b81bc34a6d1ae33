/**
 * Kafka: source, sink, and the dynamic source over several clusters.
 *
 *   split v0            utf topic · i32 partition · i64 start · i64 stop
 *                         start, stop: −1 latest · −2 earliest · −3 committed · Long.MIN none (start: migrated, without a position)
 *   enumerator v0       i32 n · i32 split version · n × (i32 subtask · i32 splits × (i32 len · split)), all assigned
 *              v1       i32 n × (utf topic · i32 partition), all assigned
 *              v2       i32 n × (utf topic · i32 partition · i32 status) · bool initial discovery finished
 *              v3       i32 n · i32 split version · n × (i32 len · split · i32 status) · bool initial discovery finished
 *   writer v1           utf transactional id prefix
 *          v2           … · i32 owned subtask · i32 subtasks owned in all · i32 ownership · i32 n × (utf id · i64 checkpoint)
 *   committable v1      i16 epoch · i64 producer id · utf transactional id
 *   dynamic split v1    utf cluster · i32 version · split        v2: utf cluster · bool [i64 retained until] · i32 version · split
 *   dynamic enumerator  i32 streams × (utf id · i32 clusters × (utf id · i32 topics × utf · utf bootstrap servers
 *                         [v2+: 2 × bool (i32 len · Java OffsetsInitializer)])) · i32 version · i32 n × (utf cluster · i32 len · enumerator)
 *                         [v3: i32 n × (utf cluster · i64 retained until · i32 len · enumerator)]
 *
 * flink-connector-kafka 1.14–5.0: KafkaPartitionSplitSerializer, KafkaSourceEnumStateSerializer, KafkaWriterStateSerializer,
 * KafkaCommittableSerializer, DynamicKafkaSourceSplitSerializer, DynamicKafkaSourceEnumStateSerializer.
 */
import type { Cursor } from '../io/cursor.js';
import { javaDetails, NO_OFFSET, readCode, readList, readName, readOptional, readWhole } from './bytes.js';
import type { DetailsObject } from './details.js';
import type { Enumerator, EnumeratorSplit, SinkFormat, SinkItem, SourceFormat, Split } from './format.js';

const MARKERS: ReadonlyMap<bigint, 'latest' | 'earliest' | 'committed'> = new Map([
  [-1n, 'latest'],
  [-2n, 'earliest'],
  [-3n, 'committed'],
]);

/** utf topic, i32 partition */
function readPartition(c: Cursor): { topic: string; partition: number; splitId: string } {
  const topic = readName(c, 'topic');
  const partition = c.i32();
  if (partition < 0) c.fail(`partition ${partition}`);
  return { topic, partition, splitId: `${topic}-${partition}` };
}

function readOffset(c: Cursor, what: string): bigint {
  const offset = c.i64();
  if (offset < -3n && offset !== NO_OFFSET) c.fail(`${what} ${offset}`);
  return offset;
}

/** A KafkaPartitionSplit of serializer version 0. */
function readKafkaSplit(c: Cursor): Split {
  const { topic, partition, splitId } = readPartition(c);
  const start = readOffset(c, 'starting offset');
  const stop = readOffset(c, 'stopping offset');
  const marker = MARKERS.get(start) ?? null;
  return {
    splitId,
    topic,
    partition,
    next: start >= 0n ? start : null,
    stored: start,
    marker,
    stop: stop >= 0n ? stop : null,
    details: {
      topic,
      partition,
      starting_offset: start,
      starting: start === NO_OFFSET ? 'migrated' : (marker ?? 'offset'),
      stopping_offset: stop === NO_OFFSET ? null : stop,
      stopping: stop === NO_OFFSET ? 'none' : (MARKERS.get(stop) ?? 'offset'),
    },
  };
}

/** A partition without a position. */
function bare(c: Cursor): Split {
  const { topic, partition, splitId } = readPartition(c);
  return { splitId, topic, partition, details: { topic, partition } };
}

const STATUS = ['enumerator-assigned', 'enumerator-unassigned'] as const;

function readKafkaEnumerator(c: Cursor, version: number): Enumerator {
  if (version === 0) {
    const splits = readAssignments(c).map(split => ({ holder: 'enumerator-assigned' as const, split }));
    return { splits };
  }
  if (version === 1) {
    return { splits: readList(c, 'partitions', 6, () => ({ holder: 'enumerator-assigned' as const, split: bare(c) })) };
  }
  let splits: EnumeratorSplit[];
  if (version === 2) {
    splits = readList(c, 'partitions', 10, () => {
      const split = bare(c);
      return { holder: readCode(c, STATUS, 'assignment status'), split };
    });
  } else {
    const n = c.count('number of splits', 8);
    const splitVersion = c.i32();
    if (splitVersion !== 0) c.fail(`Kafka splits of version ${splitVersion}`);
    splits = [];
    for (let i = 0; i < n; i++) {
      const split = readWhole(c.slice(c.count('length of a split'), 'split'), 'split', readKafkaSplit);
      splits.push({ holder: readCode(c, STATUS, 'assignment status'), split });
    }
  }
  return { splits, facts: { initial_discovery_finished: c.bool() } };
}

/** SerdeUtils.serializeSplitAssignments */
function readAssignments(c: Cursor): Split[] {
  const n = c.count('number of subtasks', 8);
  const version = c.i32();
  if (version !== 0) c.fail(`Kafka splits of version ${version}`);
  const splits: Split[] = [];
  for (let i = 0; i < n; i++) {
    const subtask = c.i32();
    if (subtask < 0) c.fail(`subtask ${subtask}`);
    splits.push(
      ...readList(c, 'splits', 4, () => {
        const split = readWhole(c.slice(c.count('length of a split'), 'split'), 'split', readKafkaSplit);
        return { ...split, details: { ...split.details, subtask } };
      }),
    );
  }
  return splits;
}

export const KAFKA_SOURCE: SourceFormat = {
  connector: 'kafka',
  hint: /kafka/i,
  splitVersions: [0, 0],
  readSplit: readKafkaSplit,
  enumeratorVersions: [0, 3],
  readEnumerator: readKafkaEnumerator,
};

function inCluster(cluster: string, split: Split, more: DetailsObject = {}): Split {
  return { ...split, splitId: `${cluster}-${split.splitId}`, details: { cluster_id: cluster, ...split.details, ...more } };
}

function readStreams(c: Cursor, version: number) {
  return readList(c, 'streams', 6, () => ({
    stream_id: readName(c, 'stream id'),
    clusters: readList(c, 'clusters', 8, () => ({
      cluster_id: readName(c, 'cluster id'),
      topics: readList(c, 'topics', 2, () => readName(c, 'topic')),
      bootstrap_servers: readName(c, 'bootstrap servers'),
      ...(version < 2 ? {} : { starting_offsets: readOptional(c, readInitializer), stopping_offsets: readOptional(c, readInitializer) }),
    })),
  }));
}
function readInitializer(c: Cursor) {
  return javaDetails(c.slice(c.count('length of an offsets initializer'), 'offsets initializer'), 'offsets initializer');
}

export const DYNAMIC_KAFKA_SOURCE: SourceFormat = {
  connector: 'dynamic-kafka',
  hint: /dynamic.*kafka|kafka.*dynamic/i,
  splitVersions: [1, 2],
  readSplit(c, version) {
    const cluster = readName(c, 'cluster id');
    const retained = version < 2 ? undefined : readOptional(c, () => c.i64());
    const splitVersion = c.i32();
    if (splitVersion !== 0) c.fail(`Kafka splits of version ${splitVersion}`);
    return inCluster(cluster, readKafkaSplit(c), retained === undefined ? {} : { retained_until_ms: retained });
  },
  enumeratorVersions: [1, 3],
  readEnumerator(c, version) {
    const streams = readStreams(c, version);
    const enumeratorVersion = c.i32();
    if (enumeratorVersion < 0 || enumeratorVersion > 3) c.fail(`Kafka enumerator of version ${enumeratorVersion}`);
    const splits: EnumeratorSplit[] = [];
    const read = (retained: boolean): DetailsObject => {
      const cluster = readName(c, 'cluster id');
      const until = retained ? c.i64() : undefined;
      const state = readWhole(c.slice(c.count('length of an enumerator'), 'enumerator'), 'enumerator', x =>
        readKafkaEnumerator(x, enumeratorVersion),
      );
      for (const { holder, split } of state.splits)
        splits.push({ holder, split: inCluster(cluster, split, until === undefined ? {} : { retained_until_ms: until }) });
      return { cluster_id: cluster, ...(until === undefined ? {} : { retained_until_ms: until }), ...state.facts };
    };
    const clusters = readList(c, 'clusters', 6, () => read(false));
    const retained = version < 3 ? undefined : readList(c, 'retained clusters', 14, () => read(true));
    return {
      splits,
      facts: { streams, cluster_enumerators: clusters, ...(retained === undefined ? {} : { retained_clusters: retained }) },
    };
  },
};

const OWNERSHIP = ['IMPLICIT_BY_SUBTASK_ID', 'EXPLICIT_BY_WRITER_STATE'] as const;

export const KAFKA_SINK: SinkFormat = {
  connector: 'kafka',
  hint: /kafka/i,
  writer: {
    versions: [1, 2],
    read(c, version): SinkItem[] {
      const prefix = c.utf('transactional id prefix');
      if (!/^\P{Cc}*$/u.test(prefix)) c.fail('transactional id prefix is no text');
      if (version === 1) return [{ state: 'writer', details: { transactional_id_prefix: prefix } }];
      const details = {
        transactional_id_prefix: prefix,
        owned_subtask_id: c.i32(),
        total_owned_subtasks: c.i32(),
        transaction_ownership: readCode(c, OWNERSHIP, 'transaction ownership'),
      };
      const precommitted = readList(c, 'transactions', 10, () => ({ id: readName(c, 'transactional id'), checkpointId: c.i64() }));
      return [
        { state: 'writer', details },
        ...precommitted.map(({ id, checkpointId }) => ({ checkpointId, transactionId: id, state: 'pre-committed', details })),
      ];
    },
  },
  committable: {
    versions: [1, 1],
    read(c) {
      const epoch = c.i16();
      const producerId = c.i64();
      const transactionId = readName(c, 'transactional id');
      if (epoch < -1 || producerId < -1n) c.fail(`producer ${producerId} of epoch ${epoch}`);
      return {
        transactionId,
        producerId,
        epoch,
        details: { producer_id: producerId, epoch, transactional_id: transactionId },
      };
    },
  },
  // version 1 is a bare string; the connector's own default has its name in it
  weak: (part, entries) =>
    part === 'writer' && entries.some(e => e.version === 1 && !/kafka/i.test(Buffer.from(e.bytes).toString('latin1'))),
};
