/**
 * What DuckDB says → SqlError. Its messages are `<Kind> Error: text`, then `LINE n: …` with a caret under the place in the
 * rewritten text. The place in the user's text is found by the word at the caret, if it is there once.
 */
import { SqlError, type SqlErrorCode } from '../../errors.js';
import type { Plan } from '../plan.js';
import type { DuckDbError } from './duckdb.js';

const CODES: readonly (readonly [RegExp, SqlErrorCode])[] = [
  [/^Out of Memory Error/, 'OUT_OF_MEMORY'],
  [/^Out of Range Error/, 'VALUE_OUT_OF_RANGE'],
  [/^Conversion Error: .*out of range/, 'VALUE_OUT_OF_RANGE'],
  [/^Parser Error/, 'SQL_SYNTAX'],
  [/^Catalog Error: .*(Function|function)/, 'SQL_ERROR'],
  [/^Catalog Error/, 'UNKNOWN_TABLE'],
  [/^Binder Error: .*(Referenced column|Could not find key|does not have a column)/, 'UNKNOWN_COLUMN'],
  [/^Permission Error/, 'REFUSED'],
];

/** The error of a statement as the user sees it. */
export function sqlErrorOf(error: DuckDbError, plan: Plan): SqlError {
  const raw = error.message;
  const [head] = raw.split(/\n\s*\n?LINE \d+:/);
  const code = CODES.find(([pattern]) => pattern.test(raw))?.[1] ?? 'SQL_ERROR';
  const message = head
    .split(/\n\s*\nPossible solutions:|\nDatabase is launched in in-memory mode/)[0]
    .replace(/^(Binder|Parser|Catalog|Conversion|Invalid Input|Invalid type|Out of Range|Out of Memory|Permission) Error: /, '')
    .replaceAll('\u00b7text', '')
    .trim();
  const place = placeInStatement(raw, plan);
  const where = place === undefined ? '' : `line ${place.line}, column ${place.column}: `;
  return new SqlError(code, `${where}${message}`, { ...place, hint: hintFor(code, raw, plan), cause: error });
}

function hintFor(code: SqlErrorCode, raw: string, plan: Plan): string | undefined {
  if (code === 'OUT_OF_MEMORY') return 'give more with --max-memory, or read less: name operator and state, fewer columns';
  if (/^Conversion Error/.test(raw)) return 'TRY_CAST gives NULL instead of an error';
  const mixed = plan.scans.some(s => s.bound.columns.some(c => c.mixed));
  if (mixed && /VARCHAR|JSON/.test(raw) && /^Binder Error/.test(raw))
    return "a column of several types is text here: add state_name = '…' so that one type is left, or TRY_CAST";
  return undefined;
}

function placeInStatement(raw: string, plan: Plan): { line: number; column: number } | undefined {
  const shown = /LINE \d+: (.*)\n( *)\^/.exec(raw);
  if (shown === null) return undefined;
  const prefix = /LINE \d+: /.exec(raw)![0].length;
  const word = /^[A-Za-z0-9_]+/.exec(shown[1].slice(shown[2].length - prefix))?.[0];
  if (word === undefined) return undefined;
  const { statement } = plan.parsed.places;
  const places = [...statement.text.matchAll(new RegExp(`\\b${word}\\b`, 'gi'))].map(m => m.index);
  if (places.length !== 1) return undefined;
  return plan.parsed.places.ofIndex(places[0]);
}
