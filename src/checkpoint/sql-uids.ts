/**
 * The uids that Flink SQL gives to operators, as patterns with one number in them: the id of the exec node.
 *
 *   1.16+   <id>_<transformation>                         4_group-aggregate
 *   1.15    <id>_<exec node>_<version>_<transformation>   4_stream-exec-group-aggregate_1_group-aggregate
 *   and of sinks, around such a uid:   Sink Committer: <uid>   Sink <uid> Global Committer
 *
 * The id comes from a counter of the whole session. Connectors add transformations of their own (`<id>_kafka`).
 *
 * Flink: ExecNodeBase.createTransformationUid, option table.exec.uid.format, the *_TRANSFORMATION constants of
 * org.apache.flink.table.planner.plan.nodes.exec (1.15–2.3), SinkTransformationTranslator.
 */

/** Exec nodes and the transformations they make. */
const NODES: Readonly<Record<string, readonly string[]>> = {
  'table-source-scan': ['source', 'values', 'kafka', 'jdbc', 'hive'],
  'legacy-table-source-scan': ['source'],
  'data-stream-scan': ['source'],
  values: ['values'],
  calc: ['calc'],
  'python-calc': ['calc', 'python-calc'],
  'async-calc': ['async-calc'],
  correlate: ['correlate'],
  'python-correlate': ['correlate', 'python-correlate'],
  'async-correlate': ['async-correlate'],
  expand: ['expand'],
  exchange: ['exchange'],
  'watermark-assigner': ['watermark-assigner'],
  'mini-batch-assigner': ['mini-batch-assigner'],
  'group-aggregate': ['group-aggregate'],
  'local-group-aggregate': ['local-group-aggregate'],
  'global-group-aggregate': ['global-group-aggregate'],
  'incremental-group-aggregate': ['incremental-group-aggregate'],
  'group-table-aggregate': ['group-table-aggregate'],
  'python-group-aggregate': ['python-group-aggregate', 'group-aggregate'],
  'python-group-table-aggregate': ['python-group-table-aggregate', 'group-table-aggregate'],
  'group-window-aggregate': ['group-window-aggregate'],
  'python-group-window-aggregate': ['python-group-window-aggregate', 'group-window-aggregate'],
  'window-table-function': ['window'],
  'window-aggregate': ['window-aggregate'],
  'local-window-aggregate': ['local-window-aggregate'],
  'global-window-aggregate': ['global-window-aggregate'],
  'window-join': ['window-join'],
  'window-rank': ['window-rank'],
  'window-deduplicate': ['window-deduplicate'],
  'over-aggregate': ['over-aggregate'],
  'python-over-aggregate': ['python-over-aggregate', 'over-aggregate'],
  deduplicate: ['deduplicate'],
  rank: ['rank'],
  limit: ['limit', 'rank'],
  'sort-limit': ['sort-limit', 'rank'],
  sort: ['sort'],
  'temporal-sort': ['temporal-sort'],
  'changelog-normalize': ['changelog-normalize'],
  'drop-update-before': ['drop-update-before'],
  join: ['join'],
  'multi-join': ['multi-join'],
  'delta-join': ['delta-join'],
  'interval-join': ['interval-join', 'filter-left', 'filter-right', 'pad-left', 'pad-right'],
  'temporal-join': ['temporal-join'],
  'lookup-join': ['lookup-join', 'lookup-join-materialize', 'custom-shuffle'],
  match: ['match', 'timestamp-inserter'],
  'process-table-function': ['process'],
  'ml-predict-table-function': ['ml-predict-table-function'],
  'vector-search-table-function': ['vector-search-table-function'],
  sink: [
    'constraint-validator',
    'partitioner',
    'upsert-materialize',
    'timestamp-inserter',
    'row-kind-setter',
    'sink',
    'writer',
    'committer',
    'streaming-writer',
    'partition-committer',
    'compact-coordinator',
    'compact-operator',
    'compact-writer',
    'collect',
  ],
  'legacy-sink': ['sink'],
};
/** Every node had version 1 in 1.15; the format can still be asked for by an option. */
const NODE_VERSIONS = [1, 2];
const SINKS = ['sink', 'legacy-sink'];

/** A uid with an exec node's id in it: `before` + decimal id + `after`. */
export interface UidPattern {
  readonly before: string;
  readonly after: string;
}

/** Every transformation name, once. */
export const TRANSFORMATIONS: readonly string[] = [...new Set(Object.values(NODES).flat())];

let patterns: readonly UidPattern[] | undefined;

/** All patterns, those of 1.16 and later first. */
export function sqlUidPatterns(): readonly UidPattern[] {
  if (patterns !== undefined) return patterns;
  const found: UidPattern[] = [];
  const addSink = (after: string): void => {
    found.push({ before: 'Sink Committer: ', after }, { before: 'Sink ', after: `${after} Global Committer` });
  };
  for (const transformation of TRANSFORMATIONS) found.push({ before: '', after: `_${transformation}` });
  addSink('_sink');
  for (const [node, transformations] of Object.entries(NODES))
    for (const version of NODE_VERSIONS)
      for (const transformation of transformations) {
        const after = `_stream-exec-${node}_${version}_${transformation}`;
        found.push({ before: '', after });
        if (SINKS.includes(node) && transformation === 'sink') addSink(after);
      }
  patterns = found;
  return found;
}

/** Whether a uid has one of the forms: `4_group-aggregate`, `Sink Committer: 7_sink`. @returns the exec node's id and transformation */
export function parseSqlUid(uid: string): { readonly nodeId: number; readonly transformation: string } | undefined {
  const bare = /^Sink (.*) Global Committer$/.exec(uid)?.[1] ?? uid.replace(/^Sink Committer: /, '');
  const match = /^(\d{1,9})_(?:stream-exec-[a-z-]+_\d+_)?([a-z][a-z-]*)$/.exec(bare);
  return match === null ? undefined : { nodeId: Number(match[1]), transformation: match[2] };
}
