/** Results from values, and what a form makes of them. */
import { type Column, createColumn } from '../../src/io/column.js';
import { paintFor } from '../../src/output/color.js';
import { type OutputFormat, type OutputOptions, type ResultColumn, type ResultRows, resultWriter } from '../../src/output/format.js';
import type { Value } from '../../src/types.js';

export const OPTIONS: OutputOptions = {
  format: 'json',
  numbers: 'exact',
  header: true,
  nullText: undefined,
  maxRows: undefined,
  terminal: false,
  paint: paintFor('stdout', false),
};

/** Rows as batches of at most `size`. */
export function resultOf(columns: readonly ResultColumn[], rows: readonly (readonly Value[])[], size = 3): ResultRows {
  return {
    columns,
    batches: (function* () {
      for (let at = 0; at < rows.length; at += size) {
        const part = rows.slice(at, at + size);
        const filled: Column[] = columns.map((c, i) => {
          const column = createColumn(c.type, 2);
          for (const row of part) column.push(row[i]);
          return column;
        });
        yield { length: part.length, columns: filled };
      }
    })(),
  };
}

/** The bytes of one or more results in a form, as text. */
export async function written(
  options: Partial<OutputOptions> & { format: OutputFormat },
  ...results: readonly ResultRows[]
): Promise<string> {
  const chunks: Buffer[] = [];
  const writer = resultWriter({ ...OPTIONS, ...options }, { write: bytes => void chunks.push(Buffer.from(bytes)) });
  for (const result of results) await writer.write(result);
  return Buffer.concat(chunks).toString('utf8');
}
