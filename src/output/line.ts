/**
 * line   a column a line, an empty line between rows:
 *
 *          key = key_662
 *        value = 11290
 */
import { ByteWriter } from './bytes.js';
import { textCell } from './cells.js';
import { escapeControls, escapeText } from './escape.js';
import type { Form, FormContext } from './format.js';
import { displayWidth } from './width.js';

export function line(context: FormContext): Form {
  const { paint, nullText } = context.options;
  const names = context.columns.map(c => escapeText(c.name));
  const widths = names.map(displayWidth);
  const widest = Math.max(...widths);
  const labels = names.map((name, i) => Buffer.from(`${' '.repeat(widest - widths[i])}${paint.bold(name)} = `));
  const cells = context.columns.map(c => textCell(c.type, context));
  const nothing = Buffer.from(paint.dim(escapeText(nullText ?? 'NULL')));
  const scratch = new ByteWriter(1 << 12);
  let first = true;
  return {
    begin(out) {
      if (context.index > 0) out.byte(0x0a);
    },
    row(columns, row, out) {
      if (!first) out.byte(0x0a);
      first = false;
      for (let i = 0; i < cells.length; i++) {
        out.copy(labels[i]);
        if (columns[i].validity[row] === 0) out.copy(nothing);
        else {
          scratch.length = 0;
          cells[i](columns[i], row, scratch);
          escapeControls(scratch.bytes, 0, scratch.length, out);
        }
        out.byte(0x0a);
      }
    },
    end() {},
  };
}
