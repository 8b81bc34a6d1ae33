/**
 * sql   statements that give DuckDB the result as a table, every type exact:
 *
 *   CREATE TABLE "result" ("key" VARCHAR, "value" BIGINT);
 *   INSERT INTO "result" VALUES
 *   ('key_662', 11290);
 */
import type { SqlType } from '../types.js';
import { sqlCell } from './cells.js';
import type { Form, FormContext } from './format.js';

const ROWS_A_STATEMENT = 500;
const NULL = Buffer.from('NULL');

export function insertStatements(context: FormContext): Form {
  const table = quoteName(context.index === 0 ? 'result' : `result_${context.index}`);
  const cells = context.columns.map(c => sqlCell(c.type));
  let rows = 0;
  return {
    begin: out => out.text(`${createTable(table, context.columns)}\n`),
    row(columns, row, out) {
      if (rows % ROWS_A_STATEMENT === 0) out.text(`${rows === 0 ? '' : ';\n'}INSERT INTO ${table} VALUES\n(`);
      else out.ascii(',\n(');
      rows++;
      for (let i = 0; i < cells.length; i++) {
        if (i > 0) out.ascii(', ');
        if (columns[i].validity[row] === 0) out.copy(NULL);
        else cells[i](columns[i], row, out);
      }
      out.byte(0x29);
    },
    end(out) {
      if (rows > 0) out.ascii(';\n');
    },
  };
}

/** CREATE TABLE for columns; `table` is a finished (quoted) name. */
export function createTable(table: string, columns: readonly { readonly name: string; readonly type: SqlType }[]): string {
  return `CREATE TABLE ${table} (${columns.map(c => `${quoteName(c.name)} ${typeText(c.type)}`).join(', ')});`;
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The type with every field name quoted: some are words of the language (`end`). */
function typeText(type: SqlType): string {
  switch (type.kind) {
    case 'STRUCT':
      return `STRUCT(${type.fields.map(f => `${quoteName(f.name)} ${typeText(f.type)}`).join(', ')})`;
    case 'LIST':
      return `${typeText(type.element)}[]`;
    case 'MAP':
      return `MAP(${typeText(type.key)}, ${typeText(type.value)})`;
    case 'DECIMAL':
      return `DECIMAL(${type.precision},${type.scale})`;
    default:
      return type.kind;
  }
}
