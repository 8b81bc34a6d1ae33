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

/** Keys to be looked up: each in the key groups that it can lie in. */
export interface Lookups {
  /** ascending */
  readonly keyGroups: readonly { readonly keyGroup: number; readonly keys: readonly Uint8Array[] }[];
  readonly count: number;
}

/** The lookups for keys in some key groups: of a key whose group is known only that one. */
export function lookupsOf(
  keys: readonly Uint8Array[],
  keyGroups: readonly number[],
  keyGroupOf: ((key: Uint8Array) => number | undefined) | undefined,
): Lookups {
  const sorted = [...keys].map(key => Buffer.from(key)).sort(Buffer.compare);
  const unique = sorted.filter((key, i) => i === 0 || !key.equals(sorted[i - 1]));
  const known = unique.map(key => ({ key, group: keyGroupOf?.(key) }));
  const anywhere = known.every(k => k.group === undefined);
  const all = [...keyGroups]
    .sort((a, b) => a - b)
    .map(keyGroup => ({
      keyGroup,
      keys: anywhere ? unique : known.filter(k => k.group === undefined || k.group === keyGroup).map(k => k.key),
    }));
  return { keyGroups: all, count: all.reduce((n, g) => n + g.keys.length, 0) };
}

/** One range for each key in each of its key groups, ascending. */
export function lookupRanges(lookups: Lookups, prefix: 1 | 2, state: RegisteredState): readonly KeyRange[] {
  // the void namespace is one zero byte, and not a part of map or variable-length suffixes
  const single = state.namespace?.serializer === 'VoidNamespaceSerializer' && state.stateType !== 'MAP';
  const ranges: KeyRange[] = [];
  for (const { keyGroup, keys } of lookups.keyGroups)
    for (const key of keys) {
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
