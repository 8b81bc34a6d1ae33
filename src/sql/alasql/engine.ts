/**
 * The second engine: alasql reads the statement, behind the masks and the allow-list of tokens.ts and parse.ts; the rows
 * are chosen here, from the same scans and by the same literal rule as in the default engine, because alasql's own
 * comparisons are not exact (64-bit integers, NULL, LIKE, LIMIT 0). Whatever is not in the subset is refused.
 *
 * Rows stream; ORDER BY holds them, with LIMIT only the best.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InterruptedError, SqlError, UsageError } from '../../errors.js';
import { type Column, type ColumnBatch, columnValue, createColumn } from '../../io/column.js';
import type { BoundColumn, Catalog, Filter, Scan, ScanRequest } from '../../tables/table.js';
import { BIGINT, JSON_TYPE, type SqlType, sqlTypeText, VARCHAR, type Value } from '../../types.js';
import type { ColumnRef, Expr } from '../ast.js';
import type { EngineOptions, QueryResult, SqlEngine } from '../engine.js';
import { type Analysis, type ExplainedScan, type Explanation, explainScan, explanationRows, ReadMeter } from '../explain.js';
import { type ExplainWords, explainWords } from '../explain-words.js';
import { Places } from '../guard.js';
import type { Literal } from '../literals.js';
import { lookUpTable } from '../lookup.js';
import { statementsOf } from '../parse.js';
import { conjunctsOf, filtersOf, restrictionsOf } from '../pushdown.js';
import type { RelationColumn } from '../relations.js';
import { selectRows } from '../select-rows.js';
import { nearest } from '../suggest.js';
import type { StatementText } from '../text.js';
import { decodingThreads } from '../threads.js';
import { Typing } from '../typing.js';
import { castText } from './casts.js';
import { orderOf } from './compare.js';
import { Conditions, type Test } from './conditions.js';
import { parseSubset, type SubsetQuery } from './parse.js';
import { conditionText } from './text.js';
import { SUBSET_HINT, tokensOf } from './tokens.js';

export async function openAlasqlEngine(options: EngineOptions = {}): Promise<SqlEngine> {
  return { query: (text, snapshots, parameters) => queryAll(text, snapshots, parameters ?? new Map(), options), close: async () => {} };
}

async function* queryAll(
  text: string,
  snapshots: ReadonlyMap<string, Catalog>,
  parameters: ReadonlyMap<string, string>,
  options: EngineOptions,
): AsyncGenerator<QueryResult, void, void> {
  const given = new Map([...parameters].map(([name, value]) => [name.toLowerCase(), value]));
  const unused = new Set(given.keys());
  const statements = statementsOf(text);
  for (const [i, statement] of statements.entries()) {
    const query = new SubsetRun(text, statement, snapshots, given, unused, options);
    const result = await query.run();
    if (i === statements.length - 1 && unused.size > 0)
      throw new UsageError(`no statement has the parameter $${[...unused][0]}`, { hint: 'it is written $name in the statement' });
    yield result;
  }
}

/** Text constants without DuckDB. */
class OwnCasts extends Typing {
  constructor(private readonly refuse: (type: SqlType) => Error) {
    const none = () => Promise.reject(new Error('no engine'));
    super({ deserialize: none, describe: none, scalar: none });
  }
  override async canonical(text: string, type: SqlType): Promise<string | undefined> {
    const cast = castText(text, type);
    if (cast.kind === 'unknown') throw this.refuse(type);
    if (cast.kind === 'none') return undefined;
    return type.kind === 'BOOLEAN' ? String(cast.value) : text;
  }
}

interface Output {
  readonly name: string;
  readonly type: SqlType;
  /** index into the scan's columns */
  readonly column: number;
}

class SubsetRun {
  private readonly places: Places;
  private readonly words: ExplainWords;
  private readonly meter: ReadMeter;
  private readonly deadline: number;

  constructor(
    whole: string,
    private readonly statement: StatementText,
    private readonly snapshots: ReadonlyMap<string, Catalog>,
    private readonly parameters: ReadonlyMap<string, string>,
    private readonly unused: Set<string>,
    private readonly options: EngineOptions,
  ) {
    this.words = explainWords(statement.text);
    this.places = new Places(whole, statement, this.words.skipped);
    this.meter = new ReadMeter(snapshots);
    this.deadline = options.timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.timeoutMs;
  }

  async run(): Promise<QueryResult> {
    const tokens = tokensOf(this.statement.text.slice(this.words.skipped), this.places, (name, at) => {
      const value = this.parameters.get(name.toLowerCase());
      if (value === undefined) throw this.places.error('SQL_ERROR', `the parameter $${name} has no value`, at, `give it with -p ${name}=…`);
      this.unused.delete(name.toLowerCase());
      return value;
    });
    const query = await parseSubset(tokens, this.places);
    const { table, snapshot } = lookUpTable(query.table, this.snapshots, this.places);
    const literal = (expr: Expr): Literal | undefined => query.literals.get(expr);
    const conjuncts = conjunctsOf(query.where ?? null);
    const own = new Set(table.spec.columns.map(c => c.name.toLowerCase()));
    const mine = (expr: Expr): string | undefined => {
      if (expr.class !== 'COLUMN_REF') return undefined;
      const name = expr.column_names[expr.column_names.length - 1];
      return own.has(name.toLowerCase()) ? name : undefined;
    };
    const restrictions = restrictionsOf(conjuncts, mine, literal);
    const bound = table.bind(restrictions);
    const find = (expr: ColumnRef): BoundColumn => this.column(expr, query.alias, snapshot, bound.columns);

    const scanned: { name: string; form: 'value' | 'text' | 'json' }[] = [];
    const need = (column: BoundColumn, form: 'main' | 'text'): number => {
      const as = !column.mixed ? 'value' : form === 'text' ? 'text' : 'json';
      const at = scanned.findIndex(s => s.name === column.name && s.form === as);
      return at >= 0 ? at : scanned.push({ name: column.name, form: as }) - 1;
    };
    const conditions = new Conditions(
      this.places,
      new OwnCasts(type => this.refuse(`a comparison with a ${sqlTypeText(type)}`)),
      find,
      literal,
      need,
    );
    const test = query.where === undefined ? undefined : await conditions.test(query.where);
    const outputs = this.outputs(query, bound.columns, find, need);
    const order = query.order.map(o => ({ ...this.orderColumn(o, query, find, need), descending: o.descending }));
    const filters: Filter[] = [];
    const leftToEngine: string[] = [];
    for (const conjunct of conjuncts) {
      const columns = new Map(bound.columns.map(c => [c, relationColumn(c)]));
      const finder = (expr: Expr) => (expr.class === 'COLUMN_REF' ? columns.get(find(expr)) : undefined);
      const found = (await filtersOf(conjunct, finder, literal, conditions.typing)).map(f => f.filter);
      filters.push(...found);
      if (found.length === 0) leftToEngine.push(conditionText(conjunct, literal));
    }
    const counts = outputs === 'count';
    const limit = test === undefined && order.length === 0 && !counts ? query.limit : undefined;
    const request: ScanRequest = {
      columns: scanned,
      filters,
      threads: decodingThreads(this.options.threads),
      ...(limit === undefined ? {} : { limit }),
    };
    const rows = this.rows(() => bound.scan(request), test);
    const result = answer(rows, outputs, query, order);
    const scans = (): readonly ExplainedScan[] => {
      const types = scanned.map(({ name, form }) => ({ name, type: typeIn(bound.columns, name, form) }));
      return [explainScan({ snapshot, alias: query.alias, bound, restrictions, request, columns: types })];
    };
    if (this.words.explain === 'no') return { ...result, scans };
    let analyze: Analysis | undefined;
    if (this.words.explain === 'analyze') {
      let count = 0;
      for await (const batch of result.batches) count += batch.length;
      analyze = this.meter.analysis(count);
    }
    const explanation: Explanation = { engine: 'alasql', scans: scans(), leftToEngine, ...(analyze === undefined ? {} : { analyze }) };
    return { ...explanationRows(explanation, this.words.format), explanation };
  }

  /** The rows that satisfy the condition, batch by batch; the columns are the scan's. */
  private async *rows(
    open: () => Scan,
    test: Test | undefined,
  ): AsyncGenerator<{ columns: readonly Column[]; rows: Uint32Array }, void, void> {
    const scan = open();
    try {
      let turn = performance.now();
      for (;;) {
        if (this.options.signal?.aborted) throw new InterruptedError();
        const now = performance.now();
        if (now > this.deadline) {
          const seconds = (this.options.timeoutMs ?? 0) / 1000;
          throw new SqlError('TIMEOUT', `the statement took longer than ${seconds} s`, { hint: 'give more with --timeout, or read less' });
        }
        if (now - turn > 20) {
          await nextTurn();
          turn = performance.now();
        }
        const batch = scan.next();
        if (batch === undefined) return;
        const rows = new Uint32Array(batch.length);
        let kept = 0;
        for (let i = 0; i < batch.length; i++) if (test === undefined || test(batch.columns, i) === true) rows[kept++] = i;
        if (kept > 0) yield { columns: batch.columns, rows: rows.subarray(0, kept) };
      }
    } finally {
      scan.close();
    }
  }

  private refuse(what: string, at?: { query_location?: number | string }): Error {
    return this.places.error('REFUSED', `${what} is not in what the alasql engine answers`, at, SUBSET_HINT);
  }

  private column(expr: ColumnRef, alias: string, snapshot: string, columns: readonly BoundColumn[]): BoundColumn {
    const names = expr.column_names;
    const last = names[names.length - 1];
    const qualifiers = names.slice(0, -1).map(n => n.toLowerCase());
    const own = [alias.toLowerCase()];
    const full = [snapshot.toLowerCase(), ...own];
    if (qualifiers.length > 0 && qualifiers.join('.') !== own.join('.') && qualifiers.join('.') !== full.join('.')) {
      const path = columns.some(c => qualifiers.includes(c.name.toLowerCase()));
      if (path) throw this.refuse(`${names.join('.')}, a path into a value,`, expr);
      throw this.places.error('UNKNOWN_TABLE', `there is no table "${names.slice(0, -1).join('.')}" in FROM`, expr, `it is ${alias}`);
    }
    const found = columns.find(c => c.name.toLowerCase() === last.toLowerCase());
    if (found !== undefined) return found;
    const near = nearest(
      last,
      columns.map(c => c.name),
    );
    const hint =
      near !== undefined
        ? `did you mean ${near}?`
        : `columns: ${columns
            .map(c => c.name)
            .slice(0, 20)
            .join(', ')}`;
    throw this.places.error('UNKNOWN_COLUMN', `there is no column "${last}"`, expr, hint);
  }

  private outputs(
    query: SubsetQuery,
    columns: readonly BoundColumn[],
    find: (expr: ColumnRef) => BoundColumn,
    need: (column: BoundColumn, form: 'main') => number,
  ): readonly Output[] | 'count' {
    const counts = query.items.filter(i => i.kind === 'count').length;
    if (counts > 0) {
      if (counts < query.items.length || query.order.length > 0) throw this.refuse('count(*) beside columns or ORDER BY');
      return 'count';
    }
    const one = (c: BoundColumn, name: string): Output => ({ name, type: c.mixed ? JSON_TYPE : c.type, column: need(c, 'main') });
    return query.items.flatMap((item): Output[] => {
      if (item.kind === 'star') {
        if (item.table !== undefined && item.table.toLowerCase() !== query.alias.toLowerCase())
          throw this.places.error('UNKNOWN_TABLE', `there is no table "${item.table}" in FROM`, item.at);
        return columns.map(c => one(c, c.name));
      }
      if (item.kind !== 'column') return [];
      const column = find(item.expr as ColumnRef);
      return [one(column, item.alias ?? column.name)];
    });
  }

  private orderColumn(
    by: SubsetQuery['order'][number],
    query: SubsetQuery,
    find: (expr: ColumnRef) => BoundColumn,
    need: (column: BoundColumn, form: 'main') => number,
  ): { readonly column: number; readonly order: (a: Value, b: Value) => number } {
    const aliased = query.items.find(i => i.kind === 'column' && i.alias?.toLowerCase() === by.name.toLowerCase());
    const named = aliased?.kind === 'column' && (by.expr as ColumnRef).column_names.length === 1 ? aliased.expr : by.expr;
    const column = find(named as ColumnRef);
    if (column.mixed) {
      throw this.places.error(
        'REFUSED',
        `ORDER BY on ${column.name}, which has several types here`,
        by.expr,
        "add state_name = '…' (and operator_uid or operator_id) so that one type is left",
      );
    }
    const order = orderOf(column.type);
    if (order === undefined) throw this.refuse(`ORDER BY on a ${sqlTypeText(column.type)}`, by.expr);
    return { column: need(column, 'main'), order };
  }
}

type RowBatches = AsyncGenerator<{ columns: readonly Column[]; rows: Uint32Array }, void, void>;

/** What the statement answers out of the rows that are left. */
function answer(rows: RowBatches, outputs: readonly Output[] | 'count', query: SubsetQuery, order: readonly OrderKey[]): QueryResult {
  if (outputs === 'count') {
    const alias = query.items.map(i => (i.kind === 'count' ? i.alias : undefined));
    return { columns: unique(alias.map(a => ({ name: a ?? 'count_star()', type: BIGINT }))), batches: counted(rows, alias.length) };
  }
  const columns = unique(outputs);
  if (order.length > 0) return { columns, batches: sorted(rows, outputs, order, query.limit) };
  return { columns, batches: limited(rows, outputs, query.limit) };
}

function typeIn(columns: readonly BoundColumn[], name: string, form: 'value' | 'text' | 'json'): SqlType {
  if (form !== 'value') return form === 'text' ? VARCHAR : JSON_TYPE;
  return columns.find(c => c.name === name)?.type ?? VARCHAR;
}

const relationColumn = (column: BoundColumn): RelationColumn => ({
  name: column.name,
  mixed: column.mixed,
  ref: () => {
    throw new Error('no reference');
  },
  text: () => {
    throw new Error('no reference');
  },
  type: async () => column.type,
  lineage: [],
});

async function* counted(rows: RowBatches, copies: number): AsyncGenerator<ColumnBatch, void, void> {
  let count = 0;
  for await (const batch of rows) count += batch.rows.length;
  const column = createColumn(BIGINT, 1);
  column.push(BigInt(count));
  yield { length: 1, columns: Array.from({ length: copies }, () => column) };
}

async function* limited(
  rows: RowBatches,
  outputs: readonly Output[],
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ColumnBatch, void, void> {
  let left = limit;
  for await (const batch of rows) {
    const kept = batch.rows.length > left ? batch.rows.subarray(0, left) : batch.rows;
    left -= kept.length;
    yield { length: kept.length, columns: outputs.map(o => selectRows(batch.columns[o.column], kept)) };
    if (left === 0) return;
  }
}

interface OrderKey {
  readonly column: number;
  readonly order: (a: Value, b: Value) => number;
  readonly descending: boolean;
}

interface SortedRow {
  readonly keys: readonly Value[];
  readonly values: readonly Value[];
  /** rows that are equal stay in the scan's order */
  readonly position: number;
}

async function* sorted(
  rows: RowBatches,
  outputs: readonly Output[],
  order: readonly OrderKey[],
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ColumnBatch, void, void> {
  const compareRows = (a: SortedRow, b: SortedRow): number => {
    for (let i = 0; i < order.length; i++) {
      const [x, y] = [a.keys[i], b.keys[i]];
      // NULLs last, whatever the direction, as DuckDB has it
      if (x === null || y === null) {
        if (x !== y) return x === null ? 1 : -1;
        continue;
      }
      const sign = order[i].order(x, y);
      if (sign !== 0) return order[i].descending ? -sign : sign;
    }
    return a.position - b.position;
  };
  let held: SortedRow[] = [];
  let position = 0;
  for await (const batch of rows) {
    for (const row of batch.rows) {
      const values = outputs.map(o => columnValue(batch.columns[o.column], row));
      held.push({ keys: order.map(o => columnValue(batch.columns[o.column], row)), values, position: position++ });
    }
    if (held.length > limit * 2 + 4096) held = held.sort(compareRows).slice(0, limit);
  }
  held = held.sort(compareRows).slice(0, limit);
  for (let at = 0; at < held.length; at += 2048) {
    const part = held.slice(at, at + 2048);
    const columns = outputs.map(o => createColumn(o.type, part.length));
    for (const row of part) row.values.forEach((v, i) => void columns[i].push(v));
    yield { length: part.length, columns };
  }
}

/** Names that differ: value, value_1. */
function unique<T extends { readonly name: string }>(columns: readonly T[]): T[] {
  const taken = new Set(columns.map(c => c.name.toLowerCase()));
  const seen = new Set<string>();
  return columns.map(column => {
    let { name } = column;
    if (seen.has(name.toLowerCase())) {
      let n = 1;
      while (taken.has(`${name}_${n}`.toLowerCase())) n++;
      name = `${name}_${n}`;
      taken.add(name.toLowerCase());
    }
    seen.add(name.toLowerCase());
    return { ...column, name };
  });
}
