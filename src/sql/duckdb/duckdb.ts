/**
 * One DuckDB database in memory, shut off from the machine: no files, no network, no extensions, settings locked.
 * It holds no tables; everything comes through scans.ts. Two connections, so that statements can be parsed and bound
 * while a result streams.
 *
 * The settings are the second line. The first is guard.ts: with a temp directory set, the engine itself may read and
 * write in there.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IoError } from '../../errors.js';
import { BytesColumn, type ColumnBatch } from '../../io/column.js';
import type { SqlType } from '../../types.js';
import { type Connection, type Database, type DataChunk, type Duck, loadDuck, type Result } from './bindings.js';
import type { FeedMode } from './feed.js';
import { readChunk } from './result.js';
import { ScanRegistry } from './scans.js';
import { type ReadType, readType } from './types.js';

export interface DuckDbOptions {
  readonly threads?: number;
  /** as DuckDB writes it: `512MB`, `4GB` */
  readonly memoryLimit?: string;
  /** may write intermediate results to a private temp directory; default true */
  readonly spill?: boolean;
  readonly feed?: FeedMode;
}

export interface ResultColumn {
  readonly name: string;
  readonly type: SqlType;
}

/** A statement's output before it runs. A type that does not come back as it is has `sql` undefined. */
export interface DescribedColumn {
  readonly name: string;
  readonly sql: SqlType | undefined;
}

export interface ResultStream {
  readonly columns: readonly ResultColumn[];
  readonly batches: AsyncGenerator<ColumnBatch, void, void>;
  /** Stops the engine if rows are left. Any number of times. */
  close(): Promise<void>;
}

/** What the engine said. */
export class DuckDbError extends Error {
  constructor(
    /** `Binder`, `Conversion`, `Out of Range`, … */
    readonly kind: string,
    readonly text: string,
    /** byte offset in the text that was run, where the engine says it */
    readonly position: number | undefined,
    cause?: unknown,
  ) {
    super(`${kind} Error: ${text}`, cause === undefined ? undefined : { cause });
  }
}

/** Errors come as JSON (`errors_as_json`), some of them behind their kind. */
function asDuckDbError(error: unknown): DuckDbError {
  const raw = error instanceof Error ? error.message : String(error);
  try {
    const said = JSON.parse(raw.slice(raw.indexOf('{'))) as Readonly<Record<string, string | undefined>>;
    const { exception_type: kind, exception_message: text, position } = said;
    if (kind !== undefined && text !== undefined)
      return new DuckDbError(kind, text, position === undefined ? undefined : Number(position), error);
  } catch {
    // plain text
  }
  const [, kind = 'Unknown', text = raw] = /^([A-Z][A-Za-z ]*?) Error: ([\s\S]*)$/.exec(raw) ?? [];
  return new DuckDbError(kind, text, undefined, error);
}

export class DuckDb {
  private closed = false;
  private running: Running | undefined;
  private constructor(
    private readonly duck: Duck,
    private readonly database: Database,
    private readonly main: Connection,
    private readonly side: Connection,
    readonly scans: ScanRegistry,
    private readonly temp: TempDirectory | undefined,
  ) {}

  static async open(options: DuckDbOptions = {}): Promise<DuckDb> {
    const duck = await loadDuck();
    const config = duck.create_config();
    const temp = options.spill === false ? undefined : new TempDirectory();
    const set = (name: string, value: string) => duck.set_config(config, name, value);
    set('temp_directory', temp?.path ?? '');
    set('autoload_known_extensions', 'false');
    set('autoinstall_known_extensions', 'false');
    set('allow_community_extensions', 'false');
    set('allow_unsigned_extensions', 'false');
    set('allow_persistent_secrets', 'false');
    if (options.threads !== undefined) set('threads', String(options.threads));
    if (options.memoryLimit !== undefined) set('memory_limit', options.memoryLimit);
    set('enable_external_access', 'false');
    try {
      const database = await duck.open(':memory:', config);
      const main = await duck.connect(database);
      const side = await duck.connect(database);
      const scans = new ScanRegistry(duck, options.feed ?? 'fast');
      scans.install(main);
      const db = new DuckDb(duck, database, main, side, scans, temp);
      for (const sql of ["SET GLOBAL TimeZone = 'UTC'", 'SET GLOBAL errors_as_json = true', 'SET lock_configuration = true']) {
        await duck.query(main, sql);
      }
      return db;
    } catch (error) {
      temp?.remove();
      throw error;
    }
  }

  /** Where intermediate results may go; undefined without spilling. */
  get tempDirectory(): string | undefined {
    return this.temp?.path;
  }

  /** The single text value of a one-parameter query, for the engine's own parser. */
  async scalar(sql: string, parameter: string): Promise<string> {
    const { duck } = this;
    try {
      const prepared = await duck.prepare(this.side, sql);
      duck.bind_varchar(prepared, 1, parameter);
      const result = await duck.execute_prepared(prepared);
      const chunk = await duck.fetch_chunk(result);
      const type = readType(duck, duck.column_logical_type(result, 0));
      if (chunk === null || type === undefined) throw new Error('no value');
      const [column] = readChunk(duck, chunk, [type]).columns;
      if (!(column instanceof BytesColumn)) throw new Error('no text');
      return column.bytesAt(0).toString('utf8');
    } catch (error) {
      throw asDuckDbError(error);
    }
  }

  /** Names and types of a statement's columns: binds it, runs nothing. */
  async describe(sql: string): Promise<readonly DescribedColumn[]> {
    const { duck } = this;
    try {
      const prepared = await duck.prepare(this.side, sql);
      return Array.from({ length: duck.prepared_statement_column_count(prepared) }, (_, i) => ({
        name: duck.prepared_statement_column_name(prepared, i),
        sql: readType(duck, duck.prepared_statement_column_logical_type(prepared, i))?.sql,
      }));
    } catch (error) {
      throw asDuckDbError(error);
    }
  }

  /**
   * Runs a statement; rows come as they are made. One at a time: `close` before the next. Errors are DuckDbError or what a
   * scan threw.
   */
  async stream(sql: string): Promise<ResultStream> {
    const { duck } = this;
    if (this.running !== undefined) throw new Error('one result at a time');
    this.scans.takeError();
    try {
      const prepared = await duck.prepare(this.main, sql);
      const result = await duck.execute_prepared_streaming(prepared);
      const running: Running = { sql, result, ended: false, interrupted: false };
      this.running = running;
      const types: ReadType[] = [];
      const columns: ResultColumn[] = [];
      for (let i = 0; i < duck.column_count(result); i++) {
        const type = readType(duck, duck.column_logical_type(result, i));
        if (type === undefined) {
          await this.finish(running);
          throw new Error(`column ${i + 1} has a type that cannot be returned`);
        }
        types.push(type);
        columns.push({ name: duck.column_name(result, i), type: type.sql });
      }
      return { columns, batches: this.fetch(running, types), close: () => this.finish(running) };
    } catch (error) {
      throw this.original(error);
    }
  }

  private async *fetch(running: Running, types: readonly ReadType[]): AsyncGenerator<ColumnBatch, void, void> {
    const { duck } = this;
    try {
      while (!running.ended) {
        let chunk: DataChunk | null;
        try {
          chunk = await duck.fetch_chunk(running.result);
        } catch (error) {
          running.ended = true;
          throw this.original(error);
        }
        if (chunk === null || duck.data_chunk_get_size(chunk) === 0) {
          running.ended = true;
          const failure = this.scans.takeError();
          if (failure !== undefined) throw failure.error;
          if (duck.result_return_type(running.result) === INVALID_RESULT) throw await this.failure(running);
          return;
        }
        yield readChunk(duck, chunk, types);
      }
    } finally {
      await this.finish(running);
    }
  }

  /**
   * Why a stream ended early. `fetch_chunk` gives the same for an end and for an error, and keeps the error's text to itself:
   * the statement is run once more over to where it fails, with its rows only counted.
   */
  private async failure(running: Running): Promise<unknown> {
    if (running.interrupted) return new DuckDbError('INTERRUPT', 'Interrupted!', undefined);
    const before = 'SELECT count(COLUMNS(*)) FROM (';
    try {
      await this.duck.query(this.main, `${before}${running.sql}) AS t`);
    } catch (error) {
      const original = this.original(error);
      if (!(original instanceof DuckDbError) || original.position === undefined) return original;
      return new DuckDbError(original.kind, original.text, original.position - before.length, original.cause);
    }
    return new DuckDbError('Unknown', 'the engine stopped in the middle of the result', undefined);
  }

  /** The engine may still wait for a scan: it is stopped and drained before anything of it is torn down. */
  private async finish(running: Running): Promise<void> {
    if (!running.ended) {
      running.ended = true;
      this.interrupt();
      try {
        for (;;) {
          const chunk = await this.duck.fetch_chunk(running.result);
          if (chunk === null || this.duck.data_chunk_get_size(chunk) === 0) break;
        }
      } catch {
        // the interruption itself
      }
      this.scans.takeError();
    }
    if (this.running === running) this.running = undefined;
  }

  private original(error: unknown): unknown {
    const failure = this.scans.takeError();
    return failure === undefined ? asDuckDbError(error) : failure.error;
  }

  /** Stops the running statement, which then fails with the engine's INTERRUPT error. */
  interrupt(): void {
    if (this.closed) return;
    if (this.running !== undefined) this.running.interrupted = true;
    this.duck.interrupt(this.main);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    if (this.running !== undefined) await this.finish(this.running);
    this.closed = true;
    this.duck.disconnect_sync(this.side);
    this.duck.disconnect_sync(this.main);
    this.duck.close_sync(this.database);
    this.temp?.remove();
  }
}

interface Running {
  readonly sql: string;
  readonly result: Result;
  ended: boolean;
  interrupted: boolean;
}

/** duckdb_result_type DUCKDB_RESULT_TYPE_INVALID: the result holds an error */
const INVALID_RESULT = 0;

/** A private directory that goes away with the engine, or with the process. */
class TempDirectory {
  readonly path: string;
  /** @throws IoError */
  constructor() {
    try {
      this.path = mkdtempSync(join(tmpdir(), 'statequery-'));
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const why =
        code === 'ENOENT' || code === 'ENOTDIR'
          ? 'there is no such directory'
          : code === 'ENOSPC'
            ? 'the disk is full'
            : 'it cannot be written';
      throw new IoError(`temporary files cannot be made: ${why}`, {
        file: tmpdir(),
        hint: 'set TMPDIR to a directory that can be written, or use --engine alasql, which needs none',
        cause,
      });
    }
    process.once('exit', this.remove);
  }
  readonly remove = (): void => {
    process.removeListener('exit', this.remove);
    rmSync(this.path, { recursive: true, force: true });
  };
}
