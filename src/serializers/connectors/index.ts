/** Serializers of this folder, for the registry. */
import type { SerializerDefinition } from '../snapshot.js';
import { SERIALIZERS as KAFKA_PRODUCER } from './kafka-producer.js';

export const SERIALIZERS: readonly SerializerDefinition[] = [...KAFKA_PRODUCER];
