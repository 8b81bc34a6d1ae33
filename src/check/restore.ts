/**
 * Would a job restore from a snapshot? The snapshot of the old job against one that the changed job took when it ran fresh.
 *
 * Flink's order: max parallelism and parallelism of every operator (StateAssignmentOperation), state of operators that are gone
 * (Checkpoints.loadAndValidateCheckpoint), handle types that the backend can read, then each state's kind and serializers
 * (StateSerializerProvider, RocksDBKeyedStateBackend, HeapKeyedStateBackend, DefaultOperatorStateBackend). 1.20, 2.3.
 */

import type { KeyedHandle, Operator, Subtask } from '../checkpoint/handles.js';
import { defaultMaxParallelism, subtaskOfKeyGroup } from '../checkpoint/key-groups.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import type { OperatorStates, OperatorView, StateVariant } from '../tables/states.js';
import { kryoLayoutsDiffer } from './kryo-layout.js';
import { subclassesGone } from './sample.js';
import { type Compatibility, serializerCompatibility } from './serializers.js';

export type Verdict = 'ok' | 'migration' | 'added' | 'warning' | 'unknown' | 'fails';

/** One line of the report. `fails` and `unknown` mean that the restore is not to be relied on. */
export interface Finding {
  readonly operator: OperatorView | undefined;
  readonly stateName: string | null;
  readonly verdict: Verdict;
  readonly reason: string;
}

export interface CheckOptions {
  /** the changed job's state backend, where its snapshot does not tell (canonical savepoints) */
  readonly backend?: 'hashmap' | 'rocksdb' | 'forst';
  /** state of operators that are gone may be dropped (Flink's --allowNonRestoredState) */
  readonly allowNonRestoredState?: boolean;
}

type Family = 'hashmap' | 'rocksdb' | 'forst';

/** Findings in the order in which Flink would come upon them. */
export function checkRestore(old: OpenedSnapshot, next: OpenedSnapshot, options: CheckOptions = {}): Finding[] {
  const findings: Finding[] = [];
  const newById = new Map(next.operators.map(o => [o.id, o]));
  const oldIds = new Set(old.operators.map(o => o.id));
  const newFamily = options.backend ?? familyOf(next);
  const ttlMigrates = next.metadata.version >= 6;
  for (const view of old.operators) {
    const other = newById.get(view.id);
    if (other === undefined) {
      findings.push(missingOperator(old, view, options));
      continue;
    }
    const label = withName(view, other);
    findings.push(...parallelismFindings(label, view.operator, other.operator));
    findings.push(...backendFindings(label, view.operator, newFamily));
    findings.push(...stateFindings(old, next, label, old.statesOf(view), next.statesOf(other), newFamily, ttlMigrates));
  }
  for (const view of next.operators)
    if (!oldIds.has(view.id)) findings.push({ operator: view, stateName: null, verdict: 'added', reason: 'new operator, it starts empty' });
  return findings;
}

/** Whether the job may be restored with this parallelism. */
export function checkParallelism(snapshot: OpenedSnapshot, parallelism: number): Finding[] {
  return snapshot.operators.map(view => {
    const { maxParallelism } = view.operator;
    if (parallelism > maxParallelism) {
      return {
        operator: view,
        stateName: null,
        verdict: 'fails' as const,
        reason: `parallelism ${parallelism} is above the max parallelism ${maxParallelism} of the snapshot`,
      };
    }
    const sizes = new Map<number, number>();
    for (let g = 0; g < maxParallelism; g++) {
      const subtask = subtaskOfKeyGroup(g, parallelism, maxParallelism);
      sizes.set(subtask, (sizes.get(subtask) ?? 0) + 1);
    }
    const counts = [...sizes.values()];
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    const spread = least === most ? `${most} key groups a subtask` : `${least} to ${most} key groups a subtask`;
    return { operator: view, stateName: null, verdict: 'ok' as const, reason: `${spread}, of ${maxParallelism}` };
  });
}

export const isFailure = (f: Finding): boolean => f.verdict === 'fails' || f.verdict === 'unknown';

function withName(a: OperatorView, b: OperatorView): OperatorView {
  return a.uid !== null || b.uid === null ? a : { ...a, uid: b.uid, uidSource: b.uidSource, name: a.name ?? b.name };
}

// ------------------------------------------------------------------------------------------------------------ operators

function hasState(subtask: Subtask): boolean {
  return (
    subtask.managedKeyed !== undefined ||
    subtask.rawKeyed !== undefined ||
    (subtask.managedOperator !== undefined && subtask.managedOperator.empty !== true) ||
    subtask.rawOperator !== undefined ||
    subtask.channels.length > 0
  );
}

function missingOperator(old: OpenedSnapshot, view: OperatorView, options: CheckOptions): Finding {
  const { operator } = view;
  if (operator.coordinator === undefined && !operator.subtasks.some(hasState))
    return { operator: view, stateName: null, verdict: 'warning', reason: 'the operator is gone; it had no state' };
  const names = old
    .statesOf(view)
    .variants.map(v => v.name)
    .join(', ');
  const what = `the operator is gone, its state (${names === '' ? 'of its coordinator' : names}) has no owner`;
  return options.allowNonRestoredState === true
    ? { operator: view, stateName: null, verdict: 'warning', reason: `${what} and is dropped` }
    : {
        operator: view,
        stateName: null,
        verdict: 'fails',
        reason: `${what}: Flink refuses this unless non-restored state is allowed (--allow-non-restored-state); was its uid changed?`,
      };
}

/** An explicitly set max parallelism must be the old one; one that was derived gives way to it. */
function parallelismFindings(view: OperatorView, old: Operator, next: Operator): Finding[] {
  const explicit = next.maxParallelism !== defaultMaxParallelism(next.parallelism) && next.maxParallelism !== 1;
  const line = (verdict: Verdict, reason: string): Finding[] => [{ operator: view, stateName: null, verdict, reason }];
  if (next.maxParallelism !== old.maxParallelism) {
    if (explicit)
      return line('fails', `max parallelism was ${old.maxParallelism} and is set to ${next.maxParallelism}: it cannot be changed`);
    if (next.parallelism > old.maxParallelism)
      return line('fails', `parallelism ${next.parallelism} is above the max parallelism ${old.maxParallelism} of the snapshot`);
    return line(
      'warning',
      `max parallelism stays ${old.maxParallelism}; a fresh job has ${next.maxParallelism} (if that was set explicitly, Flink refuses the restore)`,
    );
  }
  return [];
}

// ------------------------------------------------------------------------------------------------------------- backends

/** The backend that wrote a handle in its own format; undefined: canonical, every backend reads it. */
function familyOfHandle(handle: KeyedHandle): Family | undefined {
  switch (handle.kind) {
    case 'key-groups':
      return handle.tag === 7 ? undefined : 'hashmap';
    case 'incremental':
      return 'rocksdb';
    case 'changelog':
      return handle.materialized.map(familyOfHandle).find(f => f !== undefined);
    default:
      return undefined;
  }
}

function familyOfOperator(operator: Operator): Family | undefined {
  for (const subtask of operator.subtasks) {
    const family = subtask.managedKeyed === undefined ? undefined : familyOfHandle(subtask.managedKeyed);
    if (family !== undefined) return family;
  }
  return undefined;
}

function familyOf(snapshot: OpenedSnapshot): Family | undefined {
  for (const o of snapshot.operators) {
    const family = familyOfOperator(o.operator);
    if (family !== undefined) return family;
  }
  return undefined;
}

function backendFindings(view: OperatorView, old: Operator, next: Family | undefined): Finding[] {
  const written = familyOfOperator(old);
  if (written === undefined || written === next || (written === 'rocksdb' && next === 'forst')) return [];
  const native = `keyed state is in the native format of ${written}`;
  return [
    next === undefined
      ? {
          operator: view,
          stateName: null,
          verdict: 'unknown',
          reason: `${native}, and the new snapshot does not tell its backend: give --backend`,
        }
      : { operator: view, stateName: null, verdict: 'fails', reason: `${native}; ${next} cannot read it: take a canonical savepoint` },
  ];
}

// --------------------------------------------------------------------------------------------------------------- states

function stateFindings(
  old: OpenedSnapshot,
  next: OpenedSnapshot,
  view: OperatorView,
  a: OperatorStates,
  b: OperatorStates,
  family: Family | undefined,
  ttlMigrates: boolean,
): Finding[] {
  const findings: Finding[] = [];
  for (const problem of [...a.problems, ...b.problems])
    findings.push({ operator: view, stateName: null, verdict: 'unknown', reason: problem.error.describe() });
  const oldKey = a.variants.find(v => v.keySnapshot !== undefined)?.keySnapshot;
  const newKey = b.variants.find(v => v.keySnapshot !== undefined)?.keySnapshot;
  if (oldKey !== undefined && newKey !== undefined) {
    const c = serializerCompatibility(oldKey, newKey, { ttlMigrates }, 'key');
    if (c.level !== 'as-is')
      findings.push({
        operator: view,
        stateName: null,
        verdict: c.level === 'unknown' ? 'unknown' : 'fails',
        reason: `${c.reasons.join('; ')}: the key must stay as it is`,
      });
  }
  const vanished: string[] = [];
  for (const v of a.variants) {
    const others = b.variants.filter(x => x.name === v.name && keyedKind(x) === keyedKind(v));
    if (others.length === 0) {
      if (v.kind !== 'timer') vanished.push(v.name);
      continue;
    }
    for (const other of others) findings.push(...stateFinding(old, next, view, v, other, family, ttlMigrates));
  }
  const appeared = b.variants.filter(v => v.kind !== 'timer' && !a.variants.some(x => x.name === v.name)).map(v => v.name);
  for (const name of vanished)
    findings.push({
      operator: view,
      stateName: name,
      verdict: 'warning',
      reason: `the state is gone: it is dropped silently${appeared.length > 0 ? ` (renamed to ${appeared.join(' or ')}?)` : ''}`,
    });
  for (const name of appeared) findings.push({ operator: view, stateName: name, verdict: 'added', reason: 'new state, it starts empty' });
  return findings;
}

const keyedKind = (v: StateVariant): 'keyed' | 'operator' => (v.kind === 'keyed' || v.kind === 'timer' ? 'keyed' : 'operator');

function stateFinding(
  old: OpenedSnapshot,
  next: OpenedSnapshot,
  view: OperatorView,
  v: StateVariant,
  w: StateVariant,
  family: Family | undefined,
  ttlMigrates: boolean,
): Finding[] {
  const line = (verdict: Verdict, reason: string): Finding => ({ operator: view, stateName: v.name, verdict, reason });
  const kindOf = (x: StateVariant) =>
    x.kind === 'keyed' ? x.registered.stateType : x.kind === 'timer' ? 'PRIORITY_QUEUE' : x.registered.mode;
  if (v.kind !== w.kind || kindOf(v) !== kindOf(w)) return [line('fails', `was ${kindOf(v)} state and is ${kindOf(w)}`)];
  const out: Finding[] = [];
  const compare = (what: 'namespace' | 'value' | 'key' | 'userKey'): Compatibility | undefined => {
    const [a, b] = [v.registered[what], w.registered[what]];
    return a === undefined || b === undefined
      ? undefined
      : serializerCompatibility(a, b, { ttlMigrates }, what === 'userKey' ? 'map key' : what);
  };
  const strict = (c: Compatibility | undefined, what: string) => {
    if (c === undefined || c.level === 'as-is') return;
    out.push(line(c.level === 'unknown' ? 'unknown' : 'fails', `${c.reasons.join('; ')}: the ${what} must stay as it is`));
  };
  strict(compare('namespace'), 'namespace');
  const broadcastKey = compare('key');
  if (broadcastKey !== undefined) out.push(...graded(broadcastKey, line));
  const value = compare('value');
  if (value === undefined) return out;
  if (v.kind === 'timer') {
    strict(value, 'timer');
    return out;
  }
  out.push(...graded(value, line));
  if (value.level === 'migration' && v.kind === 'keyed' && family !== 'hashmap') {
    const mapKey =
      v.registered.stateType === 'MAP' && !v.registered.v2
        ? serializerCompatibility(
            (v.registered.value as NonNullable<typeof v.registered.value>).children[0].snapshot,
            (w.registered.value as NonNullable<typeof w.registered.value>).children[0].snapshot,
            { ttlMigrates },
            'map key',
          )
        : compare('userKey');
    const verdict: Verdict = family === undefined ? 'unknown' : 'fails';
    const where = family === undefined ? 'on RocksDB, and the snapshots do not tell the backend (give --backend)' : `on ${family}`;
    if (mapKey !== undefined && mapKey.level !== 'as-is')
      out.push(line(verdict, `the map key would have to be migrated, which fails ${where}`));
    if (value.failsOnRocksdb !== undefined) out.push(line(verdict, `${value.failsOnRocksdb} ${where}`));
  }
  if (value.level === 'as-is') {
    const reason = kryoLayoutsDiffer(old, next, v, w);
    if (reason !== undefined) out.push(line('fails', reason));
  }
  const gone = subclassesGone(old, next, v, w);
  if (gone !== undefined) out.push(line('unknown', gone));
  return out;
}

function graded(c: Compatibility, line: (verdict: Verdict, reason: string) => Finding): Finding[] {
  const reason = c.reasons.join('; ');
  const losses = c.losses.map(l => line('warning', l));
  switch (c.level) {
    case 'as-is':
      return [line('ok', 'as it is')];
    case 'migration':
      return [line('migration', reason), ...losses];
    case 'unknown':
      return [line('unknown', reason)];
    case 'incompatible':
      return [line('fails', reason)];
  }
}
