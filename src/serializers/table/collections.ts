/**
 * Collections of SQL state.
 *
 *   LinkedList     composite, outer version 1: no null mask · 2: null mask · 3: bool; nested [element]
 *                  i32 n [· null mask of ⌈n / 8⌉ bytes, highest bit first: 1 = null] · the elements that are not null
 *   SortedMap      version 3: Java stream of the comparator (it holds generated Java source) · nested [key, value]
 *                  as a map: i32 n · n × (key · bool isNull · [value]), in the comparator's order
 *   ListView       composite, outer version 1, nested [ListSerializer]       as the list
 *   MapView        composite, outer version 1, nested [MapSerializer]        as the map
 *   NullAwareMap   composite, outer version 1, nested [key, value]
 *                  i32 n · n × (bool isNull · [key] · bool isNull · [value])
 *   WindowKey      composite, outer version 1, nested [key]                  i64 window · key
 *
 * Flink: LinkedListSerializer, SortedMapSerializer, WindowKeySerializer in org.apache.flink.table.runtime.typeutils,
 * org.apache.flink.table.dataview (1.9–2.3).
 */
import type { ListColumn } from '../../io/column.js';
import type { Cursor } from '../../io/cursor.js';
import { readJavaObject } from '../../java/stream.js';
import { javaClassName } from '../../java/tree.js';
import { list, type Value } from '../../types.js';
import { type Codec, hidesEnd, type SerializerSnapshot } from '../codec.js';
import { compositeCodec } from '../composite.js';
import { optionalCodec } from '../either.js';
import { LONG_CODEC } from '../primitives.js';
import { listCodec, mapCodec } from '../sequence.js';
import { defineSerializer, named, readComposite, readNestedDelegate, type SerializerDefinition, type SnapshotBody } from '../snapshot.js';

const TYPEUTILS = 'org.apache.flink.table.runtime.typeutils.';
const DATAVIEW = 'org.apache.flink.table.dataview.';

/** LinkedListSerializer's form. */
export function linkedListCodec(element: Codec, hasNullMask: boolean): Codec {
  if (!hasNullMask || hidesEnd(element)) return listCodec(element);
  const open = (c: Cursor): readonly [n: number, mask: number] => {
    const at = c.position;
    const n = c.i32();
    if (n < 0) c.fail(`number of elements is ${n}`, at);
    return [n, c.take(Math.ceil(n / 8), 'null mask of a list')];
  };
  const isNull = (bytes: Uint8Array, mask: number, i: number): boolean => (bytes[mask + (i >> 3)] & (0x80 >> (i & 7))) !== 0;
  return {
    type: list(element.type),
    length: -1,
    ...(element.opaque === undefined ? {} : { opaque: `element: ${element.opaque}` }),
    read(c) {
      const [n, mask] = open(c);
      const values: Value[] = [];
      for (let i = 0; i < n; i++) values.push(isNull(c.bytes, mask, i) ? null : element.read(c));
      return values;
    },
    skip(c) {
      const [n, mask] = open(c);
      for (let i = 0; i < n; i++) if (!isNull(c.bytes, mask, i)) element.skip(c);
    },
    append(c, out) {
      const column = out as ListColumn;
      const [child] = column.children;
      const [n, mask] = open(c);
      for (let i = 0; i < n; i++) {
        if (isNull(c.bytes, mask, i)) child.pushNull();
        else element.append(c, child);
      }
      column.finish();
    },
  };
}

/** A view: its snapshot wraps that of the list or map whose bytes it has. */
function view(className: string, text: (inner: SerializerSnapshot) => string): SerializerDefinition {
  return defineSerializer({
    snapshotClasses: [`${DATAVIEW}${className}Snapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      const [inner] = nested;
      return { serializer: className, text: text(inner), children: named(['view'], nested), codec: context => inner.codec(context) };
    },
  });
}

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [`${TYPEUTILS}LinkedListSerializer$LinkedListSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { outer: hasNullMask, nested } = readComposite(
        c,
        reader,
        (x, outerVersion) => {
          if (outerVersion < 1 || outerVersion > 3) reader.unknownVersion(x);
          return outerVersion === 3 ? x.bool() : outerVersion === 2;
        },
        1,
      );
      const [element] = nested;
      return {
        serializer: 'LinkedListSerializer',
        text: `LinkedList(${element.text})`,
        children: named(['element'], nested),
        details: { hasNullMask },
        codec: context => linkedListCodec(element.codec(context), hasNullMask),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${TYPEUTILS}SortedMapSerializerSnapshot`],
    read(c, version, reader): SnapshotBody {
      if (version !== 3) reader.unknownVersion(c);
      const comparator = javaClassName(readJavaObject(c)) ?? null;
      const at = c.position;
      const nested = readNestedDelegate(c, reader);
      if (nested.length !== 2) c.fail(`SortedMap has ${nested.length} nested serializers, expected 2`, at);
      const [key, value] = nested;
      return {
        serializer: 'SortedMapSerializer',
        text: `SortedMap(${key.text}, ${value.text})`,
        children: named(['key', 'value'], nested),
        details: { comparator },
        codec: context => mapCodec(key.codec(context), value.codec(context)),
      };
    },
  }),
  view('ListViewSerializer', inner => `ListView(${inner.children[0]?.snapshot.text ?? inner.text})`),
  view('MapViewSerializer', inner => `MapView(${inner.children.map(x => x.snapshot.text).join(', ')})`),
  defineSerializer({
    snapshotClasses: [`${DATAVIEW}NullAwareMapSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      const [key, value] = nested;
      return {
        serializer: 'NullAwareMapSerializer',
        text: `NullAwareMap(${key.text}, ${value.text})`,
        children: named(['key', 'value'], nested),
        codec: context => mapCodec(optionalCodec(key.codec(context), true), value.codec(context)),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${TYPEUTILS}WindowKeySerializer$WindowKeySerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      const [key] = nested;
      return {
        serializer: 'WindowKeySerializer',
        text: `WindowKey(${key.text})`,
        children: named(['key'], nested),
        codec: context =>
          compositeCodec([
            { name: 'window', codec: LONG_CODEC },
            { name: 'key', codec: key.codec(context) },
          ]),
      };
    },
  }),
];
