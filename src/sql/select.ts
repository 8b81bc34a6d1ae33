/**
 * A SELECT: its list, WHERE, groups, DISTINCT, ORDER BY and LIMIT.
 *
 * Mixed columns in it: a bare item is JSON; groups and DISTINCT go by the text, so that an item that is grouped by shows the
 * least JSON of its group, and DISTINCT becomes DISTINCT ON the texts.
 */
import { call, cloneTree, constant, type Expr, type Modifier, type SelectNode, someExpr, treeText } from './ast.js';
import { resolveFrom } from './from.js';
import { AGGREGATES } from './functions.js';
import { type Item, isPlainStar, selectItems } from './items.js';
import { literalOf } from './literals.js';
import { type Context, type CteEnv, type Output, type OutputColumn, once, ordinalOf } from './output.js';
import { applyFilter, conjunctsOf, filtersOf } from './pushdown.js';
import { columnFinder, EMPTY_FROM, type From, type RelationColumn, type Scope, type SelectAlias, withoutLineage } from './relations.js';
import { Rewriter } from './rewrite.js';

export function select(ctx: Context, node: SelectNode, outer: Scope | undefined, env: CteEnv): Promise<Output> {
  return ctx.within(env, async () => {
    const where = conjunctsOf(node.where_clause);
    // COLUMNS(…) sees every column there is: the text of mixed ones must not be among them
    const hidden = ctx.textFromJson;
    ctx.textFromJson = isOpaque(node);
    const placed = await resolveFrom(ctx, node.from_table, outer, env, node.sample === null ? where : []);
    ctx.textFromJson = hidden;
    node.from_table = placed.node;
    const aliases = new Map<string, SelectAlias>();
    for (const e of node.select_list) {
      if (e.alias !== '' && e.class !== 'STAR') aliases.set(e.alias.toLowerCase(), { name: e.alias, original: cloneTree(e) });
    }
    const visible = node.sample === null ? placed.from : withoutLineage(placed.from);
    return selectIn(ctx, node, { from: visible, outer, aliases, lambda: new Set() }, where);
  });
}

/** A list with stars that the engine expands: COLUMNS(…), stars inside of expressions. */
function isOpaque(node: SelectNode): boolean {
  return node.select_list.some(e => !isPlainStar(e) && someExpr(e, x => x.class === 'STAR'));
}

async function selectIn(ctx: Context, node: SelectNode, scope: Scope, where: readonly Expr[]): Promise<Output> {
  const { from: visible, outer } = scope;
  const rewriter = new Rewriter(ctx, scope);
  // filters are read off what the user wrote, before it is rewritten
  const find = columnFinder(scope);
  for (const conjunct of where) {
    const filters = await filtersOf(conjunct, find, ctx.literal, ctx.typing);
    for (const filter of filters) applyFilter(filter);
    if (filters.every(f => f.column.lineage.length === 0)) ctx.leftToEngine.push(cloneTree(conjunct));
  }

  const opaque = isOpaque(node);
  if (opaque) for (const r of visible.relations) r.exposeAll();
  const items = await selectItems(ctx, node.select_list, rewriter, visible);

  const aggregated =
    node.aggregate_handling === 'FORCE_AGGREGATES' ||
    node.group_expressions.length > 0 ||
    node.having !== null ||
    items.some(i => i.original !== undefined && hasAggregate(i.original));
  if (node.where_clause) node.where_clause = await rewriter.plain(node.where_clause);
  const groups = await groupBy(node, items, rewriter);
  if (node.having) node.having = await rewriter.plain(node.having);
  if (node.qualify) node.qualify = await rewriter.plain(node.qualify);

  const list = items.map(item => outputExpr(item, groups));
  uniqueNames(items);
  const cut = await modifiers(ctx, node, items, new Rewriter(ctx, scope, true), scope);
  node.select_list = list.map((expr, i) => {
    if (items[i].name !== '' || !opaque) expr.alias = items[i].name;
    return expr;
  });

  const windows = items.some(i => i.original !== undefined && someExpr(i.original, e => e.class === 'WINDOW'));
  const unnests = items.some(i => i.original !== undefined && someExpr(i.original, isUnnest));
  const passes = !cut && !windows && node.qualify === null && node.group_sets.length <= 1 && node.sample === null;
  const columns = items.map((item, i): OutputColumn => {
    const { done } = item;
    const { column } = done;
    const kept = !aggregated || groups.some(g => g.column !== undefined && g.column === column);
    return {
      name: item.name,
      mixed: done.kind === 'mixed',
      type: once(async () => (done.kind === 'mixed' ? undefined : (done.type ?? (await ctx.typeOf(node.select_list[i]))))),
      lineage: passes && kept && column !== undefined ? column.lineage : [],
    };
  });
  if (!aggregated && !windows && !unnests && node.qualify === null && node.sample === null && where.length === 0) {
    offerLimit(ctx, node, visible, outer);
  }
  return {
    columns,
    complete: !opaque,
    asText: async index => {
      const { done } = items[index];
      const expr = done.kind === 'mixed' ? done.text() : await new Rewriter(ctx, scope).comparisons.textOf(done, node.select_list[index]);
      expr.alias = items[index].name;
      node.select_list[index] = expr;
    },
  };
}

/** What stands in the SELECT list: JSON for mixed items, the least of the group's where only the text is grouped. */
function outputExpr(item: Item, groups: readonly Group[]): Expr {
  const { done } = item;
  if (done.kind === 'plain') return done.expr;
  if (groups.every(g => g.text === undefined)) return done.json();
  const text = treeText(done.text());
  return groups.some(g => g.text === text) ? call('min', done.json()) : done.json();
}

interface Group {
  /** the text form, for mixed expressions */
  readonly text: string | undefined;
  /** a bare column, for lineage */
  readonly column: RelationColumn | undefined;
}

async function groupBy(node: SelectNode, items: readonly Item[], rewriter: Rewriter): Promise<readonly Group[]> {
  const groups: Group[] = [];
  if (node.aggregate_handling === 'FORCE_AGGREGATES' && items.some(i => i.done.kind === 'mixed')) {
    // GROUP BY ALL over mixed items: the items that are no aggregates, spelled out
    node.aggregate_handling = 'STANDARD_HANDLING';
    items.forEach((item, i) => {
      if (item.original !== undefined && hasAggregate(item.original)) return;
      node.group_expressions.push(constant('INTEGER', i + 1));
    });
    node.group_sets = [node.group_expressions.map((_, i) => i)];
  }
  for (let i = 0; i < node.group_expressions.length; i++) {
    const expr = node.group_expressions[i];
    const ordinal = ordinalOf(expr);
    const named = ordinal === undefined ? itemNamed(expr, items, rewriter) : undefined;
    const item = ordinal === undefined ? named : items[ordinal - 1];
    if (item !== undefined) {
      if (item.done.kind === 'mixed') {
        node.group_expressions[i] = item.done.text();
        groups.push({ text: treeText(node.group_expressions[i]), column: item.done.column });
      } else {
        node.group_expressions[i] = constant('INTEGER', items.indexOf(item) + 1);
        groups.push({ text: undefined, column: item.done.column });
      }
      continue;
    }
    const done = await rewriter.rewrite(expr);
    node.group_expressions[i] = done.kind === 'mixed' ? done.text() : done.expr;
    node.group_expressions[i].alias = '';
    const column = done.kind === 'mixed' ? done.column : columnFinder(rewriter.scope)(expr);
    groups.push({ text: done.kind === 'mixed' ? treeText(done.text()) : undefined, column });
  }
  return groups;
}

/** The item that a bare name means where no column of FROM has that name. */
function itemNamed(expr: Expr, items: readonly Item[], rewriter: Rewriter): Item | undefined {
  if (expr.class !== 'COLUMN_REF' || expr.column_names.length !== 1) return undefined;
  if (columnFinder(rewriter.scope)(expr) !== undefined) return undefined;
  const name = expr.column_names[0].toLowerCase();
  return items.find(i => i.original !== undefined && i.original.alias.toLowerCase() === name);
}

/** DISTINCT, ORDER BY, LIMIT; true when rows are cut or chosen. */
async function modifiers(ctx: Context, node: SelectNode, items: readonly Item[], rewriter: Rewriter, scope: Scope): Promise<boolean> {
  let cut = false;
  for (const modifier of node.modifiers) {
    switch (modifier.type) {
      case 'ORDER_MODIFIER':
        for (const order of modifier.orders) {
          const { expression } = order;
          if (expression.class === 'STAR') {
            const mixed = items.find(i => i.done.kind === 'mixed');
            if (mixed !== undefined) throw orderRefused(ctx, expression, mixed.name);
            continue;
          }
          const index = ordinalOf(expression) ?? orderedItem(expression, items);
          const item = index === undefined ? undefined : items[index - 1];
          if (item !== undefined) {
            if (item.done.kind === 'mixed') throw orderRefused(ctx, expression, item.name);
            order.expression = constant('INTEGER', index);
          } else order.expression = await rewriter.ordered(expression);
        }
        break;
      case 'DISTINCT_MODIFIER':
        if (modifier.distinct_on_targets.length > 0) {
          cut = true;
          for (let i = 0; i < modifier.distinct_on_targets.length; i++) {
            const target = modifier.distinct_on_targets[i];
            const index = ordinalOf(target) ?? orderedItem(target, items);
            const item = index === undefined ? undefined : items[index - 1];
            modifier.distinct_on_targets[i] =
              item?.done.kind === 'mixed'
                ? item.done.text()
                : item !== undefined
                  ? constant('INTEGER', index)
                  : await rewriter.plain(target);
          }
        } else if (items.some(i => i.done.kind === 'mixed')) {
          // rows that differ only in the JSON of equal texts are one
          modifier.distinct_on_targets = items.map((item, i) =>
            item.done.kind === 'mixed' ? item.done.text() : constant('INTEGER', i + 1),
          );
        }
        break;
      default:
        cut = true;
        await limitExprs(ctx, modifier, scope.outer);
    }
  }
  return cut;
}

/** LIMIT for a scan whose rows all come through: filters are the engine's to apply, so none may stand in between. */
function offerLimit(ctx: Context, node: SelectNode, from: From, outer: Scope | undefined): void {
  const [relation] = from.relations;
  if (from.relations.length !== 1 || outer !== undefined) return;
  const scan = ctx.scans.find(s => s.alias === relation.physical && s.node === node.from_table);
  if (scan === undefined || node.modifiers.length !== 1) return;
  const [modifier] = node.modifiers;
  if (modifier.type !== 'LIMIT_MODIFIER' || modifier.limit === null) return;
  const limit = literalOf(modifier.limit);
  const offset = modifier.offset === null ? { kind: 'integer' as const, value: 0n } : literalOf(modifier.offset);
  if (limit?.kind !== 'integer' || offset?.kind !== 'integer' || limit.value < 0n || offset.value < 0n) return;
  const rows = limit.value + offset.value;
  if (rows < 1n << 50n) scan.limit = Number(rows);
}

export function orderRefused(ctx: Context, at: Expr, name: string): Error {
  return ctx.places.error(
    'REFUSED',
    `ORDER BY on ${name}, which has several types here`,
    at,
    `add state_name = '…' so that one type is left, or cast: ORDER BY TRY_CAST(${name} AS BIGINT)`,
  );
}

export async function limitExprs(
  ctx: Context,
  modifier: Modifier & { limit: Expr | null; offset: Expr | null },
  outer: Scope | undefined,
): Promise<void> {
  const rewriter = new Rewriter(ctx, { from: EMPTY_FROM, outer, aliases: new Map(), lambda: new Set() });
  if (modifier.limit) modifier.limit = await rewriter.plain(modifier.limit);
  if (modifier.offset) modifier.offset = await rewriter.plain(modifier.offset);
}

const isUnnest = (e: Expr) => e.class === 'FUNCTION' && e.function_name.toLowerCase() === 'unnest';

function hasAggregate(expr: Expr): boolean {
  return someExpr(expr, e => e.class === 'FUNCTION' && AGGREGATES.has(e.function_name.toLowerCase()));
}

/** The position of the item that a bare name in ORDER BY means. */
function orderedItem(expr: Expr, items: readonly Item[]): number | undefined {
  if (expr.class !== 'COLUMN_REF' || expr.column_names.length !== 1) return undefined;
  const name = expr.column_names[0].toLowerCase();
  const at = items.findIndex(i => i.original?.alias.toLowerCase() === name);
  return at < 0 ? undefined : at + 1;
}

/** Makes the names of items differ: value, value_1. */
function uniqueNames(items: readonly Item[]): void {
  const taken = new Set(items.map(i => i.name.toLowerCase()));
  const seen = new Set<string>();
  for (const item of items) {
    if (item.name === '') continue;
    if (seen.has(item.name.toLowerCase())) {
      let n = 1;
      while (taken.has(`${item.name}_${n}`.toLowerCase())) n++;
      item.name = `${item.name}_${n}`;
      taken.add(item.name.toLowerCase());
    }
    seen.add(item.name.toLowerCase());
  }
}
