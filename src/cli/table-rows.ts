/** Rows between tables, objects and output: what the commands other than `sql` need of them. */
import { type Column, type ColumnBatch, columnValue, createColumn } from '../io/column.js';
import type { ResultColumn, ResultRows } from '../output/format.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import type { Table } from '../tables/table.js';
import type { SqlType, Value } from '../types.js';

export type ObjectRow = Readonly<Record<string, Value | undefined>>;

/** A result out of objects: a command's answer. */
export function resultOfObjects(columns: readonly (readonly [name: string, type: SqlType])[], rows: Iterable<ObjectRow>): ResultRows {
  const result: readonly ResultColumn[] = columns.map(([name, type]) => ({ name, type }));
  return {
    columns: result,
    batches: (function* () {
      let filled: Column[] = [];
      let length = 0;
      for (const row of rows) {
        if (length === 0) filled = result.map(c => createColumn(c.type, 64));
        result.forEach((c, i) => {
          filled[i].push(row[c.name] ?? null);
        });
        if (++length === 2048) {
          yield { length, columns: filled };
          length = 0;
        }
      }
      if (length > 0) yield { length, columns: filled };
    })(),
  };
}

/** The rows of a batch as objects. */
export function objectsOf(columns: readonly { readonly name: string }[], batch: ColumnBatch): ObjectRow[] {
  return Array.from({ length: batch.length }, (_, row) =>
    Object.fromEntries(columns.map((c, i) => [c.name, columnValue(batch.columns[i], row)])),
  );
}

/** Every row of a (small) table of the catalog as objects. */
export function tableObjects(snapshot: OpenedSnapshot, name: string): ObjectRow[] {
  const table = snapshot.catalog.find(name);
  if (table === undefined) throw new Error(`there is no table ${name}`);
  const { columns, scan } = scanAll(table);
  const rows: ObjectRow[] = [];
  try {
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) rows.push(...objectsOf(columns, batch));
  } finally {
    scan.close();
  }
  return rows;
}

function scanAll(table: Table) {
  const bound = table.bind([]);
  const columns = bound.columns;
  return { columns, scan: bound.scan({ columns: columns.map(c => ({ name: c.name, form: 'value' as const })), filters: [] }) };
}

/** A table of the catalog, all columns, as a result. */
export function tableResult(snapshot: OpenedSnapshot, name: string): ResultRows {
  const table = snapshot.catalog.find(name);
  if (table === undefined) throw new Error(`there is no table ${name}`);
  const { columns, scan } = scanAll(table);
  return {
    columns: columns.map(c => ({ name: c.name, type: c.type })),
    batches: (function* () {
      try {
        for (let batch = scan.next(); batch !== undefined; batch = scan.next()) yield batch;
      } finally {
        scan.close();
      }
    })(),
  };
}
