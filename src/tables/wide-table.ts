/**
 * The wide tables of an operator: one row a key (P_keyed), or a key and window (P_windowed), with a column for each state.
 *
 *   state_key, [state_window], then each state under its name
 *   VALUE REDUCING AGGREGATING   the value       LIST   LIST(element)       MAP   MAP(map key, map value)       without time to live
 *   NULL                         the key has nothing in the state
 *
 * A row is there for every key that any of the states has, so all of them are read, but only values of projected states are kept and
 * decoded. Rows are put together one key group at a time (wide-rows.ts); of one state alone, where each entry is a row, they are
 * handed on as they come.
 */
import { CorruptError, SqlError, StateQueryError, UnsupportedError } from '../errors.js';
import { BytesColumn, type Column, columnValue, type FixedColumn, type ListColumn, mapKeyIdentity, outOfRange } from '../io/column.js';
import { Cursor } from '../io/cursor.js';
import { textOf } from '../io/json.js';
import type { Codec } from '../serializers/codec.js';
import { wireOf } from '../serializers/wire.js';
import type { EntryCursor, EntryFilter, KeyedStateReader } from '../state/entry.js';
import { openKeyedState } from '../state/open.js';
import { list, map, type SqlType, Struct, struct, TIMESTAMPTZ, Timestamp, VARCHAR, type Value } from '../types.js';
import { type Append, appenderOf, pushAs } from './appender.js';
import { BATCH_ROWS, BatchWriter, scanOf } from './batch.js';
import { explainScan, keyedScope } from './explain.js';
import { keyFilterOf } from './key-lookup.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column } from './spec.js';
import type { KeyedPart, OperatorStates, StateShape, StateVariant } from './states.js';
import type { BoundColumn, BoundTable, ColumnSpec, Filter, Projection, Scan, ScanRequest, Table, TableSpec } from './table.js';
import { Cells, WideRows } from './wide-rows.js';
import { windowKindOf } from './windows.js';

export const WINDOW_TYPE = struct(['window_start', TIMESTAMPTZ], ['window_end', TIMESTAMPTZ]);

/** The type of `state_window`: bounds of a time window, otherwise the namespace as it is. */
export function windowColumn(v: StateVariant): ColumnSpec {
  const kind = windowKindOf(v);
  const type = kind === 'time' || kind === 'slice' ? WINDOW_TYPE : (v.shape.namespace?.type ?? VARCHAR);
  return column('state_window', type, 'window that the state is stored under');
}

function windowValue(v: StateVariant, c: Cursor): Value {
  const kind = windowKindOf(v);
  if (kind === 'slice') return new Struct([null, Timestamp.ofMillis(c.i64())]);
  if (kind === 'time') return new Struct([Timestamp.ofMillis(c.i64()), Timestamp.ofMillis(c.i64())]);
  return v.shape.namespace?.read(c) ?? null;
}

/** Names made unique without case: a state called `state_key` becomes `state_key_1`. */
export function uniqueNames(reserved: readonly string[], names: readonly string[]): string[] {
  const taken = new Set(reserved);
  return names.map(name => {
    let unique = name;
    for (let i = 1; taken.has(unique.toLowerCase()); i++) unique = `${name}_${i}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}

export function boundColumns(columns: readonly ColumnSpec[]): BoundColumn[] {
  return columns.map(c => ({
    name: c.name,
    type: c.type as SqlType,
    mixed: (c.type as SqlType).kind === 'JSON',
    description: c.description,
  }));
}

/** The type of a state's column. */
function stateType({ shape: { form, value, mapKey } }: StateVariant): SqlType {
  return form === 'list' ? list(value.type) : form === 'map' ? map(mapKey?.type ?? VARCHAR, value.type) : value.type;
}

/** The wide table of some states of an operator: all of the void namespace, or all that are windowed. */
export function wideTable(
  snapshot: OpenedSnapshot,
  states: OperatorStates,
  name: string,
  variants: readonly StateVariant[],
  windowed: boolean,
): Table {
  const lead = [
    column('state_key', variants[0].shape.key?.type ?? VARCHAR, 'key of the keyed stream'),
    ...(windowed ? [windowColumn(variants[0])] : []),
  ];
  const names = uniqueNames(
    lead.map(c => c.name),
    variants.map(v => v.name),
  );
  const spec: TableSpec = {
    name,
    aliases: [],
    description: windowed ? 'one row for each key and window' : 'one row for each key',
    columns: [...lead, ...variants.map((v, i) => column(names[i], stateType(v), `${v.registered.stateType ?? 'VALUE'} state ${v.name}`))],
    examples: [],
  };
  const columns = boundColumns(spec.columns);
  const bound: BoundTable = {
    columns,
    scan(request): Scan {
      const sources = request.columns.map((p): Source => {
        const state = names.indexOf(p.name);
        if (p.name === 'state_key') return 'key';
        if (windowed && p.name === 'state_window') return 'window';
        if (state < 0) throw new Error(`${name} has no column ${p.name}`);
        return state;
      });
      const writer = new BatchWriter(
        request.columns.map(p => projected(columns, p)),
        snapshot.timesCut,
        { fields: request.columns.map((p, i) => fieldsOf(variants, sources[i], p)) },
      );
      const scan = new WideScan({ snapshot, states, variants, windowed, request, sources }, writer);
      return scanOf(
        writer,
        () => scan.step(),
        () => scan.close(),
        request.limit,
      );
    },
    explain: request => {
      const filters = keyFilters(request);
      const scope = keyedScope({
        snapshot,
        operators: [states],
        states: variants,
        of: variants.length,
        filters: [...filters.values()],
        typed: new Map([['key', variants[0].shape.key?.type]]),
        names: [],
      });
      const useOf = (f: Filter) => scope.useOf(filters.get(f) ?? f);
      return explainScan(name, columns, request, { ...scope, useOf });
    },
  };
  return { spec, bind: () => bound };
}

/** The filters on `state_key` as those on `key` of keyed_state. */
function keyFilters(request: ScanRequest): ReadonlyMap<Filter, Filter> {
  return new Map(request.filters.flatMap(f => (f.column === 'state_key' ? [[f, { ...f, column: 'key' }]] : [])));
}

function projected(columns: readonly BoundColumn[], p: Projection): SqlType {
  if (p.form === 'text') return VARCHAR;
  const c = columns.find(x => x.name === p.name);
  if (c === undefined) throw new Error(`no column ${p.name}`);
  return c.type;
}

/** What a projected column shows: the number of a state, or what tells rows apart. */
type Source = number | 'key' | 'window';

/** The fields of a STRUCT that are read, where its codec leaves out the others. */
function fieldsOf(variants: readonly StateVariant[], source: Source, p: Projection): readonly string[] | undefined {
  if (p.form !== 'value' || source === 'window') return undefined;
  const codecs = source === 'key' ? variants.map(v => v.shape.key) : [variants[source].shape.value];
  return codecs.every(codec => codec !== undefined && wireOf(codec)?.kind === 'parts') ? p.fields : undefined;
}

// ---------------------------------------------------------------------------------------------------------------- the scan

interface WidePlan {
  readonly snapshot: OpenedSnapshot;
  readonly states: OperatorStates;
  readonly variants: readonly StateVariant[];
  readonly windowed: boolean;
  readonly request: ScanRequest;
  /** of each projected column */
  readonly sources: readonly Source[];
}

/** Entries taken in one step, and passed over in one. */
const TAKE_STEP = 4096;
const SKIP_STEP = 1 << 16;

/** Column families read side by side; of more, each key group is looked for anew. */
const MAX_CURSORS = 16;

/** A cursor whose current entry may not have been used yet. */
class Ahead {
  ready = false;
  private ended = false;
  constructor(readonly entries: EntryCursor) {}

  /** Key group of the entry that comes next, Infinity at the end. */
  nextKeyGroup(): number {
    if (!this.ready && !this.ended) {
      this.ready = this.entries.next();
      this.ended = !this.ready;
    }
    return this.ready ? this.entries.keyGroup : Number.POSITIVE_INFINITY;
  }
}

/** Writes what one projected column has in a row. */
type WriteCell = (row: number, out: Column) => void;

class WideScan {
  private readonly rows: WideRows;
  /** by the number of a state; undefined: its values are not wanted */
  private readonly cells: readonly (Cells | undefined)[];
  private readonly writers: readonly WriteCell[];
  private readonly filters: readonly Filter[];
  private readonly cursor = new Cursor(new Uint8Array(0));
  private nextPart = 0;
  private part: KeyedPart | undefined;
  private reader: KeyedStateReader | undefined;
  private layout: KeyedStateReader['layout'] = 'composite';
  private filter: EntryFilter = {};
  /** by the id of a state in the open reader: its number, -1 when it is not of the table */
  private numbers: number[] = [];
  private keyCodec: Codec | undefined;
  /** the cursors whose entries make up the rows of a key group, one behind the other */
  private cursors: Ahead[] = [];
  /** key groups that cursors are yet to be made for, one by one */
  private slices: readonly number[] = [];
  private nextSlice = 0;
  private keyGroup = -1;
  /** the cursor that entries of the key group are taken from; behind the last one, its rows are whole */
  private current = 0;
  /** every entry is a row: rows are handed on before their key group ends */
  private rowEach = false;
  /** the rows are to be handed on, from `next` on */
  private whole = false;
  private next = 0;

  constructor(
    private readonly plan: WidePlan,
    private readonly writer: BatchWriter,
  ) {
    const { variants, windowed, sources, request } = plan;
    this.rows = new WideRows(windowed);
    this.filters = [...keyFilters(request).values()];
    this.cells = variants.map((v, i) => (sources.includes(i) ? new Cells(v.shape.form === 'map') : undefined));
    this.writers = sources.map((source, i) => this.writerOf(source, request.columns[i].form));
  }

  /** Adds rows, up to the writer's target, or takes entries. @returns false at the end */
  step(): boolean {
    if (this.whole) {
      this.emit();
      return true;
    }
    if (this.reader === undefined && !this.openPart()) return false;
    if (this.rowEach && this.writers.length === 0) this.passOver();
    else this.take();
    return true;
  }

  close(): void {
    this.closePart();
    this.nextPart = this.plan.states.keyed.length;
    this.whole = false;
  }

  // ---------------------------------------------------------------------------------------------------------- entries

  private openPart(): boolean {
    const { snapshot, states, variants } = this.plan;
    while (this.nextPart < states.keyed.length) {
      const part = states.keyed[this.nextPart++];
      if (part.raw) continue;
      const problem = states.problems.find(p => p.kind === 'keyed' && p.subtask === part.subtask);
      if (problem !== undefined) throw problem.error;
      const reader = openKeyedState(part.handle, snapshot.contextOf(part));
      this.reader = reader;
      this.part = part;
      this.layout = reader.layout;
      this.numbers = [];
      const ids: number[] = [];
      for (const state of reader.header.states) {
        const variant = states.variantOf(reader.header.key, state);
        const number = variant === undefined ? -1 : variants.indexOf(variant);
        this.numbers[state.id] = number;
        if (number >= 0) ids.push(state.id);
      }
      const here = ids.map(id => variants[this.numbers[id]]);
      const typed = new Map([['key', variants[0].shape.key?.type]]);
      const narrowed = keyFilterOf(snapshot, part, here, this.filters, typed);
      if (narrowed === undefined || ids.length === 0) {
        this.closePart();
        continue;
      }
      this.keyCodec = here[0].shape.key;
      this.rowEach =
        ids.length === 1 && part.handle.kind !== 'changelog' && (here[0].registered.stateType !== 'MAP' || reader.layout === 'heap');
      const counts = this.rowEach && this.writers.length === 0;
      this.filter = { states: new Set(ids), values: !counts, split: !counts, ...narrowed };
      this.openCursors(part, reader, ids);
      return true;
    }
    return false;
  }

  /** Files of key groups have all states of one together; column families are read side by side; changelogs by key groups. */
  private openCursors(part: KeyedPart, reader: KeyedStateReader, ids: readonly number[]): void {
    const { filter } = this;
    const { first, count } = part.handle.range;
    const { kind } = part.handle;
    this.slices = [];
    this.nextSlice = 0;
    if (kind === 'key-groups' || (kind === 'incremental' && ids.length === 1)) this.cursors = [new Ahead(reader.entries(filter))];
    else if (kind === 'incremental' && ids.length <= MAX_CURSORS)
      this.cursors = ids.map(id => new Ahead(reader.entries({ ...filter, states: new Set([id]) })));
    else this.slices = Array.from({ length: count }, (_, i) => first + i).filter(g => filter.keyGroups?.has(g) !== false);
    this.current = this.cursors.length;
  }

  private closeCursors(): void {
    for (const { entries } of this.cursors) entries.close();
    this.cursors = [];
  }

  private closePart(): void {
    this.closeCursors();
    this.reader?.close();
    this.reader = undefined;
    this.slices = [];
  }

  /** Counts entries of which each is a row. */
  private passOver(): void {
    const { entries } = this.cursors[0];
    let passed = 0;
    if (entries.skip !== undefined) passed = entries.skip(SKIP_STEP);
    else while (passed < TAKE_STEP && entries.next()) passed++;
    this.plan.snapshot.stats.entriesDecoded += passed;
    this.writer.rows += passed;
    if (passed === 0) this.closePart();
  }

  /** Takes entries of the key group; behind its last one, its rows are whole. */
  private take(): void {
    if (this.current === this.cursors.length && !this.openKeyGroup()) {
      this.closePart();
      return;
    }
    const { rows, cells, numbers, rowEach, keyGroup } = this;
    const { stats } = this.plan.snapshot;
    for (let left = TAKE_STEP; left > 0; ) {
      const ahead = this.cursors[this.current];
      const { entries } = ahead;
      for (; left > 0 && ahead.nextKeyGroup() === keyGroup; left--) {
        ahead.ready = false;
        stats.entriesDecoded++;
        const state = numbers[entries.state];
        const row = rows.rowOf(entries, state);
        cells[state]?.add(row, entries);
        if (rowEach && rows.count === BATCH_ROWS) {
          this.whole = true;
          return;
        }
      }
      if (left === 0) return;
      this.current++;
      if (this.current === this.cursors.length) {
        this.whole = true;
        return;
      }
    }
  }

  /** Finds the next key group that has any entries. @returns whether there is one */
  private openKeyGroup(): boolean {
    for (;;) {
      let keyGroup = Number.POSITIVE_INFINITY;
      for (const ahead of this.cursors) keyGroup = Math.min(keyGroup, ahead.nextKeyGroup());
      if (Number.isFinite(keyGroup)) {
        this.keyGroup = keyGroup;
        this.current = 0;
        return true;
      }
      this.closeCursors();
      const slice = this.slices[this.nextSlice++];
      if (slice === undefined || this.reader === undefined) return false;
      this.cursors = [new Ahead(this.reader.entries({ ...this.filter, keyGroups: new Set([slice]) }))];
    }
  }

  // ------------------------------------------------------------------------------------------------------------- rows

  /** Hands rows on. */
  private emit(): void {
    const { rows, writer, writers } = this;
    const { columns } = writer;
    let i = 0;
    try {
      for (; this.next < rows.count && writer.rows < writer.target; this.next++) {
        for (i = 0; i < writers.length; i++) writers[i](this.next, columns[i]);
        writer.rows++;
      }
    } catch (error) {
      throw this.explain(error, this.plan.sources[i]);
    }
    if (this.next < rows.count) return;
    this.whole = false;
    this.next = 0;
    rows.clear();
    for (const cells of this.cells) cells?.clear();
  }

  private writerOf(source: Source, form: Projection['form']): WriteCell {
    if (source === 'key') return this.keyWriter(form);
    if (source === 'window') return this.windowWriter(form);
    const { shape } = this.plan.variants[source];
    const cells = this.cells[source] as Cells;
    if (shape.form === 'list') return this.listWriter(cells, shape);
    if (shape.form === 'map') return this.mapWriter(cells, shape);
    const append = appenderOf(shape.value, form);
    return (row, out) => {
      const entry = cells.entryOf(row);
      if (entry === 0) {
        out.pushNull();
        return;
      }
      const { bytes } = cells;
      const end = cells.valueEnd(entry);
      const base = cells.baseOf(entry);
      const start = shape.ttl ? this.behindTtl(bytes, cells.valueStart(entry), end, base) : cells.valueStart(entry);
      const to = append(bytes, start, end, base, out);
      if (to !== end) this.at(bytes, to, end, base).expectEnd('the value');
    };
  }

  private keyWriter(form: Projection['form']): WriteCell {
    const { rows } = this;
    let codec: Codec | undefined;
    let append: Append | undefined;
    return (row, out) => {
      if (this.keyCodec !== codec) {
        codec = this.keyCodec;
        append = codec === undefined ? undefined : appenderOf(codec, form);
      }
      if (append === undefined) {
        out.pushNull();
        return;
      }
      const { bytes } = rows;
      const end = rows.keyEnd(row);
      const to = append(bytes, rows.keyStart(row), end, Number.NaN, out);
      if (to !== end) this.at(bytes, to, end, Number.NaN).expectEnd('the key');
    };
  }

  private windowWriter(form: Projection['form']): WriteCell {
    const { rows } = this;
    const { variants } = this.plan;
    const { type } = windowColumn(variants[0]);
    return (row, out) => {
      const c = this.at(rows.bytes, rows.keyEnd(row), rows.namespaceEnd(row), Number.NaN);
      pushAs(out, form, type as SqlType, windowValue(variants[rows.firstState(row)], c));
    };
  }

  private listWriter(cells: Cells, { value, ttl }: StateShape): WriteCell {
    const append = appenderOf(value, 'value');
    return (row, out) => {
      const entry = cells.entryOf(row);
      if (entry === 0) {
        out.pushNull();
        return;
      }
      const [elements] = (out as ListColumn).children;
      const { bytes } = cells;
      const end = cells.valueEnd(entry);
      const base = cells.baseOf(entry);
      let p = cells.valueStart(entry);
      const one = () => {
        p = append(bytes, ttl ? this.behindTtl(bytes, p, end, base) : p, end, base, elements);
      };
      if (this.layout === 'heap') {
        const n = this.at(bytes, p, end, base).count('number of list elements', 0);
        p += 4;
        for (let i = 0; i < n; i++) one();
        if (p !== end) this.at(bytes, p, end, base).expectEnd('the list');
      } else
        while (p < end) {
          one();
          if (p === end) break;
          if (bytes[p] !== DELIMITER) this.at(bytes, p, end, base).fail(`byte between list elements is ${bytes[p]}, expected ${DELIMITER}`);
          p++;
          if (p === end) this.at(bytes, p, end, base).fail('list ends after a delimiter');
        }
      (out as ListColumn).finish();
    };
  }

  private mapWriter(cells: Cells, { mapKey, value, ttl }: StateShape): WriteCell {
    if (mapKey === undefined) throw new Error('a map without keys');
    const appendKey = appenderOf(mapKey, 'value');
    const appendValue = appenderOf(value, 'value');
    const byBytes = EQUAL_BY_BYTES.has(mapKey.type.kind);
    /** Appends the map value, null or not, that begins at `start`. @returns where it ends */
    const valueAt = (start: number, end: number, base: number, out: Column): number => {
      const { bytes } = cells;
      if (this.at(bytes, start, end, base).bool()) {
        out.pushNull();
        return start + 1;
      }
      return appendValue(bytes, ttl ? this.behindTtl(bytes, start + 1, end, base) : start + 1, end, base, out);
    };
    const pairs = (first: number, keys: Column, values: Column): void => {
      const { bytes } = cells;
      if (this.layout === 'heap') {
        const end = cells.valueEnd(first);
        const base = cells.baseOf(first);
        let p = cells.valueStart(first);
        const n = this.at(bytes, p, end, base).count('number of map entries', 1);
        p += 4;
        for (let i = 0; i < n; i++) p = valueAt(appendKey(bytes, p, end, base, keys), end, base, values);
        if (p !== end) this.at(bytes, p, end, base).expectEnd('the map');
        return;
      }
      for (let entry = first; entry !== 0; entry = cells.nextOf(entry)) {
        const start = cells.valueStart(entry);
        const end = cells.valueEnd(entry);
        const base = cells.baseOf(entry);
        const to = appendKey(bytes, cells.mapKeyStart(entry), start, base, keys);
        if (to !== start) this.at(bytes, to, start, base).expectEnd('the map key');
        const isNull = bytes[start] === 1;
        const behind = valueAt(start, end, base, values);
        // bytes behind a null are not part of it
        if (!isNull && behind !== end) this.at(bytes, behind, end, base).expectEnd('the map value');
      }
    };
    return (row, out) => {
      const first = cells.entryOf(row);
      if (first === 0) {
        out.pushNull();
        return;
      }
      const column = out as ListColumn;
      const [keys, values] = column.children;
      const from = keys.length;
      pairs(first, keys, values);
      if (!byBytes || mayRepeat(keys, from)) checkKeys(column, keys, from);
      column.finish();
    };
  }

  /** @returns where what stands behind the time of the last access begins */
  private behindTtl(bytes: Uint8Array, start: number, end: number, base: number): number {
    if (start + 8 > end) this.at(bytes, start, end, base).take(8, 'time of the last access');
    return start + 8;
  }

  private at(bytes: Uint8Array, start: number, end: number, base: number): Cursor {
    return this.cursor.reset(bytes, start, end, base);
  }

  /** Adds operator, subtask, state and key to an error out of the bytes of the row that is being handed on. */
  private explain(error: unknown, source: Source): unknown {
    const { part } = this;
    if (!(error instanceof StateQueryError) || error.where !== undefined || part === undefined) return error;
    const state = typeof source === 'number' ? `, state ${this.plan.variants[source].name}` : '';
    const where = `operator ${part.operator.uid ?? part.operator.id}, subtask ${part.subtask}${state}${this.keyText()}`;
    const hint = error.hint ?? 'keyed_state with --skip-damaged has what can be read';
    if (error instanceof SqlError) return error.with({ where });
    if (!(error instanceof CorruptError || error instanceof UnsupportedError)) return error;
    const file = error.file ?? this.fileName(part);
    // of bytes that no file has as they are, the offset is NaN
    const placed = error.offset !== undefined && !Number.isNaN(error.offset);
    const details = { where, hint, cause: error, ...(file === undefined ? {} : { file }), ...(placed ? { offset: error.offset } : {}) };
    return error instanceof CorruptError ? new CorruptError(error.message, details) : new UnsupportedError(error.message, details);
  }

  private fileName({ handle, operator, subtask }: KeyedPart): string | undefined {
    if (handle.kind !== 'key-groups') return undefined;
    try {
      return this.plan.snapshot.contextOf({ operator, subtask }).open(handle.stream).name;
    } catch {
      return undefined;
    }
  }

  private keyText(): string {
    const { rows, next, keyCodec } = this;
    if (keyCodec === undefined) return '';
    try {
      const text = textOf(keyCodec.type, keyCodec.read(this.at(rows.bytes, rows.keyStart(next), rows.keyEnd(next), Number.NaN)));
      return `, key ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
    } catch {
      return '';
    }
  }
}

/** What joins the elements of a list in composite layout. */
const DELIMITER = 0x2c;

/** Types whose values are equal when their bytes in a column are, and only then. */
const EQUAL_BY_BYTES: ReadonlySet<SqlType['kind']> = new Set([
  'BOOLEAN',
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
  'DATE',
  'UUID',
  'VARCHAR',
  'BLOB',
]);

/** Keys of one map that are compared with each other; more are put into a set. */
const FEW_KEYS = 8;

/** Whether keys of a map, from row `from` on, are NULL or have equal bytes. */
function mayRepeat(keys: Column, from: number): boolean {
  const { length } = keys;
  for (let i = from; i < length; i++) if (keys.validity[i] === 0) return true;
  if (length - from < 2) return false;
  const bytes = keys instanceof BytesColumn ? keys.heap : (keys as FixedColumn).data;
  const start = keys instanceof BytesColumn ? (i: number) => keys.offsets[i] : (i: number) => i * (keys as FixedColumn).width;
  if (length - from > FEW_KEYS) {
    const seen = new Set<string>();
    for (let i = from; i < length; i++)
      seen.add(Buffer.from(bytes.buffer, bytes.byteOffset + start(i), start(i + 1) - start(i)).toString('latin1'));
    return seen.size < length - from;
  }
  for (let i = from + 1; i < length; i++) {
    const at = start(i);
    const size = start(i + 1) - at;
    for (let j = from; j < i; j++) {
      const other = start(j);
      if (start(j + 1) - other !== size) continue;
      let k = 0;
      while (k < size && bytes[at + k] === bytes[other + k]) k++;
      if (k === size) return true;
    }
  }
  return false;
}

/** @throws SqlError when keys of a map, from row `from` on, are NULL or equal */
function checkKeys(map: ListColumn, keys: Column, from: number): void {
  const seen = new Set<unknown>();
  for (let i = from; i < keys.length; i++) {
    const key = columnValue(keys, i);
    if (key === null) throw outOfRange(map.type, 'a map with a null key');
    const id = mapKeyIdentity(key);
    if (seen.has(id)) throw outOfRange(map.type, 'a map with a repeated key');
    seen.add(id);
  }
}
