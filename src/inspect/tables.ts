/**
 * A block-based table (SST) as notes: blocks with their trailers in the order of the file, entries as lines at their block, properties,
 * footer. Layouts: table.ts, block.ts, footer.ts of `sst/`.
 */
import { StateQueryError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import { type BlockFile, blockOrigin, COMPRESSION_NAMES, checksumMatches, readBlock } from '../sst/block.js';
import { CHECKSUM_NAMES } from '../sst/checksum.js';
import { forEachEntry } from '../sst/entries.js';
import { BLOCK_TRAILER, type BlockHandle, readHandle } from '../sst/footer.js';
import { IndexCursor } from '../sst/index-block.js';
import { readU32, sequenceOf, TRAILER, TYPE_NAMES } from '../sst/internal-key.js';
import { INDEX_TYPES } from '../sst/properties.js';
import { openTable, type Table } from '../sst/table.js';
import { type Budget, covered, hexText, type Note, RecordingCursor, unreadable } from './notes.js';

/** A stored entry in words; undefined: bytes are shown. */
export type DescribeEntry = (family: string | undefined, userKey: Uint8Array, value: Uint8Array, type: number) => string | undefined;

interface Block {
  readonly handle: BlockHandle;
  readonly field: string;
  readonly kind: 'data' | 'properties' | 'names' | 'other' | 'range-deletions';
}

export function* tableNotes(source: ByteSource, budget: Budget, describe: DescribeEntry = () => undefined): Generator<Note> {
  let table: Table;
  try {
    table = openTable({ ...source, close: () => undefined }, { verify: false });
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    yield unreadable(source.base, source.size, error);
    return;
  }
  const footerAt = source.base + table.footer.offset;
  yield* covered(blockNotes(table, source, budget, describe), source.base, footerAt, (offset, length) => [
    { offset, length, field: 'no block', value: hexText(source.read(offset - source.base, Math.min(length, 65))) },
  ]);
  yield* footerNotes(table, source);
}

/** All blocks by their offset. */
function blocksOf(table: Table): Block[] {
  const blocks = new Map<number, Block>();
  const add = (block: Block) => {
    if (!blocks.has(block.handle.offset)) blocks.set(block.handle.offset, block);
  };
  add({ handle: table.footer.metaindex, field: 'metaindex', kind: 'names' });
  for (const [name, handle] of table.metaindex) {
    const kind = /^rocksdb\.(properties|stats)$/.test(name) ? 'properties' : name === 'rocksdb.range_del' ? 'range-deletions' : 'other';
    add({ handle, field: name, kind });
  }
  const { properties } = table;
  add({ handle: table.indexHandle, field: `index (${INDEX_TYPES[properties.indexType]})`, kind: 'other' });
  const flat = {
    userKeys: properties.indexKeyIsUserKey,
    deltaValues: properties.indexValueIsDelta,
    firstKeys: false,
    twoLevel: false,
  };
  const partitions = (handle: BlockHandle, field: string) => {
    const cursor = new IndexCursor(table, flat, readBlock(table, handle), blockOrigin(table, handle));
    for (let i = 0; cursor.next(); i++)
      add({ handle: { offset: cursor.offset, size: cursor.size }, field: `${field} ${i}`, kind: 'other' });
  };
  if (properties.indexType === 2) partitions(table.indexHandle, 'index partition');
  for (const [name, handle] of table.metaindex) if (name.startsWith('partitionedfilter.')) partitions(handle, 'filter partition');
  const index = table.index();
  for (let i = 0; index.next(); i++) add({ handle: { offset: index.offset, size: index.size }, field: `data block ${i}`, kind: 'data' });
  return [...blocks.values()].sort((a, b) => a.handle.offset - b.handle.offset);
}

function* blockNotes(table: Table, source: ByteSource, budget: Budget, describe: DescribeEntry): Generator<Note> {
  let blocks: Block[];
  try {
    blocks = blocksOf(table);
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    yield unreadable(source.base, 0, error);
    return;
  }
  for (const { handle, field, kind } of blocks) {
    const offset = source.base + handle.offset;
    const raw = source.read(handle.offset, handle.size + BLOCK_TRAILER);
    const type = raw[handle.size];
    if (handle.size > 0) yield { offset, length: handle.size, field, value: hexText(raw.subarray(0, handle.size)) };
    if (kind !== 'other') yield* contentNotes(table, handle, field, kind, offset, budget, describe);
    const at = offset + handle.size;
    yield { offset: at, length: 1, field: `${field}: compression`, value: COMPRESSION_NAMES[type] ?? `type ${type}` };
    yield { offset: at + 1, length: 4, field: `${field}: checksum`, value: checksumText(table, handle, raw) };
  }
}

function checksumText(file: BlockFile, handle: BlockHandle, raw: Uint8Array): string {
  const stored = readU32(raw, handle.size + 1)
    .toString(16)
    .padStart(8, '0');
  const name = CHECKSUM_NAMES[file.footer.checksumType] ?? `type ${file.footer.checksumType}`;
  try {
    return `${stored} (${name}, ${checksumMatches(file, handle, raw, 0) ? 'right' : 'wrong'})`;
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return `${stored} (${error.message})`;
  }
}

function* contentNotes(
  table: Table,
  handle: BlockHandle,
  block: string,
  kind: Block['kind'],
  offset: number,
  budget: Budget,
  describe: DescribeEntry,
): Generator<Note> {
  if (kind === 'data' && budget.left === 0) return;
  const notes: Note[] = [];
  try {
    forEachEntry(readBlock(table, handle, kind === 'data' ? table.dictionary : undefined), blockOrigin(table, handle), (key, value) => {
      if (kind === 'properties' || kind === 'names') {
        const name = Buffer.from(key).toString('utf8');
        const text = Buffer.from(value).toString('utf8');
        notes.push({ offset, length: 0, field: `${block}: ${name}`, value: /^[\x20-\x7e]+$/.test(text) ? text : hexText(value) });
        return;
      }
      if (budget.left === 0) return;
      budget.left--;
      notes.push({ offset, length: 0, field: `${block}: entry`, value: entryLine(table, key, value, describe) });
    });
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    notes.push(unreadable(offset, 0, error));
  }
  yield* notes;
}

function entryLine(table: Table, key: Uint8Array, value: Uint8Array, describe: DescribeEntry): string {
  const at = key.length - TRAILER;
  if (at < 0) return `key ${hexText(key)}, value ${hexText(value)}`;
  const low = readU32(key, at);
  const type = low & 0xff;
  const user = key.subarray(0, at);
  const head = `${TYPE_NAMES[type] ?? `type ${type}`}, sequence ${sequenceOf(low, readU32(key, at + 4))}`;
  return `${head}, ${describe(table.properties.columnFamily, user, value, type) ?? `key ${hexText(user)}, value ${hexText(value)}`}`;
}

function* footerNotes(table: Table, source: ByteSource): Generator<Note> {
  const { footer } = table;
  const length = source.size - footer.offset;
  const c = new RecordingCursor(
    source.read(footer.offset, length),
    0,
    length,
    { file: source.name },
    source.base + footer.offset,
    () => 'footer',
  );
  if (footer.version > 0) c.u8('checksum type');
  if (footer.version === 6) {
    c.take(4, 'magic of version 6');
    c.take(4, 'checksum of the footer');
    c.take(4, 'context of checksums');
    c.take(4, 'size of the metaindex');
  } else {
    readHandle(c, 'metaindex handle');
    readHandle(c, 'index handle');
  }
  const rest = footer.version > 0 ? 12 : 8;
  if (c.remaining > rest) c.take(c.remaining - rest, 'zeros');
  if (footer.version > 0) c.take(4, 'format version');
  c.take(8, 'magic');
  yield* merged(c.notes());
}

/** Varints are taken byte by byte: neighbours of one name are one note. */
export function merged(notes: readonly Note[]): Note[] {
  const out: Note[] = [];
  for (const note of notes) {
    const last = out[out.length - 1];
    if (
      last !== undefined &&
      last.field === note.field &&
      last.offset + last.length === note.offset &&
      note.length === 1 &&
      last.length < 10
    )
      out[out.length - 1] = { ...last, length: last.length + 1, value: last.value + note.value };
    else out.push(note);
  }
  return out;
}
