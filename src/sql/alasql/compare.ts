/**
 * Comparing values of one SQL type as DuckDB does, and values with constants: exact for 64-bit integers and decimals.
 *
 *   text         bytes of UTF-8        NaN      equal to itself, above all numbers        0 and -0 are equal
 *   timestamps   seconds, then nanoseconds        UUID    its hex digits
 *   undefined    INTERVAL, STRUCT, LIST, MAP, JSON: the default engine's
 */
import type { Constant } from '../../tables/table.js';
import type { Decimal, SqlType, Timestamp, Value } from '../../types.js';

export type Order = (a: Value, b: Value) => number;

/** -1, 0, 1 by the bytes of the UTF-8 forms, without making them. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    // surrogates stand for characters above all others
    if (x >= 0xd800 && y >= 0xd800) {
      if (x >= 0xe000) x -= 0x800;
      else x += 0x2000;
      if (y >= 0xe000) y -= 0x800;
      else y += 0x2000;
    }
    return x < y ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

const compareNumbers = (x: number, y: number) => {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return x < y ? -1 : x > y ? 1 : 0;
};
const compareBig = (x: bigint, y: bigint) => (x < y ? -1 : x > y ? 1 : 0);

/** The order of a type's values, none of them NULL; undefined where this engine has none. */
export function orderOf(type: SqlType): Order | undefined {
  switch (type.kind) {
    case 'BOOLEAN':
      return (a, b) => Number(a) - Number(b);
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'FLOAT':
    case 'DOUBLE':
    case 'DATE':
    case 'TIME':
    case 'TIME_NS':
      return (a, b) => compareNumbers(a as number, b as number);
    case 'BIGINT':
    case 'HUGEINT':
      return (a, b) => compareBig(a as bigint, b as bigint);
    case 'DECIMAL':
      return (a, b) => compareBig((a as Decimal).unscaled, (b as Decimal).unscaled);
    case 'VARCHAR':
    case 'UUID':
      return (a, b) => compareText(a as string, b as string);
    case 'BLOB':
      return (a, b) => Buffer.compare(a as Uint8Array, b as Uint8Array);
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMPTZ':
      return (a, b) => {
        const [x, y] = [a as Timestamp, b as Timestamp];
        return compareBig(x.seconds, y.seconds) || x.nanos - y.nanos;
      };
    default:
      return undefined;
  }
}

/** The order of a number's values to a constant that the literal rule brought to their type. */
export function numberOrder(type: SqlType, constant: Constant): ((value: Value) => number) | undefined {
  if (constant.kind !== 'integer' && constant.kind !== 'decimal') return undefined;
  const text = constant.kind === 'integer' ? String(constant.value) : constant.text;
  if (type.kind === 'FLOAT' || type.kind === 'DOUBLE') {
    const exact = doubleOf(text);
    // what no float holds is compared as a double
    const single = Math.fround(exact);
    const number = type.kind === 'FLOAT' && Number.isFinite(single) ? single : exact;
    return value => compareNumbers(value as number, number);
  }
  const unscaled = BigInt(text.replace('.', ''));
  if (type.kind === 'DECIMAL') return value => compareBig((value as Decimal).unscaled, unscaled);
  return value => compareBig(BigInt(value as number | bigint), unscaled);
}

function doubleOf(text: string): number {
  const word = /^([+-]?)(nan|inf|infinity)$/i.exec(text);
  if (word === null) return Number(text);
  if (word[2].toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** A LIKE pattern as a test, case-sensitive: `%` any characters, `_` one. Linear in the text for each `%`. */
export function likeTest(pattern: string): (text: string) => boolean {
  const p = [...pattern];
  return text => {
    const t = [...text];
    let i = 0;
    let k = 0;
    let star = -1;
    let mark = 0;
    while (i < t.length) {
      if (k < p.length && p[k] === '%') {
        star = k++;
        mark = i;
      } else if (k < p.length && (p[k] === '_' || p[k] === t[i])) {
        i++;
        k++;
      } else if (star >= 0) {
        k = star + 1;
        i = ++mark;
      } else return false;
    }
    while (k < p.length && p[k] === '%') k++;
    return k === p.length;
  };
}
