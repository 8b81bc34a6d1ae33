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
import { SqlError } from '../errors.js';
import { BIGINT, DOUBLE, JSON_TYPE, type SqlType, sqlTypeText, VARCHAR } from '../types.js';
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
import { typeOfAst } from './ast-types.js';
import { Comparisons, comparisonSign, EQUALITY, isRow } from './comparisons.js';
import { LAMBDA_FUNCTIONS } from './functions.js';
import { type Literal, literalOf, mixedTexts } from './literals.js';
import { COLLECT, LIKES, LIST_ORDERED, ORDERED, PASS_MIXED, WANT_JSON } from './mixed-functions.js';
import { type RelationColumn, type Resolved, resolveName, type Scope, visibleNames } from './relations.js';
import {
  type Analysis,
  BOOLEAN_TYPE,
  boolean,
  constantIn,
  derivedMixed,
  keep,
  literalType,
  location,
  type Mixed,
  memberOf,
  mixedMember,
  type Plain,
  type Rewritten,
  refused,
  typeOfPath,
} from './rewritten.js';
import { nearest } from './suggest.js';
import { castToText, jsonText, textOfLiteral } from './text-form.js';
import { gapHolds, neverEqual } from './typing.js';

export class Rewriter {
  readonly comparisons: Comparisons;
  constructor(
    private readonly analysis: Analysis,
    readonly scope: Scope,
    /** select items go before columns (ORDER BY) */
    private readonly aliasFirst = false,
    private readonly aliasDepth = 0,
  ) {
    this.comparisons = new Comparisons(analysis);
  }

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
        if (expr.spelled !== undefined && expr.value.type.id === 'DOUBLE') {
          const exact = keep(expr, cast(textConstant(expr.spelled), 'DOUBLE'));
          exact.spelled = expr.spelled;
          return { kind: 'plain', expr: exact, type: DOUBLE };
        }
        return { kind: 'plain', expr, type: literalType(literal) };
      }
      case 'PARAMETER': {
        const name = expr.identifier.toLowerCase();
        const value = this.analysis.parameters.get(name);
        if (value === undefined) {
          const hint = /^\d+$/.test(name) ? 'write $name and give it with -p name=value' : `give it with -p ${expr.identifier}=…`;
          const place = this.analysis.places.ofWord(/^\d+$/.test(name) ? '?' : `$${name}`);
          const where = place.line === undefined ? '' : `line ${place.line}, column ${place.column}: `;
          throw new SqlError('SQL_ERROR', `${where}the parameter $${expr.identifier} has no value`, { ...place, hint });
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
        const value = await this.rewrite(expr.lhs);
        const base = await this.jsonBase(value);
        const key = await this.plain(pathOfName(expr.expr));
        this.noteField(value.column, literalOf(key));
        if (base.kind === 'mixed') {
          const member = () => ({ ...expr, alias: '', lhs: base.json(), expr: cloneTree(key) });
          return mixedMember(member, `${base.name}->…`, base.at);
        }
        const arrow: Expr = { ...expr, alias: '', lhs: base.expr, expr: key };
        return { kind: 'plain', expr: keep(expr, memberOf(arrow)), type: JSON_TYPE };
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
    const children: [Expr, (next: Expr) => void][] = [];
    eachChild(expr, (child, replace) => children.push([child, replace]));
    for (const [child, replace] of children) replace(await this.plain(child));
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
    const known = names.length === 0 ? 'there are no columns here' : `columns: ${[...new Set(names)].slice(0, 20).join(', ')}`;
    return this.analysis.places.error(
      'UNKNOWN_COLUMN',
      `there is no column "${found.name}"${of}`,
      expr,
      near !== undefined ? `did you mean ${near}?` : quotedText ? `${known}; text is written in 'single quotes'` : known,
    );
  }

  /** A field that a value of a known type does not have is an error of ours, with a suggestion. */
  private checkPath(type: SqlType | undefined, path: readonly string[], expr: Expr): void {
    let at = type;
    const names = expr.class === 'COLUMN_REF' ? expr.column_names : ['the value', ...path];
    for (const [i, name] of path.entries()) {
      if (at === undefined || at.kind === 'JSON') return;
      const of = names.slice(0, names.length - path.length + i).join('.');
      if (at.kind !== 'STRUCT') {
        const hint =
          at.kind === 'MAP'
            ? `write ${of}['${name}'] for the value of a key`
            : at.kind === 'LIST'
              ? `write ${of}[1] for an element, or unnest(${of})`
              : undefined;
        throw this.analysis.places.error('UNKNOWN_COLUMN', `${of} is a ${sqlTypeText(at)} and has no field "${name}"`, expr, hint);
      }
      const fields = at.fields.map(f => f.name);
      const field = at.fields.find(f => f.name.toLowerCase() === name.toLowerCase());
      if (field === undefined) {
        const near = nearest(name, fields);
        const hint = `${near === undefined ? '' : `did you mean ${near}? `}fields: ${fields.join(', ')}`;
        throw this.analysis.places.error('UNKNOWN_COLUMN', `there is no field "${name}" in ${of}`, expr, hint);
      }
      at = field.type;
    }
  }

  /** Tells the user of a field that no state has whose JSON is read. */
  private noteField(column: RelationColumn | undefined, field: Literal | undefined): void {
    if (field?.kind !== 'string' || /^[$/]/.test(field.value)) return;
    for (const { scan, column: name } of column?.lineage ?? []) scan.bound.remarkField?.(name, field.value);
  }

  /** `.a.b` on something that is no simple column. */
  private path(base: Rewritten, path: readonly string[], at: ColumnRef): Rewritten {
    if (path.length === 0) return base;
    if (base.kind === 'mixed' || base.type?.kind === 'JSON') {
      const pointer = path.map(p => `/${p.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
      const json = base.kind === 'mixed' ? base.json : () => cloneTree(base.expr);
      if (base.kind === 'mixed') this.noteField(base.column, { kind: 'string', value: path[0] });
      return mixedMember(() => call('json_extract', json(), textConstant(pointer)), at.column_names.join('.'), at);
    }
    this.checkPath(base.type, path, at);
    let expr = base.expr;
    for (const name of path) expr = operator('STRUCT_EXTRACT', expr, textConstant(name));
    return { kind: 'plain', expr: keep(at, expr), type: typeOfPath(base.type, path) };
  }

  private async comparison(expr: ComparisonExpr): Promise<Expr> {
    const left = await this.rewrite(expr.left);
    const right = await this.rewrite(expr.right);
    const done = await this.comparisons.compared(expr.type, left, right, expr);
    return keep(expr, done);
  }

  private async between(expr: BetweenExpr): Promise<Expr> {
    const input = await this.rewrite(expr.input);
    if (input.kind === 'mixed') throw refused(this.analysis.places, input, 'BETWEEN');
    const lower = await this.rewrite(expr.lower);
    const upper = await this.rewrite(expr.upper);
    const low = await this.comparisons.compared('COMPARE_GREATERTHANOREQUALTO', input, lower, expr);
    const high = await this.comparisons.compared('COMPARE_LESSTHANOREQUALTO', { ...input, expr: cloneTree(input.expr) }, upper, expr);
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
        parts.push(await this.comparisons.compared(negated ? 'COMPARE_NOTEQUAL' : 'COMPARE_EQUAL', again, item, expr));
      }
      return keep(expr, conjunction(negated ? 'AND' : 'OR', parts));
    }
    if (input.kind === 'mixed') {
      const texts = items.flatMap(i => {
        const literal = constantIn(i);
        return literal === undefined || literal.kind === 'null' ? [(i as Plain).expr] : mixedTexts(literal).map(textConstant);
      });
      return keep(expr, operator(expr.type, input.text(), ...texts));
    }
    const literals = items.map(constantIn);
    const type = literals.some(l => l !== undefined && l.kind !== 'null') ? await this.comparisons.typeOf(input) : undefined;
    const kept: Expr[] = [];
    const apart: Expr[] = [];
    for (let i = 0; i < items.length; i++) {
      const item = (items[i] as Plain).expr;
      const literal = literals[i];
      if (literal === undefined || type === undefined) kept.push(item);
      else {
        const adapted = await this.analysis.typing.adapt(literal, type);
        if (adapted.kind === 'same' || adapted.kind === 'expr') kept.push(adapted.kind === 'same' ? item : adapted.expr);
        else if (adapted.kind === 'gap' && adapted.unheld)
          apart.push(gapHolds(negated ? 'COMPARE_NOTEQUAL' : 'COMPARE_EQUAL', cloneTree(input.expr), adapted));
      }
    }
    if (kept.length === 0 && apart.length === 0) return keep(expr, neverEqual(input.expr, negated));
    const list = kept.length === 0 ? [] : [operator(expr.type, input.expr, ...kept)];
    return keep(expr, conjunction(negated ? 'AND' : 'OR', [...list, ...apart]));
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
        const [child] = expr.children;
        const called = child.class === 'COLUMN_REF' ? child.column_names : ['the value'];
        const base = await this.rewrite(child);
        const index = await this.plain(expr.children[1]);
        const literal = literalOf(index);
        const isJson = base.kind === 'mixed' || base.type?.kind === 'JSON';
        if (isJson && literal !== undefined) {
          const json = base.kind === 'mixed' ? base.json : () => cloneTree((base as Plain).expr);
          const name = base.kind === 'mixed' ? `${base.name}[…]` : 'this value';
          const at = base.kind === 'mixed' ? base.at : expr;
          if (literal.kind === 'string') return this.path(base, [literal.value], { ...columnRef(name), ...location(at) });
          return mixedMember(() => operator('ARRAY_EXTRACT', json(), cloneTree(index)), name, at);
        }
        expr.children = [base.kind === 'plain' ? base.expr : base.json(), index];
        if (base.kind === 'mixed' || literal?.kind !== 'string') return { kind: 'plain', expr, type: undefined };
        const type = await this.comparisons.typeOf(base);
        if (type?.kind !== 'STRUCT') return { kind: 'plain', expr, type: undefined };
        this.checkPath(type, [literal.value], { ...columnRef(...called, literal.value), ...location(child) });
        return { kind: 'plain', expr, type: typeOfPath(type, [literal.value]) };
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
    for (const [i, child] of expr.children.entries()) {
      const arg = await this.rewrite(i > 0 && PATHS.has(name) ? pathOfName(child) : child);
      args.push(LIKES.has(name) ? await this.asVarchar(arg) : arg);
    }
    if (name === '->>') {
      this.noteField(args[0].column, constantIn(args[1]));
      const member = await this.structText(args[0], args[1], expr);
      if (member !== undefined) return member;
      args[0] = await this.jsonBase(args[0]);
    }
    if (name === 'struct_extract' && args.length === 2 && args[0].kind === 'plain') {
      const field = constantIn(args[1]);
      const type = field?.kind === 'string' ? await this.comparisons.typeOf(args[0]) : undefined;
      if (field?.kind === 'string' && type?.kind === 'STRUCT')
        this.checkPath(type, [field.value], { ...columnRef('the value', field.value), ...location(expr) });
    }
    return this.called(expr, name, args, () => expr);
  }

  /** What JSON arrows read: nested values of a type become JSON, so that a statement goes on working once a column is typed. */
  private async jsonBase(base: Rewritten): Promise<Rewritten> {
    if (base.kind === 'mixed') return base;
    const type = await this.comparisons.typeOf(base);
    if (type?.kind !== 'STRUCT' && type?.kind !== 'LIST' && type?.kind !== 'MAP') return base;
    return { kind: 'plain', expr: call('to_json', base.expr), type: JSON_TYPE };
  }

  /** `s->>'field'` of a STRUCT: the field's text, as it is where the column is mixed. */
  private async structText(base: Rewritten, key: Rewritten, node: Expr): Promise<Rewritten | undefined> {
    const name = constantIn(key);
    if (base.kind === 'mixed' || name?.kind !== 'string') return undefined;
    const type = await this.comparisons.typeOf(base);
    const field = typeOfPath(type, [name.value]);
    if (field === undefined || ['FLOAT', 'DOUBLE', 'STRUCT', 'LIST', 'MAP', 'INTERVAL', 'JSON'].includes(field.kind)) return undefined;
    const member = operator('STRUCT_EXTRACT', base.expr, textConstant(name.value));
    return { kind: 'plain', expr: keep(node, castToText(member, field, node, this.analysis.places)), type: VARCHAR };
  }

  /** LIKE reads text: numbers and the like become theirs. */
  private async asVarchar(arg: Rewritten): Promise<Rewritten> {
    if (arg.kind === 'mixed') return arg;
    const literal = constantIn(arg);
    if (literal !== undefined)
      return literal.kind === 'null' ? arg : { kind: 'plain', expr: textOfLiteral(literal, arg.expr), type: VARCHAR };
    const type = await this.comparisons.typeOf(arg);
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
    if (mixed?.kind === 'mixed' && ORDERED.has(name)) throw refused(this.analysis.places, mixed, /^\w/.test(name) ? `${name}()` : name);
    const [first, second] = args;
    if (second?.kind === 'mixed' && /^(arg_?(min|max)|(min|max)_by)/.test(name)) throw refused(this.analysis.places, second, `${name}()`);
    if (first?.kind === 'plain' && first.collects !== undefined && LIST_ORDERED.has(name))
      throw refused(this.analysis.places, first.collects, 'ORDER BY');
    // by one path, JSON null is NULL; of several (`$.*`) the list has them as they are
    const path = EXTRACTS.has(name) && second !== undefined ? constantIn(second) : undefined;
    const member = path !== undefined && path.kind !== 'null' && !(path.kind === 'string' && path.value.includes('*'));
    const wantsJson = WANT_JSON.has(name) || name.startsWith('json') || COLLECT.has(name) || PASS_MIXED.has(name);
    const passes = first?.kind === 'mixed' && PASS_MIXED.has(name);
    expr.children = args.map((a, i) =>
      a.kind === 'plain' ? a.expr : wantsJson && (i === 0 || name.startsWith('json')) ? a.json() : a.text(),
    );
    if (passes && first.kind === 'mixed') return derivedMixed(() => cloneTree(self()), `${name}(${first.name})`, first.at);
    if (member && first?.kind === 'mixed') return mixedMember(() => cloneTree(self()), `${name}(${first.name})`, first.at);
    if (member) {
      const alias = expr.alias;
      expr.alias = '';
      return { kind: 'plain', expr: { ...memberOf(self()), alias }, type: JSON_TYPE };
    }
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
    if (done.kind === 'mixed') throw refused(this.analysis.places, done, 'ORDER BY');
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
          ? refused(this.analysis.places, child, comparisonSign(compareAs))
          : this.analysis.places.error('REFUSED', 'comparing with a subquery that has several types', expr, 'cast its column');
      }
      expr.child = await this.comparisons.textOf(child, expr);
      await this.outputAsText(expr, column);
      return boolean(expr);
    }
    const literal = constantIn(child);
    const type = await column?.type();
    expr.child = child.expr;
    if (literal !== undefined && type !== undefined) {
      const adapted = await this.analysis.typing.adapt(literal, type);
      if (adapted.kind === 'never' || (adapted.kind === 'gap' && EQUALITY.has(compareAs)))
        return boolean(compare('COMPARE_EQUAL', constant('INTEGER', 0), constant('INTEGER', 1)));
      if (adapted.kind === 'expr') expr.child = adapted.expr;
    }
    return boolean(expr);
  }

  /** Wraps the subquery of an IN so that its column comes as text. */
  private async outputAsText(expr: SubqueryExpr, column: RelationColumn | undefined): Promise<void> {
    const ref = columnRef('c');
    const type = await column?.type();
    const text = column?.mixed ? jsonText(() => cloneTree(ref)) : castToText(ref, type, expr, this.analysis.places);
    expr.subquery = statement(selectNode([text], subqueryTable(expr.subquery.node, 'items', ['c'])));
  }
}

/** functions that give the JSON at a path */
const EXTRACTS: ReadonlySet<string> = new Set(['->', 'json_extract', 'json_extract_path']);

/** functions whose arguments behind the first are paths into JSON */
const PATHS: ReadonlySet<string> = new Set([
  ...EXTRACTS,
  ...['->>', 'json_extract_string', 'json_extract_path_text', 'json_exists', 'json_value', 'json_type', 'json_array_length', 'json_keys'],
]);

/** `'$class'`, `'$hex'` are names that our JSON has; to the engine they are paths that cannot be read. */
function pathOfName(path: Expr): Expr {
  const name = literalOf(path);
  return name?.kind === 'string' && /^\$[A-Za-z_]\w*$/.test(name.value) ? keep(path, textConstant(`$."${name.value}"`)) : path;
}

/** Parameters on the left of a lambda: `x`, `(x, i)`. */
function lambdaParameters(lhs: Expr): readonly string[] {
  if (lhs.class === 'COLUMN_REF') return [lhs.column_names[0].toLowerCase()];
  if (lhs.class === 'FUNCTION') return lhs.children.flatMap(lambdaParameters);
  return [];
}
