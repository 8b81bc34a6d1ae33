/**
 * `_stateinfo` beside `_metadata`, as ByteDance's Flink 1.11 writes it: names and state descriptors of the operators of a savepoint.
 *
 *   file       i64 checkpoint id (>= 0) · i32 n (>= 0) · n × operator
 *   operator   16 bytes operator id · optional name · optional uid · block of operator state · block of keyed state
 *   optional   03 (null) or 04 utf
 *   block      00 (none)
 *              01 versioned snapshot of the key serializer · utf backend · i32 n · n × keyed state
 *              02 utf backend · i32 n · n × (utf name · i32 mode · Java stream of a StateDescriptor)
 *   keyed state   utf name · Java stream of a StateDescriptor · versioned snapshot of the namespace serializer
 *                 (an older form is without that snapshot; nothing says which it is, so the newer one is tried first)
 *
 *   StateDescriptor   name · serializerAtomicReference → TypeSerializer · typeInfo · queryableStateName · ttlConfig, then
 *                     bool hasDefault · [i32 n · the default value, serialized]
 *
 * There is no magic number, version, length or checksum: every part is read to its end, and the file ends with its last operator.
 * Layout from public sources of ByteDance's fork (MetadataV3Serializer, Checkpoints.storeCheckpointStateMetadata).
 */
import { readFileSync, statSync } from 'node:fs';
import { CorruptError, StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { textOf } from '../io/json.js';
import { fileError } from '../io/source.js';
import { readJavaObject } from '../java/stream.js';
import {
  classDescName,
  isJavaInstance,
  type JavaContent,
  type JavaObject,
  type JavaValue,
  javaAnnotation,
  javaField,
} from '../java/tree.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import { readVersionedSnapshot } from '../serializers/registry.js';
import { serializerClassOf } from '../serializers/snapshot.js';
import type { SqlType } from '../types.js';
import { type SerializerObject, serializerObject } from './serializer-objects.js';

export interface StateInfoFile {
  readonly checkpointId: bigint;
  readonly operators: readonly DescribedOperator[];
}
export interface DescribedOperator {
  readonly id: string;
  readonly name: string | null;
  readonly uid: string | null;
  readonly keyed: DescribedKeyedStates | null;
  readonly operator: { readonly backend: string; readonly states: readonly DescribedState[] } | null;
}
export interface DescribedKeyedStates {
  readonly keySerializer: string;
  readonly keyType: SqlType;
  readonly backend: string;
  readonly states: readonly DescribedState[];
}
export interface DescribedState {
  readonly name: string;
  readonly mode: string | null;
  /** VALUE, LIST, MAP, REDUCING, AGGREGATING, FOLDING; UNKNOWN for another descriptor */
  readonly type: string;
  /** class of the descriptor */
  readonly descriptor: string;
  readonly serializer: string | null;
  readonly namespaceSerializer: string | null;
  readonly namespaceType: SqlType | null;
  readonly queryableName: string | null;
  /** as text; bytes as hex where they cannot be decoded */
  readonly defaultValue: string | null;
  readonly ttl: DescribedTtl | null;
  /** of the value, list element or map value */
  readonly valueType: SqlType | null;
  readonly mapKeyType: SqlType | null;
}
export interface DescribedTtl {
  readonly millis: bigint;
  readonly updateType: string;
  readonly visibility: string;
  readonly timeCharacteristic: string;
}

const MAX_BYTES = 256 << 20;
const MODES = ['SPLIT_DISTRIBUTE', 'UNION', 'BROADCAST'];
const DESCRIPTOR = 'org.apache.flink.api.common.state.StateDescriptor';
/** id, two tags, two blocks */
const LEAST_OPERATOR = 20;

/** @throws NotFoundError, IoError, CorruptError */
export function readStateInfoFile(file: string): StateInfoFile {
  let bytes: Uint8Array;
  try {
    if (statSync(file).size > MAX_BYTES) throw new CorruptError(`_stateinfo of more than ${MAX_BYTES} bytes`, { file });
    bytes = readFileSync(file);
  } catch (error) {
    throw error instanceof StateQueryError ? error : fileError(error, file);
  }
  return decodeStateInfoFile(bytes, file);
}

/** @throws CorruptError, UnsupportedError */
export function decodeStateInfoFile(bytes: Uint8Array, file: string): StateInfoFile {
  try {
    return new Reader(bytes, file, true).read();
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    try {
      return new Reader(bytes, file, false).read();
    } catch (older) {
      if (!(older instanceof StateQueryError)) throw older;
      throw error;
    }
  }
}

class Reader {
  private readonly c: Cursor;
  private where = 'head';

  constructor(
    bytes: Uint8Array,
    private readonly file: string,
    private readonly withNamespaces: boolean,
  ) {
    this.c = new Cursor(bytes, 0, bytes.length, { file }, 0);
  }

  read(): StateInfoFile {
    try {
      return this.all();
    } catch (error) {
      if (error instanceof CorruptError && error.where === undefined)
        throw new CorruptError(error.message, {
          file: this.file,
          ...(error.offset === undefined ? {} : { offset: error.offset }),
          where: this.where,
          cause: error,
        });
      throw error;
    }
  }

  private all(): StateInfoFile {
    const { c } = this;
    const checkpointId = c.i64();
    if (checkpointId < 0n) c.fail(`checkpoint id ${checkpointId}`, 0);
    const n = this.count('operators', LEAST_OPERATOR);
    const operators: DescribedOperator[] = [];
    for (let i = 0; i < n; i++) operators.push(this.operator(i));
    this.where = 'end';
    c.expectEnd('the last operator');
    return { checkpointId, operators };
  }

  private operator(index: number): DescribedOperator {
    const { c } = this;
    this.where = `operator ${index}`;
    const id = Buffer.from(c.slice(16, 'operator id')).toString('hex');
    this.where = `operator ${id}`;
    const name = this.optional('operator name');
    const uid = this.optional('uid');
    let keyed: DescribedOperator['keyed'] = null;
    let operator: DescribedOperator['operator'] = null;
    for (const expected of [2, 1]) {
      const at = c.position;
      const tag = c.u8();
      if (tag === 0) continue;
      if (tag !== expected) c.fail(`block tag ${tag}, expected 0 or ${expected}`, at);
      if (tag === 2) operator = { backend: c.utf('backend'), states: this.states(id, false) };
      else {
        const key = readVersionedSnapshot(c);
        keyed = { ...this.keyOf(key), backend: c.utf('backend'), states: this.states(id, true) };
      }
    }
    return { id, name, uid, keyed, operator };
  }

  private keyOf(key: SerializerSnapshot): { keySerializer: string; keyType: SqlType } {
    return { keySerializer: serializerClassOf(key.snapshotClass), keyType: key.codec({ flinkMajor: 1 }).type };
  }

  private states(id: string, keyed: boolean): DescribedState[] {
    const { c } = this;
    const n = this.count('states', 8);
    const states: DescribedState[] = [];
    for (let i = 0; i < n; i++) {
      this.where = `operator ${id}, ${keyed ? 'keyed' : 'operator'} state ${i}`;
      const name = c.utf('state name');
      this.where = `operator ${id}, ${keyed ? 'keyed' : 'operator'} state ${name}`;
      const mode = keyed ? null : this.mode();
      const at = c.position;
      const descriptor = readJavaObject(c);
      if (!isJavaInstance(descriptor, DESCRIPTOR)) return c.fail(`a Java object that is no StateDescriptor`, at);
      const namespace = keyed && this.withNamespaces ? readVersionedSnapshot(c) : undefined;
      states.push(describe(name, mode, descriptor, namespace));
    }
    return states;
  }

  private mode(): string {
    const at = this.c.position;
    const ordinal = this.c.i32();
    return MODES[ordinal] ?? this.c.fail(`distribution mode ${ordinal}`, at);
  }
  private optional(what: string): string | null {
    const at = this.c.position;
    const tag = this.c.u8();
    if (tag === 3) return null;
    if (tag !== 4) this.c.fail(`tag ${tag} of the ${what}, expected 3 or 4`, at);
    return this.c.utf(what);
  }
  private count(what: string, minBytes: number): number {
    const at = this.c.position;
    const n = this.c.i32();
    if (n < 0) this.c.fail(`${n} ${what}`, at);
    if (n * minBytes > this.c.remaining) this.c.fail(`${n} ${what} in ${this.c.remaining} bytes`, at);
    return n;
  }
}

const TYPES: readonly (readonly [className: string, type: string])[] = [
  ['ValueStateDescriptor', 'VALUE'],
  ['ListStateDescriptor', 'LIST'],
  ['MapStateDescriptor', 'MAP'],
  ['ReducingStateDescriptor', 'REDUCING'],
  ['AggregatingStateDescriptor', 'AGGREGATING'],
  ['FoldingStateDescriptor', 'FOLDING'],
];

function describe(name: string, mode: string | null, descriptor: JavaObject, namespace: SerializerSnapshot | undefined): DescribedState {
  const type = TYPES.find(([c]) => isJavaInstance(descriptor, `org.apache.flink.api.common.state.${c}`))?.[1] ?? 'UNKNOWN';
  const reference = javaField(descriptor, 'serializerAtomicReference', DESCRIPTOR) ?? javaField(descriptor, 'serializer', DESCRIPTOR);
  const inner = reference?.kind === 'object' && !isSerializer(reference) ? javaField(reference, 'value') : reference;
  const serializer = serializerObject(inner);
  const queryable = javaField(descriptor, 'queryableStateName', DESCRIPTOR);
  return {
    name,
    mode,
    type,
    descriptor: classDescName(descriptor.classDesc),
    serializer: serializer?.className ?? null,
    namespaceSerializer: namespace === undefined ? null : serializerClassOf(namespace.snapshotClass),
    namespaceType: namespace === undefined ? null : namespace.codec({ flinkMajor: 1 }).type,
    queryableName: queryable?.kind === 'string' ? queryable.value : null,
    defaultValue: defaultOf(javaAnnotation(descriptor, DESCRIPTOR), serializer),
    ttl: ttlOf(javaField(descriptor, 'ttlConfig', DESCRIPTOR)),
    valueType: serializer === undefined ? null : (serializer.inside.at(-1) ?? serializer.type),
    mapKeyType: serializer?.inside.length === 2 ? serializer.inside[0] : null,
  };
}

function isSerializer(value: JavaObject): boolean {
  return isJavaInstance(value, 'org.apache.flink.api.common.typeutils.TypeSerializer');
}

function defaultOf(written: readonly JavaContent[], serializer: SerializerObject | undefined): string | null {
  const block = written.find(part => part.kind === 'block');
  if (block?.kind !== 'block') return null;
  const c = new Cursor(block.bytes, 0, block.bytes.length, { where: 'default value' }, 0);
  if (!c.bool()) return null;
  const bytes = c.slice(c.count('bytes of the default value'), 'default value');
  if (serializer?.codec !== undefined) {
    const value = new Cursor(bytes, 0, bytes.length, { where: 'default value' }, 0);
    try {
      const decoded = serializer.codec.read(value);
      if (value.remaining === 0) return decoded === null ? null : textOf(serializer.type, decoded);
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
    }
  }
  return Buffer.from(bytes).toString('hex');
}

const UNIT_MILLIS: Readonly<Record<string, bigint>> = {
  MILLISECONDS: 1n,
  SECONDS: 1000n,
  MINUTES: 60_000n,
  HOURS: 3_600_000n,
  DAYS: 86_400_000n,
};

/** null where the update type is Disabled. Time (before 1.20) has size and unit, Duration seconds and nanos. */
function ttlOf(config: JavaValue | undefined): DescribedTtl | null {
  if (config?.kind !== 'object') return null;
  const constant = (field: string): string => {
    const value = javaField(config, field);
    return value?.kind === 'enum' ? value.constant : 'unknown';
  };
  const updateType = constant('updateType');
  if (updateType === 'Disabled') return null;
  const ttl = javaField(config, 'ttl');
  const size = ttl?.kind === 'object' ? javaField(ttl, 'size') : undefined;
  const unit = ttl?.kind === 'object' ? javaField(ttl, 'unit') : undefined;
  if (size?.kind !== 'long' || unit?.kind !== 'enum' || UNIT_MILLIS[unit.constant] === undefined) return null;
  return {
    millis: size.value * UNIT_MILLIS[unit.constant],
    updateType,
    visibility: constant('stateVisibility'),
    timeCharacteristic: constant('ttlTimeCharacteristic'),
  };
}
