/**
 * State of TwoPhaseCommitSinkFunction: Kafka's legacy producer and user sinks.
 *
 *   snapshot   composite, nested [transaction, context]; outer version 2: a pending transaction always · 3: it may be missing ·
 *              4: bool it may be missing
 *   value      [bool isPresent] · transaction · i64 ms of its start
 *              i32 n · n × (transaction · i64 ms)
 *              bool isPresent · [context]
 *
 * The value shows the transactions alone; when each was begun is wall clock and comes with `readTwoPhaseState`.
 * Flink: TwoPhaseCommitSinkFunction.StateSerializer in org.apache.flink.streaming.api.functions.sink (1.x), ….sink.legacy (2.x).
 */
import type { Cursor } from '../io/cursor.js';
import type { Value } from '../types.js';
import { type Codec, codecOf, hidesEnd } from './codec.js';
import { compositeCodec } from './composite.js';
import { optionalCodec } from './either.js';
import { listCodec, readCount } from './sequence.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from './snapshot.js';

export interface Transaction {
  readonly transaction: Value;
  /** ms since 1970 by the writer's clock */
  readonly startedAt: bigint;
}
export interface TwoPhaseState {
  readonly pending: Transaction | null;
  readonly pendingCommit: readonly Transaction[];
  readonly context: Value;
}

/**
 * Reads a whole state with the start times. The transaction must be one whose end is known (`unbounded` unset).
 * @param mayMiss whether a boolean stands before the pending transaction (snapshot detail `supportsNullTransaction`)
 */
export function readTwoPhaseState(c: Cursor, transaction: Codec, context: Codec, mayMiss: boolean): TwoPhaseState {
  const one = (): Transaction => ({ transaction: transaction.read(c), startedAt: c.i64() });
  const pending = mayMiss && !c.bool() ? null : one();
  const n = readCount(c, 'number of transactions', 8);
  const pendingCommit: Transaction[] = [];
  for (let i = 0; i < n; i++) pendingCommit.push(one());
  return { pending, pendingCommit, context: c.bool() ? context.read(c) : null };
}

/** A transaction with the time after it, of which the value is the transaction. */
function transactionCodec(transaction: Codec): Codec {
  if (hidesEnd(transaction))
    return compositeCodec([
      { name: 'transaction', codec: transaction },
      { name: 'started_at', codec: TIME },
    ]);
  return codecOf({
    type: transaction.type,
    ...(transaction.opaque === undefined ? {} : { opaque: transaction.opaque }),
    read(c) {
      const value = transaction.read(c);
      c.take(8, 'start of a transaction');
      return value;
    },
    skip(c) {
      transaction.skip(c);
      c.take(8, 'start of a transaction');
    },
    append(c, out) {
      transaction.append(c, out);
      c.take(8, 'start of a transaction');
    },
  });
}
const TIME: Codec = codecOf({ type: { kind: 'BIGINT' }, length: 8, read: c => c.i64() });

const SINK = 'org.apache.flink.streaming.api.functions.sink.';
export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [
      `${SINK}TwoPhaseCommitSinkFunction$StateSerializerSnapshot`,
      `${SINK}legacy.TwoPhaseCommitSinkFunction$StateSerializerSnapshot`,
      `${SINK}TwoPhaseCommitSinkFunction$StateSerializerConfigSnapshot`,
    ],
    read(c, _version, reader): SnapshotBody {
      const { outer: mayMiss, nested } = readComposite(
        c,
        reader,
        (x, outerVersion) => {
          if (reader.legacy || outerVersion < 3) return false;
          if (outerVersion > 4) reader.unknownVersion(x);
          return outerVersion === 3 || x.bool();
        },
        2,
      );
      const [transaction, context] = nested;
      return {
        serializer: 'StateSerializer',
        text: `TwoPhaseCommit(${transaction.text}, ${context.text})`,
        children: named(['transaction', 'context'], nested),
        details: { supportsNullTransaction: mayMiss },
        codec(codecs) {
          const pending = transactionCodec(transaction.codec(codecs));
          return compositeCodec([
            { name: 'pending_transaction', codec: mayMiss ? optionalCodec(pending, false) : pending },
            { name: 'pending_commit_transactions', codec: listCodec(pending) },
            { name: 'context', codec: optionalCodec(context.codec(codecs), false) },
          ]);
        },
      };
    },
  }),
];
