/**
 * Kinesis Data Streams and DynamoDB Streams: shards.
 *
 *   kinesis split v0        utf stream ARN · utf shard id · utf iterator type · bool has marker [bool [i64 ms] · bool [utf sequence number]]
 *                 v1        … · i32 n × utf parent shard · utf first hash key · utf last hash key
 *                 v2        … · bool finished
 *   kinesis enumerator v0   bool [utf last seen shard] · i32 n · i32 split version · n × (i32 len · split), unassigned
 *                      v1   … each with i32 status
 *   dynamodb split v0       utf stream ARN · utf shard id · utf iterator type · bool has marker [bool [utf sequence number]] · bool [utf parent]
 *                  v1       … · bool finished
 *                  v2       … · i32 n × (utf child · utf its parent · utf first sequence number · bool [utf last sequence number])
 *   dynamodb enumerator v0  i32 n · i32 split version · n × (i32 len · split · i32 status) · i64 start ms
 *
 *   status   0 assigned · 1 unassigned · 2 finished
 *
 * A position is a sequence number of up to 128 bits, or a time: both stand in `details` alone.
 * flink-connector-aws 5.0, 5.1: KinesisShardSplitSerializer, KinesisStreamsSourceEnumeratorStateSerializer,
 * DynamoDbStreamsShardSplitSerializer, DynamoDbStreamsSourceEnumeratorStateSerializer.
 */
import type { Cursor } from '../io/cursor.js';
import { readCode, readList, readName, readOptional, readWhole } from './bytes.js';
import type { Enumerator, EnumeratorSplit, SourceFormat, Split } from './format.js';

const ITERATORS: Readonly<Record<string, Split['marker']>> = {
  AT_SEQUENCE_NUMBER: null,
  AFTER_SEQUENCE_NUMBER: null,
  AT_TIMESTAMP: null,
  TRIM_HORIZON: 'earliest',
  LATEST: 'latest',
};

function readIterator(c: Cursor): { type: string; marker: Split['marker'] } {
  const type = readName(c, 'iterator type');
  const marker = Object.hasOwn(ITERATORS, type) ? ITERATORS[type] : c.fail(`iterator type ${type}`);
  return { type, marker };
}

/** `arn:aws:kinesis:region:account:stream/name`, `arn:aws:dynamodb:region:account:table/name/stream/label` */
function readArn(c: Cursor, service: string): { arn: string; name: string } {
  const arn = readName(c, 'stream ARN');
  const match = /^arn:[^:]+:([^:]+):[^:]*:[^:]*:[^/]+\/(.+)$/.exec(arn);
  if (match?.[1] !== service) return c.fail(`${arn} is no ARN of ${service}`);
  return { arn, name: match[2].split('/')[0] };
}

function readKinesisSplit(c: Cursor, version: number): Split {
  const { arn, name } = readArn(c, 'kinesis');
  const shard = readName(c, 'shard id');
  const { type, marker } = readIterator(c);
  const starting = readOptional(c, () => ({
    timestamp_ms: readOptional(c, () => c.i64()) ?? undefined,
    sequence_number: readOptional(c, () => readName(c, 'sequence number')) ?? undefined,
  }));
  const details = {
    stream_arn: arn,
    shard_id: shard,
    iterator_type: type,
    starting_marker: starting,
    ...(version < 1
      ? {}
      : {
          parent_shard_ids: readList(c, 'parent shards', 2, () => readName(c, 'shard id')),
          starting_hash_key: readName(c, 'first hash key'),
          ending_hash_key: readName(c, 'last hash key'),
        }),
    ...(version < 2 ? {} : { finished: c.bool() }),
  };
  return { splitId: shard, topic: name, marker, details };
}

const STATUS = ['ASSIGNED', 'UNASSIGNED', 'FINISHED'] as const;

/** i32 n · i32 split version · n × (i32 len · split [· i32 status]) */
function readKnownSplits(c: Cursor, last: number, withStatus: boolean, read: (c: Cursor, version: number) => Split): EnumeratorSplit[] {
  const n = c.count('number of splits', 4);
  const version = c.i32();
  if (version < 0 || version > last) c.fail(`splits of version ${version}`);
  const splits: EnumeratorSplit[] = [];
  for (let i = 0; i < n; i++) {
    const split = readWhole(c.slice(c.count('length of a split'), 'split'), 'split', x => read(x, version));
    const status = withStatus ? readCode(c, STATUS, 'assignment status') : 'UNASSIGNED';
    splits.push({
      // what is finished was assigned, and is nobody's any more
      holder: status === 'UNASSIGNED' ? 'enumerator-unassigned' : 'enumerator-assigned',
      split: status === 'FINISHED' ? { ...split, details: { ...split.details, assignment_status: status } } : split,
    });
  }
  return splits;
}

export const KINESIS_SOURCE: SourceFormat = {
  connector: 'kinesis',
  hint: /kinesis/i,
  splitVersions: [0, 2],
  readSplit: readKinesisSplit,
  enumeratorVersions: [0, 1],
  readEnumerator(c, version): Enumerator {
    const lastSeen = readOptional(c, () => readName(c, 'shard id'));
    return { splits: readKnownSplits(c, 2, version >= 1, readKinesisSplit), facts: { last_seen_shard_id: lastSeen } };
  },
};

function readDynamoDbSplit(c: Cursor, version: number): Split {
  const { arn, name } = readArn(c, 'dynamodb');
  const shard = readName(c, 'shard id');
  const { type, marker } = readIterator(c);
  const sequence = readOptional(c, () => readOptional(c, () => readName(c, 'sequence number')));
  const details = {
    stream_arn: arn,
    shard_id: shard,
    iterator_type: type,
    starting_marker: sequence === null ? null : { sequence_number: sequence },
    parent_shard_id: readOptional(c, () => readName(c, 'shard id')),
    ...(version < 1 ? {} : { finished: c.bool() }),
    ...(version < 2
      ? {}
      : {
          child_shards: readList(c, 'child shards', 7, () => ({
            shard_id: readName(c, 'shard id'),
            parent_shard_id: c.utf('parent shard id'),
            starting_sequence_number: c.utf('first sequence number'),
            ending_sequence_number: readOptional(c, () => c.utf('last sequence number')),
          })),
        }),
  };
  return { splitId: shard, topic: name, marker, details };
}

export const DYNAMODB_SOURCE: SourceFormat = {
  connector: 'dynamodb',
  hint: /dynamo/i,
  splitVersions: [0, 2],
  readSplit: readDynamoDbSplit,
  enumeratorVersions: [0, 0],
  readEnumerator(c): Enumerator {
    const splits = readKnownSplits(c, 2, true, readDynamoDbSplit);
    return { splits, facts: { start_timestamp_ms: c.i64() } };
  },
};
