/**
 * The tables of one operator, named as in Flink's State Catalog (FLIP-599). With P = `uid_<uid>` or `id_<operator id>`:
 *
 *   P_keyed                      a row a key, a column for each state of the void namespace
 *   P_<state>_keyed_flat         a row for each element (list_index, list_value) or entry (map_key, map_value)
 *   P_windowed                   a row a key and window
 *   P_<state>_windowed_flat      as keyed_flat, with the window
 *   P_<state>_list, _union       a row an element: a column for each field, otherwise one column named after the state
 *   P_<state>_broadcast          map_key, map_value
 *
 * Names are looked up by making all names and comparing them, never by splitting. Of two equal names (case, equal uids) the
 * second in metadata order gets `_1`. Rows of the wide tables are put together one key group at a time.
 */
import { type Column, columnValue, createColumn } from '../io/column.js';
import { Cursor } from '../io/cursor.js';
import type { ReadStats } from '../io/source.js';
import type { EntryCursor, KeyedStateReader } from '../state/entry.js';
import { openKeyedState } from '../state/open.js';
import { BIGINT, list, MapValue, map, type SqlType, Struct, struct, TIMESTAMPTZ, Timestamp, VARCHAR, type Value } from '../types.js';
import { BatchWriter, scanOf } from './batch.js';
import { explainScan, keyedScope } from './explain.js';
import { keyFilterOf } from './key-lookup.js';
import { keyedStateTable } from './keyed-state.js';
import { OPERATOR_STATE, operatorStateTable } from './operator-state.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column } from './spec.js';
import type { OperatorStates, OperatorView, StateVariant } from './states.js';
import { withRemarks, withStateRemarks } from './suggest-names.js';
import type {
  BoundColumn,
  BoundTable,
  ColumnSpec,
  Filter,
  Projection,
  Scan,
  ScanExplanation,
  ScanRequest,
  Table,
  TableSpec,
} from './table.js';
import { windowKindOf } from './windows.js';

/** A name and how its table is made. */
export interface NamedTable {
  readonly name: string;
  open(): Table;
}

/** uid_…, id_… prefixes of an operator. */
export function operatorPrefixes(operator: OperatorView): string[] {
  return operator.uid === null ? [`id_${operator.id}`] : [`uid_${operator.uid}`, `id_${operator.id}`];
}

/** All tables of the operators whose prefix `name` might have; of all operators without a name. */
export function operatorTables(snapshot: OpenedSnapshot, name?: string): NamedTable[] {
  const wanted = name?.toLowerCase();
  const out: NamedTable[] = [];
  const taken = new Map<string, number>();
  for (const operator of snapshot.operators) {
    for (const prefix of operatorPrefixes(operator)) {
      if (wanted !== undefined && !wanted.startsWith(prefix.toLowerCase())) continue;
      for (const table of tablesOf(snapshot, snapshot.statesOf(operator), prefix)) {
        const lower = table.name.toLowerCase();
        const times = taken.get(lower) ?? 0;
        taken.set(lower, times + 1);
        out.push(times === 0 ? table : { name: `${table.name}_${times}`, open: table.open });
      }
    }
  }
  return wanted === undefined ? out : out.filter(t => t.name.toLowerCase() === wanted);
}

function tablesOf(snapshot: OpenedSnapshot, states: OperatorStates, prefix: string): NamedTable[] {
  const out: NamedTable[] = [];
  // where subtasks differ in type, the wide tables show the first form; keyed_state has them all
  const first = states.variants.filter(v => v.variant === 0);
  const keyed = first.filter(v => v.kind === 'keyed' && v.shape.namespace === undefined);
  const windowed = first.filter(v => v.kind === 'keyed' && v.shape.namespace !== undefined);
  if (keyed.length > 0)
    out.push({
      name: `${prefix}_keyed`,
      open: () => remarked(snapshot, wideTable(snapshot, states, `${prefix}_keyed`, keyed, false), keyed),
    });
  for (const v of keyed) {
    if (v.shape.form !== 'list' && v.shape.form !== 'map') continue;
    const name = `${prefix}_${v.name}_keyed_flat`;
    out.push({ name, open: () => flatTable(snapshot, name, v, false) });
  }
  if (windowed.length > 0)
    out.push({
      name: `${prefix}_windowed`,
      open: () => remarked(snapshot, wideTable(snapshot, states, `${prefix}_windowed`, windowed, true), windowed),
    });
  for (const v of windowed) {
    if (v.shape.form !== 'list' && v.shape.form !== 'map') continue;
    const name = `${prefix}_${v.name}_windowed_flat`;
    out.push({ name, open: () => flatTable(snapshot, name, v, true) });
  }
  for (const v of first) {
    if (v.kind === 'broadcast') {
      const name = `${prefix}_${v.name}_broadcast`;
      out.push({ name, open: () => elementTable(snapshot, name, v) });
    } else if (v.kind === 'operator') {
      const name = `${prefix}_${v.name}_${v.registered.mode === 'UNION' ? 'union' : 'list'}`;
      out.push({ name, open: () => elementTable(snapshot, name, v) });
    }
  }
  return out;
}

const WINDOW_TYPE = struct(['window_start', TIMESTAMPTZ], ['window_end', TIMESTAMPTZ]);

/** The type of `state_window`: bounds of a time window, otherwise the namespace as it is. */
function windowColumn(v: StateVariant): ColumnSpec {
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
function uniqueNames(reserved: readonly string[], names: readonly string[]): string[] {
  const taken = new Set(reserved);
  return names.map(name => {
    let unique = name;
    for (let i = 1; taken.has(unique.toLowerCase()); i++) unique = `${name}_${i}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}

function boundColumns(columns: readonly ColumnSpec[]): BoundColumn[] {
  return columns.map(c => ({
    name: c.name,
    type: c.type as SqlType,
    mixed: (c.type as SqlType).kind === 'JSON',
    description: c.description,
  }));
}

// ------------------------------------------------------------------------------------------------------- one row a key

function wideTable(
  snapshot: OpenedSnapshot,
  states: OperatorStates,
  name: string,
  variants: readonly StateVariant[],
  windowed: boolean,
): Table {
  const stateType = (v: StateVariant): SqlType => {
    const { form, value, mapKey } = v.shape;
    return form === 'list' ? list(value.type) : form === 'map' ? map(mapKey?.type ?? VARCHAR, value.type) : value.type;
  };
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
      const writer = new BatchWriter(
        request.columns.map(p => projected(columns, p)),
        snapshot.timesCut,
      );
      const rows = wideRows(snapshot, states, variants, windowed, request, lead.length, names, writer.columns);
      return scanOf(
        writer,
        () => {
          if (rows.next().done === true) return false;
          writer.rows++;
          return true;
        },
        () => void rows.return(undefined),
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

interface WideRow {
  readonly key: Value;
  readonly window: Value;
  readonly cells: Value[];
}

/** Puts the rows of one key group after another together; pushes one to the columns at each step. */
function* wideRows(
  snapshot: OpenedSnapshot,
  states: OperatorStates,
  variants: readonly StateVariant[],
  windowed: boolean,
  request: ScanRequest,
  leadCount: number,
  names: readonly string[],
  out: readonly Column[],
): Generator<undefined, undefined, undefined> {
  const wantedNames = new Set(request.columns.map(p => p.name));
  const wanted = variants.map((_, i) => wantedNames.has(names[i]));
  const filters = [...keyFilters(request).values()];
  const slots = request.columns.map(p =>
    p.name === 'state_key' ? -1 : windowed && p.name === 'state_window' ? -2 : names.indexOf(p.name),
  );
  if (slots.some(s => s < -2) || leadCount < 1) throw new Error('a column of no state');
  for (const part of states.keyed) {
    if (part.raw) continue;
    const problem = states.problems.find(p => p.kind === 'keyed' && p.subtask === part.subtask);
    if (problem !== undefined) throw problem.error;
    const reader = openKeyedState(part.handle, snapshot.contextOf(part));
    try {
      const byId = new Map<number, number>();
      for (const state of reader.header.states) {
        const variant = states.variantOf(reader.header.key, state);
        const index = variant === undefined ? -1 : variants.indexOf(variant);
        if (index >= 0) byId.set(state.id, index);
      }
      const narrowed = keyFilterOf(
        snapshot,
        part,
        [...byId.values()].map(i => variants[i]),
        filters,
        new Map([['key', variants[0].shape.key?.type]]),
      );
      if (narrowed === undefined || byId.size === 0) continue;
      const { first, count } = part.handle.range;
      for (let g = first; g < first + count; g++) {
        if (narrowed.keyGroups !== undefined && !narrowed.keyGroups.has(g)) continue;
        const entries = reader.entries({
          states: new Set(byId.keys()),
          values: true,
          ...(narrowed.keys === undefined ? {} : { keys: narrowed.keys }),
          keyGroups: new Set([g]),
        });
        const rows = collectRows(reader, entries, byId, variants, wanted, windowed, snapshot.stats);
        for (const row of rows.values()) {
          for (let i = 0; i < slots.length; i++)
            out[i].push(slots[i] === -1 ? row.key : slots[i] === -2 ? row.window : (row.cells[slots[i]] ?? null));
          yield undefined;
        }
      }
    } finally {
      reader.close();
    }
  }
  return undefined;
}

function collectRows(
  reader: KeyedStateReader,
  entries: EntryCursor,
  byId: ReadonlyMap<number, number>,
  variants: readonly StateVariant[],
  wanted: readonly boolean[],
  windowed: boolean,
  stats: ReadStats,
): Map<string, WideRow> {
  const rows = new Map<string, WideRow>();
  const c = new Cursor(new Uint8Array(0));
  try {
    while (entries.next()) {
      stats.entriesDecoded++;
      const index = byId.get(entries.state) as number;
      const variant = variants[index];
      const { bytes } = entries;
      const at = (start: number, end: number) => c.reset(bytes, start, end, Math.max(0, entries.base));
      const id = Buffer.from(
        bytes.buffer,
        bytes.byteOffset + entries.keyStart,
        (windowed ? entries.namespaceEnd : entries.keyEnd) - entries.keyStart,
      );
      const heapId = Buffer.from(bytes.buffer, bytes.byteOffset + entries.namespaceStart, entries.namespaceEnd - entries.namespaceStart);
      const text =
        entries.namespaceStart < entries.keyStart && windowed
          ? `${Buffer.from(bytes.subarray(entries.keyStart, entries.keyEnd)).toString('latin1')}\0${heapId.toString('latin1')}`
          : id.toString('latin1');
      let row = rows.get(text);
      if (row === undefined) {
        row = {
          key: variant.shape.key?.read(at(entries.keyStart, entries.keyEnd)) ?? null,
          window: windowed ? windowValue(variant, at(entries.namespaceStart, entries.namespaceEnd)) : null,
          cells: [],
        };
        rows.set(text, row);
      }
      if (wanted[index]) addCell(reader.layout, variant, entries, row, index, c);
    }
  } finally {
    entries.close();
  }
  return rows;
}

function addCell(layout: 'composite' | 'heap', variant: StateVariant, entry: EntryCursor, row: WideRow, index: number, c: Cursor): void {
  const { form, value, mapKey, ttl } = variant.shape;
  const { bytes, valueStart, valueEnd } = entry;
  c.reset(bytes, valueStart, valueEnd, Math.max(0, entry.base));
  const one = (): Value => {
    if (ttl) c.take(8, 'time of the last access');
    return value.read(c);
  };
  if (form === 'list') {
    const elements: Value[] = [];
    if (layout === 'heap') for (let n = c.count('number of list elements', 0); n > 0; n--) elements.push(one());
    else {
      while (c.remaining > 0) {
        elements.push(one());
        if (c.remaining > 0) c.take(1, 'delimiter');
      }
    }
    row.cells[index] = elements;
  } else if (form === 'map' && layout === 'heap') {
    const entries: (readonly [Value, Value])[] = [];
    for (let n = c.count('number of map entries', 1); n > 0; n--) {
      const key = mapKey?.read(c) ?? null;
      entries.push([key, c.bool() ? null : one()]);
    }
    row.cells[index] = new MapValue(entries);
  } else if (form === 'map') {
    const present = (row.cells[index] as MapValue | undefined) ?? new MapValue([]);
    const v = c.bool() ? null : one();
    const k = mapKey?.read(c.reset(bytes, entry.userKeyStart, entry.userKeyEnd, Math.max(0, entry.base))) ?? null;
    (present.entries as (readonly [Value, Value])[]).push([k, v]);
    row.cells[index] = present;
    return;
  } else row.cells[index] = one();
  c.expectEnd('the value');
}

// ------------------------------------------------------------------------------------------- one row an element or entry

/** A table made of columns of another one, renamed, narrowed to one state. */
function renamedTable(base: Table, variant: StateVariant, spec: TableSpec, source: ReadonlyMap<string, string>): Table {
  const inner = base.bind([
    { column: 'operator_id', values: [variant.operator.id] },
    { column: 'state_name', values: [variant.name] },
    { column: 'state_kind', values: [variant.kind] },
  ]);
  // where subtasks differ in type the inner column is mixed, and so is this one
  const columns = spec.columns.map(c => {
    const under = inner.columns.find(x => x.name === source.get(c.name)) as BoundColumn;
    const type = c.name === 'state_window' && !under.mixed ? (c.type as SqlType) : under.type;
    return { ...under, type, name: c.name, description: c.description };
  });
  const slice = windowKindOf(variant) === 'slice';
  const rename = (request: ScanRequest): ScanRequest => ({
    columns: request.columns.map(p => ({ ...p, name: source.get(p.name) as string })),
    filters: request.filters.flatMap(f => {
      const name = source.get(f.column);
      return name === undefined ? [] : [{ ...f, column: name } as Filter];
    }),
    ...(request.limit === undefined ? {} : { limit: request.limit }),
  });
  const bound: BoundTable = {
    columns,
    scan(request) {
      const scan = inner.scan(rename(request));
      const at = request.columns.findIndex(p => p.name === 'state_window' && p.form === 'value');
      return slice && at >= 0 ? sliceWindows(scan, at) : scan;
    },
    explain: request => underOtherNames(inner.explain(rename(request)), spec.name, columns, request),
  };
  return { spec, bind: () => bound };
}

/** What the table below does, in the names of this one. */
function underOtherNames(inner: ScanExplanation, table: string, columns: readonly BoundColumn[], request: ScanRequest): ScanExplanation {
  const uses = new Map(request.filters.map((f, i) => [f, inner.filters[i]?.use ?? 'engine']));
  return { ...inner, ...explainScan(table, columns, request, { useOf: f => uses.get(f) ?? 'engine' }) };
}

/** A wide table with its remarks: its last columns are the states in their order. */
function remarked(snapshot: OpenedSnapshot, table: Table, variants: readonly StateVariant[]): Table {
  const lead = table.spec.columns.length - variants.length;
  return withStateRemarks(snapshot, table, name => {
    if (name === 'state_key') return variants.map(v => [v, v.shape.key]);
    const at = table.spec.columns.findIndex(c => c.name === name) - lead;
    if (at < 0) return variants.map(v => [v, v.shape.namespace]);
    const v = variants[at];
    return [
      [v, v.shape.value],
      [v, v.shape.mapKey],
    ];
  });
}

/** The ends of slices (BIGINT ms) as windows without a start. */
function sliceWindows(scan: Scan, at: number): Scan {
  const windows = createColumn(WINDOW_TYPE);
  return {
    next() {
      const batch = scan.next();
      if (batch === undefined) return undefined;
      windows.clear();
      for (let i = 0; i < batch.length; i++) {
        const end = columnValue(batch.columns[at], i);
        windows.push(end === null ? null : new Struct([null, Timestamp.ofMillis(end as bigint)]));
      }
      return { length: batch.length, columns: batch.columns.map((c, i) => (i === at ? windows : c)) };
    },
    close: () => scan.close(),
  };
}

function flatTable(snapshot: OpenedSnapshot, name: string, variant: StateVariant, windowed: boolean): Table {
  const { shape } = variant;
  const source = new Map<string, string>([['state_key', 'key']]);
  const columns: ColumnSpec[] = [column('state_key', shape.key?.type ?? VARCHAR, 'key of the keyed stream')];
  if (windowed) {
    source.set('state_window', 'namespace');
    columns.push(windowColumn(variant));
  }
  if (shape.form === 'list') {
    source.set('list_index', 'list_index').set('list_value', 'value');
    columns.push(column('list_index', BIGINT, 'position in the list, from 0'), column('list_value', shape.value.type, 'list element'));
  } else {
    source.set('map_key', 'map_key').set('map_value', 'value');
    columns.push(
      column('map_key', shape.mapKey?.type ?? VARCHAR, 'key of the entry'),
      column('map_value', shape.value.type, 'value of the entry'),
    );
  }
  const spec: TableSpec = { name, aliases: [], description: `entries of ${variant.name}, one row each`, columns, examples: [] };
  return renamedTable(withRemarks(snapshot, keyedStateTable(snapshot)), variant, spec, source);
}

function elementTable(snapshot: OpenedSnapshot, name: string, variant: StateVariant): Table {
  const { shape } = variant;
  const base = withRemarks(snapshot, operatorStateTable(snapshot, OPERATOR_STATE));
  if (variant.kind === 'broadcast') {
    const spec: TableSpec = {
      name,
      aliases: [],
      description: `broadcast state ${variant.name}`,
      columns: [
        column('map_key', shape.mapKey?.type ?? VARCHAR, 'key of the entry'),
        column('map_value', shape.value.type, 'value of the entry'),
      ],
      examples: [],
    };
    return renamedTable(
      base,
      variant,
      spec,
      new Map([
        ['map_key', 'map_key'],
        ['map_value', 'value'],
      ]),
    );
  }
  const { type } = shape.value;
  if (type.kind !== 'STRUCT') {
    const spec: TableSpec = {
      name,
      aliases: [],
      description: `elements of ${variant.name}`,
      columns: [column(variant.name, type, 'list element')],
      examples: [],
    };
    return renamedTable(base, variant, spec, new Map([[variant.name, 'value']]));
  }
  return fieldsTable(name, variant, type, base);
}

/** A row value: a column for each field. */
function fieldsTable(name: string, variant: StateVariant, type: SqlType & { kind: 'STRUCT' }, base: Table): Table {
  const names = uniqueNames(
    [],
    type.fields.map(f => f.name),
  );
  const spec: TableSpec = {
    name,
    aliases: [],
    description: `elements of ${variant.name}, a column for each field`,
    columns: type.fields.map((f, i) => column(names[i], f.type, `field ${f.name}`)),
    examples: [],
  };
  const columns = boundColumns(spec.columns);
  const inner = base.bind([
    { column: 'operator_id', values: [variant.operator.id] },
    { column: 'state_name', values: [variant.name] },
    { column: 'state_kind', values: [variant.kind] },
  ]);
  const bound: BoundTable = {
    columns,
    scan(request): Scan {
      const scan = inner.scan({
        columns: [{ name: 'value', form: 'value' }],
        filters: [],
        ...(request.limit === undefined ? {} : { limit: request.limit }),
      });
      const fields = request.columns.map(p => columns.findIndex(c => c.name === p.name));
      return {
        next() {
          const batch = scan.next();
          if (batch === undefined) return undefined;
          const [value] = batch.columns;
          if (!('children' in value)) throw new Error('a row value is a STRUCT');
          return { length: batch.length, columns: fields.map(i => value.children[i]) };
        },
        close: () => scan.close(),
      };
    },
    explain: request =>
      underOtherNames(inner.explain({ columns: [{ name: 'value', form: 'value' }], filters: [] }), name, columns, request),
  };
  return { spec, bind: () => bound };
}
