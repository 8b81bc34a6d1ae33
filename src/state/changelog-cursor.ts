/**
 * The entries of a changelog: those of its bases with the changes applied, then what only the changes hold.
 *
 * An entry of the base that no change touched is shown where it stands. A touched one is made anew in a buffer of its own;
 * one whose namespace was merged into another is kept until the whole (state, key group) has passed.
 */
import type { KeyGroupRange } from '../checkpoint/handles.js';
import { Cursor } from '../io/cursor.js';
import { copyOf } from '../io/window.js';
import type { Base } from './changelog.js';
import type { EntryCursor, EntryFilter, KeyedHeader, StateContext } from './entry.js';
import { withWhere } from './header.js';
import { KeyFilter } from './key-filter.js';
import { type Cell, latin1, type MapChange, type StateOverlay, type TimerChange } from './overlay.js';
import { type MergedValue, mergeMap, mergeSegments } from './overlay-entries.js';

const EMPTY = new Uint8Array(0);

/** Whether a key group is one of a range. */
export function inRange(range: KeyGroupRange, keyGroup: number): boolean {
  return keyGroup >= range.first && keyGroup < range.first + range.count;
}

export class ChangelogCursor implements EntryCursor {
  state = -1;
  keyGroup = -1;
  bytes: Uint8Array = EMPTY;
  base = -1;
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

  private readonly steps: Generator<undefined, void, undefined>;
  private readonly keyFilter: KeyFilter | undefined;
  private open: EntryCursor | undefined;
  /** cells, map changes and timers that were shown with an entry of the base */
  private readonly done = new Set<Cell | MapChange | TimerChange>();
  /** base values of cells that hold the value of another, by state and key group */
  private kept = new Map<string, Uint8Array>();

  constructor(
    private readonly header: KeyedHeader,
    private readonly layout: 'composite' | 'heap',
    private readonly bases: readonly Base[],
    private readonly overlays: readonly (StateOverlay | undefined)[],
    private readonly filter: EntryFilter,
    private readonly range: KeyGroupRange,
    private readonly context: StateContext,
  ) {
    this.keyFilter = filter.keys === undefined ? undefined : new KeyFilter(filter.keys);
    this.steps = this.run();
  }

  next(): boolean {
    try {
      return this.steps.next().done !== true;
    } catch (error) {
      throw withWhere(error, this.context.where);
    }
  }

  close(): void {
    this.steps.return(undefined);
    this.open?.close();
    this.open = undefined;
  }

  private *run(): Generator<undefined, void, undefined> {
    for (const base of this.bases) {
      const entries = base.reader.entries(this.baseFilter(base));
      this.open = entries;
      let state = -1;
      let keyGroup = -1;
      while (entries.next()) {
        // handles of RocksDB keep their range when the changelog's is cut
        if (!inRange(this.range, entries.keyGroup)) continue;
        const id = base.ids[entries.state];
        if (id !== state || entries.keyGroup !== keyGroup) {
          // several bases may hold parts of one key group
          if (this.bases.length === 1) yield* this.flush(state, keyGroup);
          state = id;
          keyGroup = entries.keyGroup;
        }
        if (this.showBase(entries, id)) yield undefined;
      }
      if (this.bases.length === 1) yield* this.flush(state, keyGroup);
      entries.close();
      this.open = undefined;
    }
    yield* this.flushAll();
  }

  /** The states of a base that are wanted, or whose entries a wanted state of the same name replaces. */
  private baseFilter({ ids }: Base): EntryFilter {
    const { states } = this.filter;
    const { values: _values, split: _split, states: _states, ...rest } = this.filter;
    if (states === undefined) return rest;
    return {
      ...rest,
      states: new Set(ids.flatMap((id, baseId) => (states.has(id) || states.has(this.overlayOf(id)?.state.id ?? -1) ? [baseId] : []))),
    };
  }

  /** The changes of a state: its own, or those of its namesake that was registered with other serializers since. */
  private overlayOf(id: number): StateOverlay | undefined {
    const own = this.overlays[id];
    if (own !== undefined) return own;
    const { name, kind } = this.header.states[id];
    return this.overlays.find(overlay => overlay !== undefined && overlay.state.name === name && overlay.state.kind === kind);
  }

  private wanted(id: number): boolean {
    return this.filter.states === undefined || this.filter.states.has(id);
  }

  /** Shows an entry of the base as the changes left it. @returns false when there is nothing to show (yet) */
  private showBase(e: EntryCursor, id: number): boolean {
    const overlay = this.overlayOf(id);
    if (overlay === undefined || e.unsplit !== undefined || e.unsplitKey !== undefined) return this.pass(e, id);
    if (overlay.form === 'timer') {
      const change = overlay.timers.get(e.keyGroup)?.get(latin1(e.bytes, e.userKeyStart, e.userKeyEnd));
      if (change === undefined) return this.pass(e, id);
      this.done.add(change);
      return change.present && this.pass(e, id);
    }
    const cells = overlay.cells.get(e.keyGroup);
    if (cells === undefined) return this.pass(e, id);
    const key = latin1(e.bytes, e.keyStart, e.keyEnd) + latin1(e.bytes, e.namespaceStart, e.namespaceEnd);
    const cell = cells.get(key);
    if (cell === undefined) return this.pass(e, id);
    if (overlay.form === 'map') return this.showBaseMap(e, id, overlay, cell);
    if (overlay.moved.has(e.keyGroup)) {
      this.kept.set(`${overlay.state.id}/${key}`, copyOf(e.bytes, e.valueStart, e.valueEnd));
      return false;
    }
    this.done.add(cell);
    const own = e.bytes.subarray(e.valueStart, e.valueEnd);
    return this.showCell(
      overlay,
      cell,
      mergeSegments(overlay, cell, this.layout, other => (other === key ? own : undefined)),
    );
  }

  private showBaseMap(e: EntryCursor, id: number, overlay: StateOverlay, cell: Cell): boolean {
    if (this.layout === 'heap') {
      this.done.add(cell);
      const origin = { where: `${this.context.where}, state ${overlay.state.name}` };
      const base = new Cursor(e.bytes, e.valueStart, e.valueEnd, origin, Math.max(0, e.base));
      const bytes = mergeMap(overlay, cell, base);
      return this.showCell(overlay, cell, bytes === undefined ? undefined : { bytes });
    }
    const change = cell.entries.get(latin1(e.bytes, e.userKeyStart, e.userKeyEnd));
    if (change === undefined) return !cell.cleared && this.pass(e, id);
    this.done.add(change);
    return this.showMapEntry(overlay, cell, change);
  }

  /** Shows what the changes hold of a (state, key group) beyond the base's entries. */
  private *flush(state: number, keyGroup: number): Generator<undefined, void, undefined> {
    const overlay = state < 0 ? undefined : this.overlayOf(state);
    if (overlay !== undefined) yield* this.flushOverlay(overlay, keyGroup);
  }

  private *flushOverlay(overlay: StateOverlay, keyGroup: number): Generator<undefined, void, undefined> {
    if (!this.wanted(overlay.state.id)) return;
    if (this.filter.keyGroups !== undefined && !this.filter.keyGroups.has(keyGroup)) return;
    for (const change of overlay.timers.get(keyGroup)?.values() ?? []) {
      if (!change.present || this.done.has(change)) continue;
      this.done.add(change);
      if (this.showTimer(overlay, keyGroup, change)) yield undefined;
    }
    const baseOf = (id: string) => this.kept.get(`${overlay.state.id}/${id}`);
    for (const cell of overlay.cells.get(keyGroup)?.values() ?? []) {
      if (this.done.has(cell)) continue;
      this.done.add(cell);
      if (overlay.form !== 'map') {
        if (this.showCell(overlay, cell, mergeSegments(overlay, cell, this.layout, baseOf))) yield undefined;
      } else if (this.layout === 'heap') {
        const bytes = mergeMap(overlay, cell, undefined);
        if (this.showCell(overlay, cell, bytes === undefined ? undefined : { bytes })) yield undefined;
      } else
        for (const change of cell.entries.values()) if (!this.done.has(change) && this.showMapEntry(overlay, cell, change)) yield undefined;
    }
    this.kept = new Map();
  }

  private *flushAll(): Generator<undefined, void, undefined> {
    const groups = new Set(this.overlays.flatMap(o => (o === undefined ? [] : [...o.cells.keys(), ...o.timers.keys()])));
    const { kept } = this;
    for (const keyGroup of [...groups].sort((a, b) => a - b))
      for (const overlay of this.overlays) {
        if (overlay === undefined) continue;
        this.kept = kept;
        yield* this.flushOverlay(overlay, keyGroup);
      }
    for (const overlay of this.overlays)
      for (const { keyGroup, bytes, reason } of overlay?.unapplied ?? []) {
        if (overlay === undefined || !this.wanted(overlay.state.id) || this.keyFilter !== undefined) continue;
        if (this.filter.keyGroups !== undefined && !this.filter.keyGroups.has(keyGroup)) continue;
        this.place(overlay, keyGroup, bytes, bytes.length, bytes.length, bytes.length);
        this.unsplit = `a change that could not be applied: ${reason}`;
        this.unsplitKey = this.unsplit;
        yield undefined;
      }
  }

  private pass(e: EntryCursor, id: number): boolean {
    if (!this.wanted(id)) return false;
    this.state = id;
    this.keyGroup = e.keyGroup;
    this.bytes = e.bytes;
    this.base = e.base;
    this.keyStart = e.keyStart;
    this.keyEnd = e.keyEnd;
    this.namespaceStart = e.namespaceStart;
    this.namespaceEnd = e.namespaceEnd;
    this.userKeyStart = e.userKeyStart;
    this.userKeyEnd = e.userKeyEnd;
    this.valueStart = e.valueStart;
    this.valueEnd = e.valueEnd;
    this.unsplit = e.unsplit;
    this.unsplitKey = e.unsplitKey;
    return true;
  }

  private showCell(overlay: StateOverlay, cell: Cell, value: MergedValue | undefined): boolean {
    if (value === undefined || !this.show(overlay, cell, EMPTY, value.bytes)) return false;
    this.unsplit = value.unsplit;
    return true;
  }

  private showMapEntry(overlay: StateOverlay, cell: Cell, change: MapChange): boolean {
    return change.value !== undefined && this.show(overlay, cell, change.key, change.value);
  }

  private show(overlay: StateOverlay, cell: Cell, userKey: Uint8Array, value: Uint8Array): boolean {
    if (!this.wanted(overlay.state.id)) return false;
    if (this.keyFilter !== undefined && !this.keyFilter.has(cell.bytes, 0, cell.keyLength)) return false;
    const keys = cell.bytes.length;
    const bytes = new Uint8Array(keys + userKey.length + value.length);
    bytes.set(cell.bytes);
    bytes.set(userKey, keys);
    bytes.set(value, keys + userKey.length);
    this.place(overlay, cell.keyGroup, bytes, cell.keyLength, keys, keys + userKey.length);
    return true;
  }

  private showTimer(overlay: StateOverlay, keyGroup: number, change: TimerChange): boolean {
    const { bytes, keyStart, keyEnd } = change;
    if (this.keyFilter !== undefined && !this.keyFilter.has(bytes, keyStart, keyEnd)) return false;
    this.place(overlay, keyGroup, bytes, keyEnd, bytes.length, bytes.length);
    this.keyStart = keyStart;
    this.userKeyStart = 0;
    return true;
  }

  /** Shows `bytes`: key up to `keyEnd`, namespace up to `namespaceEnd`, map key up to `userKeyEnd`, then the value. */
  private place(
    overlay: StateOverlay,
    keyGroup: number,
    bytes: Uint8Array,
    keyEnd: number,
    namespaceEnd: number,
    userKeyEnd: number,
  ): void {
    this.state = overlay.state.id;
    this.keyGroup = keyGroup;
    this.bytes = bytes;
    this.base = -1;
    this.keyStart = 0;
    this.keyEnd = keyEnd;
    this.namespaceStart = keyEnd;
    this.namespaceEnd = namespaceEnd;
    this.userKeyStart = namespaceEnd;
    this.userKeyEnd = userKeyEnd;
    this.valueStart = userKeyEnd;
    this.valueEnd = bytes.length;
    this.unsplit = undefined;
    this.unsplitKey = undefined;
  }
}
