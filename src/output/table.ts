/**
 * table, box, markdown: a grid whose widths come from the first 1,000 rows. Later rows stream; a wider cell there is not cut, it
 * pushes its own line out. Numbers stand to the right. Control characters and bidi marks are escaped, so a cell is one line.
 *
 *   +---------+-------+     ┌─────────┬───────┐
 *   | key     | value |     │ key     │ value │     | key     | value |
 *   +---------+-------+     ├─────────┼───────┤     | ------- | ----: |
 *   | key_662 | 11290 |     │ key_662 │ 11290 │     | key_662 | 11290 |
 *   +---------+-------+     └─────────┴───────┘
 */
import type { Column } from '../io/column.js';
import { ByteWriter } from './bytes.js';
import { alignOf, textCell } from './cells.js';
import { escapeControls, escapeText, isPlainAscii } from './escape.js';
import type { Form, FormContext } from './format.js';
import { displayWidth } from './width.js';

const MEASURED_ROWS = 1000;
/** rows held back for measuring are at most this large together */
const MEASURED_BYTES = 16 << 20;
/** no column is made wider for the sake of a longer cell than this */
const WIDEST = 1000;

type Rule = readonly [left: string, fill: string, middle: string, right: string];
interface Style {
  readonly bar: string;
  readonly top?: Rule;
  readonly under: Rule;
  readonly bottom?: Rule;
  /** the rule under the header tells alignment, and cells escape what the notation would take */
  readonly markdown?: true;
}

export const table = grid({ bar: '|', top: ['+', '-', '+', '+'], under: ['+', '-', '+', '+'], bottom: ['+', '-', '+', '+'] });
export const box = grid({ bar: '│', top: ['┌', '─', '┬', '┐'], under: ['├', '─', '┼', '┤'], bottom: ['└', '─', '┴', '┘'] });
export const markdown = grid({ bar: '|', under: ['|', '-', '|', '|'], markdown: true });

interface Cell {
  readonly bytes: Uint8Array;
  readonly width: number;
}

function grid(style: Style): (context: FormContext) => Form {
  return context => {
    const { options } = context;
    const { paint } = options;
    const right = context.columns.map(c => alignOf(c.type) === 'right');
    const writers = context.columns.map(c => textCell(c.type, context));
    const nullText = escapeText(options.nullText ?? 'NULL');
    const nothing: Cell = { bytes: Buffer.from(paint.dim(nullText)), width: displayWidth(nullText) };
    const header = context.columns.map((c): Cell => {
      const name = style.markdown ? escapeMarkdown(escapeText(c.name)) : escapeText(c.name);
      return { bytes: Buffer.from(paint.bold(name)), width: displayWidth(name) };
    });
    const widths = header.map(cell => (options.header ? cell.width : 0));
    const scratch = new ByteWriter(1 << 12);
    const escaped = new ByteWriter(1 << 12);
    const bar = Buffer.from(style.bar);
    let measuring: Cell[][] | undefined = [];
    let measuredBytes = 0;

    const cellOf = (column: Column, i: number, row: number): Cell => {
      if (column.validity[row] === 0) return nothing;
      scratch.length = 0;
      writers[i](column, row, scratch);
      const ascii = isPlainAscii(scratch.bytes, 0, scratch.length);
      if (ascii && (style.markdown === undefined || !hasMarkdown(scratch.bytes, scratch.length)))
        return { bytes: scratch.bytes.subarray(0, scratch.length), width: scratch.length };
      escaped.length = 0;
      escapeControls(scratch.bytes, 0, scratch.length, escaped);
      let text = escaped.bytes.toString('utf8', 0, escaped.length);
      if (style.markdown) text = escapeMarkdown(text);
      return { bytes: Buffer.from(text), width: ascii ? text.length : displayWidth(text) };
    };
    const writeCell = (cell: Cell, i: number, out: ByteWriter): void => {
      const gap = widths[i] - cell.width;
      out.byte(0x20);
      if (right[i]) out.repeat(0x20, gap);
      out.copy(cell.bytes);
      if (!right[i]) out.repeat(0x20, gap);
      out.byte(0x20);
      out.copy(bar);
    };
    const writeCells = (cells: readonly Cell[], out: ByteWriter): void => {
      out.copy(bar);
      cells.forEach((cell, i) => {
        writeCell(cell, i, out);
      });
      out.byte(0x0a);
    };
    const rule = ([left, fill, middle, end]: Rule, out: ByteWriter): void => {
      const parts = widths.map((width, i) => {
        if (style.markdown === undefined) return fill.repeat(width + 2);
        return right[i] ? ` ${fill.repeat(width - 1)}: ` : ` ${fill.repeat(width)} `;
      });
      out.text(`${left}${parts.join(middle)}${end}\n`);
    };
    const measured = (out: ByteWriter): void => {
      const rows = measuring ?? [];
      measuring = undefined;
      for (const cells of rows)
        cells.forEach((cell, i) => {
          widths[i] = Math.max(widths[i], Math.min(cell.width, WIDEST));
        });
      if (style.markdown) for (const [i, width] of widths.entries()) widths[i] = Math.max(width, 3);
      if (style.top !== undefined) rule(style.top, out);
      if (options.header) {
        writeCells(header, out);
        rule(style.under, out);
      }
      for (const cells of rows) writeCells(cells, out);
    };

    return {
      begin(out) {
        if (context.index > 0) out.byte(0x0a);
      },
      row(columns, row, out) {
        if (measuring !== undefined) {
          const cells = columns.map((column, i) => {
            const cell = cellOf(column, i, row);
            measuredBytes += cell.bytes.length;
            return cell === nothing ? cell : { bytes: Buffer.from(cell.bytes), width: cell.width };
          });
          measuring.push(cells);
          if (measuring.length >= MEASURED_ROWS || measuredBytes >= MEASURED_BYTES) measured(out);
          return;
        }
        out.copy(bar);
        for (let i = 0; i < columns.length; i++) writeCell(cellOf(columns[i], i, row), i, out);
        out.byte(0x0a);
      },
      end(out) {
        if (measuring !== undefined) measured(out);
        if (style.bottom !== undefined) rule(style.bottom, out);
      },
    };
  };
}

function hasMarkdown(bytes: Uint8Array, end: number): boolean {
  for (let i = 0; i < end; i++) if (bytes[i] === 0x5c || bytes[i] === 0x7c || bytes[i] === 0x3c) return true;
  return false;
}

/** `|` would end the cell, `<` begin HTML, `\` escape what follows. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\|<]/g, '\\$&');
}
