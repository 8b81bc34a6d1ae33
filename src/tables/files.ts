/**
 * files: one row for each file that a snapshot refers to, `_metadata` first; what several handles share is one row. No file is opened.
 */
import { type ReferencedFile, referencedFiles } from '../checkpoint/references.js';
import { BIGINT, BOOLEAN, list, VARCHAR } from '../types.js';
import { type Row, rowTable } from './row-table.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column } from './spec.js';
import type { Table, TableSpec } from './table.js';

export const FILES: TableSpec = {
  name: 'files',
  aliases: ['Files'],
  description: 'one row for each file that the snapshot refers to: bytes, users, where it lies',
  columns: [
    column('path', VARCHAR, 'where it lies now; of a missing file the path as written'),
    column('size_bytes', BIGINT, 'bytes of the file; of a missing one as its handle says'),
    column('referenced_bytes', BIGINT, 'bytes that this snapshot refers to, each once (of merged files a part)'),
    column('role', VARCHAR, 'metadata, keyed, operator, meta, shared, private, changelog, channel, …; several with commas'),
    column('operators', list(VARCHAR), 'operators that refer to it: uid, else name, else id'),
    column('subtasks', list(VARCHAR), 'operator/subtask that refer to it'),
    column('handles', BIGINT, 'state handles that refer to it'),
    column('scope', VARCHAR, 'exclusive (of this snapshot), shared (with other checkpoints) or task-owned (changelogs)'),
    column('inside', BOOLEAN, "whether it lies in the snapshot's own directory"),
    column('present', BOOLEAN, 'whether it was found; NULL on another file system, where nothing was looked up'),
    column('complete', BOOLEAN, 'false: it is shorter than its handles say; NULL when it was not found'),
    column('handle_path', VARCHAR, 'path as written in the metadata'),
    column('found_by', VARCHAR, 'path, directory, rebase, suffix or sibling: how the file was found'),
  ],
  examples: ['SELECT path, size_bytes, role FROM files WHERE NOT present', 'SELECT scope, sum(referenced_bytes) FROM files GROUP BY scope'],
};

export function filesTable(snapshot: OpenedSnapshot): Table {
  return rowTable(FILES, () => fileRows(snapshot), { count: () => referencedFiles(snapshot.metadata, snapshot.files).length });
}

/** The rows of `files`. */
export function fileRows(snapshot: OpenedSnapshot): Row[] {
  const labels = new Map(snapshot.operators.map(o => [o.operator, o.uid ?? o.name ?? o.id]));
  const big = (n: number | undefined) => (n === undefined || n < 0 ? null : BigInt(n));
  return referencedFiles(snapshot.metadata, snapshot.files).map((file: ReferencedFile) => ({
    path: file.path ?? file.handlePath,
    size_bytes: big(file.fileSize ?? file.size),
    referenced_bytes: big(file.size),
    role: file.roles.join(','),
    operators: [...new Set(file.users.map(u => labels.get(u.operator) as string))],
    subtasks: file.users.map(u => `${labels.get(u.operator)}/${u.subtask < 0 ? 'coordinator' : u.subtask}`),
    handles: BigInt(file.references),
    scope: file.scope,
    inside: file.inside,
    present: file.present ?? null,
    complete: file.present === true ? !file.short : null,
    handle_path: file.handlePath,
    found_by: file.via ?? null,
  }));
}
