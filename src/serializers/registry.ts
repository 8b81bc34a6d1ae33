/**
 * Which snapshot class is read by what: one line here for each file of serializers.
 *
 * An entry is made by `defineSerializer` (snapshot.ts). The registry adds to what its `read` gives the class, the version, a
 * memo and a limit on nesting. Unknown classes go through the structural probes (probe.ts) before they are given up.
 */
import type { Cursor } from '../io/cursor.js';
import { SERIALIZERS as ARRAYS } from './arrays.js';
import { SERIALIZERS as AVRO } from './avro/index.js';
import { SERIALIZERS as BIG_NUMBERS } from './big-numbers.js';
import { SERIALIZERS as CEP } from './cep/index.js';
import type { Codec, CodecContext, SerializerSnapshot } from './codec.js';
import { SERIALIZERS as COLLECTIONS } from './collections.js';
import { SERIALIZERS as CONNECTORS } from './connectors/index.js';
import { SERIALIZERS as EITHER } from './either.js';
import { SERIALIZERS as ENUMS } from './enums.js';
import { SERIALIZERS as JAVA_SERIALIZER } from './java-serializer.js';
import { SERIALIZERS as KRYO } from './kryo/index.js';
import { SERIALIZERS as LEGACY } from './legacy.js';
import { SERIALIZERS as POJO } from './pojo.js';
import { SERIALIZERS as PRIMITIVES } from './primitives.js';
import { probeUnknown, unknownFramed } from './probe.js';
import { SERIALIZERS as ROW } from './row.js';
import { SERIALIZERS as SCALA } from './scala.js';
import {
  ADAPTER_VERSION,
  MAX_NESTING,
  type SerializerDefinition,
  type SimpleSerializer,
  type SnapshotBody,
  type SnapshotReader,
  serializerClassOf,
  UnknownSnapshotError,
} from './snapshot.js';
import { SERIALIZERS as STREAM_ELEMENTS } from './stream-elements.js';
import { SERIALIZERS as STRING } from './string.js';
import { SERIALIZERS as TABLE } from './table/index.js';
import { SERIALIZERS as TIMER } from './timer.js';
import { SERIALIZERS as TIMES } from './times.js';
import { SERIALIZERS as TUPLE } from './tuple.js';
import { SERIALIZERS as TWO_PHASE_COMMIT } from './two-phase-commit.js';
import { SERIALIZERS as USER_VALUES } from './user-values.js';
import { SERIALIZERS as WINDOWS } from './windows.js';

const FILES: readonly (readonly SerializerDefinition[])[] = [
  ARRAYS,
  BIG_NUMBERS,
  COLLECTIONS,
  EITHER,
  ENUMS,
  JAVA_SERIALIZER,
  POJO,
  PRIMITIVES,
  ROW,
  SCALA,
  STREAM_ELEMENTS,
  STRING,
  TIMER,
  TIMES,
  TUPLE,
  TWO_PHASE_COMMIT,
  USER_VALUES,
  WINDOWS,
  LEGACY,
  TABLE,
  AVRO,
  KRYO,
  CONNECTORS,
  CEP,
];

const BY_CLASS: ReadonlyMap<string, SerializerDefinition> = new Map(
  FILES.flat().flatMap(definition => definition.snapshotClasses.map(name => [name, definition] as const)),
);

const SIMPLE: ReadonlyMap<string, SimpleSerializer> = new Map(
  FILES.flat().flatMap(({ snapshotClasses, simple }) =>
    simple === undefined ? [] : snapshotClasses.map(name => [serializerClassOf(name), simple] as const),
  ),
);

/** A serializer without configuration, by its class: for serializers that stand somewhere as Java objects. */
export function simpleSerializer(className: string): SimpleSerializer | undefined {
  return SIMPLE.get(className);
}

/** All snapshot classes that are known by name, in the order of the files. */
export function knownSnapshotClasses(): string[] {
  return FILES.flat().flatMap(definition => definition.snapshotClasses);
}

/**
 * Reads a versioned snapshot: utf class, i32 version, body.
 * @param depth of nesting so far
 * @throws UnknownSnapshotError when the class is not known and its body cannot be stepped over; CorruptError
 */
export function readVersionedSnapshot(c: Cursor, depth = 0): SerializerSnapshot {
  const className = readClassName(c);
  const version = c.i32('version of the serializer snapshot');
  return readBody(c, className, version, { depth, legacy: false });
}

/**
 * Reads a snapshot with its proxy in front: i32 2 (since 1.7) or i32 1 (1.3–1.6), as it stands in the headers of state files.
 * @throws UnknownSnapshotError, CorruptError
 */
export function readSnapshotWithProxy(c: Cursor, depth = 0): SerializerSnapshot {
  const at = c.position;
  const proxy = c.i32('version of the snapshot proxy');
  if (proxy === 2) return readVersionedSnapshot(c, depth);
  if (proxy !== 1) c.fail(`serializer snapshot proxy of version ${proxy}, expected 2 or 1`, at);
  const className = readClassName(c);
  return readBody(c, className, c.i32(), { depth, legacy: true });
}

function readClassName(c: Cursor): string {
  const at = c.position;
  const name = c.utf('serializer snapshot class');
  if (!/^[\p{L}_$][\p{L}\p{N}_$.]*$/u.test(name)) c.fail('serializer snapshot class is not a class name', at);
  return name;
}

interface Place {
  readonly depth: number;
  readonly legacy: boolean;
}

function readBody(c: Cursor, snapshotClass: string, version: number, place: Place): SerializerSnapshot {
  if (place.depth > MAX_NESTING) c.fail(`serializer snapshots nest deeper than ${MAX_NESTING}`);
  if (version === ADAPTER_VERSION) {
    // TypeSerializerSerializationProxy: the serializer as a Java object, with its length
    const at = c.position;
    const proxy = c.i32();
    if (proxy !== 1) c.fail(`serializer proxy of version ${proxy}, expected 1`, at);
    c.take(c.count('length of the Java-serialized serializer'), 'Java-serialized serializer');
    return readBody(c, snapshotClass, c.i32(), { ...place, legacy: true });
  }
  const reader = readerOf(snapshotClass, version, place);
  const definition = BY_CLASS.get(snapshotClass);
  return finish(reader, definition === undefined ? probeUnknown(c, reader) : definition.read(c, version, reader));
}

function readerOf(snapshotClass: string, version: number, place: Place): SnapshotReader {
  const { depth, legacy } = place;
  return {
    snapshotClass,
    version,
    legacy,
    depth,
    versioned: c => readVersionedSnapshot(c, depth + 1),
    withProxy: c => readSnapshotWithProxy(c, depth + 1),
    framed(c) {
      const start = c.position;
      try {
        const snapshot = readVersionedSnapshot(c, depth + 1);
        if (c.position === c.end || snapshot.unknown === undefined) return snapshot;
      } catch (error) {
        if (!(error instanceof UnknownSnapshotError)) throw error;
      }
      c.position = start;
      const className = readClassName(c);
      const inner = readerOf(className, c.i32(), { depth: depth + 1, legacy: false });
      return finish(inner, unknownFramed(c, inner));
    },
    simple: serializerClass => SIMPLE.get(serializerClass),
    unknownVersion(c) {
      throw new UnknownSnapshotError(snapshotClass, version, c.position, `version ${version} of ${snapshotClass} is not known`, {
        ...c.origin,
        offset: c.offset,
      });
    },
  };
}

function finish(reader: SnapshotReader, body: SnapshotBody): SerializerSnapshot {
  const memo: { major: 1 | 2 | undefined; classes: unknown; protobuf: unknown; codec: Codec }[] = [];
  return {
    serializer: body.serializer,
    text: body.text,
    ...(body.unknown === undefined ? {} : { unknown: body.unknown }),
    snapshotClass: reader.snapshotClass,
    version: reader.version,
    children: body.children ?? [],
    details: body.details ?? {},
    ...(body.encode === undefined ? {} : { encode: body.encode }),
    codec(context: CodecContext): Codec {
      const made = memo.find(m => m.major === context.flinkMajor && m.classes === context.classes && m.protobuf === context.protobuf);
      if (made !== undefined) return made.codec;
      const codec = body.codec({ ...context, depth: (context.depth ?? 0) + 1 });
      memo.push({ major: context.flinkMajor, classes: context.classes, protobuf: context.protobuf, codec });
      return codec;
    },
  };
}
