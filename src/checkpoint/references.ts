/**
 * What a snapshot refers to: every stream handle of `_metadata` with its place there, and every file with its users. The base of the
 * tables `state_handles` and `files` and of `verify`.
 *
 * Bytes are counted once here, however many handles refer to them: a whole file once, parts of a merged file as the union of their
 * ranges, inline state as part of `_metadata`.
 */
import { resolve, sep } from 'node:path';
import type { ResolvedFile, SnapshotFiles } from './files.js';
import type { ChannelHandle, KeyedHandle, KeyGroupRange, Metadata, Operator, OperatorHandle, StreamHandle } from './handles.js';
import { localPath, remoteScheme } from './paths.js';
import { streamSize } from './sizes.js';

/** The place of a handle in an operator: what it is the state of. */
export type StateSlot =
  | 'coordinator'
  | 'managed-operator'
  | 'raw-operator'
  | 'managed-keyed'
  | 'raw-keyed'
  | 'input-channel'
  | 'output-channel'
  | 'legacy';

/** What a stream is to its handle. */
export type FileRole =
  | 'metadata'
  | 'coordinator'
  | 'operator'
  | 'raw-operator'
  | 'keyed'
  | 'raw-keyed'
  | 'meta'
  | 'shared'
  | 'private'
  | 'changelog'
  | 'channel'
  | 'legacy';

/** One stream handle, and where it stands. */
export interface StreamReference {
  readonly operator: Operator;
  /** -1: the operator's coordinator */
  readonly subtask: number;
  readonly slot: StateSlot;
  readonly role: FileRole;
  /** under a changelog handle: whether it is part of the materialized state */
  readonly materialized?: boolean;
  /** class tag of the handle that holds the stream, undefined for coordinators and channels */
  readonly tag?: number;
  readonly keyGroups?: KeyGroupRange;
  /** RocksDB's or ForSt's name of the file */
  readonly localName?: string;
  readonly channel?: ChannelHandle;
  /** bytes of the state: of the stream, or of this channel */
  readonly size: number;
  readonly stream: StreamHandle;
}

/** Every stream handle of the snapshot, in the order of `_metadata`. A change set in memory counts as an inline stream. */
export function* streamReferences(metadata: Metadata): Generator<StreamReference> {
  for (const operator of metadata.operators) {
    if (operator.coordinator !== undefined) {
      const stream = operator.coordinator;
      yield { operator, subtask: -1, slot: 'coordinator', role: 'coordinator', size: streamSize(stream), stream };
    }
    for (const subtask of operator.subtasks) {
      const at = { operator, subtask: subtask.index };
      if (subtask.managedOperator !== undefined) yield ofOperator(subtask.managedOperator, { ...at, slot: 'managed-operator' }, 'operator');
      if (subtask.rawOperator !== undefined) yield ofOperator(subtask.rawOperator, { ...at, slot: 'raw-operator' }, 'raw-operator');
      if (subtask.managedKeyed !== undefined) yield* ofKeyed(subtask.managedKeyed, { ...at, slot: 'managed-keyed' }, 'keyed');
      if (subtask.rawKeyed !== undefined) yield* ofKeyed(subtask.rawKeyed, { ...at, slot: 'raw-keyed' }, 'raw-keyed');
      for (const channel of subtask.channels) {
        const slot = channel.direction === 'input' ? 'input-channel' : 'output-channel';
        yield { ...at, slot, role: 'channel', channel, size: channel.size, stream: channel.stream };
      }
      if (subtask.legacy !== undefined)
        yield { ...at, slot: 'legacy', role: 'legacy', size: streamSize(subtask.legacy), stream: subtask.legacy };
    }
  }
}

/** The stream handles of one keyed handle. */
export function keyedReferences(operator: Operator, subtask: number, handle: KeyedHandle): Generator<StreamReference> {
  return ofKeyed(handle, { operator, subtask, slot: 'managed-keyed' }, 'keyed');
}

type Place = Pick<StreamReference, 'operator' | 'subtask' | 'slot' | 'materialized'>;

function ofOperator(handle: OperatorHandle, place: Place, role: FileRole): StreamReference {
  return { ...place, role, tag: handle.tag, size: streamSize(handle.stream), stream: handle.stream };
}

function* ofKeyed(handle: KeyedHandle, place: Place, role: 'keyed' | 'raw-keyed'): Generator<StreamReference> {
  const common = { ...place, tag: handle.tag, keyGroups: handle.range };
  switch (handle.kind) {
    case 'key-groups':
      yield { ...common, role, size: streamSize(handle.stream), stream: handle.stream };
      return;
    case 'incremental':
      yield { ...common, role: 'meta', size: streamSize(handle.meta), stream: handle.meta };
      for (const list of ['shared', 'private'] as const)
        for (const { localName, stream } of handle[list]) yield { ...common, role: list, localName, size: streamSize(stream), stream };
      return;
    case 'changelog':
      for (const inner of handle.materialized) yield* ofKeyed(inner, { ...place, materialized: true }, role);
      for (const inner of handle.nonMaterialized) yield* ofKeyed(inner, { ...place, materialized: false }, role);
      return;
    case 'changelog-memory':
      for (const { bytes, offset } of handle.changes)
        yield { ...common, role: 'changelog', size: bytes.length, stream: { kind: 'inline', name: '', bytes, offset } };
      return;
    case 'changelog-stream':
      for (const { stream } of handle.parts) yield { ...common, role: 'changelog', size: streamSize(stream), stream };
      return;
  }
}

/** Whose bytes a file holds: by the directory that Flink put it in. */
export type FileScope = 'exclusive' | 'shared' | 'task-owned';

export interface FileUser {
  readonly operator: Operator;
  /** -1: the coordinator */
  readonly subtask: number;
}

export interface ReferencedFile {
  /** as `_metadata` names it; of `_metadata` itself its path */
  readonly handlePath: string;
  /** where it lies now, undefined when it was not found */
  readonly path: string | undefined;
  readonly via: ResolvedFile['via'] | undefined;
  /** bytes that the snapshot refers to, each once; undefined when neither the handle nor a file tells */
  readonly size: number | undefined;
  /** bytes of the file, undefined when it was not found */
  readonly fileSize: number | undefined;
  readonly roles: readonly FileRole[];
  /** operators and subtasks that refer to it; empty for `_metadata` */
  readonly users: readonly FileUser[];
  /** handles that refer to it */
  readonly references: number;
  readonly scope: FileScope;
  /** whether it lies (a missing one: whether its handle says it lies) in the snapshot's own directory */
  readonly inside: boolean;
  /** false: not found; undefined: on another file system, where nothing was looked up */
  readonly present: boolean | undefined;
  /** the file is shorter than its handles say (of changelog files, whose handles give the uncompressed size, it is not known) */
  readonly short: boolean;
  /** parts of a merged file, undefined when the whole file is referred to */
  readonly segments: readonly { readonly start: number; readonly size: number }[] | undefined;
}

interface Collected {
  readonly stream: StreamHandle & { kind: 'file' | 'relative' | 'segment' };
  readonly roles: Set<FileRole>;
  readonly users: Map<string, FileUser>;
  readonly segments: { start: number; size: number }[];
  whole: boolean;
  wholeSize: number;
  references: number;
  shared: boolean;
}

/** Every file of the snapshot, `_metadata` first, each once, with everything that refers to it. */
export function referencedFiles(metadata: Metadata, files: SnapshotFiles): ReferencedFile[] {
  const collected = collect(metadata, stream => {
    const resolved = files.resolve(stream);
    return resolved !== undefined && 'path' in resolved ? resolved.path : undefined;
  });
  const own: ReferencedFile = {
    handlePath: files.metadataPath,
    path: files.metadataPath,
    via: 'path',
    size: metadata.size,
    fileSize: metadata.size,
    roles: ['metadata'],
    users: [],
    references: 1,
    scope: 'exclusive',
    inside: true,
    present: true,
    short: false,
    segments: undefined,
  };
  return [own, ...collected.map(file => describe(file, files))];
}

/** Bytes of `_metadata` and of all files it refers to, each once, as the handles say; no file is looked for. */
export function referencedBytes(metadata: Metadata): number {
  return collect(metadata, () => undefined).reduce((total, file) => total + Math.max(0, saidSize(file)), metadata.size);
}

/** @param placeOf what tells that two handles mean one file, where it is known */
function collect(metadata: Metadata, placeOf: (stream: StreamHandle) => string | undefined): Collected[] {
  const byFile = new Map<string, Collected>();
  for (const reference of streamReferences(metadata)) {
    const stream = fileStream(reference.stream);
    if (stream === undefined) continue;
    const key = placeOf(stream) ?? `${stream.kind === 'relative' ? './' : ''}${stream.path}`;
    let file = byFile.get(key);
    if (file === undefined) {
      file = { stream, roles: new Set(), users: new Map(), segments: [], whole: false, wholeSize: -1, references: 0, shared: false };
      byFile.set(key, file);
    }
    file.references++;
    file.roles.add(reference.role);
    file.users.set(`${reference.operator.id} ${reference.subtask}`, { operator: reference.operator, subtask: reference.subtask });
    if (reference.role === 'shared' || (stream.kind === 'segment' && stream.scope === 'SHARED')) file.shared = true;
    if (stream.kind === 'segment') file.segments.push({ start: stream.start, size: stream.size });
    else {
      file.whole = true;
      file.wholeSize = Math.max(file.wholeSize, stream.size);
    }
  }
  return [...byFile.values()];
}

function fileStream(stream: StreamHandle): Collected['stream'] | undefined {
  switch (stream.kind) {
    case 'key-groups-stream':
      return fileStream(stream.handle.stream);
    case 'inline':
    case 'empty-segment':
      return undefined;
    default:
      return stream;
  }
}

function describe(file: Collected, files: SnapshotFiles): ReferencedFile {
  const { stream } = file;
  const resolved = files.resolve(stream);
  const found = resolved !== undefined && 'path' in resolved ? resolved : undefined;
  const own = files.directories.map(directory => resolve(directory) + sep);
  const isOwn = (path: string): boolean => own.some(directory => path.startsWith(directory));
  const segments = file.whole ? undefined : union(file.segments);
  const wanted = segments === undefined ? file.wholeSize : segments.reduce((end, s) => Math.max(end, s.start + s.size), 0);
  const said = saidSize(file);
  const uncompressed = stream.kind !== 'segment' && stream.uncompressed === true;
  const inside = found === undefined ? stream.kind === 'relative' || isOwn(localPath(stream.path)) : isOwn(resolve(found.path));
  return {
    handlePath: stream.path,
    path: found?.path,
    via: found?.via,
    size: said < 0 || uncompressed ? (found?.size ?? (said < 0 ? undefined : said)) : said,
    fileSize: found?.size,
    roles: [...file.roles],
    users: [...file.users.values()],
    references: file.references,
    scope: scopeOf(file),
    inside,
    present: found !== undefined ? true : remoteScheme(stream.path) === undefined ? false : undefined,
    short: found !== undefined && found.size < wanted && !uncompressed,
    segments,
  };
}

/** Bytes that the handles refer to; -1 when they do not know. */
function saidSize(file: Collected): number {
  return file.whole ? file.wholeSize : union(file.segments).reduce((total, s) => total + s.size, 0);
}

/** Sorted, without overlaps and touching parts. */
function union(parts: readonly { start: number; size: number }[]): { start: number; size: number }[] {
  const sorted = [...parts].sort((a, b) => a.start - b.start);
  const merged: { start: number; size: number }[] = [];
  for (const { start, size } of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.start + last.size) last.size = Math.max(last.size, start + size - last.start);
    else merged.push({ start, size });
  }
  return merged;
}

function scopeOf(file: Collected): FileScope {
  const { stream } = file;
  if (stream.kind === 'relative') return 'exclusive';
  if (file.shared) return 'shared';
  const place = /.*\/(shared|taskowned|dstl|chk-\d+)\//.exec(stream.path)?.[1];
  if (stream.kind === 'segment') return 'exclusive';
  if (place === 'shared') return 'shared';
  return place === 'taskowned' || place === 'dstl' ? 'task-owned' : 'exclusive';
}

/** Bytes of all files together, each referenced byte once; undefined sizes count as nothing. */
export function totalSize(files: readonly ReferencedFile[]): number {
  return files.reduce((total, file) => total + (file.size ?? 0), 0);
}

/** Whether every file lies in the snapshot's own directory. */
export function isSelfContained(files: readonly ReferencedFile[]): boolean {
  return files.every(file => file.inside);
}

/** Whether the directory can be moved: no handle has an absolute path. */
export function isRelocatable(metadata: Metadata): boolean {
  for (const { stream } of streamReferences(metadata)) {
    const file = fileStream(stream);
    if (file !== undefined && file.kind !== 'relative') return false;
  }
  return true;
}
