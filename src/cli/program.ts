/** The commander tree: every command with its arguments and options. Nothing heavy is loaded here; commands import what they need. */
import { Command } from 'commander';
import { checkCommand } from './commands/check.js';
import { completionCommand } from './commands/completion.js';
import { filesCommand } from './commands/files.js';
import { findCommand } from './commands/find.js';
import { inspectCommand } from './commands/inspect.js';
import { lsCommand } from './commands/ls.js';
import { metaCommand } from './commands/meta.js';
import { schemaCommand } from './commands/schema.js';
import { shellCommand } from './commands/shell.js';
import { sqlCommand } from './commands/sql.js';
import { stateinfoCommand } from './commands/stateinfo.js';
import { tablesCommand } from './commands/tables.js';
import { uidCommand } from './commands/uid.js';
import { verifyCommand } from './commands/verify.js';
import { addSharedOptions, takeOptionsBefore } from './options.js';

const EXIT_CODES = `
Exit codes: 0 right, 1 a bug in statequery, 2 usage, 3 not found, 4 input or output, 5 corrupt, 6 unsupported, 7 the SQL text,
10 differences found, 130 interrupted.

The options of a command may also stand before it, those of its own alone excepted: statequery -o csv sql "…" <snapshot>
<snapshot> is a directory with _metadata, that file, or a parent directory (its newest snapshot is taken).
Environment: STATEQUERY_SNAPSHOT (when no snapshot is named), STATEQUERY_OUTPUT (form of the result), NO_COLOR.`;

/** `printed` gets what commander would write to standard error. */
export function createProgram(version: string, printed: string[] = []): Command {
  const program: Command = new Command('statequery')
    .description('Query Apache Flink savepoints and checkpoints with SQL. Reads only; needs no Flink.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this text')
    .helpCommand('help [command]', 'print the text of a command')
    .addHelpText('after', EXIT_CODES)
    .configureHelp({ helpWidth: 110, showGlobalOptions: false })
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr: text => void printed.push(text) })
    .hook('preAction', (top, command) => takeOptionsBefore(top, command))
    // parsed before a snapshot is opened: the parser is loaded when it is needed, and opening waits for nothing
    .hook('preAction', async (_program, command) => {
      const { proto } = command.opts<{ proto?: readonly string[] }>();
      if (proto !== undefined && proto.length > 0) await (await import('./proto.js')).loadProto(proto);
    });
  for (const add of [
    metaCommand,
    sqlCommand,
    tablesCommand,
    schemaCommand,
    findCommand,
    lsCommand,
    filesCommand,
    verifyCommand,
    checkCommand,
    inspectCommand,
    uidCommand,
    stateinfoCommand,
    shellCommand,
    completionCommand,
  ])
    add(program);
  addSharedOptions(program);
  const inherit = (parent: Command): void => {
    for (const command of parent.commands) {
      command.copyInheritedSettings(parent);
      inherit(command);
    }
  };
  inherit(program);
  return program;
}
