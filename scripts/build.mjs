/**
 * Builds dist/: two entries (the command and the library) with their shared chunks, declarations, and the licences of what is bundled.
 *
 *   node scripts/build.mjs             everything
 *   node scripts/build.mjs --code      JavaScript only (what the tests of the command need)
 *
 * What package.json lists under dependencies and optionalDependencies stays outside and is loaded when a statement needs it; every
 * devDependency that the source imports is bundled, so an installation brings no other package. Modules behind `import()` become
 * chunks of their own: `--help` loads none of the engines, codecs or parsers.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const pkg = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const codeOnly = process.argv.includes('--code');

// alasql reaches for the others on other platforms, and for a spreadsheet module that no statement we allow can use
const notOurs = ['react-native', 'react-native-fs', 'react-native-fetch-blob', '*/xlsx'];

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

/** Files that others start by path (worker threads) are entries of their own. */
function workers(dir = join(root, 'src')) {
  return readdirSync(dir, { withFileTypes: true }).flatMap(entry => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return workers(path);
    return entry.name.endsWith('.worker.ts') ? [path] : [];
  });
}

async function code(outdir) {
  const entryPoints = { cli: join(root, 'src/cli/main.ts'), index: join(root, 'src/index.ts') };
  for (const path of workers()) entryPoints[basename(path, '.ts')] = path;
  const result = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...Object.keys(pkg.dependencies ?? {}), ...Object.keys(pkg.optionalDependencies ?? {}), ...notOurs],
    chunkNames: 'chunks/[name]-[hash]',
    plugins: [noChildProcess],
    define: { STATEQUERY_VERSION: JSON.stringify(pkg.version) },
    // bundled CommonJS packages ask for Node's own modules
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url); const __dirname = new URL('.', import.meta.url).pathname;",
    },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    logOverride: { 'direct-eval': 'silent' },
  });
  return result.metafile;
}

/** The licence texts of the packages whose files went into the bundle. */
function licences(metafile) {
  const packages = new Map();
  for (const input of Object.keys(metafile.inputs)) {
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

function declarations() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return new Promise((resolve, reject) => {
    spawn(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' }).on('exit', status =>
      status === 0 ? resolve() : reject(new Error(`tsc ended with ${status}`)),
    );
  });
}

/** Puts the finished files in place; a process that runs from dist meanwhile still finds its chunks. */
function install(from) {
  mkdirSync(join(dist, 'chunks'), { recursive: true });
  for (const entry of readdirSync(from, { recursive: true })) {
    if (!statSync(join(from, entry)).isFile()) continue;
    mkdirSync(dirname(join(dist, entry)), { recursive: true });
    renameSync(join(from, entry), join(dist, entry));
  }
}

/** Chunks of earlier builds that nothing refers to any more. */
function sweep(metafile, outdir) {
  const current = new Set(Object.keys(metafile.outputs).map(path => relative(outdir, join(root, path))));
  for (const name of readdirSync(join(dist, 'chunks')))
    if (!current.has(join('chunks', name))) rmSync(join(dist, 'chunks', name), { force: true });
}

const staging = join(root, `dist.${process.pid}`);
try {
  if (!codeOnly) rmSync(join(dist, 'types'), { recursive: true, force: true });
  const [metafile] = await Promise.all([code(staging), codeOnly ? undefined : declarations()]);
  install(staging);
  if (!codeOnly) {
    sweep(metafile, staging);
    writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licences(metafile));
  }
} finally {
  if (existsSync(staging)) rmSync(staging, { recursive: true, force: true });
}
