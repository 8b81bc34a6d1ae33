/**
 * A snapshot's rows against its stated contents, through the tables and without SQL.
 */
import { columnValue } from '../../src/io/column.js';
import { jsonOf } from '../../src/io/json.js';
import type { OpenedSnapshot } from '../../src/tables/snapshot.js';
import { type Json, parseExact, says } from './stated.js';

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

type Cells = Readonly<Record<string, string | null>>;

function tableOf(snapshot: OpenedSnapshot, name: string) {
  const table = snapshot.catalog.find(name);
  if (table === undefined) throw new Error(`no table ${name}`);
  return table;
}

/** All rows of a table as JSON text by column. */
function rowsOf(
  snapshot: OpenedSnapshot,
  table: string,
  columns: readonly string[],
  where: { operator?: string; state?: string },
): Cells[] {
  const bound = tableOf(snapshot, table).bind([
    ...(where.operator === undefined ? [] : [{ column: 'operator_id', values: [where.operator] }]),
    ...(where.state === undefined ? [] : [{ column: 'state_name', values: [where.state] }]),
  ]);
  const scan = bound.scan({ columns: columns.map(name => ({ name, form: 'value' })), filters: [] });
  const out: Cells[] = [];
  for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
    const { columns: cells, length } = batch;
    for (let i = 0; i < length; i++) {
      out.push(
        Object.fromEntries(
          columns.map((name, c) => {
            const value = columnValue(cells[c], i);
            return [name, value === null ? null : jsonOf(cells[c].type, value)];
          }),
        ),
      );
    }
  }
  return out;
}

const json = (text: string | null): Json => (text === null ? null : parseExact(text));
const number = (v: Json | undefined): string | null =>
  v === undefined || v === null ? null : typeof v === 'object' && 'number' in v ? String((v as { number: string }).number) : String(v);

/** The rows stated that nobody gave, and those given that nobody stated. */
function differences(state: StatedState, given: readonly { readonly [column: string]: Json }[], columns: readonly string[]): string[] {
  // merging window sets and such: the order of elements is the job's own business
  const unordered = state.note?.includes('order') === true;
  const cells = unordered ? columns.filter(c => c !== 'list_index') : columns;
  const rest = [...given];
  const out: string[] = [];
  for (const want of state.rows) {
    const i = rest.findIndex(row => cells.every(c => says(want[c] ?? null, row[c])));
    if (i >= 0) rest.splice(i, 1);
    else out.push(`stated, not given: ${JSON.stringify(want).slice(0, 400)}`);
  }
  if (state.complete !== false) for (const row of rest) out.push(`given, not stated: ${JSON.stringify(row).slice(0, 400)}`);
  return out;
}

export function compareState(snapshot: OpenedSnapshot, operator: string, state: StatedState): string[] {
  const where = { operator, state: state.name };
  switch (state.kind) {
    case 'keyed': {
      const rows = rowsOf(
        snapshot,
        'keyed_state_raw',
        ['key_json', 'namespace_json', 'map_key_json', 'list_index', 'value_json'],
        where,
      ).map(r => ({
        key: json(r['key_json']),
        namespace: json(r['namespace_json']),
        map_key: json(r['map_key_json']),
        list_index: json(r['list_index']),
        value: json(r['value_json']),
      }));
      return differences(state, rows, ['key', 'namespace', 'map_key', 'list_index', 'value']);
    }
    case 'operator':
    case 'broadcast': {
      const rows = rowsOf(snapshot, 'operator_state_raw', ['subtask_index', 'list_index', 'map_key_json', 'value_json'], where).map(r => ({
        subtask: r['subtask_index'],
        list_index: r['list_index'],
        map_key: json(r['map_key_json']),
        value: json(r['value_json']),
      }));
      if (state.kind === 'broadcast')
        return differences({ ...state, rows: state.rows.map(r => ({ ...r, map_key: r['map_key'] ?? r['key'] ?? null })) }, rows, [
          'map_key',
          'value',
        ]);
      const stated = state.rows.map(r => ({ ...r, subtask: number(r['subtask']), list_index: number(r['list_index']) }));
      return differences({ ...state, rows: stated }, rows, ['subtask', 'list_index', 'map_key', 'value']);
    }
    case 'timer': {
      const [domain, service] = /^_timer_state\/(event|processing)_(.*)$/.exec(state.name)?.slice(1) ?? [];
      const rows = rowsOf(snapshot, 'timers', ['operator_id', 'timer_service', 'time_domain', 'fires_at_ms', 'key', 'namespace'], {})
        .filter(
          r =>
            r['operator_id'] === JSON.stringify(operator) &&
            r['timer_service'] === JSON.stringify(service) &&
            r['time_domain'] === JSON.stringify(domain),
        )
        .map(r => ({ ms: r['fires_at_ms'], key: json(r['key']), namespace: json(r['namespace']) }));
      const stated = state.rows.map(r => ({ ...r, ms: number(r['timestamp'] ?? r['value']) }));
      return differences({ ...state, rows: stated }, rows, ['ms', 'key', 'namespace']);
    }
    default:
      return [];
  }
}

/** Lines for what differs, at most three a state. */
export function compareSnapshot(snapshot: OpenedSnapshot, stated: Stated): string[] {
  return stated.operators.flatMap(o =>
    o.states
      .filter(s => s.partial !== true)
      .flatMap(s =>
        compareState(snapshot, o.operator_id, s)
          .slice(0, 3)
          .map(d => `${o.uid ?? o.operator_id}.${s.name} (${s.kind}): ${d}`),
      ),
  );
}
