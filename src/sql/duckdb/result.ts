/**
 * The engine's result chunks back into our columns: whole vectors as bytes, a value at a time only where the type has
 * to be widened or named (types.ts).
 */
import { BytesColumn, type Column, type ColumnBatch, FixedColumn, ListColumn, StructColumn } from '../../io/column.js';
import { gatherRows } from '../select-rows.js';
import type { DataChunk, Duck, Vector } from './bindings.js';
import { readStrings } from './strings.js';
import { type ReadType, TypeId } from './types.js';

/** The rows of one chunk, in memory of their own. */
export function readChunk(duck: Duck, chunk: DataChunk, types: readonly ReadType[]): ColumnBatch {
  const length = duck.data_chunk_get_size(chunk);
  return { length, columns: types.map((type, i) => readVector(duck, duck.data_chunk_get_vector(chunk, i), type, length)) };
}

/** `live` 0 marks rows that no valid parent covers: their bytes mean nothing (a string's address least of all). */
function readVector(duck: Duck, vector: Vector, type: ReadType, count: number, live?: Uint8Array): Column {
  const validity = readValidity(duck, vector, count);
  if (live !== undefined) for (let i = 0; i < count; i++) validity[i] &= live[i];
  switch (type.id) {
    case TypeId.VARCHAR:
    case TypeId.BLOB:
      return readStrings(duck, vector, type.sql, count, validity);
    case TypeId.ENUM:
      return readEnum(duck, vector, type, count, validity);
    case TypeId.STRUCT: {
      const column = new StructColumn(type.sql as StructColumn['type'] & { kind: 'STRUCT' }, 0);
      column.validity = validity;
      column.length = count;
      (column as { children: readonly Column[] }).children = type.children.map((child, i) =>
        readVector(duck, duck.struct_vector_get_child(vector, i), child, count, validity),
      );
      return column;
    }
    case TypeId.LIST:
    case TypeId.MAP:
    case TypeId.ARRAY:
      return readList(duck, vector, type, count, validity);
    default:
      return readFixed(duck, vector, type, count, validity);
  }
}

function readValidity(duck: Duck, vector: Vector, count: number): Uint8Array {
  const validity = new Uint8Array(count).fill(1);
  const bits = duck.vector_get_validity(vector, Math.ceil(count / 64) * 8) as Uint8Array | null;
  if (bits) for (let i = 0; i < count; i++) validity[i] = (bits[i >> 3] >> (i & 7)) & 1;
  return validity;
}

function fixedColumn(type: ReadType, data: Uint8Array, count: number, validity: Uint8Array): FixedColumn {
  const column = new FixedColumn(type.sql, 0);
  column.data = data;
  column.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  column.validity = validity;
  column.length = count;
  return column;
}

/** types that come back wider than they are stored: bytes read, and each value's new bytes */
const WIDENED: ReadonlyMap<number, readonly [width: number, widen: (from: DataView, at: number, to: FixedColumn) => void]> = new Map([
  [TypeId.UTINYINT, [1, (from, at, to) => to.pushI16(from.getUint8(at))]],
  [TypeId.USMALLINT, [2, (from, at, to) => to.pushI32(from.getUint16(at, true))]],
  [TypeId.UINTEGER, [4, (from, at, to) => to.pushI64Number(from.getUint32(at, true))]],
  [TypeId.UBIGINT, [8, (from, at, to) => to.pushI128(from.getBigUint64(at, true))]],
  [TypeId.TIMESTAMP_S, [8, (from, at, to) => to.pushI64(scaled(from.getBigInt64(at, true), 1000000n))]],
  [TypeId.TIMESTAMP_MS, [8, (from, at, to) => to.pushI64(scaled(from.getBigInt64(at, true), 1000n))]],
]);

const INFINITY = 0x7fffffffffffffffn;
/** ±infinity keeps its marker */
const scaled = (units: bigint, factor: bigint) => (units === INFINITY || units === -INFINITY ? units : units * factor);

function readFixed(duck: Duck, vector: Vector, type: ReadType, count: number, validity: Uint8Array): FixedColumn {
  const widened = WIDENED.get(type.id);
  if (widened === undefined) {
    const width = new FixedColumn(type.sql, 0).width;
    return fixedColumn(type, duck.vector_get_data(vector, count * width), count, validity);
  }
  const [width, widen] = widened;
  const data = duck.vector_get_data(vector, count * width);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const column = new FixedColumn(type.sql, count);
  for (let i = 0; i < count; i++) {
    if (validity[i] === 1) widen(view, i * width, column);
    else column.pushNull();
  }
  return column;
}

function readEnum(duck: Duck, vector: Vector, type: ReadType, count: number, validity: Uint8Array): BytesColumn {
  const { width, names } = type.dictionary!;
  const data = duck.vector_get_data(vector, count * width);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const column = new BytesColumn(type.sql, count);
  for (let i = 0; i < count; i++) {
    const index = width === 1 ? view.getUint8(i) : width === 2 ? view.getUint16(i * 2, true) : view.getUint32(i * 4, true);
    if (validity[i] === 1) column.pushString(names[index]);
    else column.pushNull();
  }
  return column;
}

function readList(duck: Duck, vector: Vector, type: ReadType, count: number, validity: Uint8Array): ListColumn {
  const column = new ListColumn(type.sql as ListColumn['type'] & { kind: 'LIST' | 'MAP' }, 0);
  column.validity = validity;
  column.length = count;
  const begins = new Uint32Array(count);
  const offsets = new Uint32Array(count + 1);
  let contiguous = true;
  if (type.arraySize !== undefined) {
    for (let i = 0; i < count; i++) {
      begins[i] = i * type.arraySize;
      offsets[i + 1] = offsets[i] + (validity[i] === 1 ? type.arraySize : 0);
    }
  } else {
    const data = duck.vector_get_data(vector, count * 16);
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (let i = 0; i < count; i++) {
      const valid = validity[i] === 1;
      begins[i] = valid ? view.getUint32(i * 16, true) : offsets[i];
      offsets[i + 1] = offsets[i] + (valid ? view.getUint32(i * 16 + 8, true) : 0);
    }
  }
  for (let i = 0; i < count; i++) if (begins[i] !== offsets[i] && offsets[i + 1] > offsets[i]) contiguous = false;
  column.offsets = offsets;
  const size = type.arraySize === undefined ? duck.list_vector_get_size(vector) : count * type.arraySize;
  const child = type.arraySize === undefined ? duck.list_vector_get_child(vector) : duck.array_vector_get_child(vector);
  const live = new Uint8Array(size);
  for (let i = 0; i < count; i++) live.fill(1, begins[i], begins[i] + offsets[i + 1] - offsets[i]);
  const read =
    type.id === TypeId.MAP
      ? type.children.map((t, i) => readVector(duck, duck.struct_vector_get_child(child, i), t, size, live))
      : [readVector(duck, child, type.children[0], size, live)];
  (column as { children: readonly Column[] }).children = contiguous ? read : read.map(c => gatherRows(c, begins, offsets));
  return column;
}
