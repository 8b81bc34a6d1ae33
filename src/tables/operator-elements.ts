/**
 * Elements of operator list states, with the bytes copied out: for tables that look at all of them together.
 */
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { OperatorStateReader } from '../state/entry.js';
import { openOperatorState } from '../state/open.js';
import type { Value } from '../types.js';
import { isDamage } from './keyed-rows.js';
import type { OpenedSnapshot } from './snapshot.js';
import type { OperatorStates, StateVariant } from './states.js';

export interface StateElement {
  readonly variant: StateVariant;
  readonly subtask: number;
  readonly index: number;
  readonly bytes: Uint8Array;
}

/** Elements of the list and union states that `wanted` picks, subtask after subtask. Damage is passed over where that was asked for. */
export function* stateElements(
  snapshot: OpenedSnapshot,
  states: OperatorStates,
  wanted: (variant: StateVariant) => boolean,
): Generator<StateElement> {
  const { pumpContext } = snapshot;
  for (const part of states.managed) {
    let reader: OperatorStateReader | undefined;
    try {
      const problem = states.problems.find(p => p.kind === 'operator' && p.subtask === part.subtask);
      if (problem !== undefined) throw problem.error;
      reader = openOperatorState(part.handle, snapshot.contextOf(part));
      for (const state of reader.header.states) {
        const variant = states.variantOf(undefined, state);
        if (variant === undefined || variant.kind !== 'operator' || !wanted(variant)) continue;
        for (const element of reader.elements(state)) {
          pumpContext.stats.entriesDecoded++;
          yield { variant, subtask: part.subtask, index: element.index, bytes: element.bytes.slice(element.start, element.end) };
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

/** The element as its serializer says; undefined when it is damaged and that is passed over. @throws StateQueryError */
export function elementValue(snapshot: OpenedSnapshot, { variant, subtask, index, bytes }: StateElement): Value | undefined {
  const where = `operator ${variant.operator.uid ?? variant.operator.id}, subtask ${subtask}, state ${variant.name}, element ${index}`;
  const c = new Cursor(bytes, 0, bytes.length, { where });
  try {
    const value = variant.shape.value.read(c);
    c.expectEnd('the element');
    return value;
  } catch (error) {
    const { pumpContext } = snapshot;
    if (!(error instanceof StateQueryError) || !pumpContext.skipDamaged || !isDamage(error)) throw error;
    pumpContext.damaged(error);
    return undefined;
  }
}

/** Whether the elements of a state are byte arrays. */
export function isBytesState(variant: StateVariant): boolean {
  return variant.kind === 'operator' && variant.shape.value.type.kind === 'BLOB';
}

/** The state of the operator's coordinator; undefined when it has none. @throws StateQueryError */
export function coordinatorBytes(snapshot: OpenedSnapshot, states: OperatorStates): Uint8Array | undefined {
  const handle = states.operator.operator.coordinator;
  if (handle === undefined) return undefined;
  const source = snapshot.files.open(handle);
  try {
    return source.read(0, source.size).slice();
  } finally {
    source.close();
  }
}
