import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listSnapshots } from '../../src/checkpoint/list.js';
import { findSnapshots, locateSnapshot } from '../../src/checkpoint/locate.js';
import { readMetadataFile } from '../../src/checkpoint/metadata.js';
import { StateQueryError } from '../../src/errors.js';
import * as e from './encode.js';

const JOB1 = '1'.repeat(32);
const JOB2 = '2'.repeat(32);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'statequery-locate-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** A snapshot of this time (in seconds). */
function snapshot(directory: string, seconds = 1000, content: Uint8Array = e.metadata(4, [])): string {
  const path = join(root, directory, '_metadata');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  utimesSync(path, seconds, seconds);
  return path;
}
const found = (path: string): string => locateSnapshot(join(root, path)).directory.slice(root.length + 1);
function failure(path: string): StateQueryError {
  try {
    locateSnapshot(path.startsWith('/') || path.includes(':') ? path : join(root, path));
  } catch (error) {
    if (error instanceof StateQueryError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('what a path means', () => {
  it('the directory, the file itself, with or without file:', () => {
    const path = snapshot('sp');
    for (const given of [
      join(root, 'sp'),
      path,
      `file:${path}`,
      `file://${join(root, 'sp')}`,
      `${join(root, 'sp')}/`,
      join(root, 'x/../sp'),
    ])
      expect(locateSnapshot(given)).toEqual({ directory: join(root, 'sp'), metadataPath: path, others: 0 });
    writeFileSync(join(root, 'sp', 'renamed'), e.metadata(4, []));
    expect(locateSnapshot(join(root, 'sp/renamed')).metadataPath).toBe(join(root, 'sp/renamed'));
  });
  it('of one job directory the highest chk-N, whatever the times', () => {
    snapshot(`ck/${JOB1}/chk-9`, 3000);
    snapshot(`ck/${JOB1}/chk-10`, 2000);
    snapshot(`ck/${JOB1}/chk-2`, 4000);
    mkdirSync(join(root, `ck/${JOB1}/chk-11`));
    mkdirSync(join(root, `ck/${JOB1}/shared`));
    expect(found(`ck/${JOB1}`)).toBe(`ck/${JOB1}/chk-10`);
    const { note, others } = locateSnapshot(join(root, 'ck'));
    expect(others).toBe(2);
    expect(note).toBe(`reading ${join(root, `ck/${JOB1}/chk-10`)}, the highest checkpoint of 3 below ${join(root, 'ck')}`);
  });
  it('otherwise the newest, ties by name', () => {
    snapshot('all/savepoint-b', 2000);
    snapshot('all/savepoint-a', 2000);
    snapshot(`all/${JOB1}/chk-7`, 1999);
    snapshot(`all/${JOB1}/chk-6`, 5000);
    expect(found('all')).toBe('all/savepoint-a');
    expect(locateSnapshot(join(root, 'all')).note).toContain('the newest snapshot of 4 below');
    snapshot(`all/${JOB2}/chk-3`, 2001);
    expect(found('all')).toBe(`all/${JOB2}/chk-3`);
  });
  it('one snapshot alone below a directory', () => {
    snapshot('parent/savepoint-1');
    expect(locateSnapshot(join(root, 'parent'))).toMatchObject({ others: 0, note: `reading ${join(root, 'parent/savepoint-1')}` });
  });
  it('a link to a snapshot that is below too is no other one, as in the listing', () => {
    snapshot(`ck/${JOB1}/chk-9`, 3000);
    snapshot(`ck/${JOB1}/chk-10`, 2000);
    symlinkSync(join(root, `ck/${JOB1}/chk-10`), join(root, 'ck/latest'));
    symlinkSync(join(root, `ck/${JOB1}`), join(root, 'ck/job'));
    symlinkSync(join(root, `ck/${JOB1}/chk-10`), join(root, `ck/${JOB1}/current`));
    const located = locateSnapshot(join(root, 'ck'));
    expect(located).toMatchObject({ directory: join(root, `ck/${JOB1}/chk-10`), others: 1 });
    expect(located.note).toContain('the highest checkpoint of 2 below');
    expect(
      findSnapshots(join(root, 'ck'))
        .places.map(p => p.directory)
        .sort(),
    ).toEqual([join(root, `ck/${JOB1}/chk-10`), join(root, `ck/${JOB1}/chk-9`)]);
    // one that leads elsewhere is
    snapshot('elsewhere/savepoint-1', 9000);
    symlinkSync(join(root, 'elsewhere/savepoint-1'), join(root, 'ck/other'));
    expect(locateSnapshot(join(root, 'ck'))).toMatchObject({ directory: join(root, 'ck/other'), others: 2 });
  });
  it('links to snapshots, and directories with both `_metadata` and others below', () => {
    snapshot('here/savepoint-1');
    symlinkSync(join(root, 'here/savepoint-1'), join(root, 'latest'));
    expect(found('latest')).toBe('latest');
    snapshot('here/savepoint-1/inner');
    expect(found('here/savepoint-1')).toBe('here/savepoint-1');
  });
});

describe('nothing there', () => {
  it('says which part of the path is missing', () => {
    mkdirSync(join(root, 'a'));
    const error = failure('a/b/c');
    expect([error.exitCode, error.code, error.message, error.file]).toEqual([3, 'NOT_FOUND', 'no such snapshot', join(root, 'a/b/c')]);
    expect(error.hint).toBe(`${join(root, 'a')} exists, ${join(root, 'a/b')} does not`);
    expect(failure('a/b').hint).toBe(`${join(root, 'a')} has no b`);
  });
  it('says what it looked for', () => {
    mkdirSync(join(root, 'empty/x/y'), { recursive: true });
    const error = failure('empty');
    expect([error.exitCode, error.message]).toEqual([3, 'no savepoint or checkpoint here']);
    expect(error.hint).toBe(
      `looked for ${join(root, 'empty')}/_metadata, ${join(root, 'empty')}/*/_metadata and ${join(root, 'empty')}/*/chk-*/_metadata`,
    );
  });
  it('names a checkpoint that was not completed, and the one before it', () => {
    mkdirSync(join(root, `${JOB1}/chk-8`), { recursive: true });
    expect(failure(`${JOB1}/chk-8`).hint).toBe('the checkpoint was not completed, or was removed');
    expect(failure(JOB1).hint).toContain(`${join(root, JOB1, 'chk-8')} has none: a checkpoint not completed`);
    snapshot(`${JOB1}/chk-7`);
    const error = failure(`${JOB1}/chk-8`);
    expect([error.exitCode, error.message]).toEqual([3, 'no _metadata in the checkpoint directory']);
    expect(error.hint).toBe(
      `the checkpoint was not completed, or was removed; the highest complete one beside it is ${join(root, JOB1, 'chk-7')}`,
    );
  });
  it('does not read other file systems', () => {
    expect(failure('s3://bucket/savepoint')).toMatchObject({ exitCode: 6, message: 's3:// paths are not read' });
  });
  it('does not open pipes, devices or links that loop', () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(failure('pipe')).toMatchObject({ exitCode: 4, message: 'neither a file nor a directory' });
    expect(failure('/dev/zero')).toMatchObject({ exitCode: 4 });
    mkdirSync(join(root, 'sp'));
    execFileSync('mkfifo', [join(root, 'sp/_metadata')]);
    expect(failure('sp')).toMatchObject({ exitCode: 4, message: '_metadata is not a regular file' });
    symlinkSync(join(root, 'loop'), join(root, 'loop'));
    expect(failure('loop')).toMatchObject({ exitCode: 4, message: 'too many symbolic links' });
  });
  it('is not led around by links to parents', () => {
    mkdirSync(join(root, 'dir/sub'), { recursive: true });
    symlinkSync(join(root, 'dir'), join(root, 'dir/sub/up'));
    symlinkSync(join(root, 'dir'), join(root, 'dir/self'));
    expect(failure('dir').exitCode).toBe(3);
    expect(findSnapshots(join(root, 'dir'))).toEqual({ places: [], incomplete: [], errors: [] });
  });
  it.runIf(process.getuid?.() !== 0)('says that it may not look', () => {
    mkdirSync(join(root, 'secret'), { mode: 0 });
    expect(failure('secret')).toMatchObject({ exitCode: 4, message: 'permission denied' });
    chmodSync(join(root, 'secret'), 0o700);
  });
});

describe('the list of snapshots', () => {
  it('has savepoints, checkpoints of several jobs, what is incomplete and what is damaged, the newest first', () => {
    const savepoint = e.withKeyed(3, e.keyGroups(7, 0, [0], e.relative('k', 31)));
    const checkpoint = e.withKeyed(4, e.keyGroups(12, 0, [0], e.inline('k', Buffer.alloc(9))));
    snapshot('flink/savepoints/savepoint-1', 4000, savepoint);
    snapshot(`flink/checkpoints/${JOB1}/chk-3`, 3000, checkpoint);
    mkdirSync(join(root, `flink/checkpoints/${JOB1}/chk-4`));
    utimesSync(join(root, `flink/checkpoints/${JOB1}/chk-4`), 5000, 5000);
    mkdirSync(join(root, `flink/checkpoints/${JOB1}/shared/deep/_metadata`), { recursive: true });
    snapshot(`flink/checkpoints/${JOB2}/chk-1`, 2000, e.hex('4960672d0000'));
    const { snapshots, errors } = listSnapshots(join(root, 'flink'));
    expect(errors).toEqual([]);
    expect(
      snapshots.map(s => [s.directory.slice(root.length + 7), s.kind, s.format, s.checkpointId, s.modifiedMillis, s.bytes, s.complete]),
    ).toEqual([
      [`checkpoints/${JOB1}/chk-4`, 'checkpoint', undefined, 4, 5_000_000, undefined, false],
      ['savepoints/savepoint-1', 'savepoint', 'canonical', 7, 4_000_000, savepoint.length + 31, true],
      [`checkpoints/${JOB1}/chk-3`, 'checkpoint', undefined, 7, 3_000_000, checkpoint.length, true],
      [`checkpoints/${JOB2}/chk-1`, 'checkpoint', undefined, 1, 2_000_000, undefined, false],
    ]);
    expect(snapshots[0].problem).toBe('no _metadata: the checkpoint was not completed');
    expect(snapshots[3].problem).toContain('at least 8 bytes');
  });
  it('has the directory itself, when that is one', () => {
    snapshot('sp');
    expect(listSnapshots(join(root, 'sp')).snapshots.map(s => s.directory)).toEqual([join(root, 'sp')]);
    expect(() => listSnapshots(join(root, 'sp/_metadata'))).toThrow('not a directory');
    expect(() => listSnapshots(join(root, 'nothing'))).toThrow('no such snapshot');
  });
});

describe('reading the file', () => {
  it('refuses what is no `_metadata` before reading it whole', () => {
    const path = join(root, 'huge');
    writeFileSync(path, 'not it');
    execFileSync('truncate', ['-s', '20G', path]);
    expect(() => readMetadataFile(path)).toThrow('not a Flink _metadata file');
  });
});
