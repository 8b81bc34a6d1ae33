/**
 * Entries into rows: one row for each value, list element and map entry of keyed state.
 *
 * The pump opens the state files of the parts one after another, walks their entries and calls the fills of the projected
 * columns once a row. Nothing is decoded that no column asked for, except what has to be stepped over to find the next
 * element (state/entry.ts says what stands where).
 */
import type { KeyedHandle, StreamHandle } from '../checkpoint/handles.js';
import { CorruptError, SqlError, StateQueryError } from '../errors.js';
import type { BytesColumn, Column, FixedColumn } from '../io/column.js';
import { Cursor } from '../io/cursor.js';
import { textOf } from '../io/json.js';
import type { ReadStats } from '../io/source.js';
import type { Codec } from '../serializers/codec.js';
import { opaqueJson } from '../serializers/opaque.js';
import type { EntryCursor, EntryFilter, EntryRange, KeyedStateReader, StateContext } from '../state/entry.js';
import { appenderOf } from './appender.js';
import type { BatchWriter } from './batch.js';
import type { KeyScope } from './key-lookup.js';
import { type KeyedPart, type OperatorStates, openPart, type StateVariant } from './states.js';

/** The row being written: the entry and where its pieces lie. */
export interface KeyedRow {
  part: KeyedPart;
  variant: StateVariant;
  entry: EntryCursor;
  /** set to any piece of the entry, see `at()` */
  readonly cursor: Cursor;
  /** -1: not a list */
  listIndex: number;
  /** piece of the map key; start < 0: not a map */
  mapKeyStart: number;
  mapKeyEnd: number;
  /** piece of the value alone; start < 0: a null map value */
  valueStart: number;
  valueEnd: number;
  /** position of the i64 of the last access; < 0: no TTL */
  ttlAt: number;
  /** timer: position of the flipped timestamp, key and namespace behind it; otherwise the entry's key and namespace */
  keyStart: number;
  keyEnd: number;
  namespaceStart: number;
  namespaceEnd: number;
  timerAt: number;
}

export type Fill = (row: KeyedRow, out: Column) => void;

/** What a scan of keyed state wants of one variant. */
export interface VariantPlan {
  readonly variant: StateVariant;
  readonly fills: readonly Fill[];
}

export interface PumpPlan {
  readonly operators: readonly OperatorStates[];
  /** undefined: rows of this variant are not wanted */
  planOf(variant: StateVariant): VariantPlan | undefined;
  /** key groups and keys for one variant set; see key-lookup.ts */
  filterOf(part: KeyedPart, variants: readonly StateVariant[]): KeyScope | undefined;
  readonly values: boolean;
  /** false: no column needs the key, the namespace or the map key */
  readonly split?: boolean;
  /** rows are counted, nothing is asked of them */
  readonly counts?: boolean;
  /** whether timers are wanted, which may also lie in raw keyed state */
  readonly timers?: boolean;
  /**
   * Key groups to be read one after another, so that what a table remembers of a key group stays small; undefined: all at
   * once. `before` is called with the open reader before the rows of each.
   */
  slicesOf?(part: KeyedPart, states: OperatorStates): readonly number[] | undefined;
  before?(part: KeyedPart, states: OperatorStates, reader: KeyedStateReader, keyGroup: number): void;
}

export interface PumpContext {
  contextOf(part: KeyedPart): StateContext;
  readonly stats: ReadStats;
  /** --skip-damaged: what cannot be read is told once and passed over; what can be read behind it is */
  readonly skipDamaged: boolean;
  damaged(error: StateQueryError): void;
}

const SKIP_HINT = 'the other state files and key groups can be read: --skip-damaged gives the rest and counts what is missing';

/** So many times in a row a reader is asked to go on behind damage. */
const MAX_FAILURES = 64;

function oneByOne(filter: EntryFilter, states: ReadonlySet<number>): readonly EntryFilter[] {
  return [...states].sort((a, b) => a - b).map(id => ({ ...filter, states: new Set([id]) }));
}

/** The entries of a filter that a range has. */
function within(filter: EntryFilter, { states, first, last }: EntryRange): EntryFilter {
  const wanted = filter.keyGroups;
  const inside = Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(keyGroup => wanted?.has(keyGroup) !== false);
  return { ...filter, states: new Set(states), keyGroups: new Set(inside) };
}

/** Entries of a step that may have no rows at all. */
const MAX_PULL = 4096;

/** Entries counted in one step. */
const COUNT_STEP = 1 << 16;

/** Whether every entry of a state is one row. */
function rowEach({ shape }: StateVariant, reader: KeyedStateReader): boolean {
  return shape.form === 'single' || (shape.form === 'map' && reader.layout === 'composite');
}

/** A part, or a range of its entries: what can be read for itself. Plain data. */
export interface Piece {
  /** among the parts of the pump */
  readonly part: number;
  /** undefined: all of the part */
  readonly range?: EntryRange;
}

/** Bytes of the files behind a handle, as far as it says them. */
function handleBytes(handle: KeyedHandle): number {
  switch (handle.kind) {
    case 'key-groups':
      return streamBytes(handle.stream);
    case 'incremental':
      return [...handle.shared, ...handle.private].reduce((sum, file) => sum + streamBytes(file.stream), 0);
    default:
      return 0;
  }
}

const streamBytes = (stream: StreamHandle): number => ('size' in stream ? Math.max(0, stream.size) : 0);

/** Walks the parts; `step()` adds the rows of one entry and says whether there was one. */
export class KeyedPump {
  private readonly parts: { readonly states: OperatorStates; readonly part: KeyedPart }[];
  /** pieces to be read, undefined: all parts */
  private queue: Piece[];
  private slices: readonly number[] | undefined;
  private slice = 0;
  private filter: EntryFilter | undefined;
  /** what is wanted of the open part */
  private whole: EntryFilter | undefined;
  /** filters of the same part to go on with when the entries of this one end; `behind`: damage, see `goOn` */
  private readonly pending: { readonly filter: EntryFilter; readonly behind: boolean }[] = [];
  /** key group of the last entry that could be read, of the current filter */
  private lastGroup = -1;
  /** failures since then */
  private failures = 0;
  private lastDamage = '';
  private states: OperatorStates | undefined;
  /** the open one among the parts */
  private open = -1;
  private reader: KeyedStateReader | undefined;
  private entries: EntryCursor | undefined;
  private byState: (VariantPlan | undefined)[] = [];
  /** every entry of the part is one row, which is only counted */
  private counting = false;
  private readonly row: KeyedRow;

  constructor(
    private readonly plan: PumpPlan,
    private readonly context: PumpContext,
    private readonly writer: BatchWriter,
  ) {
    this.parts = plan.operators.flatMap(states =>
      states.keyed.filter(part => !part.raw || plan.timers === true).map(part => ({ states, part })),
    );
    this.queue = this.parts.map((_, part) => ({ part }));
    this.row = {
      part: undefined as unknown as KeyedPart,
      variant: undefined as unknown as StateVariant,
      entry: undefined as unknown as EntryCursor,
      cursor: new Cursor(new Uint8Array(0)),
      listIndex: -1,
      mapKeyStart: -1,
      mapKeyEnd: -1,
      valueStart: -1,
      valueEnd: -1,
      ttlAt: -1,
      keyStart: 0,
      keyEnd: 0,
      namespaceStart: 0,
      namespaceEnd: 0,
      timerAt: -1,
    };
  }

  /** Bytes of the files of all parts, as `_metadata` says. */
  get bytes(): number {
    return this.parts.reduce((sum, { part }) => sum + handleBytes(part.handle), 0);
  }

  /**
   * What there is to read, in pieces of about `bytes`: their rows, in this order, are all rows. Opens the parts; what cannot be
   * opened is a piece that says so when it is read.
   */
  pieces(bytes: number): readonly Piece[] {
    const pieces: Piece[] = [];
    for (let part = 0; part < this.parts.length; part++) {
      try {
        if (!this.enter(part)) continue;
        const ranges = this.ranges(bytes);
        if (ranges === undefined) pieces.push({ part });
        else for (const range of ranges) pieces.push({ part, range });
      } catch (error) {
        if (!(error instanceof StateQueryError)) throw error;
        pieces.push({ part });
      } finally {
        this.closePart();
      }
    }
    return pieces;
  }

  private ranges(bytes: number): readonly EntryRange[] | undefined {
    const { reader, whole, slices, counting } = this;
    if (reader === undefined || whole === undefined || whole.keys !== undefined || slices !== undefined) return undefined;
    // counted about as fast as it is read
    if (counting && reader.backend === 'canonical' && !reader.header.compressed) return undefined;
    return reader.ranges?.(whole, bytes);
  }

  /** Goes on with a piece, and nothing behind it; `step()` is then false at its end. */
  begin(piece: Piece): void {
    this.queue = [piece];
    this.pending.length = 0;
    this.slice = this.slices?.length ?? 0;
    this.endEntries();
    this.lastDamage = '';
  }

  /** Adds the rows of entries until the writer has what it is to have. @returns whether the entries may have more */
  private pull(entries: EntryCursor): boolean {
    const { writer } = this;
    const { stats } = this.context;
    for (let i = 0; i < MAX_PULL; i++) {
      if (!entries.next()) return false;
      stats.entriesDecoded++;
      this.lastGroup = entries.keyGroup;
      this.failures = 0;
      this.expand(entries);
      if (writer.rows >= writer.target) return true;
    }
    return true;
  }

  /** Adds the rows of the next entries: of one, when the writer's `target` is one row. @returns false at the end */
  step(): boolean {
    for (;;) {
      try {
        if (this.entries === undefined && !this.openNext()) return false;
        if (this.counting && this.entries?.skip !== undefined) {
          const passed = this.entries.skip(COUNT_STEP);
          if (passed > 0) {
            this.context.stats.entriesDecoded += passed;
            this.writer.rows += passed;
            return true;
          }
        } else if (this.pull(this.entries as EntryCursor)) return true;
        this.endEntries();
      } catch (error) {
        this.writer.rollback();
        const explained = this.explain(error);
        if (!isDamage(explained)) throw explained;
        if (!this.context.skipDamaged) throw explained.with({ hint: SKIP_HINT });
        const text = explained.describe();
        if (text !== this.lastDamage) this.context.damaged(explained);
        this.lastDamage = text;
        // an entry whose frame is intact leaves the cursor usable
        if (this.entries === undefined) this.closePart();
        else if (!(explained instanceof ValueError)) this.goOn(explained);
      }
    }
  }

  /**
   * Behind damage that ended the entries: the next slice, or the key groups behind the damaged one, where the format lets a reader
   * begin there. The rows of a key group that was begun stay, its rest is passed over.
   */
  private goOn(error: StateQueryError): void {
    const { reader, filter, slices, lastGroup } = this;
    const { handle } = this.row.part;
    this.entries?.close();
    if (reader === undefined || filter === undefined) {
      this.closePart();
      return;
    }
    if (slices !== undefined) {
      this.entries = undefined;
      if (this.slice >= slices.length) this.closePart();
      return;
    }
    const behind = handle.kind === 'key-groups' || handle.kind === 'incremental';
    if (!behind || !(error instanceof CorruptError) || ++this.failures > MAX_FAILURES) {
      this.endEntries();
      return;
    }
    const { first, count } = handle.range;
    // canonical and heap files say where they stand, tables only which entry they had last
    const at = handle.kind === 'key-groups' ? (this.entries?.keyGroup ?? -1) : lastGroup;
    const from = Math.max(at, lastGroup, first - 1, this.failures > 1 ? Math.min(...(filter.keyGroups ?? [first])) : 0) + 1;
    const rest = Array.from({ length: Math.max(0, first + count - from) }, (_, i) => from + i).filter(
      keyGroup => filter.keyGroups === undefined || filter.keyGroups.has(keyGroup),
    );
    if (rest.length === 0) {
      this.endEntries();
      return;
    }
    this.pending.unshift({ filter: { ...filter, keyGroups: new Set(rest) }, behind: true });
    this.entries = undefined;
  }

  /** The next filter of the part. @returns whether there was one */
  private openPending(): boolean {
    const { reader } = this;
    const next = reader === undefined ? undefined : this.pending.shift();
    if (reader === undefined || next === undefined) return false;
    if (!next.behind) this.failures = 0;
    this.lastGroup = -1;
    this.filter = next.filter;
    this.entries = reader.entries(next.filter);
    return true;
  }

  close(): void {
    this.closePart();
    this.queue = [];
  }

  /** The part stays open: the next piece may be of it. */
  private endEntries(): void {
    this.entries?.close();
    this.entries = undefined;
  }

  private closePart(): void {
    this.entries?.close();
    this.reader?.close();
    this.entries = undefined;
    this.reader = undefined;
    this.slices = undefined;
    this.filter = undefined;
    this.whole = undefined;
    this.open = -1;
    this.pending.length = 0;
    this.lastGroup = -1;
    this.failures = 0;
  }

  /** The next key group of a part that is read by key groups. */
  private openSlice(): boolean {
    const { reader, slices, filter, states } = this;
    if (reader === undefined || slices === undefined || filter === undefined || states === undefined) return false;
    while (this.slice < slices.length) {
      const keyGroup = slices[this.slice++];
      if (filter.keyGroups !== undefined && !filter.keyGroups.has(keyGroup)) continue;
      this.plan.before?.(this.row.part, states, reader, keyGroup);
      this.entries = reader.entries({ ...filter, keyGroups: new Set([keyGroup]) });
      return true;
    }
    return false;
  }

  private openNext(): boolean {
    if (this.openPending() || this.openSlice()) return true;
    for (let piece = this.queue.shift(); piece !== undefined; piece = this.queue.shift()) {
      if (piece.part !== this.open && !this.enter(piece.part)) continue;
      const { whole, row } = this;
      if (whole === undefined) continue;
      this.slice = 0;
      if (this.slices !== undefined) {
        if (this.openSlice()) return true;
        continue;
      }
      const filter = piece.range === undefined ? whole : within(whole, piece.range);
      // the states of tables one by one, so that damage in one does not hide the others
      const { skipDamaged } = this.context;
      const filters = skipDamaged && row.part.handle.kind === 'incremental' ? oneByOne(filter, filter.states ?? new Set()) : [filter];
      this.pending.push(...filters.map(filter => ({ filter, behind: false })));
      if (this.openPending()) return true;
    }
    return false;
  }

  /** Opens a part. @returns whether anything of it is wanted */
  private enter(index: number): boolean {
    this.closePart();
    const { states, part } = this.parts[index];
    const problem = states.problems.find(p => p.kind === (part.raw ? 'raw-keyed' : 'keyed') && p.subtask === part.subtask);
    if (problem !== undefined) throw problem.error;
    this.row.part = part;
    const reader = openPart(part, this.context.contextOf(part));
    this.reader = reader;
    const wanted = new Set<number>();
    const variants: StateVariant[] = [];
    this.byState = [];
    for (const state of reader.header.states) {
      const variant = states.variantOf(reader.header.key, state);
      const plan = variant === undefined ? undefined : this.plan.planOf(variant);
      if (plan === undefined) continue;
      wanted.add(state.id);
      variants.push(plan.variant);
      this.byState[state.id] = plan;
    }
    const narrowed = wanted.size === 0 ? undefined : this.plan.filterOf(part, variants);
    if (narrowed === undefined) {
      this.closePart();
      return false;
    }
    const { values, split = true, counts } = this.plan;
    this.whole = { states: wanted, values, split, ...narrowed };
    this.filter = this.whole;
    this.counting = counts === true && !this.context.skipDamaged && variants.every(v => rowEach(v, reader));
    this.states = states;
    this.slices = this.plan.slicesOf?.(part, states);
    this.open = index;
    return true;
  }

  private expand(entry: EntryCursor): void {
    const plan = this.byState[entry.state] as VariantPlan;
    const { row } = this;
    const { shape } = plan.variant;
    row.variant = plan.variant;
    row.entry = entry;
    row.listIndex = -1;
    row.mapKeyStart = -1;
    row.ttlAt = -1;
    row.timerAt = -1;
    row.keyStart = entry.keyStart;
    row.keyEnd = entry.keyEnd;
    row.namespaceStart = entry.namespaceStart;
    row.namespaceEnd = entry.namespaceEnd;
    row.valueStart = entry.valueStart;
    row.valueEnd = entry.valueEnd;
    if (entry.unsplit !== undefined && shape.form !== 'timer') {
      this.emit(plan);
      return;
    }
    switch (shape.form) {
      case 'single':
        if (shape.ttl) this.takeTtl(entry.valueStart, entry.valueEnd);
        this.emit(plan);
        return;
      case 'timer':
        this.expandTimer(plan, entry);
        return;
      case 'list':
        if (this.reader?.layout === 'heap') this.expandHeapList(plan, entry);
        else this.expandDelimitedList(plan, entry);
        return;
      case 'map':
        if (this.reader?.layout === 'heap') this.expandHeapMap(plan, entry);
        else this.expandMapEntry(plan, entry);
        return;
      default:
        throw new Error(`${shape.form} is not keyed state`);
    }
  }

  private expandTimer(plan: VariantPlan, entry: EntryCursor): void {
    const { row } = this;
    const { shape } = plan.variant;
    const c = this.at(entry.userKeyStart, entry.userKeyEnd);
    row.timerAt = c.take(8, 'timestamp of the timer');
    // the reader found the ends of what does not know its own
    if (
      entry.unsplit !== undefined ||
      entry.unsplitKey !== undefined ||
      shape.key?.unbounded === true ||
      shape.namespace?.unbounded === true
    ) {
      this.emit(plan);
      return;
    }
    row.keyStart = c.position;
    shape.key?.skip(c);
    row.keyEnd = c.position;
    row.namespaceStart = c.position;
    if (shape.namespace === undefined) c.take(1, 'void namespace');
    else shape.namespace.skip(c);
    row.namespaceEnd = c.position;
    c.expectEnd('the timer');
    this.emit(plan);
  }

  /** elements joined by one byte 0x2C */
  private expandDelimitedList(plan: VariantPlan, entry: EntryCursor): void {
    const { shape } = plan.variant;
    let position = entry.valueStart;
    for (let index = 0; position < entry.valueEnd || index === 0; index++) {
      if (shape.ttl) this.takeTtl(position, entry.valueEnd);
      const start = shape.ttl ? position + 8 : position;
      const c = this.at(start, entry.valueEnd);
      shape.value.skip(c);
      // the fills of the row move the same cursor
      position = c.position;
      this.emitElement(plan, index, start, position);
      if (position < entry.valueEnd) {
        if (entry.bytes[position] !== 0x2c)
          this.at(position, entry.valueEnd).fail(`byte between list elements is ${entry.bytes[position]}, expected 44`);
        position++;
        if (position === entry.valueEnd) this.at(position, entry.valueEnd).fail('list ends after a delimiter');
      }
    }
  }

  /** i32 count, elements back to back */
  private expandHeapList(plan: VariantPlan, entry: EntryCursor): void {
    const { shape } = plan.variant;
    const count = this.at(entry.valueStart, entry.valueEnd).count('number of list elements', 0);
    let position = entry.valueStart + 4;
    for (let index = 0; index < count; index++) {
      if (shape.ttl) this.takeTtl(position, entry.valueEnd);
      const start = shape.ttl ? position + 8 : position;
      const c = this.at(start, entry.valueEnd);
      shape.value.skip(c);
      position = c.position;
      this.emitElement(plan, index, start, position);
    }
    this.at(position, entry.valueEnd).expectEnd('the list');
  }

  private emitElement(plan: VariantPlan, index: number, start: number, end: number): void {
    const { row } = this;
    row.listIndex = index;
    row.valueStart = start;
    row.valueEnd = end;
    this.emit(plan);
  }

  /** composite layout: one entry a map key; value = bool isNull, value. Bytes behind a null are not part of it. */
  private expandMapEntry(plan: VariantPlan, entry: EntryCursor): void {
    const { row } = this;
    row.mapKeyStart = entry.userKeyStart;
    row.mapKeyEnd = entry.userKeyEnd;
    if (entry.valueStart === entry.valueEnd && !this.plan.values) {
      this.emit(plan);
      return;
    }
    const c = this.at(entry.valueStart, entry.valueEnd);
    if (c.bool()) {
      row.valueStart = -1;
      this.emit(plan);
      return;
    }
    if (plan.variant.shape.ttl) this.takeTtl(entry.valueStart + 1, entry.valueEnd);
    else row.valueStart = entry.valueStart + 1;
    this.emit(plan);
  }

  /** i32 count, then key, bool isNull, [value] */
  private expandHeapMap(plan: VariantPlan, entry: EntryCursor): void {
    const { row } = this;
    const { shape } = plan.variant;
    const count = this.at(entry.valueStart, entry.valueEnd).count('number of map entries', 1);
    let position = entry.valueStart + 4;
    for (let i = 0; i < count; i++) {
      const c = this.at(position, entry.valueEnd);
      row.mapKeyStart = position;
      shape.mapKey?.skip(c);
      row.mapKeyEnd = c.position;
      row.ttlAt = -1;
      if (c.bool()) {
        row.valueStart = -1;
        row.valueEnd = -1;
      } else {
        row.valueStart = c.position;
        if (shape.ttl) {
          row.ttlAt = c.take(8, 'time of the last access');
          row.valueStart = c.position;
        }
        shape.value.skip(c);
        row.valueEnd = c.position;
      }
      position = c.position;
      this.emit(plan);
    }
    this.at(position, entry.valueEnd).expectEnd('the map');
  }

  private takeTtl(start: number, end: number): void {
    this.row.ttlAt = this.at(start, end).take(8, 'time of the last access');
    this.row.valueStart = start + 8;
  }

  /** The shared cursor, set to a piece of the entry. */
  private at(start: number, end: number): Cursor {
    const { cursor, entry } = this.row;
    return cursor.reset(entry.bytes, start, end, Math.max(0, entry.base));
  }

  private emit(plan: VariantPlan): void {
    const { writer, row } = this;
    const { fills } = plan;
    const { columns } = writer;
    for (let i = 0; i < fills.length; i++) fills[i](row, columns[i]);
    writer.rows++;
  }

  /** Adds operator, subtask and state to an error out of a value's bytes. */
  private explain(error: unknown): StateQueryError {
    if (!(error instanceof StateQueryError)) throw error;
    const { part, variant } = this.row;
    if (this.entries === undefined || variant === undefined || error.where !== undefined) return error;
    const where = `operator ${part.operator.uid ?? part.operator.id}, subtask ${part.subtask}, state ${variant.name}${this.keyText()}`;
    if (error instanceof SqlError) {
      return new SqlError('VALUE_OUT_OF_RANGE', error.message, { where, ...(error.hint === undefined ? {} : { hint: error.hint }) });
    }
    if (error instanceof CorruptError) return new ValueError(error, where, error.file ?? this.fileName(), this.row.entry.base >= 0);
    return error;
  }

  /** The file that the part's entries stand in, where it is one. */
  private fileName(): string | undefined {
    const { part } = this.row;
    if (part.handle.kind !== 'key-groups') return undefined;
    try {
      return this.context.contextOf(part).open(part.handle.stream).name;
    } catch {
      return undefined;
    }
  }

  private keyText(): string {
    const { row } = this;
    const key = row.variant?.shape.key;
    if (key === undefined) return '';
    try {
      if (this.plan.split === false) {
        row.entry.splitNow?.();
        row.keyStart = row.entry.keyStart;
        row.keyEnd = row.entry.keyEnd;
      }
      const text = textOf(key.type, key.read(this.at(row.keyStart, row.keyEnd)));
      return `, key ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
    } catch {
      return '';
    }
  }
}

/** A CorruptError inside one entry: the next entry is not affected. */
class ValueError extends CorruptError {
  /** @param placed its offset is one in the file (not in decompressed or merged bytes) */
  constructor(error: CorruptError, where: string, file: string | undefined, placed: boolean) {
    super(error.message, {
      where,
      cause: error,
      ...(file === undefined ? {} : { file }),
      ...(error.offset === undefined || !placed ? {} : { offset: error.offset }),
      hint: error.hint ?? SKIP_HINT,
    });
  }
}

/** Damage that --skip-damaged may pass over: corrupt bytes, missing files. */
export function isDamage(error: StateQueryError): boolean {
  return error.exitCode === 3 || error.exitCode === 4 || error.exitCode === 5;
}

// ---------------------------------------------------------------------------------------------------------------- fills

/** A constant text, or NULL. */
export function fillText(text: string | null): Fill {
  if (text === null) return fillNull;
  const bytes = Buffer.from(text, 'utf8');
  return (_row, out) => (out as BytesColumn).pushText(bytes);
}

/** Decodes a piece of the row into a column of the codec's own type. */
export function fillPiece(
  codec: Codec,
  form: 'value' | 'text' | 'json',
  what: string,
  start: (row: KeyedRow) => number,
  end: (row: KeyedRow) => number,
): Fill {
  // what could not be told apart stands in the first part, the others are not there
  const absent = (row: KeyedRow) => start(row) < 0 || (row.entry.unsplitKey !== undefined && start(row) === end(row));
  const append = appenderOf(codec, form);
  return (row, out) => {
    if (absent(row)) {
      out.pushNull();
      return;
    }
    const { bytes } = row.entry;
    const base = Math.max(0, row.entry.base);
    const to = end(row);
    const at = append(bytes, start(row), to, base, out);
    if (at !== to) row.cursor.reset(bytes, at, to, base).expectEnd(what);
  };
}

/**
 * The value, or what stands where the entry could not be split any further (an opaque serializer in a heap file): its bytes
 * in the JSON forms, NULL where the column has another type.
 */
export function fillValue(codec: Codec, form: 'value' | 'text' | 'json'): Fill {
  const whole = fillPiece(
    codec,
    form,
    'the value',
    r => r.valueStart,
    r => r.valueEnd,
  );
  if (codec.opaque !== undefined && codec.type.kind === 'JSON') return whole;
  return (row, out) => {
    if (row.entry.unsplit === undefined) whole(row, out);
    else if (form === 'value') out.pushNull();
    else (out as BytesColumn).pushString(opaqueJson('unknown', row.entry.bytes.subarray(row.valueStart, row.valueEnd)));
  };
}

/** A copy of the bytes of a piece. */
export function fillBytes(start: (row: KeyedRow) => number, end: (row: KeyedRow) => number): Fill {
  return (row, out) => {
    const from = start(row);
    if (from < 0) out.pushNull();
    else (out as BytesColumn).pushBytes(row.entry.bytes, from, end(row));
  };
}

export function fillInteger(of: (row: KeyedRow) => number | undefined): Fill {
  return (row, out) => {
    const n = of(row);
    if (n === undefined) out.pushNull();
    else if ((out as FixedColumn).width === 4) (out as FixedColumn).pushI32(n);
    else (out as FixedColumn).pushI64Number(n);
  };
}

export const fillNull: Fill = (_row, out) => out.pushNull();
