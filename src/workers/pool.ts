/**
 * The worker threads of one snapshot: started when the first big scan begins, then kept for the next one. They wait for work without
 * keeping the process alive, and end with the snapshot or the process.
 *
 * All waiting is for changes in shared memory, and messages are fetched, so that it works inside of a callback of the SQL engine, where
 * the event loop stands still.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { errorOf } from '../errors.js';
import type { Opening } from '../stateinfo/opening.js';
import type { PieceNews, PieceWorkers, ScanJob, ScanWorkers } from '../tables/pieces.js';
import { backOf, beatOf, ENDED, type JobMessage, NEWS, type NewsMessage, OURS, READS, STOP, stateOf, takenOf } from './protocol.js';

/** 10^6 keys in SST files take 0.3 s and 55 MB: smaller scans end before workers could help */
const THRESHOLD = 32 << 20;
/** each piece seeks in every table that it touches, and reads some of its blocks twice: at 4 MB a quarter more bytes, at 8 MB half of that */
const PIECE_BYTES = 8 << 20;
const WORTH_MS = 700;
/** a wait is interrupted so often, for Ctrl-C and timeouts */
const QUIET_MS = 100;
/** a worker without a sign of life for so long is given up */
const LOST_MS = 20_000;
/** how long a new scan waits for workers that a scan before it has just stopped */
const BUSY_MS = 200;

export interface PoolOptions {
  readonly threshold?: number;
  readonly pieceBytes?: number;
  readonly worth?: number;
  /** the built scan.worker.ts */
  readonly file?: string;
  /** for tests: pieces behind the first are read by workers, as long as there are any */
  readonly only?: boolean;
}

/** Beside the bundle of the command, or that of the library or above its chunks. Undefined in the source: it is not built there. */
function workerFile(): string | undefined {
  return ['./scan.worker.cjs', './scan.worker.js', '../scan.worker.js']
    .map(name => fileURLToPath(new URL(name, import.meta.url)))
    .find(file => existsSync(file));
}

export class WorkerPool implements ScanWorkers {
  readonly threshold: number;
  readonly pieceBytes: number;
  readonly worth: number;
  private readonly threads: Worker[] = [];
  private running: Running | undefined;
  private unusable = false;
  private file: string | undefined;
  private readonly only: boolean;

  /** @param opening how the snapshot was opened that is scanned */
  constructor(
    private readonly opening: Opening,
    options: PoolOptions = {},
  ) {
    this.threshold = options.threshold ?? THRESHOLD;
    this.pieceBytes = options.pieceBytes ?? PIECE_BYTES;
    this.worth = options.worth ?? WORTH_MS;
    this.file = options.file;
    this.only = options.only === true;
  }

  start(job: ScanJob, from: number, threads: number): PieceWorkers | undefined {
    if (this.unusable) return undefined;
    if (this.running !== undefined && !this.running.ended(BUSY_MS)) return undefined;
    try {
      this.spawn(threads);
      this.running = new Running(job, from, this.threads.slice(0, threads), this.only);
      return this.running;
    } catch {
      this.close();
      return undefined;
    }
  }

  private spawn(threads: number): void {
    this.file ??= workerFile();
    if (this.file === undefined) throw new Error('there is no file of the worker');
    while (this.threads.length < threads) {
      const thread = new Worker(this.file, {
        workerData: this.opening,
        // what is decoded dies young, and at once
        resourceLimits: { maxYoungGenerationSizeMb: 8 },
        execArgv: [],
      });
      // what a worker cannot do is done by the scan's own thread
      thread.on('error', () => this.close());
      thread.unref();
      this.threads.push(thread);
    }
  }

  /** How many pieces of the last scan workers have taken. */
  get taken(): number {
    return this.running?.taken ?? 0;
  }

  close(): void {
    this.unusable = true;
    this.running?.close();
    for (const thread of this.threads) void thread.terminate();
    this.threads.length = 0;
  }
}

/** The workers of one scan. */
class Running implements PieceWorkers {
  private readonly control: Int32Array<SharedArrayBuffer>;
  private readonly ports: MessagePort[] = [];
  private readonly count: number;
  private readonly signs: { beat: number; at: number }[];

  constructor(
    job: ScanJob,
    from: number,
    threads: readonly Worker[],
    private readonly only: boolean,
  ) {
    this.count = threads.length;
    this.control = new Int32Array(new SharedArrayBuffer(4 * takenOf(this.count, job.pieces.length)));
    this.control.fill(OURS, takenOf(this.count, 0), takenOf(this.count, from));
    this.signs = threads.map(() => ({ beat: 0, at: performance.now() }));
    threads.forEach((thread, worker) => {
      const { port1, port2 } = new MessageChannel();
      this.ports.push(port1);
      const message: JobMessage = { job, worker, workers: this.count, control: this.control, port: port2 };
      thread.postMessage(message, [port2]);
    });
  }

  claim(piece: number): boolean {
    const { control, count } = this;
    const taken = takenOf(count, piece);
    const alive = () =>
      Atomics.load(control, STOP) === 0 && this.ports.some((_, worker) => Atomics.load(control, stateOf(worker)) !== ENDED);
    while (this.only && alive() && Atomics.load(control, taken) === 0) Atomics.wait(control, taken, 0, 1);
    return Atomics.compareExchange(control, taken, 0, OURS) === 0;
  }

  get taken(): number {
    return this.control.subarray(takenOf(this.count, 0)).filter(worker => worker > 0).length;
  }

  private workerOf(piece: number): number {
    return Atomics.load(this.control, takenOf(this.count, piece)) - 1;
  }

  receive(piece: number): PieceNews | 'quiet' | 'lost' {
    const { control } = this;
    const worker = this.workerOf(piece);
    const until = performance.now() + QUIET_MS;
    for (let lost = false; ; ) {
      const seen = Atomics.load(control, NEWS);
      const received = receiveMessageOnPort(this.ports[worker]);
      if (received !== undefined) return newsOf(received.message as NewsMessage);
      const left = until - performance.now();
      if (lost) return 'lost';
      if (left <= 0) {
        // what it sent before it ended is still to come
        if (!this.isLost(worker)) return 'quiet';
        lost = true;
        continue;
      }
      Atomics.wait(control, NEWS, seen, left);
    }
  }

  private isLost(worker: number): boolean {
    const sign = this.signs[worker];
    const beat = Atomics.load(this.control, beatOf(worker));
    const now = performance.now();
    if (beat !== sign.beat) {
      sign.beat = beat;
      sign.at = now;
    }
    return now - sign.at > LOST_MS || Atomics.load(this.control, STOP) !== 0 || Atomics.load(this.control, stateOf(worker)) === ENDED;
  }

  giveBack(piece: number, buffer: ArrayBuffer): void {
    const worker = this.workerOf(piece);
    this.ports[worker].postMessage(buffer, [buffer]);
    Atomics.add(this.control, backOf(worker), 1);
    Atomics.notify(this.control, backOf(worker));
  }

  close(): void {
    const { control } = this;
    Atomics.store(control, STOP, 1);
    for (let worker = 0; worker < this.count; worker++) {
      Atomics.add(control, backOf(worker), 1);
      Atomics.notify(control, backOf(worker));
    }
  }

  /** Whether all workers are done with a scan that was closed; waits a little. */
  ended(ms: number): boolean {
    if (Atomics.load(this.control, STOP) === 0) return false;
    const until = performance.now() + ms;
    for (let worker = 0; worker < this.count; worker++)
      for (let state = 0; ; ) {
        state = Atomics.load(this.control, stateOf(worker));
        if (state !== READS) break;
        const left = until - performance.now();
        if (left <= 0) return false;
        Atomics.wait(this.control, stateOf(worker), state, left);
      }
    for (const port of this.ports) port.close();
    return true;
  }
}

function newsOf({ error, ...news }: NewsMessage): PieceNews {
  return { ...news, error: error === undefined ? undefined : errorOf(error) };
}
