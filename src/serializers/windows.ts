/**
 * Windows as namespaces (and in merging-window sets).
 *
 *   TimeWindow     i64 start · i64 end, both ms; 16 bytes
 *   CountWindow    i64 id; 8 bytes
 *   GlobalWindow   one byte 0
 *
 * A bound outside of SQL's timestamps is ±infinity. Flink: TimeWindow.Serializer, GlobalWindow.Serializer in
 * org.apache.flink.streaming.api.windowing.windows; TimeWindow.Serializer, CountWindow.Serializer, GlobalWindow.Serializer (2.2)
 * in org.apache.flink.table.runtime.operators.window (1.8–2.3).
 */
import { StructColumn } from '../io/column.js';
import { Struct, struct, TIMESTAMPTZ, Timestamp, VARCHAR } from '../types.js';
import { type Codec, codecOf } from './codec.js';
import { compositeCodec } from './composite.js';
import { LONG_CODEC } from './primitives.js';
import { simpleDefinition } from './simple.js';

/** Reads a bound: ms, or ±infinity. */
const BOUND_CODEC: Codec = codecOf({ type: TIMESTAMPTZ, length: 8, read: c => Timestamp.ofBoundMillis(c.i64()) });

export const TIME_WINDOW_CODEC: Codec = codecOf({
  type: struct(['start', TIMESTAMPTZ], ['end', TIMESTAMPTZ]),
  length: 16,
  read: c => new Struct([BOUND_CODEC.read(c), BOUND_CODEC.read(c)]),
  skip: c => void c.take(16, 'TimeWindow'),
  append(c, out) {
    if (out instanceof StructColumn) {
      out.begin();
      for (const child of out.children) BOUND_CODEC.append(c, child);
    } else out.push(new Struct([BOUND_CODEC.read(c), BOUND_CODEC.read(c)]));
  },
});

export const COUNT_WINDOW_CODEC: Codec = compositeCodec([{ name: 'id', codec: LONG_CODEC }], { length: 8 });

export const GLOBAL_WINDOW_CODEC: Codec = codecOf({
  type: VARCHAR,
  length: 1,
  read(c) {
    c.take(1);
    return 'GlobalWindow';
  },
  skip: c => void c.take(1),
});

const STREAMING = 'org.apache.flink.streaming.api.windowing.windows.';
const TABLE = 'org.apache.flink.table.runtime.operators.window.';
const time = (className: string) =>
  simpleDefinition(
    [`${className}$Serializer$TimeWindowSerializerSnapshot`],
    'TimeWindow.Serializer',
    'TimeWindow',
    () => TIME_WINDOW_CODEC,
  );

export const SERIALIZERS = [
  time(`${STREAMING}TimeWindow`),
  time(`${TABLE}TimeWindow`),
  simpleDefinition(
    [`${TABLE}CountWindow$Serializer$CountWindowSerializerSnapshot`],
    'CountWindow.Serializer',
    'CountWindow',
    () => COUNT_WINDOW_CODEC,
  ),
  simpleDefinition(
    [STREAMING, TABLE].map(p => `${p}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot`),
    'GlobalWindow.Serializer',
    'GlobalWindow',
    () => GLOBAL_WINDOW_CODEC,
  ),
];
