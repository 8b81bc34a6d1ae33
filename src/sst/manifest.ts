/**
 * CURRENT and MANIFEST: which files are the database, at which level, in which column family.
 *
 *   CURRENT   "MANIFEST-000004\n"
 *   MANIFEST  log records (log.ts), each one version edit = (varint tag, payload) until its end
 *
 *   tag                                   payload
 *   1 comparator                          lps
 *   2 log, 3 next file, 4 last sequence, 9 previous log, 10 oldest log      varint
 *   5 compaction cursor                   level · lps internal key
 *   6 deleted file                        level · file number
 *   7 new file, 100 (v2), 102 (v3)        level · number · [102: path id] · size · lps smallest · lps largest · [100, 102: smallest, largest sequence]
 *   103 new file (v4)                     level · number · size · lps smallest · lps largest · sequences · (varint field, lps)* · 1
 *   200 column family                     id the whole edit is about; 0 when absent
 *   201 new column family, 202 dropped    lps name · nothing
 *   203 largest column family id          varint
 *   300 atomic group                      how many edits are still to come
 *   400, 401 blob files                   not read
 *   0x2000 set                            lps, may be skipped
 *
 *   lps = varint length + bytes; level, ids and numbers are varints. Fields of a v4 file with bit 0x40 must be understood: 65 path id.
 *
 * Edits apply in order; the last state is what counts. Mirrors db/version_edit.cc and version_set.cc of RocksDB 8.10.
 */
import { CorruptError, type ErrorOrigin, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { readVarint64 } from './footer.js';
import { TRAILER } from './internal-key.js';
import { logRecords } from './log.js';
import { BYTEWISE_COMPARATOR } from './table.js';

export interface LiveFile {
  /** 12 for `000012.sst` */
  readonly number: number;
  readonly level: number;
  readonly size: number;
  /** internal keys */
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
  readonly smallestSequence: bigint;
  readonly largestSequence: bigint;
}

export interface ManifestColumnFamily {
  readonly id: number;
  readonly name: string;
  readonly comparator: string;
  /** by level, then by number */
  readonly files: readonly LiveFile[];
}

export interface Manifest {
  /** those not dropped, by id */
  readonly columnFamilies: readonly ManifestColumnFamily[];
  readonly lastSequence: bigint;
  /** write-ahead logs from this number on belong to the database */
  readonly logNumber: number;
}

interface Building {
  readonly id: number;
  readonly name: string;
  comparator: string;
  readonly files: Map<number, LiveFile>;
  dropped: boolean;
}

interface Edit {
  columnFamily: number;
  comparator: string | undefined;
  added: string | undefined;
  dropped: boolean;
  readonly deletedFiles: { readonly level: number; readonly number: number }[];
  readonly newFiles: LiveFile[];
  lastSequence: bigint | undefined;
  logNumber: number | undefined;
}

/** The file name that CURRENT holds. @throws CorruptError */
export function parseCurrent(bytes: Uint8Array, origin: ErrorOrigin): string {
  const name = /^(MANIFEST-\d+)\n$/.exec(Buffer.from(bytes).toString('latin1'))?.[1];
  if (name === undefined) throw new CorruptError('CURRENT does not name a MANIFEST file', origin);
  return name;
}

/**
 * The state that a MANIFEST file describes.
 * @throws CorruptError, UnsupportedError (fields that must be understood and are not, other comparators)
 */
export function decodeManifest(bytes: Uint8Array, origin: ErrorOrigin, base = 0): Manifest {
  const families = new Map<number, Building>([[0, newFamily(0, 'default')]]);
  let lastSequence = 0n;
  let logNumber = 0;
  let edits = 0;
  for (const { payload, offset } of logRecords(bytes, origin, base)) {
    const at: ErrorOrigin = { ...origin, offset };
    const edit = decodeEdit(new Cursor(payload, 0, payload.length, at, offset), at);
    edits++;
    applyEdit(families, edit, at);
    lastSequence = edit.lastSequence ?? lastSequence;
    logNumber = edit.logNumber ?? logNumber;
  }
  if (edits === 0) throw new CorruptError('the MANIFEST is empty', origin);
  const columnFamilies = [...families.values()]
    .filter(family => !family.dropped)
    .sort((a, b) => a.id - b.id)
    .map(({ id, name, comparator, files }) => ({
      id,
      name,
      comparator,
      files: [...files.values()].sort((a, b) => a.level - b.level || a.number - b.number),
    }));
  for (const { comparator, name } of columnFamilies)
    if (comparator !== BYTEWISE_COMPARATOR)
      throw new UnsupportedError(
        `comparator ${comparator} of column family ${JSON.stringify(name)} (known: ${BYTEWISE_COMPARATOR})`,
        origin,
      );
  return { columnFamilies, lastSequence, logNumber };
}

function newFamily(id: number, name: string): Building {
  return { id, name, comparator: BYTEWISE_COMPARATOR, files: new Map(), dropped: false };
}

function applyEdit(families: Map<number, Building>, edit: Edit, origin: ErrorOrigin): void {
  const id = edit.columnFamily;
  if (edit.added !== undefined) families.set(id, newFamily(id, edit.added));
  const family = families.get(id);
  if (family === undefined) throw new CorruptError(`version edit for column family ${id}, which was not added`, origin);
  if (edit.comparator !== undefined) family.comparator = edit.comparator;
  if (edit.dropped) {
    family.dropped = true;
    family.files.clear();
    return;
  }
  for (const { level, number } of edit.deletedFiles) {
    if (family.files.get(number)?.level !== level)
      throw new CorruptError(`file ${number} is deleted from level ${level}, where it is not`, origin);
    family.files.delete(number);
  }
  for (const file of edit.newFiles) {
    if (family.files.has(file.number)) throw new CorruptError(`file ${file.number} is added twice`, origin);
    family.files.set(file.number, file);
  }
}

const SKIP_VARINT: ReadonlySet<number> = new Set([3, 9, 10, 203, 300]);
const IGNORABLE = 0x2000;
/** wal_addition2 and wal_deletion2 are framed; the first forms (0x2004, 0x2005) are not, and are written only when logs are tracked */
const UNFRAMED: ReadonlySet<number> = new Set([0x2004, 0x2005]);

/** Decodes one version edit: all of the cursor. @throws CorruptError, UnsupportedError */
export function decodeEdit(c: Cursor, origin: ErrorOrigin): Edit {
  const edit: Edit = {
    columnFamily: 0,
    comparator: undefined,
    added: undefined,
    dropped: false,
    deletedFiles: [],
    newFiles: [],
    lastSequence: undefined,
    logNumber: undefined,
  };
  while (c.remaining > 0) {
    const tag = c.varint('tag');
    if (SKIP_VARINT.has(tag)) readVarint64(c);
    else if (tag === 1) edit.comparator = text(c);
    else if (tag === 2) edit.logNumber = readVarint64(c, 'log number');
    else if (tag === 4) edit.lastSequence = readSequence(c);
    else if (tag === 5) {
      c.varint('level');
      lps(c, 'key');
    } else if (tag === 6) edit.deletedFiles.push({ level: c.varint('level'), number: readVarint64(c, 'file number') });
    else if (tag === 7 || tag === 100 || tag === 102 || tag === 103) edit.newFiles.push(readNewFile(c, tag, origin));
    else if (tag === 200) edit.columnFamily = c.varint('column family');
    else if (tag === 201) edit.added = text(c);
    else if (tag === 202) edit.dropped = true;
    else if (tag === 400 || tag === 401) throw new UnsupportedError('blob files (enable_blob_files)', origin);
    else if ((tag & IGNORABLE) !== 0 && !UNFRAMED.has(tag)) lps(c, 'field');
    else throw new UnsupportedError(`version edit with field ${tag}`, origin);
  }
  return edit;
}

function readNewFile(c: Cursor, tag: number, origin: ErrorOrigin): LiveFile {
  const level = c.varint('level');
  const number = readVarint64(c, 'file number');
  if (tag === 102) c.varint('path id');
  const size = readVarint64(c, 'file size');
  const smallest = internalKey(c);
  const largest = internalKey(c);
  const smallestSequence = tag === 7 ? 0n : readSequence(c);
  const largestSequence = tag === 7 ? 0n : readSequence(c);
  if (tag === 103)
    for (let field = c.varint('field'); field !== 1; field = c.varint('field')) {
      lps(c, `field ${field}`);
      if ((field & 0x40) !== 0 && field !== 65) throw new UnsupportedError(`file ${number} with field ${field}`, origin);
    }
  return { number, level, size, smallest, largest, smallestSequence, largestSequence };
}

function lps(c: Cursor, what: string): Uint8Array {
  return c.slice(c.varint(`length of ${what}`), what);
}

function text(c: Cursor): string {
  return Buffer.from(lps(c, 'name')).toString('utf8');
}

function internalKey(c: Cursor): Uint8Array {
  const key = lps(c, 'key');
  if (key.length < TRAILER) c.fail(`internal key of ${key.length} bytes`);
  return Uint8Array.from(key);
}

/** A varint of up to 64 bits. */
function readSequence(c: Cursor): bigint {
  let result = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const b = c.bytes[c.take(1, 'sequence number')];
    result |= BigInt(b & 0x7f) << shift;
    if (b < 0x80) return result;
    if (shift >= 63n) c.fail('sequence number is longer than 10 bytes');
  }
}
