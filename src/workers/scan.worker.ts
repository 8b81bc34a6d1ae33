/**
 * A thread that reads pieces of scans (tables/pieces.ts): opens the snapshot for itself, takes pieces that nobody has taken, and sends
 * their batches. What goes wrong before the first piece is nobody's loss: the pieces are then read by others.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { plainError } from '../errors.js';
import { packBatch, packedSize } from '../io/batch-bytes.js';
import { type ReadMark, ReadStats } from '../io/source.js';
import { type Opening, openAs } from '../stateinfo/opening.js';
import type { PieceScan } from '../tables/pieces.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import {
  AHEAD_BYTES,
  BUFFER_BYTES,
  backOf,
  beatOf,
  ENDED,
  type JobMessage,
  NEWS,
  type NewsMessage,
  READS,
  STOP,
  stateOf,
  takenOf,
} from './protocol.js';

const stats = new ReadStats();
let remarks: string[] = [];

/** What was remarked when the snapshot was opened, its opener has remarked already. */
const opened = openAs(workerData as Opening, { stats, warn: message => remarks.push(message) });

parentPort?.on('message', (message: JobMessage) => {
  void opened.then(
    snapshot => new Task(message).run(snapshot),
    () => end(message),
  );
});

/** The worker has nothing more to do with a scan. */
function end({ control, worker }: JobMessage): void {
  Atomics.store(control, stateOf(worker), ENDED);
  Atomics.notify(control, stateOf(worker));
}

/** The scan is over, or this worker's part in it. */
class Stopped extends Error {}

/** The pieces of one scan that this worker takes. */
class Task {
  private readonly control: Int32Array<SharedArrayBuffer>;
  private readonly worker: number;
  private readonly free: ArrayBuffer[] = [];
  /** bytes of buffers that are on their way, or filled */
  private ahead = 0;
  private buffer: ArrayBuffer | undefined;
  private filled = 0;
  private told: ReadMark = stats.mark();

  constructor(private readonly message: JobMessage) {
    this.control = message.control;
    this.worker = message.worker;
  }

  run(snapshot: OpenedSnapshot): void {
    const { control, worker, message } = this;
    const { job } = message;
    Atomics.store(control, stateOf(worker), READS);
    try {
      this.goOn();
      const bound = snapshot.catalog.find(job.table)?.bind(job.restrictions);
      // another snapshot, or other names, than those that the scan is of
      if (bound?.pieces === undefined || JSON.stringify(bound.columns) !== JSON.stringify(job.columns)) return;
      const scan = bound.pieces(job.request);
      remarks = [];
      this.told = stats.mark();
      try {
        for (let piece = this.take(0); piece >= 0; piece = this.take(piece + 1)) this.read(scan, piece);
      } finally {
        scan.close();
      }
    } catch {
      // stopped, or it could not begin
    } finally {
      end(message);
    }
  }

  /** A sign of life. @throws Stopped */
  private goOn(): void {
    Atomics.add(this.control, beatOf(this.worker), 1);
    if (Atomics.load(this.control, STOP) !== 0) throw new Stopped();
  }

  /** Takes the next piece that nobody has, from `from` on. @returns -1: there is none */
  private take(from: number): number {
    const { job, workers } = this.message;
    for (let piece = from; piece < job.pieces.length; piece++) {
      this.goOn();
      if (Atomics.compareExchange(this.control, takenOf(workers, piece), 0, this.worker + 1) === 0) return piece;
    }
    return -1;
  }

  private read(scan: PieceScan, piece: number): void {
    try {
      scan.begin(this.message.job.pieces[piece]);
      for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
        this.goOn();
        if (batch.length === 0) continue;
        const size = packedSize(batch);
        if (this.buffer !== undefined && this.filled + size > this.buffer.byteLength) this.send(undefined, false);
        this.buffer ??= this.newBuffer(size);
        this.filled = packBatch(batch, this.buffer, this.filled);
      }
    } catch (error) {
      if (!(error instanceof Stopped)) this.send(error instanceof Error ? error : new Error(String(error)), true);
      // behind an error nothing is wanted
      throw new Stopped();
    }
    this.send(undefined, true);
  }

  private send(error: Error | undefined, last: boolean): void {
    const { buffer, control } = this;
    const { files, ...counts } = stats.since(this.told);
    const news: NewsMessage = {
      buffer,
      length: this.filled,
      counts: { ...counts, files },
      files: files === 0 ? [] : stats.filesSince(this.told),
      remarks,
      error: error === undefined ? undefined : plainError(error),
      last,
    };
    this.message.port.postMessage(news, buffer === undefined ? [] : [buffer]);
    this.buffer = undefined;
    this.filled = 0;
    this.told = stats.mark();
    remarks = [];
    Atomics.add(control, NEWS, 1);
    Atomics.notify(control, NEWS);
  }

  /** Waits while too much is on its way. @throws Stopped */
  private newBuffer(size: number): ArrayBuffer {
    const { control, free } = this;
    const bytes = Math.max(size, BUFFER_BYTES);
    for (;;) {
      const seen = Atomics.load(control, backOf(this.worker));
      for (let back = receiveMessageOnPort(this.message.port); back !== undefined; back = receiveMessageOnPort(this.message.port)) {
        const buffer = back.message as ArrayBuffer;
        this.ahead -= buffer.byteLength;
        if (buffer.byteLength === BUFFER_BYTES) free.push(buffer);
      }
      this.goOn();
      if (this.ahead === 0 || this.ahead + bytes <= AHEAD_BYTES) break;
      Atomics.wait(control, backOf(this.worker), seen, SIGN_MS);
    }
    this.ahead += bytes;
    return (bytes === BUFFER_BYTES ? free.pop() : undefined) ?? new ArrayBuffer(bytes);
  }
}

/** A waiting worker gives a sign of life so often. */
const SIGN_MS = 1000;
