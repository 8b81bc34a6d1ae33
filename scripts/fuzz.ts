/**
 * Damages copies of snapshots, thousands of times, and reads them: a right answer or a clear error each time.
 *
 *   npm run fuzz -- [--rounds 5000] [--seed 1] [--only NAME]
 *
 * What is wrong is printed with its seed; the exit code is 1 then.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DamagedCopy, treesOf } from '../test/tables/damage.js';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5000' }, seed: { type: 'string', default: '1' }, only: { type: 'string', default: '' } },
});
const root = resolve(import.meta.dirname, '..');
const shared = process.env['STATEQUERY_SHARED'] ?? resolve(root, '../shared');
const LIMIT = 3_000_000;
const trees = [join(root, 'fixtures/snapshots'), join(shared, 'stated/datastream')]
  .filter(existsSync)
  .flatMap(cases => treesOf(cases, LIMIT))
  .filter(tree => basename(dirname(tree)).includes(values.only));
const rounds = Number(values.rounds);
const first = Number(values.seed);
const each = Math.max(1, Math.ceil(rounds / trees.length));
let done = 0;
let wrong = 0;
console.log(`seed ${first}: ${each} copies of each of ${trees.length} snapshots`);
for (const tree of trees) {
  const directory = mkdtempSync(join(tmpdir(), 'statequery-fuzz-'));
  try {
    const copy = new DamagedCopy(tree, join(directory, 'snapshot'));
    for (let i = 0; i < each; i++, done++) {
      const found = copy.round(first + done);
      if (found === undefined) continue;
      wrong++;
      console.log(`${basename(dirname(tree))}: ${found}`);
    }
  } catch (error) {
    wrong++;
    console.log(`${basename(dirname(tree))}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
console.log(`${done} damaged copies, ${wrong} wrong`);
process.exitCode = wrong > 0 ? 1 : 0;
