/**
 * FileSource: files and parts of files.
 *
 *   split v1        utf id · path · i64 offset · i64 length · i64 modification time · i64 file size · i32 n × utf host
 *                   bool [i64 reader's offset (−1: none) · i64 records to skip after it]
 *   path            bool · SV scheme · SV user info · SV host · i32 port · SV path · SV query · SV fragment, each SV behind a bool
 *   enumerator v1   little-endian: i32 DEADBEEF · i32 split version · i32 splits · i32 paths · (i32 len · split)* · (i32 len · UTF-8)*
 *
 * SV is Flink's StringValue. An authority that is no host name (`my_bucket`) is lost by that writer: host null.
 * Flink: FileSourceSplitSerializer, Path.serializeToDataOutputView, PendingSplitsCheckpointSerializer in flink-connector-files (1.12–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import { readFlinkString } from '../serializers/string.js';
import { checkName, readLengthLe, readList, readName, readOptional, readUtf8Le, readWhole } from './bytes.js';
import type { Enumerator, SourceFormat, Split } from './format.js';

/** Path.toString() of the parts. */
function readPath(c: Cursor): string {
  const at = c.position;
  if (!c.bool()) c.fail('no path', at);
  const part = (): string | null => readOptional(c, () => readFlinkString(c));
  const scheme = part();
  const userInfo = part();
  const host = part();
  const port = c.i32();
  const path = part();
  const query = part();
  const fragment = part();
  if (path === null) return c.fail('a path without its path', at);
  checkName(c, path, 'path');
  if (scheme !== null && !/^[A-Za-z][A-Za-z0-9+.-]*$/.test(scheme)) c.fail('scheme of a path', at);
  if (port < -1 || port > 65535) c.fail(`port ${port} of a path`, at);
  const authority = `${userInfo === null ? '' : `${userInfo}@`}${host ?? ''}${port < 0 ? '' : `:${port}`}`;
  const head = `${scheme === null ? '' : `${scheme}:`}${authority === '' ? '' : `//${authority}`}`;
  return `${head}${path}${query === null ? '' : `?${query}`}${fragment === null ? '' : `#${fragment}`}`;
}

function readSplit(c: Cursor): Split {
  const splitId = readName(c, 'split id');
  const path = readPath(c);
  const offset = c.i64();
  const length = c.i64();
  const modificationTime = c.i64();
  const fileSize = c.i64();
  const hosts = readList(c, 'hosts', 2, () => readName(c, 'host'));
  const position = readOptional(c, () => ({ offset: c.i64(), records_after_offset: c.i64() }));
  if (offset < 0n || length < 0n || fileSize < 0n) c.fail(`split of ${length} bytes from ${offset}`);
  if (position !== null && (position.offset < -1n || position.records_after_offset < 0n)) c.fail('position of a reader');
  // a position without an offset counts its records from the split's beginning
  const next = position === null || position.offset < 0n ? offset : position.offset;
  return {
    splitId,
    next,
    stored: position === null ? offset : position.offset,
    stop: offset + length >= 1n << 63n ? null : offset + length,
    details: {
      id: splitId,
      path,
      offset,
      length,
      modification_time: modificationTime,
      file_size: fileSize,
      hosts,
      reader_position: position,
    },
  };
}

function readEnumerator(c: Cursor): Enumerator {
  const magic = c.u32le();
  if (magic !== 0xdeadbeef) c.fail(`enumerator begins with ${magic.toString(16)}, expected deadbeef`);
  const splitVersion = c.i32le();
  if (splitVersion !== 1) c.fail(`file splits of version ${splitVersion}`);
  const splits = readLengthLe(c, 'number of splits', 4);
  const paths = readLengthLe(c, 'number of paths', 4);
  const held: Split[] = [];
  for (let i = 0; i < splits; i++) held.push(readWhole(c.slice(readLengthLe(c, 'length of a split'), 'split'), 'split', readSplit));
  const processed: string[] = [];
  for (let i = 0; i < paths; i++) processed.push(checkName(c, readUtf8Le(c, 'path'), 'path'));
  return {
    splits: held.map(split => ({ holder: 'enumerator-unassigned', split })),
    ...(processed.length === 0 ? {} : { facts: { already_processed_paths: processed } }),
  };
}

export const FILE_SOURCE: SourceFormat = {
  connector: 'filesystem',
  hint: /file/i,
  splitVersions: [1, 1],
  readSplit,
  enumeratorVersions: [1, 1],
  readEnumerator,
};
