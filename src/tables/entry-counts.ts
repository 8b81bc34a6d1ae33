/**
 * Counting what keyed state and timers hold without decoding it: the rows of keyed_state and timers as lengths, for `key_groups` and
 * `state_stats`. The same rows are counted whatever backend wrote them; a key's bytes count once for each of its namespaces in a state.
 */

import { BatchWriter } from './batch.js';
import { KeyedPump, type KeyedRow, type VariantPlan } from './keyed-rows.js';
import { variantMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import type { OperatorStates, StateVariant } from './states.js';
import type { Filter } from './table.js';

/**
 * Gets one row of keyed_state or timers, as lengths; `row` is reused.
 *
 *   bytes        of key and namespace where they begin anew, of map key, value and time of last access
 *   valueBytes   of the value alone; -1: a null map value, or a timer
 *   begins       the row has another key or namespace (or state, or key group) than the one before it
 */
export type RowVisitor = (row: KeyedRow, bytes: number, valueBytes: number, begins: boolean) => void;

/** Rows counted between two yields. */
const STEP = 2048;

/**
 * Calls `visit` for every row of the keyed states and timers of an operator.
 * @returns a generator that yields now and then, so that the caller can be interrupted
 */
export function* countRows(
  snapshot: OpenedSnapshot,
  states: OperatorStates,
  filters: readonly Filter[],
  visit: RowVisitor,
): Generator<undefined, void, undefined> {
  const writer = new BatchWriter([]);
  writer.target = STEP;
  const plans = new Map<StateVariant, VariantPlan>();
  /** key and namespace of a map's last row */
  let kept = new Uint8Array(256);
  let lastKeyLength = -1;
  let lastLength = -1;
  let last: StateVariant | undefined;
  let lastGroup = -1;
  let lastPart: unknown;
  /** Whether the row has the key and the namespace of the one before it, in the same state and key group. */
  const isLast = ({ entry, variant, part, keyStart, keyEnd, namespaceStart, namespaceEnd }: KeyedRow): boolean => {
    if (last !== variant || lastGroup !== entry.keyGroup || lastPart !== part) return false;
    const { bytes } = entry;
    const keyBytes = keyEnd - keyStart;
    if (keyBytes !== lastKeyLength || keyBytes + namespaceEnd - namespaceStart !== lastLength) return false;
    // keys differ at their ends rather than where they begin
    for (let i = keyBytes - 1; i >= 0; i--) if (kept[i] !== bytes[keyStart + i]) return false;
    for (let i = lastLength - 1; i >= keyBytes; i--) if (kept[i] !== bytes[namespaceStart + i - keyBytes]) return false;
    return true;
  };
  const remember = ({ entry, variant, part, keyStart, keyEnd, namespaceStart, namespaceEnd }: KeyedRow): void => {
    const { bytes } = entry;
    last = variant;
    lastGroup = entry.keyGroup;
    lastPart = part;
    lastKeyLength = keyEnd - keyStart;
    lastLength = lastKeyLength + namespaceEnd - namespaceStart;
    if (lastLength > kept.length) kept = new Uint8Array(lastLength * 2);
    for (let i = 0; i < lastKeyLength; i++) kept[i] = bytes[keyStart + i];
    for (let i = lastKeyLength; i < lastLength; i++) kept[i] = bytes[namespaceStart + i - lastKeyLength];
  };
  const fill = (row: KeyedRow) => {
    const { variant } = row;
    const timer = variant.kind === 'timer';
    const isMap = variant.registered.stateType === 'MAP';
    const keyBytes = row.keyEnd - row.keyStart;
    const length = keyBytes + row.namespaceEnd - row.namespaceStart;
    // of other states, each key has one entry
    const begins = isMap && !timer ? !isLast(row) : row.listIndex <= 0;
    if (isMap && begins) remember(row);
    const valueBytes = timer || row.valueStart < 0 ? -1 : row.valueEnd - row.valueStart;
    const mapKeyBytes = row.mapKeyStart < 0 ? 0 : row.mapKeyEnd - row.mapKeyStart;
    const other = mapKeyBytes + Math.max(0, valueBytes) + (row.ttlAt < 0 ? 0 : 8) + (timer ? 8 : 0);
    visit(row, (begins ? length : 0) + other, valueBytes, begins);
  };
  const pump = new KeyedPump(
    {
      operators: [states],
      planOf(variant) {
        if (!variantMightMatch(variant, filters)) return undefined;
        let plan = plans.get(variant);
        if (plan === undefined) {
          plan = { variant, fills: [fill] };
          plans.set(variant, plan);
        }
        return plan;
      },
      filterOf: () => ({}),
      values: true,
      timers: true,
    },
    snapshot.pumpContext,
    writer,
  );
  try {
    while (pump.step()) {
      writer.clear();
      yield undefined;
    }
  } finally {
    pump.close();
  }
}
