/**
 * Timers, TTL values and their kin: a time stamp beside other parts.
 *
 *   Timer      composite, outer version 2, nested [key, namespace]
 *              i64 ms with the sign bit flipped (so that bytes sort as times) · key · namespace
 *   TTL        composite, outer version 2, nested [Long, value]          i64 ms of the last access · value
 *              1.6/1.7: CompositeSerializer$ConfigSnapshot [value, Long]  value · i64 ms
 *   TtlAware   version 1 (≥ 2.0): bool TTL enabled · versioned snapshot  as the snapshot inside says
 *
 * Flink: TimerSerializer in org.apache.flink.streaming.api.operators, TtlStateFactory.TtlSerializer in
 * org.apache.flink.runtime.state.ttl and …state.v2.ttl, TtlAwareSerializerSnapshot (1.8–2.3).
 */
import { BIGINT } from '../types.js';
import { type Codec, codecOf, type SerializerSnapshot } from './codec.js';
import { compositeCodec, type Part, sumOfLengths } from './composite.js';
import { LONG_CODEC } from './primitives.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from './snapshot.js';

/** i64 with the sign bit flipped: what the time stamp of a stored timer is. */
export const FLIPPED_LONG_CODEC: Codec = codecOf({
  type: BIGINT,
  length: 8,
  read: c => BigInt.asIntN(64, c.i64() ^ (1n << 63n)),
  skip: c => void c.take(8),
});

const STATE = 'org.apache.flink.runtime.state.';

export interface TtlParts {
  /** the serializer of the user's value */
  readonly value: SerializerSnapshot;
  /** false in files of 1.6 and 1.7: the value stands before its time */
  readonly timeFirst: boolean;
}

/** The parts of a TTL serializer; undefined when `snapshot` is none. */
export function ttlParts(snapshot: SerializerSnapshot): TtlParts | undefined {
  if (snapshot.serializer !== 'TtlSerializer') return undefined;
  const at = snapshot.children.findIndex(x => x.name === 'value');
  return at < 0 ? undefined : { value: snapshot.children[at].snapshot, timeFirst: at === 1 };
}

function ttlBody(nested: readonly SerializerSnapshot[], valueAt: 0 | 1): SnapshotBody {
  const names = valueAt === 1 ? ['timestamp', 'value'] : ['value', 'timestamp'];
  return {
    serializer: 'TtlSerializer',
    text: `Ttl(${nested[valueAt].text})`,
    children: named(names, nested),
    codec(context) {
      const value: Part = { name: 'value', codec: nested[valueAt].codec(context) };
      const time: Part = { name: 'timestamp', codec: LONG_CODEC };
      const length = sumOfLengths([value.codec], 8);
      return compositeCodec(valueAt === 1 ? [time, value] : [value, time], { length });
    },
  };
}

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [
      'org.apache.flink.streaming.api.operators.TimerSerializerSnapshot',
      'org.apache.flink.streaming.api.operators.TimerSerializer$TimerSerializerConfigSnapshot',
    ],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      const [key, namespace] = nested;
      return {
        serializer: 'TimerSerializer',
        text: `Timer(${key.text}, ${namespace.text})`,
        children: named(['key', 'namespace'], nested),
        codec(context) {
          const parts = [
            { name: 'timestamp', codec: FLIPPED_LONG_CODEC },
            { name: 'key', codec: key.codec(context) },
            { name: 'namespace', codec: namespace.codec(context) },
          ];
          return compositeCodec(parts, { length: sumOfLengths(parts.map(p => p.codec)) });
        },
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${STATE}ttl.TtlStateFactory$TtlSerializerSnapshot`, `${STATE}v2.ttl.TtlStateFactory$TtlSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      return ttlBody(nested, 1);
    },
  }),
  defineSerializer({
    snapshotClasses: ['org.apache.flink.api.common.typeutils.CompositeSerializer$ConfigSnapshot'],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      return ttlBody(nested, nested[1].serializer === 'LongSerializer' ? 0 : 1);
    },
  }),
  defineSerializer({
    snapshotClasses: [`${STATE}ttl.TtlAwareSerializerSnapshot`],
    read(c, version, reader): SnapshotBody {
      if (version !== 1) reader.unknownVersion(c);
      const ttlEnabled = c.bool();
      const inner = reader.versioned(c);
      return { ...inner, details: { ...inner.details, ttlEnabled }, codec: context => inner.codec(context) };
    },
  }),
];
