import { describe, expect, it } from 'vitest';
import { crc32c } from '../../src/io/crc32c.js';
import { xxh3, xxh3Low } from '../../src/io/xxh3.js';
import { xxh32, xxh64, xxh64Low } from '../../src/io/xxhash.js';
import { blockChecksum, contextModifier } from '../../src/sst/checksum.js';

/** The input of the vectors below: bytes of a linear congruential generator. */
function input(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let x = 1;
  for (let i = 0; i < length; i++) {
    x = (Math.imul(x, 1103515245) + 12345) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}

/** length, XXH32, XXH64, XXH3_64bits, as xxhsum 0.8.1 gives them. */
const VECTORS: readonly (readonly [number, string, string, string])[] = [
  [0, '02cc5d05', 'ef46db3751d8e999', '2d06800538d394c2'],
  [1, '10659a4d', '13099d40d095b684', 'd0d496e05c553485'],
  [3, '4f625785', '6fbbbfe0547c7d56', 'cb412fafd0e16539'],
  [4, '7962b10e', '66b01b6487528d12', '4f4b99fe84f2cafd'],
  [7, 'c269b322', '47bbb6f5e6ee2129', '6aba7726a9a0ed85'],
  [8, 'a682a31b', '181be641fc4de1e5', '33277cb46c5eaeb4'],
  [9, '559e2972', '26ba88d8fe864968', 'c6f81e3bea15d8e5'],
  [16, 'e51e93e1', 'cd31b1ca2f5ce45e', 'a647e24121484fc9'],
  [17, 'c7ab969a', '4aaaf8447b03d0c1', 'f771e8fe473186fa'],
  [33, '9f98a2c4', '2bb7f82be1b83d57', '037e677f9fff8b56'],
  [65, 'c57763a4', 'c36bff0a01928615', '8d37ff73f632c68d'],
  [97, '2490cf16', '150a9461ec318e29', '24df67ad97673627'],
  [128, '93c34228', '4eee167be85710ec', 'd177816bc64b1bb4'],
  [129, 'd62bf0ef', '27719b9ba3decfa7', '765fa4d985fe65ee'],
  [200, '19eb7ab4', 'c410834575c5d8ea', '25a4e62f71d6c783'],
  [240, '3e994d50', '75fc92f03e705b74', '46e148ac50290d2d'],
  [241, '9ddf63a2', '40bd0f3b92217da2', '98aa8179cc71fcb5'],
  [1024, '8459f389', '86dfb08b60e39908', '0bd018ef80ebcb8f'],
  [1025, 'a9e3f9cd', '95c1d93960f77720', 'e32bac2d01c31f3b'],
  [4097, '653f5fd4', '8ca74f836d5ca362', '3cfd73cee180ec11'],
];

describe('xxHash', () => {
  it.each(VECTORS)('%i bytes', (length, h32, h64, h3) => {
    const bytes = input(length);
    expect(xxh32(bytes).toString(16).padStart(8, '0')).toBe(h32);
    expect(xxh64(bytes).toString(16).padStart(16, '0')).toBe(h64);
    expect(xxh3(bytes).toString(16).padStart(16, '0')).toBe(h3);
    expect(xxh64Low(bytes)).toBe(Number.parseInt(h64.slice(8), 16));
    expect(xxh3Low(bytes)).toBe(Number.parseInt(h3.slice(8), 16));
  });

  it('is the same when it is computed by code, which takes over after many calls', () => {
    const bytes = input(70_000);
    for (let i = 0; i < 400; i++) {
      const start = (i * 37) % 101;
      const end = start + 241 + ((i * 7919) % (i % 20 === 0 ? 60_000 : 6000));
      expect(xxh3Low(bytes, start, end)).toBe(Number(xxh3(bytes, start, end) & 0xffffffffn));
    }
  });

  it('takes a part of an array', () => {
    const bytes = input(3000);
    for (const [start, end] of [
      [0, 3000],
      [1, 242],
      [3, 3],
      [7, 2999],
    ]) {
      const part = bytes.slice(start, end);
      expect(xxh32(bytes, start, end)).toBe(xxh32(part));
      expect(xxh64(bytes, start, end)).toBe(xxh64(part));
      expect(xxh3(bytes, start, end)).toBe(xxh3(part));
    }
  });
});

describe('block checksums', () => {
  const body = Uint8Array.from([...input(300), 1]);
  it('cover payload and type, each in its own way', () => {
    expect(blockChecksum(0, body, 0, body.length)).toBeUndefined();
    const crc = crc32c(body);
    expect(blockChecksum(1, body, 0, body.length)).toBe((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
    expect(blockChecksum(2, body, 0, body.length)).toBe(xxh32(body));
    expect(blockChecksum(3, body, 0, body.length)).toBe(xxh64Low(body));
    expect(blockChecksum(4, body, 0, body.length)).toBe((xxh3Low(input(300)) ^ 0x6b9083d9) >>> 0);
    expect(() => blockChecksum(5, body, 0, body.length)).toThrow('block checksum of type 5');
  });

  it('are salted with the place from version 6 on', () => {
    expect(contextModifier(0, 12345)).toBe(0);
    expect(contextModifier(0x01020304, 0)).toBe(0x01020304);
    expect(contextModifier(0xffffffff, 1)).toBe(0xfffffffe);
    expect(contextModifier(0x10, 5 * 2 ** 32 + 3)).toBe(0x10 ^ 8);
  });
});
