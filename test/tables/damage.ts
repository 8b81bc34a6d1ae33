/**
 * Damaged copies of snapshots: every table of each either has the rows of the undamaged one, or reading it ends in a StateQueryError.
 *
 * Files without checksums (canonical and heap state without compression, operator and raw state, changelogs, channels, `_metadata`, CURRENT)
 * may have other values when bytes in them are changed or when another such file lies in their place; then only crashes, hangs and
 * errors of other kinds count.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { StateQueryError } from '../../src/errors.js';
import { columnValue } from '../../src/io/column.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { seeded } from '../checkpoint/shared.js';
import { rowsOf } from './support.js';

export const TABLES = ['keyed_state_raw', 'operator_state_raw', 'timers', 'channel_records', 'raw_state', 'state_meta'] as const;

type Answer = Readonly<Record<string, { readonly hash: string; readonly rows: number } | StateQueryError>>;

/** A table's rows as a hash, or the error that reading it ended in. */
export function answer(directory: string, skipDamaged = false): { readonly answer: Answer; readonly passedOver: number } {
  const found: Record<string, { hash: string; rows: number } | StateQueryError> = {};
  let passedOver = 0;
  for (const name of TABLES) {
    try {
      const snapshot = openSnapshot(directory, { skipDamaged });
      try {
        const bound = snapshot.catalog.find(name)?.bind([]);
        if (bound === undefined) throw new Error(`no table ${name}`);
        const scan = bound.scan({ columns: bound.columns.map(c => ({ name: c.name, form: 'value' as const })), filters: [] });
        const hash = createHash('sha1');
        let rows = 0;
        try {
          for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
            rows += batch.length;
            for (let row = 0; row < batch.length; row++)
              for (const column of batch.columns) hash.update(text(columnValue(column, row))).update('\0');
          }
        } finally {
          scan.close();
        }
        passedOver += snapshot.damage.length;
        found[name] = { hash: hash.digest('hex'), rows };
      } finally {
        snapshot.close();
      }
    } catch (error) {
      if (!(error instanceof StateQueryError) || error.exitCode === 1) throw error;
      found[name] = error;
    }
  }
  return { answer: found, passedOver };
}

function text(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1');
  if (typeof value !== 'object' || value === null) return String(value);
  return JSON.stringify(value, (_, v) =>
    typeof v === 'bigint' ? String(v) : v instanceof Uint8Array ? Buffer.from(v).toString('hex') : v,
  );
}

const KINDS = ['cut', 'flip', 'flip', 'zero', 'swap', 'missing', 'empty', 'directory', 'dangling', 'loop', 'longer', 'replaced'] as const;
type Kind = (typeof KINDS)[number];

interface DamagedFile {
  readonly path: string;
  /** every byte is covered by a checksum that is looked at */
  readonly checked: boolean;
}

/** A snapshot that is damaged again and again, in one place after the other. */
export class DamagedCopy {
  private readonly files: readonly DamagedFile[];
  private readonly whole: Answer;

  /** @param directory an empty directory that the snapshot's tree is copied to */
  constructor(
    readonly source: string,
    private readonly directory: string,
  ) {
    cpSync(source, directory, { recursive: true });
    const checked = new Set(
      rowsOf(directory, 'state_handles')
        .filter(h => /\.sst$|^MANIFEST-/.test(String(h['local_name'])))
        .map(h => String(h['path'])),
    );
    // merged files hold parts of both kinds
    const merged = new Set(
      rowsOf(directory, 'state_handles')
        .filter(h => h['stream_class'] === 'SegmentFileStateHandle')
        .map(h => String(h['path'])),
    );
    this.files = rowsOf(directory, 'files').map(f => {
      const path = String(f['path']);
      return { path, checked: checked.has(path) && !merged.has(path) };
    });
    this.whole = answer(directory).answer;
    for (const [table, found] of Object.entries(this.whole))
      if (found instanceof StateQueryError) throw new Error(`${source}: ${table} of the undamaged copy: ${found.describe()}`);
  }

  /** Damages one or two files, reads everything, and mends them. @returns what is wrong, undefined when nothing is */
  round(seed: number): string | undefined {
    const random = seeded(seed);
    const pick = <T>(list: readonly T[]): T => list[random() % list.length];
    const kind = pick(KINDS);
    const file = pick(this.files);
    const others = this.files.filter(f => f.path !== file.path);
    const other = kind === 'swap' || kind === 'replaced' ? pick(others.length > 0 ? others : this.files) : undefined;
    const bytes = readFileSync(file.path);
    const otherBytes = other === undefined ? undefined : readFileSync(other.path);
    const what = `${kind} ${relative(this.directory, file.path)}${other === undefined ? '' : ` and ${relative(this.directory, other.path)}`}`;
    try {
      const legal = this.apply(kind, file, bytes, other, otherBytes, random);
      const before = Date.now();
      let found: string | undefined;
      try {
        found = this.compare(answer(this.directory).answer, legal);
        // passing over damage must not make a crash of it either
        answer(this.directory, true);
      } catch (error) {
        found = `crash: ${error instanceof Error ? error.stack : String(error)}`;
      }
      const took = Date.now() - before;
      if (took > 60_000) found ??= `took ${took} ms`;
      return found === undefined ? undefined : `${basename(this.source)} seed ${seed}: ${what}: ${found}`;
    } finally {
      rmSync(file.path, { recursive: true, force: true });
      writeFileSync(file.path, bytes);
      if (other !== undefined && otherBytes !== undefined) writeFileSync(other.path, otherBytes);
    }
  }

  /** @returns whether values may be others than before without an error */
  private apply(
    kind: Kind,
    file: DamagedFile,
    bytes: Buffer,
    other: DamagedFile | undefined,
    otherBytes: Buffer | undefined,
    random: () => number,
  ): boolean {
    switch (kind) {
      case 'cut':
        writeFileSync(file.path, bytes.subarray(0, random() % Math.max(1, bytes.length)));
        // a metadata file that ends before its properties has no sign of it; changelogs say their uncompressed length
        return false;
      case 'flip': {
        const damaged = Buffer.from(bytes);
        for (let n = 1 + (random() % 3); n > 0 && bytes.length > 0; n--) damaged[random() % bytes.length] ^= 1 << (random() % 8);
        writeFileSync(file.path, damaged);
        return !file.checked;
      }
      case 'zero': {
        const damaged = Buffer.from(bytes);
        const at = random() % Math.max(1, bytes.length);
        damaged.fill(0, at, Math.min(bytes.length, at + 1 + (random() % 600)));
        writeFileSync(file.path, damaged);
        return !file.checked;
      }
      case 'swap':
        if (other !== undefined && otherBytes !== undefined) {
          writeFileSync(file.path, otherBytes);
          writeFileSync(other.path, bytes);
        }
        return !file.checked && other?.checked !== true;
      case 'replaced':
        if (otherBytes !== undefined) writeFileSync(file.path, otherBytes);
        return !file.checked;
      case 'longer':
        writeFileSync(file.path, Buffer.concat([bytes, Buffer.alloc(1 + (random() % 100), random() % 256)]));
        return !file.checked;
      case 'empty':
        writeFileSync(file.path, '');
        return false;
      case 'missing':
        unlinkSync(file.path);
        return false;
      case 'directory':
        unlinkSync(file.path);
        mkdirSync(file.path);
        return false;
      case 'dangling':
        unlinkSync(file.path);
        symlinkSync(join(this.directory, 'nothing here'), file.path);
        return false;
      case 'loop':
        unlinkSync(file.path);
        symlinkSync(file.path, file.path);
        return false;
    }
  }

  private compare(found: Answer, legal: boolean): string | undefined {
    if (legal) return undefined;
    for (const table of TABLES) {
      const now = found[table];
      const was = this.whole[table] as { hash: string; rows: number };
      if (now instanceof StateQueryError || now.hash === was.hash) continue;
      // headers that cannot be read are told in state_meta itself
      if (table === 'state_meta') continue;
      return `${table} has ${now.rows} rows of ${was.rows}${now.rows === was.rows ? ', other ones' : ''}`;
    }
    return undefined;
  }
}

/** The trees of snapshots below a directory of cases, those whose copies are small enough. */
export function treesOf(cases: string, limit: number): string[] {
  return readdirSync(cases)
    .map(name => join(cases, name, 'snapshot'))
    .filter(tree => sizeOf(tree) < limit)
    .sort();
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return Number.POSITIVE_INFINITY;
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0) : stat.size;
}
