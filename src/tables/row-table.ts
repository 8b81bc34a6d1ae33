/**
 * Small tables whose rows are plain objects: everything that comes from metadata and headers rather than from entries.
 */
import type { Value } from '../types.js';
import { BatchWriter, scanOf } from './batch.js';
import { exactBy, explainScan, type ScanScope } from './explain.js';
import type { BoundTable, ColumnSpec, Filter, Table, TableSpec } from './table.js';

/** A row: column name → value in the form of its column's type; what is missing is NULL. */
export type Row = Readonly<Record<string, Value | undefined>>;

/**
 * A table of `spec` whose rows are made when a scan begins.
 * @param rows may give undefined now and then while it looks for the next row
 * @param scope what the filters leave, for EXPLAIN; when left out, they leave everything to the engine
 * @param count rows, when that costs nothing
 */
export function rowTable(
  spec: TableSpec,
  rows: (filters: readonly Filter[]) => Iterable<Row | undefined>,
  { scope = () => ({ useOf: exactBy([]) }), count }: { scope?: (filters: readonly Filter[]) => ScanScope; count?: () => number } = {},
): Table {
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
    explain: request => explainScan(spec.name, bound.columns, request, scope(request.filters)),
    get rowCount() {
      return count?.();
    },
  };
  return { spec, bind: () => bound };
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
