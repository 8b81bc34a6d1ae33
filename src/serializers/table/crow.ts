/**
 * Rows of the old planner with their change flag.
 *
 *   snapshot   composite, outer version 1, nested [row]; configuration snapshot of 1.5–1.7: resilience block of one
 *   value      Row · bool: true = added, false = retracted
 *
 * Flink: CRowSerializer in org.apache.flink.table.runtime.types (1.5–1.13).
 */

import { compositeCodec } from '../composite.js';
import { BOOLEAN_CODEC } from '../primitives.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from '../snapshot.js';

const TYPES = 'org.apache.flink.table.runtime.types.';

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [`${TYPES}CRowSerializerSnapshot`, `${TYPES}CRowSerializer$CRowSerializerConfigSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      const [row] = nested;
      return {
        serializer: 'CRowSerializer',
        text: `CRow(${row.text})`,
        children: named(['row'], nested),
        codec: context =>
          compositeCodec([
            { name: 'row', codec: row.codec(context) },
            { name: 'change', codec: BOOLEAN_CODEC },
          ]),
      };
    },
  }),
];
