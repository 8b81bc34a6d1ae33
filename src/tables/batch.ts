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

/** Batches out of something that writes rows: `step` adds zero or more rows to the writer and returns false when nothing is left. */
export class BatchSteps {
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly writer: BatchWriter,
    private readonly step: () => boolean,
  ) {}

  /**
   * The next batch of at most `most` rows; undefined at the end. Rows before what cannot be read are handed out before that is
   * thrown, wherever batches begin and end.
   */
  next(most = Number.POSITIVE_INFINITY): ColumnBatch | undefined {
    const { writer } = this;
    if (this.failure !== undefined) throw this.failure.error;
    writer.clear();
    writer.target = Math.min(BATCH_ROWS, most);
    let steps = 0;
    let quietUntil = 0;
    try {
      while (writer.rows < writer.target) {
        if (writer.rows === 0 && ++steps % CLOCK_STEPS === 0) {
          const now = Date.now();
          if (quietUntil === 0) quietUntil = now + QUIET_MS;
          else if (now > quietUntil) return { length: 0, columns: writer.columns };
        }
        if (!this.step()) break;
      }
    } catch (error) {
      this.failure = { error };
      writer.rollback();
      if (writer.rows === 0) throw error;
    }
    const length = Math.min(writer.rows, most);
    return length === 0 ? undefined : { length, columns: writer.columns };
  }
}

/** A scan over something that writes rows; see BatchSteps. A step should add few rows. */
export function scanOf(writer: BatchWriter, step: () => boolean, close: () => void, limit = Number.POSITIVE_INFINITY): Scan {
  const steps = new BatchSteps(writer, step);
  let left = limit;
  let closed = false;
  const end = () => {
    left = 0;
    if (closed) return;
    closed = true;
    if (writer.onCut !== undefined && writer.columns.some(wasCut)) writer.onCut();
    close();
  };
  return {
    next(): ColumnBatch | undefined {
      if (left <= 0) {
        end();
        return undefined;
      }
      try {
        const batch = steps.next(left);
        if (batch === undefined) end();
        else {
          left -= batch.length;
          if (left <= 0) end();
        }
        return batch;
      } catch (error) {
        end();
        throw error;
      }
    },
    close: end,
  };
}
