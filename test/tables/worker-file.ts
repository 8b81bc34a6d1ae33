/** The worker thread, built out of the source as it is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../..');

export interface BuiltWorker {
  readonly file: string;
  remove(): void;
}

export async function buildWorker(): Promise<BuiltWorker> {
  const directory = mkdtempSync(join(tmpdir(), 'statequery-worker-'));
  const file = join(directory, 'scan.worker.cjs');
  await build({
    entryPoints: [join(ROOT, 'src/workers/scan.worker.ts')],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['@duckdb/node-bindings', '@bokuweb/zstd-wasm', '@openpgp/seek-bzip'],
    define: { STATEQUERY_VERSION: '"test"', 'import.meta.url': '__url' },
    banner: { js: "const __url=require('node:url').pathToFileURL(__filename).href;" },
    nodePaths: [join(ROOT, 'node_modules')],
    logLevel: 'error',
  });
  return { file, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
