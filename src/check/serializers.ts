/**
 * Would a serializer read what another one wrote? Flink's own rules (TypeSerializerSnapshot.resolveSchemaCompatibility), applied to
 * the snapshots of both sides.
 *
 *   as-is          the new serializer reads the old bytes
 *   migration      the old one reads, the new one writes: Flink rewrites the state on restore
 *   incompatible   Flink refuses the restore
 *   unknown        it depends on classes that the snapshots do not hold
 *
 *   simple types   the same serializer; Tuple, Row, case class, arrays, RowData: the same class, arity, types; then their parts
 *   enum           constants may be added and reordered; one that is gone makes the old snapshot unreadable
 *   POJO           fields may be added or removed (migration); a field may not change its type, the class not its name
 *   Avro           schema resolution (avro.ts): the new schema reads the old one (migration) or not
 *   Kryo           the same class; registered classes may not vanish. Whether the class changed is not in the snapshot
 *   TTL            turned on or off: incompatible before Flink 2.2, migration since
 *
 * Flink: CompositeTypeSerializerSnapshot, PojoSerializerSnapshot, EnumSerializer, AvroSerializerSnapshot, KryoSerializerSnapshot,
 * RowDataSerializer, TtlAwareSerializerSnapshotWrapper (1.20, 2.3).
 */
import type { NamedSnapshot, SerializerSnapshot, SnapshotDetail } from '../serializers/codec.js';
import { avroCompatibility } from './avro.js';

export type CompatibilityLevel = 'as-is' | 'migration' | 'unknown' | 'incompatible';

export interface Compatibility {
  readonly level: CompatibilityLevel;
  /** why not as it is, in words; the place in the value in front */
  readonly reasons: readonly string[];
  /** what is lost although it restores: a field that vanished */
  readonly losses: readonly string[];
  /** a migration that fails on RocksDB, where Flink rewrites values entry by entry */
  readonly failsOnRocksdb?: string;
}

export interface CompatibilityOptions {
  /** Flink 2.2 and later: TTL may be turned on and off */
  readonly ttlMigrates: boolean;
}

const ORDER: readonly CompatibilityLevel[] = ['as-is', 'migration', 'unknown', 'incompatible'];
const AS_IS: Compatibility = { level: 'as-is', reasons: [], losses: [] };
const only = (level: CompatibilityLevel, reason: string): Compatibility => ({ level, reasons: [reason], losses: [] });

function worst(parts: readonly Compatibility[]): Compatibility {
  const level = parts.reduce<CompatibilityLevel>((a, p) => (ORDER.indexOf(p.level) > ORDER.indexOf(a) ? p.level : a), 'as-is');
  const fails = parts.find(p => p.failsOnRocksdb !== undefined)?.failsOnRocksdb;
  return {
    level,
    reasons: parts.flatMap(p => p.reasons),
    losses: parts.flatMap(p => p.losses),
    ...(fails === undefined ? {} : { failsOnRocksdb: fails }),
  };
}

/** How `next` takes what `old` wrote. `place` stands in front of the reasons: `value.address`. */
export function serializerCompatibility(
  old: SerializerSnapshot,
  next: SerializerSnapshot,
  options: CompatibilityOptions,
  place: string,
): Compatibility {
  const ttl = ttlCompatibility(old, next, options, place);
  if (ttl !== undefined) return ttl;
  if (old.unknown !== undefined || next.unknown !== undefined) {
    return old.snapshotClass === next.snapshotClass
      ? only('unknown', `${place}: ${old.serializer} is not known, its own rules decide`)
      : only('incompatible', `${place}: ${old.serializer} was replaced by ${next.serializer}`);
  }
  if (old.serializer !== next.serializer) return only('incompatible', `${place}: ${old.text} was replaced by ${next.text}`);
  switch (old.serializer) {
    case 'PojoSerializer':
      return pojo(old, next, options, place);
    case 'EnumSerializer':
    case 'ScalaEnumSerializer':
      return enumeration(old, next, place);
    case 'AvroSerializer':
      return avroCompatibility(old, next, place);
    case 'KryoSerializer':
      return kryo(old, next, place);
    default:
      return composite(old, next, options, place);
  }
}

/** TTL on one side only, or on both; undefined when neither has it. */
function ttlCompatibility(
  old: SerializerSnapshot,
  next: SerializerSnapshot,
  options: CompatibilityOptions,
  place: string,
): Compatibility | undefined {
  const peel = (s: SerializerSnapshot): { value: SerializerSnapshot; ttl: boolean } =>
    s.serializer === 'TtlSerializer' ? { value: s.children[1].snapshot, ttl: true } : { value: s, ttl: false };
  const a = peel(old);
  const b = peel(next);
  if (!a.ttl && !b.ttl) return undefined;
  const inner = serializerCompatibility(a.value, b.value, options, place);
  if (a.ttl === b.ttl) return inner;
  const change = `${place}: TTL was turned ${b.ttl ? 'on' : 'off'}`;
  if (!options.ttlMigrates) return only('incompatible', `${change}, which Flink before 2.2 refuses`);
  return worst([inner, only('migration', change)]);
}

function composite(old: SerializerSnapshot, next: SerializerSnapshot, options: CompatibilityOptions, place: string): Compatibility {
  if (JSON.stringify(old.details) !== JSON.stringify(next.details) || old.children.length !== next.children.length) {
    return only('incompatible', `${place}: ${old.text} became ${next.text}`);
  }
  return worst(
    old.children.map((child, i) => serializerCompatibility(child.snapshot, next.children[i].snapshot, options, `${place}.${child.name}`)),
  );
}

const texts = (detail: SnapshotDetail | undefined): string[] => (Array.isArray(detail) ? detail.map(String) : []);

function enumeration(old: SerializerSnapshot, next: SerializerSnapshot, place: string): Compatibility {
  if (old.details['typeClass'] !== next.details['typeClass'])
    return only('incompatible', `${place}: enum ${old.details['typeClass']} became ${next.details['typeClass']}`);
  const constants = new Set(texts(next.details['constants']));
  const gone = texts(old.details['constants']).filter(c => !constants.has(c));
  if (gone.length > 0)
    return only('incompatible', `${place}: enum constant ${gone.join(', ')} is gone, the old snapshot cannot be read without it`);
  return AS_IS;
}

function pojo(old: SerializerSnapshot, next: SerializerSnapshot, options: CompatibilityOptions, place: string): Compatibility {
  const oldClass = String(old.details['typeClass']);
  const newClass = String(next.details['typeClass']);
  if (oldClass !== newClass) return only('incompatible', `${place}: class ${oldClass} became ${newClass}`);
  const fieldsOf = (s: SerializerSnapshot): Map<string, SerializerSnapshot> =>
    new Map(s.children.filter(c => !c.name.startsWith('$')).map((c: NamedSnapshot) => [c.name, c.snapshot]));
  const oldFields = fieldsOf(old);
  const newFields = fieldsOf(next);
  const parts: Compatibility[] = [];
  for (const [name, snapshot] of oldFields) {
    const other = newFields.get(name);
    if (other === undefined) {
      parts.push({
        level: 'migration',
        reasons: [`${place}: field ${name} was removed`],
        losses: [`${place}.${name}: its values are dropped`],
      });
    } else parts.push(serializerCompatibility(snapshot, other, options, `${place}.${name}`));
  }
  for (const name of newFields.keys())
    if (!oldFields.has(name)) parts.push(only('migration', `${place}: field ${name} was added, old values have its default`));
  const named = new Set([...texts(next.details['registeredSubclasses']), ...texts(next.details['otherSubclasses'])]);
  const gone = texts(old.details['registeredSubclasses']).filter(c => !named.has(c));
  if (gone.length > 0)
    parts.push(
      only(
        'incompatible',
        `${place}: subclass ${gone.join(', ')} is not registered any more; the old snapshot cannot be read if the class is gone`,
      ),
    );
  // subclasses that were only seen: a fresh job that saw others, and not these, may have lost them
  const unseen = texts(old.details['otherSubclasses']).filter(c => !named.has(c));
  if (unseen.length > 0)
    parts.push({
      level: named.size > 0 ? 'unknown' : 'as-is',
      reasons: [
        `${place}: the old snapshot needs subclass ${unseen.join(', ')}, which the new one does not name; it cannot be read if the class is gone`,
      ],
      losses: [],
    });
  for (const child of old.children) {
    if (!child.name.startsWith('$')) continue;
    const className = child.name.slice(child.name.indexOf(':') + 1);
    const other = next.children.find(c => c.name.startsWith('$') && c.name.slice(c.name.indexOf(':') + 1) === className);
    if (other !== undefined) parts.push(serializerCompatibility(child.snapshot, other.snapshot, options, `${place}(${className})`));
  }
  return worst(parts);
}

function kryo(old: SerializerSnapshot, next: SerializerSnapshot, place: string): Compatibility {
  if (old.details['typeClass'] !== next.details['typeClass'])
    return only('incompatible', `${place}: class ${old.details['typeClass']} became ${next.details['typeClass']}`);
  const classes = (s: SerializerSnapshot): string[] =>
    Array.isArray(s.details['registrations'])
      ? s.details['registrations'].map(r => String((r as { readonly class?: SnapshotDetail }).class))
      : [];
  const now = new Set(classes(next));
  const gone = classes(old).filter(c => !now.has(c));
  if (gone.length > 0) return only('incompatible', `${place}: Kryo registration of ${gone.join(', ')} is gone`);
  return AS_IS;
}
