/**
 * Rows as JavaScript objects, for programs: STRUCTs with their names, MAPs as Map, everything else in the forms of types.ts
 * (bigint, Decimal, Timestamp, …: exact).
 */
import { type ColumnBatch, columnValue } from '../io/column.js';
import type { Filter, Restriction, Table } from '../tables/table.js';
import type { Decimal, Interval, JsonText, MapValue, SqlType, Struct, Timestamp, Value } from '../types.js';

export type PlainValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Decimal
  | Timestamp
  | Interval
  | JsonText
  | readonly PlainValue[]
  | ReadonlyMap<PlainValue, PlainValue>
  | PlainObject;
export interface PlainObject {
  readonly [name: string]: PlainValue;
}

/** A value of `type` with names instead of positions. */
export function plainValue(type: SqlType, value: Value): PlainValue {
  if (value === null) return null;
  switch (type.kind) {
    case 'STRUCT':
      return Object.fromEntries(type.fields.map((f, i) => [f.name, plainValue(f.type, (value as Struct).values[i])]));
    case 'LIST':
      return (value as readonly Value[]).map(v => plainValue(type.element, v));
    case 'MAP':
      return new Map((value as MapValue).entries.map(([k, v]) => [plainValue(type.key, k), plainValue(type.value, v)]));
    default:
      return value as PlainValue;
  }
}

interface NamedColumn {
  readonly name: string;
  readonly type: SqlType;
}

function* batchObjects(columns: readonly NamedColumn[], batch: ColumnBatch): Generator<PlainObject> {
  for (let row = 0; row < batch.length; row++)
    yield Object.fromEntries(columns.map((c, i) => [c.name, plainValue(c.type, columnValue(batch.columns[i], row))]));
}

/** The rows of every result of `database.query(…)`, one after the other. */
export async function* rows(
  results: AsyncIterable<{ readonly columns: readonly NamedColumn[]; readonly batches: AsyncIterable<ColumnBatch> }>,
): AsyncGenerator<PlainObject, void, void> {
  for await (const { columns, batches } of results) for await (const batch of batches) yield* batchObjects(columns, batch);
}

export interface ScanOptions {
  /** names of columns; all when left out */
  readonly columns?: readonly string[];
  /** what is read less for: rows that do not satisfy them may still come */
  readonly filters?: readonly Filter[];
  /** what decides the types: see the contract of keyed_state in the README */
  readonly restrictions?: readonly Restriction[];
}

/** The rows of a table without SQL. */
export function* scanRows(table: Table, options: ScanOptions = {}): Generator<PlainObject, void, void> {
  const bound = table.bind(options.restrictions ?? []);
  const columns = bound.columns.filter(c => options.columns === undefined || options.columns.includes(c.name));
  const scan = bound.scan({
    columns: columns.map(c => ({ name: c.name, form: 'value' as const })),
    filters: options.filters ?? [],
  });
  try {
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) yield* batchObjects(columns, batch);
  } finally {
    scan.close();
  }
}
