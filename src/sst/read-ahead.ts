/**
 * A buffer over a table's file for blocks that are read one after the other: each read takes more than was asked for, twice as
 * much each time, up to 1 MiB, so that a scan makes few large reads and a lookup small ones.
 */
import { CorruptError } from '../errors.js';
import type { Table } from './table.js';

const MAX_READ = 1 << 20;
const MIN_READ = 16 << 10;

export class ReadAhead {
  /** the caller may write to what it fetched; going back to it then needs forget() */
  bytes: Uint8Array = new Uint8Array(0);
  private offset = 0;
  private end = 0;

  /** @param size bytes of the first read; 0: what is asked for */
  constructor(private size: number) {}

  /** Makes [offset, offset + length) of the file stand in `bytes`; returns where. @throws CorruptError when the file ends before */
  fetch(table: Table, offset: number, length: number): number {
    if (offset >= this.offset && offset + length <= this.end) return offset - this.offset;
    const wanted = Math.max(length, Math.min(this.size, table.footer.offset - offset));
    if (wanted > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow(Math.max(wanted, Math.min(this.size, MAX_READ)));
    const got = table.source.readInto(this.bytes.subarray(0, wanted), offset);
    if (got < length)
      throw new CorruptError(`block of ${length} bytes wanted, the file ends after ${got}`, {
        ...table.origin,
        offset: table.source.base + offset,
      });
    this.offset = offset;
    this.end = offset + got;
    this.size = Math.min(MAX_READ, Math.max(MIN_READ, this.size * 2));
    return 0;
  }

  /** Drops what was read: of another file, or written to. */
  forget(): void {
    this.end = 0;
  }
}
