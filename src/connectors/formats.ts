/** The formats that are known: one line each. */
import { DYNAMODB_SINK, FIREHOSE_SINK, KINESIS_SINK, SQS_SINK } from './async-sinks.js';
import { DYNAMODB_SOURCE, KINESIS_SOURCE } from './aws-sources.js';
import { BASE_CDC_SOURCE, MYSQL_CDC_SOURCE } from './cdc.js';
import { FILE_SINK } from './file-sink.js';
import { FILE_SOURCE } from './file-source.js';
import { FLUSS_SOURCE } from './fluss.js';
import type { SinkFormat, SourceFormat } from './format.js';
import { HYBRID_SOURCE } from './hybrid.js';
import { ICEBERG_DYNAMIC_SINK, ICEBERG_SINK, ICEBERG_SOURCE } from './iceberg.js';
import { DYNAMIC_KAFKA_SOURCE, KAFKA_SINK, KAFKA_SOURCE } from './kafka.js';
import { PAIMON_MULTI_TABLE_SINK, PAIMON_SINK } from './paimon.js';
import { PULSAR_SINK, PULSAR_SOURCE } from './pulsar.js';
import { NUMBER_SEQUENCE } from './sequence.js';

export const SOURCES: readonly SourceFormat[] = [
  KAFKA_SOURCE,
  DYNAMIC_KAFKA_SOURCE,
  FILE_SOURCE,
  HYBRID_SOURCE,
  NUMBER_SEQUENCE,
  KINESIS_SOURCE,
  DYNAMODB_SOURCE,
  PULSAR_SOURCE,
  MYSQL_CDC_SOURCE,
  BASE_CDC_SOURCE,
  ICEBERG_SOURCE,
  FLUSS_SOURCE,
];

export const SINKS: readonly SinkFormat[] = [
  KAFKA_SINK,
  FILE_SINK,
  PULSAR_SINK,
  ICEBERG_SINK,
  ICEBERG_DYNAMIC_SINK,
  PAIMON_SINK,
  PAIMON_MULTI_TABLE_SINK,
  KINESIS_SINK,
  FIREHOSE_SINK,
  SQS_SINK,
  DYNAMODB_SINK,
];
