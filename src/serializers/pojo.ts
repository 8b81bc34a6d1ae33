/**
 * Snapshots of POJOs and, since 1.19, of records.
 *
 *   version 2: utf class · three LinkedOptionalMaps:
 *     fields in wire order     name → utf declaring class, utf field name (absent: the field is gone) · versioned snapshot
 *     registered subclasses    class → (empty) · versioned snapshot, in the order of their tags
 *     other subclasses         the same
 *
 * Heap backends may meet a subclass first on another copy of the serializer than the one whose snapshot is written: then the
 * snapshot does not describe it. With its class at hand (--jar) the layout follows from that (pojo-layout.ts), otherwise its
 * bytes are shown. Flink: PojoSerializerSnapshot, PojoSerializerSnapshotData in org.apache.flink.api.java.typeutils.runtime
 * (1.8–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import type { Codec, NamedSnapshot, SerializerSnapshot } from './codec.js';
import { pojoCodec, type Subclass } from './pojo-codec.js';
import { codecOfLayout, knownPojos } from './pojo-layout.js';
import {
  defineSerializer,
  type OptionalMapEntry,
  readLinkedOptionalMap,
  type SnapshotBody,
  type SnapshotReader,
  simpleName,
} from './snapshot.js';

interface FieldKey {
  readonly declaringClass: string;
  readonly name: string;
}

function readSubclasses(c: Cursor, reader: SnapshotReader, what: string): OptionalMapEntry<undefined, SerializerSnapshot>[] {
  return readLinkedOptionalMap(
    c,
    what,
    frame => void (frame.position = frame.end),
    frame => reader.framed(frame),
  );
}

function readPojo(c: Cursor, version: number, reader: SnapshotReader): SnapshotBody {
  if (version !== 2) reader.unknownVersion(c);
  const typeClass = c.utf('POJO class');
  const fields = readLinkedOptionalMap<FieldKey, SerializerSnapshot>(
    c,
    'fields',
    frame => ({ declaringClass: frame.utf('declaring class'), name: frame.utf('field') }),
    frame => reader.framed(frame),
  );
  const registered = readSubclasses(c, reader, 'registered subclasses');
  const others = readSubclasses(c, reader, 'other subclasses');
  const missing = fields.findIndex(f => f.value === undefined);
  if (missing >= 0) c.fail(`field ${fields[missing].name} of ${typeClass} has no serializer`);

  const fieldChildren: NamedSnapshot[] = fields.map(f => ({ name: f.name, snapshot: f.value as SerializerSnapshot }));
  const subclassChildren = (entries: readonly OptionalMapEntry<undefined, SerializerSnapshot>[], mark: string): NamedSnapshot[] =>
    entries.flatMap(e => (e.value === undefined ? [] : [{ name: `${mark}${e.name}`, snapshot: e.value }]));
  const shown = fieldChildren.map(f => `${f.name} ${f.snapshot.text}`).join(', ');
  return {
    serializer: 'PojoSerializer',
    text: `Pojo(${simpleName(typeClass)}${shown === '' ? '' : `: ${shown}`})`,
    children: [...fieldChildren, ...subclassChildren(registered, '$registered:'), ...subclassChildren(others, '$subclass:')],
    details: {
      typeClass,
      fields: fields.map(f => ({ name: f.name, declaringClass: f.key?.declaringClass ?? null })),
      registeredSubclasses: registered.map(e => e.name),
      otherSubclasses: others.map(e => e.name),
    },
    codec(context) {
      const subclass = (e: OptionalMapEntry<undefined, SerializerSnapshot>) => ({
        className: e.name,
        codec: e.value?.codec(context),
      });
      const described = (e: { className: string; codec: Codec | undefined }): (readonly [string, Subclass])[] =>
        e.codec === undefined ? [] : [[e.className, { className: e.className, codec: e.codec }]];
      const codec = pojoCodec({
        typeClass,
        fields: fieldChildren.map(f => ({ name: f.name, codec: f.snapshot.codec(context) })),
        registered: registered.map(subclass),
        byName: new Map([...registered, ...others].flatMap(e => described(subclass(e)))),
        layout: className => codecOfLayout(className, context, new Map([...knownPojos(fieldChildren, context), [typeClass, codec]])),
      });
      return codec;
    },
  };
}

export const SERIALIZERS = [
  defineSerializer({ snapshotClasses: ['org.apache.flink.api.java.typeutils.runtime.PojoSerializerSnapshot'], read: readPojo }),
];
