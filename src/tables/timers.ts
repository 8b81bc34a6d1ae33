/**
 * timers: one row for each registered timer, of managed state (priority queues) and of the raw keyed state of old jobs.
 *
 * A queue's state name is `_timer_state/event_<service>` or `_timer_state/processing_<service>` (Flink:
 * InternalTimeServiceManagerImpl, 1.20).
 */
import type { FixedColumn } from '../io/column.js';
import { BIGINT, type SqlType, sameType, TIMESTAMPTZ, VARCHAR } from '../types.js';
import { BatchWriter } from './batch.js';
import { explainScan, keyedScope, OPERATOR_NAMES } from './explain.js';
import { keyFilterOf } from './key-lookup.js';
import { type Fill, fillInteger, fillNull, fillPiece, fillText, KeyedPump, type KeyedRow, type VariantPlan } from './keyed-rows.js';
import { KEY_END, KEY_START, NS_END, NS_START, projectedType } from './keyed-state.js';
import { PieceScan, scanPieces } from './pieces.js';
import { restrictionFilters, selectStates } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, KEY_GROUP, OPERATOR_COLUMNS, SUBTASK_INDEX } from './spec.js';
import { type StateVariant, unifyTypes } from './states.js';
import type { BoundColumn, BoundTable, Filter, Projection, ScanRequest, Table, TableSpec } from './table.js';

export const TIMERS: TableSpec = {
  name: 'timers',
  aliases: ['Timers'],
  description: 'one row for each registered timer',
  columns: [
    ...OPERATOR_COLUMNS,
    column('timer_service', VARCHAR, 'name of the timer service (`user-timers` of `_timer_state/event_user-timers`)'),
    column('time_domain', VARCHAR, 'event or processing'),
    column('fires_at', TIMESTAMPTZ, 'when it fires; ±infinity outside the range of SQL timestamps'),
    column('fires_at_ms', BIGINT, 'when it fires, in milliseconds since 1970'),
    column('key', 'dynamic', 'key of the timer'),
    column('namespace', 'dynamic', 'namespace (a window, mostly); NULL for the void namespace'),
    KEY_GROUP,
    SUBTASK_INDEX,
  ],
  examples: ['SELECT timer_service, time_domain, min(fires_at), count(*) FROM timers GROUP BY ALL'],
};

const PREFIX = '_timer_state/';

/** Service and domain out of the state name. */
export function timerService(stateName: string): { service: string; domain: 'event' | 'processing' } {
  const name = stateName.startsWith(PREFIX) ? stateName.slice(PREFIX.length) : stateName;
  if (name.startsWith('processing_')) return { service: name.slice(11), domain: 'processing' };
  return { service: name.startsWith('event_') ? name.slice(6) : name, domain: 'event' };
}

const TYPES: Readonly<Record<string, (v: StateVariant) => SqlType | undefined>> = {
  key: v => v.shape.key?.type,
  namespace: v => v.shape.namespace?.type,
};

export function timersTable(snapshot: OpenedSnapshot): Table {
  return {
    spec: TIMERS,
    bind(restrictions): BoundTable {
      const narrowing = restrictionFilters(restrictions).filter(f => f.column.startsWith('operator_'));
      const operators = selectStates(snapshot.operators, o => snapshot.statesOf(o), narrowing);
      const variants = operators.flatMap(o => o.variants.filter(v => v.kind === 'timer'));
      const columns: BoundColumn[] = TIMERS.columns.map(c => {
        if (c.type !== 'dynamic') return { name: c.name, type: c.type, mixed: false, description: c.description };
        const unified = unifyTypes(variants.map(TYPES[c.name]), sameType) ?? { type: VARCHAR, mixed: false };
        return { name: c.name, ...unified, description: c.description };
      });
      const typed = new Map(columns.map(c => [c.name, c.mixed ? undefined : c.type]));
      const wanted = (filters: readonly Filter[]) => (v: StateVariant) => v.kind === 'timer' && serviceMightMatch(v, filters);
      const pieces = (request: ScanRequest): PieceScan => {
        const filters = [...narrowing, ...request.filters];
        const kept = selectStates(
          operators.map(o => o.operator),
          o => snapshot.statesOf(o),
          filters,
        );
        const types = request.columns.map(p => projectedType(columns, p));
        const writer = new BatchWriter(types, snapshot.timesCut);
        const plans = new Map<StateVariant, VariantPlan>();
        const pump = new KeyedPump(
          {
            operators: kept,
            planOf(variant) {
              if (!wanted(filters)(variant)) return undefined;
              let plan = plans.get(variant);
              if (plan === undefined) {
                plan = { variant, fills: request.columns.map(p => timerFill(variant, p, typed)) };
                plans.set(variant, plan);
              }
              return plan;
            },
            filterOf: (part, states) => {
              const narrowed = keyFilterOf(snapshot, part, states, filters, typed);
              // the key of a timer stands inside it, not in front: only key groups can be pruned
              return narrowed === undefined ? undefined : narrowed.keyGroups === undefined ? {} : { keyGroups: narrowed.keyGroups };
            },
            values: true,
            timers: true,
          },
          snapshot.pumpContext,
          writer,
        );
        return new PieceScan(pump, writer, () => new BatchWriter(types).columns);
      };
      return {
        columns,
        scan: request => scanPieces(pieces(request), snapshot.pieceContext, { table: TIMERS.name, restrictions, columns, request }),
        pieces,
        explain(request) {
          const filters = [...narrowing, ...request.filters];
          const kept = selectStates(
            operators.map(o => o.operator),
            o => snapshot.statesOf(o),
            filters,
          );
          const states = kept.flatMap(o => o.variants.filter(wanted(filters)));
          const scope = keyedScope({
            snapshot,
            operators: kept,
            states,
            of: variants.length,
            filters,
            typed,
            names: OPERATOR_NAMES,
            timers: true,
          });
          const useOf = (f: Filter) =>
            ['timer_service', 'time_domain'].includes(f.column) && (f.op === '=' || f.op === 'in') ? 'exact' : scope.useOf(f);
          return explainScan(TIMERS.name, columns, request, { ...scope, useOf });
        },
      };
    },
  };
}

/** Prunes queues by service and domain. */
function serviceMightMatch(v: StateVariant, filters: readonly Filter[]): boolean {
  const { service, domain } = timerService(v.name);
  for (const f of filters) {
    const text = f.column === 'timer_service' ? service : f.column === 'time_domain' ? domain : undefined;
    if (text === undefined) continue;
    if (f.op === '=' && f.value.kind === 'string' && f.value.value !== text) return false;
    if (f.op === 'in' && f.values.every(x => x.kind === 'string' && x.value !== text)) return false;
  }
  return true;
}

const I64_FLIP = 1n << 63n;
/** The range of DuckDB's timestamps, in milliseconds (contract §2: beyond it a timer is ±infinity). */
const MAX_MS = 9223372036854775n - 1n;
const MIN_MS = -9223372022400000n;

function firesAtMillis(r: KeyedRow): bigint {
  const c = r.cursor.reset(r.entry.bytes, r.timerAt, r.timerAt + 8, Math.max(0, r.entry.base));
  return BigInt.asIntN(64, c.i64() ^ I64_FLIP);
}

/** Milliseconds as TIMESTAMPTZ microseconds, ±infinity outside the range (DuckDB: i64 max and its negative). */
export function pushMillis(out: FixedColumn, ms: bigint): void {
  out.pushI64(ms > MAX_MS ? 0x7fffffffffffffffn : ms < MIN_MS ? -0x7fffffffffffffffn : ms * 1000n);
}

function timerFill(variant: StateVariant, p: Projection, typed: ReadonlyMap<string, SqlType | undefined>): Fill {
  const { shape, operator } = variant;
  const { service, domain } = timerService(variant.name);
  const form = p.form === 'value' && typed.has(p.name) && typed.get(p.name) === undefined ? 'json' : p.form;
  switch (p.name) {
    case 'operator_id':
      return fillText(operator.id);
    case 'operator_uid':
      return fillText(operator.uid);
    case 'operator_name':
      return fillText(operator.name);
    case 'timer_service':
      return fillText(service);
    case 'time_domain':
      return fillText(domain);
    case 'fires_at':
      return (r, out) => pushMillis(out as FixedColumn, firesAtMillis(r));
    case 'fires_at_ms':
      return (r, out) => (out as FixedColumn).pushI64(firesAtMillis(r));
    case 'key':
      return shape.key === undefined ? fillNull : fillPiece(shape.key, form, 'the key', KEY_START, KEY_END);
    case 'namespace':
      return shape.namespace === undefined ? fillNull : fillPiece(shape.namespace, form, 'the namespace', NS_START, NS_END);
    case 'key_group':
      return fillInteger(r => r.entry.keyGroup);
    case 'subtask_index':
      return fillInteger(r => r.part.subtask);
    default:
      throw new Error(`timers has no column ${p.name}`);
  }
}
