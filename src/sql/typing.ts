/**
 * SQL types of expressions and the literal rule (contract §2).
 *
 * Types come from the tree where it says them (columns, paths, casts, comparisons); otherwise the engine is asked: the
 * expression is bound over NULLs of the types of its columns, and nothing is run.
 *
 * Literal rule, for a constant against something of another type; a comparison that can never hold is false where the
 * other side has a value and NULL where it has none, and `<>` is its negation:
 *
 *   number      'x'   the number that 'x' spells; none: never
 *   VARCHAR     1     the text of the number, '1'
 *   other       'x'   'x' cast to the type; if it cannot be: never
 *   other       1     never (JSON: the number as JSON; BOOLEAN, INTERVAL: as the engine does)
 *   mixed       any   the text of the constant against the text form
 */
import { SqlError } from '../errors.js';
import type { Constant } from '../tables/table.js';
import { type SqlType, sqlTypeText } from '../types.js';
import {
  booleanConstant,
  type CompareType,
  call,
  cast,
  conjunction,
  document,
  type Expr,
  emptyTable,
  nullConstant,
  operator,
  selectNode,
  someExpr,
  textConstant,
  treeText,
} from './ast.js';
import { astOfType, isNumeric } from './ast-types.js';
import { AGGREGATES } from './functions.js';
import { type Literal, literalText, numberExpr, numberOf, SPECIAL_TEXT } from './literals.js';

/** What typing needs of the engine. */
export interface Binder {
  /** json_deserialize_sql */
  deserialize(tree: string): Promise<string>;
  /** names and types of a statement's columns, without running it; throws where it does not bind */
  describe(sql: string): Promise<readonly { readonly name: string; readonly sql: SqlType | undefined }[]>;
  /** one text value of a statement with one parameter */
  scalar(sql: string, parameter: string): Promise<string>;
}

/** What a comparison of a constant with something of a known type becomes. */
export type Adapted =
  /** as it is */
  | { readonly kind: 'same' }
  /** another expression in the constant's place; `literal` if it still is a constant */
  | { readonly kind: 'expr'; readonly expr: Expr; readonly literal?: Constant }
  /** equal to no value of the type, and not comparable */
  | { readonly kind: 'never' };

/** The text of a fractional constant that a float can hold; undefined: no such constant. */
function floatText(literal: Literal): string | undefined {
  const number = literal.kind === 'string' ? numberOf(literal.value) : literal;
  if (number?.kind !== 'decimal' && number?.kind !== 'double') return undefined;
  return Number.isFinite(Math.fround(Number(number.text))) ? number.text : undefined;
}
export class Typing {
  private readonly casts = new Map<string, Promise<string | undefined>>();

  constructor(readonly binder: Binder) {}

  /** The literal rule: a constant against a value of `type`. */
  async adapt(literal: Literal, type: SqlType): Promise<Adapted> {
    if (literal.kind === 'null') return { kind: 'same' };
    if (isNumeric(type)) {
      if (type.kind === 'FLOAT') {
        // a float is shown by the shortest number that reads back to it: that number finds it
        const shown = floatText(literal);
        if (shown !== undefined) return { kind: 'expr', expr: cast(textConstant(shown), 'FLOAT') };
      }
      if (literal.kind !== 'string') return { kind: 'same' };
      const number = numberOf(literal.value);
      if (number === undefined) return { kind: 'never' };
      const special = number.kind === 'double' && SPECIAL_TEXT.test(number.text);
      if (special && type.kind !== 'FLOAT' && type.kind !== 'DOUBLE') return { kind: 'never' };
      if (number.kind === 'integer' || number.kind === 'decimal') return { kind: 'expr', expr: numberExpr(number), literal: number };
      return { kind: 'expr', expr: numberExpr(number) };
    }
    if (type.kind === 'VARCHAR') {
      if (literal.kind === 'string') return { kind: 'same' };
      const text = literalText(literal);
      if (text !== undefined) return { kind: 'expr', expr: textConstant(text), literal: { kind: 'string', value: text } };
      return { kind: 'expr', expr: cast(cast(textConstant((literal as { text: string }).text), 'DOUBLE'), 'VARCHAR') };
    }
    if (type.kind === 'BOOLEAN' && literal.kind !== 'string') return { kind: 'same' };
    if (literal.kind !== 'string' && type.kind !== 'JSON') return { kind: 'never' };
    const text = literalText(literal);
    if (text === undefined) return { kind: 'never' };
    if (type.kind === 'BLOB' && /^([0-9a-f]{2})+$/i.test(text)) return { kind: 'expr', expr: call('unhex', textConstant(text)) };
    if ((type.kind === 'TIMESTAMP' || type.kind === 'TIMESTAMPTZ') && /\.\d{6}\d*[1-9]/.test(text))
      throw new SqlError('REFUSED', `'${text}' is finer than the microseconds of ${type.kind}`, {
        hint: 'compare value_json of keyed_state_raw, which has every digit',
      });
    const canonical = await this.canonical(text, type);
    if (canonical === undefined && /^\s*[[{]/.test(text) && (type.kind === 'STRUCT' || type.kind === 'LIST' || type.kind === 'MAP'))
      throw new SqlError('REFUSED', `this text cannot be read as ${sqlTypeText(type)}`, {
        hint: 'compare the fields (value.f0 = …), or the text of value_json of keyed_state_raw',
      });
    if (canonical === undefined) return { kind: 'never' };
    const value: Constant =
      type.kind === 'BOOLEAN' ? { kind: 'boolean', value: canonical === 'true' } : { kind: 'string', value: canonical };
    return { kind: 'expr', expr: cast(textConstant(text), astOfType(type)), literal: value };
  }

  /** The text of `text` cast to the type and back; undefined when it cannot be cast. */
  canonical(text: string, type: SqlType): Promise<string | undefined> {
    const name = sqlTypeText(type);
    const key = `${name}\u0000${text}`;
    let found = this.casts.get(key);
    if (found === undefined) {
      const sql = `SELECT coalesce('+' || TRY_CAST(TRY_CAST($1::VARCHAR AS ${name}) AS VARCHAR), '-')`;
      found = this.binder.scalar(sql, text).then(
        answer => (answer.startsWith('+') ? answer.slice(1) : undefined),
        () => undefined,
      );
      this.casts.set(key, found);
    }
    return found;
  }

  /** The type of an expression whose column references are stubs: `SELECT expr FROM (SELECT NULL::T AS c) AS a`. */
  async probe(expr: Expr, stubs: ReadonlyMap<string, ReadonlyMap<string, SqlType>>): Promise<SqlType | undefined> {
    const tables = [...stubs].map(([alias, columns]) => {
      const items = [...columns].map(([name, type]) => `NULL::${sqlTypeText(type)} AS ${quoted(name)}`);
      return `(SELECT ${items.join(', ')}) AS ${quoted(alias)}`;
    });
    try {
      const select = (await this.binder.deserialize(treeText(document(selectNode([expr], emptyTable()))))).replace(/;?\s*$/, '');
      const from = tables.length === 0 ? '' : ` FROM ${tables.join(', ')}`;
      const grouped = someExpr(expr, e => e.class === 'FUNCTION' && AGGREGATES.has(e.function_name.toLowerCase()));
      const [column] = await this.binder.describe(`${select}${from}${grouped ? ' GROUP BY ALL' : ''}`);
      return column?.sql;
    } catch {
      return undefined;
    }
  }

  /** The one type that a UNION of these gives. */
  async unify(types: readonly (SqlType | undefined)[]): Promise<SqlType | undefined> {
    const known = types.filter(t => t !== undefined);
    if (known.length !== types.length) return undefined;
    const names = [...new Set(known.map(sqlTypeText))];
    if (names.length === 1) return known[0];
    try {
      const [column] = await this.binder.describe(names.map(n => `SELECT NULL::${n}`).join(' UNION ALL '));
      return column?.sql;
    } catch {
      return undefined;
    }
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** False where `value` is not NULL, else NULL; negated: true and NULL. */
export function neverEqual(value: Expr, negated: boolean): Expr {
  const test = operator(negated ? 'OPERATOR_IS_NOT_NULL' : 'OPERATOR_IS_NULL', value);
  return conjunction(negated ? 'OR' : 'AND', [test, cast(nullConstant(), 'BOOLEAN')]);
}

/** What a comparison that can never hold becomes. */
export function neverHolds(type: CompareType, value: Expr): Expr {
  if (type === 'COMPARE_DISTINCT_FROM') return booleanConstant(true);
  if (type === 'COMPARE_NOT_DISTINCT_FROM') return booleanConstant(false);
  return neverEqual(value, type === 'COMPARE_NOTEQUAL');
}

/** The comparison with its sides exchanged. */
export function mirrored(type: CompareType): CompareType {
  switch (type) {
    case 'COMPARE_LESSTHAN':
      return 'COMPARE_GREATERTHAN';
    case 'COMPARE_GREATERTHAN':
      return 'COMPARE_LESSTHAN';
    case 'COMPARE_LESSTHANOREQUALTO':
      return 'COMPARE_GREATERTHANOREQUALTO';
    case 'COMPARE_GREATERTHANOREQUALTO':
      return 'COMPARE_LESSTHANOREQUALTO';
    default:
      return type;
  }
}
