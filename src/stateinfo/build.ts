/**
 * A StateInfo out of an opened snapshot: everything that state_meta says, with the names that were known when it was built, and what
 * identifies each serializer, so that the file is not taken for another job's.
 */
import { createHash } from 'node:crypto';
import type { ClassLayout, ClassPool } from '../java/class-file.js';
import type { Codec, SerializerSnapshot, SnapshotDetail } from '../serializers/codec.js';
import type { OpenedSnapshot } from '../tables/snapshot.js';
import { type OperatorView, type StateVariant, serializerIdentity } from '../tables/states.js';
import { type SqlType, sqlTypeText } from '../types.js';
import type { InfoNames, InfoOperator, InfoPart, InfoState, StateInfo } from './message.js';

export interface BuildOptions {
  readonly writtenBy: string;
  readonly jobName?: string;
  /** chains by operator id, out of a job graph */
  readonly chains?: ReadonlyMap<string, readonly string[]>;
  /** layouts of the job's classes, with the names of all that there are */
  readonly classes?: ClassPool & { names(): Iterable<string> };
}

/** Reads the headers of all operators. @throws StateQueryError */
export function buildStateInfo(snapshot: OpenedSnapshot, options: BuildOptions): StateInfo {
  const operators = snapshot.operators.map(o => operatorOf(snapshot, o, options.chains?.get(o.id) ?? []));
  return {
    writtenBy: options.writtenBy,
    jobName: options.jobName ?? '',
    checkpointId: BigInt(snapshot.metadata.checkpointId),
    metadataVersion: snapshot.metadata.version,
    flinkVersions: snapshot.flinkVersions().text,
    operators,
    classes: options.classes === undefined ? [] : usedClasses(snapshot, options.classes),
  };
}

function operatorOf(snapshot: OpenedSnapshot, view: OperatorView, chain: readonly string[]): InfoOperator {
  return {
    id: view.id,
    uid: view.uid ?? '',
    uidSource: view.uidSource ?? '',
    name: view.name ?? '',
    parallelism: view.operator.parallelism,
    maxParallelism: view.operator.maxParallelism,
    planLabel: view.planLabel ?? '',
    hint: snapshot.hintOf(view) ?? '',
    chain,
    states: snapshot.statesOf(view).variants.map(stateOf),
  };
}

/** The serializers of a state's parts, as its header registers them. */
export function serializersOf(
  variant: StateVariant,
): Readonly<Record<'key' | 'namespace' | 'mapKey' | 'value', SerializerSnapshot | undefined>> {
  const { registered } = variant;
  return {
    key: variant.keySnapshot,
    namespace: registered.namespace,
    mapKey: variant.kind === 'broadcast' ? registered.key : registered.userKey,
    value: registered.value,
  };
}

/** What a serializer's snapshot says, in 32 hex digits; empty without one. */
export function identityOf(snapshot: SerializerSnapshot | undefined): string {
  if (snapshot === undefined) return '';
  return createHash('sha256').update(serializerIdentity(snapshot)).digest('hex').slice(0, 32);
}

function stateOf(variant: StateVariant): InfoState {
  const { shape, registered } = variant;
  const serializers = serializersOf(variant);
  const part = (codec: Codec | undefined, snapshot: SerializerSnapshot | undefined): InfoPart | null =>
    codec === undefined && snapshot === undefined
      ? null
      : {
          type: codec === undefined ? '' : sqlTypeText(codec.type),
          serializer: snapshot?.text ?? '',
          identity: identityOf(snapshot),
          names: codec === undefined ? null : namesIn(codec.type),
        };
  return {
    name: variant.name,
    kind: variant.kind,
    stateType: registered.stateType ?? '',
    distributionMode: registered.mode ?? '',
    backend: variant.backend,
    variant: variant.variant,
    subtasks: variant.subtasks.join(','),
    ttl: shape.ttl,
    decodable: variant.reason === undefined,
    reason: variant.reason ?? '',
    key: part(shape.key, serializers.key),
    namespace: part(shape.namespace, serializers.namespace),
    mapKey: part(shape.mapKey, serializers.mapKey),
    value: part(variant.kind === 'timer' ? undefined : shape.value, serializers.value),
  };
}

/** The names inside of a type; null where there are none. */
export function namesIn(type: SqlType): InfoNames | null {
  const none = { columns: [], element: null, key: null, value: null };
  switch (type.kind) {
    case 'STRUCT':
      return { ...none, columns: type.fields.map(f => ({ name: f.name, names: namesIn(f.type) })) };
    case 'LIST': {
      const element = namesIn(type.element);
      return element === null ? null : { ...none, element };
    }
    case 'MAP': {
      const [key, value] = [namesIn(type.key), namesIn(type.value)];
      return key === null && value === null ? null : { ...none, key, value };
    }
    default:
      return null;
  }
}

/** Where a pool has more classes than this, those that extend the used ones are not looked for. */
const MAX_CLASSES = 20_000;

/** The classes that serializers name, those of their fields, and what extends them. */
function usedClasses(snapshot: OpenedSnapshot, pool: NonNullable<BuildOptions['classes']>): ClassLayout[] {
  const found = new Map<string, ClassLayout>();
  const open: string[] = [];
  for (const operator of snapshot.operators)
    for (const variant of snapshot.statesOf(operator).variants)
      for (const serializer of Object.values(serializersOf(variant))) if (serializer !== undefined) open.push(...namedBy(serializer));
  const close = (): void => {
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const layout = found.has(name) ? undefined : pool.find(name);
      if (layout === undefined) continue;
      found.set(name, layout);
      if (layout.superName !== undefined) open.push(layout.superName);
      open.push(...layout.interfaces);
      for (const { descriptor, signature } of layout.fields) open.push(...classesIn(`${descriptor} ${signature ?? ''}`));
    }
  };
  close();
  const names = [...pool.names()];
  if (names.length <= MAX_CLASSES)
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const name of names) {
        if (found.has(name)) continue;
        const layout = pool.find(name);
        if (layout !== undefined && [layout.superName, ...layout.interfaces].some(above => above !== undefined && found.has(above)))
          open.push(name);
      }
      close();
    }
  return [...found.values()];
}

function namedBy(snapshot: SerializerSnapshot): string[] {
  return [...namesInDetail(snapshot.details), ...snapshot.children.flatMap(c => namedBy(c.snapshot))];
}
function namesInDetail(detail: SnapshotDetail): string[] {
  if (typeof detail === 'string') return /^[\p{L}_$][\p{L}\p{N}_$.]*$/u.test(detail) ? [detail] : [];
  if (typeof detail !== 'object' || detail === null) return [];
  return Object.entries(detail).flatMap(([key, value]) => [...namesInDetail(key), ...namesInDetail(value as SnapshotDetail)]);
}
function classesIn(descriptors: string): string[] {
  return [...descriptors.matchAll(/L([^;<>]+)/g)].map(m => m[1].replaceAll('/', '.'));
}
