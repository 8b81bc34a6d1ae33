/**
 * Column groups that several tables share, as the contract spells them.
 */
import { BIGINT, BLOB, BOOLEAN, INTEGER, JSON_TYPE, type SqlType, TIMESTAMPTZ, VARCHAR } from '../types.js';
import type { ColumnSpec } from './table.js';

export const column = (name: string, type: SqlType | 'dynamic', description: string): ColumnSpec => ({ name, type, description });

export const OPERATOR_ID = column('operator_id', VARCHAR, 'operator id, 32 hex digits');

/** operator_id, operator_uid, operator_name */
export const OPERATOR_COLUMNS: readonly ColumnSpec[] = [
  OPERATOR_ID,
  column('operator_uid', VARCHAR, 'uid of the operator; NULL when nothing tells it'),
  column('operator_name', VARCHAR, 'name of the operator; NULL when nothing tells it'),
];

export const STATE_NAME = column('state_name', VARCHAR, 'name of the state descriptor');
export const SUBTASK_INDEX = column('subtask_index', INTEGER, 'subtask that stored it');
export const KEY_GROUP = column('key_group', INTEGER, 'key group of the key');
export const LIST_INDEX = column('list_index', BIGINT, 'position in the list, from 0; NULL unless it is a list');

/** keyed_state: what identifies a row, before and after the value. */
export const KEYED_COLUMNS: readonly ColumnSpec[] = [
  ...OPERATOR_COLUMNS,
  STATE_NAME,
  column('key', 'dynamic', 'key of the keyed stream'),
  column('namespace', 'dynamic', 'namespace (a window, mostly); NULL for the void namespace'),
  column('map_key', 'dynamic', 'key of the map entry; NULL unless it is a map'),
  LIST_INDEX,
  column('value', 'dynamic', 'value, list element or map value'),
  KEY_GROUP,
  SUBTASK_INDEX,
  column('ttl_last_access', TIMESTAMPTZ, 'last access or last write, by the TTL update type of the job; NULL without TTL'),
  column('ttl_expires_at', TIMESTAMPTZ, 'ttl_last_access + the duration given with --ttl'),
  column('ttl_expired', BOOLEAN, 'whether that is before --as-of (now); NULL without a known duration'),
  column('value_size', BIGINT, 'bytes of the value alone'),
];

export const RAW_VALUE_COLUMNS: readonly ColumnSpec[] = [
  column('key_json', JSON_TYPE, 'key as JSON'),
  column('namespace_json', JSON_TYPE, 'namespace as JSON'),
  column('map_key_json', JSON_TYPE, 'map key as JSON'),
  column('value_json', JSON_TYPE, 'value as JSON, always exact'),
  column('key_bytes', BLOB, 'serialized key'),
  column('namespace_bytes', BLOB, 'serialized namespace'),
  column('map_key_bytes', BLOB, 'serialized map key'),
  column('value_bytes', BLOB, 'serialized value'),
];

export const KEYED_RAW_COLUMNS: readonly ColumnSpec[] = [...KEYED_COLUMNS.filter(c => c.type !== 'dynamic'), ...RAW_VALUE_COLUMNS];

export const OPERATOR_STATE_COLUMNS: readonly ColumnSpec[] = [
  ...OPERATOR_COLUMNS,
  STATE_NAME,
  column('distribution_mode', VARCHAR, 'SPLIT_DISTRIBUTE, UNION or BROADCAST'),
  SUBTASK_INDEX,
  column('list_index', BIGINT, 'position in the list of this subtask, from 0; NULL for broadcast state'),
  column('map_key', 'dynamic', 'key of the broadcast entry; NULL for list state'),
  column('value', 'dynamic', 'list element or broadcast value'),
  column('value_size', BIGINT, 'bytes of the value alone'),
];

export const OPERATOR_STATE_RAW_COLUMNS: readonly ColumnSpec[] = [
  ...OPERATOR_STATE_COLUMNS.filter(c => c.type !== 'dynamic'),
  column('map_key_json', JSON_TYPE, 'map key as JSON'),
  column('value_json', JSON_TYPE, 'value as JSON, always exact'),
  column('map_key_bytes', BLOB, 'serialized map key'),
  column('value_bytes', BLOB, 'serialized value'),
];
