/**
 * Values in the form that a user's function sees: stored by the internal serializer, converted in memory only.
 *
 *   snapshot   composite, outer version 1: Java stream (DataType) [· bool: the input is internal, since 1.13] · nested [internal]
 *   value      what the internal serializer writes
 *
 * The DataType has the names of nested rows and tells TIMESTAMP from TIMESTAMP_LTZ, DATE from INT.
 * Flink: ExternalSerializer in org.apache.flink.table.runtime.typeutils (1.12–2.3).
 */
import { readJavaObject } from '../../java/stream.js';
import { defineSerializer, NESTED_MAGIC, named, readComposite, type SnapshotBody } from '../snapshot.js';
import { internalCodec } from './internal-types.js';
import { logicalTypeOfDataType, logicalTypeText } from './logical-type.js';
import { serializerOfObject } from './serializer-objects.js';

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: ['org.apache.flink.table.runtime.typeutils.ExternalSerializer$ExternalSerializerSnapshot'],
    read(c, _version, reader): SnapshotBody {
      const { outer: type, nested } = readComposite(
        c,
        reader,
        x => {
          const dataType = logicalTypeOfDataType(readJavaObject(x));
          // 1.12 wrote no boolean: the block of nested serializers follows at once
          const at = x.position;
          const next = x.i32();
          x.position = at;
          if (next !== NESTED_MAGIC) x.bool();
          return dataType;
        },
        1,
      );
      const [internal] = nested;
      const objects = serializerOfObject(reader);
      return {
        serializer: 'ExternalSerializer',
        text: `External(${logicalTypeText(type)})`,
        children: named(['internal'], nested),
        details: { type: logicalTypeText(type) },
        codec: context => internalCodec(type, internal, { context, serializerOfObject: objects }) ?? internal.codec(context),
      };
    },
  }),
];
