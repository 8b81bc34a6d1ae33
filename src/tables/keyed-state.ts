/**
 * keyed_state and keyed_state_raw: one row for each value, list element and map entry. Timers are in `timers`.
 */
import type { FixedColumn } from '../io/column.js';
import { wireOf } from '../serializers/wire.js';
import { JSON_TYPE, type SqlType, sameType, Timestamp, VARCHAR } from '../types.js';
import { BatchWriter, type WriterOptions } from './batch.js';
import { explainScan, keyedScope, OPERATOR_NAMES } from './explain.js';
import { keyFilterOf } from './key-lookup.js';
import {
  type Fill,
  fillBytes,
  fillInteger,
  fillNull,
  fillPiece,
  fillText,
  fillValue,
  KeyedPump,
  type KeyedRow,
  type VariantPlan,
} from './keyed-rows.js';
import { PieceScan, scanPieces } from './pieces.js';
import { restrictionFilters, selectStates, variantMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { KEYED_COLUMNS, KEYED_RAW_COLUMNS } from './spec.js';
import { type StateVariant, unifyTypes } from './states.js';
import type { BoundColumn, BoundTable, Filter, Projection, ScanRequest, Table, TableSpec } from './table.js';

export const KEYED_STATE: TableSpec = {
  name: 'keyed_state',
  aliases: ['KeyedState'],
  description: 'one row for each value, list element or map entry of keyed state',
  columns: KEYED_COLUMNS,
  examples: ["SELECT * FROM keyed_state WHERE key = 'key_662'", 'SELECT state_name, count(*) FROM keyed_state GROUP BY state_name'],
};

export const KEYED_STATE_RAW: TableSpec = {
  name: 'keyed_state_raw',
  aliases: ['KeyedStateRaw'],
  description: 'keyed_state as JSON and as bytes, with columns that never change with the data',
  columns: KEYED_RAW_COLUMNS,
  examples: ["SELECT key_json, value_json FROM keyed_state_raw WHERE state_name = 'count' LIMIT 10"],
};

/** The dynamic columns and the codec type that each has in a state. */
const DYNAMIC: Readonly<Record<string, (v: StateVariant) => SqlType | undefined>> = {
  key: v => v.shape.key?.type,
  namespace: v => v.shape.namespace?.type,
  map_key: v => v.shape.mapKey?.type,
  value: v => v.shape.value.type,
};

/** The types of the dynamic columns over some states: contract §2 "Typing". */
export function bindColumns(
  spec: TableSpec,
  variants: readonly StateVariant[],
  dynamic: Readonly<Record<string, (v: StateVariant) => SqlType | undefined>>,
): BoundColumn[] {
  return spec.columns.map(column => {
    if (column.type !== 'dynamic') {
      return { name: column.name, type: column.type, mixed: false, description: column.description };
    }
    const unified = unifyTypes(variants.map(dynamic[column.name]), sameType) ?? { type: VARCHAR, mixed: false };
    return { name: column.name, ...unified, description: column.description };
  });
}

/** The type of the column that a projection is filled into. */
export function projectedType(bound: readonly BoundColumn[], p: Projection): SqlType {
  if (p.form === 'text') return VARCHAR;
  if (p.form === 'json') return JSON_TYPE;
  const column = bound.find(c => c.name === p.name);
  if (column === undefined) throw new Error(`no column ${p.name}`);
  return column.type;
}

export function keyedStateTable(snapshot: OpenedSnapshot, spec: TableSpec = KEYED_STATE): Table {
  return {
    spec,
    bind(restrictions): BoundTable {
      const narrowing = restrictionFilters(restrictions);
      const operators = selectStates(snapshot.operators, o => snapshot.statesOf(o), narrowing);
      const keyed = (filters: readonly Filter[]) => (v: StateVariant) => v.kind === 'keyed' && variantMightMatch(v, filters);
      const variants = operators.flatMap(o => o.variants.filter(keyed(narrowing)));
      const columns = bindColumns(spec, variants, DYNAMIC);
      const typed = new Map(columns.map(c => [c.name, c.mixed ? undefined : c.type]));
      const pieces = (request: ScanRequest): PieceScan => {
        const filters = [...narrowing, ...request.filters];
        const kept = selectStates(
          operators.map(o => o.operator),
          o => snapshot.statesOf(o),
          filters,
        );
        const fillsOf = (variant: StateVariant) => request.columns.map(p => keyedFill(snapshot, variant, p, typed));
        const plans = new Map<StateVariant, VariantPlan | undefined>(
          variants.filter(keyed(filters)).map(variant => [variant, { variant, fills: fillsOf(variant) }]),
        );
        const constants = request.constants === true;
        const options: WriterOptions = {
          fields: request.columns.map(p => (leavesOut(variants, p) ? p.fields : undefined)),
          absent: request.columns.map((_, i) => constants && [...plans.values()].every(plan => plan?.fills[i] === fillNull)),
          constants,
        };
        const types = request.columns.map(p => projectedType(columns, p));
        const writer = new BatchWriter(types, snapshot.timesCut, options);
        const needed = request.columns.map(p => p.name);
        const pump = new KeyedPump(
          {
            operators: kept,
            planOf(variant) {
              if (!plans.has(variant)) {
                plans.set(variant, keyed(filters)(variant) ? { variant, fills: fillsOf(variant) } : undefined);
              }
              return plans.get(variant);
            },
            filterOf: (part, wanted) => keyFilterOf(snapshot, part, wanted, filters, typed),
            values: needed.some(n => VALUE_COLUMNS.has(n)),
            split: needed.some(n => KEY_COLUMN.test(n)),
            counts: needed.length === 0,
          },
          snapshot.pumpContext,
          writer,
        );
        return new PieceScan(pump, writer, () => new BatchWriter(types, undefined, options).columns);
      };
      return {
        columns,
        scan: request => scanPieces(pieces(request), snapshot.pieceContext, { table: spec.name, restrictions, columns, request }),
        pieces,
        explain: request => {
          const filters = [...narrowing, ...request.filters];
          const kept = selectStates(snapshot.operators, o => snapshot.statesOf(o), filters);
          const scope = keyedScope({
            snapshot,
            operators: kept,
            states: kept.flatMap(o => o.variants.filter(keyed(filters))),
            of: operators.flatMap(o => o.variants).filter(v => v.kind === 'keyed').length,
            filters,
            typed,
            names: [...OPERATOR_NAMES, 'state_name', 'state_kind'],
          });
          return explainScan(spec.name, columns, request, scope);
        },
      };
    },
  };
}

/** columns that need the key, the namespace or the map key */
const KEY_COLUMN = /^(key|namespace|map_key)(_json|_bytes)?$/;

/** Whether the codecs of a column leave out the fields of a STRUCT that nobody reads. */
function leavesOut(variants: readonly StateVariant[], p: Projection): boolean {
  if (p.form !== 'value' || p.fields === undefined) return false;
  if (p.name !== 'value' && p.name !== 'key' && p.name !== 'map_key') return false;
  const { name } = p;
  return variants.every(({ shape }) => {
    const codec = name === 'value' ? shape.value : name === 'key' ? shape.key : shape.mapKey;
    return codec === undefined || wireOf(codec)?.kind === 'parts';
  });
}

/** columns that need the bytes of the value */
const VALUE_COLUMNS = new Set(['value', 'value_json', 'value_bytes', 'value_size', 'ttl_last_access', 'ttl_expires_at', 'ttl_expired']);

/** What fills one projected column for the rows of one state. */
export function keyedFill(
  snapshot: OpenedSnapshot,
  variant: StateVariant,
  p: Projection,
  typed: ReadonlyMap<string, SqlType | undefined>,
): Fill {
  const { shape, operator } = variant;
  const form = p.form === 'value' && typed.get(p.name)?.kind === undefined && DYNAMIC[p.name] !== undefined ? 'json' : p.form;
  switch (p.name) {
    case 'operator_id':
      return fillText(operator.id);
    case 'operator_uid':
      return fillText(operator.uid);
    case 'operator_name':
      return fillText(operator.name);
    case 'state_name':
      return fillText(variant.name);
    case 'key':
      return shape.key === undefined ? fillNull : fillPiece(shape.key, form, 'the key', KEY_START, KEY_END);
    case 'key_json':
      return shape.key === undefined ? fillNull : fillPiece(shape.key, 'json', 'the key', KEY_START, KEY_END);
    case 'key_bytes':
      return fillBytes(KEY_START, KEY_END);
    case 'namespace':
      return shape.namespace === undefined ? fillNull : fillPiece(shape.namespace, form, 'the namespace', NS_START, NS_END);
    case 'namespace_json':
      return shape.namespace === undefined ? fillNull : fillPiece(shape.namespace, 'json', 'the namespace', NS_START, NS_END);
    case 'namespace_bytes':
      return fillBytes(NS_START, NS_END);
    case 'map_key':
      return shape.mapKey === undefined
        ? fillNull
        : fillPiece(
            shape.mapKey,
            form,
            'the map key',
            r => r.mapKeyStart,
            r => r.mapKeyEnd,
          );
    case 'map_key_json':
      return shape.mapKey === undefined
        ? fillNull
        : fillPiece(
            shape.mapKey,
            'json',
            'the map key',
            r => r.mapKeyStart,
            r => r.mapKeyEnd,
          );
    case 'map_key_bytes':
      return fillBytes(
        r => r.mapKeyStart,
        r => r.mapKeyEnd,
      );
    case 'value':
      return fillValue(shape.value, form);
    case 'value_json':
      return fillValue(shape.value, 'json');
    case 'value_bytes':
      return fillBytes(VALUE_START, VALUE_END);
    case 'value_size':
      return fillInteger(r => (r.valueStart < 0 ? undefined : r.valueEnd - r.valueStart));
    case 'list_index':
      return fillInteger(r => (r.listIndex < 0 ? undefined : r.listIndex));
    case 'key_group':
      return fillInteger(r => r.entry.keyGroup);
    case 'subtask_index':
      return fillInteger(r => r.part.subtask);
    case 'ttl_last_access':
      return (r, out) => (r.ttlAt < 0 ? out.pushNull() : out.push(Timestamp.ofMillis(lastAccess(r))));
    case 'ttl_expires_at': {
      const ttl = snapshot.ttlOf(variant);
      if (ttl === undefined) return fillNull;
      return (r, out) => (r.ttlAt < 0 ? out.pushNull() : out.push(Timestamp.ofBoundMillis(lastAccess(r) + ttl)));
    }
    case 'ttl_expired': {
      const ttl = snapshot.ttlOf(variant);
      if (ttl === undefined) return fillNull;
      const now = snapshot.asOfMillis;
      return (r, out) => (r.ttlAt < 0 ? out.pushNull() : (out as FixedColumn).pushI8(lastAccess(r) + ttl <= now ? 1 : 0));
    }
    default:
      throw new Error(`keyed_state has no column ${p.name}`);
  }
}

export const KEY_START = (r: KeyedRow): number => r.keyStart;
export const KEY_END = (r: KeyedRow): number => r.keyEnd;
export const NS_START = (r: KeyedRow): number => r.namespaceStart;
export const NS_END = (r: KeyedRow): number => r.namespaceEnd;
export const VALUE_START = (r: KeyedRow): number => r.valueStart;
export const VALUE_END = (r: KeyedRow): number => r.valueEnd;

/** The i64 of milliseconds before a value with TTL. */
function lastAccess(r: KeyedRow): bigint {
  const c = r.cursor.reset(r.entry.bytes, r.ttlAt, r.ttlAt + 8, Math.max(0, r.entry.base));
  return c.i64();
}
