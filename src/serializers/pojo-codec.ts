/**
 * Values of POJOs and, since 1.19, of records.
 *
 *   u8 flags:  1 null
 *              2 fields of the class itself:     fields × (bool isNull · [value])
 *              4 a subclass by its name:         utf class · whole output of the subclass's serializer
 *              8 a registered subclass:          u8 tag · whole output of the subclass's serializer
 *
 * The type has the class's own fields. A subclass's further fields exist in the JSON form only, with `$class`.
 * Flink: PojoSerializer in org.apache.flink.api.java.typeutils.runtime (1.8–2.3).
 */
import type { Column } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { INSIDE_JSON, jsonOf, jsonString } from '../io/json.js';
import { JsonText, type SqlType, Struct, type StructExtra, sameType, type Value } from '../types.js';
import { boundsOf, type Codec } from './codec.js';
import { compositeCodec, type Part } from './composite.js';
import { takeRestHex } from './opaque.js';
import { wireOf, withWire } from './wire.js';

const IS_NULL = 1;
const OWN_FIELDS = 2;
const SUBCLASS_BY_NAME = 4;
const SUBCLASS_BY_TAG = 8;
/** Undescribed subclasses whose codec is kept. */
const MAX_MET = 1000;

export interface PojoShape {
  readonly typeClass: string;
  readonly fields: readonly Part[];
  /** by tag; without a codec: the class was gone when the snapshot was written */
  readonly registered: readonly { readonly className: string; readonly codec: Codec | undefined }[];
  readonly byName: ReadonlyMap<string, Subclass>;
  /** a codec for a subclass that the snapshot does not describe, if its class is known */
  readonly layout?: (className: string) => Codec | undefined;
}
export interface Subclass {
  readonly className: string;
  readonly codec: Codec;
}

/** STRUCT of the class's own fields. */
export function pojoCodec(shape: PojoShape): Codec {
  const own = compositeCodec(shape.fields, { flagged: true });
  const reasons = own.opaque === undefined ? [] : [own.opaque];
  for (const { className, codec } of [...shape.registered, ...shape.byName.values()])
    if (codec?.opaque !== undefined) reasons.push(`subclass ${className}: ${codec.opaque}`);

  const met = new Map<string, Subclass>();
  const undescribed = (className: string): Subclass => {
    let subclass = met.get(className);
    if (subclass === undefined) {
      const codec = shape.layout?.(className);
      subclass = codec === undefined ? unknownSubclass(className) : { className, codec };
      // a damaged file could name any number of classes
      if (met.size < MAX_MET) met.set(className, subclass);
    }
    return subclass;
  };
  const subclassOf = (c: Cursor, flags: number): Subclass => {
    const at = c.position;
    if (flags === SUBCLASS_BY_TAG) {
      const tag = c.u8();
      if (tag >= shape.registered.length) c.fail(`subclass ${tag} of ${shape.registered.length} registered ones`, at);
      const { className, codec } = shape.registered[tag];
      return codec === undefined ? undescribed(className) : { className, codec };
    }
    const className = c.utf('subclass');
    return shape.byName.get(className) ?? undescribed(className);
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
  const codec: Codec = {
    type: own.type,
    length: -1,
    ...(reasons.length === 0 ? {} : { opaque: reasons.join(' · ') }),
    ...boundsOf([own]),
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
  const wire = wireOf(own);
  return wire?.kind === 'parts' ? withWire(codec, { ...wire, lead: OWN_FIELDS }) : codec;
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
