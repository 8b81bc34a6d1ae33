/** Pairs of savepoints with Flink's own verdict on restoring one into the other's job. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckOptions, checkParallelism, checkRestore, isFailure } from '../../src/check/restore.js';
import { openSnapshot } from '../../src/tables/snapshot.js';

const root = join(process.env['STATEQUERY_SHARED'] ?? '../shared', 'stated/compat');

interface Verdict {
  readonly restored: boolean;
  readonly allow_non_restored_state: boolean;
  readonly new: { readonly backend: 'hashmap' | 'rocksdb' };
}

function check(name: string, options: CheckOptions): string[] {
  const old = openSnapshot(join(root, name, 'old'));
  const next = openSnapshot(join(root, name, 'new'));
  try {
    return checkRestore(old, next, options)
      .filter(isFailure)
      .map(f => f.reason);
  } finally {
    old.close();
    next.close();
  }
}

/** Byte for byte the same savepoints were taken on both backends, or with another option of the restore: only the options tell them apart. */
const NEEDS_OPTIONS = /^1\.20-(avro-enum-symbol-removed-default|avro-field-added-default|map-key-evolved)-hashmap$|-allow-/;

const names = existsSync(root) ? readdirSync(root).filter(n => existsSync(join(root, n, 'verdict.json'))) : [];

describe.runIf(names.length > 0)('check agrees with Flink', () => {
  it.each(names)('%s', name => {
    const verdict = JSON.parse(readFileSync(join(root, name, 'verdict.json'), 'utf8')) as Verdict;
    const options: CheckOptions = NEEDS_OPTIONS.test(name)
      ? { backend: verdict.new.backend, allowNonRestoredState: verdict.allow_non_restored_state }
      : {};
    const failures = check(name, options);
    expect({ restored: failures.length === 0, failures }).toMatchObject({ restored: verdict.restored });
  });
});

describe('check --parallelism', () => {
  const fixture = join(import.meta.dirname, '../../fixtures/snapshots/2.3-wordcount-rocksdb-canonical/snapshot');
  it('tells how key groups spread, and what does not fit', () => {
    const snapshot = openSnapshot(fixture);
    const reasons = (n: number) =>
      checkParallelism(snapshot, n)
        .filter(f => f.operator?.uid === 'word-count')
        .map(f => [f.verdict, f.reason]);
    expect(reasons(3)).toEqual([['ok', '42 to 43 key groups a subtask, of 128']]);
    expect(reasons(128)).toEqual([['ok', '1 key groups a subtask, of 128']]);
    expect(reasons(129)).toEqual([['fails', 'parallelism 129 is above the max parallelism 128 of the snapshot']]);
    snapshot.close();
  });
});
