/**
 * EXPLAIN and EXPLAIN ANALYZE, of both engines: what each scan will touch, and what the statement then read (contract §5).
 *
 *   rows of text    one column `plan`, a line each
 *   one document    { engine, scans: [...], filters_left_to_engine, analyze }: EXPLAIN (FORMAT JSON), and the json and ndjson forms of the command
 */
import { type ColumnBatch, createColumn } from '../io/column.js';
import type { ReadMark, ReadStats } from '../io/source.js';
import type { BoundTable, Catalog, Kept, Restriction, ScanExplanation, ScanRequest } from '../tables/table.js';
import { JSON_TYPE, JsonText, type SqlType, sqlTypeText, VARCHAR } from '../types.js';
import type { EngineKind } from './engine.js';

/** One scan of EXPLAIN. */
export interface ExplainedScan extends ScanExplanation {
  /** alias of the snapshot */
  readonly snapshot: string;
  /** name of the table in the statement */
  readonly alias: string;
  /** columns of the table that have several types here */
  readonly mixed: readonly string[];
  /** what decided the types: column and the values left */
  readonly restrictions: readonly Restriction[];
  /** rows of the table, where that is known without a scan */
  readonly rows?: number;
}

/** What a statement read, and how long it took. */
export interface Analysis {
  /** files that bytes were read from */
  readonly filesOpened: number;
  readonly bytesRead: number;
  readonly reads: number;
  readonly entries: number;
  readonly rows: number;
  readonly milliseconds: number;
}

export interface Explanation {
  readonly engine: EngineKind;
  readonly scans: readonly ExplainedScan[];
  /** conjuncts of WHERE that no scan can use */
  readonly leftToEngine: readonly string[];
  readonly analyze?: Analysis;
}

/** A reference to a table, as both engines know it. */
export interface ScanReference {
  readonly snapshot: string;
  readonly alias: string;
  readonly bound: BoundTable;
  readonly restrictions: readonly Restriction[];
  readonly request: ScanRequest;
  /** with the type that each form has */
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
}

export function explainScan({ snapshot, alias, bound, restrictions, request, columns }: ScanReference): ExplainedScan {
  const { rowCount } = bound;
  return {
    snapshot,
    alias,
    ...bound.explain(request),
    columns: columns.map(c => ({
      name: c.name,
      type: sqlTypeText(c.type),
      mixed: bound.columns.find(b => b.name === c.name)?.mixed ?? false,
    })),
    mixed: bound.columns.filter(c => c.mixed).map(c => c.name),
    restrictions: restrictions.map(({ column, values }) => ({ column, values })),
    ...(rowCount === undefined ? {} : { rows: rowCount }),
  };
}

/** Counts what is read of some snapshots from now on. */
export class ReadMeter {
  private readonly started = performance.now();
  private readonly marks: ReadonlyMap<ReadStats, ReadMark>;

  constructor(snapshots: ReadonlyMap<string, Catalog>) {
    // snapshots may share one
    const stats = new Set([...snapshots.values()].flatMap(c => c.stats ?? []));
    this.marks = new Map([...stats].map(s => [s, s.mark()]));
  }

  analysis(rows: number): Analysis {
    const counts = [...this.marks].map(([stats, mark]) => stats.since(mark));
    const sum = (of: (c: (typeof counts)[number]) => number) => counts.reduce((total, c) => total + of(c), 0);
    return {
      filesOpened: sum(c => c.files),
      bytesRead: sum(c => c.bytesRead),
      reads: sum(c => c.reads),
      entries: sum(c => c.entriesDecoded),
      rows,
      milliseconds: Math.round((performance.now() - this.started) * 10) / 10,
    };
  }
}

/** The lines of the text form. */
export function explanationLines(explanation: Explanation): readonly string[] {
  const lines: string[] = [];
  for (const scan of explanation.scans) {
    lines.push(`scan ${scan.snapshot}.${scan.table}${scan.alias === scan.table ? '' : ` AS ${scan.alias}`}`);
    for (const [label, kept] of keptLines(scan)) lines.push(`  ${label}: ${kept}`);
    lines.push(`  types: ${scan.mixed.length === 0 ? 'typed' : `mixed in ${scan.mixed.join(', ')}`}`);
    const columns = scan.columns.map(c => `${c.name} ${c.mixed ? `mixed (${c.type === 'JSON' ? 'JSON' : 'text'})` : c.type}`);
    lines.push(`  columns: ${columns.length === 0 ? 'none, rows are counted' : columns.join(', ')}`);
    for (const filter of scan.filters)
      lines.push(`  filter: ${filter.text} (${filter.use === 'engine' ? 'left to the engine' : filter.use})`);
    if (scan.limit !== undefined) lines.push(`  limit: ${scan.limit}`);
    if (scan.rows !== undefined) lines.push(`  rows: ${scan.rows}`);
    const { stateFiles } = scan;
    if (stateFiles !== undefined) lines.push(`  state files: ${stateFiles.files}, ${stateFiles.bytes} bytes`);
  }
  if (explanation.scans.length === 0) lines.push('no table is read');
  for (const condition of explanation.leftToEngine) lines.push(`filter: ${condition} (left to the engine)`);
  lines.push(`engine: ${explanation.engine}`);
  const { analyze } = explanation;
  if (analyze !== undefined) {
    lines.push(`files opened: ${analyze.filesOpened}`);
    lines.push(`bytes read: ${analyze.bytesRead}`);
    lines.push(`entries decoded: ${analyze.entries}`);
    lines.push(`rows: ${analyze.rows}`);
    lines.push(`time: ${analyze.milliseconds} ms`);
  }
  return lines;
}

const NAMES_SHOWN = 5;

/** What is kept of what, as text. */
export function keptLines(scan: ScanExplanation): readonly (readonly [label: string, text: string])[] {
  const text = ({ kept, of, names = [] }: Kept): string => {
    const shown = names.slice(0, NAMES_SHOWN).join(', ');
    return `${kept} of ${of}${names.length === 0 ? '' : ` (${shown}${names.length > NAMES_SHOWN ? ', …' : ''})`}`;
  };
  const lines: (readonly [string, string])[] = [];
  if (scan.operators !== undefined) lines.push(['operators', text(scan.operators)]);
  if (scan.states !== undefined) lines.push(['states', text(scan.states)]);
  if (scan.keyGroups !== undefined) lines.push(['key groups', text(scan.keyGroups)]);
  return lines;
}

/** The document: every field is always there, null where there is nothing to say. */
function documentOf({ engine, scans, leftToEngine, analyze }: Explanation) {
  return {
    engine,
    scans: scans.map(scan => ({
      snapshot: scan.snapshot,
      table: scan.table,
      alias: scan.alias,
      operators: scan.operators ?? null,
      states: scan.states ?? null,
      key_groups: scan.keyGroups ?? null,
      types: scan.mixed.length === 0 ? 'typed' : 'mixed',
      mixed_columns: scan.mixed,
      columns: scan.columns,
      filters: scan.filters.map(f => ({ filter: f.text, use: f.use })),
      restrictions: scan.restrictions,
      limit: scan.limit ?? null,
      rows: scan.rows ?? null,
      state_files: scan.stateFiles ?? null,
    })),
    filters_left_to_engine: leftToEngine,
    analyze:
      analyze === undefined
        ? null
        : {
            files_opened: analyze.filesOpened,
            bytes_read: analyze.bytesRead,
            reads: analyze.reads,
            entries_decoded: analyze.entries,
            rows: analyze.rows,
            time_ms: analyze.milliseconds,
          },
  };
}

/** Rows as a statement gives them. */
export interface ExplanationRows {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly batches: AsyncIterable<ColumnBatch>;
}

/** `text`: a line a row; `json`: the document as one value; `fields`: one row, a column for each field of the document. */
export function explanationRows(explanation: Explanation, form: 'text' | 'json' | 'fields'): ExplanationRows {
  if (form === 'text')
    return rowsOf(
      [['plan', VARCHAR]],
      explanationLines(explanation).map(line => [line]),
    );
  const document = documentOf(explanation);
  const json = (value: unknown) => (value === null ? null : new JsonText(JSON.stringify(value)));
  if (form === 'json') return rowsOf([['plan', JSON_TYPE]], [[json(document)]]);
  return rowsOf(
    [
      ['engine', VARCHAR],
      ['scans', JSON_TYPE],
      ['filters_left_to_engine', JSON_TYPE],
      ['analyze', JSON_TYPE],
    ],
    [[document.engine, json(document.scans), json(document.filters_left_to_engine), json(document.analyze)]],
  );
}

function rowsOf(
  named: readonly (readonly [name: string, type: SqlType])[],
  rows: readonly (readonly (string | JsonText | null)[])[],
): ExplanationRows {
  const columns = named.map(([name, type]) => ({ name, type }));
  const filled = columns.map(c => createColumn(c.type, rows.length));
  for (const row of rows) row.forEach((value, i) => void filled[i].push(value));
  const batch: ColumnBatch = { length: rows.length, columns: filled };
  return {
    columns,
    batches: (async function* () {
      yield batch;
    })(),
  };
}
