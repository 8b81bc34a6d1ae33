/**
 * A snapshot's rows against its stated contents, through the tables and without SQL.
 *
 * A column is left out of the comparison where the contents leave it open: bytes without a canonical form (`$hex`), values of states
 * whose rows state none, the place in a list or the subtask where the note says that the order means nothing.
 */
import { columnValue } from '../../src/io/column.js';
import { jsonOf } from '../../src/io/json.js';
import type { OpenedSnapshot } from '../../src/tables/snapshot.js';
import { has, type Json, leaves, parseExact, says } from './stated.js';

export interface StatedState {
  readonly name: string;
  readonly kind: string;
  readonly note?: string;
  readonly partial?: boolean;
  readonly complete?: boolean;
  readonly rows: readonly { readonly [column: string]: Json }[];
}
export interface Stated {
  readonly metadata_path?: string;
  readonly snapshot?: string;
  readonly operators: readonly { readonly uid?: string; readonly operator_id: string; readonly states: readonly StatedState[] }[];
}

type Row = Readonly<Record<string, Json>>;

/** What the rows of a kind are compared by: `keys` find the row, `cells` have to be equal too. */
const SHAPES = {
  keyed: { table: 'keyed_state_raw', keys: ['key', 'namespace', 'map_key', 'list_index'], cells: ['value'] },
  operator: { table: 'operator_state_raw', keys: ['subtask', 'list_index', 'map_key'], cells: ['value'] },
  broadcast: { table: 'operator_state_raw', keys: ['map_key'], cells: ['value'] },
  timer: { table: 'timers', keys: ['timestamp', 'key', 'namespace'], cells: [] },
} as const;
type Kind = keyof typeof SHAPES;

/** Columns of a table and what they are called in stated contents; `…_json` is parsed. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  keyed_state_raw: {
    key_json: 'key',
    namespace_json: 'namespace',
    map_key_json: 'map_key',
    list_index: 'list_index',
    value_json: 'value',
    key_group: 'key_group',
  },
  operator_state_raw: { subtask_index: 'subtask', list_index: 'list_index', map_key_json: 'map_key', value_json: 'value' },
  timers: { fires_at_ms: 'timestamp', key: 'key', namespace: 'namespace' },
};

/** Rows of a table by operator and state. */
type Rows = ReadonlyMap<string, readonly Row[]>;
const tables = new WeakMap<OpenedSnapshot, Map<string, Rows>>();

function rowsOf(snapshot: OpenedSnapshot, name: string): Rows {
  const known = tables.get(snapshot) ?? new Map<string, Rows>();
  tables.set(snapshot, known);
  const rows = known.get(name) ?? readTable(snapshot, name);
  known.set(name, rows);
  return rows;
}

function readTable(snapshot: OpenedSnapshot, name: string): Rows {
  const table = snapshot.catalog.find(name);
  if (table === undefined) throw new Error(`no table ${name}`);
  const state = name === 'timers' ? ['time_domain', 'timer_service'] : ['state_name'];
  const columns = ['operator_id', ...state, ...Object.keys(COLUMNS[name])];
  const scan = table.bind([]).scan({ columns: columns.map(column => ({ name: column, form: 'value' })), filters: [] });
  const out = new Map<string, Row[]>();
  for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
    const cells = batch.columns;
    const json = (c: number, i: number): Json => {
      const value = columnValue(cells[c], i);
      return value === null ? null : parseExact(jsonOf(cells[c].type, value));
    };
    for (let i = 0; i < batch.length; i++) {
      const id = columns.slice(0, 1 + state.length).map((_, c) => json(c, i));
      const row = Object.fromEntries(Object.values(COLUMNS[name]).map((column, c) => [column, json(1 + state.length + c, i)]));
      const of = id.join(' ');
      const rows = out.get(of);
      if (rows === undefined) out.set(of, [row]);
      else rows.push(row);
    }
  }
  return out;
}

/** `_timer_state/event_user-timers` → `event user-timers`: the columns of the timers table. */
const stateId = (kind: Kind, name: string): string => (kind === 'timer' ? name.replace(/^.*?\/(event|processing)_/, '$1 ') : name);

/** The rows stated that nobody gave, and those given that nobody stated. */
function differences(state: StatedState, given: readonly Row[]): string[] {
  const kind = state.kind as Kind;
  const note = state.note ?? '';
  const bag = /order|sorted here/.test(note);
  const wanted: readonly Row[] = state.rows.map(row => ({
    ...row,
    ...(kind === 'timer' && { timestamp: row['timestamp'] ?? row['value'] }),
    ...(kind === 'broadcast' && { map_key: row['map_key'] ?? row['key'] }),
    // an Optional is its value
    ...(state.name.includes('optional') && has(row['value'], 'value') && { value: (row['value'] as Row)['value'] }),
  }));
  const open = (column: string): boolean =>
    wanted.some(row => has(row[column], '$hex')) ||
    (column === 'list_index' && bag) ||
    (column === 'value' && (note.includes('cycle') || wanted.some(row => row['value'] === undefined))) ||
    (column === 'subtask' && wanted.some(row => row['subtask'] === undefined || row['subtask'] === null));
  const keyGroups = kind === 'keyed' && wanted.length > 0 && wanted.every(row => 'key_group' in row);
  const keys = SHAPES[kind].keys.filter(column => !open(column));
  const cells = [...keys, ...SHAPES[kind].cells.filter(column => !open(column)), ...(keyGroups ? ['key_group'] : [])];
  const bucketOf = (row: Row): string => JSON.stringify(keys.map(column => leaves(row[column] ?? null)));
  const buckets = new Map<string, Row[]>();
  for (const row of given) {
    const bucket = bucketOf(row);
    const rows = buckets.get(bucket);
    if (rows === undefined) buckets.set(bucket, [row]);
    else rows.push(row);
  }
  const told = (row: Row): string => JSON.stringify(Object.fromEntries(cells.map(column => [column, row[column] ?? null]))).slice(0, 400);
  const out: string[] = [];
  for (const row of wanted) {
    const rows = buckets.get(bucketOf(row)) ?? [];
    const i = rows.findIndex(other => cells.every(column => says(row[column] ?? null, other[column], bag)));
    if (i >= 0) rows.splice(i, 1);
    else out.push(`stated, not given: ${told(row)}`);
  }
  if (state.complete !== false) for (const rows of buckets.values()) for (const row of rows) out.push(`given, not stated: ${told(row)}`);
  return out;
}

export const isCompared = (state: StatedState): boolean => state.kind in SHAPES && state.partial !== true;

/** Lines for what differs in one state; none for kinds that have no rows in these tables. */
export function compareState(snapshot: OpenedSnapshot, operator: string, state: StatedState): string[] {
  if (!(state.kind in SHAPES)) return [];
  const kind = state.kind as Kind;
  return differences(state, rowsOf(snapshot, SHAPES[kind].table).get(`${operator} ${stateId(kind, state.name)}`) ?? []);
}

/** Lines for what differs, at most three a state, each with operator and state in front. */
export function compareSnapshot(snapshot: OpenedSnapshot, stated: Stated): string[] {
  return stated.operators.flatMap(o =>
    o.states.filter(isCompared).flatMap(s =>
      compareState(snapshot, o.operator_id, s)
        .slice(0, 3)
        .map(d => `${o.uid ?? o.operator_id}.${s.name} (${s.kind}): ${d}`),
    ),
  );
}
