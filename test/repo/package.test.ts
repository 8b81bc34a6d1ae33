/** What is published: exact versions, no download addresses, a package that holds only what runs. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../cli/run.js';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
const manifest = JSON.parse(read('package.json')) as Manifest;

describe('package.json', () => {
  it('pins every version', () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
  it('has no script without its file', () => {
    const paths = Object.values(manifest.scripts).flatMap(s =>
      [...s.matchAll(/\b(?:scripts|bin|test|fixtures)\/[\w./-]+/g)].map(m => m[0]),
    );
    expect(paths.filter(path => !existsSync(join(ROOT, path)))).toEqual([]);
  });
  it('needs at run time only what is not bundled: native parts and what is loaded when wanted', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['@duckdb/node-bindings']);
  });
});

describe('the lock file', () => {
  it('carries no download addresses', () => {
    expect(read('package-lock.json')).not.toContain('"resolved": "http');
  });
});

describe('the package', () => {
  let packed: readonly string[] = [];
  beforeAll(async () => {
    await ensureBuilt();
    const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, encoding: 'utf8' });
    packed = (JSON.parse(out) as { files: { path: string }[] }[])[0].files.map(f => f.path);
  });
  it('holds what runs and nothing else', () => {
    const expected =
      /^(package\.json|README\.md|CHANGELOG\.md|LICENSE|bin\/(statequery|load)\.js|bin\/package\.json|dist\/(cli|scan\.worker|lazy\/[\w-]+)\.cjs|dist\/[\w.-]+\.js|dist\/chunks\/[\w.-]+\.js|dist\/types\/.*\.d\.ts|dist\/THIRD-PARTY-LICENSES\.txt)$/;
    expect(packed.filter(path => !expected.test(path))).toEqual([]);
  });
  it('holds the command, the library and its chunks', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'bin/statequery.js',
        'dist/cli.cjs',
        'dist/scan.worker.cjs',
        'dist/index.js',
        'dist/scan.worker.js',
        'dist/types/index.d.ts',
        'bin/load.js',
        'package.json',
        'README.md',
        'LICENSE',
      ]),
    );
  });
});

describe('the repository', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(f => f !== '' && existsSync(join(ROOT, f)));
  const texts = tracked.filter(
    f => /\.(ts|js|mjs|json|md|java|xml|sh|proto)$|^\.ci\/|^\.npmrc$/.test(f) && !f.startsWith('fixtures/snapshots/'),
  );
  it('names no registry and no machine', () => {
    const hosts = ['registry.np' + 'mjs', 'repo1.mav' + 'en', 'repo.mav' + 'en.apache', 'pypi' + '.org'];
    const machine = new RegExp('(^|[^a-z.])/(wo' + 'rk|fa' + 'rm)/');
    expect(texts.filter(f => hosts.some(h => read(f).includes(h)) || machine.test(read(f)))).toEqual([]);
  });
  it('has no file above 2 MiB', () => {
    const sizes = execFileSync('git', ['ls-files', '-s', '-z'], { cwd: ROOT, encoding: 'utf8' });
    expect(sizes.length).toBeGreaterThan(0);
    expect(tracked.filter(f => readFileSync(join(ROOT, f)).length > 2 << 20)).toEqual([]);
  });
  it('skips no test', () => {
    const marks = new RegExp(`\\b(it|test|describe)\\.(sk${'ip'}|on${'ly'}|to${'do'})\\(`);
    expect(tracked.filter(f => f.startsWith('test/') && f.endsWith('.ts') && marks.test(read(f)))).toEqual([]);
  });
});
