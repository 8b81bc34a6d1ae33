/**
 * Managed operator state of one subtask.
 *
 *   header (header.ts), never compressed · the states in the header's order, list states first:
 *     list, union   elements back to back; `_metadata` has the offset of each
 *     broadcast     i32 n · n × (key · value); `_metadata` has one offset
 *
 *   compressed, 1.18.2+     one stream of snappy frames; each offset is that of a frame, flushed before it was taken
 *   compressed, 1.18.0/1    a stream for each state; elements share the offset of the frame that was begun before them, so only
 *                           the state's first offset says anything
 *
 * Flink: DefaultOperatorStateBackendSnapshotStrategy (1.8–2.3), FLINK-34063.
 */
import type { OperatorHandle } from '../checkpoint/handles.js';
import { CorruptError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { SnappyFrames, STREAM_HEADER } from '../io/snappy.js';
import type { ByteSource } from '../io/source.js';
import { Window } from '../io/window.js';
import type { Codec } from '../serializers/codec.js';
import { opaqueCodec } from '../serializers/opaque.js';
import type { OperatorElement, OperatorHeader, OperatorStateReader, RegisteredState, StateContext } from './entry.js';
import { readOperatorHeader, withWhere } from './header.js';
import { stepOver } from './step-over.js';

/** The bytes of one state, and where its elements begin. */
interface Region {
  readonly offsets: readonly number[];
  readonly end: number;
}

/** Opens the managed operator state of a subtask. @throws StateQueryError */
export function openOperatorState(handle: OperatorHandle, context: StateContext): OperatorStateReader {
  if (handle.empty === true || handle.stream.kind === 'empty-segment')
    return { header: { version: 6, compressed: false, states: [], size: 0 }, elements: () => [], close: () => undefined };
  const source = context.open(handle.stream);
  try {
    const begins = handle.states.flatMap(s => s.offsets.slice(0, 1));
    const first = begins.length === 0 ? source.size : Math.min(...begins);
    const limit = beforeStreamHeaders(source, checkOffset(first, source, context));
    const header = readOperatorHeader(source, limit, context.where);
    if (header.size !== limit)
      throw new CorruptError(`${limit - header.size} bytes between the header and the first state`, {
        file: source.name,
        offset: source.base + header.size,
        where: context.where,
      });
    const regions = regionsOf(handle, header, source, context);
    return {
      header,
      elements: state => elementsOf(source, header, state, regions.get(state.id), context),
      close: () => source.close(),
    };
  } catch (error) {
    source.close();
    throw withWhere(error, context.where, source.name);
  }
}

/** When compressed, a snappy stream header stands in front of the first state's offset; in 1.18.0/1 one for each state before it. */
function beforeStreamHeaders(source: ByteSource, offset: number): number {
  const { length } = STREAM_HEADER;
  let limit = offset;
  while (limit >= length && STREAM_HEADER.equals(source.read(limit - length, length))) limit -= length;
  return limit;
}

function checkOffset(offset: number, source: ByteSource, context: StateContext): number {
  if (offset >= 0 && offset <= source.size) return offset;
  throw new CorruptError(`operator state begins at ${offset}, the file has ${source.size} bytes`, {
    file: source.name,
    where: context.where,
    hint: 'the file is truncated, or its snapshot was not completed',
  });
}

/** Where the states lie: from their first offset to that of the next state in the file. */
function regionsOf(handle: OperatorHandle, header: OperatorHeader, source: ByteSource, context: StateContext): Map<number, Region> {
  const placed: { state: RegisteredState; offsets: readonly number[] }[] = [];
  for (const { name, mode, offsets } of handle.states) {
    const state = header.states.find(s => s.name === name && (s.kind === 'broadcast') === (mode === 'BROADCAST'));
    if (state === undefined)
      throw new CorruptError(`the metadata knows a state ${name} (${mode}) that the file does not`, {
        file: source.name,
        where: context.where,
      });
    if (offsets.length === 0) continue;
    for (let i = 0; i < offsets.length; i++) {
      checkOffset(offsets[i], source, context);
      if (i > 0 && offsets[i] < offsets[i - 1])
        throw new CorruptError(`element ${i} of state ${name} begins at ${offsets[i]}, before the one in front of it`, {
          file: source.name,
          where: context.where,
        });
    }
    placed.push({ state, offsets });
  }
  // states of no bytes share their offset with what follows
  placed.sort((a, b) => a.offsets[0] - b.offsets[0] || a.state.id - b.state.id);
  const regions = new Map<number, Region>();
  placed.forEach(({ state, offsets }, i) => {
    const end = i + 1 < placed.length ? placed[i + 1].offsets[0] : source.size;
    if (offsets[offsets.length - 1] > end)
      throw new CorruptError(`elements of state ${state.name} lie in those of ${placed[i + 1].state.name}`, {
        file: source.name,
        offset: source.base + end,
        where: context.where,
      });
    regions.set(state.id, { offsets, end });
  });
  return regions;
}

class Element implements OperatorElement {
  index = 0;
  bytes: Uint8Array = new Uint8Array(0);
  base = 0;
  start = 0;
  end = 0;
  valueStart = 0;
  valueEnd = 0;
  unsplit: string | undefined;
}

function* elementsOf(
  source: ByteSource,
  header: OperatorHeader,
  state: RegisteredState,
  region: Region | undefined,
  context: StateContext,
): Generator<OperatorElement, void, undefined> {
  if (region === undefined) return;
  const window = new Window();
  const where = `${context.where}, state ${state.name}`;
  const codec = (snapshot: RegisteredState['value'], what: string): Codec =>
    snapshot?.codec(context.codecs) ?? opaqueCodec('unknown', state.unreadable ?? `the snapshot has no serializer for the ${what}`);
  try {
    if (state.kind === 'broadcast') {
      openRegion(window, source, header.compressed, region.offsets[0], region.end, context.verify);
      yield* broadcastEntries(window, source, codec(state.key, 'broadcast key'), codec(state.value, 'broadcast value'), where);
    } else if (!header.compressed) yield* boundedElements(window, source, region);
    else {
      const element = codec(state.value, 'element');
      const distinct = region.offsets.every((offset, i) => i === 0 || offset > region.offsets[i - 1]);
      if (element.unbounded === true && distinct) yield* framedElements(window, source, region, context.verify);
      else yield* consecutiveElements(window, source, region, element, where, context.verify);
    }
  } catch (error) {
    throw withWhere(error, where, source.name);
  } finally {
    window.close();
  }
}

function openRegion(window: Window, source: ByteSource, compressed: boolean, start: number, end: number, verify: boolean): void {
  if (compressed) window.openStream(new SnappyFrames(source, start, end, { resumed: true, verify }));
  else window.open(source, start, end);
}

/** Each element from its offset to the next one's. */
function* boundedElements(window: Window, source: ByteSource, region: Region): Generator<OperatorElement> {
  const element = new Element();
  const { offsets, end } = region;
  window.open(source, offsets[0], end);
  for (let i = 0; i < offsets.length; i++) {
    const length = (i + 1 < offsets.length ? offsets[i + 1] : end) - offsets[i];
    window.need(length, 'element');
    show(element, i, window, length);
    yield element;
  }
}

/** Compressed, each offset that of a frame: each element is what its frames hold. */
function* framedElements(window: Window, source: ByteSource, region: Region, verify: boolean): Generator<OperatorElement> {
  const element = new Element();
  const { offsets, end } = region;
  for (let i = 0; i < offsets.length; i++) {
    openRegion(window, source, true, offsets[i], i + 1 < offsets.length ? offsets[i + 1] : end, verify);
    while (window.more());
    show(element, i, window, window.end - window.position);
    yield element;
  }
}

/** Compressed, offsets not to be relied on: each element as long as its serializer says. */
function* consecutiveElements(
  window: Window,
  source: ByteSource,
  region: Region,
  codec: Codec,
  where: string,
  verify: boolean,
): Generator<OperatorElement> {
  const element = new Element();
  const c = new Cursor(new Uint8Array(0), 0, 0, { file: source.name, where });
  const n = region.offsets.length;
  const skip = skipWith(codec);
  openRegion(window, source, true, region.offsets[0], region.end, verify);
  for (let i = 0; i < n; i++) {
    const swallowed = stepOver(window, c, Number.POSITIVE_INFINITY, skip);
    element.unsplit = swallowed !== undefined && i + 1 < n ? `${swallowed}; ${n - i - 1} more elements stand in the same bytes` : undefined;
    show(element, i, window, c.position - window.position);
    yield element;
    if (element.unsplit !== undefined) return;
  }
  if (!window.atEnd()) window.fail('bytes left over after the last element');
}

function* broadcastEntries(window: Window, source: ByteSource, key: Codec, value: Codec, where: string): Generator<OperatorElement> {
  const element = new Element();
  const c = new Cursor(new Uint8Array(0), 0, 0, { file: source.name, where });
  const n = window.i32('number of broadcast entries');
  if (n < 0) window.fail(`${n} broadcast entries`, window.position - 4);
  let keyEnd = 0;
  let keySwallowed: string | undefined;
  const entry: Pick<Codec, 'skip' | 'unbounded' | 'opaque'> = {
    unbounded: key.unbounded === true || value.unbounded === true,
    ...(key.opaque === undefined && value.opaque === undefined ? {} : { opaque: key.opaque ?? value.opaque }),
    skip(cursor) {
      key.skip(cursor);
      keyEnd = cursor.position;
      keySwallowed = key.unbounded === true && keyEnd === cursor.end ? (key.opaque ?? 'its serializer is opaque') : undefined;
      if (keySwallowed === undefined) value.skip(cursor);
    },
  };
  const skip = skipWith(entry);
  for (let i = 0; i < n; i++) {
    const start = window.position;
    const swallowed = stepOver(window, c, Number.POSITIVE_INFINITY, skip);
    const more = n - i - 1;
    const reason = keySwallowed ?? (more > 0 ? swallowed : undefined);
    element.unsplit = reason === undefined ? undefined : more === 0 ? reason : `${reason}; ${more} more entries stand in the same bytes`;
    const length = c.position - window.position;
    const keyLength = keyEnd - window.position;
    show(element, i, window, length);
    element.end = element.start + keyLength;
    element.valueStart = element.end;
    element.valueEnd = element.start + length;
    if (length === 0) window.fail('a broadcast entry of no bytes', start);
    yield element;
    if (element.unsplit !== undefined) return;
  }
  if (!window.atEnd()) window.fail('bytes left over after the last broadcast entry');
}

/** Shows the next `length` bytes of the window, and steps over them. */
function show(element: Element, index: number, window: Window, length: number): void {
  element.index = index;
  element.bytes = window.bytes;
  element.base = window.base;
  element.start = window.position;
  element.end = window.position + length;
  element.valueStart = element.end;
  element.valueEnd = element.end;
  window.position += length;
}

/** Why a codec took everything up to the cursor's end; undefined when its value ended by itself. */
function skipWith(codec: Pick<Codec, 'skip' | 'unbounded' | 'opaque'>): (c: Cursor) => string | undefined {
  return c => {
    codec.skip(c);
    if (codec.unbounded !== true || c.position < c.end) return undefined;
    return codec.opaque ?? 'its serializer is opaque';
  };
}
