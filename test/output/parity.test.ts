/** Output from column bytes is the JSON of io/json.ts, and `-o sql` is what DuckDB reads back. */
import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBIntervalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimeNSValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  DuckDBUUIDValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnValue, createColumn } from '../../src/io/column.js';
import { jsonOf, textOf } from '../../src/io/json.js';
import { ByteWriter } from '../../src/output/bytes.js';
import { type CellContext, jsonCell, textCell } from '../../src/output/cells.js';
import { Decimal, Interval, JsonText, MapValue, type SqlType, Struct, sqlTypeText, Timestamp, type Value } from '../../src/types.js';
import { resultOf, written } from './support.js';
import { everyKind, typed } from './values.js';

const SEED = 20261130;

function cellText(kind: 'json' | 'text', type: SqlType, value: Value, numbers: 'exact' | 'string'): string {
  const context: CellContext = { numbers, notes: { bigInteger: false } };
  const column = createColumn(type, 1);
  column.push(value);
  const out = new ByteWriter(16);
  (kind === 'json' ? jsonCell(type, context) : textCell(type, context))(column, 0, out);
  return out.take().toString('utf8');
}

describe('cells', () => {
  it('are jsonOf and textOf of the value', () => {
    fc.assert(
      fc.property(typed, fc.constantFrom('exact' as const, 'string' as const), ({ type, values }, numbers) => {
        for (const value of values) {
          if (value === null) continue;
          const column = createColumn(type, 1);
          column.push(value);
          const back = columnValue(column, 0);
          expect(cellText('json', type, value, numbers)).toBe(jsonOf(type, back, { numbers }));
          expect(cellText('text', type, value, numbers)).toBe(textOf(type, back, { numbers }));
        }
      }),
      { seed: SEED, numRuns: 1500 },
    );
  });
});

describe('-o sql', () => {
  const readBack = async (types: readonly SqlType[], rows: readonly (readonly Value[])[]) => {
    const columns = types.map((type, i) => ({ name: `c${i}`, type }));
    const sql = await written({ format: 'sql' }, resultOf(columns, rows, 50));
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      await connection.run("SET TimeZone = 'America/New_York'");
      await connection.run(sql);
      const described = await connection.runAndReadAll('DESCRIBE "result"');
      const answer = await connection.runAndReadAll('FROM "result"');
      return { types: described.getRowsJson().map(row => String(row[1])), rows: answer.getRowsJson() };
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  };

  it('reads back with every type', async () => {
    const { types, rows } = await readBack(
      everyKind.map(([type]) => type),
      [everyKind.map(([, value]) => value), everyKind.map(() => null)],
    );
    expect(types).toEqual(
      everyKind.map(([type]) =>
        sqlTypeText(type).replace('f0 VARCHAR, end', 'f0 VARCHAR, "end"').replace('TIMESTAMPTZ', 'TIMESTAMP WITH TIME ZONE'),
      ),
    );
    expect(rows[1]).toEqual(everyKind.map(() => null));
    expect(rows[0]).toEqual([
      true,
      -128,
      -32768,
      2147483647,
      '9007199254740993',
      '-170141183460469231731687303715884105727',
      Math.fround(0.1),
      'NaN',
      '1.10',
      'it\'s "ü" 日本',
      '\\x00\\xAB\\xFF',
      '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
      '{"a":[1,null]}',
      '2026-01-31',
      '12:34:56.789',
      '12:34:56.789000001',
      '2026-01-31 12:34:56.789',
      '2026-01-31 12:34:56.789000001',
      '2026-01-31 12:34:56+00',
      { months: 14, days: 3, micros: '500000' },
      { f0: 'a', end: null },
      [1, null, 3],
      [{ key: 'k', value: 0.5 }],
    ]);
  });

  it('reads back what it was, whatever the values', async () => {
    const samples = fc.sample(typed, { seed: SEED, numRuns: 300 });
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    for (const { type, values } of samples) {
      await connection.run(
        await written(
          { format: 'sql' },
          resultOf(
            [{ name: 'c', type }],
            values.map(v => [v]),
          ),
        ),
      );
      const answer = await connection.runAndReadAll('SELECT c FROM "result"');
      const json = (v: Value) => jsonOf(type, v);
      expect(answer.getRows().map(([v]) => json(fromDuckDb(type, v)))).toEqual(
        values.map(v => json(v === null ? null : throughColumn(type, v))),
      );
      await connection.run('DROP TABLE "result"');
    }
    connection.closeSync();
    instance.closeSync();
  });
});

/** What a column can hold of a value: no lone surrogates. */
function throughColumn(type: SqlType, value: Value): Value {
  const column = createColumn(type, 1);
  column.push(value);
  return columnValue(column, 0);
}

/** A value as DuckDB's client gives it, in the form of types.ts. */
function fromDuckDb(type: SqlType, value: DuckDBValue): Value {
  if (value === null) return null;
  if (value instanceof DuckDBBlobValue) return value.bytes;
  if (value instanceof DuckDBUUIDValue) return value.toString();
  if (value instanceof DuckDBDateValue) return value.days;
  if (value instanceof DuckDBTimeValue) return Number(value.micros) * 1000;
  if (value instanceof DuckDBTimeNSValue) return Number(value.nanos);
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) return timestamp(value.micros, 1_000_000n, 1000);
  if (value instanceof DuckDBTimestampNanosecondsValue) return timestamp(value.nanos, 1_000_000_000n, 1);
  if (value instanceof DuckDBIntervalValue) return new Interval(value.months, value.days, value.micros);
  if (value instanceof DuckDBDecimalValue) return new Decimal(value.value, value.scale);
  if (type.kind === 'JSON') return new JsonText(String(value));
  if (type.kind === 'LIST' && value instanceof DuckDBListValue) return value.items.map(v => fromDuckDb(type.element, v));
  if (type.kind === 'STRUCT' && value instanceof DuckDBStructValue)
    return new Struct(type.fields.map(f => fromDuckDb(f.type, value.entries[f.name])));
  if (type.kind === 'MAP' && value instanceof DuckDBMapValue)
    return new MapValue(value.entries.map(e => [fromDuckDb(type.key, e.key), fromDuckDb(type.value, e.value)] as const));
  return value as Value;
}

function timestamp(units: bigint, perSecond: bigint, nanosPerUnit: number): Timestamp {
  const rest = ((units % perSecond) + perSecond) % perSecond;
  return new Timestamp((units - rest) / perSecond, Number(rest) * nanosPerUnit);
}
