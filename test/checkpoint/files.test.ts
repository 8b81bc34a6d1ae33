import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SnapshotFiles, type SnapshotFilesOptions } from '../../src/checkpoint/files.js';
import type { StreamHandle } from '../../src/checkpoint/handles.js';
import { readMetadata, readMetadataFile } from '../../src/checkpoint/metadata.js';
import { localPath, parseRebase, rebased, remoteScheme } from '../../src/checkpoint/paths.js';
import {
  isRelocatable,
  isSelfContained,
  referencedBytes,
  referencedFiles,
  streamReferences,
  totalSize,
} from '../../src/checkpoint/references.js';
import { CorruptError, NotFoundError, StateQueryError, UsageError } from '../../src/errors.js';
import { ReadStats } from '../../src/io/source.js';
import * as e from './encode.js';
import { FIXTURES, HAS_CORPUS, HAS_STATED, metadataFiles, SHARED } from './shared.js';

const U1 = '11111111-1111-1111-1111-111111111111';
const U2 = '22222222-2222-2222-2222-222222222222';
const JOB1 = '1'.repeat(32);
const JOB2 = '2'.repeat(32);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'statequery-files-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function put(path: string, content = 'state'): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  return full;
}
/** Files of the checkpoint below `root`. */
function filesOf(directory: string, options: SnapshotFilesOptions = {}): SnapshotFiles {
  put(join(directory, '_metadata'), '');
  return new SnapshotFiles(join(root, directory), join(root, directory, '_metadata'), options);
}
const file = (path: string, size = 5): StreamHandle => ({ kind: 'file', path, size });
const relative = (path: string, size = 5): StreamHandle => ({ kind: 'relative', path, size });
const textOf = (files: SnapshotFiles, stream: StreamHandle): string => {
  const source = files.open(stream);
  return Buffer.from(source.read(0, source.size)).toString();
};
function failure(action: () => unknown): StateQueryError {
  try {
    action();
  } catch (error) {
    if (error instanceof StateQueryError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('paths', () => {
  it('has local ones in three spellings, and other file systems', () => {
    expect(['file:/a/b', 'file:///a/b/', 'file://localhost/a/b', '/a/b', 'FILE:/a/b'].map(localPath)).toEqual(Array(5).fill('/a/b'));
    expect(['file:/a', '/a', 'a:b/c', 's3://b/k', 'hdfs://nn:9000/x'].map(remoteScheme)).toEqual([undefined, undefined, 'a', 's3', 'hdfs']);
    expect(localPath('/')).toBe('/');
    expect(localPath('file:/with%20percent')).toBe('/with%20percent');
  });
  it('rebases whole components, the longest prefix first', () => {
    const rules = [parseRebase('file:/flink=/copy'), parseRebase('/flink/ck=file:/other/'), parseRebase('s3://bucket/x=/local')];
    expect(rebased('file:/flink/ck/1', rules)).toEqual(['/other/1', '/copy/ck/1']);
    expect(rebased('/flink2/ck', rules)).toEqual([]);
    expect(rebased('s3://bucket/x/y', rules)).toEqual(['/local/y']);
    expect(rebased('/flink', rules)).toEqual(['/copy']);
  });
  it('splits old=new at the = whose right side exists', () => {
    const directory = join(root, 'copy');
    mkdirSync(directory);
    expect(parseRebase(`/data/dt=1/ck=${directory}`)).toEqual({ from: '/data/dt=1/ck', to: directory });
    expect(parseRebase('/a=/b=c')).toEqual({ from: '/a', to: '/b=c' });
    for (const bad of ['', '=', '/a=', '=/b', '/a']) expect(() => parseRebase(bad)).toThrow(UsageError);
  });
});

describe('opening handles', () => {
  it('reads inline bytes with the offset in `_metadata`, and nothing of an empty segment', () => {
    const files = filesOf('sp');
    const source = files.open({ kind: 'inline', name: 'no path', bytes: Buffer.from('inline'), offset: 40 });
    expect([source.name, source.base, source.size]).toEqual([join(root, 'sp/_metadata'), 40, 6]);
    expect(files.open({ kind: 'empty-segment' }).size).toBe(0);
    files.close();
  });
  it('reads a part of a merged file', () => {
    put('sp/merged', 'abcdefgh');
    const files = filesOf('sp');
    const part = (start: number, size: number): StreamHandle => ({
      kind: 'segment',
      path: join(root, 'sp/merged'),
      start,
      size,
      scope: 'SHARED',
      logicalFileId: 'l',
    });
    const source = files.open(part(2, 3));
    expect([textOf(files, part(2, 3)), source.base, source.size]).toEqual(['cde', 2, 3]);
    expect(
      textOf(files, {
        kind: 'key-groups-stream',
        handle: { kind: 'key-groups', tag: 3, range: { first: 0, count: 0 }, offsets: [], stream: part(0, 2) },
      }),
    ).toBe('ab');
    const error = failure(() => files.open(part(6, 3)));
    expect(error).toBeInstanceOf(CorruptError);
    expect(error.message).toBe('the file has 8 bytes, its state handle says 9');
    files.close();
  });
  it('refuses a file that is shorter than its handle says, not a changelog file', () => {
    put('sp/short', 'abc');
    const files = filesOf('sp');
    const error = failure(() => files.open(relative('short', 4)));
    expect([error.exitCode, error.file, error.offset]).toEqual([5, join(root, 'sp/short'), 3]);
    expect(textOf(files, { kind: 'file', path: join(root, 'sp/short'), size: 400, uncompressed: true })).toBe('abc');
    expect(textOf(files, relative('short', -1))).toBe('abc');
    files.close();
  });
  it('opens a file once for all its handles, few at a time, and counts', () => {
    const stats = new ReadStats();
    for (let i = 0; i < 5; i++) put(`sp/f${i}`, `file ${i}`);
    const files = filesOf('sp', { stats, maxOpen: 2 });
    const sources = [0, 1, 2, 3, 4].map(i => files.open(relative(`f${i}`, 6)));
    expect(stats.filesOpened).toBe(5);
    for (let round = 0; round < 2; round++) expect(sources.map(s => Buffer.from(s.read(5, 1)).toString()).join('')).toBe('01234');
    expect(stats.filesOpened).toBeGreaterThan(5);
    const before = stats.filesOpened;
    files.open(relative('f4', 6)).close();
    sources[4].read(0, 1);
    expect(stats.filesOpened).toBe(before);
    files.close();
    expect(() => sources[0].read(0, 1)).toThrow('the snapshot is closed');
  });
  it('says that the snapshot vanished under a running query', () => {
    for (let i = 0; i < 3; i++) put(`ck/chk-1/f${i}`, 'x');
    const files = filesOf('ck/chk-1', { maxOpen: 1 });
    const sources = [0, 1].map(i => files.open(relative(`f${i}`, 1)));
    rmSync(join(root, 'ck'), { recursive: true });
    const read = failure(() => sources[0].read(0, 1));
    expect([read.exitCode, read.message]).toEqual([4, 'the file vanished while the snapshot was being read']);
    const open = failure(() => files.open(relative('f2', 1)));
    expect([open.exitCode, open.message]).toEqual([4, 'the snapshot vanished while it was being read']);
    files.close();
  });
  it('opens neither directories nor pipes', () => {
    mkdirSync(join(root, 'sp/directory'), { recursive: true });
    execFileSync('mkfifo', [join(root, 'sp/pipe')]);
    const files = filesOf('sp');
    for (const name of ['directory', 'pipe']) {
      const error = failure(() => files.open(relative(name, 0)));
      expect([error.exitCode, error.message]).toEqual([4, 'not a regular file']);
    }
    files.close();
  });
  it.runIf(process.getuid?.() !== 0)('says that it may not', () => {
    chmodSync(put('sp/secret'), 0);
    const files = filesOf('sp');
    expect(failure(() => files.open(relative('secret')))).toMatchObject({ exitCode: 4, message: 'permission denied' });
    files.close();
  });
});

describe('where a file lies now', () => {
  it('at its path', () => {
    const path = put(`elsewhere/${U1}`, 'there');
    const files = filesOf('sp');
    expect(textOf(files, file(`file:${path}`))).toBe('there');
    expect(files.resolve(file(path))).toEqual({ path, size: 5, via: 'path' });
  });
  it('beside a moved checkpoint: shared, taskowned, dstl, merged files', () => {
    const old = `file:/nowhere/ck/${JOB1}`;
    const files = filesOf(`copy/${JOB1}/chk-4`);
    for (const place of [`shared/${U1}`, `taskowned/${U1}`, `dstl/${U1}`, `shared/job_${JOB1}_op_${JOB2}_0_2/${U1}`, `chk-3/${U1}`]) {
      put(`copy/${JOB1}/${place}`, place);
      expect(textOf(files, file(`${old}/${place}`, place.length))).toBe(place);
    }
    put(`copy/dstl/${U2}`, 'base');
    expect(textOf(files, file(`file:/other/base/${JOB1}/dstl/${U2}`, 4))).toBe('base');
    files.close();
  });
  it('in the directory of another job, by the longest suffix', () => {
    put(`copy/${JOB1}/shared/${U1}`, 'job 1');
    put(`copy/${JOB2}/shared/${U1}`, 'job 2');
    const files = filesOf(`copy/${JOB1}/chk-4`);
    expect(textOf(files, file(`file:/nowhere/ck/${JOB2}/shared/${U1}`))).toBe('job 2');
    expect(textOf(files, file(`file:/nowhere/ck/${JOB1}/shared/${U1}`))).toBe('job 1');
    expect(textOf(files, file(`hdfs://nn:9000/ck/${JOB2}/shared/${U1}`))).toBe('job 2');
  });
  it('in one flat directory, by its unique name only', () => {
    put(`flat/${U1}`, 'found');
    put('flat/000012.sst', 'other');
    const files = filesOf('flat');
    expect(textOf(files, file(`s3://bucket/ck/shared/${U1}`))).toBe('found');
    expect(failure(() => files.open(file('s3://bucket/ck/db/000012.sst')))).toBeInstanceOf(NotFoundError);
    put(`flat/${JOB1}/db/000012.sst`, 'right');
    expect(textOf(filesOf('flat'), file(`s3://bucket/ck/${JOB1}/db/000012.sst`))).toBe('right');
  });
  it('where --rebase says, before all else', () => {
    const original = put(`ck/shared/${U1}`, 'old..');
    put(`new/shared/${U1}`, 'moved');
    const rebase = [parseRebase(`file:${root}/ck=${root}/new`)];
    expect(textOf(filesOf('ck/chk-1', { rebase }), file(original))).toBe('moved');
    rmSync(join(root, 'new'), { recursive: true });
    expect(textOf(filesOf('ck/chk-1', { rebase }), file(original))).toBe('old..');
    put(`local/b/${U2}`, 'cloud');
    const s3 = [parseRebase(`s3://bucket/a=${root}/local`)];
    expect(textOf(filesOf('ck/chk-1', { rebase: s3 }), file(`s3://bucket/a/b/${U2}`))).toBe('cloud');
  });
  it('beside the path that is named, as Flink has it, then beside what a linked `_metadata` points to', () => {
    const file = (path: string, text: string): string => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      return join(root, path);
    };
    const metadata = file('data/sp/_metadata', '');
    const there = file('data/sp/a1b2c3d4-0001', 'there');
    const shared = file('data/shared/b1b2c3d4-0002-4002-8002-000000000002', 'shared');
    mkdirSync(join(root, 'links'));
    symlinkSync(metadata, join(root, 'links/current'));
    const files = new SnapshotFiles(join(root, 'links'), join(root, 'links/current'));
    const relative = (path: string, size: number) => files.resolve({ kind: 'relative', path, size });
    expect(relative('a1b2c3d4-0001', 5)).toEqual({ path: there, size: 5, via: 'directory' });
    expect(files.resolve({ kind: 'file', path: '/flink/ck/shared/b1b2c3d4-0002-4002-8002-000000000002', size: 6 })).toEqual({
      path: shared,
      size: 6,
      via: 'suffix',
    });
    const here = file('links/c1b2c3d4-0003', 'here');
    file('data/sp/c1b2c3d4-0003', 'the other');
    expect(relative('c1b2c3d4-0003', 4)).toEqual({ path: here, size: 4, via: 'directory' });
    files.close();
  });
  it('behind a link to the checkpoint', () => {
    put(`ck/${JOB1}/shared/${U1}`, 'real!');
    filesOf(`ck/${JOB1}/chk-1`);
    symlinkSync(join(root, `ck/${JOB1}/chk-1`), join(root, 'latest'));
    const files = new SnapshotFiles(join(root, 'latest'), join(root, 'latest/_metadata'));
    expect(textOf(files, file(`/nowhere/${JOB1}/shared/${U1}`))).toBe('real!');
  });
  it('in a claimed savepoint beside it, for relative handles; its own directory wins', () => {
    const files = filesOf('ck/chk-1');
    put(`savepoint-1/${U1}`, 'claim');
    expect(files.resolve(relative(U1))).toMatchObject({ via: 'sibling', path: join(root, 'savepoint-1', U1) });
    put(`ck/chk-1/${U1}`, 'own..');
    expect(textOf(filesOf('ck/chk-1'), relative(U1))).toBe('own..');
    put('savepoint-1/name');
    expect(failure(() => filesOf('ck/chk-1').open(relative('name')))).toBeInstanceOf(NotFoundError);
  });
  it('never outside of the directory for relative handles', () => {
    put('outside');
    for (const path of ['../outside', join(root, 'outside'), 'a/../../outside', '']) {
      const error = failure(() => filesOf('sp').open(relative(path)));
      expect(error).toBeInstanceOf(CorruptError);
      expect(error.message).toContain('leaves the snapshot');
    }
    expect(failure(() => filesOf('a/sp').open(file(`/nowhere/../outside`)))).toBeInstanceOf(NotFoundError);
  });
  it('nowhere: says what was tried and what to do', () => {
    const files = filesOf(`ck/${JOB1}/chk-1`);
    const local = failure(() => files.open(file(`file:/nowhere/ck/${JOB1}/shared/${U1}`)));
    expect([local.exitCode, local.code, local.message]).toEqual([3, 'NOT_FOUND', 'state file not found']);
    expect(local.file).toBe(`file:/nowhere/ck/${JOB1}/shared/${U1}`);
    expect(local.hint).toContain(`/nowhere/ck/${JOB1}/shared/${U1}, `);
    expect(local.hint).toMatch(/--rebase file:\/nowhere\/ck=<where it is now>$/);
    const cloud = failure(() => files.open(file(`s3://bucket/ck/${JOB1}/shared/${U1}`)));
    expect(cloud.message).toBe('state file not found: it is on s3://, and there is no copy here');
    expect(cloud.hint).toMatch(/--rebase s3:\/\/bucket\/ck=/);
    const own = failure(() => files.open(relative(U1)));
    expect(own.hint).toContain(`--rebase ${join(root, `ck/${JOB1}/chk-1`)}=`);
  });
});

describe('referenced files', () => {
  const shared = `file:/old/${JOB1}/shared/${U1}`;
  const merged = `file:/old/${JOB1}/taskowned/${U2}`;
  const bytes = e.metadata(4, [
    {
      coordinator: e.inline('c', Buffer.alloc(3)),
      subtasks: [
        {
          index: 0,
          body: {
            managedOperator: [4, e.list([]), e.segment(merged, 0, 10, 0)],
            managedKeyed: [
              11,
              e.i64(1),
              e.utf('b'),
              e.i32(0),
              e.i32(64),
              e.i64(9),
              e.segment(merged, 8, 6, 0),
              e.list([[e.utf('1.sst'), e.file(shared, 100)]]),
              e.list([[e.utf('CURRENT'), e.relative('private', 7)]]),
              e.utf('h'),
            ],
            inputs: [[e.i32(0), e.i32(0), e.i32(2), e.list([e.i64(3)]), e.i64(40), e.relative('channels', 60)]],
          },
        },
        {
          index: 1,
          body: {
            managedOperator: [4, e.list([]), e.segment(merged, 30, 5, 0)],
            managedKeyed: [
              14,
              e.i32(64),
              e.i32(64),
              e.i64(0),
              e.list([
                [
                  5,
                  e.i64(1),
                  e.utf('b'),
                  e.i32(64),
                  e.i32(64),
                  e.inline('m', Buffer.alloc(2)),
                  e.list([[e.utf('2.sst'), e.file(shared, 100)]]),
                  e.list([]),
                ],
              ]),
              e.list([
                [
                  13,
                  e.i32(64),
                  e.i32(64),
                  e.list([[e.i64(1), e.file(`s3://b/dstl/${U2}`, 50)]]),
                  e.i64(20),
                  e.i64(20),
                  e.utf('i'),
                  e.utf('fs'),
                ],
              ]),
              e.i64(0),
              e.i64(1),
              e.utf('h'),
            ],
          },
        },
      ],
    },
  ]);
  it('has every stream with its place', () => {
    const references = [...streamReferences(readMetadata(bytes, '_metadata'))].map(r => [
      r.subtask,
      r.slot,
      r.role,
      r.tag,
      r.localName,
      r.materialized,
      r.size,
    ]);
    expect(references).toEqual([
      [-1, 'coordinator', 'coordinator', undefined, undefined, undefined, 3],
      [0, 'managed-operator', 'operator', 4, undefined, undefined, 10],
      [0, 'managed-keyed', 'meta', 11, undefined, undefined, 6],
      [0, 'managed-keyed', 'shared', 11, '1.sst', undefined, 100],
      [0, 'managed-keyed', 'private', 11, 'CURRENT', undefined, 7],
      [0, 'input-channel', 'channel', undefined, undefined, undefined, 40],
      [1, 'managed-operator', 'operator', 4, undefined, undefined, 5],
      [1, 'managed-keyed', 'meta', 5, undefined, true, 2],
      [1, 'managed-keyed', 'shared', 5, '2.sst', true, 100],
      [1, 'managed-keyed', 'changelog', 13, undefined, false, 50],
    ]);
  });
  it('counts each byte once and says what is missing', () => {
    put(`ck/${JOB1}/shared/${U1}`, 'x'.repeat(100));
    put(`ck/${JOB1}/taskowned/${U2}`, 'x'.repeat(20));
    put(`ck/${JOB1}/chk-1/private`, 'x'.repeat(7));
    const directory = `ck/${JOB1}/chk-1`;
    const metadata = readMetadata(bytes, '_metadata');
    const found = referencedFiles(metadata, filesOf(directory));
    expect(
      found.map(f => ({ ...f, path: f.path?.slice(root.length + 1), handlePath: undefined, users: f.users.map(u => u.subtask) })),
    ).toEqual([
      {
        path: `${directory}/_metadata`,
        via: 'path',
        size: bytes.length,
        fileSize: bytes.length,
        roles: ['metadata'],
        users: [],
        references: 1,
        scope: 'exclusive',
        inside: true,
        present: true,
        short: false,
      },
      {
        path: `ck/${JOB1}/taskowned/${U2}`,
        via: 'suffix',
        size: 19,
        fileSize: 20,
        roles: ['operator', 'meta'],
        users: [0, 1],
        references: 3,
        scope: 'exclusive',
        inside: false,
        present: true,
        short: true,
        segments: [
          { start: 0, size: 14 },
          { start: 30, size: 5 },
        ],
      },
      {
        path: `ck/${JOB1}/shared/${U1}`,
        via: 'suffix',
        size: 100,
        fileSize: 100,
        roles: ['shared'],
        users: [0, 1],
        references: 2,
        scope: 'shared',
        inside: false,
        present: true,
        short: false,
      },
      {
        path: `${directory}/private`,
        via: 'directory',
        size: 7,
        fileSize: 7,
        roles: ['private'],
        users: [0],
        references: 1,
        scope: 'exclusive',
        inside: true,
        present: true,
        short: false,
      },
      { size: 60, roles: ['channel'], users: [0], references: 1, scope: 'exclusive', inside: true, present: false, short: false },
      { size: 50, roles: ['changelog'], users: [1], references: 1, scope: 'task-owned', inside: false, short: false },
    ]);
    expect(totalSize(found)).toBe(bytes.length + 19 + 100 + 7 + 60 + 50);
    expect(referencedBytes(metadata)).toBe(totalSize(found));
    expect([isSelfContained(found), isRelocatable(metadata)]).toEqual([false, false]);
  });
});

/** Opens every handle of every snapshot. */
function openAll(paths: readonly string[]): { opened: number; problems: string[] } {
  const problems: string[] = [];
  let opened = 0;
  for (const path of paths) {
    const metadata = readMetadataFile(path);
    const files = new SnapshotFiles(dirname(path), path, { maxOpen: 4 });
    for (const { stream } of streamReferences(metadata)) {
      const source = files.open(stream);
      if (source.size > 0) source.read(source.size - 1, 1);
      source.close();
      opened++;
    }
    for (const f of referencedFiles(metadata, files)) {
      if (f.present !== true || f.short) problems.push(`${path}: ${f.handlePath}`);
      if (f.segments === undefined && f.size !== f.fileSize) problems.push(`${path}: ${f.handlePath} has ${f.fileSize}, not ${f.size}`);
    }
    files.close();
  }
  return { opened, problems };
}

describe('whole snapshots, none of them where it was written', () => {
  it('has every file of the fixtures', () => {
    const { opened, problems } = openAll(metadataFiles(FIXTURES));
    expect(problems).toEqual([]);
    expect(opened).toBeGreaterThan(300);
  });
  it.runIf(HAS_CORPUS)('has every file of the corpus', () => {
    expect(openAll(metadataFiles(`${SHARED}/corpus`)).problems).toEqual([]);
  });
  it.runIf(HAS_STATED)('has every file of the stated snapshots', () => {
    expect(openAll(metadataFiles(`${SHARED}/stated`)).problems).toEqual([]);
  });
});
