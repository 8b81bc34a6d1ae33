/** The forms of output from outside: several results, an error in the middle of one, --max-rows on a terminal. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OUTPUT_FORMATS } from '../../src/output/format.js';
import { BIN, ensureBuilt, statequery, WORDCOUNT } from './run.js';
import { HAS_SCRIPT, Terminal } from './terminal.js';

beforeAll(ensureBuilt);

describe('several results', () => {
  const expected: Readonly<Record<string, string>> = {
    table:
      '+---+\n| a |\n+---+\n| 1 |\n+---+\n\n+---+\n| b |\n+---+\n+---+\n\n+---+-----+\n| c | c_1 |\n+---+-----+\n| 2 |   3 |\n+---+-----+\n',
    json: '[{"a":1}]\n[]\n[{"c":2,"c_1":3}]\n',
    ndjson: '{"a":1}\n{"c":2,"c_1":3}\n',
  };
  it.each(['table', 'box', 'json', 'ndjson', 'line', 'list', 'sql'] as const)('-o %s', async form => {
    const sql = 'SELECT 1 AS a; SELECT 1 AS b WHERE false; SELECT 2 AS c, 3 AS c';
    const ran = await statequery(['sql', sql, WORDCOUNT, '-o', form]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    if (expected[form] !== undefined) expect(ran.stdout).toBe(expected[form]);
    expect(ran.stdout).toContain('c_1');
  });
});

describe('an error in the middle', () => {
  // far enough for rows to be out by then
  const sql = "SELECT CAST(CASE WHEN range = 300000 THEN 'abc' ELSE '1' END AS INTEGER) AS n FROM range(400000)";
  it.each(OUTPUT_FORMATS)('-o %s ends where it is, with 7 and the error', async form => {
    const one = ['csv', 'tsv', 'markdown'].includes(form);
    const ran = await statequery(['sql', one ? sql : `${sql}; SELECT 'not run' AS later`, WORDCOUNT, '-o', form]);
    expect(ran.code).toBe(7);
    expect(ran.stderr).toContain("'abc'");
    expect(ran.stdout.split('\n').length).toBeGreaterThan(1000);
    expect(ran.stdout).not.toContain('not run');
    // nothing that looks like a whole result
    if (form === 'json') expect(() => JSON.parse(ran.stdout) as unknown).toThrow();
    if (form === 'table' || form === 'box') expect(ran.stdout.trimEnd().split('\n').at(-1)).toMatch(/^[|│]/);
    if (form === 'ndjson') for (const line of ran.stdout.trimEnd().split('\n').slice(-3)) expect(JSON.parse(line)).toEqual({ n: 1 });
  });
});

let terminal: Terminal | undefined;
afterEach(() => terminal?.close());

describe.runIf(HAS_SCRIPT)('--max-rows', () => {
  it('on a terminal shows so many and says how many it does not; in a pipe it shows all', async () => {
    const args = ['sql', 'SELECT range AS n FROM range(5000)', WORDCOUNT, '--max-rows', '2'];
    terminal = new Terminal([process.execPath, BIN, ...args]);
    const shown = await terminal.until(/not shown[^\n]*\n/);
    expect(shown.match(/^\| +\d+ \|$/gm)).toEqual(['| 0 |', '| 1 |']);
    expect(shown).toContain('note: 4998 more rows not shown (--max-rows 2)');
    const piped = await statequery([...args, '--csv']);
    expect(piped).toMatchObject({ code: 0, stderr: '' });
    expect(piped.stdout.split('\n')).toHaveLength(5002);
  });
});
