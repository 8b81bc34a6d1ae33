/**
 * One serializer snapshot and, if given, one value of it, told in words: what `statequery inspect --serializer-snapshot` prints.
 *
 *   snapshot   as TypeSerializerSnapshot.writeVersionedSnapshot writes it (utf class · i32 version · body), or with the proxy
 *              version of state files in front (i32 2, since 1.7; i32 1 before)
 *   value      the bytes of one value of that serializer
 */
import { Cursor } from '../io/cursor.js';
import { jsonOf } from '../io/json.js';
import { sqlTypeText } from '../types.js';
import type { CodecContext, SerializerSnapshot } from './codec.js';
import { readSnapshotWithProxy, readVersionedSnapshot } from './registry.js';

export interface Inspection {
  readonly snapshot: SerializerSnapshot;
  /** the readable tree: `Pojo(Profile: id Long, name String)` */
  readonly serializer: string;
  /** SQL type as DuckDB spells it */
  readonly type: string;
  /** finished JSON text of the value; undefined when no value was given */
  readonly value: string | undefined;
  /** bytes behind the snapshot and behind the value that belong to neither */
  readonly left_over: number;
  /** why the value is shown as bytes, when it is */
  readonly reason: string | undefined;
}

export interface InspectionNames {
  readonly snapshotFile?: string;
  readonly valueFile?: string;
}

/**
 * Reads a snapshot and a value.
 * @throws UnknownSnapshotError for a class that is not known; CorruptError with file and offset
 */
export function inspectSnapshot(
  snapshotBytes: Uint8Array,
  valueBytes?: Uint8Array,
  context: CodecContext = {},
  names: InspectionNames = {},
): Inspection {
  const c = new Cursor(snapshotBytes, 0, snapshotBytes.length, { file: names.snapshotFile ?? 'serializer snapshot' });
  const snapshot = hasProxy(snapshotBytes) ? readSnapshotWithProxy(c) : readVersionedSnapshot(c);
  const codec = snapshot.codec(context);
  let leftOver = c.remaining;
  let value: string | undefined;
  if (valueBytes !== undefined) {
    const v = new Cursor(valueBytes, 0, valueBytes.length, { file: names.valueFile ?? 'value' });
    value = jsonOf(codec.type, codec.read(v));
    leftOver += v.remaining;
  }
  return { snapshot, serializer: snapshot.text, type: sqlTypeText(codec.type), value, left_over: leftOver, reason: codec.opaque };
}

/** A proxy version is a small i32, where a class name would have its two bytes of length and its first letters. */
function hasProxy(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && bytes[0] === 0 && bytes[1] === 0 && bytes[2] === 0 && (bytes[3] === 1 || bytes[3] === 2);
}

/** The one JSON object of `--json`: `{"serializer","type","value","left_over"}`, with `reason` when the value is bytes. */
export function inspectionJson(x: Inspection): string {
  const members = [
    `"serializer":${JSON.stringify(x.serializer)}`,
    `"type":${JSON.stringify(x.type)}`,
    `"value":${x.value ?? 'null'}`,
    `"left_over":${x.left_over}`,
  ];
  if (x.reason !== undefined) members.push(`"reason":${JSON.stringify(x.reason)}`);
  return `{${members.join(',')}}`;
}
