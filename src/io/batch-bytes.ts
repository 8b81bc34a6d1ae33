/**
 * Column batches as one run of bytes, to hand them to another thread: written behind each other into a buffer that is given away, and
 * looked at there in place.
 *
 *   batch    u32 rows · u32 0 · each column; every array begins at a multiple of 8
 *   column   u32 flags · u32 n · what follows by kind:
 *     all             u8 × rows validity, where flag NULLS is set
 *     FixedColumn     rows × width
 *     BytesColumn     constant: n bytes; otherwise u32 × (rows + 1) offsets · n bytes of heap
 *     StructColumn    each child, of as many rows
 *     ListColumn      u32 × (rows + 1) offsets · each child, of n rows
 *     AbsentColumn    nothing, not even flags
 *
 * All in the machine's own order: the bytes never leave the process.
 */
import { AbsentColumn, BytesColumn, type Column, type ColumnBatch, FixedColumn, StructColumn } from './column.js';

const NULLS = 1;
const CONSTANT = 2;
/** FixedColumn.cut */
const CUT = 4;

const padded = (n: number): number => (n + 7) & ~7;

/** Bytes that a batch takes at most. */
export function packedSize({ length, columns }: ColumnBatch): number {
  return columns.reduce((sum, column) => sum + columnSize(column, length), 8);
}

function columnSize(column: Column, rows: number): number {
  if (column instanceof AbsentColumn) return 0;
  let size = 8 + padded(rows);
  if (column instanceof FixedColumn) return size + padded(rows * column.width);
  if (column instanceof BytesColumn)
    return column.constant === undefined
      ? size + padded(4 * rows + 4) + padded(column.offsets[rows])
      : size + padded(column.constant.length);
  if (column instanceof StructColumn) for (const child of column.children) size += columnSize(child, rows);
  else {
    size += padded(4 * rows + 4);
    for (const child of column.children) size += columnSize(child, column.offsets[rows]);
  }
  return size;
}

/** Writes a batch at `at`, a multiple of 8. @returns where it ends. There must be room for `packedSize`. */
export function packBatch(batch: ColumnBatch, target: ArrayBuffer, at: number): number {
  const out: Target = { bytes: new Uint8Array(target), words: new Uint32Array(target), at: at + 8 };
  out.words[at >> 2] = batch.length;
  out.words[(at >> 2) + 1] = 0;
  for (const column of batch.columns) packColumn(column, batch.length, out);
  return out.at;
}

interface Target {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  at: number;
}

function packColumn(column: Column, rows: number, out: Target): void {
  if (column instanceof AbsentColumn) return;
  const head = out.at >> 2;
  out.at += 8;
  let flags = 0;
  let n = 0;
  const constant = column instanceof BytesColumn ? column.constant : undefined;
  if (constant !== undefined) {
    flags |= CONSTANT;
    n = constant.length;
    put(out, constant, n);
  } else {
    if (hasNulls(column.validity, rows)) {
      flags |= NULLS;
      put(out, column.validity, rows);
    }
    if (column instanceof FixedColumn) {
      if (column.cut) flags |= CUT;
      put(out, column.data, rows * column.width);
    } else if (column instanceof BytesColumn) {
      n = column.offsets[rows];
      putWords(out, column.offsets, rows + 1);
      put(out, column.heap, n);
    } else if (column instanceof StructColumn) {
      for (const child of column.children) packColumn(child, rows, out);
    } else {
      n = column.offsets[rows];
      putWords(out, column.offsets, rows + 1);
      for (const child of column.children) packColumn(child, n, out);
    }
  }
  out.words[head] = flags;
  out.words[head + 1] = n;
}

function hasNulls(validity: Uint8Array, rows: number): boolean {
  for (let i = 0; i < rows; i++) if (validity[i] === 0) return true;
  return false;
}

function put(out: Target, bytes: Uint8Array, length: number): void {
  out.bytes.set(bytes.length === length ? bytes : bytes.subarray(0, length), out.at);
  out.at += padded(length);
}

function putWords(out: Target, words: Uint32Array, length: number): void {
  out.words.set(words.subarray(0, length), out.at >> 2);
  out.at += padded(4 * length);
}

/** Shows packed batches as columns, in place: the batch is valid as long as its buffer is. */
export class BatchReader {
  /** rows that have no NULL, as many as were needed so far */
  private valid = new Uint8Array(4096).fill(1);
  private bytes = new Uint8Array(0);
  private words = new Uint32Array(0);
  private at = 0;
  private end = 0;

  /** @param columns of the same types, left out fields and absences as the packed ones; what they hold is replaced */
  constructor(private readonly columns: readonly Column[]) {}

  /** Shows the batches that stand in buffer[0, end). */
  open(buffer: ArrayBuffer, end: number): void {
    this.bytes = new Uint8Array(buffer);
    this.words = new Uint32Array(buffer);
    this.at = 0;
    this.end = end;
  }

  /** The next batch; undefined behind the last one. */
  next(): ColumnBatch | undefined {
    if (this.at >= this.end) return undefined;
    const length = this.words[this.at >> 2];
    this.at += 8;
    for (const column of this.columns) this.show(column, length);
    return { length, columns: this.columns };
  }

  private show(column: Column, rows: number): void {
    column.length = rows;
    if (column instanceof AbsentColumn) return;
    const flags = this.words[this.at >> 2];
    const n = this.words[(this.at >> 2) + 1];
    this.at += 8;
    if (column instanceof BytesColumn) {
      column.constant = undefined;
      if ((flags & CONSTANT) !== 0) {
        column.constant = Uint8Array.from(this.take(n));
        return;
      }
    }
    column.validity = (flags & NULLS) !== 0 ? this.take(rows) : this.allValid(rows);
    if (column instanceof FixedColumn) {
      if ((flags & CUT) !== 0) column.cut = true;
      column.data = this.take(rows * column.width);
      column.view = new DataView(column.data.buffer, column.data.byteOffset, column.data.byteLength);
    } else if (column instanceof BytesColumn) {
      column.offsets = this.takeWords(rows + 1);
      const heap = this.take(n);
      column.heap = Buffer.from(heap.buffer, heap.byteOffset, heap.byteLength);
    } else if (column instanceof StructColumn) {
      for (const child of column.children) this.show(child, rows);
    } else {
      column.offsets = this.takeWords(rows + 1);
      for (const child of column.children) this.show(child, n);
    }
  }

  private allValid(rows: number): Uint8Array {
    if (this.valid.length < rows) this.valid = new Uint8Array(rows * 2).fill(1);
    return this.valid;
  }

  private take(length: number): Uint8Array<ArrayBuffer> {
    const bytes = this.bytes.subarray(this.at, this.at + length) as Uint8Array<ArrayBuffer>;
    this.at += padded(length);
    return bytes;
  }

  private takeWords(length: number): Uint32Array {
    const start = this.at >> 2;
    this.at += padded(4 * length);
    return this.words.subarray(start, start + length);
  }
}
