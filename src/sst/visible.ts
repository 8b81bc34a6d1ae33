/**
 * The visible entries of a column family: runs merged by internal key, one result a user key.
 *
 *   newest version      result
 *   value               the value
 *   deletion, single    nothing
 *   merge operand       base and operands, oldest first, joined by the delimiter; the base is the first value below the
 *                       operands, none below a deletion. An empty base still gets a delimiter behind it.
 *   any, older than a range deletion over it   nothing
 *
 * Mirrors db/db_iter.cc and utilities/merge_operators/string_append (StringAppendOperator, StringAppendTESTOperator) of
 * RocksDB 8.10. Levels play no part: sequence numbers order the versions of a user key wherever they lie.
 *
 * The runs are kept sorted by their current key. As a rule the first run stays first when it steps on, which one comparison
 * shows, and none at all when its new key shares more with its old one than that shared with the second run's.
 */
import { type ErrorOrigin, UnsupportedError } from '../errors.js';
import { BLOB_INDEX, compareBytes, compareTrailers, DELETION, MERGE, SINGLE_DELETION, TYPE_NAMES, VALUE } from './internal-key.js';
import type { RangeDeletions } from './range-deletions.js';
import type { Run } from './run.js';

/** Merge operators that join operands with a delimiter, by the names that tables carry. */
const APPEND_OPERATORS: ReadonlySet<string> = new Set([
  'StringAppendOperator',
  'StringAppendTESTOperator',
  'stringappend',
  'stringappendtest',
]);

const NO_BYTES = new Uint8Array(0);

/** A cursor over visible entries, user keys ascending. Fields are valid until next(). */
export class Visible {
  bytes: Uint8Array = NO_BYTES;
  /** the user key is bytes[keyStart, keyEnd) */
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;

  /** those that have an entry left, by key */
  private readonly runs: Run[] = [];
  /** runs[0] stands at a user key that is done with */
  private passed = false;
  /** runs[1] stands at the same user key as runs[0] */
  private tied = false;
  /** bytes that the user keys of runs[0] and runs[1] share */
  private sharedWithSecond = 0;
  /** key and value of a merge */
  private joined: Uint8Array = NO_BYTES;

  /**
   * @param runs not yet stepped
   * @param deletions where the runs put the range deletions of the tables that they open
   * @param delimiter byte between the operands of a merge
   */
  constructor(
    private readonly all: readonly Run[],
    private readonly deletions: RangeDeletions,
    private readonly delimiter: number,
  ) {
    for (const run of all) {
      if (!run.next()) continue;
      this.runs.unshift(run);
      this.settle(0);
    }
    this.compareFirst();
  }

  /** Steps to the next visible entry. @returns false at the end */
  next(): boolean {
    const { runs } = this;
    for (;;) {
      if (this.passed) this.passKey();
      if (runs.length === 0) return false;
      this.passed = true;
      const run = runs[0];
      if (!this.deletions.empty && this.deletions.covers(run.bytes, run.keyStart, run.keyEnd)) continue;
      const type = run.bytes[run.keyEnd];
      if (type === VALUE) {
        this.bytes = run.bytes;
        this.keyStart = run.keyStart;
        this.keyEnd = run.keyEnd;
        this.valueStart = run.valueStart;
        this.valueEnd = run.valueEnd;
        return true;
      }
      if (type === DELETION || type === SINGLE_DELETION) continue;
      if (type !== MERGE) this.unsupported(run, type);
      this.join();
      return true;
    }
  }

  /** Where the current entry lies: the block of its newest version. */
  origin(): ErrorOrigin {
    return this.runs[0]?.origin() ?? {};
  }

  close(): void {
    for (const run of this.all) run.close();
    this.runs.length = 0;
  }

  /** Steps all runs past the user key of runs[0]. */
  private passKey(): void {
    const { runs } = this;
    const first = runs[0];
    if (runs.length === 1) {
      do
        if (!first.next()) {
          runs.pop();
          return;
        }
      while (first.same);
      return;
    }
    if (this.tied) this.passTied();
    let shared = Number.MAX_SAFE_INTEGER;
    do {
      if (!first.next()) {
        runs.shift();
        this.compareFirst();
        return;
      }
      if (first.shared < shared) shared = first.shared;
    } while (first.same);
    // the old key was below the second run's, and parted from it at a byte that the new key still has
    if (shared > this.sharedWithSecond || runs.length < 2) return;
    const second = runs[1];
    const order = compareFrom(first, second, shared);
    this.sharedWithSecond = common;
    this.tied = order === 0;
    if (order < 0 || (order === 0 && compareTrailers(first.bytes, first.keyEnd, second.bytes, second.keyEnd) < 0)) return;
    // a step behind the second run it is still next to it
    if (this.place(0) !== 1) this.compareFirst();
  }

  /** Steps the other runs that stand at the user key of the first past it. */
  private passTied(): void {
    const { runs } = this;
    while (this.tied) {
      const run = runs[1];
      let left = run.next();
      while (left && run.same) left = run.next();
      if (left) this.settle(1);
      else runs.splice(1, 1);
      this.compareFirst();
    }
  }

  /** Moves runs[at], which has stepped, to its place among those behind it. */
  private settle(at: number): void {
    const { runs } = this;
    if (at + 1 < runs.length && compareRuns(runs[at], runs[at + 1]) > 0) this.place(at);
  }

  /** Moves runs[at], which belongs behind runs[at + 1], to its place. @returns where that is */
  private place(at: number): number {
    const { runs } = this;
    const run = runs[at];
    let low = at + 2;
    let high = runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareRuns(run, runs[middle]) < 0) high = middle;
      else low = middle + 1;
    }
    for (let i = at; i < low - 1; i++) runs[i] = runs[i + 1];
    runs[low - 1] = run;
    return low - 1;
  }

  /** Finds out how the first run's key relates to the second's. */
  private compareFirst(): void {
    const { runs } = this;
    this.tied = false;
    if (runs.length < 2) return;
    this.tied = compareFrom(runs[0], runs[1], 0) === 0;
    this.sharedWithSecond = common;
  }

  /** Joins the operands of the user key of runs[0] with their base, and passes the key. */
  private join(): void {
    const { runs } = this;
    const key = Uint8Array.prototype.slice.call(runs[0].bytes, runs[0].keyStart, runs[0].keyEnd);
    const parts: Uint8Array[] = [];
    let size = 0;
    for (let open = true; runs.length > 0 && standsAt(runs[0], key); ) {
      const run = runs[0];
      const type = run.bytes[run.keyEnd];
      if (open && !this.deletions.empty && this.deletions.covers(run.bytes, run.keyStart, run.keyEnd)) open = false;
      if (open && (type === MERGE || type === VALUE)) {
        if (type === MERGE) this.checkOperator(run);
        parts.push(Uint8Array.prototype.slice.call(run.bytes, run.valueStart, run.valueEnd));
        size += run.valueEnd - run.valueStart + 1;
      } else if (open && type !== DELETION && type !== SINGLE_DELETION) this.unsupported(run, type);
      if (type !== MERGE) open = false;
      if (!run.next()) runs.shift();
      else this.settle(0);
    }
    this.compareFirst();
    this.passed = false;

    const total = key.length + size - 1;
    if (this.joined.length < total) this.joined = new Uint8Array(Math.max(total, Math.min(1 << 20, total * 2)));
    const out = this.joined;
    out.set(key);
    let at = key.length;
    for (let i = parts.length - 1; i >= 0; i--) {
      out.set(parts[i], at);
      at += parts[i].length;
      if (i > 0) out[at++] = this.delimiter;
    }
    this.bytes = out;
    this.keyStart = 0;
    this.keyEnd = key.length;
    this.valueStart = key.length;
    this.valueEnd = total;
  }

  private checkOperator(run: Run): void {
    const operator = run.table?.properties.mergeOperator;
    if (operator === undefined || !APPEND_OPERATORS.has(operator))
      throw new UnsupportedError(`merge operator ${operator ?? 'unknown'}`, run.origin());
  }

  private unsupported(run: Run, type: number): never {
    throw new UnsupportedError(
      type === BLOB_INDEX
        ? 'values in blob files (enable_blob_files) are not read'
        : `entries of type ${type} (${TYPE_NAMES[type] ?? 'unknown'})`,
      run.origin(),
    );
  }
}

function compareRuns(a: Run, b: Run): number {
  const order = compareBytes(a.bytes, a.keyStart, a.keyEnd, b.bytes, b.keyStart, b.keyEnd);
  return order !== 0 ? order : compareTrailers(a.bytes, a.keyEnd, b.bytes, b.keyEnd);
}

/** bytes that the user keys compared last share */
let common = 0;

/** Compares user keys of which `from` bytes are known to be the same, and says in `common` how many are. */
function compareFrom(a: Run, b: Run, from: number): number {
  const { bytes: x, keyStart: p } = a;
  const { bytes: y, keyStart: q } = b;
  const aLength = a.keyEnd - p;
  const bLength = b.keyEnd - q;
  const length = Math.min(aLength, bLength);
  let i = from;
  while (i < length && x[p + i] === y[q + i]) i++;
  common = i;
  return i < length ? x[p + i] - y[q + i] : aLength - bLength;
}

const standsAt = (run: Run, key: Uint8Array): boolean =>
  run.keyEnd - run.keyStart === key.length && compareBytes(run.bytes, run.keyStart, run.keyEnd, key, 0, key.length) === 0;
