/** The merge of tables against a plain model (support.ts): seeded, with every kind of entry, in every kind of layout. */
import { describe, expect, it } from 'vitest';
import { chain } from '../../src/sst/column-family.js';
import { cutToFile, RangeDeletions } from '../../src/sst/range-deletions.js';
import { random } from '../state/seeded.js';
import {
  boundsOf,
  bytesOf,
  concat,
  DELETE,
  encodeTable,
  internalKey,
  MERGE,
  PUT,
  type Range,
  SINGLE_DELETE,
  u64,
  type Version,
} from './encoder.js';
import { encodedFile, fileOf, model, scanAll } from './support.js';

const put = (key: string, sequence: number | bigint, value = `${key}@${sequence}`, type = PUT): Version => ({
  key: bytesOf(key),
  sequence: BigInt(sequence),
  type,
  value: bytesOf(value),
});
const range = (start: string, end: string, sequence: number): Range => ({
  start: bytesOf(start),
  end: bytesOf(end),
  sequence: BigInt(sequence),
});

describe('visible entries', () => {
  it.each(Array.from({ length: 60 }, (_, i) => i + 1))('of random databases (seed %i)', seed => {
    const next = random(seed);
    const keys = 1 + Math.floor(next() * (seed % 3 === 0 ? 4 : 60));
    const files = 1 + Math.floor(next() * 7);
    const key = () => {
      const k = Math.floor(next() * keys);
      return `k${k % 5}${'-'.repeat(k % 3)}${k.toString(36)}`;
    };
    // sequence numbers beyond 2^53 as well
    let sequence = seed % 2 === 0 ? 1n : (1n << 55n) - 10_000n;
    const perFile: { versions: Version[]; ranges: Range[] }[] = Array.from({ length: files }, () => ({ versions: [], ranges: [] }));
    for (let i = 0; i < 40 + Math.floor(next() * 300); i++) {
      sequence += 1n + BigInt(Math.floor(next() * 3));
      const target = perFile[Math.floor(next() * files)];
      const dice = next();
      if (dice < 0.04) {
        const [start, end] = [key(), key()].sort();
        if (start < end) target.ranges.push({ start: bytesOf(start), end: bytesOf(end), sequence });
      } else {
        const type = dice < 0.2 ? DELETE : dice < 0.24 ? SINGLE_DELETE : dice < 0.6 ? MERGE : PUT;
        const value =
          type === DELETE || type === SINGLE_DELETE || next() < 0.1 ? '' : `${sequence % 1000n}${'.'.repeat(Math.floor(next() * 30))}`;
        target.versions.push(put(key(), sequence, value, type));
      }
    }
    const present = perFile.filter(({ versions }) => versions.length > 0);
    const bounded = seed % 5 !== 0;
    const tables = present.map(({ versions, ranges }, i) => {
      const bytes = encodeTable(versions, {
        blockSize: 1 + Math.floor(next() * 400),
        restartInterval: 1 + Math.floor(next() * 6),
        codec: next() < 0.5 ? 'none' : 'snappy',
        rangeDeletions: ranges,
      });
      return fileOf(`${i}.sst`, bytes, bounded ? boundsOf(versions, ranges) : {});
    });
    const all = model(
      present.flatMap(f => f.versions),
      present.flatMap(f => f.ranges),
    );
    expect(scanAll(tables)).toEqual(all);
    for (let round = 0; round < 10; round++) {
      const [lower, upper] = [key(), key()].sort();
      expect(scanAll(tables, { lower: bytesOf(lower), upper: bytesOf(upper), lookup: round % 2 === 0 })).toEqual(
        all.filter(([k]) => k >= lower && k < upper),
      );
    }
  });

  it.each(Array.from({ length: 30 }, (_, i) => i + 1))('with range deletions that reach out of their files (seed %i)', seed => {
    const next = random(1000 + seed);
    const key = () => `k${Math.floor(next() * 40).toString(36)}`;
    let sequence = 1n;
    const versions: Version[] = [];
    const ranges: Range[] = [];
    const tables = Array.from({ length: 5 }, (_, i) => {
      const own: Version[] = [];
      const ownRanges: Range[] = [];
      for (let j = 0; j < 30; j++) {
        sequence++;
        if (next() < 0.1) {
          const [start, end] = [key(), key()].sort();
          if (start < end) ownRanges.push({ start: bytesOf(start), end: bytesOf(end), sequence });
        } else own.push(put(key(), sequence, `${sequence}`, next() < 0.1 ? DELETE : next() < 0.3 ? MERGE : PUT));
      }
      // the manifest knows only where the point keys reach
      const bounds = boundsOf(own);
      const first = bounds.smallest.subarray(0, bounds.smallest.length - 8);
      const last = concat(bounds.largest.subarray(0, bounds.largest.length - 8), Uint8Array.of(0));
      for (const r of ownRanges) {
        const start = Buffer.compare(r.start, first) < 0 ? first : r.start;
        const end = Buffer.compare(last, r.end) < 0 ? last : r.end;
        if (Buffer.compare(start, end) < 0) ranges.push({ start, end, sequence: r.sequence });
      }
      versions.push(...own);
      return fileOf(`${i}.sst`, encodeTable(own, { blockSize: 100, rangeDeletions: ownRanges }), bounds);
    });
    expect(scanAll(tables)).toEqual(model(versions, ranges));
  });

  it('are not hidden by a range deletion whose file ends before them', () => {
    // [c, z) at 10 was copied whole into the file that a compaction ended at m; the keys behind went on to the bottom level,
    // where those newer than 10 have sequence number 0 by now
    const above = { smallest: internalKey(bytesOf('a'), 20n, PUT), largest: concat(bytesOf('n'), u64(0xffffffffffffff0fn)) };
    const bottom = [put('b', 0, 'b'), put('d', 0, 'deleted'), put('m', 0, 'deleted'), put('n', 0, 'n'), put('y', 0, 'y')];
    const files = [
      fileOf('1.sst', encodeTable([put('a', 20), put('d', 5, 'deleted as well')], { rangeDeletions: [range('c', 'z', 10)] }), above),
      encodedFile('2.sst', bottom),
    ];
    expect(scanAll(files)).toEqual([
      ['a', 'a@20'],
      ['b', 'b'],
      ['n', 'n'],
      ['y', 'y'],
    ]);
    expect(scanAll([...files].reverse(), { lower: bytesOf('c') }).map(([k]) => k)).toEqual(['n', 'y']);
  });

  it('know range deletions of a file without any entries', () => {
    const files = [
      encodedFile('1.sst', [put('a', 1), put('b', 2), put('c', 3), put('d', 4)]),
      encodedFile('2.sst', [], { rangeDeletions: [range('b', 'd', 10)] }),
      encodedFile('3.sst', [put('c', 11)]),
    ];
    expect(scanAll(files).map(([, v]) => v)).toEqual(['a@1', 'c@11', 'd@4']);
    expect(scanAll(files, { lower: bytesOf('c'), upper: bytesOf('d'), lookup: true }).map(([, v]) => v)).toEqual(['c@11']);
    expect(scanAll(files, { lower: bytesOf('b'), upper: bytesOf('c'), lookup: true })).toEqual([]);
  });

  it('join list elements from oldest to newest, with a base, without one, above deletions', () => {
    const files = [
      encodedFile('1.sst', [
        put('base', 1, 'x'),
        put('empty', 1, ''),
        put('gone', 1, 'x'),
        put('range', 1, 'x'),
        put('alone', 1, 'only', MERGE),
      ]),
      encodedFile(
        '2.sst',
        [put('base', 5, 'y', MERGE), put('empty', 5, 'y', MERGE), put('gone', 5, '', DELETE), put('gone', 6, 'y', MERGE)],
        {
          rangeDeletions: [range('range', 'range\0', 7)],
        },
      ),
      encodedFile('3.sst', [
        put('base', 9, 'z1,z2', MERGE),
        put('base', 10, '', MERGE),
        put('gone', 9, 'z', MERGE),
        put('range', 6, 'under', MERGE),
        put('range', 9, 'z', MERGE),
      ]),
    ];
    expect(scanAll(files)).toEqual([
      ['alone', 'only'],
      ['base', 'x,y,z1,z2,'],
      ['empty', ',y'],
      ['gone', 'y,z'],
      ['range', 'z'],
    ]);
  });

  it('join a hundred thousand elements', () => {
    const operands = Array.from({ length: 100_000 }, (_, i) => put('list', i + 1, String(i), MERGE));
    const files = [0, 1, 2].map(rest =>
      encodedFile(`${rest}.sst`, [...operands.filter((_, i) => i % 3 === rest), put(`after-${rest}`, 7)]),
    );
    const got = scanAll(files);
    expect(got.map(([k]) => k)).toEqual(['after-0', 'after-1', 'after-2', 'list']);
    expect(got[3][1]).toBe(operands.map((_, i) => i).join(','));
  });
});

describe('chains', () => {
  const bounds = (from: string, to: string) => ({
    smallest: internalKey(bytesOf(from), 1n, PUT),
    largest: internalKey(bytesOf(to), 1n, PUT),
  });
  it('hold files that do not overlap, as few of them as there can be', () => {
    const a = bounds('a', 'c');
    const b = bounds('b', 'd');
    const c = bounds('d', 'e');
    const d = bounds('e', 'f');
    expect(chain([d, c, b, a])).toEqual([
      [a, c],
      [b, d],
    ]);
    expect(chain([a, {}, c, {}]).map(x => x.length)).toEqual([1, 1, 2]);
  });

  it('may meet at one user key: the older versions come in the next file', () => {
    const upper = encodedFile('1.sst', [put('a', 9), put('k', 8)]);
    const lower = encodedFile('2.sst', [put('k', 7), put('z', 6)]);
    expect(chain([upper, lower]).length).toBe(1);
    expect(scanAll([lower, upper]).map(([, v]) => v)).toEqual(['a@9', 'k@8', 'z@6']);
  });
});

describe('range deletions', () => {
  it('are cut to their file', () => {
    const cut = (deletion: Range, from: string, largest: Uint8Array) => {
      const found = cutToFile(deletion, internalKey(bytesOf(from), 1n, PUT), largest);
      return found === undefined ? undefined : [Buffer.from(found.start).toString('latin1'), Buffer.from(found.end).toString('latin1')];
    };
    const sentinel = (key: string) => concat(bytesOf(key), u64(0xffffffffffffff0fn));
    expect(cut(range('b', 'y', 5), 'a', sentinel('z'))).toEqual(['b', 'y']);
    expect(cut(range('b', 'y', 5), 'c', sentinel('x'))).toEqual(['c', 'x']);
    expect(cut(range('b', 'y', 5), 'c', internalKey(bytesOf('x'), 3n, PUT))).toEqual(['c', 'x\0']);
    expect(cut(range('b', 'y', 5), 'y', sentinel('z'))).toBeUndefined();
    expect(cut(range('b', 'y', 5), 'a', sentinel('b'))).toBeUndefined();
  });

  it('follow a scan', () => {
    const deletions = new RangeDeletions();
    expect(deletions.empty).toBe(true);
    deletions.add([range('b', 'f', 5), range('d', 'h', 9), range('d', 'e', 3)], undefined, undefined);
    const covers = (key: string, sequence: number) => {
      const bytes = internalKey(bytesOf(key), BigInt(sequence), PUT);
      return deletions.covers(bytes, 0, bytes.length - 8);
    };
    expect(covers('a', 1)).toBe(false);
    expect(covers('b', 4)).toBe(true);
    expect(covers('b', 5)).toBe(false);
    expect(covers('d', 8)).toBe(true);
    deletions.add([range('a', 'z', 20)], internalKey(bytesOf('d'), 1n, PUT), undefined);
    expect(covers('d', 12)).toBe(true);
    expect(covers('g', 21)).toBe(false);
    expect(covers('z', 1)).toBe(false);
  });
});
