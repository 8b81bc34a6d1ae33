/**
 * Snapshots of KryoSerializer.
 *
 *   KryoSerializerSnapshot, version 2: utf type class · three LinkedOptionalMaps
 *     registrations                 class → utf class · utf class, i32 kind, [1: utf serializer class; 2: serializer as a Java object]
 *     default serializers           class → utf class · serializer as a Java object
 *     default serializer classes    class → utf class · utf serializer class
 *   KryoSerializerConfigSnapshot, version 1 (1.3–1.7): utf type class · i32 n · n × (utf class · as the registration's value)
 *
 * Version 2 is written by Flink 1.7 to 2.3, although what Kryo writes changed with Flink 2.0: the snapshot does not say which.
 * Flink: KryoSerializerSnapshot, KryoSerializerSnapshotData (1.7–2.3), KryoRegistrationSerializerConfigSnapshot (1.3–1.7) in
 * org.apache.flink.api.java.typeutils.runtime(.kryo).
 */
import { StateQueryError } from '../../errors.js';
import type { Cursor } from '../../io/cursor.js';
import { readJavaObject } from '../../java/stream.js';
import { javaClassName, javaField } from '../../java/tree.js';
import { readLinkedOptionalMap, type SnapshotReader } from '../snapshot.js';
import type { DefaultSerializer } from './serializers.js';

export interface Registration {
  readonly className: string;
  /** undefined: the default one of the class */
  readonly serializer: string | undefined;
}
export interface KryoConfiguration {
  readonly typeClass: string;
  /** in the order of their class ids; the first one is the type's own */
  readonly registrations: readonly Registration[];
  readonly defaults: readonly DefaultSerializer[];
}

const UNKNOWN = 'an unknown serializer';

/** A serializer that is an object: its class is all that matters. */
function serializerObject(c: Cursor): string {
  try {
    const object = readJavaObject(c);
    // ExecutionConfig.SerializableSerializer around the serializer
    const inner = object.kind === 'object' ? javaField(object, 'serializer') : undefined;
    return javaClassName(inner?.kind === 'object' ? inner : object) ?? UNKNOWN;
  } catch (error) {
    if (error instanceof StateQueryError) return UNKNOWN;
    throw error;
  }
}

function readRegistration(c: Cursor): Registration {
  const className = c.utf('registered class');
  const at = c.position;
  const kind = c.i32();
  switch (kind) {
    case 0:
      return { className, serializer: undefined };
    case 1:
      return { className, serializer: c.utf('serializer class') };
    case 2:
      return { className, serializer: serializerObject(c) };
    default:
      return c.fail(`registration of kind ${kind}`, at);
  }
}

/** In its own frame: what the Java object leaves belongs to it. */
function wholeFrame<T>(read: (frame: Cursor) => T): (frame: Cursor) => T {
  return frame => {
    const value = read(frame);
    frame.position = frame.end;
    return value;
  };
}

export function readKryoSnapshot(c: Cursor, version: number, reader: SnapshotReader): KryoConfiguration {
  if (version !== 2) reader.unknownVersion(c);
  const typeClass = c.utf('type class');
  const name = (frame: Cursor): string => frame.utf('class');
  const registrations = readLinkedOptionalMap(c, 'registrations', name, wholeFrame(readRegistration));
  const defaults = readLinkedOptionalMap(c, 'default serializers', name, wholeFrame(serializerObject));
  const classes = readLinkedOptionalMap(c, 'default serializer classes', name, name);
  return {
    typeClass,
    // a registration whose class was gone when the snapshot was written keeps its place
    registrations: registrations.map(r => r.value ?? { className: r.name, serializer: UNKNOWN }),
    defaults: [...defaults, ...classes].map(d => ({ className: d.name, serializer: d.value ?? UNKNOWN })),
  };
}

export function readKryoConfigSnapshot(c: Cursor, version: number, reader: SnapshotReader): KryoConfiguration {
  if (version !== 1) reader.unknownVersion(c);
  const typeClass = c.utf('type class');
  const n = c.count('number of registrations', 8);
  const registrations: Registration[] = [];
  for (let i = 0; i < n; i++) {
    c.utf('registered class');
    registrations.push(readRegistration(c));
  }
  return { typeClass, registrations, defaults: [] };
}
