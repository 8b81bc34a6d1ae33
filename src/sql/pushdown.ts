/**
 * What a scan may leave out: conjuncts of WHERE (and of ON where it acts as a filter) as filters over one column.
 *
 * Legality: a filter restates a conjunct, which the engine applies again, so a scan that drops rows by it changes nothing
 * as long as those rows could only be dropped later. Where an outer join fills the table's columns with NULL, dropping a
 * row may make a NULL row appear: the conjunct must then reject NULL, which `is null` does not. Lineage (relations.ts)
 * ends where rows are counted, cut or chosen: LIMIT, aggregates, windows, samples, positional and ASOF joins.
 *
 * Constants are brought to the column's type by the literal rule first, so that a scan compares like with like.
 */
import type { Constant, Filter, Restriction } from '../tables/table.js';
import type { SqlType } from '../types.js';
import type { CompareType, ComparisonExpr, Expr, FunctionExpr, OperatorExpr } from './ast.js';
import { isNumeric, typeOfAst } from './ast-types.js';
import { type Literal, literalText, mixedTexts, numberOf } from './literals.js';
import type { ColumnFinder, RelationColumn } from './relations.js';
import { typeOfPath } from './rewritten.js';
import { mirrored, type Typing } from './typing.js';

type CompareOp = '=' | '<>' | '<' | '<=' | '>' | '>=';
const OPS: Readonly<Record<string, CompareOp>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOT_DISTINCT_FROM: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHAN: '>',
  COMPARE_GREATERTHANOREQUALTO: '>=',
};

/** The AND-ed parts of a condition. */
export function conjunctsOf(expr: Expr | null): readonly Expr[] {
  if (expr === null) return [];
  if (expr.class === 'CONJUNCTION' && expr.type === 'CONJUNCTION_AND') return expr.children.flatMap(conjunctsOf);
  return [expr];
}

/** A filter on a column by its name in FROM; the scan's own name comes with the lineage. */
export interface ColumnFilter {
  readonly column: RelationColumn;
  readonly filter: Filter;
}

/** Constants, with parameters in their places. */
export type LiteralFinder = (expr: Expr) => Literal | undefined;

/** The filters that a conjunct gives. */
export async function filtersOf(
  conjunct: Expr,
  find: ColumnFinder,
  literalIn: LiteralFinder,
  typing: Typing,
): Promise<readonly ColumnFilter[]> {
  return new FilterMaker(find, literalIn, typing).conjunct(conjunct);
}

class FilterMaker {
  constructor(
    private readonly find: ColumnFinder,
    private readonly literalIn: LiteralFinder,
    private readonly typing: Typing,
  ) {}

  async conjunct(expr: Expr): Promise<ColumnFilter[]> {
    switch (expr.class) {
      case 'COMPARISON':
        return this.comparison(expr);
      case 'BETWEEN': {
        const low = await this.ordered(expr.input, 'COMPARE_GREATERTHANOREQUALTO', expr.lower);
        const high = await this.ordered(expr.input, 'COMPARE_LESSTHANOREQUALTO', expr.upper);
        return [...low, ...high];
      }
      case 'OPERATOR':
        return this.operator(expr);
      case 'FUNCTION':
        return this.like(expr);
      case 'CONJUNCTION':
        return this.or(expr.children);
      case 'COLUMN_REF': {
        const column = this.find(expr);
        if (column === undefined || column.mixed || (await column.type())?.kind !== 'BOOLEAN') return [];
        return [{ column, filter: { column: column.name, op: '=', value: { kind: 'boolean', value: true } } }];
      }
      default:
        return [];
    }
  }

  private ordered(left: Expr, type: ComparisonExpr['type'], right: Expr): Promise<ColumnFilter[]> {
    return this.comparison({ class: 'COMPARISON', type, alias: '', left, right });
  }

  private async comparison(expr: ComparisonExpr): Promise<ColumnFilter[]> {
    if (expr.type === 'COMPARE_DISTINCT_FROM') return [];
    let column = this.find(expr.left);
    let other = expr.right;
    let type: CompareType = expr.type;
    if (column === undefined) {
      column = this.find(expr.right);
      other = expr.left;
      type = mirrored(type);
    }
    if (column === undefined) {
      if (OPS[type] !== '=') return [];
      const left = await this.field(expr.left, [expr.right]);
      return left.length > 0 ? left : this.field(expr.right, [expr.left]);
    }
    const op = OPS[type];
    const value = await this.value(column, other);
    if (value === undefined) return op === '=' ? this.fields(column, other) : [];
    if (value === 'never') return op === '<>' ? [{ column, filter: { column: column.name, op: 'is not null' } }] : [nothing(column)];
    if ('below' in value) return [{ column, filter: gapFilter(column.name, op, value.below) }];
    if (column.mixed && op !== '=' && op !== '<>') return [];
    const texts = await this.texts(column, other, value);
    if (op === '=' && texts.length > 1) return [{ column, filter: { column: column.name, op: 'in', values: texts } }];
    if (op === '<>') return texts.map(v => ({ column, filter: { column: column.name, op, value: v } }));
    return [{ column, filter: { column: column.name, op, value } }];
  }

  private async operator(expr: OperatorExpr): Promise<ColumnFilter[]> {
    const [first, ...rest] = expr.children;
    switch (expr.type) {
      case 'OPERATOR_IS_NULL':
      case 'OPERATOR_IS_NOT_NULL': {
        const column = this.find(first);
        const op = expr.type === 'OPERATOR_IS_NULL' ? 'is null' : 'is not null';
        return column === undefined ? [] : [{ column, filter: { column: column.name, op } }];
      }
      case 'OPERATOR_NOT': {
        const column = this.find(first);
        if (column === undefined || column.mixed || (await column.type())?.kind !== 'BOOLEAN') return [];
        return [{ column, filter: { column: column.name, op: '=', value: { kind: 'boolean', value: false } } }];
      }
      case 'COMPARE_IN':
      case 'COMPARE_NOT_IN': {
        const negated = expr.type === 'COMPARE_NOT_IN';
        const column = this.find(first);
        if (column === undefined) return negated ? [] : this.field(first, rest);
        const values: Constant[] = [];
        for (const item of rest) {
          const literal = this.literalIn(item);
          // a NULL among them: IN is never true by it, NOT IN never at all
          if (literal?.kind === 'null') {
            if (negated) return [nothing(column)];
            continue;
          }
          const value = await this.value(column, item);
          if (value === undefined) return [];
          if (value !== 'never' && !('below' in value)) values.push(...(await this.texts(column, item, value)));
        }
        if (!negated) return [{ column, filter: { column: column.name, op: 'in', values } }];
        if (values.length === 0) return [{ column, filter: { column: column.name, op: 'is not null' } }];
        return values.map(value => ({ column, filter: { column: column.name, op: '<>', value } }));
      }
      default:
        return [];
    }
  }

  /** `key.f0 = 'a'`, `key.f0 IN ('a', 'b')` */
  private async field(expr: Expr, items: readonly Expr[]): Promise<ColumnFilter[]> {
    const found = this.find.field?.(expr);
    if (found === undefined || found.path.length === 0 || found.column.mixed) return [];
    const { column, path } = found;
    const field: RelationColumn = { ...column, type: async () => typeOfPath(await column.type(), path) };
    const values: Constant[] = [];
    for (const item of items) {
      const value = await this.value(field, item);
      if (value === undefined) return [];
      if (value !== 'never' && !('below' in value)) values.push(value);
    }
    return [values.length === 0 ? nothing(column) : { column, filter: { column: column.name, op: 'field', path, values } }];
  }

  /** `key = {'f0': 'a', 'f1': 1}`, `key = row('a', 1)`: the fields whose constants are of their own types. */
  private async fields(column: RelationColumn, other: Expr): Promise<ColumnFilter[]> {
    const type = column.mixed ? undefined : await column.type();
    if (type?.kind !== 'STRUCT' || other.class !== 'FUNCTION') return [];
    const name = other.function_name.toLowerCase();
    if ((name !== 'struct_pack' && name !== 'row') || other.children.length !== type.fields.length) return [];
    const out: ColumnFilter[] = [];
    for (const [i, child] of other.children.entries()) {
      const field = name === 'row' ? type.fields[i] : type.fields.find(f => f.name.toLowerCase() === child.alias.toLowerCase());
      const literal = this.literalIn(child);
      if (field === undefined) return [];
      if (literal === undefined || literal.kind === 'null' || literal.kind === 'double') continue;
      const own =
        literal.kind === 'string'
          ? field.type.kind === 'VARCHAR'
          : literal.kind === 'boolean'
            ? field.type.kind === 'BOOLEAN'
            : isNumeric(field.type);
      if (own) out.push({ column, filter: { column: column.name, op: 'field', path: [field.name], values: [literal] } });
    }
    return out;
  }

  /** `a = 1 OR a IN (2, 3)` */
  private async or(parts: readonly Expr[]): Promise<ColumnFilter[]> {
    let column: RelationColumn | undefined;
    const values: Constant[] = [];
    for (const part of parts) {
      const [one, ...more] = await this.conjunct(part);
      if (one === undefined || more.length > 0) return [];
      if (column !== undefined && column !== one.column) return [];
      column = one.column;
      if (one.filter.op === '=') values.push(one.filter.value);
      else if (one.filter.op === 'in') values.push(...one.filter.values);
      else return [];
    }
    return column === undefined ? [] : [{ column, filter: { column: column.name, op: 'in', values } }];
  }

  private async like(expr: FunctionExpr): Promise<ColumnFilter[]> {
    const name = expr.function_name.toLowerCase();
    if (expr.children.length !== 2 || !['~~', 'starts_with', 'prefix', '^@'].includes(name)) return [];
    const column = this.find(expr.children[0]);
    const pattern = this.literalIn(expr.children[1]);
    if (column === undefined || pattern?.kind !== 'string') return [];
    if (!column.mixed && (await column.type())?.kind !== 'VARCHAR') return [];
    if (name !== '~~') return [{ column, filter: { column: column.name, op: 'prefix', value: pattern.value } }];
    const wildcard = pattern.value.search(/[%_]/);
    if (wildcard < 0) return [{ column, filter: { column: column.name, op: '=', value: { kind: 'string', value: pattern.value } } }];
    if (wildcard === 0) return [];
    return [{ column, filter: { column: column.name, op: 'prefix', value: pattern.value.slice(0, wildcard) } }];
  }

  /** Everything that the constant equals: by their text, both zeros. */
  private async texts(column: RelationColumn, expr: Expr, value: Constant): Promise<readonly Constant[]> {
    const literal = this.literalIn(expr);
    if (literal === undefined || literal.kind === 'null') return [value];
    if (!column.mixed && (await column.type())?.kind !== 'JSON') return [value];
    return mixedTexts(literal).map(text => ({ kind: 'string', value: text }));
  }

  /** The constant as the column's type has it; undefined when it is none or not known exactly. */
  private async value(column: RelationColumn, expr: Expr): Promise<Constant | 'never' | Gap | undefined> {
    const type = column.mixed ? undefined : await column.type();
    if (!column.mixed && type === undefined) return undefined;
    const typed = type === undefined ? undefined : await this.typedConstant(expr, type);
    if (typed !== undefined) return typed;
    const literal = this.literalIn(expr);
    if (literal === undefined || literal.kind === 'null') return undefined;
    // JSON of one type is compared by its text, as are the columns of several types
    if (type === undefined || type.kind === 'JSON') return { kind: 'string', value: literalText(literal) };
    const adapted = await this.typing.adapt(literal, type);
    if (adapted.kind === 'never') return 'never';
    if (adapted.kind === 'gap') return adapted.unheld ? undefined : { below: adapted.below?.literal };
    if (adapted.kind === 'expr') return adapted.literal ?? floating(literal, type) ?? blob(literal, type);
    return literal.kind === 'double' ? floating(literal, type) : literal;
  }

  /** `DATE '2026-01-31'` against a DATE: the canonical text. */
  private async typedConstant(expr: Expr, type: SqlType): Promise<Constant | undefined> {
    if (expr.class !== 'CAST' || expr.try_cast || typeOfAst(expr.cast_type)?.kind !== type.kind) return undefined;
    if (type.kind === 'BOOLEAN' || type.kind === 'DECIMAL') return undefined;
    const inner = this.literalIn(expr.child);
    if (inner?.kind !== 'string') return undefined;
    const adapted = await this.typing.adapt(inner, type);
    return adapted.kind === 'expr' ? (adapted.literal ?? floating(inner, type)) : adapted.kind === 'same' ? inner : undefined;
  }
}

/** A number that the column's type has not: above `below`, beneath all that is greater. */
interface Gap {
  readonly below: Constant | undefined;
}

/** Comparing a column with such a number. */
function gapFilter(column: string, op: CompareOp, below: Constant | undefined): Filter {
  if (op === '<>') return { column, op: 'is not null' };
  if (op === '=') return { column, op: 'in', values: [] };
  const less = op === '<' || op === '<=';
  if (below === undefined) return less ? { column, op: 'in', values: [] } : { column, op: 'is not null' };
  return { column, op: less ? '<=' : '>', value: below };
}

/** `0.1`, `1e3`, `'NaN'` against a FLOAT or DOUBLE: numbers, some in a spelling that only these types have. */
function floating(literal: Literal, type: SqlType): Constant | undefined {
  if (type.kind !== 'FLOAT' && type.kind !== 'DOUBLE') return undefined;
  const number = literal.kind === 'string' ? numberOf(literal.value) : literal;
  return number?.kind === 'double' || number?.kind === 'decimal' ? { kind: 'decimal', text: number.text } : undefined;
}

/** Hex digits against a BLOB, as the engine spells bytes. */
function blob(literal: Literal, type: SqlType): Constant | undefined {
  if (type.kind !== 'BLOB' || literal.kind !== 'string' || !/^(?:[0-9a-f]{2})+$/i.test(literal.value)) return undefined;
  return { kind: 'string', value: literal.value.replace(/../g, byte => `\\x${byte.toUpperCase()}`) };
}

/** No row: IN with no values. */
const nothing = (column: RelationColumn): ColumnFilter => ({ column, filter: { column: column.name, op: 'in', values: [] } });

/** Adds a filter to every scan whose column stands behind the filtered one, where that is legal. */
export function applyFilter(pushed: ColumnFilter): void {
  for (const lineage of pushed.column.lineage) {
    if (lineage.nullable && pushed.filter.op === 'is null') continue;
    lineage.scan.offer({ ...pushed.filter, column: lineage.column }, lineage.through);
  }
}

const RESTRICTING = new Set(['operator_id', 'operator_uid', 'operator_name', 'state_name', 'state_kind']);

/** The restrictions that conjuncts put on one table reference: `mine` gives a column's name if it is that table's. */
export function restrictionsOf(
  conjuncts: readonly Expr[],
  mine: (expr: Expr) => string | undefined,
  literalIn: LiteralFinder,
): readonly Restriction[] {
  const out: Restriction[] = [];
  for (const conjunct of conjuncts) {
    const found = restriction(conjunct, mine, literalIn);
    if (found !== undefined) out.push(found);
  }
  return out;
}

function restriction(expr: Expr, mine: (expr: Expr) => string | undefined, literalIn: LiteralFinder): Restriction | undefined {
  const column = (e: Expr) => {
    const name = mine(e)?.toLowerCase();
    return name !== undefined && RESTRICTING.has(name) ? name : undefined;
  };
  const text = (e: Expr) => {
    const literal = literalIn(e);
    return literal === undefined || literal.kind === 'null' ? undefined : literalText(literal);
  };
  if (expr.class === 'COMPARISON' && expr.type === 'COMPARE_EQUAL') {
    const name = column(expr.left) ?? column(expr.right);
    const value = column(expr.left) === undefined ? text(expr.left) : text(expr.right);
    return name === undefined || value === undefined ? undefined : { column: name, values: [value] };
  }
  if (expr.class === 'OPERATOR' && expr.type === 'COMPARE_IN') {
    const name = column(expr.children[0]);
    const values = expr.children.slice(1).map(text);
    if (name === undefined || values.some(v => v === undefined)) return undefined;
    return { column: name, values: values as string[] };
  }
  if (expr.class === 'CONJUNCTION' && expr.type === 'CONJUNCTION_OR') {
    const parts = expr.children.map(c => restriction(c, mine, literalIn));
    const [first] = parts;
    if (first === undefined || parts.some(p => p?.column !== first.column)) return undefined;
    return { column: first.column, values: [...new Set(parts.flatMap(p => p?.values ?? []))] };
  }
  return undefined;
}
