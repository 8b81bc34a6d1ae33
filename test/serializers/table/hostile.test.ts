/** Rows, arrays, maps, variants and snapshots that lie: a typed error or a value, and never more than the bytes allow. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CorruptError, StateQueryError } from '../../../src/errors.js';
import { createColumn } from '../../../src/io/column.js';
import { Cursor } from '../../../src/io/cursor.js';
import { jsonOf } from '../../../src/io/json.js';
import type { Codec } from '../../../src/serializers/codec.js';
import { readSnapshotWithProxy } from '../../../src/serializers/registry.js';
import { sizedCodec } from '../../../src/serializers/table/internal-types.js';
import { arrayShape, rowShape, shapeSlot } from '../../../src/serializers/table/nested.js';
import { scalarSlot } from '../../../src/serializers/table/slots.js';
import { type Case, readCases } from './fixtures/read.js';

const cases = readCases('2.3');

function tried(codec: Codec, bytes: Uint8Array): string {
  const c = new Cursor(bytes);
  let json: string;
  try {
    json = jsonOf(codec.type, codec.read(c));
  } catch (e) {
    expect(e).toBeInstanceOf(StateQueryError);
    json = (e as StateQueryError).describe();
  }
  const end = c.position;
  try {
    const column = createColumn(codec.type, 1);
    const d = new Cursor(bytes);
    codec.append(d, column);
    expect(column.length).toBe(1);
    expect(d.position).toBe(end);
  } catch (e) {
    expect(e).toBeInstanceOf(StateQueryError);
  }
  return json;
}

describe('broken rows', () => {
  const { codec, values } = cases.get('row-updated') as Case;
  const row = (change: (b: Buffer) => void): string => {
    const bytes = Buffer.from(values[0]);
    change(bytes);
    return tried(codec, bytes);
  };
  // 4 bytes of size; then header 8, slots 3 × 8, parts: DECIMAL 16, TIMESTAMP 8, text 16
  it.each([
    ['a size that ends too early', (b: Buffer) => b.writeInt32BE(24), 'row of 3 fields in 24 bytes, expected at least 32 (byte 4)'],
    ['a size beyond the end', (b: Buffer) => b.writeInt32BE(80), 'bytes of a row is 80, but only 72 bytes remain (byte 0)'],
    ['a negative size', (b: Buffer) => b.writeInt32BE(-1), 'bytes of a row is -1 (byte 0)'],
    ['an unknown row kind', (b: Buffer) => b.writeUInt8(4, 4), 'row kind is 4, expected 0 to 3 (byte 4)'],
    ['an offset beyond the row', (b: Buffer) => b.writeInt32LE(60, 32), 'text of 13 bytes at offset 60 is outside of 72 bytes (byte 28)'],
    ['a negative offset', (b: Buffer) => b.writeInt32LE(-1, 16), 'DECIMAL of 1 bytes at offset -1 is outside of 72 bytes (byte 12)'],
    ['a long decimal', (b: Buffer) => b.writeInt32LE(17, 12), 'DECIMAL of 17 bytes (byte 12)'],
    ['short text that does not fit', (b: Buffer) => b.writeUInt8(0x88, 35), 'text of 8 bytes inside of a slot (byte 35)'],
    ['a negative size of text', (b: Buffer) => b.writeInt32LE(-5, 28), 'text of -5 bytes at offset 56 is outside of 72 bytes (byte 28)'],
  ])('%s', (_, change, message) => {
    expect(row(change)).toBe(message);
  });
  it('nanoseconds beyond a millisecond', () => {
    const bytes = Buffer.from(values[1]);
    bytes.writeInt32LE(1_000_000, 20);
    expect(tried(codec, bytes)).toBe('1000000 nanoseconds of a millisecond (byte 20)');
  });
  it('parts may overlap', () => {
    // the text lies over the decimal
    expect(row(b => b.writeInt32LE(32, 32))).toContain('"f0":-1.5');
  });
  it('arrays whose count or keys do not fit', () => {
    const array = cases.get('array-data') as Case;
    const bytes = Buffer.from(array.values[0]);
    bytes.writeInt32LE(1000, 4);
    expect(tried(array.codec, bytes)).toMatch(/^array of 1000 elements in \d+ bytes/);
    const map = cases.get('map-data') as Case;
    const keys = Buffer.from(map.values[0]);
    keys.writeInt32LE(1_000_000, 4);
    expect(tried(map.codec, keys)).toMatch(/^keys of 1000000 bytes in a map of \d+ bytes/);
    const uneven = Buffer.from(map.values[0]);
    uneven.writeInt32LE(1, 8);
    expect(tried(map.codec, uneven)).toBe('map of 1 keys and 2 values (byte 4)');
  });
});

describe('values that would grow without bounds', () => {
  it('arrays that all point at the same array', () => {
    // ARRAY<ARRAY<…<INT>>>: each level has the same 100 slots, all with the whole region as their part
    const n = 100;
    const bytes = Buffer.alloc(4 + 4 + 16 + n * 8);
    const size = bytes.length - 4;
    bytes.writeInt32BE(size, 0);
    bytes.writeInt32LE(n, 4);
    for (let i = 0; i < n; i++) bytes.writeInt32LE(size, 24 + i * 8);
    let slot = scalarSlot({ kind: 'BIGINT', nullable: true });
    for (let depth = 0; depth < 8; depth++) slot = shapeSlot(arrayShape(slot!), 'ARRAY');
    const codec = sizedCodec(arrayShape(slot!), 'ARRAY');
    expect(() => codec.read(new Cursor(bytes))).toThrow(CorruptError);
    expect(() => codec.append(new Cursor(bytes), createColumn(codec.type))).toThrow('parts of the value overlap so often');
  });
  it('a row of many texts that are all the same long text', () => {
    const n = 500;
    const text = scalarSlot({ kind: 'VARCHAR', nullable: true, length: 9 })!;
    const codec = sizedCodec(rowShape(Array.from({ length: n }, (_, i) => ({ name: `f${i}`, slot: text }))), 'row');
    const header = ((n + 71) >> 6) * 8;
    const bytes = Buffer.alloc(4 + header + n * 8 + 100_000, 'x');
    bytes.fill(0, 0, 4 + header);
    bytes.writeInt32BE(bytes.length - 4);
    for (let i = 0; i < n; i++) {
      bytes.writeInt32LE(100_000, 4 + header + i * 8);
      bytes.writeInt32LE(header + n * 8, 8 + header + i * 8);
    }
    expect(() => codec.read(new Cursor(bytes))).toThrow('parts of the value overlap so often');
  });
});

describe('random and flipped bytes', () => {
  it('give a value or a typed error, the same from read and append', () => {
    const names = [...cases.keys()].filter(n => n !== 'row-arrays');
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), fc.nat(), fc.nat(255), fc.boolean(), (name, which, at, b, cut) => {
        const { codec, values } = cases.get(name) as Case;
        const bytes = Buffer.from(values[which % values.length]);
        if (bytes.length > 0) bytes[at % bytes.length] = b;
        tried(codec, cut ? bytes.subarray(0, b % (bytes.length + 1)) : bytes);
      }),
      { seed: 3, numRuns: 6000 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.uint8Array({ maxLength: 300 }), (name, bytes) => {
        tried((cases.get(name) as Case).codec, bytes);
        // behind a size that is right
        const sized = Buffer.alloc(4 + bytes.length);
        sized.writeInt32BE(bytes.length);
        sized.set(bytes, 4);
        tried((cases.get(name) as Case).codec, sized);
      }),
      { seed: 4, numRuns: 4000 },
    );
  });

  it('in snapshots give a snapshot or a typed error', () => {
    const names = [...cases.keys()];
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), fc.nat(255), fc.boolean(), (name, at, b, cut) => {
        const bytes = Buffer.from((cases.get(name) as Case).snapshotBytes);
        bytes[at % bytes.length] = b;
        try {
          readSnapshotWithProxy(new Cursor(bytes, 0, cut ? at % bytes.length : bytes.length)).codec({});
        } catch (e) {
          expect(e).toBeInstanceOf(StateQueryError);
        }
      }),
      { seed: 5, numRuns: 3000 },
    );
  });
});
