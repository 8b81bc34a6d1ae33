/** `statequery completion bash|zsh|fish` */
import { Argument, type Command } from 'commander';
import { addOutputOptions, type OutputFlags } from '../options.js';
import { Session } from '../session.js';

export function completionCommand(program: Command): void {
  const command = program
    .command('completion')
    .summary('a completion script for your shell')
    .description('Prints a script that completes commands, options and their values: source <(statequery completion bash)')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish', flags: OutputFlags) => {
      const { completionScript } = await import('../completion.js');
      await new Session(flags).print(completionScript(program, shell));
    });
  addOutputOptions(command);
}
