/**
 * Serializers of Kafka's legacy producer; each with a simple snapshot.
 *
 *   transaction   bool has id [utf transactional id] · i64 producer id · i16 epoch
 *   context       i32 n × utf: transactional ids of the job
 *   hint          i64 next free id · i32 last parallelism
 *
 * Flink: FlinkKafkaProducer.TransactionStateSerializer, ContextStateSerializer, NextTransactionalIdHintSerializer in
 * org.apache.flink.streaming.connectors.kafka (1.9–1.20), FlinkKafkaProducer011 (1.4–1.11).
 */
import type { Cursor } from '../../io/cursor.js';
import { BIGINT, INTEGER, list, SMALLINT, Struct, struct, VARCHAR } from '../../types.js';
import { type Codec, codecOf } from '../codec.js';
import { simpleDefinition } from '../simple.js';

const PACKAGE = 'org.apache.flink.streaming.connectors.kafka.';
const classes = (serializer: string): string[] =>
  ['FlinkKafkaProducer', 'FlinkKafkaProducer011'].map(owner => `${PACKAGE}${owner}$${serializer}$${serializer}Snapshot`);

const TRANSACTION: Codec = codecOf({
  type: struct(['transactional_id', VARCHAR], ['producer_id', BIGINT], ['epoch', SMALLINT]),
  read: c => new Struct([c.bool() ? c.utf('transactional id') : null, c.i64(), c.i16()]),
});

function readIds(c: Cursor): string[] {
  const ids: string[] = [];
  for (let n = c.count('number of transactional ids', 2); n > 0; n--) ids.push(c.utf('transactional id'));
  return ids;
}
const CONTEXT: Codec = codecOf({ type: list(VARCHAR), read: readIds });

const HINT: Codec = codecOf({
  type: struct(['next_free_transactional_id', BIGINT], ['last_parallelism', INTEGER]),
  length: 12,
  read: c => new Struct([c.i64(), c.i32()]),
});

export const SERIALIZERS = [
  simpleDefinition(classes('TransactionStateSerializer'), 'TransactionStateSerializer', 'KafkaTransaction', () => TRANSACTION),
  simpleDefinition(classes('ContextStateSerializer'), 'ContextStateSerializer', 'KafkaTransactionContext', () => CONTEXT),
  simpleDefinition(
    classes('NextTransactionalIdHintSerializer'),
    'NextTransactionalIdHintSerializer',
    'NextTransactionalIdHint',
    () => HINT,
  ),
];
