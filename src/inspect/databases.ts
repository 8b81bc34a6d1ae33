/** MANIFEST, CURRENT and text files (OPTIONS, LOG) as notes. Layouts: log.ts and manifest.ts of `sst/`. */
import { StateQueryError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import { readU32 } from '../sst/internal-key.js';
import { decodeEdit } from '../sst/manifest.js';
import { hexText, type Note, RecordingCursor, unreadable } from './notes.js';
import { merged } from './tables.js';

const BLOCK = 32768;
const HEADER = 7;
const PARTS = ['of type 0', 'whole', 'first part', 'middle part', 'last part'];
/** Tags of version edits: manifest.ts. */
const TAGS: Readonly<Record<string, string>> = {
  1: 'comparator',
  2: 'log number',
  3: 'next file number',
  4: 'last sequence number',
  5: 'compaction cursor',
  6: 'deleted file',
  7: 'new file',
  9: 'previous log number',
  10: 'oldest log number',
  100: 'new file (v2)',
  102: 'new file (v3)',
  103: 'new file (v4)',
  200: 'column family',
  201: 'new column family',
  202: 'column family dropped',
  203: 'largest column family id',
  300: 'atomic group',
};

export function* manifestNotes(source: ByteSource): Generator<Note> {
  const bytes = source.read(0, source.size);
  const { base } = source;
  let parts: Uint8Array[] = [];
  for (let p = 0; p < bytes.length; ) {
    const left = Math.min(BLOCK - (p % BLOCK), bytes.length - p);
    const length = left < HEADER ? 0 : bytes[p + 4] | (bytes[p + 5] << 8);
    const type = bytes[p + 6];
    if (left < HEADER || HEADER + length > left || type > 4 || type === 0) {
      const whole = left < HEADER && p + left < bytes.length;
      const size = whole ? left : bytes.length - p;
      yield {
        offset: base + p,
        length: size,
        field: whole ? 'end of the block' : 'no log record',
        value: hexText(bytes.subarray(p, p + size)),
      };
      p += size;
      continue;
    }
    yield { offset: base + p, length: 4, field: 'record: masked CRC-32C', value: readU32(bytes, p).toString(16).padStart(8, '0') };
    yield { offset: base + p + 4, length: 2, field: 'record: length', value: String(length) };
    yield { offset: base + p + 6, length: 1, field: 'record: type', value: `${type} (${PARTS[type]})` };
    const payload = bytes.subarray(p + HEADER, p + HEADER + length);
    const at = base + p + HEADER;
    if (type === 1) yield* editNotes(payload, source.name, at);
    else {
      if (length > 0) yield { offset: at, length, field: 'record: a part of an edit', value: hexText(payload) };
      parts = type === 2 ? [payload] : [...parts, payload];
      if (type === 4) for (const note of editNotes(Buffer.concat(parts), source.name, 0)) yield { ...note, offset: at, length: 0 };
    }
    p += HEADER + length;
  }
}

function* editNotes(payload: Uint8Array, file: string, base: number): Generator<Note> {
  const recorder = new RecordingCursor(payload, 0, payload.length, { file }, base, () => 'edit');
  let failed: StateQueryError | undefined;
  try {
    decodeEdit(recorder, { file, offset: base });
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    failed = error;
  }
  let at = base;
  for (const note of merged(recorder.notes())) {
    at = note.offset + note.length;
    yield note.field === 'edit: tag' ? { ...note, value: `${note.value} (${TAGS[note.value] ?? 'to be passed over'})` } : note;
  }
  if (at < base + payload.length) yield unreadable(at, base + payload.length - at, failed ?? new Error('not interpreted'));
}

/** A text file, line by line. */
export function* textNotes(source: ByteSource, field: string): Generator<Note> {
  const bytes = source.read(0, source.size);
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const end = bytes.indexOf(10, at);
    const next = end < 0 ? bytes.length : end + 1;
    const value = Buffer.from(bytes.subarray(at, end < 0 ? next : end)).toString('utf8');
    yield { offset: source.base + at, length: next - at, field: `${field}: line ${line}`, value };
    at = next;
  }
}
