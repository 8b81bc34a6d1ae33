/** KryoSerializer: Flink's serializer for every class without one of its own. */
import { defineSerializer, type SerializerDefinition, type SnapshotBody, simpleName } from '../snapshot.js';
import { kryoCodec } from './codec.js';
import { type KryoConfiguration, readKryoConfigSnapshot, readKryoSnapshot } from './snapshot.js';

function body(configuration: KryoConfiguration): SnapshotBody {
  const { typeClass, registrations, defaults } = configuration;
  return {
    serializer: 'KryoSerializer',
    text: `Kryo(${simpleName(typeClass)})`,
    details: {
      typeClass,
      registrations: registrations.map(r => ({ class: r.className, serializer: r.serializer ?? null })),
      defaultSerializers: defaults.map(d => ({ class: d.className, serializer: d.serializer })),
    },
    codec: context => kryoCodec(configuration, context),
  };
}

const KRYO = 'org.apache.flink.api.java.typeutils.runtime.kryo.';

/** Serializers of this folder, for the registry. */
export const SERIALIZERS: readonly SerializerDefinition[] = [
  defineSerializer({
    snapshotClasses: [`${KRYO}KryoSerializerSnapshot`],
    read: (c, version, reader) => body(readKryoSnapshot(c, version, reader)),
  }),
  defineSerializer({
    snapshotClasses: [`${KRYO}KryoSerializer$KryoSerializerConfigSnapshot`],
    read: (c, version, reader) => body(readKryoConfigSnapshot(c, version, reader)),
  }),
];
