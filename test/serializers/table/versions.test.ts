/** Snapshot forms that differ by version: older class names, names of fields, the missing boolean. */
import { describe, expect, it } from 'vitest';
import { Cursor } from '../../../src/io/cursor.js';
import { jsonOf } from '../../../src/io/json.js';
import type { Codec, SerializerSnapshot } from '../../../src/serializers/codec.js';
import { readVersionedSnapshot } from '../../../src/serializers/registry.js';
import { sqlTypeText } from '../../../src/types.js';
import { Out, snapshots } from '../support.js';
import { type Case, readCases } from './fixtures/read.js';

const cases = readCases('1.20');
const TYPEUTILS = 'org.apache.flink.table.runtime.typeutils.';

/** The snapshot of a case under another class name and version; `change` gets the body behind `i32 version`. */
function rewritten(name: string, className: string, version: number, change: (body: Buffer) => Buffer = b => b): Buffer {
  const bytes = Buffer.from((cases.get(name) as Case).snapshotBytes);
  const body = bytes.subarray(4 + 2 + bytes.readUInt16BE(4) + 4);
  return new Out().utf(className).i32(version).raw(change(body)).bytes;
}
function read(bytes: Buffer): SerializerSnapshot {
  const c = new Cursor(bytes);
  const snapshot = readVersionedSnapshot(c);
  c.expectEnd('snapshot');
  return snapshot;
}
function json(codec: Codec, bytes: Uint8Array): string {
  const c = new Cursor(bytes);
  const value = codec.read(c);
  c.expectEnd('value');
  return jsonOf(codec.type, value);
}
const values = (name: string): readonly Uint8Array[] => (cases.get(name) as Case).values;

describe('older and newer snapshots', () => {
  it.each([
    ['row-nested', 'BaseRowSerializer$BaseRowSerializerSnapshot', 3, 'RowDataSerializer'],
    ['binary-row', 'BinaryRowSerializer$BinaryRowSerializerSnapshot', 3, 'BinaryRowDataSerializer'],
    ['array-data', 'BaseArraySerializer$BaseArraySerializerSnapshot', 3, 'ArrayDataSerializer'],
    ['map-data', 'BaseMapSerializer$BaseMapSerializerSnapshot', 3, 'MapDataSerializer'],
    ['raw-value', 'BinaryGenericSerializer$BinaryGenericSerializerSnapshot', 3, 'RawValueDataSerializer'],
    ['string-data', 'BinaryStringSerializer$BinaryStringSerializerSnapshot', 3, 'StringDataSerializer'],
    ['decimal-data-38', 'DecimalSerializer$DecimalSerializerSnapshot', 3, 'DecimalDataSerializer'],
    ['timestamp-data-9', 'SqlTimestampSerializer$SqlTimestampSerializerSnapshot', 1, 'TimestampDataSerializer'],
  ])('%s under its name in Blink: %s', (name, className, version, serializer) => {
    const old = read(rewritten(name, `${TYPEUTILS}${className}`, version));
    expect(old.serializer).toBe(serializer);
    const now = (cases.get(name) as Case).codec;
    const codec = old.codec({});
    expect(sqlTypeText(codec.type)).toBe(sqlTypeText(now.type));
    for (const bytes of values(name)) expect(json(codec, bytes)).toBe(json(now, bytes));
  });

  /** Where the block of nested serializers begins. */
  const nestedAt = (body: Buffer): number => body.indexOf('001457fd00000001', 0, 'hex');

  it('RowData version 4 has the names of its fields', () => {
    const withNames = (names: readonly string[] | undefined) => (body: Buffer) => {
      const out = new Out().raw(body.subarray(0, nestedAt(body))).bool(names !== undefined);
      for (const name of names ?? []) out.utf(name);
      return out.raw(body.subarray(nestedAt(body))).bytes;
    };
    const className = `${TYPEUTILS}RowDataSerializer$RowDataSerializerSnapshot`;
    const named = read(rewritten('row-not-null', className, 4, withNames(['id', 'proc time'])));
    expect(named.text).toBe('RowData(id BIGINT NOT NULL, proc time TIMESTAMP_LTZ(3) NOT NULL)');
    expect(named.details).toEqual({ types: ['BIGINT NOT NULL', 'TIMESTAMP_LTZ(3) NOT NULL'], names: ['id', 'proc time'] });
    expect(json(named.codec({}), values('row-not-null')[0])).toBe('{"id":1,"proc time":null}');
    const without = read(rewritten('row-not-null', className, 4, withNames(undefined)));
    expect(json(without.codec({}), values('row-not-null')[0])).toBe('{"f0":1,"f1":null}');
    expect(() => read(rewritten('row-not-null', className, 5))).toThrow('version 5');
  });
  it('names that differ in case only are told apart', () => {
    const className = `${TYPEUTILS}RowDataSerializer$RowDataSerializerSnapshot`;
    const twice = read(
      rewritten(
        'row-not-null',
        className,
        4,
        body =>
          new Out()
            .raw(body.subarray(0, nestedAt(body)))
            .bool(true)
            .utf('a')
            .utf('A')
            .raw(body.subarray(nestedAt(body))).bytes,
      ),
    );
    expect(sqlTypeText(twice.codec({}).type)).toBe('STRUCT(a BIGINT, A_1 TIMESTAMPTZ)');
  });
  it('External of 1.12 has no boolean', () => {
    const className = `${TYPEUTILS}ExternalSerializer$ExternalSerializerSnapshot`;
    const old = read(
      rewritten('external-row', className, 3, body => Buffer.concat([body.subarray(0, nestedAt(body) - 1), body.subarray(nestedAt(body))])),
    );
    expect(json(old.codec({}), values('external-row')[0])).toBe('{"id":1,"tags":[{"t":"x"},null]}');
  });
  it('External falls back on its serializer when the type would have another', () => {
    const className = `${TYPEUTILS}ExternalSerializer$ExternalSerializerSnapshot`;
    const other = read(
      rewritten(
        'external-date',
        className,
        3,
        body =>
          new Out()
            .raw(body.subarray(0, nestedAt(body)))
            .i32(1333245)
            .i32(1)
            .i32(1)
            .raw(snapshots.simple('Long')).bytes,
      ),
    );
    expect(sqlTypeText(other.codec({}).type)).toBe('BIGINT');
  });
  it('LinkedList of outer versions 1, 2 and 3', () => {
    const className = `${TYPEUTILS}LinkedListSerializer$LinkedListSerializerSnapshot`;
    const long = snapshots.simple('Long');
    const masked = new Out().i32(2).u8(0x80).i64(5n).bytes;
    const plain = new Out().i32(1).i64(5n).bytes;
    expect(json(read(snapshots.composite(className, 1, Buffer.alloc(0), [long])).codec({}), plain)).toBe('[5]');
    expect(json(read(snapshots.composite(className, 2, Buffer.alloc(0), [long])).codec({}), masked)).toBe('[null,5]');
    expect(json(read(snapshots.composite(className, 3, Buffer.from([0]), [long])).codec({}), plain)).toBe('[5]');
    expect(json(read(snapshots.composite(className, 3, Buffer.from([1]), [long])).codec({}), masked)).toBe('[null,5]');
    expect(() => read(snapshots.composite(className, 4, Buffer.from([1]), [long]))).toThrow('version');
  });
  it('CRow', () => {
    const row = snapshots.row(snapshots.simple('Int'));
    const crow = read(snapshots.composite('org.apache.flink.table.runtime.types.CRowSerializerSnapshot', 1, Buffer.alloc(0), [row]));
    expect(crow.text).toBe('CRow(Row(Int))');
    expect(json(crow.codec({}), new Out().u8(0).i32(7).bool(true).bytes)).toBe('{"row":{"f0":7},"change":true}');
  });
  it('CEP: NFAState without previous timestamps, SharedBufferNode before 1.13', () => {
    const NFA = 'org.apache.flink.cep.nfa.';
    const dewey = new Out().utf(`${NFA}DeweyNumber$DeweyNumberSerializer$DeweyNumberSerializerSnapshot`).i32(3).bytes;
    const event = new Out().utf(`${NFA}sharedbuffer.EventId$EventIdSerializer$EventIdSerializerSnapshot`).i32(3).bytes;
    const node = snapshots.composite(`${NFA}sharedbuffer.NodeId$NodeIdSerializer$NodeIdSerializerSnapshot`, 1, Buffer.alloc(0), [event]);
    const state = new Out().string('a').u8(0).i32(1).i32(1).i64(9n);
    for (const [outerVersion, outer, previous] of [
      [1, [], false],
      [2, [0], false],
      [2, [1], true],
    ] as const) {
      const nfa = read(snapshots.composite(`${NFA}NFAStateSerializerSnapshot`, outerVersion, Buffer.from(outer), [dewey, node, event]));
      const match = previous ? new Out().raw(state.bytes).i64(8n).u8(0).bytes : new Out().raw(state.bytes).u8(0).bytes;
      expect(json(nfa.codec({}), new Out().i32(1).raw(match).i32(0).bytes)).toBe(
        `{"partialMatches":[{"currentStateName":"a","version":{"deweyNumber":"[1]"},"startTimestamp":9,${previous ? '"previousTimestamp":8,' : ''}` +
          '"previousBufferEntry":null,"startEventID":null}],"completedMatches":[],"stateChanged":false,"isNewStartPartialMatch":false}',
      );
    }
    const edge = snapshots.composite(
      `${NFA}sharedbuffer.SharedBufferEdge$SharedBufferEdgeSerializer$SharedBufferEdgeSerializerSnapshot`,
      1,
      Buffer.alloc(0),
      [node, dewey],
    );
    const old = `${NFA}sharedbuffer.SharedBufferNode$SharedBufferNodeSerializer$SharedBufferNodeSerializerSnapshot`;
    const buffer = read(snapshots.composite(old, 1, Buffer.alloc(0), [snapshots.list(edge)]));
    expect(json(buffer.codec({}), new Out().i32(1).u8(0).i32(1).i32(4).bytes)).toBe(
      '{"edges":[{"target":null,"deweyNumber":{"deweyNumber":"[4]"}}]}',
    );
  });
});
