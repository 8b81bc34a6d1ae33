/**
 * A compiled plan (COMPILE PLAN) as JSON:
 *
 *   {"flinkVersion":"1.20","nodes":[…],"edges":[{"source":1,"target":2,…}]}
 *   node: id · type `stream-exec-<name>_<version>` · outputType · description · keys of its own
 *
 * Inputs of a node are its edges in the order in which they stand. The operators of a node have the uids `<id>_<transformation>`, or
 * those of 1.15 (`sql-uids.ts`); a process table function has its own.
 *
 * Mirrors JsonPlanGraph and ExecNodeGraphJsonSerializer (Flink 1.15–2.3).
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSqlUid, TRANSFORMATIONS } from '../checkpoint/sql-uids.js';
import { operatorIdOf } from '../checkpoint/uid.js';
import { CorruptError, UsageError } from '../errors.js';
import { fileError } from '../io/source.js';
import type { LogicalField } from '../serializers/table/logical-type.js';
import { planType } from './plan-types.js';

const MAX_BYTES = 64 << 20;
const MAX_NODES = 100_000;

export type PlanJson = Readonly<Record<string, unknown>>;

export interface PlanNode {
  readonly id: number;
  /** `group-aggregate` */
  readonly type: string;
  /** as written, `stream-exec-group-aggregate_1` */
  readonly fullType: string;
  readonly description: string;
  readonly json: PlanJson;
  readonly inputs: readonly PlanNode[];
  /** columns of what it emits; undefined when that is no row */
  readonly columns: readonly LogicalField[] | undefined;
}

export interface CompiledPlan {
  readonly file: string | undefined;
  readonly flinkVersion: string | undefined;
  readonly nodes: ReadonlyMap<number, PlanNode>;
}

/** @throws UsageError when the text is no compiled plan */
export function parsePlan(text: string, file?: string): CompiledPlan {
  const at = file === undefined ? {} : { file };
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new UsageError(`the plan is no JSON: ${error instanceof Error ? error.message : String(error)}`, { ...at, cause: error });
  }
  const root = objectOf(json);
  const list = root?.['nodes'];
  if (root === undefined || !Array.isArray(list) || list.length > MAX_NODES)
    throw new UsageError('not a compiled plan: it has no list of nodes', { ...at, hint: 'COMPILE PLAN writes one' });
  const nodes = new Map<number, PlanNode & { inputs: PlanNode[] }>();
  for (const entry of list) {
    const node = objectOf(entry);
    const id = node?.['id'];
    const fullType = node?.['type'];
    if (node === undefined || typeof id !== 'number' || !Number.isSafeInteger(id) || typeof fullType !== 'string')
      throw new UsageError('not a compiled plan: a node without id or type', at);
    const output = planType(node['outputType']);
    nodes.set(id, {
      id,
      type: fullType.replace(/^(stream|batch)-exec-/, '').replace(/_\d+$/, ''),
      fullType,
      description: typeof node['description'] === 'string' ? node['description'] : fullType,
      json: node,
      inputs: [],
      columns: output.kind === 'ROW' ? output.fields : undefined,
    });
  }
  const edges = root['edges'];
  for (const entry of Array.isArray(edges) ? edges : []) {
    const edge = objectOf(entry);
    const source = nodes.get(Number(edge?.['source']));
    if (source !== undefined) nodes.get(Number(edge?.['target']))?.inputs.push(source);
  }
  const version = root['flinkVersion'];
  return { file, flinkVersion: version === undefined ? undefined : String(version), nodes };
}

function objectOf(value: unknown): PlanJson | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as PlanJson) : undefined;
}

/** @throws NotFoundError, IoError, UsageError */
export function readPlan(file: string): CompiledPlan {
  let text: string;
  try {
    if (statSync(file).size > MAX_BYTES) throw new CorruptError(`a plan of more than ${MAX_BYTES} bytes`, { file });
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw error instanceof CorruptError ? error : fileError(error, file);
  }
  return parsePlan(text, file);
}

/** `plan.json` beside `_metadata` or in the directory above. */
export function planBeside(metadataPath: string): string | undefined {
  const directory = dirname(metadataPath);
  return [join(directory, 'plan.json'), join(dirname(directory), 'plan.json')].find(path => existsSync(path));
}

/** An operator as a plan names it. */
export interface PlannedOperator {
  readonly uid: string;
  readonly node: PlanNode;
}

/**
 * The operators that a plan makes, of those asked for.
 * @param known uids that are known already, by operator id: connectors name transformations of their own (`6_kafka`)
 */
export function plannedOperators(
  plan: CompiledPlan,
  operatorIds: readonly string[],
  known: ReadonlyMap<string, string> = new Map(),
): Map<string, PlannedOperator> {
  const found = new Map<string, PlannedOperator>();
  const wanted = new Set(operatorIds);
  const offer = (uid: string, node: PlanNode): void => {
    const id = operatorIdOf(uid);
    if (wanted.has(id) && !found.has(id)) found.set(id, { uid, node });
  };
  const offerForms = (uid: string, node: PlanNode): void => {
    offer(uid, node);
    if (!/_sink$/.test(uid)) return;
    offer(`Sink Committer: ${uid}`, node);
    offer(`Sink ${uid} Global Committer`, node);
  };
  for (const node of plan.nodes.values()) {
    const own = node.json['uid'];
    if (typeof own === 'string') offer(own, node);
    for (const transformation of TRANSFORMATIONS) offerForms(`${node.id}_${transformation}`, node);
  }
  for (const node of plan.nodes.values()) {
    if (found.size === wanted.size) break;
    for (const transformation of TRANSFORMATIONS) offerForms(`${node.id}_${node.fullType}_${transformation}`, node);
  }
  for (const [id, uid] of known) {
    const node = plan.nodes.get(parseSqlUid(uid)?.nodeId ?? -1);
    if (node !== undefined && wanted.has(id) && !found.has(id)) found.set(id, { uid, node });
  }
  return found;
}
