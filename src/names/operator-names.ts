/** What is known of operators from outside a snapshot: uids, names, and the columns of their states. */
import type { Metadata } from '../checkpoint/handles.js';
import { inferUids } from '../checkpoint/uid.js';
import { type CompiledPlan, plannedOperators } from './plan.js';
import { planNaming } from './plan-states.js';
import type { OperatorNaming } from './state-names.js';

/** Where a uid comes from. */
export type UidSource = 'snapshot' | 'file' | 'plan' | 'stateinfo' | 'inferred';

export interface KnownName {
  readonly uid: string | null;
  readonly name: string | null;
  readonly source: UidSource;
  /** exec node of a compiled plan that it belongs to */
  readonly planLabel?: string;
  /** names of the columns of its states, the most trusted first */
  readonly namings?: readonly OperatorNaming[];
}

/** Names by operator id, from outside the snapshot. */
export type OperatorNames = ReadonlyMap<string, KnownName>;

const labelOf = (planLabel: string | undefined): { planLabel?: string } => (planLabel === undefined ? {} : { planLabel });

/** What several sources know, the most trusted first: each part comes from the first that has it. */
export function mergeNames(...sources: readonly OperatorNames[]): OperatorNames {
  const merged = new Map<string, KnownName>();
  for (const source of sources)
    for (const [id, next] of source) {
      const known = merged.get(id);
      if (known === undefined) merged.set(id, next);
      else
        merged.set(id, {
          uid: known.uid ?? next.uid,
          name: known.name ?? next.name,
          source: known.uid === null && next.uid !== null ? next.source : known.source,
          ...labelOf(known.planLabel ?? next.planLabel),
          namings: [...(known.namings ?? []), ...(next.namings ?? [])],
        });
    }
  return merged;
}

/** The operators of a snapshot that a plan makes: uids, descriptions and columns. */
export function planNames(plan: CompiledPlan, metadata: Metadata): OperatorNames {
  const source = plan.file === undefined ? 'the plan' : `the plan ${plan.file}`;
  const ids = metadata.operators.map(o => o.id);
  const known = new Map(metadata.operators.flatMap(o => (o.uid === undefined || o.uid === '' ? [] : [[o.id, o.uid] as const])));
  const planned = plannedOperators(plan, ids, known);
  // connectors name transformations of their own: `6_kafka`
  const rest = ids.filter(id => !planned.has(id) && !known.has(id));
  const inferred = new Map([...inferUids(rest)].map(([id, { uid }]) => [id, uid]));
  for (const [id, operator] of plannedOperators(plan, rest, inferred)) planned.set(id, operator);
  return new Map(
    [...planned].map(([id, { uid, node }]): [string, KnownName] => [
      id,
      { uid, name: node.description, source: 'plan', planLabel: `${node.id} ${node.fullType}`, namings: [planNaming(node, uid, source)] },
    ]),
  );
}
