/**
 * The text of values as mixed columns have it (contract §2): JSON without the quotes of strings, other values as their JSON form.
 */
import type { SqlType } from '../types.js';
import { call, cast, cloneTree, type Expr, textConstant } from './ast.js';
import type { Places } from './guard.js';
import { type Literal, literalText } from './literals.js';

/** Text of JSON: strings without quotes, everything else as it stands. */
export function jsonText(json: () => Expr): Expr {
  const raw = () => cast(json(), 'VARCHAR');
  const unquoted = call('json_extract_string', json(), textConstant('$'));
  return {
    class: 'CASE',
    type: 'CASE_EXPR',
    alias: '',
    case_checks: [{ when_expr: call('starts_with', raw(), textConstant('"')), then_expr: unquoted }],
    // JSON null inside JSON is no value
    else_expr: call('nullif', raw(), textConstant('null')),
  };
}

export function textOfLiteral(literal: Literal, expr: Expr): Expr {
  return literal.kind === 'null' ? expr : textConstant(literalText(literal));
}

/** A typed expression in the text form of mixed ones. @throws SqlError REFUSED where the forms differ */
export function castToText(expr: Expr, type: SqlType | undefined, node: Expr, places: Places): Expr {
  switch (type?.kind) {
    case undefined:
    case 'VARCHAR':
      return type === undefined ? cast(expr, 'VARCHAR') : expr;
    case 'JSON':
      return jsonText(() => cloneTree(expr));
    case 'BLOB':
      return call('lower', call('hex', expr));
    case 'FLOAT':
    case 'DOUBLE':
    case 'STRUCT':
    case 'LIST':
    case 'MAP':
    case 'INTERVAL':
      throw places.error(
        'REFUSED',
        `comparing a column of several types with a ${type.kind}`,
        node,
        `add state_name = '…' so that one type is left, or cast both sides`,
      );
    case 'TIME':
    case 'TIME_NS':
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMPTZ':
      return timeText(expr, type.kind);
    default:
      return cast(expr, 'VARCHAR');
  }
}

/** Times in the JSON form of contract §3: `2026-01-31T12:34:56.789Z`, fractions of 0, 3, 6 or 9 digits. */
export function timeText(expr: Expr, kind: 'TIME' | 'TIME_NS' | 'TIMESTAMP' | 'TIMESTAMP_NS' | 'TIMESTAMPTZ'): Expr {
  const raw = (): Expr => {
    const text = cast(cloneTree(expr), 'VARCHAR');
    return kind === 'TIMESTAMPTZ' ? call('regexp_replace', text, textConstant('\\+00$'), textConstant('')) : text;
  };
  // the engine drops trailing zeros of the fraction: fill up to the next multiple of three
  const padded = call(
    'regexp_replace',
    call('regexp_replace', raw(), textConstant('^([^.]*\\.(?:\\d{3})*\\d)$'), textConstant('\\100')),
    textConstant('^([^.]*\\.(?:\\d{3})*\\d{2})$'),
    textConstant('\\10'),
  );
  const joined = kind.startsWith('TIMESTAMP') ? call('replace', padded, textConstant(' '), textConstant('T')) : padded;
  return kind === 'TIMESTAMPTZ' ? call('||', joined, textConstant('Z')) : joined;
}
