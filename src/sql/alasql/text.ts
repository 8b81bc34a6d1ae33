/** Conditions of the subset as SQL, for EXPLAIN. */
import type { Expr } from '../ast.js';
import type { Literal } from '../literals.js';

const OPERATORS: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_GREATERTHAN: '>',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHANOREQUALTO: '>=',
};

/** `literal`: the constant that an operand stands for */
export function conditionText(expr: Expr, literal: (expr: Expr) => Literal | undefined): string {
  const constant = literal(expr);
  if (constant !== undefined) return literalSql(constant);
  const text = (e: Expr): string => conditionText(e, literal);
  switch (expr.class) {
    case 'COLUMN_REF':
      return expr.column_names.join('.');
    case 'COMPARISON':
      return `(${text(expr.left)} ${OPERATORS[expr.type] ?? expr.type} ${text(expr.right)})`;
    case 'CONJUNCTION':
      return `(${expr.children.map(text).join(expr.type === 'CONJUNCTION_OR' ? ' OR ' : ' AND ')})`;
    case 'OPERATOR': {
      const [first, ...rest] = expr.children;
      return `(${text(first)} IN (${rest.map(text).join(', ')}))`;
    }
    case 'FUNCTION':
      return `(${text(expr.children[0])} LIKE ${text(expr.children[1])})`;
    default:
      return expr.class;
  }
}

function literalSql(literal: Literal): string {
  switch (literal.kind) {
    case 'string':
      return `'${literal.value.replaceAll("'", "''")}'`;
    case 'null':
      return 'NULL';
    case 'integer':
    case 'boolean':
      return String(literal.value);
    default:
      return literal.text;
  }
}
