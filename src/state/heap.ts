/**
 * Keyed state in the native format of the hashmap backend: its checkpoints and native savepoints.
 *
 *   header (header.ts), never compressed
 *   each key group of the range, at its offset: i32 key group (never compressed), then each registered state in any order:
 *     u16 state id · i32 n · n × entry          when compressed, each state is a stream of snappy frames of its own
 *   entry   namespace · key · value
 *   timer   i64 timestamp with the sign bit flipped · key · namespace
 *
 * Nothing is framed: each entry ends where its serializers say. Values: entry.ts, layout `heap`.
 *
 * Flink: HeapSnapshotStrategy, CopyOnWriteStateTableSnapshot, HeapPriorityQueueStateSnapshot (1.8–2.3).
 */
import type { KeyGroupsHandle } from '../checkpoint/handles.js';
import { javaKeyType } from '../checkpoint/java-hash.js';
import { CorruptError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { SnappyFrames, STREAM_HEADER } from '../io/snappy.js';
import type { ByteSource } from '../io/source.js';
import { Window } from '../io/window.js';
import type { EntryCursor, EntryFilter, KeyedHeader, KeyedStateReader, StateContext } from './entry.js';
import { readKeyedHeader, withWhere } from './header.js';
import { HeapEntry } from './heap-entry.js';
import { findEntries, findStates } from './heap-resync.js';
import { KeyFilter } from './key-filter.js';
import { headerLimit, type KeyGroupPlace, keyGroupPlaces, placeRanges, wantedPlaces } from './key-groups.js';
import { stepOver } from './step-over.js';

/** Opens a heap-native keyed state file. @param source is closed by the reader */
export function openHeap(handle: KeyGroupsHandle, source: ByteSource, context: StateContext): KeyedStateReader {
  const places = keyGroupPlaces(handle, source, context.where);
  const header = readKeyedHeader(source, headerLimit(places, source), context.where);
  return {
    header,
    layout: 'heap',
    backend: 'hashmap',
    entries: filter => new HeapCursor(header, source, places, filter, context),
    // where values have no end of their own, states and entries are looked for by what was seen in the key groups before
    ranges: (filter, bytes) =>
      header.states.every(state => new HeapEntry(header.key, state, context.codecs).bounded)
        ? placeRanges(places, filter, header.states.length, bytes)
        : undefined,
    close: () => source.close(),
  };
}

class HeapCursor implements EntryCursor {
  state = -1;
  keyGroup = -1;
  bytes: Uint8Array = new Uint8Array(0);
  base = 0;
  keyStart = 0;
  keyEnd = 0;
  namespaceStart = 0;
  namespaceEnd = 0;
  userKeyStart = 0;
  userKeyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  unsplit: string | undefined;
  unsplitKey: string | undefined;

  private readonly window = new Window();
  private readonly cursor: Cursor;
  private readonly places: readonly KeyGroupPlace[];
  private readonly runEnds: readonly number[];
  private readonly wanted: Uint8Array;
  private readonly keyFilter: KeyFilter | undefined;
  private readonly made: (HeapEntry | undefined)[] = [];
  private nextPlace = 0;
  private inGroup = false;
  private frames: SnappyFrames | undefined;
  /** file offset where the key group must end, infinite when compressed */
  private groupEnd = 0;
  /** ids of the states in the order in which key groups have them, once that is known */
  private order: readonly number[] | undefined;
  private sequence: number[] = [];
  /** states of the key group that were begun */
  private readonly seen: Uint8Array;
  private statesLeft = 0;
  private entriesLeft = 0;
  private current = 0;

  constructor(
    private readonly header: KeyedHeader,
    private readonly source: ByteSource,
    private readonly allPlaces: readonly KeyGroupPlace[],
    filter: EntryFilter,
    private readonly context: StateContext,
  ) {
    const wanted = wantedPlaces(allPlaces, filter.keyGroups);
    this.places = wanted.places;
    this.runEnds = wanted.runEnds;
    this.cursor = new Cursor(new Uint8Array(0), 0, 0, { file: source.name, where: context.where });
    this.seen = new Uint8Array(header.states.length);
    this.wanted = new Uint8Array(header.states.length);
    for (const state of header.states) if (filter.states === undefined || filter.states.has(state.id)) this.wanted[state.id] = 1;
    if (!this.wanted.includes(1)) this.places = [];
    this.keyFilter = filter.keys === undefined ? undefined : new KeyFilter(filter.keys);
  }

  next(): boolean {
    try {
      for (;;) {
        if (this.entriesLeft > 0) {
          if (this.entry()) return true;
        } else if (!this.inGroup) {
          if (!this.openGroup()) return false;
        } else if (this.statesLeft > 0) this.openState();
        else this.closeGroup();
      }
    } catch (error) {
      throw withWhere(error, this.context.where, this.source.name);
    }
  }

  close(): void {
    this.window.close();
    this.inGroup = false;
    this.entriesLeft = 0;
    this.nextPlace = this.places.length;
  }

  private openGroup(): boolean {
    if (this.nextPlace === this.places.length) return false;
    const { window, source } = this;
    const place = this.places[this.nextPlace];
    const following = this.nextPlace > 0 && this.places[this.nextPlace - 1].end === place.start;
    this.keyGroup = place.keyGroup;
    this.groupEnd = source.base + place.end;
    if (this.header.compressed) window.open(source, place.start, Math.min(place.start + 4, place.end));
    else if (!following) window.open(source, place.start, this.runEnds[this.nextPlace]);
    this.nextPlace++;
    this.inGroup = true;
    const found = window.i32('key group');
    if (found !== place.keyGroup) window.fail(`key group ${found} where ${place.keyGroup} is expected`, window.position - 4);
    this.statesLeft = this.header.states.length;
    this.seen.fill(0);
    this.sequence = [];
    if (this.header.compressed) {
      this.groupEnd = Number.POSITIVE_INFINITY;
      const endsAt = place.last ? (window: Window) => this.nextGroupAt(window) : undefined;
      this.frames = new SnappyFrames(source, place.start + 4, place.end, {
        byStream: true,
        verify: this.context.verify,
        ...(endsAt === undefined ? {} : { endsAt }),
      });
    }
    return true;
  }

  private openState(): void {
    const { window, frames } = this;
    if (frames !== undefined) {
      const first = this.statesLeft === this.header.states.length;
      if (!first && !window.atEnd()) window.fail(`bytes left over after state ${this.header.states[this.current].name}`);
      if (!first && !frames.nextStream()) window.fail(`${this.statesLeft} states of key group ${this.keyGroup} are missing`);
      window.openStream(frames);
    } else if (this.groupEnd - window.base - window.position < 6)
      window.fail(`key group ${this.keyGroup} ends before ${this.statesLeft} of its states`);
    const id = window.u16('state id');
    if (id >= this.seen.length || this.seen[id] === 1)
      window.fail(
        id < this.seen.length
          ? `state id ${id} occurs twice in key group ${this.keyGroup}`
          : `state id ${id} in key group ${this.keyGroup}, ${this.seen.length} states are registered`,
        window.position - 2,
      );
    this.seen[id] = 1;
    const n = window.i32('number of entries');
    if (n < 0) window.fail(`${n} entries in state ${this.header.states[id].name}`, window.position - 4);
    this.sequence.push(id);
    this.lengths = [];
    this.statesLeft--;
    this.entriesLeft = n;
    this.current = id;
  }

  /** Every byte of the key group must have been used; behind the last one, key groups of others may follow. */
  private closeGroup(): void {
    const { window, frames, keyGroup } = this;
    const place = this.places[this.nextPlace - 1];
    this.inGroup = false;
    if (this.sequence.length === this.header.states.length) this.order ??= this.sequence;
    if (frames !== undefined) {
      if (this.header.states.length > 0 && !window.atEnd()) window.fail(`bytes left over after key group ${keyGroup}`);
      if (!frames.done) window.fail(`bytes left over after key group ${keyGroup}`);
      return;
    }
    const left = this.groupEnd - window.base - window.position;
    if (left === 0) return;
    if (left > 0 && place.last && window.has(4)) {
      const next = window.i32('key group');
      if (next > keyGroup && next < this.context.maxParallelism) return;
      window.position -= 4;
    }
    if (left < 0) window.fail(`key group ${keyGroup} is ${-left} bytes longer than its place`);
    window.fail(`${left} bytes left over after key group ${keyGroup}`);
  }

  /** Behind the last key group of the handle: whether another one begins there, i32 key group and a stream header. */
  private nextGroupAt(window: Window): boolean {
    if (!window.has(4 + STREAM_HEADER.length)) return false;
    const { bytes, position: p } = window;
    const keyGroup = (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3];
    return (
      keyGroup > this.keyGroup &&
      keyGroup < this.context.maxParallelism &&
      STREAM_HEADER.equals(bytes.subarray(p + 4, p + 4 + STREAM_HEADER.length))
    );
  }

  private entryOf(id: number): HeapEntry {
    let entry = this.made[id];
    if (entry === undefined) {
      entry = new HeapEntry(this.header.key, this.header.states[id], this.context.codecs);
      this.made[id] = entry;
    }
    return entry;
  }

  /** Reads one entry. @returns whether it is wanted */
  private entry(): boolean {
    const { window, cursor, current } = this;
    const entry = this.entryOf(current);
    const { lengths } = this;
    const length = lengths.length === 0 ? 0 : lengths[lengths.length - this.entriesLeft];
    // the cursor stands where the last entry ended: most entries lie whole in the window
    if (length > 0) {
      cursor.reset(window.bytes, window.position, window.position + length, Math.max(0, window.base));
      entry.tryRead(cursor);
      entry.valueEnd = cursor.end;
    } else if (cursor.position !== window.position || cursor.bytes !== window.bytes || !entry.tryRead(cursor)) {
      try {
        stepOver(window, cursor, this.groupEnd, entry.readFrom);
      } catch (error) {
        if (!(error instanceof CorruptError)) throw error;
        if (!entry.giveUp(error, cursor.end)) throw this.located(error);
      }
      entry.settle(cursor);
    }
    this.unsplit = undefined;
    this.unsplitKey = undefined;
    if (length > 0 || entry.swallowed === undefined) {
      window.position = length > 0 ? cursor.end : cursor.position;
      this.entriesLeft--;
    } else this.swallow(entry, cursor.end);
    if (this.wanted[current] === 0) return false;
    const { bytes } = window;
    if (this.keyFilter !== undefined && !this.keyFilter.has(bytes, entry.keyStart, entry.keyEnd)) return false;
    this.state = current;
    this.bytes = bytes;
    this.base = window.base;
    this.keyStart = entry.keyStart;
    this.keyEnd = entry.keyEnd;
    this.namespaceStart = entry.namespaceStart;
    this.namespaceEnd = entry.namespaceEnd;
    this.userKeyStart = entry.userKeyStart;
    this.userKeyEnd = entry.userKeyEnd;
    this.valueStart = entry.valueStart;
    this.valueEnd = entry.valueEnd;
    return true;
  }

  /**
   * A part of the entry took all bytes up to `end`, the end of the key group or of the state's stream. It is whole when
   * nothing else can follow; otherwise the states and entries that follow are looked for.
   */
  private swallow(entry: HeapEntry, end: number): void {
    const { window, frames, current } = this;
    const { swallowed, reason } = entry;
    const others = frames === undefined ? this.statesLeft : 0;
    let to = end;
    let lost = others;
    if (others > 0) {
      const from = swallowed === 'value' ? entry.valueStart : swallowed === 'key' ? entry.keyStart : entry.namespaceStart;
      const missing = new Set(this.header.states.filter(s => this.seen[s.id] === 0).map(s => s.id));
      const following = { missing, order: this.orderOfStates(), current, entryOf: (id: number) => this.entryOf(id) };
      const bytes = new Cursor(window.bytes, 0, end);
      let found = findStates(bytes, from, end, following);
      if (found < 0 && following.order !== undefined) found = findStates(bytes, from, end, { ...following, order: undefined });
      if (found >= 0) {
        to = found;
        lost = 0;
      }
    }
    entry.clamp(to);
    const more = this.entriesLeft - 1;
    if (swallowed === 'value' && more > 0 && lost === 0) {
      const starts = this.findEntries(entry, to, more);
      if (starts !== undefined) {
        entry.valueEnd = starts[0];
        this.lengths = starts.map((start, i) => (starts[i + 1] ?? to) - start);
        this.entriesLeft = more;
        window.position = starts[0];
        return;
      }
    }
    if (more > 0 || lost > 0 || swallowed !== entry.lastPart) this.unsplit = this.unsplitText(reason, more, lost);
    if (swallowed !== 'value') this.unsplitKey = this.unsplit;
    if (lost > 0) {
      this.lost += lost;
      if (this.lost === lost)
        this.context.warn(
          `${this.source.name}: entries of other states in key group ${this.keyGroup} (and maybe in others) stand behind values of state ${this.header.states[current].name}, whose end is not known: ${reason}`,
        );
      this.statesLeft = 0;
    }
    window.position = to;
    this.entriesLeft = 0;
  }
  private lost = 0;
  /** lengths of the entries to come, where they were found out by a search */
  private lengths: readonly number[] = [];

  private findEntries(entry: HeapEntry, to: number, count: number): readonly number[] | undefined {
    const type = javaKeyType(this.header.key);
    if (type === undefined) return undefined;
    const keyGroup = { type, number: this.keyGroup, maxParallelism: this.context.maxParallelism };
    // not the one that holds the entry just read
    const other = new HeapEntry(this.header.key, this.header.states[this.current], this.context.codecs);
    return findEntries(new Cursor(this.window.bytes, 0, to), entry.valueStart, to, count, other, keyGroup);
  }

  /** The order of the states, which is the same in all key groups of a file: as seen, or as an empty key group has it. */
  private orderOfStates(): readonly number[] | undefined {
    if (this.order !== undefined || this.header.compressed) return this.order;
    const { states } = this.header;
    const empty = this.allPlaces.find(place => place.end - place.start === 4 + 6 * states.length);
    if (empty === undefined) return undefined;
    const c = new Cursor(this.source.read(empty.start + 4, 6 * states.length));
    const order: number[] = [];
    while (c.remaining > 0) {
      order.push(c.u16());
      c.i32();
    }
    if (new Set(order).size === states.length && order.every(id => id < states.length)) this.order = order;
    return this.order;
  }

  private unsplitText(reason: string, entries: number, states: number): string {
    const parts = [];
    if (entries > 0) parts.push(`${entries} more ${entries === 1 ? 'entry' : 'entries'} of this state`);
    if (states > 0) parts.push(`${states} more ${states === 1 ? 'state' : 'states'} of the key group`);
    return parts.length === 0 ? reason : `${reason}; ${parts.join(' and ')} stand in the same bytes`;
  }

  /** The error of a codec, with the state and the key group that it stands in. */
  private located(error: CorruptError): CorruptError {
    const state = this.header.states[this.current].name;
    return new CorruptError(error.message, {
      file: this.source.name,
      where: `${this.context.where}, state ${state}, key group ${this.keyGroup}`,
      cause: error,
      ...(error.offset === undefined ? {} : { offset: error.offset }),
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
}
