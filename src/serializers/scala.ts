/**
 * Types of the Scala API, in org.apache.flink.api.scala.typeutils (1.x) and org.apache.flink.table.api.typeutils (2.x).
 *
 *   case class, tuple   composite, outer version 2: utf class, nested fields       fields back to back; names are not written
 *   Option              composite, outer version 2, nested [value]                 bool isSome · [value]
 *   Either              composite, outer version 1, nested [left, right]           bool isLeft · value
 *   Try                 composite, outer version 2, nested [value, Throwable]      bool isSuccess · value | Kryo Throwable
 *   Traversable         composite, outer version 2: utf code of a CanBuildFrom, nested [element]
 *                                                                                  i32 n · n × (bool isPresent · [element])
 *   Enumeration         version 3: utf class · i32 n · n × (utf name · i32 id)     i32 id
 *   Unit, Nothing       simple                                                     one byte · never written
 *   Kryo Throwable      varint class tag, 1: by name: varint 0 · string · varint 1 · Java object stream
 *
 * A Traversable whose CanBuildFrom builds a Map is a MAP. With the class at hand (--jar) a case class's fields have its names.
 * Flink: the classes of those names (1.8–1.20, 2.0–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import { readJavaObject } from '../java/stream.js';
import { javaField } from '../java/tree.js';
import { Struct, struct, VARCHAR } from '../types.js';
import { type Codec, type CodecContext, codecOf, type SerializerSnapshot } from './codec.js';
import { compositeCodec } from './composite.js';
import { choiceCodec, optionalCodec } from './either.js';
import { listCodec, mapCodec } from './sequence.js';
import { simpleDefinition } from './simple.js';
import { defineSerializer, named, readComposite, type SerializerDefinition, type SnapshotBody, simpleName } from './snapshot.js';
import { tupleLength } from './tuple.js';

const PACKAGES = ['org.apache.flink.api.scala.typeutils.', 'org.apache.flink.table.api.typeutils.'];
const classes = (...names: readonly string[]): string[] => PACKAGES.flatMap(p => names.map(name => p + name));

/** Names of a case class's fields, when the class pool has it and it has as many. */
function fieldNames(context: CodecContext, typeClass: string, arity: number): readonly string[] | undefined {
  const fields = context.classes?.find(typeClass)?.fields.filter(f => !f.isStatic && !f.isSynthetic && f.name !== '$outer');
  return fields?.length === arity && !typeClass.startsWith('scala.Tuple') ? fields.map(f => f.name) : undefined;
}

function caseClassBody(typeClass: string, fields: readonly SerializerSnapshot[]): SnapshotBody {
  const children = named([], fields);
  return {
    serializer: 'ScalaCaseClassSerializer',
    text: `${simpleName(typeClass)}(${fields.map(f => f.text).join(', ')})`,
    children,
    details: { typeClass, arity: fields.length },
    codec(context) {
      const names = fieldNames(context, typeClass, fields.length);
      const parts = children.map((f, i) => ({ name: names?.[i] ?? f.name, codec: f.snapshot.codec(context) }));
      return compositeCodec(parts, { length: tupleLength(parts.map(p => p.codec)) });
    },
  };
}

/** What a Kryo string takes: flagged length and units, or ASCII up to the byte with the high bit. */
function skipKryoString(c: Cursor): void {
  const first = c.u8();
  if ((first & 0x80) === 0) {
    while (c.u8() < 0x80);
    return;
  }
  let units = first & 0x3f;
  if ((first & 0x40) !== 0) {
    let shift = 6;
    let b: number;
    do {
      b = c.u8();
      units += (b & 0x7f) * 2 ** shift;
      shift += 7;
    } while (b >= 0x80 && shift < 34);
  }
  for (let i = 1; i < units; i++) {
    const b = c.u8();
    if (b >= 0xe0) c.take(2);
    else if (b >= 0xc0) c.take(1);
  }
}

/** STRUCT(class, message) of a Throwable in Java's form, as Kryo embeds it; anything else goes to Kryo's codec. */
export function throwableCodec(kryo: Codec): Codec {
  return codecOf({
    type: struct(['class', VARCHAR], ['message', VARCHAR]),
    read(c) {
      const start = c.position;
      if (c.varint('class tag') === 1) {
        c.varint('class name id');
        skipKryoString(c);
      }
      c.varint('reference');
      if (c.remaining < 2 || c.bytes[c.position] !== 0xac || c.bytes[c.position + 1] !== 0xed) {
        c.position = start;
        return kryo.read(c);
      }
      const at = c.position;
      const thrown = readJavaObject(c);
      if (thrown.kind !== 'object') return c.fail('no Throwable', at);
      const message = javaField(thrown, 'detailMessage', 'java.lang.Throwable');
      return new Struct([thrown.classDesc.name, message?.kind === 'string' ? message.value : null]);
    },
  });
}

/** CanBuildFrom[scala.collection.immutable.Map[…], (K, V), …] */
const BUILDS_MAP = /CanBuildFrom\[(?:[\w.]+\.)?\w*Map\[/;

function elementsBody(canBuildFrom: string, element: SerializerSnapshot): SnapshotBody {
  const isMap = BUILDS_MAP.test(canBuildFrom) && element.serializer === 'ScalaCaseClassSerializer' && element.children.length === 2;
  const [key, value] = element.children;
  return {
    serializer: 'TraversableSerializer',
    text: isMap ? `Map(${key.snapshot.text}, ${value.snapshot.text})` : `Traversable(${element.text})`,
    children: named(['element'], [element]),
    details: { canBuildFrom },
    codec: context =>
      isMap
        ? mapCodec(key.snapshot.codec(context), value.snapshot.codec(context), { flag: 'entryIsPresent' })
        : listCodec(element.codec(context), { flag: 'isPresent' }),
  };
}

function enumerationCodec(names: ReadonlyMap<number, string>): Codec {
  return codecOf({
    type: VARCHAR,
    length: 4,
    read(c) {
      const at = c.position;
      const id = c.i32();
      return names.get(id) ?? c.fail(`id ${id} is none of the enumeration's ${names.size}`, at);
    },
  });
}

const UNIT_CODEC: Codec = codecOf({
  type: VARCHAR,
  length: 1,
  read(c) {
    c.take(1);
    return '()';
  },
  skip: c => void c.take(1),
});

const NOTHING_CODEC: Codec = codecOf({
  type: VARCHAR,
  read: c => c.fail('a value of type Nothing'),
});

const wrapper = (
  snapshotClasses: readonly string[],
  names: readonly string[],
  body: (nested: readonly SerializerSnapshot[]) => Pick<SnapshotBody, 'serializer' | 'text' | 'codec'>,
): SerializerDefinition =>
  defineSerializer({
    snapshotClasses,
    read(c, _version, reader) {
      const { nested } = readComposite(c, reader, () => undefined, names.length);
      return { children: named(names, nested), ...body(nested) };
    },
  });

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: classes(
      'ScalaCaseClassSerializerSnapshot',
      'Tuple2CaseClassSerializerSnapshot',
      'SpecificCaseClassSerializerSnapshot',
    ),
    read(c, _version, reader) {
      const { outer, nested } = readComposite(c, reader, () => c.utf('case class'));
      return caseClassBody(outer, nested);
    },
  }),
  wrapper(classes('ScalaOptionSerializerSnapshot', 'ScalaOptionSerializerConfigSnapshot'), ['value'], ([value]) => ({
    serializer: 'OptionSerializer',
    text: `Option(${value.text})`,
    codec: context => optionalCodec(value.codec(context), false),
  })),
  wrapper(
    classes('ScalaEitherSerializerSnapshot', 'ScalaEitherSerializerConfigSnapshot', 'EitherSerializer$EitherSerializerConfigSnapshot'),
    ['left', 'right'],
    ([left, right]) => ({
      serializer: 'EitherSerializer',
      text: `Either(${left.text}, ${right.text})`,
      codec: context =>
        choiceCodec({ name: 'left', codec: left.codec(context) }, { name: 'right', codec: right.codec(context) }, c => c.bool()),
    }),
  ),
  wrapper(classes('ScalaTrySerializerSnapshot', 'ScalaTrySerializerConfigSnapshot'), ['success', 'failure'], ([success, failure]) => ({
    serializer: 'TrySerializer',
    text: `Try(${success.text})`,
    codec: context =>
      choiceCodec(
        { name: 'success', codec: success.codec(context) },
        { name: 'failure', codec: throwableCodec(failure.codec(context)) },
        c => c.bool(),
      ),
  })),
  defineSerializer({
    snapshotClasses: classes('TraversableSerializerSnapshot', 'TraversableSerializerConfigSnapshot'),
    read(c, _version, reader) {
      const { outer, nested } = readComposite(c, reader, () => (reader.legacy ? '' : c.utf('CanBuildFrom code')), 1);
      return elementsBody(outer, nested[0]);
    },
  }),
  defineSerializer({
    snapshotClasses: classes('ScalaEnumSerializerSnapshot'),
    read(c, version, reader): SnapshotBody {
      if (version !== 3 && version !== 2) reader.unknownVersion(c);
      const typeClass = c.utf('enumeration class');
      const n = c.count('number of enumeration values', 6);
      const names = new Map<number, string>();
      for (let i = 0; i < n; i++) {
        const name = c.utf('enumeration value');
        names.set(c.i32(), name);
      }
      return {
        serializer: 'EnumValueSerializer',
        text: `Enumeration(${simpleName(typeClass)}: ${[...names.values()].join(', ')})`,
        details: { typeClass, constants: [...names.values()], ids: [...names.keys()] },
        codec: () => enumerationCodec(names),
      };
    },
  }),
  simpleDefinition(classes('UnitSerializer$UnitSerializerSnapshot', 'UnitSerializerSnapshot'), 'UnitSerializer', 'Unit', () => UNIT_CODEC),
  simpleDefinition(
    classes('NothingSerializerSnapshot', 'NothingSerializer$NothingSerializerSnapshot'),
    'NothingSerializer',
    'Nothing',
    () => NOTHING_CODEC,
  ),
];
