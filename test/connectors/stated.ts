/** Stated connector snapshots, and how what is stated is compared with the rows of the tables. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sinkTransactionRows } from '../../src/tables/sink-transactions.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import { sourceOffsetRows } from '../../src/tables/source-offsets.js';
import { JsonText } from '../../src/types.js';

const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(import.meta.dirname, '../../../shared');
export const STATED = join(SHARED, 'stated');
export const hasStated = existsSync(join(STATED, 'connectors'));

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface StatedRow {
  readonly subtask: number;
  readonly list_index: number;
  readonly value?: string;
  readonly decoded?: Json;
  readonly checkpoint_id?: string | null;
  readonly committables?: readonly { readonly decoded: Json; readonly hex: string }[];
}
export interface StatedOperator {
  readonly uid: string;
  readonly name: string;
  readonly operator_id: string;
  readonly coordinator?: { readonly decoded: Json; readonly enumerator_hex: string };
  readonly states: readonly { readonly name: string; readonly kind: string; readonly rows: readonly StatedRow[] }[];
}
export interface StatedCase {
  readonly name: string;
  readonly snapshot: string;
  readonly operators: readonly StatedOperator[];
}

/** The cases of a folder of stated snapshots that have a snapshot directory. */
export function statedCases(folder: string): StatedCase[] {
  if (!hasStated) return [];
  return readdirSync(join(STATED, folder), { withFileTypes: true })
    .filter(e => e.isDirectory() && existsSync(join(STATED, folder, e.name, 'expected.json')))
    .map(e => {
      const expected = JSON.parse(readFileSync(join(STATED, folder, e.name, 'expected.json'), 'utf8')) as StatedCase;
      return { ...expected, name: e.name, snapshot: join(STATED, folder, e.name, 'snapshot') };
    });
}

export type Cells = { readonly [column: string]: unknown };

export interface Tables {
  readonly offsets: readonly Cells[];
  readonly transactions: readonly Cells[];
}
export function tablesOf(path: string): Tables {
  const snapshot: OpenedSnapshot = openSnapshot(path);
  try {
    return { offsets: [...sourceOffsetRows(snapshot)], transactions: [...sinkTransactionRows(snapshot)] };
  } finally {
    snapshot.close();
  }
}

/** Every scalar in JSON text, as text: numbers with their digits. */
export function leavesOfText(json: string): string[] {
  const found: string[] = [];
  for (const [text, name] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\btrue\b|\bfalse\b/g))
    if (name === undefined) found.push(text.startsWith('"') ? (JSON.parse(text) as string) : text);
  return found;
}

/** The scalars of a row: its cells and those in its details. */
export function leavesOfRow(row: Cells): string[] {
  return Object.values(row).flatMap(v => (v instanceof JsonText ? leavesOfText(v.text) : v === null || v === undefined ? [] : [String(v)]));
}

/** Scalars of what is stated, without names and remarks. */
export function leaves(stated: Json, skip: ReadonlySet<string>): string[] {
  if (stated === null) return [];
  if (Array.isArray(stated)) return (stated as readonly Json[]).flatMap(x => leaves(x, skip));
  if (typeof stated === 'object')
    return Object.entries(stated).flatMap(([name, value]) => (skip.has(name) || name.endsWith('order') ? [] : leaves(value, skip)));
  return [String(stated)];
}

/** What is stated and not in the rows; text is looked for without case, since names of constants differ. */
export function missing(stated: readonly string[], rows: readonly Cells[]): string[] {
  const there = rows.flatMap(leavesOfRow).map(plain);
  const all = new Set(there);
  return stated.filter(x => !all.has(plain(x)));
}
function plain(text: string): string {
  return text.toLowerCase().replace(/["`]/g, '').replace(/\.0$/, '');
}
