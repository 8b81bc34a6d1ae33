/**
 * operator_state, operator_state_all and operator_state_raw: elements of list and union state, entries of broadcast state.
 *
 * Every subtask of a broadcast state stores a full copy: operator_state shows the first that has it, operator_state_all each.
 */
import { CorruptError, SqlError, StateQueryError } from '../errors.js';
import type { BytesColumn, Column, FixedColumn } from '../io/column.js';
import { Cursor } from '../io/cursor.js';
import { jsonOf, textOf } from '../io/json.js';
import type { Codec } from '../serializers/codec.js';
import type { OperatorElement, OperatorStateReader } from '../state/entry.js';
import { openOperatorState } from '../state/open.js';
import { JsonText, type SqlType } from '../types.js';
import { BatchWriter, scanOf } from './batch.js';
import { elementScope, explainScan, OPERATOR_NAMES } from './explain.js';
import { isDamage } from './keyed-rows.js';
import { bindColumns, projectedType } from './keyed-state.js';
import { restrictionFilters, selectStates, variantMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { OPERATOR_STATE_COLUMNS, OPERATOR_STATE_RAW_COLUMNS } from './spec.js';
import type { OperatorPart, OperatorStates, StateVariant } from './states.js';
import type { BoundTable, Filter, Projection, Scan, ScanRequest, Table, TableSpec } from './table.js';

export const OPERATOR_STATE: TableSpec = {
  name: 'operator_state',
  aliases: ['OperatorState'],
  description: 'one row for each element of list and union state and each entry of broadcast state (of one subtask)',
  columns: OPERATOR_STATE_COLUMNS,
  examples: ["SELECT subtask_index, value FROM operator_state WHERE state_name = 'offsets'"],
};
export const OPERATOR_STATE_ALL: TableSpec = {
  ...OPERATOR_STATE,
  name: 'operator_state_all',
  aliases: [],
  description: "operator_state with every subtask's copy of broadcast state",
  examples: ['SELECT subtask_index, count(*) FROM operator_state_all GROUP BY subtask_index'],
};
export const OPERATOR_STATE_RAW: TableSpec = {
  name: 'operator_state_raw',
  aliases: ['OperatorStateRaw'],
  description: 'operator_state as JSON and as bytes, with columns that never change with the data',
  columns: OPERATOR_STATE_RAW_COLUMNS,
  examples: ['SELECT state_name, value_bytes FROM operator_state_raw'],
};

const DYNAMIC: Readonly<Record<string, (v: StateVariant) => SqlType | undefined>> = {
  map_key: v => v.shape.mapKey?.type,
  value: v => v.shape.value.type,
};

const isOperatorState = (v: StateVariant) => v.kind === 'operator' || v.kind === 'broadcast';

export function operatorStateTable(snapshot: OpenedSnapshot, spec: TableSpec = OPERATOR_STATE): Table {
  const allCopies = spec.name === OPERATOR_STATE_ALL.name;
  return {
    spec,
    bind(restrictions): BoundTable {
      const narrowing = restrictionFilters(restrictions);
      const selected = (filters: readonly Filter[]) => {
        const operators = selectStates(snapshot.operators, o => snapshot.statesOf(o), filters);
        const wanted = (v: StateVariant) => isOperatorState(v) && variantMightMatch(v, filters);
        return { operators, wanted, variants: operators.flatMap(o => o.variants.filter(wanted)) };
      };
      const columns = bindColumns(spec, selected(narrowing).variants, DYNAMIC);
      return {
        columns,
        scan(request): Scan {
          const { operators, wanted } = selected([...narrowing, ...request.filters]);
          const writer = new BatchWriter(
            request.columns.map(p => projectedType(columns, p)),
            snapshot.timesCut,
          );
          const rows = operatorRows(snapshot, operators, wanted, allCopies, writer, request.columns);
          return scanOf(
            writer,
            () => rows.next().done !== true,
            () => void rows.return(undefined),
            request.limit,
          );
        },
        explain: (request: ScanRequest) => {
          const { operators, variants } = selected([...narrowing, ...request.filters]);
          const all = operators.flatMap(o => o.variants.filter(isOperatorState));
          return explainScan(spec.name, columns, request, elementScope(snapshot, operators, variants, all.length, NAMES));
        },
      };
    },
  };
}

const NAMES = [...OPERATOR_NAMES, 'state_name', 'state_kind', 'distribution_mode'];

interface ElementRow {
  readonly part: OperatorPart;
  readonly variant: StateVariant;
  readonly element: OperatorElement;
  readonly cursor: Cursor;
}
type ElementFill = (row: ElementRow, out: Column) => void;

/** Writes a row at each step. */
function* operatorRows(
  snapshot: OpenedSnapshot,
  operators: readonly OperatorStates[],
  wanted: (v: StateVariant) => boolean,
  allCopies: boolean,
  writer: BatchWriter,
  projections: readonly Projection[],
): Generator<undefined, undefined, undefined> {
  const { pumpContext } = snapshot;
  const fills = new Map<StateVariant, readonly ElementFill[]>();
  const cursor = new Cursor(new Uint8Array(0));
  for (const states of operators) {
    const broadcastDone = new Set<string>();
    for (const part of states.managed) {
      let reader: OperatorStateReader | undefined;
      try {
        const problem = states.problems.find(p => p.kind === 'operator' && p.subtask === part.subtask);
        if (problem !== undefined) throw problem.error;
        const opened = openOperatorState(part.handle, snapshot.contextOf(part));
        reader = opened;
        for (const state of opened.header.states) {
          const variant = states.variantOf(undefined, state);
          if (variant === undefined || !wanted(variant)) continue;
          if (variant.kind === 'broadcast' && !allCopies && broadcastDone.has(state.name)) continue;
          if (variant.kind === 'broadcast') broadcastDone.add(state.name);
          let compiled = fills.get(variant);
          if (compiled === undefined) {
            compiled = projections.map(p => elementFill(variant, p));
            fills.set(variant, compiled);
          }
          for (const element of opened.elements(state)) {
            pumpContext.stats.entriesDecoded++;
            const row = { part, variant, element, cursor };
            try {
              for (let i = 0; i < compiled.length; i++) compiled[i](row, writer.columns[i]);
            } catch (error) {
              writer.rollback();
              const explained = explain(error, row);
              if (!pumpContext.skipDamaged || !isDamage(explained)) throw explained;
              pumpContext.damaged(explained);
              continue;
            }
            writer.rows++;
            yield undefined;
          }
        }
      } catch (error) {
        if (!(error instanceof StateQueryError) || !pumpContext.skipDamaged || !isDamage(error)) throw error;
        pumpContext.damaged(error);
      } finally {
        reader?.close();
      }
    }
  }
  return undefined;
}

function explain(error: unknown, { part, variant, element }: ElementRow): StateQueryError {
  if (!(error instanceof StateQueryError) || error.where !== undefined) throw error;
  const where = `operator ${part.operator.uid ?? part.operator.id}, subtask ${part.subtask}, state ${variant.name}, element ${element.index}`;
  const details = {
    where,
    cause: error,
    ...(error.file === undefined ? {} : { file: error.file }),
    ...(error.offset === undefined ? {} : { offset: error.offset }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
  if (error instanceof SqlError) return new SqlError('VALUE_OUT_OF_RANGE', error.message, details);
  return error instanceof CorruptError ? new CorruptError(error.message, details) : error;
}

function elementFill(variant: StateVariant, p: Projection): ElementFill {
  const { shape, operator } = variant;
  const broadcast = variant.kind === 'broadcast';
  const text = (s: string | null): ElementFill => {
    if (s === null) return (_r, out) => out.pushNull();
    const bytes = Buffer.from(s, 'utf8');
    return (_r, out) => (out as BytesColumn).pushBytes(bytes, 0, bytes.length);
  };
  const nothing: ElementFill = (_r, out) => out.pushNull();
  const from = (r: ElementRow) => (broadcast ? r.element.valueStart : r.element.start);
  const to = (r: ElementRow) => (broadcast ? r.element.valueEnd : r.element.end);
  const keyFrom = (r: ElementRow) => r.element.start;
  const keyTo = (r: ElementRow) => r.element.end;
  switch (p.name) {
    case 'operator_id':
      return text(operator.id);
    case 'operator_uid':
      return text(operator.uid);
    case 'operator_name':
      return text(operator.name);
    case 'state_name':
      return text(variant.name);
    case 'distribution_mode':
      return text(variant.registered.mode ?? (broadcast ? 'BROADCAST' : null));
    case 'subtask_index':
      return (r, out) => (out as FixedColumn).pushI32(r.part.subtask);
    case 'list_index':
      return broadcast ? nothing : (r, out) => (out as FixedColumn).pushI64Number(r.element.index);
    case 'map_key':
      return shape.mapKey === undefined ? nothing : piece(shape.mapKey, p.form, 'the broadcast key', keyFrom, keyTo);
    case 'map_key_json':
      return shape.mapKey === undefined ? nothing : piece(shape.mapKey, 'json', 'the broadcast key', keyFrom, keyTo);
    case 'map_key_bytes':
      return broadcast ? bytes(keyFrom, keyTo) : nothing;
    case 'value':
      return piece(shape.value, p.form, 'the element', from, to);
    case 'value_json':
      return piece(shape.value, 'json', 'the element', from, to);
    case 'value_bytes':
      return bytes(from, to);
    case 'value_size':
      return (r, out) => (out as FixedColumn).pushI64Number(to(r) - from(r));
    default:
      throw new Error(`operator_state has no column ${p.name}`);
  }
}

function bytes(from: (r: ElementRow) => number, to: (r: ElementRow) => number): ElementFill {
  return (r, out) => (out as BytesColumn).pushBytes(r.element.bytes, from(r), to(r));
}

function piece(
  codec: Codec,
  form: Projection['form'],
  what: string,
  from: (r: ElementRow) => number,
  to: (r: ElementRow) => number,
): ElementFill {
  const begin = (r: ElementRow) => r.cursor.reset(r.element.bytes, from(r), to(r), Math.max(0, r.element.base));
  if (form === 'value') {
    return (r, out) => {
      const c = begin(r);
      codec.append(c, out);
      c.expectEnd(what);
    };
  }
  return (r, out) => {
    const c = begin(r);
    const value = codec.read(c);
    c.expectEnd(what);
    if (value === null) out.pushNull();
    else if (value instanceof JsonText && form === 'json') (out as BytesColumn).pushString(value.text);
    else (out as BytesColumn).pushString((form === 'json' ? jsonOf : textOf)(codec.type, value));
  };
}
