/**
 * The options that commands share, one group each: how to read a snapshot, how to answer a query, how to write the result. The text
 * here is what --help, the shell completions and the README show.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../errors.js';
import { OUTPUT_FORMATS, type OutputFormat } from '../output/format.js';

/** Options of every command. */
export interface OutputFlags {
  readonly output?: OutputFormat;
  readonly json?: true;
  readonly csv?: true;
  readonly jsonNumbers: 'exact' | 'string';
  readonly header: boolean;
  readonly null?: string;
  readonly maxRows?: number;
  readonly color: boolean;
  readonly quiet?: true;
  readonly verbose: number;
}

/** Options of every command that reads a snapshot. */
export interface ReadingFlags {
  readonly rebase: readonly string[];
  readonly uids?: string;
  readonly guessUids?: true;
  readonly plan?: string;
  readonly names?: string;
  readonly stateInfo?: string;
  readonly jar: readonly string[];
  readonly proto: readonly string[];
  readonly protoType: readonly string[];
  readonly ttl: readonly string[];
  readonly asOf?: string;
  readonly verify: boolean;
  readonly skipDamaged?: true;
}

/** Options of what runs statements. */
export interface QueryFlags {
  readonly engine: 'duckdb' | 'alasql';
  readonly param: readonly string[];
  readonly threads?: number;
  readonly timeout?: number;
  readonly maxMemory?: string;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

function count(name: string, least: number): (value: string) => number {
  return value => {
    const n = Number(value);
    if (!/^\d+$/.test(value) || !Number.isSafeInteger(n) || n < least)
      throw new InvalidArgumentError(`${name} is a whole number from ${least} on.`);
    return n;
  };
}

function seconds(value: string): number {
  const n = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || !(n > 0)) throw new InvalidArgumentError('expected seconds, such as 30 or 0.5.');
  return n;
}

/** -s of `sql` and `shell`. */
export function addSnapshotOption(command: Command): Command {
  return command.option(
    '-s, --snapshot <[alias=]path>',
    'a snapshot under a name; with several, tables are alias.table (repeatable)',
    collect,
    [],
  );
}

/** The shared options on the program itself: they may stand before the command as well. Its help leaves them to the commands. */
export function addSharedOptions(program: Command): void {
  const own = program.options.length;
  addSnapshotOption(addOutputOptions(addReadingOptions(addQueryOptions(program))));
  for (const option of program.options.slice(own)) option.hideHelp();
}

/** `uid hash` */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}

/** The commands that take an option, by its short or long form. */
export function commandsWith(program: Command, flag: string): readonly string[] {
  const leaves = (command: Command): Command[] => (command.commands.length === 0 ? [command] : command.commands.flatMap(leaves));
  return leaves(program)
    .filter(command => command.options.some(o => o.short === flag || o.long === flag))
    .map(pathOf);
}

/**
 * Gives a command the shared options that stood before it: lists and counts are put together, of others the one behind it counts.
 * @throws UsageError for an option that the command does not take
 */
export function takeOptionsBefore(program: Command, command: Command): void {
  for (const option of program.options) {
    const name = option.attributeName();
    if (program.getOptionValueSource(name) !== 'cli') continue;
    // --no-color has the name of --color
    if (!command.options.some(o => o.attributeName() === name))
      throw new UsageError(`${pathOf(command)} has no option ${option.long}`, { hint: `statequery ${pathOf(command)} --help lists them` });
    const before: unknown = program.getOptionValue(name);
    const behind: unknown = command.getOptionValueSource(name) === 'cli' ? command.getOptionValue(name) : undefined;
    if (Array.isArray(before)) command.setOptionValueWithSource(name, [...before, ...(Array.isArray(behind) ? behind : [])], 'cli');
    else if (name === 'verbose') command.setOptionValueWithSource(name, Number(before) + Number(behind ?? 0), 'cli');
    else if (behind === undefined) command.setOptionValueWithSource(name, before, 'cli');
  }
}

export function addOutputOptions(command: Command): Command {
  command.optionsGroup('Output options:');
  return command
    .addOption(
      new Option('-o, --output <form>', 'form of the result, otherwise STATEQUERY_OUTPUT, otherwise table').choices([...OUTPUT_FORMATS]),
    )
    .option('--json', 'the same as -o json; errors are JSON too')
    .option('--csv', 'the same as -o csv')
    .addOption(
      new Option('--json-numbers <how>', 'BIGINT, HUGEINT and DECIMAL in JSON: every digit, or quoted')
        .choices(['exact', 'string'])
        .default('exact'),
    )
    .option('--no-header', 'no line of column names')
    .option('--null <text>', 'text for NULL (csv, tsv: nothing; otherwise NULL)')
    .option('--max-rows <n>', 'rows shown on a terminal; says how many are not shown', count('--max-rows', 0))
    .option('--no-color', 'no colours (as NO_COLOR)')
    .option('-q, --quiet', 'no notes and warnings on standard error')
    .addOption(
      new Option('-v, --verbose', 'files, bytes and time on standard error; -v -v: stack traces of errors')
        .default(0, '')
        .argParser((_: unknown, before: number) => before + 1),
    );
}

export function addReadingOptions(command: Command): Command {
  command.optionsGroup('Reading options:');
  return command
    .option('--rebase <old=new>', 'path prefix that the snapshot was written with, and where it is now (repeatable)', collect, [])
    .option('--uids <file>', 'uids of the job, one a line, after a tab an optional name: they label operators without one')
    .option('--guess-uids', 'look for uids that hash to the operator ids: those of Flink SQL, and short ones')
    .option('--plan <plan.json>', 'compiled plan of the job: names of SQL operators and columns (else plan.json beside the snapshot)')
    .option('--names <file>', 'names of operators and of the columns of their states, YAML or JSON')
    .option('--state-info <file>', 'file of `stateinfo build`: names and types of the job (else stateInfo beside the snapshot)')
    .option('--jar <file>', 'classes of the job, read as data and never run: names and types of Kryo fields (repeatable)', collect, [])
    .option('--proto <file>', '.proto file of messages that states hold; its imports are looked for around it (repeatable)', collect, [])
    .option(
      '--proto-type <[operator.]state=message>',
      'message that the byte[] values of a state are; Kryo values are known by their class (repeatable)',
      collect,
      [],
    )
    .option(
      '--ttl <[operator.]state=duration>',
      'time to live of a state, for ttl_expires_at and ttl_expired: 7d, 12h, PT30M (repeatable)',
      collect,
      [],
    )
    .option('--as-of <time>', 'moment that ttl_expired is about, otherwise now: 2026-01-31T12:00:00Z or milliseconds')
    .option('--skip-damaged', 'pass over what is damaged, give the rest, end with 5')
    .option('--no-verify', 'do not compute checksums');
}

export function addQueryOptions(command: Command): Command {
  command.optionsGroup('Query options:');
  return command
    .addOption(new Option('--engine <name>', 'SQL engine').choices(['duckdb', 'alasql']).default('duckdb'))
    .option('-p, --param <name=value>', 'value of $name in the statements (repeatable)', collect, [])
    .option('--threads <n>', 'threads that decode big states, otherwise one for each core, up to 4', count('--threads', 1))
    .option('--timeout <seconds>', 'stop a statement after so long', seconds)
    .option('--max-memory <size>', 'memory of the engine before it spills: 512MB, 2GB');
}
