/**
 * The codecs that find where the parts of an entry end: key, namespace, map key, value, element.
 *
 *   kind         serializers in the header                                  parts
 *   keyed        NAMESPACE, VALUE: that of the whole value                  LIST: ListSerializer [element]; MAP: MapSerializer [key, value]
 *   keyed, 2.x   NAMESPACE, VALUE: of the element or the map value, USER_KEY (2.1+)
 *   timer        VALUE: TimerSerializer [key, namespace]
 *
 * Flink: RegisteredKeyValueStateBackendMetaInfo, RegisteredPriorityQueueStateBackendMetaInfo,
 * RegisteredKeyAndUserKeyValueStateBackendMetaInfo (2.3).
 */
import { Cursor } from '../io/cursor.js';
import type { Codec, CodecContext, SerializerSnapshot } from '../serializers/codec.js';
import { opaqueCodec } from '../serializers/opaque.js';
import type { RegisteredState } from './entry.js';

export interface StateCodecs {
  readonly key: Codec;
  readonly namespace: Codec;
  /** MAP: of the map key and the map value; the value with TTL, if there is one */
  readonly mapKey: Codec | undefined;
  readonly mapValue: Codec | undefined;
  /** LIST: of an element, with TTL if there is one */
  readonly element: Codec | undefined;
  /** of the whole value in heap layout; undefined for lists and maps of 2.x and timers */
  readonly value: Codec | undefined;
}

/** The codecs of one state of a file whose key serializer is `key`. */
export function codecsOf(key: SerializerSnapshot, state: RegisteredState, context: CodecContext): StateCodecs {
  const make = (snapshot: SerializerSnapshot | undefined, what: string): Codec =>
    snapshot === undefined
      ? opaqueCodec('unknown', state.unreadable ?? `the snapshot has no serializer for the ${what}`)
      : snapshot.codec(context);
  const none = { mapKey: undefined, mapValue: undefined, element: undefined, value: undefined };
  if (state.kind === 'timer') {
    const [timerKey, timerNamespace] = state.value?.children ?? [];
    return { ...none, key: make(timerKey?.snapshot ?? key, 'key'), namespace: make(timerNamespace?.snapshot, 'namespace') };
  }
  const codecs = { ...none, key: make(key, 'key'), namespace: make(state.namespace, 'namespace') };
  const value = make(state.value, 'value');
  const parts = state.value?.children ?? [];
  if (state.stateType === 'LIST') {
    if (state.v2) return { ...codecs, element: value };
    return { ...codecs, value, element: isList(state.value) ? make(parts[0].snapshot, 'element') : undefined };
  }
  if (state.stateType === 'MAP') {
    if (state.v2) return { ...codecs, mapKey: make(state.userKey, 'map key'), mapValue: value };
    const split = parts.length === 2 && state.value?.unknown === undefined;
    return {
      ...codecs,
      value,
      mapKey: split ? make(parts[0].snapshot, 'map key') : opaqueCodec('unknown', 'the map serializer is not known'),
      mapValue: split ? make(parts[1].snapshot, 'map value') : opaqueCodec('unknown', 'the map serializer is not known'),
    };
  }
  return { ...codecs, value };
}

function isList(snapshot: SerializerSnapshot | undefined): boolean {
  return snapshot !== undefined && snapshot.children.length === 1 && /^(Array)?ListSerializer$/.test(snapshot.serializer);
}

const ZEROS = new Uint8Array(256);
const sizes = new WeakMap<Codec, number>();

/**
 * Bytes of every value on the wire, -1 when they differ. Not getLength(): namespaces declare 0 and write 1 (void), 8 or 16
 * (windows) bytes, so a declared 0 is measured.
 */
export function wireSize(codec: Codec): number {
  if (codec.length !== 0) return codec.length;
  let size = sizes.get(codec);
  if (size === undefined) {
    const c = new Cursor(ZEROS);
    try {
      codec.skip(c);
      size = c.position;
    } catch {
      size = -1;
    }
    sizes.set(codec, size);
  }
  return size;
}
