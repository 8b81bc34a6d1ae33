/**
 * Columns that a text takes on a terminal: CJK and emoji count two, combining marks none. The tables behind that are loaded when the
 * first text needs them: printable ASCII, which is nearly all state, is as wide as it is long.
 */
import { BytesColumn, type Column, FixedColumn } from '../io/column.js';

let measure: ((text: string) => number) | undefined;

/** Has to be awaited before displayWidth() meets anything but ASCII. */
export async function loadWidths(): Promise<void> {
  measure ??= (await import('string-width')).default;
}

/** `text` holds no control characters. */
export function displayWidth(text: string): number {
  if (!mayBeWide(text)) return text.length;
  if (measure === undefined) throw new Error('widths of text that is not ASCII are not loaded');
  return measure(text);
}

export function mayBeWide(text: string): boolean {
  return /[^ -~]/.test(text);
}

/** Whether any text of a column may hold more than printable ASCII; an escape in JSON may stand for more. */
export function columnMayBeWide(column: Column): boolean {
  if (column instanceof FixedColumn) return false;
  if (!(column instanceof BytesColumn)) return column.children.some(columnMayBeWide) || mayBeWide(fieldNames(column));
  if (column.type.kind === 'BLOB') return false;
  const { heap } = column;
  const escapes = column.type.kind === 'JSON' ? 0x5c : -1;
  const end = column.offsets[column.length];
  for (let i = column.offsets[0]; i < end; i++) if (heap[i] > 0x7e || heap[i] < 0x20 || heap[i] === escapes) return true;
  return false;
}

function fieldNames(column: Column): string {
  return column.type.kind === 'STRUCT' ? column.type.fields.map(f => f.name).join('') : '';
}
