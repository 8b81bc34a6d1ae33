/**
 * Writes RocksDB tables and manifests, in forms that no reachable Flink writes as well: legacy footers, old table versions,
 * every checksum, chosen sequence numbers, range deletions that reach out of their file. Written from the format's description in
 * src/sst, with none of its code, so that the two check each other; RocksDB's own `sst_dump` reads what it writes.
 */
import { deflateRawSync } from 'node:zlib';
import { snappyCompress } from 'hysnappy';
import { crc32c, maskCrc32c } from '../../src/io/crc32c.js';
import { xxh3 } from '../../src/io/xxh3.js';
import { xxh32, xxh64 } from '../../src/io/xxhash.js';

export type Codec = 'none' | 'snappy' | 'zlib' | 'lz4' | 'other';
const CODEC_TYPES = { none: 0, snappy: 1, zlib: 2, lz4: 4, other: 0 } as const;
const CHECKSUMS = { none: 0, crc32c: 1, xxhash: 2, xxhash64: 3, xxh3: 4 } as const;

export const DELETE = 0x00;
export const PUT = 0x01;
export const MERGE = 0x02;
export const SINGLE_DELETE = 0x07;

export interface Version {
  readonly key: Uint8Array;
  readonly sequence: bigint;
  readonly type: number;
  readonly value: Uint8Array;
}
export interface Range {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly sequence: bigint;
}

export interface TableForm {
  /** 0: the legacy footer */
  readonly version?: number;
  readonly checksum?: keyof typeof CHECKSUMS;
  readonly codec?: Codec;
  /** codec `other`: the compression type and what to write for a block, undefined: as it is */
  readonly other?: { readonly type: number; compress(block: Uint8Array): Uint8Array | undefined };
  readonly blockSize?: number;
  readonly restartInterval?: number;
  readonly indexRestartInterval?: number;
  readonly index?: 'binary' | 'partitioned' | 'first-key';
  /** entries of an index partition */
  readonly partitionSize?: number;
  readonly indexKeyIsUserKey?: boolean;
  readonly hashIndex?: boolean;
  readonly columnFamily?: string;
  readonly comparator?: string;
  readonly mergeOperator?: string;
  /** of an ingested file: written into the properties after their checksum was made when `patched` */
  readonly globalSequence?: { readonly sequence: bigint; readonly patched?: boolean };
  /** what zlib blocks are compressed with */
  readonly dictionary?: Uint8Array;
  readonly context?: number;
  /** overrides of properties, undefined removes one */
  readonly properties?: Readonly<Record<string, Uint8Array | undefined>>;
  readonly rangeDeletions?: readonly Range[];
  /** a filter of the whole table, in its legacy form, of so many bits a key */
  readonly bloomBits?: number;
}

export const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
export const concat = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

export function varint(value: number | bigint): Uint8Array {
  if (value >= 0 && value < 0x80) return Uint8Array.of(Number(value));
  const out: number[] = [];
  let rest = BigInt(value);
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Uint8Array.from(out);
}
export function u32(value: number): Uint8Array {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value >>> 0);
  return Uint8Array.from(out);
}
export function u64(value: bigint): Uint8Array {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(value);
  return Uint8Array.from(out);
}
const zigzag = (value: number): Uint8Array => varint(value >= 0 ? value * 2 : -value * 2 - 1);
export const lps = (bytes: Uint8Array): Uint8Array => concat(varint(bytes.length), bytes);
export const internalKey = (key: Uint8Array, sequence: bigint, type: number): Uint8Array =>
  concat(key, u64((sequence << 8n) | BigInt(type)));

/** Newest first within a user key. */
export function compareVersions(a: { key: Uint8Array; sequence: bigint }, b: { key: Uint8Array; sequence: bigint }): number {
  const order = Buffer.compare(a.key, b.key);
  if (order !== 0) return order;
  return a.sequence > b.sequence ? -1 : a.sequence < b.sequence ? 1 : 0;
}

class BlockBuilder {
  private readonly parts: Uint8Array[] = [];
  private readonly restarts: number[] = [];
  private size_ = 0;
  private count = 0;
  private last: Uint8Array = new Uint8Array(0);
  private readonly keys: { key: Uint8Array; restart: number }[] = [];
  constructor(
    private readonly interval: number,
    private readonly hashIndex = false,
  ) {}
  get size(): number {
    return this.size_;
  }
  get empty(): boolean {
    return this.parts.length === 0;
  }
  /** `value` with its length; or, for delta-encoded index values, the two forms of it */
  add(key: Uint8Array, value: Uint8Array | { readonly full: Uint8Array; readonly delta: Uint8Array }): void {
    let shared = 0;
    if (this.count % this.interval === 0) this.restarts.push(this.size_);
    else while (shared < Math.min(key.length, this.last.length) && key[shared] === this.last[shared]) shared++;
    const part =
      value instanceof Uint8Array
        ? concat(varint(shared), varint(key.length - shared), varint(value.length), key.subarray(shared), value)
        : concat(varint(shared), varint(key.length - shared), key.subarray(shared), shared === 0 ? value.full : value.delta);
    this.keys.push({ key, restart: this.restarts.length - 1 });
    this.parts.push(part);
    this.size_ += part.length;
    this.count++;
    this.last = key;
  }
  finish(): Uint8Array {
    if (this.restarts.length === 0) this.restarts.push(0);
    const tail = this.restarts.map(u32);
    let restarts = this.restarts.length;
    if (this.hashIndex && restarts <= 253) {
      // buckets say at which restart point a key is; 255: nowhere, 254: at several. A reader that scans does not look at them.
      const buckets = new Uint8Array(this.keys.length + 1).fill(254);
      tail.push(buckets, Uint8Array.of(buckets.length & 0xff, buckets.length >> 8));
      restarts = (restarts | 0x80000000) >>> 0;
    }
    return concat(...this.parts, ...tail, u32(restarts));
  }
}

/** The bytes of a table with these versions (any order). */
export function encodeTable(versions: readonly Version[], form: TableForm = {}): Uint8Array {
  const version = form.version ?? 5;
  const checksum = form.checksum ?? 'crc32c';
  const sorted = [...versions].sort(compareVersions);
  const deltaValues = version >= 4;
  const userKeys = form.indexKeyIsUserKey ?? false;
  const context = form.context ?? 0;
  const chunks: Uint8Array[] = [];
  let offset = 0;

  const write = (block: Uint8Array, codec: Codec): { offset: number; size: number } => {
    const packed = compress(block, codec, version, form);
    const payload = packed ?? block;
    const type = packed === undefined ? 0 : codec === 'other' ? (form.other?.type ?? 0) : CODEC_TYPES[codec];
    const body = concat(payload, Uint8Array.of(type));
    const handle = { offset, size: payload.length };
    const modifier = context === 0 ? 0 : (context ^ (offset >>> 0)) >>> 0;
    chunks.push(concat(body, u32(sumOf(checksum, body) + modifier)));
    offset += body.length + 4;
    return handle;
  };

  // data blocks
  const blocks: { first: Uint8Array; last: Version; next: Version | undefined; offset: number; size: number }[] = [];
  let builder = new BlockBuilder(form.restartInterval ?? 16, form.hashIndex === true);
  let first: Uint8Array | undefined;
  sorted.forEach((entry, i) => {
    const key = internalKey(entry.key, form.globalSequence === undefined ? entry.sequence : 0n, entry.type);
    first ??= key;
    builder.add(key, entry.value);
    if (i + 1 < sorted.length && builder.size < (form.blockSize ?? 4096)) return;
    blocks.push({ first, last: entry, next: sorted[i + 1], ...write(builder.finish(), form.codec ?? 'none') });
    builder = new BlockBuilder(form.restartInterval ?? 16, form.hashIndex === true);
    first = undefined;
  });

  // filter
  const metaindex: [string, { offset: number; size: number }][] = [];
  if (form.bloomBits !== undefined)
    metaindex.push([
      `fullfilter.${BLOOM_POLICY}`,
      write(
        encodeBloom(
          sorted.map(v => v.key),
          form.bloomBits,
        ),
        'none',
      ),
    ]);

  // index
  const separators = blocks.map(({ last }) => (userKeys ? last.key : internalKey(last.key, last.sequence, last.type)));
  const addTo = (
    index: BlockBuilder,
    i: number,
    list: readonly { offset: number; size: number; first?: Uint8Array }[],
    key: Uint8Array,
  ) => {
    const { offset: at, size, first: firstKey } = list[i];
    const extra = form.index === 'first-key' && firstKey !== undefined ? lps(firstKey) : new Uint8Array(0);
    const full = concat(varint(at), varint(size), extra);
    if (!deltaValues) index.add(key, full);
    else index.add(key, { full, delta: concat(zigzag(size - (list[i - 1]?.size ?? 0)), extra) });
  };
  const interval = form.indexRestartInterval ?? 1;
  let root = new BlockBuilder(interval);
  if (form.index === 'partitioned') {
    const partitions: { offset: number; size: number; key: Uint8Array }[] = [];
    const per = form.partitionSize ?? 3;
    for (let from = 0; from < blocks.length; from += per) {
      const partition = new BlockBuilder(interval);
      const list = blocks.slice(from, from + per);
      for (const i of list.keys()) addTo(partition, i, list, separators[from + i]);
      partitions.push({ ...write(partition.finish(), 'none'), key: separators[from + list.length - 1] });
    }
    for (const [i, partition] of partitions.entries()) addTo(root, i, partitions, partition.key);
  } else for (const i of blocks.keys()) addTo(root, i, blocks, separators[i]);
  const indexHandle = write(root.finish(), 'none');
  root = new BlockBuilder(1);
  if (version >= 6) metaindex.push(['rocksdb.index', indexHandle]);
  if (form.dictionary !== undefined) metaindex.push(['rocksdb.compression_dict', write(form.dictionary, 'none')]);
  const ranges = form.rangeDeletions ?? [];
  if (ranges.length > 0) {
    const block = new BlockBuilder(1);
    for (const range of [...ranges].sort((a, b) =>
      compareVersions({ key: a.start, sequence: a.sequence }, { key: b.start, sequence: b.sequence }),
    ))
      block.add(internalKey(range.start, range.sequence, 0x0f), range.end);
    metaindex.push(['rocksdb.range_del', write(block.finish(), 'none')]);
  }
  metaindex.push(['rocksdb.properties', writeProperties()]);
  metaindex.sort((a, b) => (a[0] < b[0] ? -1 : 1));
  const meta = new BlockBuilder(1);
  for (const [name, handle] of metaindex) meta.add(bytesOf(name), concat(varint(handle.offset), varint(handle.size)));
  const metaindexHandle = write(meta.finish(), 'none');
  return concat(...chunks, footer());

  function writeProperties(): { offset: number; size: number } {
    const names: Record<string, Uint8Array | undefined> = {
      'rocksdb.block.based.table.index.type': u32(form.index === 'partitioned' ? 2 : form.index === 'first-key' ? 3 : 0),
      'rocksdb.block.based.table.whole.key.filtering': bytesOf('1'),
      'rocksdb.column.family.id': varint(1),
      'rocksdb.column.family.name': bytesOf(form.columnFamily ?? 'value'),
      'rocksdb.comparator': bytesOf(form.comparator ?? 'leveldb.BytewiseComparator'),
      'rocksdb.deleted.keys': varint(sorted.filter(v => v.type === DELETE).length + ranges.length),
      'rocksdb.filter.policy': form.bloomBits === undefined ? undefined : bytesOf(BLOOM_POLICY),
      'rocksdb.index.key.is.user.key': varint(userKeys ? 1 : 0),
      'rocksdb.index.value.is.delta.encoded': varint(deltaValues ? 1 : 0),
      'rocksdb.merge.operator': bytesOf(form.mergeOperator ?? 'StringAppendTESTOperator'),
      'rocksdb.num.data.blocks': varint(blocks.length),
      'rocksdb.num.entries': varint(sorted.length + ranges.length),
      'rocksdb.num.range-deletions': varint(ranges.length),
    };
    if (form.globalSequence !== undefined) {
      names['rocksdb.external_sst_file.version'] = u32(2);
      names['rocksdb.external_sst_file.global_seqno'] = u64(form.globalSequence.patched === true ? 0n : form.globalSequence.sequence);
    }
    Object.assign(names, form.properties);
    const block = new BlockBuilder(1 << 20);
    for (const name of Object.keys(names).sort()) {
      const value = names[name];
      if (value !== undefined) block.add(bytesOf(name), value);
    }
    const handle = write(block.finish(), 'none');
    if (form.globalSequence?.patched === true) {
      const chunk = Buffer.from(chunks[chunks.length - 1]);
      const at = chunk.indexOf('external_sst_file.global_seqno') + 'external_sst_file.global_seqno'.length;
      chunk.writeBigUInt64LE(form.globalSequence.sequence, at);
      chunks[chunks.length - 1] = Uint8Array.from(chunk);
    }
    return handle;
  }

  function footer(): Uint8Array {
    const handles = concat(
      varint(metaindexHandle.offset),
      varint(metaindexHandle.size),
      varint(indexHandle.offset),
      varint(indexHandle.size),
    );
    const padded = (bytes: Uint8Array) => concat(bytes, new Uint8Array(40 - bytes.length));
    if (version === 0) return concat(padded(handles), u64(0xdb4775248b80fb57n));
    const magic = concat(u32(version), u64(0x88e241b785f4cff7n));
    if (version < 6) return concat(Uint8Array.of(CHECKSUMS[checksum]), padded(handles), magic);
    const at = offset;
    const make = (sum: number) =>
      concat(
        Uint8Array.of(CHECKSUMS[checksum]),
        padded(concat(Uint8Array.of(0x3e, 0, 0x7a, 0), u32(sum), u32(context), u32(metaindexHandle.size))),
        magic,
      );
    return make(sumOf(checksum, make(0)) + (context === 0 ? 0 : (context ^ (at >>> 0)) >>> 0));
  }
}

const BLOOM_POLICY = 'rocksdb.BuiltinBloomFilter';
const BLOOM_LINE = 64;
const BLOOM_PROBES = 6;

/** A legacy full filter: an odd number of lines of 64 bytes, the probes, the number of lines. */
function encodeBloom(keys: readonly Uint8Array[], bitsOfKey: number): Uint8Array {
  const lines = Math.ceil((keys.length * bitsOfKey) / (BLOOM_LINE * 8)) | 1;
  const bits = new Uint8Array(lines * BLOOM_LINE);
  for (const key of keys) {
    let h = bloomHash(key);
    const delta = ((h >>> 17) | (h << 15)) >>> 0;
    const line = (h % lines) * BLOOM_LINE;
    for (let probe = 0; probe < BLOOM_PROBES; probe++, h = (h + delta) >>> 0) {
      const bit = h % (BLOOM_LINE * 8);
      bits[line + (bit >>> 3)] |= 1 << (bit & 7);
    }
  }
  return concat(bits, Uint8Array.of(BLOOM_PROBES), u32(lines));
}

function bloomHash(key: Uint8Array): number {
  const m = 0xc6a4a793;
  const view = Buffer.from(key.buffer, key.byteOffset, key.length);
  let h = (0xbc9f1d34 ^ Math.imul(key.length, m)) >>> 0;
  let at = 0;
  for (; key.length - at >= 4; at += 4) {
    h = Math.imul((h + view.readUInt32LE(at)) >>> 0, m) >>> 0;
    h = (h ^ (h >>> 16)) >>> 0;
  }
  if (at === key.length) return h;
  for (let i = key.length - 1; i >= at; i--) h = (h + (view.readInt8(i) << (8 * (i - at)))) >>> 0;
  h = Math.imul(h, m) >>> 0;
  return (h ^ (h >>> 24)) >>> 0;
}

/** The checksum of a block with its compression type behind it. */
function sumOf(checksum: keyof typeof CHECKSUMS, body: Uint8Array): number {
  switch (checksum) {
    case 'none':
      return 0;
    case 'crc32c':
      return maskCrc32c(crc32c(body));
    case 'xxhash':
      return xxh32(body);
    case 'xxhash64':
      return Number(xxh64(body) & 0xffffffffn);
    case 'xxh3':
      return (Number(xxh3(body, 0, body.length - 1) & 0xffffffffn) ^ Math.imul(body[body.length - 1], 0x6b9083d9)) >>> 0;
  }
}

function compress(block: Uint8Array, codec: Codec, version: number, form: TableForm): Uint8Array | undefined {
  switch (codec) {
    case 'none':
      return undefined;
    case 'snappy':
      return snappyCompress(block);
    case 'zlib': {
      const { dictionary } = form;
      const packed = Uint8Array.from(deflateRawSync(block, dictionary === undefined ? {} : { dictionary }));
      return version >= 2 ? concat(varint(block.length), packed) : packed;
    }
    case 'lz4': {
      const packed = compressLz4(block, form.dictionary);
      return version >= 2 ? concat(varint(block.length), packed) : concat(u64(BigInt(block.length)), packed);
    }
    case 'other':
      return form.other?.compress(block);
  }
}

/** A plain LZ4 block compressor: greedy matches of four bytes and more, also out of a dictionary. */
export function compressLz4(block: Uint8Array, dictionary: Uint8Array = new Uint8Array(0)): Uint8Array {
  const all = concat(dictionary, block);
  const seen = new Map<number, number>();
  const word = (at: number) => all[at] | (all[at + 1] << 8) | (all[at + 2] << 16) | (all[at + 3] << 24);
  for (let i = 0; i + 4 <= dictionary.length; i++) seen.set(word(i), i);
  const out: Uint8Array[] = [];
  const sizes = (n: number): number[] => {
    const more: number[] = [];
    for (let rest = n - 15; rest >= 0; rest -= 255) more.push(Math.min(rest, 255));
    if (n >= 15 && (n - 15) % 255 === 0 && n > 15) more.push(0);
    return n >= 15 ? more : [];
  };
  let literals = dictionary.length;
  let p = dictionary.length;
  // the last five bytes are literals, as the format demands of encoders
  while (p + 12 < all.length) {
    const from = seen.get(word(p));
    seen.set(word(p), p);
    if (from === undefined || p - from > 65535) {
      p++;
      continue;
    }
    let length = 4;
    while (p + length < all.length - 5 && all[from + length] === all[p + length]) length++;
    const run = p - literals;
    out.push(
      Uint8Array.of((Math.min(run, 15) << 4) | Math.min(length - 4, 15), ...sizes(run)),
      all.subarray(literals, p),
      Uint8Array.of((p - from) & 0xff, (p - from) >> 8, ...sizes(length - 4)),
    );
    p += length;
    literals = p;
  }
  const run = all.length - literals;
  out.push(Uint8Array.of(Math.min(run, 15) << 4, ...sizes(run)), all.subarray(literals));
  return concat(...out);
}

/** Log records: what a MANIFEST consists of, cut into blocks of 32 KiB. */
export function encodeLog(records: readonly Uint8Array[], options: { readonly recycled?: boolean } = {}): Uint8Array {
  const out: Uint8Array[] = [];
  let size = 0;
  const header = options.recycled === true ? 11 : 7;
  const push = (part: Uint8Array) => {
    out.push(part);
    size += part.length;
  };
  for (const record of records) {
    let at = 0;
    let begun = false;
    do {
      let left = 32768 - (size % 32768);
      if (left < header) {
        push(new Uint8Array(left));
        left = 32768;
      }
      const length = Math.min(record.length - at, left - header);
      const last = at + length === record.length;
      const type = (begun ? (last ? 4 : 3) : last ? 1 : 2) + (options.recycled === true ? 4 : 0);
      const body = concat(Uint8Array.of(type), options.recycled === true ? u32(7) : new Uint8Array(0), record.subarray(at, at + length));
      push(concat(u32(maskCrc32c(crc32c(body))), Uint8Array.of(length & 0xff, length >> 8), body));
      at += length;
      begun = true;
    } while (at < record.length);
  }
  return concat(...out);
}

export interface NewFile {
  readonly level: number;
  readonly number: number;
  readonly size: number;
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
  readonly smallestSequence?: bigint;
  readonly largestSequence?: bigint;
}

/** The fields of version edits, to be joined. */
export const edit = {
  comparator: (name: string) => concat(varint(1), lps(bytesOf(name))),
  logNumber: (value: number) => concat(varint(2), varint(value)),
  nextFile: (value: number) => concat(varint(3), varint(value)),
  lastSequence: (value: bigint) => concat(varint(4), varint(value)),
  deletedFile: (level: number, number: number) => concat(varint(6), varint(level), varint(number)),
  newFile: (file: NewFile, fields: Uint8Array = new Uint8Array(0), tag: 7 | 100 | 102 | 103 = 103) =>
    concat(
      varint(tag),
      varint(file.level),
      varint(file.number),
      tag === 102 ? varint(0) : new Uint8Array(0),
      varint(file.size),
      lps(file.smallest),
      lps(file.largest),
      tag === 7 ? new Uint8Array(0) : concat(varint(file.smallestSequence ?? 0n), varint(file.largestSequence ?? 0n)),
      tag === 103 ? concat(fields, varint(1)) : new Uint8Array(0),
    ),
  columnFamily: (id: number) => concat(varint(200), varint(id)),
  addColumnFamily: (name: string) => concat(varint(201), lps(Uint8Array.from(Buffer.from(name, 'utf8')))),
  dropColumnFamily: () => varint(202),
  field: (tag: number, value: Uint8Array) => concat(varint(tag), value),
};

/** Smallest and largest internal key of versions and (where they reach) range deletions, as RocksDB notes them. */
export function boundsOf(versions: readonly Version[], ranges: readonly Range[] = []): { smallest: Uint8Array; largest: Uint8Array } {
  const sorted = [...versions].sort(compareVersions);
  const keys = [...sorted.map(v => internalKey(v.key, v.sequence, v.type)), ...ranges.map(r => internalKey(r.start, r.sequence, 0x0f))];
  const ends = [...sorted.map(v => internalKey(v.key, v.sequence, v.type)), ...ranges.map(r => concat(r.end, u64(0xffffffffffffff0fn)))];
  const order = (a: Uint8Array, b: Uint8Array): number => {
    const users = Buffer.compare(a.subarray(0, a.length - 8), b.subarray(0, b.length - 8));
    if (users !== 0) return users;
    const x = Buffer.from(a.subarray(a.length - 8)).readBigUInt64LE();
    const y = Buffer.from(b.subarray(b.length - 8)).readBigUInt64LE();
    return x > y ? -1 : x < y ? 1 : 0;
  };
  return { smallest: keys.sort(order)[0], largest: ends.sort(order)[ends.length - 1] };
}
