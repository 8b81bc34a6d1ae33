/** Completion scripts for bash, zsh and fish, made from the commander tree: what the program takes is what is offered. */
import type { Argument, Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.filter(c => c.name() !== 'help');
  return { bash, zsh, fish }[shell](program.name(), commands);
}

/** Long and short names of an option, the `--no-` form included. */
const flagsOf = (option: Option): string[] => [option.short, option.long].filter(f => f !== undefined && f !== null) as string[];
const takesValue = (option: Option): boolean => option.required || option.optional;
/** Options of a command and of its subcommands, each once. */
const optionsOf = (command: Command): readonly Option[] => {
  const all = [command, ...command.commands].flatMap(c => c.createHelp().visibleOptions(c));
  return all.filter((option, i) => all.findIndex(other => other.long === option.long) === i);
};
/** What its first word may be, where that is known. */
const wordsOf = (command: Command): readonly string[] => [
  ...command.commands.map(c => c.name()),
  ...command.registeredArguments.flatMap(argument => choicesOf(argument) ?? []),
];
const choicesOf = (of: Option | Argument): readonly string[] | undefined => of.argChoices;

function bash(name: string, commands: readonly Command[]): string {
  const names = commands.map(c => c.name());
  const offer = (words: readonly string[]): string => `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$cur"))`;
  const cases = commands.map(command => {
    const options = optionsOf(command);
    // an empty answer leaves file names to the shell
    const values = options
      .filter(takesValue)
      .map(
        option =>
          `        ${flagsOf(option).join('|')}) ${choicesOf(option) === undefined ? '' : `${offer(choicesOf(option) ?? [])}; `}return ;;`,
      );
    const words = wordsOf(command);
    return `    ${command.name()})
      case $prev in
${values.join('\n')}
      esac
      if [[ $cur == -* ]]; then
        ${offer(options.flatMap(flagsOf))}
${words.length > 0 ? `      else\n        ${offer(words)}\n` : ''}      fi
      ;;`;
  });
  return `# ${name} completion for bash: source <(${name} completion bash)
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${names.join('|')}) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  COMPREPLY=()
  case $command in
    '') ${offer([...names, '--help', '--version'])} ;;
${cases.join('\n')}
  esac
}
complete -o default -F _${name} ${name}
`;
}

function zsh(name: string, commands: readonly Command[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const plain = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');
  const cases = commands.map(command => {
    const options = optionsOf(command).map(option => {
      const flags = flagsOf(option);
      const repeat = option.description.includes('(repeatable)') || option.long === '--verbose' ? '*' : '';
      const choices = choicesOf(option);
      const value = takesValue(option) ? `:value:${choices === undefined ? '_files' : `(${choices.join(' ')})`}` : '';
      const rest = `[${plain(option.description)}]${value}`;
      if (flags.length === 1) return quote(`${repeat}${flags[0]}${rest}`);
      return `${repeat === '' ? quote(`(${flags.join(' ')})`) : quote('*')}{${flags.join(',')}}${quote(rest)}`;
    });
    const words = wordsOf(command);
    options.push(quote(`*:argument:${words.length > 0 ? `(${words.join(' ')})` : '_files'}`));
    return `    ${command.name()})
      _arguments -s \\
        ${options.join(' \\\n        ')}
      ;;`;
  });
  return `#compdef ${name}
# ${name} completion for zsh: source <(${name} completion zsh)
_${name}() {
  local -a commands=(
    ${commands.map(c => quote(`${c.name()}:${plain(c.summary())}`)).join('\n    ')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
compdef _${name} ${name}
`;
}

function fish(name: string, commands: readonly Command[]): string {
  const quote = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
  const lines = [`# ${name} completion for fish: ${name} completion fish | source`];
  for (const command of commands) {
    lines.push(`complete -c ${name} -n __fish_use_subcommand -f -a ${command.name()} -d ${quote(command.summary())}`);
    const seen = `-n ${quote(`__fish_seen_subcommand_from ${command.name()}`)}`;
    const words = wordsOf(command);
    if (words.length > 0) lines.push(`complete -c ${name} ${seen} -f -a ${quote(words.join(' '))}`);
    for (const option of optionsOf(command)) {
      const flags = flagsOf(option).map(f => (f.startsWith('--') ? `-l ${f.slice(2)}` : `-s ${f.slice(1)}`));
      const choices = choicesOf(option);
      const value = !takesValue(option) ? '' : choices === undefined ? ' -r -F' : ` -x -a ${quote(choices.join(' '))}`;
      lines.push(`complete -c ${name} ${seen} ${flags.join(' ')} -d ${quote(option.description)}${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
