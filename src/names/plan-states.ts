/**
 * The columns of the states of each exec node, by the name of the state. Keys are rows of the columns that the node groups, joins or
 * partitions by; values are rows of its input, accumulators, or what a form of the operator puts around them.
 *
 * Where an operator has several forms of a state (a join's records by unique keys or without, inner or outer), each is offered and the
 * types in the snapshot decide.
 *
 * Flink: StreamExec* nodes of flink-table-planner and the operators of flink-table-runtime that they make (1.15–2.3).
 */
import type { LogicalField } from '../serializers/table/logical-type.js';
import { type Aggregates, accumulatorNames, aggregateCalls, distinctKeys, integers } from './aggregates.js';
import { expectKind, expectType, listOf, mapOf, type NamedColumn, type NameTree, row } from './name-tree.js';
import type { PlanJson, PlanNode } from './plan.js';
import { planType } from './plan-types.js';
import type { OperatorNaming, StateNames, StateToName } from './state-names.js';

type Columns = readonly LogicalField[];
/** names of the state's value (and map key), without the operator's key */
type ValueNames = Omit<StateNames, 'key'>;

interface NodeStates {
  /** columns of the key; undefined: the node tells nothing of it */
  readonly key: Columns | undefined;
  readonly states: (name: string) => readonly ValueNames[] | undefined;
}

const BIGINT: NameTree = { kind: 'scalar', type: expectKind('BIGINT') };
const INTEGER: NameTree = { kind: 'scalar', type: expectKind('INTEGER') };
const BOOLEAN: NameTree = { kind: 'scalar', type: expectKind('BOOLEAN') };
const SMALL = expectKind('INTEGER');
/** a field that has its name in the snapshot */
const KEEP: NamedColumn = {};

const columnsOf = (node: PlanNode | undefined): Columns => node?.columns ?? [];
const rowOf = (columns: Columns): NameTree => row(columns.map((c): NamedColumn => ({ name: c.name, type: expectType(c.type) })));
const tuple = (...columns: readonly NamedColumn[]): NameTree => row(columns);
const object = (value: unknown): PlanJson => (typeof value === 'object' && value !== null ? (value as PlanJson) : {});

/** Columns at these places; undefined when one is not there. */
function pick(columns: Columns, places: readonly number[]): Columns | undefined {
  const found = places.map(i => columns[i]);
  return found.includes(undefined as never) ? undefined : found;
}
function pickRow(columns: Columns, places: readonly number[]): NameTree[] {
  const found = pick(columns, places);
  return found === undefined ? [] : [rowOf(found)];
}

/** What a plan knows of the states of an operator. @param uid which of the node's operators it is */
export function planNaming(node: PlanNode, uid: string, source: string): OperatorNaming {
  let found: NodeStates | undefined;
  return {
    source,
    namesOf(state: StateToName): readonly StateNames[] {
      found ??= statesOf(node, uid);
      if (state.kind === 'operator' || state.kind === 'broadcast') return found.states(state.name) ?? [];
      const key = found.key === undefined ? {} : { key: rowOf(found.key) };
      const values = state.kind === 'timer' ? undefined : found.states(state.name);
      if (values === undefined || values.length === 0) return found.key === undefined ? [] : [key];
      return values.map(v => ({ ...key, ...v }));
    },
    remark: (state, value) =>
      node.type === 'process-table-function' &&
      state.kind === 'keyed' &&
      value.kind === 'STRUCT' &&
      value.fields.some(f => /^f\d+$/.test(f.name))
        ? 'the names of its fields are in the class of the function, not in the plan'
        : undefined,
  };
}

function statesOf(node: PlanNode, uid: string): NodeStates {
  const { json } = node;
  const input = columnsOf(node.inputs[0]);
  switch (node.type) {
    case 'group-aggregate':
    case 'group-table-aggregate':
    case 'python-group-aggregate':
    case 'python-group-table-aggregate':
    case 'window-aggregate':
    case 'group-window-aggregate':
    case 'python-group-window-aggregate':
      return aggregate(json, pick(input, integers(json['grouping'])), input);
    case 'global-group-aggregate':
    case 'global-window-aggregate': {
      const original = planType(json['localAggInputRowType']);
      return aggregate(json, pick(input, integers(json['grouping'])), original.kind === 'ROW' ? original.fields : []);
    }
    case 'incremental-group-aggregate': {
      const original = planType(json['partialLocalAggInputRowType']);
      const calls = {
        aggCalls: json['partialOriginalAggCalls'],
        aggCallNeedRetractions: json['partialAggCallNeedRetractions'],
        needRetraction: json['partialAggNeedRetraction'],
      };
      return aggregate(calls, pick(input, integers(json['partialAggGrouping'])), original.kind === 'ROW' ? original.fields : []);
    }
    case 'over-aggregate':
    case 'python-over-aggregate':
      return overAggregate(json, input);
    case 'deduplicate':
    case 'changelog-normalize':
      return {
        key: pick(input, integers(json['uniqueKeys'])),
        states: byName({
          'deduplicate-state': [{ value: rowOf(input) }, { value: BOOLEAN }],
          'waiting-to-emit-on-timer': [{ value: rowOf(input) }],
          'first-row-state': [{ value: rowOf(input) }],
        }),
      };
    case 'rank':
    case 'limit':
    case 'sort-limit':
      return rank(json, input);
    case 'window-rank':
      return {
        key: pick(input, integers(object(json['partitionSpec'])['fields'])),
        states: byName({ window_rank: sortKeys(json['sortSpec'], input).map(mapKey => ({ mapKey, value: listOf(rowOf(input)) })) }),
      };
    case 'window-deduplicate':
      return {
        key: pick(input, integers(json['partitionKeys'])),
        states: byName({ window_deduplicate: [{ value: rowOf(input) }] }),
      };
    case 'window-table-function':
      return windowTableFunction(json, input);
    case 'join':
    case 'window-join':
      return join(json, input, columnsOf(node.inputs[1]));
    case 'interval-join':
      return intervalJoin(object(object(json['intervalJoinSpec'])['joinSpec']), input, columnsOf(node.inputs[1]));
    case 'temporal-join': {
      const right = columnsOf(node.inputs[1]);
      return {
        key: pick(input, integers(object(json['joinSpec'])['leftKeys'])),
        states: byName({
          left: [{ value: rowOf(input) }],
          right: [{ value: rowOf(right) }],
        }),
      };
    }
    case 'multi-join':
      return multiJoin(node);
    case 'delta-join':
      return deltaJoin(json, input, columnsOf(node.inputs[1]));
    case 'lookup-join':
      return lookupJoin(node, input);
    case 'match':
      return match(json, input);
    case 'sort':
    case 'temporal-sort':
      return {
        key: [],
        states: byName({
          sortState: [{ value: rowOf(input) }],
          dataState: [{ value: listOf(rowOf(input)) }, { value: rowOf(input) }],
        }),
      };
    case 'process-table-function':
      return processTableFunction(node);
    case 'sink':
      return sink(json, input, uid);
    case 'async-calc':
    case 'async-correlate':
    case 'ml-predict-table-function':
    case 'vector-search-table-function':
      return { key: undefined, states: byName({ [ASYNC_STATE]: [{ value: streamRecord(rowOf(input)) }] }) };
    default:
      return { key: undefined, states: () => undefined };
  }
}

const ASYNC_STATE = '_async_wait_operator_state_';
const streamRecord = (value: NameTree): NameTree => tuple({ names: value }, KEEP);

function byName(states: Readonly<Record<string, readonly ValueNames[]>>): (name: string) => readonly ValueNames[] | undefined {
  const map = new Map(Object.entries(states));
  return name => map.get(name);
}

function aggregate(json: PlanJson, key: Columns | undefined, input: Columns): NodeStates {
  const retracts = json['needRetraction'] === true;
  const aggregates: Aggregates = {
    calls: aggregateCalls(json['aggCalls'], json['aggCallNeedRetractions'], retracts),
    input,
    countsInput: retracts || object(object(json['windowing'])['window'])['type'] === 'HoppingWindow',
  };
  return { key, states: name => aggregateStates(aggregates, name) };
}

function aggregateStates(aggregates: Aggregates, name: string): readonly ValueNames[] | undefined {
  if (name === 'accState' || name === 'window-aggs') return accumulatorNames(aggregates).map(value => ({ value }));
  const view = /^distinctAcc_(\d+)$/.exec(name);
  if (view !== null) return distinctKeys(aggregates, Number(view[1])).map(mapKey => ({ mapKey }));
  return undefined;
}

function overAggregate(json: PlanJson, input: Columns): NodeStates {
  const spec = object(json['overSpec']);
  const groups = Array.isArray(spec['groups']) ? spec['groups'] : [];
  const group = object(groups[0]);
  const constants = (Array.isArray(spec['constants']) ? spec['constants'] : []).map(
    (c, i): LogicalField => ({ name: `constant_${i}`, type: planType(object(c)['type']) }),
  );
  // what leaves a bounded window is taken back
  const bounded = object(group['lowerBound'])['kind'] === 'BOUNDED_WINDOW';
  const aggregates: Aggregates = {
    calls: aggregateCalls(group['aggCalls'], undefined, bounded),
    input: [...input, ...constants],
    countsInput: bounded,
  };
  const sorted = sortKeys(group['orderBy'], input);
  const accumulators = accumulatorNames(aggregates);
  const id = tuple({ name: 'id', type: expectKind('BIGINT') });
  return {
    key: pick(input, integers(object(spec['partition'])['fields'])),
    states(name) {
      switch (name) {
        case 'inputState':
          return [{ value: listOf(rowOf(input)) }, { value: rowOf(input) }];
        case 'valueMapState':
          return [{ value: rowOf(input) }];
        case 'sortedListState':
          return sorted.map(key => ({
            value: listOf(tuple({ name: 'sort_key', names: key }, { name: 'ids', names: listOf(BIGINT) })),
          }));
        case 'accMapState':
          // ROWS: by the id of a row; RANGE: by its sort key
          return accumulators.flatMap(value =>
            (group['isRows'] === true ? [id, ...sorted] : [...sorted, id]).map(mapKey => ({ mapKey, value })),
          );
        default:
          return aggregateStates(aggregates, name);
      }
    },
  };
}

/** The row of the columns that are sorted by. */
function sortKeys(spec: unknown, input: Columns): NameTree[] {
  const { fields } = object(spec);
  return pickRow(
    input,
    (Array.isArray(fields) ? fields : []).map(f => Number(object(f)['index'])),
  );
}

function rank(json: PlanJson, input: Columns): NodeStates {
  const record = rowOf(input);
  const sorted = sortKeys(json['orderBy'], input);
  const byKey = pickRow(input, integers(object(json['rankStrategy'])['primaryKeys']));
  return {
    key: pick(input, integers(object(json['partition'])['fields'])),
    states: byName({
      'data-state-with-append': sorted.map(mapKey => ({ mapKey, value: listOf(record) })),
      'data-state': sorted.map(mapKey => ({ mapKey, value: listOf(record) })),
      'data-state-with-update': byKey.map(mapKey => ({
        mapKey,
        value: tuple({ name: 'record', names: record }, { name: 'inner_rank', type: SMALL }),
      })),
      'sorted-map': sorted.map(key => ({ value: mapOf(key, BIGINT) })),
      'Top1-Rank-State': [{ value: record }],
    }),
  };
}

function windowTableFunction(json: PlanJson, input: Columns): NodeStates {
  const window = object(object(json['windowing'])['window']);
  const keys = integers(window['partition_key_indices'] ?? window['partitionKeyIndices']);
  return {
    key: pick(input, keys),
    states: byName({ 'session-window-tvf-acc': [{ value: rowOf(input) }] }),
  };
}

/** An outer side counts how many records of the other side match. */
const ASSOCIATIONS: NamedColumn = { name: 'associations', type: SMALL };

function recordForms(columns: Columns, upsertKeys: unknown): readonly ValueNames[] {
  const record = rowOf(columns);
  const outer = tuple({ name: 'record', names: record }, ASSOCIATIONS);
  const uniqueKeys = (Array.isArray(upsertKeys) ? upsertKeys : []).map(integers).sort((a, b) => a.length - b.length);
  return [
    ...uniqueKeys.flatMap(places => pickRow(columns, places)).flatMap(mapKey => [record, outer].map(value => ({ mapKey, value }))),
    { mapKey: record, value: INTEGER },
    { mapKey: record, value: tuple({ name: 'appearances', type: SMALL }, ASSOCIATIONS) },
    { value: record },
    { value: outer },
  ];
}

function join(json: PlanJson, left: Columns, right: Columns): NodeStates {
  const spec = object(json['joinSpec']);
  return {
    key: pick(left, integers(spec['leftKeys'])),
    states(name) {
      if (name === 'left-records') return recordForms(left, json['leftUpsertKeys']);
      if (name === 'right-records') return recordForms(right, json['rightUpsertKeys']);
      return undefined;
    },
  };
}

function intervalJoin(spec: PlanJson, left: Columns, right: Columns): NodeStates {
  const cache = (columns: Columns): readonly ValueNames[] => [
    { value: listOf(tuple({ name: 'record', names: rowOf(columns) }, { name: 'emitted', type: expectKind('BOOLEAN') })) },
  ];
  return {
    key: pick(left, integers(spec['leftKeys'])),
    states: byName({ IntervalJoinLeftCache: cache(left), IntervalJoinRightCache: cache(right) }),
  };
}

/** Records of an input lie by its join key and their unique key, or whole; those of the first input without the join key. */
function multiJoin(node: PlanNode): NodeStates {
  const { json, inputs } = node;
  const uniqueKeys = Array.isArray(json['inputUniqueKeys']) ? json['inputUniqueKeys'] : [];
  const common = /commonJoinKey=\[([^\]]*)\]/.exec(node.description)?.[1];
  const places = common?.split(',').map(n => columnsOf(inputs[0]).findIndex(c => c.name === n.trim())) ?? [];
  return {
    key: common === undefined || common === 'noCommonJoinKey' ? undefined : pick(columnsOf(inputs[0]), places),
    states(name) {
      const index = Number(/^multi-join-input-(\d+)$/.exec(name)?.[1] ?? -1);
      if (index < 0 || index >= inputs.length) return undefined;
      const columns = columnsOf(inputs[index]);
      return recordForms(columns, uniqueKeys[index]).flatMap(({ mapKey, value }): ValueNames[] => {
        if (mapKey === undefined) return [];
        const whole = value === undefined ? {} : { value };
        // the fields of the join key have their names in the snapshot
        return [
          { mapKey, ...whole },
          { mapKey: tuple({ name: 'join_key' }, { name: 'record', names: mapKey }), ...whole },
        ];
      });
    },
  };
}

/** A record under way of one input or the other, the watermark before it, and the index of its input. */
function deltaJoin(json: PlanJson, left: Columns, right: Columns): NodeStates {
  const either = [rowOf(left), rowOf(right)];
  return {
    key: pick(left, integers(json['leftJoinKeys'])),
    states: byName({
      _delta_join_operator_async_wait_state_: [
        {
          value: tuple(
            { name: 'left', names: streamRecord(either[0]) },
            { name: 'right', names: streamRecord(either[1]) },
            { name: 'watermark', names: streamRecord(either[0]) },
            { name: 'input_index', type: SMALL },
          ),
        },
      ],
    }),
  };
}

/** A materialized lookup join keeps what was found under the columns that it looked up by, in ascending order. */
function lookupJoin(node: PlanNode, input: Columns): NodeStates {
  const output = planType(object(node.json['temporalTable'])['outputType']);
  const keys = object(node.json['lookupKeys']);
  const places = Object.values(keys)
    .map(object)
    .filter(k => k['type'] === 'FieldRef')
    .map(k => Number(k['index']))
    .sort((a, b) => a - b);
  // with a projection it is the end of what the node emits
  const found = [rowOf(output.kind === 'ROW' ? output.fields : []), rowOf(columnsOf(node).slice(input.length))];
  return {
    key: pick(input, places),
    states: byName({
      'unique-value': found.map(value => ({ value })),
      values: found.map(value => ({ value: listOf(value) })),
      [ASYNC_STATE]: [{ value: streamRecord(rowOf(input)) }],
    }),
  };
}

function match(json: PlanJson, input: Columns): NodeStates {
  const record = rowOf(input);
  return {
    key: pick(input, integers(object(object(json['matchSpec'])['partition'])['fields'])),
    states: byName({
      eventQueuesStateName: [{ value: listOf(record) }],
      'sharedBuffer-events': [{ value: tuple(KEEP, { names: record }) }],
    }),
  };
}

/** The states of the function itself are named by it alone. */
function processTableFunction(node: PlanNode): NodeStates {
  const { operands } = object(node.json['functionCall']);
  const tables = (Array.isArray(operands) ? operands : []).map(object).filter(o => o['kind'] === 'TABLE_ARG_CALL');
  const partitioned = tables.find(o => integers(o['partitionKeys']).length > 0);
  const columnsOfInput = (index: number): Columns => columnsOf(node.inputs[index]);
  return {
    key:
      partitioned === undefined
        ? undefined
        : pick(columnsOfInput(Number(partitioned['inputIndex'])), integers(partitioned['partitionKeys'])),
    states(name) {
      const buffer = /^input-sort-buffer-data-(\d+)$/.exec(name);
      return buffer === null ? undefined : [{ value: listOf(rowOf(columnsOfInput(Number(buffer[1])))) }];
    },
  };
}

/**
 * The materializer before a sink keeps rows under the sink's primary key. The columns of the table come first in a row, then metadata;
 * version 1 of the node keeps the columns of the table alone.
 */
function sink(json: PlanJson, input: Columns, uid: string): NodeStates {
  if (!uid.endsWith('_upsert-materialize')) return { key: undefined, states: () => undefined };
  const schema = object(object(object(object(json['dynamicTableSink'])['table'])['resolvedTable'])['schema']);
  const primary = object(schema['primaryKey'])['columns'];
  const physical = (Array.isArray(schema['columns']) ? schema['columns'] : [])
    .map(object)
    .filter(c => c['kind'] === undefined || c['kind'] === 'PHYSICAL')
    .map(c => String(c['name']));
  const places = (Array.isArray(primary) ? primary : []).map(name => physical.indexOf(String(name)));
  const records = [rowOf(input), rowOf(input.slice(0, physical.length))];
  const either = records.map(value => ({ value }));
  const lists = records.map(value => ({ value: listOf(value) }));
  return {
    key: places.length === 0 ? undefined : pick(input, places),
    states: byName({
      values: lists,
      list: [...lists, ...either],
      rowToSqnState: records.map(mapKey => ({ mapKey })),
      sqnToNodeState: records.map(record => ({ value: tuple({ names: record }, ...Array<NamedColumn>(5).fill(KEEP)) })),
      'current-value': either,
      'watermark-buffer': [...lists, ...either],
    }),
  };
}
