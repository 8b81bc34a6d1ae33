/**
 * Snapshots without content of their own:
 *
 *   simple    version 3: no body · version 2 (1.7): utf serializer class
 *             legacy ParameterlessTypeSerializerConfig (1.3–1.6): version 1: utf serialization format
 *   generic   version 2: utf type class · version 1 (1.7, and GenericTypeSerializerConfigSnapshot of 1.3–1.6): the same
 *
 * Flink: SimpleTypeSerializerSnapshot, GenericTypeSerializerSnapshot, ParameterlessTypeSerializerConfig (1.8–2.3, 1.6).
 */
import type { Cursor } from '../io/cursor.js';
import type { Codec, CodecContext } from './codec.js';
import { defineSerializer, type SerializerDefinition, type SnapshotBody, type SnapshotReader } from './snapshot.js';

/** Reads the body of a SimpleTypeSerializerSnapshot. */
export function readSimpleBody(c: Cursor, version: number, reader: SnapshotReader): void {
  if (reader.legacy) {
    if (version !== 1) reader.unknownVersion(c);
    c.utf('serialization format');
  } else if (version === 2) c.utf('serializer class');
  else if (version !== 3) reader.unknownVersion(c);
}

/** Reads the body of a GenericTypeSerializerSnapshot: the type's class. */
export function readGenericBody(c: Cursor, version: number, reader: SnapshotReader): string {
  if (version !== 2 && version !== 1) reader.unknownVersion(c);
  return c.utf('type class');
}

/** A serializer whose snapshot is simple. */
export function simpleDefinition(
  snapshotClasses: readonly string[],
  serializer: string,
  text: string,
  codec: (context: CodecContext) => Codec,
): SerializerDefinition {
  const simple = { serializer, text, codec };
  return defineSerializer({
    snapshotClasses,
    simple,
    read(c, version, reader): SnapshotBody {
      readSimpleBody(c, version, reader);
      return simple;
    },
  });
}
