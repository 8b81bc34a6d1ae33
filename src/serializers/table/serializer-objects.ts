/**
 * Serializers that stand in a snapshot as Java objects instead of as snapshots: in the RawType of a column, an array's element
 * or a map's entry.
 *
 *   without configuration       by the class
 *   List, Map, LinkedList …     by the fields that hold the serializers inside
 *
 * Others stay unknown. Flink: TypeSerializer is java.io.Serializable in every version (1.9–2.3).
 */
import { classDescName, type JavaValue, javaField } from '../../java/tree.js';
import { listCodec, mapCodec } from '../sequence.js';
import { type SimpleSerializer, type SnapshotReader, simpleName } from '../snapshot.js';
import { linkedListCodec } from './collections.js';

/** The serializer that a Java object is, as far as it can be told; undefined when not. */
export type SerializerOfObject = (value: JavaValue | undefined) => SimpleSerializer | undefined;

const MAX_DEPTH = 16;
const BASE = 'org.apache.flink.api.common.typeutils.base.';
const TYPEUTILS = 'org.apache.flink.table.runtime.typeutils.';

/** @param reader of the snapshot that holds the objects */
export function serializerOfObject(reader: SnapshotReader): SerializerOfObject {
  const read = (value: JavaValue | undefined, depth: number): SimpleSerializer | undefined => {
    if (value?.kind !== 'object' || depth > MAX_DEPTH) return undefined;
    const className = classDescName(value.classDesc);
    const inside = (field: string): SimpleSerializer | undefined => read(javaField(value, field), depth + 1);
    const serializer = simpleName(className);
    switch (className) {
      case `${BASE}ListSerializer`: {
        const element = inside('elementSerializer');
        return element && { serializer, text: `List(${element.text})`, codec: x => listCodec(element.codec(x)) };
      }
      case `${BASE}MapSerializer`: {
        const [k, v] = [inside('keySerializer'), inside('valueSerializer')];
        return k && v && { serializer, text: `Map(${k.text}, ${v.text})`, codec: x => mapCodec(k.codec(x), v.codec(x)) };
      }
      case `${TYPEUTILS}LinkedListSerializer`: {
        const element = inside('elementSerializer');
        const mask = javaField(value, 'hasNullMask');
        const hasNullMask = mask?.kind === 'boolean' && mask.value;
        return element && { serializer, text: `LinkedList(${element.text})`, codec: x => linkedListCodec(element.codec(x), hasNullMask) };
      }
      case `${TYPEUTILS}ExternalSerializer`:
        return inside('internalSerializer');
      default:
        return reader.simple(className);
    }
  };
  return value => read(value, 0);
}
