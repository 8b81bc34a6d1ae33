/**
 * State files as notes: keyed state in the canonical and the heap format, operator state, raw state, the meta file of RocksDB.
 *
 * Uncompressed entries are shown part by part where they lie, compressed ones as one line each at the frames that hold them. Layouts:
 * canonical.ts, heap.ts, operator.ts of `state/`.
 */
import type { KeyGroupsHandle, OperatorHandle } from '../checkpoint/handles.js';
import { StateQueryError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import { openCanonical } from '../state/canonical.js';
import { keyGroupBytes } from '../state/composite-key.js';
import type { EntryCursor, KeyedHeader, KeyedStateReader, OperatorElement, RegisteredState, StateContext } from '../state/entry.js';
import { keyedHeader, operatorHeader } from '../state/header.js';
import { openHeap } from '../state/heap.js';
import { headerLimit, type KeyGroupPlace, keyGroupPlaces } from '../state/key-groups.js';
import { isCanonical, openOperatorState } from '../state/open.js';
import { frameNotes } from './frames.js';
import { type Budget, covered, hexText, type Note, RecordingCursor, unreadable } from './notes.js';
import { entryText, Shapes, textOf, timerMillis, valueText } from './values.js';

type Gap = (offset: number, length: number) => Iterable<Note>;

/** Bytes [offset, offset + length) of the file, few of them. */
function bytesAt(source: ByteSource, offset: number, length: number): Uint8Array {
  return source.read(offset - source.base, length);
}

function plainGap(source: ByteSource, field: string): Gap {
  return (offset, length) => [
    { offset, length, field, value: hexText(bytesAt(source, offset, Math.min(length, 65))).replace(/… .*$/, '…') },
  ];
}

/** A header, with whatever its parser took. @param limit where it must have ended */
export function* headerNotes(source: ByteSource, limit: number, kind: 'keyed' | 'operator', where: string): Generator<Note> {
  const recorder = new RecordingCursor(source.read(0, limit), 0, limit, { file: source.name, where }, source.base, () => 'header');
  let failed: StateQueryError | undefined;
  let size = 0;
  try {
    size = (kind === 'keyed' ? keyedHeader(recorder) : operatorHeader(recorder)).size;
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    failed = error;
    size = limit;
  }
  const notes = recorder.notes().filter(note => note.offset + note.length <= source.base + size);
  yield* covered(notes, source.base, source.base + size, (offset, length) => {
    const own = failed === undefined ? undefined : unreadable(offset, length, failed);
    return own === undefined ? plainGap(source, 'header: not interpreted')(offset, length) : [own];
  });
}

/** A file of key groups, with all handles that refer to it. */
export function* keyGroupNotes(
  handles: readonly KeyGroupsHandle[],
  source: ByteSource,
  context: StateContext,
  budget: Budget,
): Generator<Note> {
  const handle = joined(handles);
  const end = source.base + source.size;
  let at = source.base;
  try {
    const places = keyGroupPlaces(handle, source, context.where);
    const limit = headerLimit(places, source);
    const canonical = isCanonical(handle, source, context);
    for (const note of headerNotes(source, limit, 'keyed', context.where)) {
      at = note.offset + note.length;
      yield note;
    }
    if (at < source.base + limit) yield* plainGap(source, 'behind the header')(at, source.base + limit - at);
    at = source.base + limit;
    const kept = { ...source, close: () => undefined };
    const reader = canonical ? openCanonical(handle, kept, context) : openHeap(handle, kept, context);
    const walk = new EntryNotes(source, reader, canonical, context, budget);
    for (const place of places) {
      yield* walk.group(place);
      at = source.base + place.end;
    }
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    if (at < end) yield unreadable(at, end - at, error);
    return;
  }
  if (at < end) yield* plainGap(source, 'not referred to')(at, end - at);
}

/** One handle with the key groups of all of them: a file is shared by subtasks after a rescale. */
function joined(handles: readonly KeyGroupsHandle[]): KeyGroupsHandle {
  const first = Math.min(...handles.map(h => h.range.first));
  const last = Math.max(...handles.map(h => h.range.first + h.range.count));
  const offsets = new Array<number>(last - first).fill(handles.some(h => h.tag === 7 || h.offsets.includes(0)) ? 0 : -1);
  for (const { range, offsets: own } of handles)
    own.forEach((offset, i) => {
      if (offset > 0) offsets[range.first - first + i] = offset;
    });
  return { ...handles[0], range: { first, count: last - first }, offsets };
}

/** A part of an entry. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly field: string;
  readonly text: (bytes: Uint8Array) => string;
}

class EntryNotes {
  private readonly shapes: Shapes;
  private readonly header: KeyedHeader;
  private readonly prefix: number;
  /** what comes behind the gap that is asked about */
  private behind: 'entry' | 'part' | 'value' | 'end' = 'entry';

  constructor(
    private readonly source: ByteSource,
    private readonly reader: KeyedStateReader,
    private readonly canonical: boolean,
    context: StateContext,
    private readonly budget: Budget,
  ) {
    this.header = reader.header;
    this.shapes = new Shapes(reader.header.key, context.codecs);
    this.prefix = keyGroupBytes(context.maxParallelism);
  }

  /** The notes of one key group. */
  *group(place: KeyGroupPlace): Generator<Note> {
    const { source, header } = this;
    const from = source.base + place.start;
    const to = source.base + place.end;
    if (header.compressed) {
      yield* this.canonical ? [] : [this.number(from, place.keyGroup)];
      yield* frameNotes(source, place.start + (this.canonical ? 0 : 4), place.end);
      yield* this.lines(place);
      return;
    }
    let at = from;
    for (const note of covered(this.pieces(place), from, to, (offset, length) => this.gap(place, offset, length))) {
      at = note.offset + note.length;
      yield note;
    }
    if (at < to) yield* plainGap(source, 'not interpreted')(at, to - at);
  }

  private number(offset: number, keyGroup: number): Note {
    return { offset, length: 4, field: 'key group', value: String(keyGroup) };
  }

  /** Entries of a compressed key group, as lines at its beginning. */
  private *lines(place: KeyGroupPlace): Generator<Note> {
    const offset = this.source.base + place.start;
    const entries = this.reader.entries({ keyGroups: new Set([place.keyGroup]) });
    try {
      while (this.budget.left > 0 && entries.next()) {
        this.budget.left--;
        const state = this.header.states[entries.state] as RegisteredState;
        const value = entryText(entries, state, this.shapes.of(state), this.reader.layout);
        yield { offset, length: 0, field: `key group ${place.keyGroup}, ${state.name}`, value };
      }
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
      yield unreadable(offset, 0, error);
    } finally {
      entries.close();
    }
  }

  private *pieces(place: KeyGroupPlace): Generator<Note> {
    const { source } = this;
    const to = source.base + place.end;
    const entries = this.reader.entries({ keyGroups: new Set([place.keyGroup]) });
    let at = source.base + place.start;
    try {
      for (;;) {
        if (this.budget.left === 0) {
          this.behind = 'part';
          if (at < to)
            yield { offset: at, length: to - at, field: `key group ${place.keyGroup}: further entries`, value: `${to - at} bytes` };
          return;
        }
        if (!entries.next()) {
          this.behind = 'end';
          return;
        }
        this.budget.left--;
        const state = this.header.states[entries.state] as RegisteredState;
        this.behind = 'entry';
        for (const { start, end, field, text } of this.parts(entries, state)) {
          const isValue = field === 'value';
          if (end === start && !(isValue && this.canonical)) continue;
          const offset = entries.base + start;
          if (isValue) this.behind = 'value';
          // bytes that overlap what was shown belong to several parts that could not be told apart
          if (offset < at) continue;
          at = offset + end - start;
          yield { offset, length: end - start, field: `${state.name}: ${field}`, value: text(entries.bytes.subarray(start, end)) };
          this.behind = 'part';
        }
      }
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
      if (at < to) yield unreadable(at, to - at, error);
    } finally {
      entries.close();
    }
  }

  private parts(entry: EntryCursor, state: RegisteredState): Piece[] {
    const shape = this.shapes.of(state);
    const { layout } = this.reader;
    const timer = state.kind === 'timer';
    const parts: Piece[] = [
      { start: entry.keyStart, end: entry.keyEnd, field: 'key', text: b => textOf(shape.key, b) },
      {
        start: entry.namespaceStart,
        end: entry.namespaceEnd,
        field: 'namespace',
        text: b => (shape.namespace === undefined ? 'void' : textOf(shape.namespace, b)),
      },
      timer
        ? { start: entry.userKeyStart, end: entry.userKeyStart + 8, field: 'fires at', text: timerMillis }
        : { start: entry.userKeyStart, end: entry.userKeyEnd, field: 'map key', text: b => textOf(shape.mapKey, b) },
      { start: entry.valueStart, end: entry.valueEnd, field: 'value', text: b => valueText(shape, layout, b) },
    ];
    return parts.sort((a, b) => a.start - b.start || a.end - b.end);
  }

  /** What stands between keys and values. */
  private *gap(place: KeyGroupPlace, offset: number, length: number): Generator<Note> {
    const { source } = this;
    const first = offset === source.base + place.start;
    const bytes = bytesAt(source, offset, Math.min(length, 1 << 20));
    if (length > bytes.length) {
      yield* plainGap(source, 'key groups of others')(offset, length);
      return;
    }
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    const note = (size: number, field: string, value: string): Note => {
      const made = { offset: offset + at, length: size, field, value };
      at += size;
      return made;
    };
    const stateName = (id: number) => `${id} (${this.header.states[id]?.name ?? 'not registered'})`;
    if (!this.canonical) {
      if (first && length >= 4) yield note(4, 'key group', String(view.readInt32BE(0)));
      while (length - at >= 6) {
        yield note(2, 'state', stateName(view.readUInt16BE(at)));
        yield note(4, 'number of entries', String(view.readInt32BE(at)));
      }
    } else {
      const key = this.behind === 'entry' ? 4 + this.prefix : -1;
      if ((this.behind === 'entry' && length === 2 + key) || (this.behind === 'end' && length >= 2)) {
        const state = view.readUInt16BE(0);
        yield note(2, first ? 'state' : 'next state', state === 0xffff ? 'end of the key group' : stateName(state));
      }
      if (this.behind === 'entry' && length - at === key) {
        yield note(4, 'length of the key', String(view.readInt32BE(at)));
        const last = (view[at] & 0x80) !== 0;
        const group = this.prefix === 1 ? view[at] & 0x7f : view.readUInt16BE(at) & 0x7fff;
        yield note(this.prefix, 'key group', `${group}${last ? ', last entry of its state' : ''}`);
      } else if (this.behind === 'value' && length >= 4) {
        if (length > 4) yield note(length - 4, 'lengths of key and namespace', view.subarray(0, length - 4).toString('hex'));
        yield note(4, 'length of the value', String(view.readInt32BE(at)));
      } else if (this.behind === 'end' && at < length) yield note(length - at, 'key groups of others', hexText(view.subarray(at)));
    }
    if (at < length) yield note(length - at, 'lengths of key and namespace', hexText(view.subarray(at)));
  }
}

/** An operator state file. */
export function* operatorNotes(handle: OperatorHandle, source: ByteSource, context: StateContext, budget: Budget): Generator<Note> {
  const end = source.base + source.size;
  let at = source.base;
  try {
    const reader = openOperatorState(handle, { ...context, open: () => ({ ...source, close: () => undefined }) });
    const { header } = reader;
    for (const note of headerNotes(source, header.size, 'operator', context.where)) {
      at = note.offset + note.length;
      yield note;
    }
    const shapes = new Shapes(undefined, context.codecs);
    if (header.compressed) yield* frameNotes(source, header.size, source.size);
    const placed = [...handle.states].flatMap(({ name, mode, offsets }) => {
      const state = header.states.find(s => s.name === name && (s.kind === 'broadcast') === (mode === 'BROADCAST'));
      return state === undefined || offsets.length === 0 ? [] : [{ state, first: offsets[0] }];
    });
    placed.sort((a, b) => a.first - b.first || a.state.id - b.state.id);
    for (const { state, first } of placed) {
      const shape = shapes.of(state);
      for (const element of reader.elements(state)) {
        if (budget.left === 0) break;
        budget.left--;
        const pieces = elementPieces(element, state, shape);
        if (header.compressed) {
          const value = pieces.map(p => `${p.field} ${p.text(element.bytes.subarray(p.start, p.end))}`).join(', ');
          yield { offset: source.base + first, length: 0, field: `${state.name}[${element.index}]`, value };
          continue;
        }
        for (const { start, end: to, field, text } of pieces) {
          const offset = element.base + start;
          if (to === start) continue;
          if (offset > at) {
            const gap = bytesAt(source, at, Math.min(offset - at, 65));
            const value = gap.length === 4 ? String(Buffer.from(gap).readInt32BE(0)) : hexText(gap);
            yield {
              offset: at,
              length: offset - at,
              field: gap.length === 4 ? `${state.name}: number of entries` : 'not interpreted',
              value,
            };
          }
          at = offset + to - start;
          yield {
            offset,
            length: to - start,
            field: `${state.name}[${element.index}]: ${field}`,
            value: text(element.bytes.subarray(start, to)),
          };
        }
      }
    }
    if (header.compressed) at = end;
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    if (at < end) yield unreadable(at, end - at, error);
    return;
  }
  if (at < end)
    yield* plainGap(source, budget.left === 0 ? 'further entries' : 'number of entries of an empty broadcast state')(at, end - at);
}

function elementPieces(element: OperatorElement, state: RegisteredState, shape: ReturnType<Shapes['of']>): Piece[] {
  if (state.kind !== 'broadcast') return [{ start: element.start, end: element.end, field: 'element', text: b => textOf(shape.value, b) }];
  return [
    { start: element.start, end: element.end, field: 'key', text: b => textOf(shape.mapKey, b) },
    { start: element.valueStart, end: element.valueEnd, field: 'value', text: b => textOf(shape.value, b) },
  ];
}

/** Raw state: key groups or partitions that begin at these positions. */
export function* rawNotes(source: ByteSource, starts: readonly { readonly at: number; readonly field: string }[]): Generator<Note> {
  const sorted = starts.filter(s => s.at >= 0 && s.at < source.size).sort((a, b) => a.at - b.at);
  const notes = sorted.flatMap(({ at, field }, i): Note[] => {
    const end = sorted[i + 1]?.at ?? source.size;
    if (end === at) return [];
    return [{ offset: source.base + at, length: end - at, field, value: hexText(source.read(at, end - at)) }];
  });
  yield* covered(notes, source.base, source.base + source.size, plainGap(source, 'raw state'));
}
