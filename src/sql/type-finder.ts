/**
 * Types of rewritten expressions: bound by the engine over stubs of the columns they name, once each.
 */
import type { SqlType } from '../types.js';
import {
  cast,
  cloneTree,
  type Expr,
  eachChild,
  nullConstant,
  operator,
  type SubqueryExpr,
  someExpr,
  textConstant,
  treeText,
} from './ast.js';
import { astOfType } from './ast-types.js';
import type { Typing } from './typing.js';

type Types = ReadonlyMap<string, () => Promise<SqlType | undefined>>;

export class TypeFinder {
  /** types of the lambda parameters around, by lower-case name */
  readonly lambdaTypes = new Map<string, SqlType | undefined>();
  /** physical alias → physical column → type */
  readonly physical = new Map<string, Types>();
  private readonly probes = new Map<string, Promise<SqlType | undefined>>();

  constructor(
    private readonly typing: Typing,
    /** the type of a scalar subquery */
    private readonly subqueryType: (expr: SubqueryExpr) => Promise<SqlType | undefined>,
  ) {}

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
    for (const s of originals) types.push(s.subquery_type === 'SCALAR' ? await this.subqueryType(s) : { kind: 'BOOLEAN' });
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
}
