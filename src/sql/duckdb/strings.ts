/**
 * Strings in DuckDB's vectors (`duckdb_string_t`, duckdb.h), in both directions: the one file that handles pointers.
 *
 *   length ≤ 12   u32 length | 12 bytes inline, zero padded
 *   length > 12   u32 length | 4 bytes prefix | u64 pointer
 *
 * Writing a vector (`fillStrings`), three forms:
 *   inline   all rows ≤ 12 bytes: the entries are built here and copied in one call
 *   pointer  the chunk's heap is assigned to row 0 once, which copies it into memory that the vector owns; row 0's
 *            entry is read back for the address; then every row's entry is written with address + its offset
 *   safe     one `vector_assign_string_element_len` a row (ten times slower); also for heaps above 16 MB
 * Every offset is checked against the heap before an address is made of it, and VARCHAR heaps are checked for UTF-8.
 *
 * Reading (`readStrings`): runs of strings that lie one after the other are fetched by one call.
 */
import { isUtf8 } from 'node:buffer';
import { BytesColumn } from '../../io/column.js';
import type { SqlType } from '../../types.js';
import type { Duck, Vector } from './bindings.js';

const ENTRY = 16;
const INLINE = 12;
const POINTER_HEAP_LIMIT = 16 << 20;

let scratch = Buffer.alloc(2048 * ENTRY);
function entries(rows: number): Buffer {
  if (scratch.length < rows * ENTRY) scratch = Buffer.alloc(rows * ENTRY * 2);
  scratch.fill(0, 0, rows * ENTRY);
  return scratch;
}

function checkOffsets(column: BytesColumn, from: number, to: number): void {
  const { offsets, heap } = column;
  for (let i = from; i < to; i++) {
    if (offsets[i] > offsets[i + 1]) throw new Error(`string column: offset of row ${i + 1} lies before row ${i}`);
  }
  if (offsets[to] > heap.length) throw new Error('string column: offsets end after the heap');
  if (column.type.kind !== 'BLOB' && !isUtf8(heap.subarray(offsets[from], offsets[to])))
    throw new Error('string column: the heap is not UTF-8');
}

/** Fills rows 0..count of `vector` with rows from..from+count of `column`. NULL rows are the caller's. */
export function fillStrings(duck: Duck, vector: Vector, column: BytesColumn, from: number, count: number, safe: boolean): void {
  if (count === 0) return;
  const to = from + count;
  checkOffsets(column, from, to);
  const { offsets, heap } = column;
  const start = offsets[from];
  const total = offsets[to] - start;
  let longest = 0;
  for (let i = from; i < to; i++) longest = Math.max(longest, offsets[i + 1] - offsets[i]);
  if (safe || (longest > INLINE && total > POINTER_HEAP_LIMIT)) {
    for (let i = 0; i < count; i++) {
      const bytes = heap.subarray(offsets[from + i], offsets[from + i + 1]);
      duck.vector_assign_string_element_len(vector, i, bytes);
    }
    return;
  }
  let address = 0;
  if (longest > INLINE) {
    duck.vector_assign_string_element_len(vector, 0, heap.subarray(start, start + total));
    const first = duck.vector_get_data(vector, ENTRY);
    const view = new DataView(first.buffer, first.byteOffset, ENTRY);
    if (view.getUint32(0, true) !== total) throw new Error('string vector: the heap was not taken whole');
    address = view.getUint32(8, true) + view.getUint32(12, true) * 4294967296;
    if (!Number.isSafeInteger(address) || address === 0) throw new Error('string vector: no usable address');
  }
  const out = entries(count);
  for (let i = 0, at = 0; i < count; i++, at += ENTRY) {
    const begin = offsets[from + i];
    const length = offsets[from + i + 1] - begin;
    out.writeUInt32LE(length, at);
    if (length <= INLINE) {
      for (let k = 0; k < length; k++) out[at + 4 + k] = heap[begin + k];
    } else {
      out[at + 4] = heap[begin];
      out[at + 5] = heap[begin + 1];
      out[at + 6] = heap[begin + 2];
      out[at + 7] = heap[begin + 3];
      const pointer = address + (begin - start);
      const high = Math.floor(pointer / 4294967296);
      out.writeUInt32LE(pointer - high * 4294967296, at + 8);
      out.writeUInt32LE(high, at + 12);
    }
  }
  duck.copy_data_to_vector(vector, 0, out.buffer as ArrayBuffer, out.byteOffset, count * ENTRY);
}

/** Rows 0..count of a string vector; rows with `validity` 0 are empty, whatever their entry holds. */
export function readStrings(duck: Duck, vector: Vector, type: SqlType, count: number, validity: Uint8Array): BytesColumn {
  const column = new BytesColumn(type, 0);
  column.validity = validity;
  column.length = count;
  const offsets = new Uint32Array(count + 1);
  column.offsets = offsets;
  if (!validity.includes(1)) return column;
  const data = duck.vector_get_data(vector, count * ENTRY);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (validity[i] === 1) total += view.getUint32(i * ENTRY, true);
    offsets[i + 1] = total;
  }
  if (total > 0xffff0000) throw new Error('string vector: more than 4 GB in one chunk');
  const heap = Buffer.allocUnsafe(total);
  column.heap = heap;
  const pointerAt = (at: number) => view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * 4294967296;
  for (let i = 0; i < count; ) {
    const at = i * ENTRY;
    const begin = offsets[i];
    const length = offsets[i + 1] - begin;
    if (length <= INLINE) {
      for (let k = 0; k < length; k++) heap[begin + k] = data[at + 4 + k];
      i++;
      continue;
    }
    // a run: rows whose bytes follow each other in memory
    let end = i + 1;
    let expected = pointerAt(at) + length;
    while (end < count) {
      const next = offsets[end + 1] - offsets[end];
      if (next <= INLINE || pointerAt(end * ENTRY) !== expected) break;
      expected += next;
      end++;
    }
    const bytes = duck.get_data_from_pointer(data.buffer as ArrayBuffer, data.byteOffset + at + 8, offsets[end] - begin);
    heap.set(bytes, begin);
    i = end;
  }
  return column;
}
