/**
 * The files of a RocksDB or ForSt instance behind one state handle: which tables are live, and in which column family.
 *
 *   shared ∪ private   local name (`000012.sst`, `MANIFEST-000004`, `CURRENT`, `OPTIONS-000007`) → where the bytes lie now
 *   CURRENT → MANIFEST → column families, each named like its state, with their live files
 *
 * The roles follow from the local names only: in a checkpoint all of them lie in `shared/` under UUIDs, small ones inline in
 * `_metadata`, and ForSt may reference files of the running database. Snapshots are flushed before they are taken, so the live
 * files are everything; a write-ahead log that is not empty would be data beside them.
 *
 * Flink: RocksIncrementalSnapshotStrategy, RocksNativeFullSnapshotStrategy, RocksDBStateUploader (1.8–2.3), and the same of ForSt.
 */
import type { IncrementalHandle, LocalFile } from '../checkpoint/handles.js';
import { CorruptError, NotFoundError, type StateQueryError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import type { ColumnFamilyFile } from '../sst/column-family.js';
import { decodeManifest, type LiveFile, type Manifest, parseCurrent } from '../sst/manifest.js';
import { openTable } from '../sst/table.js';
import type { StateContext } from './entry.js';

/** No MANIFEST of a job's database comes near this. */
const MAX_MANIFEST = 1 << 28;

/** The tables of one column family. */
export interface FamilyFiles {
  readonly name: string;
  readonly files: readonly (ColumnFamilyFile & { readonly size: number | undefined })[];
}

/**
 * The live tables of a handle by column family name.
 * @returns `complete`: the names are all that there are (a MANIFEST said them)
 * @throws NotFoundError, CorruptError, UnsupportedError with the file and its local name
 */
export function liveTables(
  handle: IncrementalHandle,
  context: StateContext,
): { readonly families: ReadonlyMap<string, FamilyFiles>; readonly complete: boolean } {
  const files = filesByName(handle, context);
  const manifest = readManifest(files, context);
  warnOfLogs(files, manifest, context);
  return manifest === undefined
    ? { families: tablesByProperties(files, context), complete: false }
    : { families: tablesOfManifest(files, manifest, context), complete: true };
}

/** A handle may name a file twice (shared and private); they are the same then. */
function filesByName(handle: IncrementalHandle, context: StateContext): ReadonlyMap<string, LocalFile> {
  const files = new Map<string, LocalFile>();
  for (const file of [...handle.shared, ...handle.private]) files.set(file.localName, file);
  for (const name of files.keys())
    if (name.endsWith('.blob')) context.warn(`${context.where}: ${name} holds blob values, which are not read`);
  return files;
}

function readManifest(files: ReadonlyMap<string, LocalFile>, context: StateContext): Manifest | undefined {
  const current = files.get('CURRENT');
  let name: string | undefined;
  if (current !== undefined) {
    name = withFile(current, context, source => parseCurrent(readWhole(source, 1 << 12), originOf(source, 'CURRENT', context)));
    if (!files.has(name)) throw new CorruptError(`CURRENT names ${name}, which the handle does not list`, { where: context.where });
  } else
    name = [...files.keys()]
      .filter(file => /^MANIFEST-\d+$/.test(file))
      .sort()
      .at(-1);
  if (name === undefined) return undefined;
  const file = files.get(name);
  if (file === undefined) return undefined;
  return withFile(file, context, source =>
    decodeManifest(readWhole(source, MAX_MANIFEST), originOf(source, file.localName, context), source.base),
  );
}

function tablesOfManifest(
  files: ReadonlyMap<string, LocalFile>,
  manifest: Manifest,
  context: StateContext,
): ReadonlyMap<string, FamilyFiles> {
  const families = new Map<string, FamilyFiles>();
  const live = new Set<string>();
  for (const family of manifest.columnFamilies) {
    const tables = family.files.map(live => {
      const name = `${String(live.number).padStart(6, '0')}.sst`;
      const file = files.get(name);
      if (file === undefined)
        throw new CorruptError(`the MANIFEST has ${name} in ${JSON.stringify(family.name)}, the handle does not list it`, {
          where: context.where,
        });
      return {
        name,
        size: live.size,
        smallest: live.smallest,
        largest: live.largest,
        largestSequence: live.largestSequence,
        open: () => openLive(file, live, `${context.where}, state ${family.name}`, context),
      };
    });
    families.set(family.name, { name: family.name, files: tables });
    for (const { name } of tables) live.add(name);
  }
  const others = [...files.keys()].filter(name => name.endsWith('.sst') && !live.has(name));
  if (others.length > 0) context.warn(`${context.where}: ${others.join(', ')} not among the live files of the MANIFEST, not read`);
  return families;
}

/** Without a MANIFEST every table counts, and says itself which column family it is of. */
function tablesByProperties(files: ReadonlyMap<string, LocalFile>, context: StateContext): ReadonlyMap<string, FamilyFiles> {
  const families = new Map<string, { name: string; files: (ColumnFamilyFile & { size: undefined })[] }>();
  for (const file of files.values()) {
    if (!file.localName.endsWith('.sst')) continue;
    const name = withFile(file, context, source => {
      const table = openTable(source, { verify: context.verify, where: context.where });
      if (table.properties.rangeDeletions > 0)
        context.warn(`${context.where}: there is no MANIFEST, range deletions of ${file.localName} are taken as they stand`);
      if (table.properties.columnFamily === undefined)
        throw new CorruptError(`${file.localName} does not say its column family, and there is no MANIFEST`, table.origin);
      return table.properties.columnFamily;
    });
    const family = families.get(name) ?? { name, files: [] };
    families.set(name, family);
    family.files.push({
      name: file.localName,
      size: undefined,
      open: () => openLocal(file, `${context.where}, state ${name}`, context),
    });
  }
  return families;
}

function openLive(file: LocalFile, live: LiveFile, where: string, context: StateContext): ByteSource {
  const source = openLocal(file, where, context);
  if (source.size === live.size) return source;
  source.close();
  throw new CorruptError(`${file.localName} has ${source.size} bytes, the MANIFEST says ${live.size}`, {
    file: source.name,
    offset: source.base + Math.min(source.size, live.size),
    where,
    hint: source.size < live.size ? 'the file is truncated, or its snapshot was not completed' : 'another file lies in its place',
  });
}

/** Opens a local file; what is missing is told with its local name and place. */
function openLocal(file: LocalFile, where: string, context: StateContext): ByteSource {
  try {
    return context.open(file.stream);
  } catch (error) {
    if (error instanceof NotFoundError) throw new NotFoundError(`${file.localName}: ${error.message}`, detailsOf(error, where), error.code);
    if (error instanceof CorruptError) throw new CorruptError(`${file.localName}: ${error.message}`, detailsOf(error, where));
    throw error;
  }
}

function withFile<T>(file: LocalFile, context: StateContext, read: (source: ByteSource) => T): T {
  const source = openLocal(file, context.where, context);
  try {
    return read(source);
  } finally {
    source.close();
  }
}

function readWhole(source: ByteSource, limit: number): Uint8Array {
  if (source.size > limit) throw new CorruptError(`file of ${source.size} bytes`, { file: source.name, offset: source.base });
  return source.read(0, source.size);
}

function originOf(source: ByteSource, localName: string, context: StateContext): { file: string; offset: number; where: string } {
  return { file: source.name, offset: source.base, where: `${context.where}, ${localName}` };
}

function detailsOf(error: StateQueryError, where: string) {
  return {
    where: error.where ?? where,
    ...(error.file === undefined ? {} : { file: error.file }),
    ...(error.offset === undefined ? {} : { offset: error.offset }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    cause: error,
  };
}

function warnOfLogs(files: ReadonlyMap<string, LocalFile>, manifest: Manifest | undefined, context: StateContext): void {
  for (const file of files.values()) {
    const number = /^(\d+)\.log$/.exec(file.localName)?.[1];
    if (number === undefined || (manifest !== undefined && Number(number) < manifest.logNumber)) continue;
    const size = withFile(file, context, source => source.size);
    if (size > 0) context.warn(`${context.where}: ${file.localName} is a write-ahead log of ${size} bytes; what only it holds is not read`);
  }
}
