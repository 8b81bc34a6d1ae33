/**
 * Configuration snapshots of 1.3–1.7 that have no counterpart of today's: they begin with their own version, which is the
 * snapshot's version here.
 *
 *   ParameterlessTypeSerializerConfig   version 1: utf serialization format, normally the serializer's class: what a simple
 *                                       snapshot is today. In 1.7 files still behind the adapter (VoidNamespaceSerializer)
 *
 * The others are read beside their successors (tuple.ts, either.ts, collections.ts …). Flink 1.6, 1.7.
 */
import { opaqueCodec } from './opaque.js';
import { defineSerializer, type SnapshotBody, simpleName } from './snapshot.js';

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: ['org.apache.flink.api.common.typeutils.ParameterlessTypeSerializerConfig'],
    read(c, version, reader): SnapshotBody {
      if (version !== 1) reader.unknownVersion(c);
      const serializerClass = c.utf('serialization format');
      const simple = reader.simple(serializerClass);
      if (simple !== undefined) return { serializer: simple.serializer, text: simple.text, codec: simple.codec };
      const reason = `serializer ${serializerClass} is not known`;
      return {
        serializer: simpleName(serializerClass),
        text: `${simpleName(serializerClass)}(unknown)`,
        unknown: reason,
        codec: () => opaqueCodec(serializerClass, reason),
      };
    },
  }),
];
