/**
 * Which serializer Kryo takes for a class, in its order:
 *
 *   1. the one that the snapshot registers for the class        2. Flink's own registrations (ids 10–84)
 *   3. chill's for objects and collections of Scala             4. Flink's for exceptions, default serializers of the snapshot
 *   5. Kryo's default serializers                               6. the fields of the class
 *
 * Serializers of users are code: what they write cannot be known, but for those in SERIALIZER_CLASSES.
 * Kryo.getDefaultSerializer, KryoBase.newDefaultSerializer, KryoSerializer.checkKryoInitialized (Flink 1.20, 2.3).
 */
import { BLOB } from '../../types.js';
import { arrayBody, BASES, collectionBody, collectionBodyOf, enumBody, mapBody } from './collections.js';
import { fieldsBody } from './fields.js';
import type { Body, ClassRef, KryoDialect } from './reader.js';
import { scalaBody } from './scala.js';
import { javaBody, scalarBody } from './scalars.js';
import { timeBody } from './times.js';
import { scalar, text } from './tree.js';
import { readString, readVarInt } from './wire.js';

/** A default serializer of the snapshot: for all subclasses of a class. */
export interface DefaultSerializer {
  readonly className: string;
  readonly serializer: string;
}

/** Bytes of a message with their length: a struct where a schema is at hand, otherwise `{"$class", "$hex"}`. */
const message: Body = (r, ref) => {
  const at = r.c.position;
  const length = readVarInt(r.c, 'length of a message');
  if (length > r.c.remaining) r.c.fail(`a message of ${length} bytes, but only ${r.c.remaining} remain`, at);
  const bytes = r.c.slice(length).slice();
  return (
    r.dialect.protobuf?.(ref.name, bytes) ?? {
      kind: 'object',
      className: '',
      fields: [
        { name: '$class', value: text(ref.name) },
        { name: '$hex', value: scalar(BLOB, bytes) },
      ],
    }
  );
};

/** chill-avro and the like: varint length · bytes */
const SERIALIZER_CLASSES: Readonly<Record<string, Body>> = {
  'com.twitter.chill.protobuf.ProtobufSerializer': message,
  'com.twitter.chill.thrift.TBaseSerializer': message,
  'com.twitter.chill.thrift.TEnumSerializer': enumBody,
  'com.esotericsoftware.kryo.serializers.FieldSerializer': fieldsBody,
  'com.esotericsoftware.kryo.serializers.CollectionSerializer': collectionBody,
  'com.esotericsoftware.kryo.serializers.MapSerializer': mapBody,
  'com.esotericsoftware.kryo.serializers.JavaSerializer': javaBody,
  'org.apache.flink.api.java.typeutils.runtime.kryo.JavaSerializer': javaBody,
  'org.apache.flink.api.java.typeutils.runtime.kryo.Serializers$SpecificInstanceCollectionSerializerForArrayList': collectionBody,
  'org.apache.flink.formats.avro.utils.AvroKryoSerializerUtils$AvroSchemaSerializer': r => text(readString(r.c)),
  'org.apache.flink.api.java.typeutils.runtime.kryo.Serializers$AvroSchemaSerializer': r => text(readString(r.c)),
};

/** The body of a class in this dialect. */
export function bodyOf(ref: ClassRef, dialect: Omit<KryoDialect, 'body'>, defaults: readonly DefaultSerializer[]): Body {
  const { v5, scala, classes } = dialect;
  const { name } = ref;
  if (ref.serializer !== undefined) return bySerializer(ref.serializer);
  const fixed = ref.fixed === true;
  if (fixed) {
    const registered = scalarBody(name, v5, true) ?? collectionBodyOf(name, v5, true);
    if (registered !== undefined) return registered;
  }
  const isScala = name.startsWith('scala.') || name.endsWith('$');
  if (scala && isScala) {
    const chill = scalaBody(name, classes.isScalaObject(name));
    if (chill !== undefined) return chill;
  }
  if (classes.baseOf(name) === 'throwable') return javaBody;
  if (defaults.length > 0) {
    const ancestors = classes.ancestors(name);
    const found = defaults.find(d => ancestors.has(d.className) || name.startsWith(`${d.className}$`));
    if (found !== undefined) return bySerializer(found.serializer);
  }
  if (name.startsWith('[')) return arrayBody;
  const scalarOf = scalarBody(name, v5, false) ?? (v5 ? timeBody(name) : undefined);
  if (scalarOf !== undefined) return scalarOf;
  const ancestors = classes.ancestors(name);
  if (ancestors.has('com.esotericsoftware.kryo.KryoSerializable'))
    return r => r.giveUp(name, `${name} writes itself (KryoSerializable): only its code knows how`);
  if (classes.enumConstants(name) !== undefined) return enumBody;
  for (const above of ancestors) {
    const inherited = INHERITED.has(above) ? scalarBody(above, v5, false) : undefined;
    if (inherited !== undefined) return inherited;
  }
  const collection = collectionBodyOf(name, v5, false);
  if (collection !== undefined) return collection;
  const base = classes.baseOf(name);
  if (base !== undefined && base !== 'throwable') return BASES[base];
  return v5 ? fields5(name) : fieldsBody;
}

/** Classes whose default serializer serves their subclasses. */
const INHERITED = new Set(['java.util.Date', 'java.util.Calendar', 'java.util.TimeZone', 'java.math.BigInteger', 'java.math.BigDecimal']);

/** Classes that have serializers in Kryo 5 and are written by their fields in Kryo 2. */
function fields5(name: string): Body {
  switch (name) {
    case 'java.time.ZoneId':
      return timeBody('java.time.ZoneRegion') ?? fieldsBody;
    default:
      return fieldsBody;
  }
}

function bySerializer(serializer: string): Body {
  if (Object.hasOwn(SERIALIZER_CLASSES, serializer)) return SERIALIZER_CLASSES[serializer];
  return (r, ref) => r.giveUp(ref.name, `${ref.name} is written by ${serializer}: only its code knows how`);
}

/** Whether what a serializer class writes is known. */
export function isKnownSerializer(serializer: string): boolean {
  return Object.hasOwn(SERIALIZER_CLASSES, serializer);
}
