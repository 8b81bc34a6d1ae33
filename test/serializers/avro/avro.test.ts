import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { columnValue, createColumn } from '../../../src/io/column.js';
import { Cursor } from '../../../src/io/cursor.js';
import { jsonOf } from '../../../src/io/json.js';
import { avroCodec } from '../../../src/serializers/avro/codec.js';
import { parseAvroSchema } from '../../../src/serializers/avro/schema.js';
import { readVersionedSnapshot } from '../../../src/serializers/registry.js';
import { sqlTypeText } from '../../../src/types.js';

const corpus = join(process.env['STATEQUERY_SHARED'] ?? '../shared', 'corpus/serializers');

/** Bytes out of numbers and strings: i = i32, l = i64, s = string, b = bytes. */
function bytes(...parts: (readonly ['i' | 'u8', number] | readonly ['l', bigint] | readonly ['s', string])[]): Uint8Array {
  return Buffer.concat(
    parts.map(([kind, v]) => {
      if (kind === 'u8') return Buffer.from([v as number]);
      if (kind === 'i') {
        const b = Buffer.alloc(4);
        b.writeInt32BE(v as number);
        return b;
      }
      if (kind === 'l') {
        const b = Buffer.alloc(8);
        b.writeBigInt64BE(v as bigint);
        return b;
      }
      const text = Buffer.from(v as string, 'utf8');
      const b = Buffer.alloc(4);
      b.writeInt32BE(text.length);
      return Buffer.concat([b, text]);
    }),
  );
}

function decode(schema: unknown, value: Uint8Array): { type: string; json: string; appended: string } {
  const codec = avroCodec(parseAvroSchema(JSON.stringify(schema)));
  const c = new Cursor(value);
  const json = jsonOf(codec.type, codec.read(c));
  c.expectEnd('the value');
  const s = new Cursor(value);
  codec.skip(s);
  s.expectEnd('the skipped value');
  const column = createColumn(codec.type, 1);
  const a = new Cursor(value);
  codec.append(a, column);
  a.expectEnd('the appended value');
  return { type: sqlTypeText(codec.type), json, appended: jsonOf(codec.type, columnValue(column, 0)) };
}

describe('Avro in the encoding of Flink', () => {
  it('reads records with nullable unions, arrays in several blocks and maps', () => {
    const schema = {
      type: 'record',
      name: 'R',
      fields: [
        { name: 'id', type: 'long' },
        { name: 'note', type: ['null', 'string'] },
        { name: 'tags', type: { type: 'array', items: 'string' } },
        { name: 'm', type: { type: 'map', values: 'int' } },
      ],
    };
    const value = bytes(
      ['l', 9007199254740993n],
      ['i', 1],
      ['s', 'héllo'],
      ['u8', 1],
      ['s', 'a'],
      ['u8', 2],
      ['s', 'b'],
      ['s', ''],
      ['u8', 0],
      ['u8', 1],
      ['s', 'k'],
      ['i', -5],
      ['u8', 0],
    );
    const { type, json, appended } = decode(schema, value);
    expect(type).toBe('STRUCT(id BIGINT, note VARCHAR, tags VARCHAR[], m MAP(VARCHAR, INTEGER))');
    expect(json).toBe('{"id":9007199254740993,"note":"héllo","tags":["a","b",""],"m":{"k":-5}}');
    expect(appended).toBe(json);
  });

  it('reads logical types by their meaning', () => {
    const decimal = { type: 'bytes', logicalType: 'decimal', precision: 10, scale: 4 };
    expect(decode(decimal, bytes(['i', 3], ['u8', 0xb3], ['u8', 0xb4], ['u8', 0xc0]))).toMatchObject({
      type: 'DECIMAL(10,4)',
      json: '-500.0000',
    });
    expect(decode({ type: 'long', logicalType: 'timestamp-micros' }, bytes(['l', -1n]))).toMatchObject({
      type: 'TIMESTAMPTZ',
      json: '"1969-12-31T23:59:59.999999Z"',
    });
    expect(decode({ type: 'int', logicalType: 'date' }, bytes(['i', -1]))).toMatchObject({ type: 'DATE', json: '"1969-12-31"' });
    expect(decode({ type: 'int', logicalType: 'time-millis' }, bytes(['i', 3723000]))).toMatchObject({ type: 'TIME', json: '"01:02:03"' });
  });

  it('shows wide unions and recursion as JSON', () => {
    expect(decode(['null', 'int', 'string'], bytes(['i', 2], ['s', 'x']))).toMatchObject({ type: 'JSON', json: '"x"' });
    const tree = {
      type: 'record',
      name: 'a.Tree',
      fields: [
        { name: 'v', type: 'int' },
        { name: 'children', type: { type: 'array', items: 'Tree' } },
      ],
    };
    const value = bytes(['i', 1], ['u8', 1], ['i', 2], ['u8', 0], ['u8', 0]);
    expect(decode(tree, value)).toMatchObject({
      type: 'STRUCT(v INTEGER, children JSON[])',
      json: '{"v":1,"children":[{"v":2,"children":[]}]}',
    });
  });

  it('refuses branches, ordinals and counts that the schema or the bytes do not allow', () => {
    expect(() => decode(['null', 'int'], bytes(['i', 2]))).toThrow('union branch 2 of 2');
    expect(() => decode({ type: 'enum', name: 'E', symbols: ['A'] }, bytes(['i', 1]))).toThrow(
      'ordinal 1 of Avro enum E, which has 1 symbols',
    );
    expect(() => decode('string', bytes(['i', 100]))).toThrow('length of the string is 100, but only 0 bytes remain');
    expect(() => decode({ type: 'array', items: 'null' }, bytes(['u8', 0xff], ['u8', 0xff], ['u8', 0xff], ['u8', 0x7f]))).toThrow(
      'items, but only',
    );
  });
});

describe.runIf(existsSync(corpus))('Avro of the corpus', () => {
  const pairs = existsSync(corpus) ? readdirSync(corpus).filter(n => n.includes('avro-serializer')) : [];
  it.each(pairs)('%s', name => {
    const c = new Cursor(readFileSync(join(corpus, name, 'serializer-snapshot')));
    c.i32();
    const snapshot = readVersionedSnapshot(c);
    c.expectEnd('the snapshot');
    const value = readFileSync(join(corpus, name, 'test-data'));
    const codec = snapshot.codec({});
    const v = new Cursor(value);
    expect(jsonOf(codec.type, codec.read(v))).toBe('{"num":239,"street":"Baker Street","city":"London","state":"London","zip":"NW1 6XE"}');
    v.expectEnd('the value');
  });
});
