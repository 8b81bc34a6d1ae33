import { describe, expect, it } from 'vitest';
import { CorruptError, UnsupportedError } from '../../src/errors.js';
import { logRecords } from '../../src/sst/log.js';
import { decodeManifest, parseCurrent } from '../../src/sst/manifest.js';
import { random } from '../state/seeded.js';
import { bytesOf, concat, edit, encodeLog, internalKey, lps, type NewFile, u64, varint } from './encoder.js';

const ORIGIN = { file: 'MANIFEST-000004' };
const file = (number: number, level: number, from: string, to: string): NewFile => ({
  level,
  number,
  size: 1000 + number,
  smallest: internalKey(bytesOf(from), 9n, 1),
  largest: internalKey(bytesOf(to), 5n, 1),
  smallestSequence: 5n,
  largestSequence: 9n,
});
const decode = (...records: readonly Uint8Array[]) => decodeManifest(encodeLog(records), ORIGIN);
const numbers = (...records: readonly Uint8Array[]) =>
  decode(...records).columnFamilies.map(f => [f.name, ...f.files.map(x => `${x.level}:${x.number}`)]);

const START = concat(edit.comparator('leveldb.BytewiseComparator'), edit.logNumber(3), edit.nextFile(5), edit.lastSequence(77n));
const ADD_VALUE = concat(edit.columnFamily(1), edit.addColumnFamily('value'), edit.comparator('leveldb.BytewiseComparator'));

describe('MANIFEST', () => {
  it('is the sum of its edits', () => {
    expect(
      numbers(
        START,
        ADD_VALUE,
        concat(edit.columnFamily(2), edit.addColumnFamily('_timer_state/processing_ü')),
        concat(edit.columnFamily(1), edit.newFile(file(12, 0, 'a', 'm'))),
        concat(edit.columnFamily(1), edit.newFile(file(10, 0, 'b', 'z')), edit.newFile(file(11, 6, 'a', 'b'))),
        // a move: deleted and added in one edit, whatever stands first; the column family comes last
        concat(edit.newFile(file(12, 3, 'a', 'm')), edit.deletedFile(0, 12), edit.columnFamily(1)),
        new Uint8Array(0),
      ),
    ).toEqual([['default'], ['value', '0:10', '3:12', '6:11'], ['_timer_state/processing_ü']]);
    const { columnFamilies, lastSequence, logNumber } = decode(
      START,
      ADD_VALUE,
      concat(edit.columnFamily(1), edit.newFile(file(12, 1, 'a', 'm'))),
    );
    expect({ lastSequence, logNumber }).toEqual({ lastSequence: 77n, logNumber: 3 });
    expect(columnFamilies[1]).toEqual({
      id: 1,
      name: 'value',
      comparator: 'leveldb.BytewiseComparator',
      files: [
        {
          number: 12,
          level: 1,
          size: 1012,
          smallest: internalKey(bytesOf('a'), 9n, 1),
          largest: internalKey(bytesOf('m'), 5n, 1),
          smallestSequence: 5n,
          largestSequence: 9n,
        },
      ],
    });
  });

  it('forgets dropped column families; a name may come again under another id', () => {
    expect(
      numbers(
        START,
        ADD_VALUE,
        concat(edit.columnFamily(1), edit.newFile(file(12, 0, 'a', 'm'))),
        concat(edit.columnFamily(1), edit.dropColumnFamily()),
        concat(edit.columnFamily(7), edit.addColumnFamily('value')),
        concat(edit.columnFamily(7), edit.newFile(file(13, 0, 'a', 'm'))),
      ),
    ).toEqual([['default'], ['value', '0:13']]);
  });

  it('reads every form of a new file', () => {
    for (const tag of [7, 100, 102, 103] as const)
      expect(numbers(START, edit.newFile(file(12, 2, 'a', 'm'), undefined, tag))).toEqual([['default', '2:12']]);
    const fields = concat(
      varint(2),
      lps(bytesOf('')),
      varint(12),
      lps(new Uint8Array(16)),
      varint(65),
      lps(varint(0)),
      varint(15),
      lps(varint(99)),
    );
    expect(numbers(START, edit.newFile(file(12, 2, 'a', 'm'), fields))).toEqual([['default', '2:12']]);
  });

  it('skips what may be skipped', () => {
    expect(
      numbers(
        START,
        concat(edit.field(9, varint(1)), edit.field(10, varint(1)), edit.field(203, varint(8)), edit.field(300, varint(1))),
        edit.field(5, concat(varint(1), lps(internalKey(bytesOf('a'), 1n, 1)))),
        concat(edit.field(0x2001, lps(bytesOf('db-id'))), edit.field(0x2009, lps(bytesOf('x'))), edit.newFile(file(4, 0, 'a', 'b'))),
      ),
    ).toEqual([['default', '0:4']]);
  });

  it.each([
    ['a field that is not known', edit.field(600, varint(1)), UnsupportedError, 'version edit with field 600'],
    [
      'a file field that must be understood',
      edit.newFile(file(4, 0, 'a', 'b'), concat(varint(66), lps(bytesOf('x')))),
      UnsupportedError,
      'file 4 with field 66',
    ],
    ['blob files', edit.field(400, varint(1)), UnsupportedError, 'blob files (enable_blob_files)'],
    ['another comparator', edit.comparator('my.Comparator'), UnsupportedError, 'comparator my.Comparator of column family "default"'],
    ['deletion of a file that is not there', edit.deletedFile(0, 99), CorruptError, 'file 99 is deleted from level 0, where it is not'],
    ['a file twice', concat(edit.newFile(file(4, 0, 'a', 'b')), edit.newFile(file(4, 1, 'a', 'b'))), CorruptError, 'file 4 is added twice'],
    [
      'a column family that is not there',
      concat(edit.columnFamily(9), edit.newFile(file(4, 0, 'a', 'b'))),
      CorruptError,
      'column family 9, which was not added',
    ],
    ['a field cut off', concat(varint(103), varint(0)), CorruptError, 'file number needs 1 bytes, 0 remain'],
    [
      'a key without trailer',
      edit.field(103, concat(varint(0), varint(4), varint(9), lps(bytesOf('abc')))),
      CorruptError,
      'internal key of 3 bytes',
    ],
    ['a length behind the end', edit.field(1, varint(1 << 28)), CorruptError, 'name needs 268435456 bytes, 0 remain'],
  ])('refuses %s', (_, bad, kind, message) => {
    expect(() => decode(START, bad)).toThrow(kind);
    expect(() => decode(START, bad)).toThrow(message);
  });

  it('must not be empty', () => {
    expect(() => decodeManifest(new Uint8Array(0), ORIGIN)).toThrow('the MANIFEST is empty');
    expect(() => decodeManifest(new Uint8Array(100), ORIGIN)).toThrow(CorruptError);
  });

  it('CURRENT names it', () => {
    expect(parseCurrent(bytesOf('MANIFEST-000123\n'), {})).toBe('MANIFEST-000123');
    for (const bad of ['', 'MANIFEST-000123', 'MANIFEST-\n', 'OPTIONS-000001\n', '../MANIFEST-000001\n', 'MANIFEST-000001\nx'])
      expect(() => parseCurrent(bytesOf(bad), {}), bad).toThrow(CorruptError);
  });
});

describe('log records', () => {
  const records = (() => {
    const next = random(3);
    return Array.from({ length: 60 }, (_, i) =>
      Uint8Array.from({ length: i % 7 === 0 ? Math.floor(next() * 90_000) : Math.floor(next() * 3000) }, () => Math.floor(next() * 256)),
    );
  })();

  it.each([false, true])('are put together across blocks (recycled: %s)', recycled => {
    const bytes = encodeLog(records, { recycled });
    expect(bytes.length).toBeGreaterThan(5 * 32768);
    const got = [...logRecords(bytes, ORIGIN)];
    expect(got.length).toBe(records.length);
    got.forEach(({ payload }, i) => {
      expect(Buffer.compare(payload, records[i])).toBe(0);
    });
    // zeros are not taken for space that was never written
    expect(() => [...logRecords(concat(bytes, new Uint8Array(50_000)), ORIGIN)]).toThrow(CorruptError);
  });

  it('begin right behind padding', () => {
    // 32768 - 7 - 32755 leaves 6 bytes
    const two = [new Uint8Array(32755).fill(1), new Uint8Array(10).fill(2)];
    expect([...logRecords(encodeLog(two), ORIGIN)].map(r => [r.payload.length, r.offset])).toEqual([
      [32755, 0],
      [10, 32768],
    ]);
    // 7 bytes left: a first part without any payload
    const three = [new Uint8Array(32754).fill(1), new Uint8Array(10).fill(2)];
    expect([...logRecords(encodeLog(three), ORIGIN)].map(r => [r.payload.length, r.offset])).toEqual([
      [32754, 0],
      [10, 32761],
    ]);
  });

  it('cut or changed anywhere are an error, never other records', () => {
    const some = records.slice(1, 6);
    const bytes = encodeLog(some);
    const next = random(4);
    for (let round = 0; round < 300; round++) {
      let damaged = Uint8Array.from(bytes);
      if (round % 2 === 0) damaged = damaged.slice(0, Math.floor(next() * damaged.length));
      else damaged[Math.floor(next() * damaged.length)] ^= 1 << Math.floor(next() * 8);
      let got: Uint8Array[] = [];
      try {
        got = [...logRecords(damaged, ORIGIN)].map(r => r.payload);
      } catch (error) {
        expect(error).toBeInstanceOf(round % 2 === 0 ? CorruptError : Error);
        expect((error as CorruptError).file).toBe('MANIFEST-000004');
        expect((error as CorruptError).offset).toBeTypeOf('number');
        continue;
      }
      // cut between two records
      expect(got.length).toBeLessThanOrEqual(some.length);
      got.forEach((payload, i) => {
        expect(Buffer.compare(payload, some[i])).toBe(0);
      });
      expect(round % 2).toBe(0);
    }
  });

  it('of a snapshot may not be cut: the handle knows the size', () => {
    const bytes = encodeLog([START, u64(0n)]);
    expect(() => decodeManifest(bytes.slice(0, bytes.length - 1), ORIGIN)).toThrow('log record of 8 bytes is cut off');
  });
});
