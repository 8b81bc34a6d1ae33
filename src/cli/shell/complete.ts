/** What Tab offers: dot commands, keywords, functions, tables, columns of the tables named so far; in quotes, names of states. */
import { OUTPUT_FORMATS } from '../../output/format.js';
import { ALLOWED_FUNCTIONS, TABLE_FUNCTIONS } from '../../sql/functions.js';
import type { OpenedSnapshot } from '../../tables/snapshot.js';
import type { Catalog } from '../../tables/table.js';
import { sqlName } from '../../types.js';
import { DOT_COMMANDS } from './dot.js';

const KEYWORDS =
  'SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET HAVING AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN CASE WHEN THEN ELSE END CAST TRY_CAST DISTINCT ALL WITH RECURSIVE UNION INTERSECT EXCEPT JOIN LEFT RIGHT FULL INNER CROSS ON USING VALUES EXPLAIN ANALYZE DESCRIBE SUMMARIZE SHOW TABLES ASC DESC NULLS FIRST LAST OVER PARTITION FILTER QUALIFY EXISTS TRUE FALSE'.split(
    ' ',
  );

/** The candidates and the part of the line that they stand for, as node:readline wants them. */
export function completions(line: string, before: string, snapshots: ReadonlyMap<string, OpenedSnapshot>): [string[], string] {
  if (before === '' && line.trimStart().startsWith('.')) return dotCompletions(line.trimStart(), snapshots);
  const quoted = /'([^']*)$/.exec(line);
  if (quoted !== null && (line.split("'").length - 1) % 2 === 1) return [matching(stateNames(snapshots), quoted[1], true), quoted[1]];
  const qualified = /\b([A-Za-z_]\w*)\.([\w"]*)$/.exec(line);
  const scope = qualified === null ? undefined : snapshots.get(qualified[1]);
  if (qualified !== null && scope !== undefined) return [matching(scope.catalog.names(true).map(sqlName), qualified[2]), qualified[2]];
  const word = /[\w"]*$/.exec(line)?.[0] ?? '';
  const catalogs = [...snapshots.values()].map(s => s.catalog);
  const names = snapshots.size > 1 ? [...snapshots.keys()].map(alias => `${alias}.`) : catalogs.flatMap(c => c.names(true)).map(sqlName);
  const afterFrom = /\b(FROM|JOIN|DESCRIBE|SUMMARIZE)\s+[\w".]*$/i.test(`${before} ${line}`);
  if (afterFrom) return [matching([...names, ...[...TABLE_FUNCTIONS].map(f => `${f}(`)], word), word];
  const columns = columnsOf(`${before} ${line}`, catalogs);
  const functions = [...ALLOWED_FUNCTIONS].filter(f => /^[a-z]\w*$/.test(f)).map(f => `${f}(`);
  const found = matching([...columns, ...names, ...KEYWORDS], word);
  return [word === '' ? found : [...found, ...matching(functions, word)], word];
}

function dotCompletions(line: string, snapshots: ReadonlyMap<string, OpenedSnapshot>): [string[], string] {
  const [, command, argument] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
  if (command === undefined) return [matching(Object.keys(DOT_COMMANDS), line), line];
  if (command === '.mode') return [matching(OUTPUT_FORMATS, argument), argument];
  if (command === '.timer') return [matching(['on', 'off'], argument), argument];
  if (command === '.schema')
    return [
      matching(
        [...snapshots.values()].flatMap(s => s.catalog.names(true)),
        argument,
      ),
      argument,
    ];
  return [[], argument];
}

/** Columns of the tables that the text names; before any is named, of the three main tables. */
function columnsOf(text: string, catalogs: readonly Catalog[]): readonly string[] {
  const words = new Set(
    text
      .toLowerCase()
      .match(/"[^"]+"|[\w]+/g)
      ?.map(w => w.replaceAll('"', '')),
  );
  const columns = new Set<string>();
  for (const catalog of catalogs) {
    const named = catalog.names(true).filter(name => words.has(name.toLowerCase()));
    for (const name of named.length > 0 ? named : ['state_meta', 'keyed_state', 'operator_state'])
      for (const column of catalog.find(name)?.spec.columns ?? []) columns.add(sqlName(column.name));
  }
  return [...columns];
}

function stateNames(snapshots: ReadonlyMap<string, OpenedSnapshot>): readonly string[] {
  const names = new Set<string>();
  for (const snapshot of snapshots.values())
    for (const operator of snapshot.operators) {
      for (const name of [operator.uid, operator.name, operator.id]) if (name !== null) names.add(name);
      for (const variant of snapshot.statesOf(operator).variants) names.add(variant.name);
    }
  return [...names];
}

function matching(names: Iterable<string>, word: string, exact = false): string[] {
  const wanted = exact ? word : word.toLowerCase();
  return [...new Set(names)].filter(name => (exact ? name : name.toLowerCase()).startsWith(wanted)).sort();
}
