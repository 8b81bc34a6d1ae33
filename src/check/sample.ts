/** Some values of a state, for what only values tell: the classes in them, the layout of a class that writes no names. */
import { BytesColumn } from '../io/column.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import type { StateVariant } from '../tables/states.js';

const SAMPLE = 2000;

/** JSON texts of the first values of a state. */
export function sampleValues(snapshot: OpenedSnapshot, v: StateVariant, limit: number): string[] {
  const bound = snapshot.catalog.find('keyed_state_raw')?.bind([
    { column: 'operator_id', values: [v.operator.id] },
    { column: 'state_name', values: [v.name] },
  ]);
  if (bound === undefined) return [];
  const scan = bound.scan({ columns: [{ name: 'value_json', form: 'value' }], filters: [], limit });
  const out: string[] = [];
  try {
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
      const [column] = batch.columns;
      if (!(column instanceof BytesColumn)) throw new Error('value_json is text');
      for (let i = 0; i < batch.length; i++) if (column.validity[i] === 1) out.push(column.bytesAt(i).toString('utf8'));
    }
  } finally {
    scan.close();
  }
  return out;
}

const usesPojo = (s: SerializerSnapshot | undefined): boolean =>
  s !== undefined && (s.serializer === 'PojoSerializer' || s.children.some(c => usesPojo(c.snapshot)));

/**
 * Subclasses that stand in old values and in none of the new ones, although those name other subclasses: the class may be gone.
 * A subclass that is written by name need not be in the serializer snapshot. Undefined: nothing speaks for it.
 */
export function subclassesGone(old: OpenedSnapshot, next: OpenedSnapshot, v: StateVariant, w: StateVariant): string | undefined {
  if (v.kind !== 'keyed' || !usesPojo(v.registered.value)) return undefined;
  const before = classesIn(sampleValues(old, v, SAMPLE));
  if (before.size === 0) return undefined;
  const after = classesIn(sampleValues(next, w, SAMPLE));
  const gone = [...before].filter(c => !after.has(c));
  if (after.size === 0 || gone.length === 0) return undefined;
  return `old values are of subclass ${gone.join(', ')}, new ones never: they cannot be read if the class is gone`;
}

function classesIn(values: readonly string[]): Set<string> {
  return new Set(values.flatMap(text => [...text.matchAll(/"\$class":"([^"\\]+)"/g)].map(m => m[1])));
}
