/**
 * Query nodes and FROM: what every name stands for, every table a scan, every expression rewritten (rewrite.ts), every
 * filter offered to the scans behind it (pushdown.ts). Works on the guarded tree in place.
 *
 * The result of a query node is its columns, each with a name of its own, the way to its type, and its lineage where a
 * filter on it may pass down.
 */
import type { BoundColumn, Catalog } from '../tables/table.js';
import { type SqlType, sqlTypeText, VARCHAR } from '../types.js';
import {
  type BaseTable,
  type CteMap,
  call,
  cast,
  cloneTree,
  columnRef,
  constant,
  document,
  type Expr,
  eachChild,
  emptyTable,
  type FunctionTable,
  type JoinTable,
  type Modifier,
  nullConstant,
  operator,
  type QueryNode,
  type SelectNode,
  type SetOperationNode,
  type ShowTable,
  type StarExpr,
  type SubqueryExpr,
  selectNode,
  someExpr,
  statement,
  subqueryTable,
  type TableRef,
  textConstant,
  treeText,
  type ValuesTable,
} from './ast.js';
import { AGGREGATES } from './functions.js';
import type { Places } from './guard.js';
import { lookUpTable } from './lookup.js';
import { applyFilter, type ColumnFinder, conjunctsOf, filtersOf, restrictionsOf } from './pushdown.js';
import {
  type CteUse,
  EMPTY_FROM,
  type From,
  type Lineage,
  physicalRef,
  type Relation,
  type RelationColumn,
  resolveName,
  type Scope,
  type SelectAlias,
} from './relations.js';
import { type Analysis, jsonText, Rewriter, type Rewritten } from './rewrite.js';
import { finishScans, ScanUse } from './scan-use.js';
import { nearest } from './suggest.js';
import { splitStatements } from './text.js';
import { astOfType, type Binder, type Literal, literalOf, Typing } from './typing.js';

export interface ResolveOptions {
  /** by alias, in the order given; an alias of its own for a single snapshot */
  readonly snapshots: ReadonlyMap<string, Catalog>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly binder: Binder;
  readonly places: Places;
  /** the table function that scans are made of, and a number for the next of them */
  readonly scanFunction: string;
  nextScanId(): number;
}

/** An output column of a query node. */
interface OutputColumn {
  readonly name: string;
  readonly mixed: boolean;
  type(): Promise<SqlType | undefined>;
  readonly lineage: readonly Lineage[];
}
interface Output {
  readonly columns: readonly OutputColumn[];
  /** false: the list is not known; the engine expands it */
  readonly complete: boolean;
  /** turns a column into text, for set operations over different types */
  asText(index: number): Promise<void>;
}

interface CommonTableEntry {
  readonly output: Output;
  readonly use: CteUse;
}
interface CteEnv {
  readonly items: ReadonlyMap<string, CommonTableEntry>;
}

/** An item of a SELECT list after stars were expanded. */
interface Item {
  /** as written, for aliases and GROUP BY; undefined for a column of a star */
  readonly original: Expr | undefined;
  readonly done: Rewritten;
  name: string;
}

/** Rewrites a statement's tree in place; gives its scans and its columns' flags. */
export async function resolveStatement(
  node: QueryNode,
  options: ResolveOptions,
): Promise<{ readonly scans: readonly ScanUse[]; readonly usedParameters: ReadonlySet<string> }> {
  const resolver = new Resolver(options);
  await resolver.query(node, undefined, { items: new Map() });
  finishScans(node, new Map(resolver.scans.map(s => [s.id, s])), options.scanFunction);
  return { scans: resolver.scans, usedParameters: resolver.usedParameters };
}

class Resolver implements Analysis {
  readonly scans: ScanUse[] = [];
  readonly typing: Typing;
  readonly places: Places;
  readonly parameters: ReadonlyMap<string, string>;
  readonly usedParameters = new Set<string>();
  readonly lambdaTypes = new Map<string, SqlType | undefined>();
  private readonly aliases = new Set<string>();
  /** physical alias → physical column → type */
  private readonly physical = new Map<string, Map<string, () => Promise<SqlType | undefined>>>();
  private readonly subqueryColumns = new WeakMap<SubqueryExpr, readonly OutputColumn[]>();
  private readonly probes = new Map<string, Promise<SqlType | undefined>>();

  constructor(private readonly options: ResolveOptions) {
    this.typing = new Typing(options.binder);
    this.places = options.places;
    this.parameters = options.parameters;
  }

  // Query nodes.

  async query(node: QueryNode, outer: Scope | undefined, env: CteEnv): Promise<Output> {
    const inner = await this.withItems(node.cte_map, outer, env);
    switch (node.type) {
      case 'SELECT_NODE':
        return this.select(node, outer, inner);
      case 'SET_OPERATION_NODE':
        return this.setOperation(node, outer, inner);
      case 'RECURSIVE_CTE_NODE':
        throw this.places.error('REFUSED', 'WITH RECURSIVE in this place is refused');
    }
  }

  private async withItems(map: CteMap, outer: Scope | undefined, env: CteEnv): Promise<CteEnv> {
    let current = env;
    for (const { key, value } of map.map) {
      const query = value.query.node;
      const items = new Map(current.items);
      const use: CteUse = { references: 0 };
      const output =
        query.type === 'RECURSIVE_CTE_NODE'
          ? await this.recursive(query, value.aliases, outer, current)
          : await this.query(query, outer, current);
      items.set(key.toLowerCase(), { output: renamed(output, value.aliases), use });
      current = { items };
    }
    return current;
  }

  private async recursive(
    node: QueryNode & { type: 'RECURSIVE_CTE_NODE' },
    names: readonly string[],
    outer: Scope | undefined,
    env: CteEnv,
  ): Promise<Output> {
    const inner = await this.withItems(node.cte_map, outer, env);
    const left = await this.query(node.left, outer, inner);
    for (let i = 0; i < left.columns.length; i++) if (left.columns[i].mixed) await left.asText(i);
    const columns = left.columns.map(c => plainColumn(c.name, c.mixed ? async () => VARCHAR : c.type));
    const output: Output = { columns, complete: left.complete, asText: async () => {} };
    const items = new Map(inner.items);
    items.set(node.cte_name.toLowerCase(), { output: renamed(output, names), use: { references: 2 } });
    const right = await this.query(node.right, outer, { items });
    for (let i = 0; i < right.columns.length; i++) if (right.columns[i].mixed) await right.asText(i);
    await this.modifiersOfUnion(node.modifiers, output);
    return output;
  }

  private async setOperation(node: SetOperationNode, outer: Scope | undefined, env: CteEnv): Promise<Output> {
    const left = await this.query(node.left, outer, env);
    const right = await this.query(node.right, outer, env);
    const byName = node.setop_type === 'UNION_BY_NAME';
    const columns: OutputColumn[] = [];
    for (let i = 0; i < left.columns.length; i++) {
      const a = left.columns[i];
      const at = byName ? right.columns.findIndex(c => c.name.toLowerCase() === a.name.toLowerCase()) : i;
      const b = right.columns[at];
      if (b === undefined) columns.push({ ...a, lineage: [] });
      else columns.push(await this.united(left, i, right, at));
    }
    if (byName) {
      const missing = right.columns.filter(b => !left.columns.some(a => a.name.toLowerCase() === b.name.toLowerCase()));
      columns.push(...missing.map(c => ({ ...c, lineage: [] })));
    }
    const output: Output = {
      columns,
      complete: left.complete && right.complete,
      asText: async index => {
        await left.asText(index);
        const at = byName ? right.columns.findIndex(c => c.name.toLowerCase() === columns[index].name.toLowerCase()) : index;
        if (at >= 0) await right.asText(at);
      },
    };
    const cut = await this.modifiersOfUnion(node.modifiers, output);
    return cut ? { ...output, columns: columns.map(c => ({ ...c, lineage: [] })) } : output;
  }

  /** One column of a set operation: mixed if both are, text if one is. */
  private async united(left: Output, i: number, right: Output, k: number): Promise<OutputColumn> {
    const a = left.columns[i];
    const b = right.columns[k];
    const name = a.name;
    const lineage = a.lineage.length > 0 && b.lineage.length > 0 ? [...a.lineage, ...b.lineage] : [];
    if (a.mixed && b.mixed) return { name, mixed: true, type: async () => undefined, lineage };
    if (a.mixed || b.mixed) {
      await left.asText(i);
      await right.asText(k);
      return plainColumn(name, async () => VARCHAR);
    }
    const type = once(async () => this.typing.unify([await a.type(), await b.type()]));
    if (lineage.length === 0) return { name, mixed: false, type, lineage };
    const [ta, tb] = [await a.type(), await b.type()];
    const equal = ta !== undefined && tb !== undefined && sqlTypeText(ta) === sqlTypeText(tb);
    return { name, mixed: false, type, lineage: equal ? lineage : [] };
  }

  /** ORDER BY and LIMIT of a set operation; true when rows are cut. */
  private async modifiersOfUnion(modifiers: readonly Modifier[], output: Output): Promise<boolean> {
    let cut = false;
    for (const modifier of modifiers) {
      if (modifier.type === 'ORDER_MODIFIER') {
        for (const order of modifier.orders) {
          const index = outputIndex(order.expression, output.columns);
          if (index !== undefined) {
            if (output.columns[index].mixed) throw this.orderRefused(order.expression, output.columns[index].name);
            order.expression = constant('INTEGER', index + 1);
          }
        }
      } else if (modifier.type === 'LIMIT_MODIFIER' || modifier.type === 'LIMIT_PERCENT_MODIFIER') {
        cut = true;
        await this.limitExprs(modifier, undefined);
      }
    }
    return cut;
  }

  private orderRefused(at: Expr, name: string): Error {
    return this.places.error(
      'REFUSED',
      `ORDER BY on ${name}, which has several types here`,
      at,
      `add state_name = '…' so that one type is left, or cast: ORDER BY TRY_CAST(${name} AS BIGINT)`,
    );
  }

  private async limitExprs(modifier: Modifier & { limit: Expr | null; offset: Expr | null }, outer: Scope | undefined): Promise<void> {
    const rewriter = new Rewriter(this, { from: EMPTY_FROM, outer, aliases: new Map(), lambda: new Set() });
    if (modifier.limit) modifier.limit = await rewriter.plain(modifier.limit);
    if (modifier.offset) modifier.offset = await rewriter.plain(modifier.offset);
  }

  private async select(node: SelectNode, outer: Scope | undefined, env: CteEnv): Promise<Output> {
    const where = conjunctsOf(node.where_clause);
    // COLUMNS(…) sees every column there is: the text of mixed ones must not be among them
    const hidden = this.textFromJson;
    this.textFromJson = node.select_list.some(e => !isPlainStar(e) && someExpr(e, x => x.class === 'STAR'));
    const placed = await this.from(node.from_table, outer, env, node.sample === null ? where : []);
    const from = node.sample === null ? placed.from : withoutLineage(placed.from);
    node.from_table = placed.node;
    this.textFromJson = hidden;

    const aliases = new Map<string, SelectAlias>();
    for (const e of node.select_list) {
      if (e.alias !== '' && e.class !== 'STAR') aliases.set(e.alias.toLowerCase(), { name: e.alias, original: cloneTree(e) });
    }
    const scope: Scope = { from, outer, aliases, lambda: new Set() };
    this.currentEnv.push(env);
    try {
      return await this.selectIn(node, scope, where);
    } finally {
      this.currentEnv.pop();
    }
  }

  private readonly currentEnv: CteEnv[] = [];
  private textFromJson = false;

  private async selectIn(node: SelectNode, scope: Scope, where: readonly Expr[]): Promise<Output> {
    const { from, outer } = scope;
    const rewriter = new Rewriter(this, scope);
    // filters are read off what the user wrote, before it is rewritten
    const find = this.finder(scope);
    for (const conjunct of where) {
      for (const filter of await filtersOf(conjunct, find, this.literal, this.typing)) applyFilter(filter);
    }

    const opaque = node.select_list.some(e => !isPlainStar(e) && someExpr(e, x => x.class === 'STAR'));
    if (opaque) for (const r of from.relations) r.exposeAll();
    const items = await this.items(node.select_list, rewriter, from);

    const aggregated =
      node.aggregate_handling === 'FORCE_AGGREGATES' ||
      node.group_expressions.length > 0 ||
      node.having !== null ||
      items.some(i => i.original !== undefined && hasAggregate(i.original));
    if (node.where_clause) node.where_clause = await rewriter.plain(node.where_clause);
    const groups = await this.groupBy(node, items, rewriter);
    if (node.having) node.having = await rewriter.plain(node.having);
    if (node.qualify) node.qualify = await rewriter.plain(node.qualify);

    const list = items.map(item => this.outputExpr(item, groups));
    uniqueNames(items);
    const cut = await this.modifiers(node, items, new Rewriter(this, scope, true), scope);
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
        type: once(async () => (done.kind === 'mixed' ? undefined : (done.type ?? (await this.typeOf(node.select_list[i]))))),
        lineage: passes && kept && column !== undefined ? column.lineage : [],
      };
    });
    if (!aggregated && !windows && !unnests && node.qualify === null && node.sample === null && where.length === 0) {
      this.offerLimit(node, from, outer);
    }
    return {
      columns,
      complete: !opaque,
      asText: async index => {
        const { done } = items[index];
        const expr = done.kind === 'mixed' ? done.text() : await new Rewriter(this, scope).asText(done, node.select_list[index]);
        expr.alias = items[index].name;
        node.select_list[index] = expr;
      },
    };
  }

  private readonly literal = (expr: Expr): Literal | undefined => {
    if (expr.class !== 'PARAMETER') return literalOf(expr);
    const value = this.parameters.get(expr.identifier.toLowerCase());
    return value === undefined ? undefined : { kind: 'string', value };
  };

  /** Columns that a condition names, of this FROM only. */
  private finder(scope: Scope): ColumnFinder {
    const own: Scope = { ...scope, outer: undefined, aliases: new Map() };
    return expr => {
      if (expr.class !== 'COLUMN_REF') return undefined;
      const found = resolveName(expr.column_names, own);
      return found.kind === 'column' && found.path.length === 0 ? found.column : undefined;
    };
  }

  /** The SELECT list, stars expanded and rewritten. */
  private async items(list: readonly Expr[], rewriter: Rewriter, from: From): Promise<Item[]> {
    const items: Item[] = [];
    const unnamed: { readonly item: Item; readonly original: Expr }[] = [];
    for (const expr of list) {
      if (isPlainStar(expr)) {
        if (!(await this.star(expr, rewriter, from, items)))
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
        const column = done.kind === 'mixed' ? done.column?.name : undefined;
        item.name = column ?? (await this.columnName(original.column_names, done));
      } else unnamed.push({ item, original: { ...original, alias: '' } });
    }
    if (unnamed.length > 0) {
      const texts = await this.expressionTexts(unnamed.map(u => u.original));
      unnamed.forEach((u, i) => void (u.item.name = texts[i]));
    }
    return items;
  }

  private async columnName(names: readonly string[], done: Rewritten): Promise<string> {
    const last = names[names.length - 1];
    // the name as the table spells it
    if (done.kind === 'plain' && done.expr.class === 'COLUMN_REF') {
      const [alias, column, ...path] = done.expr.column_names;
      if (path.length === 0 && column?.toLowerCase() === last.toLowerCase() && this.physical.has(alias)) return column;
    }
    return last;
  }

  /** Each expression as the engine would name it. */
  private async expressionTexts(exprs: readonly Expr[]): Promise<readonly string[]> {
    const statements = exprs.map(e => statement(selectNode([e], emptyTable())));
    const text = await this.options.binder.deserialize(treeText({ error: false, statements }));
    const parts = splitStatements(text).map(s => s.text.trim().replace(/^SELECT /, ''));
    if (parts.length !== exprs.length) throw new Error('the engine gave back other expressions');
    return parts;
  }

  /** Expands `*` or `t.*` into items; false when the relation's columns are not all known. */
  private async star(star: StarExpr, rewriter: Rewriter, from: From, items: Item[]): Promise<boolean> {
    let columns: readonly RelationColumn[] = from.star;
    let relations = from.relations;
    if (star.relation_name !== '') {
      const wanted = star.relation_name.toLowerCase();
      const relation = from.relations.find(r => r.alias.toLowerCase() === wanted);
      if (relation === undefined) {
        // value.*: the fields of a column
        const found = resolveName([star.relation_name], { from, outer: undefined, aliases: new Map(), lambda: new Set() });
        if (found.kind === 'column') return this.fieldStar(found.column, items);
        const near = nearest(
          star.relation_name,
          from.relations.map(r => r.alias),
        );
        throw this.places.error(
          'UNKNOWN_TABLE',
          `there is no table "${star.relation_name}" in FROM`,
          star,
          near && `did you mean ${near}?`,
        );
      }
      columns = relation.columns;
      relations = [relation];
    } else if (from.relations.length === 0) throw this.places.error('SQL_SYNTAX', '* without a FROM', star);
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
        throw this.places.error(
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

  private async fieldStar(column: RelationColumn, items: Item[]): Promise<boolean> {
    const type = await column.type();
    const ref = column.ref();
    if (type?.kind !== 'STRUCT' || ref.class !== 'COLUMN_REF')
      throw this.places.error(
        'SQL_ERROR',
        `${column.name}.* needs a STRUCT, and ${column.name} is ${column.mixed ? 'of several types' : type === undefined ? 'none' : sqlTypeText(type)}`,
      );
    for (const field of type.fields) {
      const path = columnRef(...ref.column_names, field.name);
      items.push({ original: undefined, done: { kind: 'plain', expr: path, type: field.type }, name: field.name });
    }
    return true;
  }

  /** What stands in the SELECT list: JSON for mixed items, the least of the group's where only the text is grouped. */
  private outputExpr(item: Item, groups: readonly Group[]): Expr {
    const { done } = item;
    if (done.kind === 'plain') return done.expr;
    if (groups.every(g => g.text === undefined)) return done.json();
    const text = treeText(done.text());
    return groups.some(g => g.text === text) ? call('min', done.json()) : done.json();
  }

  private async groupBy(node: SelectNode, items: readonly Item[], rewriter: Rewriter): Promise<readonly Group[]> {
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
      const named = ordinal === undefined ? this.itemNamed(expr, items, rewriter) : undefined;
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
      const column = done.kind === 'mixed' ? done.column : this.finder(rewriter.scope)(expr);
      groups.push({ text: done.kind === 'mixed' ? treeText(done.text()) : undefined, column });
    }
    return groups;
  }

  /** The item that a bare name means where no column of FROM has that name. */
  private itemNamed(expr: Expr, items: readonly Item[], rewriter: Rewriter): Item | undefined {
    if (expr.class !== 'COLUMN_REF' || expr.column_names.length !== 1) return undefined;
    if (this.finder(rewriter.scope)(expr) !== undefined) return undefined;
    const name = expr.column_names[0].toLowerCase();
    return items.find(i => i.original !== undefined && i.original.alias.toLowerCase() === name);
  }

  /** DISTINCT, ORDER BY, LIMIT; true when rows are cut or chosen. */
  private async modifiers(node: SelectNode, items: readonly Item[], rewriter: Rewriter, scope: Scope): Promise<boolean> {
    let cut = false;
    for (const modifier of node.modifiers) {
      switch (modifier.type) {
        case 'ORDER_MODIFIER':
          for (const order of modifier.orders) {
            const { expression } = order;
            if (expression.class === 'STAR') {
              const mixed = items.find(i => i.done.kind === 'mixed');
              if (mixed !== undefined) throw this.orderRefused(expression, mixed.name);
              continue;
            }
            const index = ordinalOf(expression) ?? orderedItem(expression, items);
            const item = index === undefined ? undefined : items[index - 1];
            if (item !== undefined) {
              if (item.done.kind === 'mixed') throw this.orderRefused(expression, item.name);
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
          await this.limitExprs(modifier, scope.outer);
      }
    }
    return cut;
  }

  /** LIMIT for a scan whose rows all come through: filters are the engine's to apply, so none may stand in between. */
  private offerLimit(node: SelectNode, from: From, outer: Scope | undefined): void {
    const [relation] = from.relations;
    if (from.relations.length !== 1 || outer !== undefined) return;
    const scan = this.scans.find(s => s.alias === relation.physical && s.node === node.from_table);
    if (scan === undefined || node.modifiers.length !== 1) return;
    const [modifier] = node.modifiers;
    if (modifier.type !== 'LIMIT_MODIFIER' || modifier.limit === null) return;
    const limit = literalOf(modifier.limit);
    const offset = modifier.offset === null ? { kind: 'integer' as const, value: 0n } : literalOf(modifier.offset);
    if (limit?.kind !== 'integer' || offset?.kind !== 'integer' || limit.value < 0n || offset.value < 0n) return;
    const rows = limit.value + offset.value;
    if (rows < 1n << 50n) scan.limit = Number(rows);
  }

  // FROM.

  private async from(
    node: TableRef,
    outer: Scope | undefined,
    env: CteEnv,
    conditions: readonly Expr[],
  ): Promise<{ node: TableRef; from: From }> {
    const placed = await this.tableRef(node, outer, env, node.sample === null ? conditions : []);
    return node.sample === null ? placed : { node: { ...placed.node, sample: node.sample }, from: withoutLineage(placed.from) };
  }

  private async tableRef(
    node: TableRef,
    outer: Scope | undefined,
    env: CteEnv,
    conditions: readonly Expr[],
  ): Promise<{ node: TableRef; from: From }> {
    switch (node.type) {
      case 'EMPTY':
        return { node, from: EMPTY_FROM };
      case 'BASE_TABLE':
        return this.baseTable(node, env, conditions);
      case 'SUBQUERY': {
        const output = await this.query(node.subquery.node, outer, env);
        const alias = node.alias;
        const physical = this.unique(alias || 'unnamed_subquery');
        const named = renamed(output, node.column_name_alias);
        const relation = this.relation(alias || 'unnamed_subquery', undefined, physical, named, []);
        return { node: { ...node, alias: physical }, from: single(relation) };
      }
      case 'JOIN':
        return this.join(node, outer, env, conditions);
      case 'TABLE_FUNCTION':
        return this.tableFunction(node, outer);
      case 'EXPRESSION_LIST':
        return this.values(node, outer);
      case 'SHOW_REF':
        return this.show(node, outer, env);
    }
  }

  private unique(alias: string): string {
    let name = alias;
    for (let i = 1; this.aliases.has(name.toLowerCase()); i++) name = `${alias}_${i}`;
    this.aliases.add(name.toLowerCase());
    return name;
  }

  /** A relation over a query's columns, as a subquery or a WITH item. */
  private relation(alias: string, snapshot: string | undefined, physical: string, output: Output, through: readonly CteUse[]): Relation {
    const types = new Map<string, () => Promise<SqlType | undefined>>();
    this.physical.set(physical, types);
    const columns = output.columns.map((c): RelationColumn => {
      const type = c.mixed ? async (): Promise<SqlType> => ({ kind: 'JSON' }) : c.type;
      types.set(c.name, type);
      const ref = () => physicalRef(physical, c.name);
      const lineage = c.lineage.map(l => ({ ...l, through: [...l.through, ...through] }));
      return { name: c.name, mixed: c.mixed, ref, text: () => jsonText(ref), type: c.type, lineage };
    });
    return { alias, snapshot, physical, columns, complete: output.complete, exposeAll: () => {} };
  }

  private async baseTable(node: BaseTable, env: CteEnv, conditions: readonly Expr[]): Promise<{ node: TableRef; from: From }> {
    const cte = node.schema_name === '' && node.catalog_name === '' ? env.items.get(node.table_name.toLowerCase()) : undefined;
    const alias = node.alias || node.table_name;
    const physical = this.unique(alias);
    if (cte !== undefined) {
      cte.use.references++;
      const relation = this.relation(alias, undefined, physical, renamed(cte.output, node.column_name_alias), [cte.use]);
      return { node: { ...node, alias: physical }, from: single(relation) };
    }
    const { table, snapshot } = lookUpTable(node, this.options.snapshots, this.places);
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
    const bound = table.bind(restrictionsOf(conditions, mine, this.literal));
    const scan = new ScanUse(
      this.options.nextScanId(),
      snapshot,
      table.spec.name,
      physical,
      bound,
      restrictionsOf(conditions, mine, this.literal),
      this.options.scanFunction,
    );
    this.scans.push(scan);
    const types = new Map<string, () => Promise<SqlType | undefined>>();
    this.physical.set(physical, types);
    const columns = bound.columns.map((c, i) => scanColumn(scan, c, node.column_name_alias[i] ?? c.name, types, this.textFromJson));
    const relation: Relation = { alias, snapshot, physical, columns, complete: true, exposeAll: () => scan.exposeAll() };
    return { node: scan.node, from: single(relation) };
  }

  private async join(
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
    const left = await this.from(node.left, outer, env, node.ref_type === 'POSITIONAL' ? [] : [...conditions, ...onLeft]);
    // the right side may refer to the left one
    const lateral: Scope = { from: left.from, outer, aliases: new Map(), lambda: new Set() };
    const right = await this.from(node.right, lateral, env, fixed ? [] : [...conditions, ...onRight]);
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
    const rewriter = new Rewriter(this, scope);
    // conditions of ON, as filters on the sides where they act as such
    for (const [side, list] of [
      [left.from, onLeft],
      [right.from, onRight],
    ] as const) {
      const find = this.finder(scope);
      const own = new Set(side.relations.flatMap(r => r.columns));
      const raw = this.finder({ ...scope, from: side });
      for (const conjunct of list) {
        const column: ColumnFinder = e => (find(e) === undefined ? undefined : ownColumn(raw(e), own));
        for (const filter of await filtersOf(conjunct, column, this.literal, this.typing)) applyFilter(filter);
      }
    }
    if (node.condition) node.condition = await rewriter.plain(node.condition);

    let using = node.using_columns;
    if (node.ref_type === 'NATURAL') {
      using = left.from.star.map(c => c.name).filter(n => right.from.star.some(c => c.name.toLowerCase() === n.toLowerCase()));
      if (using.length === 0) throw this.places.error('SQL_ERROR', 'NATURAL JOIN of tables without a common column', node);
      node.ref_type = 'REGULAR';
    }
    const merged = new Map<string, RelationColumn>();
    if (using.length > 0) {
      const parts: Expr[] = [];
      for (const [i, name] of using.entries()) {
        const l = this.usingColumn(name, leftFrom, node, 'left');
        const r = this.usingColumn(name, rightFrom, node, 'right');
        const last = node.ref_type === 'ASOF' && i === using.length - 1;
        parts.push(
          await rewriter.compared(
            last ? 'COMPARE_GREATERTHANOREQUALTO' : 'COMPARE_EQUAL',
            asRewritten(l, node),
            asRewritten(r, node),
            columnRef(name),
          ),
        );
        if (type === 'SEMI' || type === 'ANTI') continue;
        merged.set(
          name.toLowerCase(),
          type === 'RIGHT' ? { ...r, name: l.name } : type === 'OUTER' || type === 'FULL' ? this.coalesced(l, r) : l,
        );
      }
      node.condition = parts.length === 1 ? parts[0] : { class: 'CONJUNCTION', type: 'CONJUNCTION_AND', alias: '', children: parts };
      node.using_columns = [];
    }
    if (type === 'SEMI' || type === 'ANTI') return { node, from: leftFrom };
    return { node, from: joined(leftFrom, rightFrom, merged) };
  }

  private usingColumn(name: string, from: From, node: JoinTable, side: string): RelationColumn {
    const found = resolveName([name], { from, outer: undefined, aliases: new Map(), lambda: new Set() });
    if (found.kind === 'column') return found.column;
    const names = from.relations.flatMap(r => r.columns.map(c => c.name));
    throw this.places.error('UNKNOWN_COLUMN', `USING (${name}): the ${side} side has no such column`, node, didYouMean(name, names));
  }

  /** A column that FULL JOIN USING makes of both sides. */
  private coalesced(l: RelationColumn, r: RelationColumn): RelationColumn {
    const both = (a: Expr, b: Expr): Expr => ({ class: 'OPERATOR', type: 'OPERATOR_COALESCE', alias: '', children: [a, b] });
    const mixed = l.mixed && r.mixed;
    const asText = l.mixed !== r.mixed;
    const textOf = (c: RelationColumn) => (c.mixed ? c.text() : cast(c.ref(), 'VARCHAR'));
    return {
      name: l.name,
      mixed,
      ref: () => (asText ? both(textOf(l), textOf(r)) : both(l.ref(), r.ref())),
      text: () => both(l.text(), r.text()),
      type: once(async () => (asText ? VARCHAR : this.typing.unify([await l.type(), await r.type()]))),
      lineage: [],
    };
  }

  private async tableFunction(node: FunctionTable, outer: Scope | undefined): Promise<{ node: TableRef; from: From }> {
    const name = node.function.function_name.toLowerCase();
    const rewriter = new Rewriter(this, { from: EMPTY_FROM, outer, aliases: new Map(), lambda: new Set() });
    for (let i = 0; i < node.function.children.length; i++) {
      const child = node.function.children[i];
      node.function.children[i] = name === 'json_each' ? await rewriter.json(child) : await rewriter.plain(child);
    }
    const constantArgs = !node.function.children.some(c => someExpr(c, e => e.class === 'COLUMN_REF' || e.class === 'SUBQUERY'));
    const alias = node.alias || name;
    const physical = this.unique(alias);
    let known: readonly { name: string; sql: SqlType | undefined }[] | undefined;
    if (constantArgs || name === 'json_each') {
      const probe = cloneTree(node);
      probe.alias = '';
      probe.column_name_alias = [];
      if (name === 'json_each') probe.function.children = [textConstant('{}')];
      known = await this.describeNode(selectNode([starExpr()], probe));
    } else if (name === 'unnest') {
      known = [{ name: 'unnest', sql: await this.typeOf(node.function) }];
      if (known[0].sql?.kind === 'STRUCT') known = undefined;
    } else known = [{ name, sql: { kind: 'BIGINT' } }];
    const output: Output = {
      columns: (known ?? []).map(c => plainColumn(c.name, async () => c.sql)),
      complete: known !== undefined,
      asText: async () => {},
    };
    const relation = this.relation(alias, undefined, physical, renamed(output, node.column_name_alias), []);
    return { node: { ...node, alias: physical }, from: single(relation) };
  }

  private async values(node: ValuesTable, outer: Scope | undefined): Promise<{ node: TableRef; from: From }> {
    const rewriter = new Rewriter(this, { from: EMPTY_FROM, outer, aliases: new Map(), lambda: new Set() });
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
          once(async () => this.typing.unify(await Promise.all(exprs.map(row => this.typeOf(row[i]))))),
        ),
      ),
      complete: true,
      asText: async () => {},
    };
    const alias = node.alias || 'valueslist';
    const physical = this.unique(alias);
    return { node: { ...node, alias: physical }, from: single(this.relation(alias, undefined, physical, output, [])) };
  }

  /** DESCRIBE and SHOW TABLES are answered here, as rows of constants; SUMMARIZE by the engine. */
  private async show(node: ShowTable, outer: Scope | undefined, env: CteEnv): Promise<{ node: TableRef; from: From }> {
    if (node.show_type === 'SUMMARY') {
      const output = await this.query(node.query!, outer, env);
      for (let i = 0; i < output.columns.length; i++) if (output.columns[i].mixed) await output.asText(i);
      const physical = this.unique(node.alias || 'summary');
      const sample = { ...node, query: selectNode([constant('INTEGER', 1)], emptyTable()) };
      const columns = (await this.describeNode(selectNode([starExpr()], subqueryTable(selectNode([starExpr()], sample), 's')))) ?? [];
      const known: Output = {
        columns: columns.map(c => plainColumn(c.name, async () => c.sql)),
        complete: columns.length > 0,
        asText: async () => {},
      };
      const wrapped = subqueryTable(selectNode([starExpr()], node), physical);
      return { node: wrapped, from: single(this.relation(node.alias || 'summary', undefined, physical, known, [])) };
    }
    const rows = node.show_type === 'DESCRIBE' ? await this.describeRows(node, outer, env) : this.tableRows(node);
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
    const physical = this.unique(node.alias || 'rows');
    const output: Output = { columns: names.map(n => plainColumn(n, async () => VARCHAR)), complete: true, asText: async () => {} };
    return { node: subqueryTable(list, physical), from: single(this.relation(node.alias || 'rows', undefined, physical, output, [])) };
  }

  private async describeRows(
    node: ShowTable,
    outer: Scope | undefined,
    env: CteEnv,
  ): Promise<{ names: string[]; cells: (string | null)[][] }> {
    const query = node.query!;
    const before = this.scans.length;
    const output = await this.query(query, outer, env);
    const described = this.descriptions(query, this.scans.slice(before));
    const cells: (string | null)[][] = [];
    for (const [i, c] of output.columns.entries()) {
      const type = c.mixed ? 'JSON' : sqlTypeText((await c.type()) ?? VARCHAR);
      const extra = [c.mixed ? 'several types' : undefined, described?.[i]?.description].filter(x => x !== undefined && x !== '');
      cells.push([c.name, type, 'YES', null, null, extra.length > 0 ? extra.join('; ') : null]);
    }
    // nothing of it is read
    this.scans.length = before;
    return { names: ['column_name', 'column_type', 'null', 'key', 'default', 'extra'], cells };
  }

  /** What the columns of `DESCRIBE table` mean. */
  private descriptions(query: QueryNode, scans: readonly ScanUse[]): readonly BoundColumn[] | undefined {
    const [scan] = scans;
    if (scans.length !== 1 || query.type !== 'SELECT_NODE' || query.from_table !== scan.node) return undefined;
    return query.select_list.length === scan.bound.columns.length ? scan.bound.columns : undefined;
  }

  private tableRows(node: ShowTable): { names: string[]; cells: (string | null)[][] } {
    const { snapshots } = this.options;
    const all = /all/i.test(node.table_name);
    const wanted =
      node.show_type === 'SHOW_FROM' ? (node.schema_name || node.catalog_name || node.table_name).replaceAll('"', '') : undefined;
    const cells: (string | null)[][] = [];
    for (const [alias, catalog] of snapshots) {
      if (wanted !== undefined && alias.toLowerCase() !== wanted.toLowerCase()) continue;
      for (const name of catalog.names(all)) cells.push(snapshots.size > 1 ? [alias, name] : [name]);
    }
    if (wanted !== undefined && cells.length === 0)
      throw this.places.error('UNKNOWN_TABLE', `there is no snapshot "${wanted}"`, node, `snapshots: ${[...snapshots.keys()].join(', ')}`);
    if (!/^"?(all_?tables|tables|__show_tables_expanded|.*all.*)"?$/i.test(node.table_name) && wanted === undefined)
      throw this.places.error(
        'REFUSED',
        `SHOW ${node.table_name.replaceAll('"', '').toUpperCase()} is refused`,
        node,
        'SHOW TABLES, SHOW ALL TABLES',
      );
    return { names: snapshots.size > 1 ? ['snapshot', 'name'] : ['name'], cells };
  }

  // Types.

  private async describeNode(node: QueryNode): Promise<readonly { name: string; sql: SqlType | undefined }[] | undefined> {
    try {
      return await this.options.binder.describe(await this.options.binder.deserialize(treeText(document(node))));
    } catch {
      return undefined;
    }
  }

  async typeOf(expr: Expr): Promise<SqlType | undefined> {
    const stubbed = await this.withoutSubqueries(expr);
    if (stubbed === undefined) return undefined;
    const key = treeText([{ ...stubbed, alias: '', query_location: 0 }, [...this.lambdaTypes]]);
    let found = this.probes.get(key);
    if (found === undefined) {
      found = this.probe(stubbed);
      this.probes.set(key, found);
    }
    return found;
  }

  private async probe(expr: Expr): Promise<SqlType | undefined> {
    const stubs = new Map<string, Map<string, SqlType>>();
    const refs: string[][] = [];
    someExpr(expr, e => {
      if (e.class === 'COLUMN_REF') refs.push(e.column_names);
      return false;
    });
    for (const [alias, column] of refs) {
      const type = column === undefined ? undefined : await this.physical.get(alias)?.get(column)?.();
      if (type === undefined) continue;
      const columns = stubs.get(alias) ?? new Map<string, SqlType>();
      columns.set(column, type);
      stubs.set(alias, columns);
    }
    return this.typing.probe(this.withoutLambdaNames(expr), stubs);
  }

  /** A copy with the parameters of the lambdas around replaced by NULLs of their types. */
  private withoutLambdaNames(expr: Expr): Expr {
    const replace = (e: Expr): Expr => {
      if (e.class === 'COLUMN_REF') {
        const [first, ...path] = e.column_names;
        const type = this.physical.has(first) ? undefined : this.lambdaTypes.get(first.toLowerCase());
        if (type === undefined) return e;
        let value: Expr = cast(nullConstant(), astOfType(type));
        for (const name of path) value = operator('STRUCT_EXTRACT', value, textConstant(name));
        return value;
      }
      eachChild(e, (c, put) => put(replace(c)));
      return e;
    };
    return this.lambdaTypes.size === 0 ? expr : replace(cloneTree(expr));
  }

  /** A copy with every subquery replaced by a NULL of its type. */
  private async withoutSubqueries(expr: Expr): Promise<Expr | undefined> {
    if (!someExpr(expr, e => e.class === 'SUBQUERY')) return expr;
    const originals: SubqueryExpr[] = [];
    const collect = (e: Expr): void => {
      if (e.class === 'SUBQUERY') originals.push(e);
      eachChild(e, collect);
    };
    collect(expr);
    const types: (SqlType | undefined)[] = [];
    for (const s of originals)
      types.push(s.subquery_type === 'SCALAR' ? await this.subqueryColumns.get(s)?.[0]?.type() : { kind: 'BOOLEAN' });
    if (types.some(t => t === undefined)) return undefined;
    let next = 0;
    const replace = (e: Expr): Expr => {
      if (e.class === 'SUBQUERY') {
        const type = types[next++]!;
        eachChild(e, c => void replace(c));
        return cast(nullConstant(), astOfType(type));
      }
      eachChild(e, (c, put) => put(replace(c)));
      return e;
    };
    return replace(cloneTree(expr));
  }

  async subquery(expr: SubqueryExpr, scope: Scope): Promise<readonly RelationColumn[]> {
    const env = this.currentEnv[this.currentEnv.length - 1] ?? { items: new Map() };
    const output = await this.query(expr.subquery.node, scope, env);
    this.subqueryColumns.set(expr, output.columns);
    return output.columns.map(c => ({
      name: c.name,
      mixed: c.mixed,
      ref: () => columnRef(c.name),
      text: () => jsonText(() => columnRef(c.name)),
      type: c.type,
      lineage: [],
    }));
  }
}

interface Group {
  /** the text form, for mixed expressions */
  readonly text: string | undefined;
  /** a bare column, for lineage */
  readonly column: RelationColumn | undefined;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

const plainColumn = (name: string, type: () => Promise<SqlType | undefined>): OutputColumn => ({ name, mixed: false, type, lineage: [] });

const single = (relation: Relation): From => ({ relations: [relation], star: relation.columns, merged: new Map() });

/** The output under other names, as `t(a, b)` gives them. */
function renamed(output: Output, names: readonly string[]): Output {
  if (names.length === 0) return output;
  return { ...output, columns: output.columns.map((c, i) => ({ ...c, name: names[i] ?? c.name })) };
}

function mapColumns(from: From, change: (c: RelationColumn) => RelationColumn): From {
  const made = new Map<RelationColumn, RelationColumn>();
  const changed = (c: RelationColumn) => {
    const done = made.get(c) ?? change(c);
    made.set(c, done);
    return done;
  };
  return {
    relations: from.relations.map(r => ({ ...r, columns: r.columns.map(changed) })),
    star: from.star.map(changed),
    merged: new Map([...from.merged].map(([n, c]) => [n, changed(c)])),
  };
}
const withoutLineage = (from: From) => mapColumns(from, c => ({ ...c, lineage: [] }));
const nullable = (from: From) => mapColumns(from, c => ({ ...c, lineage: c.lineage.map(l => ({ ...l, nullable: true })) }));

/** Both sides of a join; merged columns stand once, in the left side's place. */
function joined(left: From, right: From, merged: ReadonlyMap<string, RelationColumn>): From {
  const isMerged = (c: RelationColumn) => merged.has(c.name.toLowerCase());
  return {
    relations: [...left.relations, ...right.relations],
    star: [...left.star.map(c => (isMerged(c) ? merged.get(c.name.toLowerCase())! : c)), ...right.star.filter(c => !isMerged(c))],
    merged: new Map([...left.merged, ...right.merged, ...merged]),
  };
}

const asRewritten = (c: RelationColumn, at: JoinTable): Rewritten =>
  c.mixed
    ? { kind: 'mixed', json: () => c.ref(), text: () => c.text(), name: c.name, at, column: c }
    : { kind: 'plain', expr: c.ref(), type: undefined };

const ownColumn = (column: RelationColumn | undefined, own: ReadonlySet<RelationColumn>) =>
  column !== undefined && own.has(column) ? column : undefined;

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

/** `*` and `t.*` as a SELECT item; not COLUMNS(…) and not inside of an expression. */
function isPlainStar(expr: Expr): expr is StarExpr {
  return expr.class === 'STAR' && !expr.columns && expr.expr === null;
}

const isUnnest = (e: Expr) => e.class === 'FUNCTION' && e.function_name.toLowerCase() === 'unnest';

function hasAggregate(expr: Expr): boolean {
  return someExpr(expr, e => e.class === 'FUNCTION' && AGGREGATES.has(e.function_name.toLowerCase()));
}

/** 1, 2, … as in GROUP BY 1. */
function ordinalOf(expr: Expr): number | undefined {
  if (expr.class !== 'CONSTANT') return undefined;
  const literal = literalOf(expr);
  return literal?.kind === 'integer' ? Number(literal.value) : undefined;
}

/** The position of the item that a bare name in ORDER BY means. */
function orderedItem(expr: Expr, items: readonly Item[]): number | undefined {
  if (expr.class !== 'COLUMN_REF' || expr.column_names.length !== 1) return undefined;
  const name = expr.column_names[0].toLowerCase();
  const at = items.findIndex(i => i.original?.alias.toLowerCase() === name);
  return at < 0 ? undefined : at + 1;
}

function outputIndex(expr: Expr, columns: readonly OutputColumn[]): number | undefined {
  const ordinal = ordinalOf(expr);
  if (ordinal !== undefined) return columns[ordinal - 1] === undefined ? undefined : ordinal - 1;
  if (expr.class !== 'COLUMN_REF' || expr.column_names.length !== 1) return undefined;
  const name = expr.column_names[0].toLowerCase();
  const at = columns.findIndex(c => c.name.toLowerCase() === name);
  return at < 0 ? undefined : at;
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

const didYouMean = (name: string, names: readonly string[]) => {
  const near = nearest(name, names);
  return near === undefined ? undefined : `did you mean ${near}?`;
};

const starExpr = (): StarExpr => ({
  class: 'STAR',
  type: 'STAR',
  alias: '',
  relation_name: '',
  exclude_list: [],
  replace_list: [],
  rename_list: [],
  qualified_exclude_list: [],
  columns: false,
  expr: null,
});
