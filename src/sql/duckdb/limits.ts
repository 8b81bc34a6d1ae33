/**
 * What ends a statement before its time: the clock, Ctrl-C, and memory that the engine does not count.
 *
 * DuckDB keeps to `memory_limit` for what its buffers hold, but some functions build a whole vector of long values outside of
 * it. So the process's memory is watched while a statement runs: beyond the limit and a margin it is interrupted; where that
 * does not help, `onRunaway` is the last word. Statements whose memory the engine counts stay at
 * least 80 MB below (a sort of 3 × 10^7 rows, a join, groups, lists, with a limit of 100 to 200 MB).
 */
import { availableParallelism } from 'node:os';
import { InterruptedError, SqlError, StateQueryError } from '../../errors.js';
import type { EngineOptions } from '../engine.js';
import type { DuckDb } from './duckdb.js';

const WATCH_MS = 50;
const MB = 2 ** 20;
/** times the margin, above the limit: what an interruption did not stop */
const RUNAWAY = 4;

/**
 * Above the limit: what the engine's allocator keeps and the code of the process, and what other threads decode with. (JavaScript's own
 * memory is known and not counted.)
 */
function marginOf(limit: number, threads: number): number {
  return Math.max(160 * MB, Math.min(512 * MB, limit / 2)) + (threads - 1) * 128 * MB;
}

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Bytes of `512MB`, `2 GiB`, `1.5GB`; undefined for anything else. */
export function bytesOf(size: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(size);
  const unit = match === null ? undefined : UNITS[match[2].toLowerCase() || 'b'];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

export class Limits {
  private timer: NodeJS.Timeout | undefined;
  private watch: NodeJS.Timeout | undefined;
  private again: NodeJS.Timeout | undefined;
  private deadline = Number.POSITIVE_INFINITY;
  private reason: StateQueryError | undefined;
  private readonly onAbort = () => this.stop(new InterruptedError());

  constructor(
    private readonly db: DuckDb,
    private readonly options: EngineOptions,
  ) {
    const { signal, timeoutMs } = options;
    if (signal?.aborted) throw new InterruptedError();
    signal?.addEventListener('abort', this.onAbort);
    if (timeoutMs !== undefined) {
      this.deadline = performance.now() + timeoutMs;
      this.timer = setTimeout(() => this.timeOut(), timeoutMs);
      this.timer.unref();
    }
  }

  /** From here on the engine runs. The scans check the clock, since timers hardly fire while they do. */
  start(): void {
    if (this.reason !== undefined) throw this.reason;
    this.db.scans.checkpoint = () => {
      if (performance.now() > this.deadline) this.timeOut();
      if (this.reason !== undefined) throw this.reason;
    };
    const limit = this.options.memoryLimit === undefined ? undefined : bytesOf(this.options.memoryLimit);
    if (limit === undefined) return;
    const margin = marginOf(limit, this.options.threads ?? Math.min(4, availableParallelism()));
    const before = process.memoryUsage();
    this.watch = setInterval(() => {
      const rss = process.memoryUsage.rss() - before.rss;
      if (rss < limit + margin) return;
      const { heapTotal, external } = process.memoryUsage();
      const taken = rss - Math.max(0, heapTotal + external - before.heapTotal - before.external);
      if (taken < limit + margin) return;
      const error = new SqlError('OUT_OF_MEMORY', `the statement takes more memory than ${this.options.memoryLimit}`, {
        hint: 'give more with --max-memory, or make less of each row',
      });
      this.stop(error);
      if (taken > limit + RUNAWAY * margin) this.options.onRunaway?.(error);
    }, WATCH_MS);
    this.watch.unref();
  }

  private timeOut(): void {
    const seconds = (this.options.timeoutMs ?? 0) / 1000;
    this.stop(
      new SqlError('TIMEOUT', `the statement took longer than ${seconds} s`, {
        hint: 'give more with --timeout, or read less: name operator and state',
      }),
    );
  }

  private stop(reason: StateQueryError): void {
    this.reason ??= reason;
    this.db.interrupt();
    // an interruption before the engine has begun is lost: repeat it
    this.again ??= setInterval(() => this.db.interrupt(), WATCH_MS);
  }

  /** What an error is once the reason for stopping is known. */
  explain(error: unknown): unknown {
    if (this.reason === undefined || !(error instanceof StateQueryError)) return error;
    return error.code === 'SQL_ERROR' ? this.reason : error;
  }

  end(): void {
    clearTimeout(this.timer);
    clearInterval(this.watch);
    clearInterval(this.again);
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.db.scans.checkpoint = () => {};
  }
}
