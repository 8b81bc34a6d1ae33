/** Values whose classes nothing describes: what came before stays, the bytes from there on show, with the strings in them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createColumn } from '../../../src/io/column.js';
import { Cursor } from '../../../src/io/cursor.js';
import { readableStrings } from '../../../src/serializers/kryo/tree.js';
import { JsonText, sqlTypeText } from '../../../src/types.js';
import { codecFor, decode, hasCorpus, Out, pairsOf, snapshotOf, snapshots } from '../support.js';

const KRYO = 'org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializerSnapshot';
const MAGIC = 0x000004f2c69a3d70n;

interface Registered {
  readonly name: string;
  readonly serializer?: string;
}

/** A KryoSerializerSnapshot, version 2. */
function kryo(typeClass: string, registrations: readonly Registered[] = [{ name: typeClass }]): Uint8Array {
  const out = new Out().utf(KRYO).i32(2).utf(typeClass).i64(MAGIC).i32(registrations.length);
  for (const { name, serializer } of registrations) {
    const key = new Out().utf(name).bytes;
    const value = new Out().utf(name).i32(serializer === undefined ? 0 : 1);
    if (serializer !== undefined) value.utf(serializer);
    out.utf(name).bool(true).i32(key.length).raw(key).bool(true).i32(value.bytes.length).raw(value.bytes);
  }
  return out.i64(MAGIC).i32(0).i64(MAGIC).i32(0).bytes;
}
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const name = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'latin1');
  bytes[bytes.length - 1] |= 0x80;
  return bytes;
};

describe('a class in no jar', () => {
  it('alone: its class, strings and bytes', () => {
    const codec = snapshotOf(kryo('com.x.Order')).codec({ flinkMajor: 1 });
    expect(codec).toMatchObject({
      type: { kind: 'JSON' },
      unbounded: true,
      opaque: 'Kryo writes no field names: class com.x.Order is needed (--jar)',
    });
    const bytes = Buffer.concat([hex('570104'), hex('01'), name('Praha'), hex('02')]);
    expect(decode(codec, bytes)).toMatchObject({
      json: '{"$class":"com.x.Order","$strings":["Praha"],"$hex":"040150726168e102"}',
      end: bytes.length,
    });
  });

  it('in a list: the elements before it stay', () => {
    const codec = snapshotOf(kryo('java.util.List')).codec({ flinkMajor: 1 });
    expect(codec).toMatchObject({ unbounded: true, mostlyBounded: true });
    expect(codec.opaque).toBeUndefined();
    const bytes = Buffer.concat([
      hex('0100'),
      name('java.util.ArrayList'),
      hex('0103'),
      hex('0206'),
      hex('0101'),
      name('com.x.Foo'),
      hex('01aabb'),
    ]);
    expect(decode(codec, bytes)).toMatchObject({ json: '[3,{"$class":"com.x.Foo","$hex":"aabb"}]', end: bytes.length });
  });

  it('inside a composite: it keeps its type, and a typed column refuses the partial value', () => {
    const codec = codecFor(snapshots.tuple(snapshots.simple('Int'), kryo('java.util.List'), snapshots.simple('Int')));
    expect(sqlTypeText(codec.type)).toBe('STRUCT(f0 INTEGER, f1 JSON, f2 INTEGER)');
    const whole = Buffer.concat([hex('00000001'), hex('0100'), name('java.util.ArrayList'), hex('0100'), hex('00000002')]);
    expect(decode(codec, whole)).toMatchObject({ json: '{"f0":1,"f1":[],"f2":2}', end: whole.length });
    const part = Buffer.concat([hex('00000001'), hex('0100'), name('com.x.Foo'), hex('01aabb'), hex('00000002')]);
    const value = codec.read(new Cursor(part));
    expect(value).toEqual(new JsonText('{"f0":1,"f1":{"$class":"com.x.Foo"},"$hex":"aabb00000002"}'));
    expect(() => codec.append(new Cursor(part), createColumn(codec.type, 4))).toThrow('decoded only in part');
    const skipped = new Cursor(part);
    codec.skip(skipped);
    expect(skipped.remaining).toBe(0);
  });

  it('as the type of a field before others: the whole is JSON', () => {
    const codec = codecFor(snapshots.tuple(kryo('com.x.Order'), snapshots.simple('Int')));
    expect(codec.type).toEqual({ kind: 'JSON' });
    expect(codec.opaque).toContain('it hides what follows it');
  });

  it('written by a serializer of the user', () => {
    const codec = snapshotOf(kryo('com.x.Order', [{ name: 'com.x.Order', serializer: 'com.x.OrderSerializer' }])).codec({ flinkMajor: 2 });
    expect(codec.opaque).toBe('com.x.Order is written by com.x.OrderSerializer: only its code knows how');
    expect(decode(codec, hex('570101ff'))).toMatchObject({ json: '{"$class":"com.x.Order","$hex":"01ff"}' });
  });
});

describe('messages', () => {
  const registered = [{ name: 'com.x.Msg', serializer: 'com.twitter.chill.protobuf.ProtobufSerializer' }];
  it('show their bytes', () => {
    const codec = snapshotOf(kryo('com.x.Msg', registered)).codec({ flinkMajor: 1 });
    expect(codec.opaque).toBeUndefined();
    expect(decode(codec, hex('5701020801'))).toMatchObject({ json: '{"$class":"com.x.Msg","$hex":"0801"}', end: 5 });
  });
  it('are structs where a schema is at hand, also within others', () => {
    const protobuf = (className: string, bytes: Uint8Array) => new JsonText(`{"${className}":${bytes.length}}`);
    const one = snapshotOf(kryo('com.x.Msg', registered)).codec({ flinkMajor: 1, protobuf });
    expect(decode(one, hex('5701020801')).json).toBe('{"com.x.Msg":2}');
    const list = snapshotOf(kryo('java.util.List', [{ name: 'java.util.List' }, ...registered])).codec({ flinkMajor: 1, protobuf });
    const bytes = Buffer.concat([hex('0100'), name('java.util.ArrayList'), hex('0101'), hex('5801020801')]);
    expect(decode(list, bytes)).toMatchObject({ json: '[{"com.x.Msg":2}]', end: bytes.length });
  });
});

describe('class ids', () => {
  it('a registration without serializer of a class that has an id takes none', () => {
    const snapshot = kryo('com.x.A', [
      { name: 'com.x.A' },
      { name: 'java.lang.String' },
      { name: 'java.util.BitSet' },
      { name: 'com.x.B' },
    ]);
    const codec = snapshotOf(snapshot).codec({ flinkMajor: 1 });
    expect(decode(codec, hex('5801')).json).toBe('{"$class":"com.x.B","$hex":""}');
  });
  it('one with a serializer moves the class to its own', () => {
    const snapshot = kryo('com.x.A', [{ name: 'com.x.A' }, { name: 'java.util.UUID', serializer: 'com.x.Mine' }, { name: 'com.x.B' }]);
    const codec = snapshotOf(snapshot).codec({ flinkMajor: 1 });
    expect(decode(codec, hex('5801')).json).toBe('{"$class":"java.util.UUID","$hex":""}');
    expect(decode(codec, hex('5901')).json).toBe('{"$class":"com.x.B","$hex":""}');
  });
  it('begin at 10 or 9 without the registrations of Flink', () => {
    const snapshot = kryo('com.x.A', [{ name: 'com.x.A' }, { name: 'com.x.B' }]);
    expect(decode(snapshotOf(snapshot).codec({ flinkMajor: 1 }), hex('0d01')).json).toBe('{"$class":"com.x.B","$hex":""}');
    expect(decode(snapshotOf(snapshot).codec({ flinkMajor: 2 }), hex('0c01')).json).toBe('{"$class":"com.x.B","$hex":""}');
  });
});

it('strings of bytes', () => {
  expect(readableStrings(hex('00486173 73ef0102 61e2 6162636400'.replaceAll(' ', '')))).toEqual(['Hasso', 'abcd']);
});

describe.runIf(hasCorpus)('pairs of Flink', () => {
  const MODEL = 'org.apache.flink.api.java.typeutils.runtime.kryo.KryoPojosForMigrationTests$';
  const EXPECTED: Readonly<Record<string, string>> = {
    'kryo-type-serializer-empty-config': `{"$class":"${MODEL}Dog","$strings":["Hasso"],"$hex":"0148617373ef"}`,
    'kryo-type-serializer-unrelated-config-after-restore': `{"$class":"${MODEL}Dog","$strings":["Hasso"],"$hex":"0148617373ef"}`,
    'kryo-type-serializer-changed-registration-order': `{"$class":"${MODEL}Dog","$strings":["Hasso"],"$hex":"0148617373ef"}`,
    'kryo-custom-type-serializer-changed-registration-order': `{"$class":"${MODEL}Dog","$strings":["Hasso"],"$hex":"48617373ef"}`,
  };
  it.each(Object.entries(EXPECTED))('%s', (serializer, json) => {
    const pairs = pairsOf(serializer);
    expect(pairs).toHaveLength(9);
    for (const { folder, version } of pairs) {
      const snapshot = readFileSync(join(folder, 'serializer-snapshot'));
      const codec = snapshotOf(snapshot.subarray(4)).codec({ flinkMajor: version.startsWith('2') ? 2 : 1 });
      expect(decode(codec, readFileSync(join(folder, 'test-data'))).json, version).toBe(json);
    }
  });
});

describe('a registration with a serializer object', () => {
  const [line] = readFileSync(join(import.meta.dirname, 'fixtures/avro-1.20.5.ndjson'), 'utf8').split('\n');
  const { snapshot, value } = JSON.parse(line) as { snapshot: string; value: string };

  it('names the class of the serializer inside its wrapper', () => {
    expect(snapshotOf(hex(snapshot)).details['registrations']).toEqual([
      { class: 'org.apache.avro.generic.GenericRecord', serializer: null },
      {
        class: 'org.apache.avro.generic.GenericData$Array',
        serializer: 'org.apache.flink.api.java.typeutils.runtime.kryo.Serializers$SpecificInstanceCollectionSerializerForArrayList',
      },
    ]);
  });
  it('an Avro schema written by its fields needs the classes of Avro', () => {
    const bytes = hex(value);
    const decoded = decode(snapshotOf(hex(snapshot)).codec({ flinkMajor: 1 }), bytes);
    expect(decoded.json).toMatch(
      /^\{"\$class":"org\.apache\.avro\.generic\.GenericData\$Record","schema":\{"\$class":"org\.apache\.avro\.Schema\$RecordSchema",/,
    );
    expect(decoded.end).toBe(bytes.length);
  });
});
