/**
 * Tables in memory behind the scan contract, for tests of the SQL layer: plain ones with fixed columns, and one like
 * keyed_state whose `key`, `map_key`, `value` are typed or mixed by the states that the restrictions leave.
 * Every scan's request is recorded, and its filters are checked by an evaluator of their own.
 */
import { type ColumnBatch, createColumn } from '../../src/io/column.js';
import { INSIDE_JSON, jsonOf, textOf } from '../../src/io/json.js';
import type {
  BoundColumn,
  BoundTable,
  Catalog,
  ColumnSpec,
  Constant,
  Projection,
  Restriction,
  Scan,
  ScanRequest,
  Table,
} from '../../src/tables/table.js';
import { JSON_TYPE, JsonText, type SqlType, sameType, sqlTypeText, VARCHAR, type Value } from '../../src/types.js';

export interface FakeColumn {
  readonly name: string;
  readonly type: SqlType;
}

/** What the scans of a table were asked. */
export interface Recorder {
  readonly binds: (readonly Restriction[])[];
  readonly requests: ScanRequest[];
  batches: number;
  open: number;
}

const recorder = (): Recorder => ({ binds: [], requests: [], batches: 0, open: 0 });

export interface FakeOptions {
  readonly batchSize?: number;
  /** drop rows that the filters exclude (as a real scan may); default true */
  readonly applyFilters?: boolean;
  readonly aliases?: readonly string[];
  /** throws when this row is reached */
  readonly failAt?: { readonly row: number; readonly error: unknown };
  /** repeat the rows until this many were given */
  readonly repeat?: number;
}

export type FakeTable = Table & { readonly recorder: Recorder };

/** A table of fixed columns. */
export function fakeTable(
  name: string,
  columns: readonly FakeColumn[],
  rows: readonly (readonly Value[])[],
  options: FakeOptions = {},
): FakeTable {
  const rec = recorder();
  const specs: ColumnSpec[] = columns.map(c => ({ ...c, description: `${c.name} of ${name}` }));
  return {
    recorder: rec,
    spec: { name, aliases: options.aliases ?? [], description: name, columns: specs, examples: [] },
    bind(restrictions) {
      rec.binds.push(restrictions);
      const bound: BoundColumn[] = columns.map(c => ({ ...c, mixed: false, description: '' }));
      return boundTable(name, bound, rows, rec, options, { kept: 1, of: 1 });
    },
  };
}

export interface FakeState {
  readonly operatorId: string;
  readonly operatorUid: string | null;
  readonly stateName: string;
  readonly keyType: SqlType;
  readonly valueType: SqlType;
  readonly entries: readonly (readonly [key: Value, value: Value])[];
}

/** A table like keyed_state: columns operator_id, operator_uid, state_name, key, value, key_group. */
export function fakeKeyedState(name: string, states: readonly FakeState[], options: FakeOptions = {}): FakeTable {
  const rec = recorder();
  const fixed: readonly FakeColumn[] = ['operator_id', 'operator_uid', 'state_name'].map(n => ({ name: n, type: VARCHAR }));
  const specs: ColumnSpec[] = [
    ...fixed.map(c => ({ ...c, description: c.name })),
    { name: 'key', type: 'dynamic', description: 'key' },
    { name: 'value', type: 'dynamic', description: 'value' },
  ];
  return {
    recorder: rec,
    spec: { name, aliases: options.aliases ?? [], description: name, columns: specs, examples: [] },
    bind(restrictions) {
      rec.binds.push(restrictions);
      const kept = states.filter(s =>
        restrictions.every(r => {
          const own = { operator_id: s.operatorId, operator_uid: s.operatorUid, state_name: s.stateName, state_kind: 'keyed' }[r.column];
          return own !== null && own !== undefined && r.values.includes(own);
        }),
      );
      const dynamic = (column: string, type: (s: FakeState) => SqlType): BoundColumn => {
        const from = kept.length > 0 ? kept : states;
        const first = type(from[0]);
        const mixed = from.some(s => !sameType(type(s), first));
        return { name: column, type: mixed ? JSON_TYPE : first, mixed, description: '' };
      };
      const bound: BoundColumn[] = [
        ...fixed.map(c => ({ ...c, mixed: false, description: '' })),
        dynamic('key', s => s.keyType),
        dynamic('value', s => s.valueType),
      ];
      const rows = kept.flatMap(s =>
        s.entries.map(
          ([key, value]): TypedRow => [
            { value: s.operatorId, type: VARCHAR },
            { value: s.operatorUid, type: VARCHAR },
            { value: s.stateName, type: VARCHAR },
            { value: key, type: s.keyType },
            { value, type: s.valueType },
          ],
        ),
      );
      return boundTyped(name, bound, rows, rec, options, { kept: kept.length, of: states.length });
    },
  };
}

/** Names → tables, matched without case, aliases included. */
export function fakeCatalog(...tables: readonly Table[]): Catalog {
  const byName = new Map<string, Table>();
  for (const t of tables) for (const n of [t.spec.name, ...t.spec.aliases]) byName.set(n.toLowerCase(), t);
  return { find: n => byName.get(n.toLowerCase()), names: () => tables.map(t => t.spec.name) };
}

type TypedRow = readonly { readonly value: Value; readonly type: SqlType }[];

function boundTable(
  name: string,
  columns: readonly BoundColumn[],
  rows: readonly (readonly Value[])[],
  rec: Recorder,
  options: FakeOptions,
  states: { kept: number; of: number },
): BoundTable {
  const typed = rows.map(r => r.map((value, i) => ({ value, type: columns[i].type })));
  return boundTyped(name, columns, typed, rec, options, states);
}

function boundTyped(
  name: string,
  columns: readonly BoundColumn[],
  rows: readonly TypedRow[],
  rec: Recorder,
  options: FakeOptions,
  states: { kept: number; of: number },
): BoundTable {
  const find = (column: string) => {
    const at = columns.findIndex(c => c.name === column);
    if (at < 0) throw new Error(`the scan of ${name} was asked for ${column}`);
    return at;
  };
  return {
    columns,
    rowCount: options.repeat === undefined ? rows.length : undefined,
    scan(request): Scan {
      rec.requests.push(request);
      rec.open++;
      const projections = request.columns.map(p => ({ p, at: find(p.name), out: createColumn(outType(p, columns[find(p.name)])) }));
      const batchSize = options.batchSize ?? 2048;
      const total = options.repeat ?? rows.length;
      let at = 0;
      let given = 0;
      return {
        next(): ColumnBatch | undefined {
          for (const c of projections) c.out.clear();
          let length = 0;
          const until = performance.now() + 30;
          let steps = 0;
          while (at < total && length < batchSize && given < (request.limit ?? Number.POSITIVE_INFINITY)) {
            if ((++steps & 255) === 0 && performance.now() > until) break;
            if (options.failAt?.row === at) throw options.failAt.error;
            const row = rows[at++ % rows.length];
            if (options.applyFilters !== false) {
              const pass = request.filters.every(f => filterMightMatch(f, row[find(f.column)], columns[find(f.column)].mixed));
              if (!pass) continue;
            }
            for (const c of projections) c.out.push(inForm(row[c.at], c.p.form));
            length++;
            given++;
          }
          if (length === 0 && (at >= total || given >= (request.limit ?? total))) return undefined;
          rec.batches++;
          return { length, columns: projections.map(c => c.out) };
        },
        close() {
          rec.open--;
        },
      };
    },
    explain(request) {
      return {
        table: name,
        operators: { kept: 1, of: 1 },
        states,
        columns: request.columns.map(p => {
          const c = columns[find(p.name)];
          return { name: p.name, type: sqlTypeText(c.type), mixed: c.mixed };
        }),
        filters: request.filters.map(f => ({ text: `${f.column} ${f.op}`, use: 'inexact' as const })),
        limit: request.limit,
      };
    },
  };
}

function outType(p: Projection, column: BoundColumn): SqlType {
  return p.form === 'text' ? VARCHAR : p.form === 'json' ? JSON_TYPE : column.type;
}

function inForm(cell: { value: Value; type: SqlType }, form: Projection['form']): Value {
  if (form === 'value' || cell.value === null) return cell.value;
  return form === 'json' ? new JsonText(jsonOf(cell.type, cell.value, INSIDE_JSON)) : textOf(cell.type, cell.value, INSIDE_JSON);
}

/** The literal rule for one filter, evaluated on its own; keeps where it does not know. */
function filterMightMatch(filter: ScanRequest['filters'][number], cell: { value: Value; type: SqlType }, mixed: boolean): boolean {
  if (!('value' in filter) && !('values' in filter)) return (cell.value === null) === (filter.op === 'is null');
  if (cell.value === null) return false;
  if (filter.op === 'field') return true;
  const { value } = cell;
  const text = mixed || cell.type.kind === 'VARCHAR';
  if (filter.op === 'prefix') return !text || textOf(cell.type, value, INSIDE_JSON).startsWith(filter.value);
  const equal = (c: Constant): boolean | undefined => {
    if (text) return c.kind === 'string' ? textOf(cell.type, value, INSIDE_JSON) === c.value : undefined;
    if (typeof value === 'bigint' || (typeof value === 'number' && cell.type.kind.endsWith('INT')))
      return c.kind === 'integer' ? BigInt(value) === c.value : undefined;
    return undefined;
  };
  if (filter.op === 'in') return filter.values.some(c => equal(c) ?? true);
  const { op, value: c } = filter;
  if (op === '=') return equal(c) ?? true;
  if (op === '<>') return !(equal(c) ?? false);
  let order: number | undefined;
  if (text && !mixed && c.kind === 'string')
    order = Buffer.compare(Buffer.from(textOf(cell.type, value, INSIDE_JSON)), Buffer.from(c.value));
  else if (typeof value === 'bigint' && c.kind === 'integer') order = value < c.value ? -1 : value > c.value ? 1 : 0;
  if (order === undefined) return true;
  return op === '<' ? order < 0 : op === '<=' ? order <= 0 : op === '>' ? order > 0 : order >= 0;
}
