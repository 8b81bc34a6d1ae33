/** Values that cannot be decoded, alone and inside others: what came before stays, the bytes from there on show. */
import { describe, expect, it } from 'vitest';
import { sqlTypeText } from '../../src/types.js';
import { codecFor, decode, Out, snapshots } from './support.js';

const { simple, opaque, tuple, pojo, row, list, set, map, either, nullable } = snapshots;
const SECRET = '"$serializer":"org.apache.flink.api.java.typeutils.runtime.ValueSerializer"';
const REASON = 'com.x.Secret writes itself: only its code knows how';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('a value whose end is unknown', () => {
  it('alone', () => {
    const codec = codecFor(opaque());
    expect(codec).toMatchObject({ type: { kind: 'JSON' }, length: -1, opaque: REASON, unbounded: true });
    expect(decode(codec, Uint8Array.of(1, 255))).toMatchObject({ json: `{${SECRET},"$hex":"01ff"}`, end: 2 });
  });

  it('as the last part: only that field is JSON', () => {
    const codec = codecFor(tuple(simple('Long'), opaque()));
    expect(sqlTypeText(codec.type)).toBe('STRUCT(f0 BIGINT, f1 JSON)');
    expect(codec).toMatchObject({ opaque: `f1: ${REASON}`, unbounded: true });
    const decoded = decode(codec, new Out().i64(5n).u8(1).u8(2).bytes);
    expect(decoded).toMatchObject({ json: `{"f0":5,"f1":{${SECRET},"$hex":"0102"}}`, end: 10 });
    expect(decoded.column).toBe(decoded.json);
  });

  it('before other parts: the whole is JSON', () => {
    const codec = codecFor(tuple(simple('Long'), opaque(), simple('String')));
    expect(codec).toMatchObject({
      type: { kind: 'JSON' },
      opaque: `f1: ${REASON}; it hides what follows it`,
      unbounded: true,
    });
    expect(decode(codec, new Out().i64(5n).u8(1).string('x').bytes)).toMatchObject({
      json: `{"f0":5,"f1":{${SECRET}},"$hex":"010278"}`,
      column: `{"f0":5,"f1":{${SECRET}},"$hex":"010278"}`,
      end: 11,
    });
  });

  it('in a POJO and a row: what is null or stands before is decoded', () => {
    const fields = [
      ['a', simple('Int')],
      ['b', opaque()],
      ['c', simple('Int')],
    ] as const;
    const pojoCodec = codecFor(pojo(fields));
    const none = new Out().u8(2).bool(false).i32(1).bool(true).bool(false).i32(3).bytes;
    expect(decode(pojoCodec, none)).toMatchObject({ json: '{"a":1,"b":null,"c":3}', end: none.length });
    const some = new Out().u8(2).bool(false).i32(1).bool(false).u8(9).bool(false).i32(3).bytes;
    expect(decode(pojoCodec, some)).toMatchObject({
      json: `{"a":1,"b":{${SECRET}},"$hex":"090000000003"}`,
      end: some.length,
    });
    const rowCodec = codecFor(row(simple('Int'), opaque(), simple('Int')));
    const rowBytes = new Out().u8(0b01000000).i32(1).u8(9).i32(3).bytes;
    expect(decode(rowCodec, rowBytes)).toMatchObject({
      json: `{"$kind":"+U","f0":1,"f1":{${SECRET}},"$hex":"0900000003"}`,
      end: rowBytes.length,
    });
  });

  it('in lists, sets and maps', () => {
    const listCodec = codecFor(list(opaque()));
    expect(sqlTypeText(listCodec.type)).toBe('JSON');
    expect(listCodec).toMatchObject({ opaque: `element: ${REASON}`, unbounded: true });
    expect(decode(listCodec, new Out().i32(0).bytes).json).toBe('[]');
    expect(decode(listCodec, new Out().i32(1).u8(7).bytes).json).toBe(`[{${SECRET},"$hex":"07"}]`);
    const two = new Out().i32(2).u8(7).u8(8).bytes;
    expect(decode(listCodec, two)).toMatchObject({ json: `{"$size":2,"$elements":[{${SECRET}}],"$hex":"0708"}`, end: 6 });
    const withNull = new Out().i32(3).bool(true).bool(false).u8(8).bool(false).u8(9).bytes;
    expect(decode(codecFor(set(opaque())), withNull).json).toBe(`{"$size":3,"$elements":[null,{${SECRET}}],"$hex":"080009"}`);
    const values = codecFor(map(simple('Int'), opaque()));
    expect(decode(values, new Out().i32(2).i32(1).bool(true).i32(2).bool(false).u8(5).bytes).json).toBe(
      `{"1":null,"2":{${SECRET},"$hex":"05"}}`,
    );
    expect(decode(values, new Out().i32(2).i32(1).bool(false).u8(5).i32(2).bool(true).bytes).json).toBe(
      `{"$size":2,"$entries":[{"key":1,"value":{${SECRET}}}],"$hex":"050000000201"}`,
    );
    const keys = codecFor(map(opaque(), simple('Int')));
    expect(decode(keys, new Out().i32(1).u8(5).bool(false).i32(2).bytes).json).toBe(
      `{"$size":1,"$entries":[{"key":{${SECRET}}}],"$hex":"050000000002"}`,
    );
  });

  it('behind a choice: each side is its own last part', () => {
    const codec = codecFor(either(simple('Int'), opaque()));
    expect(sqlTypeText(codec.type)).toBe('STRUCT(left INTEGER, right JSON)');
    expect(decode(codec, Uint8Array.of(1, 0, 0, 0, 4)).json).toBe('{"left":4}');
    expect(decode(codec, Uint8Array.of(0, 9)).json).toBe(`{"right":{${SECRET},"$hex":"09"}}`);
    const pair = codecFor(tuple(either(simple('Int'), opaque()), simple('Int')));
    expect(sqlTypeText(pair.type)).toBe('JSON');
    // the left side leaves nothing open, so the rest is decoded too
    expect(decode(pair, new Out().bool(true).i32(4).i32(5).bytes).json).toBe('{"f0":{"left":4},"f1":5}');
    expect(decode(pair, new Out().bool(false).u8(9).i32(5).bytes).json).toBe(`{"f0":{"right":{${SECRET}}},"$hex":"0900000005"}`);
  });

  it('two levels down', () => {
    const codec = codecFor(tuple(nullable(list(tuple(opaque(), simple('Int'))), 0), simple('Long')));
    const bytes = new Out().bool(false).i32(2).u8(1).i32(2).u8(3).i32(4).i64(5n).bytes;
    expect(decode(codec, bytes)).toMatchObject({
      json: `{"f0":{"$size":2,"$elements":[{"f0":{${SECRET}}}]},"$hex":"${hex(bytes.subarray(5))}"}`,
      end: bytes.length,
    });
    expect(decode(codec, new Out().bool(true).i64(5n).bytes).json).toBe('{"f0":null,"f1":5}');
  });

  it('bytes that end too early are damage, not a hidden rest', () => {
    const codec = codecFor(tuple(simple('Int'), simple('Int')));
    expect(() => decode(codec, new Out().i32(1).bytes)).toThrow('int needs 4 bytes, 0 remain');
  });
});
