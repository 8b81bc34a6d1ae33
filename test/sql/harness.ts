/** Running statements in tests: rows as JavaScript values, and plain DuckDB tables over the same data as an oracle. */
import { columnValue } from '../../src/io/column.js';
import { DuckDb } from '../../src/sql/duckdb/duckdb.js';
import { SCAN_FUNCTION } from '../../src/sql/duckdb/scans.js';
import type { Database } from '../../src/sql/engine.js';
import { sqlTypeText, type Value } from '../../src/types.js';
import type { FakeTable } from './fake-table.js';

export interface Answer {
  readonly columns: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** Every result of the statements. */
export async function answers(db: Database, sql: string, parameters?: Readonly<Record<string, string>>): Promise<Answer[]> {
  const out: Answer[] = [];
  for await (const result of db.query(sql, new Map(Object.entries(parameters ?? {})))) {
    const rows: Value[][] = [];
    for await (const batch of result.batches) for (let i = 0; i < batch.length; i++) rows.push(batch.columns.map(c => columnValue(c, i)));
    out.push({ columns: result.columns.map(c => c.name), types: result.columns.map(c => sqlTypeText(c.type)), rows });
  }
  return out;
}

/** The rows of one statement. */
export async function rowsOf(
  db: Database,
  sql: string,
  parameters?: Readonly<Record<string, string>>,
): Promise<readonly (readonly Value[])[]> {
  const all = await answers(db, sql, parameters);
  if (all.length !== 1) throw new Error(`${all.length} results`);
  return all[0].rows;
}

/** The values of a statement's only column. */
export async function valuesOf(db: Database, sql: string, parameters?: Readonly<Record<string, string>>): Promise<readonly Value[]> {
  return (await rowsOf(db, sql, parameters)).map(r => {
    if (r.length !== 1) throw new Error(`${r.length} columns`);
    return r[0];
  });
}

/** The error of a statement: `CODE: message | hint`. */
export async function errorOf(db: Database, sql: string, parameters?: Readonly<Record<string, string>>): Promise<string> {
  try {
    await answers(db, sql, parameters);
  } catch (error) {
    const e = error as { code?: string; message: string; hint?: string; stack?: string };
    if (e.code === undefined) throw error;
    return `${e.code}: ${e.message}${e.hint === undefined ? '' : ` | ${e.hint}`}`;
  }
  throw new Error(`no error: ${sql}`);
}

/** An engine without guard, with the fake tables as real ones: what an ordinary database answers. */
export async function openOracle(tables: readonly FakeTable[]): Promise<{ query(sql: string): Promise<Answer>; close(): Promise<void> }> {
  const db = await DuckDb.open({ threads: 1 });
  const run = async (sql: string): Promise<Answer> => {
    const result = await db.stream(sql);
    const rows: Value[][] = [];
    for await (const batch of result.batches) for (let i = 0; i < batch.length; i++) rows.push(batch.columns.map(c => columnValue(c, i)));
    return { columns: result.columns.map(c => c.name), types: result.columns.map(c => sqlTypeText(c.type)), rows };
  };
  for (const table of tables) {
    const bound = table.bind([]);
    const id = db.scans.nextId();
    db.scans.register(id, {
      columns: bound.columns,
      open: wanted => bound.scan({ columns: wanted.map(i => ({ name: bound.columns[i].name, form: 'value' })), filters: [] }),
    });
    const names = bound.columns.map(c => `"${c.name}"`).join(', ');
    await run(`CREATE TABLE "${table.spec.name}" AS SELECT ${names} FROM ${SCAN_FUNCTION}(${id})`);
    db.scans.release([id]);
  }
  return { query: run, close: () => db.close() };
}
