/** Runs the built command as a user does: a process, its streams and its exit code. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
export const BIN = join(ROOT, 'bin/statequery.js');
export const WORDCOUNT = join(ROOT, 'fixtures/snapshots/2.3-wordcount-rocksdb-canonical/snapshot');

let building: Promise<void> | undefined;

/** Builds dist/ when a source file is newer than it. */
export function ensureBuilt(): Promise<void> {
  building ??= isFresh() ? Promise.resolve() : build();
  return building;
}

function isFresh(): boolean {
  const built = join(ROOT, 'dist/cli.cjs');
  if (!existsSync(built) || !existsSync(join(ROOT, 'dist/types/index.d.ts'))) return false;
  const at = statSync(built).mtimeMs;
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).map(f => join(ROOT, 'src', f));
  return [...sources, join(ROOT, 'scripts/build.mjs'), join(ROOT, 'package.json')].every(f => statSync(f).mtimeMs <= at);
}

function build(): Promise<void> {
  const args = existsSync(join(ROOT, 'dist/types/index.d.ts')) ? ['--code'] : [];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [join(ROOT, 'scripts/build.mjs'), ...args], error => (error === null ? resolve() : reject(error)));
  });
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Runs `statequery args…`. The environment has none of our variables but those given. */
export async function statequery(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  await ensureBuilt();
  const env: NodeJS.ProcessEnv = { ...process.env, ...options.env };
  for (const name of ['STATEQUERY_SNAPSHOT', 'STATEQUERY_OUTPUT', 'FORCE_COLOR']) if (options.env?.[name] === undefined) delete env[name];
  return new Promise(resolve => {
    const child = spawn(process.execPath, [BIN, ...args], { env, cwd: options.cwd ?? ROOT, stdio: ['pipe', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('close', code =>
      resolve({ code, stdout: Buffer.concat(stdout).toString('utf8'), stderr: Buffer.concat(stderr).toString('utf8') }),
    );
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}
