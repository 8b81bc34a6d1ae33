/**
 * Whether the class behind a Kryo state changed its fields: the one change that Flink itself does not see (it fails on reading).
 *
 * Kryo's FieldSerializer writes the fields one after another, without names, types or number. Where the class layout is not known
 * (--jar), all sequences of a few field forms are tried on values of both snapshots:
 *
 *   varint    int, long, short forms, boolean, byte       string   byte 0 (null), or byte 1 and Kryo's string
 *   4 and 8   float, double
 *
 * If some sequences read every old value to its last byte, others every new one, and none both, the layouts differ. Anything less
 * says nothing.
 */

import type { OpenedSnapshot } from '../tables/snapshot.js';
import type { StateVariant } from '../tables/states.js';
import { sampleValues } from './sample.js';

const MAX_FIELDS = 6;
const SAMPLE = 100;

type Form = (bytes: Uint8Array, at: number) => number;

const varint: Form = (bytes, at) => {
  for (let p = at; p < bytes.length && p < at + 9; p++) if (bytes[p] < 0x80) return p + 1;
  return -1;
};
const string: Form = (bytes, at) => {
  if (at >= bytes.length || bytes[at] > 1) return -1;
  if (bytes[at] === 0) return at + 1;
  if (at + 1 >= bytes.length) return -1;
  if (bytes[at + 1] >= 0x80) {
    const length = bytes[at + 1] & 0x3f;
    // 0x80 | (chars + 1) for short text beyond ASCII and for the empty string; longer forms say nothing here
    return (bytes[at + 1] & 0x40) !== 0 || length === 0 ? -1 : at + 2 + length - 1 <= bytes.length ? at + 2 + length - 1 : -1;
  }
  for (let p = at + 1; p < bytes.length && p < at + 66; p++) if (bytes[p] >= 0x80) return p + 1;
  return -1;
};
const fixed =
  (width: number): Form =>
  (bytes, at) =>
    at + width <= bytes.length ? at + width : -1;

const FORMS: readonly Form[] = [varint, string, fixed(4), fixed(8)];

/** Why the layouts differ; undefined: they do not, or nothing can be said. */
export function kryoLayoutsDiffer(old: OpenedSnapshot, next: OpenedSnapshot, v: StateVariant, w: StateVariant): string | undefined {
  if (v.registered.value?.serializer !== 'KryoSerializer' || v.shape.value.opaque === undefined) return undefined;
  const before = sample(old, v);
  const after = sample(next, w);
  if (before.length < 3 || after.length < 3) return undefined;
  const oldFits = fits(before);
  const newFits = fits(after);
  if (oldFits.size === 0 || newFits.size === 0) return undefined;
  for (const shape of oldFits) if (newFits.has(shape)) return undefined;
  return `value: the fields of ${v.registered.value.details['typeClass']} changed; Kryo writes no names and cannot read the old values`;
}

/** The undecoded bytes of some values. */
function sample(snapshot: OpenedSnapshot, v: StateVariant): Uint8Array[] {
  return sampleValues(snapshot, v, SAMPLE).flatMap(text => {
    const json = JSON.parse(text) as { readonly $hex?: string; readonly $class?: string } | null;
    return typeof json?.$hex === 'string' && json.$class !== undefined ? [Buffer.from(json.$hex, 'hex')] : [];
  });
}

/** The sequences of forms that read every value to its end. */
function fits(values: readonly Uint8Array[]): Set<string> {
  const found = new Set<string>();
  const walk = (shape: string, positions: readonly number[]): void => {
    if (positions.every((p, i) => p === values[i].length)) {
      found.add(shape);
      return;
    }
    if (shape.length === MAX_FIELDS) return;
    for (const [i, form] of FORMS.entries()) {
      const moved = positions.map((p, k) => form(values[k], p));
      if (!moved.includes(-1)) walk(shape + i, moved);
    }
  };
  walk(
    '',
    values.map(() => 0),
  );
  return found;
}
