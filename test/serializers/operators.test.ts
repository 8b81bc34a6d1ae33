/** Serializers around operators and user types that neither Flink's pairs nor the property tests cover. */
import { describe, expect, it } from 'vitest';
import { columnValue, createColumn, ListColumn } from '../../src/io/column.js';
import { Cursor } from '../../src/io/cursor.js';
import { jsonOf } from '../../src/io/json.js';
import type { ClassPool } from '../../src/serializers/codec.js';
import { readTwoPhaseState } from '../../src/serializers/two-phase-commit.js';
import { sqlTypeText } from '../../src/types.js';
import { codecFor, decode, Out, snapshotOf, snapshots } from './support.js';

const NONE = new Uint8Array(0);
const { simple, composite, opaque } = snapshots;
const RUNTIME = 'org.apache.flink.api.java.typeutils.runtime.';
const SINK = 'org.apache.flink.streaming.api.functions.sink.';

describe('two-phase commit', () => {
  const state = (outerVersion: number, outer: Uint8Array, transaction = simple('String')) =>
    composite(`${SINK}legacy.TwoPhaseCommitSinkFunction$StateSerializerSnapshot`, outerVersion, outer, [transaction, simple('Int')]);
  const rest = new Out().i32(2).string('b').i64(20n).string('c').i64(30n).bool(false).bytes;
  const pending = new Out().string('a').i64(10n).bytes;

  it('with and without a pending transaction', () => {
    const always = codecFor(state(2, NONE));
    expect(decode(always, Buffer.concat([pending, rest])).json).toBe(
      '{"pending_transaction":"a","pending_commit_transactions":["b","c"],"context":null}',
    );
    for (const mayMiss of [state(3, NONE), state(4, Uint8Array.of(1))]) {
      const codec = codecFor(mayMiss);
      const none = new Out().bool(false).raw(rest).bytes;
      expect(decode(codec, none)).toMatchObject({
        json: '{"pending_transaction":null,"pending_commit_transactions":["b","c"],"context":null}',
        end: none.length,
      });
      const some = new Out().bool(true).raw(pending).i32(0).bool(true).i32(7).bytes;
      expect(decode(codec, some).json).toBe('{"pending_transaction":"a","pending_commit_transactions":[],"context":7}');
    }
  });

  it('with the times', () => {
    const c = new Cursor(new Out().bool(true).raw(pending).raw(rest).bytes);
    expect(readTwoPhaseState(c, codecFor(simple('String')), codecFor(simple('Int')), true)).toEqual({
      pending: { transaction: 'a', startedAt: 10n },
      pendingCommit: [
        { transaction: 'b', startedAt: 20n },
        { transaction: 'c', startedAt: 30n },
      ],
      context: null,
    });
    c.expectEnd('state');
  });

  it('a transaction of unknown end hides the rest', () => {
    const codec = codecFor(state(4, Uint8Array.of(1), opaque()));
    expect(sqlTypeText(codec.type)).toBe('JSON');
    const bytes = new Out().bool(true).raw(pending).raw(rest).bytes;
    const shown = decode(codec, bytes);
    expect(shown.end).toBe(bytes.length);
    expect(JSON.parse(shown.json)).toMatchObject({ $hex: Buffer.from(bytes.subarray(1)).toString('hex') });
    const none = new Out().bool(false).i32(0).bool(true).i32(5).bytes;
    expect(decode(codec, none).json).toBe('{"pending_transaction":null,"pending_commit_transactions":[],"context":5}');
  });
});

describe('stream elements', () => {
  const codec = codecFor(
    composite('org.apache.flink.streaming.runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot', 2, NONE, [
      simple('Int'),
    ]),
  );
  it.each([
    ['record', new Out().u8(0).i64(9n).i32(5), '{"value":5,"timestamp":9}'],
    ['record without time', new Out().u8(1).i32(5), '{"value":5,"timestamp":null}'],
    ['watermark', new Out().u8(2).i64(-1n), '{"$kind":"watermark","value":null,"timestamp":-1}'],
    [
      'latency marker',
      new Out().u8(3).i64(1n).i64(2n).i64(3n).i32(4),
      '{"$kind":"latency-marker","value":null,"timestamp":1,"operator_id":"00000000000000020000000000000003","subtask_index":4}',
    ],
    ['idle', new Out().u8(4).i32(-1), '{"$kind":"watermark-status","value":null,"timestamp":null,"status":"idle"}'],
    ['active', new Out().u8(4).i32(0), '{"$kind":"watermark-status","value":null,"timestamp":null,"status":"active"}'],
    ['attributes', new Out().u8(5).bool(true), '{"$kind":"record-attributes","value":null,"timestamp":null,"backlog":true}'],
    ['internal watermark', new Out().u8(6).i32(3).i64(8n), '{"$kind":"internal-watermark","value":null,"timestamp":8,"subpartition":3}'],
  ])('%s', (_name, out, json) => {
    expect(decode(codec, out.bytes)).toMatchObject({ json, end: out.bytes.length });
  });
  it('an unknown tag is damage', () => expect(() => decode(codec, Uint8Array.of(7))).toThrow('tag 7 of a stream element'));
});

describe('classes that write themselves', () => {
  const writable = (name: string) =>
    codecFor(new Out().utf(`${RUNTIME}WritableSerializer$WritableSerializerSnapshot`).i32(2).utf(`org.apache.hadoop.io.${name}`).bytes);
  it.each([
    ['BooleanWritable', 'BOOLEAN', Uint8Array.of(1), 'true'],
    ['ByteWritable', 'TINYINT', Uint8Array.of(0xff), '-1'],
    ['ShortWritable', 'SMALLINT', Uint8Array.of(1, 0), '256'],
    ['IntWritable', 'INTEGER', Uint8Array.of(0, 0, 1, 0), '256'],
    ['LongWritable', 'BIGINT', new Out().i64(-2n).bytes, '-2'],
    ['FloatWritable', 'FLOAT', new Out().f32(0.1).bytes, '0.1'],
    ['DoubleWritable', 'DOUBLE', new Out().f64(0.1).bytes, '0.1'],
    ['NullWritable', 'VARCHAR', NONE, 'null'],
    ['VIntWritable', 'INTEGER', Uint8Array.of(127), '127'],
    ['VIntWritable', 'INTEGER', Uint8Array.of(0x90), '-112'],
    ['VIntWritable', 'INTEGER', Uint8Array.of(0x8f, 0x80), '128'],
    ['VLongWritable', 'BIGINT', Uint8Array.of(0x87, 0x70), '-113'],
    ['VLongWritable', 'BIGINT', Uint8Array.of(0x88, 0x7f, 255, 255, 255, 255, 255, 255, 255), '9223372036854775807'],
    ['VLongWritable', 'BIGINT', Uint8Array.of(0x80, 0x7f, 255, 255, 255, 255, 255, 255, 255), '-9223372036854775808'],
    ['Text', 'VARCHAR', Uint8Array.of(3, 0xc5, 0xbe, 0x61), '"ža"'],
    ['BytesWritable', 'BLOB', Uint8Array.of(0, 0, 0, 2, 1, 0xab), '"01ab"'],
    ['MD5Hash', 'BLOB', new Uint8Array(16), '"00000000000000000000000000000000"'],
  ])('%s', (name, type, bytes, json) => {
    const codec = writable(name);
    expect(sqlTypeText(codec.type)).toBe(type);
    expect(codec.length).toBe(-1);
    expect(decode(codec, bytes)).toMatchObject({ json, column: json, end: bytes.length });
  });
  it('any other class shows its bytes', () => {
    expect(writable('MapWritable')).toMatchObject({ opaque: 'org.apache.hadoop.io.MapWritable writes itself: only its code knows how' });
    expect(() => decode(writable('Text'), Uint8Array.of(5, 97))).toThrow('Text of 5 bytes, 1 remain');
  });
});

describe('bytes of Python', () => {
  const codec = codecFor(
    new Out().utf('org.apache.flink.streaming.api.utils.ByteArrayWrapperSerializer$ByteArrayWrapperSerializerSnapshot').i32(3).bytes,
  );
  it('have one byte of length, or four', () => {
    expect(decode(codec, Uint8Array.of(2, 0x80, 5))).toMatchObject({ json: '"8005"', end: 3 });
    expect(decode(codec, Uint8Array.of(0, 0, 0, 2, 0x80, 5))).toMatchObject({ json: '"8005"', end: 6 });
  });
  it('are copies: the buffer may be used again', () => {
    const bytes = Buffer.from([2, 1, 2]);
    const value = codec.read(new Cursor(bytes));
    bytes.fill(9);
    expect(jsonOf(codec.type, value)).toBe('"0102"');
  });
});

describe('Scala', () => {
  const SCALA = 'org.apache.flink.api.scala.typeutils.';
  const person = composite(`${SCALA}ScalaCaseClassSerializerSnapshot`, 2, new Out().utf('com.x.Person').bytes, [
    simple('String'),
    simple('Int'),
  ]);
  const value = new Out().string('p').i32(3).bytes;

  it('a case class has f0, f1; with its class at hand its names', () => {
    expect(decode(codecFor(person), value).json).toBe('{"f0":"p","f1":3}');
    const field = (name: string, isSynthetic = false) => ({
      name,
      descriptor: 'I',
      signature: undefined,
      isStatic: false,
      isTransient: false,
      isSynthetic,
    });
    const pool = (...fields: ReturnType<typeof field>[]): ClassPool => ({
      find: name => ({
        name,
        superName: 'java.lang.Object',
        interfaces: [],
        isEnum: false,
        isRecord: false,
        isInterface: false,
        isFinal: false,
        isAbstract: false,
        enumConstants: [],
        fields,
        recordComponents: [],
      }),
    });
    const named = snapshotOf(person).codec({ classes: pool(field('name'), field('age'), field('$outer', true)) });
    expect(decode(named, value).json).toBe('{"name":"p","age":3}');
    // a class with another number of fields is not that of the file
    expect(decode(snapshotOf(person).codec({ classes: pool(field('name')) }), value).json).toBe('{"f0":"p","f1":3}');
  });

  it('Option, Unit, Enumeration, Map', () => {
    const option = codecFor(composite(`${SCALA}ScalaOptionSerializerSnapshot`, 2, NONE, [simple('Int')]));
    expect(decode(option, new Out().bool(true).i32(4).bytes).json).toBe('4');
    expect(decode(option, new Out().bool(false).bytes).json).toBe('null');
    expect(decode(codecFor(new Out().utf(`${SCALA}UnitSerializer$UnitSerializerSnapshot`).i32(3).bytes), Uint8Array.of(0))).toMatchObject({
      json: '"()"',
      end: 1,
    });
    const days = new Out().utf(`${SCALA}ScalaEnumSerializerSnapshot`).i32(3).utf('com.x.Day$').i32(2).utf('TUE').i32(7).utf('MON').i32(1);
    expect(decode(codecFor(days.bytes), new Out().i32(1).bytes).json).toBe('"MON"');
    expect(() => decode(codecFor(days.bytes), new Out().i32(0).bytes)).toThrow("id 0 is none of the enumeration's 2");
    const tuple = composite(`${SCALA}ScalaCaseClassSerializerSnapshot`, 2, new Out().utf('scala.Tuple2').bytes, [
      simple('Long'),
      simple('String'),
    ]);
    const build =
      'implicitly[scala.collection.generic.CanBuildFrom[scala.collection.mutable.Map[Long,String], (Long, String), scala.collection.mutable.Map[Long,String]]]';
    const map = codecFor(composite(`${SCALA}TraversableSerializerSnapshot`, 2, new Out().utf(build).bytes, [tuple]));
    expect(sqlTypeText(map.type)).toBe('MAP(BIGINT, VARCHAR)');
    expect(decode(map, new Out().i32(1).bool(true).i64(5n).string(null).bytes).json).toBe('{"5":null}');
    expect(() => decode(map, new Out().i32(1).bool(false).bytes)).toThrow('a map entry that is null');
  });
});

describe('maps in columns', () => {
  const text = codecFor(snapshots.map(simple('String'), simple('Int')));
  const written = (keys: readonly (string | null)[]) => {
    const out = new Out().i32(keys.length);
    for (const [i, k] of keys.entries()) out.string(k).bool(false).i32(i);
    return out.bytes;
  };
  it.each([2, 16, 17, 40])('refuse one of %i keys that is repeated or null', n => {
    const keys = Array.from({ length: n }, (_, i) => `k${i}`);
    expect(decode(text, written(keys)).column).toBe(decode(text, written(keys)).json);
    expect(decode(text, written([...keys.slice(1), 'k1'])).column).toBeUndefined();
    expect(decode(text, written([...keys.slice(1), null])).column).toBeUndefined();
  });

  it('two instants that are one microsecond are refused too', () => {
    const codec = codecFor(snapshots.map(simple('Instant'), simple('Int')));
    const bytes = new Out().i32(2).i64(0n).i32(1).bool(true).i64(0n).i32(2).bool(true).bytes;
    expect(decode(codec, bytes)).toMatchObject({
      json: '[{"key":"1970-01-01T00:00:00.000000001Z","value":null},{"key":"1970-01-01T00:00:00.000000002Z","value":null}]',
      column: undefined,
    });
  });

  it('a row refused half-way can be taken back', () => {
    const column = createColumn(text.type, 4) as ListColumn;
    text.append(new Cursor(written(['a'])), column);
    expect(() => text.append(new Cursor(written(['b', 'b'])), column)).toThrow('a map with a repeated key');
    column.truncate(1);
    text.append(new Cursor(written(['c', 'd'])), column);
    expect([0, 1].map(row => jsonOf(text.type, columnValue(column, row)))).toEqual(['{"a":0}', '{"c":0,"d":1}']);
    expect(column).toBeInstanceOf(ListColumn);
  });
});
