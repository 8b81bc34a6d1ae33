/**
 * The second sink upsert-materializer: a multiset of rows in the order of their arrival, and its compacting sister.
 *
 *   RowDataKey    version 0: i32 n · Java stream (equaliser) · i32 n · Java stream (hash function) · versioned snapshot [row]    the row
 *   Node          composite, outer version 0, nested [row, Long, 3 × Nullable(Long), Long]    fields back to back:
 *                 row · sequence number · previous · next · next of the same record · timestamp
 *   RowSqnInfo    composite, outer version 0, nested [Long, Long]    first, last sequence number
 *   MetaSqnInfo   composite, outer version 0, nested [Long, Long]    highest sequence number, size
 *   SortedLong    simple    i64 with the sign bit flipped
 *
 * Flink: org.apache.flink.table.runtime.sequencedmultisetstate.linked (2.2–2.3),
 * org.apache.flink.table.runtime.operators.sink.SortedLongSerializer (2.3).
 */
import { CorruptError } from '../../errors.js';
import type { FixedColumn } from '../../io/column.js';
import { Cursor } from '../../io/cursor.js';
import { readJavaObject } from '../../java/stream.js';
import { BIGINT } from '../../types.js';
import { codecOf } from '../codec.js';
import { compositeCodec, sumOfLengths } from '../composite.js';
import { simpleDefinition } from '../simple.js';
import { defineSerializer, named, readComposite, type SerializerDefinition, type SnapshotBody } from '../snapshot.js';

const LINKED = 'org.apache.flink.table.runtime.sequencedmultisetstate.linked.';

/** A CompositeSerializer: the fields back to back. */
function composite(className: string, text: string, fields: readonly string[]): SerializerDefinition {
  return defineSerializer({
    snapshotClasses: [`${LINKED}${className}$${className}Snapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, fields.length);
      const children = named(fields, nested);
      return {
        serializer: className,
        text: `${text}(${children.map(x => `${x.name} ${x.snapshot.text}`).join(', ')})`,
        children,
        codec(context) {
          const parts = children.map(x => ({ name: x.name, codec: x.snapshot.codec(context) }));
          return compositeCodec(parts, { length: sumOfLengths(parts.map(p => p.codec)) });
        },
      };
    },
  });
}

/** Steps over i32 n and a Java stream of n bytes. */
function skipFunction(c: Cursor, what: string): void {
  const n = c.count(`bytes of the ${what}`);
  const from = c.take(n);
  const part = new Cursor(c.bytes, from, from + n, c.origin, c.base);
  readJavaObject(part);
  if (part.position !== part.end) throw new CorruptError(`bytes left over after the ${what}`, { ...c.origin, offset: part.offset });
}

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [`${LINKED}RowDataKeySerializerSnapshot`],
    read(c, version, reader): SnapshotBody {
      if (version !== 0) reader.unknownVersion(c);
      skipFunction(c, 'equaliser');
      skipFunction(c, 'hash function');
      const row = reader.versioned(c);
      return {
        serializer: 'RowDataKeySerializer',
        text: `RowDataKey(${row.text})`,
        children: named(['row'], [row]),
        codec: context => row.codec(context),
      };
    },
  }),
  composite('NodeSerializer', 'Node', ['row', 'sqn', 'prevSqn', 'nextSqn', 'nextSqnForRecord', 'timestamp']),
  composite('RowSqnInfoSerializer', 'RowSqnInfo', ['firstSqn', 'lastSqn']),
  composite('MetaSqnInfoSerializer', 'MetaSqnInfo', ['highSqn', 'size']),
  simpleDefinition(
    ['org.apache.flink.table.runtime.operators.sink.SortedLongSerializer$SortedLongSerializerSnapshot'],
    'SortedLongSerializer',
    'SortedLong',
    () =>
      codecOf({
        type: BIGINT,
        length: 8,
        read: c => BigInt.asIntN(64, c.i64() ^ (1n << 63n)),
        skip: c => void c.take(8, 'long'),
        append: (c, out) => (out as FixedColumn).pushI64(BigInt.asIntN(64, c.i64() ^ (1n << 63n))),
      }),
  ),
];
