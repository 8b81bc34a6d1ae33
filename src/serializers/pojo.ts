/**
 * POJOs and, since 1.19, records.
 *
 *   snapshot   version 2: utf class · three LinkedOptionalMaps:
 *              fields in wire order     name → utf declaring class, utf field name (absent: the field is gone) · versioned snapshot
 *              registered subclasses    class → (empty) · versioned snapshot, in the order of their tags
 *              other subclasses         the same
 *   value      u8 flags:  1 null
 *                         2 fields of the class itself:     fields × (bool isNull · [value])
 *                         4 a subclass by its name:         utf class · whole output of the subclass's serializer
 *                         8 a registered subclass:          u8 tag · whole output of the subclass's serializer
 *
 * A subclass's own fields exist in the JSON form only, with `$class`; of a subclass that the snapshot does not describe the
 * bytes are shown. Flink: PojoSerializer, PojoSerializerSnapshotData in org.apache.flink.api.java.typeutils.runtime (1.8–2.3).
 */
import type { Column } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { INSIDE_JSON, jsonOf, jsonString } from '../io/json.js';
import { JsonText, type SqlType, Struct, type StructExtra, sameType, type Value } from '../types.js';
import type { Codec, NamedSnapshot, SerializerSnapshot } from './codec.js';
import { compositeCodec, type Part } from './composite.js';
import { takeRestHex } from './opaque.js';
import {
  defineSerializer,
  type OptionalMapEntry,
  readLinkedOptionalMap,
  type SnapshotBody,
  type SnapshotReader,
  simpleName,
} from './snapshot.js';

const IS_NULL = 1;
const OWN_FIELDS = 2;
const SUBCLASS_BY_NAME = 4;
const SUBCLASS_BY_TAG = 8;

export interface PojoShape {
  readonly typeClass: string;
  readonly fields: readonly Part[];
  /** by tag; undefined: the class was gone when the snapshot was written */
  readonly registered: readonly (Subclass | undefined)[];
  readonly byName: ReadonlyMap<string, Subclass>;
}
export interface Subclass {
  readonly className: string;
  readonly codec: Codec;
}

/** STRUCT of the class's own fields. */
export function pojoCodec(shape: PojoShape): Codec {
  const own = compositeCodec(shape.fields, { flagged: true });
  const hidden = [...shape.registered, ...shape.byName.values()].filter(s => s?.codec.opaque !== undefined);
  const reasons = [own.opaque, ...hidden.map(s => `subclass ${s?.className}: ${s?.codec.opaque}`)].filter(r => r !== undefined);

  const subclassOf = (c: Cursor, flags: number): Subclass => {
    const at = c.position;
    if (flags === SUBCLASS_BY_TAG) {
      const tag = c.u8();
      const subclass = shape.registered[tag];
      if (tag >= shape.registered.length) c.fail(`subclass ${tag} of ${shape.registered.length} registered ones`, at);
      return subclass ?? unknownSubclass(`registered subclass ${tag}`);
    }
    const className = c.utf('subclass');
    return shape.byName.get(className) ?? shape.registered.find(s => s?.className === className) ?? unknownSubclass(className);
  };
  const read = (c: Cursor): Value => {
    const at = c.position;
    const flags = c.u8();
    if (flags === OWN_FIELDS) return own.read(c);
    if (flags === IS_NULL) return null;
    if (flags !== SUBCLASS_BY_NAME && flags !== SUBCLASS_BY_TAG) c.fail(`flags ${flags} of a POJO`, at);
    const { className, codec } = subclassOf(c, flags);
    return asBase(own.type, className, codec.type, codec.read(c));
  };
  return {
    type: own.type,
    length: -1,
    ...(reasons.length === 0 ? {} : { opaque: reasons.join(' · ') }),
    ...(own.unbounded === true ? { unbounded: true } : {}),
    read,
    skip(c) {
      const at = c.position;
      const flags = c.u8();
      if (flags === OWN_FIELDS) own.skip(c);
      else if (flags === SUBCLASS_BY_NAME || flags === SUBCLASS_BY_TAG) subclassOf(c, flags).codec.skip(c);
      else if (flags !== IS_NULL) c.fail(`flags ${flags} of a POJO`, at);
    },
    append(c, out: Column) {
      if (c.remaining > 0 && c.bytes[c.position] === OWN_FIELDS) {
        c.position++;
        own.append(c, out);
      } else out.push(read(c));
    },
  };
}

/** A subclass whose fields nothing tells: all that follows. */
function unknownSubclass(className: string): Subclass {
  const read = (c: Cursor): Value => new JsonText(`{"$hex":"${takeRestHex(c)}"}`);
  const skip = (c: Cursor): void => void c.take(c.remaining);
  const append = (c: Cursor, out: Column): void => out.push(read(c));
  return { className, codec: { type: { kind: 'JSON' }, length: -1, read, skip, append } };
}

/** A subclass's value as one of its base type: fields by name, the others and `$class` as extras of the JSON form. */
function asBase(base: SqlType, className: string, type: SqlType, value: Value): Value {
  const classJson = jsonString(className);
  if (value === null) return null;
  if (base.kind !== 'STRUCT' || type.kind !== 'STRUCT' || !(value instanceof Struct))
    return new JsonText(withClass(classJson, jsonOf(type, value, INSIDE_JSON)));
  const extras: StructExtra[] = [{ name: '$class', json: classJson, lead: true }];
  const taken = new Set<number>();
  const values = base.fields.map(f => {
    const i = type.fields.findIndex(x => x.name === f.name && sameType(x.type, f.type));
    if (i < 0) return null;
    taken.add(i);
    return value.values[i];
  });
  type.fields.forEach((f, i) => {
    if (!taken.has(i)) extras.push({ name: f.name, json: jsonOf(f.type, value.values[i], INSIDE_JSON), lead: false });
  });
  // a subclass of the subclass names itself
  const inner = value.extras ?? [];
  return new Struct(values, inner.some(x => x.name === '$class') ? [...inner, ...extras.slice(1)] : [...extras, ...inner]);
}

function withClass(classJson: string, json: string): string {
  if (json.startsWith('{"$class"')) return json;
  if (json.startsWith('{')) return json === '{}' ? `{"$class":${classJson}}` : `{"$class":${classJson},${json.slice(1)}`;
  return `{"$class":${classJson},"$value":${json}}`;
}

interface FieldKey {
  readonly declaringClass: string;
  readonly name: string;
}

function readSubclasses(c: Cursor, reader: SnapshotReader, what: string): OptionalMapEntry<undefined, SerializerSnapshot>[] {
  return readLinkedOptionalMap(
    c,
    what,
    frame => void (frame.position = frame.end),
    frame => reader.framed(frame),
  );
}

function readPojo(c: Cursor, version: number, reader: SnapshotReader): SnapshotBody {
  if (version !== 2) reader.unknownVersion(c);
  const typeClass = c.utf('POJO class');
  const fields = readLinkedOptionalMap<FieldKey, SerializerSnapshot>(
    c,
    'fields',
    frame => ({ declaringClass: frame.utf('declaring class'), name: frame.utf('field') }),
    frame => reader.framed(frame),
  );
  const registered = readSubclasses(c, reader, 'registered subclasses');
  const others = readSubclasses(c, reader, 'other subclasses');
  const missing = fields.findIndex(f => f.value === undefined);
  if (missing >= 0) c.fail(`field ${fields[missing].name} of ${typeClass} has no serializer`);

  const fieldChildren: NamedSnapshot[] = fields.map(f => ({ name: f.name, snapshot: f.value as SerializerSnapshot }));
  const subclassChildren = (entries: readonly OptionalMapEntry<undefined, SerializerSnapshot>[], mark: string): NamedSnapshot[] =>
    entries.flatMap(e => (e.value === undefined ? [] : [{ name: `${mark}${e.name}`, snapshot: e.value }]));
  const shown = fieldChildren.map(f => `${f.name} ${f.snapshot.text}`).join(', ');
  return {
    serializer: 'PojoSerializer',
    text: `Pojo(${simpleName(typeClass)}${shown === '' ? '' : `: ${shown}`})`,
    children: [...fieldChildren, ...subclassChildren(registered, '$registered:'), ...subclassChildren(others, '$subclass:')],
    details: {
      typeClass,
      fields: fields.map(f => ({ name: f.name, declaringClass: f.key?.declaringClass ?? null })),
      registeredSubclasses: registered.map(e => e.name),
      otherSubclasses: others.map(e => e.name),
    },
    codec(context) {
      const subclass = (e: OptionalMapEntry<undefined, SerializerSnapshot>): Subclass | undefined =>
        e.value === undefined ? undefined : { className: e.name, codec: e.value.codec(context) };
      return pojoCodec({
        typeClass,
        fields: fieldChildren.map(f => ({ name: f.name, codec: f.snapshot.codec(context) })),
        registered: registered.map(subclass),
        byName: new Map(others.flatMap(e => (e.value === undefined ? [] : [[e.name, subclass(e) as Subclass]]))),
      });
    },
  };
}

export const SERIALIZERS = [
  defineSerializer({ snapshotClasses: ['org.apache.flink.api.java.typeutils.runtime.PojoSerializerSnapshot'], read: readPojo }),
];
