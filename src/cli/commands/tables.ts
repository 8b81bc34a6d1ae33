/** `statequery tables <snapshot> [--all]` */
import type { Command } from 'commander';
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
      const [{ withSnapshot }, { tablesResult }] = await Promise.all([import('../reading.js'), import('../listings.js')]);
      await withSnapshot(path, flags, session, snapshot => session.write(tablesResult(snapshot.catalog, flags.all === true)));
    });
  addOutputOptions(addReadingOptions(command));
}
