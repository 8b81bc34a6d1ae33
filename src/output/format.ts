/**
 * Results to bytes: the forms of `-o`, one after the other on one sink.
 *
 * A form writes row by row from columns. The writer around it sends chunks on, waits for the reader, stops at --max-rows and keeps
 * count. Nothing is held back but the first 1,000 rows of a table, whose widths have to be known.
 */
import type { Column, ColumnBatch } from '../io/column.js';
import type { SqlType } from '../types.js';
import { ByteWriter } from './bytes.js';
import type { CellContext, OutputNotes } from './cells.js';
import type { Paint } from './color.js';
import { csv, list, tsv } from './delimited.js';
import { escapeControls } from './escape.js';
import { json, ndjson } from './json.js';
import { line } from './line.js';
import type { Sink } from './sink.js';
import { insertStatements } from './sql.js';
import { box, markdown, table } from './table.js';
import { columnMayBeWide, loadWidths, mayBeWide } from './width.js';

export interface ResultColumn {
  readonly name: string;
  readonly type: SqlType;
}

/** One result: what a statement, or a command, answers. */
export interface ResultRows {
  readonly columns: readonly ResultColumn[];
  readonly batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>;
}

export interface OutputOptions {
  readonly format: OutputFormat;
  /** BIGINT, HUGEINT and DECIMAL in JSON: every digit, or quoted */
  readonly numbers: 'exact' | 'string';
  readonly header: boolean;
  /** text for NULL; without it the form's own */
  readonly nullText: string | undefined;
  /** rows shown of each result; the others are read and counted */
  readonly maxRows: number | undefined;
  /** the bytes go to a terminal: what it would act on is escaped in every form */
  readonly terminal: boolean;
  readonly paint: Paint;
}

/** What a form knows of the result it writes. */
export interface FormContext extends CellContext {
  readonly columns: readonly ResultColumn[];
  readonly options: OutputOptions;
  /** results written before this one */
  readonly index: number;
}

export interface Form {
  begin(out: ByteWriter): void;
  row(columns: readonly Column[], row: number, out: ByteWriter): void;
  end(out: ByteWriter): void;
}

/**
 * Every form of `-o`. `raw`: the bytes of the data go out as they are; `one`: it can hold one result only; `widths`: it lines text up.
 */
const FORMS = {
  table: { make: table, widths: true },
  box: { make: box, widths: true },
  json: { make: json, raw: true },
  ndjson: { make: ndjson, raw: true },
  csv: { make: csv, raw: true, one: true },
  tsv: { make: tsv, raw: true, one: true },
  markdown: { make: markdown, one: true, widths: true },
  line: { make: line, widths: true },
  list: { make: list },
  sql: { make: insertStatements, raw: true },
} as const satisfies Record<string, { make: (context: FormContext) => Form; raw?: true; one?: true; widths?: true }>;

export type OutputFormat = keyof typeof FORMS;
export const OUTPUT_FORMATS = Object.keys(FORMS) as readonly OutputFormat[];

/** csv, tsv and markdown cannot tell where one result ends and the next begins. */
export function holdsOneResult(format: OutputFormat): boolean {
  return 'one' in FORMS[format];
}

export interface Written {
  readonly rows: number;
  /** rows beyond --max-rows */
  readonly hidden: number;
}

export interface ResultWriter {
  write(result: ResultRows): Promise<Written>;
  readonly notes: Readonly<OutputNotes>;
}

const CHUNK = 1 << 16;

/** Writes results to `sink`. @throws OutputClosed, and whatever the batches throw */
export function resultWriter(options: OutputOptions, sink: Sink): ResultWriter {
  const notes: OutputNotes = { bigInteger: false };
  let index = 0;
  return {
    notes,
    async write(result) {
      const columns = uniqueNames(result.columns);
      const context: FormContext = { columns, options, numbers: options.numbers, notes, index: index++ };
      const { make, ...kind } = FORMS[options.format];
      let measure = 'widths' in kind;
      if (measure && mayBeWide([...columns.map(c => c.name), options.nullText ?? ''].join(''))) await loadWidths();
      const form = options.terminal && 'raw' in kind ? forTerminal(make(context)) : make(context);
      const out = new ByteWriter();
      const flush = (): void | Promise<void> => (out.length === 0 ? undefined : sink.write(out.take()));
      const limit = options.maxRows ?? Number.POSITIVE_INFINITY;
      let rows = 0;
      form.begin(out);
      for await (const batch of result.batches) {
        if (measure && batch.columns.some(columnMayBeWide)) {
          await loadWidths();
          measure = false;
        }
        const shown = Math.max(0, Math.min(batch.length, limit - rows));
        for (let row = 0; row < shown; row++) {
          form.row(batch.columns, row, out);
          if (out.length >= CHUNK) {
            const full = flush();
            if (full !== undefined) await full;
          }
        }
        rows += batch.length;
        const full = flush();
        if (full !== undefined) await full;
      }
      form.end(out);
      await flush();
      return { rows, hidden: Math.max(0, rows - limit) };
    },
  };
}

/** A form whose bytes stand for themselves, made safe for a terminal row by row. */
function forTerminal(form: Form): Form {
  const scratch = new ByteWriter(1 << 12);
  const pass = (out: ByteWriter): void => {
    escapeControls(scratch.bytes, 0, scratch.length, out, true);
    scratch.length = 0;
  };
  return {
    begin(out) {
      form.begin(scratch);
      pass(out);
    },
    row(columns, row, out) {
      form.row(columns, row, scratch);
      pass(out);
    },
    end(out) {
      form.end(scratch);
      pass(out);
    },
  };
}

/** `value`, `value` → `value`, `value_1`: without case, as SQL compares names. */
export function uniqueNames(columns: readonly ResultColumn[]): readonly ResultColumn[] {
  const taken = new Set(columns.map(c => c.name.toLowerCase()));
  if (taken.size === columns.length) return columns;
  const used = new Set<string>();
  return columns.map(column => {
    let { name } = column;
    for (let n = 1; used.has(name.toLowerCase()) || (n > 1 && taken.has(name.toLowerCase())); n++) name = `${column.name}_${n}`;
    used.add(name.toLowerCase());
    return { ...column, name };
  });
}
