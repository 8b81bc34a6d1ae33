/**
 * Paimon: files to commit.
 *
 *   committable v2         i64 checkpoint · u8 kind (0 files, 1 log offset) · wrapped · i32 version of wrapped
 *               v3         the same without the kind: files
 *     of many tables v2    i32 len · UTF-8 database · i32 len · UTF-8 table · committable
 *   log offset v1          i32 bucket · i64 offset
 *   commit message v7      i32 len · BinaryRow partition · i32 bucket · bool [i32 total buckets] · 6 lists of data files (new, deleted,
 *                          changelog; compaction: before, after, changelog) · 2 lists of index files (new, deleted)
 *                  v3–v6   without the total buckets            v1, v2: one list of index files
 *   list of files          i32 n × (i32 len · BinaryRow: file name, bytes, rows, …; index files: type, name, bytes, rows)
 *   manifest committable   v2, v3: i64 identifier · bool no watermark [i64] · i32 n × (i32 bucket, i64 offset) [v4: i32 n × (utf, utf)] ·
 *                          i32 version · i32 n × commit message             (an entry of the committer's state, without a collector)
 *
 * Paimon 0.4–1.2: CommittableSerializer, MultiTableCommittableSerializer, CommitMessageSerializer, ManifestCommittableSerializer.
 */
import { Cursor } from '../io/cursor.js';
import { readList, readLongUtf8, readUtf8, readWhole, type Versioned } from './bytes.js';
import type { Details, DetailsObject } from './details.js';
import type { SinkFormat, SinkItem } from './format.js';

const FILE_LISTS = ['new_files', 'deleted_files', 'changelog_files', 'compact_before', 'compact_after', 'compact_changelog_files'] as const;

function readCommitMessage(c: Cursor, version: number): DetailsObject {
  if (version < 1 || version > 20) c.fail(`commit message of version ${version}`);
  const partition = c.slice(c.count('length of a partition'), 'partition');
  const bucket = c.i32();
  if (bucket < -2) c.fail(`bucket ${bucket}`);
  const total = version >= 7 ? (c.bool() ? c.i32() : null) : undefined;
  const lists: [string, Details][] = FILE_LISTS.map(name => [name, readFiles(c, 0)]);
  lists.push(['new_index_files', readFiles(c, 1)]);
  if (version > 2) lists.push(['deleted_index_files', readFiles(c, 1)]);
  return { partition_hex: partition, bucket, total_buckets: total, ...Object.fromEntries(lists) };
}

/** `before`: fields in front of name, size, rows */
function readFiles(c: Cursor, before: number): Details[] {
  return readList(c, 'files', 4, () => {
    const row = c.slice(c.count('length of a file'), 'file');
    return fileOf(row, before) ?? { $hex: row };
  });
}

/** A BinaryRow of at most 56 fields: 8 bytes of header and null bits, 8 bytes a field, then what does not fit in them. */
function fileOf(row: Uint8Array, before: number): DetailsObject | undefined {
  if (row.length < 8 * (before + 4)) return undefined;
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  const string = (field: number): string | undefined => {
    const at = 8 + field * 8;
    const mark = row[at + 7];
    const inline = (mark & 0x80) !== 0;
    const length = inline ? mark & 0x7f : view.getUint32(at, true);
    const start = inline ? at : view.getUint32(at + 4, true);
    if (length > row.length - start || (inline && length > 7)) return undefined;
    const slice = new Cursor(row, start, start + length);
    try {
      return readUtf8(slice, length, 'name');
    } catch {
      return undefined;
    }
  };
  const name = string(before);
  if (name === undefined || name === '') return undefined;
  const type = before === 1 ? string(0) : undefined;
  return {
    ...(type === undefined ? {} : { index_type: type }),
    file_name: name,
    file_size: view.getBigInt64(8 + (before + 1) * 8, true),
    row_count: view.getBigInt64(8 + (before + 2) * 8, true),
  };
}

function readCommittable(c: Cursor, version: number): SinkItem {
  const checkpointId = c.i64();
  if (checkpointId < 0n) c.fail(`checkpoint ${checkpointId}`);
  const kind = version < 3 ? c.u8() : 0;
  if (kind > 1) c.fail(`committable of kind ${kind}`);
  // the version stands behind
  if (c.remaining < 4) c.fail('committable without its version');
  const inner = new Cursor(c.bytes, c.position, c.end - 4);
  const wrapped = new Cursor(c.bytes, c.end - 4, c.end).i32();
  let content: DetailsObject;
  if (kind === 1) {
    if (wrapped !== 1) c.fail(`log offset of version ${wrapped}`);
    content = { kind: 'LOG_OFFSET', bucket: inner.i32(), offset: inner.i64() };
  } else content = { kind: 'FILE', ...readCommitMessage(inner, wrapped) };
  inner.expectEnd('committable');
  c.position = c.end;
  return { checkpointId, details: { checkpoint_id: checkpointId, ...content } };
}

export const PAIMON_SINK: SinkFormat = {
  connector: 'paimon',
  hint: /paimon/i,
  committable: { versions: [1, 3], read: readCommittable },
};

export const PAIMON_MULTI_TABLE_SINK: SinkFormat = {
  connector: 'paimon',
  hint: /paimon/i,
  committable: {
    versions: [1, 3],
    read(c, version) {
      const database = readLongUtf8(c, 'database');
      const table = readLongUtf8(c, 'table');
      if (database === '' || table === '') c.fail('no database or table');
      const { checkpointId, details } = readCommittable(c, version);
      return { checkpointId, details: { database, table, ...(details as DetailsObject) } };
    },
  },
};

/** A ManifestCommittable: Paimon's own committer stores it without Flink's collector. One item for each commit message. */
export function decodeManifestCommittable({ version, bytes }: Versioned): SinkItem[] {
  return readWhole(bytes, 'manifest committable', c => {
    if (version < 2 || version > 4) c.fail(`manifest committable of version ${version}`);
    const checkpointId = c.i64();
    const watermark = c.bool() ? null : c.i64();
    const logOffsets = readList(c, 'log offsets', 12, () => ({ bucket: c.i32(), offset: c.i64() }));
    const properties = version < 4 ? undefined : readList(c, 'properties', 4, () => ({ key: c.utf('key'), value: c.utf('value') }));
    const messageVersion = c.i32();
    const messages = readList(c, 'commit messages', 8, () => readCommitMessage(c, messageVersion));
    const frame = { identifier: checkpointId, watermark, log_offsets: logOffsets, properties };
    if (messages.length === 0) return [{ checkpointId, state: 'pending', details: frame }];
    return messages.map(message => ({ checkpointId, state: 'pending', details: { ...frame, ...message } }));
  });
}
