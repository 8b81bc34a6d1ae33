/**
 * FROM: tables become scans (bound by the restrictions of their SELECT), subqueries and WITH items become relations, functions
 * and VALUES theirs.
 */
import type { BoundColumn } from '../tables/table.js';
import { type SqlType, VARCHAR } from '../types.js';
import {
  type BaseTable,
  cloneTree,
  type Expr,
  type FunctionTable,
  selectNode,
  someExpr,
  type TableRef,
  textConstant,
  type ValuesTable,
} from './ast.js';
import { resolveJoin } from './join.js';
import { lookUpTable } from './lookup.js';
import { type Context, type CteEnv, type Output, once, plainColumn, renamed, starExpr } from './output.js';
import { restrictionsOf } from './pushdown.js';
import { EMPTY_FROM, type From, physicalRef, type Relation, type RelationColumn, type Scope, single, withoutLineage } from './relations.js';
import { Rewriter } from './rewrite.js';
import { ScanUse } from './scan-use.js';
import { showTable } from './show.js';
import { jsonText } from './text-form.js';

export async function resolveFrom(
  ctx: Context,
  node: TableRef,
  outer: Scope | undefined,
  env: CteEnv,
  conditions: readonly Expr[],
): Promise<{ node: TableRef; from: From }> {
  const placed = await tableRef(ctx, node, outer, env, node.sample === null ? conditions : []);
  return node.sample === null ? placed : { node: { ...placed.node, sample: node.sample }, from: withoutLineage(placed.from) };
}

async function tableRef(
  ctx: Context,
  node: TableRef,
  outer: Scope | undefined,
  env: CteEnv,
  conditions: readonly Expr[],
): Promise<{ node: TableRef; from: From }> {
  switch (node.type) {
    case 'EMPTY':
      return { node, from: EMPTY_FROM };
    case 'BASE_TABLE':
      return baseTable(ctx, node, env, conditions);
    case 'SUBQUERY': {
      const output = await ctx.query(node.subquery.node, outer, env);
      const alias = node.alias;
      const physical = ctx.unique(alias || 'unnamed_subquery');
      const named = renamed(output, node.column_name_alias);
      const relation = ctx.relation(alias || 'unnamed_subquery', undefined, physical, named, []);
      return { node: { ...node, alias: physical }, from: single(relation) };
    }
    case 'JOIN':
      return resolveJoin(ctx, node, outer, env, conditions);
    case 'TABLE_FUNCTION':
      return tableFunction(ctx, node, outer);
    case 'EXPRESSION_LIST':
      return valuesTable(ctx, node, outer);
    case 'SHOW_REF':
      return showTable(ctx, node, outer, env);
  }
}

async function baseTable(ctx: Context, node: BaseTable, env: CteEnv, conditions: readonly Expr[]): Promise<{ node: TableRef; from: From }> {
  const cte = node.schema_name === '' && node.catalog_name === '' ? env.items.get(node.table_name.toLowerCase()) : undefined;
  const alias = node.alias || node.table_name;
  const physical = ctx.unique(alias);
  if (cte !== undefined) {
    cte.use.references++;
    const relation = ctx.relation(alias, undefined, physical, renamed(cte.output, node.column_name_alias), [cte.use]);
    return { node: { ...node, alias: physical }, from: single(relation) };
  }
  const { table, snapshot } = lookUpTable(node, ctx.options.snapshots, ctx.places);
  const own = new Set(table.spec.columns.map(c => c.name.toLowerCase()));
  const renamedColumns = new Map(node.column_name_alias.map((n, i) => [n.toLowerCase(), table.spec.columns[i]?.name]));
  const mine = (expr: Expr): string | undefined => {
    if (expr.class !== 'COLUMN_REF') return undefined;
    const names = expr.column_names.map(n => n.toLowerCase());
    const column = names[names.length - 1];
    const name = renamedColumns.get(column) ?? (own.has(column) ? column : undefined);
    if (names.length === 1) return name;
    if (names.length === 2) return names[0] === alias.toLowerCase() ? name : undefined;
    return names.length === 3 && names[0] === snapshot.toLowerCase() && names[1] === alias.toLowerCase() ? name : undefined;
  };
  const bound = table.bind(restrictionsOf(conditions, mine, ctx.literal));
  const scan = new ScanUse(
    ctx.options.nextScanId(),
    snapshot,
    table.spec.name,
    physical,
    bound,
    restrictionsOf(conditions, mine, ctx.literal),
    ctx.options.scanFunction,
  );
  ctx.scans.push(scan);
  const types = new Map<string, () => Promise<SqlType | undefined>>();
  ctx.registerTypes(physical, types);
  const columns = bound.columns.map((c, i) => scanColumn(scan, c, node.column_name_alias[i] ?? c.name, types, ctx.textFromJson));
  const relation: Relation = { alias, snapshot, physical, columns, complete: true, exposeAll: () => scan.exposeAll() };
  return { node: scan.node, from: single(relation) };
}

function scanColumn(
  scan: ScanUse,
  column: BoundColumn,
  name: string,
  types: Map<string, () => Promise<SqlType | undefined>>,
  textFromJson: boolean,
): RelationColumn {
  const type = async () => column.type;
  types.set(column.name, type);
  if (column.mixed) types.set(`${column.name}\u00b7text`, async () => VARCHAR);
  const ref = () => physicalRef(scan.alias, scan.need(column, 'main'));
  return {
    name,
    mixed: column.mixed,
    ref,
    text: textFromJson ? () => jsonText(ref) : () => physicalRef(scan.alias, scan.need(column, 'text')),
    type,
    lineage: [{ scan, column: column.name, nullable: false, through: [] }],
  };
}

async function tableFunction(ctx: Context, node: FunctionTable, outer: Scope | undefined): Promise<{ node: TableRef; from: From }> {
  const name = node.function.function_name.toLowerCase();
  const rewriter = new Rewriter(ctx, { from: EMPTY_FROM, outer, aliases: new Map(), lambda: new Set() });
  for (let i = 0; i < node.function.children.length; i++) {
    const child = node.function.children[i];
    node.function.children[i] = name === 'json_each' ? await rewriter.json(child) : await rewriter.plain(child);
  }
  const constantArgs = !node.function.children.some(c => someExpr(c, e => e.class === 'COLUMN_REF' || e.class === 'SUBQUERY'));
  const alias = node.alias || name;
  const physical = ctx.unique(alias);
  let known: readonly { name: string; sql: SqlType | undefined }[] | undefined;
  if (constantArgs || name === 'json_each') {
    const probe = cloneTree(node);
    probe.alias = '';
    probe.column_name_alias = [];
    if (name === 'json_each') probe.function.children = [textConstant('{}')];
    known = await ctx.describeNode(selectNode([starExpr()], probe));
  } else if (name === 'unnest') {
    known = [{ name: 'unnest', sql: await ctx.typeOf(node.function) }];
    if (known[0].sql?.kind === 'STRUCT') known = undefined;
  } else known = [{ name, sql: { kind: 'BIGINT' } }];
  const output: Output = {
    columns: (known ?? []).map(c => plainColumn(c.name, async () => c.sql)),
    complete: known !== undefined,
    asText: async () => {},
  };
  const relation = ctx.relation(alias, undefined, physical, renamed(output, node.column_name_alias), []);
  return { node: { ...node, alias: physical }, from: single(relation) };
}

async function valuesTable(ctx: Context, node: ValuesTable, outer: Scope | undefined): Promise<{ node: TableRef; from: From }> {
  const rewriter = new Rewriter(ctx, { from: EMPTY_FROM, outer, aliases: new Map(), lambda: new Set() });
  const width = node.values[0]?.length ?? 0;
  const exprs: Expr[][] = [];
  for (const row of node.values) {
    for (let i = 0; i < row.length; i++) row[i] = await rewriter.plain(row[i]);
    exprs.push(row);
  }
  const names = node.expected_names.length > 0 ? node.expected_names : Array.from({ length: width }, (_, i) => `col${i}`);
  const output: Output = {
    columns: names.map((n, i) =>
      plainColumn(
        n,
        once(async () => ctx.typing.unify(await Promise.all(exprs.map(row => ctx.typeOf(row[i]))))),
      ),
    ),
    complete: true,
    asText: async () => {},
  };
  const alias = node.alias || 'valueslist';
  const physical = ctx.unique(alias);
  return { node: { ...node, alias: physical }, from: single(ctx.relation(alias, undefined, physical, output, [])) };
}
