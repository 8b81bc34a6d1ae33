/** How many threads decode state (`--threads`). */
import { availableParallelism, totalmem } from 'node:os';

/** memory for each thread that decodes beyond the first */
const THREAD_MEMORY = 512 << 20;
const MOST_THREADS = 4;

/** Threads that decode: what is asked for, and never more than there are cores. */
export function decodingThreads(asked: number | undefined): number {
  const cores = availableParallelism();
  if (asked !== undefined) return Math.min(asked, cores);
  const limit = process.constrainedMemory?.() ?? 0;
  const memory = limit > 0 && limit < totalmem() ? limit : totalmem();
  return Math.max(1, Math.min(cores, MOST_THREADS, Math.floor(memory / THREAD_MEMORY)));
}
