/** Damaged snapshots and values: a value or an error that says where; no crash, no endless work, no memory beyond the input. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StateQueryError } from '../../src/errors.js';
import { columnValue, createColumn } from '../../src/io/column.js';
import { Cursor } from '../../src/io/cursor.js';
import { jsonOf } from '../../src/io/json.js';
import type { Codec } from '../../src/serializers/codec.js';
import { readSnapshotWithProxy, readVersionedSnapshot } from '../../src/serializers/registry.js';
import { codecFor, hasCorpus, Out, pairsOf, snapshots } from './support.js';

const { simple, array, list, set, map, tuple, row, pojo, either, nullable, genericArray, opaque } = snapshots;
const inner = pojo(
  [
    ['a', simple('Int')],
    ['b', list(simple('String'))],
  ],
  [['com.x.S', pojo([['a', simple('Int')]])]],
);
const STREAMING = 'org.apache.flink.streaming.';
const one = (className: string, outerVersion: number, nested: readonly Uint8Array[]) =>
  snapshots.composite(className, outerVersion, new Uint8Array(0), nested);
const simpleClass = (className: string) => new Out().utf(className).i32(3).bytes;

const SNAPSHOTS: readonly Uint8Array[] = [
  ...['Boolean', 'Byte', 'Short', 'Char', 'Int', 'Long', 'Float', 'Double', 'String', 'StringValue', 'BigInt', 'BigDec'].map(simple),
  ...['Date', 'SqlDate', 'SqlTime', 'SqlTimestamp', 'Instant', 'LocalDate', 'LocalTime', 'LocalDateTime', 'Void', 'NullValue'].map(simple),
  ...['BooleanPrimitive', 'BytePrimitive', 'CharPrimitive', 'LongPrimitive', 'DoublePrimitive', 'String'].map(array),
  snapshots.enum('A', 'B'),
  list(simple('String')),
  list(simple('NullValue')),
  list(list(list(simple('NullValue')))),
  set(simple('Int')),
  map(simple('String'), list(simple('Int'))),
  map(simple('Int'), map(simple('NullValue'), opaque())),
  genericArray(inner),
  tuple(simple('String'), simple('Long'), inner),
  tuple(simple('String'), opaque(), simple('Int')),
  row(simple('Int'), simple('String'), simple('Instant')),
  inner,
  either(simple('String'), inner),
  nullable(simple('Long'), 8),
  one(`${STREAMING}api.operators.TimerSerializerSnapshot`, 2, [simple('String'), simple('Long')]),
  one(`${STREAMING}runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot`, 2, [simple('String')]),
  one(`${STREAMING}api.datastream.CoGroupedStreams$UnionSerializerSnapshot`, 2, [simple('String'), inner]),
  one(`${STREAMING}api.operators.co.IntervalJoinOperator$BufferEntrySerializerSnapshot`, 2, [inner]),
  one(`${STREAMING}api.functions.sink.TwoPhaseCommitSinkFunction$StateSerializerSnapshot`, 3, [simple('String'), simple('Int')]),
  simpleClass(`${STREAMING}api.windowing.windows.TimeWindow$Serializer$TimeWindowSerializerSnapshot`),
  simpleClass('org.apache.flink.runtime.state.JavaSerializer$JavaSerializerSnapshot'),
  one('org.apache.flink.api.scala.typeutils.ScalaOptionSerializerSnapshot', 2, [simple('String')]),
  new Out()
    .utf('org.apache.flink.api.java.typeutils.runtime.WritableSerializer$WritableSerializerSnapshot')
    .i32(2)
    .utf('org.apache.hadoop.io.Text').bytes,
];

/** Runs f; StateQueryErrors are answers too. */
function answer<T>(f: () => T): T | StateQueryError {
  try {
    return f();
  } catch (error) {
    if (error instanceof StateQueryError) return error;
    throw error;
  }
}

/** All three ways over damaged bytes; where read gives a value, skip ends at the same byte and append too. */
function survive(codec: Codec, bytes: Uint8Array): void {
  const c = new Cursor(bytes);
  const value = answer(() => codec.read(c));
  const s = new Cursor(bytes);
  const skipped = answer(() => codec.skip(s));
  const a = new Cursor(bytes);
  const column = createColumn(codec.type, 1);
  const appended = answer(() => codec.append(a, column));
  if (value instanceof StateQueryError) {
    if (!(skipped instanceof StateQueryError)) expect(s.position).toBeLessThanOrEqual(bytes.length);
    expect(appended).toBeInstanceOf(StateQueryError);
    return;
  }
  const json = jsonOf(codec.type, value);
  // numbers may grow from bytes to digits, bytes to hex, and names of fields are said again; nothing grows more
  expect(json.length).toBeLessThan(400 + bytes.length * 60);
  JSON.parse(json);
  expect(skipped).not.toBeInstanceOf(StateQueryError);
  expect(s.position).toBe(c.position);
  if (appended instanceof StateQueryError) expect(appended.code).toBe('VALUE_OUT_OF_RANGE');
  else {
    expect(a.position).toBe(c.position);
    columnValue(column, 0);
  }
}

const SEED = 7_041_776;

describe('random bytes', () => {
  const codecs = SNAPSHOTS.map(codecFor);
  it('into every decoder', () => {
    const small = fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(0, 0, 0, 1, 2, 3, 4, 8) }, fc.integer({ min: 0, max: 255 })), {
      maxLength: 48,
    });
    fc.assert(
      fc.property(fc.constantFrom(...codecs), small, (codec, bytes) => survive(codec, Uint8Array.from(bytes))),
      { seed: SEED, numRuns: 6000 },
    );
  });

  it('into snapshots', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SNAPSHOTS),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
        fc.nat(),
        (bytes, flips, cut) => {
          const damaged = Uint8Array.from(bytes.subarray(0, cut % 3 === 0 ? cut % bytes.length : bytes.length));
          for (const [at, byte] of flips) if (damaged.length > 0) damaged[at % damaged.length] = byte;
          const snapshot = answer(() => readVersionedSnapshot(new Cursor(damaged)));
          if (snapshot instanceof StateQueryError) return;
          const codec = answer(() => snapshot.codec({}));
          if (!(codec instanceof StateQueryError)) survive(codec, new Uint8Array(16));
        },
      ),
      { seed: SEED, numRuns: 4000 },
    );
  });
});

describe.runIf(hasCorpus)('damaged pairs of Flink', () => {
  const NAMES = ['pojo-serializer-with-non-registered-subclass', 'traversable-serializer-with-pojo', 'row-serializer', 'map-serializer'];
  it.each([...NAMES, 'java-serializer', 'two-phase-commit-sink-state-serializer', 'stream-element-serializer', 'big-dec-serializer'])(
    '%s: cut at every length, every byte changed',
    name => {
      const { folder } = pairsOf(name).at(-1) as { folder: string };
      const c = new Cursor(readFileSync(join(folder, 'serializer-snapshot')));
      const codec = readSnapshotWithProxy(c).codec({});
      const bytes = readFileSync(join(folder, 'test-data'));
      for (let n = 0; n < bytes.length; n++) survive(codec, bytes.subarray(0, n));
      for (let i = 0; i < bytes.length; i++)
        for (const byte of [0, 1, 0x7f, 0x80, 0xff]) {
          const damaged = Uint8Array.from(bytes);
          damaged[i] = byte;
          survive(codec, damaged);
        }
      expect(answer(() => codec.read(new Cursor(bytes.subarray(0, bytes.length - 1))))).toBeInstanceOf(StateQueryError);
    },
  );
});
