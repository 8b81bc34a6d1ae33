import { expect, it } from 'vitest';
import { parenthesizeArrows } from '../../src/sql/arrows.js';

it.each([
  ['SELECT 1', 'SELECT 1'],
  ["v->>'n'", "(v->>'n')"],
  ["a = 1 AND v->>'n' = 2", "a = 1 AND (v->>'n') = 2"],
  ["a = 1 AND v -> 'n' = 2 OR b", "a = 1 AND (v -> 'n') = 2 OR b"],
  ["1 = v->>'n'", "1 = (v->>'n')"],
  ["NOT v->>'n' = 2", "NOT (v->>'n') = 2"],
  ["v->'a'->'b'->>'c' = 1", "(((v->'a')->'b')->>'c') = 1"],
  ['v->0->-1->>1', '(((v->0)->-1)->>1)'],
  ["t.v.w->>'n'", "(t.v.w->>'n')"],
  ['"a b"."c"->>$k', '("a b"."c"->>$k)'],
  ["v['x'][1]->>'n'", "(v['x'][1]->>'n')"],
  ["f(a, b)->>'n'", "(f(a, b)->>'n')"],
  ["f(a->>'x')->>'n'", "(f((a->>'x'))->>'n')"],
  ["(a)->>'n'", "((a)->>'n')"],
  ["(SELECT a)->>'n'", "((SELECT a)->>'n')"],
  ["x::JSON->>'n'", "(x::JSON->>'n')"],
  ["CAST(x AS JSON)->>'n'", "(CAST(x AS JSON)->>'n')"],
  ["'{\"a\": 1}'->>'a'", "('{\"a\": 1}'->>'a')"],
  ["v->>('a' || 'b') = 1", "(v->>('a' || 'b')) = 1"],
  ['v->>k.name = 1', '(v->>k.name) = 1'],
  ["v->>lower('A') = 1", "(v->>lower('A')) = 1"],
  ["CASE WHEN v->>'a' = 1 THEN v->'b' ELSE v->'c' END", "CASE WHEN (v->>'a') = 1 THEN (v->'b') ELSE (v->'c') END"],
  ["SELECT v->>'a' AS x, v->'b' y FROM t ORDER BY v->>'a' DESC", "SELECT (v->>'a') AS x, (v->'b') y FROM t ORDER BY (v->>'a') DESC"],
  ["(a->>'x')::INT IN (b->>'y')", "((a->>'x'))::INT IN ((b->>'y'))"],
  // lambdas
  ['list_transform(l, x -> x + 1)', 'list_transform(l, x -> x + 1)'],
  ['list_transform(l, (x, i) -> x + i)', 'list_transform(l, (x, i) -> x + i)'],
  ["list_filter(l, x -> x->>'a' = 1)", "list_filter(l, x -> (x->>'a') = 1)"],
  ['list_transform(l, x -> list_transform(x, y -> y))', 'list_transform(l, x -> list_transform(x, y -> y))'],
  ["list_transform(j->'a', x -> x)", "list_transform((j->'a'), x -> x)"],
  ["list_contains(l, v->'a')", "list_contains(l, (v->'a'))"],
  ["SELECT COLUMNS(c -> c LIKE 'i%'), max(v->>'a')", "SELECT COLUMNS(c -> c LIKE 'i%'), max((v->>'a'))"],
  // not arrows
  ["'a->b' -- v->'x'\n /* v->'x' */ \"v->x\"", "'a->b' -- v->'x'\n /* v->'x' */ \"v->x\""],
  ['a - -b > c', 'a - -b > c'],
  ['-> ->> (', '-> ->> ('],
  ["E'\\'->' || v->'a'", "E'\\'->' || (v->'a')"],
])('%j', (text, expected) => {
  const done = parenthesizeArrows(text);
  expect(done.text).toBe(expected);
  // every character keeps its place
  let at = 0;
  for (let i = 0; i < done.text.length; i++) {
    const original = done.original(i);
    if (done.text[i] === text[original] && original === at) at++;
  }
  expect(at).toBe(text.length);
});
