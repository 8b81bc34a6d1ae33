/** `statequery files <snapshot>` */
import type { Command } from 'commander';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { Session } from '../session.js';

type Flags = OutputFlags & ReadingFlags;

export function filesCommand(program: Command): void {
  const command = program
    .command('files')
    .summary('every file a snapshot refers to')
    .description('Every file that a snapshot refers to: bytes, users, inside or outside of its directory, present. No file is opened.')
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT)')
    .action(async (path: string | undefined, flags: Flags) => {
      const session = new Session(flags);
      const [{ withSnapshot }, { tableResult }] = await Promise.all([import('../reading.js'), import('../table-rows.js')]);
      await withSnapshot(path, flags, session, async snapshot => {
        await session.write(tableResult(snapshot, 'files'));
        const { fileRows } = await import('../../tables/files.js');
        const rows = fileRows(snapshot);
        const missing = rows.filter(row => row['present'] !== true).length;
        const short = rows.filter(row => row['complete'] === false).length;
        const outside = rows.filter(row => row['inside'] === false).length;
        const parts = [
          `${rows.length} file${rows.length === 1 ? '' : 's'}`,
          ...(outside > 0 ? [`${outside} outside of the snapshot's directory`] : []),
          ...(missing > 0 ? [`${missing} not there`] : []),
          ...(short > 0 ? [`${short} too short`] : []),
        ];
        session.note(parts.join(', '));
      });
    });
  addOutputOptions(addReadingOptions(command));
}
