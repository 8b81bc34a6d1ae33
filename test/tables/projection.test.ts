/** A column says the same whatever other columns are asked for, in every layout of every kind of state. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { columnValue } from '../../src/io/column.js';
import { jsonOf } from '../../src/io/json.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';

const root = join(import.meta.dirname, '../../fixtures/snapshots');
const names = readdirSync(root).filter(
  n => /^(2\.3|1\.20)-(kinds|windows|operators|nulls)-/.test(n) && existsSync(join(root, n, 'fixture.json')),
);

function read(snapshot: OpenedSnapshot, table: string, columns: readonly string[]): string[][] {
  const bound = snapshot.catalog.find(table)?.bind([]);
  if (bound === undefined) throw new Error(`no table ${table}`);
  const forms = columns.map(name => ({
    name,
    form: bound.columns.find(c => c.name === name)?.mixed === true ? ('json' as const) : ('value' as const),
  }));
  const scan = bound.scan({ columns: forms, filters: [] });
  const out: string[][] = columns.map(() => []);
  for (let batch = scan.next(); batch !== undefined; batch = scan.next())
    for (let c = 0; c < columns.length; c++)
      for (let i = 0; i < batch.length; i++) out[c].push(jsonOf(batch.columns[c].type, columnValue(batch.columns[c], i)));
  return out;
}

describe.each(['keyed_state', 'operator_state', 'timers', 'windows'])('columns of %s alone and together', table => {
  it.each(names)('%s', name => {
    const snapshot = openSnapshot(join(root, name, 'snapshot'));
    try {
      const columns = (snapshot.catalog.find(table)?.spec.columns ?? []).map(c => c.name);
      const together = read(snapshot, table, columns);
      const backwards = read(snapshot, table, [...columns].reverse()).reverse();
      expect(backwards).toEqual(together);
      for (const [i, column] of columns.entries())
        expect({ column, values: read(snapshot, table, [column])[0] }).toEqual({ column, values: together[i] });
    } finally {
      snapshot.close();
    }
  });
});
