/**
 * Tables by the names of ByteDance's state query, each a part of keyed_state or operator_state:
 *
 *   "<operator id>#<state>"             the rows of one state, typed
 *   "<operator id>#all_keyed_states"    "…#all_operator_states"   "…#all_states"
 *   all_keyed_states   all_operator_states   all_states           of all operators
 *
 * A state name that is both keyed and operator state: `#keyed:<state>` and `#operator:<state>` name them apart.
 */
import { type ColumnBatch, createColumn } from '../io/column.js';
import { INTEGER, JSON_TYPE, type SqlType, VARCHAR } from '../types.js';
import { explainScan, filterText } from './explain.js';
import { KEYED_STATE, keyedStateTable } from './keyed-state.js';
import { OPERATOR_STATE, operatorStateTable } from './operator-state.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, LIST_INDEX, OPERATOR_ID, STATE_NAME } from './spec.js';
import type { OperatorView } from './states.js';
import { withRemarks } from './suggest-names.js';
import type {
  BoundColumn,
  BoundTable,
  ColumnSpec,
  Filter,
  FilterUse,
  Kept,
  Restriction,
  Scan,
  ScanRequest,
  Table,
  TableSpec,
} from './table.js';

const KEYED_PART: readonly string[] = ['key', 'namespace', 'map_key', 'list_index', 'value'];
const OPERATOR_PART: readonly string[] = ['subtask_index', 'list_index', 'map_key', 'value'];

/** Finds a table by such a name; undefined when it is none. */
export function stateTable(snapshot: OpenedSnapshot, name: string): Table | undefined {
  const lower = name.toLowerCase();
  if (lower === 'all_keyed_states') return partTable(snapshot, name, 'keyed', ['operator_id', 'state_name', ...KEYED_PART], []);
  if (lower === 'all_operator_states') return partTable(snapshot, name, 'operator', ['operator_id', 'state_name', ...OPERATOR_PART], []);
  if (lower === 'all_states') return unionTable(snapshot, name, undefined);
  const hash = name.indexOf('#');
  if (hash !== 32) return undefined;
  const operator = snapshot.operators.find(o => o.id === lower.slice(0, 32));
  if (operator === undefined) return undefined;
  const own: Restriction = { column: 'operator_id', values: [operator.id] };
  const rest = name.slice(33);
  switch (rest.toLowerCase()) {
    case 'all_keyed_states':
      return partTable(snapshot, name, 'keyed', ['state_name', ...KEYED_PART], [own]);
    case 'all_operator_states':
      return partTable(snapshot, name, 'operator', ['state_name', ...OPERATOR_PART], [own]);
    case 'all_states':
      return unionTable(snapshot, name, operator);
    default:
      return oneState(snapshot, name, operator, rest, own);
  }
}

/** Names of this kind, for `tables --all` and suggestions. */
export function stateTableNames(snapshot: OpenedSnapshot): string[] {
  const names = ['all_states', 'all_keyed_states', 'all_operator_states'];
  for (const o of snapshot.operators) {
    const { variants } = snapshot.statesOf(o);
    if (variants.length > 0) names.push(`${o.id}#all_states`, `${o.id}#all_keyed_states`, `${o.id}#all_operator_states`);
    const keyed = new Set(variants.filter(v => v.kind === 'keyed').map(v => v.name));
    const operator = new Set(variants.filter(v => v.kind === 'operator' || v.kind === 'broadcast').map(v => v.name));
    for (const s of keyed) names.push(`${o.id}#${operator.has(s) ? 'keyed:' : ''}${s}`);
    for (const s of operator) names.push(`${o.id}#${keyed.has(s) ? 'operator:' : ''}${s}`);
  }
  return names;
}

function oneState(snapshot: OpenedSnapshot, name: string, operator: OperatorView, rest: string, own: Restriction): Table | undefined {
  const { variants } = snapshot.statesOf(operator);
  const find = (state: string, keyed: boolean) =>
    variants.find(v => (v.kind === 'keyed') === keyed && v.kind !== 'timer' && v.name.toLowerCase() === state.toLowerCase());
  const explicit = /^(keyed|operator):(.*)$/s.exec(rest);
  const v = find(rest, true) ?? find(rest, false) ?? (explicit === null ? undefined : find(explicit[2], explicit[1] === 'keyed'));
  if (v === undefined) return undefined;
  const keyed = v.kind === 'keyed';
  return partTable(snapshot, name, keyed ? 'keyed' : 'operator', keyed ? KEYED_PART : OPERATOR_PART, [
    own,
    { column: 'state_name', values: [v.name] },
  ]);
}

/** Some columns of keyed_state or operator_state, narrowed. */
function partTable(
  snapshot: OpenedSnapshot,
  name: string,
  kind: 'keyed' | 'operator',
  names: readonly string[],
  narrowing: readonly Restriction[],
): Table {
  const base = withRemarks(
    snapshot,
    kind === 'keyed' ? keyedStateTable(snapshot, KEYED_STATE) : operatorStateTable(snapshot, OPERATOR_STATE),
  );
  const columns = names.map(n => base.spec.columns.find(c => c.name === n) as ColumnSpec);
  const spec: TableSpec = { name, aliases: [], description: `${kind} state, as in ByteDance's state query`, columns, examples: [] };
  return {
    spec,
    bind(restrictions): BoundTable {
      const inner = base.bind([...narrowing, ...restrictions]);
      return {
        columns: names.map(n => inner.columns.find(c => c.name === n) as BoundColumn),
        scan: request => inner.scan(request),
        explain: request => ({ ...inner.explain(request), table: name }),
      };
    },
  };
}

/** Keyed state and then operator state; keys and values in mixed form. */
function unionTable(snapshot: OpenedSnapshot, name: string, operator: OperatorView | undefined): Table {
  const columns: ColumnSpec[] = [
    ...(operator === undefined ? [OPERATOR_ID] : []),
    STATE_NAME,
    column('key', JSON_TYPE, 'key; NULL for operator state'),
    column('namespace', JSON_TYPE, 'namespace; NULL for operator state'),
    column('map_key', JSON_TYPE, 'key of the map or broadcast entry'),
    LIST_INDEX,
    column('subtask_index', INTEGER, 'subtask that stored it'),
    column('value', JSON_TYPE, 'value, list element or map value'),
  ];
  const spec: TableSpec = {
    name,
    aliases: [],
    description: "keyed and operator state, as in ByteDance's state query",
    columns,
    examples: [],
  };
  const own: Restriction[] = operator === undefined ? [] : [{ column: 'operator_id', values: [operator.id] }];
  return {
    spec,
    bind(restrictions): BoundTable {
      const keyed = withRemarks(snapshot, keyedStateTable(snapshot, KEYED_STATE)).bind([...own, ...restrictions]);
      const elements = withRemarks(snapshot, operatorStateTable(snapshot, OPERATOR_STATE)).bind([...own, ...restrictions]);
      const bound = columns.map(c => ({
        name: c.name,
        type: c.type as SqlType,
        mixed: (c.type as SqlType).kind === 'JSON',
        description: c.description,
      }));
      const inner = (table: BoundTable, request: ScanRequest): { request: ScanRequest; missing: readonly boolean[] } => {
        const missing = request.columns.map(p => !table.columns.some(c => c.name === p.name));
        return {
          missing,
          request: {
            columns: request.columns
              .filter((_, i) => !missing[i])
              .map(p =>
                bound.find(c => c.name === p.name)?.mixed === true && p.form === 'value' ? { name: p.name, form: 'json' as const } : p,
              ),
            filters: request.filters.filter((f: Filter) => table.columns.some(c => c.name === f.column)),
            ...(request.threads === undefined ? {} : { threads: request.threads }),
          },
        };
      };
      return {
        columns: bound,
        scan(request): Scan {
          const parts = [keyed, elements];
          let scan: Scan | undefined;
          let fill: readonly boolean[] = [];
          return {
            next() {
              for (;;) {
                if (scan === undefined) {
                  const table = parts.shift();
                  if (table === undefined) return undefined;
                  // a filter on a column that the part does not have (NULL in every row) keeps no row of it, unless it asks for NULL
                  const impossible = request.filters.some(f => !table.columns.some(c => c.name === f.column) && f.op !== 'is null');
                  if (impossible) continue;
                  const made = inner(table, request);
                  fill = made.missing;
                  scan = table.scan(made.request);
                }
                const batch = scan.next();
                if (batch !== undefined) return withNulls(batch, fill, request, bound);
                scan.close();
                scan = undefined;
              }
            },
            close() {
              scan?.close();
              parts.length = 0;
            },
          };
        },
        explain: request => {
          const both = [keyed, elements].map(part => part.explain(inner(part, request).request));
          const uses = new Map(
            request.filters.map(f => [f, both.map(e => e.filters.find(x => x.text === filterText(f))?.use ?? 'engine')]),
          );
          // a filter is exact where both parts say so
          const useOf = (f: Filter): FilterUse => {
            const of = uses.get(f) ?? [];
            return of.every(use => use === 'exact') ? 'exact' : of.every(use => use === 'engine') ? 'engine' : 'inexact';
          };
          return explainScan(name, bound, request, {
            operators: together(both.map(e => e.operators)),
            states: together(
              both.map(e => e.states),
              true,
            ),
            keyGroups: both[0].keyGroups,
            stateFiles: {
              files: both.reduce((sum, e) => sum + (e.stateFiles?.files ?? 0), 0),
              bytes: both.reduce((sum, e) => sum + (e.stateFiles?.bytes ?? 0), 0),
            },
            useOf,
          });
        },
      };
    },
  };
}

/** What two parts keep: of the same operators, or of states of their own. */
function together(parts: readonly (Kept | undefined)[], apart = false): Kept {
  const names = [...new Set(parts.flatMap(p => p?.names ?? []))];
  const sum = (of: (k: Kept) => number) => parts.reduce((total, p) => total + (p === undefined ? 0 : of(p)), 0);
  return apart ? { kept: sum(k => k.kept), of: sum(k => k.of), names } : { kept: names.length, of: parts[0]?.of ?? 0, names };
}

function withNulls(batch: ColumnBatch, missing: readonly boolean[], request: ScanRequest, bound: readonly BoundColumn[]): ColumnBatch {
  if (!missing.includes(true)) return batch;
  let next = 0;
  return {
    length: batch.length,
    columns: missing.map((isMissing, i) => {
      if (!isMissing) return batch.columns[next++];
      const p = request.columns[i];
      const type = p.form === 'text' ? VARCHAR : (bound.find(c => c.name === p.name)?.type ?? VARCHAR);
      const nulls = createColumn(type, batch.length);
      for (let row = 0; row < batch.length; row++) nulls.pushNull();
      return nulls;
    }),
  };
}
