import { snappyCompress } from 'hysnappy';
import { describe, expect, it } from 'vitest';
import { CorruptError } from '../../src/errors.js';
import { crc32c, maskCrc32c, unmaskCrc32c } from '../../src/io/crc32c.js';
import { decodeSnappy, decodeSnappyInto, SnappyFrames, snappyLength } from '../../src/io/snappy.js';
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
  it('is the same bit by bit, also when code has taken over after many calls', () => {
    const bytes = text(5000, 8);
    for (let i = 0; i < 200; i++) {
      const start = i % 13;
      const end = start + 250 + ((i * 641) % 4000);
      let crc = -1;
      for (let p = start; p < end; p++) {
        crc ^= bytes[p];
        for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
      }
      expect(crc32c(bytes, start, end)).toBe(~crc >>> 0);
    }
  });
  it('masks and unmasks', () => {
    for (const crc of [0, 1, 0xffffffff, 0x8a9136aa]) expect(unmaskCrc32c(maskCrc32c(crc))).toBe(crc);
    expect(maskCrc32c(crc32c(Buffer.from('foo')))).not.toBe(crc32c(Buffer.from('foo')));
  });
});

/** The format's description word by word: the bytes, or undefined. */
function reference(block: Uint8Array): Uint8Array | undefined {
  let p = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    if (p >= block.length || shift > 28) return undefined;
    length += (block[p] & 127) * 2 ** shift;
    if (block[p++] < 128) break;
  }
  const out: number[] = [];
  const number = (bytes: number): number => {
    let n = 0;
    for (let i = 0; i < bytes; i++) n += block[p++] * 256 ** i;
    return n;
  };
  while (p < block.length) {
    const tag = block[p++];
    const kind = tag & 3;
    let size = (tag >> 2) + 1;
    if (kind === 0) {
      if (size > 60) size = number(size - 60) + 1;
      if (!(p + size <= block.length) || out.length + size > length) return undefined;
      for (let i = 0; i < size; i++) out.push(block[p++]);
      continue;
    }
    if (kind === 1) size = ((tag >> 2) & 7) + 4;
    const offset = kind === 1 ? ((tag >> 5) << 8) + number(1) : number(kind === 2 ? 2 : 4);
    if (!(p <= block.length) || offset === 0 || offset > out.length || out.length + size > length) return undefined;
    for (let i = 0; i < size; i++) out.push(out[out.length - offset]);
  }
  return out.length === length ? Uint8Array.from(out) : undefined;
}

/** Elements of every kind, at random; they give at most 20,000 bytes. */
function anyBlock(r: () => number): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  const literal = (n: number): void => {
    const extra = n <= 60 ? 0 : 1 + Math.floor(r() * 4);
    const bytes = extra > 0 && n > 256 ** extra ? 4 : extra;
    const head = Buffer.alloc(1 + bytes);
    head[0] = (bytes === 0 ? n - 1 : 59 + bytes) << 2;
    for (let i = 0; i < bytes; i++) head[1 + i] = Math.floor((n - 1) / 256 ** i) & 255;
    parts.push(head, Buffer.from(Array.from({ length: n }, () => Math.floor(r() * 256))));
    size += n;
  };
  literal(1 + Math.floor(r() * 70));
  while (size < 15000 && r() < 0.985) {
    const kind = Math.floor(r() * 4);
    const offset = 1 + Math.floor(r() * Math.min(size, r() < 0.5 ? 20 : 65535));
    if (kind === 0) literal(1 + Math.floor(r() * (r() < 0.1 ? 3000 : 40)));
    else if (kind === 1 && offset < 2048) {
      const n = 4 + Math.floor(r() * 8);
      parts.push(Buffer.from([1 | ((n - 4) << 2) | ((offset >> 8) << 5), offset & 255]));
      size += n;
    } else {
      const n = 1 + Math.floor(r() * 64);
      const wide = kind === 3;
      parts.push(Buffer.from([(wide ? 3 : 2) | ((n - 1) << 2), offset & 255, offset >> 8, ...(wide ? [0, 0] : [])]));
      size += n;
    }
  }
  const length: number[] = [];
  for (let left = size; ; left >>= 7) {
    length.push(left < 128 ? left : (left & 127) | 128);
    if (left < 128) break;
  }
  return Buffer.concat([Buffer.from(length), ...parts]);
}

describe('raw snappy blocks', () => {
  it('are read as the format says, whole and damaged, whatever they consist of', () => {
    const r = random(99);
    let damaged = 0;
    for (let i = 0; i < 600; i++) {
      const block = anyBlock(r);
      expect(Buffer.from(decodeSnappy(block)).equals(Buffer.from(reference(block) ?? []))).toBe(true);
      const broken = Buffer.from(r() < 0.3 ? block.subarray(0, Math.floor(r() * block.length)) : block);
      for (let n = Math.floor(r() * 3); n >= 0 && broken.length > 3; n--)
        broken[3 + Math.floor(r() * (broken.length - 3))] = Math.floor(r() * 256);
      const expected = reference(broken);
      let ours: Uint8Array | undefined;
      try {
        ours = decodeSnappy(broken, 1 << 20);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptError);
        damaged++;
      }
      // a length that the bytes cannot have is refused before
      if (ours !== undefined || (expected !== undefined && expected.length <= broken.length * 22)) expect(ours).toEqual(expected);
    }
    expect(damaged).toBeGreaterThan(100);
  });
  it('use memory that is there', () => {
    const block = snappyCompress(text(5000));
    const around = Buffer.concat([Buffer.from([1, 2]), block, Buffer.from([3])]);
    const target = new Uint8Array(6000);
    const { bytes, length } = decodeSnappyInto(around, 2, 2 + block.length, target, 1 << 20);
    expect(bytes).toBe(target);
    expect(Buffer.from(bytes.subarray(0, length)).equals(text(5000))).toBe(true);
    expect(target.subarray(5000).every(b => b === 0)).toBe(true);
    const grown = decodeSnappyInto(block, 0, block.length, new Uint8Array(10), 1 << 20);
    expect(Buffer.from(grown.bytes.subarray(0, grown.length)).equals(text(5000))).toBe(true);
    const big = text(20 << 20);
    expect(Buffer.from(decodeSnappy(snappyCompress(big))).equals(big)).toBe(true);
  });
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
