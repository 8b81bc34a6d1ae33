/** `statequery find <key> <snapshot>` */
import type { Command } from 'commander';
import { addOutputOptions, addQueryOptions, addReadingOptions } from '../options.js';
import { Session } from '../session.js';
import type { SqlFlags } from './sql.js';

export function findCommand(program: Command): void {
  const command = program
    .command('find')
    .summary('a key in every state of every operator')
    .description('Counts the rows of a key in every keyed state and timer service of every operator: 0 proves that it is not there.')
    .argument('<key>', 'as it is shown: text without quotes, a number, or JSON ({"f0":"a","f1":1})')
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT)')
    .action(async (key: string, path: string | undefined, flags: SqlFlags) => {
      const session = new Session(flags);
      const { runFind } = await import('../find.js');
      await runFind(key, path, flags, session);
    });
  addOutputOptions(addReadingOptions(addQueryOptions(command)));
}
