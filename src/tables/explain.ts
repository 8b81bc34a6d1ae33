/**
 * What EXPLAIN says of a scan: the operators, states and key groups that are left, what is done with each filter, and the size of the
 * state files that hold the rest. It is found by the functions that the scan itself prunes with; no entry is read.
 */
import type { StreamHandle } from '../checkpoint/handles.js';
import { keyedReferences } from '../checkpoint/references.js';
import { streamSize } from '../checkpoint/sizes.js';
import { type SqlType, sqlTypeText } from '../types.js';
import { keyFilterOf } from './key-lookup.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import type { KeyedPart, OperatorPart, OperatorStates, OperatorView, StateVariant } from './states.js';
import type { BoundColumn, Constant, Filter, FilterUse, Kept, ScanExplanation, ScanRequest } from './table.js';

/** What is left of a snapshot. */
export interface ScanScope extends Pick<ScanExplanation, 'operators' | 'states' | 'keyGroups' | 'stateFiles'> {
  readonly useOf: (filter: Filter) => FilterUse;
}

/** A scope and a request as EXPLAIN has them. */
export function explainScan(table: string, columns: readonly BoundColumn[], request: ScanRequest, scope: ScanScope): ScanExplanation {
  const { useOf, ...left } = scope;
  return {
    table,
    ...left,
    columns: request.columns.map(p => {
      const column = columns.find(c => c.name === p.name);
      if (column === undefined) throw new Error(`${table} has no column ${p.name}`);
      return { name: p.name, type: column.mixed ? 'mixed' : sqlTypeText(column.type), mixed: column.mixed };
    }),
    filters: request.filters.map(f => ({ text: filterText(f), use: useOf(f) })),
    ...(request.limit === undefined ? {} : { limit: request.limit }),
  };
}

/** Filters that operators and states are chosen by; text order is left to the engine. */
const NAME_OPS: ReadonlySet<Filter['op']> = new Set(['=', '<>', 'in', 'prefix', 'is null', 'is not null']);

/** `exact` for filters on these columns where the choice of operators and states settles them. */
export const exactBy =
  (names: readonly string[]) =>
  (filter: Filter): FilterUse =>
    names.includes(filter.column) && NAME_OPS.has(filter.op) ? 'exact' : 'engine';

export const OPERATOR_NAMES = ['operator_id', 'operator_uid', 'operator_name'] as const;

/** Of a table whose rows belong to operators. */
export function operatorScope(snapshot: OpenedSnapshot, filters: readonly Filter[], byName: 'exact' | 'inexact' = 'exact'): ScanScope {
  const kept = snapshot.operators.filter(o => operatorMightMatch(o, filters));
  const exact = exactBy(OPERATOR_NAMES);
  return { operators: keptOperators(snapshot, kept), useOf: filter => (exact(filter) === 'exact' ? byName : 'engine') };
}

export function keptOperators(snapshot: OpenedSnapshot, operators: Iterable<OperatorView>): Kept {
  const kept = new Set(operators);
  return { kept: kept.size, of: snapshot.operators.length, names: [...kept].map(o => o.uid ?? o.id) };
}

export function keptStates(states: readonly StateVariant[], of: number): Kept {
  return { kept: states.length, of: Math.max(of, states.length), names: [...new Set(states.map(v => v.name))] };
}

export interface KeyedScopeOptions {
  readonly snapshot: OpenedSnapshot;
  readonly operators: readonly OperatorStates[];
  /** the states that are left */
  readonly states: readonly StateVariant[];
  /** of how many */
  readonly of: number;
  /** with the restrictions; on columns of keyed_state */
  readonly filters: readonly Filter[];
  /** see keyFilterOf */
  readonly typed: ReadonlyMap<string, SqlType | undefined>;
  /** columns by which operators and states are chosen */
  readonly names: readonly string[];
  /** timers, which may lie in raw keyed state; their keys are not looked up by their bytes */
  readonly timers?: boolean;
}

/** Of a table over keyed state or timers. */
export function keyedScope(options: KeyedScopeOptions): ScanScope {
  const { snapshot, states, filters, typed, timers = false } = options;
  const parts = options.operators.flatMap(o => {
    const wanted = states.filter(v => v.operator === o.operator);
    return wanted.length === 0 ? [] : o.keyed.filter(part => timers || !part.raw).map(part => ({ part, wanted }));
  });
  const narrowed = (part: KeyedPart, wanted: readonly StateVariant[], by: readonly Filter[]) => {
    const found = keyFilterOf(snapshot, part, wanted, by, typed);
    return found === undefined || !timers ? found : { keyGroups: found.keyGroups };
  };
  const groups = new Map<OperatorView, Set<number>>();
  const files = new Files();
  for (const { part, wanted } of parts) {
    const left = narrowed(part, wanted, filters);
    const kept = groups.get(part.operator) ?? new Set();
    groups.set(part.operator, kept);
    if (left === undefined) continue;
    const { first, count } = part.handle.range;
    for (let g = first; g < first + count; g++) if (left.keyGroups?.has(g) !== false) kept.add(g);
    files.addKeyed(part);
  }
  const narrows = (by: readonly Filter[]) =>
    parts.map(({ part, wanted }) => {
      const left = narrowed(part, wanted, by);
      return left === undefined ? -1 : `${left.keyGroups?.size} ${'keys' in left ? left.keys?.length : ''}`;
    });
  const same = (a: readonly unknown[], b: readonly unknown[]) => a.every((x, i) => x === b[i]);
  const names = exactBy(options.names);
  return {
    operators: keptOperators(
      snapshot,
      states.map(v => v.operator),
    ),
    states: keptStates(states, options.of),
    keyGroups: {
      kept: [...groups.values()].reduce((sum, g) => sum + g.size, 0),
      of: [...groups.keys()].reduce((sum, o) => sum + o.operator.maxParallelism, 0),
    },
    stateFiles: files.sum(),
    useOf(filter) {
      const byName = names(filter);
      if (byName === 'exact') return byName;
      // alone, or together with the others: the fields of a tuple are one key
      const alone = !same(narrows([filter]), narrows([]));
      const others = filters.filter(f => f !== filter);
      return alone || !same(narrows(filters), narrows(others)) ? 'inexact' : 'engine';
    },
  };
}

/** Of a table over operator state. */
export function elementScope(
  snapshot: OpenedSnapshot,
  operators: readonly OperatorStates[],
  states: readonly StateVariant[],
  of: number,
  names: readonly string[],
): ScanScope {
  const files = new Files();
  const kept = new Set(states.map(v => v.operator));
  for (const o of operators)
    if (kept.has(o.operator)) for (const part of o.managed) files.addElements(part, new Set(states.map(v => v.name)));
  return { operators: keptOperators(snapshot, kept), states: keptStates(states, of), stateFiles: files.sum(), useOf: exactBy(names) };
}

/** State files, each once. */
class Files {
  private readonly streams = new Map<string, number>();

  addKeyed({ operator, subtask, handle }: KeyedPart): void {
    for (const { stream, size } of keyedReferences(operator.operator, subtask, handle)) this.add(stream, size);
  }

  addElements({ handle }: OperatorPart, names: ReadonlySet<string>): void {
    if (handle.states.some(s => names.has(s.name))) this.add(handle.stream, streamSize(handle.stream));
  }

  private add(stream: StreamHandle, bytes: number): void {
    switch (stream.kind) {
      case 'key-groups-stream':
        this.add(stream.handle.stream, bytes);
        return;
      case 'inline':
      case 'empty-segment':
        return;
      case 'segment':
        // parts of a merged file count as what they are
        this.streams.set(`${stream.path}\0${stream.start}`, bytes);
        return;
      default:
        this.streams.set(stream.path, Math.max(0, bytes));
    }
  }

  sum(): { readonly files: number; readonly bytes: number } {
    const paths = new Set([...this.streams.keys()].map(s => s.split('\0')[0]));
    return { files: paths.size, bytes: [...this.streams.values()].reduce((a, b) => a + b, 0) };
  }
}

/** A filter as SQL. */
export function filterText(filter: Filter): string {
  switch (filter.op) {
    case 'is null':
    case 'is not null':
      return `${filter.column} ${filter.op.toUpperCase()}`;
    case 'in':
      return `${filter.column} IN (${filter.values.map(constantSql).join(', ')})`;
    case 'field':
      return `${[filter.column, ...filter.path].join('.')} IN (${filter.values.map(constantSql).join(', ')})`;
    case 'prefix':
      return `${filter.column} LIKE '${filter.value.replaceAll("'", "''")}%'`;
    default:
      return `${filter.column} ${filter.op} ${constantSql(filter.value)}`;
  }
}

function constantSql(c: Constant): string {
  switch (c.kind) {
    case 'string':
      return `'${c.value.replaceAll("'", "''")}'`;
    case 'decimal':
      return c.text;
    default:
      return String(c.value);
  }
}
