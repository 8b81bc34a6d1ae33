/**
 * Scans that several threads read: rows, their order, errors, remarks and what was counted are those of one thread, for every backend,
 * with pieces of one key group each.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StateQueryError } from '../../src/errors.js';
import { BytesColumn, type Column, columnValue } from '../../src/io/column.js';
import { ReadStats } from '../../src/io/source.js';
import { type Opening, openAs } from '../../src/stateinfo/opening.js';
import type { OpenedSnapshot } from '../../src/tables/snapshot.js';
import type { Scan, ScanRequest } from '../../src/tables/table.js';
import { type PoolOptions, WorkerPool } from '../../src/workers/pool.js';
import { seeded } from '../checkpoint/shared.js';
import { fixture } from './support.js';
import { type BuiltWorker, buildWorker } from './worker-file.js';

let worker: BuiltWorker;
beforeAll(async () => {
  worker = await buildWorker();
});
afterAll(() => worker.remove());

interface Opened {
  readonly snapshot: OpenedSnapshot;
  readonly stats: ReadStats;
  readonly remarks: string[];
  readonly workers: WorkerPool;
}

async function open(path: string, options: PoolOptions = {}, more: Partial<Opening> = {}): Promise<Opened> {
  const remarks: string[] = [];
  const stats = new ReadStats();
  const opening: Opening = { path, asOfMillis: 1_700_000_000_000n, ...more };
  const workers = new WorkerPool(opening, { threshold: 0, pieceBytes: 1, worth: 0, file: worker.file, only: true, ...options });
  const snapshot = await openAs(opening, { stats, workers, warn: message => remarks.push(message) });
  return { snapshot, stats, remarks, workers };
}

interface Answer {
  readonly rows: readonly string[];
  readonly error: unknown;
  readonly remarks: readonly string[];
  readonly entries: number;
}

function text(value: unknown): string {
  return (
    JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v instanceof Uint8Array ? Buffer.from(v).toString('hex') : v)) ?? ''
  );
}

/** Also of what only the SQL engine understands: a text for all rows. */
function cell(column: Column, row: number): string {
  if (column instanceof BytesColumn && column.constant !== undefined) return text(Buffer.from(column.constant).toString('utf8'));
  return text(columnValue(column, row));
}

function drain(scan: Scan, rows: string[], columns: number): void {
  try {
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
      for (let row = 0; row < batch.length; row++) rows.push(batch.columns.map(c => cell(c, row)).join('|'));
      expect(batch.columns.length).toBe(columns);
    }
  } finally {
    scan.close();
  }
}

function errorText(error: unknown): unknown {
  if (!(error instanceof StateQueryError)) throw error;
  const { name, code, exitCode, message, file, offset, where, hint } = error;
  return { class: Object.getPrototypeOf(error).name, name, code, exitCode, message, file, offset, where, hint };
}

function answer(opened: Opened, table: string, threads: number, request: Partial<ScanRequest> = {}, only?: readonly string[]): Answer {
  const bound = opened.snapshot.catalog.find(table)?.bind([]);
  if (bound === undefined) throw new Error(`no table ${table}`);
  const columns = bound.columns
    .filter(c => only === undefined || only.includes(c.name))
    .map(c => ({ name: c.name, form: c.mixed ? ('json' as const) : ('value' as const) }));
  const rows: string[] = [];
  const before = opened.stats.mark();
  let error: unknown;
  try {
    drain(bound.scan({ columns, filters: [], threads, ...request }), rows, request.columns?.length ?? columns.length);
  } catch (thrown) {
    error = errorText(thrown);
  }
  return { rows, error, remarks: [...opened.remarks], entries: opened.stats.since(before).entriesDecoded };
}

const SNAPSHOTS = [
  '1.15-kinds-hashmap-canonical',
  '1.15-small-rocksdb-incremental',
  '1.17-small-hashmap-checkpoint-inline',
  '1.17-small-hashmap-native-snappy',
  '1.20-kinds-hashmap-native',
  '1.20-kinds-rocksdb-canonical',
  '1.20-nulls-hashmap-native',
  '2.3-keyed-rocksdb-native-p1',
  '2.3-kinds-forst-incremental-v2async-p1',
  '2.3-kinds-hashmap-canonical-snappy',
  '2.3-kinds-hashmap-checkpoint-changelog-nomat',
  '2.3-kinds-rocksdb-incremental-p1',
  '2.3-levels-rocksdb-incremental',
  '2.3-small-forst-incremental',
  '2.3-small-hashmap-checkpoint-changelog',
  '2.3-small-hashmap-checkpoint-merged',
  '2.3-small-hashmap-checkpoint-rescaled2to3',
  '2.3-small-hashmap-native-p4-mp4096',
  '2.3-small-rocksdb-canonical-heaptimers',
  '2.3-small-rocksdb-incremental-changelog',
  '2.3-small-rocksdb-incremental-merged-across',
  '2.3-small-rocksdb-incremental-mp32768',
  '2.3-windows-rocksdb-native-p1',
];

/** Snapshots whose parts are not divided. */
const WHOLE: ReadonlySet<string> = new Set(['2.3-small-hashmap-checkpoint-changelog', '2.3-small-rocksdb-incremental-changelog']);

/** Pieces of one key group, or of several where there are thousands. */
const pieceBytes = (name: string): number => (/mp32768/.test(name) ? 4096 : /mp4096/.test(name) ? 256 : 1);

describe.each(SNAPSHOTS)('%s', name => {
  it('has the same rows with several threads', async () => {
    const one = await open(fixture(name));
    const several = await open(fixture(name), { pieceBytes: pieceBytes(name) });
    try {
      for (const table of ['keyed_state_raw', 'keyed_state', 'timers']) {
        const wanted = answer(one, table, 1);
        for (const threads of [2, 3]) {
          const got = answer(several, table, threads);
          expect(got.rows).toEqual(wanted.rows);
          expect(got).toEqual(wanted);
          if ((table !== 'timers' || name.includes('windows')) && !WHOLE.has(name)) expect(several.workers.taken).toBeGreaterThan(1);
        }
        expect(answer(several, table, 3, { constants: true })).toEqual(answer(one, table, 1, { constants: true }));
        expect(answer(several, table, 3, { columns: [] })).toEqual(answer(one, table, 1, { columns: [] }));
      }
    } finally {
      one.snapshot.close();
      several.snapshot.close();
    }
  });
});

describe('damage', () => {
  const damaged = async (name: string, tables: readonly string[]): Promise<number> => {
    const directory = mkdtempSync(join(tmpdir(), 'statequery-damaged-'));
    let differing = 0;
    try {
      cpSync(fixture(name), directory, { recursive: true });
      const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .map(f => join(directory, f))
        .filter(f => !f.endsWith('_metadata') && statSync(f).isFile() && statSync(f).size > 2000);
      const random = seeded(7);
      for (let round = 0; round < 6; round++) {
        const file = files[random() % files.length];
        const bytes = readFileSync(file);
        const changed = Buffer.from(bytes);
        const at = 1000 + (random() % (bytes.length - 1000));
        for (let i = at; i < Math.min(bytes.length, at + 40); i++) changed[i] ^= 0x5a;
        writeFileSync(file, round === 5 ? bytes.subarray(0, at) : changed);
        const one = await open(directory);
        const several = await open(directory, { pieceBytes: 2000 });
        try {
          for (const table of tables) {
            const wanted = answer(one, table, 1);
            const got = answer(several, table, 2);
            expect(got.error).toEqual(wanted.error);
            expect(got.rows).toEqual(wanted.rows);
            if (wanted.error !== undefined) differing++;
          }
        } finally {
          one.snapshot.close();
          several.snapshot.close();
          writeFileSync(file, bytes);
        }
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
    return differing;
  };

  it.each([
    '2.3-kinds-hashmap-canonical',
    '1.20-kinds-hashmap-native',
    '2.3-kinds-hashmap-canonical-snappy',
    '2.3-keyed-rocksdb-native-p1',
    '2.3-small-rocksdb-incremental',
  ])('%s ends with the same error behind the same rows', async name => {
    expect(await damaged(name, ['keyed_state_raw'])).toBeGreaterThan(0);
  });
});

describe('an end before the end', () => {
  const half = async (use: (opened: Opened, scan: Scan) => void | Promise<void>) => {
    const opened = await open(fixture('2.3-keyed-rocksdb-native-p1'));
    const bound = opened.snapshot.catalog.find('keyed_state_raw')?.bind([]);
    const scan = bound?.scan({ columns: [{ name: 'key_json', form: 'value' }], filters: [], threads: 2 });
    if (scan === undefined) throw new Error('no scan');
    try {
      for (let i = 0; i < 5; i++) expect(scan.next()).toBeDefined();
      await use(opened, scan);
    } finally {
      scan.close();
      opened.snapshot.close();
    }
  };

  it('stops the workers, which then read another scan', async () => {
    await half((opened, scan) => {
      expect(opened.workers.taken).toBeGreaterThan(0);
      scan.close();
      expect(scan.next()).toBeUndefined();
      const rows = answer(opened, 'keyed_state', 2).rows.length;
      expect(opened.workers.taken).toBeGreaterThan(0);
      expect(answer(opened, 'keyed_state', 1).rows.length).toBe(rows);
    });
  });

  it('leaves a second scan beside the first to one thread', async () => {
    await half(opened => {
      const [beside, alone] = [answer(opened, 'keyed_state', 2), answer(opened, 'keyed_state', 1)];
      expect(beside.rows).toEqual(alone.rows);
    });
  });

  it('of the workers: the rest is read by the thread of the scan', async () => {
    await half((opened, scan) => {
      opened.workers.close();
      let rows = 0;
      for (let batch = scan.next(); batch !== undefined; batch = scan.next()) rows += batch.length;
      expect(rows).toBeGreaterThan(0);
    });
  });
});

it('one thread reads all where no worker can be started', async () => {
  const opened = await open(fixture('2.3-keyed-rocksdb-native-p1'), { file: '/there/is/no/worker.cjs', only: false });
  try {
    expect(answer(opened, 'keyed_state', 2).rows).toEqual(answer(opened, 'keyed_state', 1).rows);
  } finally {
    opened.snapshot.close();
  }
});

it('workers know what the snapshot was opened with: names, classes, times to live', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'statequery-names-'));
  const names = join(directory, 'names.yaml');
  writeFileSync(names, 'operators:\n  kinds-uid:\n    name: by hand\n');
  const name = '2.3-kinds-rocksdb-canonical';
  const ttl = [{ state: 'ttl', millis: 1000n }];
  const opened = await open(fixture(name), {}, { names: { names }, jars: [resolve(fixture(name), '../../../classes.jar')], ttl });
  try {
    const filters = [{ column: 'key_group', op: '>=' as const, value: { kind: 'integer' as const, value: 0n } }];
    const several = answer(opened, 'keyed_state', 2, { filters });
    expect(opened.workers.taken).toBeGreaterThan(1);
    expect(several).toEqual(answer(opened, 'keyed_state', 1, { filters }));
  } finally {
    opened.snapshot.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
