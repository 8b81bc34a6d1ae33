/** `statequery tables <snapshot> [--all]` */
import type { Command } from 'commander';
import { BIGINT, VARCHAR } from '../../types.js';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { Session } from '../session.js';

type Flags = OutputFlags & ReadingFlags & { readonly all?: true };

export function tablesCommand(program: Command): void {
  const command = program
    .command('tables')
    .summary('the tables of a snapshot')
    .description('The tables, with row counts where they are known without a scan.')
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT)')
    .option('--all', 'also one table for each operator and each state')
    .action(async (path: string | undefined, flags: Flags) => {
      const session = new Session(flags);
      const [{ withSnapshot }, { resultOfObjects }] = await Promise.all([import('../reading.js'), import('../table-rows.js')]);
      await withSnapshot(path, flags, session, async snapshot => {
        const rows = snapshot.catalog.names(flags.all === true).map(name => {
          const table = snapshot.catalog.find(name);
          const rowCount = table?.bind([]).rowCount;
          return { table: name, rows: rowCount === undefined ? null : BigInt(rowCount), description: table?.spec.description ?? null };
        });
        await session.write(
          resultOfObjects(
            [
              ['table', VARCHAR],
              ['rows', BIGINT],
              ['description', VARCHAR],
            ],
            rows,
          ),
        );
      });
    });
  addOutputOptions(addReadingOptions(command));
}
