/**
 * What an operator without a name likely is, from the names of its states: `operator_hint`; and what its id tells of its place in the
 * job graph, where no uid gave it.
 *
 * Flink: the state descriptors of flink-streaming-java and flink-table-runtime (1.20, 2.3).
 */
import type { TopologyId } from '../checkpoint/topology-ids.js';
import { type SqlType, sqlTypeText } from '../types.js';
import type { OperatorStates, OperatorView, StateVariant } from './states.js';

/** state name → what registers it; the first that matches wins */
const BY_STATE: readonly (readonly [RegExp, string])[] = [
  [/^SourceReaderState$/, 'source'],
  [/^topic-partition-offset-states$/, 'legacy Kafka consumer'],
  [/^Kinesis-Stream-Shard-State$/, 'legacy Kinesis consumer'],
  [/-sequence-state$/, 'SQL datagen source'],
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
  [/^(inputState|processedCountState|smallestTSState|sortedListState|accMapState)$/, 'SQL OVER aggregate'],
  [/^accState$/, 'SQL group aggregate'],
  [/^distinctAcc_\d+$/, 'SQL aggregate'],
  [/^(deduplicate-state|waiting-to-emit-on-timer)$/, 'SQL deduplicate or changelog normalize'],
  [/^(data-state-with-append|data-state-with-update|data-state|sorted-map|Top1-Rank-State|counterState)$/, 'SQL rank (Top-N) or limit'],
  [/^IntervalJoin(Left|Right)Cache$/, 'SQL interval join'],
  [/^multi-join-input-\d+$/, 'SQL multi-way join'],
  [/^_delta_join_operator_async_wait_state_$/, 'SQL delta join'],
  [/^window_rank$/, 'SQL window rank'],
  [/^window_deduplicate$/, 'SQL window deduplicate'],
  [/^session-window-tvf-/, 'SQL session window function'],
  [/^window-aggs$/, 'SQL window aggregate'],
  [/^(left|right)-records$/, 'SQL join'],
  [/^lastTriggeringTsState$/, 'SQL OVER aggregate or sort'],
  [/^(rowToSqnState|sqnToNodeState|highestSqnState)$/, 'SQL sink materializer'],
  [/^(next-index|cleanup-timestamp)$/, 'SQL temporal join'],
  [/^internal-named-timers-map$/, 'SQL process table function'],
  [/^unique-value$/, 'SQL lookup join'],
  [/^_timer_state\/(event|processing)_window-timers$/, 'window operator'],
  [/^_timer_state\/(event|processing)_user-timers$/, 'process function'],
];

/** states that are listed in a hint */
const MOST_STATES = 6;

/** A guess in words: the likely kind, the states, the parallelism. null where nothing speaks for one. */
export function operatorHint(states: OperatorStates, operator: OperatorView): string | null {
  const parts = [kindOf(states, operator), statesIn(states)].filter(part => part !== undefined);
  return parts.length === 0 ? null : [...parts, `parallelism ${operator.operator.parallelism}`].join('; ');
}

function kindOf(states: OperatorStates, operator: OperatorView): string | undefined {
  const names = new Set(states.variants.map(v => v.name));
  for (const [pattern, what] of BY_STATE) for (const name of names) if (pattern.test(name)) return what;
  return operator.operator.coordinator === undefined ? undefined : 'source or sink with a coordinator';
}

/** `states count VALUE BIGINT, seen MAP VARCHAR => BIGINT` */
function statesIn({ variants }: OperatorStates): string | undefined {
  const own = variants.filter(v => v.kind !== 'timer' && v.variant === 0);
  if (own.length === 0) return undefined;
  const listed = own.slice(0, MOST_STATES).map(stateText);
  return `states ${listed.join(', ')}${own.length > MOST_STATES ? `, and ${own.length - MOST_STATES} more` : ''}`;
}

function stateText({ name, kind, shape, registered }: StateVariant): string {
  const what = kind === 'keyed' ? (registered.stateType ?? 'UNKNOWN') : (registered.mode ?? kind);
  const type = (t: SqlType): string => {
    const text = sqlTypeText(t);
    return text.length > 60 ? t.kind : text;
  };
  return `${name} ${what} ${shape.mapKey === undefined ? '' : `${type(shape.mapKey.type)} => `}${type(shape.value.type)}`;
}

/** What an id says that is no hash of a uid. */
export function topologyText({ node, inputs }: TopologyId, labelOf: (id: string) => string): string {
  const place = inputs.length === 0 ? `source node ${node}` : `node ${node}, behind ${inputs.map(labelOf).join(' and ')}`;
  return `the id is that of its place in the job graph (${place}): it changes with the graph, no uid is set`;
}
