/**
 * Values of SQL state that stand alone.
 *
 *   StringData      snapshot simple                              i32 n · UTF-8
 *   DecimalData     snapshot version 3: i32 precision, scale     p ≤ 18: i64 unscaled; else i32 n · bytes
 *   TimestampData   snapshot version 1: i32 precision            i64 ms [· i32 nanoseconds of the millisecond, p > 3]
 *   RawValueData    snapshot composite, outer version 0, nested [inner]    i32 n · what the inner serializer wrote
 *   ArrayData       snapshot version 3: Java streams of the element's LogicalType and TypeSerializer       i32 n · BinaryArray
 *   MapData         snapshot version 3: Java streams of the key's and the value's LogicalType, then of their TypeSerializers
 *                                                                i32 n · BinaryMap
 *   Null            snapshot simple                              one byte: a state-backed view inside an accumulator
 *
 * TimestampData does not tell TIMESTAMP from TIMESTAMP_LTZ. Before 1.11 (Blink): BinaryString, Decimal, SqlTimestamp,
 * BinaryGeneric, BaseArray, BaseMap.
 * Flink: org.apache.flink.table.runtime.typeutils, org.apache.flink.table.dataview.NullSerializer (1.9–2.3).
 */
import { readJavaObject } from '../../java/stream.js';
import { simpleDefinition } from '../simple.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from '../snapshot.js';
import { collectionCodec, decimalDataCodec, NULL_CODEC, STRING_DATA_CODEC, sizedCodec, timestampDataCodec } from './internal-types.js';
import { type LogicalType, logicalTypeOf, logicalTypeText } from './logical-type.js';
import { rawShape } from './nested.js';
import { serializerOfObject } from './serializer-objects.js';

const TYPEUTILS = 'org.apache.flink.table.runtime.typeutils.';

export const SERIALIZERS = [
  simpleDefinition(
    [`${TYPEUTILS}StringDataSerializer$StringDataSerializerSnapshot`, `${TYPEUTILS}BinaryStringSerializer$BinaryStringSerializerSnapshot`],
    'StringDataSerializer',
    'StringData',
    () => STRING_DATA_CODEC,
  ),
  defineSerializer({
    snapshotClasses: [
      `${TYPEUTILS}DecimalDataSerializer$DecimalSerializerSnapshot`,
      `${TYPEUTILS}DecimalSerializer$DecimalSerializerSnapshot`,
    ],
    read(c, version, reader): SnapshotBody {
      if (version !== 3) reader.unknownVersion(c);
      const at = c.position;
      const precision = c.i32();
      const scale = c.i32();
      if (precision < 1 || precision > 38 || scale < 0 || scale > precision) c.fail(`DECIMAL(${precision}, ${scale})`, at);
      return {
        serializer: 'DecimalDataSerializer',
        text: `DecimalData(${precision}, ${scale})`,
        details: { precision, scale },
        codec: () => decimalDataCodec(precision, scale),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [
      `${TYPEUTILS}TimestampDataSerializer$TimestampDataSerializerSnapshot`,
      `${TYPEUTILS}SqlTimestampSerializer$SqlTimestampSerializerSnapshot`,
    ],
    read(c, version, reader): SnapshotBody {
      if (version !== 1) reader.unknownVersion(c);
      const at = c.position;
      const precision = c.i32();
      if (precision < 0 || precision > 9) c.fail(`TIMESTAMP(${precision})`, at);
      return {
        serializer: 'TimestampDataSerializer',
        text: `TimestampData(${precision})`,
        details: { precision },
        codec: () => timestampDataCodec(precision, false),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [
      `${TYPEUTILS}RawValueDataSerializer$RawValueDataSerializerSnapshot`,
      `${TYPEUTILS}BinaryGenericSerializer$BinaryGenericSerializerSnapshot`,
    ],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      const [inner] = nested;
      return {
        serializer: 'RawValueDataSerializer',
        text: `RawValueData(${inner.text})`,
        children: named(['inner'], nested),
        codec: context => sizedCodec(rawShape(inner.codec(context), inner.serializer), 'RAW value'),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [
      `${TYPEUTILS}ArrayDataSerializer$ArrayDataSerializerSnapshot`,
      `${TYPEUTILS}BaseArraySerializer$BaseArraySerializerSnapshot`,
    ],
    read(c, version, reader): SnapshotBody {
      if (version !== 3) reader.unknownVersion(c);
      const element = logicalTypeOf(readJavaObject(c));
      readJavaObject(c);
      const type: LogicalType = { kind: 'ARRAY', nullable: true, element };
      const objects = serializerOfObject(reader);
      return {
        serializer: 'ArrayDataSerializer',
        text: `ArrayData(${logicalTypeText(element)})`,
        details: { element: logicalTypeText(element) },
        codec: context => collectionCodec(type, { context, serializerOfObject: objects }),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${TYPEUTILS}MapDataSerializer$MapDataSerializerSnapshot`, `${TYPEUTILS}BaseMapSerializer$BaseMapSerializerSnapshot`],
    read(c, version, reader): SnapshotBody {
      if (version !== 3) reader.unknownVersion(c);
      const key = logicalTypeOf(readJavaObject(c));
      const value = logicalTypeOf(readJavaObject(c));
      readJavaObject(c);
      readJavaObject(c);
      const type: LogicalType = { kind: 'MAP', nullable: true, key, value };
      const objects = serializerOfObject(reader);
      return {
        serializer: 'MapDataSerializer',
        text: `MapData(${logicalTypeText(key)}, ${logicalTypeText(value)})`,
        details: { key: logicalTypeText(key), value: logicalTypeText(value) },
        codec: context => collectionCodec(type, { context, serializerOfObject: objects }),
      };
    },
  }),
  simpleDefinition(['org.apache.flink.table.dataview.NullSerializer$NullSerializerSnapshot'], 'NullSerializer', 'Null', () => NULL_CODEC),
];
