/**
 * The words of a statement for the second engine, and the text that alasql is given instead of it.
 *
 * alasql runs JavaScript and reads files from SQL text, takes "names" for strings, has `value` and many more for keywords and
 * rounds integers. So it never sees what the user wrote: every name becomes `n0`, `n1`, …, every constant '0', '1', …, and
 * only the words of the subset are left:
 *
 *   SELECT FROM WHERE AND OR IN LIKE ORDER BY ASC DESC LIMIT AS COUNT    * , . ( ) = <> != < > <= >=
 *
 * Any other token is refused here. `names` and `constants` say what stands behind.
 */
import type { Places } from '../guard.js';
import type { Literal } from '../literals.js';

export interface Token<T> {
  readonly value: T;
  /** bytes into the statement, as places count them */
  readonly query_location: number;
}

export interface Tokens {
  readonly text: string;
  /** where each token stands in the statement and, by its end, in `text` */
  readonly ends: readonly { readonly end: number; readonly query_location: number; readonly token: string }[];
  readonly names: readonly Token<string>[];
  readonly constants: readonly Token<Literal>[];
}

const ALLOWED = new Set(['select', 'from', 'where', 'and', 'or', 'in', 'like', 'order', 'by', 'asc', 'desc', 'limit', 'as']);

/** Words that begin something outside of the subset wherever they stand bare. */
const REFUSED = new Set(
  `all analyze any attach begin between call case cast collate commit copy create cross database delete describe detach
   distinct drop else end escape except exists explain export fetch filter force full glob group having ilike insert install
   intersect into is isnull join lateral left load materialized merge natural not notnull offset on outer over pivot pragma
   qualify recursive regexp require right rollback sample set show similar source summarize table tablesample then top truncate
   union unpivot update use using values when window with alter exec assert while echo if declare grant revoke reindex
   remove rename`
    .trim()
    .split(/\s+/),
);

const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\][]*\]|\d+(?:_\d+)*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*|\$[A-Za-z_][A-Za-z0-9_]*|<>|!=|<=|>=|./gy;

/** Splits a statement. @throws SqlError REFUSED for tokens outside of the subset */
export function tokensOf(text: string, places: Places, parameters: (name: string, at: Token<string>) => string): Tokens {
  const names: Token<string>[] = [];
  const constants: Token<Literal>[] = [];
  const ends: { end: number; query_location: number; token: string }[] = [];
  let out = '';
  let bytes = 0;
  let negative: Token<string> | undefined;
  const refuse = (what: string, at: number) =>
    places.error('REFUSED', `${what} is not in what the alasql engine answers`, { query_location: at }, SUBSET_HINT);
  const all = [...text.matchAll(TOKEN)].map(m => m[0]);
  for (const [i, token] of all.entries()) {
    const at = bytes;
    bytes += Buffer.byteLength(token);
    if (/^(\s|--|\/\*.*\*\/$)/s.test(token)) {
      out += ' ';
      continue;
    }
    const constant = (value: Literal) => {
      const index = constants.push({ value, query_location: negative?.query_location ?? at }) - 1;
      // LIMIT takes a number only
      out += / LIMIT\s*$/.test(out) ? String(index) : `'${index}'`;
      negative = undefined;
    };
    const name = (value: string) => {
      // white space on both sides: nothing grows together with its neighbours
      out += ` n${names.push({ value, query_location: at }) - 1} `;
    };
    if (negative !== undefined && !/^[\d.]/.test(token)) throw refuse('-', negative.query_location);
    const first = token[0];
    if (first === "'" && token.length >= 2) constant({ kind: 'string', value: token.slice(1, -1).replaceAll("''", "'") });
    else if (first === '"' && token.length > 2) name(token.slice(1, -1).replaceAll('""', '"'));
    else if ((first === '`' || first === '[') && token.length > 2) {
      // an empty pair of back-quotes before or after is alasql's JavaScript
      if (all[i + 1] === '``' || all[i + 1]?.startsWith('`') || all[i - 1]?.startsWith('`')) throw refuse('JavaScript', at);
      name(token.slice(1, -1));
    } else if (/^(\d|\.\d)/.test(token)) constant(numberLiteral(token, negative !== undefined));
    else if (first === '$' && token.length > 1)
      constant({ kind: 'string', value: parameters(token.slice(1), { value: token, query_location: at }) });
    else if (/^[A-Za-z_\u0080-\uffff]/.test(token)) {
      const lower = token.toLowerCase();
      const called = /^\s*\(/.test(
        all
          .slice(i + 1)
          .join('')
          .slice(0, 80),
      );
      const qualified = /\.\s*$/.test(out);
      if (!qualified && ALLOWED.has(lower)) out += ` ${lower.toUpperCase()} `;
      else if (!qualified && lower === 'count' && called) out += ' COUNT';
      else if (!qualified && (lower === 'true' || lower === 'false')) constant({ kind: 'boolean', value: lower === 'true' });
      else if (!qualified && lower === 'null') constant({ kind: 'null' });
      else if (!qualified && REFUSED.has(lower)) throw refuse(token.toUpperCase(), at);
      else if (called) throw refuse(`the function ${token}`, at);
      else name(token);
    } else if (['*', ',', '.', '(', ')', '=', '<', '>', '<=', '>=', '<>', '!='].includes(token)) out += token === '!=' ? '<>' : token;
    else if (token === '-') negative = { value: token, query_location: at };
    else if (first === "'" || first === '"')
      throw places.error(
        'SQL_SYNTAX',
        `a quoted ${first === '"' ? 'name' : 'string'} that does not end`,
        { query_location: at },
        `close it with ${first}`,
      );
    else throw refuse(token === '`' || token === '``' ? 'JavaScript' : token, at);
    ends.push({ end: out.length, query_location: at, token });
  }
  if (negative !== undefined) throw refuse('-', negative.query_location);
  return { text: out, ends, names, constants };
}

export const SUBSET_HINT =
  'it answers SELECT of columns and count(*) FROM one table, WHERE with =, <>, <, >, IN, LIKE, AND, OR, ORDER BY, LIMIT; use --engine duckdb';

function numberLiteral(token: string, negative: boolean): Literal {
  const digits = token.replaceAll('_', '');
  const sign = negative ? '-' : '';
  if (/^\d+$/.test(digits)) return { kind: 'integer', value: BigInt(digits) * (negative ? -1n : 1n) };
  if (/e/i.test(digits)) return { kind: 'double', text: sign + digits };
  const [whole, fraction] = digits.split('.');
  if (fraction === '') return numberLiteral(whole, negative);
  return { kind: 'decimal', text: `${sign}${whole === '' ? '0' : whole}.${fraction}` };
}
