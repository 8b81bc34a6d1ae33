/**
 * The library: open a snapshot, look at its tables, scan them, or ask in SQL.
 *
 *   const snapshot = openSnapshot('/savepoints/savepoint-1');
 *   for (const name of snapshot.catalog.names(false)) …
 */
export * from './errors.js';
export { type Column, type ColumnBatch, columnValue } from './io/column.js';
export { jsonOf, textOf } from './io/json.js';
export { OpenedSnapshot, type OpenOptions, openSnapshot, type TtlSetting } from './tables/snapshot.js';
export type * from './tables/table.js';
export * from './types.js';
