/**
 * State handles as bytes of `_metadata`. One tag byte, then (big-endian, `utf` = u16 length + modified UTF-8):
 *
 *   stream    0 null
 *             1 inline         utf name, i32 n, n bytes
 *             2 file           i64 size, utf path
 *             3 key groups     as keyed 3
 *             6 relative       utf path, i64 size                        (the other way round than 2)
 *            15 segment        i64 start, i64 size, i32 scope (0 EXCLUSIVE, 1 SHARED), utf path, utf logicalFileId
 *            16 empty segment  -
 *   keyed     0 null
 *           3 7 12 key groups  i32 first, i32 count, count × i64 offset, stream, [12: utf stateHandleId]
 *          5 11 incremental    i64 checkpointId, utf backendId, i32 first, i32 count, [11: i64 checkpointedSize], stream meta,
 *                              files shared, files private, [11: utf stateHandleId];  files = i32 n, n × (utf localName, stream)
 *          8 14 changelog      i32 first, i32 count, [i64 checkpointedSize], i32 n, n × keyed, i32 n, n × keyed,
 *                              [i64 materializationId, 14: i64 checkpointId, utf stateHandleId]
 *             9 in memory      i32 first, i32 count, i64 from, i64 to, i32 n, n × (i32 keyGroup, i32 len, bytes), [utf stateHandleId]
 *         10 13 change files   i32 first, i32 count, i32 n, n × (i64 offset, stream), i64 size,
 *                              [i64 checkpointedSize, utf stateHandleId, 13: utf storageIdentifier]
 *   operator  0 null
 *          4 17 states         i32 n, n × (utf name, i8 mode, i32 m, m × i64 offset), [17: utf taskOwnedDir, utf sharedDir, bool empty], stream
 *
 * The bracketed parts of 8, 9 and 10 are missing in files of Flink 1.14, which have the same version number and tags as those of 1.15.
 *
 * Flink: MetadataV2V3SerializerBase 1.14–2.3 (checked against the classes of 1.15.4, 1.20.5, 2.3.0).
 */
import type { Cursor } from '../io/cursor.js';
import type {
  ChangelogHandle,
  ChangelogMemoryHandle,
  ChangelogStreamHandle,
  DistributionMode,
  IncrementalHandle,
  KeyedHandle,
  KeyGroupRange,
  KeyGroupsHandle,
  LocalFile,
  OperatorHandle,
  StreamHandle,
} from './handles.js';
import { type HandleContext, tagProblem } from './state-handle-tags.js';

/** Handles nest (changelog in changelog, key groups as a stream); real ones do so at most twice. */
const MAX_NESTING = 16;
/** KeyGroupRangeAssignment.UPPER_BOUND_MAX_PARALLELISM */
export const MAX_KEY_GROUPS = 32768;

/** Where the reader stands, and the layouts chosen for what the bytes do not tell. */
export interface HandleReader {
  readonly c: Cursor;
  readonly changelogLayout: '1.14' | '1.15';
  /** set when a handle was read whose form depends on `changelogLayout` */
  sawChangelog: boolean;
  nesting: number;
}

function nested<T>(r: HandleReader, read: () => T): T {
  if (r.nesting >= MAX_NESTING) r.c.fail(`state handles nested more than ${MAX_NESTING} deep`);
  r.nesting++;
  const result = read();
  r.nesting--;
  return result;
}

function badTag(c: Cursor, tag: number, context: HandleContext): never {
  return c.fail(tagProblem(tag, context), c.position - 1);
}

/** A stream handle, undefined for tag 0. */
export function readStream(r: HandleReader, what: string): StreamHandle | undefined {
  const { c } = r;
  const tag = c.u8('tag of a stream handle');
  switch (tag) {
    case 0:
      return undefined;
    case 1: {
      const name = c.utf('name of inline state');
      const length = c.count(`length of inline ${what}`);
      const offset = c.offset;
      return { kind: 'inline', name, bytes: c.slice(length, what), offset };
    }
    case 2: {
      const size = c.i64Number('file size');
      return { kind: 'file', size: checkSize(c, size), path: c.utf('file path') };
    }
    case 3:
      return { kind: 'key-groups-stream', handle: nested(r, () => readKeyGroups(r, 3)) };
    case 6: {
      const path = c.utf('relative file path');
      return { kind: 'relative', path, size: checkSize(c, c.i64Number('file size')) };
    }
    case 15: {
      const at = c.position;
      const start = c.i64Number('segment start');
      const size = c.i64Number('segment size');
      if (start < 0 || size < 0) c.fail(`segment of ${size} bytes at ${start}`, at);
      const scope = c.i32('scope');
      if (scope !== 0 && scope !== 1) c.fail(`scope of a file segment is ${scope}, expected 0 or 1`, c.position - 4);
      const path = c.utf('segment file path');
      const logicalFileId = c.utf('logical file id');
      return { kind: 'segment', path, start, size, scope: scope === 0 ? 'EXCLUSIVE' : 'SHARED', logicalFileId };
    }
    case 16:
      return { kind: 'empty-segment' };
    default:
      return badTag(c, tag, 'stream');
  }
}

/** Flink writes -1 for the size of a file where the file system could not tell the position. */
function checkSize(c: Cursor, size: number): number {
  if (size < -1) c.fail(`file size is ${size}`, c.position - 8);
  return size;
}

export function readRequiredStream(r: HandleReader, what: string): StreamHandle {
  const at = r.c.position;
  return readStream(r, what) ?? r.c.fail(`the ${what} is missing: its state handle is null`, at);
}

/** i32 first, i32 count (not last). */
function readRange(c: Cursor): KeyGroupRange {
  const at = c.position;
  const first = c.i32('first key group');
  const count = c.i32('number of key groups');
  if (first < 0 || count < 0 || first + count > MAX_KEY_GROUPS)
    c.fail(`key group range starts at ${first} and has ${count} groups, at most ${MAX_KEY_GROUPS} exist`, at);
  return { first, count };
}

function readLongs(c: Cursor, count: number, what: string): number[] {
  const longs = new Array<number>(count);
  for (let i = 0; i < count; i++) longs[i] = c.i64Number(what);
  return longs;
}

function readKeyGroups(r: HandleReader, tag: KeyGroupsHandle['tag']): KeyGroupsHandle {
  const { c } = r;
  const range = readRange(c);
  if (range.count * 8 > c.remaining)
    c.fail(`${range.count} key group offsets need ${range.count * 8} bytes, ${c.remaining} remain`, c.position - 4);
  const offsets = readLongs(c, range.count, 'key group offset');
  const stream = readRequiredStream(r, 'keyed state');
  const handle: KeyGroupsHandle = { kind: 'key-groups', tag, range, offsets, stream };
  return tag === 12 ? { ...handle, stateHandleId: c.utf('state handle id') } : handle;
}

function readFiles(r: HandleReader, what: string): LocalFile[] {
  const n = r.c.count(`number of ${what} files`, 3);
  const files: LocalFile[] = [];
  for (let i = 0; i < n; i++) {
    const localName = r.c.utf('local file name');
    files.push({ localName, stream: readRequiredStream(r, `${what} file`) });
  }
  return files;
}

function readIncremental(r: HandleReader, tag: IncrementalHandle['tag']): IncrementalHandle {
  const { c } = r;
  const checkpointId = c.i64Number('checkpoint id');
  const backendId = c.utf('backend id');
  const range = readRange(c);
  const checkpointedSize = tag === 11 ? c.i64Number('checkpointed size') : undefined;
  const meta = readRequiredStream(r, 'meta data of incremental state');
  const shared = readFiles(r, 'shared');
  const own = readFiles(r, 'private');
  const stateHandleId = tag === 11 ? c.utf('state handle id') : undefined;
  return { kind: 'incremental', tag, checkpointId, backendId, range, checkpointedSize, meta, shared, private: own, stateHandleId };
}

function readKeyedList(r: HandleReader, what: string): KeyedHandle[] {
  const n = r.c.count(`number of ${what} handles`);
  const handles: KeyedHandle[] = [];
  for (let i = 0; i < n; i++) {
    const handle = readKeyed(r);
    if (handle !== undefined) handles.push(handle);
  }
  return handles;
}

function readChangelog(r: HandleReader, tag: ChangelogHandle['tag']): ChangelogHandle {
  const { c } = r;
  const full = tag === 14 || r.changelogLayout === '1.15';
  const range = readRange(c);
  const checkpointedSize = full ? c.i64Number('checkpointed size') : undefined;
  const materialized = readKeyedList(r, 'materialized');
  const nonMaterialized = readKeyedList(r, 'change');
  const materializationId = full ? c.i64Number('materialization id') : undefined;
  const checkpointId = tag === 14 ? c.i64Number('checkpoint id') : undefined;
  const stateHandleId = full ? c.utf('state handle id') : undefined;
  return {
    kind: 'changelog',
    tag,
    range,
    checkpointedSize,
    materialized,
    nonMaterialized,
    materializationId,
    checkpointId,
    stateHandleId,
  };
}

function readChangelogMemory(r: HandleReader): ChangelogMemoryHandle {
  const { c } = r;
  const range = readRange(c);
  const from = c.i64Number('first sequence number');
  const to = c.i64Number('last sequence number');
  const n = c.count('number of changes', 8);
  const changes: { keyGroup: number; bytes: Uint8Array; offset: number }[] = [];
  for (let i = 0; i < n; i++) {
    const keyGroup = c.i32('key group of a change');
    if (keyGroup < -1 || keyGroup >= MAX_KEY_GROUPS) c.fail(`key group of a change is ${keyGroup}`, c.position - 4);
    const length = c.count('length of a change');
    const offset = c.offset;
    changes.push({ keyGroup, bytes: c.slice(length, 'change'), offset });
  }
  const stateHandleId = r.changelogLayout === '1.15' ? c.utf('state handle id') : undefined;
  return { kind: 'changelog-memory', tag: 9, range, from, to, changes, stateHandleId };
}

function readChangelogStream(r: HandleReader, tag: ChangelogStreamHandle['tag']): ChangelogStreamHandle {
  const { c } = r;
  const full = tag === 13 || r.changelogLayout === '1.15';
  const range = readRange(c);
  const n = c.count('number of change streams', 9);
  const parts: { offset: number; stream: StreamHandle }[] = [];
  for (let i = 0; i < n; i++) {
    const at = c.position;
    const offset = c.i64Number('offset in a change stream');
    if (offset < 0) c.fail(`offset in a change stream is ${offset}`, at);
    const stream = readRequiredStream(r, 'change stream');
    parts.push({ offset, stream: stream.kind === 'file' || stream.kind === 'relative' ? { ...stream, uncompressed: true } : stream });
  }
  const size = c.i64Number('size of the changes');
  const checkpointedSize = full ? c.i64Number('checkpointed size') : undefined;
  const stateHandleId = full ? c.utf('state handle id') : undefined;
  const storageIdentifier = tag === 13 ? c.utf('storage identifier') : undefined;
  return { kind: 'changelog-stream', tag, range, size, checkpointedSize, parts, stateHandleId, storageIdentifier };
}

/** A keyed state handle, undefined for tag 0. */
export function readKeyed(r: HandleReader): KeyedHandle | undefined {
  const tag = r.c.u8('tag of a keyed state handle');
  if (tag === 8 || tag === 9 || tag === 10) r.sawChangelog = true;
  switch (tag) {
    case 0:
      return undefined;
    case 3:
    case 7:
    case 12:
      return readKeyGroups(r, tag);
    case 5:
    case 11:
      return readIncremental(r, tag);
    case 8:
    case 14:
      return nested(r, () => readChangelog(r, tag));
    case 9:
      return readChangelogMemory(r);
    case 10:
    case 13:
      return readChangelogStream(r, tag);
    default:
      return badTag(r.c, tag, 'keyed');
  }
}

/**
 * Ordinals of OperatorStateHandle.Mode. Until 1.4 there were two, and ordinal 1 was called BROADCAST; it always meant
 * what is UNION today.
 */
const MODES: readonly DistributionMode[] = ['SPLIT_DISTRIBUTE', 'UNION', 'BROADCAST'];

/** An operator state handle, undefined for tag 0. */
export function readOperatorState(r: HandleReader): OperatorHandle | undefined {
  const { c } = r;
  const tag = c.u8('tag of an operator state handle');
  if (tag === 0) return undefined;
  if (tag !== 4 && tag !== 17) return badTag(c, tag, 'operator');
  const n = c.count('number of operator states', 7);
  const states: { name: string; mode: DistributionMode; offsets: number[] }[] = [];
  for (let i = 0; i < n; i++) {
    const name = c.utf('operator state name');
    const ordinal = c.i8('distribution mode');
    const mode = MODES[ordinal] ?? c.fail(`distribution mode of operator state "${name}" is ${ordinal}`, c.position - 1);
    const count = c.count(`number of offsets of operator state "${name}"`, 8);
    states.push({ name, mode, offsets: readLongs(c, count, 'operator state offset') });
  }
  if (tag === 4) return { kind: 'operator', tag, states, stream: readRequiredStream(r, 'operator state') };
  const taskOwnedDir = c.utf('task-owned directory');
  const sharedDir = c.utf('shared directory');
  const empty = c.bool('whether the state is empty');
  const at = c.position;
  const stream = readRequiredStream(r, 'operator state');
  if (stream.kind !== 'segment' && stream.kind !== 'empty-segment')
    c.fail(`merged operator state lies in a ${stream.kind} stream, expected a file segment`, at);
  return { kind: 'operator', tag, states, stream, taskOwnedDir, sharedDir, empty };
}
