/** Rows of columns, picked: new columns with memory of their own. */
import { BytesColumn, type Column, FixedColumn, ListColumn, StructColumn } from '../io/column.js';

/** The elements of each row's slice, one after the other: after a filter or a sort the engine's slices lie anywhere. */
export function gatherRows(source: Column, begins: Uint32Array, offsets: Uint32Array): Column {
  const rows = new Uint32Array(offsets[offsets.length - 1]);
  for (let i = 0; i < begins.length; i++) {
    for (let k = offsets[i]; k < offsets[i + 1]; k++) rows[k] = begins[i] + k - offsets[i];
  }
  return selectRows(source, rows);
}

/** Row `rows[i]` of `source` as row i. */
export function selectRows(source: Column, rows: Uint32Array): Column {
  const count = rows.length;
  const validity = new Uint8Array(count);
  for (let i = 0; i < count; i++) validity[i] = source.validity[rows[i]];
  if (source instanceof FixedColumn) {
    const { width, data } = source;
    const to = new Uint8Array(count * width);
    for (let i = 0; i < count; i++) {
      const at = rows[i] * width;
      for (let k = 0; k < width; k++) to[i * width + k] = data[at + k];
    }
    const column = new FixedColumn(source.type, 0);
    column.data = to;
    column.view = new DataView(to.buffer);
    column.validity = validity;
    column.length = count;
    return column;
  }
  if (source instanceof BytesColumn) {
    const column = new BytesColumn(source.type, count);
    for (let i = 0; i < count; i++) {
      if (validity[i] === 1) column.pushBytes(source.heap, source.offsets[rows[i]], source.offsets[rows[i] + 1]);
      else column.pushNull();
    }
    return column;
  }
  if (source instanceof StructColumn) {
    const column = new StructColumn(source.type as StructColumn['type'] & { kind: 'STRUCT' }, 0);
    (column as { children: readonly Column[] }).children = source.children.map(c => selectRows(c, rows));
    column.validity = validity;
    column.length = count;
    return column;
  }
  const column = new ListColumn(source.type as ListColumn['type'] & { kind: 'LIST' | 'MAP' }, 0);
  const begins = new Uint32Array(count);
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    begins[i] = source.offsets[rows[i]];
    offsets[i + 1] = offsets[i] + source.offsets[rows[i] + 1] - begins[i];
  }
  column.offsets = offsets;
  column.validity = validity;
  column.length = count;
  (column as { children: readonly Column[] }).children = source.children.map(c => gatherRows(c, begins, offsets));
  return column;
}
