/** DESCRIBE and SHOW TABLES, answered as rows of constants, and SUMMARIZE, which the engine answers. */
import type { BoundColumn } from '../tables/table.js';
import { sqlTypeText, VARCHAR } from '../types.js';
import {
  cast,
  columnRef,
  constant,
  emptyTable,
  nullConstant,
  type QueryNode,
  type ShowTable,
  selectNode,
  subqueryTable,
  type TableRef,
  textConstant,
  type ValuesTable,
} from './ast.js';
import { type Context, type CteEnv, type Output, plainColumn, starExpr } from './output.js';
import { type From, type Scope, single } from './relations.js';
import type { ScanUse } from './scan-use.js';

/** DESCRIBE and SHOW TABLES are answered here, as rows of constants; SUMMARIZE by the engine. */
export async function showTable(
  ctx: Context,
  node: ShowTable,
  outer: Scope | undefined,
  env: CteEnv,
): Promise<{ node: TableRef; from: From }> {
  if (node.show_type === 'SUMMARY') {
    const output = await ctx.query(node.query!, outer, env);
    for (let i = 0; i < output.columns.length; i++) if (output.columns[i].mixed) await output.asText(i);
    const physical = ctx.unique(node.alias || 'summary');
    const sample = { ...node, query: selectNode([constant('INTEGER', 1)], emptyTable()) };
    const columns = (await ctx.describeNode(selectNode([starExpr()], subqueryTable(selectNode([starExpr()], sample), 's')))) ?? [];
    const known: Output = {
      columns: columns.map(c => plainColumn(c.name, async () => c.sql)),
      complete: columns.length > 0,
      asText: async () => {},
    };
    const wrapped = subqueryTable(selectNode([starExpr()], node), physical);
    return { node: wrapped, from: single(ctx.relation(node.alias || 'summary', undefined, physical, known, [])) };
  }
  const rows = node.show_type === 'DESCRIBE' ? await describeRows(ctx, node, outer, env) : tableRows(ctx, node);
  const { names, cells } = rows;
  const values: ValuesTable = {
    type: 'EXPRESSION_LIST',
    alias: 'rows',
    sample: null,
    expected_names: [],
    expected_types: [],
    values:
      cells.length > 0
        ? cells.map(r => r.map(c => (c === null ? cast(nullConstant(), 'VARCHAR') : textConstant(c))))
        : [names.map(() => cast(nullConstant(), 'VARCHAR'))],
  };
  const list = selectNode(
    names.map((n, i) => ({ ...columnRef(`col${i}`), alias: n })),
    values,
  );
  if (cells.length === 0) list.where_clause = cast(textConstant('f'), 'BOOLEAN');
  const physical = ctx.unique(node.alias || 'rows');
  const output: Output = { columns: names.map(n => plainColumn(n, async () => VARCHAR)), complete: true, asText: async () => {} };
  return { node: subqueryTable(list, physical), from: single(ctx.relation(node.alias || 'rows', undefined, physical, output, [])) };
}

async function describeRows(
  ctx: Context,
  node: ShowTable,
  outer: Scope | undefined,
  env: CteEnv,
): Promise<{ names: string[]; cells: (string | null)[][] }> {
  const query = node.query!;
  const before = ctx.scans.length;
  const output = await ctx.query(query, outer, env);
  const described = descriptions(query, ctx.scans.slice(before));
  const cells: (string | null)[][] = [];
  for (const [i, c] of output.columns.entries()) {
    const type = c.mixed ? 'JSON' : sqlTypeText((await c.type()) ?? VARCHAR);
    const extra = [c.mixed ? 'several types' : undefined, described?.[i]?.description].filter(x => x !== undefined && x !== '');
    cells.push([c.name, type, 'YES', null, null, extra.length > 0 ? extra.join('; ') : null]);
  }
  // nothing of it is read
  ctx.scans.length = before;
  return { names: ['column_name', 'column_type', 'null', 'key', 'default', 'extra'], cells };
}

/** What the columns of `DESCRIBE table` mean. */
function descriptions(query: QueryNode, scans: readonly ScanUse[]): readonly BoundColumn[] | undefined {
  const [scan] = scans;
  if (scans.length !== 1 || query.type !== 'SELECT_NODE' || query.from_table !== scan.node) return undefined;
  return query.select_list.length === scan.bound.columns.length ? scan.bound.columns : undefined;
}

function tableRows(ctx: Context, node: ShowTable): { names: string[]; cells: (string | null)[][] } {
  const { snapshots } = ctx.options;
  const all = /all/i.test(node.table_name);
  const wanted =
    node.show_type === 'SHOW_FROM' ? (node.schema_name || node.catalog_name || node.table_name).replaceAll('"', '') : undefined;
  const cells: (string | null)[][] = [];
  for (const [alias, catalog] of snapshots) {
    if (wanted !== undefined && alias.toLowerCase() !== wanted.toLowerCase()) continue;
    for (const name of catalog.names(all)) cells.push(snapshots.size > 1 ? [alias, name] : [name]);
  }
  if (wanted !== undefined && cells.length === 0)
    throw ctx.places.error('UNKNOWN_TABLE', `there is no snapshot "${wanted}"`, node, `snapshots: ${[...snapshots.keys()].join(', ')}`);
  if (!/^"?(all_?tables|tables|__show_tables_expanded|.*all.*)"?$/i.test(node.table_name) && wanted === undefined)
    throw ctx.places.error(
      'REFUSED',
      `SHOW ${node.table_name.replaceAll('"', '').toUpperCase()} is refused`,
      node,
      'SHOW TABLES, SHOW ALL TABLES',
    );
  return { names: snapshots.size > 1 ? ['snapshot', 'name'] : ['name'], cells };
}
