/**
 * What DuckDB says → SqlError, as someone reads it who has never seen the engine: one line, SQL names of types, no internal names,
 * the place in the statement (error-place.ts) and what to do.
 *
 * Its messages may go on over many lines: candidates of functions, suggestions, settings that are locked here. The first line is the
 * message; what helps of the rest becomes the hint.
 */
import { SqlError, type SqlErrorCode } from '../../errors.js';
import { parseTree } from '../ast.js';
import type { Plan } from '../plan.js';
import type { DuckDbError } from './duckdb.js';
import { type OriginalPlace, onlyCast, originalPlace } from './error-place.js';

/** kinds of errors, or of messages, that have a code of their own */
const CODES: readonly (readonly [kind: RegExp, message: RegExp, code: SqlErrorCode])[] = [
  [/^Out of Memory/, /./, 'OUT_OF_MEMORY'],
  [/^Out of Range/, /./, 'VALUE_OUT_OF_RANGE'],
  [/./, /out of range|not in (timestamp|date) range|outside of .* range/i, 'VALUE_OUT_OF_RANGE'],
  [/^(Parser|Syntax)/, /./, 'SQL_SYNTAX'],
  [/^Catalog/, /^Table /, 'UNKNOWN_TABLE'],
  [/^Binder/, /Referenced column|Could not find key|does not have a column|Cannot extract field/, 'UNKNOWN_COLUMN'],
  [/^Permission/, /./, 'REFUSED'],
];
/** out of the words above, what is no value */
const NO_VALUE = /term out of range|Argument index|sample_size|parameters in the range/;

/** What to do about messages that do not say it. */
const HINTS: readonly (readonly [message: RegExp, hint: string])[] = [
  [/specifier .* not recognized/, 'year, month, day, hour, minute, second, week, quarter, dayofweek, dayofyear, epoch'],
  [/^Overflow in/, 'cast one side to a wider type: x::HUGEINT, x::DOUBLE'],
  [/not in timestamp range|Interval value .* out of range/, 'a TIMESTAMP holds the years -290307 to 294246'],
  [/More than one row returned by a subquery/, 'add LIMIT 1 or an aggregate, or compare with IN (SELECT …)'],
  [/WHERE clause cannot contain aggregates/, 'conditions on aggregates stand in HAVING'],
  [/WHERE clause cannot contain window/, 'conditions on window functions stand in QUALIFY'],
  [/aggregate function calls cannot be nested/, 'calculate the inner one in a subquery'],
  [/must appear in the GROUP BY clause/, 'add it to GROUP BY, or take any_value(…) of it'],
  [/STAR expression is only allowed/, 'name the columns, or write COLUMNS(*)'],
  [/Map keys/, 'map_from_entries and list functions keep repeated keys'],
  [/^Unimplemented type for cast|cannot become/, 'the two sides have types that do not compare: compare fields, or cast both to VARCHAR'],
  [/No matching columns found/, 'DESCRIBE FROM <table> lists them'],
];

const TYPES: Readonly<Record<string, string>> = {
  INT8: 'TINYINT',
  INT16: 'SMALLINT',
  INT32: 'INTEGER',
  INT64: 'BIGINT',
  INT128: 'HUGEINT',
  UINT8: 'UTINYINT',
  UINT16: 'USMALLINT',
  UINT32: 'UINTEGER',
  UINT64: 'UBIGINT',
  UINT128: 'UHUGEINT',
  BOOL: 'BOOLEAN',
  INTEGER_LITERAL: 'INTEGER',
  STRING_LITERAL: 'VARCHAR',
};
/** what RE2 says of a pattern */
const REGEX_PROBLEM =
  /^(missing [\])]|missing argument to repetition operator|no argument for repetition operator|bad repetition operator|unexpected \)|trailing \\|invalid (?:escape sequence|character class|character class range|perl operator|UTF-8|named capture group|repetition size|nested repetition operator)): ([\s\S]*)$/;
const SHOWN_CANDIDATES = 8;

/**
 * The error of a statement as the user sees it.
 * @param sql the text that was run: the plan's, or one around it
 * @param serialize the engine's parser
 */
export async function sqlErrorOf(
  error: DuckDbError,
  plan: Plan,
  sql: string,
  serialize: (text: string) => Promise<string>,
): Promise<SqlError> {
  const { places } = plan.parsed;
  const found = await placeOf(error, plan, sql, serialize);
  const { message, hint } = wordsOf(error, found?.node, places.statement.text);
  const code = codeOf(error);
  const named = /^(Parser|Binder|Catalog)/.test(error.kind) ? places.ofQuoted(error.text) : {};
  const place = found === undefined ? named : places.at(found.query_location);
  const where = place?.line === undefined ? '' : `line ${place.line}, column ${place.column}: `;
  return new SqlError(code, `${where}${message}`, { ...place, hint: hint ?? hintFor(code, error, plan), cause: error });
}

function codeOf({ kind, text }: DuckDbError): SqlErrorCode {
  for (const [kinds, messages, code] of CODES)
    if (kinds.test(kind) && messages.test(text) && !(code === 'VALUE_OUT_OF_RANGE' && NO_VALUE.test(text))) return code;
  return 'SQL_ERROR';
}

async function placeOf(
  error: DuckDbError,
  plan: Plan,
  sql: string,
  serialize: (text: string) => Promise<string>,
): Promise<OriginalPlace | undefined> {
  // some conversions are of no place: a statement with one cast alone means that one
  if (error.position === undefined && /^Conversion/.test(error.kind)) return onlyCast(plan.parsed.tree.node);
  const inside = sql.indexOf(plan.sql);
  if (error.position === undefined || inside < 0) return undefined;
  try {
    const reparsed = parseTree(await serialize(plan.sql)) as { readonly statements?: readonly { readonly node: unknown }[] };
    const byte = error.position - Buffer.byteLength(sql.slice(0, inside));
    return originalPlace(plan.parsed.tree.node, reparsed.statements?.[0]?.node, byte);
  } catch {
    return undefined;
  }
}

/** The message in one line, and what helps of the other lines. */
function wordsOf(
  error: DuckDbError,
  node: OriginalPlace['node'] | undefined,
  statement: string,
): { readonly message: string; readonly hint: string | undefined } {
  const [head, ...rest] = plainWords(error.text, node, statement)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');
  const signatures = rest.filter(line => / -> /.test(line)).map(line => line.replace(/ -> .*$/, ''));
  if (signatures.length > 0 || /^(No function matches|Could not choose a best candidate)/.test(head)) return mismatch(head, signatures);
  const near = rest.map(line => /^Did you mean:? "(.*?)"/i.exec(line)?.[1]).find(name => name !== undefined);
  const candidates = rest.map(line => /^Candidates?[^:]*: (.*)/.exec(line)?.[1]).find(names => names !== undefined);
  const known = HINTS.find(([pattern]) => pattern.test(head))?.[1];
  const hint =
    near !== undefined ? `did you mean ${near}?` : (known ?? (candidates === undefined ? undefined : candidates.replaceAll('"', '')));
  return { message: head, hint };
}

/** A function and arguments that it does not take. */
function mismatch(head: string, signatures: readonly string[]): { readonly message: string; readonly hint: string } {
  const call = /['"]([^'"(]+)\((.*)\)['"]/s.exec(head);
  if (call === null) return { message: head.replace(/ You might need .*$/s, ''), hint: 'cast the arguments' };
  const [, name, given] = call;
  const message = /^\w/.test(name)
    ? given === ''
      ? `${name}() needs arguments`
      : `${name}() does not take (${shortened(given)})`
    : `${name} is not defined for (${shortened(given)})`;
  const own = [...new Set(signatures)];
  if (own.length > SHOWN_CANDIDATES && !/^\w/.test(name)) return { message, hint: 'cast one side to a type that fits the other' };
  const shown = own.slice(0, SHOWN_CANDIDATES).join(', ');
  const more = own.length > SHOWN_CANDIDATES ? ', …' : '';
  return {
    message,
    hint: `cast the arguments: TRY_CAST(x AS …)${own.length === 0 ? '' : `; there ${own.length === 1 ? 'is' : 'are'} ${shown}${more}`}`,
  };
}

const shortened = (types: string) => (types.length > 120 ? `${types.slice(0, 117)}…` : types);

/** Without the names that are the engine's, or ours, alone. */
function plainWords(text: string, node: OriginalPlace['node'] | undefined, statement: string): string {
  // a UUID is read as the integer that it is kept as
  const uuid = node?.class === 'CAST' ? (node.cast_type as { readonly id?: string } | undefined)?.id === 'UUID' : /uuid/i.test(statement);
  return text
    .replace(/^[A-Z][A-Za-z]*( [A-Za-z]+)? Error: /, '')
    .replaceAll('\u00b7text', '')
    .replaceAll('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ')
    .replace(/\b(U?INT(?:8|16|32|64|128)|BOOL|INTEGER_LITERAL|STRING_LITERAL)\b/g, type =>
      type === 'INT128' && uuid ? 'UUID' : TYPES[type],
    )
    .replace(
      /^Type (\w+) with value (.*) can't be cast because the value is out of range for the destination type (\w+)/,
      '$2 is out of the range of $3',
    )
    .replace(
      /^Unimplemented type for cast \((.*) -> (.*?)\)(?= when|$)/s,
      (_, from: string, to: string) => `${shortened(from)} cannot become ${shortened(to)}`,
    )
    .replace(/^unicode_to_utf8\b.*/s, "escapes of characters in E'…' are not read")
    .replace(REGEX_PROBLEM, 'the regular expression $2 cannot be read: $1')
    .replace(/ when casting from source column (\S+)/, ' (column $1)')
    .replace(/!+$/gm, '')
    .replace(/ - scalar subqueries can only return a single row\.?/, '')
    .replace(/^Use "SET .*$/gm, '')
    .replace(/^Use try\(.*$/gm, '')
    .replace(/^(Possible solutions:|Database is launched in in-memory mode)[\s\S]*$/m, '')
    .trim();
}

function hintFor(code: SqlErrorCode, { kind, text }: DuckDbError, plan: Plan): string | undefined {
  if (code === 'OUT_OF_MEMORY') return 'give more with --max-memory, or read less: name operator and state, fewer columns';
  if (/^unicode_to_utf8/.test(text)) return "write the character itself, or 'a' || chr(8203) || 'b'";
  if (/^Conversion/.test(kind) && /convert|out of range|field|Malformed|format/i.test(text))
    return 'TRY_CAST gives NULL instead of an error';
  const asText = plan.scans.some(s => s.columns.some(c => c.form !== 'value'));
  if (asText && /VARCHAR|JSON/.test(text) && /^Binder/.test(kind))
    return "a column of several types is text here: add state_name = '…' so that one type is left, or TRY_CAST";
  return undefined;
}
