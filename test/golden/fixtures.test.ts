/**
 * Every committed fixture against the contents that its job states: each state's rows, cell by cell, none missing, none more.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openClassPool } from '../../src/java/jar.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { compareSnapshot, type Stated } from './compare.js';
import { parseExact } from './stated.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../fixtures');
const names = readdirSync(join(root, 'snapshots')).filter(n => existsSync(join(root, 'snapshots', n, 'fixture.json')));
const jar = join(root, 'classes.jar');

describe('fixtures say what their jobs stated', () => {
  it.each(names)('%s', name => {
    const directory = join(root, 'snapshots', name);
    const stated = parseExact(readFileSync(join(directory, 'fixture.json'), 'utf8')) as unknown as Stated;
    const snapshot = openSnapshot(
      dirname(join(directory, stated.metadata_path ?? 'snapshot/_metadata')),
      existsSync(jar) ? { classes: openClassPool([jar]) } : {},
    );
    try {
      expect(compareSnapshot(snapshot, stated)).toEqual([]);
    } finally {
      snapshot.close();
    }
  });
});
