/** `statequery shell [<snapshot>] [-s …]` */
import type { Command } from 'commander';
import { addOutputOptions, addQueryOptions, addReadingOptions, addSnapshotOption } from '../options.js';
import { Session } from '../session.js';
import type { SqlFlags } from './sql.js';

export function shellCommand(program: Command): void {
  const command = program
    .command('shell')
    .summary('an interactive shell')
    .description(
      'An interactive shell over one or more snapshots; what a bare statequery on a terminal starts. History: ~/.statequery_history',
    )
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT; none is fine too)')
    .action(async (path: string | undefined, flags: SqlFlags) => {
      const session = new Session(flags);
      const [{ openSnapshots }, { ShellState }, { runShell }, { ReadStats }] = await Promise.all([
        import('../run-sql.js'),
        import('../shell/state.js'),
        import('../shell/shell.js'),
        import('../../io/source.js'),
      ]);
      const preset = process.env['STATEQUERY_SNAPSHOT'] ?? '';
      const named = path ?? (flags.snapshot.length === 0 && preset !== '' ? preset : undefined);
      const none = named === undefined && flags.snapshot.length === 0;
      const stats = new ReadStats();
      const state = new ShellState(session, flags, none ? new Map() : await openSnapshots(named, flags, session, stats), stats);
      try {
        await runShell(state);
      } finally {
        await state.close();
      }
    });
  addOutputOptions(addReadingOptions(addQueryOptions(addSnapshotOption(command))));
}
