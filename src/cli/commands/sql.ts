/** `statequery sql "<statements>" [<snapshot>] [-s [alias=]<snapshot>]…` */
import type { Command } from 'commander';
import {
  addOutputOptions,
  addQueryOptions,
  addReadingOptions,
  addSnapshotOption,
  type OutputFlags,
  type QueryFlags,
  type ReadingFlags,
} from '../options.js';
import { Session } from '../session.js';

export type SqlFlags = OutputFlags & ReadingFlags & QueryFlags & { readonly file?: string; readonly snapshot: readonly string[] };

export function sqlCommand(program: Command): void {
  const command = program
    .command('sql')
    .summary('run SQL over one or more snapshots')
    .description('Runs statements: SELECT, EXPLAIN, DESCRIBE, SUMMARIZE, SHOW TABLES. Several are separated by semicolons.')
    .argument('[statements]', 'SQL, or - for standard input; with -f the first argument is the snapshot')
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT)')
    .option('-f, --file <file>', 'read the statements from a file')
    .action(async (first: string | undefined, second: string | undefined, flags: SqlFlags) => {
      const session = new Session(flags);
      const { runSql } = await import('../run-sql.js');
      await runSql(first, second, flags, session);
    });
  addOutputOptions(addReadingOptions(addQueryOptions(addSnapshotOption(command))));
}
