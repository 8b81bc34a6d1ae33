/**
 * The headers of state files: which states are registered, with which serializers.
 *
 *   keyed      i32 version 6 · bool compressed · snapshot of the key serializer · i16 n · n × state
 *   operator   i32 version 5 or 6 · [6: bool compressed] · i16 n · n × state · i16 m · m × broadcast state
 *   state      utf name · i32 kind (0 keyed, 1 operator, 2 broadcast, 3 timer, 4 keyed of 2.x) · i32 n · n × (utf option, utf value) ·
 *              i32 n · n × (utf key, snapshot)
 *   snapshot   i32 2 · utf class · i32 version · body
 *
 * Nothing says how long a snapshot is: behind one of an unknown class the reader looks for the next anchor
 * (serializers/resync.ts), so that one unknown serializer does not hide the states that follow.
 *
 * Flink: KeyedBackendSerializationProxy 6, OperatorBackendSerializationProxy 5 (1.7–1.17) and 6 (1.18–2.3),
 * StateMetaInfoSnapshotReadersWriters 6 and 7.
 */
import { CorruptError, StateQueryError, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { ByteSource } from '../io/source.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import { unknownBody } from '../serializers/probe.js';
import { readSnapshotWithProxy, readVersionedSnapshot } from '../serializers/registry.js';
import { findNextAnchor, findNextState } from '../serializers/resync.js';
import { UnknownSnapshotError } from '../serializers/snapshot.js';
import type { KeyedHeader, KeyedStateType, OperatorHeader, RegisteredKind, RegisteredState } from './entry.js';

/** Which Flink wrote the versions that are not read. */
const OLD_KEYED: Readonly<Record<number, string>> = {
  1: '1.2',
  2: '1.3 before its release',
  3: '1.3',
  4: '1.4 or 1.5',
  5: '1.6',
};
const OLD_OPERATOR: Readonly<Record<number, string>> = { 1: '1.2', 2: '1.3 or 1.4', 3: '1.5', 4: '1.6' };

/** Headers hold schemas; none is longer than this. */
const MAX_HEADER = 1 << 25;

const KINDS: readonly RegisteredKind[] = ['keyed', 'operator', 'broadcast', 'timer', 'keyed'];
const SERIALIZER_KEYS: readonly string[] = ['KEY_SERIALIZER', 'NAMESPACE_SERIALIZER', 'VALUE_SERIALIZER', 'USER_KEY_SERIALIZER'];
/** What a state of each kind has to have. */
const REQUIRED: Readonly<Record<RegisteredKind, readonly string[]>> = {
  keyed: ['NAMESPACE_SERIALIZER', 'VALUE_SERIALIZER'],
  timer: ['VALUE_SERIALIZER'],
  operator: ['VALUE_SERIALIZER'],
  broadcast: ['KEY_SERIALIZER', 'VALUE_SERIALIZER'],
};
const STATE_TYPES: readonly string[] = ['UNKNOWN', 'VALUE', 'LIST', 'REDUCING', 'FOLDING', 'AGGREGATING', 'MAP'];
const MODES: readonly string[] = ['SPLIT_DISTRIBUTE', 'UNION', 'BROADCAST'];

/**
 * Reads the header at the beginning of a keyed state file.
 * @param limit where the header must have ended: the first offset of data, or the file's size
 */
export function readKeyedHeader(source: ByteSource, limit: number, where: string): KeyedHeader {
  return readHeader(source, limit, where, keyedHeader);
}

/** Reads the header at the beginning of an operator state file; `limit` as for keyed state. */
export function readOperatorHeader(source: ByteSource, limit: number, where: string): OperatorHeader {
  return readHeader(source, limit, where, operatorHeader);
}

/** Headers are mostly a few KB, and the first offset of data may be far away: reads a little, and more when it was too little. */
function readHeader<T extends { readonly size: number }>(
  source: ByteSource,
  limit: number,
  where: string,
  parse: (c: Cursor, complete: boolean) => T,
): T {
  const origin = { file: source.name, where };
  if (limit > source.size)
    throw new CorruptError(`state begins at byte ${limit}, the file has ${source.size} bytes`, {
      ...origin,
      offset: source.base + source.size,
      hint: 'the file is truncated, or its snapshot was not completed',
    });
  for (let length = 1 << 14; length < limit; length *= 8) {
    try {
      const header = parse(new Cursor(source.read(0, length), 0, length, origin, source.base), false);
      if (header.size < length) return header;
    } catch (error) {
      if (!(error instanceof CorruptError) && !(error instanceof UnknownSnapshotError)) throw error;
      if (length > MAX_HEADER) throw error;
    }
  }
  return parse(new Cursor(source.read(0, limit), 0, limit, origin, source.base), true);
}

/** Parses a keyed header. `complete`: the cursor ends where the header does, so unknown snapshots may be stepped over. */
export function keyedHeader(c: Cursor, complete = true): KeyedHeader {
  const version = readVersion(c, OLD_KEYED, [6], 'keyed');
  const compressed = c.bool('compressed');
  const states: RegisteredState[] = [];
  const resume = (bodyAt: number): boolean => {
    const next = findNextState(c.bytes, bodyAt + 2, c.end);
    c.position = next === undefined ? c.end - 2 : next.at - 2;
    return true;
  };
  const stateFollows = () => c.position === c.end - 2 || findNextState(c.bytes, c.position, c.end)?.at === c.position + 2;
  const { snapshot: key } = readSnapshot(c, complete, resume, stateFollows);
  const n = c.u16('number of states');
  for (let i = 0; i < n; i++) states.push(readState(c, states.length, { complete, last: i === n - 1 }));
  return { version, compressed, key, states, size: c.position };
}

/**
 * Reads one StateMetaInfoSnapshot that stands alone, with something else behind it (changelogs).
 * @returns the state; `c` stands behind it, or at its end when a serializer was not known
 */
export function readStateMetaInfo(c: Cursor, id: number): RegisteredState {
  return readState(c, id, { complete: true, last: true, tail: true });
}

/** Parses an operator header; see `keyedHeader`. */
export function operatorHeader(c: Cursor, complete = true): OperatorHeader {
  const version = readVersion(c, OLD_OPERATOR, [5, 6], 'operator');
  const compressed = version >= 6 && c.bool('compressed');
  const states: RegisteredState[] = [];
  for (const last of [false, true]) {
    const n = c.u16(last ? 'number of broadcast states' : 'number of list states');
    for (let i = 0; i < n; i++)
      states.push(readState(c, states.length, { complete, last: last && i === n - 1, lastOfList: !last && i === n - 1 }));
  }
  return { version, compressed, states, size: c.position };
}

function readVersion(c: Cursor, old: Readonly<Record<number, string>>, known: readonly number[], what: string): number {
  const at = c.position;
  const version = c.i32('format version');
  if (known.includes(version)) return version;
  const flink = old[version];
  if (flink !== undefined)
    throw new UnsupportedError(`${what} state format ${version}, which Flink ${flink} wrote, is not read`, {
      ...c.origin,
      offset: c.base + at,
      hint: 'restore it once with Flink 1.8 to 1.16 and take a new savepoint',
    });
  if (version > 0 && version < 64)
    throw new UnsupportedError(`${what} state format ${version} is newer than what is known (${known.join(', ')})`, {
      ...c.origin,
      offset: c.base + at,
    });
  return c.fail(`${what} state begins with ${version}, expected the format version ${known.join(' or ')}`, at);
}

/** Where a state stands in its header. */
interface Place {
  /** unknown snapshots may be stepped over: the cursor ends where the header does */
  readonly complete: boolean;
  /** no other state follows */
  readonly last: boolean;
  /** the i16 count of broadcast states follows */
  readonly lastOfList?: boolean;
  /** something else follows that is no part of a header */
  readonly tail?: boolean;
}

/** Reads one StateMetaInfoSnapshot. */
function readState(c: Cursor, id: number, place: Place): RegisteredState {
  const name = c.utf('state name');
  const at = c.position;
  const ordinal = c.i32('kind of state');
  const kind = KINDS[ordinal];
  if (kind === undefined) c.fail(`kind ${ordinal} of state ${name} is not known`, at);
  const options = new Map<string, string>();
  for (let n = c.count('number of options', 4); n > 0; n--) options.set(c.utf('option'), c.utf('option value'));
  const serializers = new Map<string, SerializerSnapshot>();
  const unreadable: string[] = [];
  const n = c.count('number of serializers', 6);
  for (let i = 0; i < n; i++) {
    const keyAt = c.position;
    const key = c.utf('serializer key');
    if (!SERIALIZER_KEYS.includes(key)) c.fail(`serializer ${key} of state ${name} is not known`, keyAt);
    if (serializers.has(key)) c.fail(`state ${name} has two ${key}`, keyAt);
    const next = { ...place, more: i < n - 1 };
    const { snapshot, found } = readSnapshot(
      c,
      place.complete,
      bodyAt => findEnd(c, bodyAt, next),
      () => follows(c, next),
    );
    serializers.set(key, kind === 'timer' && !found && place.tail !== true ? timerOf(c, keyAt, snapshot) : snapshot);
    if (isGuess(snapshot)) unreadable.push(snapshot.unknown ?? `a part of ${snapshot.text} is not known`);
    if (!found) break;
  }
  const stateType = options.get('KEYED_STATE_TYPE');
  const mode = options.get('OPERATOR_STATE_DISTRIBUTION_MODE');
  if (stateType !== undefined && !STATE_TYPES.includes(stateType)) c.fail(`type ${stateType} of state ${name} is not known`, at);
  if (mode !== undefined && !MODES.includes(mode)) c.fail(`distribution mode ${mode} of state ${name} is not known`, at);
  if (unreadable.length === 0) for (const key of REQUIRED[kind]) if (!serializers.has(key)) c.fail(`state ${name} has no ${key}`, at);
  const field = <K extends string>(as: K, key: string) => {
    const snapshot = serializers.get(key);
    return (snapshot === undefined ? {} : { [as]: snapshot }) as { [P in K]?: SerializerSnapshot };
  };
  return {
    id,
    name,
    kind,
    v2: ordinal === 4,
    ...(stateType === undefined ? {} : { stateType: stateType as KeyedStateType }),
    ...(mode === undefined ? {} : { mode: mode as NonNullable<RegisteredState['mode']> }),
    ...field('key', 'KEY_SERIALIZER'),
    ...field('namespace', 'NAMESPACE_SERIALIZER'),
    ...field('value', 'VALUE_SERIALIZER'),
    ...field('userKey', 'USER_KEY_SERIALIZER'),
    ...(unreadable.length === 0 ? {} : { unreadable: unreadable.join('; ') }),
  };
}

/** Namespaces that end where their class and version do, so that they can be told from behind. */
const NAMESPACES = [
  'org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot',
  'org.apache.flink.streaming.api.windowing.windows.TimeWindow$Serializer$TimeWindowSerializerSnapshot',
  'org.apache.flink.streaming.api.windowing.windows.GlobalWindow$Serializer$GlobalWindowSerializerSnapshot',
];

/** A TimerSerializer whose key serializer is not known: the namespace's snapshot is the last thing before the cursor. */
function timerOf(c: Cursor, from: number, key: SerializerSnapshot): SerializerSnapshot {
  for (const name of NAMESPACES) {
    const at = c.position - name.length - 6;
    if (at < from) continue;
    const behind = new Cursor(c.bytes, at, c.position, c.origin, c.base);
    if (behind.u16() !== name.length || Buffer.from(behind.slice(name.length)).toString('latin1') !== name) continue;
    behind.position = at;
    const namespace = readVersionedSnapshot(behind);
    const children = [
      { name: 'key', snapshot: key },
      { name: 'namespace', snapshot: namespace },
    ];
    return { ...key, serializer: 'TimerSerializer', text: `Timer(${key.text}, ${namespace.text})`, children };
  }
  return key;
}

/** What stands behind a serializer of a state. */
interface Following extends Place {
  /** another serializer of the state */
  readonly more: boolean;
}

/**
 * Reads a serializer's snapshot. Behind one that is not known the reader resumes at the next anchor; one whose structure was
 * guessed is believed only when what must follow it does.
 */
function readSnapshot(
  c: Cursor,
  complete: boolean,
  resume: (bodyAt: number) => boolean,
  follows: () => boolean,
): { readonly snapshot: SerializerSnapshot; readonly found: boolean } {
  const at = c.position;
  try {
    const snapshot = readSnapshotWithProxy(c);
    if (!isGuess(snapshot) || follows()) return { snapshot, found: true };
    throw new UnknownSnapshotError(snapshot.snapshotClass, snapshot.version, at + 4, snapshot.unknown ?? 'unknown serializer');
  } catch (error) {
    if (!(error instanceof UnknownSnapshotError) || !complete) throw error;
    const { snapshotClass, version, bodyAt } = error;
    return { snapshot: unknownSnapshot(snapshotClass, version), found: resume(bodyAt) };
  }
}

/** The snapshot of a serializer that is not known: opaque values. */
export function unknownSnapshot(snapshotClass: string, version: number, reason?: string): SerializerSnapshot {
  const body = unknownBody({ snapshotClass, version }, undefined);
  return { snapshotClass, version, children: [], details: {}, ...body, ...(reason === undefined ? {} : { unknown: reason }) };
}

function isGuess(snapshot: SerializerSnapshot): boolean {
  return snapshot.unknown !== undefined || snapshot.children.some(child => isGuess(child.snapshot));
}

function follows(c: Cursor, next: Following): boolean {
  if (next.more) return findNextAnchor(c.bytes, c.position, c.end)?.at === c.position;
  if (next.last) return next.tail === true || c.position === c.end;
  const state = findNextState(c.bytes, c.position, c.end);
  if (next.lastOfList) return state?.at === c.position + 2 || c.position === c.end - 2;
  return state?.at === c.position;
}

/**
 * Moves behind the body of an unknown snapshot, to what comes next.
 * @returns false: the state's other serializers were not found, the cursor stands behind the state
 */
function findEnd(c: Cursor, bodyAt: number, next: Following): boolean {
  const anchor = next.more ? findNextAnchor(c.bytes, bodyAt, c.end) : findNextState(c.bytes, bodyAt, c.end);
  if (anchor?.kind === 'serializer') {
    c.position = anchor.at;
    return true;
  }
  // between the two lists of an operator header stands the number of broadcast states, which may be none
  if (anchor !== undefined && !next.last) c.position = next.lastOfList ? anchor.at - 2 : anchor.at;
  else c.position = next.lastOfList ? c.end - 2 : c.end;
  return false;
}

/** An error with the place in the snapshot added, where it has none. */
export function withWhere(error: unknown, where: string, file?: string): unknown {
  if (!(error instanceof StateQueryError) || (error.where !== undefined && error.file !== undefined)) return error;
  const details = {
    where: error.where ?? where,
    ...(error.file === undefined ? (file === undefined ? {} : { file }) : { file: error.file }),
    ...(error.offset === undefined ? {} : { offset: error.offset }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    cause: error.cause ?? error,
  };
  if (error instanceof CorruptError) return new CorruptError(error.message, details);
  if (error instanceof UnsupportedError) return new UnsupportedError(error.message, details);
  return error;
}
