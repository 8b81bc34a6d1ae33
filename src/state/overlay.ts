/**
 * What a changelog changed, held in memory: a cell for each (key, namespace) that a change touched.
 *
 *   value, list   segments in order: the base's own value and what was set or added; namespaces that were merged bring theirs.
 *                 `set` and `clear` drop what was there, so the base counts only while its segment is among them.
 *   map           whether the base's entries were dropped, and each map key that was put or removed
 *   timers        each timer, registered or removed
 *
 * A value of several segments (not a list) was merged by the job's own function, which is not known here: unresolved.
 * Changes that cannot be taken apart (opaque serializers) are kept as they are.
 */
import { UnsupportedError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import { copyOf } from '../io/window.js';
import { type Codec, hidesEnd } from '../serializers/codec.js';
import { ADD, ADD_ELEMENT, CLEAR, MERGE_NAMESPACES, PUT, REMOVE, SET, SET_INTERNAL } from './change.js';
import type { RegisteredState } from './entry.js';
import type { StateCodecs } from './state-codecs.js';

export type Segment =
  | { readonly kind: 'base' /** the cell whose value in the base it is */; readonly id: string }
  | { readonly kind: 'bytes' /** list elements */; readonly n: number; readonly bytes: Uint8Array };

export interface Cell {
  readonly keyGroup: number;
  /** key · namespace */
  readonly bytes: Uint8Array;
  readonly keyLength: number;
  segments: Segment[];
  /** MAP: the base's entries are gone */
  cleared: boolean;
  /** MAP: by map key; undefined: removed */
  readonly entries: Map<string, MapChange>;
}
export interface MapChange {
  readonly key: Uint8Array;
  /** bool isNull · value, as in composite layout */
  readonly value: Uint8Array | undefined;
}
export interface TimerChange {
  readonly bytes: Uint8Array;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly present: boolean;
}
/** A change that could not be applied. */
export interface Unapplied {
  readonly keyGroup: number;
  readonly bytes: Uint8Array;
  readonly reason: string;
}

/** The changes of one state. */
export class StateOverlay {
  readonly form: 'value' | 'list' | 'map' | 'timer';
  /** by key group, then by key and namespace */
  readonly cells = new Map<number, Map<string, Cell>>();
  /** by key group, then by the timer's bytes */
  readonly timers = new Map<number, Map<string, TimerChange>>();
  readonly unapplied: Unapplied[] = [];
  /** key groups in which a cell holds another one's base value */
  readonly moved = new Set<number>();

  constructor(
    readonly state: RegisteredState,
    readonly codecs: StateCodecs,
  ) {
    this.form =
      state.kind === 'timer'
        ? 'timer'
        : state.stateType === 'LIST' && codecs.element !== undefined
          ? 'list'
          : state.stateType === 'MAP'
            ? 'map'
            : 'value';
  }

  /** Applies one change; the cursor stands behind the state id and spans the change. @throws CorruptError */
  apply(op: number, keyGroup: number, c: Cursor): void {
    const start = c.position;
    try {
      if (this.form === 'timer') this.applyTimers(op, keyGroup, c);
      else this.applyKeyed(op, keyGroup, c);
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      this.unapplied.push({ keyGroup, bytes: copyOf(c.bytes, start, c.end), reason: error.message });
      return;
    }
    c.expectEnd(`the change of state ${this.state.name}`);
  }

  private applyTimers(op: number, keyGroup: number, c: Cursor): void {
    if (op !== ADD_ELEMENT && op !== REMOVE) unknown(op, 'timers');
    for (let n = op === ADD_ELEMENT ? c.count('number of timers', 8) : 1; n > 0; n--) {
      const start = c.take(8, 'timestamp of the timer');
      const keyStart = c.position - start;
      step(c, this.codecs.key, 'key', n > 1);
      const keyEnd = c.position - start;
      step(c, this.codecs.namespace, 'namespace', n > 1);
      const bytes = copyOf(c.bytes, start, c.position);
      groupOf(this.timers, keyGroup).set(latin1(bytes), { bytes, keyStart, keyEnd, present: op === ADD_ELEMENT });
    }
  }

  private applyKeyed(op: number, keyGroup: number, c: Cursor): void {
    const { codecs } = this;
    const start = c.position;
    step(c, codecs.key, 'key', true);
    const keyLength = c.position - start;
    step(c, codecs.namespace, 'namespace', op !== CLEAR);
    const cell = this.cell(keyGroup, c.bytes.subarray(start, c.position), keyLength);
    switch (op) {
      case CLEAR:
        cell.segments = [];
        cell.cleared = true;
        cell.entries.clear();
        return;
      case SET:
      case SET_INTERNAL:
        this.set(cell, c);
        return;
      case ADD:
        if (this.form === 'list') cell.segments.push(...this.elements(c));
        else if (this.form === 'map') this.putAll(cell, c);
        else unknown(op, `${this.state.stateType ?? 'keyed'} state`);
        return;
      case ADD_ELEMENT:
        if (this.form !== 'list') unknown(op, `${this.state.stateType ?? 'keyed'} state`);
        cell.segments.push({ kind: 'bytes', n: 1, bytes: rest(c, codecs.element, 'list element') });
        return;
      case PUT: {
        if (this.form !== 'map') unknown(op, `${this.state.stateType ?? 'keyed'} state`);
        const key = piece(c, codecs.mapKey, 'map key');
        const value = rest(c, codecs.mapValue, 'map value');
        const flagged = new Uint8Array(value.length + 1);
        flagged.set(value, 1);
        cell.entries.set(latin1(key), { key, value: flagged });
        return;
      }
      case REMOVE: {
        if (this.form !== 'map') unknown(op, `${this.state.stateType ?? 'keyed'} state`);
        const key = rest(c, codecs.mapKey, 'map key');
        cell.entries.set(latin1(key), { key, value: undefined });
        return;
      }
      case MERGE_NAMESPACES:
        this.merge(keyGroup, c, start, keyLength);
        return;
      default:
        c.fail(`change ${op} of state ${this.state.name} is not known`, start - 3);
    }
  }

  private set(cell: Cell, c: Cursor): void {
    cell.cleared = true;
    cell.entries.clear();
    cell.segments = [];
    if (this.form === 'list') cell.segments.push(...this.elements(c));
    else if (this.form === 'map') this.putAll(cell, c);
    else cell.segments.push({ kind: 'bytes', n: 1, bytes: rest(c, this.codecs.value, 'value') });
  }

  /** i32 n · n × element */
  private elements(c: Cursor): Segment[] {
    const n = c.count('number of list elements', 0);
    const start = c.position;
    // elements of unknown length stay together; they are the last part of the change
    if (this.codecs.element !== undefined && hidesEnd(this.codecs.element)) c.position = c.end;
    else for (let i = 0; i < n; i++) step(c, this.codecs.element, 'list element', false);
    if (n === 0 && c.position !== start) c.fail('bytes behind a list of no elements', start);
    return n === 0 ? [] : [{ kind: 'bytes', n, bytes: copyOf(c.bytes, start, c.position) }];
  }

  /** i32 n · n × (key · bool isNull · [value]) */
  private putAll(cell: Cell, c: Cursor): void {
    for (let n = c.count('number of map entries', 2); n > 0; n--) {
      const key = piece(c, this.codecs.mapKey, 'map key');
      const start = c.position;
      if (!c.bool()) step(c, this.codecs.mapValue, 'map value', n > 1);
      cell.entries.set(latin1(key), { key, value: copyOf(c.bytes, start, c.position) });
    }
  }

  /** target namespace · i32 n · n × source namespace */
  private merge(keyGroup: number, c: Cursor, start: number, keyLength: number): void {
    const key = c.bytes.subarray(start, start + keyLength);
    const cellOf = (namespace: Uint8Array) => this.cell(keyGroup, Buffer.concat([key, namespace]), keyLength);
    const target = cellOf(piece(c, this.codecs.namespace, 'namespace'));
    for (let n = c.count('number of namespaces', 0); n > 0; n--) {
      const source = cellOf(piece(c, this.codecs.namespace, 'namespace'));
      if (source === target) continue;
      if (source.segments.some(s => s.kind === 'base')) this.moved.add(keyGroup);
      target.segments.push(...source.segments);
      source.segments = [];
      source.cleared = true;
    }
  }

  private cell(keyGroup: number, bytes: Uint8Array, keyLength: number): Cell {
    const cells = groupOf(this.cells, keyGroup);
    const id = latin1(bytes);
    let cell = cells.get(id);
    if (cell === undefined) {
      cell = {
        keyGroup,
        bytes: copyOf(bytes),
        keyLength,
        segments: [{ kind: 'base', id }],
        cleared: false,
        entries: new Map(),
      };
      cells.set(id, cell);
    }
    return cell;
  }
}

function groupOf<V>(groups: Map<number, Map<string, V>>, keyGroup: number): Map<string, V> {
  let group = groups.get(keyGroup);
  if (group === undefined) {
    group = new Map();
    groups.set(keyGroup, group);
  }
  return group;
}

/** Bytes as a map key. */
export function latin1(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

/** Steps over a part. @param more something follows it: an opaque part that takes everything cannot be right */
function step(c: Cursor, codec: Codec | undefined, what: string, more: boolean): void {
  if (codec === undefined) throw new UnsupportedError(`the serializer of the ${what} is not known`);
  codec.skip(c);
  if (more && codec.unbounded === true && c.position === c.end)
    throw new UnsupportedError(`where the ${what} ends is not known: ${codec.opaque ?? 'its serializer is opaque'}`);
}

/** A copy of the next part, behind which something follows. */
function piece(c: Cursor, codec: Codec | undefined, what: string): Uint8Array {
  const start = c.position;
  step(c, codec, what, true);
  return copyOf(c.bytes, start, c.position);
}

/** A copy of the last part, which must end exactly with the change. */
function rest(c: Cursor, codec: Codec | undefined, what: string): Uint8Array {
  const start = c.position;
  step(c, codec, what, false);
  c.expectEnd(what);
  return copyOf(c.bytes, start, c.end);
}

function unknown(op: number, what: string): never {
  throw new UnsupportedError(`change ${op} of ${what} is not known`);
}
