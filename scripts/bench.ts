/**
 * Measures statequery, whole processes, beside what the machine allows and what Flink's own readers take.
 *
 *   npm run bench -- [options]
 *
 *   --sizes 1m,10m     keys of the states, 1m,10m when left out
 *   --only NAMES       questions, kinds or states: count,rocks-native,rocks-canon-1m/export
 *   --repeat N         runs of each question, 3 when left out; five times as many of what is over at once
 *   --threads N        given to the statements
 *   --own              states of our own generator only, where Flink's are there as well
 *   --flink            Flink's readers, too: half an hour for 10m; needs Java, Maven and ../shared/bench-flink (STATEQUERY_SHARED)
 *   --recorded FILE    what Flink's readers took, as bench-flink recorded it: they run only for what is not in it
 *   --check            ends with 1 when something is worse than in the last committed result
 *   --results DIR      where the result is written, test/bench/results when left out
 *   --no-write         the result is not written; nor is that of some questions or of some sizes without --results
 *
 * The states are looked for in ~/.cache/bench-states (STATES), and made when they are missing. A wrong answer ends it with 1.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bench } from '../test/bench/bench.js';
import { regressions } from '../test/bench/compare.js';
import { FlinkReaders, findFlink } from '../test/bench/flink.js';
import { ownStates, stateFolder, statesOfSize } from '../test/bench/folders.js';
import { growthText, regressionText, tableOf } from '../test/bench/report.js';
import { committedResults, writeResults } from '../test/bench/results.js';
import { ensureBuilt } from '../test/cli/run.js';

const ROOT = resolve(import.meta.dirname, '..');
const SIZES = '1m,10m';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: SIZES },
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '3' },
    threads: { type: 'string' },
    own: { type: 'boolean', default: false },
    flink: { type: 'boolean', default: false },
    recorded: { type: 'string' },
    check: { type: 'boolean', default: false },
    results: { type: 'string' },
    'no-write': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const list = (text: string): readonly string[] => text.split(',').filter(word => word !== '');

function count(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${name} is a whole number from 1 on, not ${text}`);
  return Number(text);
}

/** A copy of what is built: it stays the same, whatever is built meanwhile. */
function copyOfCommand(directory: string): string {
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  return join(directory, 'bin/statequery.js');
}

async function main(): Promise<number> {
  const found = findFlink();
  if (values.flink && found === undefined)
    throw new Error('--flink needs java, mvn, python3, and bench-flink in ../shared or STATEQUERY_SHARED');
  const folder = stateFolder();
  const states = [];
  for (const size of list(values.sizes))
    states.push(...(values.own ? ownStates(folder, size, say) : await statesOfSize(folder, size, found, say)));
  await ensureBuilt();
  const directory = mkdtempSync(join(tmpdir(), 'statequery-bench-'));
  try {
    const threads = count(values.threads, '--threads');
    const results = await bench({
      command: copyOfCommand(directory),
      states,
      repeat: count(values.repeat, '--repeat') ?? 1,
      only: list(values.only),
      ...(threads === undefined ? {} : { threads }),
      ...(values.flink || values.recorded !== undefined
        ? { flink: new FlinkReaders(values.flink ? found : undefined, folder, values.recorded) }
        : {}),
      say,
    });
    process.stdout.write(`${tableOf(results)}\n\n${growthText(results)}`);
    const last = committedResults();
    const worse = last === undefined ? [] : regressions(last, results);
    process.stdout.write(last === undefined ? 'no committed result to compare with\n' : regressionText(worse, last.date));
    const isWhole = values.only === '' && values.sizes === SIZES && !values.own;
    if (!values['no-write'] && (isWhole || values.results !== undefined))
      process.stdout.write(`written: ${writeResults(results, values.results)}\n`);
    return values.check && worse.length > 0 ? 1 : 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (values.help) {
  const text = readFileSync(import.meta.filename, 'utf8');
  process.stdout.write(
    text
      .slice(0, text.indexOf(' */'))
      .replace(/^\/\*\*\n/, '')
      .replace(/^ \* ?/gm, ''),
  );
} else
  try {
    process.exitCode = await main();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
