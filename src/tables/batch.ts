/**
 * Rows into batches: the projected columns of a scan, filled row by row, handed out 2,048 rows at a time in reused memory.
 */
import { AbsentColumn, BytesColumn, type Column, type ColumnBatch, createColumn, wasCut } from '../io/column.js';
import type { SqlType } from '../types.js';
import type { Scan } from './table.js';

/** Rows of one batch: DuckDB's vector size. */
export const BATCH_ROWS = 2048;

export interface WriterOptions {
  /** of each column: Projection.fields */
  readonly fields?: readonly (readonly string[] | undefined)[];
  /** columns that are NULL in every row */
  readonly absent?: readonly boolean[];
  /** ScanRequest.constants */
  readonly constants?: boolean;
}

/** The columns being filled. `rows` counts finished rows (a scan may project no column at all). */
export class BatchWriter {
  readonly columns: readonly Column[];
  rows = 0;
  /** a step goes on until there are so many rows */
  target = 1;
  /** @param onCut called at the end of the scan when times finer than microseconds were cut */
  constructor(
    types: readonly SqlType[],
    readonly onCut?: () => void,
    options: WriterOptions = {},
  ) {
    const { fields = [], absent = [], constants = false } = options;
    this.columns = types.map((type, i) => (absent[i] === true ? new AbsentColumn(type) : createColumn(type, BATCH_ROWS, fields[i])));
    if (constants) for (const column of this.columns) if (column instanceof BytesColumn) column.constants = true;
  }
  clear(): void {
    this.rows = 0;
    for (const column of this.columns) column.clear();
  }
  /** Takes back a row that was begun and failed. */
  rollback(): void {
    for (const column of this.columns) if (column.length > this.rows) column.truncate(this.rows);
  }
}

/** Steps between two looks at the clock, and how long a scan looks for rows before it says that there were none so far. */
const CLOCK_STEPS = 16;
const QUIET_MS = 100;

/**
 * A scan over something that writes rows: `step` adds zero or more rows to the writer and returns false when nothing is
 * left. It is called until the batch is full, so a step should add few rows.
 */
export function scanOf(writer: BatchWriter, step: () => boolean, close: () => void, limit = Number.POSITIVE_INFINITY): Scan {
  let left = limit;
  let ended = left <= 0;
  let closed = false;
  const end = () => {
    ended = true;
    if (!closed) {
      closed = true;
      if (writer.onCut !== undefined && writer.columns.some(wasCut)) writer.onCut();
      close();
    }
  };
  return {
    next(): ColumnBatch | undefined {
      if (ended) {
        end();
        return undefined;
      }
      writer.clear();
      writer.target = Math.min(BATCH_ROWS, left);
      let steps = 0;
      let quietUntil = 0;
      try {
        while (writer.rows < BATCH_ROWS && writer.rows < left) {
          if (writer.rows === 0 && ++steps % CLOCK_STEPS === 0) {
            const now = Date.now();
            if (quietUntil === 0) quietUntil = now + QUIET_MS;
            else if (now > quietUntil) return { length: 0, columns: writer.columns };
          }
          if (!step()) {
            end();
            break;
          }
        }
      } catch (error) {
        end();
        throw error;
      }
      const length = Math.min(writer.rows, left);
      left -= length;
      if (left <= 0) end();
      if (length === 0) return undefined;
      return { length, columns: writer.columns };
    },
    close: end,
  };
}
