/** Snapshots that the tests read: the repository's own fixtures, and the shared folders where they are present. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const SHARED = process.env.STATEQUERY_SHARED ?? join(ROOT, '..', 'shared');
export const HAS_CORPUS = existsSync(join(SHARED, 'corpus'));
export const HAS_STATED = existsSync(join(SHARED, 'stated'));
export const FIXTURES = join(ROOT, 'fixtures', 'snapshots');

/** All `_metadata` files below a directory. */
export function metadataFiles(directory: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) found.push(...metadataFiles(path));
    else if (entry.name === '_metadata') found.push(path);
  }
  return found.sort();
}

/** A generator of pseudo-random 32-bit numbers (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}
