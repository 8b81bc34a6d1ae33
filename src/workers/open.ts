/** Opens a snapshot together with threads that read its big scans. */
import { type Opening, type OpeningHooks, openAs } from '../stateinfo/opening.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import { WorkerPool } from './pool.js';

/** As `openAs`; the threads are started by the first big scan that may have several, and end with the snapshot. @throws StateQueryError */
export function openWithWorkers(opening: Opening, hooks: OpeningHooks = {}): Promise<OpenedSnapshot> {
  // what "now" is, all threads have to agree on
  const fixed: Opening = { ...opening, asOfMillis: opening.asOfMillis ?? BigInt(Date.now()) };
  return openAs(fixed, { workers: new WorkerPool(fixed), ...hooks });
}
