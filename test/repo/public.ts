/** What the public contract names: commands, options with a way to use each, tables. test/corpus/contract.test.ts compares it with the text. */

export const COMMANDS = [
  'check',
  'completion',
  'files',
  'find',
  'inspect',
  'ls',
  'meta',
  'schema',
  'shell',
  'sql',
  'stateinfo',
  'tables',
  'uid',
  'verify',
] as const;

/**
 * Option → arguments of a run that uses it and ends with 0. SNAPSHOT, DIR, PLAN, NAMES, UIDS, PROTO, STATEINFO, JAR and METADATA stand for
 * paths.
 */
export const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  '--all': ['tables', 'SNAPSHOT', '--all'],
  '--as-of': ['meta', 'SNAPSHOT', '--as-of', '2026-01-31T12:00:00Z'],
  '--csv': ['tables', 'SNAPSHOT', '--csv'],
  '--engine': ['sql', 'SELECT key FROM keyed_state LIMIT 1', 'SNAPSHOT', '--engine', 'alasql'],
  '--entries': ['inspect', 'METADATA', '--entries', '1'],
  '--guess-uids': ['meta', 'SNAPSHOT', '--guess-uids'],
  '--jar': ['meta', 'SNAPSHOT', '--jar', 'JAR'],
  '--json': ['meta', 'SNAPSHOT', '--json'],
  '--json-numbers': ['sql', 'SELECT 1 AS a', 'SNAPSHOT', '--json', '--json-numbers', 'string'],
  '--latest': ['ls', 'DIR', '--latest'],
  '--max-memory': ['sql', 'SELECT 1 AS a', 'SNAPSHOT', '--max-memory', '512MB'],
  '--max-rows': ['tables', 'SNAPSHOT', '--max-rows', '3'],
  '--names': ['meta', 'SNAPSHOT', '--names', 'NAMES'],
  '--no-color': ['meta', 'SNAPSHOT', '--no-color'],
  '--no-header': ['tables', 'SNAPSHOT', '--csv', '--no-header'],
  '--no-verify': ['sql', 'SELECT count(*) FROM keyed_state', 'SNAPSHOT', '--no-verify'],
  '--null': ['tables', 'SNAPSHOT', '--csv', '--null', '-'],
  '--output': ['tables', 'SNAPSHOT', '--output', 'markdown'],
  '--parallelism': ['check', 'SNAPSHOT', '--parallelism', '2'],
  '--plan': ['meta', 'SNAPSHOT', '--plan', 'PLAN'],
  '--proto': ['meta', 'SNAPSHOT', '--proto', 'PROTO'],
  '--proto-type': ['meta', 'SNAPSHOT', '--proto', 'PROTO', '--proto-type', 'SourceReaderState=A'],
  '--rebase': ['meta', 'SNAPSHOT', '--rebase', '/old=/new'],
  '--skip-damaged': ['sql', 'SELECT count(*) FROM keyed_state', 'SNAPSHOT', '--skip-damaged'],
  '--state-info': ['meta', 'SNAPSHOT', '--state-info', 'STATEINFO'],
  '--threads': ['sql', 'SELECT 1 AS a', 'SNAPSHOT', '--threads', '2'],
  '--timeout': ['sql', 'SELECT 1 AS a', 'SNAPSHOT', '--timeout', '20'],
  '--ttl': ['meta', 'SNAPSHOT', '--ttl', 'count=1h'],
  '--uids': ['meta', 'SNAPSHOT', '--uids', 'UIDS'],
  '-f': ['sql', '-f', 'SQL', 'SNAPSHOT'],
  '-o': ['tables', 'SNAPSHOT', '-o', 'box'],
  '-p': ['sql', 'SELECT $a AS a', 'SNAPSHOT', '-p', 'a=1'],
  '-q': ['tables', 'SNAPSHOT', '-q'],
  '-s': ['sql', 'SELECT count(*) FROM a.keyed_state', '-s', 'a=SNAPSHOT'],
  '-v': ['tables', 'SNAPSHOT', '-v'],
};

export const TABLES = [
  'channel_records',
  'channel_state',
  'files',
  'key_groups',
  'keyed_state',
  'keyed_state_raw',
  'metadata',
  'operator_state',
  'operator_state_raw',
  'operators',
  'sink_transactions',
  'snapshot',
  'source_offsets',
  'state_handles',
  'state_meta',
  'state_stats',
  'timers',
  'windows',
] as const;

/** Named in passing, or by a pattern. */
export const OTHER_TABLES = [
  'operator_state_all',
  'StateMeta',
  'KeyedState',
  'OperatorState',
  'all_states',
  'all_keyed_states',
  'all_operator_states',
] as const;

/** By what stands for the operator and the state, each with a fixture that has one. */
export const NAMED_TABLES: readonly (readonly [fixture: string, table: string])[] = [
  ['2.3-kinds-hashmap-native', 'uid_kinds-uid_keyed'],
  ['2.3-kinds-hashmap-native', 'id_56eeafc825cb18482f018d1bee5638e6_keyed'],
  ['2.3-kinds-hashmap-native', 'uid_kinds-uid_list-long_keyed_flat'],
  ['2.3-kinds-hashmap-native', 'uid_kinds-uid_map-string-long_keyed_flat'],
  ['2.3-windows-hashmap-canonical', 'uid_session-reduce_windowed'],
  ['2.3-wordcount-rocksdb-canonical', 'uid_offsets_offsets_list'],
  ['2.3-kinds-hashmap-native', '56eeafc825cb18482f018d1bee5638e6#value-long'],
  ['2.3-kinds-hashmap-native', '56eeafc825cb18482f018d1bee5638e6#keyed:value-long'],
  ['2.3-kinds-hashmap-native', '56eeafc825cb18482f018d1bee5638e6#all_keyed_states'],
  ['2.3-kinds-hashmap-native', '56eeafc825cb18482f018d1bee5638e6#all_operator_states'],
  ['2.3-kinds-hashmap-native', '56eeafc825cb18482f018d1bee5638e6#all_states'],
];
