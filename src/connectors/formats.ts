/** The formats that are known: one line each. */
import { FILE_SOURCE } from './file-source.js';
import type { SinkFormat, SourceFormat } from './format.js';
import { HYBRID_SOURCE } from './hybrid.js';
import { DYNAMIC_KAFKA_SOURCE, KAFKA_SINK, KAFKA_SOURCE } from './kafka.js';
import { NUMBER_SEQUENCE } from './sequence.js';

export const SOURCES: readonly SourceFormat[] = [KAFKA_SOURCE, DYNAMIC_KAFKA_SOURCE, FILE_SOURCE, HYBRID_SOURCE, NUMBER_SEQUENCE];

export const SINKS: readonly SinkFormat[] = [KAFKA_SINK];
