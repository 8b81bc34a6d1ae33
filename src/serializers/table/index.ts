/** Serializers of the table runtime, for the registry. */
import type { SerializerDefinition } from '../snapshot.js';
import { SERIALIZERS as BITMAP } from './bitmap.js';
import { SERIALIZERS as COLLECTIONS } from './collections.js';
import { SERIALIZERS as CROW } from './crow.js';
import { SERIALIZERS as EXTERNAL } from './external.js';
import { SERIALIZERS as MATERIALIZER } from './materializer.js';
import { SERIALIZERS as ROW_DATA } from './row-data.js';
import { SERIALIZERS as VALUES } from './values.js';
import { SERIALIZERS as VARIANT } from './variant.js';

export const SERIALIZERS: readonly SerializerDefinition[] = [
  ...ROW_DATA,
  ...VALUES,
  ...COLLECTIONS,
  ...EXTERNAL,
  ...MATERIALIZER,
  ...VARIANT,
  ...BITMAP,
  ...CROW,
];
