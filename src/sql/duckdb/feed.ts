/**
 * Column batches into the engine's data chunk vectors, as bytes (duckdb.h "Vector Interface").
 *
 *   fixed width   one copy of rows × width
 *   validity      one bit a row, 1 = valid, in u64 words; only where a row is NULL
 *   VARCHAR …     strings.ts
 *   STRUCT        each child vector, the same rows
 *   LIST, MAP     u64 offset, u64 length a row, offsets from 0; the child vector (MAP: a STRUCT of key and value) gets the
 *                 elements that the rows cover
 */
import { AbsentColumn, BytesColumn, type Column, FixedColumn, type ListColumn, StructColumn } from '../../io/column.js';
import type { SqlType } from '../../types.js';
import type { Duck, Vector } from './bindings.js';
import { fillStrings } from './strings.js';

const ZEROS = new ArrayBuffer(2048 * 16);
const isFixed = ({ kind }: SqlType) => !['VARCHAR', 'JSON', 'BLOB', 'LIST', 'MAP'].includes(kind);

const textOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

/** How strings are written: `fast` by address, `safe` one call a string. */
export type FeedMode = 'fast' | 'safe';

/** Fills rows 0..count of `vector` with rows from..from+count of `column`. */
export function fillVector(duck: Duck, vector: Vector, column: Column, from: number, count: number, mode: FeedMode): void {
  if (column instanceof AbsentColumn) {
    fillNulls(duck, vector, column.field, count);
    return;
  }
  if (column instanceof BytesColumn && column.constant !== undefined) {
    duck.vector_reference_value(vector, duck.create_varchar(textOf(column.constant)));
    return;
  }
  if (from + count > column.length) throw new Error('feed: rows beyond the end of the column');
  if (column instanceof FixedColumn) fillFixed(duck, vector, column, from, count);
  else if (column instanceof BytesColumn) fillStrings(duck, vector, column, from, count, mode === 'safe');
  else if (column instanceof StructColumn) {
    column.children.forEach((child, i) => {
      fillVector(duck, duck.struct_vector_get_child(vector, i), child, from, count, mode);
    });
  } else fillList(duck, vector, column, from, count, mode);
  fillValidity(duck, vector, column.validity, from, count);
}

/** Rows that are all NULL. The engine may look into a NULL: parts of a STRUCT are NULL as well, strings and lists empty. */
function fillNulls(duck: Duck, vector: Vector, type: SqlType, count: number): void {
  if (count * 16 > ZEROS.byteLength) throw new Error('feed: more NULL rows than a vector has');
  if (type.kind === 'STRUCT') {
    type.fields.forEach((field, i) => {
      fillNulls(duck, duck.struct_vector_get_child(vector, i), field.type, count);
    });
  } else if (!isFixed(type)) duck.copy_data_to_vector(vector, 0, ZEROS, 0, count * 16);
  duck.vector_ensure_validity_writable(vector);
  duck.copy_data_to_vector_validity(vector, 0, ZEROS, 0, Math.ceil(count / 64) * 8);
}

function fillFixed(duck: Duck, vector: Vector, column: FixedColumn, from: number, count: number): void {
  const { data, width } = column;
  if ((from + count) * width > data.length) throw new Error('feed: column data is shorter than its rows');
  if (column.type.kind === 'BOOLEAN') {
    // any other byte than 0 and 1 is undefined behaviour in the engine
    for (let i = from; i < from + count; i++) if (data[i] > 1) data[i] = 1;
  }
  duck.copy_data_to_vector(vector, 0, data.buffer as ArrayBuffer, data.byteOffset + from * width, count * width);
}

function fillList(duck: Duck, vector: Vector, column: ListColumn, from: number, count: number, mode: FeedMode): void {
  const { offsets, children } = column;
  const start = offsets[from];
  const total = offsets[from + count] - start;
  const slots = new Uint32Array(count * 4);
  for (let i = 0; i < count; i++) {
    if (offsets[from + i] > offsets[from + i + 1]) throw new Error('feed: list offsets run backwards');
    slots[i * 4] = offsets[from + i] - start;
    slots[i * 4 + 2] = offsets[from + i + 1] - offsets[from + i];
  }
  duck.list_vector_reserve(vector, total);
  duck.list_vector_set_size(vector, total);
  duck.copy_data_to_vector(vector, 0, slots.buffer as ArrayBuffer, 0, count * 16);
  if (total === 0) return;
  const child = duck.list_vector_get_child(vector);
  if (column.type.kind === 'MAP') {
    fillVector(duck, duck.struct_vector_get_child(child, 0), children[0], start, total, mode);
    fillVector(duck, duck.struct_vector_get_child(child, 1), children[1], start, total, mode);
  } else fillVector(duck, child, children[0], start, total, mode);
}

function fillValidity(duck: Duck, vector: Vector, validity: Uint8Array, from: number, count: number): void {
  let nulls = false;
  for (let i = from; i < from + count; i++) {
    if (validity[i] === 0) {
      nulls = true;
      break;
    }
  }
  if (!nulls) return;
  const bits = new Uint8Array(Math.ceil(count / 64) * 8);
  for (let i = 0; i < count; i++) if (validity[from + i] !== 0) bits[i >> 3] |= 1 << (i & 7);
  duck.vector_ensure_validity_writable(vector);
  duck.copy_data_to_vector_validity(vector, 0, bits.buffer as ArrayBuffer, 0, bits.length);
}
