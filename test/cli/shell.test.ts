/** The shell: in a pseudo-terminal, as a person uses it, and with standard input from a pipe. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BIN, ensureBuilt, ROOT, statequery, WORDCOUNT } from './run.js';
import { HAS_SCRIPT, Terminal } from './terminal.js';

const OLDER = join(ROOT, 'fixtures/snapshots/1.20-wordcount-rocksdb-canonical/snapshot');

let temp: string;
beforeAll(async () => {
  temp = mkdtempSync(join(tmpdir(), 'statequery-shell-'));
  await ensureBuilt();
});
afterAll(() => {
  rmSync(temp, { recursive: true, force: true });
});

describe('with standard input from a pipe', () => {
  const shell = (input: string, ...args: string[]) =>
    statequery(['shell', ...args], { input, env: { STATEQUERY_HISTORY: join(temp, 'none') } });
  it('runs statements over several lines, dot commands, and what has no semicolon at the end', async () => {
    const ran = await shell(
      "SELECT value\nFROM keyed_state -- the one\nWHERE key = 'key_662';\n.mode csv\nSELECT ';' AS a; SELECT 2 AS b\n;\n",
      WORDCOUNT,
    );
    expect(ran).toEqual({ code: 0, stdout: '+-------+\n| value |\n+-------+\n| 11290 |\n+-------+\na\n;\nb\n2\n', stderr: '' });
    expect(await shell('.mode csv\nSELECT 7 AS a', WORDCOUNT)).toEqual({ code: 0, stdout: 'a\n7\n', stderr: '' });
    expect(existsSync(join(temp, 'none'))).toBe(false);
  });
  it('the first error ends it with its code', async () => {
    expect(await shell('SELECT nope;\nSELECT 1;\n', WORDCOUNT)).toMatchObject({ code: 7, stdout: '' });
    expect(await shell('.tabels\n', WORDCOUNT)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: no command .tabels\nhint: did you mean .tables?\n',
    });
  });
  it('.open, .read, .schema, .tables, .help, .exit', async () => {
    const file = join(temp, 'read.sql');
    writeFileSync(file, "SELECT value FROM keyed_state WHERE key = 'key_1';");
    const ran = await shell(
      `.mode list\n.open ${WORDCOUNT}\n.read ${file}\n.schema operators\n.open old=${OLDER}\nSELECT count(*) AS n FROM old.keyed_state;\n.exit\nSELECT 1;\n`,
    );
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^value\n12920\ntable\|column\|type\|mixed\|description\noperators\|operator_id\|VARCHAR\|false\|/);
    expect(ran.stdout).toMatch(/n\n1000\n$/);
    const tables = await shell('.mode csv\n.tables\n.quit\n', '-s', `a=${WORDCOUNT}`, '-s', `b=${OLDER}`);
    expect(tables.stdout).toContain('\na.keyed_state,');
    expect(tables.stdout).toContain('\nb.keyed_state,');
    expect((await shell('.help\n')).stdout).toMatch(/^\.tables \[--all\] +the tables/);
    expect(await shell('.tables\n')).toMatchObject({ code: 3, stderr: 'error: no snapshot is open\nhint: .open path\n' });
    expect(await shell('SELECT 1 AS a;')).toMatchObject({ code: 0, stdout: '+---+\n| a |\n+---+\n| 1 |\n+---+\n' });
  });
});

describe.runIf(HAS_SCRIPT)('in a pseudo-terminal', () => {
  let terminal: Terminal;
  let history: string;
  afterEach(() => terminal.close());

  const start = (...args: string[]): void => {
    history = join(temp, `history-${Math.random().toString(36).slice(2)}`);
    open(history, ...args);
  };
  const open = (file: string, ...args: string[]): void => {
    terminal = new Terminal([process.execPath, BIN, ...args], { STATEQUERY_HISTORY: file });
  };
  const type = (text: string): void => terminal.type(text);
  const until = (pattern: RegExp): Promise<string> => terminal.until(pattern);
  const exit = (): Promise<number | null> => terminal.exit();

  it('a bare statequery is the shell: prompt, statements over lines, errors that do not end it, Ctrl-D', async () => {
    start();
    await until(/statequery> $/);
    type('SELECT 6 AS a,\n');
    await until(/\.\.\.> $/);
    type('7 AS b;\n');
    expect(await until(/\| 6 \| 7 \|\n\+---\+---\+\n[\s\S]*statequery> $/)).toContain('| a | b |');
    type('SELECT nope;\n');
    await until(/error: line 1, column 8: there is no column "nope"[\s\S]*statequery> $/);
    type('\u0004');
    expect(await exit()).toBe(0);
    expect(readFileSync(history, 'utf8')).toBe('SELECT 6 AS a, 7 AS b;\nSELECT nope;\n');
  });

  it('completes tables, columns, functions, states and dot commands', async () => {
    start('shell', WORDCOUNT);
    await until(/statequery> $/);
    type('SELECT * FROM keyed_sta');
    await until(/keyed_sta$/);
    type('\t');
    await until(/keyed_state$|te$/);
    type('\t\t');
    await until(/keyed_state\s+keyed_state_raw/);
    type(" WHERE state_name = 'cou");
    await until(/'cou$/);
    type('\t');
    await until(/nt$/);
    type("' AND ttl_la");
    await until(/ttl_la$/);
    type('\t');
    await until(/st_access$/);
    type(' IS NULL AND regexp_extract_a');
    await until(/extract_a$/);
    type('\t');
    await until(/ll\($/);
    type('\u0003');
    await until(/statequery> $/);
    type('.sch');
    await until(/\.sch$/);
    type('\t');
    await until(/ema$/);
    type('\u0003');
    await until(/statequery> $/);
    type('.exit\n');
    expect(await exit()).toBe(0);
  });

  it('Ctrl-C drops a line, and stops a statement; the shell goes on', async () => {
    start('shell', WORDCOUNT);
    await until(/statequery> $/);
    type('SELECT garbage');
    await until(/garbage$/);
    type('\u0003');
    await until(/statequery> $/);
    type('SELECT 41 + 1 AS answer;\n');
    await until(/\| +42 \|[\s\S]*statequery> $/);
    type('SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b;\n');
    await until(/range\(10000000\) b;\n/);
    await new Promise(resolve => setTimeout(resolve, 1000));
    type('\u0003');
    await until(/error: interrupted[\s\S]*statequery> $/);
    type("SELECT value FROM keyed_state WHERE key = 'key_662';\n");
    await until(/\| 11290 \|[\s\S]*statequery> $/);
    type('.exit\n');
    expect(await exit()).toBe(0);
  });

  it('has its dot commands', async () => {
    const file = join(temp, 'two.sql');
    writeFileSync(file, 'SELECT 20 + 1 AS a;\nSELECT 20 + 2 AS b;\n');
    start('shell', WORDCOUNT);
    await until(/statequery> $/);
    const steps: readonly (readonly [line: string, answer: RegExp])[] = [
      ['.help', /\.tables \[--all\][\s\S]*Ctrl-C stops a statement/],
      ['.tables', /\| keyed_state +\|/],
      ['.schema operators', /\| operators \| finished_subtasks/],
      ['.mode csv', /\n/],
      ['.mode', /\nmode csv\n/],
      ["SELECT value FROM keyed_state WHERE key = 'key_662';", /\nvalue\n11290\n/],
      [`.read ${file}`, /\na\n21\n[\s\S]*b\n22\n/],
      ['.timer on', /\n/],
      ['SELECT 7 AS seven;', /\nseven\n7\n[\d.]+ ms\n/],
      ['.timer off', /\n/],
      [`.open old=${OLDER}`, /\n/],
      ['SELECT count(*) AS n FROM old.keyed_state;', /\nn\n1000\n/],
      ['SELECT count(*) AS n FROM keyed_state;', /error: .*several snapshots/],
      [`.open ${OLDER}`, /\n/],
      ['SELECT count(*) AS m FROM keyed_state;', /\nm\n1000\n/],
      ['.open /nowhere', /error: no such snapshot/],
      ['.shcema', /error: no command \.shcema\nhint: did you mean \.schema\?/],
      ['.mode xml', /error: no form xml/],
      ['.timer maybe', /error: \.timer takes on or off/],
      ['.read /nowhere.sql', /error: no such file/],
    ];
    for (const [line, answer] of steps) {
      type(`${line}\n`);
      expect(await until(/statequery> $/), line).toMatch(answer);
    }
    type('.exit\n');
    expect(await exit()).toBe(0);
  });

  it('a statement of several lines is one entry of the history, which can be edited', async () => {
    start('shell', WORDCOUNT);
    await until(/statequery> $/);
    type('SELECT 40 + -- and\n');
    await until(/\.\.\.> $/);
    type('2 AS answer\n');
    await until(/\.\.\.> $/);
    type(';\n');
    await until(/\| +42 \|[\s\S]*statequery> $/);
    type('\u001b[A');
    await until(/SELECT 40 \+ 2 AS answer ;$/);
    type('\u007f, 43 AS more;\n');
    await until(/\| +42 \| +43 \|[\s\S]*statequery> $/);
    expect(readFileSync(history, 'utf8')).toBe('SELECT 40 + 2 AS answer ;\nSELECT 40 + 2 AS answer , 43 AS more;\n');
    type('\u0003\u0004');
    expect(await exit()).toBe(0);
  });

  describe('when the terminal is closed', () => {
    /** The process in the terminal of `script`. */
    const inner = (): number =>
      Number(
        execFileSync('ps', ['-o', 'pid=', '--ppid', String(terminal.pid)], { encoding: 'utf8' })
          .trim()
          .split('\n')[0],
      );
    const runs = (pid: number): boolean => {
      try {
        process.kill(pid, 0);
        return !/^Z/.test(execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim());
      } catch {
        return false;
      }
    };
    const goneWithin = async (pid: number, ms: number): Promise<boolean> => {
      for (const end = Date.now() + ms; Date.now() < end; await new Promise(resolve => setTimeout(resolve, 20)))
        if (!runs(pid)) return true;
      return false;
    };
    it.each([
      ['at the prompt', '', /^/],
      ['in the middle of a line', "SELECT 'gar", /gar$/],
      ['while a statement runs', 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b;\n', /b;\n$/],
      ['while a scan runs', 'SELECT count(a.key || b.key || c.key) FROM keyed_state a, keyed_state b, keyed_state c;\n', /c;\n$/],
    ])('the process ends: %s', async (_, text, shown) => {
      start('shell', WORDCOUNT);
      await until(/statequery> $/);
      type(text);
      await until(shown);
      await new Promise(resolve => setTimeout(resolve, 300));
      const pid = inner();
      expect(runs(pid)).toBe(true);
      terminal.close();
      expect(await goneWithin(pid, 1000)).toBe(true);
    });
  });

  it('keeps its history between sessions', async () => {
    start('shell', WORDCOUNT);
    const kept = history;
    await until(/statequery> $/);
    type('SELECT 41 + 1 AS answer;\n');
    await until(/\| +42 \|[\s\S]*statequery> $/);
    type('.exit\n');
    await exit();
    writeFileSync(`${kept}.2`, readFileSync(kept));
    open(`${kept}.2`, 'shell', WORDCOUNT);
    await until(/statequery> $/);
    type('\u001b[A\u001b[A');
    await until(/SELECT 41 \+ 1 AS answer;$/);
    type('\n');
    await until(/\| +42 \|[\s\S]*statequery> $/);
    type('\u0004');
    expect(await exit()).toBe(0);
  });
});
