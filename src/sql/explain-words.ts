/**
 * The words of EXPLAIN before a statement:
 *
 *   EXPLAIN [ANALYZE] …     EXPLAIN (ANALYZE, FORMAT text|json) …
 */
import { SqlError } from '../errors.js';
import { withoutComments } from './text.js';

export interface ExplainWords {
  readonly explain: 'no' | 'plan' | 'analyze';
  /** text where nothing is said */
  readonly format: 'text' | 'json';
  /** characters before the statement itself */
  readonly skipped: number;
}

const EXPLAIN = /^(\s*EXPLAIN\b\s*)(ANALYZE\b\s*)?(\(([^()]*)\)\s*(?=\S))?(ANALYZE\b\s*)?/i;

/** @throws SqlError REFUSED for another format */
export function explainWords(text: string): ExplainWords {
  const match = EXPLAIN.exec(withoutComments(text));
  if (match === null) return { explain: 'no', format: 'text', skipped: 0 };
  const [whole, word, analyze, , options, analyzeBehind] = match;
  // a parenthesis that holds no options belongs to the statement
  const isOptions = options !== undefined && /^\s*(ANALYZE|FORMAT)\b/i.test(options);
  const analyzes = analyze !== undefined || (isOptions && (analyzeBehind !== undefined || /\bANALYZE\b/i.test(options)));
  const format = isOptions ? /\bFORMAT\s+'?(\w+)'?/i.exec(options)?.[1]?.toLowerCase() : undefined;
  if (format !== undefined && format !== 'text' && format !== 'json')
    throw new SqlError('REFUSED', `EXPLAIN (FORMAT ${format}) is refused`, { hint: 'FORMAT text or json' });
  return {
    explain: analyzes ? 'analyze' : 'plan',
    format: format === 'json' ? 'json' : 'text',
    skipped: isOptions || options === undefined ? whole.length : word.length + (analyze?.length ?? 0),
  };
}
