/**
 * One command, whole: its wall time, the CPU time and the peak memory of the processes that it consists of, and what else the machine did.
 * Linux keeps what is needed where a parent can see it:
 *
 *   /proc/self/stat              CPU time of the children that have ended, in ticks
 *   /proc/stat                   CPU time of the whole machine, in ticks
 *   /proc/<pid>/status           VmHWM, the most memory that a process had at a time; asked again and again while it runs
 *   /proc/<pid>/task/<tid>/children  the processes below it
 *
 * Elsewhere only the wall time is known.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';

export interface Run {
  /** seconds */
  readonly wall: number;
  /** seconds, user and system */
  readonly cpu?: number;
  readonly rssMb?: number;
  /** load average of the minute before */
  readonly load: number;
  /** cores that were busy with something else meanwhile */
  readonly others?: number;
  readonly stdout: string;
  readonly stderr: string;
}

const TICKS_A_SECOND = 100;
/** ms between two looks at the memory: more often at first, for commands that are over at once; looking slows what is looked at */
const FIRST_LOOKS = 20;
const LATER_LOOKS = 100;

/** Runs a command to its end. @throws Error when it ends with another code than 0 */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly discard?: true; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Run> {
  const load = loadavg()[0];
  const before = cpuTimes();
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const child = spawn(command, args, {
      stdio: ['ignore', options.discard === true ? 'ignore' : 'pipe', 'pipe'],
      env: { ...(options.env ?? process.env), STATEQUERY_SNAPSHOT: '', STATEQUERY_OUTPUT: '', NO_COLOR: '1' },
    });
    let wall = 0;
    let used: ReturnType<typeof usedSince> = {};
    let rss = 0;
    let timer: NodeJS.Timeout | undefined;
    const look = (): void => {
      if (child.pid !== undefined) rss = Math.max(rss, memoryOfTree(child.pid));
      timer = setTimeout(look, performance.now() - begun < 300 ? FIRST_LOOKS : LATER_LOOKS);
    };
    look();
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', error => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('exit', () => {
      wall = (performance.now() - begun) / 1000;
      used = usedSince(before, wall);
      clearTimeout(timer);
    });
    child.on('close', (code, signal) => {
      const text = Buffer.concat(stdout).toString('utf8');
      const errors = Buffer.concat(stderr).toString('utf8');
      if (code !== 0) {
        reject(new Error(`${[command, ...args].join(' ')}\nended with ${signal ?? code}\n${text.slice(-2000)}${errors.slice(-2000)}`));
        return;
      }
      resolve({
        wall,
        ...used,
        ...(rss === 0 ? {} : { rssMb: rss / 1024 }),
        load,
        stdout: text,
        stderr: errors,
      });
    });
  });
}

interface CpuTimes {
  /** seconds, of the children that have ended */
  readonly children: number;
  readonly own: number;
  readonly machine: number;
}

function cpuTimes(): CpuTimes | undefined {
  const stat = textOf('/proc/self/stat');
  const machine = textOf('/proc/stat');
  if (stat === undefined || machine === undefined) return undefined;
  // the name of the program may have blanks; it is in parentheses
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (ticks: readonly string[]): number => ticks.reduce((sum, n) => sum + Number(n), 0) / TICKS_A_SECOND;
  const [, user, nice, system, , , irq, softIrq, steal] = machine.slice(0, machine.indexOf('\n')).split(/ +/);
  return {
    children: seconds(fields.slice(13, 15)),
    own: seconds(fields.slice(11, 13)),
    machine: seconds([user, nice, system, irq, softIrq, steal]),
  };
}

function usedSince(before: CpuTimes | undefined, wall: number): Pick<Run, 'cpu' | 'others'> {
  const after = cpuTimes();
  if (before === undefined || after === undefined) return {};
  const cpu = after.children - before.children;
  const others = after.machine - before.machine - cpu - (after.own - before.own);
  return { cpu, others: Math.max(0, others / wall) };
}

/** KiB that a process and all below it have had at most. */
function memoryOfTree(pid: number): number {
  const highest = /^VmHWM:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`) ?? '');
  let sum = highest === null ? 0 : Number(highest[1]);
  for (const thread of threadsOf(pid))
    for (const child of (textOf(`/proc/${pid}/task/${thread}/children`) ?? '').split(' '))
      if (child !== '') sum += memoryOfTree(Number(child));
  return sum;
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A file of /proc, which is gone when its process is. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
