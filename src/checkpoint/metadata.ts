/**
 * `_metadata`: what a savepoint or checkpoint consists of. Big-endian, no padding, no checksum, no lengths around operators: that
 * the parse ends exactly at the end of the file (V2, V3) or at the Java stream of the properties (V4+) is the integrity check.
 *
 *   i32 0x4960672D, i32 version
 *   i64 checkpointId
 *   i32 n, n × MasterState     i32 0xC96B1696, i32 length, [i32 version, utf name, i32 m, m bytes] of that length
 *   i32 n, n × Operator
 *       V5+  utf name, utf uid          "" = not given
 *            16 bytes operator id, i32 parallelism, i32 maxParallelism
 *       V2   i32 chainLength (1)
 *       V3+  stream coordinator         null or inline
 *            i32 n                      V3+: -1 = fully finished, nothing follows
 *            n × Subtask
 *              V2   i32 index, i64 duration (-1), i32 nLegacy (0; 1.3: 0 or 1), nLegacy × stream
 *              V3+  i32 index           < 0: subtask -index-1 is finished, nothing follows
 *                   i32 flag, [operator handle]   managed operator state
 *                   i32 flag, [operator handle]   raw operator state
 *                   keyed handle                  managed keyed state
 *                   keyed handle                  raw keyed state
 *              V3+  i32 n, n × Channel            input channels
 *                   i32 n, n × Channel            result subpartitions
 *   V4+  Java stream AC ED 00 05 … of CheckpointProperties, to the end of the file (`properties.ts`)
 *
 * Handles are in `state-handles.ts`, channels in `channel-handles.ts`. V3 files of 1.11, 1.12–1.13, 1.14 and 1.15 differ in two places without saying so; they are told apart by parsing.
 * The operator id is the 16 bytes in file order, as Flink prints it.
 *
 * Flink: MetadataV2Serializer … MetadataV6Serializer, MasterState (1.15.4, 1.20.5, 2.3.0).
 */
import { constants } from 'node:buffer';
import { CorruptError, IoError, StateQueryError, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { openFile, type ReadStats } from '../io/source.js';
import { type ChannelReader, readChannels } from './channel-handles.js';
import type { ChannelHandle, MasterState, Metadata, MetadataLayout, Operator, OperatorHandle, StreamHandle, Subtask } from './handles.js';
import { MAX_KEY_GROUPS, readKeyed, readOperatorState, readStream } from './state-handles.js';

const MAGIC = 0x4960672d;
const MASTER_STATE_MAGIC = 0xc96b1696 | 0;
const JAVA_STREAM_MAGIC = 0xaced0005 | 0;

/** What a version of the format has. */
interface Format {
  readonly coordinators: boolean;
  /** `typed`: a type byte in front of each entry, merged entries possible */
  readonly channels: 'none' | 'plain' | 'typed';
  readonly properties: boolean;
  readonly names: boolean;
}
const FORMATS: Readonly<Record<number, Format>> = {
  2: { coordinators: false, channels: 'none', properties: false, names: false },
  3: { coordinators: true, channels: 'plain', properties: false, names: false },
  4: { coordinators: true, channels: 'plain', properties: true, names: false },
  5: { coordinators: true, channels: 'plain', properties: true, names: true },
  6: { coordinators: true, channels: 'typed', properties: true, names: true },
};

const REFUSED: Readonly<Record<number, { readonly flink: string; readonly hint: string }>> = {
  0: { flink: 'was written by Flink 1.1', hint: 'restore it with Flink 1.2 and take a savepoint there, then one with Flink 1.3 or later' },
  1: { flink: 'was written by Flink 1.2', hint: 'restore it with Flink 1.3 or later and take a new savepoint' },
  7: { flink: 'is an unreleased format of Flink’s master branch', hint: 'take the savepoint with a released Flink' },
};

/** Layouts to try, the likeliest first. Only V3 has more than one. */
interface Layout {
  readonly channels: NonNullable<MetadataLayout['channels']>;
  readonly changelog: NonNullable<MetadataLayout['changelog']>;
}
const CURRENT: Layout = { channels: 'with-subtask', changelog: '1.15' };
const V3_LAYOUTS: readonly Layout[] = [
  CURRENT,
  { channels: 'with-subtask', changelog: '1.14' },
  { channels: 'without-subtask', changelog: '1.15' },
];

interface MetadataReader extends ChannelReader {
  readonly format: Format;
  /** where in the format the reader stands: `operator 2 (8409ef…), subtask 0, managed keyed state` */
  operator: string | undefined;
  subtask: number | undefined;
  part: string | undefined;
}

/**
 * Parses a whole `_metadata` file. Inline state is not copied: the handles keep views of `bytes`.
 * @param name the file's path, for errors
 * @param cursorFor makes the cursor, which stands behind the version; it is called again for each layout that is tried
 * @throws UnsupportedError versions 0, 1, 7 and later; CorruptError anything that contradicts the format
 */
export function readMetadata(bytes: Uint8Array, name: string, cursorFor: CursorFor = plainCursor): Metadata {
  const version = readMetadataVersion(bytes, name);
  const format = FORMATS[version];
  const layouts = version === 3 ? V3_LAYOUTS : [CURRENT];
  let furthest: StateQueryError | undefined;
  for (const layout of layouts) {
    const r: MetadataReader = {
      c: cursorFor(bytes, name, () => placeOf(r)),
      format,
      channelLayout: layout.channels,
      typedChannels: format.channels === 'typed',
      changelogLayout: layout.changelog,
      sawChangelog: false,
      sawChannels: false,
      nesting: 0,
      operator: undefined,
      subtask: undefined,
      part: undefined,
    };
    try {
      return readBody(r, version);
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
      const placed = place(error, r);
      if (furthest === undefined || (placed.offset ?? 0) > (furthest.offset ?? 0)) furthest = placed;
      if (!r.sawChangelog && !r.sawChannels) break;
    }
  }
  throw furthest;
}

/**
 * Checks magic and version: all that is needed of a file's first 8 bytes before it is read whole.
 * @throws CorruptError, UnsupportedError
 */
export function readMetadataVersion(bytes: Uint8Array, name: string): number {
  const c = new Cursor(bytes, 0, bytes.length, { file: name });
  if (bytes.length < 8) throw new CorruptError(`a _metadata file has at least 8 bytes, this one ${bytes.length}`, { file: name });
  if (c.i32() !== MAGIC) {
    const found = Buffer.from(bytes.subarray(0, 4)).toString('hex');
    throw new CorruptError(`not a Flink _metadata file: it starts with ${found}, expected 4960672d`, {
      file: name,
      offset: 0,
      hint: 'name the directory of a savepoint or checkpoint, or the _metadata file in it',
    });
  }
  const version = c.i32();
  if (FORMATS[version] !== undefined) return version;
  const refused = REFUSED[version];
  if (refused !== undefined)
    throw new UnsupportedError(`_metadata version ${version} ${refused.flink}; versions 2 to 6 are read`, {
      file: name,
      offset: 4,
      hint: refused.hint,
    });
  if (version > 7 && version < 100)
    throw new UnsupportedError(`_metadata version ${version} is not known; versions 2 to 6 are read`, {
      file: name,
      offset: 4,
      hint: 'a newer statequery may read it',
    });
  throw new CorruptError(`_metadata version is ${version}, expected 2 to 6`, { file: name, offset: 4 });
}

/** Makes the cursor that reads; `place` says where in the format it stands. */
export type CursorFor = (bytes: Uint8Array, name: string, place: () => string) => Cursor;
const plainCursor: CursorFor = (bytes, name) => new Cursor(bytes, 8, bytes.length, { file: name });

const placeOf = (r: MetadataReader): string =>
  [r.operator, r.subtask === undefined ? undefined : `subtask ${r.subtask}`, r.part].filter(x => x !== undefined).join(', ');

/** The error with the place in the format added. */
function place(error: StateQueryError, r: MetadataReader): StateQueryError {
  const details = { file: error.file, offset: error.offset, where: placeOf(r) || undefined, hint: error.hint, cause: error.cause };
  return error instanceof UnsupportedError ? new UnsupportedError(error.message, details) : new CorruptError(error.message, details);
}

function readBody(r: MetadataReader, version: number): Metadata {
  const { c, format } = r;
  const checkpointId = c.i64Number('checkpoint id');
  if (checkpointId < 0) c.fail(`checkpoint id is ${checkpointId}`, c.position - 8);
  const masterStates: MasterState[] = [];
  r.part = 'master states';
  for (let n = c.count('number of master states', 8); n > 0; n--) masterStates.push(readMasterState(c));
  r.part = undefined;
  const operators: Operator[] = [];
  const ids = new Set<string>();
  const count = c.count('number of operators', 28);
  for (let i = 0; i < count; i++) {
    r.operator = `operator ${i}`;
    const operator = readOperator(r);
    if (ids.has(operator.id)) c.fail(`operator ${operator.id} occurs twice`, operator.start);
    ids.add(operator.id);
    operators.push(operator);
  }
  r.operator = undefined;
  let properties: Metadata['properties'];
  if (format.properties) {
    r.part = 'checkpoint properties';
    const offset = c.position;
    if (c.i32('magic of a Java object stream') !== JAVA_STREAM_MAGIC)
      c.fail('the operators are not followed by a Java object stream (ac ed 00 05)', offset);
    properties = { bytes: c.bytes.subarray(offset), offset };
  } else c.expectEnd('the operators');
  const layout: MetadataLayout =
    version === 3
      ? {
          channels: r.sawChannels ? r.channelLayout : undefined,
          changelog: r.sawChangelog ? r.changelogLayout : undefined,
        }
      : {};
  return { version, checkpointId, masterStates, operators, properties, layout, size: c.bytes.length };
}

function readMasterState(c: Cursor): MasterState {
  if (c.i32('magic of a master state') !== MASTER_STATE_MAGIC) c.fail('a master state does not start with c96b1696', c.position - 4);
  const length = c.count('length of a master state');
  const end = c.position + length;
  const version = c.i32('version of the master state');
  const name = c.utf('master state name');
  const size = c.count('length of a master state’s payload');
  const offset = c.offset;
  const bytes = c.slice(size, 'master state payload');
  if (c.position !== end) c.fail(`a master state of ${length} bytes ends at ${c.position}, expected ${end}`);
  return { name, version, bytes, offset };
}

function readOperator(r: MetadataReader): Operator {
  const { c, format } = r;
  const start = c.position;
  const name = format.names ? c.utf('operator name') : '';
  const uid = format.names ? c.utf('operator uid') : '';
  const id = Buffer.from(c.slice(16, 'operator id')).toString('hex');
  r.operator = `${r.operator} (${id})`;
  const at = c.position;
  const parallelism = c.i32('parallelism');
  const maxParallelism = c.i32('max parallelism');
  if (parallelism < 0 || parallelism > maxParallelism || maxParallelism > MAX_KEY_GROUPS)
    c.fail(`parallelism is ${parallelism} of at most ${maxParallelism}, the limit is ${MAX_KEY_GROUPS}`, at);
  let coordinator: StreamHandle | undefined;
  if (format.coordinators) {
    r.part = 'coordinator state';
    const before = c.position;
    coordinator = readStream(r, 'coordinator state');
    if (coordinator !== undefined && coordinator.kind !== 'inline')
      c.fail(`coordinator state is a ${coordinator.kind} handle, expected inline bytes`, before);
    r.part = undefined;
  } else c.i32('chain length');
  const subtasks: Subtask[] = [];
  const common = { id, name: name || undefined, uid: uid || undefined, parallelism, maxParallelism, coordinator, subtasks, start };
  if (c.i32() < 0 && format.coordinators) {
    if (coordinator !== undefined) c.fail('a fully finished operator has coordinator state', c.position - 4);
    return { ...common, fullyFinished: true, end: c.position };
  }
  c.position -= 4;
  const seen = new Set<number>();
  for (let n = c.count('number of subtasks', 4); n > 0; n--) {
    const before = c.position;
    const subtask = readSubtask(r);
    r.subtask = undefined;
    r.part = undefined;
    if (subtask.index >= parallelism) c.fail(`subtask ${subtask.index} of an operator with parallelism ${parallelism}`, before);
    if (seen.has(subtask.index)) c.fail(`subtask ${subtask.index} occurs twice`, before);
    seen.add(subtask.index);
    subtasks.push(subtask);
  }
  return { ...common, fullyFinished: false, end: c.position };
}

function readSubtask(r: MetadataReader): Subtask {
  const { c, format } = r;
  const index = c.i32('subtask index');
  let legacy: StreamHandle | undefined;
  if (format.coordinators) {
    if (index < 0) return { index: -(index + 1), finished: true, channels: [] };
  } else {
    if (index < 0) c.fail(`subtask index is ${index}`, c.position - 4);
    c.i64('duration');
    const n = c.i32('number of legacy states');
    if (n !== 0 && n !== 1) c.fail(`number of legacy states is ${n}, expected 0 or 1`, c.position - 4);
    if (n === 1) legacy = readStream(r, 'legacy operator state');
  }
  r.subtask = index;
  r.part = 'managed operator state';
  const managedOperator = readOptionalOperatorState(r);
  r.part = 'raw operator state';
  const rawOperator = readOptionalOperatorState(r);
  r.part = 'managed keyed state';
  const managedKeyed = readKeyed(r);
  r.part = 'raw keyed state';
  const rawKeyed = readKeyed(r);
  const channels: ChannelHandle[] = [];
  if (format.channels !== 'none') {
    r.part = 'input channel state';
    readChannels(r, 'input', index, channels);
    r.part = 'output channel state';
    readChannels(r, 'output', index, channels);
  }
  const subtask: Subtask = { index, finished: false, managedOperator, rawOperator, managedKeyed, rawKeyed, channels };
  return legacy === undefined ? subtask : { ...subtask, legacy };
}

function readOptionalOperatorState(r: MetadataReader): OperatorHandle | undefined {
  const flag = r.c.i32('presence flag');
  if (flag !== 0 && flag !== 1) r.c.fail(`presence flag is ${flag}, expected 0 or 1`, r.c.position - 4);
  return flag === 1 ? readOperatorState(r) : undefined;
}

/** Reads and parses a `_metadata` file. @throws StateQueryError */
export function readMetadataFile(path: string, stats?: ReadStats): Metadata {
  const source = openFile(path, stats);
  try {
    // what is no _metadata is refused before all of it is read
    readMetadataVersion(source.read(0, Math.min(8, source.size)), path);
    if (source.size > constants.MAX_LENGTH)
      throw new UnsupportedError(`a _metadata of ${source.size} bytes is larger than the ${constants.MAX_LENGTH} bytes read at once`, {
        file: path,
      });
    const bytes = source.read(0, source.size);
    return readMetadata(bytes, path);
  } catch (error) {
    // allocation of a buffer that the machine does not have
    if (error instanceof RangeError) throw new IoError(`no memory for a _metadata of ${source.size} bytes`, { file: path, cause: error });
    throw error;
  } finally {
    source.close();
  }
}
