/** The shell's own commands: a line that begins with a dot. */
import { readFileSync } from 'node:fs';
import { NotFoundError, UsageError } from '../../errors.js';
import { fileError } from '../../io/source.js';
import { OUTPUT_FORMATS } from '../../output/format.js';
import { nearest } from '../../sql/suggest.js';
import { schemaResult, tablesResult } from '../listings.js';
import { parseSnapshotOption } from '../run-sql.js';
import type { ShellState } from './state.js';

export interface DotCommand {
  readonly usage: string;
  readonly help: string;
  /** `exit` ends the shell */
  run(argument: string, state: ShellState, runText: (text: string) => Promise<void>): Promise<'exit' | undefined>;
}

export const DOT_COMMANDS: Readonly<Record<string, DotCommand>> = {
  '.tables': {
    usage: '.tables [--all]',
    help: 'the tables; --all: also those of each operator and state',
    async run(argument, state) {
      await eachCatalog(state, async (catalog, prefix) => {
        await writeAs(state, tablesResult(catalog, /^(-a|--all|all)$/.test(argument), prefix));
      });
      return undefined;
    },
  },
  '.schema': {
    usage: '.schema [table]',
    help: 'columns and types',
    async run(argument, state) {
      const dot = argument.indexOf('.');
      const alias = dot > 0 && state.snapshots.has(argument.slice(0, dot)) ? argument.slice(0, dot) : undefined;
      await eachCatalog(
        state,
        async (catalog, prefix) => {
          await writeAs(
            state,
            schemaResult(catalog, argument === '' ? undefined : alias === undefined ? argument : argument.slice(dot + 1), prefix),
          );
        },
        alias,
      );
      return undefined;
    },
  },
  '.open': {
    usage: '.open [alias=]path',
    help: 'opens a snapshot: beside the others under a name, otherwise instead of them',
    async run(argument, state) {
      if (argument === '') throw new UsageError('.open needs a path', { hint: '.open [alias=]path' });
      const { alias, path } = parseSnapshotOption(argument);
      await state.open(alias, path);
      return undefined;
    },
  },
  '.mode': {
    usage: '.mode [form]',
    help: `form of results: ${OUTPUT_FORMATS.join(', ')}`,
    async run(argument, state) {
      const form = OUTPUT_FORMATS.find(f => f === argument);
      if (argument === '') state.session.tell(`mode ${state.mode}`);
      else if (form === undefined) throw new UsageError(`no form ${argument}`, { hint: `one of ${OUTPUT_FORMATS.join(', ')}` });
      else state.mode = form;
      return undefined;
    },
  },
  '.timer': {
    usage: '.timer on|off',
    help: 'time of each statement',
    async run(argument, state) {
      if (argument !== 'on' && argument !== 'off') throw new UsageError('.timer takes on or off');
      state.timer = argument === 'on';
      return undefined;
    },
  },
  '.read': {
    usage: '.read file',
    help: 'runs the statements of a file',
    async run(argument, _state, runText) {
      if (argument === '') throw new UsageError('.read needs a file');
      let text: string;
      try {
        text = readFileSync(argument, 'utf8');
      } catch (error) {
        throw fileError(error, argument);
      }
      await runText(text);
      return undefined;
    },
  },
  '.help': {
    usage: '.help',
    help: 'this list',
    async run(_argument, state) {
      const width = Math.max(...Object.values(DOT_COMMANDS).map(c => c.usage.length)) + 2;
      await state.session.print(
        `${Object.values(DOT_COMMANDS)
          .map(c => `${c.usage.padEnd(width)}${c.help}`)
          .join('\n')}\nA statement ends with a semicolon. Ctrl-C stops a statement or drops a line, Ctrl-D leaves.\n`,
      );
      return undefined;
    },
  },
  '.exit': {
    usage: '.exit',
    help: 'leaves (so do .quit and Ctrl-D)',
    run: async () => 'exit',
  },
};

/** Runs a dot line. @throws UsageError for what is none */
export async function runDot(line: string, state: ShellState, runText: (text: string) => Promise<void>): Promise<'exit' | undefined> {
  const [, word, rest] = /^(\S+)\s*(.*?);?\s*$/s.exec(line) ?? ['', line, ''];
  const name = word === '.quit' ? '.exit' : word;
  const command = Object.hasOwn(DOT_COMMANDS, name) ? DOT_COMMANDS[name] : undefined;
  if (command !== undefined) return command.run(rest.replace(/^(['"])(.*)\1$/s, '$2'), state, runText);
  const near = nearest(name, Object.keys(DOT_COMMANDS));
  throw new UsageError(`no command ${name}`, { hint: near === undefined ? '.help lists them' : `did you mean ${near}?` });
}

async function eachCatalog(
  state: ShellState,
  use: (catalog: import('../../tables/table.js').Catalog, prefix: string) => Promise<void>,
  only?: string,
): Promise<void> {
  if (state.snapshots.size === 0) throw new NotFoundError('no snapshot is open', { hint: '.open path' });
  for (const [alias, snapshot] of state.snapshots)
    if (only === undefined || alias === only) await use(snapshot.catalog, state.snapshots.size > 1 ? `${alias}.` : '');
}

async function writeAs(state: ShellState, result: import('../../output/format.js').ResultRows): Promise<void> {
  const { resultWriter } = await import('../../output/format.js');
  await resultWriter(state.session.outputOptions(state.mode), state.session.sink).write(result);
}
