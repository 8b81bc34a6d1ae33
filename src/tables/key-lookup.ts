/**
 * From conjuncts on `key` to the serialized keys and the key groups that can hold them.
 *
 *   key = …, key IN (…)         key.f0 = … for every field of a tuple or row
 *   key_json, key_bytes         of the raw tables
 *   key_group = …
 *
 * A key is looked up by its bytes: the constant is written as the key serializer would write it, and only entries with these
 * very bytes are decoded; the engine compares once more. Where Flink's hash of the type is known, the key's group follows
 * from it (KeyGroupRangeAssignment), and other groups are not read at all. Any doubt keeps everything.
 */
import { type EncodedKey, encodeKeys, type KeyTest } from '../serializers/encode-key.js';
import { valuesOfConstant } from '../serializers/keys/constants.js';
import type { EntryFilter } from '../state/entry.js';
import { BLOB, type SqlType } from '../types.js';
import type { OpenedSnapshot } from './snapshot.js';
import type { KeyedPart, StateVariant } from './states.js';
import type { Constant, Filter } from './table.js';

/** Which key groups and keys are to be read. */
export type KeyScope = Pick<EntryFilter, 'keyGroups' | 'keys' | 'keyGroupOf'>;

/**
 * What of a part can hold rows that satisfy the filters on `key` and `key_group`.
 * @param typed type of the column `key`; undefined in the map: mixed
 * @returns undefined: nothing; `{}`: everything
 */
export function keyFilterOf(
  snapshot: OpenedSnapshot,
  part: KeyedPart,
  variants: readonly StateVariant[],
  filters: readonly Filter[],
  typed: ReadonlyMap<string, SqlType | undefined>,
): KeyScope | undefined {
  if (!snapshot.pushdown) return {};
  let groups = keyGroupsAsked(filters);
  let keys = keyBytesAsked(filters);
  let keyGroupOf: KeyScope['keyGroupOf'];
  const encoded = encodedKeys(variants, keyTests(filters, typed.get('key') === undefined));
  if (encoded !== undefined) {
    if (encoded.every(e => e.bytes !== undefined)) keys = intersect(keys, encoded.map(e => e.bytes) as readonly Uint8Array[]);
    if (encoded.every(e => e.keyGroupOf !== undefined)) {
      const max = part.operator.operator.maxParallelism;
      groups = intersectGroups(groups, new Set(encoded.map(e => (e.keyGroupOf as (max: number) => number)(max))));
      keyGroupOf = keyGroupsByKey(encoded, max);
    }
  }
  if (keys?.length === 0) return undefined;
  const wanted = keys === undefined ? {} : { keys, ...(keyGroupOf === undefined ? {} : { keyGroupOf }) };
  if (groups !== undefined) {
    if (groups.size === 0) return undefined;
    if (!('range' in part.handle)) return wanted;
    const { first, count } = part.handle.range;
    const inside = new Set([...groups].filter(g => g >= first && g < first + count));
    if (inside.size === 0) return undefined;
    groups = inside;
  }
  return { ...(groups === undefined ? {} : { keyGroups: groups }), ...wanted };
}

/** What the filters say of the key's value. */
function keyTests(filters: readonly Filter[], mixed: boolean): readonly KeyTest[] {
  const tests: KeyTest[] = [];
  for (const f of filters) {
    if (f.op === 'field') {
      if (f.column === 'key' && !mixed) tests.push({ path: f.path, values: f.values, form: 'typed' });
    } else if (f.op === '=' || f.op === 'in') {
      const values = 'values' in f ? f.values : [f.value];
      if (f.column === 'key') tests.push({ path: [], values, form: mixed ? 'text' : 'typed' });
      else if (f.column === 'key_json') tests.push({ path: [], values, form: 'json' });
    }
  }
  return tests;
}

/** All variants of a part share the key serializer of its file. */
function encodedKeys(variants: readonly StateVariant[], tests: readonly KeyTest[]): readonly EncodedKey[] | undefined {
  if (tests.length === 0) return undefined;
  const seen = new Set<unknown>();
  const out: EncodedKey[] = [];
  for (const v of variants) {
    const type = v.shape.key?.type;
    if (v.keySnapshot === undefined || type === undefined) return undefined;
    if (seen.has(v.keySnapshot)) continue;
    seen.add(v.keySnapshot);
    const encoded = encodeKeys(v.keySnapshot, type, tests);
    if (encoded === undefined) return undefined;
    out.push(...encoded);
  }
  return out;
}

/** Keys that are asked for by their bytes. */
function keyBytesAsked(filters: readonly Filter[]): readonly Uint8Array[] | undefined {
  let keys: readonly Uint8Array[] | undefined;
  for (const f of filters) {
    if (f.column !== 'key_bytes' || (f.op !== '=' && f.op !== 'in')) continue;
    const values = ('values' in f ? f.values : [f.value]).map((c: Constant) => valuesOfConstant(BLOB, c, 'typed'));
    if (values.every(v => v !== undefined)) keys = intersect(keys, values.flat() as Uint8Array[]);
  }
  return keys;
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

/** Key groups by the bytes of the keys; keys of two serializers with the same bytes may lie in two. */
function keyGroupsByKey(encoded: readonly EncodedKey[], maxParallelism: number): (key: Uint8Array) => number | undefined {
  const groups = new Map<string, number | undefined>();
  for (const { bytes, keyGroupOf } of encoded) {
    if (bytes === undefined) continue;
    const key = hexOf(bytes);
    const group = keyGroupOf?.(maxParallelism);
    groups.set(key, groups.has(key) && groups.get(key) !== group ? undefined : group);
  }
  return key => groups.get(hexOf(key));
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function intersectGroups(a: ReadonlySet<number> | undefined, b: ReadonlySet<number>): ReadonlySet<number> {
  return a === undefined ? b : new Set([...a].filter(x => b.has(x)));
}

function intersect(a: readonly Uint8Array[] | undefined, b: readonly Uint8Array[]): readonly Uint8Array[] {
  if (a === undefined) return b;
  const hex = new Set(b.map(hexOf));
  return a.filter(x => hex.has(hexOf(x)));
}
