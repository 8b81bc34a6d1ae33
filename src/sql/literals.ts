/**
 * Constants of the tree, exact: 64- and 128-bit integers and decimals never pass through a double.
 */

import { numberText as jsonNumber } from '../io/json.js';
import { compactJson, parseJson } from '../io/json-tree.js';
import type { Constant } from '../tables/table.js';
import { Decimal, type SqlType } from '../types.js';
import { cast, constant, type Expr, numberText, rawNumber, textConstant } from './ast.js';

/** A constant as the statement holds it. `double` is a number with an exponent, or none at all (NaN, infinities). */
export type Literal = Constant | { readonly kind: 'null' } | { readonly kind: 'double'; readonly text: string };

/** The constant that an expression is: literals, TRUE and FALSE, signed numbers. */
export function literalOf(expr: Expr): Literal | undefined {
  if (expr.spelled !== undefined) return numberOf(expr.spelled);
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

/** The text of a constant, as comparisons with text see it; of a double the one that it is shown with. */
export function literalText(literal: Exclude<Literal, { readonly kind: 'null' }>): string {
  switch (literal.kind) {
    case 'string':
      return literal.value;
    case 'integer':
    case 'boolean':
      return String(literal.value);
    case 'decimal':
      return literal.text;
    case 'double':
      return doubleText(literal.text);
  }
}

/** A number with an exponent as doubles are shown; as it is spelled where no double is that large. */
function doubleText(text: string): string {
  const special = SPECIAL_TEXT.exec(text);
  if (special !== null) return /nan/i.test(text) ? 'NaN' : `${special[1] === '-' ? '-' : ''}Infinity`;
  return Number.isFinite(Number(text)) ? jsonNumber(Number(text)) : text;
}

/**
 * The texts that a constant equals where columns of several types are compared by their text: its own; of a zero both zeros of floats;
 * of JSON of nested values also the form without white space, in which they are shown. Large floats are shown as `1e+21`, and by a
 * path, which the engine writes, as `1e21`.
 */
export function mixedTexts(literal: Exclude<Literal, { readonly kind: 'null' }>): readonly string[] {
  const text = literalText(literal);
  const json = literal.kind === 'string' && /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (json !== undefined) return [...new Set([text, compactJson(json), compactJson(json, withPlus), compactJson(json, withoutPlus)])];
  if (EXPONENT.test(text)) return [...new Set([text, withPlus(text), withoutPlus(text)])];
  if (literal.kind === 'string') return [text];
  const zero = literal.kind === 'integer' ? literal.value === 0n : /^-?[0.]+$/.test(text);
  return zero ? [...new Set([text, '0', '-0.0'])] : [text];
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

const EXPONENT = /^-?\d(?:\.\d+)?[eE]\+?\d+$/;
const withPlus = (number: string) => (EXPONENT.test(number) ? number.replace(/[eE]\+?/, 'e+') : number);
const withoutPlus = (number: string) => (EXPONENT.test(number) ? number.replace(/[eE]\+?/, 'e') : number);

/** A number as unscaled × 10^-scale, exact; undefined for NaN and infinities. Exponents beyond any type count as ±`HUGE` ones. */
export function exactNumber(literal: Literal): Decimal | undefined {
  if (literal.kind === 'integer') return new Decimal(literal.value, 0);
  if (literal.kind !== 'decimal' && literal.kind !== 'double') return undefined;
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(literal.text);
  if (parts === null) return undefined;
  const [, sign, whole, fraction = '', exponent = '0'] = parts;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  if (digits === 0n) return new Decimal(0n, 0);
  const most = HUGE + whole.length + fraction.length;
  const shift = Math.max(-most, Math.min(most, Number(exponent)));
  const scale = fraction.length - shift;
  return scale >= 0 ? new Decimal(digits, scale) : new Decimal(digits * 10n ** BigInt(-scale), 0);
}
/** beyond every exponent of a double */
const HUGE = 400;

const I64 = 1n << 63n;

/** An expression for an integer that HUGEINT holds. */
export function integerExpr(value: bigint): Expr {
  if (value >= -(1n << 31n) && value < 1n << 31n) return constant('INTEGER', Number(value));
  if (value >= -I64 && value < I64) return constant('BIGINT', rawNumber(String(value)));
  return cast(textConstant(String(value)), 'HUGEINT');
}

/** Least and greatest unscaled value of a type of numbers with a fixed scale; undefined for any other type. */
export function fixedRange(type: SqlType): { readonly min: bigint; readonly max: bigint; readonly scale: number } | undefined {
  const bits = { TINYINT: 8, SMALLINT: 16, INTEGER: 32, BIGINT: 64, HUGEINT: 128 }[type.kind as string];
  if (bits !== undefined) return { min: -(1n << BigInt(bits - 1)), max: (1n << BigInt(bits - 1)) - 1n, scale: 0 };
  if (type.kind !== 'DECIMAL') return undefined;
  const max = 10n ** BigInt(type.precision) - 1n;
  return { min: -max, max, scale: type.scale };
}
