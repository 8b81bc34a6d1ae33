/** Tables of every form, written by the test encoder: also those that no RocksDB of a living Flink writes any more. */
import { describe, expect, it } from 'vitest';
import { CorruptError, UnsupportedError } from '../../src/errors.js';
import { memorySource, ReadStats } from '../../src/io/source.js';
import { checkTable } from '../../src/sst/check.js';
import { bytesOf, concat, DELETE, encodeTable, MERGE, PUT, type TableForm, u32, u64, type Version, varint } from './encoder.js';
import { drain, encodedFile, familyOf, fileOf, scanAll, tableOf } from './support.js';

const put = (key: string, sequence: number, value: string, type = PUT): Version => ({
  key: bytesOf(key),
  sequence: BigInt(sequence),
  type,
  value: bytesOf(value),
});
const VERSIONS: readonly Version[] = Array.from({ length: 400 }, (_, i) =>
  put(`key_${String(i).padStart(4, '0')}${'x'.repeat(i % 40)}`, 1000 + i, `value ${i} `.repeat(i % 9)),
);
const WANTED = VERSIONS.map(v => [Buffer.from(v.key).toString('latin1'), Buffer.from(v.value).toString('latin1')]);

const FORMS: Readonly<Record<string, TableForm>> = {
  'version 0, legacy footer': { version: 0 },
  'version 0, snappy': { version: 0, codec: 'snappy' },
  'version 0, zlib without a length': { version: 0, codec: 'zlib' },
  'version 0, lz4 with a length of 8 bytes': { version: 0, codec: 'lz4' },
  'version 1, zlib without a length, xxhash': { version: 1, codec: 'zlib', checksum: 'xxhash' },
  'version 1, lz4': { version: 1, codec: 'lz4' },
  'version 2, zlib': { version: 2, codec: 'zlib' },
  'version 2, lz4, no checksum': { version: 2, codec: 'lz4', checksum: 'none' },
  'version 3, separators are user keys': { version: 3, indexKeyIsUserKey: true, checksum: 'xxhash64' },
  'version 4, restart interval of the index 3': { version: 4, indexRestartInterval: 3 },
  'version 4, two-level index': { version: 4, index: 'partitioned', indexRestartInterval: 2 },
  'version 5, first keys in the index': { version: 5, index: 'first-key', checksum: 'xxh3' },
  'version 5, hash index in data blocks': { version: 5, hashIndex: true },
  'version 5, a restart point an entry': { version: 5, restartInterval: 1 },
  'version 5, one restart point a block': { version: 5, restartInterval: 1000 },
  'version 5, zlib with a dictionary': { version: 5, codec: 'zlib', dictionary: bytesOf('value 12 value 13 value 14 key_0') },
  'version 5, lz4 with a dictionary': { version: 5, codec: 'lz4', dictionary: bytesOf('value 12 value 13 value 14 key_0') },
  'version 6, crc32c, no context': { version: 6 },
  'version 6, xxh3, context': { version: 6, checksum: 'xxh3', context: 0xdeadbeef },
  'version 6, crc32c, context, two levels': { version: 6, context: 1, index: 'partitioned', codec: 'snappy' },
  'blocks of one entry': { blockSize: 1 },
  'one block': { blockSize: 1 << 20 },
};

describe.each(Object.entries(FORMS))('%s', (_, form) => {
  const bytes = encodeTable(VERSIONS, { blockSize: 700, ...form });

  it('scans', () => {
    expect(scanAll([fileOf('a.sst', bytes)])).toEqual(WANTED);
    const { properties, footer } = tableOf(bytes);
    expect(footer.version).toBe(form.version ?? 5);
    expect(properties.entries).toBe(VERSIONS.length);
    expect(properties.columnFamily).toBe('value');
  });

  it('passes a check of the whole table', () => {
    const table = tableOf(bytes);
    const { dataBlocks, entries } = checkTable(table);
    expect([dataBlocks, entries]).toEqual([table.properties.dataBlocks, VERSIONS.length]);
  });

  it('is sought in', () => {
    const family = familyOf([fileOf('a.sst', bytes)]);
    for (let i = 0; i < 400; i += 13) {
      const [key] = WANTED[i];
      const lower = bytesOf(key);
      expect(drain(family.scan({ lower, upper: concat(lower, Uint8Array.of(0)), lookup: true }))).toEqual([WANTED[i]]);
      expect(drain(family.scan({ lower: bytesOf(`${key}0`), upper: bytesOf('key_0399'), lookup: i % 2 === 0 }))).toEqual(
        WANTED.filter(([k]) => k > `${key}0` && k < 'key_0399'),
      );
      expect(drain(family.scan({ upper: lower }))).toEqual(WANTED.slice(0, i));
    }
    expect(drain(family.scan({ lower: bytesOf('l') }))).toEqual([]);
    expect(drain(family.scan({ upper: bytesOf('a') }))).toEqual([]);
    family.close();
  });

  it('is checked', () => {
    if (form.checksum === 'none') return;
    for (const at of [3, 200, bytes.length - 700]) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] ^= 4;
      expect(() => scanAll([fileOf('a.sst', damaged)]), `byte ${at}`).toThrow(/checksum/);
    }
  });
});

/** A table of two entries in blocks of their own, the second one first: the encoder sorts, so the blocks are swapped by their index. */
function swapBlocks(entries: Parameters<typeof encodeTable>[0]): Uint8Array {
  const bytes = encodeTable(entries, { blockSize: 1, properties: {} });
  const index = tableOf(bytes).index();
  const handles: { offset: number; size: number }[] = [];
  while (index.next()) handles.push({ offset: index.offset, size: index.size });
  expect(handles[0].size).toBe(handles[1].size);
  return concat(
    bytes.subarray(handles[1].offset, handles[1].offset + handles[1].size + 5),
    bytes.subarray(handles[0].offset, handles[0].offset + handles[0].size + 5),
    bytes.subarray(handles[1].offset + handles[1].size + 5),
  );
}

describe('tables', () => {
  it('hold values larger than any block', () => {
    const versions = [put('a', 1, 'x'.repeat(3_000_000)), put('b', 2, ''), put('c', 3, 'y'.repeat(300_000))];
    for (const codec of ['none', 'snappy', 'lz4', 'zlib'] as const) {
      const got = scanAll([encodedFile('a.sst', versions, { codec })]);
      expect(got.map(([key, value]) => [key, value.length])).toEqual([
        ['a', 3_000_000],
        ['b', 0],
        ['c', 300_000],
      ]);
    }
  });

  it('hold long keys, empty keys and keys that are prefixes of others', () => {
    const keys = ['', '\0', '\0\0', 'a', 'a\0', 'aa', `a${'a'.repeat(100_000)}`, `a${'a'.repeat(100_000)}b`, 'b', '\xff', '\xff\xff'];
    for (const restartInterval of [1, 2, 16])
      expect(
        scanAll([
          encodedFile(
            'a.sst',
            keys.map((key, i) => put(key, i + 1, key.slice(0, 5))),
            { restartInterval },
          ),
        ]),
      ).toEqual(keys.map(key => [key, key.slice(0, 5)]));
  });

  it('without entries', () => {
    expect(scanAll([fileOf('a.sst', encodeTable([]))])).toEqual([]);
    expect(drain(familyOf([]).scan())).toEqual([]);
  });

  it('take their global sequence number from their properties, or from the manifest', () => {
    const old = encodedFile('a.sst', [put('a', 50, 'older'), put('b', 50, 'newer')]);
    const ingested = (sequence: bigint, patched: boolean) =>
      encodeTable([put('a', 0, 'ingested'), put('b', 0, 'ingested')], { globalSequence: { sequence, patched } });
    const wanted = (newest: string) => [
      ['a', newest],
      ['b', newest],
    ];
    for (const patched of [false, true]) expect(scanAll([old, fileOf('b.sst', ingested(60n, patched))])).toEqual(wanted('ingested'));
    expect(scanAll([old, fileOf('b.sst', ingested(40n, true))]).map(([, v]) => v)).toEqual(['older', 'newer']);
    expect(scanAll([old, fileOf('b.sst', ingested(0n, false), { largestSequence: 60n })])).toEqual(wanted('ingested'));
  });

  it('join merge operands only with an operator that is known', () => {
    const versions = [put('a', 1, 'one', MERGE), put('a', 2, 'two', MERGE)];
    expect(scanAll([encodedFile('a.sst', versions)])).toEqual([['a', 'one,two']]);
    expect(scanAll([encodedFile('a.sst', versions, { mergeOperator: 'StringAppendOperator' })])).toEqual([['a', 'one,two']]);
    expect(() => scanAll([encodedFile('a.sst', versions, { mergeOperator: 'uint64add' })])).toThrow('merge operator uint64add');
  });

  it.each([
    [0x11, 'values in blob files (enable_blob_files) are not read'],
    [0x16, 'entries of type 22 (wide column entity)'],
    [0x14, 'entries of type 20 (deletion with a user-defined timestamp)'],
    [0x63, 'entries of type 99 (unknown)'],
  ])('entries of type %i are not read', (type, message) => {
    expect(() => scanAll([encodedFile('a.sst', [put('a', 1, 'x', type)])])).toThrow(
      new UnsupportedError(message, { file: 'a.sst', offset: 0, where: 'a test' }),
    );
  });

  it.each([
    ['another comparator', { comparator: 'rocksdb.ReverseBytewiseComparator' }, 'comparator rocksdb.ReverseBytewiseComparator'],
    ['an unknown index', { properties: { 'rocksdb.block.based.table.index.type': u32(9) } }, 'index of type 9'],
    ['xpress', { codec: 'other', other: { type: 6, compress: (b: Uint8Array) => b } }, 'blocks compressed with xpress'],
    ['a codec of the future', { codec: 'other', other: { type: 77, compress: (b: Uint8Array) => b } }, 'compressed with type 77'],
  ] as const)('%s is not supported', (_, form, message) => {
    let error: unknown;
    try {
      scanAll([encodedFile('a.sst', [put('a', 1, 'x')], form)]);
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(UnsupportedError);
    expect((error as UnsupportedError).message).toContain(message);
    expect((error as UnsupportedError).where).toBe('a test');
  });

  it.each([
    ['plain tables', concat(new Uint8Array(45), u64(0x8242229663bf9564n)), 'plain table format'],
    ['newer versions', concat(new Uint8Array(41), u32(9), u64(0x88e241b785f4cff7n)), 'table format version 9'],
  ])('%s are not supported', (_, bytes, message) => {
    expect(() => tableOf(bytes)).toThrow(UnsupportedError);
    expect(() => tableOf(bytes)).toThrow(message);
  });

  it.each([
    ['too short', new Uint8Array(20), 'file of 20 bytes is too short for a table'],
    ['something else', new Uint8Array(100), 'not a RocksDB table: its last 8 bytes are 0000000000000000'],
    [
      'a handle behind the end',
      concat(Uint8Array.of(1), varint(1000), varint(10), varint(1), varint(1), new Uint8Array(35), u32(5), u64(0x88e241b785f4cff7n)),
      'a block handle in the footer points outside of the file',
    ],
  ])('%s is corrupt', (_, bytes, message) => {
    expect(() => tableOf(bytes)).toThrow(CorruptError);
    expect(() => tableOf(bytes)).toThrow(message);
  });

  it('count entries against their properties', () => {
    const bytes = encodeTable(VERSIONS, { properties: { 'rocksdb.num.entries': varint(401) } });
    expect(() => scanAll([fileOf('a.sst', bytes)])).toThrow('table has 400 entries, its properties say 401');
    expect(() => checkTable(tableOf(bytes))).toThrow('table has 400 entries, its properties say 401');
  });

  it('must have the keys that the manifest says', () => {
    const outside = [{ smallest: concat(bytesOf('key_0001'), u64(0n)) }, { largest: concat(bytesOf('key_0398'), u64(0n)) }];
    for (const bounds of outside)
      expect(() => scanAll([fileOf('a.sst', encodeTable(VERSIONS), bounds)])).toThrow(/table has a key (before|behind).*a\.sst/);
  });

  it('with keys out of order are corrupt, whatever the checksums say', () => {
    const swapped = swapBlocks([put('a', 1, ''), put('b', 2, '')]);
    expect(() => scanAll([fileOf('a.sst', swapped)])).toThrow('data block: keys do not ascend');
    expect(() => checkTable(tableOf(swapped))).toThrow('keys do not ascend');
    expect(() => checkTable(tableOf(swapBlocks([put('a', 2, ''), put('a', 1, '')])))).toThrow('keys do not ascend');
  });

  it('say where: file, offset, place', () => {
    const bytes = encodeTable(VERSIONS, { blockSize: 700 });
    const damaged = Uint8Array.from(bytes);
    damaged[2000] ^= 1;
    const source = memorySource(damaged, '/snapshot/shared/abc', 10_000);
    const family = familyOf([{ name: '000012.sst', open: () => source }]);
    let error: unknown;
    try {
      drain(family.scan());
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(CorruptError);
    const { file, offset, where, message } = error as CorruptError;
    expect({ file, where, message }).toEqual({
      file: '/snapshot/shared/abc',
      where: 'a test',
      message: 'block does not match its crc32c checksum',
    });
    // the block that byte 2000 is in
    expect(offset).toBeGreaterThan(10_000);
    expect(offset).toBeLessThanOrEqual(12_000);
  });
});

describe('reads', () => {
  const many: readonly Version[] = Array.from({ length: 60_000 }, (_, i) => put(`k${String(i).padStart(6, '0')}`, i + 1, `value-${i}`));
  const bytes = encodeTable(many, { codec: 'none' });

  it('of a scan are few and large', () => {
    const stats = new ReadStats();
    const family = familyOf([fileOf('a.sst', bytes, {}, stats)]);
    expect(drain(family.scan()).length).toBe(60_000);
    expect(bytes.length).toBeGreaterThan(1_400_000);
    expect(stats.reads).toBeLessThanOrEqual(8);
    expect(stats.bytesRead).toBeLessThan(bytes.length * 1.05 + 40_000);
  });

  it('of a lookup are the tail, the index and a block', () => {
    const stats = new ReadStats();
    const family = familyOf([fileOf('a.sst', bytes, {}, stats)]);
    const key = bytesOf('k012345');
    const look = () => drain(family.scan({ lower: key, upper: concat(key, Uint8Array.of(0)), lookup: true }));
    expect(look()).toEqual([['k012345', 'value-12345']]);
    expect(stats.reads).toBeLessThanOrEqual(4);
    expect(stats.bytesRead).toBeLessThan(60_000);
    const before = { ...stats };
    expect(look()).toEqual([['k012345', 'value-12345']]);
    // the table is still open: only its block is read again
    expect(stats.reads - before.reads).toBe(1);
    expect(stats.bytesRead - before.bytesRead).toBeLessThan(5_000);
    family.close();
  });

  it('close what they open', () => {
    let open = 0;
    const files = Array.from({ length: 5 }, (_, i) => {
      const inner = encodedFile(`${i}.sst`, [put(`k${i}`, 1, 'v')]);
      return {
        ...inner,
        open: () => {
          open++;
          const source = inner.open();
          return { ...source, close: () => void open-- };
        },
      };
    });
    const family = familyOf(files);
    const half = family.scan();
    half.next();
    half.close();
    expect(drain(family.scan()).length).toBe(5);
    family.close();
    expect(open).toBe(0);
    const broken = familyOf([
      {
        name: 'b.sst',
        open: () => {
          open++;
          return { ...memorySource(new Uint8Array(99), 'b'), close: () => void open-- };
        },
      },
    ]);
    expect(() => broken.scan()).toThrow(CorruptError);
    broken.close();
    expect(open).toBe(0);
  });

  it('of one level have one table open at a time', () => {
    let open = 0;
    let most = 0;
    const files = Array.from({ length: 100 }, (_, i) => {
      const inner = encodedFile(`${i}.sst`, [put(`k${String(i).padStart(3, '0')}`, 1, 'v')]);
      return {
        ...inner,
        open: () => {
          most = Math.max(most, ++open);
          const source = inner.open();
          return { ...source, close: () => void open-- };
        },
      };
    });
    const family = familyOf(files);
    expect(drain(family.scan()).length).toBe(100);
    // tables stay open for lookups, up to a number
    expect(most).toBeLessThanOrEqual(66);
    family.close();
    expect(open).toBe(0);
  });
});

describe('deletes', () => {
  it('hide older versions in every table', () => {
    const files = [
      encodedFile('1.sst', [put('a', 1, 'a1'), put('b', 2, 'b2'), put('c', 3, 'c3'), put('d', 4, 'd4')]),
      encodedFile('2.sst', [put('a', 10, '', DELETE), put('b', 11, '', 7), put('d', 12, 'd12')]),
      encodedFile('3.sst', [put('a', 20, 'a20'), put('d', 21, '', DELETE)]),
    ];
    expect(scanAll(files)).toEqual([
      ['a', 'a20'],
      ['c', 'c3'],
    ]);
  });
});
