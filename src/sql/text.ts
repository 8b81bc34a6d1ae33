/**
 * Statement text: splitting at semicolons, finding words at its head, and places as line and column.
 *
 * Aware of 'strings' (also E'…' with backslashes), "names", $tag$ … $tag$, -- comments and nested block comments, as
 * DuckDB's scanner reads them.
 */
import { SqlError } from '../errors.js';

export interface StatementText {
  /** without the semicolon */
  readonly text: string;
  /** where it begins in the whole text (UTF-16 units) */
  readonly start: number;
}

/** The index after the token (string, name, comment, or one character) that begins at `at`. */
export function tokenEnd(text: string, at: number): number {
  const c = text[at];
  if (c === "'" || c === '"') {
    const escapes = c === "'" && /(^|[^A-Za-z0-9_$])[eE]$/.test(text.slice(Math.max(0, at - 2), at));
    for (let i = at + 1; i < text.length; i++) {
      if (escapes && text[i] === '\\') i++;
      else if (text[i] === c) {
        if (text[i + 1] === c) i++;
        else return i + 1;
      }
    }
    return text.length;
  }
  if (c === '-' && text[at + 1] === '-') {
    for (let i = at; i < text.length; i++) if (text[i] === '\n' || text[i] === '\r') return i;
    return text.length;
  }
  if (c === '/' && text[at + 1] === '*') {
    let depth = 1;
    for (let i = at + 2; i < text.length; i++) {
      if (text[i] === '/' && text[i + 1] === '*') {
        depth++;
        i++;
      } else if (text[i] === '*' && text[i + 1] === '/') {
        i++;
        if (--depth === 0) return i + 1;
      }
    }
    return text.length;
  }
  if (c === '$' && !/[A-Za-z0-9_]/.test(text[at - 1] ?? '')) {
    const tag = /^\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/.exec(text.slice(at, at + 80))?.[0];
    if (tag !== undefined) {
      const end = text.indexOf(tag, at + tag.length);
      return end < 0 ? text.length : end + tag.length;
    }
  }
  return at + 1;
}

export const isComment = (text: string, at: number) =>
  (text[at] === '-' && text[at + 1] === '-') || (text[at] === '/' && text[at + 1] === '*');

/** The statements of a text, empty ones left out. */
export function splitStatements(text: string): readonly StatementText[] {
  const nul = text.indexOf('\u0000');
  if (nul >= 0) throw new SqlError('SQL_SYNTAX', 'the statement holds a NUL character', placeOf(text, nul));
  const out: StatementText[] = [];
  let start = 0;
  let blank = true;
  const finish = (end: number) => {
    if (!blank) out.push({ text: text.slice(start, end), start });
  };
  for (let at = 0; at < text.length; ) {
    if (text[at] === ';') {
      finish(at);
      start = at + 1;
      blank = true;
    } else if (!/\s/.test(text[at]) && !isComment(text, at)) blank = false;
    at = tokenEnd(text, at);
  }
  finish(text.length);
  return out;
}

/** Whether the text ends inside a string, name or comment, or without a semicolon: what a shell asks before it runs. */
export function isComplete(text: string): boolean {
  let complete = true;
  for (let at = 0; at < text.length; ) {
    const end = tokenEnd(text, at);
    if (text[at] === ';') complete = true;
    else if (!isComment(text, at) && !/\s/.test(text[at])) complete = false;
    at = end;
  }
  return complete;
}

/** The text with comments blanked out, of the same length: for looking at words. */
export function withoutComments(text: string): string {
  let out = '';
  for (let at = 0; at < text.length; ) {
    const end = tokenEnd(text, at);
    out += isComment(text, at) ? ' '.repeat(end - at) : text.slice(at, end);
    at = end;
  }
  return out;
}

/** Line and column, from 1, of a UTF-16 index. */
export function placeOf(text: string, index: number): { line: number; column: number } {
  const before = text.slice(0, index);
  const line = before.split('\n').length;
  return { line, column: [...before.slice(before.lastIndexOf('\n') + 1)].length + 1 };
}

/** The UTF-16 index of a byte offset into the UTF-8 text. */
export function indexOfByte(text: string, byte: number): number {
  return Buffer.from(text, 'utf8').subarray(0, byte).toString('utf8').length;
}
