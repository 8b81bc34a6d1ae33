/** Serializers of this folder, for the registry. */
import type { SerializerDefinition } from '../snapshot.js';

export const SERIALIZERS: readonly SerializerDefinition[] = [];
