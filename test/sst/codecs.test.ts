import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CorruptError } from '../../src/errors.js';
import { type BlockCodec, decompress, MAX_BLOCK } from '../../src/io/compression.js';
import { decodeLz4 } from '../../src/io/lz4.js';
import { random } from '../state/seeded.js';
import { bytesOf, compressLz4, concat } from './encoder.js';

const TEXT = bytesOf([0, 1, 2, 3, 4, 5].map(i => `key_00${i}:value;`).join(''));
/** `bzip2 -1` and `zstd --no-check` of the text */
const BZIP2 = Buffer.from('QlpoMTFBWSZTWWAL7KYAABsLgH4YAACiDAMgIAAxTAATQRUhhDHqYGgNqd+Vt8MGDB2Oh2MGDgeC7kinChIMAX2UwA==', 'base64');
const ZSTD = Buffer.from('KLUv/SBURQEA0GtleV8wMDA6dmFsdWU7MTIzNDU6dmFsdWU7BQDgEHAcOBg4QgxTCQ==', 'base64');

function samples(next: () => number): Uint8Array {
  const length = Math.floor(next() * (next() < 0.1 ? 70_000 : 600));
  const alphabet = 1 + Math.floor(next() * 40);
  return Uint8Array.from({ length }, (_, i) => (next() < 0.3 ? Math.floor(next() * 256) : (i % alphabet) + 97));
}

describe('LZ4 blocks', () => {
  it('give what was compressed, also with a dictionary', () => {
    const next = random(1);
    for (let round = 0; round < 300; round++) {
      const block = samples(next);
      expect(Buffer.compare(decodeLz4(compressLz4(block), block.length), block)).toBe(0);
      const dictionary = concat(samples(next), block.subarray(0, 200));
      expect(Buffer.compare(decodeLz4(compressLz4(block, dictionary), block.length, dictionary), block)).toBe(0);
    }
  });

  it('decode overlapping matches', () => {
    // 4 literals "abcd", then 20 bytes from 2 back, then 1 literal
    const block = Uint8Array.of(0x4f, 97, 98, 99, 100, 2, 0, 1, 0x10, 33);
    expect(Buffer.from(decodeLz4(block, 25)).toString()).toBe('abcdcdcdcdcdcdcdcdcdcdcd!');
  });

  it.each([
    ['a distance of 0', [0x10, 97, 0, 0], 5, 'distance is 0'],
    ['a distance behind the start', [0x10, 97, 2, 0], 5, 'distance 2 reaches back behind the start'],
    ['too many literals', [0xf0, 255], 5, 'length is cut off'],
    ['literals that are not there', [0x50, 97], 5, '5 literals, 1 bytes remain'],
    ['a distance cut off', [0x10, 97, 1], 5, 'distance is cut off'],
    ['a match length cut off', [0x1f, 97, 1, 0], 50, 'length is cut off'],
    ['more bytes than said', [0x1f, 97, 1, 0, 255, 0], 20, 'more than 20 bytes come out'],
    ['fewer bytes than said', [0x10, 97], 5, '1 bytes come out, 5 expected'],
  ])('refuse %s', (_, block, length, message) => {
    expect(() => decodeLz4(Uint8Array.from(block), length)).toThrow(message);
  });
});

describe('codecs', () => {
  const packed: readonly (readonly [BlockCodec, Uint8Array])[] = [
    ['zlib', Uint8Array.from(deflateRawSync(TEXT))],
    ['bzip2', BZIP2],
    ['zstd', ZSTD],
    ['lz4', compressLz4(TEXT)],
  ];

  it.each(packed)('%s gives the block', (codec, block) => {
    expect(Buffer.from(decompress(codec, block, TEXT.length))).toEqual(Buffer.from(TEXT));
  });

  it.each(packed)('%s refuses another length', (codec, block) => {
    for (const length of [0, TEXT.length - 1, TEXT.length + 1, TEXT.length * 2, MAX_BLOCK + 1])
      expect(() => decompress(codec, block, length), `${length}`).toThrow(CorruptError);
  });

  it.each(packed)('%s: a damaged block is an error or the block', (codec, block) => {
    const next = random(7);
    for (let round = 0; round < 400; round++) {
      let damaged = Uint8Array.from(block);
      if (next() < 0.3) damaged = damaged.slice(0, Math.floor(next() * damaged.length));
      else damaged[Math.floor(next() * damaged.length)] ^= 1 << Math.floor(next() * 8);
      try {
        expect(decompress(codec, damaged, TEXT.length).length).toBe(TEXT.length);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptError);
      }
    }
  });

  it('zlib and bzip2 end by themselves where nothing says the length', () => {
    expect(Buffer.from(decompress('zlib', packed[0][1], undefined))).toEqual(Buffer.from(TEXT));
    expect(Buffer.from(decompress('bzip2', BZIP2, undefined))).toEqual(Buffer.from(TEXT));
    expect(() => decompress('lz4', packed[3][1], undefined)).toThrow('does not say its length');
  });

  it('lengths that no honest block has are refused before anything is allocated', () => {
    expect(() => decompress('lz4', new Uint8Array(10), 1 << 28)).toThrow('block claims 268435456 bytes out of 10');
    expect(() => decompress('zlib', new Uint8Array(10), 1 << 28)).toThrow('block claims 268435456 bytes out of 10');
    expect(() => decompress('zstd', ZSTD, MAX_BLOCK + 1)).toThrow('block claims');
    // a zlib bomb is stopped at what was said
    expect(() => decompress('zlib', Uint8Array.from(deflateRawSync(new Uint8Array(1 << 24))), 100)).toThrow(CorruptError);
  });
});
