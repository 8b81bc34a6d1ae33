/**
 * The interactive shell: lines from node:readline, statements that may take several lines and end with a semicolon, dot commands.
 * Without a terminal on standard input it runs what comes, and the first error ends it.
 */
import { appendFileSync, chmodSync, existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { OutputClosed } from '../../output/sink.js';
import { isComplete, withoutComments } from '../../sql/text.js';
import { report } from '../report.js';
import type { Session } from '../session.js';
import { completions } from './complete.js';
import { runDot } from './dot.js';
import type { ShellState } from './state.js';

const PROMPT = 'statequery> ';
const MORE = '        ...> ';
const HISTORY_LINES = 1000;

/** Reads and runs until the input ends or `.exit`. @throws the first error when the input is no terminal */
export async function runShell(state: ShellState): Promise<void> {
  const { session } = state;
  const { stdin, stdout } = session.streams;
  const interactive = stdin.isTTY === true && session.terminal;
  let buffer = '';
  const readline = createInterface({
    input: stdin,
    ...(interactive ? { output: stdout, terminal: true } : { terminal: false }),
    history: interactive ? readHistory() : [],
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
    completer: (line: string) => completions(line, buffer, state.snapshots),
  });
  if (interactive) session.tell('.help for help; a statement ends with a semicolon');
  const lines = lineQueue(readline, () => {
    // Ctrl-C at the prompt: drop what was typed
    buffer = '';
    stdout.write('\n');
    readline.write(null, { ctrl: true, name: 'e' });
    readline.write(null, { ctrl: true, name: 'u' });
    prompt();
  });
  const prompt = (): void => {
    if (!interactive) return;
    readline.setPrompt(session.paint.bold(buffer === '' ? PROMPT : MORE));
    readline.prompt();
  };
  const runText = async (text: string): Promise<void> => {
    await state.run(text);
  };
  const run = async (text: string): Promise<boolean> => {
    if (interactive) stdin.setRawMode?.(false);
    try {
      if (text.trimStart().startsWith('.')) return (await runDot(text.trim(), state, runText)) === 'exit';
      await runText(text);
      return false;
    } catch (error) {
      if (!interactive || error instanceof OutputClosed) throw error;
      showError(error, session);
      return false;
    } finally {
      if (interactive) stdin.setRawMode?.(true);
    }
  };
  try {
    prompt();
    for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
      const dot = buffer === '' && line.trimStart().startsWith('.');
      buffer = buffer === '' ? line : `${buffer}\n${line}`;
      if (buffer.trim() === '') buffer = '';
      else if (dot || isComplete(buffer)) {
        const text = buffer;
        buffer = '';
        if (interactive) keepHistory(text, readline);
        if (/\S/.test(text) && (await run(text))) return;
      }
      prompt();
    }
    if (buffer.trim() !== '' && !interactive) await run(buffer);
    if (interactive) stdout.write('\n');
  } finally {
    readline.close();
  }
}

function showError(error: unknown, session: Session): void {
  const { text } = report(error, { json: false, paint: session.errorPaint, stack: session.flags.verbose >= 2 });
  session.streams.stderr.write(text);
}

/** Lines one at a time; those that arrive while a statement runs wait. */
function lineQueue(readline: Interface, interrupted: () => void): { next(): Promise<string | undefined> } {
  const waiting: string[] = [];
  let ended = false;
  let wake: (() => void) | undefined;
  readline.on('line', line => {
    waiting.push(line);
    wake?.();
  });
  readline.on('close', () => {
    ended = true;
    wake?.();
  });
  readline.on('SIGINT', interrupted);
  return {
    async next() {
      while (waiting.length === 0 && !ended) await new Promise<void>(resolve => (wake = resolve));
      return waiting.shift();
    },
  };
}

const historyFile = (): string => process.env['STATEQUERY_HISTORY'] ?? join(homedir(), '.statequery_history');

/** The newest first, as node:readline keeps them. */
function readHistory(): string[] {
  try {
    if (!existsSync(historyFile())) return [];
    return readFileSync(historyFile(), 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .slice(-HISTORY_LINES)
      .reverse();
  } catch {
    return [];
  }
}

/** node:readline's own list, the newest first; its type does not tell of it. */
type WithHistory = Interface & { history?: string[] };

/**
 * A statement is one line of history, however many it took; comments end with their lines, so they are left out of it.
 * Where the file cannot be written it is kept for this session alone.
 */
function keepHistory(text: string, readline: WithHistory): void {
  const lines = text.split('\n');
  const line = (lines.length > 1 ? withoutComments(text) : text).replace(/\s*\n\s*/g, ' ').trim();
  const { history } = readline;
  if (history !== undefined && lines.length > 1) {
    const typed = new Set(lines);
    const before = history.findIndex(entry => !typed.has(entry));
    history.splice(0, before < 0 ? history.length : Math.min(before, lines.length), line);
  }
  try {
    const isNew = !existsSync(historyFile());
    appendFileSync(historyFile(), `${line}\n`);
    if (isNew) chmodSync(historyFile(), 0o600);
  } catch {
    // a home that is read-only
  }
}
