/**
 * Values of Java serialization, and byte arrays of Python.
 *
 *   JavaSerializer      simple snapshot; a whole Java object stream (AC ED 00 05 …), without a length: it ends with its object
 *   ByteArrayWrapper    simple snapshot; the writer puts one byte of length before the bytes, where its reader expects an i32:
 *                       a first byte of 0 is taken for the i32 form
 *
 * The class is in the value, not in the snapshot, so the type is JSON. Flink: org.apache.flink.runtime.state.JavaSerializer
 * (1.8–2.3), org.apache.flink.streaming.api.utils.ByteArrayWrapperSerializer (flink-python, 1.13–2.3).
 */
import { UnsupportedError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import { javaToJson } from '../java/json.js';
import { readJavaObject } from '../java/stream.js';
import { BLOB, JSON_TYPE, JsonText } from '../types.js';
import { type Codec, codecOf } from './codec.js';
import { opaqueJson } from './opaque.js';
import { simpleDefinition } from './simple.js';

const JAVA_SERIALIZER = 'org.apache.flink.runtime.state.JavaSerializer';

export const JAVA_CODEC: Codec = codecOf({
  type: JSON_TYPE,
  read(c) {
    const start = c.position;
    const value = readJavaObject(c);
    if (value.kind === 'null') return null;
    try {
      return new JsonText(javaToJson(value));
    } catch (error) {
      // an object whose JSON would be endless; its bytes are known all the same
      if (error instanceof UnsupportedError) return new JsonText(opaqueJson(JAVA_SERIALIZER, c.bytes.subarray(start, c.position)));
      throw error;
    }
  },
  skip: c => void readJavaObject(c),
});

function wrappedLength(c: Cursor): number {
  if (c.remaining >= 4 && c.bytes[c.position] === 0) return c.count('number of bytes');
  return c.u8();
}

const BYTE_ARRAY_WRAPPER_CODEC: Codec = codecOf({
  type: BLOB,
  read: c => c.slice(wrappedLength(c), 'byte array').slice(),
  skip: c => void c.take(wrappedLength(c), 'byte array'),
});

export const SERIALIZERS = [
  simpleDefinition([`${JAVA_SERIALIZER}$JavaSerializerSnapshot`], 'JavaSerializer', 'Java', () => JAVA_CODEC),
  simpleDefinition(
    ['org.apache.flink.streaming.api.utils.ByteArrayWrapperSerializer$ByteArrayWrapperSerializerSnapshot'],
    'ByteArrayWrapperSerializer',
    'ByteArrayWrapper',
    () => BYTE_ARRAY_WRAPPER_CODEC,
  ),
];
