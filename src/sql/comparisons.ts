/**
 * Comparisons of rewritten expressions: the literal rule, mixed columns by their text, rows pair by pair.
 */
import type { SqlType } from '../types.js';
import { type CompareType, cast, cloneTree, compare, conjunction, type Expr, type FunctionExpr, textConstant } from './ast.js';
import { type Literal, mixedTexts } from './literals.js';
import { type Analysis, constantIn, type Plain, type Rewritten, refused } from './rewritten.js';
import { castToText, textOfLiteral } from './text-form.js';
import { gapHolds, mirrored, neverHolds } from './typing.js';

export const EQUALITY: ReadonlySet<string> = new Set([
  'COMPARE_EQUAL',
  'COMPARE_NOTEQUAL',
  'COMPARE_DISTINCT_FROM',
  'COMPARE_NOT_DISTINCT_FROM',
]);

export class Comparisons {
  constructor(private readonly analysis: Analysis) {}

  /** a comparison operator between two rewritten sides */
  async compared(type: CompareType, left: Rewritten, right: Rewritten, node: Expr): Promise<Expr> {
    const leftLiteral = constantIn(left);
    const rightLiteral = constantIn(right);
    if (leftLiteral !== undefined && rightLiteral === undefined)
      return this.withLiteral(mirrored(type), right, left as Plain, leftLiteral, true);
    if (rightLiteral !== undefined && leftLiteral === undefined) return this.withLiteral(type, left, right as Plain, rightLiteral, false);
    if (left.kind === 'plain' && right.kind === 'plain') {
      const pairs = rowPairs(left.expr, right.expr);
      if (pairs !== undefined && (type === 'COMPARE_EQUAL' || type === 'COMPARE_NOTEQUAL')) {
        const parts: Expr[] = [];
        for (const [a, b] of pairs)
          parts.push(
            await this.compared(type, { kind: 'plain', expr: a, type: undefined }, { kind: 'plain', expr: b, type: undefined }, node),
          );
        return conjunction(type === 'COMPARE_EQUAL' ? 'AND' : 'OR', parts);
      }
      // JSON of one type is compared as text: the engine would read text on the other side as JSON
      if (left.type?.kind === 'JSON' || right.type?.kind === 'JSON')
        return compare(type, cast(left.expr, 'VARCHAR'), cast(right.expr, 'VARCHAR'));
      return compare(type, left.expr, right.expr);
    }
    for (const side of [left, right])
      if (side.kind === 'mixed' && !EQUALITY.has(type)) throw refused(this.analysis.places, side, comparisonSign(type));
    return compare(type, await this.textOf(left, node), await this.textOf(right, node));
  }

  private async withLiteral(type: CompareType, other: Rewritten, literalSide: Plain, literal: Literal, swap: boolean): Promise<Expr> {
    const build = (value: Expr, against: Expr) => (swap ? compare(mirrored(type), against, value) : compare(type, value, against));
    if (other.kind === 'mixed') {
      if (!EQUALITY.has(type)) throw refused(this.analysis.places, other, comparisonSign(swap ? mirrored(type) : type));
      return withTexts(type, () => other.text(), literal, literalSide.expr);
    }
    const known = await this.typeOf(other);
    if (known === undefined) return build(other.expr, literalSide.expr);
    if (known.kind === 'JSON' && literal.kind !== 'null')
      return withTexts(type, () => cast(cloneTree(other.expr), 'VARCHAR'), literal, literalSide.expr);
    const adapted = await this.analysis.typing.adapt(literal, known);
    if (adapted.kind === 'never') return neverHolds(type, other.expr);
    if (adapted.kind === 'gap') return gapHolds(type, other.expr, adapted);
    return build(other.expr, adapted.kind === 'same' ? literalSide.expr : adapted.expr);
  }

  /** The text form, as mixed columns have it, of anything. */
  async textOf(side: Rewritten, node: Expr): Promise<Expr> {
    if (side.kind === 'mixed') return side.text();
    const literal = constantIn(side);
    if (literal !== undefined) return textOfLiteral(literal, side.expr);
    return castToText(side.expr, await this.typeOf(side), node, this.analysis.places);
  }

  /** A plain expression's type, by the engine where the tree does not say it. */
  async typeOf(done: Plain): Promise<SqlType | undefined> {
    return done.type ?? this.analysis.typeOf(done.expr);
  }
}

/** A text form compared with a constant, which may have several texts. */
function withTexts(type: CompareType, text: () => Expr, literal: Literal, expr: Expr): Expr {
  if (literal.kind === 'null') return compare(type, text(), expr);
  const negated = type === 'COMPARE_NOTEQUAL' || type === 'COMPARE_DISTINCT_FROM';
  return conjunction(
    negated ? 'AND' : 'OR',
    mixedTexts(literal).map(t => compare(type, text(), textConstant(t))),
  );
}

export function comparisonSign(type: CompareType): string {
  switch (type) {
    case 'COMPARE_LESSTHAN':
      return '<';
    case 'COMPARE_GREATERTHAN':
      return '>';
    case 'COMPARE_LESSTHANOREQUALTO':
      return '<=';
    case 'COMPARE_GREATERTHANOREQUALTO':
      return '>=';
    default:
      return '=';
  }
}

export const isRow = (expr: Expr): expr is FunctionExpr => expr.class === 'FUNCTION' && expr.function_name.toLowerCase() === 'row';

export function rowPairs(a: Expr, b: Expr): readonly [Expr, Expr][] | undefined {
  if (!isRow(a) || !isRow(b) || a.children.length !== b.children.length || a.children.length === 0) return undefined;
  return a.children.map((child, i) => [child, b.children[i]]);
}
