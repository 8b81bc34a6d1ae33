/**
 * JSON arrows bind as they read. DuckDB's grammar shares `->` with lambdas and gives both arrows less weight than AND and =:
 * `a = 1 AND v->>'n' = 2` is `((a = 1 AND v)->>'n') = 2` there. Nobody means that, so every arrow gets parentheses before the
 * parser sees it: `(v->>'n')`.
 *
 *   operand -> key      operand: a name with its path, calls, subscripts and casts, a constant, or (…); key: a name, constant or (…)
 *   x -> …, (x, i) -> … as an argument of list_transform and its kind, or of COLUMNS: a lambda, left alone
 */
import { LAMBDA_FUNCTIONS } from './functions.js';
import { isComment, tokenEnd } from './text.js';

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface Parenthesized {
  readonly text: string;
  /** the index in the text as it was of an index in this one */
  original(index: number): number;
}

const WORD = /^[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/;
const NUMBER = /^[0-9][0-9A-Za-z_.]*/;
const SYMBOL = /^(->>|->|::|<=|>=|<>|!=|\|\||[^\s])/;

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const simple = WORD.exec(rest) ?? NUMBER.exec(rest);
    // E'…' is one token
    const prefixed = simple !== null && /^[eExXbB]$/.test(simple[0]) && text[at + 1] === "'";
    const quoted = tokenEnd(text, prefixed ? at + 1 : at);
    let end = at + 1;
    if (prefixed || quoted > at + 1) end = quoted;
    else if (simple !== null) end = at + simple[0].length;
    else if (/\S/.test(text[at])) end = at + (SYMBOL.exec(rest)?.[0].length ?? 1);
    if (/\S/.test(text[at]) && !isComment(text, at)) tokens.push({ text: text.slice(at, end), start: at, end });
    at = end;
  }
  return tokens;
}

/** Words that end an operand to their right: what stands before an arrow cannot begin with them. */
const BREAKS = new Set(
  'select from where and or not in like ilike is between case when then else having on by as limit offset distinct qualify using any all exists values union except intersect filter over'.split(
    ' ',
  ),
);
const isName = (t: Token | undefined) => t !== undefined && (t.text[0] === '"' || (WORD.test(t.text) && !BREAKS.has(t.text.toLowerCase())));

/** Puts parentheses round every JSON arrow. */
export function parenthesizeArrows(text: string): Parenthesized {
  if (!text.includes('->')) return { text, original: index => index };
  const tokens = tokensOf(text);
  const opens = new Map<number, number>();
  const closes = new Map<number, number>();
  const stack: number[] = [];
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i].text === '(' || tokens[i].text === '[' || tokens[i].text === '{') stack.push(i);
    else if (tokens[i].text === ')' || tokens[i].text === ']' || tokens[i].text === '}') {
      const open = stack.pop();
      if (open === undefined) return { text, original: index => index };
      opens.set(i, open);
      closes.set(open, i);
    }
  }
  /** the index of the first token of the operand that ends with token i; undefined where none does */
  const operandStart = (i: number): number | undefined => {
    const token = tokens[i];
    if (token === undefined) return undefined;
    let first: number;
    const open = opens.get(i);
    if (open !== undefined) {
      first = open;
      const before = tokens[first - 1];
      if (token.text === ']' && (isName(before) || opens.has(first - 1))) return operandStart(first - 1);
      if (token.text === ')' && isName(before)) first -= 1;
    } else if (isName(token) || /^['0-9$eExX]/.test(token.text)) first = i;
    else return undefined;
    const before = tokens[first - 1];
    if (before?.text === '.' || before?.text === '::') return operandStart(first - 2) ?? first;
    // $name: the sign is a token of its own
    if (before?.text === '$') return first - 1;
    return first;
  };
  const operandEnd = (i: number): number | undefined => {
    const token = tokens[i];
    if (token === undefined) return undefined;
    if (token.text === '-' || token.text === '$') return operandEnd(i + 1);
    const close = closes.get(i);
    if (close !== undefined) return close;
    if (!isName(token) && !/^['0-9$eExX]/.test(token.text)) return undefined;
    let last = i;
    while (tokens[last + 1]?.text === '.' && isName(tokens[last + 2])) last += 2;
    const call = tokens[last + 1]?.text === '(' && isName(tokens[last]) ? closes.get(last + 1) : undefined;
    return call ?? last;
  };
  const isLambda = (arrow: number, first: number): boolean => {
    if (tokens[arrow].text !== '->') return false;
    const before = tokens[first - 1]?.text;
    if (before !== ',' && before !== '(') return false;
    // the call around: an open bracket before it that closes after
    for (let i = first - 1; i >= 0; i--) {
      if (opens.has(i)) i = opens.get(i) as number;
      else if (tokens[i].text === '(') {
        const name = tokens[i - 1]?.text.toLowerCase() ?? '';
        return before === ',' ? LAMBDA_FUNCTIONS.has(name) : name === 'columns';
      }
    }
    return false;
  };
  const before = new Map<number, number>();
  const after = new Map<number, number>();
  /** an arrow's operand that is itself an arrow: where the chain began */
  const chains = new Map<number, number>();
  for (let i = 1; i < tokens.length; i++) {
    if (tokens[i].text !== '->' && tokens[i].text !== '->>') continue;
    const first = chains.get(i - 1) ?? operandStart(i - 1);
    const last = operandEnd(i + 1);
    if (first === undefined || last === undefined || isLambda(i, first)) continue;
    before.set(first, (before.get(first) ?? 0) + 1);
    after.set(last, (after.get(last) ?? 0) + 1);
    chains.set(last, first);
  }
  let out = '';
  let copied = 0;
  const inserted: number[] = [];
  const insert = (at: number, mark: string, times: number) => {
    out += text.slice(copied, at);
    copied = at;
    for (let n = 0; n < times; n++) {
      inserted.push(out.length);
      out += mark;
    }
  };
  tokens.forEach((token, i) => {
    insert(token.start, '(', before.get(i) ?? 0);
    insert(token.end, ')', after.get(i) ?? 0);
  });
  out += text.slice(copied);
  return { text: out, original: index => index - inserted.filter(at => at < index).length };
}
