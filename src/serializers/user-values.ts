/**
 * Classes that write themselves: Flink's Value and CopyableValue, Hadoop's Writable.
 *
 *   snapshot   generic, version 2: utf class
 *   value      whatever the class's write(DataOutput) writes: known for the classes below, the bytes are shown for any other
 *
 *   Flink    BooleanValue … DoubleValue, CharValue, StringValue as their own serializers write them; NullValue one byte 0
 *   Hadoop   BooleanWritable bool · ByteWritable 1 · ShortWritable 2 · IntWritable 4 · LongWritable 8 · FloatWritable 4 ·
 *            DoubleWritable 8 · NullWritable 0 · VInt-/VLongWritable vint · Text vint n + UTF-8 · BytesWritable i32 n + bytes ·
 *            MD5Hash 16
 *   vint     −112…127: itself; −113…−120: −112 − n, n bytes of the value; −121…−128: −120 − n, n bytes of its complement
 *
 * Flink: ValueSerializer, CopyableValueSerializer, WritableSerializer in org.apache.flink.api.java.typeutils.runtime (1.8–2.3);
 * org.apache.hadoop.io.WritableUtils (3.3).
 */
import type { Cursor } from '../io/cursor.js';
import { BIGINT, BLOB, INTEGER, VARCHAR } from '../types.js';
import { BYTES_CODEC } from './arrays.js';
import { type Codec, codecOf } from './codec.js';
import { opaqueCodec } from './opaque.js';
import {
  BOOLEAN_CODEC,
  BYTE_CODEC,
  CHAR_CODEC,
  DOUBLE_CODEC,
  FLOAT_CODEC,
  INT_CODEC,
  LONG_CODEC,
  NULL_VALUE_CODEC,
  nothingCodec,
  SHORT_CODEC,
} from './primitives.js';
import { readGenericBody } from './simple.js';
import { defineSerializer, type SnapshotBody, simpleName } from './snapshot.js';
import { STRING_VALUE_CODEC } from './string.js';

/** Hadoop's WritableUtils.readVLong */
function readVLong(c: Cursor): bigint {
  const first = c.i8();
  if (first >= -112) return BigInt(first);
  const negative = first < -120;
  const n = negative ? -120 - first : -112 - first;
  let value = 0n;
  for (let i = 0; i < n; i++) value = (value << 8n) | BigInt(c.u8());
  return BigInt.asIntN(64, negative ? ~value : value);
}

function readText(c: Cursor): string {
  const at = c.position;
  const n = readVLong(c);
  if (n < 0n || n > BigInt(c.remaining)) c.fail(`Text of ${n} bytes, ${c.remaining} remain`, at);
  return Buffer.from(c.slice(Number(n), 'Text')).toString('utf8');
}

const FLINK = 'org.apache.flink.types.';
const HADOOP = 'org.apache.hadoop.io.';
const BUILT_IN: ReadonlyMap<string, Codec> = new Map<string, Codec>([
  [`${FLINK}BooleanValue`, BOOLEAN_CODEC],
  [`${FLINK}ByteValue`, BYTE_CODEC],
  [`${FLINK}ShortValue`, SHORT_CODEC],
  [`${FLINK}IntValue`, INT_CODEC],
  [`${FLINK}LongValue`, LONG_CODEC],
  [`${FLINK}FloatValue`, FLOAT_CODEC],
  [`${FLINK}DoubleValue`, DOUBLE_CODEC],
  [`${FLINK}CharValue`, CHAR_CODEC],
  [`${FLINK}StringValue`, STRING_VALUE_CODEC],
  [`${FLINK}NullValue`, nothingCodec(1, 1)],
  [`${HADOOP}BooleanWritable`, BOOLEAN_CODEC],
  [`${HADOOP}ByteWritable`, BYTE_CODEC],
  [`${HADOOP}ShortWritable`, SHORT_CODEC],
  [`${HADOOP}IntWritable`, INT_CODEC],
  [`${HADOOP}LongWritable`, LONG_CODEC],
  [`${HADOOP}FloatWritable`, FLOAT_CODEC],
  [`${HADOOP}DoubleWritable`, DOUBLE_CODEC],
  [`${HADOOP}NullWritable`, NULL_VALUE_CODEC],
  [
    `${HADOOP}VIntWritable`,
    codecOf({
      type: INTEGER,
      read(c) {
        const at = c.position;
        const n = readVLong(c);
        if (BigInt.asIntN(32, n) !== n) c.fail(`int ${n} is out of range`, at);
        return Number(n);
      },
    }),
  ],
  [`${HADOOP}VLongWritable`, codecOf({ type: BIGINT, read: readVLong })],
  [`${HADOOP}Text`, codecOf({ type: VARCHAR, read: readText })],
  [`${HADOOP}BytesWritable`, BYTES_CODEC],
  [`${HADOOP}MD5Hash`, codecOf({ type: BLOB, read: c => c.slice(16).slice() })],
]);

const RUNTIME = 'org.apache.flink.api.java.typeutils.runtime.';

/** @param fixed whether getLength() is that of the value (CopyableValue.getBinaryLength) or always −1 */
function selfWriting(name: string, what: string, fixed: boolean, legacy: readonly string[] = []) {
  return defineSerializer({
    snapshotClasses: [`${RUNTIME}${name}$${name}Snapshot`, ...legacy],
    read(c, version, reader): SnapshotBody {
      const typeClass = readGenericBody(c, version, reader);
      return {
        serializer: name,
        text: `${what}(${simpleName(typeClass)})`,
        details: { typeClass },
        codec() {
          const known = BUILT_IN.get(typeClass);
          if (known === undefined) return opaqueCodec(`${RUNTIME}${name}`, `${typeClass} writes itself: only its code knows how`);
          return fixed ? known : { ...known, length: -1 };
        },
      };
    },
  });
}

export const SERIALIZERS = [
  selfWriting('CopyableValueSerializer', 'CopyableValue', true, [
    `${RUNTIME}CopyableValueSerializer$CopyableValueSerializerConfigSnapshot`,
  ]),
  selfWriting('ValueSerializer', 'Value', false),
  selfWriting('WritableSerializer', 'Writable', false, [`${RUNTIME}WritableSerializer$WritableSerializerConfigSnapshot`]),
];
