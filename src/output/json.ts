/**
 * json     [{"key":"a","value":1},     one array a result, a row a line; left open when the rows end in an error
 *          {"key":"b","value":2}]
 * ndjson   {"key":"a","value":1}       one object a line
 */
import { jsonCell } from './cells.js';
import type { Form, FormContext } from './format.js';

const NULL = Buffer.from('null');
const NEWLINE = 0x0a;

export function ndjson(context: FormContext): Form {
  const object = objectWriter(context);
  return {
    begin() {},
    row(columns, row, out) {
      object(columns, row, out);
      out.byte(NEWLINE);
    },
    end() {},
  };
}

export function json(context: FormContext): Form {
  const object = objectWriter(context);
  let first = true;
  return {
    begin: out => out.ascii('['),
    row(columns, row, out) {
      if (!first) out.ascii(',\n');
      first = false;
      object(columns, row, out);
    },
    end: out => out.ascii(']\n'),
  };
}

function objectWriter(context: FormContext): Form['row'] {
  const names = context.columns.map((c, i) => Buffer.from(`${i === 0 ? '{' : ','}${JSON.stringify(c.name)}:`));
  const cells = context.columns.map(c => jsonCell(c.type, context));
  const n = cells.length;
  return (columns, row, out) => {
    for (let i = 0; i < n; i++) {
      out.copy(names[i]);
      const column = columns[i];
      if (column.validity[row] === 0) out.copy(NULL);
      else cells[i](column, row, out);
    }
    out.byte(0x7d);
  };
}
