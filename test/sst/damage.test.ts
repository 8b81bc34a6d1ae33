/** Damaged tables: a typed error that says where, or the right answer. Seeded and bounded. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CorruptError, StateQueryError, UnsupportedError } from '../../src/errors.js';
import { decodeManifest } from '../../src/sst/manifest.js';
import { random } from '../state/seeded.js';
import { bytesOf, concat, DELETE, encodeTable, MERGE, PUT, type TableForm, type Version } from './encoder.js';
import { drain, familyOf, fileOf, scanAll } from './support.js';

const DATABASES = join(dirname(fileURLToPath(import.meta.url)), 'databases');

const VERSIONS: readonly Version[] = Array.from({ length: 250 }, (_, i) => ({
  key: bytesOf(`key_${String(i % 200).padStart(3, '0')}`),
  sequence: BigInt(i + 1),
  type: i % 11 === 0 ? DELETE : i % 7 === 0 ? MERGE : PUT,
  value: bytesOf(i % 11 === 0 ? '' : `value ${i} `.repeat(i % 5)),
}));

/** One damaged copy: a byte flipped, a piece cut out, zeroed, doubled or blown up. */
function damage(bytes: Uint8Array, next: () => number): Uint8Array {
  const at = Math.floor(next() * bytes.length);
  const length = Math.min(bytes.length - at, 1 + Math.floor(next() * 40));
  const copy = Uint8Array.from(bytes);
  switch (Math.floor(next() * 6)) {
    case 0:
      return copy.slice(0, at);
    case 1:
      return concat(copy.subarray(0, at), copy.subarray(at + length));
    case 2:
      return copy.fill(0, at, at + length);
    case 3:
      return copy.fill(0xff, at, at + length);
    case 4:
      return concat(copy.subarray(0, at + length), copy.subarray(at));
    default:
      copy[at] ^= 1 << Math.floor(next() * 8);
      return copy;
  }
}

function check(error: unknown): void {
  expect(error).toBeInstanceOf(StateQueryError);
  expect(error instanceof CorruptError || error instanceof UnsupportedError, String(error)).toBe(true);
  expect((error as StateQueryError).file).toBe('a.sst');
  expect((error as StateQueryError).where).toBe('a test');
}

describe.each<[string, TableForm]>([
  ['crc32c, snappy', { codec: 'snappy', rangeDeletions: [{ start: bytesOf('key_050'), end: bytesOf('key_060'), sequence: 230n }] }],
  ['xxh3, lz4, partitioned', { codec: 'lz4', checksum: 'xxh3', index: 'partitioned' }],
  ['version 6', { version: 6, checksum: 'xxhash64', context: 99, codec: 'zlib' }],
  ['legacy footer', { version: 0, codec: 'zlib' }],
])('%s', (_, form) => {
  const bytes = encodeTable(VERSIONS, { blockSize: 300, ...form });
  const right = scanAll([fileOf('a.sst', bytes)]);

  it('verified: every damage is found, or changes nothing', () => {
    const next = random(11);
    for (let round = 0; round < 700; round++) {
      try {
        expect(scanAll([fileOf('a.sst', damage(bytes, next))])).toEqual(right);
      } catch (error) {
        check(error);
      }
    }
  });

  it('not verified: it ends, with rows or a typed error', () => {
    const next = random(12);
    for (let round = 0; round < 700; round++) {
      try {
        const rows = drain(familyOf([fileOf('a.sst', damage(bytes, next))], false).scan());
        expect(rows.length).toBeLessThanOrEqual(VERSIONS.length);
      } catch (error) {
        check(error);
      }
    }
  });

  it('cut at every length: an error', () => {
    for (let length = 0; length < bytes.length; length += 1 + Math.floor(length / 200))
      expect(() => scanAll([fileOf('a.sst', bytes.slice(0, length))]), `${length} bytes`).toThrow(CorruptError);
  });
});

describe('without checksums', () => {
  it('lookups and ranges end as well', () => {
    const bytes = encodeTable(VERSIONS, { blockSize: 200, checksum: 'none', codec: 'none', indexRestartInterval: 4, restartInterval: 3 });
    const next = random(13);
    for (let round = 0; round < 600; round++) {
      const lower = bytesOf(`key_${String(Math.floor(next() * 200)).padStart(3, '0')}`);
      const family = familyOf([fileOf('a.sst', damage(bytes, next))]);
      try {
        const rows = drain(family.scan({ lower, upper: bytesOf('key_2'), lookup: round % 2 === 0 }));
        expect(rows.length).toBeLessThanOrEqual(VERSIONS.length);
      } catch (error) {
        check(error);
      }
    }
  });
});

it.each(readdirSync(DATABASES).filter(name => statSync(join(DATABASES, name)).isDirectory()))('MANIFEST of %s', name => {
  const manifest = readdirSync(join(DATABASES, name)).find(file => file.startsWith('MANIFEST')) ?? '';
  const bytes = readFileSync(join(DATABASES, name, manifest));
  const right = decodeManifest(bytes, { file: manifest });
  const next = random(14);
  for (let round = 0; round < 250; round++) {
    try {
      // a cut at the end of a record is seen by the handle's size only
      const got = decodeManifest(damage(bytes, next), { file: manifest });
      expect(got.lastSequence).toBeLessThanOrEqual(right.lastSequence);
    } catch (error) {
      expect(error).toBeInstanceOf(StateQueryError);
      expect((error as StateQueryError).file).toBe(manifest);
    }
  }
});
