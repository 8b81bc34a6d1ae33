/** What a shell has open: snapshots by alias, the engine over them, the form of its output. */
import type { ReadStats } from '../../io/source.js';
import type { OutputFormat } from '../../output/format.js';
import { resultWriter } from '../../output/format.js';
import type { Database } from '../../sql/engine.js';
import type { OpenedSnapshot } from '../../tables/snapshot.js';
import type { SqlFlags } from '../commands/sql.js';
import { interruptible } from '../interrupt.js';
import { Progress } from '../progress.js';
import { openWith } from '../reading.js';
import { ALONE, openDatabaseFor, parseParameters, shownRows, tellScans } from '../run-sql.js';
import type { Session } from '../session.js';

export class ShellState {
  mode: OutputFormat;
  timer = false;
  private database: Database | undefined;
  /** stops the engine that is open; one that was stopped is closed, and the next statement opens another */
  private stop = new AbortController();

  constructor(
    readonly session: Session,
    private readonly flags: SqlFlags,
    readonly snapshots: Map<string, OpenedSnapshot>,
    /** of all snapshots that it opens */
    private readonly stats: ReadStats,
  ) {
    this.mode = session.format;
  }

  /** Opens a snapshot: under an alias beside the others, without one instead of them. */
  async open(alias: string | undefined, path: string): Promise<void> {
    const opened = await openWith(path, this.flags, this.session, this.stats);
    await this.closeDatabase();
    const replaced =
      alias === undefined ? [...this.snapshots.keys()] : [...this.snapshots.keys()].filter(a => a.toLowerCase() === alias.toLowerCase());
    for (const name of replaced) {
      this.snapshots.get(name)?.close();
      this.snapshots.delete(name);
    }
    this.snapshots.set(alias ?? ALONE, opened);
  }

  /** Runs statements and writes what they answer. Ctrl-C stops them. */
  async run(text: string): Promise<void> {
    const started = process.hrtime.bigint();
    let finished = false;
    try {
      await interruptible(async signal => {
        const { stop } = this;
        signal.addEventListener('abort', () => stop.abort());
        this.database ??= await openDatabaseFor(this.snapshots, this.flags, this.session, stop.signal);
        const writer = resultWriter(this.session.outputOptions(this.mode), this.session.sink);
        const progress = new Progress(this.session, this.stats);
        let mark = this.stats.mark();
        let begun = process.hrtime.bigint();
        try {
          for await (const result of this.database.query(text, parseParameters(this.flags.param))) {
            const written = await writer.write(shownRows(result, this.mode, progress));
            this.session.tellHidden(written);
            tellScans(result, this.session);
            this.session.tellRead(this.stats.since(mark), begun);
            mark = this.stats.mark();
            begun = process.hrtime.bigint();
          }
          finished = true;
        } finally {
          progress.end();
        }
      });
    } finally {
      if (!finished) await this.closeDatabase();
      if (this.timer) this.session.streams.stderr.write(`${Number((process.hrtime.bigint() - started) / 100_000n) / 10} ms\n`);
    }
  }

  async close(): Promise<void> {
    await this.closeDatabase();
    for (const snapshot of this.snapshots.values()) snapshot.close();
  }

  private async closeDatabase(): Promise<void> {
    const { database } = this;
    this.database = undefined;
    this.stop = new AbortController();
    await database?.close();
  }
}
