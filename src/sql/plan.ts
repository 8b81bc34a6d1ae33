/**
 * A statement's plan as plain data: the engine's text and what each scan will be asked. EXPLAIN shows it (explain.ts); making it reads
 * headers of state files and no entry.
 */
import type { Catalog } from '../tables/table.js';
import { document, emptyTable, type QueryNode, selectNode, treeText } from './ast.js';
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
  /** for EXPLAIN: conjuncts of WHERE that no scan can use, as SQL */
  readonly leftToEngine: readonly string[];
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
  const textOf = async (query: QueryNode): Promise<string> =>
    (await engine.deserialize(treeText(document(query)))).trim().replace(/;$/, '');
  const conditions: string[] = [];
  if (parsed.explain !== 'no')
    for (const condition of resolved.leftToEngine)
      conditions.push((await textOf(selectNode([condition], emptyTable()))).replace(/^SELECT /, ''));
  const { scans, usedParameters } = resolved;
  return { parsed, sql: await textOf(node), scans, usedParameters, leftToEngine: conditions };
}
