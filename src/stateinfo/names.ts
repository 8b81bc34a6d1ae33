/**
 * What a stateInfo file tells of a snapshot: uids, names, columns, class layouts; and whether the file is of that snapshot's job.
 *
 * It is, when every operator with state is in both, every state of the snapshot is in the file, and the serializers are the same.
 * Checkpoint ids may differ: the file is built once for a job. A state that the file alone has was registered by a later run.
 */
import type { ClassLayout, ClassPool } from '../java/class-file.js';
import { type NamedColumn, type NameTree, row } from '../names/name-tree.js';
import type { KnownName, OperatorNames } from '../names/operator-names.js';
import type { OperatorNaming, StateNames } from '../names/state-names.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import type { StateVariant } from '../tables/states.js';
import { sqlTypeText } from '../types.js';
import { identityOf, serializersOf } from './build.js';
import type { DescribedState, StateInfoFile } from './bytedance.js';
import type { InfoNames, InfoOperator, InfoState, StateInfo } from './message.js';

/** Why the file does not belong to the snapshot; empty when it does. Reads the headers of all operators. */
export function staleness(info: StateInfo, snapshot: OpenedSnapshot): string[] {
  const reasons: string[] = [];
  const known = new Map(info.operators.map(o => [o.id, o]));
  const ids = new Set(snapshot.operators.map(o => o.id));
  for (const operator of info.operators)
    if (operator.states.length > 0 && !ids.has(operator.id)) reasons.push(`operator ${label(operator)} is not in the snapshot`);
  for (const view of snapshot.operators) {
    const { variants } = snapshot.statesOf(view);
    const operator = known.get(view.id);
    if (operator === undefined) {
      if (variants.length > 0) reasons.push(`operator ${view.uid ?? view.name ?? view.id} of the snapshot is not in the file`);
      continue;
    }
    for (const variant of variants) reasons.push(...differences(operator, variant));
  }
  return reasons;
}

const label = (o: InfoOperator): string => o.uid || o.name || o.id;
const WORDS = { key: 'key', namespace: 'namespace', mapKey: 'map key', value: 'value' } as const;

function differences(operator: InfoOperator, variant: StateVariant): string[] {
  const same = operator.states.filter(s => s.name === variant.name && s.kind === variant.kind);
  const where = `state ${variant.name} of operator ${label(operator)}`;
  if (same.length === 0) return [`${where} is not in the file`];
  const reasons = same.map(s => difference(s, variant));
  return reasons.includes(undefined) ? [] : [`${reasons[0]} of ${where} differs`];
}

function difference(state: InfoState, variant: StateVariant): string | undefined {
  const serializers = serializersOf(variant);
  for (const part of ['key', 'namespace', 'mapKey', 'value'] as const) {
    const snapshot = serializers[part];
    const written = state[part];
    if (identityOf(snapshot) !== (written?.identity ?? ''))
      return `the ${WORDS[part]} serializer (${written?.serializer || 'none'} in the file, ${snapshot?.text ?? 'none'} in the snapshot)`;
  }
  return undefined;
}

/** Names of a file that belongs to the snapshot. */
export function stateInfoNames(info: StateInfo, file: string): OperatorNames {
  return new Map(
    info.operators.map((o): [string, KnownName] => [
      o.id,
      {
        uid: o.uid || null,
        name: o.name || null,
        source: 'stateinfo',
        ...(o.planLabel === '' ? {} : { planLabel: o.planLabel }),
        namings: [infoNaming(o, file)],
      },
    ]),
  );
}

function infoNaming(operator: InfoOperator, file: string): OperatorNaming {
  return {
    source: `the stateInfo file ${file}`,
    namesOf({ name, kind }) {
      return operator.states
        .filter(s => s.name === name && s.kind === kind)
        .map(
          (s): StateNames => ({
            ...treeIn('key', s.key?.names),
            ...treeIn('namespace', s.namespace?.names),
            ...treeIn('mapKey', s.mapKey?.names),
            ...treeIn('value', s.value?.names),
          }),
        );
    },
  };
}

function treeIn(part: keyof StateNames, names: InfoNames | null | undefined): StateNames {
  const tree = treeOf(names);
  return tree === undefined ? {} : { [part]: tree };
}

function treeOf(names: InfoNames | null | undefined): NameTree | undefined {
  if (names == null) return undefined;
  if (names.columns.length > 0)
    return row(
      names.columns.map((c): NamedColumn => {
        const inner = treeOf(c.names);
        return { name: c.name, ...(inner === undefined ? {} : { names: inner }) };
      }),
    );
  const element = treeOf(names.element);
  if (element !== undefined) return { kind: 'list', element };
  const [key, value] = [treeOf(names.key), treeOf(names.value)];
  if (key === undefined && value === undefined) return undefined;
  return { kind: 'map', ...(key === undefined ? {} : { key }), ...(value === undefined ? {} : { value }) };
}

/** Layouts of a file as a pool, behind another one. */
export function poolOf(layouts: readonly ClassLayout[], before?: ClassPool): ClassPool | undefined {
  if (layouts.length === 0) return before;
  const byName = new Map(layouts.map(l => [l.name, l]));
  return { find: name => before?.find(name) ?? byName.get(name) };
}

/** What ByteDance's `_stateinfo` tells: uids, names, descriptors. */
export function describedNames(info: StateInfoFile): OperatorNames {
  return new Map(
    info.operators.map((o): [string, KnownName] => {
      const states = new Map<string, DescribedState>();
      for (const s of o.keyed?.states ?? []) states.set(`keyed ${s.name}`, s);
      for (const s of o.operator?.states ?? []) states.set(`${s.mode === 'BROADCAST' ? 'broadcast' : 'operator'} ${s.name}`, s);
      const naming: OperatorNaming = {
        source: '_stateinfo',
        namesOf: () => [],
        ttlMillis: ({ name, kind }) => states.get(`${kind} ${name}`)?.ttl?.millis,
        remark(state, value) {
          const described = states.get(`${state.kind} ${state.name}`);
          return described === undefined ? undefined : remarkOf(described, sqlTypeText(value));
        },
      };
      return [o.id, { uid: o.uid, name: o.name, source: 'stateinfo', namings: [naming] }];
    }),
  );
}

function remarkOf(state: DescribedState, type: string): string | undefined {
  const { ttl } = state;
  const facts = [
    ...(ttl === null ? [] : [`TTL ${ttl.millis} ms (${ttl.updateType}, ${ttl.visibility}, ${ttl.timeCharacteristic})`]),
    ...(state.queryableName === null ? [] : [`queryable as ${state.queryableName}`]),
    ...(state.defaultValue === null ? [] : [`default value ${state.defaultValue}`]),
    ...(state.valueType === null || state.valueType.kind === 'JSON' || sqlTypeText(state.valueType) === type
      ? []
      : [`value type ${sqlTypeText(state.valueType)}`]),
  ];
  const descriptor = state.descriptor.slice(state.descriptor.lastIndexOf('.') + 1);
  return facts.length === 0 ? undefined : `_stateinfo: ${descriptor}, ${facts.join(', ')}`;
}
