/**
 * FileSink and StreamingFileSink: buckets of writers, files to commit.
 *
 *   bucket (writer) v3    i32 1E764B79 · version+len+string bucket id · utf path · i64 creation time of the file in progress ·
 *                         bool [version+len+in-progress file]
 *                   v2    … · i32 version · i32 n × (i64 checkpoint · i32 m × (i32 len · pending file))
 *                   v1    as v2, with the file system's own recoverables in place of files
 *   committable v2        i32 1E765C80 · utf bucket id · bool [version+len+pending] · bool [version+len+in-progress] · bool [utf compacted path]
 *               v1        without bucket id and compacted path
 *   compactor request v1  i32 2FC61E19 · utf bucket id · 2 × list of committables: to compact, to pass through
 *   requests left v1      i32 A946BE83 · i32 n × (i64 checkpoint · list of compactor requests)
 *
 * The bucket id is written by the job's own serializer; anything but text stays bytes.
 * Flink: FileWriterBucketStateSerializer, FileSinkCommittableSerializer (1.12–2.3), BucketStateSerializer (StreamingFileSink, 1.x).
 */
import type { Cursor } from '../io/cursor.js';
import { readList, readOptional, readVersioned, readVersionedList, readWhole, type Versioned } from './bytes.js';
import type { Details, DetailsObject } from './details.js';
import type { SinkFormat, SinkItem } from './format.js';
import { decodeFileSystemRecoverable, decodeInProgress, decodePending, type Recoverable } from './recoverables.js';

const BUCKET = 0x1e764b79;
const COMMITTABLE = 0x1e765c80;
const NO_FILE = (1n << 63n) - 1n;

/** A bucket of a writer: one item for its file in progress, one for each pending file; the bucket alone where there is neither. */
export function readBucket(c: Cursor, version: number): SinkItem[] {
  magic(c, BUCKET);
  const id = bucketId(readVersioned(c, 'bucket id'));
  const path = c.utf('bucket path');
  const created = c.i64();
  const file = version === 1 ? decodeFileSystemRecoverable : decodeInProgress;
  const inProgress = readOptional(c, () => file(readVersioned(c, 'file in progress')));
  const bucket = { bucket_id: id, bucket_path: path, creation_time: created === NO_FILE ? null : created };
  const items: SinkItem[] = [];
  if (inProgress !== null) items.push(item('in-progress', inProgress, { ...bucket, in_progress: inProgress.details }));
  if (version < 3) {
    const pendingVersion = c.i32();
    for (let n = c.count('number of checkpoints', 12); n > 0; n--) {
      const checkpointId = c.i64();
      for (let m = c.count('number of files', 4); m > 0; m--) {
        const bytes = c.slice(c.count('length of a file'), 'pending file');
        const pending = (version === 1 ? decodeFileSystemRecoverable : decodePending)({ version: pendingVersion, bytes });
        items.push({ ...item('pending', pending, { ...bucket, pending: pending.details }), checkpointId });
      }
    }
  }
  return items.length > 0 ? items : [{ state: 'writer', details: bucket }];
}

const item = (state: string, file: Recoverable, details: DetailsObject): SinkItem => ({ state, transactionId: file.path, details });

function bucketId({ version, bytes }: Versioned): Details {
  if (version === 1 && bytes.length >= 4) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    if (view.getInt32(0, true) === bytes.length - 4) return Buffer.from(bytes.subarray(4)).toString('utf8');
  }
  return { serializer_version: version, $hex: bytes };
}

/** One FileSinkCommittable. */
export function readFileCommittable(c: Cursor, version: number): SinkItem {
  magic(c, COMMITTABLE);
  const bucket = version === 1 ? undefined : c.utf('bucket id');
  const pending = readOptional(c, () => decodePending(readVersioned(c, 'pending file')));
  const inProgress = readOptional(c, () => decodeInProgress(readVersioned(c, 'file in progress')));
  const compacted = version === 1 ? undefined : readOptional(c, () => c.utf('compacted path'));
  return {
    transactionId: pending?.path ?? inProgress?.path ?? compacted ?? null,
    details: {
      bucket_id: bucket,
      pending: pending?.details,
      in_progress_to_clean_up: inProgress?.details,
      compacted_to_clean_up: compacted ?? undefined,
    },
  };
}

/** An entry of `remaining_compact_commit_raw_state`: what the coordinator of a compaction has not handed out. */
export function decodeCompactorCommittable({ version, bytes }: Versioned): SinkItem[] {
  return readWhole(bytes, 'committable', c => {
    if (version !== 1 && version !== 2) c.fail(`committable of version ${version}`);
    return [{ ...readFileCommittable(c, version), state: 'to-compact' }];
  });
}

/** An entry of `remaining_requests_raw_state`: what a compactor has still to do. */
export function decodeCompactorRequests({ version, bytes }: Versioned): SinkItem[] {
  return readWhole(bytes, 'compactor requests', c => {
    magic(c, 0xa946be83);
    if (version !== 1) c.fail(`compactor requests of version ${version}`);
    return readList(c, 'checkpoints', 16, () => {
      const checkpointId = c.i64();
      return readVersionedList(c, 'compactor requests').flatMap(request =>
        readWhole(request.bytes, 'compactor request', x => {
          magic(x, 0x2fc61e19);
          if (request.version !== 1) x.fail(`compactor request of version ${request.version}`);
          const bucket = x.utf('bucket id');
          const files = (state: string): SinkItem[] =>
            readVersionedList(x, 'committables').map(({ version: v, bytes: b }) => {
              const file = readWhole(b, 'committable', y => readFileCommittable(y, v));
              return { ...file, checkpointId, state, details: { request_bucket_id: bucket, ...(file.details as DetailsObject) } };
            });
          return [...files('to-compact'), ...files('to-pass-through')];
        }),
      );
    }).flat();
  });
}

function magic(c: Cursor, expected: number): void {
  const found = c.u32();
  if (found !== expected) c.fail(`begins with ${found.toString(16)}, expected ${expected.toString(16)}`, c.position - 4);
}

export const FILE_SINK: SinkFormat = {
  connector: 'filesystem',
  hint: /file/i,
  writer: { versions: [1, 3], read: readBucket },
  committable: { versions: [1, 2], read: readFileCommittable },
};

/** The whole value of `bucket-states`: StreamingFileSink, by its BucketStateSerializer. */
export function decodeBucketState({ version, bytes }: Versioned): SinkItem[] {
  return readWhole(bytes, 'bucket', c => readBucket(c, version));
}
