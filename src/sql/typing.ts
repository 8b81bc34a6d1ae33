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
import type { Constant } from '../tables/table.js';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  Decimal,
  DOUBLE,
  decimal,
  FLOAT,
  HUGEINT,
  INTEGER,
  INTERVAL,
  JSON_TYPE,
  list,
  map,
  SMALLINT,
  type SqlType,
  sqlTypeText,
  TIME,
  TIME_NS,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  TINYINT,
  UUID,
  VARCHAR,
} from '../types.js';
import {
  type AstType,
  booleanConstant,
  type CompareType,
  cast,
  compare,
  conjunction,
  constant,
  document,
  type Expr,
  emptyTable,
  nullConstant,
  numberText,
  operator,
  rawNumber,
  selectNode,
  someExpr,
  textConstant,
  treeText,
} from './ast.js';
import { AGGREGATES } from './functions.js';

/** What typing needs of the engine. */
export interface Binder {
  /** json_deserialize_sql */
  deserialize(tree: string): Promise<string>;
  /** names and types of a statement's columns, without running it; throws where it does not bind */
  describe(sql: string): Promise<readonly { readonly name: string; readonly sql: SqlType | undefined }[]>;
  /** one text value of a statement with one parameter */
  scalar(sql: string, parameter: string): Promise<string>;
}

const BY_ID: ReadonlyMap<string, SqlType> = new Map<string, SqlType>([
  ['BOOLEAN', BOOLEAN],
  ['TINYINT', TINYINT],
  ['SMALLINT', SMALLINT],
  ['INTEGER', INTEGER],
  ['BIGINT', BIGINT],
  ['HUGEINT', HUGEINT],
  ['FLOAT', FLOAT],
  ['DOUBLE', DOUBLE],
  ['VARCHAR', VARCHAR],
  ['BLOB', BLOB],
  ['UUID', UUID],
  ['DATE', DATE],
  ['TIME', TIME],
  ['TIME_NS', TIME_NS],
  ['TIMESTAMP', TIMESTAMP],
  ['TIMESTAMP_NS', TIMESTAMP_NS],
  ['TIMESTAMP WITH TIME ZONE', TIMESTAMPTZ],
  ['INTERVAL', INTERVAL],
]);

/** The type that a cast names; undefined for those outside of the value model. */
export function typeOfAst(type: AstType): SqlType | undefined {
  const info = type.type_info;
  if (type.id === 'DECIMAL') return decimal(info?.width ?? 18, info?.scale ?? 3);
  if (type.id === 'LIST' && info?.child_type) {
    const element = typeOfAst(info.child_type);
    return element && list(element);
  }
  if (type.id === 'MAP' && info?.child_type?.type_info?.child_types) {
    const [key, value] = info.child_type.type_info.child_types.map(c => typeOfAst(c.second));
    return key && value && map(key, value);
  }
  if (type.id === 'STRUCT' && info?.child_types) {
    const fields = info.child_types.map(c => ({ name: c.first, type: typeOfAst(c.second) }));
    if (fields.some(f => f.type === undefined)) return undefined;
    return { kind: 'STRUCT', fields: fields as { name: string; type: SqlType }[] };
  }
  if (type.id === 'UNBOUND' && info !== null) {
    const { name } = info as unknown as { name: string };
    return name.toLowerCase() === 'json' ? JSON_TYPE : undefined;
  }
  return BY_ID.get(type.id);
}

/** Whether the type is a number. */
export function isNumeric(type: SqlType): boolean {
  switch (type.kind) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'HUGEINT':
    case 'FLOAT':
    case 'DOUBLE':
    case 'DECIMAL':
      return true;
    default:
      return false;
  }
}

/** A constant as the statement holds it. `double` is one that only the engine writes as text. */
export type Literal = Constant | { readonly kind: 'null' } | { readonly kind: 'double'; readonly text: string };

/** The constant that an expression is: literals, TRUE and FALSE, signed numbers. */
export function literalOf(expr: Expr): Literal | undefined {
  if (expr.class === 'CAST' && !expr.try_cast && expr.cast_type.id === 'BOOLEAN' && expr.child.class === 'CONSTANT') {
    const text = expr.child.value.value;
    if (text === 't' || text === 'f') return { kind: 'boolean', value: text === 't' };
    return undefined;
  }
  if (expr.class === 'FUNCTION' && expr.children.length === 1 && (expr.function_name === '-' || expr.function_name === '+')) {
    const inner = literalOf(expr.children[0]);
    if (inner === undefined || expr.function_name === '+') return inner;
    if (inner.kind === 'integer') return { kind: 'integer', value: -inner.value };
    if (inner.kind === 'decimal' || inner.kind === 'double')
      return { kind: inner.kind, text: inner.text.startsWith('-') ? inner.text.slice(1) : `-${inner.text}` };
    return undefined;
  }
  if (expr.class !== 'CONSTANT') return undefined;
  const { value } = expr;
  if (value.is_null) return { kind: 'null' };
  switch (value.type.id) {
    case 'VARCHAR':
      return { kind: 'string', value: String(value.value) };
    case 'BOOLEAN':
      return { kind: 'boolean', value: value.value === true };
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'UBIGINT':
      return { kind: 'integer', value: BigInt(numberText(value.value)) };
    case 'HUGEINT':
    case 'UHUGEINT': {
      const { upper, lower } = value.value as { upper: unknown; lower: unknown };
      return { kind: 'integer', value: (BigInt(numberText(upper)) << 64n) | BigInt.asUintN(64, BigInt(numberText(lower))) };
    }
    case 'DECIMAL': {
      const scale = value.type.type_info?.scale ?? 0;
      const raw = value.value;
      const unscaled =
        typeof raw === 'object' && raw !== null
          ? (BigInt(numberText((raw as { upper: unknown }).upper)) << 64n) |
            BigInt.asUintN(64, BigInt(numberText((raw as { lower: unknown }).lower)))
          : BigInt(numberText(raw));
      return { kind: 'decimal', text: new Decimal(unscaled, scale).toString() };
    }
    case 'DOUBLE':
    case 'FLOAT':
      return { kind: 'double', text: numberText(value.value) };
    default:
      return undefined;
  }
}

/** The text of a constant, as comparisons with text see it; undefined for a double, whose text the engine makes. */
export function literalText(literal: Literal): string | undefined {
  switch (literal.kind) {
    case 'string':
      return literal.value;
    case 'integer':
    case 'boolean':
      return String(literal.value);
    case 'decimal':
      return literal.text;
    default:
      return undefined;
  }
}

const INTEGER_TEXT = /^\s*([+-]?)0*(\d+)\s*$/;
const DECIMAL_TEXT = /^\s*([+-]?)0*(\d*)\.(\d*)\s*$/;
const FLOAT_TEXT = /^\s*[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+\s*$/;
const SPECIAL_TEXT = /^\s*([+-]?)(nan|inf|infinity)\s*$/i;

/** The number that a string spells, exact. */
export function numberOf(text: string): Literal | undefined {
  const integer = INTEGER_TEXT.exec(text);
  if (integer !== null) return { kind: 'integer', value: BigInt(integer[2]) * (integer[1] === '-' ? -1n : 1n) };
  const fraction = DECIMAL_TEXT.exec(text);
  if (fraction !== null && (fraction[2] !== '' || fraction[3] !== '')) {
    if (fraction[3] === '') return numberOf(text.replace('.', ''));
    return { kind: 'decimal', text: `${fraction[1] === '-' ? '-' : ''}${fraction[2] || '0'}.${fraction[3]}` };
  }
  if (FLOAT_TEXT.test(text) || SPECIAL_TEXT.test(text)) return { kind: 'double', text: text.trim() };
  return undefined;
}

const I64 = 1n << 63n;
const I128 = 1n << 127n;

/** An expression for a number. */
export function numberExpr(literal: Literal): Expr {
  if (literal.kind === 'integer') {
    const { value } = literal;
    if (value >= -(1n << 31n) && value < 1n << 31n) return constant('INTEGER', Number(value));
    if (value >= -I64 && value < I64) return constant('BIGINT', rawNumber(String(value)));
    if (value > -I128 && value < I128) return cast(textConstant(String(value)), 'HUGEINT');
    return cast(textConstant(String(value)), 'DOUBLE');
  }
  if (literal.kind === 'decimal') {
    const digits = literal.text.replace(/^-/, '').replace('.', '').length;
    const scale = literal.text.length - literal.text.indexOf('.') - 1;
    if (digits > 38) return cast(textConstant(literal.text), 'DOUBLE');
    const info = { type: 'DECIMAL_TYPE_INFO', alias: '', extension_info: null, width: digits, scale };
    return cast(textConstant(literal.text), { id: 'DECIMAL', type_info: info });
  }
  if (literal.kind === 'double') return cast(textConstant(literal.text), 'DOUBLE');
  throw new Error(`${literal.kind} is no number`);
}

/** What a comparison of a constant with something of a known type becomes. */
export type Adapted =
  /** as it is */
  | { readonly kind: 'same' }
  /** another expression in the constant's place; `literal` if it still is a constant */
  | { readonly kind: 'expr'; readonly expr: Expr; readonly literal?: Constant }
  /** equal to no value of the type, and not comparable */
  | { readonly kind: 'never' };

export class Typing {
  private readonly casts = new Map<string, Promise<string | undefined>>();

  constructor(readonly binder: Binder) {}

  /** The literal rule: a constant against a value of `type`. */
  async adapt(literal: Literal, type: SqlType): Promise<Adapted> {
    if (literal.kind === 'null') return { kind: 'same' };
    if (isNumeric(type)) {
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
    const canonical = await this.canonical(text, type);
    if (canonical === undefined) return { kind: 'never' };
    const value: Constant =
      type.kind === 'BOOLEAN' ? { kind: 'boolean', value: canonical === 'true' } : { kind: 'string', value: canonical };
    return { kind: 'expr', expr: await this.castTo(text, type), literal: value };
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

  /** CAST('text' AS type), by way of the engine's parser for types of any shape. */
  private async castTo(text: string, type: SqlType): Promise<Expr> {
    const simple = [...BY_ID].find(([, t]) => t.kind === type.kind)?.[0];
    if (simple !== undefined) return cast(textConstant(text), simple);
    return cast(textConstant(text), astOfType(type));
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

/** A type for a cast in the tree. */
export function astOfType(type: SqlType): AstType {
  const info = (kind: string, more: object) => ({ type: kind, alias: '', extension_info: null, ...more });
  switch (type.kind) {
    case 'DECIMAL':
      return { id: 'DECIMAL', type_info: info('DECIMAL_TYPE_INFO', { width: type.precision, scale: type.scale }) };
    case 'LIST':
      return { id: 'LIST', type_info: info('LIST_TYPE_INFO', { child_type: astOfType(type.element) }) };
    case 'STRUCT':
      return {
        id: 'STRUCT',
        type_info: info('STRUCT_TYPE_INFO', {
          child_types: type.fields.map(f => ({ first: f.name, second: astOfType(f.type) })),
        }),
      };
    case 'MAP': {
      const entry = {
        kind: 'STRUCT',
        fields: [
          { name: 'key', type: type.key },
          { name: 'value', type: type.value },
        ],
      } as const;
      return { id: 'MAP', type_info: info('LIST_TYPE_INFO', { child_type: astOfType(entry) }) };
    }
    case 'JSON':
      return {
        id: 'UNBOUND',
        type_info: info('UNBOUND_TYPE_INFO', { name: 'json', catalog: '', schema: '', user_type_modifiers: [] }),
      };
    case 'TIMESTAMPTZ':
      return { id: 'TIMESTAMP WITH TIME ZONE', type_info: null };
    default:
      return { id: type.kind, type_info: null };
  }
}

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

export { compare };
