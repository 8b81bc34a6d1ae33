/** `statequery ls <dir> [--latest]` */
import type { Command } from 'commander';
import { BIGINT, BOOLEAN, TIMESTAMPTZ, Timestamp, VARCHAR } from '../../types.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { Session } from '../session.js';

type Flags = OutputFlags & { readonly latest?: true };

export function lsCommand(program: Command): void {
  const command = program
    .command('ls')
    .summary('the snapshots below a directory')
    .description('Snapshots below a directory, the oldest first: kind, checkpoint id, time (of the file), bytes, whether it is complete.')
    .argument('<dir>', 'directory of savepoints, of checkpoints, or of many jobs')
    .option('--latest', 'print one path only: of one job directory the highest chk-N, otherwise the newest')
    .action(async (dir: string, flags: Flags) => {
      const session = new Session(flags);
      const { findSnapshots, latest, locateSnapshot } = await import('../../checkpoint/locate.js');
      if (flags.latest) {
        const found = findSnapshots(dir);
        const chosen = found.places.length === 0 ? locateSnapshot(dir).directory : latest(found.places).directory;
        await session.print(`${chosen}\n`);
        return;
      }
      const [{ describePlace }, { resultOfObjects }] = await Promise.all([import('../places.js'), import('../table-rows.js')]);
      const found = findSnapshots(dir);
      for (const error of found.errors) session.note(`not looked into: ${error.describe()}`);
      const at = (p: { readonly modifiedMillis: number }) => Timestamp.ofMillis(BigInt(Math.trunc(p.modifiedMillis)));
      const rows = [
        ...found.places.map(place => ({ ...describePlace(place), modified_at: at(place), path: place.directory })),
        ...found.incomplete.map(place => ({
          path: place.directory,
          kind: 'checkpoint',
          checkpoint_id: null,
          modified_at: at(place),
          size_bytes: null,
          complete: false,
          problem: 'no _metadata: the checkpoint was not completed, or was removed',
        })),
      ].sort(
        (a, b) =>
          Number(a.modified_at.seconds - b.modified_at.seconds) || a.modified_at.nanos - b.modified_at.nanos || (a.path < b.path ? -1 : 1),
      );
      await session.write(
        resultOfObjects(
          [
            ['path', VARCHAR],
            ['kind', VARCHAR],
            ['checkpoint_id', BIGINT],
            ['modified_at', TIMESTAMPTZ],
            ['size_bytes', BIGINT],
            ['complete', BOOLEAN],
            ['problem', VARCHAR],
          ],
          rows,
        ),
      );
      session.finish();
    });
  addOutputOptions(command);
}
