/**
 * Scans in pieces, which several threads read: parts of keyed state and ranges of key groups in them (keyed-rows.ts).
 *
 *   this thread   hands out the batches, piece by piece in their order: the rows are those of one thread, in the same order
 *   workers       each takes the next piece that nobody has taken, and sends its batches as bytes (workers/)
 *
 * A piece that no worker has taken when its turn comes is read here: so it is with the first ones, with those while workers start, and
 * with all of them where none can be started. Workers cost about half a second of processor time, so they are started when what is left
 * will take longer than that, by the time that the first pieces took: what ends early (a LIMIT) starts none. Counting canonical files
 * is not cut in pieces: it runs at about the speed of reading (10^7 keys, 1.3 GB: 0.6 s with one thread, 0.9 s with two workers). A
 * worker that is not heard of any more is given up; its piece is read here from its first batch on, without the batches that were handed
 * out: where batches begin and end depends on the rows alone.
 */
import { BatchReader } from '../io/batch-bytes.js';
import { type Column, type ColumnBatch, wasCut } from '../io/column.js';
import type { ReadCounts, ReadStats } from '../io/source.js';
import { BatchSteps, type BatchWriter, scanOf } from './batch.js';
import type { KeyedPump, Piece } from './keyed-rows.js';
import type { BoundColumn, Restriction, Scan, ScanRequest } from './table.js';

/** The scan that is in pieces, as plain data: enough to open it again elsewhere. */
export interface ScanJob {
  readonly table: string;
  readonly restrictions: readonly Restriction[];
  /** of the bound table, so that another one is noticed */
  readonly columns: readonly BoundColumn[];
  readonly request: ScanRequest;
  readonly pieces: readonly Piece[];
}

/** What a worker says of a piece: some of its batches, in order. */
export interface PieceNews {
  /** packed (io/batch-bytes.ts); to be given back */
  readonly buffer: ArrayBuffer | undefined;
  /** where the batches in it end */
  readonly length: number;
  /** what was read since the last news of the worker, and the files */
  readonly counts: ReadCounts;
  readonly files: readonly string[];
  readonly remarks: readonly string[];
  /** what ended the piece, behind the batches */
  readonly error: Error | undefined;
  /** nothing follows */
  readonly last: boolean;
}

/** Workers that read the pieces of one scan. */
export interface PieceWorkers {
  /** Takes a piece that no worker has taken. @returns false: one has */
  claim(piece: number): boolean;
  /** What is next of a piece that a worker has taken; `quiet`: nothing for a while; `lost`: nothing will come any more. Waits. */
  receive(piece: number): PieceNews | 'quiet' | 'lost';
  /** Gives a buffer back to the worker of the piece. */
  giveBack(piece: number, buffer: ArrayBuffer): void;
  /** Stops the workers, which are then free for another scan. */
  close(): void;
}

/** Threads that read for a snapshot. */
export interface ScanWorkers {
  /** file bytes below which a scan is not cut in pieces, and those of a piece */
  readonly threshold: number;
  readonly pieceBytes: number;
  /** milliseconds of decoding that have to be left for workers to be started */
  readonly worth: number;
  /**
   * Sets at most so many workers to the pieces of a scan from `from` on; undefined: there are none, or they are busy. Starts them where
   * needed; does not wait.
   */
  start(job: ScanJob, from: number, threads: number): PieceWorkers | undefined;
  /** Ends the threads. */
  close(): void;
}

/** A scan of keyed state that can be read piece by piece, in any order. */
export class PieceScan {
  private readonly steps: BatchSteps;

  constructor(
    readonly pump: KeyedPump,
    readonly writer: BatchWriter,
    /** columns like those of the writer */
    readonly likeColumns: () => readonly Column[],
  ) {
    this.steps = new BatchSteps(writer, () => pump.step());
  }

  begin(piece: Piece): void {
    this.pump.begin(piece);
  }

  /** The next batch of the piece; undefined at its end. */
  next(): ColumnBatch | undefined {
    return this.steps.next();
  }

  close(): void {
    this.pump.close();
  }

  /** All of it, on this thread. */
  whole(limit: number | undefined): Scan {
    const { pump, writer } = this;
    return scanOf(
      writer,
      () => pump.step(),
      () => pump.close(),
      limit,
    );
  }
}

/** Reads all of a scan with several threads where that pays, else with this one. */
export function scanPieces(
  scan: PieceScan,
  { workers, stats, warn, skipDamaged }: PieceContext,
  { request, ...place }: Omit<ScanJob, 'pieces'>,
): Scan {
  const { threads = 1, limit } = request;
  // what is passed over behind damage depends on what came before it
  if (threads < 2 || workers === undefined || limit !== undefined || skipDamaged || scan.pump.bytes < workers.threshold)
    return scan.whole(limit);
  const pieces = scan.pump.pieces(workers.pieceBytes);
  const bytes = pieces.reduce((sum, piece) => sum + (piece.range?.bytes ?? 0), 0);
  if (pieces.length < 3 || bytes < workers.threshold) return scan.whole(limit);
  return new ScanInPieces(scan, { ...place, request, pieces }, threads, workers, { stats, warn });
}

export interface PieceContext {
  readonly workers: ScanWorkers | undefined;
  readonly stats: ReadStats;
  readonly skipDamaged: boolean;
  warn(message: string): void;
}

class ScanInPieces implements Scan {
  /** columns of the workers' batches */
  private readonly columns: readonly Column[];
  private readonly reader: BatchReader;
  private running: PieceWorkers | undefined;
  /** the piece whose batches are handed out, and who reads it */
  private at = 0;
  private by: 'nobody' | 'us' | 'worker' = 'nobody';
  /** batches of it that were handed out, and those that are not to be handed out again */
  private given = 0;
  private again = 0;
  private news: PieceNews | undefined;
  /** milliseconds of reading here */
  private spent = 0;
  private ended = false;

  constructor(
    private readonly scan: PieceScan,
    private readonly job: ScanJob,
    private readonly threads: number,
    private readonly workers: ScanWorkers,
    private readonly context: Pick<PieceContext, 'stats' | 'warn'>,
  ) {
    this.columns = scan.likeColumns();
    this.reader = new BatchReader(this.columns);
  }

  next(): ColumnBatch | undefined {
    try {
      while (!this.ended) {
        const batch = this.by === 'nobody' ? this.turn() : this.by === 'us' ? this.read() : this.receive();
        if (batch !== undefined) return batch;
      }
      return undefined;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Decides who reads the piece that is next. */
  private turn(): undefined {
    const { at, job } = this;
    if (at === job.pieces.length) {
      this.close();
      return;
    }
    this.given = 0;
    if (this.running === undefined && at > 0 && this.left() >= this.workers.worth) this.running = this.workers.start(job, at, this.threads);
    if (this.running?.claim(at) === false) this.by = 'worker';
    else this.readHere(0);
  }

  /** About how many milliseconds of decoding are left, by what was read here. */
  private left(): number {
    const { at, spent } = this;
    const bytes = (from: number, to: number) => this.job.pieces.slice(from, to).reduce((sum, { range }) => sum + (range?.bytes ?? 0), 0);
    return spent * (bytes(at, this.job.pieces.length) / Math.max(1, bytes(0, at)));
  }

  private readHere(again: number): void {
    this.scan.begin(this.job.pieces[this.at]);
    this.by = 'us';
    this.again = again;
  }

  private endPiece(): void {
    this.at++;
    this.by = 'nobody';
  }

  private read(): ColumnBatch | undefined {
    const begun = performance.now();
    const batch = this.scan.next();
    this.spent += performance.now() - begun;
    if (batch === undefined) this.endPiece();
    else if (batch.length > 0 && this.again > 0) {
      this.again--;
      return undefined;
    }
    return batch;
  }

  private receive(): ColumnBatch | undefined {
    const { news, running, at } = this;
    if (running === undefined) throw new Error('no workers');
    if (news !== undefined) {
      const batch = this.reader.next();
      if (batch !== undefined) {
        this.given++;
        return batch;
      }
      this.news = undefined;
      if (news.buffer !== undefined) running.giveBack(at, news.buffer);
      if (news.error !== undefined) throw news.error;
      if (news.last) {
        this.endPiece();
        return undefined;
      }
    }
    const next = running.receive(at);
    if (next === 'quiet') return { length: 0, columns: this.columns };
    if (next === 'lost') {
      this.running = undefined;
      this.workers.close();
      this.readHere(this.given);
      return undefined;
    }
    this.context.stats.add(next.counts, next.files);
    for (const remark of next.remarks) this.context.warn(remark);
    this.news = next;
    this.reader.open(next.buffer ?? NO_BATCHES, next.length);
    return undefined;
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    this.running?.close();
    const { writer } = this.scan;
    if (writer.onCut !== undefined && (writer.columns.some(wasCut) || this.columns.some(wasCut))) writer.onCut();
    this.scan.close();
  }
}

const NO_BATCHES = new ArrayBuffer(0);
