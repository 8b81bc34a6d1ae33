/**
 * Joins: conditions as filters where they act as such, USING and NATURAL as conditions over columns that stand once.
 *
 *   filter over   WHERE   both sides (a condition that rejects NULL passes the side that an outer join fills)
 *                 ON      INNER, SEMI: both sides    LEFT, ANTI: the right one    RIGHT: the left one    FULL: none
 *   nothing passes a POSITIONAL join, nor the right side of an ASOF join
 */
import { VARCHAR } from '../types.js';
import { cast, columnRef, type Expr, type JoinTable, type TableRef } from './ast.js';
import { resolveFrom } from './from.js';
import { type Context, type CteEnv, didYouMean, once } from './output.js';
import { applyFilter, conjunctsOf, filtersOf } from './pushdown.js';
import {
  type ColumnFinder,
  columnFinder,
  type From,
  nullable,
  type RelationColumn,
  resolveName,
  type Scope,
  withoutLineage,
} from './relations.js';
import { Rewriter } from './rewrite.js';
import type { Rewritten } from './rewritten.js';

export async function resolveJoin(
  ctx: Context,
  node: JoinTable,
  outer: Scope | undefined,
  env: CteEnv,
  conditions: readonly Expr[],
): Promise<{ node: TableRef; from: From }> {
  const inner = node.join_type === 'INNER' && node.ref_type !== 'ASOF' && node.ref_type !== 'POSITIONAL';
  const on = conjunctsOf(node.condition);
  const type = node.join_type;
  const fixed = node.ref_type === 'POSITIONAL' || node.ref_type === 'ASOF';
  const onLeft = !fixed && (inner || type === 'RIGHT' || type === 'SEMI') ? on : [];
  const onRight = !fixed && (inner || type === 'LEFT' || type === 'SEMI' || type === 'ANTI') ? on : [];
  const left = await resolveFrom(ctx, node.left, outer, env, node.ref_type === 'POSITIONAL' ? [] : [...conditions, ...onLeft]);
  // the right side may refer to the left one
  const lateral: Scope = { from: left.from, outer, aliases: new Map(), lambda: new Set() };
  const right = await resolveFrom(ctx, node.right, lateral, env, fixed ? [] : [...conditions, ...onRight]);
  node.left = left.node;
  node.right = right.node;

  const leftNullable = type === 'RIGHT' || type === 'OUTER' || type === 'FULL';
  const rightNullable = type === 'LEFT' || type === 'OUTER' || type === 'FULL';
  let leftFrom = leftNullable ? nullable(left.from) : left.from;
  let rightFrom = rightNullable ? nullable(right.from) : right.from;
  if (node.ref_type === 'POSITIONAL') leftFrom = withoutLineage(leftFrom);
  if (fixed) rightFrom = withoutLineage(rightFrom);

  const both: From = joined(leftFrom, rightFrom, new Map());
  const scope: Scope = { from: both, outer, aliases: new Map(), lambda: new Set() };
  const rewriter = new Rewriter(ctx, scope);
  // conditions of ON, as filters on the sides where they act as such
  for (const [side, list] of [
    [left.from, onLeft],
    [right.from, onRight],
  ] as const) {
    const find = columnFinder(scope);
    const own = new Set(side.relations.flatMap(r => r.columns));
    const raw = columnFinder({ ...scope, from: side });
    for (const conjunct of list) {
      const column: ColumnFinder = e => (find(e) === undefined ? undefined : ownColumn(raw(e), own));
      for (const filter of await filtersOf(conjunct, column, ctx.literal, ctx.typing)) applyFilter(filter);
    }
  }
  if (node.condition) node.condition = await rewriter.plain(node.condition);

  let using = node.using_columns;
  if (node.ref_type === 'NATURAL') {
    using = left.from.star.map(c => c.name).filter(n => right.from.star.some(c => c.name.toLowerCase() === n.toLowerCase()));
    if (using.length === 0) throw ctx.places.error('SQL_ERROR', 'NATURAL JOIN of tables without a common column', node);
    node.ref_type = 'REGULAR';
  }
  const merged = new Map<string, RelationColumn>();
  if (using.length > 0) {
    const parts: Expr[] = [];
    for (const [i, name] of using.entries()) {
      const l = usingColumn(ctx, name, leftFrom, node, 'left');
      const r = usingColumn(ctx, name, rightFrom, node, 'right');
      const last = node.ref_type === 'ASOF' && i === using.length - 1;
      parts.push(
        await rewriter.comparisons.compared(
          last ? 'COMPARE_GREATERTHANOREQUALTO' : 'COMPARE_EQUAL',
          asRewritten(l, node),
          asRewritten(r, node),
          columnRef(name),
        ),
      );
      if (type === 'SEMI' || type === 'ANTI') continue;
      merged.set(
        name.toLowerCase(),
        type === 'RIGHT' ? { ...r, name: l.name } : type === 'OUTER' || type === 'FULL' ? coalesced(ctx, l, r) : l,
      );
    }
    node.condition = parts.length === 1 ? parts[0] : { class: 'CONJUNCTION', type: 'CONJUNCTION_AND', alias: '', children: parts };
    node.using_columns = [];
  }
  if (type === 'SEMI' || type === 'ANTI') return { node, from: leftFrom };
  return { node, from: joined(leftFrom, rightFrom, merged) };
}

function usingColumn(ctx: Context, name: string, from: From, node: JoinTable, side: string): RelationColumn {
  const found = resolveName([name], { from, outer: undefined, aliases: new Map(), lambda: new Set() });
  if (found.kind === 'column') return found.column;
  const names = from.relations.flatMap(r => r.columns.map(c => c.name));
  throw ctx.places.error('UNKNOWN_COLUMN', `USING (${name}): the ${side} side has no such column`, node, didYouMean(name, names));
}

/** A column that FULL JOIN USING makes of both sides. */
function coalesced(ctx: Context, l: RelationColumn, r: RelationColumn): RelationColumn {
  const both = (a: Expr, b: Expr): Expr => ({ class: 'OPERATOR', type: 'OPERATOR_COALESCE', alias: '', children: [a, b] });
  const mixed = l.mixed && r.mixed;
  const asText = l.mixed !== r.mixed;
  const textOf = (c: RelationColumn) => (c.mixed ? c.text() : cast(c.ref(), 'VARCHAR'));
  return {
    name: l.name,
    mixed,
    ref: () => (asText ? both(textOf(l), textOf(r)) : both(l.ref(), r.ref())),
    text: () => both(l.text(), r.text()),
    type: once(async () => (asText ? VARCHAR : ctx.typing.unify([await l.type(), await r.type()]))),
    lineage: [],
  };
}

const asRewritten = (c: RelationColumn, at: JoinTable): Rewritten =>
  c.mixed
    ? { kind: 'mixed', json: () => c.ref(), text: () => c.text(), name: c.name, at, column: c }
    : { kind: 'plain', expr: c.ref(), type: undefined };

const ownColumn = (column: RelationColumn | undefined, own: ReadonlySet<RelationColumn>) =>
  column !== undefined && own.has(column) ? column : undefined;

/** Both sides of a join; merged columns stand once, in the left side's place. */
function joined(left: From, right: From, merged: ReadonlyMap<string, RelationColumn>): From {
  const isMerged = (c: RelationColumn) => merged.has(c.name.toLowerCase());
  return {
    relations: [...left.relations, ...right.relations],
    star: [...left.star.map(c => (isMerged(c) ? merged.get(c.name.toLowerCase())! : c)), ...right.star.filter(c => !isMerged(c))],
    merged: new Map([...left.merged, ...right.merged, ...merged]),
  };
}
