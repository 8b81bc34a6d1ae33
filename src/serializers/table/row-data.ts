/**
 * RowData, the rows of SQL state.
 *
 *   snapshot   version 3: i32 n · n × Java stream (LogicalType) · nested: n serializers
 *              version 4 (2.4): i32 n · n × Java stream · bool hasNames · [n × utf] · nested
 *   value      i32 size (big-endian) · BinaryRow (nested.ts)
 *
 *   BinaryRowData: snapshot version 3: i32 n, no types; value the same. Its slots are shown as bytes.
 *
 * Names of the top level are written by version 4 alone; without them the fields are f0, f1, … Before 1.11 (Blink) the classes
 * were BaseRowSerializer and BinaryRowSerializer.
 * Flink: RowDataSerializer, BinaryRowDataSerializer in org.apache.flink.table.runtime.typeutils (1.9–2.3).
 */
import type { Cursor } from '../../io/cursor.js';
import { hexOf, jsonString } from '../../io/json.js';
import { readJavaObject } from '../../java/stream.js';
import { JSON_TYPE, JsonText, Struct, type Value } from '../../types.js';
import { type Codec, codecOf } from '../codec.js';
import { defineSerializer, named, readNestedDelegate, type SnapshotBody } from '../snapshot.js';
import { encodeBinaryRow } from './encode-binary-row.js';
import { rowShapeOf, sizedCodec } from './internal-types.js';
import { type LogicalType, logicalTypeOf, logicalTypeText } from './logical-type.js';
import { serializerOfObject } from './serializer-objects.js';

const TYPEUTILS = 'org.apache.flink.table.runtime.typeutils.';

const ROW_DATA = defineSerializer({
  snapshotClasses: [`${TYPEUTILS}RowDataSerializer$RowDataSerializerSnapshot`, `${TYPEUTILS}BaseRowSerializer$BaseRowSerializerSnapshot`],
  read(c, version, reader): SnapshotBody {
    if (version !== 3 && version !== 4) reader.unknownVersion(c);
    // a logical type has hundreds of bytes
    const n = c.count('number of fields', 16);
    const types: LogicalType[] = [];
    for (let i = 0; i < n; i++) types.push(logicalTypeOf(readJavaObject(c)));
    const names = version >= 4 && c.bool() ? types.map(() => c.utf('field name')) : undefined;
    const at = c.position;
    const nested = readNestedDelegate(c, reader);
    if (nested.length !== n) c.fail(`${nested.length} nested serializers of ${n} fields`, at);
    const fields = types.map((type, i) => ({ name: names?.[i] ?? `f${i}`, type }));
    const objects = serializerOfObject(reader);
    return {
      serializer: 'RowDataSerializer',
      text: `RowData(${fields.map(f => `${names === undefined ? '' : `${f.name} `}${logicalTypeText(f.type)}`).join(', ')})`,
      children: named(
        fields.map(f => f.name),
        nested,
      ),
      details: { types: types.map(logicalTypeText), names: names ?? null },
      codec: context => sizedCodec(rowShapeOf(fields, nested, { context, serializerOfObject: objects }), 'row'),
      encode: value => encodeRow(value, types),
    };
  },
});

/** i32 size · BinaryRow; NaN has several forms there. */
function encodeRow(value: Value, types: readonly LogicalType[]): Uint8Array | undefined {
  if (!(value instanceof Struct) || value.values.some(v => typeof v === 'number' && Number.isNaN(v))) return undefined;
  const row = encodeBinaryRow(value.values, types);
  if (row === undefined) return undefined;
  const size = Buffer.alloc(4);
  size.writeInt32BE(row.length);
  return Buffer.concat([size, row]);
}

const BINARY_ROW = 'org.apache.flink.table.runtime.typeutils.BinaryRowDataSerializer';

/** Null fields as null, the others as the 8 bytes of their slot; then the parts of variable length. */
function binaryRowCodec(n: number): Codec {
  const headerBytes = ((n + 63 + 8) >> 6) << 3;
  const fixedBytes = headerBytes + n * 8;
  const open = (c: Cursor): readonly [from: number, to: number] => {
    const size = c.count('bytes of a row');
    const from = c.take(size);
    if (size < fixedBytes) c.fail(`row of ${n} fields in ${size} bytes, expected at least ${fixedBytes}`, from);
    return [from, from + size];
  };
  return codecOf({
    type: JSON_TYPE,
    opaque: 'BinaryRowDataSerializer does not say what its fields are',
    read(c) {
      const [from, to] = open(c);
      const { bytes } = c;
      const parts = [`"$serializer":${jsonString(BINARY_ROW)}`];
      if (bytes[from] !== 0) parts.push(`"$kind":${bytes[from]}`);
      for (let i = 0; i < n; i++) {
        const isNull = (bytes[from + ((i + 8) >> 3)] & (1 << (i & 7))) !== 0;
        const slot = from + headerBytes + i * 8;
        parts.push(`"f${i}":${isNull ? 'null' : `"${hexOf(bytes.subarray(slot, slot + 8))}"`}`);
      }
      return new JsonText(`{${parts.join(',')},"$hex":"${hexOf(bytes.subarray(from + fixedBytes, to))}"}`);
    },
    skip: c => void open(c),
  });
}

const BINARY_ROW_DATA = defineSerializer({
  snapshotClasses: [
    `${TYPEUTILS}BinaryRowDataSerializer$BinaryRowDataSerializerSnapshot`,
    `${TYPEUTILS}BinaryRowSerializer$BinaryRowSerializerSnapshot`,
  ],
  read(c, version, reader): SnapshotBody {
    if (version !== 3) reader.unknownVersion(c);
    const at = c.position;
    const arity = c.i32();
    if (arity < 0 || arity > 0xffff) c.fail(`BinaryRowData of ${arity} fields`, at);
    return {
      serializer: 'BinaryRowDataSerializer',
      text: `BinaryRowData(${arity} fields)`,
      details: { arity },
      codec: () => binaryRowCodec(arity),
    };
  },
});

export const SERIALIZERS = [ROW_DATA, BINARY_ROW_DATA];
