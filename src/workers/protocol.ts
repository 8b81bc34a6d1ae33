/**
 * What this process's threads say to each other about a scan in pieces.
 *
 *   workerData     Opening: the snapshot that the worker opens for itself
 *   message        JobMessage, to a worker that has nothing to do; the scan's own port comes with it
 *   port           worker → NewsMessage, scan → ArrayBuffer (a buffer of news, given back)
 *   control        shared i32s, for what has to be seen at once and for waiting:
 *
 *     [0] STOP          1: the scan is over
 *     [1] NEWS          counts the news of all workers: the scan waits for its change
 *     [2 + 3w] state    of worker w: 0 not there yet, 1 reads, 2 has ended
 *     [3 + 3w] beat     changes while the worker is alive
 *     [4 + 3w] back     counts the buffers given back to it: the worker waits for its change
 *     [2 + 3n + p]      who reads piece p: 0 nobody, w + 1 worker w, -1 the scan's own thread; taken by compareExchange
 */
import type { MessagePort } from 'node:worker_threads';
import type { PlainError } from '../errors.js';
import type { PieceNews, ScanJob } from '../tables/pieces.js';

export const STOP = 0;
export const NEWS = 1;
export const stateOf = (worker: number): number => 2 + 3 * worker;
export const beatOf = (worker: number): number => 3 + 3 * worker;
export const backOf = (worker: number): number => 4 + 3 * worker;
export const takenOf = (workers: number, piece: number): number => 2 + 3 * workers + piece;

export const READS = 1;
export const ENDED = 2;
/** the scan's own thread, in `takenOf` */
export const OURS = -1;

export interface JobMessage {
  readonly job: ScanJob;
  readonly worker: number;
  readonly workers: number;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly port: MessagePort;
}

/** Some batches of a piece; errors do not cross threads as what they are. */
export interface NewsMessage extends Omit<PieceNews, 'error'> {
  readonly error: PlainError | undefined;
}

/** Bytes of a buffer of news, unless one batch is larger. */
export const BUFFER_BYTES = 256 << 10;
/** Bytes that a worker may have on their way before it waits. */
export const AHEAD_BYTES = 4 << 20;
