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
 * second in metadata order gets `_1`. The wide tables, P_keyed and P_windowed, are in wide-table.ts.
 */
import { columnValue, createColumn } from '../io/column.js';
import { BIGINT, type SqlType, Struct, Timestamp, VARCHAR } from '../types.js';
import { explainScan } from './explain.js';
import { keyedStateTable } from './keyed-state.js';
import { OPERATOR_STATE, operatorStateTable } from './operator-state.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column } from './spec.js';
import type { OperatorStates, OperatorView, StateVariant } from './states.js';
import { withRemarks, withStateRemarks } from './suggest-names.js';
import type { BoundColumn, BoundTable, ColumnSpec, Filter, Scan, ScanExplanation, ScanRequest, Table, TableSpec } from './table.js';
import { boundColumns, uniqueNames, WINDOW_TYPE, wideTable, windowColumn } from './wide-table.js';
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
    ...(request.threads === undefined ? {} : { threads: request.threads }),
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
