/**
 * A statement's plan as plain data: the engine's text and what each scan will be asked. EXPLAIN prints it; making it reads
 * no state file.
 */
import type { Catalog, ScanExplanation } from '../tables/table.js';
import { sqlTypeText } from '../types.js';
import { document, treeText } from './ast.js';
import { narrowScans } from './narrow.js';
import { type ParsedStatement, type Parser, parseStatement } from './parse.js';
import { resolveStatement } from './resolve.js';
import type { ScanUse } from './scan-use.js';
import type { StatementText } from './text.js';
import type { Binder } from './typing.js';

export interface PlanOptions {
  readonly snapshots: ReadonlyMap<string, Catalog>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly engine: Parser & Binder;
  readonly scanFunction: string;
  nextScanId(): number;
}

export interface Plan {
  readonly parsed: ParsedStatement;
  /** what the engine runs */
  readonly sql: string;
  readonly scans: readonly ScanUse[];
  readonly usedParameters: ReadonlySet<string>;
}

/** Parses, guards and resolves one statement. */
export async function planStatement(whole: string, text: StatementText, options: PlanOptions): Promise<Plan> {
  const { engine } = options;
  const parsed = await parseStatement(engine, whole, text);
  const { node } = parsed.tree;
  const resolved = await resolveStatement(node, {
    snapshots: options.snapshots,
    parameters: options.parameters,
    binder: engine,
    places: parsed.places,
    scanFunction: options.scanFunction,
    nextScanId: options.nextScanId,
  });
  narrowScans(node, resolved.scans, options.scanFunction);
  const sql = await engine.deserialize(treeText(document(node)));
  return { parsed, sql: sql.trim().replace(/;$/, ''), scans: resolved.scans, usedParameters: resolved.usedParameters };
}

/** One scan of EXPLAIN. */
export interface ExplainedScan extends ScanExplanation {
  readonly snapshot: string;
  readonly alias: string;
  /** what decided the types: column and the values left */
  readonly restrictions: readonly { readonly column: string; readonly values: readonly string[] }[];
}

/** What EXPLAIN ANALYZE counts. */
export interface ReadStats {
  /** counters since the snapshot was opened */
  current(): { readonly filesOpened: number; readonly bytesRead: number; readonly entries: number };
}
export interface Analysis {
  readonly filesOpened: number;
  readonly bytesRead: number;
  readonly entries: number;
  readonly rows: number;
  readonly milliseconds: number;
}
export interface Explanation {
  readonly scans: readonly ExplainedScan[];
  readonly analyze?: Analysis;
}

export function explainScans(scans: readonly ScanUse[]): readonly ExplainedScan[] {
  return scans.map(scan => {
    const request = scan.request();
    const explained = scan.bound.explain(request);
    return {
      snapshot: scan.snapshot,
      alias: scan.alias,
      ...explained,
      columns: scan.columns.map(c => {
        const bound = scan.bound.columns.find(b => b.name === c.name);
        return { name: c.name, type: sqlTypeText(c.type), mixed: bound?.mixed ?? false };
      }),
      restrictions: scan.restrictions.map(r => ({ column: r.column, values: r.values })),
      ...(request.limit === undefined ? {} : { limit: request.limit }),
    };
  });
}

/** The lines of EXPLAIN's text form. */
export function explanationLines(explanation: Explanation): readonly string[] {
  const lines: string[] = [];
  for (const scan of explanation.scans) {
    const called = scan.alias === scan.table ? '' : ` AS ${scan.alias}`;
    lines.push(`scan ${scan.snapshot}.${scan.table}${called}`);
    lines.push(`  operators: ${scan.operators.kept} of ${scan.operators.of}`);
    lines.push(`  states: ${scan.states.kept} of ${scan.states.of}`);
    if (scan.keyGroups !== undefined) lines.push(`  key groups: ${scan.keyGroups.kept} of ${scan.keyGroups.of}`);
    const columns = scan.columns.map(c => `${c.name} ${c.mixed ? `mixed (${c.type === 'JSON' ? 'JSON' : 'text'})` : c.type}`);
    lines.push(`  columns: ${columns.length === 0 ? 'none, rows are counted' : columns.join(', ')}`);
    for (const filter of scan.filters) {
      const use = filter.use === 'engine' ? 'left to the engine' : filter.use;
      lines.push(`  filter: ${filter.text} (${use})`);
    }
    if (scan.limit !== undefined) lines.push(`  limit: ${scan.limit}`);
  }
  if (explanation.scans.length === 0) lines.push('no table is read');
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
