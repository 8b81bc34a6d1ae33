/** `statequery schema <snapshot> [table]` */
import type { Command } from 'commander';
import { NotFoundError } from '../../errors.js';
import { nearest } from '../../sql/suggest.js';
import { BOOLEAN, sqlTypeText, VARCHAR } from '../../types.js';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { Session } from '../session.js';

type Flags = OutputFlags & ReadingFlags;

export function schemaCommand(program: Command): void {
  const command = program
    .command('schema')
    .summary('columns and types of the tables')
    .description('Columns, types and one-line descriptions; -o sql gives CREATE TABLE statements.')
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT)')
    .argument('[table]', 'one table; any name that a query can use')
    .action(async (path: string | undefined, table: string | undefined, flags: Flags) => {
      const session = new Session(flags);
      const [{ withSnapshot }, { resultOfObjects }, { createTable, quoteName }] = await Promise.all([
        import('../reading.js'),
        import('../table-rows.js'),
        import('../../output/sql.js'),
      ]);
      await withSnapshot(path, flags, session, async snapshot => {
        const { catalog } = snapshot;
        const names = table === undefined ? catalog.names(false) : [table];
        const bound = names.map(name => {
          const found = catalog.find(name);
          if (found === undefined) {
            const near = nearest(name, catalog.names(true));
            throw new NotFoundError(`no table ${name}`, {
              hint: near === undefined ? 'statequery tables --all lists them' : `did you mean ${near}?`,
            });
          }
          return { name: found.spec.name, columns: found.bind([]).columns };
        });
        if (session.format === 'sql') {
          await session.print(bound.map(t => `${createTable(quoteName(t.name), t.columns)}\n`).join(''));
          return;
        }
        await session.write(
          resultOfObjects(
            [
              ['table', VARCHAR],
              ['column', VARCHAR],
              ['type', VARCHAR],
              ['mixed', BOOLEAN],
              ['description', VARCHAR],
            ],
            bound.flatMap(t =>
              t.columns.map(c => ({
                table: t.name,
                column: c.name,
                type: sqlTypeText(c.type),
                mixed: c.mixed,
                description: c.description,
              })),
            ),
          ),
        );
      });
    });
  addOutputOptions(addReadingOptions(command));
}
