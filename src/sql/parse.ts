/**
 * Statement text → guarded tree, by the engine's own parser (`json_serialize_sql`).
 *
 * EXPLAIN is not among what that takes: its words are stripped first (explain-words.ts).
 */
import { SqlError } from '../errors.js';
import { parenthesizeArrows } from './arrows.js';
import { parseTree, type Statement } from './ast.js';
import { type ExplainWords, explainWords } from './explain-words.js';
import { guard, Places, refuseByFirstWord } from './guard.js';
import { noteSpelledNumbers } from './spelled-numbers.js';
import { type StatementText, splitStatements } from './text.js';

/** What the pipeline needs of the engine; src/sql/duckdb implements it. */
export interface Parser {
  /** json_serialize_sql */
  serialize(text: string): Promise<string>;
}

export interface ParsedStatement {
  readonly tree: Statement;
  readonly places: Places;
  readonly explain: ExplainWords['explain'];
  readonly explainFormat: ExplainWords['format'];
}

/** The statements of a text, each parsed when it is asked for. */
export function statementsOf(text: string): readonly StatementText[] {
  const statements = splitStatements(text);
  if (statements.length === 0) throw new SqlError('SQL_SYNTAX', 'there is no statement', { hint: 'give SQL, as in "FROM state_meta"' });
  return statements;
}

/** Parses and guards one statement of `whole`. */
export async function parseStatement(parser: Parser, whole: string, statement: StatementText): Promise<ParsedStatement> {
  const { explain, format, skipped } = explainWords(statement.text);
  const arrows = parenthesizeArrows(statement.text.slice(skipped));
  const places = new Places(whole, statement, skipped, arrows);
  refuseByFirstWord(statement.text.slice(skipped), places);
  const tree = parseTree(await parser.serialize(arrows.text)) as Serialized;
  if (tree.error) throw syntaxError(tree, arrows.text, places);
  if (tree.statements.length !== 1) {
    const what = explain === 'no' ? 'expected one statement' : 'there is no statement after EXPLAIN';
    throw places.error('SQL_SYNTAX', what, { query_location: 0 }, 'EXPLAIN SELECT …');
  }
  guard(tree.statements[0], places);
  noteSpelledNumbers(tree.statements[0], arrows.text);
  return { tree: tree.statements[0], places, explain, explainFormat: format };
}

/** What the parser says of no place: of the name in it, where there is one. */
function withoutPlace(message: string, places: Places): SqlError {
  const escaped = /^unicode_to_utf8\b/.test(message);
  const place = escaped ? places.ofWord('\\u') : places.ofQuoted(message);
  const where = place.line === undefined ? '' : `line ${place.line}, column ${place.column}: `;
  if (escaped)
    return new SqlError('SQL_SYNTAX', `${where}\\u is not read in E'…'`, {
      ...place,
      hint: "write the character itself, or 'a' || chr(8203) || 'b'",
    });
  return new SqlError('SQL_SYNTAX', `${where}${message}`, place);
}

type Serialized =
  | { readonly error: false; readonly statements: readonly Statement[] }
  | { readonly error: true; readonly error_type: string; readonly error_message: string; readonly position?: string };

function syntaxError(failed: Serialized & { error: true }, text: string, places: Places): SqlError {
  if (failed.error_type !== 'parser') {
    const message = failed.error_message;
    if (/Only SELECT/.test(message))
      return places.error('REFUSED', 'only SELECT statements are run', { query_location: 0 }, 'see the README for what is allowed');
    if (/named and positional/.test(message))
      return places.error('REFUSED', 'positional parameters are refused', undefined, 'write $name and give it with -p name=value');
    return withoutPlace(message, places);
  }
  if (failed.position === undefined) return withoutPlace(failed.error_message, places);
  const position = Number(failed.position);
  const place = places.atCharacter(position);
  const ended = position >= [...text].length && !/end of input/.test(failed.error_message);
  const message = `line ${place.line}, column ${place.column}: ${failed.error_message}${ended ? ' at the end' : ''}`;
  return new SqlError('SQL_SYNTAX', message, place);
}
