/** `statequery meta <snapshot>` */
import type { Command } from 'commander';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { Session } from '../session.js';

type Flags = OutputFlags & ReadingFlags;

export function metaCommand(program: Command): void {
  const command = program
    .command('meta')
    .summary('what is in a snapshot')
    .description(
      'A short head, then the operators and their states. json holds the same facts; the row forms (csv, ndjson, …) are state_meta.',
    )
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT)')
    .action(async (path: string | undefined, flags: Flags) => {
      const session = new Session(flags);
      const { withSnapshot } = await import('../reading.js');
      await withSnapshot(path, flags, session, async snapshot => {
        if (session.format === 'json') {
          const { metaJson } = await import('../meta-page.js');
          await session.print(metaJson(snapshot, flags.jsonNumbers));
        } else if (session.format === 'table' || session.format === 'box') {
          const { metaPage } = await import('../meta-page.js');
          const width = session.terminal ? Math.max(60, session.streams.stdout.columns ?? 100) : 100;
          await session.print(await metaPage(snapshot, session.paint, width, flags.verbose > 0));
        } else {
          const { tableResult } = await import('../table-rows.js');
          await session.write(tableResult(snapshot, 'state_meta'));
        }
      });
    });
  addOutputOptions(addReadingOptions(command));
}
