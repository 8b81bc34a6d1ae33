/** `statequery check <old> <new>` and `statequery check --parallelism N <snapshot>` */
import { type Command, Option } from 'commander';
import { UsageError } from '../../errors.js';
import { BOOLEAN, VARCHAR } from '../../types.js';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { DifferencesFound } from '../report.js';
import { Session } from '../session.js';

interface CheckFlags extends OutputFlags, ReadingFlags {
  readonly parallelism?: string;
  readonly backend?: 'hashmap' | 'rocksdb' | 'forst';
  readonly allowNonRestoredState?: true;
}

const COLUMNS = [
  ['operator_id', VARCHAR],
  ['operator_uid', VARCHAR],
  ['operator_name', VARCHAR],
  ['state_name', VARCHAR],
  ['verdict', VARCHAR],
  ['restores', BOOLEAN],
  ['reason', VARCHAR],
] as const;

export function checkCommand(program: Command): void {
  const command = program
    .command('check')
    .summary('would a job restore from a snapshot?')
    .description(
      'Compares the snapshot of a job with one that the changed job took when it ran fresh: operators, key types, kinds and serializers of states, max parallelism, by the rules of Flink. With --parallelism: whether one snapshot can be restored with it. Exit code 10 when something would not restore or cannot be known.',
    )
    .argument('<old>', 'snapshot to restore from')
    .argument('[new]', 'snapshot that the changed job took when it started fresh')
    .option('--parallelism <n>', 'would the snapshot restore with this parallelism?')
    .addOption(
      new Option('--backend <name>', 'state backend of the changed job, where its snapshot does not tell (canonical savepoints)').choices([
        'hashmap',
        'rocksdb',
        'forst',
      ]),
    )
    .option('-n, --allow-non-restored-state', 'state of operators that are gone may be dropped, as with the same option of Flink')
    .action(async (oldPath: string, newPath: string | undefined, flags: CheckFlags) => {
      const session = new Session(flags);
      const [{ checkParallelism, checkRestore, isFailure }, { resultOfObjects }, { openWith }] = await Promise.all([
        import('../../check/restore.js'),
        import('../table-rows.js'),
        import('../reading.js'),
      ]);
      const parallelism = flags.parallelism === undefined ? undefined : Number(flags.parallelism);
      if (parallelism !== undefined && (!Number.isInteger(parallelism) || parallelism < 1))
        throw new UsageError(`--parallelism ${flags.parallelism}: expected a whole number from 1`);
      if (parallelism === undefined && newPath === undefined)
        throw new UsageError('check needs two snapshots, or --parallelism', { hint: 'statequery check <old> <new>' });
      const old = await openWith(oldPath, flags, session);
      const next = newPath === undefined ? undefined : await openWith(newPath, flags, session);
      try {
        const findings = [
          ...(parallelism === undefined ? [] : checkParallelism(old, parallelism)),
          ...(next === undefined
            ? []
            : checkRestore(old, next, {
                ...(flags.backend === undefined ? {} : { backend: flags.backend }),
                allowNonRestoredState: flags.allowNonRestoredState === true,
              })),
        ];
        await session.write(
          resultOfObjects(
            COLUMNS,
            findings.map(f => ({
              operator_id: f.operator?.id ?? null,
              operator_uid: f.operator?.uid ?? null,
              operator_name: f.operator?.name ?? null,
              state_name: f.stateName,
              verdict: f.verdict,
              restores: !isFailure(f),
              reason: f.reason,
            })),
          ),
        );
        const failures = findings.filter(isFailure).length;
        const warnings = findings.filter(f => f.verdict === 'warning').length;
        session.note(
          failures > 0
            ? `would not restore: ${failures} of ${findings.length} findings stand against it`
            : `would restore${warnings > 0 ? `, with ${warnings} warning${warnings === 1 ? '' : 's'}` : ''}`,
        );
        session.finish(old.stats);
        if (failures > 0) throw new DifferencesFound();
      } finally {
        old.close();
        next?.close();
      }
    });
  addOutputOptions(addReadingOptions(command));
}
