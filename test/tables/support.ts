/** Tables of real snapshots as objects. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tableObjects } from '../../src/cli/table-rows.js';
import { type OpenedSnapshot, type OpenOptions, openSnapshot } from '../../src/tables/snapshot.js';
import type { Value } from '../../src/types.js';

const ROOT = resolve(import.meta.dirname, '../..');
export const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(ROOT, '../shared');
export const HAS_SHARED = existsSync(join(SHARED, 'stated/datastream'));

export const fixture = (name: string): string => join(ROOT, 'fixtures/snapshots', name, 'snapshot');
export const stated = (name: string): string => join(SHARED, 'stated/datastream', name, 'snapshot');

export type ObjectRow = Readonly<Record<string, Value | undefined>>;

export function withSnapshot<T>(path: string, use: (snapshot: OpenedSnapshot) => T, options: OpenOptions = {}): T {
  const snapshot = openSnapshot(path, options);
  try {
    return use(snapshot);
  } finally {
    snapshot.close();
  }
}

/** All rows of a table. */
export const rowsOf = (path: string, table: string, options: OpenOptions = {}): ObjectRow[] =>
  withSnapshot(path, snapshot => tableObjects(snapshot, table), options);

export const hexOf = (value: Value | undefined): string => Buffer.from(value as Uint8Array).toString('hex');

export const sum = (rows: readonly ObjectRow[], column: string): bigint =>
  rows.reduce((total, row) => total + BigInt((row[column] as bigint | null) ?? 0n), 0n);
