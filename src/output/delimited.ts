/**
 * csv    RFC 4180 with `\n`: quoted where a quote, comma or line end stands in it; NULL is nothing, the empty string `""`
 * tsv    a row a line: tab, line ends and backslash in a value are `\t` `\n` `\r` `\\`; NULL is nothing
 * list   values with `|` between, for people: control characters escaped, NULL is the word
 */
import type { Column } from '../io/column.js';
import { ByteWriter } from './bytes.js';
import { type CellWriter, textCell } from './cells.js';
import { escapeControls } from './escape.js';
import type { Form, FormContext } from './format.js';

const [TAB, NEWLINE, RETURN, QUOTE, COMMA, BACKSLASH, BAR] = [0x09, 0x0a, 0x0d, 0x22, 0x2c, 0x5c, 0x7c];

type Field = (bytes: Uint8Array, start: number, end: number, out: ByteWriter) => void;

export function csv(context: FormContext): Form {
  const nullText = context.options.nullText ?? '';
  return delimited(context, COMMA, nullText, (bytes, start, end, out) => {
    if (needsQuotes(bytes, start, end) || equals(bytes, start, end, nullText)) {
      out.byte(QUOTE);
      for (let i = start; i < end; i++) {
        if (bytes[i] === QUOTE) out.byte(QUOTE);
        out.byte(bytes[i]);
      }
      out.byte(QUOTE);
    } else out.copy(bytes, start, end);
  });
}

function needsQuotes(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  for (let i = start; i < end; i++) {
    const b = bytes[i];
    if (b === QUOTE || b === COMMA || b === NEWLINE || b === RETURN) return true;
  }
  return false;
}

/** A text that reads like the mark for NULL is quoted, the mark never. */
function equals(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  return end - start === Buffer.byteLength(text) && Buffer.from(text).equals(bytes.subarray(start, end));
}

const TSV_ESCAPES: Readonly<Record<number, string>> = { [TAB]: '\\t', [NEWLINE]: '\\n', [RETURN]: '\\r', [BACKSLASH]: '\\\\' };

export function tsv(context: FormContext): Form {
  return delimited(context, TAB, context.options.nullText ?? '', (bytes, start, end, out) => {
    for (let i = start; i < end; i++) {
      const escaped = TSV_ESCAPES[bytes[i]];
      if (escaped === undefined) out.byte(bytes[i]);
      else out.ascii(escaped);
    }
  });
}

export function list(context: FormContext): Form {
  return delimited(context, BAR, context.options.nullText ?? 'NULL', (bytes, start, end, out) => escapeControls(bytes, start, end, out));
}

function delimited(context: FormContext, separator: number, nullText: string, field: Field): Form {
  const cells: readonly CellWriter[] = context.columns.map(c => textCell(c.type, context));
  const scratch = new ByteWriter(1 << 12);
  return {
    begin(out) {
      if (!context.options.header) return;
      context.columns.forEach((column, i) => {
        if (i > 0) out.byte(separator);
        const name = Buffer.from(column.name);
        field(name, 0, name.length, out);
      });
      out.byte(NEWLINE);
    },
    row(columns: readonly Column[], row, out) {
      for (let i = 0; i < cells.length; i++) {
        if (i > 0) out.byte(separator);
        if (columns[i].validity[row] === 0) {
          out.text(nullText);
          continue;
        }
        scratch.length = 0;
        cells[i](columns[i], row, scratch);
        field(scratch.bytes, 0, scratch.length, out);
      }
      out.byte(NEWLINE);
    },
    end() {},
  };
}
