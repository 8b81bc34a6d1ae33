/**
 * What PojoSerializer a class gets, from its layout in a .class file: for subclasses that no snapshot describes.
 *
 *   fields   of the class and its superclasses, not static, not transient, sorted by name
 *   types    primitives, boxes, String, java.math, dates and times, enums, arrays and tuples of these: their own serializers
 *            a class within itself or a subclass of its: Kryo
 *            classes that a snapshot describes as POJOs: that serializer; other classes: POJO or Kryo, told by the first byte
 *            (2, 4, 8 are a POJO's flags; as a Kryo class tag they would be a box or a primitive)
 *
 * Flink: TypeExtractor.analyzePojo, PojoTypeInfo, PojoSerializer.getSubclassSerializer (1.20).
 */
import type { Cursor } from '../io/cursor.js';
import { type JavaType, parseSignature } from '../java/signature.js';
import { JsonText } from '../types.js';
import { ARRAY_CODECS } from './arrays.js';
import { BIG_DEC_CODEC, BIG_INT_CODEC } from './big-numbers.js';
import { type ClassLayout, type Codec, type CodecContext, codecOf, type NamedSnapshot } from './codec.js';
import { compositeCodec } from './composite.js';
import { enumCodec } from './enums.js';
import { opaqueCodec, opaqueJson } from './opaque.js';
import { pojoCodec } from './pojo-codec.js';
import {
  BOOLEAN_CODEC,
  BYTE_CODEC,
  CHAR_CODEC,
  DOUBLE_CODEC,
  FLOAT_CODEC,
  INT_CODEC,
  LONG_CODEC,
  SHORT_CODEC,
  VOID_CODEC,
} from './primitives.js';
import { listCodec } from './sequence.js';
import { STRING_CODEC } from './string.js';
import { TIME_CODECS } from './times.js';
import { tupleLength } from './tuple.js';

const MAX_SUPERCLASSES = 64;
const MAX_DEPTH = 16;

const PRIMITIVES: Readonly<Record<string, Codec>> = {
  Z: BOOLEAN_CODEC,
  B: BYTE_CODEC,
  C: CHAR_CODEC,
  S: SHORT_CODEC,
  I: INT_CODEC,
  J: LONG_CODEC,
  F: FLOAT_CODEC,
  D: DOUBLE_CODEC,
};
const CLASSES: ReadonlyMap<string, Codec> = new Map([
  ['java.lang.Boolean', BOOLEAN_CODEC],
  ['java.lang.Byte', BYTE_CODEC],
  ['java.lang.Character', CHAR_CODEC],
  ['java.lang.Short', SHORT_CODEC],
  ['java.lang.Integer', INT_CODEC],
  ['java.lang.Long', LONG_CODEC],
  ['java.lang.Float', FLOAT_CODEC],
  ['java.lang.Double', DOUBLE_CODEC],
  ['java.lang.String', STRING_CODEC],
  ['java.lang.Void', VOID_CODEC],
  ['java.math.BigInteger', BIG_INT_CODEC],
  ['java.math.BigDecimal', BIG_DEC_CODEC],
  ...TIME_CODECS,
]);

/** POJO codecs by class that snapshots describe, the nearest first. */
export function knownPojos(children: readonly NamedSnapshot[], context: CodecContext): Map<string, Codec> {
  const known = new Map<string, Codec>();
  const walk = (nodes: readonly NamedSnapshot[]): void => {
    for (const { snapshot } of nodes) {
      const { typeClass } = snapshot.details;
      if (snapshot.serializer === 'PojoSerializer' && typeof typeClass === 'string' && !known.has(typeClass))
        known.set(typeClass, snapshot.codec(context));
      walk(snapshot.children);
    }
  };
  walk(children);
  return known;
}

/**
 * The codec of a POJO class by its layout; undefined when the pool does not have it and all its superclasses.
 * @param known POJO codecs by class
 */
export function codecOfLayout(
  className: string,
  context: CodecContext,
  known: ReadonlyMap<string, Codec>,
  within: readonly string[] = [],
): Codec | undefined {
  const classes = classesOf(className, context);
  if (classes === undefined || within.length > MAX_DEPTH) return undefined;
  const fields = classes.flatMap(layout => layout.fields.filter(f => !f.isStatic && !f.isTransient));
  if (fields.length === 0) return undefined;
  fields.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const hierarchy = [...within, ...classes.map(layout => layout.name)];
  return pojoCodec({
    typeClass: className,
    fields: fields.map(f => ({
      name: f.name,
      codec: fieldCodec(parseSignature(f.signature ?? f.descriptor), context, known, hierarchy),
    })),
    registered: [],
    byName: new Map(),
    layout: name => codecOfLayout(name, context, known, hierarchy),
  });
}

/** The class and its superclasses up to java.lang.Object. */
function classesOf(className: string, context: CodecContext): readonly ClassLayout[] | undefined {
  const classes: ClassLayout[] = [];
  let name: string | undefined = className;
  while (name !== undefined && name !== 'java.lang.Object') {
    const layout: ClassLayout | undefined = context.classes?.find(name);
    if (layout === undefined || classes.length > MAX_SUPERCLASSES) return undefined;
    classes.push(layout);
    name = layout.superName;
  }
  return classes;
}

function fieldCodec(type: JavaType, context: CodecContext, known: ReadonlyMap<string, Codec>, hierarchy: readonly string[]): Codec {
  switch (type.kind) {
    case 'primitive':
      return PRIMITIVES[type.letter] ?? unknownField(`type ${type.letter}`);
    case 'array': {
      const { element } = type;
      const name = element.kind === 'primitive' ? element.letter : element.kind === 'class' ? element.name : '';
      return ARRAY_CODECS.get(name) ?? listCodec(fieldCodec(element, context, known, hierarchy), { flag: 'isPresent' });
    }
    case 'variable':
      return unknownField(`type variable ${type.name}`);
    case 'class': {
      if (hierarchy.includes(type.name)) return unknownField(type.name);
      const direct = CLASSES.get(type.name) ?? known.get(type.name);
      if (direct !== undefined) return direct;
      const layout = context.classes?.find(type.name);
      if (layout?.isEnum === true) return enumCodec(layout.enumConstants);
      if (/^org\.apache\.flink\.api\.java\.tuple\.Tuple\d+$/.test(type.name) && type.args.length > 0) {
        const parts = type.args.map((a, i) => ({
          name: `f${i}`,
          codec: a.type === undefined ? unknownField('wildcard') : fieldCodec(a.type, context, known, hierarchy),
        }));
        return compositeCodec(parts, { length: tupleLength(parts.map(p => p.codec)) });
      }
      const pojo = codecOfLayout(type.name, context, known, hierarchy);
      return pojo === undefined ? unknownField(type.name) : pojoOrKryo(type.name, pojo);
    }
  }
}

/** A POJO if the first byte says so; otherwise Kryo's, whose end is not known here. */
function pojoOrKryo(className: string, pojo: Codec): Codec {
  const isPojo = (c: Cursor): boolean => c.remaining > 0 && [2, 4, 8].includes(c.bytes[c.position]);
  return codecOf({
    type: pojo.type,
    read: c => (isPojo(c) ? pojo.read(c) : new JsonText(opaqueJson(className, c.slice(c.remaining)))),
    skip: c => (isPojo(c) ? pojo.skip(c) : void c.take(c.remaining)),
  });
}

function unknownField(className: string): Codec {
  return opaqueCodec(className, `${className} in a class that no snapshot describes`);
}
