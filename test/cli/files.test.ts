/** files, verify and inspect as a user runs them. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fixture, HAS_SHARED, SHARED } from '../tables/support.js';
import { statequery, WORDCOUNT } from './run.js';

const temporary = mkdtempSync(join(tmpdir(), 'statequery-cli-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

interface Verified {
  readonly problem: string;
  readonly path: string;
  readonly operator_uid: string | null;
  readonly subtask_index: number | null;
  readonly lost: string;
}

function damagedCopy(): { readonly directory: string; readonly file: string } {
  const directory = mkdtempSync(join(temporary, 'copy-'));
  cpSync(WORDCOUNT, directory, { recursive: true });
  const [file] = readdirSync(directory)
    .filter(name => name !== '_metadata')
    .map(name => join(directory, name))
    .sort((a, b) => statSync(b).size - statSync(a).size);
  return { directory, file };
}

describe('files', () => {
  it('lists each file once', async () => {
    const { code, stdout, stderr } = await statequery(['files', WORDCOUNT, '--json']);
    const rows = JSON.parse(stdout) as { path: string; size_bytes: number; present: boolean; inside: boolean }[];
    expect(code).toBe(0);
    expect(rows.map(r => r.path).sort()).toEqual(
      readdirSync(WORDCOUNT)
        .map(name => join(WORDCOUNT, name))
        .sort(),
    );
    expect(rows.every(r => r.present && r.inside && r.size_bytes === statSync(r.path).size)).toBe(true);
    expect(stderr).toContain(`${rows.length} files`);
  });
});

describe('a link to _metadata', () => {
  it('reads the files beside what it points to', async () => {
    const links = mkdtempSync(join(temporary, 'links-'));
    symlinkSync(join(WORDCOUNT, '_metadata'), join(links, '_metadata'));
    symlinkSync(join(WORDCOUNT, '_metadata'), join(links, 'of-today'));
    for (const path of [links, join(links, '_metadata'), join(links, 'of-today')]) {
      const sql = "SELECT value, (SELECT self_contained FROM snapshot) AS own FROM keyed_state WHERE key = 'key_662'";
      expect(await statequery(['sql', sql, path, '--csv'])).toEqual({ code: 0, stdout: 'value,own\n11290,true\n', stderr: '' });
      expect(await statequery(['verify', path, '-q'])).toMatchObject({ code: 0, stderr: '' });
    }
  });
});

describe('verify', () => {
  it('ends with 0 and no rows when all is whole', async () => {
    const { code, stdout, stderr } = await statequery(['verify', WORDCOUNT, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([0, []]);
    expect(stderr).toMatch(/whole: \d+ files, \d+ bytes, \d+ entries/);
  });
  it('ends with 10 and names file, operator and subtask of a missing file', async () => {
    const { directory, file } = damagedCopy();
    unlinkSync(file);
    const { code, stdout } = await statequery(['verify', directory, '--json']);
    const [first] = JSON.parse(stdout) as Verified[];
    expect(code).toBe(10);
    expect(first).toMatchObject({ problem: 'missing', operator_uid: 'word-count', lost: 'keyed state of the subtask' });
    expect(first.subtask_index).not.toBeNull();
  });
  it('ends with 10 for a damaged file; a query says what else can be read, --skip-damaged gives it and ends with 5', async () => {
    const { directory, file } = damagedCopy();
    const bytes = readFileSync(file);
    bytes.fill(0xee, bytes.length >> 1, (bytes.length >> 1) + 40);
    writeFileSync(file, bytes);
    const verified = await statequery(['verify', directory, '--json']);
    expect(verified.code).toBe(10);
    expect((JSON.parse(verified.stdout) as Verified[])[0]).toMatchObject({ problem: 'damaged', path: file });
    const count = 'SELECT count(*) AS n FROM keyed_state';
    const refused = await statequery(['sql', count, directory]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(file);
    expect(refused.stderr).toMatch(/operator word-count, subtask \d/);
    expect(refused.stderr).toContain('--skip-damaged');
    const whole = JSON.parse((await statequery(['sql', count, WORDCOUNT, '--json'])).stdout) as { n: number }[];
    const rest = await statequery(['sql', count, directory, '--skip-damaged', '--json']);
    expect(rest.code).toBe(5);
    const [{ n }] = JSON.parse(rest.stdout) as { n: number }[];
    expect(n).toBeGreaterThan(whole[0].n * 0.9);
    expect(n).toBeLessThan(whole[0].n);
  });
});

describe('inspect', () => {
  it('annotates _metadata to the last byte', async () => {
    const { code, stdout } = await statequery(['inspect', join(WORDCOUNT, '_metadata'), '--json']);
    const notes = JSON.parse(stdout) as { offset: number; length: number; field: string; value: string }[];
    expect(code).toBe(0);
    expect(Object.keys(notes[0])).toEqual(['offset', 'length', 'field', 'value']);
    expect(notes.reduce((at, n) => (n.offset === at ? at + n.length : Number.NaN), 0)).toBe(statSync(join(WORDCOUNT, '_metadata')).size);
  });
  it('names the numbers that stand for names', async () => {
    const { stdout } = await statequery(['inspect', join(WORDCOUNT, '_metadata'), '--json']);
    const valuesOf = (field: string) => [
      ...new Set((JSON.parse(stdout) as { field: string; value: string }[]).filter(n => n.field.endsWith(field)).map(n => n.value)),
    ];
    expect(valuesOf('tag of a keyed state handle')).toEqual(['7 (KeyGroupsSavepointStateHandle)', '0 (none)']);
    expect(valuesOf('tag of an operator state handle')).toEqual(['4 (OperatorStreamStateHandle)']);
    expect(valuesOf('tag of a stream handle')).toEqual(['0 (none)', '6 (RelativeFileStateHandle)', '1 (ByteStreamStateHandle)']);
    expect(valuesOf('distribution mode')).toEqual(['0 (SPLIT_DISTRIBUTE)']);
    const { file } = damagedCopy();
    expect((await statequery(['inspect', file, '--entries', '0', '--csv'])).stdout).toContain('header: kind of state,0 (KEY_VALUE)\n');
  });
  it('limits entries', async () => {
    const { file } = damagedCopy();
    const { code, stdout } = await statequery(['inspect', file, '--entries', '2', '--csv']);
    expect(code).toBe(0);
    expect(stdout.match(/^\d+,\d+,count: value,/gm)).toHaveLength(2);
    expect(stdout).toContain('further entries');
  });
  it('shows a damaged file as far as it goes, and ends with 5', async () => {
    const path = join(mkdtempSync(join(temporary, 'meta-')), '_metadata');
    writeFileSync(path, readFileSync(join(WORDCOUNT, '_metadata')).subarray(0, 300));
    const { code, stdout } = await statequery(['inspect', path, '--csv']);
    expect(code).toBe(5);
    expect(stdout).toContain('not readable');
  });
  it('without a file is a mistake in the command line', async () => {
    expect((await statequery(['inspect'])).code).toBe(2);
    expect((await statequery(['inspect', join(temporary, 'nothing')])).code).toBe(3);
    expect((await statequery(['inspect', fixture('2.3-raw-rocksdb-checkpoint')])).code).toBe(4);
  });
});

if (HAS_SHARED)
  describe('inspect --serializer-snapshot', () => {
    const pair = join(SHARED, 'corpus/serializers/long-serializer-1.17');
    const args = ['inspect', '--serializer-snapshot', join(pair, 'serializer-snapshot'), '--value', join(pair, 'test-data')];
    it('prints serializer, type and value', async () => {
      const { code, stdout } = await statequery([...args, '--json']);
      expect([code, JSON.parse(stdout)]).toEqual([0, { serializer: 'Long', type: 'BIGINT', value: 1234567890, left_over: 0 }]);
      const text = await statequery(args);
      expect(text.stdout).toBe('serializer  Long\ntype        BIGINT\nvalue       1234567890\nleft over   0 bytes\n');
    });
    it('ends with 5 when bytes are left over', async () => {
      const longer = join(temporary, 'value');
      writeFileSync(longer, Buffer.concat([readFileSync(join(pair, 'test-data')), Buffer.from([1, 2])]));
      const { code, stdout } = await statequery([...args.slice(0, 3), '--value', longer, '--json']);
      expect([code, (JSON.parse(stdout) as { left_over: number }).left_over]).toEqual([5, 2]);
    });
  });
