/**
 * What an expression is once it is rewritten: `plain`, or `mixed`: JSON that also has a text form. A mixed one keeps both until
 * something asks.
 */
import type { StateQueryError } from '../errors.js';
import { type SqlType, VARCHAR } from '../types.js';
import { call, type Expr, type SubqueryExpr, textConstant } from './ast.js';
import type { Places } from './guard.js';
import { type Literal, literalOf } from './literals.js';
import type { RelationColumn, Scope } from './relations.js';
import { jsonText } from './text-form.js';
import type { Typing } from './typing.js';

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

/** The constant that a rewritten expression is. */
export const constantIn = (side: Rewritten): Literal | undefined =>
  side.kind === 'plain' ? (side.literal ?? literalOf(side.expr)) : undefined;

export const BOOLEAN_TYPE: SqlType = { kind: 'BOOLEAN' };
export const boolean = (expr: Expr): Plain => ({ kind: 'plain', expr, type: BOOLEAN_TYPE });

export function literalType(literal: Literal | undefined): SqlType | undefined {
  if (literal === undefined) return undefined;
  if (literal.kind === 'string') return VARCHAR;
  if (literal.kind === 'boolean') return BOOLEAN_TYPE;
  return undefined;
}

/** A new node in the place of another: its alias and location. */
export function keep(from: Expr, to: Expr): Expr {
  to.alias = from.alias;
  if (to.query_location === undefined && from.query_location !== undefined) to.query_location = from.query_location;
  return to;
}
export const location = (at: { query_location?: number | string }) => ({ query_location: at.query_location });

export function derivedMixed(json: () => Expr, name: string, at: { query_location?: number | string }): Mixed {
  return { kind: 'mixed', json, text: () => jsonText(json), name, at };
}

/** JSON by a path: JSON null there is NULL, as a field without a value is; inside of what is found it stays. */
export const memberOf = (json: Expr): Expr => call('nullif', { ...json, alias: '' }, textConstant('null'));

/** A part of mixed JSON. */
export function mixedMember(json: () => Expr, name: string, at: { query_location?: number | string }): Mixed {
  return { kind: 'mixed', json: () => memberOf(json()), text: () => jsonText(json), name, at };
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

/** The refusal of an operation on a mixed expression, with what to write instead. */
export function refused(places: Places, mixed: Mixed, what: string): StateQueryError {
  return places.error(
    'REFUSED',
    `${what} on ${mixed.name}, which has several types here`,
    mixed.at,
    `add state_name = '…' (and operator_uid or operator_id) so that one type is left, or cast: TRY_CAST(${mixed.name} AS BIGINT)`,
  );
}
