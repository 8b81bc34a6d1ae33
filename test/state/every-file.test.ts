/** Every file of state of the fixtures is read to its last byte. */
import { describe, expect, it } from 'vitest';
import { FIXTURES } from './snapshots.js';
import { walkAll } from './walk.js';

describe('the fixtures of the repository', () => {
  it('are read to their last byte', () => {
    const { snapshots, entries, refused } = walkAll(FIXTURES);
    expect(refused).toEqual([]);
    expect(snapshots).toBeGreaterThan(4);
    expect(entries).toBeGreaterThan(2000);
  });
});
