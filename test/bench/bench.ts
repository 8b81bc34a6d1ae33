/** Asks every question of every state, and measures what the answers and their limits take. */
import { cpus, totalmem } from 'node:os';
import { limitOf } from './compare.js';
import type { FlinkReaders } from './flink.js';
import type { BenchState } from './folders.js';
import { type Run, run } from './process.js';
import { QUESTIONS, type Question } from './questions.js';
import { type Answer, headCommit, type Measured, type Results, type StateResults } from './results.js';

export interface BenchOptions {
  /** bin/statequery.js, or a copy of it with its dist/ */
  readonly command: string;
  readonly states: readonly BenchState[];
  /** runs of a question */
  readonly repeat: number;
  /** names of questions, kinds or states; none: all */
  readonly only: readonly string[];
  readonly threads?: number;
  readonly flink?: FlinkReaders;
  readonly say: (text: string) => void;
}

/** what is over at once is run more often */
const SHORT_RUNS = 5;
/** seconds after which a question is not repeated */
const LONG = 90;

/** @throws Error when an answer is wrong, of ours or of Flink's readers */
export async function bench(options: BenchOptions): Promise<Results> {
  const { command, only } = options;
  const date = new Date().toISOString();
  const short = SHORT_RUNS * options.repeat;
  await run(process.execPath, [command, '--version']);
  const start = await nodeStart(short);
  const version = median(await repeated(short, () => run(process.execPath, [command, '--version'])));
  const states: StateResults[] = [];
  for (const state of options.states) {
    const wanted = QUESTIONS.filter(
      q =>
        q.kinds(state.kind) &&
        (only.length === 0 || [q.name, state.kind, state.name, `${state.name}/${q.name}`].some(n => only.includes(n))),
    );
    if (wanted.length > 0) states.push(await askState(state, wanted, options));
  }
  return {
    schema: 1,
    date,
    commit: headCommit(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? '',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
    },
    repeat: options.repeat,
    threads: options.threads ?? null,
    start: rounded(start),
    version: { ...rounded(version), toLimit: round(version.wall / start.wall) },
    states,
  };
}

async function askState(state: BenchState, questions: readonly Question[], options: BenchOptions): Promise<StateResults> {
  const readAll = (): Promise<Run> => run('cat', state.files, { discard: true });
  // the first puts them into the page cache
  await readAll();
  const cat = median(await repeated(SHORT_RUNS * options.repeat, readAll));
  const start = await nodeStart(SHORT_RUNS * options.repeat);
  const answers: Answer[] = [];
  for (const question of questions) {
    options.say(`${state.name} ${question.name}`);
    const runs = await repeated(question.limit === 'start' ? SHORT_RUNS * options.repeat : options.repeat, () =>
      ask(state, question, options),
    );
    const measured = median(runs);
    const rows = question.lines?.(state.truth);
    const peer = question.peer?.(state.kind);
    const flink = peer === undefined ? undefined : await options.flink?.ask(state.name, peer);
    answers.push({
      question: question.name,
      runs: runs.length,
      limit: question.limit,
      ...rounded(measured),
      toLimit: round(measured.wall / limitOf({ start, cat }, question).wall),
      ...(rows === undefined ? {} : { rowsPerSecond: Math.round(rows / measured.wall) }),
      ...bytesRead(runs[0]),
      ...(flink === undefined ? {} : { flink }),
    });
  }
  return {
    state: state.name,
    kind: state.kind,
    size: state.size,
    keys: state.truth.keys,
    bytes: state.bytes,
    madeBy: state.truth.flink === undefined ? 'states.ts' : `Flink ${state.truth.flink}`,
    start: rounded(start),
    cat: { ...rounded(cat), bytesPerSecond: Math.round(state.bytes / cat.wall) },
    answers,
  };
}

const nodeStart = async (times: number): Promise<Measured> => median(await repeated(times, () => run(process.execPath, ['-e', '0'])));

/** One process; its answer is compared. */
async function ask(state: BenchState, question: Question, { command, threads }: BenchOptions): Promise<Run> {
  const args = [
    command,
    ...question.args,
    state.snapshot,
    ...(question.scans ? ['-v'] : []),
    ...(question.scans && threads !== undefined ? ['--threads', String(threads)] : []),
  ];
  if (question.lines !== undefined) {
    const quoted = [process.execPath, ...args].map(arg => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');
    const counted = await run('bash', ['-c', `set -o pipefail; ${quoted} | wc -l`]);
    const expected = question.lines(state.truth);
    if (Number(counted.stdout) !== expected) wrong(state, question, `${counted.stdout.trim()} lines instead of ${expected}`);
    return counted;
  }
  const answered = await run(process.execPath, args);
  if (question.isRight?.(answered.stdout, state.truth) === false) wrong(state, question, answered.stdout);
  return answered;
}

function wrong(state: BenchState, question: Question, found: string): never {
  throw new Error(`wrong answer: ${state.name} ${question.name}\n${found.slice(0, 2000)}`);
}

/** What `-v` says on standard error. */
function bytesRead({ stderr }: Run): Pick<Answer, 'bytesRead' | 'reads'> {
  const said = /(\d+) bytes read in (\d+) reads/.exec(stderr);
  return said === null ? {} : { bytesRead: Number(said[1]), reads: Number(said[2]) };
}

async function repeated(times: number, once: () => Promise<Run>): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (let spent = 0; runs.length < times && (runs.length === 0 || spent < LONG); spent += runs[runs.length - 1].wall)
    runs.push(await once());
  return runs;
}

/** Median of wall time and memory; the mean of CPU times, which are counted in hundredths of a second. */
function median(runs: readonly Run[]): Measured {
  const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1];
  const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
  const known = (of: (r: Run) => number | undefined): readonly number[] => runs.flatMap(r => of(r) ?? []);
  const [cpu, rss, others] = [known(r => r.cpu), known(r => r.rssMb), known(r => r.others)];
  return {
    wall: middle(runs.map(r => r.wall)),
    ...(cpu.length === 0 ? {} : { cpu: mean(cpu) }),
    ...(rss.length === 0 ? {} : { rssMb: middle(rss) }),
    load: runs[0].load,
    ...(others.length === 0 ? {} : { others: mean(others) }),
  };
}

const round = (n: number): number => Number(n.toFixed(3));

function rounded({ wall, cpu, rssMb, load, others }: Measured): Measured {
  return {
    wall: round(wall),
    ...(cpu === undefined ? {} : { cpu: round(cpu) }),
    ...(rssMb === undefined ? {} : { rssMb: Math.round(rssMb) }),
    load: round(load),
    ...(others === undefined ? {} : { others: round(others) }),
  };
}
