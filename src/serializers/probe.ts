/**
 * Snapshot classes that nobody registered: user and third-party serializers. Their body has no length, but most extend one of
 * three classes of Flink, whose bodies can be told by their structure:
 *
 *   composite   version 3, i32 911108, i32 outer version, outer body of unknown length, then i32 1333245, i32 1 …
 *   simple      version 3, no body           when what follows is plausible after a snapshot (or is the end)
 *   generic     version 2, utf type class    the same
 *
 * Flink: CompositeTypeSerializerSnapshot, SimpleTypeSerializerSnapshot, GenericTypeSerializerSnapshot (1.8–2.3).
 */
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { opaqueCodec } from './opaque.js';
import { mightFollowSnapshot } from './resync.js';
import {
  COMPOSITE_MAGIC,
  NESTED_MAGIC,
  readNestedDelegate,
  type SnapshotBody,
  type SnapshotReader,
  serializerClassOf,
  simpleName,
  UnknownSnapshotError,
} from './snapshot.js';

/** An outer body longer than this is not looked through. */
const MAX_OUTER = 1 << 16;

/**
 * Steps over the body of an unknown class where its structure shows.
 * @throws UnknownSnapshotError with the position of the body when it does not
 */
export function probeUnknown(c: Cursor, reader: SnapshotReader): SnapshotBody {
  const at = c.position;
  const found = reader.legacy ? undefined : (probeComposite(c, reader) ?? probeSimple(c, reader) ?? probeGeneric(c, reader));
  if (found !== undefined) return found;
  c.position = at;
  throw new UnknownSnapshotError(
    reader.snapshotClass,
    reader.version,
    at,
    `serializer snapshot class ${reader.snapshotClass} (version ${reader.version}) is not known`,
    { ...c.origin, offset: c.base + at },
  );
}

/** The same for a snapshot in a frame of known length: its body is the rest of the frame. */
export function unknownFramed(c: Cursor, reader: SnapshotReader): SnapshotBody {
  c.position = c.end;
  return unknownBody(reader, undefined);
}

/** The body of an unknown snapshot: opaque values. */
export function unknownBody(
  reader: Pick<SnapshotReader, 'snapshotClass' | 'version'>,
  parts: Pick<SnapshotBody, 'children' | 'details'> | undefined,
): SnapshotBody {
  const serializer = serializerClassOf(reader.snapshotClass);
  const reason = `serializer ${serializer} is not known`;
  return {
    serializer: simpleName(serializer),
    text: `${simpleName(serializer)}(unknown)`,
    unknown: reason,
    ...parts,
    codec: () => opaqueCodec(serializer, reason),
  };
}

function probeComposite(c: Cursor, reader: SnapshotReader): SnapshotBody | undefined {
  if (reader.version !== 3 || c.remaining < 20) return undefined;
  const start = c.position;
  const bytes = Buffer.from(c.bytes.buffer, c.bytes.byteOffset, c.bytes.byteLength);
  if (bytes.readInt32BE(start) !== COMPOSITE_MAGIC) return undefined;
  const outerVersion = bytes.readInt32BE(start + 4);
  const last = Math.min(c.end - 12, start + 8 + MAX_OUTER);
  for (let p = start + 8; p <= last; p++) {
    if (bytes[p] !== 0 || bytes.readInt32BE(p) !== NESTED_MAGIC || bytes.readInt32BE(p + 4) !== 1) continue;
    const nested = new Cursor(c.bytes, p, c.end, c.origin, c.base);
    try {
      const snapshots = readNestedDelegate(nested, reader);
      c.position = nested.position;
      return unknownBody(reader, {
        children: snapshots.map((snapshot, i) => ({ name: `f${i}`, snapshot })),
        details: { outerVersion, outerBytes: p - start - 8 },
      });
    } catch (error) {
      // a later match would be a nested block further in, not this one
      if (error instanceof StateQueryError) return undefined;
      throw error;
    }
  }
  return undefined;
}

function probeSimple(c: Cursor, reader: SnapshotReader): SnapshotBody | undefined {
  return reader.version === 3 && mightFollowSnapshot(c.bytes, c.position, c.end) ? unknownBody(reader, undefined) : undefined;
}

function probeGeneric(c: Cursor, reader: SnapshotReader): SnapshotBody | undefined {
  if (reader.version !== 2) return undefined;
  const at = c.position;
  try {
    const typeClass = c.utf('type class');
    if (/^[\p{L}_$][\p{L}\p{N}_$.]*$/u.test(typeClass) && mightFollowSnapshot(c.bytes, c.position, c.end))
      return unknownBody(reader, { details: { typeClass } });
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
  }
  c.position = at;
  return undefined;
}
