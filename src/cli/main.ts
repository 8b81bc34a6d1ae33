/** The command: arguments to an exit code. */
import { type Command, CommanderError } from 'commander';
import { UsageError } from '../errors.js';
import { paintFor } from '../output/color.js';
import { OutputClosed } from '../output/sink.js';
import { commandsWith } from './options.js';
import { createProgram } from './program.js';
import { report } from './report.js';

/** set by scripts/build.mjs */
declare const STATEQUERY_VERSION: string;

/** Runs the command line and returns the exit code; everything that can go wrong is told on standard error. */
export async function main(args: readonly string[]): Promise<number> {
  // what no promise carries: a pipe that nobody reads any more, or a bug
  process.on('uncaughtException', error => {
    const { text, exitCode } = failure(isClosedPipe(error) ? new OutputClosed() : error, args);
    process.stderr.write(text);
    process.exit(exitCode);
  });
  const printed: string[] = [];
  const program = createProgram(typeof STATEQUERY_VERSION === 'string' ? STATEQUERY_VERSION : '0.0.0', printed);
  try {
    if (args.length === 0 && process.stdin.isTTY && process.stdout.isTTY) {
      await program.parseAsync(['shell'], { from: 'user' });
      return 0;
    }
    await program.parseAsync(statementsApart(args, program), { from: 'user' });
    return 0;
  } catch (error) {
    // a command that needs another word: its help, as an error
    if (error instanceof CommanderError && error.code === 'commander.help' && error.exitCode !== 0) {
      process.stderr.write(printed.join(''));
      return 2;
    }
    const { text, exitCode } = failure(withHint(error, program), args);
    if (text !== '') process.stderr.write(text);
    return exitCode;
  }
}

/**
 * A statement that begins with a comment (`-- …`) looks like an option: a space before it, which SQL does not mind, tells them apart.
 * No option has a space or a line break in its name.
 */
function statementsApart(args: readonly string[], program: Command): string[] {
  const sql = program.commands.find(command => command.name() === 'sql');
  const options = [...program.options, ...(sql?.options ?? [])];
  const takesValue = (arg: string | undefined) =>
    arg !== undefined && options.some(o => (o.required || o.optional) && (o.short === arg || o.long === arg));
  if (!args.includes('sql')) return [...args];
  return args.map((arg, i) => (/^--(?:\s|[^=\n]*\n)/.test(arg) && !takesValue(args[i - 1]) ? ` ${arg}` : arg));
}

/** An option that other commands have: which. */
function withHint(error: unknown, program: Command): unknown {
  if (!(error instanceof CommanderError) || error.code !== 'commander.unknownOption') return error;
  const flag = /'(.*?)'/.exec(error.message)?.[1];
  const commands = flag === undefined ? [] : commandsWith(program, flag);
  if (commands.length === 0) return error;
  const [first] = commands;
  return new UsageError(error.message.split('\n')[0].replace(/^error: /, ''), {
    hint: `it is an option of ${commands.join(', ')}, behind the command: statequery ${first} ${flag} …`,
  });
}

function failure(error: unknown, args: readonly string[]): { readonly text: string; readonly exitCode: number } {
  const color = !args.includes('--no-color') && process.stderr.isTTY === true;
  return report(error, { json: wantsJson(args), paint: paintFor('stderr', color), stack: verbosity(args) >= 2 });
}

function isClosedPipe(error: Error): boolean {
  return 'code' in error && error.code === 'EPIPE';
}

/** Whether errors are wanted as JSON: asked of the arguments, since they may be what is wrong. */
function wantsJson(args: readonly string[]): boolean {
  return args.some(
    (arg, i) =>
      arg === '--json' || /^(-o|--output=)(json|ndjson)$/.test(arg) || (/^(json|ndjson)$/.test(arg) && /^(-o|--output)$/.test(args[i - 1])),
  );
}

function verbosity(args: readonly string[]): number {
  return args.reduce((n, arg) => n + (arg === '--verbose' ? 1 : /^-v+$/.test(arg) ? arg.length - 1 : 0), 0);
}
