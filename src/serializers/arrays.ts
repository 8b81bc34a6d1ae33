/**
 * Arrays of primitives and strings: i32 n · n × element, big-endian; `byte[]` is a BLOB.
 *
 *   boolean 1 · byte 1 · char 2 · short 2 · int 4 · long 8 · float 4 · double 8 · String as StringSerializer (null in band)
 *
 * Flink: org.apache.flink.api.common.typeutils.base.array.*PrimitiveArraySerializer, StringArraySerializer (1.8–2.3).
 */
import { BytesColumn, type Column, FixedColumn, ListColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { BLOB, list, type Value } from '../types.js';
import { type Codec, codecOf } from './codec.js';
import { BOOLEAN_CODEC, CHAR_CODEC, DOUBLE_CODEC, FLOAT_CODEC, INT_CODEC, LONG_CODEC, SHORT_CODEC } from './primitives.js';
import { listCodec } from './sequence.js';
import { simpleDefinition } from './simple.js';
import { STRING_CODEC } from './string.js';

/** byte[]: i32 n · n bytes */
export const BYTES_CODEC: Codec = codecOf({
  type: BLOB,
  read: c => c.slice(c.count('number of bytes')).slice(),
  skip: c => void c.take(c.count('number of bytes')),
  append(c, out) {
    const n = c.count('number of bytes');
    const at = c.take(n);
    if (out instanceof BytesColumn) out.pushBytes(c.bytes, at, at + n);
    else out.push(c.bytes.slice(at, at + n));
  },
});

/** Elements of fixed width, of which the count alone tells the length. */
function primitiveArray(element: Codec): Codec {
  const { length: width } = element;
  const count = (c: Cursor): number => c.count('number of elements', width);
  const checked = element === BOOLEAN_CODEC;
  return codecOf({
    type: list(element.type),
    read(c): Value {
      const n = count(c);
      const values: Value[] = new Array(n);
      for (let i = 0; i < n; i++) values[i] = element.read(c);
      return values;
    },
    skip(c) {
      const n = count(c);
      if (checked) for (let i = 0; i < n; i++) element.skip(c);
      else c.take(n * width);
    },
    append(c, out: Column) {
      const n = count(c);
      if (out instanceof ListColumn) {
        const [child] = out.children;
        if (child instanceof FixedColumn && !checked)
          for (let i = 0, at = c.take(n * width); i < n; i++) child.pushReversed(c.bytes, at + i * width);
        else for (let i = 0; i < n; i++) element.append(c, child);
        out.finish();
      } else {
        const values: Value[] = [];
        for (let i = 0; i < n; i++) values.push(element.read(c));
        out.push(values);
      }
    },
  });
}

const STRING_ARRAY_CODEC = listCodec(STRING_CODEC);

/** by the element: a descriptor's letter, or the class */
export const ARRAY_CODECS: ReadonlyMap<string, Codec> = new Map([
  ['Z', primitiveArray(BOOLEAN_CODEC)],
  ['B', BYTES_CODEC],
  ['C', primitiveArray(CHAR_CODEC)],
  ['S', primitiveArray(SHORT_CODEC)],
  ['I', primitiveArray(INT_CODEC)],
  ['J', primitiveArray(LONG_CODEC)],
  ['F', primitiveArray(FLOAT_CODEC)],
  ['D', primitiveArray(DOUBLE_CODEC)],
  ['java.lang.String', STRING_ARRAY_CODEC],
]);

const ARRAY = 'org.apache.flink.api.common.typeutils.base.array.';
const array = (name: string, text: string, element: string) =>
  simpleDefinition(
    [`${ARRAY}${name}ArraySerializer$${name}ArraySerializerSnapshot`],
    `${name}ArraySerializer`,
    text,
    () => ARRAY_CODECS.get(element) as Codec,
  );

export const SERIALIZERS = [
  array('BooleanPrimitive', 'boolean[]', 'Z'),
  array('BytePrimitive', 'byte[]', 'B'),
  array('CharPrimitive', 'char[]', 'C'),
  array('ShortPrimitive', 'short[]', 'S'),
  array('IntPrimitive', 'int[]', 'I'),
  array('LongPrimitive', 'long[]', 'J'),
  array('FloatPrimitive', 'float[]', 'F'),
  array('DoublePrimitive', 'double[]', 'D'),
  array('String', 'String[]', 'java.lang.String'),
];
