/** `statequery schema <snapshot> [table]` */
import type { Command } from 'commander';
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
      const [{ withSnapshot }, { schemaOf, schemaResult }, { createTable, quoteName }] = await Promise.all([
        import('../reading.js'),
        import('../listings.js'),
        import('../../output/sql.js'),
      ]);
      await withSnapshot(path, flags, session, async ({ catalog }) => {
        if (session.format !== 'sql') await session.write(schemaResult(catalog, table));
        else
          await session.print(
            schemaOf(catalog, table)
              .map(t => `${createTable(quoteName(t.name), t.columns)}\n`)
              .join(''),
          );
      });
    });
  addOutputOptions(addReadingOptions(command));
}
