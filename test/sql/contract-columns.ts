/** Every column name that the contract declares, table by table: none may need quotes. */
const OPERATOR = ['operator_id', 'operator_uid', 'operator_name'];
const words = (text: string) => text.trim().split(/\s+/);

export const SPECS: readonly (readonly [table: string, columns: readonly string[]])[] = [
  [
    'state_meta',
    [
      ...OPERATOR,
      ...words(`operator_uid_source operator_hint state_name state_kind state_type distribution_mode
    backend key_type namespace_type map_key_type value_type key_serializer namespace_serializer value_serializer ttl parallelism
    max_parallelism size_bytes variant subtasks decodable reason`),
    ],
  ],
  [
    'keyed_state',
    [
      ...OPERATOR,
      ...words(`state_name key namespace map_key list_index value key_group subtask_index ttl_last_access
    ttl_expires_at ttl_expired value_size`),
    ],
  ],
  ['operator_state', [...OPERATOR, ...words('state_name distribution_mode subtask_index list_index map_key value value_size')]],
  ['keyed_state_raw', words('key_json namespace_json map_key_json value_json key_bytes namespace_bytes map_key_bytes value_bytes')],
  [
    'operators',
    [
      ...OPERATOR,
      ...words(`parallelism max_parallelism subtask_state_count finished finished_subtasks
    coordinator_state_size_in_bytes channel_state_size_in_bytes total_size_in_bytes checkpoint_id`),
    ],
  ],
  [
    'snapshot',
    words(`path kind format metadata_version flink_versions checkpoint_id checkpoint_type modified_at unaligned
    total_size_in_bytes new_size_in_bytes channel_state_size_in_bytes metadata_size_in_bytes self_contained relocatable`),
  ],
  ['timers', [...OPERATOR, ...words('timer_service time_domain fires_at fires_at_ms key namespace key_group subtask_index')]],
  [
    'windows',
    [
      ...OPERATOR,
      ...words(`state_name key window_kind window_start window_end state_window_start state_window_end
    window_start_ms window_end_ms window_id map_key list_index value`),
    ],
  ],
  [
    'source_offsets',
    [
      ...OPERATOR,
      ...words(`subtask_index connector holder topic partition_id next_offset stored_offset offset_marker
    stop_offset split_id details`),
    ],
  ],
  ['sink_transactions', [...OPERATOR, ...words('subtask_index connector checkpoint_id transaction_id producer_id epoch state details')]],
  ['channel_state', [...OPERATOR, ...words('subtask_index direction gate_or_partition channel_index buffers size_bytes')]],
  ['channel_records', words('record_index record_kind value value_bytes complete')],
  ['per operator', words('state_key list_index list_value map_key map_value state_window')],
];
