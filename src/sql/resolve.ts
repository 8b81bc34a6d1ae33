/**
 * Query nodes: WITH items, set operations, and what the parts have in common. Every name gets its meaning, every table its scan
 * (from.ts, join.ts), every SELECT its list (select.ts), every expression its form (rewrite.ts), every filter its way down
 * (pushdown.ts). Works on the guarded tree in place.
 */
import type { SqlType } from '../types.js';
import { sqlTypeText, VARCHAR } from '../types.js';
import {
  type CteMap,
  columnRef,
  constant,
  document,
  type Expr,
  type Modifier,
  type QueryNode,
  type SetOperationNode,
  type SubqueryExpr,
  treeText,
} from './ast.js';
import type { Places } from './guard.js';
import { type Literal, literalOf } from './literals.js';
import {
  type Context,
  type CteEnv,
  type Output,
  type OutputColumn,
  once,
  ordinalOf,
  plainColumn,
  type ResolveOptions,
  renamed,
} from './output.js';
import { type CteUse, physicalRef, type Relation, type RelationColumn, type Scope } from './relations.js';
import { finishScans, type ScanUse } from './scan-use.js';
import { limitExprs, orderRefused, select } from './select.js';
import { jsonText } from './text-form.js';
import { TypeFinder } from './type-finder.js';
import { Typing } from './typing.js';

/** Rewrites a statement's tree in place; gives its scans and its columns' flags. */
export async function resolveStatement(
  node: QueryNode,
  options: ResolveOptions,
): Promise<Pick<Resolver, 'scans' | 'leftToEngine' | 'usedParameters'>> {
  const resolver = new Resolver(options);
  await resolver.query(node, undefined, { items: new Map() });
  finishScans(node, new Map(resolver.scans.map(s => [s.id, s])), options.scanFunction);
  const { scans, leftToEngine, usedParameters } = resolver;
  return { scans, leftToEngine, usedParameters };
}

class Resolver implements Context {
  readonly scans: ScanUse[] = [];
  readonly leftToEngine: Expr[] = [];
  readonly typing: Typing;
  readonly places: Places;
  readonly parameters: ReadonlyMap<string, string>;
  readonly usedParameters = new Set<string>();
  textFromJson = false;
  private readonly types: TypeFinder;
  private readonly aliases = new Set<string>();
  private readonly subqueryColumns = new WeakMap<SubqueryExpr, readonly OutputColumn[]>();
  private readonly envs: CteEnv[] = [];

  constructor(readonly options: ResolveOptions) {
    this.typing = new Typing(options.binder);
    this.places = options.places;
    this.parameters = options.parameters;
    this.types = new TypeFinder(this.typing, async expr => this.subqueryColumns.get(expr)?.[0]?.type());
  }

  get lambdaTypes(): Map<string, SqlType | undefined> {
    return this.types.lambdaTypes;
  }

  typeOf(expr: Expr): Promise<SqlType | undefined> {
    return this.types.typeOf(expr);
  }

  registerTypes(physical: string, types: ReadonlyMap<string, () => Promise<SqlType | undefined>>): void {
    this.types.physical.set(physical, types);
  }

  readonly literal = (expr: Expr): Literal | undefined => {
    if (expr.class !== 'PARAMETER') return literalOf(expr);
    const value = this.parameters.get(expr.identifier.toLowerCase());
    return value === undefined ? undefined : { kind: 'string', value };
  };

  async within<T>(env: CteEnv, run: () => Promise<T>): Promise<T> {
    this.envs.push(env);
    try {
      return await run();
    } finally {
      this.envs.pop();
    }
  }

  async query(node: QueryNode, outer: Scope | undefined, env: CteEnv): Promise<Output> {
    const inner = await this.withItems(node.cte_map, outer, env);
    switch (node.type) {
      case 'SELECT_NODE':
        return select(this, node, outer, inner);
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
        if (index < left.columns.length) await left.asText(index);
        const name = columns[index].name.toLowerCase();
        const at = byName ? right.columns.findIndex(c => c.name.toLowerCase() === name) : index;
        if (at >= 0 && at < right.columns.length) await right.asText(at);
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
            if (output.columns[index].mixed) throw orderRefused(this, order.expression, output.columns[index].name);
            order.expression = constant('INTEGER', index + 1);
          }
        }
      } else if (modifier.type === 'LIMIT_MODIFIER' || modifier.type === 'LIMIT_PERCENT_MODIFIER') {
        cut = true;
        await limitExprs(this, modifier, undefined);
      }
    }
    return cut;
  }

  unique(alias: string): string {
    let name = alias;
    for (let i = 1; this.aliases.has(name.toLowerCase()); i++) name = `${alias}_${i}`;
    this.aliases.add(name.toLowerCase());
    return name;
  }

  relation(alias: string, snapshot: string | undefined, physical: string, output: Output, through: readonly CteUse[]): Relation {
    const types = new Map<string, () => Promise<SqlType | undefined>>();
    this.registerTypes(physical, types);
    const columns = output.columns.map((c): RelationColumn => {
      const type = c.mixed ? async (): Promise<SqlType> => ({ kind: 'JSON' }) : c.type;
      types.set(c.name, type);
      const ref = () => physicalRef(physical, c.name);
      const lineage = c.lineage.map(l => ({ ...l, through: [...l.through, ...through] }));
      return { name: c.name, mixed: c.mixed, ref, text: () => jsonText(ref), type: c.type, lineage };
    });
    return { alias, snapshot, physical, columns, complete: output.complete, exposeAll: () => {} };
  }

  async describeNode(node: QueryNode): Promise<readonly { name: string; sql: SqlType | undefined }[] | undefined> {
    try {
      return await this.options.binder.describe(await this.options.binder.deserialize(treeText(document(node))));
    } catch {
      return undefined;
    }
  }

  async subquery(expr: SubqueryExpr, scope: Scope): Promise<readonly RelationColumn[]> {
    const env = this.envs[this.envs.length - 1] ?? { items: new Map() };
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

function outputIndex(expr: Expr, columns: readonly OutputColumn[]): number | undefined {
  const ordinal = ordinalOf(expr);
  if (ordinal !== undefined) return columns[ordinal - 1] === undefined ? undefined : ordinal - 1;
  if (expr.class !== 'COLUMN_REF' || expr.column_names.length !== 1) return undefined;
  const name = expr.column_names[0].toLowerCase();
  const at = columns.findIndex(c => c.name.toLowerCase() === name);
  return at < 0 ? undefined : at;
}
