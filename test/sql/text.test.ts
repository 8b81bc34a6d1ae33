import { describe, expect, it } from 'vitest';
import { SqlError } from '../../src/errors.js';
import { nearest } from '../../src/sql/suggest.js';
import { indexOfByte, placeOf, splitStatements, withoutComments } from '../../src/sql/text.js';

describe('statements of a text', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['SELECT 1', ['SELECT 1']],
    ['SELECT 1;', ['SELECT 1']],
    ['a;b', ['a', 'b']],
    [';;a;;', ['a']],
    ['', []],
    [' \n-- only a comment\n/* and another; */', []],
    ["SELECT ';'; b", ["SELECT ';'", ' b']],
    ["SELECT 'it''s; x'; b", ["SELECT 'it''s; x'", ' b']],
    ['SELECT "a;""b;"; c', ['SELECT "a;""b;"', ' c']],
    ["SELECT E'a\\';b'; c", ["SELECT E'a\\';b'", ' c']],
    ["SELECT e'\\\\'; c", ["SELECT e'\\\\'", ' c']],
    ["SELECT type'a\\'; c", ["SELECT type'a\\'", ' c']],
    ['SELECT $$a;b$$; c', ['SELECT $$a;b$$', ' c']],
    ['SELECT $x$a;$$;b$x$; c', ['SELECT $x$a;$$;b$x$', ' c']],
    ['SELECT $name; c', ['SELECT $name', ' c']],
    ['SELECT $1;c', ['SELECT $1', 'c']],
    ['SELECT a$b;c', ['SELECT a$b', 'c']],
    ['a -- x;y\n;b', ['a -- x;y\n', 'b']],
    ['a /* x;/* y; */ z; */;b', ['a /* x;/* y; */ z; */', 'b']],
    ["a 'unterminated; b", ["a 'unterminated; b"]],
    ['a /* unterminated; b', ['a /* unterminated; b']],
    ['a - -b;c', ['a - -b', 'c']],
  ];
  it.each(cases)('%j', (text, statements) => {
    const found = splitStatements(text);
    expect(found.map(s => s.text)).toEqual(statements);
    for (const s of found) expect(text.slice(s.start, s.start + s.text.length)).toBe(s.text);
  });

  it('a NUL is refused with its place', () => {
    expect(() => splitStatements('SELECT\n 1\u0000')).toThrow(SqlError);
    expect(() => splitStatements('SELECT\n 1\u0000')).toThrow('the statement holds a NUL character');
  });
});

it('comments are blanked, nothing else', () => {
  expect(withoutComments('a -- b\nc /* d */ \'-- e\' "/* f */"')).toBe('a     \nc         \'-- e\' "/* f */"');
});

it('places are lines and columns in characters', () => {
  const text = "SELECT 'ü🙂',\n  x";
  expect(placeOf(text, text.indexOf('x'))).toEqual({ line: 2, column: 3 });
  expect(placeOf(text, text.indexOf(','))).toEqual({ line: 1, column: 12 });
  expect(indexOfByte(text, Buffer.byteLength(text.slice(0, 12)))).toBe(12);
});

it('suggestions are near, and only those', () => {
  const names = ['keyed_state', 'operator_state', 'state_meta', 'value', 'key', 'key_group'];
  expect(nearest('keyed_stat', names)).toBe('keyed_state');
  expect(nearest('KeyedState', names)).toBe('keyed_state');
  expect(nearest('vlaue', names)).toBe('value');
  expect(nearest('kye', names)).toBe('key');
  expect(nearest('keygroup', names)).toBe('key_group');
  expect(nearest('banana', names)).toBe(undefined);
  expect(nearest('', names)).toBe(undefined);
});
