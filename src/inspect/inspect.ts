/**
 * Any one file of a snapshot as annotated bytes: what `statequery inspect` prints.
 *
 * What a file is, and where its parts begin, stands in the `_metadata` that refers to it; it is looked for around the file. A file that
 * none refers to is told by its first or last bytes, and shown as far as it can be read without offsets.
 */
import { basename } from 'node:path';
import type { ChangelogStreamHandle, IncrementalHandle, KeyedHandle, KeyGroupsHandle, OperatorHandle } from '../checkpoint/handles.js';
import type { StreamReference } from '../checkpoint/references.js';
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { type ByteSource, openFile, ReadStats, segmentOf } from '../io/source.js';
import { TYPE_NAMES, VALUE } from '../sst/internal-key.js';
import { CompositeKeys, keyGroupBytes } from '../state/composite-key.js';
import type { StateContext } from '../state/entry.js';
import { keyedHeader, operatorHeader } from '../state/header.js';
import { openRocksdbState } from '../state/rocksdb.js';
import type { OpenedSnapshot, OpenOptions } from '../tables/snapshot.js';
import type { OperatorView } from '../tables/states.js';
import { manifestNotes, textNotes } from './databases.js';
import { type Found, findSnapshot, innermost } from './find.js';
import { metadataNotes } from './metadata.js';
import { withName } from './named-numbers.js';
import { type Budget, covered, hexText, type Note } from './notes.js';
import { headerNotes, keyGroupNotes, operatorNotes, rawNotes } from './state-files.js';
import { changelogNotes, channelNotes, type InspectedChannel } from './streams.js';
import { type DescribeEntry, tableNotes } from './tables.js';
import { Shapes, textOf, timerMillis, valueText } from './values.js';

export type { Note } from './notes.js';

export interface InspectOptions extends OpenOptions {
  /** entries shown at most; all when left out */
  readonly entries?: number;
}

/**
 * The notes of a file, in order; those with a length cover every byte once.
 * @throws NotFoundError, IoError; damage is a note
 */
export function* inspectFile(path: string, options: InspectOptions = {}): Generator<Note> {
  for (const note of notesOf(path, options)) yield withName(note);
}

function* notesOf(path: string, options: InspectOptions): Generator<Note> {
  const source = openFile(path, options.stats ?? new ReadStats());
  const budget: Budget = { left: options.entries ?? Number.POSITIVE_INFINITY };
  let found: Found | undefined;
  try {
    if (source.size >= 4 && Buffer.from(source.read(0, 4)).toString('hex') === '4960672d') {
      yield* metadataNotes(source);
      return;
    }
    found = findSnapshot(path, options);
    if (found === undefined) {
      options.warn?.('no snapshot around the file refers to it: what it is, is told by its bytes');
      yield* sniffed(source, budget);
    } else {
      options.warn?.(`as ${found.snapshot.metadataPath} refers to it`);
      yield* regions(source, found, budget);
    }
  } finally {
    found?.snapshot.close();
    source.close();
  }
}

interface Region {
  readonly start: number;
  readonly size: number;
  readonly references: StreamReference[];
}

/** The parts of a merged file, or the whole file; each shown once, however many handles refer to it. */
function* regions(source: ByteSource, { snapshot, references }: Found, budget: Budget): Generator<Note> {
  const byPlace = new Map<string, Region>();
  for (const reference of references) {
    const stream = innermost(reference.stream);
    const start = stream.kind === 'segment' ? stream.start : 0;
    const size = stream.kind === 'segment' ? stream.size : source.size;
    const key = `${start} ${size}`;
    let region = byPlace.get(key);
    if (region === undefined) {
      region = { start, size, references: [] };
      byPlace.set(key, region);
    }
    region.references.push(reference);
  }
  const sorted = [...byPlace.values()].sort((a, b) => a.start - b.start || b.size - a.size);
  const notes = function* (): Generator<Note> {
    let end = 0;
    for (const region of sorted) {
      if (region.start < end || region.start + region.size > source.size) continue;
      end = region.start + region.size;
      const part = region.start === 0 && region.size === source.size ? source : segmentOf(source, region.start, region.size);
      const inner = regionNotes(snapshot, part, region.references, budget);
      yield* covered(inner, region.start, end, (offset, length) => [other(source, offset, length, 'not interpreted')]);
    }
  };
  yield* covered(notes(), 0, source.size, (offset, length) => [other(source, offset, length, 'not referred to by this snapshot')]);
}

function other(source: ByteSource, offset: number, length: number, field: string): Note {
  const bytes = source.read(offset, Math.min(length, 64));
  return { offset, length, field, value: length > 64 ? `${hexText(bytes)}… (${length} bytes)` : hexText(bytes) };
}

function* regionNotes(
  snapshot: OpenedSnapshot,
  source: ByteSource,
  references: readonly StreamReference[],
  budget: Budget,
): Generator<Note> {
  const [first] = references;
  const views = new Map(snapshot.operators.map(o => [o.operator, o]));
  const contextOf = (r: StreamReference): StateContext =>
    snapshot.contextOf({ operator: views.get(r.operator) as OperatorView, subtask: r.subtask });
  const context = contextOf(first);
  switch (first.role) {
    case 'keyed':
      yield* keyGroupNotes(
        references.flatMap(r => keyGroupsOf(r)),
        source,
        context,
        budget,
      );
      return;
    case 'raw-keyed': {
      const starts = references.flatMap(r =>
        keyGroupsOf(r).flatMap(h => h.offsets.map((at, i) => ({ at, field: `raw keyed state of key group ${h.range.first + i}` }))),
      );
      yield* rawNotes(source, unique(starts));
      return;
    }
    case 'operator':
      yield* operatorNotes(operatorHandleOf(first), source, context, budget);
      return;
    case 'raw-operator': {
      const offsets = operatorHandleOf(first).states.flatMap(s => s.offsets);
      yield* rawNotes(source, unique(offsets.map((at, i) => ({ at, field: `partition ${i} of raw operator state` }))));
      return;
    }
    case 'meta':
      yield* headerNotes(source, source.size, 'keyed', context.where);
      return;
    case 'changelog': {
      const handles = references.flatMap(r =>
        handlesOf(r).flatMap(h => (h.kind === 'changelog-stream' ? [{ handle: h as ChangelogStreamHandle, context: contextOf(r) }] : [])),
      );
      yield* changelogNotes(source, [...new Map(handles.map(h => [h.handle, h])).values()], budget);
      return;
    }
    case 'channel': {
      const own = new Set(references.map(r => r.channel));
      const channels = snapshot.operators.flatMap(operator =>
        operator.operator.subtasks.flatMap(subtask =>
          subtask.channels.map(
            (handle): InspectedChannel => ({
              handle,
              context: snapshot.contextOf({ operator, subtask: subtask.index }),
              own: own.has(handle),
            }),
          ),
        ),
      );
      yield* channelNotes(source, channels, budget);
      return;
    }
    case 'shared':
    case 'private':
      yield* databaseFile(source, first.localName ?? basename(source.name), budget, describerOf(first, context));
      return;
    default:
      yield* rawNotes(source, [{ at: 0, field: `${first.role} state` }]);
  }
}

function unique<T extends { readonly at: number }>(starts: readonly T[]): T[] {
  return [...new Map(starts.map(s => [s.at, s])).values()];
}

function* databaseFile(source: ByteSource, localName: string, budget: Budget, describe?: DescribeEntry): Generator<Note> {
  if (localName.endsWith('.sst')) yield* tableNotes(source, budget, describe);
  else if (/^MANIFEST-\d+$/.test(localName)) yield* manifestNotes(source);
  else if (localName === 'CURRENT' || localName === 'IDENTITY' || /^(OPTIONS-|LOG)/.test(localName)) yield* textNotes(source, localName);
  else yield* rawNotes(source, [{ at: 0, field: localName }]);
}

/** The keyed handles of the reference's subtask that hold its stream. */
function handlesOf({ operator, subtask, stream, slot }: StreamReference): KeyedHandle[] {
  const own = operator.subtasks.find(s => s.index === subtask);
  const root = slot === 'raw-keyed' ? own?.rawKeyed : own?.managedKeyed;
  const found: KeyedHandle[] = [];
  const visit = (handle: KeyedHandle): void => {
    switch (handle.kind) {
      case 'key-groups':
        if (handle.stream === stream) found.push(handle);
        if (handle.stream.kind === 'key-groups-stream') visit(handle.stream.handle);
        return;
      case 'incremental':
        if (handle.meta === stream || [...handle.shared, ...handle.private].some(f => f.stream === stream)) found.push(handle);
        return;
      case 'changelog':
        for (const inner of [...handle.materialized, ...handle.nonMaterialized]) visit(inner);
        return;
      case 'changelog-stream':
        if (handle.parts.some(p => p.stream === stream)) found.push(handle);
        return;
      case 'changelog-memory':
        return;
    }
  };
  if (root !== undefined) visit(root);
  return found;
}

const keyGroupsOf = (r: StreamReference): KeyGroupsHandle[] => handlesOf(r).filter((h): h is KeyGroupsHandle => h.kind === 'key-groups');

function operatorHandleOf({ operator, subtask, slot }: StreamReference): OperatorHandle {
  const own = operator.subtasks.find(s => s.index === subtask);
  return (slot === 'raw-operator' ? own?.rawOperator : own?.managedOperator) as OperatorHandle;
}

/** Entries of a table in words, by the header of the instance. */
function describerOf(reference: StreamReference, context: StateContext): DescribeEntry | undefined {
  const handle = handlesOf(reference).find((h): h is IncrementalHandle => h.kind === 'incremental');
  if (handle === undefined) return undefined;
  try {
    const { header } = openRocksdbState(handle, context);
    const keys = new CompositeKeys(header, context);
    const shapes = new Shapes(header.key, context.codecs);
    const prefix = keyGroupBytes(context.maxParallelism);
    return (family, userKey, value, type) => {
      const state = header.states.find(s => s.name === family);
      if (state === undefined || userKey.length < prefix) return undefined;
      const shape = shapes.of(state);
      const split = keys.of(state.id);
      try {
        split.split(userKey, prefix, userKey.length);
      } catch (error) {
        if (!(error instanceof StateQueryError)) throw error;
        return undefined;
      }
      const part = (start: number, end: number) => userKey.subarray(start, end);
      const group = prefix === 1 ? userKey[0] : (userKey[0] << 8) | userKey[1];
      const parts = [`key group ${group}`, `key ${textOf(shape.key, part(split.keyStart, split.keyEnd))}`];
      if (shape.namespace !== undefined) parts.push(`namespace ${textOf(shape.namespace, part(split.namespaceStart, split.namespaceEnd))}`);
      if (state.kind === 'timer') parts.push(`fires at ${timerMillis(part(split.userKeyStart, split.userKeyEnd))}`);
      else if (split.userKeyEnd > split.userKeyStart)
        parts.push(`map key ${textOf(shape.mapKey, part(split.userKeyStart, split.userKeyEnd))}`);
      if (state.kind !== 'timer' && (type === VALUE || TYPE_NAMES[type] === 'merge operand'))
        parts.push(`value ${valueText(shape, 'composite', value)}`);
      return parts.join(', ');
    };
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return undefined;
  }
}

/** A file that no snapshot refers to. */
function* sniffed(source: ByteSource, budget: Budget): Generator<Note> {
  const name = basename(source.name);
  const tail =
    source.size < 8
      ? ''
      : Buffer.from(source.read(source.size - 8, 8))
          .reverse()
          .toString('hex');
  if (tail === '88e241b785f4cff7' || tail === 'db4775248b80fb57') yield* tableNotes(source, budget);
  else if (/^(MANIFEST-\d+|CURRENT|IDENTITY|OPTIONS-|LOG)/.test(name)) yield* databaseFile(source, name, budget);
  else {
    const text = source.read(0, Math.min(source.size, 4096));
    const header = headerOf(source);
    if (/^MANIFEST-\d+\n$/.test(Buffer.from(text).toString('latin1'))) yield* textNotes(source, 'CURRENT');
    else if (header !== undefined) {
      const end = source.base + header.size;
      yield* headerNotes(source, header.size, header.kind, name);
      if (header.size < source.size)
        yield other(source, end, source.size - header.size, 'state (where its parts begin stands in _metadata)');
    } else if (source.size > 0) yield* rawNotes(source, [{ at: 0, field: 'not known' }]);
  }
}

const innerSize: Readonly<Record<'keyed' | 'operator', (c: Cursor) => { readonly size: number }>> = {
  keyed: c => keyedHeader(c, false),
  operator: c => operatorHeader(c, false),
};

/** The header that a state file begins with. */
function headerOf(source: ByteSource): { readonly kind: 'keyed' | 'operator'; readonly size: number } | undefined {
  const bytes = source.read(0, Math.min(source.size, 1 << 22));
  for (const kind of ['keyed', 'operator'] as const) {
    try {
      const { size } = innerSize[kind](new Cursor(bytes, 0, bytes.length, { file: source.name }));
      return { kind, size };
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
    }
  }
  return undefined;
}
