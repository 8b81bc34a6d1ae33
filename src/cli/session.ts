/**
 * One run of a command: its streams, how loud it is, and the writer of its results. Data goes to standard output; notes, warnings,
 * progress and timing go to standard error.
 */
import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { type StateQueryError, UsageError } from '../errors.js';
import type { ReadCounts, ReadStats } from '../io/source.js';
import { type Paint, paintFor } from '../output/color.js';
import { escapeText } from '../output/escape.js';
import {
  holdsOneResult,
  OUTPUT_FORMATS,
  type OutputFormat,
  type OutputOptions,
  type ResultRows,
  type ResultWriter,
  resultWriter,
  type Written,
} from '../output/format.js';
import { type Sink, streamSink } from '../output/sink.js';
import type { OutputFlags } from './options.js';
import { report } from './report.js';

export interface Streams {
  readonly stdin: ReadStream | NodeJS.ReadStream;
  readonly stdout: WriteStream | NodeJS.WriteStream;
  readonly stderr: WriteStream | NodeJS.WriteStream;
}

/** The process's own; each is opened when it is first used. */
export const PROCESS_STREAMS: Streams = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
};

export class Session {
  readonly format: OutputFormat;
  readonly paint: Paint;
  readonly errorPaint: Paint;
  readonly sink: Sink;
  readonly terminal: boolean;
  private readonly started = process.hrtime.bigint();
  private results: ResultWriter | undefined;

  constructor(
    readonly flags: OutputFlags,
    readonly streams: Streams = PROCESS_STREAMS,
  ) {
    this.format = outputFormat(flags);
    this.terminal = streams.stdout.isTTY === true;
    this.paint = paintFor('stdout', flags.color && this.terminal);
    this.errorPaint = paintFor('stderr', flags.color && streams.stderr.isTTY === true);
    this.sink = streamSink(streams.stdout);
  }

  /** Form, NULL, widths: for the writer of results, and for the shell's `.mode`. */
  outputOptions(format: OutputFormat = this.format): OutputOptions {
    return {
      format,
      numbers: this.flags.jsonNumbers,
      header: this.flags.header,
      nullText: this.flags.null,
      maxRows: this.terminal ? this.flags.maxRows : undefined,
      terminal: this.terminal,
      paint: this.paint,
    };
  }

  get writer(): ResultWriter {
    this.results ??= resultWriter(this.outputOptions(), this.sink);
    return this.results;
  }

  /** Writes one result, and says what was not shown. */
  async write(result: ResultRows): Promise<void> {
    this.tellHidden(await this.writer.write(result));
  }

  tellHidden({ hidden }: Written): void {
    if (hidden > 0) this.note(`${hidden} more row${hidden === 1 ? '' : 's'} not shown (--max-rows ${this.flags.maxRows})`);
  }

  /** Text of our own making (a page for people). */
  async print(text: string): Promise<void> {
    await this.sink.write(Buffer.from(text));
  }

  /** @throws UsageError when the form cannot hold `n` results */
  checkResults(n: number): void {
    if (n > 1 && holdsOneResult(this.format))
      throw new UsageError(`-o ${this.format} holds one result, the statements give ${n}`, {
        hint: 'run them one by one, or use -o json: one array for each result',
      });
  }

  /** A line of a conversation, on standard error. */
  tell(message: string): void {
    if (!this.flags.quiet) this.streams.stderr.write(`${escapeText(message)}\n`);
  }

  /** One line for the user. */
  note(message: string): void {
    if (this.flags.quiet) return;
    this.streams.stderr.write(`${this.errorPaint.yellow('note:')} ${escapeText(message)}\n`);
  }

  /** Ends the process at once with an error, for what cannot be unwound. */
  die(error: StateQueryError): never {
    const json = this.format === 'json' || this.format === 'ndjson';
    const { text, exitCode } = report(error, { json, paint: this.errorPaint, stack: false });
    writeSync(2, text);
    process.exit(exitCode);
  }

  /** What ends a run: the note on integers that JSON readers round, and with -v what was read. */
  finish(stats?: ReadStats): void {
    if (this.results?.notes.bigInteger === true && !this.terminal && (this.format === 'json' || this.format === 'ndjson'))
      this.note(
        'integers beyond 2^53 are written with every digit; readers that use doubles round them (--json-numbers string quotes them)',
      );
    this.tellRead(stats?.since(), this.started);
  }

  /** With -v: what was read since `begun`, and how long it took. */
  tellRead(counts: ReadCounts | undefined, begun: bigint): void {
    const ms = Number((process.hrtime.bigint() - begun) / 1_000_000n);
    const read =
      counts === undefined
        ? ''
        : `${counts.files} files opened, ${counts.bytesRead} bytes read in ${counts.reads} reads, ${counts.entriesDecoded} entries decoded, `;
    this.detail(`${read}${ms} ms`);
  }

  /** A line of what -v tells. */
  detail(message: string): void {
    if (this.flags.verbose === 0 || this.flags.quiet) return;
    this.streams.stderr.write(`${this.errorPaint.dim(escapeText(message))}\n`);
  }
}

/** -o, --json, --csv, STATEQUERY_OUTPUT, table: the first that is given. @throws UsageError */
export function outputFormat(flags: OutputFlags): OutputFormat {
  const asked = new Set<OutputFormat>();
  if (flags.output !== undefined) asked.add(flags.output);
  if (flags.json) asked.add('json');
  if (flags.csv) asked.add('csv');
  if (asked.size > 1)
    throw new UsageError(`two forms of output are asked for: ${[...asked].join(' and ')}`, { hint: 'give one of -o, --json, --csv' });
  const [first] = asked;
  if (first !== undefined) return first;
  const preset = process.env['STATEQUERY_OUTPUT'] ?? '';
  if (preset === '') return 'table';
  const known = OUTPUT_FORMATS.find(f => f === preset);
  if (known === undefined) throw new UsageError(`STATEQUERY_OUTPUT is ${preset}`, { hint: `one of ${OUTPUT_FORMATS.join(', ')}` });
  return known;
}
