/**
 * Small tables whose rows are plain objects: everything that comes from metadata and headers rather than from entries.
 */
import type { Value } from '../types.js';
import { BatchWriter, scanOf } from './batch.js';
import type { BoundTable, ColumnSpec, Filter, ScanRequest, Table, TableSpec } from './table.js';

/** A row: column name → value in the form of its column's type; what is missing is NULL. */
export type Row = Readonly<Record<string, Value | undefined>>;

/**
 * A table of `spec` whose rows are made when a scan begins.
 * @param rows may give undefined now and then while it looks for the next row
 * @param count rows, when that costs nothing
 */
export function rowTable(spec: TableSpec, rows: (filters: readonly Filter[]) => Iterable<Row | undefined>, count?: () => number): Table {
  const bound: BoundTable = {
    columns: spec.columns.map(column => ({
      name: column.name,
      type: staticType(column),
      mixed: false,
      description: column.description,
    })),
    scan(request) {
      const writer = new BatchWriter(request.columns.map(p => columnNamed(spec, p.name)).map(staticType));
      const names = request.columns.map(p => p.name);
      const iterator = rows(request.filters)[Symbol.iterator]();
      return scanOf(
        writer,
        () => {
          const { done, value } = iterator.next();
          if (done === true) return false;
          if (value === undefined) return true;
          for (let i = 0; i < names.length; i++) writer.columns[i].push(value[names[i]] ?? null);
          writer.rows++;
          return true;
        },
        () => void iterator.return?.(),
        request.limit,
      );
    },
    explain: request => explainRows(spec, request),
    get rowCount() {
      return count?.();
    },
  };
  return { spec, bind: () => bound };
}

function explainRows(spec: TableSpec, request: ScanRequest) {
  return {
    table: spec.name,
    operators: { kept: 0, of: 0 },
    states: { kept: 0, of: 0 },
    columns: request.columns.map(p => ({
      name: p.name,
      type: staticType(columnNamed(spec, p.name)).kind as string,
      mixed: false,
    })),
    filters: request.filters.map(f => ({ text: filterText(f), use: 'engine' as const })),
    ...(request.limit === undefined ? {} : { limit: request.limit }),
  };
}

/** A filter as SQL, for EXPLAIN. */
export function filterText(filter: Filter): string {
  switch (filter.op) {
    case 'is null':
    case 'is not null':
      return `${filter.column} ${filter.op.toUpperCase()}`;
    case 'in':
      return `${filter.column} IN (${filter.values.map(constantText).join(', ')})`;
    case 'field':
      return `${[filter.column, ...filter.path].join('.')} IN (${filter.values.map(constantText).join(', ')})`;
    case 'prefix':
      return `${filter.column} LIKE '${filter.value.replaceAll("'", "''")}%'`;
    default:
      return `${filter.column} ${filter.op} ${constantText(filter.value)}`;
  }
}

function constantText(c: import('./table.js').Constant): string {
  switch (c.kind) {
    case 'string':
      return `'${c.value.replaceAll("'", "''")}'`;
    case 'decimal':
      return c.text;
    default:
      return String(c.value);
  }
}

export function columnNamed(spec: TableSpec, name: string): ColumnSpec {
  const column = spec.columns.find(c => c.name === name);
  if (column === undefined) throw new Error(`${spec.name} has no column ${name}`);
  return column;
}

function staticType(column: ColumnSpec) {
  if (column.type === 'dynamic') throw new Error(`${column.name} has no type of its own`);
  return column.type;
}
