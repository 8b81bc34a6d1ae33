/**
 * What became worse between two results of the bench.
 *
 * Time is compared by its ratio to the limit that was measured in the same run, so that another machine compares as well as it can.
 * Where the machine had other things to do, a wall time counts only when the CPU time says the same. Bytes read are exact, memory
 * nearly so.
 */
import type { Answer, Measured, Results } from './results.js';

export interface Regression {
  /** `rocks-canon-10m count` */
  readonly what: string;
  readonly measure: 'time' | 'memory' | 'bytes read';
  /** ratio to the limit, MB, bytes */
  readonly before: number;
  readonly after: number;
}

export interface Tolerance {
  /** 0.25: a quarter more is not yet worse */
  readonly time: number;
  readonly memory: number;
  readonly bytes: number;
}

export const TOLERANCE: Tolerance = { time: 0.25, memory: 0.2, bytes: 0.02 };
/** MB that come and go with the garbage collector */
const MEMORY_NOISE = 20;
/** cores busy with something else, so few that wall times can be trusted */
const QUIET = 0.2;

/** Of what is in both results. */
export function regressions(before: Results, after: Results, tolerance: Tolerance = TOLERANCE): readonly Regression[] {
  const found: Regression[] = [];
  const worse = (measured: Omit<Regression, 'before' | 'after'>, was: number | undefined, is: number | undefined, most: number): void => {
    if (was !== undefined && is !== undefined && is > most) found.push({ ...measured, before: was, after: is });
  };
  const compareTime = (what: string, was: Timed, is: Timed): void => {
    const [wallBefore, wall] = [was, is].map(t => t.measured.wall / t.limit.wall);
    const [cpuBefore, cpu] = [was, is].map(t => (t.measured.cpu ?? Number.NaN) / (t.limit.cpu ?? Number.NaN));
    const quiet = (is.measured.others ?? 0) < QUIET;
    const cpuWorse = !(cpu <= cpuBefore * (1 + tolerance.time));
    if (quiet || cpuWorse) worse({ what, measure: 'time' }, wallBefore, wall, wallBefore * (1 + tolerance.time));
  };
  compareTime('--version', { measured: before.version, limit: before.start }, { measured: after.version, limit: after.start });
  for (const state of after.states) {
    const old = before.states.find(s => s.state === state.state);
    for (const answer of state.answers) {
      const was = old?.answers.find(a => a.question === answer.question);
      if (old === undefined || was === undefined) continue;
      const what = `${state.state} ${answer.question}`;
      compareTime(what, { measured: was, limit: limitOf(old, was) }, { measured: answer, limit: limitOf(state, answer) });
      worse({ what, measure: 'memory' }, was.rssMb, answer.rssMb, (was.rssMb ?? 0) * (1 + tolerance.memory) + MEMORY_NOISE);
      worse({ what, measure: 'bytes read' }, was.bytesRead, answer.bytesRead, (was.bytesRead ?? 0) * (1 + tolerance.bytes));
    }
  }
  return found;
}

interface Timed {
  readonly measured: Pick<Measured, 'wall' | 'cpu' | 'others'>;
  readonly limit: Limit;
}
export type Limit = Pick<Measured, 'wall' | 'cpu'>;

/** What the answer to a question takes at least: to start Node and, for a scan, to read every file. */
export function limitOf({ start, cat }: { readonly start: Limit; readonly cat: Limit }, { limit }: Pick<Answer, 'limit'>): Limit {
  if (limit === 'start') return start;
  return {
    wall: start.wall + cat.wall,
    ...(start.cpu === undefined || cat.cpu === undefined ? {} : { cpu: start.cpu + cat.cpu }),
  };
}

/** By kind and question: the time of the larger of two sizes by that of the smaller, and how often larger it is. */
export interface Growth {
  readonly what: string;
  readonly keys: number;
  readonly time: number;
}

export function growthOf(results: Results): readonly Growth[] {
  return results.states.flatMap(large =>
    results.states
      .filter(small => small.kind === large.kind && small.keys < large.keys)
      .flatMap(small =>
        large.answers.flatMap(answer => {
          const other = small.answers.find(a => a.question === answer.question);
          if (other === undefined || answer.limit === 'start') return [];
          return [{ what: `${large.kind} ${answer.question}`, keys: large.keys / small.keys, time: answer.wall / other.wall }];
        }),
      ),
  );
}
