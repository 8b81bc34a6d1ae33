/** `statequery verify <snapshot>` */
import type { Command } from 'commander';
import { BIGINT, INTEGER, VARCHAR } from '../../types.js';
import { addOutputOptions, addReadingOptions, type OutputFlags, type ReadingFlags } from '../options.js';
import { DifferencesFound } from '../report.js';
import { Session } from '../session.js';

type Flags = OutputFlags & ReadingFlags;

const COLUMNS = [
  ['problem', VARCHAR],
  ['path', VARCHAR],
  ['byte_offset', BIGINT],
  ['operator_id', VARCHAR],
  ['operator_uid', VARCHAR],
  ['operator_name', VARCHAR],
  ['subtask_index', INTEGER],
  ['state_name', VARCHAR],
  ['reason', VARCHAR],
  ['lost', VARCHAR],
] as const;

/** Time between two turns of the event loop, for progress and Ctrl-C. */
const TURN_MS = 100;

export function verifyCommand(program: Command): void {
  const command = program
    .command('verify')
    .summary('is a snapshot whole?')
    .description(
      'Reads a snapshot to its end: all files present and of the right length, checksums right, every entry and value readable to its last byte. One row for each thing that is missing, short or damaged, with the operators, subtasks and states that lose something. Exit code 10 when there is one.',
    )
    .argument('[snapshot]', 'savepoint or checkpoint (default: STATEQUERY_SNAPSHOT)')
    .action(async (path: string | undefined, flags: Flags) => {
      const session = new Session(flags);
      const [{ openWith, snapshotPath }, { verifySnapshot }, { resultOfObjects }, { Progress }] = await Promise.all([
        import('../reading.js'),
        import('../../tables/verify.js'),
        import('../table-rows.js'),
        import('../progress.js'),
      ]);
      const snapshot = await openWith(snapshotPath(path), flags, session);
      const progress = new Progress(session, snapshot.stats);
      try {
        const steps = verifySnapshot(snapshot);
        let step = steps.next();
        for (let turn = Date.now(); step.done !== true; step = steps.next()) {
          if (Date.now() - turn < TURN_MS) continue;
          await new Promise(resolve => setImmediate(resolve));
          turn = Date.now();
        }
        progress.end();
        const { findings, files, bytes, entries } = step.value;
        await session.write(
          resultOfObjects(
            COLUMNS,
            findings.map(f => ({
              problem: f.problem,
              path: f.file ?? null,
              byte_offset: f.offset === undefined ? null : BigInt(f.offset),
              operator_id: f.operator?.id ?? null,
              operator_uid: f.operator?.uid ?? null,
              operator_name: f.operator?.name ?? null,
              subtask_index: f.subtask === undefined || f.subtask < 0 ? null : f.subtask,
              state_name: f.state ?? null,
              reason: f.message,
              lost: f.lost,
            })),
          ),
        );
        session.finish(snapshot.stats);
        const read = `${files} file${files === 1 ? '' : 's'}, ${bytes} bytes, ${entries} entries`;
        if (findings.length === 0) session.note(`whole: ${read} read to the end`);
        else {
          session.note(`${findings.length} problem${findings.length === 1 ? '' : 's'}; ${read} could be read`);
          throw new DifferencesFound();
        }
      } finally {
        progress.end();
        snapshot.close();
      }
    });
  addOutputOptions(addReadingOptions(command));
}
