/**
 * Finding the way again in the header of a state file after a serializer snapshot of unknown length.
 *
 *   next serializer of the state   utf one of KEY_SERIALIZER, NAMESPACE_SERIALIZER, VALUE_SERIALIZER, USER_KEY_SERIALIZER ·
 *                                  i32 2 · utf class name · i32 version
 *   next state                     utf name · i32 kind 0..4 · i32 number of options · options (utf, utf) · i32 number of serializers ·
 *                                  a serializer as above
 *
 * An operator header has an i16 (number of broadcast states) between its two lists, and a keyed header one (number of states) after the key serializer: both stand right before
 * a state's anchor. Flink: StateMetaInfoSnapshotReadersWriters, formats 6 and 7 (1.7–2.3).
 */
import { decodeModifiedUtf8 } from '../io/cursor.js';

export type SerializerKey = 'KEY_SERIALIZER' | 'NAMESPACE_SERIALIZER' | 'VALUE_SERIALIZER' | 'USER_KEY_SERIALIZER';
const SERIALIZER_KEYS: readonly string[] = ['KEY_SERIALIZER', 'NAMESPACE_SERIALIZER', 'VALUE_SERIALIZER', 'USER_KEY_SERIALIZER'];
const OPTION_KEYS: readonly string[] = ['KEYED_STATE_TYPE', 'OPERATOR_STATE_DISTRIBUTION_MODE'];

export type Anchor =
  | {
      readonly kind: 'serializer';
      /** where the utf key begins */
      readonly at: number;
      readonly key: SerializerKey;
    }
  | {
      readonly kind: 'state';
      /** where the utf name begins */
      readonly at: number;
      readonly name: string;
    };

/**
 * The first anchor in `bytes[from, end)`, of either kind. A reader that met an UnknownSnapshotError at `bodyAt` calls it
 * with `from = bodyAt`:
 *  - `serializer`: continue with this state's remaining serializers at `at`;
 *  - `state`: the unreadable serializer was its state's last one; continue with the next state at `at` (two bytes before it
 *    stands the i16 count, when a count is due);
 *  - undefined: the unreadable serializer was the header's last one; the header ends where the data begins, which the
 *    handle's offsets tell (smallest key-group or partition offset).
 */
export function findNextAnchor(bytes: Uint8Array, from: number, end: number): Anchor | undefined {
  for (let p = from; p + 8 <= end; p++) {
    const key = serializerAt(bytes, p, end);
    if (key !== undefined) return { kind: 'serializer', at: p, key };
    const name = stateAt(bytes, p, end);
    if (name !== undefined) return { kind: 'state', at: p, name };
  }
  return undefined;
}

/** The first serializer key in `bytes[from, end)` that is followed by a snapshot with its proxy. */
export function findNextSerializer(bytes: Uint8Array, from: number, end: number): (Anchor & { kind: 'serializer' }) | undefined {
  for (let p = from; p + 8 <= end; p++) {
    const key = serializerAt(bytes, p, end);
    if (key !== undefined) return { kind: 'serializer', at: p, key };
  }
  return undefined;
}

/** The first state (StateMetaInfoSnapshot) that begins in `bytes[from, end)`. */
export function findNextState(bytes: Uint8Array, from: number, end: number): (Anchor & { kind: 'state' }) | undefined {
  for (let p = from; p + 8 <= end; p++) {
    const name = stateAt(bytes, p, end);
    if (name !== undefined) return { kind: 'state', at: p, name };
  }
  return undefined;
}

/** Whether what stands at `p` can follow a snapshot: the end, an anchor, a count before an anchor, another snapshot. */
export function mightFollowSnapshot(bytes: Uint8Array, p: number, end: number): boolean {
  return (
    p === end ||
    serializerAt(bytes, p, end) !== undefined ||
    stateAt(bytes, p, end) !== undefined ||
    stateAt(bytes, p + 2, end) !== undefined ||
    (p + 2 === end && bytes[p] === 0 && bytes[p + 1] === 0) ||
    snapshotAt(bytes, p, end)
  );
}

function serializerAt(bytes: Uint8Array, p: number, end: number): SerializerKey | undefined {
  // the four keys have 14 to 20 letters and begin with K, N, V or U: most positions fall here
  if (p + 2 > end || bytes[p] !== 0 || bytes[p + 1] < 14 || bytes[p + 1] > 20) return undefined;
  const key = textAt(bytes, p, end);
  if (key === undefined || !SERIALIZER_KEYS.includes(key)) return undefined;
  const after = p + 2 + key.length;
  return i32(bytes, after, end) === 2 && snapshotAt(bytes, after + 4, end) ? (key as SerializerKey) : undefined;
}

function stateAt(bytes: Uint8Array, p: number, end: number): string | undefined {
  const length = u16(bytes, p, end);
  if (length === undefined || p + 2 + length + 12 > end) return undefined;
  let at = p + 2 + length;
  const kind = i32(bytes, at, end);
  const options = i32(bytes, at + 4, end);
  if (kind === undefined || kind < 0 || kind > 4 || options === undefined || options < 0 || options > 4) return undefined;
  const name = textAt(bytes, p, end);
  if (name === undefined) return undefined;
  at += 8;
  for (let i = 0; i < options; i++) {
    const key = textAt(bytes, at, end);
    if (key === undefined || !OPTION_KEYS.includes(key)) return undefined;
    at += 2 + key.length;
    const value = textAt(bytes, at, end);
    if (value === undefined || !/^[A-Z_]+$/.test(value)) return undefined;
    at += 2 + value.length;
  }
  const serializers = i32(bytes, at, end);
  if (serializers === undefined || serializers < 1 || serializers > 4) return undefined;
  return serializerAt(bytes, at + 4, end) === undefined ? undefined : name;
}

/** utf class name and a small version */
function snapshotAt(bytes: Uint8Array, p: number, end: number): boolean {
  const length = u16(bytes, p, end);
  if (length === undefined || length < 3 || length > 1024 || p + 2 + length + 4 > end) return false;
  const name = textAt(bytes, p, end);
  return name !== undefined && /^[\p{L}_$][\p{L}\p{N}_$]*(\.[\p{L}_$][\p{L}\p{N}_$]*)*$/u.test(name);
}

function textAt(bytes: Uint8Array, p: number, end: number): string | undefined {
  const length = u16(bytes, p, end);
  if (length === undefined || p + 2 + length > end) return undefined;
  // a writer of modified UTF-8 never puts a zero byte: one there is part of a length in front of the real text
  for (let i = p + 2; i < p + 2 + length; i++) if (bytes[i] === 0) return undefined;
  try {
    return decodeModifiedUtf8(bytes, p + 2, p + 2 + length, () => {
      throw MALFORMED;
    });
  } catch (error) {
    if (error === MALFORMED) return undefined;
    throw error;
  }
}
const MALFORMED = new Error('malformed');

function u16(bytes: Uint8Array, p: number, end: number): number | undefined {
  return p + 2 > end ? undefined : (bytes[p] << 8) | bytes[p + 1];
}

function i32(bytes: Uint8Array, p: number, end: number): number | undefined {
  return p + 4 > end ? undefined : (bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3];
}
