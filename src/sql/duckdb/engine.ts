/**
 * The default engine: plans a statement (plan.ts), lends its scans to DuckDB, streams what comes back.
 */

import { SqlError, UsageError } from '../../errors.js';
import { type ColumnBatch, FixedColumn } from '../../io/column.js';
import type { Catalog, Projection } from '../../tables/table.js';
import { BIGINT } from '../../types.js';
import { choicesIn, withChoices } from '../choices.js';
import type { EngineOptions, QueryResult, SqlEngine } from '../engine.js';
import { type Explanation, explainScan, explanationRows, ReadMeter } from '../explain.js';
import { statementsOf } from '../parse.js';
import { type Plan, planStatement } from '../plan.js';
import { COUNT_COLUMN, type ScanColumn, type ScanUse } from '../scan-use.js';
import { decodingThreads } from '../threads.js';
import { DuckDb, DuckDbError, type ResultStream } from './duckdb.js';
import { sqlErrorOf } from './errors.js';
import { Limits } from './limits.js';
import { type FeedScan, type FeedSource, SCAN_FUNCTION } from './scans.js';

export async function openDuckDbEngine(options: EngineOptions = {}): Promise<SqlEngine> {
  const db = await DuckDb.open({
    // it pulls from scans, which one thread hands out; a second one would only wait, at full speed
    threads: 1,
    memoryLimit: options.memoryLimit,
    spill: options.spill,
    feed: options.safeFeed ? 'safe' : 'fast',
  });
  return new DuckDbEngine(db, options);
}

/** What a statement holds while it runs. */
interface Open {
  readonly ids: number[];
  stream: ResultStream | undefined;
}

class DuckDbEngine implements SqlEngine {
  constructor(
    private readonly db: DuckDb,
    private readonly options: EngineOptions,
  ) {}

  async *query(
    text: string,
    snapshots: ReadonlyMap<string, Catalog>,
    parameters: ReadonlyMap<string, string> = new Map(),
  ): AsyncGenerator<QueryResult, void, void> {
    const given = new Map([...parameters].map(([name, value]) => [name.toLowerCase(), value]));
    const unused = new Set(given.keys());
    const statements = statementsOf(text);
    const threads = decodingThreads(this.options.threads);
    for (const [i, statement] of statements.entries()) {
      const { db } = this;
      const limits = new Limits(db, this.options);
      const open: Open = { ids: [], stream: undefined };
      const meter = new ReadMeter(snapshots);
      try {
        const plan = await planStatement(text, statement, {
          snapshots,
          parameters: given,
          engine: {
            serialize: t => this.serialize(t),
            deserialize: t => db.scalar('SELECT json_deserialize_sql($1::VARCHAR::JSON)', t),
            describe: sql => db.describe(sql),
            scalar: (sql, parameter) => db.scalar(sql, parameter),
          },
          scanFunction: SCAN_FUNCTION,
          nextScanId: () => db.scans.nextId(),
        });
        for (const name of plan.usedParameters) unused.delete(name);
        if (i === statements.length - 1 && unused.size > 0)
          throw new UsageError(`no statement has the parameter $${[...unused][0]}`, { hint: 'it is written $name in the statement' });
        for (const scan of plan.scans) {
          db.scans.register(scan.id, sourceOf(scan, threads));
          open.ids.push(scan.id);
        }
        if (plan.parsed.explain === 'no') yield await this.run(plan, limits, open);
        else yield await this.explain(plan, meter, limits, open);
      } catch (error) {
        // what the engine could not even plan
        throw limits.explain(error instanceof DuckDbError ? new SqlError('SQL_ERROR', error.text, { cause: error }) : error);
      } finally {
        await open.stream?.close();
        limits.end();
        db.scans.release(open.ids);
      }
    }
  }

  private async run(plan: Plan, limits: Limits, open: Open): Promise<QueryResult> {
    const sql = await this.returnable(plan);
    const result = await this.stream(sql, plan, limits, open);
    const names = result.columns.map(c => c.name);
    const choices = choicesIn(plan.scans.flatMap(scan => scan.columns.map(c => c.type)));
    return {
      columns: result.columns.map((c, i) => ({ name: uniqueName(names, i), type: withChoices(c.type, choices) })),
      batches: result.batches,
      scans: () => plan.scans.map(explainUse),
    };
  }

  /** The statement, with types that do not come back as they are (BIT, UNION, …) cast to text. */
  private async returnable(plan: Plan): Promise<string> {
    let columns: Awaited<ReturnType<DuckDb['describe']>>;
    try {
      columns = await this.db.describe(plan.sql);
    } catch (error) {
      throw await this.ownError(error, plan, plan.sql);
    }
    if (columns.every(c => c.sql !== undefined)) return plan.sql;
    const names = columns.map((_, i) => `c${i}`);
    const items = columns.map((c, i) => `${c.sql === undefined ? `CAST(c${i} AS VARCHAR)` : `c${i}`} AS ${quoted(c.name)}`);
    return `SELECT ${items.join(', ')} FROM (${plan.sql}) AS t(${names.join(', ')})`;
  }

  private async stream(sql: string, plan: Plan, limits: Limits, open: Open) {
    limits.start();
    try {
      const result = await this.db.stream(sql);
      open.stream = result;
      return { columns: result.columns, batches: guarded(result.batches, limits, error => this.ownError(error, plan, sql)) };
    } catch (error) {
      throw await this.ownError(error, plan, sql);
    }
  }

  /** What the engine said of a statement, in our words. */
  private async ownError(error: unknown, plan: Plan, sql: string): Promise<unknown> {
    return error instanceof DuckDbError ? sqlErrorOf(error, plan, sql, text => this.serialize(text)) : error;
  }

  private serialize(text: string): Promise<string> {
    return this.db.scalar('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR', text);
  }

  private async explain(plan: Plan, meter: ReadMeter, limits: Limits, open: Open): Promise<QueryResult> {
    let rows: number | undefined;
    if (plan.parsed.explain === 'analyze') {
      rows = 0;
      const result = await this.stream(await this.returnable(plan), plan, limits, open);
      for await (const batch of result.batches) rows += batch.length;
    }
    const analyze = rows === undefined ? {} : { analyze: meter.analysis(rows) };
    const explanation: Explanation = { engine: 'duckdb', scans: plan.scans.map(explainUse), leftToEngine: plan.leftToEngine, ...analyze };
    return { ...explanationRows(explanation, plan.parsed.explainFormat), explanation };
  }

  async close(): Promise<void> {
    await this.db.close();
  }
}

function explainUse(scan: ScanUse) {
  const { snapshot, alias, bound, restrictions, columns } = scan;
  return explainScan({ snapshot, alias, bound, restrictions, columns, request: scan.request() });
}

/** A scan of the plan as the table function wants it. */
function sourceOf(scan: ScanUse, threads: number): FeedSource {
  const { columns } = scan;
  const { filters, limit } = scan.request();
  const limited = limit === undefined ? { threads } : { threads, limit };
  if (scan.counted)
    return { columns: [{ name: COUNT_COLUMN, type: BIGINT }], open: () => counting(scan.bound.scan({ columns: [], filters, ...limited })) };
  return {
    columns: columns.map(c => ({ name: c.physical, type: c.type })),
    rowCount: filters.length === 0 ? scan.bound.rowCount : undefined,
    dropsNulls: filters.some(f => f.op !== 'is null'),
    open: wanted =>
      scan.bound.scan({
        columns: wanted.map(i => projectionOf(columns[i])),
        filters,
        constants: true,
        ...limited,
      }),
  };
}

function projectionOf({ name, form, fields }: ScanColumn): Projection {
  return { name, form, ...(fields === undefined ? {} : { fields }) };
}

/** Time after which a scan that counts says how far it is. */
const COUNT_MS = 100;

/** The number of rows of a scan, in parts. */
function counting(scan: FeedScan): FeedScan {
  const column = new FixedColumn(BIGINT, 1);
  let ended = false;
  return {
    next() {
      if (ended) return undefined;
      const until = performance.now() + COUNT_MS;
      let rows = 0;
      do {
        const batch = scan.next();
        if (batch === undefined) {
          ended = true;
          scan.close();
        } else rows += batch.length;
      } while (!ended && performance.now() < until);
      column.clear();
      column.pushI64Number(rows);
      return { length: 1, columns: [column] };
    },
    close: () => scan.close(),
  };
}

/** Batches whose errors are ours. */
async function* guarded(
  batches: AsyncGenerator<ColumnBatch, void, void>,
  limits: Limits,
  ownError: (error: unknown) => Promise<unknown>,
): AsyncGenerator<ColumnBatch, void, void> {
  try {
    yield* batches;
  } catch (error) {
    throw limits.explain(await ownError(error));
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Names that differ: value, value_1. */
function uniqueName(names: string[], index: number): string {
  const lower = names.map(n => n.toLowerCase());
  const name = names[index];
  if (lower.indexOf(name.toLowerCase()) === index) return name;
  let n = 1;
  while (lower.includes(`${name}_${n}`.toLowerCase())) n++;
  names[index] = `${name}_${n}`;
  return names[index];
}
