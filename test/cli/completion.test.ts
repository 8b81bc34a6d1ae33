/** The completion scripts in the shells themselves, where they are installed: commands, options, values, options before the command. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BIN, ensureBuilt, statequery } from './run.js';
import { HAS_SCRIPT, Terminal } from './terminal.js';

let temp: string;
let path: string;
beforeAll(async () => {
  await ensureBuilt();
  temp = mkdtempSync(join(tmpdir(), 'statequery-completion-'));
  const command = join(temp, 'statequery');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(command, 0o755);
  path = `${temp}:${process.env['PATH']}`;
});
afterAll(() => rmSync(temp, { recursive: true, force: true }));

const has = (shell: string): boolean => {
  try {
    execFileSync(shell, ['-c', 'exit 0']);
    return true;
  } catch {
    return false;
  }
};

/** A line and what one Tab makes of it. */
const COMPLETED: readonly (readonly [line: string, completed: string])[] = [
  ['statequery me', 'statequery meta '],
  ['statequery --eng', 'statequery --engine '],
  ['statequery -o markd', 'statequery -o markdown '],
  ['statequery -o csv sche', 'statequery -o csv schema '],
  ['statequery -s tables find --no-h', 'statequery -s tables find --no-header '],
  ['statequery meta -o ndj', 'statequery meta -o ndjson '],
  ['statequery sql --engine al', 'statequery sql --engine alasql '],
  ['statequery ls --lat', 'statequery ls --latest '],
  ['statequery uid ha', 'statequery uid hash '],
  ['statequery completion z', 'statequery completion zsh '],
  ['statequery help ver', 'statequery help verify '],
];

it('is made for the shells that there are', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const ran = await statequery(['completion', shell]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    for (const word of ['meta', 'schema', 'latest', 'json-numbers', 'markdown', 'max-memory']) expect(ran.stdout).toContain(word);
  }
  expect(await statequery(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
});

describe('bash', () => {
  let script: string;
  beforeAll(async () => {
    script = (await statequery(['completion', 'bash'])).stdout;
  });
  const complete = (...words: string[]): string[] => {
    const call = `${script}\nCOMP_WORDS=(${words.map(w => `'${w}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _statequery; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', call], { encoding: 'utf8' }).trim().split(' ');
  };
  it('a valid script that completes commands, options and their values', () => {
    execFileSync('bash', ['-n'], { input: script });
    for (const [line, completed] of COMPLETED) expect(complete(...line.split(' ')), line).toEqual([completed.trim().split(' ').at(-1)]);
    expect(complete('statequery', 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(complete('statequery', 'meta', '--output', '=', 'm')).toEqual(['markdown']);
    expect(complete('statequery', 'meta', '--json-numbers', '=')).toEqual(['exact', 'string']);
    // file names are the shell's
    for (const words of [
      ['meta', '/'],
      ['sql', '-s', 'a', '=', '/'],
      ['meta', '--jar', ''],
      ['uid', 'match', '/'],
    ])
      expect(complete('statequery', ...words)).toEqual(['']);
  });
});

let terminal: Terminal | undefined;
afterEach(() => terminal?.close());

/** Types each line and a Tab at a prompt `> `. */
async function typed(shell: Terminal, lines: readonly (readonly [string, string])[]): Promise<void> {
  for (const [line, completed] of lines) {
    shell.type(line);
    await shell.until(new RegExp(`${line.replace(/[-.]/g, '\\$&')}$`));
    shell.type('\t');
    await shell.until(new RegExp(`${completed.slice(line.length).replace(/[-.]/g, '\\$&')}$`), 10_000);
    shell.type('\u0003');
    await shell.until(/> $/);
  }
}

describe.runIf(HAS_SCRIPT)('in a pseudo-terminal', () => {
  it('bash completes', async () => {
    terminal = new Terminal(['bash', '--norc', '--noprofile', '-i'], { PATH: path });
    await terminal.until(/[#$] $/);
    terminal.type("PS1='> '; source <(statequery completion bash); echo loaded\n");
    await terminal.until(/\nloaded\n> $/);
    await typed(terminal, COMPLETED);
    terminal.type('statequery meta -o \t\t');
    await terminal.until(/table +tsv|csv[\s\S]*tsv/);
  });
  it.runIf(has('zsh'))('zsh completes', async () => {
    terminal = new Terminal(['zsh', '-f', '-i'], { PATH: path, TERM: 'dumb' });
    await terminal.until(/[#%] $/);
    terminal.type(
      `PS1='> '; autoload -Uz compinit && compinit -u -d ${join(temp, 'zcompdump')}; source <(statequery completion zsh); echo loaded\n`,
    );
    await terminal.until(/\nloaded\n[\s\S]*> $/);
    await typed(terminal, COMPLETED);
  });
});

describe.runIf(has('fish'))('fish', () => {
  it('completes', async () => {
    const complete = (line: string): string[] =>
      execFileSync('fish', ['--no-config', '-c', `statequery completion fish | source; complete -C ${JSON.stringify(line)}`], {
        encoding: 'utf8',
        env: { ...process.env, PATH: path, HOME: temp },
      })
        .trim()
        .split('\n')
        .map(candidate => candidate.split('\t')[0]);
    for (const [line, completed] of COMPLETED) expect(complete(line), line).toEqual([completed.trim().split(' ').at(-1)]);
    expect(complete('statequery meta --output=nd')).toEqual(['--output=ndjson']);
  });
});
