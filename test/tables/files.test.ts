/** state_handles, files and raw_state of real snapshots. */
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableObjects } from '../../src/cli/table-rows.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { fixture, HAS_SHARED, hexOf, rowsOf, stated, sum } from './support.js';

const SNAPSHOTS = [
  fixture('2.3-kinds-rocksdb-incremental-p1'),
  fixture('2.3-operators-hashmap-checkpoint-merged'),
  fixture('2.3-small-hashmap-checkpoint-inline'),
  fixture('1.20-small-rocksdb-canonical'),
  ...(HAS_SHARED ? [stated('1.20-kinds-rocksdb-incremental-merged'), stated('1.20-kinds-rocksdb-incremental-claim')] : []),
];

describe.each(SNAPSHOTS)('%s', path => {
  const files = rowsOf(path, 'files');
  const handles = rowsOf(path, 'state_handles');
  it('files are all there, with their sizes', () => {
    expect(files[0]['role']).toBe('metadata');
    for (const file of files) {
      expect([file['path'], file['present'], file['complete']]).toEqual([file['path'], true, true]);
      expect(BigInt(statSync(String(file['path'])).size)).toBe(file['size_bytes']);
    }
    expect(sum(files, 'referenced_bytes')).toBe(rowsOf(path, 'snapshot')[0]['total_size_in_bytes']);
  });
  it('every handle with a path is in files, and its bytes add up', () => {
    const paths = new Set(files.map(f => f['path']));
    const withPath = handles.filter(h => h['handle_path'] !== null);
    expect(withPath.filter(h => !paths.has(h['path'] as string))).toEqual([]);
    expect(BigInt(withPath.length)).toBe(sum(files.slice(1), 'handles'));
    expect(sum(handles, 'size_bytes')).toBe(sum(rowsOf(path, 'operators'), 'total_size_in_bytes'));
  });
});

it('a file that is not there is said', () => {
  const path = fixture('2.3-small-rocksdb-incremental');
  if (!existsSync(path)) return;
  const [first] = rowsOf(path, 'state_handles').filter(h => h['role'] === 'shared');
  expect(first['handle_class']).toBe('IncrementalRemoteKeyedStateHandle');
  expect(String(first['local_name'])).toMatch(/^\d{6}\.sst$/);
  expect(basename(String(first['path']))).toBe(basename(String(first['handle_path'])));
});

describe('raw_state', () => {
  it('has a row a partition and a row a key group', () => {
    const rows = rowsOf(fixture('2.3-raw-rocksdb-checkpoint'), 'raw_state');
    const partitions = rows
      .filter(r => r['state_kind'] === 'raw-operator')
      .map(r => Buffer.from(r['value_bytes'] as Uint8Array).toString());
    expect(partitions).toHaveLength(6);
    for (const [i, text] of partitions.entries()) expect(text.startsWith(`partition ž ${i % 3} `)).toBe(true);
    const groups = rows.filter(r => r['state_kind'] === 'raw-keyed');
    expect(groups.map(r => r['key_group'])).toEqual([7, 15, 18, 86, 94, 113, 126, 127]);
    // i32 count, then i64s
    for (const { value_bytes: bytes, value_size: size } of groups)
      expect(BigInt(4 + 8 * parseInt(hexOf(bytes).slice(0, 8), 16))).toBe(size);
  });
});

describe('a checkpoint that is removed while it is read', () => {
  it('is said as such', () => {
    const directory = mkdtempSync(join(tmpdir(), 'statequery-removed-'));
    try {
      cpSync(fixture('2.3-small-hashmap-native'), directory, { recursive: true });
      const snapshot = openSnapshot(directory);
      rmSync(directory, { recursive: true });
      expect(() => tableObjects(snapshot, 'keyed_state_raw')).toThrow('the snapshot vanished while it was being read');
      snapshot.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
