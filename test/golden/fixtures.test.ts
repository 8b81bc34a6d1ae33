/**
 * Every committed fixture against the contents that its job states: each state's rows, cell by cell, none missing, none more.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { columnValue } from '../../src/io/column.js';
import { textOf } from '../../src/io/json.js';
import { openClassPool } from '../../src/java/jar.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import { JsonText } from '../../src/types.js';
import { type Json, parseExact, says } from './stated.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../fixtures');

interface StatedState {
  readonly name: string;
  readonly kind: string;
  readonly note?: string;
  readonly partial?: boolean;
  readonly complete?: boolean;
  readonly rows: readonly { readonly [column: string]: Json }[];
}
interface Stated {
  readonly metadata_path: string;
  readonly operators: readonly { readonly uid?: string; readonly operator_id: string; readonly states: readonly StatedState[] }[];
}

type Cells = Readonly<Record<string, string | null>>;

/** All rows of a table as text by column. */
function rowsOf(snapshot: OpenedSnapshot, table: string, columns: readonly string[], where: { operator: string; state?: string }): Cells[] {
  const bound = (snapshot.catalog.find(table) ?? expect.fail(`no table ${table}`)).bind([
    { column: 'operator_id', values: [where.operator] },
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
            return [name, value === null ? null : value instanceof JsonText ? value.text : textOf(cells[c].type, value)];
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
  const rest = [...given];
  const out: string[] = [];
  for (const want of state.rows) {
    const i = rest.findIndex(row => columns.every(c => says(want[c] ?? null, row[c])));
    if (i >= 0) rest.splice(i, 1);
    else out.push(`stated, not given: ${JSON.stringify(want).slice(0, 400)}`);
  }
  if (state.complete !== false) for (const row of rest) out.push(`given, not stated: ${JSON.stringify(row).slice(0, 400)}`);
  return out;
}

function compareState(snapshot: OpenedSnapshot, operator: string, state: StatedState): string[] {
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
      const rows = rowsOf(snapshot, 'timers', ['timer_service', 'time_domain', 'fires_at_ms', 'key', 'namespace'], { operator })
        .filter(r => r['timer_service'] === service && r['time_domain'] === domain)
        .map(r => ({ ms: r['fires_at_ms'], key: asJson(r['key']), namespace: asJson(r['namespace']) }));
      const stated = state.rows.map(r => ({ ...r, ms: number(r['timestamp'] ?? r['value']) }));
      return differences({ ...state, rows: stated }, rows, ['ms', 'key', 'namespace']);
    }
    default:
      return [];
  }
}

/** Typed columns come as their text; nested values as JSON. */
function asJson(text: string | null): Json {
  return text !== null && /^[[{]/.test(text) ? parseExact(text) : text;
}

const names = readdirSync(join(root, 'snapshots')).filter(n => existsSync(join(root, 'snapshots', n, 'fixture.json')));
const jar = join(root, 'classes.jar');

describe('fixtures say what their jobs stated', () => {
  it.each(names)('%s', name => {
    const directory = join(root, 'snapshots', name);
    const stated = parseExact(readFileSync(join(directory, 'fixture.json'), 'utf8')) as unknown as Stated;
    const snapshot = openSnapshot(dirname(join(directory, stated.metadata_path)), existsSync(jar) ? { classes: openClassPool([jar]) } : {});
    try {
      const wrong = stated.operators.flatMap(o =>
        o.states
          .filter(s => s.partial !== true)
          .flatMap(s =>
            compareState(snapshot, o.operator_id, s)
              .slice(0, 3)
              .map(d => `${o.uid ?? o.operator_id}.${s.name} (${s.kind}): ${d}`),
          ),
      );
      expect(wrong).toEqual([]);
    } finally {
      snapshot.close();
    }
  });
});
