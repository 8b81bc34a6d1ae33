/**
 * What a finished statement does not need of its scans, read off the tree that goes to the engine:
 *
 *   count(*) over a whole scan    the scan counts; the engine sums the counts up instead of getting rows
 *   t.value.status, value.name    of a STRUCT only these fields are decoded
 *
 * Both look at names alone and keep everything in doubt: wherever the name of a column stands as the last one, every field
 * of it is needed, whichever table it belongs to.
 */

import { call, cast, columnRef, constant, type Expr, type QueryNode, type SelectNode, type TableRef } from './ast.js';
import type { ScanColumn } from './scan-use.js';
import { COUNT_COLUMN, ROWS_COLUMN, type ScanUse } from './scan-use.js';

/** Narrows the scans of a statement, and its tree where that goes with it. */
export function narrowScans(node: QueryNode, scans: readonly ScanUse[], scanFunction: string): void {
  const byId = new Map(scans.map(scan => [scan.id, scan]));
  const places = new Map<number, number>();
  const found = new Findings();
  const scanOf = (table: TableRef): ScanUse | undefined => {
    if (table.type !== 'TABLE_FUNCTION' || table.function.function_name !== scanFunction) return undefined;
    const [id] = table.function.children;
    return id.class === 'CONSTANT' ? byId.get(Number(id.value.value)) : undefined;
  };
  const walk = (tree: unknown): void => {
    if (Array.isArray(tree)) {
      for (const child of tree) walk(child);
      return;
    }
    if (typeof tree !== 'object' || tree === null) return;
    const table = (tree as { from_table?: TableRef }).from_table;
    const scan = table === undefined ? undefined : scanOf(table);
    if (scan !== undefined) {
      places.set(scan.id, (places.get(scan.id) ?? 0) + 1);
      return;
    }
    found.see(tree as Record<string, unknown>);
    for (const child of Object.values(tree)) walk(child);
  };
  walk(node);
  for (const scan of scans) for (const column of scan.columns) scan.leaveOut(column.physical, found.fieldsOf(column));
  // a subtree may have been copied: then its scan runs twice, once perhaps for its rows
  countRows(node, table => {
    const scan =
      table.type === 'SUBQUERY' && table.subquery.node.type === 'SELECT_NODE' ? scanOf(table.subquery.node.from_table) : undefined;
    return scan !== undefined && places.get(scan.id) === 1 ? scan : undefined;
  });
}

/** How the columns of a statement are named. */
class Findings {
  /** a column by its lower-case name → the names that follow it, and whether it also stands alone */
  private readonly paths = new Map<string, Set<string>>();
  private readonly whole = new Set<string>();
  /** tables, whose whole rows may be meant */
  private readonly tables = new Set<string>();
  private all = false;

  see(node: Record<string, unknown>): void {
    const names = node.column_names;
    if (node.class === 'COLUMN_REF' && Array.isArray(names)) this.reference(names as string[]);
    else if (node.class === 'STAR' || node.type === 'SHOW_REF') this.all = true;
    else if (node.type === 'JOIN') {
      const { ref_type, using_columns } = node;
      if (ref_type === 'NATURAL') this.all = true;
      if (Array.isArray(using_columns)) for (const name of using_columns) this.whole.add(String(name).toLowerCase());
    }
    // columns under other names
    if (Array.isArray(node.column_name_alias) && node.column_name_alias.length > 0) this.all = true;
    if ('sample' in node)
      for (const name of [node.alias, node.table_name]) if (typeof name === 'string') this.tables.add(name.toLowerCase());
  }

  private reference(names: readonly string[]): void {
    names.forEach((name, i) => {
      const lower = name.toLowerCase();
      if (i === names.length - 1) this.whole.add(lower);
      else {
        const next = this.paths.get(lower);
        if (next === undefined) this.paths.set(lower, new Set([names[i + 1].toLowerCase()]));
        else next.add(names[i + 1].toLowerCase());
      }
    });
  }

  /** The fields of a STRUCT that the statement names; undefined: perhaps all. */
  fieldsOf({ physical, type }: ScanColumn): readonly string[] | undefined {
    if (this.all || type.kind !== 'STRUCT' || this.whole.has(physical.toLowerCase())) return undefined;
    for (const table of this.tables) if (this.whole.has(table)) return undefined;
    const named = this.paths.get(physical.toLowerCase());
    if (named === undefined) return undefined;
    return type.fields.filter(f => named.has(f.name.toLowerCase())).map(f => f.name);
  }
}

/** Turns `SELECT count(*) FROM scan` into a sum of what the scan counted, wherever it stands. */
function countRows(tree: unknown, scanAt: (table: TableRef) => ScanUse | undefined): void {
  if (Array.isArray(tree)) {
    for (const child of tree) countRows(child, scanAt);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  const node = tree as SelectNode;
  if (node.type === 'SELECT_NODE' && countsOnly(node)) {
    const scan = scanAt(node.from_table);
    if (scan !== undefined && scan.columns.length === 0 && scan.filters.length === 0 && node.from_table.type === 'SUBQUERY') {
      const inner = node.from_table.subquery.node as SelectNode;
      const [item] = inner.select_list;
      if (inner.select_list.length === 1 && item.class === 'COLUMN_REF' && item.column_names[0] === ROWS_COLUMN) {
        scan.counted = true;
        inner.select_list = [columnRef(COUNT_COLUMN)];
        node.select_list = node.select_list.map(e => (isCount(e) ? sumOfCounts(e.alias) : e));
      }
    }
  }
  for (const child of Object.values(tree)) countRows(child, scanAt);
}

/** Whether a SELECT has count(*) and constants, and nothing around them. */
function countsOnly(node: SelectNode): boolean {
  return (
    node.select_list.some(isCount) &&
    node.select_list.every(e => isCount(e) || e.class === 'CONSTANT') &&
    node.where_clause === null &&
    node.group_expressions.length === 0 &&
    node.group_sets.length === 0 &&
    node.aggregate_handling === 'STANDARD_HANDLING' &&
    node.having === null &&
    node.qualify === null &&
    node.sample === null &&
    node.modifiers.length === 0 &&
    node.from_table.type === 'SUBQUERY' &&
    node.from_table.sample === null &&
    node.from_table.column_name_alias.length === 0
  );
}

function isCount(e: Expr): boolean {
  return (
    e.class === 'FUNCTION' &&
    e.function_name === 'count_star' &&
    e.children.length === 0 &&
    e.filter === null &&
    !e.distinct &&
    (e.order_bys === null || e.order_bys.orders.length === 0)
  );
}

function sumOfCounts(alias: string): Expr {
  const sum = cast(call('sum', columnRef(COUNT_COLUMN)), 'BIGINT');
  const whole: Expr = { class: 'OPERATOR', type: 'OPERATOR_COALESCE', alias: '', children: [sum, constant('BIGINT', 0)] };
  return { ...whole, alias: alias === '' ? 'count_star()' : alias };
}
