/**
 * The rows of one key group put together out of the entries of several states, as bytes: nothing is decoded.
 *
 *   a row     one (key, namespace): where the bytes of both stand in one buffer
 *   a cell    of a row and a state whose values are wanted: the bytes of its entry, of maps in composite layout of its entries in a list
 *
 * Rows come in the order in which their keys are first met. The entries of a second state mostly come in the same order, so the row
 * behind the last one is tried first; while keys only ascend, as those of RocksDB do, a new one need not be looked for at all.
 * Otherwise they are found by a hash table over the bytes.
 */
import { UnsupportedError } from '../errors.js';
import { compareBytes } from '../sst/internal-key.js';
import type { EntryCursor } from '../state/entry.js';

/** Bytes of one key group that are kept at most. */
const MAX_BYTES = 1 << 30;

/** so many bytes are copied one by one */
const SHORT = 48;

const EMPTY = new Uint8Array(0);

function grown(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const next = new Uint32Array(Math.max(length, array.length * 2));
  next.set(array);
  return next;
}

/** Bytes one after another. */
class Arena {
  bytes: Uint8Array = EMPTY;
  length = 0;

  /** @returns where the copy of bytes[start, end) begins */
  add(bytes: Uint8Array, start: number, end: number): number {
    const at = this.length;
    const to = at + end - start;
    if (to > this.bytes.length) this.grow(to);
    this.length = to;
    const kept = this.bytes;
    if (end - start < SHORT) for (let i = start, k = at; i < end; i++, k++) kept[k] = bytes[i];
    else kept.set(bytes.subarray(start, end), at);
    return at;
  }

  private grow(length: number): void {
    if (length > MAX_BYTES)
      throw new UnsupportedError(`one key group holds more than ${MAX_BYTES} bytes of one state`, {
        hint: 'read keyed_state, which has a row for each value, list element and map entry',
      });
    const next = new Uint8Array(Math.max(length, Math.min(MAX_BYTES, this.bytes.length * 2), 1 << 12));
    next.set(this.bytes.subarray(0, this.length));
    this.bytes = next;
  }
}

/** The values that the rows of a key group have of one state. Entries are numbered; 0 is none. */
export class Cells {
  private readonly arena = new Arena();
  /** of a row: its first and its last entry */
  private first = new Uint32Array(1024);
  private last = new Uint32Array(1024);
  /** of an entry: the next one of its row, where its map key begins and its value begins and ends */
  private following = new Uint32Array(1024);
  private starts = new Uint32Array(1024);
  private values = new Uint32Array(1024);
  private ends = new Uint32Array(1024);
  /** of an entry: file offset of the first byte of the arena, as it would have to be for this entry's offsets to be right; NaN: no file's */
  private bases = new Float64Array(1024);
  private entries = 0;
  private rows = 0;

  /** @param chained whether a row may have several entries; if not, the last one counts */
  constructor(readonly chained: boolean) {}

  get bytes(): Uint8Array {
    return this.arena.bytes;
  }
  /** The first entry of a row, 0: none. */
  entryOf(row: number): number {
    return row < this.rows ? this.first[row] : 0;
  }
  /** The entry of the same row behind an entry, 0: none. */
  nextOf(entry: number): number {
    return this.following[entry];
  }
  mapKeyStart(entry: number): number {
    return this.starts[entry];
  }
  valueStart(entry: number): number {
    return this.values[entry];
  }
  valueEnd(entry: number): number {
    return this.ends[entry];
  }
  /** File offset of bytes[0], for errors in an entry; NaN when its bytes do not lie in a file as they are. */
  baseOf(entry: number): number {
    return this.bases[entry];
  }

  add(row: number, entry: EntryCursor): void {
    const { arena } = this;
    const { bytes, valueStart, valueEnd, base } = entry;
    const i = ++this.entries;
    if (i === this.starts.length) this.growEntries();
    this.starts[i] = this.chained ? arena.add(bytes, entry.userKeyStart, entry.userKeyEnd) : arena.length;
    const at = arena.add(bytes, valueStart, valueEnd);
    this.values[i] = at;
    this.ends[i] = arena.length;
    this.bases[i] = base < 0 ? Number.NaN : base + valueStart - at;
    this.following[i] = 0;
    if (row >= this.rows) {
      if (row >= this.first.length) {
        this.first = grown(this.first, row + 1);
        this.last = grown(this.last, row + 1);
      }
      this.first.fill(0, this.rows, row);
      this.rows = row + 1;
      this.first[row] = i;
    } else if (!this.chained || this.first[row] === 0) this.first[row] = i;
    else this.following[this.last[row]] = i;
    this.last[row] = i;
  }

  clear(): void {
    this.arena.length = 0;
    this.entries = 0;
    this.rows = 0;
  }

  private growEntries(): void {
    const length = this.starts.length * 2;
    this.following = grown(this.following, length);
    this.starts = grown(this.starts, length);
    this.values = grown(this.values, length);
    this.ends = grown(this.ends, length);
    const bases = new Float64Array(length);
    bases.set(this.bases);
    this.bases = bases;
  }
}

export class WideRows {
  count = 0;
  private readonly arena = new Arena();
  /** of a row: where its key begins and where that ends and the namespace begins; both end where the next row's key begins */
  private starts = new Uint32Array(1024);
  private middles = new Uint32Array(1024);
  /** number of the state that a row was first met in */
  private firstStates = new Uint16Array(1024);
  /** rows plus 1, by hash; 0: free */
  private slots = new Uint32Array(4096);
  private hashed = false;
  /** the state of the entries that come now, and the row of the last one */
  private state = -1;
  private at = -1;

  /** @param windowed whether the namespace tells rows apart too */
  constructor(private readonly windowed: boolean) {}

  get bytes(): Uint8Array {
    return this.arena.bytes;
  }
  keyStart(row: number): number {
    return this.starts[row];
  }
  keyEnd(row: number): number {
    return this.middles[row];
  }
  namespaceEnd(row: number): number {
    return this.starts[row + 1];
  }
  firstState(row: number): number {
    return this.firstStates[row];
  }

  clear(): void {
    this.count = 0;
    this.arena.length = 0;
    this.starts[0] = 0;
    this.hashed = false;
    this.state = -1;
  }

  /** The row of an entry, made if it is the first one of its key. @param state number of the entry's state */
  rowOf(entry: EntryCursor, state: number): number {
    const { count } = this;
    if (state !== this.state) {
      this.state = state;
      this.at = -1;
    } else if (this.at >= 0 && this.is(this.at, entry)) return this.at;
    const guess = this.at + 1;
    if (guess < count && this.is(guess, entry)) {
      this.at = guess;
      return guess;
    }
    if (!this.hashed) {
      if (count === 0 || this.isBehindLast(entry)) {
        this.at = count;
        this.add(entry, state);
        return count;
      }
      this.hashAll();
    }
    this.at = this.find(entry, state);
    return this.at;
  }

  private add(entry: EntryCursor, state: number): void {
    const { arena, windowed } = this;
    const { bytes } = entry;
    const row = this.count++;
    if (row + 1 === this.starts.length) {
      this.starts = grown(this.starts, 0);
      this.middles = grown(this.middles, 0);
      const states = new Uint16Array(this.starts.length);
      states.set(this.firstStates);
      this.firstStates = states;
    }
    arena.add(bytes, entry.keyStart, entry.keyEnd);
    this.middles[row] = arena.length;
    if (windowed) arena.add(bytes, entry.namespaceStart, entry.namespaceEnd);
    this.starts[row + 1] = arena.length;
    this.firstStates[row] = state;
  }

  private is(row: number, entry: EntryCursor): boolean {
    const { bytes, keyStart, keyEnd } = entry;
    const start = this.starts[row];
    const middle = this.middles[row];
    return (
      keyEnd - keyStart === middle - start &&
      same(this.arena.bytes, start, bytes, keyStart, keyEnd) &&
      (!this.windowed || this.isIn(row, entry))
    );
  }

  private isIn(row: number, { bytes, namespaceStart, namespaceEnd }: EntryCursor): boolean {
    const middle = this.middles[row];
    return (
      namespaceEnd - namespaceStart === this.starts[row + 1] - middle && same(this.arena.bytes, middle, bytes, namespaceStart, namespaceEnd)
    );
  }

  /** Whether key and namespace stand behind those of the last row, in an order of their own. */
  private isBehindLast(entry: EntryCursor): boolean {
    const row = this.count - 1;
    const kept = this.arena.bytes;
    const middle = this.middles[row];
    const order = compareBytes(entry.bytes, entry.keyStart, entry.keyEnd, kept, this.starts[row], middle);
    if (order !== 0 || !this.windowed) return order > 0;
    return compareBytes(entry.bytes, entry.namespaceStart, entry.namespaceEnd, kept, middle, this.starts[row + 1]) > 0;
  }

  private find(entry: EntryCursor, state: number): number {
    const { bytes } = entry;
    let hash = hashOf(BEGIN, bytes, entry.keyStart, entry.keyEnd);
    if (this.windowed) hash = hashOf(hash, bytes, entry.namespaceStart, entry.namespaceEnd);
    const { slots } = this;
    const mask = slots.length - 1;
    let slot = mixed(hash) & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) if (this.is(slots[slot] - 1, entry)) return slots[slot] - 1;
    const row = this.count;
    this.add(entry, state);
    slots[slot] = row + 1;
    if (2 * this.count > slots.length) this.hashAll();
    return row;
  }

  /** Puts all rows there are into the hash table. */
  private hashAll(): void {
    const { count, starts, middles, windowed } = this;
    const { bytes } = this.arena;
    if (4 * count > this.slots.length) this.slots = new Uint32Array(2 ** Math.ceil(Math.log2(4 * count)));
    else this.slots.fill(0);
    const { slots } = this;
    const mask = slots.length - 1;
    for (let row = 0; row < count; row++) {
      let hash = hashOf(BEGIN, bytes, starts[row], middles[row]);
      if (windowed) hash = hashOf(hash, bytes, middles[row], starts[row + 1]);
      let slot = mixed(hash) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = row + 1;
    }
    this.hashed = true;
  }
}

function same(a: Uint8Array, at: number, b: Uint8Array, start: number, end: number): boolean {
  for (let i = end - start - 1; i >= 0; i--) if (a[at + i] !== b[start + i]) return false;
  return true;
}

/** another one in every process, so that no file is made of keys that collide */
const BEGIN = (Math.random() * 0x100000000) | 0;

/** FNV-1a, going on from `hash` */
function hashOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash ^ (end - start);
}

function mixed(hash: number): number {
  const h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return h ^ (h >>> 13);
}
