/**
 * WHERE of the subset as a test of rows: three-valued, by the literal rule of typing.ts, mixed columns by their text.
 */
import { BytesColumn, type Column, columnValue } from '../../io/column.js';
import type { BoundColumn } from '../../tables/table.js';
import { type SqlType, sqlTypeText, VARCHAR, type Value } from '../../types.js';
import type { ColumnRef, CompareType, Expr } from '../ast.js';
import { isNumeric } from '../ast-types.js';
import type { Places } from '../guard.js';
import { type Literal, literalText, mixedTexts } from '../literals.js';
import { mirrored, type Typing } from '../typing.js';
import { castText } from './casts.js';
import { likeTest, numberOrder, orderOf } from './compare.js';
import { SUBSET_HINT } from './tokens.js';

export type Test = (columns: readonly Column[], row: number) => boolean | null;

/** A column in the form that comparisons want. */
interface Operand {
  readonly index: number;
  readonly type: SqlType;
  readonly mixed: boolean;
  readonly expr: ColumnRef;
}

export class Conditions {
  constructor(
    private readonly places: Places,
    readonly typing: Typing,
    private readonly find: (expr: ColumnRef) => BoundColumn,
    private readonly literal: (expr: Expr) => Literal | undefined,
    private readonly need: (column: BoundColumn, form: 'main' | 'text') => number,
  ) {}

  async test(expr: Expr): Promise<Test> {
    switch (expr.class) {
      case 'CONJUNCTION': {
        const tests: Test[] = [];
        for (const child of expr.children) tests.push(await this.test(child));
        const decides = expr.type === 'CONJUNCTION_OR';
        return (columns, row) => {
          let unknown = false;
          for (const test of tests) {
            const is = test(columns, row);
            if (is === decides) return decides;
            if (is === null) unknown = true;
          }
          return unknown ? null : !decides;
        };
      }
      case 'COMPARISON':
        return this.comparison(expr.type, expr.left, expr.right);
      case 'OPERATOR':
        return this.in(expr.children[0], expr.children.slice(1));
      case 'FUNCTION':
        return this.like(expr.children[0], expr.children[1]);
      default:
        throw this.refuse('this condition', expr);
    }
  }

  private refuse(what: string, at?: Expr): Error {
    return this.places.error('REFUSED', `${what} is not in what the alasql engine answers`, at, SUBSET_HINT);
  }

  private operand(expr: Expr): Operand | undefined {
    if (expr.class !== 'COLUMN_REF') return undefined;
    const column = this.find(expr);
    return { index: this.need(column, 'text'), type: column.mixed ? VARCHAR : column.type, mixed: column.mixed, expr };
  }

  private async comparison(type: CompareType, left: Expr, right: Expr): Promise<Test> {
    const a = this.operand(left);
    const b = this.operand(right);
    if (a !== undefined && b !== undefined) return this.columns(type, a, b);
    const column = a ?? b;
    const literal = this.literal(a === undefined ? left : right);
    if (column === undefined || literal === undefined) throw this.refuse('a comparison of two constants', left);
    return this.constant(a === undefined ? mirrored(type) : type, column, literal);
  }

  private columns(type: CompareType, a: Operand, b: Operand): Test {
    const order = orderOf(a.type);
    if (a.mixed || b.mixed || order === undefined || sqlTypeText(a.type) !== sqlTypeText(b.type))
      throw this.refuse('a comparison of columns of different or several types', a.expr);
    const holds = holdsOf(type);
    return (columns, row) => {
      const x = columnValue(columns[a.index], row);
      const y = columnValue(columns[b.index], row);
      return x === null || y === null ? null : holds(order(x, y));
    };
  }

  private async constant(type: CompareType, column: Operand, literal: Literal): Promise<Test> {
    if (literal.kind === 'null') return () => null;
    const equality = type === 'COMPARE_EQUAL' || type === 'COMPARE_NOTEQUAL';
    if (column.mixed && !equality) {
      throw this.places.error(
        'REFUSED',
        `< and > on ${column.expr.column_names.join('.')}, which has several types here`,
        column.expr,
        "add state_name = '…' (and operator_uid or operator_id) so that one type is left",
      );
    }
    const { index } = column;
    if (column.mixed) {
      // a zero has two texts
      const texts = mixedTexts(literal).map(t => Buffer.from(t, 'utf8'));
      const equal = type === 'COMPARE_EQUAL';
      return (columns, row) => {
        const values = columns[index] as BytesColumn;
        if (values.validity[row] === 0) return null;
        const bytes = values.bytesAt(row);
        return texts.some(t => Buffer.compare(bytes, t) === 0) === equal;
      };
    }
    const order = await this.orderTo(column, literal);
    if (order === undefined) {
      const never = type === 'COMPARE_NOTEQUAL';
      return (columns, row) => (columns[index].validity[row] === 0 ? null : never);
    }
    const holds = holdsOf(type);
    return (columns, row) => (columns[index].validity[row] === 0 ? null : holds(order(columns[index], row)));
  }

  /** The order of a column's valid rows to a constant; undefined: no value equals it, and none compares. */
  private async orderTo(
    column: Operand,
    literal: Exclude<Literal, { readonly kind: 'null' }>,
  ): Promise<((values: Column, row: number) => number) | undefined> {
    const { type } = column;
    if (type.kind === 'VARCHAR') {
      const bytes = Buffer.from(literalText(literal), 'utf8');
      return (values, row) => Buffer.compare((values as BytesColumn).bytesAt(row), bytes);
    }
    if (isNumeric(type)) {
      if (literal.kind === 'boolean') throw this.refuse('a comparison of a number with TRUE or FALSE', column.expr);
      const adapted = await this.typing.adapt(literal, type);
      if (adapted.kind === 'never') return undefined;
      if (adapted.kind === 'gap') {
        const { below } = adapted;
        const toBelow = below === undefined ? () => 1 : numberOrder(type, below.literal);
        if (toBelow === undefined) throw this.refuse(`this constant against a ${sqlTypeText(type)}`, column.expr);
        return (values, row) => (toBelow(columnValue(values, row)) > 0 ? 1 : -1);
      }
      const order = adapted.kind === 'expr' && adapted.literal !== undefined ? numberOrder(type, adapted.literal) : undefined;
      if (order === undefined) throw this.refuse(`this constant against a ${sqlTypeText(type)}`, column.expr);
      return (values, row) => order(columnValue(values, row));
    }
    if (type.kind === 'BOOLEAN' && literal.kind !== 'string' && literal.kind !== 'boolean')
      throw this.refuse('a comparison of a BOOLEAN with a number', column.expr);
    if (literal.kind !== 'string' && literal.kind !== 'boolean') return undefined;
    if (literal.kind === 'boolean' && type.kind !== 'BOOLEAN') return undefined;
    const order = orderOf(type);
    const cast = literal.kind === 'boolean' ? { kind: 'value' as const, value: literal.value as Value } : castText(literal.value, type);
    if (order === undefined || cast.kind === 'unknown') throw this.refuse(`this constant against a ${sqlTypeText(type)}`, column.expr);
    if (cast.kind === 'none') return undefined;
    return (values, row) => order(columnValue(values, row), cast.value);
  }

  private async in(input: Expr, items: readonly Expr[]): Promise<Test> {
    const tests: Test[] = [];
    for (const item of items) tests.push(await this.comparison('COMPARE_EQUAL', input, item));
    return (columns, row) => {
      let unknown = false;
      for (const test of tests) {
        const is = test(columns, row);
        if (is === true) return true;
        if (is === null) unknown = true;
      }
      return unknown ? null : false;
    };
  }

  private like(input: Expr, pattern: Expr): Test {
    const column = this.operand(input);
    const literal = this.literal(pattern);
    if (column === undefined || literal === undefined) throw this.refuse('LIKE of anything but a column and a constant', input);
    const integers = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT'];
    if (column.type.kind !== 'VARCHAR' && !integers.includes(column.type.kind))
      throw this.refuse(`LIKE on a ${sqlTypeText(column.type)}`, input);
    if (literal.kind === 'null') return () => null;
    const text = literalText(literal);
    if (text === undefined) throw this.refuse('this pattern', pattern);
    const matches = likeTest(text);
    const { index } = column;
    return (columns, row) => {
      const values = columns[index];
      if (values.validity[row] === 0) return null;
      return matches(values instanceof BytesColumn ? values.bytesAt(row).toString('utf8') : String(columnValue(values, row)));
    };
  }
}

function holdsOf(type: CompareType): (order: number) => boolean {
  switch (type) {
    case 'COMPARE_EQUAL':
      return order => order === 0;
    case 'COMPARE_NOTEQUAL':
      return order => order !== 0;
    case 'COMPARE_LESSTHAN':
      return order => order < 0;
    case 'COMPARE_GREATERTHAN':
      return order => order > 0;
    case 'COMPARE_LESSTHANOREQUALTO':
      return order => order <= 0;
    default:
      return order => order >= 0;
  }
}
