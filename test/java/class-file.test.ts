import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { StateQueryError } from '../../src/errors.js';
import { decodeClassFile } from '../../src/java/class-file.js';
import { openClassPool } from '../../src/java/jar.js';
import { parseClassSignature, parseSignature } from '../../src/java/signature.js';

const JAR = fileURLToPath(new URL('fixtures/layouts.jar', import.meta.url));
const temp = mkdtempSync(join(tmpdir(), 'jar-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));

describe('class files', () => {
  const pool = openClassPool([JAR]);
  afterAll(() => pool.close());

  it('has the fields of a class in source order, with their types', () => {
    const order = pool.find('fixture.Layouts$Order');
    expect(order).toMatchObject({
      name: 'fixture.Layouts$Order',
      superName: 'fixture.Layouts$Base',
      interfaces: ['java.lang.Cloneable'],
      signature: 'Lfixture/Layouts$Base<Ljava/lang/Long;>;Ljava/lang/Cloneable;',
      isFinal: true,
      isEnum: false,
      isRecord: false,
    });
    expect(order?.fields.map(f => [f.name, f.signature ?? f.descriptor])).toEqual([
      ['name', 'Ljava/lang/String;'],
      ['numbers', '[I'],
      ['names', '[[Ljava/lang/String;'],
      ['tags', 'Ljava/util/List<Ljava/lang/String;>;'],
      ['scores', 'Ljava/util/Map<Ljava/lang/String;+Ljava/util/List<-Ljava/lang/Integer;>;>;'],
      ['best', 'Ljava/util/Map$Entry<*Lfixture/Layouts$Color;>;'],
      ['price', 'D'],
      ['open', 'Z'],
      ['grade', 'C'],
    ]);
  });
  it('tells transient, static and synthetic fields', () => {
    const base = pool.find('fixture.Layouts$Base');
    expect(base?.isAbstract).toBe(true);
    expect(base?.interfaces).toEqual(['java.io.Serializable']);
    expect(base?.fields.map(f => [f.name, f.isTransient, f.isStatic])).toEqual([
      ['id', false, false],
      ['cache', true, false],
      ['count', false, true],
    ]);
    expect(pool.find('fixture.Layouts$Inner')?.fields.map(f => [f.name, f.isSynthetic])).toEqual([
      ['of', false],
      ['this$0', true],
    ]);
  });
  it('has enum constants in the order of their ordinals', () => {
    const color = pool.find('fixture.Layouts$Color');
    expect([color?.isEnum, color?.enumConstants]).toEqual([true, ['RED', 'GREEN', 'BLUE']]);
    expect(pool.find('fixture.Layouts$Color$1')?.superName).toBe('fixture.Layouts$Color');
  });
  it('has record components in order', () => {
    const point = pool.find('fixture.Layouts$Point');
    expect([point?.isRecord, point?.isFinal, point?.recordComponents]).toEqual([true, true, ['x', 'y', 'labels']]);
  });
  it('knows interfaces, and nothing of classes that are not there', () => {
    expect(pool.find('fixture.Layouts$Shape')?.isInterface).toBe(true);
    expect(pool.find('fixture.Nothing')).toBeUndefined();
  });

  it('gives a typed error for cut and flipped class files', () => {
    const bytes = new Uint8Array(readFileSync(new URL('fixtures/Order.class', import.meta.url)));
    const tryIt = (b: Uint8Array): void => {
      try {
        decodeClassFile(b);
      } catch (e) {
        expect(e).toBeInstanceOf(StateQueryError);
      }
    };
    for (let n = 0; n < bytes.length; n++) tryIt(bytes.subarray(0, n));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, b) => {
        const copy = bytes.slice();
        copy[at] = b;
        tryIt(copy);
      }),
      { seed: 11, numRuns: 2000 },
    );
  });
});

describe('jars', () => {
  /** A zip file with one entry. */
  function zip(name: string, data: Buffer, change: { method?: number; size?: number; comment?: string } = {}): Buffer {
    const packed = change.method === 0 ? data : deflateRawSync(data);
    const method = change.method ?? 8;
    const size = change.size ?? data.length;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(name.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50);
    central.writeUInt16LE(method, 10);
    central.writeUInt32LE(crc(data), 16);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(size, 24);
    central.writeUInt16LE(name.length, 28);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50);
    end.writeUInt16LE(1, 8);
    end.writeUInt16LE(1, 10);
    end.writeUInt32LE(46 + name.length, 12);
    end.writeUInt32LE(30 + name.length + packed.length, 16);
    end.writeUInt16LE((change.comment ?? '').length, 20);
    return Buffer.concat([local, Buffer.from(name), packed, central, Buffer.from(name), end, Buffer.from(change.comment ?? '')]);
  }
  function crc(data: Buffer): number {
    let c = 0xffffffff;
    for (const b of data) {
      c ^= b;
      for (let i = 0; i < 8; i++) c = (c >>> 1) ^ (0xedb88320 & -(c & 1));
    }
    return ~c >>> 0;
  }
  const write = (name: string, bytes: Buffer): string => {
    const path = join(temp, name);
    writeFileSync(path, bytes);
    return path;
  };
  /** `public class a.B {}` */
  const B = Buffer.from(
    'cafebabe0000003d0005' +
      '010003612f42' +
      '070001' +
      '0100106a6176612f6c616e672f4f626a656374' +
      '070003' +
      '0021' +
      '00020004' +
      '0000' +
      '0000' +
      '0000' +
      '0000',
    'hex',
  );

  it('reads stored and deflated entries, below BOOT-INF too, and with a comment at the end', () => {
    for (const [i, bytes] of [
      zip('a/B.class', B),
      zip('a/B.class', B, { method: 0 }),
      zip('BOOT-INF/classes/a/B.class', B, { comment: 'PK\u0005\u0006 and more than a record, more than a record' }),
    ].entries()) {
      const pool = openClassPool([write(`good${i}.jar`, bytes)]);
      expect(pool.find('a.B')).toMatchObject({ name: 'a.B', superName: 'java.lang.Object', fields: [] });
      pool.close();
    }
  });
  it('reads directories and single class files; the first of two wins', () => {
    const dir = join(temp, 'classes');
    mkdirSync(join(dir, 'a'), { recursive: true });
    writeFileSync(join(dir, 'a', 'B.class'), B);
    expect(openClassPool([dir]).find('a.B')?.name).toBe('a.B');
    expect(openClassPool([join(dir, 'a', 'B.class'), JAR]).find('a.B')?.name).toBe('a.B');
  });
  it('says what is wrong with a jar', () => {
    const find = (name: string, bytes: Buffer): string => {
      try {
        const pool = openClassPool([write(name, bytes)]);
        try {
          pool.find('a.B');
        } finally {
          pool.close();
        }
      } catch (e) {
        if (e instanceof StateQueryError) return `${e.code}: ${e.message}`;
        throw e;
      }
      return 'nothing';
    };
    expect(find('empty.jar', Buffer.alloc(0))).toBe('CORRUPT: not a jar: no end record of a zip file');
    expect(find('bomb.jar', zip('a/B.class', Buffer.alloc(20 << 20)))).toBe('UNSUPPORTED: class file of 20971520 bytes');
    expect(find('lying.jar', zip('a/B.class', Buffer.alloc(1 << 20), { size: 200 }))).toBe('CORRUPT: zip entry does not inflate');
    expect(find('method.jar', zip('a/B.class', B, { method: 99 }))).toBe('UNSUPPORTED: zip entry of method 99');
    expect(find('other.jar', zip('a/B.class', Buffer.from('cafe')))).toBe('CORRUPT: class file does not begin with cafebabe');
    const flipped = zip('a/B.class', B, { method: 0 });
    flipped[60] ^= 1;
    expect(find('flipped.jar', flipped)).toBe('CORRUPT: zip entry has a wrong checksum');
    expect(() => openClassPool([join(temp, 'nothing.jar')])).toThrow('no such jar or class directory');
  });
  it('gives a typed error for flipped jars', () => {
    const bytes = readFileSync(JAR);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, b) => {
        const copy = Buffer.from(bytes);
        copy[at] = b;
        const path = write('flip.jar', copy);
        try {
          const pool = openClassPool([path]);
          try {
            pool.find('fixture.Layouts$Order');
          } finally {
            pool.close();
          }
        } catch (e) {
          expect(e).toBeInstanceOf(StateQueryError);
        }
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});

describe('generic signatures', () => {
  it('parses fields', () => {
    expect(parseSignature('[[I')).toEqual({ kind: 'array', element: { kind: 'array', element: { kind: 'primitive', letter: 'I' } } });
    expect(parseSignature('TK;')).toEqual({ kind: 'variable', name: 'K' });
    expect(parseSignature('Ljava/util/Map<Ljava/lang/String;+[TV;>;')).toEqual({
      kind: 'class',
      name: 'java.util.Map',
      args: [
        { wildcard: '=', type: { kind: 'class', name: 'java.lang.String', args: [] } },
        { wildcard: '+', type: { kind: 'array', element: { kind: 'variable', name: 'V' } } },
      ],
    });
    expect(parseSignature('La/Outer<TT;>.Inner<*-La/B;>;')).toEqual({
      kind: 'class',
      name: 'a.Outer$Inner',
      args: [
        { wildcard: '*', type: undefined },
        { wildcard: '-', type: { kind: 'class', name: 'a.B', args: [] } },
      ],
    });
  });
  it('parses classes with bounds', () => {
    const parsed = parseClassSignature('<N:Ljava/lang/Number;:Ljava/lang/Comparable<TN;>;T::Ljava/util/List<TN;>;E:>La/Base<TN;>;La/I;');
    expect(parsed.parameters.map(p => [p.name, p.bounds.length])).toEqual([
      ['N', 2],
      ['T', 1],
      ['E', 0],
    ]);
    expect(parsed.superclass).toMatchObject({ name: 'a.Base', args: [{ type: { kind: 'variable', name: 'N' } }] });
    expect(parsed.interfaces).toEqual([{ kind: 'class', name: 'a.I', args: [] }]);
  });
  it.each(['', 'L', 'La', 'La<', 'La<>;', 'Q', 'II', 'T;', `${'['.repeat(100000)}I`, `${'La<'.repeat(100000)}`])('refuses %#', text => {
    expect(() => parseSignature(text)).toThrow('malformed signature');
  });
});
