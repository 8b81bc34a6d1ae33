/**
 * Constants of the tree, exact: 64- and 128-bit integers and decimals never pass through a double.
 */
import type { Constant } from '../tables/table.js';
import { Decimal } from '../types.js';
import { cast, constant, type Expr, numberText, rawNumber, textConstant } from './ast.js';

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
/** NaN and the infinities */
export const SPECIAL_TEXT = /^\s*([+-]?)(nan|inf|infinity)\s*$/i;

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
