/**
 * windows: keyed state whose namespace is a window, with the window's real bounds.
 *
 *   namespace                    window_kind   window_start, window_end
 *   TimeWindow                   time          as stored
 *   TimeWindow of a session      merged        looked up: state is kept under the session's first window, the mapping state
 *                                              has the merged one (`merging-window-set` list of (merged, stored);
 *                                              SQL: `session-window-mapping` map merged → stored)
 *   Long (SQL window TVF)        slice         end only
 *   CountWindow                  count         window_id
 *   GlobalWindow                 global        NULL
 *
 * Flink: MergingWindowSet, runtime.operators.window (1.20).
 */
import type { BytesColumn, FixedColumn } from '../io/column.js';
import { Cursor } from '../io/cursor.js';
import type { ReadStats } from '../io/source.js';
import type { KeyedStateReader } from '../state/entry.js';
import { BIGINT, type SqlType, sameType, TIMESTAMPTZ, VARCHAR } from '../types.js';
import { BatchWriter, scanOf } from './batch.js';
import { explainScan, keyedScope, OPERATOR_NAMES } from './explain.js';
import { keyFilterOf } from './key-lookup.js';
import { type Fill, fillNull, fillText, KeyedPump, type KeyedRow, type VariantPlan } from './keyed-rows.js';
import { keyedFill, projectedType } from './keyed-state.js';
import { restrictionFilters, selectStates, variantMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, LIST_INDEX, OPERATOR_COLUMNS, STATE_NAME } from './spec.js';
import { type OperatorStates, type StateVariant, unifyTypes } from './states.js';
import type { BoundColumn, BoundTable, Filter, Projection, Scan, Table, TableSpec } from './table.js';
import { pushMillis } from './timers.js';

export const WINDOWS: TableSpec = {
  name: 'windows',
  aliases: ['Windows'],
  description: 'keyed state of windows, with the bounds of each window',
  columns: [
    ...OPERATOR_COLUMNS,
    STATE_NAME,
    column('key', 'dynamic', 'key of the keyed stream'),
    column('window_kind', VARCHAR, 'time, merged (a session), slice (SQL), count or global'),
    column('window_start', TIMESTAMPTZ, 'start of the window; of the merged one for sessions'),
    column('window_end', TIMESTAMPTZ, 'end of the window, exclusive'),
    column('state_window_start', TIMESTAMPTZ, 'start of the window that the state is stored under'),
    column('state_window_end', TIMESTAMPTZ, 'end of the window that the state is stored under'),
    column('window_start_ms', BIGINT, 'window_start in milliseconds since 1970'),
    column('window_end_ms', BIGINT, 'window_end in milliseconds since 1970'),
    column('window_id', BIGINT, 'id of a count window'),
    column('map_key', 'dynamic', 'key of the map entry; NULL unless it is a map'),
    LIST_INDEX,
    column('value', 'dynamic', 'value, list element or map value'),
  ],
  examples: ['SELECT key, window_start, window_end, value FROM windows ORDER BY window_end LIMIT 10'],
};

type WindowKind = 'time' | 'slice' | 'count' | 'global';

/** What kind of window the namespace of a state is; undefined: none. */
export function windowKindOf(v: StateVariant): WindowKind | undefined {
  if (v.kind !== 'keyed') return undefined;
  const snapshot = v.registered.namespace;
  if (snapshot === undefined) return undefined;
  const name = snapshot.snapshotClass;
  if (name.includes('TimeWindow$')) return 'time';
  if (name.includes('CountWindow$')) return 'count';
  if (name.includes('GlobalWindow$')) return 'global';
  return snapshot.serializer === 'LongSerializer' ? 'slice' : undefined;
}

const MAPPING_STATES = new Set(['merging-window-set', 'session-window-mapping']);

const TYPES: Readonly<Record<string, (v: StateVariant) => SqlType | undefined>> = {
  key: v => v.shape.key?.type,
  map_key: v => v.shape.mapKey?.type,
  value: v => v.shape.value.type,
};

/** (key, stored window) → merged window, of one key group. */
class MergedWindows {
  private readonly windows = new Map<string, readonly [bigint, bigint]>();

  constructor(private readonly stats: ReadStats) {}

  load(states: OperatorStates, reader: KeyedStateReader, keyGroup: number): void {
    this.windows.clear();
    const ids = new Set<number>();
    const variants = new Map<number, StateVariant>();
    for (const state of reader.header.states) {
      if (!MAPPING_STATES.has(state.name) || state.kind !== 'keyed') continue;
      const variant = states.variantOf(reader.header.key, state);
      if (variant === undefined) continue;
      ids.add(state.id);
      variants.set(state.id, variant);
    }
    if (ids.size === 0) return;
    const entries = reader.entries({ states: ids, keyGroups: new Set([keyGroup]), values: true });
    const c = new Cursor(new Uint8Array(0));
    try {
      while (entries.next()) {
        this.stats.entriesDecoded++;
        const form = (variants.get(entries.state) as StateVariant).shape;
        const ttl = form.ttl ? 8 : 0;
        const key = keyText(entries.bytes, entries.keyStart, entries.keyEnd);
        const pair = () => {
          const merged = [c.i64(), c.i64()] as const;
          return merged;
        };
        c.reset(entries.bytes, entries.valueStart, entries.valueEnd, Math.max(0, entries.base));
        if (form.form === 'list') {
          let left = reader.layout === 'heap' ? c.count('number of windows', 32) : Number.POSITIVE_INFINITY;
          while (left > 0 && c.remaining > 0) {
            c.take(ttl, 'time of the last access');
            const merged = pair();
            const [start, end] = pair();
            this.windows.set(`${key}/${start}/${end}`, merged);
            left--;
            if (reader.layout !== 'heap' && c.remaining > 0) c.take(1, 'delimiter');
          }
        } else if (form.form === 'map' && reader.layout === 'heap') {
          for (let n = c.count('number of windows', 17); n > 0; n--) {
            const merged = pair();
            if (c.bool()) continue;
            c.take(ttl, 'time of the last access');
            const [start, end] = pair();
            this.windows.set(`${key}/${start}/${end}`, merged);
          }
        } else if (form.form === 'map') {
          if (c.bool()) continue;
          c.take(ttl, 'time of the last access');
          const [start, end] = pair();
          c.reset(entries.bytes, entries.userKeyStart, entries.userKeyEnd, Math.max(0, entries.base));
          this.windows.set(`${key}/${start}/${end}`, pair());
        }
      }
    } finally {
      entries.close();
    }
  }

  of(r: KeyedRow, start: bigint, end: bigint): readonly [bigint, bigint] | undefined {
    return this.windows.size === 0 ? undefined : this.windows.get(`${keyText(r.entry.bytes, r.keyStart, r.keyEnd)}/${start}/${end}`);
  }
}

function keyText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

export function windowsTable(snapshot: OpenedSnapshot): Table {
  return {
    spec: WINDOWS,
    bind(restrictions): BoundTable {
      const narrowing = restrictionFilters(restrictions);
      const operators = selectStates(snapshot.operators, o => snapshot.statesOf(o), narrowing);
      const wanted = (filters: readonly Filter[]) => (v: StateVariant) => windowKindOf(v) !== undefined && variantMightMatch(v, filters);
      const variants = operators.flatMap(o => o.variants.filter(wanted(narrowing)));
      const columns: BoundColumn[] = WINDOWS.columns.map(c => {
        if (c.type !== 'dynamic') return { name: c.name, type: c.type, mixed: false, description: c.description };
        const unified = unifyTypes(variants.map(TYPES[c.name]), sameType) ?? { type: VARCHAR, mixed: false };
        return { name: c.name, ...unified, description: c.description };
      });
      const typed = new Map(columns.map(c => [c.name, c.mixed ? undefined : c.type]));
      return {
        columns,
        scan(request): Scan {
          const filters = [...narrowing, ...request.filters];
          const writer = new BatchWriter(
            request.columns.map(p => projectedType(columns, p)),
            snapshot.timesCut,
          );
          const merged = new MergedWindows(snapshot.stats);
          const plans = new Map<StateVariant, VariantPlan | undefined>();
          const pump = new KeyedPump(
            {
              operators: selectStates(
                operators.map(o => o.operator),
                o => snapshot.statesOf(o),
                filters,
              ),
              planOf(variant) {
                if (!plans.has(variant)) {
                  plans.set(
                    variant,
                    wanted(filters)(variant)
                      ? { variant, fills: request.columns.map(p => windowFill(snapshot, variant, p, typed, merged)) }
                      : undefined,
                  );
                }
                return plans.get(variant);
              },
              filterOf: (part, states) => keyFilterOf(snapshot, part, states, filters, typed),
              values: true,
              slicesOf(part, states) {
                if (!states.variants.some(v => MAPPING_STATES.has(v.name)) || !('range' in part.handle)) return undefined;
                const { first, count } = part.handle.range;
                return Array.from({ length: count }, (_, i) => first + i);
              },
              before: (_part, states, reader, keyGroup) => merged.load(states, reader, keyGroup),
            },
            snapshot.pumpContext,
            writer,
          );
          return scanOf(
            writer,
            () => pump.step(),
            () => pump.close(),
            request.limit,
          );
        },
        explain(request) {
          const filters = [...narrowing, ...request.filters];
          const states = operators.flatMap(o => o.variants.filter(wanted(filters)));
          const scope = keyedScope({
            snapshot,
            operators,
            states,
            of: variants.length,
            filters,
            typed,
            names: [...OPERATOR_NAMES, 'state_name', 'state_kind'],
          });
          return explainScan(WINDOWS.name, columns, request, scope);
        },
      };
    },
  };
}

/** Start and end as stored in the namespace of a time window. */
function storedWindow(r: KeyedRow): readonly [bigint, bigint] {
  const c = r.cursor.reset(r.entry.bytes, r.namespaceStart, r.namespaceEnd, Math.max(0, r.entry.base));
  return [c.i64(), c.i64()];
}

function windowFill(
  snapshot: OpenedSnapshot,
  variant: StateVariant,
  p: Projection,
  typed: ReadonlyMap<string, SqlType | undefined>,
  merged: MergedWindows,
): Fill {
  const kind = windowKindOf(variant) as WindowKind;
  const bound = (which: 0 | 1, of: (r: KeyedRow) => readonly [bigint, bigint], millis: boolean): Fill => {
    if (kind === 'slice' && which === 1) {
      return (r, out) => {
        const c = r.cursor.reset(r.entry.bytes, r.namespaceStart, r.namespaceEnd, Math.max(0, r.entry.base));
        const end = c.i64();
        if (millis) (out as FixedColumn).pushI64(end);
        else pushMillis(out as FixedColumn, end);
      };
    }
    if (kind !== 'time') return fillNull;
    return (r, out) => {
      const ms = of(r)[which];
      if (millis) (out as FixedColumn).pushI64(ms);
      else pushMillis(out as FixedColumn, ms);
    };
  };
  const real = (r: KeyedRow) => {
    const stored = storedWindow(r);
    return merged.of(r, stored[0], stored[1]) ?? stored;
  };
  switch (p.name) {
    case 'window_kind':
      if (kind !== 'time') return fillText(kind);
      return (r, out) => {
        const [start, end] = storedWindow(r);
        (out as BytesColumn).pushString(merged.of(r, start, end) === undefined ? 'time' : 'merged');
      };
    case 'window_start':
      return bound(0, real, false);
    case 'window_end':
      return bound(1, real, false);
    case 'window_start_ms':
      return bound(0, real, true);
    case 'window_end_ms':
      return bound(1, real, true);
    case 'state_window_start':
      return bound(0, storedWindow, false);
    case 'state_window_end':
      return bound(1, storedWindow, false);
    case 'window_id':
      if (kind !== 'count') return fillNull;
      return (r, out) => {
        const c = r.cursor.reset(r.entry.bytes, r.namespaceStart, r.namespaceEnd, Math.max(0, r.entry.base));
        (out as FixedColumn).pushI64(c.i64());
      };
    default:
      return keyedFill(snapshot, variant, p, typed);
  }
}
