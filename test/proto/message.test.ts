/** The wire form of messages, case by case. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { StateQueryError } from '../../src/errors.js';
import { jsonOf } from '../../src/io/json.js';
import { openProto } from '../../src/proto/schema.js';
import { sqlTypeText } from '../../src/types.js';
import { random } from '../state/seeded.js';

const folder = mkdtempSync(join(tmpdir(), 'proto-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
};

const MAIN = file(
  'a/main_types.proto',
  `syntax = "proto3";
package t;
import "common/other.proto";
import "google/protobuf/struct.proto";
enum Color { RED = 0; BLUE = 5; }
message Empty {}
message All {
  int32 i32 = 1; sint32 s32 = 2; uint32 u32 = 3; int64 i64 = 4; sint64 s64 = 5; uint64 u64 = 6; bool b = 7;
  fixed32 f32 = 8; sfixed32 sf32 = 9; float f = 10; fixed64 f64 = 11; sfixed64 sf64 = 12; double d = 13;
  string s = 14; bytes by = 15; Color color = 16; repeated uint64 many = 17; map<int32, Color> colors = 18;
  o.Other other = 19; optional string maybe = 20; oneof one { int32 left = 21; string right = 22; } Empty empty = 23;
  map<string, o.Other> others = 24; google.protobuf.Struct free = 25; Tree tree = 26;
}
message Tree { string name = 1; repeated Tree children = 2; Tree only = 3; }`,
);
file('common/other.proto', 'syntax = "proto3"; package o; message Other { int32 a = 1; repeated int32 b = 2; Other inner = 3; }');

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replace(/\s/g, ''), 'hex'));
const schemas = await openProto([MAIN]);
const show = (name: string, bytes: string): unknown => {
  const message = schemas.message(name)!;
  return JSON.parse(jsonOf(message.type, message.decode(hex(bytes)), { numbers: 'string' }));
};
const all = (bytes: string): Record<string, unknown> => show('t.All', bytes) as Record<string, unknown>;

describe('scalars', () => {
  it('at their bounds, exactly', () => {
    expect(all('08 ffffffffffffffffff01')['i32']).toBe(-1);
    expect(all('10 feffffff0f')['s32']).toBe(2147483647);
    expect(all('10 ffffffff0f')['s32']).toBe(-2147483648);
    expect(all('18 ffffffff0f')['u32']).toBe('4294967295');
    expect(all('20 80808080808080808001')['i64']).toBe('-9223372036854775808');
    expect(all('28 ffffffffffffffffff01')['s64']).toBe('-9223372036854775808');
    expect(all('30 ffffffffffffffffff01')['u64']).toBe('18446744073709551615');
    expect(all('45 ffffffff')['f32']).toBe('4294967295');
    expect(all('4d ffffffff')['sf32']).toBe(-1);
    expect(all('59 ffffffffffffffff')['f64']).toBe('18446744073709551615');
    expect(all('61 0000000000000080')['sf64']).toBe('-9223372036854775808');
    expect(all('55 0000c07f')['f']).toBe('NaN');
    expect(all('69 9a9999999999b93f')['d']).toBe(0.1);
  });
  it('unset: default without presence, NULL with it', () => {
    expect(all('')).toEqual({
      ...{ i32: 0, s32: 0, u32: '0', i64: '0', s64: '0', u64: '0', b: false, f32: '0', sf32: 0, f: 0, f64: '0', sf64: '0', d: 0 },
      ...{ s: '', by: '', color: 'RED', many: [], colors: {}, other: null, maybe: null, left: null, right: null, empty: null },
      ...{ others: {}, free: null, tree: null },
    });
    expect(all('a20100 a80100')).toMatchObject({ maybe: '', left: 0, right: null });
  });
  it('of enums by name, by number where there is none', () => {
    expect([all('8001 05')['color'], all('8001 63')['color'], all('8001 ffffffffffffffffff01')['color']]).toEqual(['BLUE', '99', '-1']);
  });
});

describe('fields', () => {
  it('repeated, packed and not, in one message', () => {
    expect(all('8a01 03 01 ac02  8801 07  8a01 00')['many']).toEqual(['1', '300', '7']);
  });
  it('written twice: the last; messages are merged', () => {
    expect(all('08 01 08 02')['i32']).toBe(2);
    expect(all('9a01 04 0801 1002  9a01 04 1003 0805')['other']).toEqual({ a: 5, b: [2, 3], inner: null });
    expect(all('9a01 06 1a04 0801 1001  9a01 04 1a02 1002')['other']).toMatchObject({ inner: { a: 1, b: [1, 2] } });
  });
  it('maps: missing keys and values are defaults, a key twice is the last', () => {
    expect(all('9201 04 0801 1005  9201 02 1005  9201 00  9201 04 0801 1000')['colors']).toEqual({ 1: 'RED', 0: 'RED' });
    expect(all('c201 03 0a01 78')['others']).toEqual({ x: { a: 0, b: [], inner: null } });
  });
  it('unknown ones are kept, of every wire type', () => {
    expect(all('c03e 2a  c13e 0100000000000000  c23e 02 abcd  c53e 07000000  c33e 0801 c43e')['$unknown']).toEqual([
      { field: 1000, varint: 42 },
      { field: 1000, fixed64: 1 },
      { field: 1000, hex: 'abcd' },
      { field: 1000, fixed32: 7 },
      { field: 1000, group: [{ field: 1, varint: 1 }] },
    ]);
    expect(all('0a 01 61')).toMatchObject({ i32: 0, $unknown: [{ field: 1, hex: '61' }] });
  });
  it('messages without fields and inside themselves are JSON', () => {
    expect(all('ba01 00')['empty']).toEqual({});
    expect(all('d201 0a 0a0161 1205 0a0162 1a00')['tree']).toEqual({
      name: 'a',
      children: [{ name: 'b', children: [], only: { name: '', children: [], only: null } }],
      only: null,
    });
    expect(sqlTypeText(schemas.message('Tree')!.type)).toBe('STRUCT("name" VARCHAR, children JSON[], "only" JSON)'.replaceAll('"', ''));
  });
  it('google.protobuf.Struct is the JSON it means', () => {
    // {"a": 1.5, "b": [true, null], "c": {}}
    const a = '0a0e 0a0161 1209 11000000000000f83f';
    const b = '0a0f 0a0162 120a 3208 0a02 2001 0a02 0800';
    const c = '0a07 0a0163 1202 2a00';
    expect(all(`ca01 2a ${a} ${b} ${c}`)['free']).toEqual({ a: 1.5, b: [true, null], c: {} });
  });
});

describe('bad input', () => {
  const decode = (bytes: Uint8Array): boolean => {
    try {
      schemas.message('All')?.decode(bytes);
      return true;
    } catch (error) {
      if (error instanceof StateQueryError) return false;
      throw error;
    }
  };
  it('is a typed error', () => {
    for (const bytes of ['08', '0a', '9a01 7f 08', '07', '0b', '0c', '00', '08 ffffffffffffffffffff01', 'c33e 08', '9a01 02 1a05'])
      expect([bytes, decode(hex(bytes))]).toEqual([bytes, false]);
  });
  it('nested too deep ends', () => {
    let bytes: Uint8Array = new Uint8Array(0);
    for (let i = 0; i < 3000; i++) {
      const length: number[] = [];
      for (let n = bytes.length; ; n >>>= 7) {
        length.push(n < 128 ? n : (n & 127) | 128);
        if (n < 128) break;
      }
      bytes = Buffer.concat([Uint8Array.of(0x1a, ...length), bytes]);
    }
    expect(() => schemas.message('Tree')?.decode(bytes)).toThrow(/nested deeper/);
    expect(decode(Buffer.alloc(5000, 0x0b))).toBe(false);
  });
  it('that writes one message a hundred thousand times takes no longer than it is', () => {
    const bytes = Buffer.alloc(500_000, hex('9a01 02 0801'));
    expect(decode(bytes)).toBe(true);
  });
  it('of any kind: a message or a typed error', () => {
    const next = random(11);
    for (let i = 0; i < 20_000; i++) decode(Uint8Array.from({ length: Math.floor(next() * 40) }, () => Math.floor(next() * 256)));
  });
});

describe('files', () => {
  it('are found by their imports, and messages by name or Java class', () => {
    expect(schemas.names).toEqual(expect.arrayContaining(['t.All', 't.Tree', 'o.Other']));
    expect(schemas.message('Other')?.name).toBe('o.Other');
    expect(schemas.message('Nope')).toBeUndefined();
    expect(schemas.messageOfClass('t.MainTypes$All')?.name).toBe('t.All');
    expect(schemas.messageOfClass('o.OtherOuterClass$Other')?.name).toBe('o.Other');
  });
  it('that are missing or wrong are named', async () => {
    await expect(openProto([join(folder, 'no.proto')])).rejects.toThrow(/no such .proto file/);
    await expect(openProto([file('bad.proto', 'message {')])).rejects.toThrow(/no .proto file/);
    await expect(openProto([file('imp.proto', 'syntax="proto3"; import "else/where.proto"; message A {}')])).rejects.toThrow(/else\/where/);
    await expect(openProto([file('type.proto', 'syntax="proto3"; message A { Missing m = 1; }')])).rejects.toThrow(/Missing/);
  });
});
