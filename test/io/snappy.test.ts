import { snappyCompress } from 'hysnappy';
import { describe, expect, it } from 'vitest';
import { CorruptError } from '../../src/errors.js';
import { crc32c, maskCrc32c, unmaskCrc32c } from '../../src/io/crc32c.js';
import { decodeSnappy, SnappyFrames, snappyLength } from '../../src/io/snappy.js';
import { memorySource } from '../../src/io/source.js';
import { Window } from '../../src/io/window.js';
import { random } from '../state/seeded.js';
import { frame, HEADER } from './snappy-frames.js';

function all(bytes: Uint8Array, options?: { resumed?: boolean }, step = 1000): Buffer {
  const frames = new SnappyFrames(memorySource(bytes, 'mem', 7), 0, bytes.length, options);
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.alloc(step);
    const n = frames.fill(part, 0, step);
    parts.push(part.subarray(0, n));
    if (n < step) return Buffer.concat(parts);
  }
}

function text(n: number, seed = 1): Buffer {
  const r = random(seed);
  return Buffer.from(Array.from({ length: n }, () => 97 + Math.floor(r() * 3)));
}

describe('crc32c', () => {
  it('gives the check values of RFC 3720', () => {
    expect(crc32c(Buffer.alloc(32)).toString(16)).toBe('8a9136aa');
    expect(crc32c(Buffer.alloc(32, 0xff)).toString(16)).toBe('62a8ab43');
    expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i))).toString(16)).toBe('46dd794e');
    expect(crc32c(Buffer.from('123456789')).toString(16)).toBe('e3069283');
    expect(crc32c(new Uint8Array(0))).toBe(0);
  });
  it('goes on from a part, at every cut', () => {
    const bytes = text(100);
    for (let cut = 0; cut <= 100; cut++) expect(crc32c(bytes, cut, 100, crc32c(bytes, 0, cut))).toBe(crc32c(bytes));
  });
  it('masks and unmasks', () => {
    for (const crc of [0, 1, 0xffffffff, 0x8a9136aa]) expect(unmaskCrc32c(maskCrc32c(crc))).toBe(crc);
    expect(maskCrc32c(crc32c(Buffer.from('foo')))).not.toBe(crc32c(Buffer.from('foo')));
  });
});

describe('raw snappy blocks', () => {
  it('decodes what was compressed', () => {
    for (const n of [0, 1, 59, 60, 61, 256, 65536, 300000]) {
      const bytes = text(n);
      const block = snappyCompress(bytes);
      expect(snappyLength(block)).toBe(n);
      expect(Buffer.from(decodeSnappy(block)).equals(bytes)).toBe(true);
    }
  });
  it('refuses lengths that the bytes cannot hold', () => {
    expect(() => decodeSnappy(Buffer.from('ffffffff07', 'hex'))).toThrow('snappy block claims 2147483647 bytes out of 5');
    expect(() => decodeSnappy(snappyCompress(text(100)), 99)).toThrow('snappy block of 100 bytes, at most 99 expected');
    expect(() => decodeSnappy(Buffer.from('8080', 'hex'))).toThrow('snappy block without a length');
  });
  it('survives damage: an error or some bytes', () => {
    const r = random(5);
    for (let i = 0; i < 300; i++) {
      const block = Buffer.from(snappyCompress(text(500, i)));
      block[Math.floor(r() * block.length)] ^= 1 << Math.floor(r() * 8);
      try {
        decodeSnappy(block, 1 << 20);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptError);
      }
    }
    expect(Buffer.from(decodeSnappy(snappyCompress(text(50)))).equals(text(50))).toBe(true);
  });
});

describe('snappy frames', () => {
  const parts = [text(65536, 1), text(3, 2), text(40000, 3)];
  const stream = Buffer.concat([
    HEADER,
    frame(0, parts[0]),
    frame(1, parts[1]),
    Buffer.from('fe0300000000aa', 'hex').subarray(0, 7),
    HEADER,
    frame(0, parts[2]),
  ]);

  it('gives the bytes of compressed and plain chunks, over repeated headers and padding', () => {
    expect(all(stream).equals(Buffer.concat(parts))).toBe(true);
    expect(all(stream, undefined, 200000).equals(Buffer.concat(parts))).toBe(true);
    expect(all(frame(1, parts[1]), { resumed: true }).equals(parts[1])).toBe(true);
  });
  it('stops at the next stream when told to', () => {
    const frames = new SnappyFrames(memorySource(stream, 'mem'), 0, stream.length, { byStream: true });
    const window = new Window();
    window.openStream(frames);
    expect(window.has(65539)).toBe(true);
    window.position += 65539;
    expect(window.atEnd()).toBe(true);
    expect(frames.nextStream()).toBe(true);
    window.openStream(frames);
    expect(window.has(40000)).toBe(true);
    expect(window.has(40001)).toBe(false);
    expect(frames.nextStream()).toBe(false);
  });
  it('drops the rest of a stream', () => {
    const frames = new SnappyFrames(memorySource(stream, 'mem'), 0, stream.length, { byStream: true });
    expect(frames.nextStream()).toBe(true);
    const target = Buffer.alloc(50000);
    expect(frames.fill(target, 0, 50000)).toBe(40000);
    expect(target.subarray(0, 40000).equals(parts[2])).toBe(true);
  });
  it('names what is wrong and where', () => {
    const bad = Buffer.from(stream);
    bad[stream.length - 5] ^= 1;
    const at = (f: () => unknown) => {
      try {
        f();
      } catch (error) {
        return error instanceof CorruptError ? `${error.message} @${error.offset}` : String(error);
      }
      return 'no error';
    };
    expect(at(() => all(bad))).toMatch(/snappy (frame does not match its checksum|block cannot be decompressed) @\d+/);
    expect(at(() => all(stream.subarray(0, stream.length - 1)))).toMatch(/snappy frame of \d+ bytes, \d+ remain @\d+/);
    expect(at(() => all(Buffer.from('00112233', 'hex')))).toBe('expected a snappy stream header, found 00112233 @7');
    expect(at(() => all(Buffer.from('82534e4150505900', 'hex')))).toBe(
      "compressed in xerial's own snappy form, the framing format is expected @7",
    );
    expect(at(() => all(Buffer.concat([HEADER, Buffer.from('02000000', 'hex')])))).toBe('snappy frame of type 2, which cannot be read @17');
  });
});
