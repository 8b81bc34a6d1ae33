/** The shape of the source: imports go only to earlier layers, and every package is imported in one place. */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const SRC = join(ROOT, 'src');

/** An import goes only from a later to an earlier (or the same) one. */
const LAYERS = [
  'types',
  'errors',
  'io',
  'sst',
  'java',
  'checkpoint',
  'serializers',
  'state',
  'connectors',
  'proto',
  'names',
  'tables',
  'inspect',
  'stateinfo',
  'check',
  'workers',
  'sql',
  'output',
  'cli',
  'index',
];

/** The one file or folder that imports a package. */
const PLACES: Readonly<Record<string, string>> = {
  '@bokuweb/zstd-wasm': 'io/zstd.ts',
  '@duckdb/node-bindings': 'sql/duckdb/',
  '@openpgp/seek-bzip': 'io/',
  alasql: 'sql/alasql/',
  chalk: 'output/color.ts',
  commander: 'cli/',
  protobufjs: 'proto/schema.ts',
  'string-width': 'output/width.ts',
  yaml: 'names/yaml.ts',
};

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(f => f.endsWith('.ts'));
const imports: readonly Import[] = files.flatMap(file => {
  const text = readFileSync(join(SRC, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  const found = text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm);
  return [...found].map(m => ({ file, target: m[1] ?? m[2] ?? m[3] }));
});

const layerOf = (path: string): string => path.split('/')[0].replace(/\.ts$/, '');

describe('layers', () => {
  it('are all known', () => {
    expect([...new Set(files.map(layerOf))].filter(layer => !LAYERS.includes(layer))).toEqual([]);
  });
  it('import only from earlier ones', () => {
    const wrong = imports
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, target }) => ({ file, to: relative(SRC, resolve(SRC, dirname(file), target)) }))
      .filter(({ file, to }) => LAYERS.indexOf(layerOf(to.replace(/\.js$/, ''))) > LAYERS.indexOf(layerOf(file)));
    expect(wrong).toEqual([]);
  });
});

describe('packages', () => {
  const packages = imports.filter(({ target }) => !target.startsWith('.'));
  const nameOf = (target: string): string =>
    target
      .split('/')
      .slice(0, target.startsWith('@') ? 2 : 1)
      .join('/');
  const isBuiltin = (target: string): boolean => target.startsWith('node:');

  it("of Node's own carry the node: prefix", () => {
    expect(packages.filter(({ target }) => builtinModules.includes(target))).toEqual([]);
  });
  it('are imported in one place each', () => {
    const wrong = packages
      .filter(({ target }) => !isBuiltin(target))
      .filter(({ file, target }) => {
        const place = PLACES[nameOf(target)];
        return place === undefined || !(place.endsWith('/') ? file.startsWith(place) : file === place);
      });
    expect(wrong).toEqual([]);
  });
  it('listed here are used', () => {
    const used = new Set(packages.map(({ target }) => nameOf(target)));
    expect(Object.keys(PLACES).filter(name => !used.has(name))).toEqual([]);
  });
});

describe('names', () => {
  it('are exported by name', () => {
    expect(files.filter(f => /^export default /m.test(readFileSync(join(SRC, f), 'utf8')))).toEqual([]);
  });
});
