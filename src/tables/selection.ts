/**
 * Which operators and states a table reference can touch: restrictions and filters over names, decided from metadata
 * before any state file is opened, and from headers before any entry is read.
 *
 * Names are compared as SQL compares them: exactly, NULL never equal.
 */

import type { OperatorStates, OperatorView, StateVariant } from './states.js';
import type { Constant, Filter, Restriction } from './table.js';

/** text columns of an operator, by name */
const OPERATOR_TEXT: Readonly<Record<string, (o: OperatorView) => string | null>> = {
  operator_id: o => o.id,
  operator_uid: o => o.uid,
  operator_name: o => o.name,
};
const STATE_TEXT: Readonly<Record<string, (v: StateVariant) => string | null>> = {
  state_name: v => v.name,
  state_kind: v => v.kind,
  distribution_mode: v => v.registered.mode ?? null,
};

export function operatorMightMatch(operator: OperatorView, filters: readonly Filter[]): boolean {
  return filters.every(f => textMightMatch(f, OPERATOR_TEXT[f.column]?.(operator)));
}

export function variantMightMatch(variant: StateVariant, filters: readonly Filter[]): boolean {
  return filters.every(f => textMightMatch(f, STATE_TEXT[f.column]?.(variant)));
}

/** Restrictions as filters. */
export function restrictionFilters(restrictions: readonly Restriction[]): Filter[] {
  return restrictions.map(r => ({
    column: r.column,
    op: 'in' as const,
    values: r.values.map(value => ({ kind: 'string' as const, value })),
  }));
}

/** Whether a text column of this value can satisfy the filter; undefined: the filter is about another column. */
function textMightMatch(filter: Filter, text: string | null | undefined): boolean {
  if (text === undefined) return true;
  switch (filter.op) {
    case 'is null':
      return text === null;
    case 'is not null':
      return text !== null;
    case 'prefix':
      return text?.startsWith(filter.value) === true;
    case '=':
      return text !== null && constantText(filter.value) === text;
    case '<>':
      return text !== null && constantText(filter.value) !== text;
    case 'in':
      return text !== null && filter.values.some(v => constantText(v) === text);
    default:
      // text order: left to the engine
      return text !== null;
  }
}

/** A constant as the text that text columns compare with. */
export function constantText(c: Constant): string {
  return c.kind === 'string' ? c.value : c.kind === 'decimal' ? c.text : String(c.value);
}

/** The states of the operators that can satisfy the filters. */
export function selectStates(
  operators: readonly OperatorView[],
  statesOf: (operator: OperatorView) => OperatorStates,
  filters: readonly Filter[],
): OperatorStates[] {
  return operators.filter(o => operatorMightMatch(o, filters)).map(statesOf);
}
