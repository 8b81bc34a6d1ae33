/**
 * Primitives and what is written like them.
 *
 *   Boolean 1 (0, 1) · Byte 1 · Short 2 · Char 2 (a UTF-16 unit) · Int 4 · Long 8 · Float 4 · Double 8     big-endian
 *   BooleanValue … DoubleValue: the same bytes · Void 1 · VoidNamespace 1 · NullValue 0
 *
 * None has a null of its own. VoidNamespaceSerializer says getLength() = 0 and writes one byte: the length decides the layout
 * of stored keys, the byte is in them.
 * Flink: org.apache.flink.api.common.typeutils.base.*Serializer, org.apache.flink.runtime.state.VoidNamespaceSerializer
 * (1.8–2.3).
 */
import { BytesColumn, type Column, FixedColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { BIGINT, BOOLEAN, DOUBLE, FLOAT, INTEGER, SMALLINT, type SqlType, TINYINT, VARCHAR, type Value } from '../types.js';
import { type Codec, codecOf } from './codec.js';
import { simpleDefinition } from './simple.js';
import { withWire } from './wire.js';

/** A codec of `width` big-endian bytes that are the column's bytes turned round. */
function fixed(type: SqlType, width: 1 | 2 | 4 | 8, read: (c: Cursor) => Value): Codec {
  const codec = codecOf({
    type,
    length: width,
    read,
    skip: c => void c.take(width),
    append(c, out: Column) {
      if (out instanceof FixedColumn) {
        const at = c.take(width);
        out.pushReversed(c.bytes, at);
      } else out.push(read(c));
    },
  });
  return withWire(codec, { kind: 'fixed', width });
}

export const BOOLEAN_CODEC: Codec = codecOf({
  type: BOOLEAN,
  length: 1,
  read: c => c.bool(),
  skip: c => void c.bool(),
  append(c, out) {
    if (out instanceof FixedColumn) out.pushI8(c.bool() ? 1 : 0);
    else out.push(c.bool());
  },
});
withWire(BOOLEAN_CODEC, { kind: 'boolean' });
export const BYTE_CODEC: Codec = fixed(TINYINT, 1, c => c.i8());
export const SHORT_CODEC: Codec = fixed(SMALLINT, 2, c => c.i16());
export const INT_CODEC: Codec = fixed(INTEGER, 4, c => c.i32());
export const LONG_CODEC: Codec = fixed(BIGINT, 8, c => c.i64());
export const FLOAT_CODEC: Codec = fixed(FLOAT, 4, c => c.f32());
export const DOUBLE_CODEC: Codec = fixed(DOUBLE, 8, c => c.f64());

export const CHAR_CODEC: Codec = codecOf({
  type: VARCHAR,
  length: 2,
  read: c => String.fromCharCode(c.u16()),
  skip: c => void c.take(2),
  append(c, out) {
    if (!(out instanceof BytesColumn)) out.push(String.fromCharCode(c.u16()));
    else if (c.remaining >= 2 && c.bytes[c.position] === 0 && c.bytes[c.position + 1] < 0x80) {
      out.pushBytes(c.bytes, c.position + 1, c.position + 2);
      c.position += 2;
    } else out.pushString(String.fromCharCode(c.u16()));
  },
});

/** `bytes` that say nothing: always NULL. The type is VARCHAR, since a column needs one. */
export function nothingCodec(length: number, bytes: number): Codec {
  return codecOf({
    type: VARCHAR,
    length,
    read(c) {
      c.take(bytes);
      return null;
    },
    skip: c => void c.take(bytes),
  });
}

export const VOID_CODEC: Codec = nothingCodec(1, 1);
export const VOID_NAMESPACE_CODEC: Codec = nothingCodec(0, 1);
export const NULL_VALUE_CODEC: Codec = nothingCodec(0, 0);

const BASE = 'org.apache.flink.api.common.typeutils.base.';
const base = (name: string, text: string, codec: Codec) =>
  simpleDefinition([`${BASE}${name}Serializer$${name}SerializerSnapshot`], `${name}Serializer`, text, () => codec);

export const SERIALIZERS = [
  base('Boolean', 'Boolean', BOOLEAN_CODEC),
  base('Byte', 'Byte', BYTE_CODEC),
  base('Short', 'Short', SHORT_CODEC),
  base('Char', 'Char', CHAR_CODEC),
  base('Int', 'Int', INT_CODEC),
  base('Long', 'Long', LONG_CODEC),
  base('Float', 'Float', FLOAT_CODEC),
  base('Double', 'Double', DOUBLE_CODEC),
  base('BooleanValue', 'BooleanValue', BOOLEAN_CODEC),
  base('ByteValue', 'ByteValue', BYTE_CODEC),
  base('ShortValue', 'ShortValue', SHORT_CODEC),
  base('CharValue', 'CharValue', CHAR_CODEC),
  base('IntValue', 'IntValue', INT_CODEC),
  base('LongValue', 'LongValue', LONG_CODEC),
  base('FloatValue', 'FloatValue', FLOAT_CODEC),
  base('DoubleValue', 'DoubleValue', DOUBLE_CODEC),
  base('NullValue', 'NullValue', NULL_VALUE_CODEC),
  base('Void', 'Void', VOID_CODEC),
  simpleDefinition(
    ['org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot'],
    'VoidNamespaceSerializer',
    'VoidNamespace',
    () => VOID_NAMESPACE_CODEC,
  ),
];
