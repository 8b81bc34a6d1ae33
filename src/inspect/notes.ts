/**
 * Annotated bytes: what stands where in a file.
 *
 *   { offset, length, field, value }   in the order of the file; the notes with a length cover every byte once
 *
 * What has no bytes of its own in the file (an entry inside a compressed block) is a note of length 0 at the offset of what holds it.
 *
 * A RecordingCursor makes notes of what a parser takes: the parsers are the ones that read snapshots, so a dump cannot say
 * anything else than what is read.
 */
import type { ErrorOrigin } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { jsonString } from '../io/json.js';

export interface Note {
  /** in the file */
  readonly offset: number;
  readonly length: number;
  readonly field: string;
  readonly value: string;
}

/** How many entries are still shown one by one. */
export interface Budget {
  left: number;
}

const HEX_BYTES = 64;

/** Bytes as text: hex, of long ones the beginning and the length. */
export function hexText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEX_BYTES)).toString('hex');
  return bytes.length > HEX_BYTES ? `${hex}… (${bytes.length} bytes)` : hex;
}

interface Taken {
  start: number;
  length: number;
  field: string;
  value: string | undefined;
  readonly place: string;
}

/** A cursor that remembers what was taken from it. */
export class RecordingCursor extends Cursor {
  private readonly taken: Taken[] = [];
  private readonly place: () => string;

  constructor(bytes: Uint8Array, start: number, end: number, origin: ErrorOrigin, base: number, place: () => string = () => '') {
    super(bytes, start, end, origin, base);
    this.place = place;
  }

  /** What was taken, in file offsets. */
  notes(): Note[] {
    const { bytes, base } = this;
    return this.taken
      .filter(t => t.length > 0)
      .map(({ start, length, field, value, place }) => ({
        offset: base + start,
        length,
        field: place === '' ? field : `${place}: ${field}`,
        value: value ?? hexText(bytes.subarray(start, start + length)),
      }));
  }

  private note(start: number, length: number, field: string, value?: string): void {
    const { taken } = this;
    // a parser that went back reads these bytes anew
    while (taken.length > 0 && (taken[taken.length - 1] as Taken).start + (taken[taken.length - 1] as Taken).length > start) taken.pop();
    taken.push({ start, length, field, value, place: this.place() });
  }

  private valued<T extends number | bigint | boolean>(value: T): T {
    const last = this.taken[this.taken.length - 1];
    if (last !== undefined) last.value = String(value);
    return value;
  }

  override take(count: number, what = 'value'): number {
    const at = super.take(count, what);
    if (count > 0) this.note(at, count, what);
    return at;
  }
  override i8(what?: string): number {
    return this.valued(super.i8(what));
  }
  override u8(what?: string): number {
    return this.valued(super.u8(what));
  }
  override bool(what?: string): boolean {
    return this.valued(super.bool(what));
  }
  override i16(what?: string): number {
    return this.valued(super.i16(what));
  }
  override u16(what?: string): number {
    return this.valued(super.u16(what));
  }
  override i32(what?: string): number {
    return this.valued(super.i32(what));
  }
  override u32(what?: string): number {
    return this.valued(super.u32(what));
  }
  override i64(what?: string): bigint {
    return this.valued(super.i64(what));
  }
  override u32le(): number {
    return this.valued(super.u32le());
  }
  override i64Number(what?: string): number {
    return this.valued(super.i64Number(what));
  }
  override varint(what = 'varint'): number {
    const at = this.position;
    const value = super.varint(what);
    this.note(at, this.position - at, what, String(value));
    return value;
  }
  override utf(what = 'UTF string'): string {
    const at = this.position;
    const value = super.utf(what);
    this.note(at, this.position - at, what, jsonString(value));
    return value;
  }
}

/** The notes of [start, end), with one for each gap between them. @throws Error when two notes overlap */
export function* covered(
  notes: Iterable<Note>,
  start: number,
  end: number,
  gap: (offset: number, length: number) => Iterable<Note>,
): Generator<Note> {
  let at = start;
  for (const note of notes) {
    if ((note.length > 0 && note.offset < at) || note.offset + note.length > end)
      throw new Error(`annotation ${note.field} of [${note.offset}, ${note.offset + note.length}) outside of [${at}, ${end})`);
    if (note.offset > at) yield* gap(at, note.offset - at);
    at = Math.max(at, note.offset + note.length);
    yield note;
  }
  if (at < end) yield* gap(at, end - at);
}

/** The end of what could be annotated when reading failed: the message stands beside the rest. */
export const unreadable = (offset: number, length: number, error: Error): Note => ({
  offset,
  length,
  field: 'not readable',
  value: error.message,
});
