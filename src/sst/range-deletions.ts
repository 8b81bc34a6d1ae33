/**
 * Range deletions of the tables that a scan has open: what is deleted at the key where it stands.
 *
 *   [start, end) at sequence s hides every version older than s
 *
 * A compaction may copy one range deletion, uncut, into several of its output files, while the keys behind a file's end went
 * on in others, where their sequence numbers may be zeroed already. So each counts only inside the key range of its file.
 * Mirrors db/range_del_aggregator.cc (TruncatedRangeDelIterator) of RocksDB 8.10; without snapshots the newest one that covers
 * a key decides.
 */
import { compareBytes, compareKeys, RANGE_SENTINEL_HIGH, RANGE_SENTINEL_LOW, readU32, TRAILER } from './internal-key.js';
import type { RangeDeletion } from './table.js';

interface Interval {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  /** the sequence number's upper 32 and lower 24 bits */
  readonly high: number;
  readonly low: number;
}

/** Cuts a range deletion to its file's smallest and largest internal key; undefined when nothing is left. */
export function cutToFile(
  deletion: RangeDeletion,
  smallest: Uint8Array | undefined,
  largest: Uint8Array | undefined,
): RangeDeletion | undefined {
  let { start, end } = deletion;
  if (smallest !== undefined) {
    const first = smallest.subarray(0, smallest.length - TRAILER);
    if (compareKeys(start, first) < 0) start = first;
  }
  if (largest !== undefined) {
    const behind = endOfFile(largest);
    if (compareKeys(behind, end) < 0) end = behind;
  }
  return compareKeys(start, end) < 0 ? { start, end, sequence: deletion.sequence } : undefined;
}

/** The first user key that is certainly behind the file. */
function endOfFile(largest: Uint8Array): Uint8Array {
  const at = largest.length - TRAILER;
  const userKey = largest.subarray(0, at);
  // the largest key is the exclusive end of a range deletion
  if (readU32(largest, at) === RANGE_SENTINEL_LOW && readU32(largest, at + 4) === RANGE_SENTINEL_HIGH) return userKey;
  const successor = new Uint8Array(at + 1);
  successor.set(userKey);
  return successor;
}

/** Follows a scan through ascending keys. */
export class RangeDeletions {
  /** not reached yet, by start, the first one last */
  private readonly ahead: Interval[] = [];
  /** cover the current key */
  private live: Interval[] = [];
  /** where the next one begins or ends; undefined: none does */
  private change: Uint8Array | undefined;
  private high = -1;
  private low = 0;

  get empty(): boolean {
    return this.ahead.length === 0 && this.live.length === 0;
  }

  /** Adds those of a file that the scan has just come to. */
  add(deletions: readonly RangeDeletion[], smallest: Uint8Array | undefined, largest: Uint8Array | undefined): void {
    for (const deletion of deletions) {
      const cut = cutToFile(deletion, smallest, largest);
      if (cut === undefined) continue;
      this.ahead.push({
        start: cut.start,
        end: cut.end,
        high: Number(cut.sequence >> 24n),
        low: Number(cut.sequence & 0xffffffn),
      });
    }
    this.ahead.sort((a, b) => compareKeys(b.start, a.start));
    this.findChange();
  }

  /** Whether the version with this user key, bytes[start, end), and the trailer behind it is deleted. Keys must not descend. */
  covers(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.change !== undefined && compareBytes(bytes, start, end, this.change, 0, this.change.length) >= 0)
      this.advance(bytes, start, end);
    if (this.high < 0) return false;
    const high = readU32(bytes, end + 4);
    return high < this.high || (high === this.high && readU32(bytes, end) >>> 8 < this.low);
  }

  private advance(bytes: Uint8Array, start: number, end: number): void {
    for (let next = this.ahead.at(-1); next !== undefined; next = this.ahead.at(-1)) {
      if (compareBytes(next.start, 0, next.start.length, bytes, start, end) > 0) break;
      this.live.push(next);
      this.ahead.pop();
    }
    this.live = this.live.filter(interval => compareBytes(interval.end, 0, interval.end.length, bytes, start, end) > 0);
    this.high = -1;
    this.low = 0;
    for (const { high, low } of this.live)
      if (high > this.high || (high === this.high && low > this.low)) {
        this.high = high;
        this.low = low;
      }
    this.findChange();
  }

  private findChange(): void {
    this.change = this.ahead.at(-1)?.start;
    for (const { end } of this.live) if (this.change === undefined || compareKeys(end, this.change) < 0) this.change = end;
  }
}
