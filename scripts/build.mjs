/**
 * Builds dist/:
 *
 *   cli.cjs     the command in one file, with cli.cache beside it (bin/load.js)
 *   lazy/       packages that few statements need, each a file of its own
 *   index.js    the library with its chunks, and types/
 *
 *   node scripts/build.mjs             everything
 *   node scripts/build.mjs --code      the command only (what its tests need)
 *
 * What package.json lists under dependencies and optionalDependencies stays outside and is loaded when a statement needs it; every
 * devDependency that the source imports is bundled, so an installation brings no other package. What stands behind `import()` is
 * evaluated when it is asked for: `--help` runs none of the engines, codecs or parsers.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const pkg = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const codeOnly = process.argv.includes('--code');

/** Large, and needed by few: loaded from files of their own when imported with `import()`. */
const LAZY = ['alasql', 'avsc', 'protobufjs', 'yaml'].filter(name => usesPackage(name));

/** alasql reaches for these on other platforms, and for a spreadsheet module that no statement we allow can use */
const NOT_OURS = ['react-native', 'react-native-fs', 'react-native-fetch-blob', '*/xlsx'];

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  external: [...Object.keys(pkg.dependencies ?? {}), ...Object.keys(pkg.optionalDependencies ?? {}), ...NOT_OURS],
  define: { STATEQUERY_VERSION: JSON.stringify(pkg.version) },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  logOverride: { 'direct-eval': 'silent' },
};

/** In the bundle of the command. */
const cjs = {
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  // the bundle runs as a script, which has require() and no import()
  supported: { 'dynamic-import': false },
  define: { ...common.define, 'import.meta.url': '__bundleUrl' },
  banner: { js: "const __bundleUrl=require('node:url').pathToFileURL(__filename).href;" },
};

/** commander can start other programs for commands that are files of their own; we have none, and loading the module costs 6 ms. */
const noChildProcess = {
  name: 'no-child-process',
  setup(build) {
    build.onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('node_modules/commander/') ? { path: 'child_process', namespace: 'none' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: 'module.exports = {};' }));
  },
};

const lazyPackages = {
  name: 'lazy-packages',
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind === 'dynamic-import' && LAZY.includes(path) ? { path: `./lazy/${path}.cjs`, external: true } : undefined,
    );
  },
};

function usesPackage(name) {
  return sources().some(path => readFileSync(path, 'utf8').includes(`import('${name}')`));
}

function sources(dir = join(root, 'src')) {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts'))
    .map(path => join(dir, path));
}

/** Files that others start by path (worker threads) are entries of their own. */
const workers = () =>
  Object.fromEntries(
    sources()
      .filter(p => p.endsWith('.worker.ts'))
      .map(p => [basename(p, '.ts'), p]),
  );

async function command(outdir) {
  const [main, lazy] = await Promise.all([
    build({
      ...common,
      ...cjs,
      entryPoints: { cli: join(root, 'src/cli/main.ts'), ...workers() },
      outdir,
      plugins: [noChildProcess, lazyPackages],
      write: true,
    }),
    build({ ...common, ...cjs, banner: {}, entryPoints: Object.fromEntries(LAZY.map(name => [name, name])), outdir: join(outdir, 'lazy') }),
  ]);
  const file = join(outdir, 'cli.cjs');
  const text = readFileSync(file);
  writeFileSync(file, Buffer.concat([Buffer.from(`//${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n`), text]));
  return [main.metafile, lazy.metafile];
}

async function library(outdir) {
  const result = await build({
    ...common,
    entryPoints: { index: join(root, 'src/index.ts'), ...workers() },
    outdir,
    splitting: true,
    format: 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    // bundled CommonJS packages ask for Node's own modules
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url); const __dirname = new URL('.', import.meta.url).pathname;",
    },
  });
  return [result.metafile];
}

function declarations() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return new Promise((resolve, reject) => {
    spawn(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' }).on('exit', status =>
      status === 0 ? resolve() : reject(new Error(`tsc ended with ${status}`)),
    );
  });
}

/** The licence texts of the packages whose files went into the bundles. */
function licences(metafiles) {
  const packages = new Map();
  for (const input of metafiles.flatMap(m => Object.keys(m.inputs))) {
    const found = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(input);
    if (found) packages.set(found[2], join(root, found[1]));
  }
  const parts = [...packages].sort().map(([name, dir]) => {
    const { version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    const file = readdirSync(dir).find(f => /^licen[cs]e/i.test(f));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(dir, file), 'utf8').trim();
    return `${name} ${version}\n\n${text}\n`;
  });
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** Puts finished files in place, each at once: a process that starts meanwhile finds whole files. */
function install(from) {
  const files = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter(entry => statSync(join(from, entry)).isFile());
  for (const entry of files) {
    mkdirSync(dirname(join(dist, entry)), { recursive: true });
    renameSync(join(from, entry), join(dist, entry));
  }
  return files;
}

/** Removes what earlier builds left. */
function sweep(current) {
  const keep = new Set(current);
  for (const entry of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
    if (existsSync(join(dist, entry)) && statSync(join(dist, entry)).isFile() && !keep.has(entry) && !entry.startsWith('types'))
      rmSync(join(dist, entry), { force: true });
}

const staging = join(root, `dist.${process.pid}`);
try {
  mkdirSync(dist, { recursive: true });
  if (!codeOnly) rmSync(join(dist, 'types'), { recursive: true, force: true });
  const metafiles = (await Promise.all([command(staging), ...(codeOnly ? [] : [library(staging), declarations()])])).flat().filter(Boolean);
  if (!codeOnly) writeFileSync(join(staging, 'THIRD-PARTY-LICENSES.txt'), licences(metafiles));
  const installed = install(staging);
  if (!codeOnly) sweep(installed);
  await promisify(execFile)(process.execPath, [join(root, 'scripts/code-cache.cjs')]);
} finally {
  if (existsSync(staging)) rmSync(staging, { recursive: true, force: true });
}
