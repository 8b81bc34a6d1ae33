/**
 * The columns of an accumulator row (`accState`, `window-aggs`), out of the aggregate calls of an exec node:
 *
 *   for each call, in order: COUNT(*) count1 · COUNT(x) count · SUM sum (retracting: sum, count) · $SUM0 sum · AVG sum, count
 *     MIN min, MAX max · LISTAGG accDelimiter, concatAcc · SINGLE_VALUE value, count
 *     any other function, and MIN and MAX that retract: one column, its accumulator, under the function's name
 *   then count1, where the node has to know when a group is empty and no COUNT(*) is among the calls
 *   then distinctAcc_0, …: one for each list of distinct arguments; where the data is state of its own, nothing is in them
 *
 * Whether a call retracts is said by the node; where it is not, both forms are offered and the types decide.
 * Flink: AggregateUtil, AggFunctionFactory, the aggBufferAttributes of org.apache.flink.table.planner.functions.aggfunctions (1.15–2.3).
 */
import type { LogicalField } from '../serializers/table/logical-type.js';
import { type ExpectedType, expectKind, expectType, type NamedColumn, type NameTree, row } from './name-tree.js';
import type { PlanJson } from './plan.js';
import { planType } from './plan-types.js';

export interface AggregateCall {
  /** `SUM`, `$SUM0`, `my_avg` */
  readonly functionName: string;
  readonly argList: readonly number[];
  readonly filtered: boolean;
  readonly distinct: boolean;
  readonly type: ExpectedType;
  readonly retracts: boolean;
}

export interface Aggregates {
  readonly calls: readonly AggregateCall[];
  /** columns that the calls' arguments point into */
  readonly input: readonly LogicalField[];
  /** the node counts its input */
  readonly countsInput: boolean;
}

/** The calls of a node. @param flags whether each call retracts */
export function aggregateCalls(calls: unknown, flags: unknown, retracts: boolean): AggregateCall[] {
  const list = (Array.isArray(calls) ? calls : []).map((call): PlanJson => (typeof call === 'object' && call !== null ? call : {}));
  return list.map((call, i) => ({
    functionName: functionName(call),
    argList: integers(call['argList']),
    filtered: typeof call['filterArg'] === 'number' && call['filterArg'] >= 0,
    distinct: call['distinct'] === true,
    type: expectType(planType(call['type'])),
    retracts: Array.isArray(flags) ? flags[i] === true : retracts,
  }));
}

export function integers(value: unknown): number[] {
  return Array.isArray(value) && value.every(n => Number.isSafeInteger(n) && n >= 0) ? (value as number[]) : [];
}

/** `$SUM$1` → SUM, `$$SUM0$1` → $SUM0, "`a`.`b`.`my_avg`" → my_avg, a class → its simple name. */
function functionName(call: PlanJson): string {
  const { internalName, systemName, catalogName } = call;
  if (typeof internalName === 'string') return internalName.replace(/^\$/, '').replace(/\$\d+$/, '');
  if (typeof systemName === 'string') return systemName;
  if (typeof catalogName === 'string') return /`([^`]*)`$/.exec(catalogName)?.[1] ?? catalogName;
  return typeof call['class'] === 'string' ? call['class'].replace(/^.*[.$]/, '') : 'aggregate';
}

const COUNT: NamedColumn = { name: 'count', type: expectKind('BIGINT') };
const COUNT_ALL: NamedColumn = { name: 'count1', type: expectKind('BIGINT') };

function buffer(call: AggregateCall, retracts: boolean, input: readonly LogicalField[]): readonly NamedColumn[] {
  const sum: NamedColumn = { name: 'sum', type: call.type };
  const text = expectKind('VARCHAR');
  switch (call.functionName.toUpperCase()) {
    case 'COUNT':
      return [call.argList.length === 0 ? COUNT_ALL : COUNT];
    case 'SUM':
      return retracts ? [sum, COUNT] : [sum];
    case '$SUM0':
      return [sum];
    case 'AVG':
      return [{ name: 'sum', type: averageSum(input[call.argList[0]]) }, COUNT];
    case 'MIN':
    case 'MAX': {
      const name = call.functionName.toLowerCase();
      return [retracts ? { name, type: expectKind('STRUCT') } : { name, type: call.type }];
    }
    case 'SINGLE_VALUE':
      return [
        { name: 'value', type: call.type },
        { name: 'count', type: expectKind('INTEGER', 'BIGINT') },
      ];
    case 'LISTAGG':
      if (retracts || call.argList.length > 1) break;
      return [
        { name: 'accDelimiter', type: text },
        { name: 'concatAcc', type: text },
      ];
    // no column: the result is known from the plan alone
    case 'LITERAL_AGG':
      return [];
  }
  return [{ name: call.functionName.toLowerCase() }];
}

function averageSum(argument: LogicalField | undefined): ExpectedType {
  switch (argument?.type.kind) {
    case 'FLOAT':
    case 'DOUBLE':
      return expectKind('DOUBLE');
    case 'DECIMAL':
      return expectKind('DECIMAL');
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
      return expectKind('BIGINT');
    default:
      return expectKind('BIGINT', 'DOUBLE', 'DECIMAL');
  }
}

/** One view for each list of arguments of distinct calls, in order. */
function distinctArguments(calls: readonly AggregateCall[]): readonly (readonly number[])[] {
  const lists = new Map<string, readonly number[]>();
  for (const call of calls) {
    if (!call.distinct) continue;
    // MIN and MAX do not need to be distinct
    const id = [...call.argList].sort((a, b) => a - b).join(',');
    if (!lists.has(id)) lists.set(id, call.argList);
  }
  return [...lists.values()];
}

/** The forms that the accumulator row may have, the likeliest first. */
export function accumulatorNames({ calls, input, countsInput }: Aggregates): NameTree[] {
  const views = distinctArguments(calls).map((_, i): NamedColumn => ({ name: `distinctAcc_${i}` }));
  const hasCount = calls.some(c => c.functionName === 'COUNT' && c.argList.length === 0 && !c.distinct && !c.filtered);
  const counts = countsInput && !hasCount ? [true, false] : [false, true];
  const forms = new Map<string, NameTree>();
  for (const retracts of [(c: AggregateCall) => c.retracts, () => false, () => true])
    for (const counted of counts) {
      const columns = [...calls.flatMap(c => buffer(c, retracts(c), input)), ...(counted ? [COUNT_ALL] : []), ...views];
      forms.set(columns.map(c => `${c.name} ${c.type?.text}`).join(), row(columns));
    }
  return [...forms.values()];
}

/** The map keys of `distinctAcc_<i>`: the argument, or a row of several. */
export function distinctKeys({ calls, input }: Aggregates, view: number): NameTree[] {
  const list = distinctArguments(calls)[view];
  const columns = list?.map(i => input[i]);
  if (columns === undefined || columns.includes(undefined as never)) return [];
  if (columns.length === 1) return [{ kind: 'scalar', type: expectType(columns[0].type) }];
  return [row(columns.map(c => ({ name: c.name, type: expectType(c.type) })))];
}
