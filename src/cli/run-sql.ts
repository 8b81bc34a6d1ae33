/** What `sql` does: statements from the command line, a file or standard input; each result to standard output. */
import { existsSync, readFileSync } from 'node:fs';
import { UsageError } from '../errors.js';
import { fileError, ReadStats } from '../io/source.js';
import type { OutputFormat, ResultRows } from '../output/format.js';
import { type Database, openDatabase, type QueryResult } from '../sql/engine.js';
import { explanationRows, keptLines } from '../sql/explain.js';
import { splitStatements } from '../sql/text.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import type { SqlFlags } from './commands/sql.js';
import { interruptible } from './interrupt.js';
import type { QueryFlags } from './options.js';
import { Progress } from './progress.js';
import { finishReading, openWith, snapshotPath } from './reading.js';
import type { Session } from './session.js';

export async function runSql(first: string | undefined, second: string | undefined, flags: SqlFlags, session: Session): Promise<void> {
  const { text, path } = await statementsAndPath(first, second, flags, session);
  session.checkResults(splitStatements(text).length);
  const parameters = parseParameters(flags.param);
  const stats = new ReadStats();
  const snapshots = await openSnapshots(path, flags, session, stats);
  try {
    await interruptible(async signal => {
      const database = await openDatabaseFor(snapshots, flags, session, signal);
      const progress = new Progress(session, stats);
      try {
        for await (const result of database.query(text, parameters)) {
          await session.write(shownRows(result, session.format, progress));
          tellScans(result, session);
        }
      } finally {
        progress.end();
        await database.close();
      }
    });
    finishReading([...snapshots.values()], session);
  } finally {
    for (const snapshot of snapshots.values()) snapshot.close();
  }
}

/** The rows of a result; of EXPLAIN in the json forms the fields of its document instead of lines. */
export function shownRows(result: QueryResult, format: OutputFormat, progress: Progress): ResultRows {
  if (result.explanation !== undefined && (format === 'json' || format === 'ndjson')) return explanationRows(result.explanation, 'fields');
  return { columns: result.columns, batches: progress.watch(result.batches) };
}

/** With -v: what the scans of a statement touched. */
export function tellScans(result: QueryResult, session: Session): void {
  if (session.flags.verbose === 0) return;
  for (const scan of result.scans?.() ?? []) {
    const kept = keptLines(scan).map(([label, text]) => `${label} ${text}`);
    session.detail(`${scan.snapshot}.${scan.table}: ${kept.length === 0 ? 'of the whole snapshot' : kept.join(', ')}`);
  }
}

export function openDatabaseFor(
  snapshots: ReadonlyMap<string, OpenedSnapshot>,
  flags: QueryFlags,
  session: Session,
  signal?: AbortSignal,
): Promise<Database> {
  return openDatabase({
    snapshots: new Map([...snapshots].map(([alias, snapshot]) => [alias, snapshot.catalog])),
    engine: flags.engine,
    onRunaway: error => session.die(error),
    ...(signal === undefined ? {} : { signal }),
    ...(flags.threads === undefined ? {} : { threads: flags.threads }),
    ...(flags.maxMemory === undefined ? {} : { memoryLimit: memorySize(flags.maxMemory) }),
    ...(flags.timeout === undefined ? {} : { timeoutMs: Math.ceil(flags.timeout * 1000) }),
  });
}

/** The alias of the one snapshot that has none. */
export const ALONE = 'snapshot';
const REFUSED = ['main', 'temp', 'system', 'pg_catalog', 'information_schema'];

/** `alias=path` → both; `./a=b` is a path. @throws UsageError */
export function parseSnapshotOption(text: string): { readonly alias: string | undefined; readonly path: string } {
  const named = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text);
  if (named === null) return { alias: undefined, path: text };
  const [, alias, path] = named;
  if (REFUSED.includes(alias.toLowerCase()))
    throw new UsageError(`${alias} cannot be the name of a snapshot`, { hint: 'the SQL engine uses it itself' });
  if (path === '') throw new UsageError(`-s ${text}: there is no path after the name`);
  return { alias, path };
}

/** Opens the snapshots of the command line, by alias. @throws UsageError, and what opening throws */
export async function openSnapshots(
  path: string | undefined,
  flags: SqlFlags,
  session: Session,
  stats: ReadStats,
): Promise<Map<string, OpenedSnapshot>> {
  const named = flags.snapshot.map(parseSnapshotOption);
  const all = path === undefined ? named : [{ alias: undefined, path }, ...named];
  if (all.length === 0) all.push({ alias: undefined, path: snapshotPath(undefined) });
  const opened = new Map<string, OpenedSnapshot>();
  try {
    for (const { alias, path } of all) {
      if (alias === undefined && all.length > 1)
        throw new UsageError(`of several snapshots each needs a name: ${path} has none`, {
          hint: `-s old=${path}; its tables are then old.keyed_state, …`,
        });
      const name = alias ?? ALONE;
      if ([...opened.keys()].some(other => other.toLowerCase() === name.toLowerCase()))
        throw new UsageError(`two snapshots are named ${name}`, { hint: 'names are compared without case' });
      opened.set(name, await openWith(path, flags, session, stats));
    }
  } catch (error) {
    for (const snapshot of opened.values()) snapshot.close();
    throw error;
  }
  return opened;
}

/** -p name=value, each once. @throws UsageError */
export function parseParameters(texts: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const text of texts) {
    const named = /^\$?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text);
    if (named === null) throw new UsageError(`-p ${text}: expected name=value`, { hint: '-p key=key_662, and $key in the statement' });
    if (parameters.has(named[1])) throw new UsageError(`-p ${named[1]} is given twice`);
    parameters.set(named[1], named[2]);
  }
  return parameters;
}

/** `512MB`, `2GiB`, `1.5 GB`, a number of bytes. @throws UsageError */
export function memorySize(text: string): string {
  const size = /^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*$/i.exec(text);
  if (size === null) throw new UsageError(`not a size: ${text}`, { hint: '--max-memory 512MB, 2GB' });
  const [, number, unit, binary] = size;
  // the engine does not start with less
  if (Number(number) * 1024 ** ' KMGT'.indexOf(unit === '' ? ' ' : unit.toUpperCase()) < 1_000_000)
    throw new UsageError(`--max-memory ${text} is too small`, { hint: '--max-memory 512MB, 2GB' });
  return unit === '' ? `${Math.ceil(Number(number))}B` : `${number}${unit.toUpperCase()}${binary === '' ? '' : 'i'}B`;
}

async function statementsAndPath(first: string | undefined, second: string | undefined, flags: SqlFlags, session: Session) {
  if (flags.file !== undefined) {
    if (second !== undefined)
      throw new UsageError('too many arguments: with -f only the snapshot is one', { hint: 'statequery sql -f query.sql <snapshot>' });
    return { text: flags.file === '-' ? await readAll(session) : readText(flags.file), path: first };
  }
  if (first === undefined)
    throw new UsageError('no statement is given', {
      hint: 'statequery sql "FROM state_meta" <snapshot>, -f file.sql, or - for standard input',
    });
  if (first === '-') return { text: await readAll(session), path: second };
  if (!/\s/.test(first) && existsSync(first))
    throw new UsageError(`${first} is a file, not a statement`, {
      hint:
        second === undefined
          ? `statequery sql "FROM state_meta" ${first}, or -f ${first} if it holds the statements`
          : 'the statements come first, then the snapshot',
    });
  return { text: first, path: second };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw fileError(error, file);
  }
}

async function readAll(session: Session): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of session.streams.stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\ufeff/, '');
}
