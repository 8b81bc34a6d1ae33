/** Annotations of real files cover every byte once. */
import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inspectFile, type Note } from '../../src/inspect/inspect.js';
import { fixture, HAS_SHARED, rowsOf, stated } from '../tables/support.js';

const SNAPSHOTS = [
  fixture('2.3-kinds-hashmap-native'),
  fixture('2.3-kinds-hashmap-canonical'),
  fixture('2.3-kinds-hashmap-canonical-snappy'),
  fixture('2.3-kinds-rocksdb-incremental-p1'),
  fixture('2.3-kinds-forst-incremental-v2async-p1'),
  fixture('2.3-kinds-hashmap-checkpoint-changelog-nomat'),
  fixture('2.3-operators-hashmap-native-snappy'),
  fixture('2.3-operators-hashmap-checkpoint-merged'),
  fixture('2.3-inflight-hashmap-checkpoint'),
  fixture('2.3-raw-rocksdb-checkpoint'),
  fixture('1.20-windows-hashmap-canonical'),
  fixture('1.17-raw-hashmap-canonical'),
  ...(HAS_SHARED
    ? [
        '1.20-kinds-rocksdb-incremental-partitioned',
        '1.20-kinds-rocksdb-incremental-merged',
        '1.20-kinds-rocksdb-incremental-changelog-dstlsnappy',
        '1.20-kinds-hashmap-canonical-p4-mp4096',
        '1.20-kinds-hashmap-checkpoint-rescaled3',
        '1.20-inflight-hashmap-checkpoint-onefile',
      ].map(stated)
    : []),
];

function checkCoverage(notes: readonly Note[], size: number): void {
  let at = 0;
  for (const note of notes) {
    if (note.length === 0) continue;
    if (note.offset !== at) throw new Error(`${note.field} begins at ${note.offset}, expected ${at}`);
    at += note.length;
  }
  expect(at).toBe(size);
}

describe.each(SNAPSHOTS)('%s', path => {
  const files = rowsOf(path, 'files').map(f => [String(f['role']), String(f['path'])] as const);
  it.each(files)('%s %s', (role, file) => {
    const notes = [...inspectFile(file)];
    checkCoverage(notes, statSync(file).size);
    const vague = notes.filter(n => /^(header: )?(not (readable|interpreted|known|referred to)|no )|further/.test(n.field) && n.length > 0);
    // a merged file has segments of other checkpoints
    const merged = vague.every(n => n.field === 'not referred to by this snapshot');
    expect(merged ? [] : vague.map(n => `${role} ${n.offset} ${n.length} ${n.field} ${n.value.slice(0, 40)}`)).toEqual([]);
    const some = [...inspectFile(file, { entries: 3 })];
    checkCoverage(some, statSync(file).size);
    expect(some.length).toBeLessThanOrEqual(notes.length + 1);
  });
});
