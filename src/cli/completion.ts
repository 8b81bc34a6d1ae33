/**
 * Completion scripts for bash, zsh and fish, made from the commander tree: what the program takes is what is offered, options before
 * the command included.
 */
import type { Argument, Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.filter(c => c.name() !== 'help');
  return { bash, zsh, fish }[shell](program, commands);
}

/** Long and short names of an option. */
const flagsOf = (option: Option): string[] => [option.short, option.long].filter(f => f !== undefined && f !== null) as string[];
const takesValue = (option: Option): boolean => option.required || option.optional;
/** Options of a command and of its subcommands, each once. */
const optionsOf = (command: Command): readonly Option[] => {
  const all = [command, ...command.commands].flatMap(c => c.createHelp().visibleOptions(c));
  return all.filter((option, i) => all.findIndex(other => other.long === option.long) === i);
};
/** Those of the program itself, with the ones that its help leaves to the commands. */
const sharedOptions = (program: Command): readonly Option[] => [
  ...program.options,
  ...program
    .createHelp()
    .visibleOptions(program)
    .filter(o => o.long === '--help'),
];
/** What its first word may be, where that is known. */
const wordsOf = (command: Command): readonly string[] => [
  ...command.commands.filter(c => c.name() !== 'help').map(c => c.name()),
  ...command.registeredArguments.flatMap(argument => choicesOf(argument) ?? []),
];
const choicesOf = (of: Option | Argument): readonly string[] | undefined => of.argChoices;
/** Options whose next word is no command. */
const valueFlags = (program: Command): readonly string[] => program.options.filter(takesValue).flatMap(flagsOf);

function bash(program: Command, commands: readonly Command[]): string {
  const name = program.name();
  const names = commands.map(c => c.name());
  const offer = (words: readonly string[]): string => `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$cur"))`;
  // an empty answer leaves file names to the shell
  const values = (options: readonly Option[]): string =>
    options
      .filter(takesValue)
      .map(
        option =>
          `        ${flagsOf(option).join('|')}) ${choicesOf(option) === undefined ? '' : `${offer(choicesOf(option) ?? [])}; `}return ;;`,
      )
      .join('\n');
  const block = (pattern: string, options: readonly Option[], words: readonly string[], first: string): string => `    ${pattern})
      case $prev in
${values(options)}
      esac
      if [[ $cur == -* ]]; then
        ${offer(options.flatMap(flagsOf))}
${words.length > 0 ? `      elif ((${first})); then\n        ${offer(words)}\n` : ''}      fi
      ;;`;
  const cases = commands.map(command => block(command.name(), optionsOf(command), wordsOf(command), 'COMP_CWORD == at + 1'));
  return `# ${name} completion for bash: source <(${name} completion bash)
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= at=0 i
  # --output=csv is three words
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${valueFlags(program).join('|')}) if [[ \${COMP_WORDS[i+1]} == = ]]; then ((i += 2)); else ((i++)); fi ;;
      ${[...names, 'help'].join('|')}) command=\${COMP_WORDS[i]} at=$i; break ;;
    esac
  done
  COMPREPLY=()
  case $command in
${block("''", sharedOptions(program), names, '1')}
    help) ${offer(names)} ;;
${cases.join('\n')}
  esac
}
complete -o default -F _${name} ${name}
`;
}

function zsh(program: Command, commands: readonly Command[]): string {
  const name = program.name();
  const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const plain = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');
  const specs = (options: readonly Option[]): string[] =>
    options.map(option => {
      const flags = flagsOf(option);
      const repeat = option.description.includes('(repeatable)') || option.long === '--verbose' ? '*' : '';
      const choices = choicesOf(option);
      const value = takesValue(option) ? `:value:${choices === undefined ? '_files' : `(${choices.join(' ')})`}` : '';
      const rest = `[${plain(option.description)}]${value}`;
      if (flags.length === 1) return quote(`${repeat}${flags[0]}${rest}`);
      return `${repeat === '' ? quote(`(${flags.join(' ')})`) : quote('*')}{${flags.join(',')}}${quote(rest)}`;
    });
  const cases = commands.map(command => {
    const words = wordsOf(command);
    const all = [
      ...specs(optionsOf(command)),
      ...(words.length > 0 ? [quote(`1:argument:(${words.join(' ')})`)] : []),
      quote('*:argument:_files'),
    ];
    return `        ${command.name()})
          _arguments -s \\
            ${all.join(' \\\n            ')}
          ;;`;
  });
  return `#compdef ${name}
# ${name} completion for zsh: source <(${name} completion zsh)
_${name}() {
  local curcontext=$curcontext state line
  local -A opt_args
  local -a commands=(
    ${commands.map(c => quote(`${c.name()}:${plain(c.summary())}`)).join('\n    ')}
  )
  _arguments -C -s \\
    ${specs(sharedOptions(program)).join(' \\\n    ')} \\
    '1:command:->command' \\
    '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
        help) _arguments '1:command:(${commands.map(c => c.name()).join(' ')})' ;;
${cases.join('\n')}
      esac
      ;;
  esac
}
# as a file of $fpath it is the function's body, otherwise it is sourced
if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function fish(program: Command, commands: readonly Command[]): string {
  const name = program.name();
  const quote = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
  const names = commands.map(c => c.name());
  const lines = [
    `# ${name} completion for fish: ${name} completion fish | source`,
    `function __${name}_command --description 'the command on the line'`,
    '  set -l words (commandline -opc)',
    '  set -e words[1]',
    '  while set -q words[1]',
    '    switch $words[1]',
    `      case ${valueFlags(program).join(' ')}`,
    '        set -e words[1]',
    `      case ${[...names, 'help'].join(' ')}`,
    '        echo $words[1]',
    '        return 0',
    '    end',
    '    set -e words[1]',
    '  end',
    '  return 1',
    'end',
    `function __${name}_is --description 'whether it is this one'`,
    `  set -l command (__${name}_command); and test $command = $argv[1]`,
    'end',
  ];
  const complete = (when: string, options: readonly Option[]): void => {
    for (const option of options) {
      const flags = flagsOf(option).map(f => (f.startsWith('--') ? `-l ${f.slice(2)}` : `-s ${f.slice(1)}`));
      const choices = choicesOf(option);
      const value = !takesValue(option) ? '' : choices === undefined ? ' -r -F' : ` -x -a ${quote(choices.join(' '))}`;
      lines.push(`complete -c ${name} ${when} ${flags.join(' ')} -d ${quote(option.description)}${value}`);
    }
  };
  const none = `-n ${quote(`not __${name}_command >/dev/null`)}`;
  for (const command of commands) lines.push(`complete -c ${name} ${none} -f -a ${command.name()} -d ${quote(command.summary())}`);
  complete(none, sharedOptions(program));
  lines.push(`complete -c ${name} -n ${quote(`__${name}_is help`)} -f -a ${quote(names.join(' '))}`);
  for (const command of commands) {
    const seen = `-n ${quote(`__${name}_is ${command.name()}`)}`;
    const words = wordsOf(command);
    if (words.length > 0) lines.push(`complete -c ${name} ${seen} -f -a ${quote(words.join(' '))}`);
    complete(seen, optionsOf(command));
  }
  return `${lines.join('\n')}\n`;
}
