/**
 * The scan contract between virtual tables and SQL engines.
 *
 *   Table.bind(restrictions)   → BoundTable: the columns with their types, decided from headers alone (contract §2 "Typing")
 *   BoundTable.scan(request)   → Scan: batches of columns as bytes; pulled, synchronous, reused memory
 *   BoundTable.explain(request) → what scan() would touch, without reading a state file's entries
 *
 * A scan may use every filter to read less, and must never drop a row that satisfies all of them: the engine applies them again.
 */
import type { ColumnBatch } from '../io/column.js';
import type { ReadStats } from '../io/source.js';
import type { SqlType } from '../types.js';
import type { PieceScan } from './pieces.js';

/** A column as the contract declares it; `dynamic` types depend on the states a query can touch. */
export interface ColumnSpec {
  readonly name: string;
  readonly type: SqlType | 'dynamic';
  readonly description: string;
}

/** A table as the contract declares it: docs, `schema` and tests are made from this. */
export interface TableSpec {
  readonly name: string;
  /** other spellings (`KeyedState`), matched without case like every name */
  readonly aliases: readonly string[];
  readonly description: string;
  readonly columns: readonly ColumnSpec[];
  readonly examples: readonly string[];
}

/** A constant of the statement, exact. */
export type Constant =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'decimal'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean };

/**
 * One conjunct that every row which matters satisfies; columns are named in the table's own spelling. A row whose column is
 * NULL satisfies `is null` only.
 *
 * Constants are brought to the column's type: text columns and mixed ones (by their text form) are compared with strings,
 * byte by byte of UTF-8; numbers with integers and decimals, as numbers (1.5 is no integer key; FLOAT and DOUBLE also with `1e3`, `NaN`, `inf`);
 * BOOLEAN with booleans; all other types with the value's text as the engine prints it (`2026-01-31`, UUIDs in lower case).
 * `in` without values: no row satisfies it. What a scan does not know how to compare it leaves to the engine.
 */
export type Filter =
  | { readonly column: string; readonly op: '=' | '<>' | '<' | '<=' | '>' | '>='; readonly value: Constant }
  | { readonly column: string; readonly op: 'in'; readonly values: readonly Constant[] }
  | { readonly column: string; readonly op: 'is null' | 'is not null' }
  | { readonly column: string; readonly op: 'prefix'; readonly value: string }
  | {
      /** the field of a STRUCT column at `path` equals one of the values; not for columns that are mixed */
      readonly column: string;
      readonly op: 'field';
      readonly path: readonly string[];
      readonly values: readonly Constant[];
    };

/** Conjuncts over operator_id, operator_uid, operator_name, state_name, state_kind: they decide the types. */
export interface Restriction {
  readonly column: string;
  /** the column must equal one of these, compared as text */
  readonly values: readonly string[];
}

export interface BoundColumn {
  readonly name: string;
  /** the column's one type; JSON when mixed */
  readonly type: SqlType;
  /** the states left have several types: JSON where JSON is wanted, text elsewhere */
  readonly mixed: boolean;
  readonly description: string;
}

/** A column asked for. A mixed column comes as text (VARCHAR: scalars without quotes, nested values as JSON) or as JSON. */
export interface Projection {
  readonly name: string;
  readonly form: 'value' | 'text' | 'json';
  /** of a STRUCT in form `value`: the only fields that are read; the others may be left NULL (AbsentColumn) */
  readonly fields?: readonly string[];
}

export interface ScanRequest {
  readonly columns: readonly Projection[];
  readonly filters: readonly Filter[];
  /** rows wanted at most; given only when every row of the scan is one (no conditions, `filters` empty) */
  readonly limit?: number;
  /** the reader understands BytesColumn.constant, and AbsentColumn in place of a column */
  readonly constants?: boolean;
  /** threads that may decode, where the snapshot has any (OpenOptions.workers); 1 when left out */
  readonly threads?: number;
}

export interface Scan {
  /**
   * The next batch, or undefined at the end. Its memory is reused by the next call. A batch without rows says that nothing
   * was found for a while (100 ms, say) and that there is more to read: Ctrl-C and timeouts get their turn between calls.
   */
  next(): ColumnBatch | undefined;
  close(): void;
}

/** How many of all are left, and which. */
export interface Kept {
  readonly kept: number;
  readonly of: number;
  /** operators by uid, otherwise by id; states by name, each once */
  readonly names?: readonly string[];
}

/**
 * What a scan does with a filter: `exact`, it gives no row that does not satisfy it; `inexact`, it reads less by it and may give more
 * rows; `engine`, it is left to the engine alone.
 */
export type FilterUse = 'exact' | 'inexact' | 'engine';

/** What a scan touches, as plain data for EXPLAIN. */
export interface ScanExplanation {
  readonly table: string;
  /** absent: the table is of no operator */
  readonly operators?: Kept;
  /** absent: the table is of no state */
  readonly states?: Kept;
  readonly keyGroups?: Kept;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly mixed: boolean }[];
  readonly filters: readonly { readonly text: string; readonly use: FilterUse }[];
  readonly limit?: number;
  /** the state files that hold what is left, by their sizes in `_metadata`; of many key groups a few are read in part */
  readonly stateFiles?: { readonly files: number; readonly bytes: number };
}

export interface BoundTable {
  readonly columns: readonly BoundColumn[];
  scan(request: ScanRequest): Scan;
  explain(request: ScanRequest): ScanExplanation;
  /** rows, when known without a scan */
  readonly rowCount?: number;
  /** Tells the user when no value of a column has a field of this name, where that is known. */
  remarkField?(column: string, field: string): void;
  /** the scan to be read piece by piece, where the table has such (pieces.ts) */
  pieces?(request: ScanRequest): PieceScan;
}

export interface Table {
  readonly spec: TableSpec;
  bind(restrictions: readonly Restriction[]): BoundTable;
}

/** The tables of one opened snapshot, by name. */
export interface Catalog {
  /** without case; undefined when there is none */
  find(name: string): Table | undefined;
  /** names for SHOW TABLES and suggestions; `all` includes the per-operator and per-state ones */
  names(all: boolean): readonly string[];
  /** counts what its scans read */
  readonly stats?: ReadStats;
}
