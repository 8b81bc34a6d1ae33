/** A pseudo-terminal for a child, by util-linux's `script`: keys in, what is on the screen out. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

export const HAS_SCRIPT = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

export class Terminal {
  /** what came since the last match of `until` */
  screen = '';
  private readonly child: ChildProcess;

  constructor(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
    // exec: a shell in between would get the Ctrl-C too, and some end with its code
    this.child = spawn('script', ['-qefc', `exec ${command.map(quoted).join(' ')}`, '/dev/null'], {
      env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', COLUMNS: '120', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.screen += stripVTControlCharacters(chunk.toString('utf8')).replaceAll('\r', '');
    });
  }

  /** of `script` itself */
  get pid(): number {
    return this.child.pid ?? -1;
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  /** Waits until what came since the last call matches, and returns it. */
  async until(pattern: RegExp, ms = 30_000): Promise<string> {
    for (const end = Date.now() + ms; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 30))) {
      const found = pattern.exec(this.screen);
      if (found !== null) {
        const seen = this.screen;
        this.screen = this.screen.slice(found.index + found[0].length);
        return seen;
      }
    }
    throw new Error(`${pattern} did not come; on the screen: ${this.screen}`);
  }

  exit(): Promise<number | null> {
    return new Promise(resolve => this.child.on('close', resolve));
  }

  /** Ends `script`, which closes the terminal of what runs in it. */
  close(): void {
    this.child.kill('SIGKILL');
  }
}
