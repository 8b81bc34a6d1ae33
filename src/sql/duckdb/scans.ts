/**
 * The one table function through which the engine reads: `statequery_scan(id)`. A statement names each of its scans by
 * the id that it was registered under; guard.ts keeps users from calling it themselves.
 *
 *   bind   the scan's columns, behind one hidden BOOLEAN: what the engine asks for when it only counts rows
 *   init   the columns that are wanted → BoundTable.scan
 *   main   the next at most 2,048 rows; batches that are longer are handed out in parts
 *
 * Callbacks run on the JavaScript thread, one at a time; between them, while the engine's own thread has the rows, the next batch
 * is read. What a scan throws is kept and thrown again by the query
 * that ran it, since the engine knows only its text.
 */
import { type ColumnBatch, createColumn } from '../../io/column.js';
import type { SqlType } from '../../types.js';
import type { Connection, DataChunk, Duck, LogicalType } from './bindings.js';
import { type FeedMode, fillVector } from './feed.js';
import { createLogicalType, TypeId } from './types.js';

export const SCAN_FUNCTION = 'statequery_scan';
const VECTOR_SIZE = 2048;

/** What the engine can read. `open` gets the positions of the wanted columns, in the order of the batches' columns. */
export interface FeedSource {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly rowCount?: number;
  /** the statement drops a row of NULLs again: one may stand for "nothing yet" */
  readonly dropsNulls?: boolean;
  open(columns: readonly number[]): FeedScan;
}
export interface FeedScan {
  next(): ColumnBatch | undefined;
  close(): void;
}

interface Running {
  readonly source: FeedSource;
  readonly scan: FeedScan;
  /** positions of the wanted columns */
  readonly wanted: readonly number[];
  /** for each vector of the output the column of the batch, or -1 for the hidden one */
  readonly outputs: readonly number[];
  batch: ColumnBatch | undefined;
  at: number;
  /** what reading ahead threw, for the next call */
  failure: { readonly error: unknown } | undefined;
  ended: boolean;
}

export class ScanRegistry {
  private readonly sources = new Map<number, FeedSource>();
  private readonly running = new Set<FeedScan>();
  private lastId = 0;
  /** what a scan threw since the last `takeError` */
  private error: unknown;
  private failed = false;
  /** called before each batch: throws to stop the query */
  checkpoint: () => void = () => {};

  constructor(
    private readonly duck: Duck,
    private readonly mode: FeedMode,
  ) {}

  nextId(): number {
    return ++this.lastId;
  }

  /** Lends a source to the statements that name its id. */
  register(id: number, source: FeedSource): void {
    this.sources.set(id, source);
  }

  /** Forgets the sources and closes every scan that they opened. */
  release(ids: readonly number[]): void {
    for (const id of ids) this.sources.delete(id);
    if (this.sources.size > 0) return;
    for (const scan of this.running) scan.close();
    this.running.clear();
  }

  /** The first error that a scan threw, once. */
  takeError(): { readonly error: unknown } | undefined {
    if (!this.failed) return undefined;
    const { error } = this;
    this.failed = false;
    this.error = undefined;
    return { error };
  }

  /** Makes the table function known to the database of `connection`. */
  install(connection: Connection): void {
    const { duck } = this;
    const fn = duck.create_table_function();
    duck.table_function_set_name(fn, SCAN_FUNCTION);
    duck.table_function_add_parameter(fn, duck.create_logical_type(TypeId.BIGINT));
    duck.table_function_supports_projection_pushdown(fn, true);
    duck.table_function_set_bind(fn, info => {
      const source = this.sources.get(Number(duck.get_int64(duck.bind_get_parameter(info, 0))));
      if (source === undefined) throw new Error('no such scan');
      duck.bind_add_result_column(info, '\u0001rows', duck.create_logical_type(TypeId.BOOLEAN));
      const types: LogicalType[] = source.columns.map(c => createLogicalType(duck, c.type));
      for (let i = 0; i < types.length; i++) duck.bind_add_result_column(info, source.columns[i].name, types[i]);
      if (source.rowCount !== undefined) duck.bind_set_cardinality(info, source.rowCount, true);
      duck.bind_set_bind_data(info, source);
    });
    duck.table_function_set_init(fn, info => {
      const source = duck.init_get_bind_data(info) as FeedSource;
      const outputs: number[] = [];
      const wanted: number[] = [];
      for (let i = 0; i < duck.init_get_column_count(info); i++) {
        const index = duck.init_get_column_index(info, i) - 1;
        // 0: the hidden column; above all columns: the engine's row id, which counts rows as well
        if (index < 0 || index >= source.columns.length) outputs.push(-1);
        else outputs.push(wanted.push(index) - 1);
      }
      duck.init_set_max_threads(info, 1);
      const scan = this.guarded(() => source.open(wanted));
      this.running.add(scan);
      const state: Running = { source, scan, wanted, outputs, batch: undefined, at: 0, failure: undefined, ended: false };
      duck.init_set_init_data(info, state);
    });
    duck.table_function_set_function(fn, (info, output) => {
      const state = duck.function_get_init_data(info) as Running;
      this.guarded(() => {
        this.checkpoint();
        this.fill(state, output);
      });
    });
    duck.register_table_function(connection, fn);
  }

  private fill(state: Running, output: DataChunk): void {
    const { duck } = this;
    if (state.failure !== undefined) throw state.failure.error;
    if (state.batch === undefined && !state.ended) {
      state.batch = state.scan.next();
      while (state.batch?.length === 0) {
        this.checkpoint();
        state.batch = state.source.dropsNulls ? nullRow(state) : state.scan.next();
      }
      state.at = 0;
    }
    const { batch, at } = state;
    if (batch === undefined) {
      state.ended = true;
      duck.data_chunk_set_size(output, 0);
      this.running.delete(state.scan);
      state.scan.close();
      return;
    }
    const count = Math.min(VECTOR_SIZE, batch.length - at);
    state.outputs.forEach((column, i) => {
      const vector = duck.data_chunk_get_vector(output, i);
      if (column >= 0) fillVector(duck, vector, batch.columns[column], at, count, this.mode);
      else duck.copy_data_to_vector(vector, 0, ONES, 0, count);
    });
    duck.data_chunk_set_size(output, count);
    state.at = at + count;
    if (state.at >= batch.length) {
      state.batch = undefined;
      setImmediate(() => this.readAhead(state));
    }
  }

  /** Reads the next batch while the engine is busy with the last one. */
  private readAhead(state: Running): void {
    if (state.batch !== undefined || state.ended || !this.running.has(state.scan)) return;
    try {
      const batch = state.scan.next();
      if (batch === undefined) state.ended = true;
      else if (batch.length > 0) {
        state.batch = batch;
        state.at = 0;
      }
    } catch (error) {
      state.failure = { error };
    }
  }

  private guarded<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (!this.failed) {
        this.failed = true;
        this.error = error;
      }
      throw error;
    }
  }
}

/**
 * The engine takes a chunk without rows for the end, and JavaScript gets no turn while a scan searches: a row that a condition
 * of the statement drops again keeps both going.
 */
function nullRow({ source, wanted }: Running): ColumnBatch {
  const columns = wanted.map(i => createColumn(source.columns[i].type, 1));
  for (const column of columns) column.pushNull();
  return { length: 1, columns };
}

const ONES = new Uint8Array(VECTOR_SIZE).fill(1).buffer as ArrayBuffer;
