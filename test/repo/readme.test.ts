/** README.md is what the program does: its parts are made anew and compared, and everything that the contract names is in it. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { renderReadme } from '../../scripts/readme.js';
import { createProgram } from '../../src/cli/program.js';
import { TABLES } from '../../src/tables/catalog.js';
import { ensureBuilt } from '../cli/run.js';

const ROOT = resolve(import.meta.dirname, '../..');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

describe('README.md', () => {
  beforeAll(ensureBuilt);
  it('is up to date (npm run readme)', () => {
    expect(renderReadme(readme)).toBe(readme);
  });
  it('names every command, option and table', () => {
    const program = createProgram('0.0.0');
    const commands = program.commands.filter(c => c.name() !== 'help');
    const words = commands.flatMap(c => [c, ...c.commands]).flatMap(c => [c.name(), ...c.options.flatMap(o => o.long ?? [])]);
    expect(words.filter(word => !readme.includes(word) && word !== 'help')).toEqual([]);
    expect(TABLES.flatMap(({ spec }) => [spec.name, ...spec.aliases]).filter(name => !readme.includes(name))).toEqual([]);
  });
  it('has commands that exist', () => {
    const program = createProgram('0.0.0');
    const named = [...readme.matchAll(/statequery ([a-z]+)/g)].map(m => m[1]);
    const known = new Set([...program.commands.map(c => c.name()), 'reads', 'on']);
    expect([...new Set(named)].filter(name => !known.has(name))).toEqual([]);
  });
});
