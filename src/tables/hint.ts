/**
 * What an operator without a name likely is, from the names of its states: `operator_hint`.
 *
 * Flink: the state descriptors of flink-streaming-java and flink-table-runtime (1.20, 2.3).
 */
import type { OperatorStates, OperatorView } from './states.js';

/** state name → what registers it; the first that matches wins */
const BY_STATE: readonly (readonly [RegExp, string])[] = [
  [/^SourceReaderState$/, 'source'],
  [/^topic-partition-offset-states$/, 'legacy Kafka consumer'],
  [/^Kinesis-Stream-Shard-State$/, 'legacy Kinesis consumer'],
  [/^next-transactional-id-hint(-v2)?$/, 'legacy Kafka producer'],
  [/^streaming_committer_raw_states$/, 'sink committer'],
  [/^writer_raw_states$/, 'sink writer'],
  [/^bucket-states$/, 'StreamingFileSink'],
  [/^offset-states$/, 'Debezium source'],
  [/^iceberg-files-committer-state$/, 'Iceberg committer'],
  [/^window-contents$/, 'window operator'],
  [/^(LEFT|RIGHT)_BUFFER$/, 'interval join'],
  [/^_op_state$/, 'reduce on a keyed stream'],
  [/^_async_wait_operator_state_$/, 'async wait operator'],
  [/^(nfaStateName|eventQueuesStateName|sharedBuffer-events)$/, 'CEP pattern (MATCH_RECOGNIZE)'],
  [/^accState$/, 'SQL group aggregate'],
  [/^deduplicate-state$/, 'SQL deduplicate or changelog normalize'],
  [/^(data-state-with-append|data-state-with-update|data-state|Top1-Rank-State|counterState)$/, 'SQL rank (Top-N)'],
  [/^IntervalJoin(Left|Right)Cache$/, 'SQL interval join'],
  [/^multi-join-input-\d+$/, 'SQL multi-way join'],
  [/^window_rank$/, 'SQL window rank'],
  [/^window_deduplicate$/, 'SQL window deduplicate'],
  [/^session-window-tvf-/, 'SQL session window function'],
  [/^window-aggs$/, 'SQL window aggregate'],
  [/^(left|right)-records$/, 'SQL join'],
  [/^(inputState|lastTriggeringTsState|processedCountState)$/, 'SQL OVER aggregate'],
  [/^(rowToSqnState|sqnToNodeState|highestSqnState)$/, 'SQL sink materializer'],
  [/^(next-index|cleanup-timestamp)$/, 'SQL temporal join'],
  [/^_timer_state\/(event|processing)_window-timers$/, 'window operator'],
  [/^_timer_state\/(event|processing)_user-timers$/, 'process function'],
];

/** A guess in words; null where nothing speaks for one. */
export function operatorHint(states: OperatorStates, operator: OperatorView): string | null {
  const names = new Set(states.variants.map(v => v.name));
  for (const [pattern, what] of BY_STATE) for (const name of names) if (pattern.test(name)) return what;
  if (operator.operator.coordinator !== undefined) return 'source or sink with a coordinator';
  return null;
}
