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

/** Entries walked between two yields. */
const STEPS = 512;

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
  const plans = new Map<StateVariant, VariantPlan>();
  let key = Buffer.alloc(256);
  let keyLength = -1;
  let last: StateVariant | undefined;
  let lastGroup = -1;
  let lastPart: unknown;
  const fill = (row: KeyedRow) => {
    const { entry, variant } = row;
    const { bytes } = entry;
    const keyBytes = row.keyEnd - row.keyStart;
    const length = keyBytes + row.namespaceEnd - row.namespaceStart;
    const same =
      last === variant &&
      lastGroup === entry.keyGroup &&
      lastPart === row.part &&
      length === keyLength &&
      key.compare(bytes, row.keyStart, row.keyEnd, 0, keyBytes) === 0 &&
      key.compare(bytes, row.namespaceStart, row.namespaceEnd, keyBytes, length) === 0;
    if (!same) {
      last = variant;
      lastGroup = entry.keyGroup;
      lastPart = row.part;
      if (length > key.length) key = Buffer.alloc(length * 2);
      key.set(bytes.subarray(row.keyStart, row.keyEnd), 0);
      key.set(bytes.subarray(row.namespaceStart, row.namespaceEnd), keyBytes);
      keyLength = length;
    }
    const timer = variant.kind === 'timer';
    const begins = timer || !same;
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
    for (let steps = 0; pump.step(); ) {
      writer.clear();
      if (++steps % STEPS === 0) yield undefined;
    }
  } finally {
    pump.close();
  }
}
