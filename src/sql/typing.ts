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
 *   number      1.5   as it is; between two neighbours of an integer or DECIMAL type, or beyond them all: equal to none, and in its
 *                     place in the order
 *   VARCHAR     1     the text of the number, '1'
 *   other       'x'   'x' cast to the type; if it cannot be: never. STRUCT, LIST, MAP: the JSON form, or as the engine spells them
 *   other       1     never (JSON: the number as JSON; BOOLEAN, INTERVAL: as the engine does)
 *   mixed       any   the text of the constant against the text form; a zero equals both zeros of floats, 0 and -0.0
 */
import { SqlError } from '../errors.js';
import { compactJson, type JsonNode, parseJson } from '../io/json-tree.js';
import type { Constant } from '../tables/table.js';
import { Decimal, type SqlType, sqlTypeSyntax, sqlTypeText } from '../types.js';
import {
  booleanConstant,
  type CompareType,
  call,
  cast,
  compare,
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
import { exactNumber, fixedRange, integerExpr, type Literal, literalText, numberOf, SPECIAL_TEXT } from './literals.js';

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
  /**
   * a number that the type has not: above `below` and everything under it, beneath all others; undefined: beneath them all.
   * `unheld`: a value may be stored that is this number and that the type cannot hold (BigInteger): it has to be read, and then stops
   * the statement
   */
  | { readonly kind: 'gap'; readonly below: { readonly expr: Expr; readonly literal: Constant } | undefined; readonly unheld?: boolean }
  /** equal to no value of the type, and not comparable */
  | { readonly kind: 'never' };

/** A number against a type of integers or decimals. */
function adaptFixed(
  number: Literal,
  type: SqlType,
  range: { readonly min: bigint; readonly max: bigint; readonly scale: number },
): Adapted {
  const exact = exactNumber(number);
  // NaN and the infinities
  if (exact === undefined) return { kind: 'never' };
  const { min, max, scale } = range;
  const one = 10n ** BigInt(Math.max(0, exact.scale - scale));
  const scaled = exact.unscaled * 10n ** BigInt(Math.max(0, scale - exact.scale));
  const floor = scaled / one - (scaled % one < 0n ? 1n : 0n);
  if (scaled % one === 0n && floor >= min && floor <= max) return { kind: 'expr', ...fixedConstant(floor, type) };
  const below = floor > max ? max : floor;
  const unheld = type.kind === 'HUGEINT' && (floor > max || floor < min);
  return { kind: 'gap', below: below < min ? undefined : fixedConstant(below, type), unheld };
}

function fixedConstant(unscaled: bigint, type: SqlType): { readonly expr: Expr; readonly literal: Constant } {
  if (type.kind !== 'DECIMAL') return { expr: integerExpr(unscaled), literal: { kind: 'integer', value: unscaled } };
  const text = new Decimal(unscaled, type.scale).toString();
  const literal: Constant = type.scale === 0 ? { kind: 'integer', value: unscaled } : { kind: 'decimal', text };
  return { expr: cast(textConstant(text), astOfType(type)), literal };
}

/**
 * A number against FLOAT or DOUBLE: the nearest value. A float is shown by the shortest number that reads back to it, so that
 * number finds it; what no float holds is compared as a double.
 */
function adaptFloating(number: Literal, type: SqlType): Adapted {
  if (number.kind !== 'integer' && number.kind !== 'decimal' && number.kind !== 'double') return { kind: 'same' };
  const text = number.kind === 'integer' ? String(number.value) : number.text;
  const literal: Constant = number.kind === 'double' ? { kind: 'decimal', text } : number;
  const special = SPECIAL_TEXT.test(text);
  if (!special && !Number.isFinite(Number(text))) {
    const sign = text.trim().startsWith('-') ? '-' : '';
    const edge = `${sign}${Number.MAX_VALUE}`;
    if (sign === '') return { kind: 'gap', below: { expr: cast(textConstant(edge), 'DOUBLE'), literal: { kind: 'decimal', text: edge } } };
    return {
      kind: 'gap',
      below: { expr: cast(textConstant('-Infinity'), 'DOUBLE'), literal: { kind: 'decimal', text: '-Infinity' } },
    };
  }
  const single = type.kind === 'FLOAT' && (special || Number.isFinite(Math.fround(Number(text))));
  return { kind: 'expr', expr: cast(textConstant(text), single ? 'FLOAT' : 'DOUBLE'), literal };
}

/** The entries of a MAP in either of its JSON forms. */
function mapEntries(json: JsonNode): readonly { readonly key: JsonNode; readonly value: JsonNode }[] | undefined {
  if (json.kind === 'object') return json.members.map(m => ({ key: { kind: 'string', value: m.name }, value: m.value }));
  if (json.kind !== 'array') return undefined;
  const entries: { key: JsonNode; value: JsonNode }[] = [];
  for (const item of json.items) {
    if (item.kind !== 'object' || item.members.length !== 2) return undefined;
    const [key, value] = ['key', 'value'].map(name => item.members.find(m => m.name === name)?.value);
    if (key === undefined || value === undefined) return undefined;
    entries.push({ key, value });
  }
  return entries;
}

export class Typing {
  private readonly casts = new Map<string, Promise<string | undefined>>();

  constructor(readonly binder: Binder) {}

  /** The literal rule: a constant against a value of `type`. */
  async adapt(literal: Literal, type: SqlType): Promise<Adapted> {
    if (literal.kind === 'null') return { kind: 'same' };
    if (isNumeric(type)) {
      const number = literal.kind === 'string' ? numberOf(literal.value) : literal;
      if (number === undefined) return { kind: 'never' };
      if (number.kind === 'boolean') return { kind: 'same' };
      const range = fixedRange(type);
      return range === undefined ? adaptFloating(number, type) : adaptFixed(number, type, range);
    }
    if (type.kind === 'VARCHAR') {
      if (literal.kind === 'string') return { kind: 'same' };
      const text = literalText(literal);
      return { kind: 'expr', expr: textConstant(text), literal: { kind: 'string', value: text } };
    }
    if (type.kind === 'BOOLEAN' && literal.kind !== 'string') return { kind: 'same' };
    if (literal.kind !== 'string' && type.kind !== 'JSON') return { kind: 'never' };
    const text = literalText(literal);
    if (type.kind === 'BLOB' && /^([0-9a-f]{2})+$/i.test(text)) return { kind: 'expr', expr: call('unhex', textConstant(text)) };
    if ((type.kind === 'TIMESTAMP' || type.kind === 'TIMESTAMPTZ') && /\.\d{6}\d*[1-9]/.test(text))
      throw new SqlError('REFUSED', `'${text}' is finer than the microseconds of ${type.kind}`, {
        hint: 'compare value_json of keyed_state_raw, which has every digit',
      });
    if (type.kind === 'STRUCT' || type.kind === 'LIST' || type.kind === 'MAP') {
      const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
      if (json !== undefined) {
        const expr = await this.nested(json, type);
        return expr === undefined ? { kind: 'never' } : { kind: 'expr', expr: cast(expr, astOfType(type)) };
      }
    }
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

  /**
   * A value of the type from its JSON form (contract §3): what mixed columns show of it. All fields have to be there, in any order.
   * undefined: no value is shown so.
   */
  private async nested(json: JsonNode, type: SqlType): Promise<Expr | undefined> {
    if (json.kind === 'null') return cast(nullConstant(), astOfType(type));
    switch (type.kind) {
      case 'STRUCT': {
        if (json.kind !== 'object' || new Set(json.members.map(m => m.name)).size !== json.members.length) return undefined;
        const extra = json.members.find(m => !type.fields.some(f => f.name === m.name));
        if (extra?.name.startsWith('$'))
          throw new SqlError('REFUSED', `"${extra.name}" is in the JSON form of values only; ${sqlTypeText(type)} has no such field`, {
            hint: 'compare value_json of keyed_state_raw, or the fields (value.f0 = …)',
          });
        if (extra !== undefined) return undefined;
        if (json.members.length !== type.fields.length && !(type.choice && json.members.length === 1)) return undefined;
        const fields: Expr[] = [];
        for (const { name, type: of } of type.fields) {
          const member = json.members.find(m => m.name === name);
          const value = await this.nested(member?.value ?? { kind: 'null' }, of);
          if (value === undefined) return undefined;
          fields.push({ ...value, alias: name });
        }
        return call('struct_pack', ...fields);
      }
      case 'LIST':
        return json.kind === 'array' ? this.list(json.items, type.element) : undefined;
      case 'MAP': {
        const entries = mapEntries(json);
        if (entries === undefined) return undefined;
        const keys = await this.list(
          entries.map(e => e.key),
          type.key,
        );
        const values = await this.list(
          entries.map(e => e.value),
          type.value,
        );
        if (keys === undefined || values === undefined) return undefined;
        return call(
          'map',
          cast(keys, astOfType({ kind: 'LIST', element: type.key })),
          cast(values, astOfType({ kind: 'LIST', element: type.value })),
        );
      }
      case 'JSON':
        return cast(textConstant(compactJson(json)), astOfType(type));
      default: {
        const literal: Literal | undefined =
          json.kind === 'string'
            ? { kind: 'string', value: json.value }
            : json.kind === 'boolean'
              ? { kind: 'boolean', value: json.value }
              : json.kind === 'number'
                ? numberOf(json.text)
                : undefined;
        if (literal === undefined) return undefined;
        if (type.kind === 'VARCHAR') return literal.kind === 'string' ? textConstant(literal.value) : undefined;
        if (type.kind === 'BOOLEAN') return literal.kind === 'boolean' ? booleanConstant(literal.value) : undefined;
        const adapted = await this.adapt(literal, type);
        return adapted.kind === 'expr' ? cast(adapted.expr, astOfType(type)) : undefined;
      }
    }
  }

  private async list(items: readonly JsonNode[], element: SqlType): Promise<Expr | undefined> {
    const out: Expr[] = [];
    for (const item of items) {
      const value = await this.nested(item, element);
      if (value === undefined) return undefined;
      out.push(value);
    }
    return call('list_value', ...out);
  }

  /** The text of `text` cast to the type and back; undefined when it cannot be cast. */
  canonical(text: string, type: SqlType): Promise<string | undefined> {
    const name = sqlTypeSyntax(type);
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
      const items = [...columns].map(([name, type]) => `NULL::${sqlTypeSyntax(type)} AS ${quoted(name)}`);
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
    const names = [...new Set(known.map(sqlTypeSyntax))];
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

/** What a comparison with a number becomes that `value`'s type has not. */
export function gapHolds(type: CompareType, value: Expr, { below: edge, unheld }: Adapted & { readonly kind: 'gap' }): Expr {
  // nothing that the engine can decide without the values
  if (unheld) return compare(type, value, cast(textConstant(edge === undefined ? '-Infinity' : 'Infinity'), 'DOUBLE'));
  const below = edge?.expr;
  const less = type === 'COMPARE_LESSTHAN' || type === 'COMPARE_LESSTHANOREQUALTO';
  const greater = type === 'COMPARE_GREATERTHAN' || type === 'COMPARE_GREATERTHANOREQUALTO';
  if (!less && !greater) return neverHolds(type, value);
  if (below === undefined) return neverEqual(value, greater);
  return compare(less ? 'COMPARE_LESSTHANOREQUALTO' : 'COMPARE_GREATERTHAN', value, below);
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
