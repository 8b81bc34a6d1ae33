/**
 * What commands load: one bundled file, and the engine only for statements. A file that is not loaded costs no time, on any machine.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT, statequery, WORDCOUNT } from './run.js';

const directory = mkdtempSync(join(tmpdir(), 'statequery-start-up-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Writes, at the end of a process, what it has loaded of files. */
const PRELOAD = `
const { writeFileSync } = require('node:fs');
const Module = require('node:module');
process.on('exit', () => {
  const files = Object.keys(Module._cache).filter(file => file !== __filename);
  const libraries = process.report.getReport().sharedObjects.filter(file => /duckdb|\\.node$/.test(file));
  writeFileSync(process.env.LOADED, JSON.stringify([...files, ...libraries]));
});
`;

/** Packages and files that a command loads, each once. */
async function loadedBy(args: readonly string[]): Promise<{ readonly code: number | null; readonly loaded: readonly string[] }> {
  const preload = join(directory, 'preload.cjs');
  const out = join(directory, 'loaded.json');
  writeFileSync(preload, PRELOAD);
  const { code } = await statequery(args, { env: { NODE_OPTIONS: `--require ${preload}`, LOADED: out } });
  const files = JSON.parse(readFileSync(out, 'utf8')) as readonly string[];
  const named = files.map(file => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? relative(ROOT, file));
  return { code, loaded: [...new Set(named)].sort() };
}

describe('what needs no engine loads none', () => {
  it('--version', async () => {
    expect(await loadedBy(['--version'])).toEqual({ code: 0, loaded: ['bin/statequery.js', 'package.json'] });
  });
  it.each([
    '--help',
    'sql --help',
    'meta SNAPSHOT',
    'meta SNAPSHOT --json',
    'schema SNAPSHOT',
    'schema SNAPSHOT keyed_state',
    'tables SNAPSHOT',
    'files SNAPSHOT',
    'ls SNAPSHOT',
    'verify SNAPSHOT',
    'uid hash word-count',
    'completion bash',
  ])('%s', async line => {
    const args = line.split(' ').map(word => (word === 'SNAPSHOT' ? WORDCOUNT : word));
    expect(await loadedBy(args)).toEqual({ code: 0, loaded: ['bin/load.js', 'bin/statequery.js'] });
  });
});

it('a statement loads one engine', async () => {
  const duckdb = await loadedBy(['sql', 'SELECT count(*) FROM keyed_state', WORDCOUNT]);
  expect(duckdb.code).toBe(0);
  expect(duckdb.loaded).toContain('@duckdb/node-bindings');
  expect(duckdb.loaded.filter(name => name.startsWith('dist/'))).toEqual([]);
  const alasql = await loadedBy(['sql', '--engine', 'alasql', 'SELECT count(*) FROM keyed_state', WORDCOUNT]);
  expect(alasql.code).toBe(0);
  expect(alasql.loaded.filter(name => name.startsWith('@duckdb/'))).toEqual([]);
  expect(alasql.loaded).toContain('dist/lazy/alasql.cjs');
});
