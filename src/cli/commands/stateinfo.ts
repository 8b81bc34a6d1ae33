/** `statequery stateinfo build <snapshot> -o FILE` and `statequery stateinfo show <snapshot or file>` */
import type { Command } from 'commander';
import { VARCHAR } from '../../types.js';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { Session } from '../session.js';

interface BuildFlags extends ReadingFlags {
  /** a file, where other commands have a form */
  readonly output: string;
  readonly graph?: string;
  readonly color: boolean;
  readonly quiet?: true;
}

const COLUMNS = [
  'operator_id',
  'operator_uid',
  'operator_name',
  'state_name',
  'state_kind',
  'state_type',
  'key_type',
  'namespace_type',
  'map_key_type',
  'value_type',
  'ttl',
  'details',
] as const;

export function stateinfoCommand(program: Command): void {
  const stateinfo = program
    .command('stateinfo')
    .summary('files with the names that a snapshot does not carry')
    .description('Builds and shows stateInfo files: uids, names, columns and class layouts of a job, for all who read its snapshots.');
  const build = stateinfo
    .command('build')
    .summary('write a stateInfo file')
    .description(
      'Writes what the snapshot, its plan, lists of uids and names, and the jars of the job tell. Lying as `stateInfo` beside _metadata, or given with --state-info, it names operators and columns of every snapshot of the job.',
    )
    .argument('<snapshot>', 'savepoint or checkpoint')
    .requiredOption('-o, --output <file>', 'file to write')
    .option('--graph <file>', 'operators of the job as JSON, written by a program that has its graph (see the README)')
    .option('--no-color', 'no colours (as NO_COLOR)')
    .option('-q, --quiet', 'no notes and warnings on standard error')
    .action(async (path: string, flags: BuildFlags) => {
      const { output, ...rest } = flags;
      const session = new Session({ ...rest, jsonNumbers: 'exact', header: true, verbose: 0 });
      const { buildFile } = await import('../stateinfo.js');
      await buildFile(path, output, flags.graph, rest, session);
    });
  addReadingOptions(build);
  const show = stateinfo
    .command('show')
    .summary('what such a file says')
    .description(
      'Shows a stateInfo file, or the _stateinfo of ByteDance’s Flink. json is the whole document, other forms have a row for each state.',
    )
    .argument('<snapshot-or-file>', 'the file, or a snapshot that it lies beside')
    .action(async (path: string, flags: OutputFlags) => {
      const session = new Session(flags);
      const [{ showStateInfo }, { resultOfObjects }] = await Promise.all([import('../../stateinfo/show.js'), import('../table-rows.js')]);
      const { file, document, rows } = await showStateInfo(path);
      if (session.format === 'json') await session.print(`${JSON.stringify(document, null, 1)}\n`);
      else
        await session.write(
          resultOfObjects(
            COLUMNS.map(name => [name, VARCHAR] as const),
            rows.map(row => ({ ...row })),
          ),
        );
      if (file !== path) session.note(`read ${file}`);
      session.finish();
    });
  addOutputOptions(show);
}
