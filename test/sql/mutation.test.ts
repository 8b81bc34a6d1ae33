/** Statements with tokens dropped, doubled, swapped and exchanged: an answer or an SqlError, never another failure. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StateQueryError } from '../../src/errors.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { events, keyedState, orders, people } from './data.js';
import { fakeCatalog } from './fake-table.js';
import { answers } from './harness.js';

const SEEDS: readonly string[] = [
  "SELECT k.key, count(*) AS n FROM keyed_state k LEFT JOIN people p ON k.key = p.name WHERE k.state_name = 'count' AND p.id IN (1, 2, 'x') GROUP BY k.key HAVING n > 0 ORDER BY n DESC LIMIT 3",
  'WITH a AS (SELECT id, city FROM people WHERE id BETWEEN 1 AND 5), b AS (SELECT * FROM a) SELECT b.city, max(b.id) OVER (PARTITION BY b.city ORDER BY b.id) FROM b QUALIFY row_number() OVER (ORDER BY id) < 3',
  "SELECT value->>'item', value.n, value['item'] FROM keyed_state WHERE value->'item' = 'pen' OR key LIKE 'k%' AND NOT key IS NULL",
  "SELECT * EXCLUDE (raw) REPLACE (id + 1 AS id) FROM people JOIN orders USING (id) WHERE item.sku = 'pen' ORDER BY ALL",
  'SELECT DISTINCT key, value FROM keyed_state UNION ALL SELECT name, id FROM people EXCEPT SELECT NULL, NULL ORDER BY 1',
  "SELECT o.order_id, t.x FROM orders o, unnest(o.item.tags) AS t(x) WHERE EXISTS (SELECT 1 FROM people WHERE people.id = o.id) AND t.x <> 'b'",
  "SELECT list_transform(prices, x -> x * 2), list_filter(item.tags, t -> t = 5), {'a': id, 'b': [1, 2]}, CASE id WHEN 1 THEN 'x' ELSE name END FROM orders NATURAL JOIN people",
  'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n, (SELECT max(id) FROM people WHERE id < n) FROM r',
  "EXPLAIN SELECT s.people.id FROM s.people WHERE (id, city) IN ((1, 'Berlin'), (2, 'x')) AND born > DATE '1990-01-01' AND big = 9007199254740993",
  "SELECT kind, sum(n) FILTER (WHERE n > '5'), string_agg(kind, ',' ORDER BY n) FROM events GROUP BY GROUPING SETS ((kind), ()) ORDER BY 1 NULLS FIRST",
  'DESCRIBE SELECT key, value.n FROM keyed_state; SHOW TABLES; SUMMARIZE SELECT id FROM people',
];
const EXTRA: readonly string[] = [
  ...'( ) , . * = < > - -> ->> :: [ ] { } ; + ? $ # @ !'.split(' '),
  ...'SELECT FROM WHERE GROUP BY ORDER ALL key value NULL AS USING JOIN UNION x 5 1.5 \'t\' "q" lambda ROW unnest count DISTINCT'.split(
    ' ',
  ),
];

function random(seed: number) {
  let x = seed;
  return (n: number) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
  };
}

function mutate(sql: string, r: (n: number) => number): string {
  const tokens = sql.match(/'[^']*'|"[^"]*"|\w+|->>|->|::|[^\s\w]/g) ?? [];
  for (let n = 1 + r(3); n > 0; n--) {
    const at = r(tokens.length);
    switch (r(5)) {
      case 0:
        tokens.splice(at, 1);
        break;
      case 1:
        tokens.splice(at, 0, tokens[r(tokens.length)]);
        break;
      case 2:
        tokens[at] = EXTRA[r(EXTRA.length)];
        break;
      case 3:
        tokens.splice(at, 0, EXTRA[r(EXTRA.length)]);
        break;
      default:
        [tokens[at], tokens[r(tokens.length)]] = [tokens[r(tokens.length)], tokens[at]];
    }
  }
  return tokens.join(' ');
}

describe.each(['duckdb', 'alasql'] as const)('%s', engine => {
  let db: Database;
  beforeAll(async () => {
    db = await openDatabase({
      engine,
      threads: 1,
      timeoutMs: 10_000,
      memoryLimit: '500MB',
      snapshots: new Map([['s', fakeCatalog(keyedState(), people(), orders(), events())]]),
    });
  });
  afterAll(() => db.close());

  it.each(SEEDS.map((sql, i) => ({ sql, i, label: sql.slice(0, 50) })))('$label', async ({ sql, i }) => {
    const r = random(Number(process.env.SQL_MUTATION_SEED ?? 4711) + i);
    let answered = 0;
    for (let k = 0; k < Number(process.env.SQL_MUTATIONS ?? 60); k++) {
      const mutated = mutate(sql, r);
      try {
        await answers(db, mutated);
        answered++;
      } catch (error) {
        if (!(error instanceof StateQueryError)) throw new Error(`${mutated}\n${(error as Error).stack}`);
        expect(error.exitCode, mutated).toBe(7);
        expect(error.message, mutated).not.toMatch(/INTERNAL|statequery_scan|\u00b7text/);
      }
    }
    expect(answered).toBeLessThan(Number(process.env.SQL_MUTATIONS ?? 60));
  });
});
