/**
 * From logical types to what the table runtime stores: the slot in a row or array, and the serializer of a value alone.
 *
 *   alone   CHAR, VARCHAR  StringData i32 n, UTF-8          BINARY, VARBINARY  byte[] i32 n, bytes
 *           DATE, TIME, INTERVAL YEAR TO MONTH  i32         INTERVAL DAY TO SECOND  i64          numbers as Java's, big-endian
 *           DECIMAL  DecimalData                            TIMESTAMP, TIMESTAMP_LTZ  TimestampData
 *           ROW, STRUCTURED, ARRAY, MAP, MULTISET, RAW      i32 size (big-endian), binary form
 *           VARIANT, BITMAP                                 their own
 *
 * The names of nested rows and of the attributes of structured types are in the logical types alone. The serializer snapshots
 * beside them tell what RAW holds.
 *
 * Flink: org.apache.flink.table.runtime.typeutils.InternalSerializers (1.9–2.3).
 */
import { type BytesColumn, type Column, type FixedColumn, outOfRange } from '../../io/column.js';
import type { Cursor } from '../../io/cursor.js';
import { javaClassName } from '../../java/tree.js';
import { BLOB, DATE, Decimal, decimal, INTERVAL, Interval, TIME, Timestamp, VARCHAR, type Value } from '../../types.js';
import { type Codec, type CodecContext, codecOf, type SerializerSnapshot } from '../codec.js';
import { opaqueCodec } from '../opaque.js';
import { BOOLEAN_CODEC, BYTE_CODEC, DOUBLE_CODEC, FLOAT_CODEC, INT_CODEC, LONG_CODEC, nothingCodec, SHORT_CODEC } from '../primitives.js';
import { BITMAP_CODEC } from './bitmap.js';
import { type LogicalField, type LogicalType, logicalTypeText } from './logical-type.js';
import { arrayShape, budgetOf, mapShape, opaqueSlot, rawShape, rowShape, type Shape, shapeSlot } from './nested.js';
import type { SerializerOfObject } from './serializer-objects.js';
import { appendText, MAX_DECIMAL_BYTES, type Slot, scalarSlot, signedBigEndian, textOfBytes, timestampOf, timestampType } from './slots.js';
import { VARIANT_CODEC } from './variant.js';

/** What turns logical types into codecs, besides the types. */
export interface TypeSources {
  readonly context: CodecContext;
  readonly serializerOfObject: SerializerOfObject;
}

/** The slot of a type. `beside`: the snapshot of the serializer that Flink made for the type, where there is one. */
export function slotOf(type: LogicalType, beside: SerializerSnapshot | undefined, sources: TypeSources): Slot {
  if (type.kind === 'DISTINCT') return slotOf(type.source, beside, sources);
  const scalar = scalarSlot(type);
  if (scalar !== undefined) return scalar;
  const shape = shapeOf(type, beside, sources);
  if (shape !== undefined) return shapeSlot(shape, type.kind);
  const text = logicalTypeText(type);
  return opaqueSlot(text, `${text} has no form in rows`);
}

const INT_NOT_NULL: LogicalType = { kind: 'INTEGER', nullable: false };

/** The binary form of a type that nests; undefined for the others. */
function shapeOf(type: LogicalType, beside: SerializerSnapshot | undefined, sources: TypeSources): Shape | undefined {
  switch (type.kind) {
    case 'ROW':
    case 'STRUCTURED':
      return rowShapeOf(type.fields, beside?.serializer === 'RowDataSerializer' ? beside.children.map(x => x.snapshot) : [], sources);
    case 'ARRAY':
      return arrayShape(slotOf(type.element, undefined, sources));
    case 'MULTISET':
      return mapShape(slotOf(type.element, undefined, sources), slotOf(INT_NOT_NULL, undefined, sources));
    case 'MAP':
      return mapShape(slotOf(type.key, undefined, sources), slotOf(type.value, undefined, sources));
    case 'RAW': {
      const written = beside?.serializer === 'RawValueDataSerializer' ? beside.children[0].snapshot : undefined;
      const known = written?.unknown === undefined ? written : undefined;
      const inner = known ?? sources.serializerOfObject(type.serializer) ?? written;
      const name = (type.serializer && javaClassName(type.serializer)) ?? inner?.serializer ?? type.className;
      const reason = written?.unknown ?? `the serializer of ${logicalTypeText(type)}, ${name}, is not known`;
      return rawShape(
        inner === undefined || (inner === written && known === undefined) ? opaqueCodec(name, reason) : inner.codec(sources.context),
        name,
      );
    }
    default:
      return undefined;
  }
}

/** A row; `nested`: the snapshots of its fields' serializers, where there are any. */
export function rowShapeOf(fields: readonly LogicalField[], nested: readonly SerializerSnapshot[], sources: TypeSources): Shape {
  return rowShape(fields.map((f, i) => ({ name: f.name, slot: slotOf(f.type, nested[i], sources) })));
}

/** i32 size (big-endian) · the shape. */
export function sizedCodec(shape: Shape, what: string): Codec {
  const sizeText = `bytes of a ${what}`;
  return {
    type: shape.type,
    length: -1,
    ...(shape.opaque === undefined ? {} : { opaque: shape.opaque }),
    read(c) {
      const size = c.count(sizeText);
      const from = c.take(size);
      return shape.read(c, from, from + size, budgetOf(size, shape));
    },
    skip: c => void c.take(c.count(sizeText)),
    append(c, out) {
      const size = c.count(sizeText);
      const from = c.take(size);
      shape.append(c, from, from + size, budgetOf(size, shape), out);
    },
  };
}

/** i32 n · UTF-8 */
export const STRING_DATA_CODEC: Codec = codecOf({
  type: VARCHAR,
  read(c) {
    const n = c.count('bytes of a text');
    const from = c.take(n);
    return textOfBytes(c.bytes, from, from + n);
  },
  skip: c => void c.take(c.count('bytes of a text')),
  append(c, out) {
    const n = c.count('bytes of a text');
    const from = c.take(n);
    appendText(c.bytes, from, from + n, out as BytesColumn);
  },
});

const BYTES_CODEC: Codec = codecOf({
  type: BLOB,
  read: c => c.slice(c.count('number of bytes')).slice(),
  skip: c => void c.take(c.count('number of bytes')),
  append(c, out) {
    const n = c.count('number of bytes');
    const from = c.take(n);
    (out as BytesColumn).pushBytes(c.bytes, from, from + n);
  },
});

/** p ≤ 18: i64 unscaled; else i32 n · n bytes, two's complement, big-endian */
export function decimalDataCodec(precision: number, scale: number): Codec {
  const type = decimal(precision, scale);
  if (precision <= 18) return codecOf({ type, read: c => new Decimal(c.i64(), scale), skip: c => void c.take(8, 'DECIMAL') });
  return codecOf({
    type,
    read(c) {
      const n = c.count('bytes of a DECIMAL');
      const from = c.take(n);
      if (n > MAX_DECIMAL_BYTES) c.fail(`DECIMAL of ${n} bytes`, from);
      return new Decimal(signedBigEndian(c.bytes, from, from + n), scale);
    },
    skip: c => void c.take(c.count('bytes of a DECIMAL')),
  });
}

/** i64 ms [· i32 nanoseconds of the millisecond, p > 3] */
export function timestampDataCodec(precision: number, local: boolean): Codec {
  const type = timestampType(precision, local);
  if (precision <= 3) return codecOf({ type, length: 8, read: c => Timestamp.ofMillis(c.i64()), skip: c => void c.take(8, 'TIMESTAMP') });
  return codecOf({
    type,
    length: 12,
    read(c) {
      const ms = c.i64();
      const at = c.position;
      const nanos = c.i32();
      if (nanos < 0 || nanos > 999_999) c.fail(`${nanos} nanoseconds of a millisecond`, at);
      return timestampOf(ms, nanos);
    },
    skip: c => void c.take(12, 'TIMESTAMP'),
  });
}

const int = (type: Codec['type'], read: (c: Cursor) => Value): Codec =>
  codecOf({ type, length: 4, read, skip: c => void c.take(4, 'int') });
const DATE_CODEC = int(DATE, c => c.i32());
const TIME_CODEC: Codec = {
  ...int(TIME, c => c.i32() * 1_000_000),
  append(c: Cursor, out: Column) {
    const ms = c.i32();
    if (ms < 0 || ms >= 86_400_000) throw outOfRange(TIME, `${ms} ms of the day`);
    (out as FixedColumn).pushI64Number(ms * 1000);
  },
};
const YEAR_MONTH_CODEC = int(INTERVAL, c => new Interval(c.i32(), 0, 0n));
const DAY_TIME_CODEC = codecOf({
  type: INTERVAL,
  length: 8,
  read: c => new Interval(0, 0, c.i64() * 1000n),
  skip: c => void c.take(8, 'long'),
});
/** one byte that says nothing */
export const NULL_CODEC = nothingCodec(1, 1);

/**
 * The codec of a value alone, by the type: it has the names and kinds that the internal serializer's snapshot has not. Undefined
 * when `beside`, the snapshot of that serializer, is not what the type would have given: then the snapshot alone counts.
 */
export function internalCodec(type: LogicalType, beside: SerializerSnapshot, sources: TypeSources): Codec | undefined {
  const { serializer } = beside;
  const when = (name: string, codec: () => Codec | undefined): Codec | undefined => (serializer === name ? codec() : undefined);
  switch (type.kind) {
    case 'DISTINCT':
      return internalCodec(type.source, beside, sources);
    case 'BOOLEAN':
      return when('BooleanSerializer', () => BOOLEAN_CODEC);
    case 'TINYINT':
      return when('ByteSerializer', () => BYTE_CODEC);
    case 'SMALLINT':
      return when('ShortSerializer', () => SHORT_CODEC);
    case 'INTEGER':
      return when('IntSerializer', () => INT_CODEC);
    case 'BIGINT':
      return when('LongSerializer', () => LONG_CODEC);
    case 'FLOAT':
      return when('FloatSerializer', () => FLOAT_CODEC);
    case 'DOUBLE':
      return when('DoubleSerializer', () => DOUBLE_CODEC);
    case 'DATE':
      return when('IntSerializer', () => DATE_CODEC);
    case 'TIME':
      return when('IntSerializer', () => TIME_CODEC);
    case 'INTERVAL_YEAR_MONTH':
      return when('IntSerializer', () => YEAR_MONTH_CODEC);
    case 'INTERVAL_DAY_TIME':
      return when('LongSerializer', () => DAY_TIME_CODEC);
    case 'CHAR':
    case 'VARCHAR':
      return when('StringDataSerializer', () => STRING_DATA_CODEC);
    case 'BINARY':
    case 'VARBINARY':
      return when('BytePrimitiveArraySerializer', () => BYTES_CODEC);
    case 'DECIMAL':
      return when('DecimalDataSerializer', () => decimalDataCodec(type.precision, type.scale));
    case 'TIMESTAMP':
    case 'TIMESTAMP_LTZ':
      return when('TimestampDataSerializer', () => timestampDataCodec(type.precision, type.kind === 'TIMESTAMP_LTZ'));
    case 'VARIANT':
      return when('VariantSerializer', () => VARIANT_CODEC);
    case 'BITMAP':
      return when('BitmapSerializer', () => BITMAP_CODEC);
    case 'ROW':
    case 'STRUCTURED':
      return serializer === 'RowDataSerializer' && beside.children.length === type.fields.length
        ? shaped(type, beside, sources)
        : undefined;
    case 'ARRAY':
      return when('ArrayDataSerializer', () => shaped(type, beside, sources));
    case 'MAP':
    case 'MULTISET':
      return when('MapDataSerializer', () => shaped(type, beside, sources));
    case 'RAW':
      return when('RawValueDataSerializer', () => shaped(type, beside, sources));
    default:
      return undefined;
  }
}

function shaped(type: LogicalType, beside: SerializerSnapshot | undefined, sources: TypeSources): Codec | undefined {
  const shape = shapeOf(type, beside, sources);
  return shape === undefined ? undefined : sizedCodec(shape, type.kind);
}

/** The codec of ARRAY, MAP or MULTISET by type alone, as ArrayDataSerializer and MapDataSerializer have it. */
export function collectionCodec(type: LogicalType, sources: TypeSources): Codec {
  const shape = shapeOf(type, undefined, sources);
  if (shape === undefined) throw new Error(`${type.kind} is no collection`);
  return sizedCodec(shape, type.kind);
}
