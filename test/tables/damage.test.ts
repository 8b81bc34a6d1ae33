/** Damaged copies (damage.ts): a right answer or an error, each time. `npm run fuzz` does many more. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { DamagedCopy } from './damage.js';
import { fixture } from './support.js';

const temporary = mkdtempSync(join(tmpdir(), 'statequery-damage-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

it.each([
  '2.3-small-rocksdb-incremental',
  '2.3-small-forst-incremental',
  '2.3-small-hashmap-canonical-snappy',
  '2.3-small-hashmap-checkpoint-changelog-nomat',
  '2.3-small-hashmap-checkpoint-merged',
  '2.3-small-rocksdb-canonical',
  '2.3-inflight-hashmap-checkpoint',
  '1.20-small-hashmap-native',
])('%s', name => {
  const copy = new DamagedCopy(fixture(name), join(temporary, name));
  const wrong = Array.from({ length: 12 }, (_, i) => copy.round(1000 + i)).filter(found => found !== undefined);
  expect(wrong).toEqual([]);
});
