/**
 * Keyed state in the canonical format: savepoints of every backend since 1.13, RocksDB full snapshots before.
 *
 *   header (header.ts), never compressed
 *   each key group that is not empty, at its offset; when compressed, the whole of it is one stream of snappy frames:
 *     u16 state id · entries: i32 length · composite key · i32 length · value
 *     An entry whose key begins with a set top bit (the key group's, never used) is its state's last one, and is followed by
 *     u16: the id of the next state, or 0xFFFF at the end of the key group.
 *
 * Keys: composite-key.ts. Values: entry.ts, layout `composite`.
 *
 * Flink: FullSnapshotAsyncWriter, FullSnapshotRestoreOperation, FullSnapshotUtil (1.8–2.3).
 */
import type { KeyGroupsHandle } from '../checkpoint/handles.js';
import { Cursor } from '../io/cursor.js';
import { SnappyFrames } from '../io/snappy.js';
import type { ByteSource } from '../io/source.js';
import { Window } from '../io/window.js';
import { CompositeKeys, keyGroupBytes } from './composite-key.js';
import type { EntryCursor, EntryFilter, KeyedHeader, KeyedStateReader, StateContext } from './entry.js';
import { readKeyedHeader, withWhere } from './header.js';
import { KeyFilter } from './key-filter.js';
import { headerLimit, type KeyGroupPlace, keyGroupPlaces, placeRanges, wantedPlaces } from './key-groups.js';

const END_OF_KEY_GROUP = 0xffff;
const LAST_OF_STATE = 0x80;

/** Opens a canonical keyed state file. @param source is closed by the reader */
export function openCanonical(handle: KeyGroupsHandle, source: ByteSource, context: StateContext): KeyedStateReader {
  const places = keyGroupPlaces(handle, source, context.where);
  const header = readKeyedHeader(source, headerLimit(places, source), context.where);
  return {
    header,
    layout: 'composite',
    backend: 'canonical',
    entries: filter => new CanonicalCursor(header, source, places, filter, context),
    ranges: (filter, bytes) => placeRanges(places, filter, header.states.length, bytes),
    close: () => source.close(),
  };
}

export class CanonicalCursor implements EntryCursor {
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
  unsplitKey: string | undefined;

  private readonly window = new Window();
  private readonly places: readonly KeyGroupPlace[];
  private readonly runEnds: readonly number[];
  private readonly prefix: 1 | 2;
  private readonly keys: CompositeKeys;
  private readonly wanted: Uint8Array;
  private readonly keyFilter: KeyFilter | undefined;
  private readonly split: boolean;
  /** the composite key of the current entry, behind its key group */
  private compositeStart = 0;
  private compositeEnd = 0;
  private nextPlace = 0;
  /** state of the entries to come; `state` is that of the entry shown */
  private current = 0;
  private frames: SnappyFrames | undefined;
  /** file offset where the key group must end, infinite when compressed */
  private groupEnd = 0;
  private inGroup = false;
  /** the end mark was read: what is behind it is looked at when the entry before it was used */
  private ended = false;

  constructor(
    private readonly header: KeyedHeader,
    private readonly source: ByteSource,
    places: readonly KeyGroupPlace[],
    filter: EntryFilter,
    private readonly context: StateContext,
  ) {
    const wanted = wantedPlaces(places, filter.keyGroups);
    this.places = wanted.places;
    this.runEnds = wanted.runEnds;
    this.prefix = keyGroupBytes(context.maxParallelism);
    this.keys = new CompositeKeys(header, context, source.name);
    this.wanted = new Uint8Array(header.states.length);
    for (const state of header.states) if (filter.states === undefined || filter.states.has(state.id)) this.wanted[state.id] = 1;
    if (!this.wanted.includes(1)) this.places = [];
    this.keyFilter = filter.keys === undefined ? undefined : new KeyFilter(filter.keys);
    this.split = filter.split !== false || filter.keys !== undefined;
  }

  next(): boolean {
    try {
      for (;;) {
        if (this.ended) this.closeGroup();
        if (!this.inGroup && !this.openGroup()) return false;
        if (this.entry()) return true;
      }
    } catch (error) {
      throw withWhere(error, this.context.where, this.source.name);
    }
  }

  skip(limit: number): number {
    let passed = 0;
    try {
      while (passed < limit) {
        if (this.ended) this.closeGroup();
        if (!this.inGroup && !this.openGroup()) break;
        if (this.keyFilter === undefined && this.wanted[this.current] === 1) passed += this.pass(limit - passed);
        if (passed < limit && this.entry()) passed++;
      }
    } catch (error) {
      throw withWhere(error, this.context.where, this.source.name);
    }
    return passed;
  }

  splitNow(): void {
    if (!this.split) this.splitKey(this.bytes, this.compositeStart, this.compositeEnd, this.state);
  }

  close(): void {
    this.window.close();
    this.inGroup = false;
    this.ended = false;
    this.nextPlace = this.places.length;
  }

  private openGroup(): boolean {
    if (this.nextPlace === this.places.length) return false;
    const { window, source } = this;
    const place = this.places[this.nextPlace];
    const following = this.nextPlace > 0 && this.places[this.nextPlace - 1].end === place.start;
    if (this.header.compressed) {
      this.frames = new SnappyFrames(source, place.start, place.end, { byStream: true, verify: this.context.verify });
      window.openStream(this.frames);
      this.groupEnd = Number.POSITIVE_INFINITY;
    } else {
      if (!following) window.open(source, place.start, this.runEnds[this.nextPlace]);
      this.groupEnd = source.base + place.end;
    }
    this.keyGroup = place.keyGroup;
    this.nextPlace++;
    this.inGroup = true;
    this.begin(window.u16('state id'), window.position - 2);
    return true;
  }

  private begin(id: number, at: number): void {
    const { length } = this.header.states;
    if (id >= length) this.window.fail(`state id ${id} in key group ${this.keyGroup}, ${length} states are registered`, at);
    this.current = id;
  }

  /** Nothing of this key group may be left behind its end mark; behind the last one, key groups of others may follow. */
  private closeGroup(): void {
    const { window, keyGroup, prefix } = this;
    const place = this.places[this.nextPlace - 1];
    this.ended = false;
    this.inGroup = false;
    if (this.frames !== undefined) {
      if (!window.atEnd() || (!this.frames.done && !(place.last && this.frames.nextStream())))
        window.fail(`bytes left over after key group ${keyGroup}`);
      return;
    }
    const left = this.groupEnd - window.base - window.position;
    if (left === 0) return;
    if (place.last && window.has(6 + prefix)) {
      const c = new Cursor(window.bytes, window.position, window.end);
      if (c.u16() < this.header.states.length && c.i32() >= prefix && ((prefix === 1 ? c.u8() : c.u16()) & 0x7fff) > keyGroup) return;
    }
    window.fail(`${left} bytes left over after key group ${keyGroup}`);
  }

  /** Makes `count` bytes stand in the window; a length that the key group cannot hold is found before anything is read. */
  private need(count: number, what: string): void {
    const { window } = this;
    const left = this.groupEnd - window.base - window.position;
    if (count > left) window.fail(`${what}: ${count} bytes needed, ${left} remain in key group ${this.keyGroup}`);
    window.need(count, what);
  }

  /**
   * Passes over entries of one state that lie whole in the window, up to its last one; what is unusual is left to `entry`.
   * @param key only those whose key does not begin with it, `keyAt` bytes behind the key group
   * @returns how many
   */
  private pass(limit: number, key: Uint8Array = NO_KEY, keyAt = 0): number {
    const { window, prefix, keyGroup } = this;
    const { bytes } = window;
    // behind an entry there is more in its key group
    const end = Math.min(window.end, this.groupEnd - window.base - 1);
    const first = prefix === 1 ? keyGroup : keyGroup >> 8;
    const second = keyGroup & 0xff;
    const lastOfKey = key.length - 1;
    const keyEnd = 4 + prefix + keyAt + lastOfKey;
    let p = window.position;
    let passed = 0;
    while (passed < limit && p + 8 <= end) {
      const keyLength = (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3];
      if (keyLength < prefix || bytes[p + 4] !== first || (prefix === 2 && bytes[p + 5] !== second)) break;
      const at = p + 4 + keyLength;
      if (at + 4 > end) break;
      const valueLength = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
      const next = at + 4 + valueLength;
      if (valueLength < 0 || next > end) break;
      if (lastOfKey >= 0 && bytes[p + keyEnd] === key[lastOfKey] && beginsWith(bytes, p + keyEnd - lastOfKey, key)) break;
      p = next;
      passed++;
    }
    window.position = p;
    return passed;
  }

  /** Reads one entry. @returns whether it is wanted */
  private entry(): boolean {
    const { window, prefix } = this;
    if (this.wanted[this.current] === 0) this.pass(Number.POSITIVE_INFINITY);
    else if (this.keyFilter?.single !== undefined)
      this.pass(Number.POSITIVE_INFINITY, this.keyFilter.single, this.keys.of(this.current).isTimer ? 8 : 0);
    if (window.end - window.position < 4) this.need(4, 'length of a key');
    let p = window.position;
    let bytes = window.bytes;
    const keyLength = (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3];
    if (keyLength < prefix) window.fail(`key of ${keyLength} bytes, shorter than its key group`);
    let total = keyLength + 8;
    if (window.end - p < total) {
      this.need(total, 'key');
      p = window.position;
      bytes = window.bytes;
    }
    let at = p + 4 + keyLength;
    const valueLength = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    if (valueLength < 0) window.fail(`value of ${valueLength} bytes`, at);
    const last = bytes[p + 4] >= LAST_OF_STATE;
    total += last ? valueLength + 2 : valueLength;
    if (window.end - p < total) {
      this.need(total, 'value');
      p = window.position;
      bytes = window.bytes;
      at = p + 4 + keyLength;
    }
    const keyStart = p + 4 + prefix;
    const group = prefix === 1 ? bytes[p + 4] & 0x7f : ((bytes[p + 4] & 0x7f) << 8) | bytes[p + 5];
    if (group !== this.keyGroup) window.fail(`key of key group ${group} in key group ${this.keyGroup}`, p + 4);
    const state = this.current;
    const matches = this.wanted[state] === 1 && (!this.split || this.splitKey(bytes, keyStart, at, state));
    if (matches) {
      this.state = state;
      this.bytes = bytes;
      this.base = window.base;
      this.compositeStart = keyStart;
      this.compositeEnd = at;
      this.valueStart = at + 4;
      this.valueEnd = at + 4 + valueLength;
    }
    window.position = p + total;
    if (last) {
      const next = (bytes[p + total - 2] << 8) | bytes[p + total - 1];
      if (next === END_OF_KEY_GROUP) this.ended = true;
      else this.begin(next, p + total - 2);
    }
    if (window.base + window.position > this.groupEnd || (!this.ended && window.base + window.position === this.groupEnd))
      window.fail(`key group ${group} ends without its end mark`);
    return matches;
  }

  private splitKey(bytes: Uint8Array, start: number, end: number, state: number): boolean {
    const key = this.keys.of(state);
    const { keyFilter } = this;
    if (keyFilter !== undefined && !keyFilter.mightBegin(bytes, key.isTimer ? start + 8 : start, end)) return false;
    key.split(bytes, start, end, this.window.base);
    if (keyFilter !== undefined && !keyFilter.has(bytes, key.keyStart, key.keyEnd)) return false;
    this.keyStart = key.keyStart;
    this.keyEnd = key.keyEnd;
    this.namespaceStart = key.namespaceStart;
    this.namespaceEnd = key.namespaceEnd;
    this.userKeyStart = key.userKeyStart;
    this.userKeyEnd = key.userKeyEnd;
    this.unsplitKey = key.unsplit;
    return true;
  }
}

const NO_KEY = new Uint8Array(0);

function beginsWith(bytes: Uint8Array, start: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[start + i] !== key[i]) return false;
  return true;
}
