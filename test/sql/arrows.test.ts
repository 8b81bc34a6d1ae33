import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parenthesizeArrows } from '../../src/sql/arrows.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { keyedState } from './data.js';
import { fakeCatalog } from './fake-table.js';
import { rowsOf } from './harness.js';

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

/** Expressions around an arrow, which mean the same with parentheses round it. */
const AROUND = (a: string): readonly string[] => [
  `${a} = 'pen'`,
  `'pen' = ${a}`,
  `${a} <> 'pen'`,
  `${a} IN ('x', 'pen')`,
  `${a} NOT IN ('pen')`,
  `${a} LIKE 'p%'`,
  `${a} NOT LIKE 'p%'`,
  `${a} BETWEEN 'a' AND 'z'`,
  `${a} IS NULL`,
  `${a} IS NOT NULL`,
  `${a} || '!' = 'pen!'`,
  `NOT ${a} = 'pen'`,
  `${a} = 'x' OR ${a} = 'pen'`,
  `true AND ${a} = 'pen' AND true`,
  `${a}::VARCHAR = 'pen'`,
  `length(${a}) + 1 > 3`,
  `${a} < 'q'`,
  `${a} IS DISTINCT FROM 'pen'`,
  `CASE WHEN ${a} = 'pen' THEN true ELSE false END`,
  `CASE ${a} WHEN 'pen' THEN true ELSE false END`,
  `coalesce(${a}, 'none') = 'none'`,
  `[${a}, 'b'][1] = 'pen'`,
  `${a} = ANY(SELECT 'pen')`,
  `EXISTS (SELECT 1 WHERE ${a} = 'pen')`,
  `list_transform([1], i -> i)[1] = 1 AND ${a} = 'pen'`,
  `TRY_CAST(${a} AS INT) IS NULL`,
];
const PLACES = (e: string, from: string): readonly string[] => [
  `SELECT ${e} FROM ${from}`,
  `SELECT key FROM ${from} AND ${e}`,
  `SELECT ${e}, count(*) FROM ${from} GROUP BY ${e} ORDER BY ${e}`,
  `SELECT count(*) FROM ${from} GROUP BY key HAVING bool_or(${e})`,
  `WITH c AS (SELECT ${e} AS e, key FROM ${from}) SELECT key FROM c WHERE e`,
  `SELECT a.key FROM keyed_state a JOIN (SELECT value FROM ${from}) b ON a.state_name = 'count' AND ${e.replaceAll('value', 'b.value')}`,
];

describe('arrows among other operators', () => {
  let db: Database;
  beforeAll(async () => {
    db = await openDatabase({ snapshots: new Map([['s', fakeCatalog(keyedState())]]), threads: 1 });
  });
  afterAll(() => db.close());
  it.each(AROUND('…').map((text, i) => [text, i] as const))('%s', async (_text, i) => {
    for (const from of ["keyed_state WHERE state_name = 'last'", "keyed_state WHERE state_name IN ('last', 'flags')"]) {
      const bare = PLACES(AROUND("value->>'item'")[i], from);
      const parenthesized = PLACES(AROUND("(value->>'item')")[i], from);
      for (const [k, sql] of bare.entries()) expect(await rowsOf(db, sql), sql).toEqual(await rowsOf(db, parenthesized[k]));
    }
  });
});
