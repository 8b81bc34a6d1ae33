/** One line on a terminal's standard error while a statement reads, gone when its first rows come out. */
import type { ColumnBatch } from '../io/column.js';
import type { ReadStats } from '../io/source.js';
import type { Session } from './session.js';

const FIRST_MS = 1000;
const EVERY_MS = 200;

export class Progress {
  private readonly started = Date.now();
  private readonly timer: NodeJS.Timeout | undefined;
  private shown = false;

  constructor(
    private readonly session: Session,
    private readonly stats: ReadStats,
  ) {
    if (session.streams.stderr.isTTY !== true || session.flags.quiet) return;
    this.timer = setInterval(() => this.draw(), EVERY_MS);
    this.timer.unref();
  }

  /** The batches as they come; rows on the same terminal push the line away. */
  async *watch(batches: AsyncIterable<ColumnBatch>): AsyncGenerator<ColumnBatch, void, void> {
    for await (const batch of batches) {
      if (this.session.terminal) this.end();
      yield batch;
    }
  }

  end(): void {
    clearInterval(this.timer);
    if (this.shown) this.session.streams.stderr.write('\r\u001b[K');
    this.shown = false;
  }

  private draw(): void {
    const ms = Date.now() - this.started;
    if (ms < FIRST_MS) return;
    this.shown = true;
    const read = `${(this.stats.bytesRead / 1e6).toFixed(0)} MB read, ${this.stats.entriesDecoded} entries, ${(ms / 1000).toFixed(0)} s`;
    this.session.streams.stderr.write(`\r\u001b[K${this.session.errorPaint.dim(read)}`);
  }
}
