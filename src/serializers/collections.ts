/**
 * Lists, maps, sets, arrays of objects.
 *
 *   List, ArrayList   composite, outer version 1, nested [element]              i32 n · n × element
 *   Set (2.0)         the same                                                 i32 n · n × (bool isNull · [element])
 *   Map               composite, outer version 1, nested [key, value]           i32 n · n × (key · bool isNull · [value])
 *   GenericArray      composite, outer version 1: utf component class, nested    i32 n · n × (bool isPresent · [element])
 *
 * Flink: ListSerializer, SetSerializer, MapSerializer, GenericArraySerializer in org.apache.flink.api.common.typeutils.base,
 * org.apache.flink.runtime.state.ArrayListSerializer (1.8–2.3); legacy CollectionSerializerConfigSnapshot,
 * MapSerializerConfigSnapshot, GenericArraySerializerConfigSnapshot (1.3–1.7).
 */
import { readJavaObject } from '../java/stream.js';
import { classDescName } from '../java/tree.js';
import type { Codec } from './codec.js';
import { listCodec, mapCodec } from './sequence.js';
import { defineSerializer, named, readComposite, type SerializerDefinition, type SnapshotBody } from './snapshot.js';

const BASE = 'org.apache.flink.api.common.typeutils.base.';

/** A serializer of elements of one kind whose snapshot holds nothing but theirs. */
function elements(
  snapshotClasses: readonly string[],
  serializer: string,
  name: string,
  codec: (element: Codec) => Codec,
): SerializerDefinition {
  return defineSerializer({
    snapshotClasses,
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      const [element] = nested;
      return {
        serializer,
        text: `${name}(${element.text})`,
        children: named(['element'], nested),
        codec: context => codec(element.codec(context)),
      };
    },
  });
}

export const SERIALIZERS = [
  elements([`${BASE}ListSerializerSnapshot`, `${BASE}CollectionSerializerConfigSnapshot`], 'ListSerializer', 'List', element =>
    listCodec(element),
  ),
  elements(['org.apache.flink.runtime.state.ArrayListSerializerSnapshot'], 'ArrayListSerializer', 'List', element => listCodec(element)),
  elements([`${BASE}SetSerializerSnapshot`], 'SetSerializer', 'Set', element => listCodec(element, { flag: 'isNull' })),
  defineSerializer({
    snapshotClasses: [`${BASE}MapSerializerSnapshot`, `${BASE}MapSerializerConfigSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      const [key, value] = nested;
      return {
        serializer: 'MapSerializer',
        text: `Map(${key.text}, ${value.text})`,
        children: named(['key', 'value'], nested),
        codec: context => mapCodec(key.codec(context), value.codec(context)),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${BASE}GenericArraySerializerSnapshot`, `${BASE}GenericArraySerializerConfigSnapshot`],
    read(c, version, reader): SnapshotBody {
      // the configuration snapshot names the class after the element, in its version 1 as a Java object
      const legacy = reader.snapshotClass.endsWith('ConfigSnapshot');
      const { outer, nested } = readComposite(c, reader, () => (legacy ? '' : c.utf('component class')), 1);
      const [element] = nested;
      let componentClass = outer;
      if (legacy && version === 1) {
        const type = readJavaObject(c);
        componentClass = type.kind === 'class' ? classDescName(type.classDesc) : '';
      } else if (legacy) componentClass = c.utf('component class');
      return {
        serializer: 'GenericArraySerializer',
        text: `Array(${element.text})`,
        children: named(['element'], nested),
        details: { componentClass },
        codec: context => listCodec(element.codec(context), { flag: 'isPresent' }),
      };
    },
  }),
];
