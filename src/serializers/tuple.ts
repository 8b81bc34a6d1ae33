/**
 * Flink tuples.
 *
 *   snapshot   composite, outer version 2: utf tuple class; nested: one a field
 *   value      field · field · …          no nulls, no arity
 *   Tuple0     snapshot simple; value one byte 42
 *
 * getLength(): the sum of the fields' lengths when all are above zero, otherwise −1.
 * Flink: TupleSerializer, TupleSerializerBase, Tuple0Serializer in org.apache.flink.api.java.typeutils.runtime (1.8–2.3);
 * legacy TupleSerializerConfigSnapshot (1.3–1.7): resilience block, then the class as a Java object.
 */
import { readJavaObject } from '../java/stream.js';
import { classDescName } from '../java/tree.js';
import { JSON_TYPE, JsonText } from '../types.js';
import { type Codec, codecOf, type SerializerSnapshot } from './codec.js';
import { compositeCodec } from './composite.js';
import { simpleDefinition } from './simple.js';
import { defineSerializer, named, readComposite, readResilienceBlock, type SnapshotBody, simpleName } from './snapshot.js';

const RUNTIME = 'org.apache.flink.api.java.typeutils.runtime.';

/** TupleSerializerBase.getLength() */
export function tupleLength(codecs: readonly Codec[]): number {
  return codecs.every(x => x.length > 0) ? codecs.reduce((sum, x) => sum + x.length, 0) : -1;
}

/** What tuples and case classes share: fields back to back, named f0, f1, … (Scala: _1, _2 are not written either). */
export function tupleBody(serializer: string, typeClass: string, fields: readonly SerializerSnapshot[]): SnapshotBody {
  const children = named([], fields);
  return {
    serializer,
    text: `${simpleName(typeClass)}(${fields.map(f => f.text).join(', ')})`,
    children,
    details: { typeClass, arity: fields.length },
    codec(context) {
      const parts = children.map(f => ({ name: f.name, codec: f.snapshot.codec(context) }));
      return compositeCodec(parts, { length: tupleLength(parts.map(p => p.codec)) });
    },
  };
}

const EMPTY = new JsonText('{}');

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [`${RUNTIME}TupleSerializerSnapshot`],
    read(c, _version, reader) {
      const { outer, nested } = readComposite(c, reader, () => c.utf('tuple class'));
      return tupleBody('TupleSerializer', outer, nested);
    },
  }),
  defineSerializer({
    snapshotClasses: [`${RUNTIME}TupleSerializerConfigSnapshot`],
    read(c, version, reader) {
      if (version !== 1) reader.unknownVersion(c);
      const nested = readResilienceBlock(c, reader);
      const type = readJavaObject(c);
      return tupleBody('TupleSerializer', type.kind === 'class' ? classDescName(type.classDesc) : 'Tuple', nested);
    },
  }),
  simpleDefinition([`${RUNTIME}Tuple0SerializerSnapshot`], 'Tuple0Serializer', 'Tuple0()', () =>
    codecOf({
      type: JSON_TYPE,
      length: 1,
      read(c) {
        const at = c.position;
        if (c.i8() !== 42) c.fail('Tuple0 is not the byte 42', at);
        return EMPTY;
      },
    }),
  ),
];
