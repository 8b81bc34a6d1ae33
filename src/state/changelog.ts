/**
 * Keyed state of the changelog state backend: the materialized state of another backend, and the changes made since.
 *
 *   handle   materialized handles (canonical, heap, RocksDB, changelogs in their turn), may be none
 *            change sets (change-sets.ts), applied in order (change.ts)
 *
 * The changes are held in memory (overlay.ts), the base streams: an entry that no change touched passes as it is, the others
 * are made anew in the base's layout, and what only the changes hold follows. Opening reads the registrations only.
 *
 * Flink: ChangelogStateBackendHandle, ChangelogKeyedStateBackend, ChangelogBackendLogApplier (1.15–2.3).
 */
import type { ChangelogHandle, ChangelogMemoryHandle, ChangelogStreamHandle, KeyedHandle } from '../checkpoint/handles.js';
import { CorruptError, UnsupportedError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import { copyOf } from '../io/window.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import { MERGE_NAMESPACES, readRegistration } from './change.js';
import { REGISTRATIONS, readChangeSets } from './change-sets.js';
import { ChangelogCursor, inRange } from './changelog-cursor.js';
import type { EntryFilter, KeyedHeader, KeyedStateReader, RegisteredState, StateContext } from './entry.js';
import { unknownSnapshot, withWhere } from './header.js';
import { guessKey, type KeySample } from './key-guess.js';
import { StateOverlay } from './overlay.js';
import { sameState } from './same-state.js';
import { codecsOf } from './state-codecs.js';

/** Opens any keyed handle: open.ts. */
export type OpenKeyed = (handle: KeyedHandle, context: StateContext) => KeyedStateReader;

/** Flink nests changelog handles at most once. */
const MAX_NESTING = 8;
/** changes looked at to find out the key serializer */
const SAMPLES = 2000;
const SAMPLE_BYTES = 1 << 22;

/** A base and which of the changelog's states its state ids are. */
export interface Base {
  readonly reader: KeyedStateReader;
  readonly ids: readonly number[];
}

/** Opens a changelog handle. @throws StateQueryError */
export function openChangelog(handle: ChangelogHandle, context: StateContext, openKeyed: OpenKeyed, depth = 0): KeyedStateReader {
  if (depth > MAX_NESTING) throw new CorruptError(`changelog handles nest deeper than ${MAX_NESTING}`, { where: context.where });
  const bases: Base[] = [];
  try {
    const states: RegisteredState[] = [];
    for (const part of handle.materialized) {
      const reader = part.kind === 'changelog' ? openChangelog(part, context, openKeyed, depth + 1) : openKeyed(part, context);
      bases.push({ reader, ids: reader.header.states.map(state => register(states, state)) });
    }
    const logs = handle.nonMaterialized.map(log => logHandle(log, context));
    for (const log of logs)
      readChangeSets(log, context, true, (keyGroup, change) => {
        if (keyGroup === REGISTRATIONS) register(states, readRegistration(change, states.length).state);
        return undefined;
      });
    const layout = bases[0]?.reader.layout ?? 'composite';
    if (bases.some(base => base.reader.layout !== layout))
      throw new UnsupportedError('a changelog over state in two layouts', { where: context.where });
    const { key, keyGuess } = keyOf(bases, states, logs, handle, context);
    const header: KeyedHeader = { version: 6, compressed: false, key, states, size: 0, ...(keyGuess === undefined ? {} : { keyGuess }) };
    let replayed: Replay | undefined;
    const replay = (): Replay => {
      replayed ??= replayChanges(header, logs, handle, context);
      return replayed;
    };
    return {
      header,
      layout,
      backend: 'changelog',
      entries: (filter: EntryFilter) => new ChangelogCursor(header, layout, bases, replay().overlays, filter, handle.range, context),
      unresolved: () => unresolvedOf(replay(), bases),
      close: () => {
        for (const { reader } of bases) reader.close();
      },
    };
  } catch (error) {
    for (const { reader } of bases) reader.close();
    throw withWhere(error, context.where);
  }
}

function logHandle(log: KeyedHandle, context: StateContext): ChangelogStreamHandle | ChangelogMemoryHandle {
  if (log.kind === 'changelog-stream' || log.kind === 'changelog-memory') return log;
  throw new CorruptError(`a ${log.kind} handle among the changes of a changelog`, { where: context.where });
}

/** The id of a state among those known so far, which it joins when it is new. */
function register(states: RegisteredState[], state: RegisteredState): number {
  const known = states.findIndex(other => sameState(other, state));
  if (known < 0) {
    states.push({ ...state, id: states.length });
    return states.length - 1;
  }
  if (state.ttlMillis !== undefined) states[known] = { ...states[known], ttlMillis: state.ttlMillis };
  return known;
}

/** The key serializer: the base's, that of a timer state, or a guess. */
function keyOf(
  bases: readonly Base[],
  states: readonly RegisteredState[],
  logs: readonly (ChangelogStreamHandle | ChangelogMemoryHandle)[],
  handle: ChangelogHandle,
  context: StateContext,
): { readonly key: SerializerSnapshot; readonly keyGuess?: string } {
  const base = bases[0]?.reader.header;
  if (base !== undefined) return { key: base.key, ...(base.keyGuess === undefined ? {} : { keyGuess: base.keyGuess }) };
  const timer = states.find(state => state.kind === 'timer' && state.value?.children.length === 2);
  if (timer !== undefined) return { key: timer.value?.children[0].snapshot as SerializerSnapshot };
  const samples: KeySample[] = [];
  let size = 0;
  const ids = new Map<number, RegisteredState>();
  const unknown = unknownSnapshot('unknown', 0, 'the changelog does not have the key serializer');
  for (const log of logs)
    readChangeSets(log, context, false, (keyGroup, change) => {
      if (keyGroup === REGISTRATIONS) {
        const { changeId, state } = readRegistration(change, 0);
        ids.set(changeId, state);
      } else if (inRange(handle.range, keyGroup)) {
        const op = change.i8();
        const state = ids.get(change.i16());
        if (state === undefined || op === MERGE_NAMESPACES) return undefined;
        const bytes = copyOf(change.bytes, change.position, change.end);
        samples.push({ keyGroup, bytes, rest: c => tryApply(unknown, state, op, bytes, c, context) });
        size += bytes.length;
      }
      return samples.length < SAMPLES && size < SAMPLE_BYTES ? undefined : false;
    });
  const guess = guessKey(samples, context.maxParallelism, context.codecs);
  if (guess !== undefined) return { key: guess.snapshot, keyGuess: guess.reason };
  return { key: unknown, ...(samples.length === 0 ? {} : { keyGuess: unknown.unknown as string }) };
}

/** Applies a change whose key was read to nothing: throws unless the rest ends exactly. */
function tryApply(key: SerializerSnapshot, state: RegisteredState, op: number, bytes: Uint8Array, c: Cursor, context: StateContext): void {
  const end = c.position;
  const codecs = codecsOf(key, state, context.codecs);
  // the key was found to end here
  const known = { ...codecs.key, unbounded: false, skip: (k: Cursor) => void (k.position = end) };
  const overlay = new StateOverlay(state, { ...codecs, key: known });
  c.reset(bytes, 0, bytes.length);
  overlay.apply(op, 0, c);
}

interface Replay {
  /** by state id; undefined: not changed */
  readonly overlays: readonly (StateOverlay | undefined)[];
}

/** Applies all changes. */
function replayChanges(
  header: KeyedHeader,
  logs: readonly (ChangelogStreamHandle | ChangelogMemoryHandle)[],
  handle: ChangelogHandle,
  context: StateContext,
): Replay {
  const overlays: (StateOverlay | undefined)[] = [];
  // numbers of states mean the last registration before them, whichever subtask made it
  const ids = new Map<number, number>();
  for (const log of logs)
    readChangeSets(log, context, false, (keyGroup, change) => {
      if (keyGroup === REGISTRATIONS) {
        const { changeId, state } = readRegistration(change, 0);
        const known = header.states.findIndex(other => sameState(other, state));
        if (known < 0) change.fail(`state ${state.name} was registered otherwise when the changelog was opened`);
        ids.set(changeId, known);
        return;
      }
      if (!inRange(handle.range, keyGroup)) return;
      const op = change.i8();
      const changeId = change.i16();
      const id = ids.get(changeId) ?? change.fail(`change of state ${changeId}, which was not registered`, change.position - 2);
      let overlay = overlays[id];
      if (overlay === undefined) {
        const state = header.states[id];
        overlay = new StateOverlay(state, codecsOf(header.key, state, context.codecs));
        overlays[id] = overlay;
      }
      overlay.apply(op, keyGroup, change);
    });
  return { overlays };
}

/** What only the job's code could make, by state. */
function unresolvedOf(replay: Replay, bases: readonly Base[]): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { reader, ids } of bases) for (const [id, reason] of reader.unresolved?.() ?? []) found.set(ids[id], reason);
  replay.overlays.forEach((overlay, id) => {
    if (overlay === undefined) return;
    let merged = 0;
    if (overlay.form === 'value')
      for (const cells of overlay.cells.values()) for (const cell of cells.values()) if (cell.segments.length > 1) merged++;
    const reasons = [];
    if (merged > 0) reasons.push(`${merged} ${merged === 1 ? 'value' : 'values'} of merged namespaces need the job's own function`);
    if (overlay.unapplied.length > 0)
      reasons.push(`${overlay.unapplied.length} changes could not be applied: ${overlay.unapplied[0].reason}`);
    if (reasons.length > 0) found.set(id, reasons.join('; '));
  });
  return found;
}
