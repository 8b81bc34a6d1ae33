/**
 * One reference to a table in a statement: which forms of which columns it needs, what its scan may leave out, and the
 * subquery that stands for it in the rewritten text:
 *
 *   (SELECT key, "key·text" FROM statequery_scan(<id>)) AS <alias>
 *
 * A mixed column has two physical columns, JSON under its name and text under its name and a mark.
 */
import type { BoundColumn, BoundTable, Filter, Projection, Restriction, ScanRequest } from '../tables/table.js';
import { JSON_TYPE, type SqlType, VARCHAR } from '../types.js';
import { call, columnRef, constant, type Expr, type SubqueryTable, selectNode, subqueryTable, type TableRef } from './ast.js';
import type { CteUse } from './relations.js';

export const TEXT_MARK = '\u00b7text';
/** the hidden first column of the scan function: what stands when no column is wanted */
export const ROWS_COLUMN = '\u0001rows';
/** instead of it, the only column of a scan that counts its rows: how many, in parts */
export const COUNT_COLUMN = '\u0001count';

export interface ScanColumn extends Projection {
  readonly physical: string;
  readonly type: SqlType;
}

export class ScanUse {
  private readonly offers: { readonly filter: Filter; readonly through: readonly CteUse[] }[] = [];
  limit: number | undefined;
  /** the statement asks for nothing but the number of rows */
  counted = false;
  private readonly needs = new Map<string, ScanColumn>();
  /** the table in FROM; its SELECT list is filled in by `finishScans` */
  readonly node: SubqueryTable;

  constructor(
    readonly id: number,
    readonly snapshot: string,
    readonly table: string,
    readonly alias: string,
    readonly bound: BoundTable,
    readonly restrictions: readonly Restriction[],
    functionName: string,
  ) {
    const scan = call(functionName, constant('BIGINT', id));
    this.node = subqueryTable(
      selectNode([], {
        type: 'TABLE_FUNCTION',
        alias: '',
        sample: null,
        function: scan,
        column_name_alias: [],
        with_ordinality: 'WITHOUT_ORDINALITY',
      }),
      alias,
    );
  }

  /** Asks for a column in a form; returns its physical name. */
  need(column: BoundColumn, form: 'main' | 'text'): string {
    const physical = form === 'text' ? column.name + TEXT_MARK : column.name;
    if (!this.needs.has(physical)) {
      this.needs.set(physical, {
        name: column.name,
        form: !column.mixed ? 'value' : form === 'text' ? 'text' : 'json',
        physical,
        type: !column.mixed ? column.type : form === 'text' ? VARCHAR : JSON_TYPE,
      });
    }
    return physical;
  }

  /** A filter that holds for every row that matters, provided that nobody else reads the WITH items in between. */
  offer(filter: Filter, through: readonly CteUse[]): void {
    this.offers.push({ filter, through });
  }

  get filters(): readonly Filter[] {
    const texts = new Set<string>();
    return this.offers
      .filter(o => o.through.every(cte => cte.references === 1))
      .map(o => o.filter)
      .filter(f => {
        const text = JSON.stringify(f, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v));
        return !texts.has(text) && texts.add(text);
      });
  }

  /** Notes that of a STRUCT column only these fields are read. */
  leaveOut(physical: string, fields: readonly string[] | undefined): void {
    const column = this.needs.get(physical);
    if (column !== undefined && fields !== undefined) this.needs.set(physical, { ...column, fields });
  }

  exposeAll(): void {
    for (const column of this.bound.columns) this.need(column, 'main');
  }

  get columns(): readonly ScanColumn[] {
    return [...this.needs.values()];
  }

  /** What the scan will be asked. */
  request(): ScanRequest {
    return {
      columns: this.columns.map(({ name, form, fields }) => ({ name, form, ...(fields === undefined ? {} : { fields }) })),
      filters: this.filters,
      ...(this.limit === undefined ? {} : { limit: this.limit }),
    };
  }
}

/**
 * Writes the needed columns into the subqueries that stand for scans, wherever they are by now: parts of a tree may have
 * been copied.
 */
export function finishScans(tree: unknown, scans: ReadonlyMap<number, ScanUse>, functionName: string): void {
  if (Array.isArray(tree)) {
    for (const child of tree) finishScans(child, scans, functionName);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  const node = tree as { from_table?: TableRef; select_list?: Expr[] };
  const from = node.from_table;
  if (from?.type === 'TABLE_FUNCTION' && from.function.function_name === functionName) {
    const [id] = from.function.children;
    const scan = id.class === 'CONSTANT' ? scans.get(Number(id.value.value)) : undefined;
    if (scan === undefined) throw new Error('a scan that nobody knows');
    node.select_list = (scan.columns.length === 0 ? [ROWS_COLUMN] : scan.columns.map(c => c.physical)).map(n => columnRef(n));
    return;
  }
  for (const child of Object.values(tree)) finishScans(child, scans, functionName);
}
