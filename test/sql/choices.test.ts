/** Either and Try through SQL: JSON has the field that is there, whatever the statement does with the value. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { columnValue, createColumn } from '../../src/io/column.js';
import { jsonOf } from '../../src/io/json.js';
import { ByteWriter } from '../../src/output/bytes.js';
import { jsonCell } from '../../src/output/cells.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { BIGINT, INTEGER, list, type SqlType, Struct, struct, VARCHAR, type Value } from '../../src/types.js';
import { fakeCatalog, fakeTable } from './fake-table.js';

const EITHER: SqlType = { ...struct(['left', BIGINT], ['right', VARCHAR]), choice: true };
const PAIR = struct(['left', INTEGER], ['right', VARCHAR]);
const table = fakeTable(
  'choices',
  [
    { name: 'n', type: INTEGER },
    { name: 'e', type: EITHER },
    { name: 'es', type: list(EITHER) },
    { name: 'pair', type: PAIR },
    { name: 'either', type: struct(['left', EITHER], ['right', INTEGER]) },
  ],
  [
    [1, new Struct([5n, null], undefined, 0), [new Struct([6n, null])], new Struct([1, null]), new Struct([new Struct([7n, null]), null])],
    [2, new Struct([null, 'x'], undefined, 1), [new Struct([null, 'y'])], new Struct([null, 'z']), null],
    [3, null, null, null, null],
    [4, new Struct([null, null]), [], new Struct([null, null]), new Struct([null, 1])],
  ],
);

let duckdb: Database;
let alasql: Database;
beforeAll(async () => {
  const snapshots = new Map([['s', fakeCatalog(table)]]);
  duckdb = await openDatabase({ snapshots, threads: 1 });
  alasql = await openDatabase({ snapshots, engine: 'alasql' });
});
afterAll(async () => {
  await duckdb.close();
  await alasql.close();
});

/** The first column of each row as JSON. */
async function jsonRows(db: Database, sql: string): Promise<readonly string[]> {
  const out: string[] = [];
  for await (const { columns, batches } of db.query(sql))
    for await (const batch of batches) {
      const cell = jsonCell(columns[0].type, { numbers: 'exact', notes: { bigInteger: false } });
      for (let i = 0; i < batch.length; i++) {
        if (batch.columns[0].validity[i] === 0) {
          out.push('null');
          continue;
        }
        const writer = new ByteWriter();
        cell(batch.columns[0], i, writer);
        const text = Buffer.from(writer.bytes.subarray(0, writer.length)).toString('utf8');
        expect(jsonOf(columns[0].type, columnValue(batch.columns[0], i))).toBe(text);
        out.push(text);
      }
    }
  return out;
}

const ALL = ['{"left":5}', '{"right":"x"}', 'null', '{"left":null,"right":null}'];

it.each([
  ['SELECT e FROM choices', ALL],
  ['SELECT x FROM (SELECT e AS x FROM choices)', ALL],
  ['WITH c AS (SELECT e FROM choices) SELECT a.e FROM c a JOIN c b ON a.e = b.e ORDER BY a.e.left', [ALL[0], ALL[1], ALL[3]]],
  ['SELECT any_value(e) FROM choices GROUP BY n ORDER BY n', ALL],
  ['SELECT [e] FROM choices WHERE n < 3', ['[{"left":5}]', '[{"right":"x"}]']],
  ["SELECT {'v': e} FROM choices WHERE n = 1", ['{"v":{"left":5}}']],
  ["SELECT MAP {'v': e} FROM choices WHERE n = 2", ['{"v":{"right":"x"}}']],
  ['SELECT es FROM choices WHERE n < 3', ['[{"left":6}]', '[{"right":"y"}]']],
  ['SELECT unnest(es) FROM choices', ['{"left":6}', '{"right":"y"}']],
  // STRUCTs with such names that are none
  ['SELECT pair FROM choices', ['{"left":1,"right":null}', '{"left":null,"right":"z"}', 'null', '{"left":null,"right":null}']],
  ['SELECT either FROM choices WHERE n < 3', ['{"left":{"left":7},"right":null}', 'null']],
] as const)('%s', async (sql, expected) => {
  expect(await jsonRows(duckdb, sql)).toEqual(expected);
});

it('by the second engine', async () => {
  expect(await jsonRows(alasql, 'SELECT e FROM choices')).toEqual(ALL);
});

it('as values: both fields, one of them NULL', async () => {
  const column = createColumn(EITHER, 1);
  column.push(new Struct([5n, null], undefined, 0));
  expect((columnValue(column, 0) as { values: readonly Value[] }).values).toEqual([5n, null]);
});
