/** Serializers of pattern matching, for the registry. */
import type { SerializerDefinition } from '../snapshot.js';
import { SERIALIZERS as NFA } from './nfa.js';
import { SERIALIZERS as SHARED_BUFFER } from './shared-buffer.js';

export const SERIALIZERS: readonly SerializerDefinition[] = [...NFA, ...SHARED_BUFFER];
