/**
 * From `key = …` and `key IN (…)` to the serialized keys and the key groups that can hold them.
 *
 * A key is looked up by its bytes: the constant is written as the key serializer would write it, and only entries with these
 * very bytes are decoded; the engine compares once more. Where Flink's hash of the type is known, the key's group follows
 * from it (KeyGroupRangeAssignment), and other groups are not read at all. Any doubt keeps everything.
 */
import type { SerializerSnapshot } from '../serializers/codec.js';
import { type EncodedKey, encodeKey } from '../serializers/encode-key.js';
import type { EntryFilter } from '../state/entry.js';
import type { SqlType } from '../types.js';
import type { OpenedSnapshot } from './snapshot.js';
import type { KeyedPart, StateVariant } from './states.js';
import type { Constant, Filter } from './table.js';

/**
 * What of a part can hold rows that satisfy the filters on `key` and `key_group`.
 * @returns undefined: nothing; `{}`: everything
 */
export function keyFilterOf(
  snapshot: OpenedSnapshot,
  part: KeyedPart,
  variants: readonly StateVariant[],
  filters: readonly Filter[],
  typed: ReadonlyMap<string, SqlType | undefined>,
): Pick<EntryFilter, 'keyGroups' | 'keys'> | undefined {
  if (!snapshot.pushdown) return {};
  let groups = keyGroupsAsked(filters);
  let keys: readonly Uint8Array[] | undefined;
  for (const filter of filters) {
    if (filter.column !== 'key' || (filter.op !== '=' && filter.op !== 'in')) continue;
    const constants = 'values' in filter ? filter.values : [filter.value];
    const encoded = encodeForAll(variants, constants, typed.get('key') === undefined);
    if (encoded === undefined) continue;
    if (encoded.length === 0) return undefined;
    keys = intersect(
      keys,
      encoded.map(e => e.bytes),
    );
    if (keys.length === 0) return undefined;
    if (encoded.every(e => e.keyGroupOf !== undefined)) {
      const max = part.operator.operator.maxParallelism;
      groups = intersectGroups(groups, new Set(encoded.map(e => (e.keyGroupOf as (max: number) => number)(max))));
    }
  }
  if (groups !== undefined) {
    if (!('range' in part.handle)) return keys === undefined ? {} : { keys };
    const { first, count } = part.handle.range;
    const inside = new Set([...groups].filter(g => g >= first && g < first + count));
    if (inside.size === 0) return undefined;
    groups = inside;
  }
  return { ...(groups === undefined ? {} : { keyGroups: groups }), ...(keys === undefined ? {} : { keys }) };
}

/** All variants of a part share the key serializer of its file; the constants as its bytes, or undefined where one cannot be written. */
function encodeForAll(variants: readonly StateVariant[], constants: readonly Constant[], mixed: boolean): EncodedKey[] | undefined {
  const snapshots = new Set<SerializerSnapshot>();
  for (const v of variants) {
    if (v.keySnapshot === undefined) return undefined;
    snapshots.add(v.keySnapshot);
  }
  const out: EncodedKey[] = [];
  for (const snapshot of snapshots) {
    for (const constant of constants) {
      const encoded = encodeKey(snapshot, constant, mixed);
      if (encoded === 'unknown') return undefined;
      if (encoded !== 'none') out.push(...encoded);
    }
  }
  return out;
}

function keyGroupsAsked(filters: readonly Filter[]): ReadonlySet<number> | undefined {
  let groups: ReadonlySet<number> | undefined;
  for (const f of filters) {
    if (f.column !== 'key_group' || (f.op !== '=' && f.op !== 'in')) continue;
    const values = 'values' in f ? f.values : [f.value];
    if (!values.every(v => v.kind === 'integer')) continue;
    groups = intersectGroups(groups, new Set(values.map(v => Number((v as { value: bigint }).value))));
  }
  return groups;
}

function intersectGroups(a: ReadonlySet<number> | undefined, b: ReadonlySet<number>): ReadonlySet<number> {
  return a === undefined ? b : new Set([...a].filter(x => b.has(x)));
}

function intersect(a: readonly Uint8Array[] | undefined, b: readonly Uint8Array[]): readonly Uint8Array[] {
  if (a === undefined) return b;
  const hex = new Set(b.map(x => Buffer.from(x).toString('hex')));
  return a.filter(x => hex.has(Buffer.from(x).toString('hex')));
}
