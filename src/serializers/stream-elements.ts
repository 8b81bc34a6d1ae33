/**
 * What operators keep of their input: stream elements (async I/O), buffered sides of joins, tagged unions.
 *
 *   StreamElement   composite, outer version 2, nested [value]      u8 tag:
 *                   0 i64 ms · value    1 value    2 watermark i64 ms    3 latency marker i64 ms · i64 · i64 operator id · i32 subtask
 *                   4 watermark status i32    5 record attributes bool    6 internal watermark i32 subpartition · i64 ms
 *   BufferEntry     composite, outer version 2, nested [element]    bool hasBeenJoined · element
 *   Union           composite, outer version 2, nested [one, two]   u8 1 | 2 · value
 *
 * What is no record shows `$kind` in JSON. Flink: StreamElementSerializer in org.apache.flink.streaming.runtime.streamrecord,
 * IntervalJoinOperator.BufferEntrySerializer, CoGroupedStreams.UnionSerializer (1.8–2.3).
 */
import { type Column, StructColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { BIGINT, Struct, type StructExtra, struct, type Value } from '../types.js';
import { boundsOf, type Codec } from './codec.js';
import { choiceCodec } from './either.js';
import { BOOLEAN_CODEC, LONG_CODEC } from './primitives.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from './snapshot.js';

const STATUSES: Readonly<Record<number, string>> = { [-1]: 'idle', 0: 'active' };

/** STRUCT(value, timestamp ms) */
export function streamElementCodec(value: Codec): Codec {
  const read = (c: Cursor): Value => {
    const at = c.position;
    const tag = c.u8();
    switch (tag) {
      case 0: {
        const timestamp = c.i64();
        return new Struct([value.read(c), timestamp]);
      }
      case 1:
        return new Struct([value.read(c), null]);
      case 2:
        return special('watermark', c.i64());
      case 3: {
        const timestamp = c.i64();
        const id = Buffer.from(c.slice(16, 'operator id')).toString('hex');
        return special('latency-marker', timestamp, [extra('operator_id', `"${id}"`), extra('subtask_index', String(c.i32()))]);
      }
      case 4: {
        const status = c.i32();
        return special('watermark-status', null, [extra('status', `"${STATUSES[status] ?? status}"`)]);
      }
      case 5:
        return special('record-attributes', null, [extra('backlog', String(c.bool()))]);
      case 6: {
        const subpartition = c.i32();
        return special('internal-watermark', c.i64(), [extra('subpartition', String(subpartition))]);
      }
      default:
        return c.fail(`tag ${tag} of a stream element`, at);
    }
  };
  return {
    type: struct(['value', value.type], ['timestamp', BIGINT]),
    length: -1,
    ...obstaclesOf(value),
    read,
    skip(c) {
      const tag = c.bytes[c.position];
      if (c.remaining > 0 && tag <= 1) {
        c.position++;
        if (tag === 0) c.take(8);
        value.skip(c);
      } else read(c);
    },
    append(c, out: Column) {
      const tag = c.bytes[c.position];
      if (c.remaining === 0 || tag > 1 || !(out instanceof StructColumn)) {
        out.push(read(c));
        return;
      }
      c.position++;
      out.begin();
      if (tag === 0) LONG_CODEC.append(c, out.children[1]);
      else out.children[1].pushNull();
      value.append(c, out.children[0]);
    },
  };
}

function special(kind: string, timestamp: bigint | null, more: readonly StructExtra[] = []): Struct {
  return new Struct([null, timestamp], [{ name: '$kind', json: `"${kind}"`, lead: true }, ...more]);
}
function extra(name: string, json: string): StructExtra {
  return { name, json, lead: false };
}
function obstaclesOf(inner: Codec): { opaque?: string; unbounded?: boolean; mostlyBounded?: boolean } {
  return {
    ...(inner.opaque === undefined ? {} : { opaque: inner.opaque }),
    ...boundsOf([inner]),
  };
}

/** STRUCT(element, hasBeenJoined) */
export function bufferEntryCodec(element: Codec): Codec {
  return {
    type: struct(['element', element.type], ['hasBeenJoined', BOOLEAN_CODEC.type]),
    length: -1,
    ...obstaclesOf(element),
    read(c) {
      const joined = c.bool();
      return new Struct([element.read(c), joined]);
    },
    skip(c) {
      c.bool();
      element.skip(c);
    },
    append(c, out) {
      if (out instanceof StructColumn) {
        out.begin();
        BOOLEAN_CODEC.append(c, out.children[1]);
        element.append(c, out.children[0]);
      } else {
        const joined = c.bool();
        out.push(new Struct([element.read(c), joined]));
      }
    },
  };
}

/** The byte of a tagged union: true for the first input. */
function isOne(c: Cursor): boolean {
  const at = c.position;
  const tag = c.u8();
  if (tag !== 1 && tag !== 2) c.fail(`input ${tag} of a tagged union`, at);
  return tag === 1;
}

const STREAMING = 'org.apache.flink.streaming.';
export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [
      `${STREAMING}runtime.streamrecord.StreamElementSerializer$StreamElementSerializerSnapshot`,
      `${STREAMING}runtime.streamrecord.StreamElementSerializer$StreamElementSerializerConfigSnapshot`,
    ],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      return {
        serializer: 'StreamElementSerializer',
        text: `StreamElement(${nested[0].text})`,
        children: named(['value'], nested),
        codec: context => streamElementCodec(nested[0].codec(context)),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [
      `${STREAMING}api.operators.co.IntervalJoinOperator$BufferEntrySerializerSnapshot`,
      `${STREAMING}api.operators.co.IntervalJoinOperator$BufferSerializerConfigSnapshot`,
    ],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      return {
        serializer: 'BufferEntrySerializer',
        text: `BufferEntry(${nested[0].text})`,
        children: named(['element'], nested),
        codec: context => bufferEntryCodec(nested[0].codec(context)),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [
      `${STREAMING}api.datastream.CoGroupedStreams$UnionSerializerSnapshot`,
      `${STREAMING}api.datastream.CoGroupedStreams$UnionSerializerConfigSnapshot`,
    ],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      const [one, two] = nested;
      return {
        serializer: 'UnionSerializer',
        text: `Union(${one.text}, ${two.text})`,
        children: named(['one', 'two'], nested),
        codec: context => choiceCodec({ name: 'one', codec: one.codec(context) }, { name: 'two', codec: two.codec(context) }, isOne),
      };
    },
  }),
];
