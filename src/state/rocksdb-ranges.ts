/**
 * Ranges of composite keys in a column family: which parts of it have to be read for key groups and keys.
 *
 *   key groups [from, to]   from the prefix of `from` to that of `to` + 1
 *   one key                 all composite keys that begin with its key group and itself
 */
import type { RegisteredState } from './entry.js';

export interface KeyRange {
  readonly lower: Uint8Array;
  readonly upper: Uint8Array;
  /** set when one serialized key is sought; other keys may begin with the same bytes */
  readonly key?: Uint8Array;
  /** the only composite key that the sought key can have in this state */
  readonly exact?: Uint8Array;
}

/** A key group as the first bytes of a composite key. */
export function keyGroupPrefix(keyGroup: number, prefix: 1 | 2): Uint8Array {
  return prefix === 1 ? Uint8Array.of(keyGroup) : Uint8Array.of(keyGroup >> 8, keyGroup & 0xff);
}

/** Adjacent key groups as [from, to], both inclusive. */
export function keyGroupRuns(keyGroups: readonly number[]): readonly (readonly [from: number, to: number])[] {
  const runs: [number, number][] = [];
  for (const keyGroup of [...keyGroups].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && keyGroup <= last[1] + 1) last[1] = keyGroup;
    else runs.push([keyGroup, keyGroup]);
  }
  return runs;
}

/** All keys of the key groups [from, to]. The highest possible key group is 127 or 32767, so there is always a prefix behind. */
export function keyRange(from: number, to: number, prefix: 1 | 2): KeyRange {
  return { lower: keyGroupPrefix(from, prefix), upper: keyGroupPrefix(to + 1, prefix) };
}

/** One range for each key in each key group, ascending. */
export function lookupRanges(
  keys: readonly Uint8Array[],
  keyGroups: readonly number[],
  prefix: 1 | 2,
  state: RegisteredState,
): readonly KeyRange[] {
  const sorted = [...keys].map(key => Buffer.from(key)).sort(Buffer.compare);
  const unique = sorted.filter((key, i) => i === 0 || !key.equals(sorted[i - 1]));
  // the void namespace is one zero byte, and not a part of map or variable-length suffixes
  const single = state.namespace?.serializer === 'VoidNamespaceSerializer' && state.stateType !== 'MAP';
  const ranges: KeyRange[] = [];
  for (const keyGroup of [...keyGroups].sort((a, b) => a - b))
    for (const key of unique) {
      const lower = Buffer.concat([keyGroupPrefix(keyGroup, prefix), key]);
      ranges.push({ lower, upper: successor(lower), key, ...(single ? { exact: Buffer.concat([lower, Uint8Array.of(0)]) } : {}) });
    }
  return ranges;
}

/** The first byte string behind all that begin with `bytes`, whose first byte is not 255. */
function successor(bytes: Uint8Array): Uint8Array {
  let length = bytes.length;
  while (bytes[length - 1] === 0xff) length--;
  const next = Uint8Array.from(bytes.subarray(0, length));
  next[length - 1]++;
  return next;
}
