/** Tables by name: `table`, or `alias.table` among several snapshots; suggestions where there is none. */
import type { StateQueryError } from '../errors.js';
import type { Catalog, Table } from '../tables/table.js';
import type { Places } from './guard.js';
import { nearest } from './suggest.js';

export interface TableName {
  readonly catalog_name: string;
  readonly schema_name: string;
  readonly table_name: string;
  readonly query_location?: number | string;
}

/** The table that a statement names. @throws SqlError UNKNOWN_TABLE, REFUSED for what looks like a file */
export function lookUpTable(
  node: TableName,
  snapshots: ReadonlyMap<string, Catalog>,
  places: Places,
): { readonly table: Table; readonly snapshot: string } {
  const names = [...snapshots.keys()];
  const { catalog_name: catalog, schema_name: schema, table_name: name } = node;
  if (catalog !== '') throw places.error('UNKNOWN_TABLE', `there is no table "${catalog}.${schema}.${name}"`, node, 'write alias.table');
  if (schema !== '') {
    const snapshot = names.find(n => n.toLowerCase() === schema.toLowerCase());
    if (snapshot === undefined)
      throw places.error('UNKNOWN_TABLE', `there is no snapshot "${schema}"`, node, `snapshots: ${names.join(', ')}`);
    const table = snapshots.get(snapshot)?.find(name);
    if (table === undefined) throw unknownTable(node, snapshots.get(snapshot), `${schema}.${name}`, places);
    return { table, snapshot };
  }
  const holders = names.filter(n => snapshots.get(n)?.find(name) !== undefined);
  const [first] = holders;
  if (first === undefined) throw unknownTable(node, snapshots.get(names[0]), name, places);
  if (names.length > 1) {
    const spelled = holders.map(n => `${n}.${name}`).join(' or ');
    const where = `there are several snapshots (${names.join(', ')}), so "${name}" needs one`;
    throw places.error('UNKNOWN_TABLE', where, node, `write ${spelled}`);
  }
  return { table: snapshots.get(first)!.find(name)!, snapshot: first };
}

function unknownTable(node: TableName, catalog: Catalog | undefined, name: string, places: Places): StateQueryError {
  if (node.schema_name === '' && /[/\\:*?]|\.[A-Za-z0-9]{1,8}$/.test(node.table_name)) {
    const what = `"${node.table_name}" looks like a file; files are not read by SQL, so it is refused`;
    return places.error('REFUSED', what, node, 'open a snapshot with -s alias=path');
  }
  const near = catalog && (nearest(node.table_name, catalog.names(false)) ?? nearest(node.table_name, catalog.names(true)));
  const hint = near !== undefined ? `did you mean ${near}?` : 'SHOW TABLES lists them';
  return places.error('UNKNOWN_TABLE', `there is no table "${name}"`, node, hint);
}
