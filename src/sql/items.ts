/** The SELECT list: stars spelled out, every item rewritten and named as the engine would name it. */

import { sqlTypeText } from '../types.js';
import { cloneTree, columnRef, type Expr, emptyTable, type StarExpr, selectNode, someExpr, statement, treeText } from './ast.js';
import { type Context, didYouMean } from './output.js';
import { type From, type RelationColumn, resolveName } from './relations.js';
import type { Rewriter } from './rewrite.js';
import type { Rewritten } from './rewritten.js';
import { nearest } from './suggest.js';
import { splitStatements } from './text.js';

/** An item of a SELECT list after stars were expanded. */
export interface Item {
  /** as written, for aliases and GROUP BY; undefined for a column of a star */
  readonly original: Expr | undefined;
  readonly done: Rewritten;
  name: string;
}

/** The SELECT list, stars expanded and rewritten. */
export async function selectItems(ctx: Context, list: readonly Expr[], rewriter: Rewriter, from: From): Promise<Item[]> {
  const items: Item[] = [];
  const unnamed: { readonly item: Item; readonly original: Expr }[] = [];
  for (const expr of list) {
    if (isPlainStar(expr)) {
      if (!(await star(ctx, expr, rewriter, from, items)))
        items.push({ original: undefined, done: { kind: 'plain', expr, type: undefined }, name: '' });
      continue;
    }
    const original = cloneTree(expr);
    const hasStar = someExpr(expr, e => e.class === 'STAR');
    const done = await rewriter.rewrite(expr);
    const item: Item = { original, done, name: hasStar ? '' : expr.alias || original.alias };
    items.push(item);
    if (item.name !== '' || hasStar) continue;
    if (original.class === 'COLUMN_REF') {
      // as the table spells it
      item.name = done.column?.name ?? original.column_names[original.column_names.length - 1];
    } else unnamed.push({ item, original: { ...original, alias: '' } });
  }
  if (unnamed.length > 0) {
    const texts = await expressionTexts(
      ctx,
      unnamed.map(u => u.original),
    );
    unnamed.forEach((u, i) => void (u.item.name = texts[i]));
  }
  return items;
}

/** Each expression as the engine would name it. */
async function expressionTexts(ctx: Context, exprs: readonly Expr[]): Promise<readonly string[]> {
  const statements = exprs.map(e => statement(selectNode([e], emptyTable())));
  const text = await ctx.options.binder.deserialize(treeText({ error: false, statements }));
  const parts = splitStatements(text).map(s => s.text.trim().replace(/^SELECT /, ''));
  if (parts.length !== exprs.length) throw new Error('the engine gave back other expressions');
  return parts;
}

/** Expands `*` or `t.*` into items; false when the relation's columns are not all known. */
async function star(ctx: Context, star: StarExpr, rewriter: Rewriter, from: From, items: Item[]): Promise<boolean> {
  let columns: readonly RelationColumn[] = from.star;
  let relations = from.relations;
  if (star.relation_name !== '') {
    const wanted = star.relation_name.toLowerCase();
    const relation = from.relations.find(r => r.alias.toLowerCase() === wanted);
    if (relation === undefined) {
      // value.*: the fields of a column
      const found = resolveName([star.relation_name], { from, outer: undefined, aliases: new Map(), lambda: new Set() });
      if (found.kind === 'column') return fieldStar(ctx, found.column, items);
      const near = nearest(
        star.relation_name,
        from.relations.map(r => r.alias),
      );
      throw ctx.places.error('UNKNOWN_TABLE', `there is no table "${star.relation_name}" in FROM`, star, near && `did you mean ${near}?`);
    }
    columns = relation.columns;
    relations = [relation];
  } else if (from.relations.length === 0) throw ctx.places.error('SQL_SYNTAX', '* without a FROM', star);
  if (relations.some(r => !r.complete)) {
    for (const r of relations) r.exposeAll();
    if (star.relation_name !== '') star.relation_name = relations[0].physical;
    return false;
  }
  const excluded = new Set(star.exclude_list.map(n => n.toLowerCase()));
  for (const q of star.qualified_exclude_list ?? []) excluded.add((q.table === '' ? q.column : `${q.table}.${q.column}`).toLowerCase());
  const replaced = new Map(star.replace_list.map(r => [r.key.toLowerCase(), r.value]));
  const renames = new Map((star.rename_list ?? []).map(r => [r.key.column.toLowerCase(), r.value]));
  for (const name of [...excluded, ...replaced.keys(), ...renames.keys()]) {
    const plain = name.includes('.') ? name.slice(name.indexOf('.') + 1) : name;
    if (!columns.some(c => c.name.toLowerCase() === name || c.name.toLowerCase() === plain))
      throw ctx.places.error(
        'UNKNOWN_COLUMN',
        `there is no column "${name}" to exclude, replace or rename`,
        star,
        didYouMean(
          name,
          columns.map(c => c.name),
        ),
      );
  }
  for (const column of columns) {
    const lower = column.name.toLowerCase();
    const owner = relations.find(r => r.columns.includes(column));
    if (excluded.has(lower) || excluded.has(`${owner?.alias.toLowerCase()}.${lower}`)) continue;
    const replacement = replaced.get(lower);
    if (replacement !== undefined) {
      const original = cloneTree(replacement);
      items.push({ original, done: await rewriter.rewrite(replacement), name: column.name });
      continue;
    }
    const done: Rewritten = column.mixed
      ? { kind: 'mixed', json: () => column.ref(), text: () => column.text(), name: column.name, at: star, column }
      : { kind: 'plain', expr: column.ref(), type: await column.type(), column };
    items.push({ original: undefined, done, name: renames.get(lower) ?? column.name });
  }
  return true;
}

async function fieldStar(ctx: Context, column: RelationColumn, items: Item[]): Promise<boolean> {
  const type = await column.type();
  const ref = column.ref();
  if (type?.kind !== 'STRUCT' || ref.class !== 'COLUMN_REF')
    throw ctx.places.error(
      'SQL_ERROR',
      `${column.name}.* needs a STRUCT, and ${column.name} is ${column.mixed ? 'of several types' : type === undefined ? 'none' : sqlTypeText(type)}`,
    );
  for (const field of type.fields) {
    const path = columnRef(...ref.column_names, field.name);
    items.push({ original: undefined, done: { kind: 'plain', expr: path, type: field.type }, name: field.name });
  }
  return true;
}

/** `*` and `t.*` as a SELECT item; not COLUMNS(…) and not inside of an expression. */
export function isPlainStar(expr: Expr): expr is StarExpr {
  return expr.class === 'STAR' && !expr.columns && expr.expr === null;
}
