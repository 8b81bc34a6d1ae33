/**
 * Fluss: buckets of tables, first their snapshot, then their log.
 *
 *   split v0, v1     u8 kind · i64 table · bool [i64 partition · utf partition name] · i32 bucket ·
 *                      1 snapshot, then log: i64 snapshot · i64 records to skip · bool snapshot finished · i64 log start
 *                      2 log: i64 start · i64 stop
 *   enumerator v0    i32 n × (i64 table · bool [i64 partition] · i32 bucket) assigned · i32 n × (i64 partition · utf name) assigned ·
 *                      [bool [i32 n · i32 split version · n × (i32 len · split)] remaining], when it reads a lake
 *              v1    … always                   v2: … · bool [utf lease id] · bool [i64 lease ms]
 *
 *   start   −2 earliest · −1 latest           stop   Long.MIN none
 *
 * Splits of a lake (kinds of its own) are its connector's. Fluss 0.6–0.9: SourceSplitSerializer, FlussSourceEnumeratorStateSerializer.
 */
import type { Cursor } from '../io/cursor.js';
import { NO_OFFSET, readList, readName, readOptional, readWhole } from './bytes.js';
import type { DetailsObject } from './details.js';
import type { Enumerator, EnumeratorSplit, SourceFormat, Split } from './format.js';

interface Bucket {
  readonly bucket: number;
  readonly details: DetailsObject;
}

function readBucket(c: Cursor, named: boolean): Bucket {
  const table = c.i64();
  // ids are counted up from 0
  if (table < 0n || table >= 1n << 40n) c.fail(`table ${table}`);
  const partition = readOptional(c, () => ({
    partition_id: c.i64(),
    ...(named ? { partition_name: readName(c, 'partition name') } : {}),
  }));
  const bucket = c.i32();
  if (bucket < 0 || bucket > 1_000_000) c.fail(`bucket ${bucket}`);
  return { bucket, details: { table_id: table, ...(partition ?? {}), bucket } };
}

function readSplit(c: Cursor): Split {
  const kind = c.u8();
  if (kind !== 1 && kind !== 2) c.fail(`split of kind ${kind}`, 0);
  const { bucket, details } = readBucket(c, true);
  if (kind === 1) {
    const snapshot = { snapshot_id: c.i64(), records_to_skip: c.i64(), is_snapshot_finished: c.bool() };
    if (snapshot.records_to_skip < 0n) c.fail('records to skip');
    return position(c, bucket, c.i64(), NO_OFFSET, { kind: 'snapshot', ...details, ...snapshot });
  }
  return position(c, bucket, c.i64(), c.i64(), { kind: 'log', ...details });
}

function position(c: Cursor, bucket: number, start: bigint, stop: bigint, details: DetailsObject): Split {
  if (start < -2n && start !== NO_OFFSET) c.fail(`log starts at ${start}`);
  return {
    splitId: null,
    partition: bucket,
    next: start >= 0n ? start : null,
    stored: start,
    marker: start === -2n ? 'earliest' : start === -1n ? 'latest' : null,
    stop: stop >= 0n ? stop : null,
    details: { ...details, log_starting_offset: start, stopping_offset: stop === NO_OFFSET ? null : stop },
  };
}

function readEnumerator(c: Cursor, version: number): Enumerator {
  const splits: EnumeratorSplit[] = readList(c, 'buckets', 13, () => {
    const { bucket, details } = readBucket(c, false);
    return { holder: 'enumerator-assigned', split: { splitId: null, partition: bucket, details } };
  });
  const partitions = readList(c, 'partitions', 10, () => ({ partition_id: c.i64(), partition_name: readName(c, 'partition name') }));
  const hasSplits = version > 0 || c.remaining > 0;
  const remaining = hasSplits ? readOptional(c, () => readRemaining(c)) : null;
  for (const split of remaining ?? []) splits.push({ holder: 'enumerator-unassigned', split });
  const lease =
    version < 2 ? {} : { lease_id: readOptional(c, () => readName(c, 'lease id')), lease_duration_ms: readOptional(c, () => c.i64()) };
  return { splits, facts: { assigned_partitions: partitions, ...lease } };
}

function readRemaining(c: Cursor): Split[] {
  const n = c.count('number of splits', 4);
  const version = c.i32();
  if (version < 0 || version > 1) c.fail(`splits of version ${version}`);
  const splits: Split[] = [];
  for (let i = 0; i < n; i++) splits.push(readWhole(c.slice(c.count('length of a split'), 'split'), 'split', readSplit));
  return splits;
}

export const FLUSS_SOURCE: SourceFormat = {
  connector: 'fluss',
  hint: /fluss/i,
  splitVersions: [0, 1],
  readSplit,
  enumeratorVersions: [0, 2],
  readEnumerator,
};
