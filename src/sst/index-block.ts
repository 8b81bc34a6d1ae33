/**
 * The index of a table: one entry a data block, in order, that says where the block lies and up to which key it goes.
 *
 *   key   a separator: not below any key of its block, below all keys of the next one; need not exist as a key.
 *         An internal key, or a user key when property index.key.is.user.key is 1
 *   value the block's handle (varint offset, varint size), then for type 3 a length-prefixed first internal key
 *
 *   with index.value.is.delta.encoded = 1 (format version 4+) entries have no value length:
 *   varint shared · varint unshared · key bytes · value, where the value is a handle when shared is 0, otherwise the zigzag
 *   varint of (size - size of the block before), that block being the neighbour: offset = its offset + size + 5
 *
 * A two-level index (type 2) has index blocks as its blocks, in the same form. Type 1 (hash) adds a prefix hash for lookups
 * beside the same binary-search index. Mirrors table/block_based/index_builder.h, block.cc (IndexBlockIter) of RocksDB 8.10.
 */
import { CorruptError, type ErrorOrigin } from '../errors.js';
import { type BlockFile, blockOrigin, readBlock } from './block.js';
import { blockLayout } from './entries.js';
import { BLOCK_TRAILER, type BlockHandle } from './footer.js';
import { compareBytes, readU32, TRAILER } from './internal-key.js';

/** How the entries of an index are written. */
export interface IndexForm {
  readonly userKeys: boolean;
  readonly deltaValues: boolean;
  readonly firstKeys: boolean;
  readonly twoLevel: boolean;
}

/** A cursor over one index block. */
class IndexBlock {
  /** separator: user key is key[0, keyLength) */
  key: Uint8Array = new Uint8Array(64);
  keyLength = 0;
  offset = 0;
  size = 0;
  private position = 0;
  private storedLength = 0;
  private readonly entriesEnd: number;
  private readonly restarts: number;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly form: IndexForm,
    private readonly origin: ErrorOrigin,
  ) {
    const layout = blockLayout(bytes, 0, bytes.length, origin);
    this.entriesEnd = layout.entriesEnd;
    this.restarts = layout.restarts;
  }

  /** Steps to the next entry. @returns false at the end */
  next(): boolean {
    if (this.position >= this.entriesEnd) return false;
    const { form } = this;
    const shared = this.varint();
    const unshared = this.varint();
    const valueLength = form.deltaValues ? 0 : this.varint();
    if (shared > this.storedLength) this.fail(`${shared} bytes shared with a key of ${this.storedLength}`);
    const keyAt = this.position;
    if (unshared > this.entriesEnd - keyAt) this.fail(`key of ${unshared} bytes, ${this.entriesEnd - keyAt} remain`);
    const length = shared + unshared;
    if (length > this.key.length) {
      const grown = new Uint8Array(Math.max(length, this.key.length * 2));
      grown.set(this.key.subarray(0, shared));
      this.key = grown;
    }
    this.key.set(this.bytes.subarray(keyAt, keyAt + unshared), shared);
    this.storedLength = length;
    this.keyLength = form.userKeys ? length : length - TRAILER;
    if (this.keyLength < 0) this.fail(`internal key of ${length} bytes`);
    this.position = keyAt + unshared;
    this.readValue(form.deltaValues && shared !== 0, form.deltaValues ? undefined : this.position + valueLength);
    return true;
  }

  private readValue(delta: boolean, end: number | undefined): void {
    if (delta) {
      const zigzag = this.varint();
      this.offset += this.size + BLOCK_TRAILER;
      this.size += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      if (this.size < 0) this.fail(`block of ${this.size} bytes`);
    } else {
      this.offset = this.varint();
      this.size = this.varint();
    }
    if (this.form.firstKeys) {
      const length = this.varint();
      if (length > this.entriesEnd - this.position) this.fail(`first key of ${length} bytes`);
      this.position += length;
    }
    if (end !== undefined && this.position !== end) this.fail(`value ends at ${this.position}, expected ${end}`);
  }

  /** Stands before the first entry whose separator is not below the user key: call next(). */
  seek(target: Uint8Array): void {
    let low = 0;
    let high = this.restarts - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      this.restart(middle);
      if (this.next() && this.compareTo(target) < 0) low = middle;
      else high = middle - 1;
    }
    this.restart(low);
    for (;;) {
      const { position, storedLength, offset, size } = this;
      const before = this.key.slice(0, storedLength);
      if (!this.next()) return;
      if (this.compareTo(target) >= 0) {
        // back by one entry: its key is needed to decode it again
        this.position = position;
        this.storedLength = storedLength;
        this.key.set(before);
        this.offset = offset;
        this.size = size;
        return;
      }
    }
  }

  compareTo(target: Uint8Array): number {
    return compareBytes(this.key, 0, this.keyLength, target, 0, target.length);
  }

  private restart(i: number): void {
    this.position = this.restarts === 0 ? this.entriesEnd : readU32(this.bytes, this.entriesEnd + 4 * i);
    if (this.position > this.entriesEnd) this.fail(`restart point at ${this.position}`);
    this.storedLength = 0;
  }

  private varint(): number {
    let result = 0;
    for (let shift = 0; ; shift += 7) {
      if (this.position >= this.entriesEnd) this.fail('entry is cut off');
      const b = this.bytes[this.position++];
      result += (b & 0x7f) * 2 ** shift;
      if (b < 0x80) break;
      if (shift > 49) this.fail('number is out of range');
    }
    return result;
  }

  private fail(what: string): never {
    throw new CorruptError(`index block: ${what}`, this.origin);
  }
}

/** Walks the data blocks of a table in order. Fields are those of the current block. */
export class IndexCursor {
  offset = 0;
  size = 0;
  private readonly top: IndexBlock;
  private partition: IndexBlock | undefined;

  /** @param root contents of the block that the footer or metaindex calls the index */
  constructor(
    private readonly file: BlockFile,
    private readonly form: IndexForm,
    root: Uint8Array,
    rootOrigin: ErrorOrigin,
  ) {
    this.top = new IndexBlock(root, form.twoLevel ? { ...form, firstKeys: false } : form, rootOrigin);
  }

  /** Steps to the next block. @returns false behind the last one */
  next(): boolean {
    if (!this.form.twoLevel) return this.take(this.top);
    while (this.partition === undefined || !this.take(this.partition)) {
      if (!this.top.next()) return false;
      this.partition = this.openPartition();
    }
    return true;
  }

  /** Stands before the first block that may hold the user key or a later one: call next(). */
  seek(target: Uint8Array): void {
    this.top.seek(target);
    if (!this.form.twoLevel) return;
    this.partition = undefined;
    if (!this.top.next()) return;
    this.partition = this.openPartition();
    this.partition.seek(target);
  }

  /** Orders the current block's separator, and so its largest key, against a user key: below 0 when all of its keys are below. */
  compareSeparator(target: Uint8Array): number {
    return (this.partition ?? this.top).compareTo(target);
  }

  private take(block: IndexBlock): boolean {
    if (!block.next()) return false;
    this.offset = block.offset;
    this.size = block.size;
    return true;
  }

  private openPartition(): IndexBlock {
    const handle: BlockHandle = { offset: this.top.offset, size: this.top.size };
    return new IndexBlock(readBlock(this.file, handle), this.form, blockOrigin(this.file, handle));
  }
}
