/**
 * Iceberg: splits of a table scan, files to commit.
 *
 *   split v1             a Java stream of IcebergSourceSplit
 *         v2, v3         i32 file offset · i64 record offset · i32 n × JSON of a file scan task (v2 utf, v3 i32 len · UTF-8)
 *   enumerator v1        bool [i32 version · i32 len · position] · i32 split version · i32 n × (i32 len · split · utf status)
 *              v2        … · i32 n × i32 splits of earlier enumerations
 *     position v1        bool [i64 snapshot id] · bool [i64 snapshot ms]
 *   committable v1       utf job id · utf operator id · i64 checkpoint · i32 len · manifests (version+len of DeltaManifests)
 *     dynamic v1         utf table · utf branch · i32 schema · i32 spec · bool upsert · i32 n × i32 equality field · as above
 *
 * An unbounded scan's enumerator has what it did not yet assign. Flink 1.x of Iceberg 1.0–1.10: IcebergSourceSplitSerializer,
 * IcebergEnumeratorStateSerializer, IcebergCommittableSerializer, DynamicCommittableSerializer.
 */
import type { Cursor } from '../io/cursor.js';
import { isText, javaDetails, readList, readLongUtf8, readName, readOptional, readVersioned, readWhole } from './bytes.js';
import { type Details, RawJson } from './details.js';
import type { Enumerator, SinkFormat, SourceFormat, Split } from './format.js';

/** A FileScanTask as ScanTaskParser writes it; the file's facts are what a reader looks for. */
function readTask(c: Cursor, version: number): { path: string | null; json: RawJson } {
  const text = version === 2 ? c.utf('scan task') : readLongUtf8(c, 'scan task');
  let task: unknown;
  try {
    task = JSON.parse(text);
  } catch {
    return c.fail('scan task is no JSON');
  }
  if (typeof task !== 'object' || task === null || !('data-file' in task || 'task-type' in task)) return c.fail('JSON is no scan task');
  const file = (task as Record<string, unknown>)['data-file'] as Record<string, unknown> | undefined;
  const path = file?.['file-path'];
  return { path: typeof path === 'string' ? path : null, json: new RawJson(text) };
}

function readSplit(c: Cursor, version: number): Split {
  if (version === 1) {
    const at = c.position;
    const bytes = c.slice(c.remaining, 'split');
    // the class name stands in the stream's first descriptor
    if (!Buffer.from(bytes).includes('org.apache.iceberg.flink.source.split.IcebergSourceSplit')) c.fail('no Iceberg split', at);
    return { splitId: null, details: { split: javaDetails(bytes, 'split') } };
  }
  const fileOffset = c.i32();
  const recordOffset = c.i64();
  if (fileOffset < 0 || recordOffset < 0n) c.fail(`file ${fileOffset}, record ${recordOffset}`, 0);
  const tasks = readList(c, 'scan tasks', 2, () => readTask(c, version));
  if (tasks.length === 0 || fileOffset >= tasks.length) c.fail(`file ${fileOffset} of ${tasks.length}`, 0);
  return {
    splitId: tasks[fileOffset].path,
    next: recordOffset,
    stored: recordOffset,
    details: { file_offset: fileOffset, record_offset: recordOffset, tasks: tasks.map(t => t.json) },
  };
}

const POSITION = (c: Cursor): Details =>
  readOptional(c, () => {
    const { version, bytes } = readVersioned(c, 'position');
    if (version !== 1) c.fail(`position of version ${version}`);
    return readWhole(bytes, 'position', x => ({
      snapshot_id: readOptional(x, () => x.i64()),
      snapshot_timestamp_ms: readOptional(x, () => x.i64()),
    }));
  });

function readEnumerator(c: Cursor, version: number): Enumerator {
  const position = POSITION(c);
  const splitVersion = c.i32();
  if (splitVersion < 1 || splitVersion > 3) c.fail(`splits of version ${splitVersion}`);
  const splits = readList(c, 'splits', 6, () => {
    const split = readWhole(c.slice(c.count('length of a split'), 'split'), 'split', x => readSplit(x, splitVersion));
    const status = readName(c, 'status');
    if (!/^(UNASSIGNED|ASSIGNED|COMPLETED)$/.test(status)) c.fail(`status ${status}`);
    return {
      holder: status === 'UNASSIGNED' ? ('enumerator-unassigned' as const) : ('enumerator-assigned' as const),
      split: { ...split, details: { ...split.details, status } },
    };
  });
  const history = version < 2 ? undefined : readList(c, 'enumerations', 4, () => c.i32());
  return {
    splits,
    facts: { last_enumerated_position: position, ...(history === undefined ? {} : { enumeration_split_count_history: history }) },
  };
}

export const ICEBERG_SOURCE: SourceFormat = {
  connector: 'iceberg',
  hint: /iceberg/i,
  splitVersions: [1, 3],
  readSplit,
  enumeratorVersions: [1, 2],
  readEnumerator,
};

/** What was written in one checkpoint. */
function readCommittable(c: Cursor) {
  const jobId = readName(c, 'job id');
  const operatorId = readName(c, 'operator id');
  const checkpointId = c.i64();
  if (checkpointId < -1n) c.fail(`checkpoint ${checkpointId}`);
  const manifest = c.slice(c.count('length of the manifests'), 'manifests');
  return {
    checkpointId,
    details: {
      job_id: jobId,
      operator_id: operatorId,
      checkpoint_id: checkpointId,
      manifest: decodeManifests(manifest),
      manifest_hex: manifest,
    },
  };
}

/** DeltaManifests behind their version; undefined when they are something else. Manifests are Avro: their text is shown. */
export function decodeManifests(bytes: Uint8Array): Details | undefined {
  try {
    return readWhole(bytes, 'manifests', c => {
      const { version, bytes: inner } = readVersioned(c, 'manifests');
      if (version !== 2) return { serializer_version: version };
      return readWhole(inner, 'manifests', x => ({
        data_manifest: pathIn(x.slice(x.count('length of a manifest'), 'manifest')),
        delete_manifest: pathIn(x.slice(x.count('length of a manifest'), 'manifest')),
        referenced_data_files: readList(x, 'files', 2, () => x.utf('file')),
      }));
    });
  } catch {
    return undefined;
  }
}

/** The path of the manifest inside of its Avro bytes. */
function pathIn(bytes: Uint8Array): string | null {
  const found = /[A-Za-z0-9+.:/_-][^\u0000-\u001f\u007f-\uffff]*\.avro/.exec(Buffer.from(bytes).toString('latin1'));
  return found === null || !isText(found[0]) ? null : found[0];
}

export const ICEBERG_SINK: SinkFormat = {
  connector: 'iceberg',
  hint: /iceberg/i,
  committable: { versions: [1, 1], read: c => readCommittable(c) },
};

export const ICEBERG_DYNAMIC_SINK: SinkFormat = {
  connector: 'iceberg',
  hint: /iceberg/i,
  committable: {
    versions: [1, 1],
    read(c) {
      const target = {
        table: readName(c, 'table'),
        branch: readName(c, 'branch'),
        schema_id: c.i32(),
        spec_id: c.i32(),
        upsert_mode: c.bool(),
        equality_fields: readList(c, 'equality fields', 4, () => c.i32()),
      };
      const { checkpointId, details } = readCommittable(c);
      return { checkpointId, details: { ...target, ...details } };
    },
  },
};
