/** The listings of `tables` and `schema`, as commands and in the shell. */
import { NotFoundError } from '../errors.js';
import type { ResultRows } from '../output/format.js';
import { nearest } from '../sql/suggest.js';
import type { BoundColumn, Catalog } from '../tables/table.js';
import { BIGINT, BOOLEAN, sqlTypeText, VARCHAR } from '../types.js';
import { resultOfObjects } from './table-rows.js';

/** `prefix`: `alias.` where names have to be qualified. */
export function tablesResult(catalog: Catalog, all: boolean, prefix = ''): ResultRows {
  const rows = catalog.names(all).map(name => {
    const table = catalog.find(name);
    const rowCount = table?.bind([]).rowCount;
    return {
      table: prefix + name,
      rows: rowCount === undefined ? null : BigInt(rowCount),
      description: table?.spec.description ?? null,
    };
  });
  return resultOfObjects(
    [
      ['table', VARCHAR],
      ['rows', BIGINT],
      ['description', VARCHAR],
    ],
    rows,
  );
}

export interface TableColumns {
  readonly name: string;
  readonly columns: readonly BoundColumn[];
}

/** One table, or all of them. @throws NotFoundError with the nearest name */
export function schemaOf(catalog: Catalog, table: string | undefined): readonly TableColumns[] {
  const names = table === undefined ? catalog.names(false) : [table];
  return names.map(name => {
    const found = catalog.find(name);
    if (found !== undefined) return { name: found.spec.name, columns: found.bind([]).columns };
    const near = nearest(name, catalog.names(true));
    throw new NotFoundError(`no table ${name}`, {
      hint: near === undefined ? 'statequery tables --all lists them' : `did you mean ${near}?`,
    });
  });
}

export function schemaResult(catalog: Catalog, table: string | undefined, prefix = ''): ResultRows {
  return resultOfObjects(
    [
      ['table', VARCHAR],
      ['column', VARCHAR],
      ['type', VARCHAR],
      ['mixed', BOOLEAN],
      ['description', VARCHAR],
    ],
    schemaOf(catalog, table).flatMap(t =>
      t.columns.map(c => ({
        table: prefix + t.name,
        column: c.name,
        type: sqlTypeText(c.type),
        mixed: c.mixed,
        description: c.description,
      })),
    ),
  );
}
