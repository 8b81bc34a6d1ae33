/** Snapshots: framings, legacy forms, unknown classes, finding the way again, limits. */
import { describe, expect, it } from 'vitest';
import { CorruptError, StateQueryError } from '../../src/errors.js';
import { Cursor } from '../../src/io/cursor.js';
import { inspectionJson, inspectSnapshot } from '../../src/serializers/inspect.js';
import { knownSnapshotClasses, readSnapshotWithProxy, readVersionedSnapshot } from '../../src/serializers/registry.js';
import { findNextAnchor, findNextSerializer, findNextState } from '../../src/serializers/resync.js';
import { MAX_NESTING, serializerClassOf, simpleName, UnknownSnapshotError } from '../../src/serializers/snapshot.js';
import { ttlParts } from '../../src/serializers/timer.js';
import { codecFor, decode, Out, snapshotOf, snapshots } from './support.js';

const BASE = 'org.apache.flink.api.common.typeutils.base.';
const NONE = new Uint8Array(0);
const { simple, composite } = snapshots;

describe('registry', () => {
  it('names each snapshot class once', () => {
    const names = knownSnapshotClasses();
    expect(names.length).toBeGreaterThan(80);
    expect(new Set(names).size).toBe(names.length);
  });

  it('gives class, version, children and details', () => {
    const snapshot = snapshotOf(snapshots.pojo([['id', simple('Long')]], [['com.x.Sub', snapshots.pojo([], [], [], 'com.x.Sub')]]));
    expect(snapshot).toMatchObject({
      snapshotClass: 'org.apache.flink.api.java.typeutils.runtime.PojoSerializerSnapshot',
      version: 2,
      serializer: 'PojoSerializer',
      text: 'Pojo(Pojo: id Long)',
      details: {
        typeClass: 'com.x.Pojo',
        fields: [{ name: 'id', declaringClass: 'com.x.Pojo' }],
        registeredSubclasses: ['com.x.Sub'],
        otherSubclasses: [],
      },
    });
    expect(snapshot.children.map(c => [c.name, c.snapshot.serializer])).toEqual([
      ['id', 'LongSerializer'],
      ['$registered:com.x.Sub', 'PojoSerializer'],
    ]);
    expect(snapshotOf(snapshots.enum('A', 'B')).details).toEqual({ typeClass: 'com.x.Color', constants: ['A', 'B'] });
    expect(snapshotOf(snapshots.row(simple('Int'))).details).toEqual({ arity: 1, supportsRowKind: true });
    expect(snapshotOf(snapshots.tuple(simple('Int'))).details).toEqual({
      typeClass: 'org.apache.flink.api.java.tuple.Tuple1',
      arity: 1,
    });
  });

  it('builds a codec once for a context', () => {
    const snapshot = snapshotOf(snapshots.list(simple('Int')));
    expect(snapshot.codec({ flinkMajor: 1 })).toBe(snapshot.codec({ flinkMajor: 1, depth: 3 }));
    expect(snapshot.codec({ flinkMajor: 2 })).not.toBe(snapshot.codec({ flinkMajor: 1 }));
  });

  it('a POJO field whose class is gone keeps its serializer', () => {
    const out = new Out().utf('org.apache.flink.api.java.typeutils.runtime.PojoSerializerSnapshot').i32(2).utf('com.x.P');
    out.i64(0x4f2c69a3d70n).i32(1).utf('missing-field-at-0').bool(false).bool(true);
    const value = simple('Int');
    out.i32(value.length).raw(value);
    out.i64(0x4f2c69a3d70n).i32(0).i64(0x4f2c69a3d70n).i32(0);
    expect(snapshotOf(out.bytes).details['fields']).toEqual([{ name: 'missing-field-at-0', declaringClass: null }]);
    expect(decode(codecFor(out.bytes), new Out().u8(2).bool(false).i32(5).bytes).json).toBe('{"missing-field-at-0":5}');
  });

  it('class names', () => {
    expect(simpleName('com.x.Outer$Inner')).toBe('Outer.Inner');
    expect(serializerClassOf(`${BASE}LongSerializer$LongSerializerSnapshot`)).toBe(`${BASE}LongSerializer`);
    expect(serializerClassOf('a.TtlStateFactory$TtlSerializerSnapshot')).toBe('a.TtlStateFactory$TtlSerializer');
    expect(serializerClassOf('a.TimeWindow$Serializer$TimeWindowSerializerSnapshot')).toBe('a.TimeWindow$Serializer');
    expect(serializerClassOf('a.MySerializerSnapshot')).toBe('a.MySerializer');
  });
});

describe('framings of old versions', () => {
  it('1.7: simple snapshots name their serializer, composites have no magic', () => {
    const int = new Out().utf(`${BASE}IntSerializer$IntSerializerSnapshot`).i32(2).utf(`${BASE}IntSerializer`).bytes;
    expect(snapshotOf(int).text).toBe('Int');
    const either = new Out().utf('org.apache.flink.api.java.typeutils.runtime.EitherSerializerSnapshot').i32(2);
    either.i32(1333245).i32(1).i32(2).raw(int).raw(simple('String'));
    expect(snapshotOf(either.bytes).text).toBe('Either(Int, String)');
  });

  it('1.7: a configuration behind the adapter, its Java serializer stepped over', () => {
    const out = new Out().utf('org.apache.flink.api.common.typeutils.ParameterlessTypeSerializerConfig').i32(0x7a53c4f0);
    out
      .i32(1)
      .i32(3)
      .raw(Uint8Array.of(1, 2, 3))
      .i32(1)
      .utf('org.apache.flink.runtime.state.VoidNamespaceSerializer');
    const snapshot = snapshotOf(out.bytes);
    expect(snapshot).toMatchObject({ serializer: 'VoidNamespaceSerializer', version: 1 });
    expect(snapshot.codec({}).length).toBe(0);
  });

  it('1.3–1.6: configurations with resilience', () => {
    const config = (name: string) =>
      new Out().i32(1).utf('org.apache.flink.api.common.typeutils.ParameterlessTypeSerializerConfig').i32(1).utf(`${BASE}${name}Serializer`)
        .bytes;
    const java = new Out().i32(1).i32(2).raw(Uint8Array.of(0xac, 0xed)).bytes;
    const parts = [java, config('Int'), java, config('String')];
    const offsets = parts.map((_, i) => parts.slice(0, i).reduce((n, p) => n + p.length, 0));
    const block = new Out().i32(2);
    for (const i of [0, 2]) block.i32(offsets[i]).i32(offsets[i + 1]);
    block.i32(parts.reduce((n, p) => n + p.length, 0));
    for (const p of parts) block.raw(p);
    const map = new Out().i32(1).utf(`${BASE}MapSerializerConfigSnapshot`).i32(1).raw(block.bytes).bytes;
    const c = new Cursor(map);
    const snapshot = readSnapshotWithProxy(c);
    c.expectEnd('snapshot');
    expect(snapshot.text).toBe('Map(Int, String)');
    expect(decode(snapshot.codec({}), new Out().i32(1).i32(7).bool(false).string('x').bytes).json).toBe('{"7":"x"}');
  });

  it('TTL of today', () => {
    const ttl = snapshotOf(
      composite('org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializerSnapshot', 2, NONE, [simple('Long'), simple('String')]),
    );
    expect(ttlParts(ttl)).toMatchObject({ timeFirst: true, value: { text: 'String' } });
    expect(ttlParts(snapshotOf(simple('Long')))).toBeUndefined();
  });

  it('Row: kind bits by outer version', () => {
    const row = (version: number, outer: Uint8Array) =>
      snapshotOf(
        composite('org.apache.flink.api.java.typeutils.runtime.RowSerializer$RowSerializerSnapshot', version, outer, [simple('Int')]),
      );
    expect([row(2, NONE), row(3, NONE), row(4, Uint8Array.of(0)), row(4, Uint8Array.of(1))].map(s => s.details['supportsRowKind'])).toEqual(
      [false, true, false, true],
    );
    expect(decode(row(2, NONE).codec({}), Uint8Array.of(0x80)).json).toBe('{"f0":null}');
    expect(decode(row(3, NONE).codec({}), Uint8Array.of(0xe0)).json).toBe('{"$kind":"-D","f0":null}');
  });
});

describe('unknown classes', () => {
  const unknown = (version: number, body: Uint8Array) =>
    new Out().utf('com.x.MySerializer$MySerializerSnapshot').i32(version).raw(body).bytes;

  it('simple and generic ones are stepped over when what follows shows it', () => {
    const pair = snapshots.map(unknown(3, NONE), simple('Int'));
    const snapshot = snapshotOf(pair);
    expect(snapshot.text).toBe('Map(MySerializer(unknown), Int)');
    expect(snapshot.children[0].snapshot.unknown).toBe('serializer com.x.MySerializer is not known');
    expect(snapshotOf(snapshots.map(unknown(2, new Out().utf('com.x.Type').bytes), simple('Int'))).children[0].snapshot.details).toEqual({
      typeClass: 'com.x.Type',
    });
    expect(decode(snapshot.codec({}), new Out().i32(1).u8(9).bytes).json).toBe(
      '{"$size":1,"$entries":[{"key":{"$serializer":"com.x.MySerializer"}}],"$hex":"09"}',
    );
  });

  it('composite ones are stepped over, with an outer body of unknown length and unknown ones inside', () => {
    const inner = composite('com.x.InnerSerializerSnapshot', 1, NONE, [simple('Long')]);
    const outer = composite('com.x.OuterSerializerSnapshot', 7, Uint8Array.of(1, 2, 3, 4, 5), [inner, simple('String')]);
    const snapshot = snapshotOf(snapshots.tuple(outer, simple('Int')));
    expect(snapshot.text).toBe('Tuple2(OuterSerializer(unknown), Int)');
    const [{ snapshot: step }] = snapshot.children;
    expect(step.details).toEqual({ outerVersion: 7, outerBytes: 5 });
    expect(step.children.map(c => c.snapshot.text)).toEqual(['InnerSerializer(unknown)', 'String']);
  });

  it('in a frame the body needs no guess', () => {
    const pojo = snapshots.pojo([
      ['a', unknown(9, Uint8Array.of(1, 2, 3))],
      ['b', simple('Int')],
    ]);
    expect(snapshotOf(pojo).text).toBe('Pojo(Pojo: a MySerializer(unknown), b Int)');
  });

  it('otherwise they say where their body begins', () => {
    const bytes = new Out().i32(2).raw(unknown(9, Uint8Array.of(1, 2, 3))).bytes;
    const error = (() => {
      try {
        readSnapshotWithProxy(new Cursor(bytes, 0, bytes.length, { file: 'x' }, 100));
        return undefined;
      } catch (e) {
        return e;
      }
    })();
    expect(error).toBeInstanceOf(UnknownSnapshotError);
    expect(error).toMatchObject({
      snapshotClass: 'com.x.MySerializer$MySerializerSnapshot',
      version: 9,
      bodyAt: bytes.length - 3,
      exitCode: 6,
      file: 'x',
      offset: 100 + bytes.length - 3,
    });
    expect(() => readVersionedSnapshot(new Cursor(new Out().utf(`${BASE}IntSerializer$IntSerializerSnapshot`).i32(9).bytes))).toThrow(
      `version 9 of ${BASE}IntSerializer$IntSerializerSnapshot is not known`,
    );
  });
});

describe('anchors after an unknown snapshot', () => {
  const proxied = (bytes: Uint8Array) => new Out().i32(2).raw(bytes).bytes;
  const junk = Uint8Array.of(0, 3, 97, 98, 99, 0, 0, 0, 2, 0, 0, 0, 1, 7);
  const state = new Out().utf('zählung').i32(0).i32(1).utf('KEYED_STATE_TYPE').utf('MAP').i32(2);
  state
    .utf('VALUE_SERIALIZER')
    .raw(proxied(simple('Long')))
    .utf('NAMESPACE_SERIALIZER')
    .raw(proxied(simple('Int')));
  const timers = new Out()
    .utf('_timer_state/event_x')
    .i32(3)
    .i32(0)
    .i32(1)
    .utf('VALUE_SERIALIZER')
    .raw(proxied(simple('Long')));

  it('the next serializer of the state', () => {
    const bytes = new Out()
      .raw(junk)
      .utf('NAMESPACE_SERIALIZER')
      .raw(proxied(simple('Int')))
      .raw(state.bytes).bytes;
    const at = junk.length;
    expect(findNextAnchor(bytes, 0, bytes.length)).toEqual({ kind: 'serializer', at, key: 'NAMESPACE_SERIALIZER' });
    expect(findNextSerializer(bytes, at + 1, bytes.length)).toMatchObject({ key: 'VALUE_SERIALIZER' });
    expect(findNextState(bytes, 0, bytes.length)).toEqual({ kind: 'state', at: bytes.length - state.bytes.length, name: 'zählung' });
  });

  it('the next state, with and without options', () => {
    const bytes = new Out().raw(junk).raw(timers.bytes).raw(state.bytes).bytes;
    expect(findNextAnchor(bytes, 0, bytes.length)).toEqual({ kind: 'state', at: junk.length, name: '_timer_state/event_x' });
    expect(findNextState(bytes, junk.length + 1, bytes.length)).toMatchObject({ name: 'zählung' });
  });

  it('nothing', () => {
    expect(findNextAnchor(junk, 0, junk.length)).toBeUndefined();
    // the key alone, without a snapshot behind it, is no anchor
    const key = new Out().utf('VALUE_SERIALIZER').i32(3).bytes;
    expect(findNextAnchor(key, 0, key.length)).toBeUndefined();
  });
});

describe('limits', () => {
  it('nesting', () => {
    let bytes: Uint8Array = simple('Int');
    for (let i = 0; i < MAX_NESTING; i++) bytes = snapshots.list(bytes);
    expect(snapshotOf(bytes).codec({}).length).toBe(-1);
    for (let i = 0; i < 40; i++) bytes = snapshots.list(bytes);
    expect(() => snapshotOf(bytes)).toThrow(`nest deeper than ${MAX_NESTING}`);
    let unknown: Uint8Array = simple('Int');
    for (let i = 0; i < 400; i++) unknown = composite('com.x.DeepSerializerSnapshot', 1, NONE, [unknown]);
    expect(() => snapshotOf(unknown)).toThrow(StateQueryError);
  });

  it('counts are believed only as far as there are bytes', () => {
    const list = codecFor(snapshots.list(simple('Int')));
    expect(() => list.read(new Cursor(new Out().i32(0x7fffffff).i32(1).bytes))).toThrow('number of elements is 2147483647');
    expect(() => list.read(new Cursor(new Out().i32(-1).bytes))).toThrow('number of elements is -1');
    const nulls = codecFor(snapshots.list(simple('NullValue')));
    expect(decode(nulls, new Out().i32(3).bytes).json).toBe('[null,null,null]');
    expect(() => nulls.read(new Cursor(new Out().i32(1_000_000).bytes))).toThrow(CorruptError);
    const enumeration = new Out()
      .utf(`${BASE}EnumSerializer$EnumSerializerSnapshot`)
      .i32(3)
      .utf('E')
      .i32(1 << 30).bytes;
    expect(() => snapshotOf(enumeration)).toThrow('number of enum constants is 1073741824');
    expect(() => codecFor(simple('String')).read(new Cursor(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x07, 65)))).toThrow('string of');
  });
});

describe('inspection', () => {
  it('counts what is left over and writes one JSON object', () => {
    const bytes = new Out().i32(2).raw(simple('Long')).bytes;
    const x = inspectSnapshot(bytes, new Out().i64(1n << 62n).u8(1).bytes);
    expect(inspectionJson(x)).toBe('{"serializer":"Long","type":"BIGINT","value":4611686018427387904,"left_over":1}');
    expect(inspectSnapshot(bytes).value).toBeUndefined();
    const value = inspectSnapshot(snapshots.opaque(), Uint8Array.of(1));
    expect(JSON.parse(inspectionJson(value))).toEqual({
      serializer: 'Value(Secret)',
      type: 'JSON',
      value: { $serializer: 'org.apache.flink.api.java.typeutils.runtime.ValueSerializer', $hex: '01' },
      left_over: 0,
      reason: 'com.x.Secret writes itself: only its code knows how',
    });
    expect(() => inspectSnapshot(bytes, Uint8Array.of(1))).toThrow('long needs 8 bytes, 1 remain');
  });
});
