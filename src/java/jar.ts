/**
 * Jar files (zip) and directories of `.class` files as a ClassPool: the directory is read when it is opened, a class when it is
 * asked for.
 *
 *   … entries … · central directory · [zip64 end record · zip64 locator ·] end record
 *   end record        50 4B 05 06 · 2 × u16 disk · u16 entries here · u16 entries · u32 size · u32 offset of the directory · u16 n + comment
 *   zip64 locator     50 4B 06 07 · u32 disk · u64 offset of the zip64 end record · u32 disks     (20 bytes before the end record)
 *   zip64 end record  50 4B 06 06 · u64 size · 2 × u16 · 2 × u32 · u64 entries here · u64 entries · u64 size · u64 offset
 *   directory entry   50 4B 01 02 · 2 × u16 version · u16 flags · u16 method · u16 time, date · u32 crc · u32 packed · u32 size
 *                     u16 name, extra, comment lengths · u16 disk · u16, u32 attributes · u32 offset of the local header · name …
 *   local header      50 4B 03 04 · 22 bytes · u16 name, extra lengths · name · extra · data: method 0 as it is, 8 deflate
 *                     (all little-endian)
 *
 * Of a class in several places the first counts, as on a class path. Classes below `BOOT-INF/classes/` and `WEB-INF/classes/` count
 * as at the top; `META-INF/versions` and jars within jars are left out.
 *
 * Mirrors APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3 and 4.5.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { CorruptError, NotFoundError, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { type ByteSource, openFile } from '../io/source.js';
import { type ClassLayout, type ClassPool, decodeClassFile } from './class-file.js';

/** Class files are far smaller: the JVM ends a method at 64 KiB. */
const MAX_CLASS_BYTES = 16 * 1024 * 1024;
const MAX_DIRECTORY_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 200_000;

/** Reads one class's bytes. */
type Place = () => { readonly bytes: Uint8Array; readonly file: string };

/**
 * Opens jars and directories. Classes are decoded on first use and kept.
 * @throws NotFoundError, IoError, CorruptError (not a zip file); `find` throws CorruptError for a class that is broken
 */
export function openClassPool(paths: readonly string[]): ClassPool & { names(): Iterable<string>; close(): void } {
  const places = new Map<string, Place>();
  const jars: ByteSource[] = [];
  const close = (): void => {
    for (const jar of jars) jar.close();
  };
  try {
    for (const path of paths) {
      if (isDirectory(path)) listDirectory(path, places);
      else if (path.endsWith('.class')) addClassFile(path, places);
      else {
        const jar = openFile(path);
        jars.push(jar);
        listJar(jar, places);
      }
    }
  } catch (error) {
    close();
    throw error;
  }
  const decoded = new Map<string, ClassLayout>();
  return {
    close,
    names: () => places.keys(),
    find(name) {
      const known = decoded.get(name);
      if (known !== undefined) return known;
      const place = places.get(name);
      if (place === undefined) return undefined;
      const { bytes, file } = place();
      const layout = decodeClassFile(bytes, { file });
      if (layout.name !== name) throw new CorruptError(`class file holds ${layout.name}, expected ${name}`, { file });
      decoded.set(name, layout);
      return layout;
    },
  };
}

function isDirectory(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new NotFoundError('no such jar or class directory', { file: path });
  return stat.isDirectory();
}

function add(places: Map<string, Place>, entry: string, place: Place): void {
  if (!entry.endsWith('.class') || entry.startsWith('META-INF/')) return;
  const name = entry
    .replace(/^(BOOT|WEB)-INF\/classes\//, '')
    .slice(0, -'.class'.length)
    .replaceAll('/', '.');
  if (!places.has(name)) places.set(name, place);
}

function addClassFile(path: string, places: Map<string, Place>): void {
  const { name } = decodeClassFile(readWhole(path).bytes, { file: path });
  if (!places.has(name)) places.set(name, () => readWhole(path));
}

function readWhole(path: string): { bytes: Uint8Array; file: string } {
  const source = openFile(path);
  try {
    if (source.size > MAX_CLASS_BYTES) throw new UnsupportedError(`class file of ${source.size} bytes`, { file: path });
    return { bytes: source.read(0, source.size), file: path };
  } finally {
    source.close();
  }
}

function listDirectory(root: string, places: Map<string, Place>): void {
  const pending = [''];
  let files = 0;
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
      if (++files > MAX_FILES) throw new UnsupportedError(`more than ${MAX_FILES} files in a class directory`, { file: root });
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else add(places, path, () => readWhole(join(root, path)));
    }
  }
}

function listJar(jar: ByteSource, places: Map<string, Place>): void {
  const c = centralDirectory(jar);
  while (c.remaining > 0) {
    const at = c.position;
    if (c.u32le() !== 0x02014b50) c.fail('entry of the zip directory does not begin with PK\\1\\2', at);
    c.take(4, 'zip entry');
    const flags = c.u16le();
    const method = c.u16le();
    c.take(4, 'zip entry');
    const crc = c.u32le();
    const packed = c.u32le();
    const size = c.u32le();
    const [nameLength, extraLength, commentLength] = [c.u16le(), c.u16le(), c.u16le()];
    c.take(8, 'zip entry');
    const header = c.u32le();
    const entry = Buffer.from(c.slice(nameLength, 'name of a zip entry')).toString('utf8');
    const extra = c.slice(extraLength, 'extra of a zip entry');
    c.take(commentLength, 'comment of a zip entry');
    add(places, entry, () => {
      const where = zip64(extra, { packed, size, header });
      return { bytes: inflate(jar, entry, { ...where, flags, method, crc }), file: `${jar.name}!/${entry}` };
    });
  }
}

interface Where {
  readonly packed: number;
  readonly size: number;
  readonly header: number;
}

/** Numbers that did not fit 32 bits stand in the extra field 1, in this order: size, packed, header. */
function zip64(extra: Uint8Array, where: Where): Where {
  const c = new Cursor(extra);
  while (c.remaining >= 4) {
    const id = c.u16le();
    const length = c.u16le();
    const body = new Cursor(c.slice(length, 'zip extra field'));
    if (id !== 1) continue;
    const wide = (n: number): number => (n === 0xffffffff && body.remaining >= 8 ? Number(body.u64le()) : n);
    const size = wide(where.size);
    const packed = wide(where.packed);
    return { size, packed, header: wide(where.header) };
  }
  return where;
}

function inflate(jar: ByteSource, entry: string, where: Where & { flags: number; method: number; crc: number }): Uint8Array {
  const file = `${jar.name}!/${entry}`;
  const { packed, size, header, method } = where;
  if (size > MAX_CLASS_BYTES || packed > MAX_CLASS_BYTES) throw new UnsupportedError(`class file of ${size} bytes`, { file });
  if ((where.flags & 1) !== 0) throw new UnsupportedError('encrypted zip entry', { file });
  const local = new Cursor(jar.read(header, 30), 0, 30, { file: jar.name }, header);
  if (local.u32le() !== 0x04034b50) local.fail('zip entry does not begin with PK\\3\\4', 0);
  local.take(22, 'zip entry');
  const start = header + 30 + local.u16le() + local.u16le();
  const data = jar.read(start, packed);
  let bytes: Uint8Array;
  if (method === 0) bytes = data;
  else if (method === 8) {
    try {
      bytes = zlib.inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
    } catch (cause) {
      throw new CorruptError('zip entry does not inflate', { file, offset: start, cause });
    }
  } else throw new UnsupportedError(`zip entry of method ${method}`, { file });
  if (bytes.length !== size) throw new CorruptError(`zip entry has ${bytes.length} bytes, its directory says ${size}`, { file });
  // zlib.crc32 is missing before Node 20.15
  if (typeof zlib.crc32 === 'function' && zlib.crc32(bytes) !== where.crc)
    throw new CorruptError('zip entry has a wrong checksum', { file });
  return bytes;
}

/** A cursor over the whole central directory. */
function centralDirectory(jar: ByteSource): Cursor {
  const tailLength = Math.min(jar.size, 22 + 0xffff);
  const tailAt = jar.size - tailLength;
  const tail = Buffer.from(jar.read(tailAt, tailLength));
  let end = tail.length - 22;
  // the comment may hold anything: only a record whose comment reaches the end of the file counts
  while (end >= 0 && !(tail.readUInt32LE(end) === 0x06054b50 && end + 22 + tail.readUInt16LE(end + 20) === tail.length)) end--;
  if (end < 0) throw new CorruptError('not a jar: no end record of a zip file', { file: jar.name, offset: jar.size });
  let size = tail.readUInt32LE(end + 12);
  let at = tail.readUInt32LE(end + 16);
  if (
    (size === 0xffffffff || at === 0xffffffff || tail.readUInt16LE(end + 10) === 0xffff) &&
    end >= 20 &&
    tail.readUInt32LE(end - 20) === 0x07064b50
  ) {
    const recordAt = Number(tail.readBigUInt64LE(end - 12));
    const record = new Cursor(jar.read(recordAt, 56), 0, 56, { file: jar.name }, recordAt);
    if (record.u32le() !== 0x06064b50) record.fail('zip64 end record does not begin with PK\\6\\6', 0);
    record.take(36, 'zip64 end record');
    size = Number(record.u64le());
    at = Number(record.u64le());
  }
  if (size > MAX_DIRECTORY_BYTES) throw new UnsupportedError(`zip directory of ${size} bytes`, { file: jar.name });
  return new Cursor(jar.read(at, size), 0, size, { file: jar.name }, at);
}
