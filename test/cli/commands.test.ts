/** The command line from outside: what is printed where, and the exit code. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BIN, ROOT, statequery, WORDCOUNT } from './run.js';

let temp: string;
beforeAll(() => {
  temp = mkdtempSync(join(tmpdir(), 'statequery-cli-'));
});
afterAll(() => {
  rmSync(temp, { recursive: true, force: true });
});

describe('--version and --help', () => {
  it('print to standard output and end with 0', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const args of [['--version'], ['-V']]) expect(await statequery(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const help = await statequery(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['meta', 'tables', 'schema', 'ls', 'completion']) expect(help.stdout).toContain(`\n  ${command} `);
    expect(help.stdout).toContain('STATEQUERY_SNAPSHOT');
    const of = await statequery(['meta', '--help']);
    expect(of).toMatchObject({ code: 0, stderr: '' });
    for (const group of ['Reading options:', 'Output options:']) expect(of.stdout).toContain(group);
  });
  it('work through a link, as an installed command is one', () => {
    const link = join(temp, 'statequery');
    symlinkSync(BIN, link);
    expect(execFileSync(link, ['--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('usage errors', () => {
  const cases: readonly (readonly [readonly string[], string, string?])[] = [
    [['meta', '--bogus'], "error: unknown option '--bogus'\nhint: statequery --help, or --help after a command\n"],
    [['meta', '--jsn'], "error: unknown option '--jsn'\nhint: did you mean --json?\n"],
    [['mta'], "error: unknown command 'mta'\nhint: did you mean meta?\n"],
    [
      ['meta', '-o', 'xml'],
      "error: option '-o, --output <form>' argument 'xml' is invalid. Allowed choices are table, box, json, ndjson, csv, tsv, markdown, line, list, sql.\nhint: statequery --help, or --help after a command\n",
    ],
    [['meta', WORDCOUNT, '--json', '--csv'], 'json'],
    [
      ['meta', WORDCOUNT, '--csv', '-o', 'table'],
      'error: two forms of output are asked for: table and csv\nhint: give one of -o, --json, --csv\n',
    ],
    [['meta'], 'error: no snapshot is named\nhint: give the directory of a savepoint or checkpoint, or set STATEQUERY_SNAPSHOT\n'],
    [['ls'], "error: missing required argument 'dir'\nhint: statequery --help, or --help after a command\n"],
    [
      ['meta', WORDCOUNT, 'more'],
      "error: too many arguments for 'meta'. Expected 1 argument but got 2.\nhint: statequery --help, or --help after a command\n",
    ],
    [['meta', WORDCOUNT, '--ttl', 'x'], 'error: --ttl x: expected state=duration\nhint: --ttl lastSeen=7d\n'],
    [['meta', WORDCOUNT, '--ttl', 'x=soon'], 'error: not a duration: soon\nhint: such as 7d, 12h, 30min, 45s, 500ms, PT30M\n'],
    [['meta', WORDCOUNT, '--as-of', 'then'], 'error: not a time: then\nhint: such as 2026-01-31T12:00:00Z or milliseconds since 1970\n'],
    [
      ['meta', WORDCOUNT, '--max-rows', '-1'],
      "error: option '--max-rows <n>' argument '-1' is invalid. --max-rows is a whole number from 0 on.\nhint: statequery --help, or --help after a command\n",
    ],
  ];
  for (const [args, stderr] of cases)
    it(args.map(a => (a === WORDCOUNT ? '<snapshot>' : a)).join(' '), async () => {
      const ran = await statequery(args);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      if (stderr === 'json')
        expect(JSON.parse(ran.stderr)).toEqual({
          error: {
            code: 'USAGE',
            message: 'two forms of output are asked for: json and csv',
            hint: 'give one of -o, --json, --csv',
            file: null,
            offset: null,
          },
        });
      else expect(ran.stderr).toBe(stderr);
    });
  it('no command at all: the help, on standard error', async () => {
    const ran = await statequery([]);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('Usage: statequery');
  });
  it('a wrong STATEQUERY_OUTPUT', async () => {
    const ran = await statequery(['tables', WORDCOUNT], { env: { STATEQUERY_OUTPUT: 'xml' } });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('error: STATEQUERY_OUTPUT is xml\nhint: one of table, box, json');
  });
});

describe('options before the command', () => {
  const one = ['sql', 'SELECT 1 AS a', WORDCOUNT];
  const cases: readonly (readonly [args: readonly string[], stdout: string])[] = [
    [['-o', 'csv', ...one], 'a\n1\n'],
    [['--json', ...one], '[{"a":1}]\n'],
    [['--csv', '--no-header', ...one], '1\n'],
    [['--output=list', ...one, '-o', 'tsv'], 'a\n1\n'],
    [['--null', '-', 'sql', 'SELECT NULL AS a', WORDCOUNT, '--csv'], 'a\n-\n'],
    [['-s', `x=${WORDCOUNT}`, 'sql', 'SELECT count(*) AS n FROM x.operators, y.operators', '-s', `y=${WORDCOUNT}`, '--csv'], 'n\n9\n'],
    [
      ['--engine', 'alasql', '-p', 'k=key_662', 'sql', 'SELECT value FROM keyed_state WHERE key = $k', WORDCOUNT, '--csv'],
      'value\n11290\n',
    ],
    [['--csv', 'uid', 'hash', 'words'], 'uid,operator_id\nwords,e26755e342920e3b2790c00553617b42\n'],
  ];
  it.each(cases)('%j', async (args, stdout) => {
    expect(await statequery(args)).toEqual({ code: 0, stdout, stderr: '' });
  });
  it('count as those behind it: -v and -q, errors in JSON', async () => {
    expect((await statequery(['-v', ...one])).stderr).toMatch(/^0? ?.*\d+ ms\n$/);
    expect(await statequery(['-q', '-v', ...one])).toMatchObject({ code: 0, stderr: '' });
    const failed = await statequery(['--json', 'meta', join(temp, 'nowhere')]);
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(await statequery(['--json', '--csv', ...one])).toMatchObject({ code: 2, stdout: '' });
  });
  it('of another command are refused, and whose they are is said', async () => {
    const refused = async (...args: string[]) => {
      const ran = await statequery(args);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      return ran.stderr;
    };
    expect(await refused('--engine', 'duckdb', 'ls', temp)).toBe(
      'error: ls has no option --engine\nhint: statequery ls --help lists them\n',
    );
    expect(await refused('--ttl', 'a=1h', 'uid', 'hash', 'a')).toBe(
      'error: uid hash has no option --ttl\nhint: statequery uid hash --help lists them\n',
    );
    expect(await refused('-f', 'x.sql', 'sql', WORDCOUNT)).toBe(
      "error: unknown option '-f'\nhint: it is an option of sql, behind the command: statequery sql -f …\n",
    );
    expect(await refused('meta', WORDCOUNT, '--engine', 'duckdb')).toBe(
      "error: unknown option '--engine'\nhint: it is an option of sql, find, shell, behind the command: statequery sql --engine …\n",
    );
    expect(await refused('-o', 'xml', ...one)).toContain("argument 'xml' is invalid");
    expect(await refused('-o', 'csv')).toContain('Usage: statequery');
  });
});

describe('what is not there', () => {
  it('ends with 3, as text or as JSON', async () => {
    const ran = await statequery(['meta', join(temp, 'nowhere')]);
    expect(ran).toMatchObject({ code: 3, stdout: '' });
    expect(ran.stderr).toMatch(/^error: no such snapshot \(.*nowhere\)\nhint: .* has no nowhere\n$/);
    const json = await statequery(['meta', join(temp, 'nowhere'), '--json']);
    expect(json).toMatchObject({ code: 3, stdout: '' });
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'NOT_FOUND', file: join(temp, 'nowhere'), offset: null } });
  });
  it('a table: with the nearest name', async () => {
    expect(await statequery(['schema', WORDCOUNT, 'keyed_stat'])).toEqual({
      code: 3,
      stdout: '',
      stderr: 'error: no table keyed_stat\nhint: did you mean keyed_state?\n',
    });
  });
  it('a damaged _metadata ends with 5 and says where', async () => {
    const dir = join(temp, 'damaged');
    mkdirSync(dir);
    writeFileSync(join(dir, '_metadata'), readFileSync(join(WORDCOUNT, '_metadata')).subarray(0, 200));
    const ran = await statequery(['meta', dir, '--json']);
    expect(ran).toMatchObject({ code: 5, stdout: '' });
    const { error } = JSON.parse(ran.stderr) as { error: { code: string; file: string; offset: number } };
    expect(error).toMatchObject({ code: 'CORRUPT', file: join(dir, '_metadata') });
    expect(error.offset).toBeLessThanOrEqual(200);
  });
});

describe('meta', () => {
  it('fits 100 columns and names operators and states', async () => {
    const ran = await statequery(['meta', WORDCOUNT]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const lines = ran.stdout.split('\n');
    expect(lines.filter(line => line.length > 100)).toEqual([]);
    expect(lines[0]).toMatch(/^savepoint {2}canonical, checkpoint \d+, /);
    expect(ran.stdout).toContain('word-count, "count words", fdae8dad403fd2441defe2c3680362f5, parallelism 2 of 128, key VARCHAR\n');
    expect(ran.stdout).toMatch(/^ {2}count +keyed +VALUE +BIGINT$/m);
  });
  it('--json has the same facts', async () => {
    const ran = await statequery(['meta', WORDCOUNT, '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const meta = JSON.parse(ran.stdout) as {
      snapshot: Record<string, unknown>;
      operators: {
        operator_uid: string;
        parallelism: number;
        states: { state_name: string | null; key_type: string; value_type: string }[];
      }[];
      master_states: unknown[];
    };
    expect(meta.snapshot).toMatchObject({ path: WORDCOUNT, kind: 'savepoint', format: 'canonical' });
    const words = meta.operators.find(o => o.operator_uid === 'word-count');
    expect(words).toMatchObject({
      operator_id: 'fdae8dad403fd2441defe2c3680362f5',
      parallelism: 2,
      max_parallelism: 128,
      operator_uid_source: 'snapshot',
    });
    expect(words?.states.find(s => s.state_name === 'count')).toMatchObject({
      state_kind: 'keyed',
      state_type: 'VALUE',
      key_type: 'VARCHAR',
      value_type: 'BIGINT',
      decodable: true,
    });
    expect(meta.master_states).toEqual([]);
  });
  it('the row forms are state_meta', async () => {
    const ran = await statequery(['meta', WORDCOUNT, '-o', 'ndjson']);
    expect(ran.code).toBe(0);
    const rows = ran.stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as { operator_uid: string; state_name: string | null });
    expect(rows.map(r => `${r.operator_uid}/${r.state_name}`)).toEqual(
      expect.arrayContaining(['word-count/count', 'offsets/offsets', 'words/SourceReaderState']),
    );
  });
});

describe('tables and schema', () => {
  it('list the tables, with counts where they cost nothing', async () => {
    const ran = await statequery(['tables', WORDCOUNT, '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const rows = JSON.parse(ran.stdout) as { table: string; rows: number | null; description: string }[];
    expect(rows.slice(0, 5).map(r => r.table)).toEqual([
      'state_meta',
      'keyed_state',
      'operator_state',
      'keyed_state_raw',
      'operator_state_raw',
    ]);
    expect(rows.find(r => r.table === 'operators')?.rows).toBe(3);
    expect(rows.find(r => r.table === 'keyed_state')?.rows).toBe(null);
    const all = JSON.parse((await statequery(['tables', '--all', '--json', WORDCOUNT])).stdout) as { table: string }[];
    expect(all.map(r => r.table)).toEqual(expect.arrayContaining(['uid_word-count_keyed', 'id_fdae8dad403fd2441defe2c3680362f5_keyed']));
  });
  it('give columns, types and descriptions, or DDL', async () => {
    const ran = await statequery(['schema', WORDCOUNT, 'KeyedState', '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const rows = JSON.parse(ran.stdout) as { table: string; column: string; type: string; mixed: boolean }[];
    expect(rows.map(r => r.table)).toEqual(rows.map(() => 'keyed_state'));
    expect(rows.find(r => r.column === 'key')).toMatchObject({ type: 'VARCHAR', mixed: false });
    expect(rows.find(r => r.column === 'value')).toMatchObject({ type: 'BIGINT', mixed: false });
    const ddl = await statequery(['schema', WORDCOUNT, 'operators', '-o', 'sql']);
    expect(ddl).toMatchObject({ code: 0, stderr: '' });
    expect(ddl.stdout).toMatch(/^CREATE TABLE "operators" \("operator_id" VARCHAR, .*"parallelism" INTEGER, .*\);\n$/);
    const whole = await statequery(['schema', WORDCOUNT, '--csv']);
    expect(whole.stdout.split('\n').filter(line => line.startsWith('state_meta,')).length).toBe(25);
  });
});

describe('ls', () => {
  let dir: string;
  beforeAll(() => {
    dir = join(temp, 'snapshots');
    const copy = (to: string, seconds: number): void => {
      cpSync(WORDCOUNT, join(dir, to), { recursive: true });
      utimesSync(join(dir, to, '_metadata'), seconds, seconds);
    };
    copy('savepoint-1', 1_700_000_000);
    copy('job/chk-9', 1_700_000_200);
    copy('job/chk-10', 1_700_000_100);
    mkdirSync(join(dir, 'job/chk-11'));
    // apart from the others: a file that its own directory lacks is looked for beside it
    const broken = join(temp, 'alone/broken');
    cpSync(WORDCOUNT, broken, { recursive: true });
    rmSync(join(broken, readdirSync(broken).find(f => f !== '_metadata') ?? ''));
    const torn = join(dir, 'torn');
    mkdirSync(torn);
    writeFileSync(join(torn, '_metadata'), 'no metadata');
    utimesSync(join(torn, '_metadata'), 1_600_000_001, 1_600_000_001);
  });
  it('lists what is below, the oldest first, and says what is not whole', async () => {
    const ran = await statequery(['ls', dir, '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const rows = JSON.parse(ran.stdout) as {
      path: string;
      kind: string | null;
      checkpoint_id: number | null;
      modified_at: string;
      complete: boolean;
      problem: string | null;
      size_bytes: number | null;
    }[];
    const at = (path: string) => rows.find(r => r.path === join(dir, path));
    expect(rows.filter(r => r.path !== join(dir, 'job/chk-11')).map(r => r.path)).toEqual(
      ['torn', 'savepoint-1', 'job/chk-10', 'job/chk-9'].map(p => join(dir, p)),
    );
    expect(at('savepoint-1')).toMatchObject({ kind: 'savepoint', complete: true, problem: null, modified_at: '2023-11-14T22:13:20Z' });
    expect(at('savepoint-1')?.size_bytes).toBeGreaterThan(20000);
    expect(at('job/chk-11')).toMatchObject({ kind: 'checkpoint', complete: false, checkpoint_id: null, size_bytes: null });
    expect(at('torn')).toMatchObject({ complete: false, kind: null });
  });
  it('counts the files that are missing', async () => {
    const ran = await statequery(['ls', join(temp, 'alone'), '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject([{ path: join(temp, 'alone/broken'), complete: false, problem: '1 of 7 files missing' }]);
  });
  it('--latest prints one path', async () => {
    expect(await statequery(['ls', join(dir, 'job'), '--latest'])).toEqual({ code: 0, stdout: `${join(dir, 'job/chk-10')}\n`, stderr: '' });
  });
  it('a directory without any: 3 for --latest, no rows otherwise', async () => {
    const empty = join(temp, 'empty');
    mkdirSync(empty);
    expect(await statequery(['ls', empty, '--json'])).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    expect(await statequery(['ls', empty, '--latest'])).toMatchObject({ code: 3, stdout: '' });
  });
});

describe('a parent directory', () => {
  it('means its newest snapshot, and standard error says which', async () => {
    const ran = await statequery(['meta', join(temp, 'snapshots', 'job'), '--json']);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(/^note: reading .*chk-10, the highest checkpoint of 2 below .*job\n$/);
    expect(await statequery(['meta', join(temp, 'snapshots', 'job'), '--json', '-q'])).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('the environment', () => {
  it('STATEQUERY_SNAPSHOT names the snapshot, STATEQUERY_OUTPUT the form', async () => {
    const ran = await statequery(['tables'], { env: { STATEQUERY_SNAPSHOT: WORDCOUNT, STATEQUERY_OUTPUT: 'csv' } });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^table,rows,description\nstate_meta,,/);
    const table = await statequery(['tables', '-o', 'table'], { env: { STATEQUERY_SNAPSHOT: WORDCOUNT, STATEQUERY_OUTPUT: 'csv' } });
    expect(table.stdout).toMatch(/^\+-/);
  });
});

describe('-v', () => {
  it('says what was read', async () => {
    const ran = await statequery(['tables', WORDCOUNT, '-v', '-o', 'csv']);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(/^\d+ files opened, \d+ bytes read in \d+ reads, \d+ entries decoded, \d+ ms\n$/);
  });
});

describe('a closed pipe', () => {
  it('ends quietly with 0', () => {
    const run = (args: string, lines: number): string =>
      execFileSync('bash', ['-c', `node ${JSON.stringify(BIN)} ${args} 2>&1 | head -n ${lines}; echo "codes \${PIPESTATUS[*]}"`], {
        encoding: 'utf8',
      });
    expect(run(`schema ${JSON.stringify(WORDCOUNT)} -o csv`, 1)).toBe('table,column,type,mixed,description\ncodes 0 0\n');
    expect(run('--help', 1)).toBe('Usage: statequery [options] [command]\ncodes 0 0\n');
    expect(run('completion bash', 0)).toBe('codes 0 0\n');
    expect(run('meta /nowhere', 0)).toMatch(/^codes [03] 0\n$/);
  });
});
