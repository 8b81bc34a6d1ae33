/**
 * The states of a snapshot, read from the headers of its state files: which operator registered which state, with which
 * serializers, in which subtasks. One header read a file; nothing of the entries.
 *
 * A state is one (operator, kind, name); where subtasks registered it with different serializers (a restore that reached
 * only some of them, files of several ages) each form is a StateVariant of its own.
 */
import type { KeyedHandle, Operator, OperatorHandle, Subtask } from '../checkpoint/handles.js';
import { CorruptError, StateQueryError } from '../errors.js';
import type { UidSource } from '../names/operator-names.js';
import { nameState, type OperatorNaming } from '../names/state-names.js';
import { type Codec, type CodecContext, codecOf, type SerializerSnapshot } from '../serializers/codec.js';
import { opaqueCodec } from '../serializers/opaque.js';
import type { KeyedHeader, KeyedStateReader, RegisteredState, StateContext } from '../state/entry.js';
import { openKeyedState, openOperatorState } from '../state/open.js';
import { openRawKeyedState } from '../state/raw-keyed.js';
import { BIGINT, type SqlType, VARCHAR } from '../types.js';

/** An operator with the names that are known of it. */
export interface OperatorView {
  readonly operator: Operator;
  readonly id: string;
  readonly uid: string | null;
  readonly uidSource: UidSource | null;
  readonly name: string | null;
  /** exec node of a compiled plan, where one is known */
  readonly planLabel?: string;
  /** names of the columns of its states, from outside the snapshot */
  readonly namings: readonly OperatorNaming[];
}

/** The codecs of a state, taken apart: TTL, list and map wrappers peeled. */
export interface StateShape {
  readonly form: 'single' | 'list' | 'map' | 'timer' | 'element' | 'broadcast';
  readonly key: Codec | undefined;
  /** undefined: the void namespace */
  readonly namespace: Codec | undefined;
  readonly mapKey: Codec | undefined;
  /** value, element or map value, without TTL */
  readonly value: Codec;
  readonly ttl: boolean;
}

export type StateKind = 'keyed' | 'operator' | 'broadcast' | 'timer';

export interface StateVariant {
  readonly operator: OperatorView;
  readonly name: string;
  readonly kind: StateKind;
  readonly registered: RegisteredState;
  readonly keySnapshot: SerializerSnapshot | undefined;
  readonly backend: string;
  /** 0, 1, … among the variants of this state */
  readonly variant: number;
  readonly subtasks: number[];
  readonly shape: StateShape;
  /** why (some) values cannot be decoded */
  readonly reason: string | undefined;
  /** names of columns that do not fit, and why */
  readonly notes: readonly string[];
}

/** One keyed state file of a subtask. */
export interface KeyedPart {
  readonly operator: OperatorView;
  readonly subtask: number;
  readonly handle: KeyedHandle;
  /** timers in raw keyed state (RocksDB with timers on the heap) */
  readonly raw: boolean;
}

/** Opens the state of a part. Reads the header only. @throws StateQueryError */
export function openPart(part: KeyedPart, context: StateContext): KeyedStateReader {
  if (!part.raw) return openKeyedState(part.handle, context);
  const opened = openRawKeyedState(part.handle, context);
  if (opened.kind === 'timers') return opened.reader;
  opened.close();
  throw new CorruptError('raw keyed state holds timers in some subtasks only', { where: context.where });
}
/** One operator state file of a subtask. */
export interface OperatorPart {
  readonly operator: OperatorView;
  readonly subtask: number;
  readonly handle: OperatorHandle;
}

/** A part whose header could not be read. */
export interface PartProblem {
  readonly operator: OperatorView;
  readonly subtask: number;
  readonly kind: 'keyed' | 'raw-keyed' | 'operator';
  readonly error: StateQueryError;
}

/** Everything that the headers of one operator tell. */
export interface OperatorStates {
  readonly operator: OperatorView;
  readonly keyed: readonly KeyedPart[];
  readonly managed: readonly OperatorPart[];
  readonly variants: readonly StateVariant[];
  readonly problems: readonly PartProblem[];
  /** set when the raw keyed state of the operator was read as timers */
  readonly rawTimers?: boolean;
  /** the variant that a header's registered state belongs to */
  variantOf(key: SerializerSnapshot | undefined, state: RegisteredState): StateVariant | undefined;
}

/** the parts of a state that hold what the user stored */
const VALUE_PARTS: ReadonlySet<string> = new Set(['value', 'element', 'map value', 'broadcast value']);

export const VOID_TYPE = undefined;
const NOTHING = codecOf({ type: VARCHAR, length: 0, read: () => null, skip: () => undefined });

/** Reads the headers of an operator. Errors of single files become problems. */
export function readOperatorStates(
  operator: OperatorView,
  contextOf: (operator: OperatorView, subtask: number) => StateContext,
  valuesOf?: ValueCodecs,
): OperatorStates {
  const keyed: KeyedPart[] = [];
  const managed: OperatorPart[] = [];
  const problems: PartProblem[] = [];
  const variants = new Map<string, StateVariant & { subtasks: number[] }>();
  const counts = new Map<string, number>();
  let rawTimers = false;
  const add = (
    subtask: number,
    backend: string,
    codecs: CodecContext,
    key: SerializerSnapshot | undefined,
    state: RegisteredState,
    told: { readonly unresolved?: string | undefined; readonly note?: string | undefined } = {},
  ) => {
    const id = variantId(key, state);
    const known = variants.get(id);
    if (known !== undefined) {
      if (!known.subtasks.includes(subtask)) known.subtasks.push(subtask);
      return;
    }
    const stateKey = `${state.kind}\0${state.name}`;
    const variant = counts.get(stateKey) ?? 0;
    counts.set(stateKey, variant + 1);
    const { shape, reason } = shapeOf(key, state, codecs, valuesOf?.(operator, state.name));
    const { parts, notes } = nameState(shape, state, operator.namings);
    variants.set(id, {
      operator,
      name: state.name,
      kind: state.kind,
      registered: state,
      keySnapshot: key,
      backend,
      variant,
      subtasks: [subtask],
      shape: parts,
      reason: [reason, told.unresolved].filter(x => x !== undefined).join('; ') || undefined,
      notes: told.note === undefined ? notes : [...notes, told.note],
    });
  };
  for (const subtask of operator.operator.subtasks) {
    readSubtask(subtask);
  }
  function readSubtask(subtask: Subtask): void {
    const context = contextOf(operator, subtask.index);
    if (subtask.managedKeyed !== undefined) {
      keyed.push({ operator, subtask: subtask.index, handle: subtask.managedKeyed, raw: false });
      guard('keyed', subtask.index, () => {
        const reader = openKeyedState(subtask.managedKeyed as KeyedHandle, context);
        try {
          const header: KeyedHeader = reader.header;
          const unresolved = header.states.some(mayNeedUserCode) ? reader.unresolved?.() : undefined;
          for (const state of header.states)
            add(subtask.index, reader.backend, context.codecs, header.key, state, {
              unresolved: unresolved?.get(state.id),
              note: header.keyGuess,
            });
        } finally {
          reader.close();
        }
      });
    }
    if (subtask.rawKeyed !== undefined) {
      const handle = subtask.rawKeyed;
      const failed = problems.length;
      const raw: number[] = [];
      guard('raw-keyed', subtask.index, () => {
        const opened = openRawKeyedState(handle, context);
        try {
          if (opened.kind !== 'timers') return;
          rawTimers = true;
          raw.push(subtask.index);
          const { header } = opened.reader;
          for (const state of header.states) add(subtask.index, 'raw-keyed', context.codecs, header.key, state);
        } finally {
          opened.close();
        }
      });
      // what cannot be read may hold timers
      if (raw.length > 0 || problems.length > failed) keyed.push({ operator, subtask: subtask.index, handle, raw: true });
    }
    if (subtask.managedOperator !== undefined && subtask.managedOperator.empty !== true) {
      managed.push({ operator, subtask: subtask.index, handle: subtask.managedOperator });
      guard('operator', subtask.index, () => {
        const reader = openOperatorState(subtask.managedOperator as OperatorHandle, context);
        try {
          for (const state of reader.header.states) add(subtask.index, 'operator', context.codecs, undefined, state);
        } finally {
          reader.close();
        }
      });
    }
  }
  function guard(kind: PartProblem['kind'], subtask: number, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
      problems.push({ operator, subtask, kind, error });
    }
  }
  return {
    operator,
    keyed,
    managed,
    variants: [...variants.values()],
    problems,
    rawTimers,
    variantOf: (key, state) => variants.get(variantId(key, state)),
  };
}

/** A changelog holds merges of windows, not their results: what the job's own function would have to do is found by replaying it. */
function mayNeedUserCode(state: RegisteredState): boolean {
  return (
    (state.stateType === 'REDUCING' || state.stateType === 'AGGREGATING' || state.stateType === 'FOLDING') &&
    state.namespace?.serializer !== 'VoidNamespaceSerializer'
  );
}

const identities = new WeakMap<SerializerSnapshot, string>();
/** Equal for snapshots that decode alike. */
export function serializerIdentity(snapshot: SerializerSnapshot | undefined): string {
  if (snapshot === undefined) return '-';
  let text = identities.get(snapshot);
  if (text === undefined) {
    text = `${snapshot.snapshotClass}/${snapshot.version}${JSON.stringify(snapshot.details)}${snapshot.text}(${snapshot.children.map(c => `${c.name}:${serializerIdentity(c.snapshot)}`).join(',')})`;
    identities.set(snapshot, text);
  }
  return text;
}

function variantId(key: SerializerSnapshot | undefined, s: RegisteredState): string {
  return [
    s.kind,
    s.name,
    s.v2,
    s.stateType ?? '',
    s.mode ?? '',
    s.unreadable ?? '',
    serializerIdentity(key),
    serializerIdentity(s.key),
    serializerIdentity(s.namespace),
    serializerIdentity(s.userKey),
    serializerIdentity(s.value),
  ].join('\0');
}

/** A serializer that wraps a value in its time of last access. */
function peelTtl(snapshot: SerializerSnapshot): { snapshot: SerializerSnapshot; ttl: boolean } {
  if (snapshot.serializer === 'TtlAwareSerializer') return peelTtl(snapshot.children[0].snapshot);
  if (snapshot.serializer !== 'TtlSerializer') return { snapshot, ttl: false };
  return { snapshot: snapshot.children[1].snapshot, ttl: true };
}

/** What a state's values, elements or map values are, where the user says more than the serializer: for an operator and a state. */
export type ValueCodecs = (operator: OperatorView, state: string) => (codec: Codec, snapshot: SerializerSnapshot) => Codec;

/** Takes the serializers of a state apart into the codecs of its rows. */
export function shapeOf(
  keySnapshot: SerializerSnapshot | undefined,
  state: RegisteredState,
  context: CodecContext,
  values?: ReturnType<ValueCodecs>,
): { shape: StateShape; reason: string | undefined } {
  const reasons = new Set<string>();
  if (state.unreadable !== undefined) reasons.add(state.unreadable);
  const build = (snapshot: SerializerSnapshot | undefined, what: string): Codec => {
    if (snapshot === undefined) {
      const reason = state.unreadable ?? `the snapshot has no serializer for the ${what}`;
      reasons.add(reason);
      return opaqueCodec('unknown', reason);
    }
    const own = snapshot.codec(context);
    const codec = values === undefined || !VALUE_PARTS.has(what) ? own : values(own, snapshot);
    if (codec.opaque !== undefined) reasons.add(codec.opaque);
    return codec;
  };
  const done = (shape: StateShape) => ({ shape, reason: reasons.size === 0 ? undefined : [...reasons].join('; ') });
  const key = keySnapshot === undefined ? undefined : build(keySnapshot, 'key');
  if (state.kind === 'operator') {
    return done({
      form: 'element',
      key: undefined,
      namespace: undefined,
      mapKey: undefined,
      value: build(state.value, 'element'),
      ttl: false,
    });
  }
  if (state.kind === 'broadcast') {
    return done({
      form: 'broadcast',
      key: undefined,
      namespace: undefined,
      mapKey: build(state.key, 'broadcast key'),
      value: build(state.value, 'broadcast value'),
      ttl: false,
    });
  }
  if (state.kind === 'timer') {
    const [timerKey, timerNamespace] = state.value?.children ?? [];
    return done({
      form: 'timer',
      key: timerKey === undefined ? key : build(timerKey.snapshot, 'timer key'),
      namespace: namespaceCodec(timerNamespace?.snapshot, build),
      mapKey: undefined,
      value: NOTHING,
      ttl: false,
    });
  }
  const namespace = namespaceCodec(state.namespace, build);
  if (state.stateType === 'LIST') {
    const whole = state.value;
    const element = state.v2 ? whole : isList(whole) ? whole?.children[0]?.snapshot : undefined;
    if (element !== undefined) {
      const peeled = peelTtl(element);
      return done({ form: 'list', key, namespace, mapKey: undefined, value: build(peeled.snapshot, 'element'), ttl: peeled.ttl });
    }
  }
  if (state.stateType === 'MAP') {
    const whole = state.value;
    if (state.v2) {
      const peeled = whole === undefined ? undefined : peelTtl(whole);
      return done({
        form: 'map',
        key,
        namespace,
        mapKey: build(state.userKey, 'map key'),
        value: build(peeled?.snapshot, 'map value'),
        ttl: peeled?.ttl === true,
      });
    }
    if (whole !== undefined && whole.children.length === 2 && whole.unknown === undefined) {
      const peeled = peelTtl(whole.children[1].snapshot);
      return done({
        form: 'map',
        key,
        namespace,
        mapKey: build(whole.children[0].snapshot, 'map key'),
        value: build(peeled.snapshot, 'map value'),
        ttl: peeled.ttl,
      });
    }
  }
  const peeled = state.value === undefined ? undefined : peelTtl(state.value);
  return done({ form: 'single', key, namespace, mapKey: undefined, value: build(peeled?.snapshot, 'value'), ttl: peeled?.ttl === true });
}

function isList(snapshot: SerializerSnapshot | undefined): boolean {
  return snapshot !== undefined && snapshot.children.length === 1 && /^(Array)?ListSerializer$/.test(snapshot.serializer);
}

function namespaceCodec(
  snapshot: SerializerSnapshot | undefined,
  build: (s: SerializerSnapshot | undefined, what: string) => Codec,
): Codec | undefined {
  return snapshot?.serializer === 'VoidNamespaceSerializer' ? undefined : build(snapshot, 'namespace');
}

/**
 * The SQL types that a column can have over some variants: contract §2. A state without the column (no map key, void
 * namespace) does not count. One type: typed; several, or an undecodable one: mixed.
 */
export function unifyTypes(
  types: readonly (SqlType | undefined)[],
  same: (a: SqlType, b: SqlType) => boolean,
): { type: SqlType; mixed: boolean } | undefined {
  let found: SqlType | undefined;
  for (const type of types) {
    if (type === undefined) continue;
    if (type.kind === 'JSON' || (found !== undefined && !same(found, type))) return { type: { kind: 'JSON' }, mixed: true };
    found = type;
  }
  return found === undefined ? undefined : { type: found, mixed: false };
}

export const NO_TYPE: SqlType = VARCHAR;
export const COUNT_TYPE: SqlType = BIGINT;
