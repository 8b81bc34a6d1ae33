/** `statequery uid hash <uid>…` and `statequery uid match <snapshot> <file>` */
import type { Command } from 'commander';
import { VARCHAR } from '../../types.js';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { Session } from '../session.js';

export function uidCommand(program: Command): void {
  const uid = program
    .command('uid')
    .summary('uids and operator ids')
    .description('Operator ids are hashes of uids: makes them, and finds whose they are.');
  const hash = uid
    .command('hash')
    .summary('operator ids of uids')
    .description('The operator id of each uid, as Flink computes it.')
    .argument('<uid...>', 'uids, as given to uid() in the job')
    .action(async (uids: readonly string[], flags: OutputFlags) => {
      const session = new Session(flags);
      const [{ operatorIdOf }, { resultOfObjects }] = await Promise.all([import('../../checkpoint/uid.js'), import('../table-rows.js')]);
      const rows = uids.map(u => ({ uid: u, operator_id: operatorIdOf(u) }));
      await session.write(
        resultOfObjects(
          [
            ['uid', VARCHAR],
            ['operator_id', VARCHAR],
          ],
          rows,
        ),
      );
      session.finish();
    });
  const match = uid
    .command('match')
    .summary('which operators have which uids')
    .description('The operators of a snapshot and the uids of a file that they come from: one uid a line, after a tab an optional name.')
    .argument('<snapshot>', 'savepoint or checkpoint')
    .argument('<file>', 'file of uids')
    .action(async (path: string, file: string, flags: OutputFlags) => {
      const session = new Session(flags);
      const [{ matchUids, parseUidsFile }, { resultOfObjects }, { readUids }, { openSnapshot }] = await Promise.all([
        import('../../checkpoint/uid.js'),
        import('../table-rows.js'),
        import('../names.js'),
        import('../../tables/snapshot.js'),
      ]);
      const entries = parseUidsFile(readUids(file), file);
      const snapshot = openSnapshot(path, { warn: message => session.note(message) });
      try {
        const matched = matchUids(
          snapshot.operators.map(o => o.id),
          entries,
        );
        const rows = snapshot.operators.map(o => {
          const found = matched.get(o.id);
          return { operator_id: o.id, uid: found?.uid ?? null, name: found?.name ?? o.name };
        });
        await session.write(
          resultOfObjects(
            [
              ['operator_id', VARCHAR],
              ['uid', VARCHAR],
              ['name', VARCHAR],
            ],
            rows,
          ),
        );
        const used = new Set([...matched.values()].map(m => m.uid));
        const unused = entries.filter(e => ![...used].some(u => u === e.uid || u.includes(e.uid)));
        session.note(
          `${matched.size} of ${rows.length} operators matched${unused.length === 0 ? '' : `, ${unused.length} uids of the file match none`}`,
        );
        session.finish(snapshot.stats);
      } finally {
        snapshot.close();
      }
    });
  addOutputOptions(hash);
  addOutputOptions(match);
}
