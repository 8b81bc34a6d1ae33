/**
 * SQL over opened snapshots: one interface, two engines.
 *
 *   duckdb   the default: everything of contract §5
 *   alasql   a small subset, for where no native module loads; everything else is refused
 */
import type { SqlError } from '../errors.js';
import type { ColumnBatch } from '../io/column.js';
import type { Catalog } from '../tables/table.js';
import type { SqlType } from '../types.js';
import type { ExplainedScan, Explanation } from './explain.js';

export type EngineKind = 'duckdb' | 'alasql';

export interface EngineOptions {
  /** threads that decode state, where snapshots have workers (openWithWorkers); as many as there are cores, up to 4, when left out */
  readonly threads?: number;
  /** `512MB`, `4GB` */
  readonly memoryLimit?: string;
  /**
   * Called when a statement takes memory far beyond `memoryLimit` inside one operation that cannot be interrupted: the last
   * moment to end the process in order. The statement itself fails with the same error if it comes to an end.
   */
  readonly onRunaway?: (error: SqlError) => void;
  /** for each statement; then `TIMEOUT` */
  readonly timeoutMs?: number;
  /** aborts the running statement: `InterruptedError` */
  readonly signal?: AbortSignal;
  /** intermediate results may go to a private temp directory; default true */
  readonly spill?: boolean;
  /** strings one by one instead of by address: slower, for doubts about the engine's memory layout */
  readonly safeFeed?: boolean;
}

export interface ResultColumn {
  readonly name: string;
  readonly type: SqlType;
}

/** What one statement answers. Its batches are read before the next statement runs. */
export interface QueryResult {
  readonly columns: readonly ResultColumn[];
  readonly batches: AsyncIterable<ColumnBatch>;
  /** for EXPLAIN: what the rows say, as data */
  readonly explanation?: Explanation;
  /** what the scans of the statement touch, as EXPLAIN has it */
  scans?(): readonly ExplainedScan[];
}

export interface SqlEngine {
  /**
   * Runs the statements of `text` one after the other; the first error ends. Errors are StateQueryErrors: SqlError, or what
   * a scan threw.
   */
  query(
    text: string,
    snapshots: ReadonlyMap<string, Catalog>,
    parameters?: ReadonlyMap<string, string>,
  ): AsyncGenerator<QueryResult, void, void>;
  close(): Promise<void>;
}

/** Opens an engine; `close` it. Engines load on first use. */
export async function openEngine(kind: EngineKind, options: EngineOptions = {}): Promise<SqlEngine> {
  if (kind === 'alasql') return (await import('./alasql/engine.js')).openAlasqlEngine(options);
  const { openDuckDbEngine } = await import('./duckdb/engine.js');
  return openDuckDbEngine(options);
}

export interface DatabaseOptions extends EngineOptions {
  /** by alias; one alone is also the default of unqualified names */
  readonly snapshots: ReadonlyMap<string, Catalog>;
  readonly engine?: EngineKind;
}

export interface Database {
  query(text: string, parameters?: ReadonlyMap<string, string>): AsyncGenerator<QueryResult, void, void>;
  close(): Promise<void>;
}

/** Snapshots and an engine together. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const engine = await openEngine(options.engine ?? 'duckdb', options);
  return {
    query: (text, parameters) => engine.query(text, options.snapshots, parameters),
    close: () => engine.close(),
  };
}
