/**
 * A part of a buffer in which offsets count from the part's start: a BinaryRow, BinaryArray or BinaryMap. Little-endian, as
 * Flink writes it on every platform that it runs on.
 *
 *   slot of something of variable length   8 bytes: i32 size · i32 offset from the region's start
 *   slot of up to 7 bytes of text          bytes 0…6 the text · byte 7: 0x80 | length
 *
 * Offsets and sizes come from the file: what they point at must lie inside the region. It may overlap other parts, since rows
 * are updated in place; but all parts together must not be larger than the whole value allows (`budget`), otherwise nested
 * arrays that point at each other would make few bytes into many values.
 *
 * Flink: org.apache.flink.table.data.binary.BinarySection, BinarySegmentUtils (1.9–2.3).
 */
import type { Cursor } from '../../io/cursor.js';

/** Bytes that the parts of one value may still add up to. */
export interface Budget {
  left: number;
}

const NO_BYTES = new Uint8Array(0);

export class Region {
  bytes: Uint8Array = NO_BYTES;
  view: DataView = new DataView(NO_BYTES.buffer);
  /** the region is bytes[base, end) */
  base = 0;
  end = 0;
  budget: Budget = { left: 0 };
  /** where the last `locate` found something: bytes[from, to) */
  from = 0;
  to = 0;
  private cursor: Cursor | undefined;

  /** Points at bytes[base, end) of the cursor's buffer; the cursor is kept for error positions. */
  reset(c: Cursor, base: number, end: number, budget: Budget): this {
    if (this.bytes !== c.bytes) {
      this.bytes = c.bytes;
      this.view = new DataView(c.bytes.buffer, c.bytes.byteOffset, c.bytes.byteLength);
    }
    this.cursor = c;
    this.base = base;
    this.end = end;
    this.budget = budget;
    return this;
  }

  /** The cursor of the whole value, for those who read parts with codecs. */
  get source(): Cursor {
    return this.cursor!;
  }

  fail(message: string, at: number): never {
    return this.source.fail(message, at);
  }

  /** The size-and-offset slot at `slot`: sets from and to. */
  locate(slot: number, what: string): void {
    this.span(slot, this.view.getInt32(slot, true), what);
  }

  /** As `locate`, with a size that is not in the slot. */
  span(slot: number, size: number, what: string): void {
    const offset = this.view.getInt32(slot + 4, true);
    const from = this.base + offset;
    if (offset < 0 || size < 0 || from + size > this.end)
      this.fail(`${what} of ${size} bytes at offset ${offset} is outside of ${this.end - this.base} bytes`, slot);
    this.spend(size, slot);
    this.from = from;
    this.to = from + size;
  }

  /** The slot of text or bytes, short ones inside it. */
  locateText(slot: number, what: string): void {
    const mark = this.bytes[slot + 7];
    if (mark < 0x80) {
      this.locate(slot, what);
      return;
    }
    const length = mark & 0x7f;
    if (length > 7) this.fail(`${what} of ${length} bytes inside of a slot`, slot + 7);
    this.from = slot;
    this.to = slot + length;
  }

  private spend(size: number, at: number): void {
    this.budget.left -= size;
    if (this.budget.left < 0) this.fail('parts of the value overlap so often that it would grow without bounds', at);
  }
}
