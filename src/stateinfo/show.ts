/** What a stateInfo file or ByteDance's `_stateinfo` says, as one document and as one row a state. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { locateSnapshot } from '../checkpoint/locate.js';
import { NotFoundError } from '../errors.js';
import { type SqlType, sqlTypeText } from '../types.js';
import { type DescribedState, decodeStateInfoFile, type StateInfoFile } from './bytedance.js';
import { decodeStateInfo, isStateInfo, readBytes, STATE_INFO_NAME, type StateInfo } from './message.js';
import { DESCRIBED_NAME } from './sources.js';

export interface ShownRow {
  readonly operator_id: string;
  readonly operator_uid: string | null;
  readonly operator_name: string | null;
  readonly state_name: string | null;
  readonly state_kind: string | null;
  readonly state_type: string | null;
  readonly key_type: string | null;
  readonly namespace_type: string | null;
  readonly map_key_type: string | null;
  readonly value_type: string | null;
  readonly ttl: string | null;
  readonly details: string | null;
}
export interface Shown {
  readonly file: string;
  readonly document: unknown;
  readonly rows: readonly ShownRow[];
}

/** @param path a file, or a snapshot beside which one lies. @throws StateQueryError */
export async function showStateInfo(path: string): Promise<Shown> {
  const file = fileOf(path);
  const bytes = readBytes(file);
  if (isStateInfo(bytes) || file.endsWith(STATE_INFO_NAME)) return shownInfo(file, await decodeStateInfo(bytes, file));
  return shownDescribed(file, decodeStateInfoFile(bytes, file));
}

function fileOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true && !path.endsWith('_metadata')) return path;
  const directory = dirname(locateSnapshot(path).metadataPath);
  const found = [STATE_INFO_NAME, DESCRIBED_NAME].map(name => join(directory, name)).find(file => existsSync(file));
  if (found === undefined)
    throw new NotFoundError(`there is neither ${STATE_INFO_NAME} nor ${DESCRIBED_NAME} beside the snapshot`, {
      file: directory,
      hint: 'statequery stateinfo build <snapshot> -o FILE makes one',
    });
  return found;
}

const typeText = (type: SqlType | null): string | null => (type === null ? null : sqlTypeText(type));

function shownDescribed(file: string, info: StateInfoFile): Shown {
  const state = (s: DescribedState) => ({
    name: s.name,
    ...(s.mode === null ? {} : { mode: s.mode }),
    type: s.type,
    descriptor: s.descriptor,
    serializer: s.serializer,
    namespace_serializer: s.namespaceSerializer,
    queryable_name: s.queryableName,
    default_value: s.defaultValue,
    ttl:
      s.ttl === null
        ? null
        : {
            ttl_ms: s.ttl.millis.toString(),
            update_type: s.ttl.updateType,
            visibility: s.ttl.visibility,
            time_characteristic: s.ttl.timeCharacteristic,
          },
    value_type: typeText(s.valueType),
    map_key_type: typeText(s.mapKeyType),
  });
  const document = {
    checkpoint_id: Number(info.checkpointId),
    operators: info.operators.map(o => ({
      operator_id: o.id,
      operator_name: o.name,
      uid: o.uid,
      keyed:
        o.keyed === null
          ? null
          : {
              key_serializer: o.keyed.keySerializer,
              key_type: sqlTypeText(o.keyed.keyType),
              backend: o.keyed.backend,
              states: o.keyed.states.map(state),
            },
      operator: o.operator === null ? null : { backend: o.operator.backend, states: o.operator.states.map(state) },
    })),
  };
  const rows = info.operators.flatMap((o): ShownRow[] => {
    const operator = { operator_id: o.id, operator_uid: o.uid, operator_name: o.name };
    const of = (s: DescribedState, kind: string, keyType: SqlType | null): ShownRow => ({
      ...operator,
      state_name: s.name,
      state_kind: kind,
      state_type: s.type,
      key_type: typeText(keyType),
      namespace_type: s.namespaceSerializer?.endsWith('VoidNamespaceSerializer') === true ? null : typeText(s.namespaceType),
      map_key_type: typeText(s.mapKeyType),
      value_type: typeText(s.valueType),
      ttl: s.ttl === null ? null : `${s.ttl.millis} ms, ${s.ttl.updateType}`,
      details: [
        s.descriptor.slice(s.descriptor.lastIndexOf('.') + 1),
        ...(s.mode === null ? [] : [s.mode]),
        ...(s.queryableName === null ? [] : [`queryable as ${s.queryableName}`]),
        ...(s.defaultValue === null ? [] : [`default ${s.defaultValue}`]),
      ].join(', '),
    });
    const rows = [
      ...(o.keyed?.states.map(s => of(s, 'keyed', o.keyed?.keyType ?? null)) ?? []),
      ...(o.operator?.states.map(s => of(s, s.mode === 'BROADCAST' ? 'broadcast' : 'operator', null)) ?? []),
    ];
    return rows.length > 0 ? rows : [{ ...EMPTY, ...operator }];
  });
  return { file, document, rows };
}

const EMPTY = {
  state_name: null,
  state_kind: null,
  state_type: null,
  key_type: null,
  namespace_type: null,
  map_key_type: null,
  value_type: null,
  ttl: null,
  details: null,
};

function shownInfo(file: string, info: StateInfo): Shown {
  const rows = info.operators.flatMap((o): ShownRow[] => {
    const operator = { operator_id: o.id, operator_uid: o.uid || null, operator_name: o.name || null };
    if (o.states.length === 0) return [{ ...EMPTY, ...operator }];
    return o.states.map(s => ({
      ...operator,
      state_name: s.name,
      state_kind: s.kind,
      state_type: s.stateType || null,
      key_type: s.key?.type || null,
      namespace_type: s.namespace?.type || null,
      map_key_type: s.mapKey?.type || null,
      value_type: s.value?.type || null,
      ttl: s.ttl ? 'yes' : null,
      details: s.reason || null,
    }));
  });
  return { file, document: { ...info, checkpointId: Number(info.checkpointId) }, rows };
}
