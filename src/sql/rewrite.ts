/**
 * Expressions, rewritten in place of what the user wrote: names to physical columns, mixed columns to one of their forms,
 * comparisons by the literal rule.
 *
 * An expression is `plain`, or `mixed`: JSON that also has a text form. A mixed one keeps both until something asks:
 *
 *   JSON   a bare select item, `->`, `->>`, `.f`, `['f']`, json functions, any_value, first, list, window values
 *   text   everything else: =, <>, IN, LIKE, IS NULL, GROUP BY, DISTINCT, joins, casts to scalars, other functions
 *   never  <, >, BETWEEN, ORDER BY, min, max, sum and other arithmetic: refused, with what to write instead
 */
import { BIGINT, DOUBLE, JSON_TYPE, type SqlType, VARCHAR } from '../types.js';
import {
  type BetweenExpr,
  type ColumnRef,
  type CompareType,
  type ComparisonExpr,
  call,
  cast,
  cloneTree,
  columnRef,
  compare,
  conjunction,
  constant,
  type Expr,
  eachChild,
  type FunctionExpr,
  type OperatorExpr,
  operator,
  type SubqueryExpr,
  selectNode,
  statement,
  subqueryTable,
  textConstant,
  type WindowExpr,
} from './ast.js';
import { LAMBDA_FUNCTIONS } from './functions.js';
import type { Places } from './guard.js';
import { type RelationColumn, type Resolved, resolveName, type Scope, visibleNames } from './relations.js';
import { nearest } from './suggest.js';
import { isNumeric, type Literal, literalOf, literalText, mirrored, neverEqual, neverHolds, type Typing, typeOfAst } from './typing.js';

export type Rewritten = Plain | Mixed;
export interface Plain {
  readonly kind: 'plain';
  readonly expr: Expr;
  /** what is known without asking the engine */
  readonly type: SqlType | undefined;
  /** a bare column, for lineage */
  readonly column?: RelationColumn;
  /** the constant that it is, where `expr` does not say it plainly */
  readonly literal?: Literal;
  /** a list of mixed values: not to be sorted */
  readonly collects?: Mixed;
}
export interface Mixed {
  readonly kind: 'mixed';
  json(): Expr;
  text(): Expr;
  /** what to call it in messages */
  readonly name: string;
  readonly at: { query_location?: number | string };
  /** a bare column, for lineage */
  readonly column?: RelationColumn;
}

/** What the rewriting of expressions needs of the analysis around it. */
export interface Analysis {
  readonly typing: Typing;
  readonly places: Places;
  /** values given with -p, by lower-case name */
  readonly parameters: ReadonlyMap<string, string>;
  readonly usedParameters: Set<string>;
  /** the type of a rewritten expression */
  typeOf(expr: Expr): Promise<SqlType | undefined>;
  /** types of the lambda parameters around, by lower-case name */
  readonly lambdaTypes: Map<string, SqlType | undefined>;
  /** rewrites the subquery of an expression; its output columns */
  subquery(expr: SubqueryExpr, scope: Scope): Promise<readonly RelationColumn[]>;
}

const EQUALITY: ReadonlySet<string> = new Set(['COMPARE_EQUAL', 'COMPARE_NOTEQUAL', 'COMPARE_DISTINCT_FROM', 'COMPARE_NOT_DISTINCT_FROM']);

/** functions that want JSON of a mixed argument, beside json_* */
const WANT_JSON: ReadonlySet<string> = new Set(['->', '->>', 'to_json', 'from_json', 'from_json_strict', 'typeof', 'row_to_json']);
/** functions that give a mixed argument back */
const PASS_MIXED: ReadonlySet<string> = new Set([
  'any_value',
  'arbitrary',
  'first',
  'last',
  'first_value',
  'last_value',
  'nth_value',
  'lag',
  'lead',
  'arg_max',
  'argmax',
  'max_by',
  'arg_min',
  'argmin',
  'min_by',
]);
const LIKES: ReadonlySet<string> = new Set([
  ...['~~', '!~~', '~~*', '!~~*', '~~~', 'like_escape', 'not_like_escape', 'ilike_escape', 'not_ilike_escape'],
  ...['regexp_full_match', 'regexp_matches', 'starts_with', 'prefix', '^@', 'ends_with', 'suffix', 'contains'],
]);
const COLLECT: ReadonlySet<string> = new Set(['list', 'array_agg']);
/** what list(x ORDER BY x) is turned into, and other ways to order a list */
const LIST_ORDERED: ReadonlySet<string> = new Set(
  ['sort', 'reverse_sort', 'grade_up', 'min', 'max', 'sum', 'avg', 'median'].flatMap(n => [`list_${n}`, `array_${n}`]),
);
/** functions that compare or calculate: refused on a mixed column */
const ORDERED: ReadonlySet<string> = new Set([
  ...['min', 'max', 'sum', 'avg', 'mean', 'median', 'product', 'fsum', 'sumkahan', 'kahan_sum', 'favg', 'sum_no_overflow'],
  ...['quantile', 'quantile_cont', 'quantile_disc', 'approx_quantile', 'reservoir_quantile', 'mad', 'stddev', 'stddev_pop'],
  ...['stddev_samp', 'var_pop', 'var_samp', 'variance', 'skewness', 'kurtosis', 'kurtosis_pop', 'sem', 'corr', 'covar_pop'],
  ...['covar_samp', 'regr_slope', 'regr_intercept', 'greatest', 'least', 'histogram', 'abs', 'round', 'floor', 'ceil'],
  ...['ceiling', 'trunc', 'sqrt', 'ln', 'log', 'exp', 'sign', 'mod', 'pow', 'power', 'add', 'subtract', 'multiply', 'divide'],
  ...['+', '-', '*', '/', '//', '%', '**', '^', '&', '|', '<<', '>>', '~', '@'],
]);

export class Rewriter {
  constructor(
    private readonly analysis: Analysis,
    readonly scope: Scope,
    /** select items go before columns (ORDER BY) */
    private readonly aliasFirst = false,
    private readonly aliasDepth = 0,
  ) {}

  /** Rewritten, in its text form if mixed. */
  async plain(expr: Expr): Promise<Expr> {
    const done = await this.rewrite(expr);
    return done.kind === 'plain' ? done.expr : done.text();
  }

  /** Rewritten, in its JSON form if mixed. */
  async json(expr: Expr): Promise<Expr> {
    const done = await this.rewrite(expr);
    return done.kind === 'plain' ? done.expr : done.json();
  }

  async rewrite(expr: Expr): Promise<Rewritten> {
    const done = await this.dispatch(expr);
    if (done.kind === 'plain' && done.expr !== expr && expr.alias !== '') done.expr.alias = expr.alias;
    return done;
  }

  private async dispatch(expr: Expr): Promise<Rewritten> {
    switch (expr.class) {
      case 'COLUMN_REF':
        return this.column(expr);
      case 'CONSTANT': {
        const literal = literalOf(expr);
        // the engine writes 1e3 as 1000.0 and would read that back as a DECIMAL
        if (literal?.kind === 'double')
          return { kind: 'plain', expr: keep(expr, cast(textConstant(literal.text), 'DOUBLE')), type: DOUBLE, literal };
        return { kind: 'plain', expr, type: literalType(literal) };
      }
      case 'PARAMETER': {
        const name = expr.identifier.toLowerCase();
        const value = this.analysis.parameters.get(name);
        if (value === undefined) {
          const hint = /^\d+$/.test(name) ? 'write $name and give it with -p name=value' : `give it with -p ${expr.identifier}=…`;
          throw this.analysis.places.error('SQL_ERROR', `the parameter $${expr.identifier} has no value`, expr, hint);
        }
        this.analysis.usedParameters.add(name);
        return { kind: 'plain', expr: { ...textConstant(value), alias: expr.alias }, type: VARCHAR };
      }
      case 'COMPARISON':
        return boolean(await this.comparison(expr));
      case 'BETWEEN':
        return boolean(await this.between(expr));
      case 'OPERATOR':
        return this.operator(expr);
      case 'FUNCTION':
        return this.function(expr);
      case 'WINDOW':
        return this.window(expr);
      case 'CAST': {
        const child = await this.rewrite(expr.child);
        const type = typeOfAst(expr.cast_type);
        if (child.kind === 'plain') expr.child = child.expr;
        else {
          const nested = type !== undefined && ['STRUCT', 'LIST', 'MAP', 'JSON'].includes(type.kind);
          expr.child = nested ? child.json() : child.text();
          if (type?.kind === 'BLOB') expr.child = call('unhex', expr.child);
        }
        return { kind: 'plain', expr, type };
      }
      case 'SUBQUERY':
        return this.subquery(expr);
      case 'LAMBDA': {
        // not the argument of a lambda function: the JSON arrow
        const left = await this.json(expr.lhs);
        expr.lhs = left;
        expr.expr = await this.plain(expr.expr);
        return { kind: 'plain', expr, type: JSON_TYPE };
      }
      case 'CONJUNCTION':
        for (let i = 0; i < expr.children.length; i++) expr.children[i] = await this.plain(expr.children[i]);
        return boolean(expr);
      default: {
        await this.children(expr);
        return { kind: 'plain', expr, type: undefined };
      }
    }
  }

  /** Every child in its text form. */
  private async children(expr: Expr): Promise<void> {
    const todo: [Expr, (next: Expr) => void][] = [];
    eachChild(expr, (child, replace) => todo.push([child, replace]));
    for (const [child, replace] of todo) replace(await this.plain(child));
  }

  private async column(expr: ColumnRef): Promise<Rewritten> {
    const names = expr.column_names;
    const found = resolveName(names, this.scope, this.aliasFirst);
    switch (found.kind) {
      case 'lambda': {
        const type = this.analysis.lambdaTypes.get(names[0].toLowerCase());
        return { kind: 'plain', expr, type: typeOfPath(type, names.slice(1)) };
      }
      case 'open':
        return { kind: 'plain', expr: keep(expr, columnRef(...found.names)), type: undefined };
      case 'row': {
        const { relation, path } = found;
        if (!relation.complete || path.length > 0) {
          relation.exposeAll();
          return { kind: 'plain', expr: keep(expr, columnRef(relation.physical, ...path)), type: undefined };
        }
        const fields = relation.columns.map(c => ({ ...c.ref(), alias: c.name }));
        return { kind: 'plain', expr: keep(expr, call('struct_pack', ...fields)), type: undefined };
      }
      case 'alias': {
        if (this.aliasDepth > 20) throw this.unknown(expr, { kind: 'unknown', name: names[0] });
        // the item itself in the alias's place: the same wherever it may stand
        const original = cloneTree(found.alias.original);
        original.alias = expr.alias;
        const aliases = new Map(this.scope.aliases);
        aliases.delete(found.alias.name.toLowerCase());
        const inner = new Rewriter(this.analysis, { ...this.scope, aliases }, false, this.aliasDepth + 1);
        const item = await inner.rewrite(original);
        return this.path(item, found.path, expr);
      }
      case 'column': {
        const { column, path } = found;
        if (column.mixed) {
          const mixed: Mixed = {
            kind: 'mixed',
            json: () => column.ref(),
            text: () => column.text(),
            name: names.join('.'),
            at: expr,
            column,
          };
          return this.path(mixed, path, expr);
        }
        const ref = column.ref();
        const type = await column.type();
        if (path.length > 0 && type?.kind === 'JSON') {
          return this.path({ kind: 'plain', expr: ref, type }, path, expr);
        }
        if (path.length > 0 && ref.class === 'COLUMN_REF') {
          const full = columnRef(...ref.column_names, ...path);
          this.checkPath(type, path, expr);
          return { kind: 'plain', expr: keep(expr, full), type: typeOfPath(type, path) };
        }
        return this.path({ kind: 'plain', expr: keep(expr, ref), type, ...(path.length === 0 ? { column } : {}) }, path, expr);
      }
      case 'ambiguous': {
        const choices = found.relations.map(r => [
          r.snapshot !== undefined && r.alias === found.name ? r.snapshot : undefined,
          r.alias,
          found.name,
        ]);
        const spelled = choices.map(c => [...new Set(c.filter(x => x !== undefined))].join('.'));
        throw this.analysis.places.error('UNKNOWN_COLUMN', `the name "${found.name}" is ambiguous`, expr, `write ${spelled.join(' or ')}`);
      }
      case 'unknown':
        throw this.unknown(expr, found);
    }
  }

  private unknown(expr: ColumnRef, found: Resolved & { kind: 'unknown' }): Error {
    const names = visibleNames(this.scope, found.table);
    const near = nearest(found.name, names);
    const quotedText = near === undefined && expr.column_names.length === 1;
    const of = found.table === undefined ? '' : ` of ${found.table}`;
    const known = names.length === 0 ? 'there is no table in FROM' : `columns: ${[...new Set(names)].slice(0, 20).join(', ')}`;
    return this.analysis.places.error(
      'UNKNOWN_COLUMN',
      `there is no column "${found.name}"${of}`,
      expr,
      near !== undefined ? `did you mean ${near}?` : quotedText ? `${known}; text is written in 'single quotes'` : known,
    );
  }

  /** A field that a STRUCT does not have is an error of ours, with a suggestion. */
  private checkPath(type: SqlType | undefined, path: readonly string[], expr: ColumnRef): void {
    let at = type;
    for (const name of path) {
      if (at?.kind !== 'STRUCT') return;
      const field = at.fields.find(f => f.name.toLowerCase() === name.toLowerCase());
      if (field === undefined) {
        const near = nearest(
          name,
          at.fields.map(f => f.name),
        );
        const hint = near !== undefined ? `did you mean ${near}?` : `fields: ${at.fields.map(f => f.name).join(', ')}`;
        throw this.analysis.places.error(
          'UNKNOWN_COLUMN',
          `there is no field "${name}" in ${expr.column_names.slice(0, -1).join('.')}`,
          expr,
          hint,
        );
      }
      at = field.type;
    }
  }

  /** `.a.b` on something that is no simple column. */
  private path(base: Rewritten, path: readonly string[], at: ColumnRef): Rewritten {
    if (path.length === 0) return base;
    if (base.kind === 'mixed' || base.type?.kind === 'JSON') {
      const pointer = path.map(p => `/${p.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
      const json = base.kind === 'mixed' ? base.json : () => cloneTree(base.expr);
      return derivedMixed(() => call('json_extract', json(), textConstant(pointer)), at.column_names.join('.'), at);
    }
    let expr = base.expr;
    for (const name of path) expr = operator('STRUCT_EXTRACT', expr, textConstant(name));
    return { kind: 'plain', expr: keep(at, expr), type: typeOfPath(base.type, path) };
  }

  private refuse(mixed: Mixed, what: string): Error {
    return this.analysis.places.error(
      'REFUSED',
      `${what} on ${mixed.name}, which has several types here`,
      mixed.at,
      `add state_name = '…' (and operator_uid or operator_id) so that one type is left, or cast: TRY_CAST(${mixed.name} AS BIGINT)`,
    );
  }

  private async typeOf(done: Plain): Promise<SqlType | undefined> {
    return done.type ?? this.analysis.typeOf(done.expr);
  }

  /** a comparison operator between two rewritten sides */
  async compared(type: CompareType, left: Rewritten, right: Rewritten, node: Expr): Promise<Expr> {
    const leftLiteral = constantIn(left);
    const rightLiteral = constantIn(right);
    if (leftLiteral !== undefined && rightLiteral === undefined)
      return this.withLiteral(mirrored(type), right, left as Plain, leftLiteral, true);
    if (rightLiteral !== undefined && leftLiteral === undefined) return this.withLiteral(type, left, right as Plain, rightLiteral, false);
    if (left.kind === 'plain' && right.kind === 'plain') {
      const pairs = rowPairs(left.expr, right.expr);
      if (pairs !== undefined && (type === 'COMPARE_EQUAL' || type === 'COMPARE_NOTEQUAL')) {
        const parts: Expr[] = [];
        for (const [a, b] of pairs)
          parts.push(
            await this.compared(type, { kind: 'plain', expr: a, type: undefined }, { kind: 'plain', expr: b, type: undefined }, node),
          );
        return conjunction(type === 'COMPARE_EQUAL' ? 'AND' : 'OR', parts);
      }
      return compare(type, left.expr, right.expr);
    }
    for (const side of [left, right]) if (side.kind === 'mixed' && !EQUALITY.has(type)) throw this.refuse(side, comparisonSign(type));
    return compare(type, await this.textOf(left, node), await this.textOf(right, node));
  }

  private async withLiteral(type: CompareType, other: Rewritten, literalSide: Plain, literal: Literal, swap: boolean): Promise<Expr> {
    const build = (value: Expr, against: Expr) => (swap ? compare(mirrored(type), against, value) : compare(type, value, against));
    if (other.kind === 'mixed') {
      if (!EQUALITY.has(type)) throw this.refuse(other, comparisonSign(swap ? mirrored(type) : type));
      return build(other.text(), textOfLiteral(literal, literalSide.expr));
    }
    const known = await this.typeOf(other);
    if (known === undefined) return build(other.expr, literalSide.expr);
    const adapted = await this.analysis.typing.adapt(literal, known);
    if (adapted.kind === 'never') return neverHolds(type, other.expr);
    return build(other.expr, adapted.kind === 'same' ? literalSide.expr : adapted.expr);
  }

  private async comparison(expr: ComparisonExpr): Promise<Expr> {
    const left = await this.rewrite(expr.left);
    const right = await this.rewrite(expr.right);
    const done = await this.compared(expr.type, left, right, expr);
    return keep(expr, done);
  }

  private async between(expr: BetweenExpr): Promise<Expr> {
    const input = await this.rewrite(expr.input);
    if (input.kind === 'mixed') throw this.refuse(input, 'BETWEEN');
    const lower = await this.rewrite(expr.lower);
    const upper = await this.rewrite(expr.upper);
    const low = await this.compared('COMPARE_GREATERTHANOREQUALTO', input, lower, expr);
    const high = await this.compared('COMPARE_LESSTHANOREQUALTO', { ...input, expr: cloneTree(input.expr) }, upper, expr);
    return keep(expr, conjunction('AND', [low, high]));
  }

  private async in(expr: OperatorExpr): Promise<Expr> {
    const negated = expr.type === 'COMPARE_NOT_IN';
    const input = await this.rewrite(expr.children[0]);
    const items: Rewritten[] = [];
    for (const child of expr.children.slice(1)) items.push(await this.rewrite(child));
    const inputLiteral = constantIn(input);
    const rows = input.kind === 'plain' && isRow(input.expr);
    const needsText = input.kind === 'mixed' || items.some(i => i.kind === 'mixed');
    if (rows || needsText ? items.some(i => constantIn(i) === undefined) : inputLiteral !== undefined) {
      // one comparison for each item
      const parts: Expr[] = [];
      for (const item of items) {
        const again: Rewritten = input.kind === 'mixed' ? input : { ...input, expr: cloneTree(input.expr) };
        parts.push(await this.compared(negated ? 'COMPARE_NOTEQUAL' : 'COMPARE_EQUAL', again, item, expr));
      }
      return keep(expr, conjunction(negated ? 'AND' : 'OR', parts));
    }
    if (input.kind === 'mixed') {
      const texts = items.map(i => textOfLiteral(constantIn(i)!, (i as Plain).expr));
      return keep(expr, operator(expr.type, input.text(), ...texts));
    }
    const literals = items.map(constantIn);
    const type = literals.some(l => l !== undefined && l.kind !== 'null') ? await this.typeOf(input) : undefined;
    const kept: Expr[] = [];
    for (let i = 0; i < items.length; i++) {
      const item = (items[i] as Plain).expr;
      const literal = literals[i];
      if (literal === undefined || type === undefined) kept.push(item);
      else {
        const adapted = await this.analysis.typing.adapt(literal, type);
        if (adapted.kind !== 'never') kept.push(adapted.kind === 'same' ? item : adapted.expr);
      }
    }
    if (kept.length === 0) return keep(expr, neverEqual(input.expr, negated));
    return keep(expr, operator(expr.type, input.expr, ...kept));
  }

  private async operator(expr: OperatorExpr): Promise<Rewritten> {
    switch (expr.type) {
      case 'COMPARE_IN':
      case 'COMPARE_NOT_IN':
        return boolean(await this.in(expr));
      case 'OPERATOR_NOT':
      case 'OPERATOR_IS_NULL':
      case 'OPERATOR_IS_NOT_NULL':
        await this.children(expr);
        return boolean(expr);
      case 'ARRAY_EXTRACT':
      case 'STRUCT_EXTRACT': {
        const base = await this.rewrite(expr.children[0]);
        const index = await this.plain(expr.children[1]);
        const literal = literalOf(index);
        const isJson = base.kind === 'mixed' || base.type?.kind === 'JSON';
        if (isJson && literal !== undefined) {
          const json = base.kind === 'mixed' ? base.json : () => cloneTree((base as Plain).expr);
          const name = base.kind === 'mixed' ? `${base.name}[…]` : 'this value';
          const at = base.kind === 'mixed' ? base.at : expr;
          if (literal.kind === 'string') return this.path(base, [literal.value], { ...columnRef(name), ...location(at) });
          return derivedMixed(() => operator('ARRAY_EXTRACT', json(), cloneTree(index)), name, at);
        }
        expr.children = [base.kind === 'plain' ? base.expr : base.json(), index];
        const field = base.kind === 'plain' && literal?.kind === 'string' ? typeOfPath(base.type, [literal.value]) : undefined;
        return { kind: 'plain', expr, type: base.kind === 'plain' && base.type?.kind === 'STRUCT' ? field : undefined };
      }
      case 'ARRAY_SLICE': {
        const [base, ...rest] = expr.children;
        expr.children = [await this.json(base)];
        for (const child of rest) expr.children.push(await this.plain(child));
        return { kind: 'plain', expr, type: undefined };
      }
      default:
        await this.children(expr);
        return { kind: 'plain', expr, type: undefined };
    }
  }

  private async function(expr: FunctionExpr): Promise<Rewritten> {
    const name = expr.function_name.toLowerCase();
    if (expr.filter) expr.filter = await this.plain(expr.filter);
    for (const order of expr.order_bys?.orders ?? []) order.expression = await this.ordered(order.expression);
    if (LAMBDA_FUNCTIONS.has(name)) return this.lambdaFunction(expr);
    const args: Rewritten[] = [];
    for (const child of expr.children) {
      const arg = await this.rewrite(child);
      args.push(LIKES.has(name) ? await this.asVarchar(arg) : arg);
    }
    return this.called(expr, name, args, () => expr);
  }

  /** LIKE reads text: numbers and the like become theirs. */
  private async asVarchar(arg: Rewritten): Promise<Rewritten> {
    if (arg.kind === 'mixed') return arg;
    const literal = constantIn(arg);
    if (literal !== undefined)
      return literal.kind === 'null' ? arg : { kind: 'plain', expr: textOfLiteral(literal, arg.expr), type: VARCHAR };
    const type = await this.typeOf(arg);
    if (type === undefined || ['VARCHAR', 'BLOB', 'STRUCT', 'LIST', 'MAP'].includes(type.kind)) return arg;
    return { kind: 'plain', expr: cast(arg.expr, 'VARCHAR'), type: VARCHAR };
  }

  /** list_transform(l, x -> …) and its kind. */
  private async lambdaFunction(expr: FunctionExpr): Promise<Rewritten> {
    let element: SqlType | undefined;
    for (let i = 0; i < expr.children.length; i++) {
      const child = expr.children[i];
      if (child.class !== 'LAMBDA') {
        expr.children[i] = await this.json(child);
        if (i === 0) {
          const type = await this.analysis.typeOf(expr.children[0]);
          element = type?.kind === 'LIST' ? type.element : undefined;
        }
        continue;
      }
      const { lambdaTypes } = this.analysis;
      const names = lambdaParameters(child.lhs);
      const before = names.map(n => lambdaTypes.get(n));
      // (element, index), or (sum so far, element) of a reduction
      const reduces = /reduce/.test(expr.function_name.toLowerCase());
      names.forEach((n, k) => void lambdaTypes.set(n, k === 0 || reduces ? element : BIGINT));
      const lambda = new Set([...this.scope.lambda, ...names]);
      child.expr = await new Rewriter(this.analysis, { ...this.scope, lambda }, this.aliasFirst, this.aliasDepth).plain(child.expr);
      names.forEach((n, k) => void lambdaTypes.set(n, before[k]));
    }
    return { kind: 'plain', expr, type: undefined };
  }

  /** A function or window over rewritten arguments. */
  private called(expr: FunctionExpr | WindowExpr, name: string, args: readonly Rewritten[], self: () => Expr): Rewritten {
    const mixed = args.find(a => a.kind === 'mixed');
    if (mixed?.kind === 'mixed' && ORDERED.has(name)) throw this.refuse(mixed, /^\w/.test(name) ? `${name}()` : name);
    const [first, second] = args;
    if (second?.kind === 'mixed' && /^(arg_?(min|max)|(min|max)_by)/.test(name)) throw this.refuse(second, `${name}()`);
    if (first?.kind === 'plain' && first.collects !== undefined && LIST_ORDERED.has(name)) throw this.refuse(first.collects, 'ORDER BY');
    const wantsJson = WANT_JSON.has(name) || name.startsWith('json') || COLLECT.has(name) || PASS_MIXED.has(name);
    const passes = first?.kind === 'mixed' && PASS_MIXED.has(name);
    expr.children = args.map((a, i) =>
      a.kind === 'plain' ? a.expr : wantsJson && (i === 0 || name.startsWith('json')) ? a.json() : a.text(),
    );
    if (passes && first.kind === 'mixed') return derivedMixed(() => cloneTree(self()), `${name}(${first.name})`, first.at);
    const type = name === '->>' ? VARCHAR : ['~~', '!~~', '~~*', '!~~*'].includes(name) ? BOOLEAN_TYPE : undefined;
    const collects = COLLECT.has(name) && first?.kind === 'mixed' ? { collects: first } : {};
    return { kind: 'plain', expr: self(), type, ...collects };
  }

  private async window(expr: WindowExpr): Promise<Rewritten> {
    const name = expr.function_name.toLowerCase();
    for (let i = 0; i < expr.partitions.length; i++) expr.partitions[i] = await this.plain(expr.partitions[i]);
    for (const order of [...expr.orders, ...(expr.arg_orders ?? [])]) order.expression = await this.ordered(order.expression);
    for (const key of ['start_expr', 'end_expr', 'offset_expr', 'default_expr', 'filter_expr'] as const) {
      const child = expr[key];
      if (child) expr[key] = await this.plain(child);
    }
    const args: Rewritten[] = [];
    for (const child of expr.children) args.push(await this.rewrite(child));
    return this.called(expr, name, args, () => expr);
  }

  /** An expression that rows are sorted by. */
  async ordered(expr: Expr): Promise<Expr> {
    const done = await this.rewrite(expr);
    if (done.kind === 'mixed') throw this.refuse(done, 'ORDER BY');
    return done.expr;
  }

  private async subquery(expr: SubqueryExpr): Promise<Rewritten> {
    const child = expr.child === null ? undefined : await this.rewrite(expr.child);
    const columns = await this.analysis.subquery(expr, this.scope);
    if (child === undefined) {
      if (expr.subquery_type !== 'SCALAR') return boolean(expr);
      const [column] = columns;
      if (column?.mixed) {
        const text = (): Expr => {
          const copy = cloneTree(expr);
          const value = columnRef('c');
          const list = selectNode([jsonText(() => cloneTree(value))], subqueryTable(copy.subquery.node, 'value', ['c']));
          return { ...copy, subquery: statement(list) };
        };
        return { kind: 'mixed', json: () => cloneTree(expr), text, name: 'the subquery', at: expr };
      }
      return { kind: 'plain', expr, type: await column?.type() };
    }
    const [column] = columns;
    const compareAs = expr.comparison_type as CompareType;
    if (child.kind === 'mixed' || column?.mixed) {
      if (!EQUALITY.has(compareAs)) {
        throw child.kind === 'mixed'
          ? this.refuse(child, comparisonSign(compareAs))
          : this.analysis.places.error('REFUSED', 'comparing with a subquery that has several types', expr, 'cast its column');
      }
      expr.child = await this.textOf(child, expr);
      await this.outputAsText(expr, column);
      return boolean(expr);
    }
    const literal = constantIn(child);
    const type = await column?.type();
    expr.child = child.expr;
    if (literal !== undefined && type !== undefined) {
      const adapted = await this.analysis.typing.adapt(literal, type);
      if (adapted.kind === 'never') return boolean(compare('COMPARE_EQUAL', constant('INTEGER', 0), constant('INTEGER', 1)));
      if (adapted.kind === 'expr') expr.child = adapted.expr;
    }
    return boolean(expr);
  }

  /** Wraps the subquery of an IN so that its column comes as text. */
  private async outputAsText(expr: SubqueryExpr, column: RelationColumn | undefined): Promise<void> {
    const ref = columnRef('c');
    const type = await column?.type();
    const text = column?.mixed ? jsonText(() => cloneTree(ref)) : this.castToText(ref, type, expr);
    expr.subquery = statement(selectNode([text], subqueryTable(expr.subquery.node, 'items', ['c'])));
  }

  /** A plain expression in the text form that mixed columns have. */
  asText(side: Plain, node: Expr): Promise<Expr> {
    return this.textOf(side, node);
  }

  /** The text form, as mixed columns have it, of anything. */
  private async textOf(side: Rewritten, node: Expr): Promise<Expr> {
    if (side.kind === 'mixed') return side.text();
    const literal = constantIn(side);
    if (literal !== undefined) return textOfLiteral(literal, side.expr);
    return this.castToText(side.expr, await this.typeOf(side), node);
  }

  private castToText(expr: Expr, type: SqlType | undefined, node: Expr): Expr {
    switch (type?.kind) {
      case undefined:
      case 'VARCHAR':
        return type === undefined ? cast(expr, 'VARCHAR') : expr;
      case 'JSON':
        return jsonText(() => cloneTree(expr));
      case 'BLOB':
        return call('lower', call('hex', expr));
      case 'FLOAT':
      case 'DOUBLE':
      case 'STRUCT':
      case 'LIST':
      case 'MAP':
      case 'INTERVAL':
        throw this.analysis.places.error(
          'REFUSED',
          `comparing a column of several types with a ${type.kind}`,
          node,
          `add state_name = '…' so that one type is left, or cast both sides`,
        );
      case 'TIME':
      case 'TIME_NS':
      case 'TIMESTAMP':
      case 'TIMESTAMP_NS':
      case 'TIMESTAMPTZ':
        return timeText(expr, type.kind);
      default:
        return cast(expr, 'VARCHAR');
    }
  }
}

/** The constant that a rewritten expression is. */
const constantIn = (side: Rewritten): Literal | undefined => (side.kind === 'plain' ? (side.literal ?? literalOf(side.expr)) : undefined);

const BOOLEAN_TYPE: SqlType = { kind: 'BOOLEAN' };
const boolean = (expr: Expr): Plain => ({ kind: 'plain', expr, type: BOOLEAN_TYPE });

function literalType(literal: Literal | undefined): SqlType | undefined {
  if (literal === undefined) return undefined;
  if (literal.kind === 'string') return VARCHAR;
  if (literal.kind === 'boolean') return BOOLEAN_TYPE;
  return undefined;
}

/** A new node in the place of another: its alias and location. */
function keep(from: Expr, to: Expr): Expr {
  to.alias = from.alias;
  if (to.query_location === undefined && from.query_location !== undefined) to.query_location = from.query_location;
  return to;
}
const location = (at: { query_location?: number | string }) => ({ query_location: at.query_location });

/** Text of JSON: strings without quotes, everything else as it stands. */
export function jsonText(json: () => Expr): Expr {
  const raw = () => cast(json(), 'VARCHAR');
  const unquoted = call('json_extract_string', json(), textConstant('$'));
  return {
    class: 'CASE',
    type: 'CASE_EXPR',
    alias: '',
    case_checks: [{ when_expr: call('starts_with', raw(), textConstant('"')), then_expr: unquoted }],
    // JSON null inside JSON is no value
    else_expr: call('nullif', raw(), textConstant('null')),
  };
}

function derivedMixed(json: () => Expr, name: string, at: { query_location?: number | string }): Mixed {
  return { kind: 'mixed', json, text: () => jsonText(json), name, at };
}

function textOfLiteral(literal: Literal, expr: Expr): Expr {
  if (literal.kind === 'null') return expr;
  const text = literalText(literal);
  return text !== undefined ? textConstant(text) : cast(expr, 'VARCHAR');
}

/** Type of `.a.b` below a type. */
export function typeOfPath(type: SqlType | undefined, path: readonly string[]): SqlType | undefined {
  let at = type;
  for (const name of path) {
    if (at?.kind !== 'STRUCT') return undefined;
    at = at.fields.find(f => f.name.toLowerCase() === name.toLowerCase())?.type;
  }
  return at;
}

function comparisonSign(type: CompareType): string {
  switch (type) {
    case 'COMPARE_LESSTHAN':
      return '<';
    case 'COMPARE_GREATERTHAN':
      return '>';
    case 'COMPARE_LESSTHANOREQUALTO':
      return '<=';
    case 'COMPARE_GREATERTHANOREQUALTO':
      return '>=';
    default:
      return '=';
  }
}

const isRow = (expr: Expr): expr is FunctionExpr => expr.class === 'FUNCTION' && expr.function_name.toLowerCase() === 'row';

function rowPairs(a: Expr, b: Expr): readonly [Expr, Expr][] | undefined {
  if (!isRow(a) || !isRow(b) || a.children.length !== b.children.length || a.children.length === 0) return undefined;
  return a.children.map((child, i) => [child, b.children[i]]);
}

/** Parameters on the left of a lambda: `x`, `(x, i)`. */
function lambdaParameters(lhs: Expr): readonly string[] {
  if (lhs.class === 'COLUMN_REF') return [lhs.column_names[0].toLowerCase()];
  if (lhs.class === 'FUNCTION') return lhs.children.flatMap(lambdaParameters);
  return [];
}

/** Times in the JSON form of contract §3: `2026-01-31T12:34:56.789Z`, fractions of 0, 3, 6 or 9 digits. */
function timeText(expr: Expr, kind: 'TIME' | 'TIME_NS' | 'TIMESTAMP' | 'TIMESTAMP_NS' | 'TIMESTAMPTZ'): Expr {
  const raw = (): Expr => {
    const text = cast(cloneTree(expr), 'VARCHAR');
    return kind === 'TIMESTAMPTZ' ? call('regexp_replace', text, textConstant('\\+00$'), textConstant('')) : text;
  };
  // the engine drops trailing zeros of the fraction: fill up to the next multiple of three
  const padded = call(
    'regexp_replace',
    call('regexp_replace', raw(), textConstant('^([^.]*\\.(?:\\d{3})*\\d)$'), textConstant('\\100')),
    textConstant('^([^.]*\\.(?:\\d{3})*\\d{2})$'),
    textConstant('\\10'),
  );
  const joined = kind.startsWith('TIMESTAMP') ? call('replace', padded, textConstant(' '), textConstant('T')) : padded;
  return kind === 'TIMESTAMPTZ' ? call('||', joined, textConstant('Z')) : joined;
}

export { isNumeric };
