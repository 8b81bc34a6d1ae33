/**
 * Serializer snapshots as they stand in state files: the framings, and what a definition of a serializer looks like.
 *
 *   versioned snapshot        utf class · i32 version · body                    no length: one unknown body hides what follows
 *   with proxy (≥ 1.7)        i32 2 · versioned snapshot
 *   with proxy (1.3–1.6)      i32 1 · utf class · i32 version · body
 *   composite, version 3      i32 911108 · i32 outer version · outer body · nested        (≤ 2: outer body · nested)
 *   nested                    i32 1333245 · i32 1 · i32 n · n × versioned snapshot
 *   LinkedOptionalMap         i64 0x4F2C69A3D70 · i32 n · n × (utf name · bool · [i32 len · key] · bool · [i32 len · value])
 *   adapter (≥ 1.7)           version 0x7A53C4F0: i32 1 · i32 len · Java serializer · i32 version · configuration body
 *
 * Flink: TypeSerializerSnapshot, CompositeTypeSerializerSnapshot, NestedSerializersSnapshotDelegate, LinkedOptionalMapSerializer,
 * TypeSerializerConfigSnapshot (1.7–2.3).
 */
import { type ErrorDetails, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { Codec, CodecContext, NamedSnapshot, SerializerSnapshot } from './codec.js';

/** Snapshots nest no deeper than this; real ones reach about 10. */
export const MAX_NESTING = 64;
/** CompositeTypeSerializerSnapshot.MAGIC_NUMBER */
export const COMPOSITE_MAGIC = 911108;
/** NestedSerializersSnapshotDelegate.MAGIC_NUMBER */
export const NESTED_MAGIC = 1333245;
/** TypeSerializerConfigSnapshot.ADAPTER_VERSION */
export const ADAPTER_VERSION = 0x7a53c4f0;
const LINKED_OPTIONAL_MAP = 0x000004f2c69a3d70n;

/**
 * A snapshot class that is not known, or a known one in an unknown version, where nothing says how long its body is. The
 * reader of the header that holds it goes on at the next anchor (`resync.ts`).
 */
export class UnknownSnapshotError extends UnsupportedError {
  constructor(
    readonly snapshotClass: string,
    readonly version: number,
    /** position in the cursor's bytes where the unknown body begins */
    readonly bodyAt: number,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, {
      hint: 'the states beside it stay readable; this one shows its bytes',
      ...details,
    });
  }
}

/** What a definition's `read` gives; the registry adds class, version and a memo around `codec`. */
export type SnapshotBody = Omit<SerializerSnapshot, 'snapshotClass' | 'version' | 'children' | 'details'> &
  Partial<Pick<SerializerSnapshot, 'children' | 'details'>>;

/** Handed to a definition's `read`: who is being read, and how nested snapshots are. */
export interface SnapshotReader {
  /** full class name of the snapshot, as written */
  readonly snapshotClass: string;
  readonly version: number;
  /** reading a 1.3–1.6 configuration snapshot, or one behind the 1.7 adapter */
  readonly legacy: boolean;
  readonly depth: number;
  /** utf class, i32 version, body. @throws UnknownSnapshotError */
  versioned(c: Cursor): SerializerSnapshot;
  /** Like `versioned` over a whole frame [position, end): an unknown body is stepped over and shown as opaque. */
  framed(c: Cursor): SerializerSnapshot;
  /** i32 2 (or 1), then the snapshot */
  withProxy(c: Cursor): SerializerSnapshot;
  /** The serializer of this class, if its snapshot is a simple one. */
  simple(serializerClass: string): SimpleSerializer | undefined;
  /** Throws: this version of this class is not known. */
  unknownVersion(c: Cursor): never;
}

/** A serializer without configuration: its class tells all. */
export interface SimpleSerializer {
  readonly serializer: string;
  readonly text: string;
  codec(context: CodecContext): Codec;
}

/** One serializer: the snapshot classes it is written under, and how their body is read. */
export interface SerializerDefinition {
  readonly snapshotClasses: readonly string[];
  /** set when the snapshot has no content */
  readonly simple?: SimpleSerializer;
  /** Reads the body (what follows `i32 version`) to its last byte. */
  read(c: Cursor, version: number, reader: SnapshotReader): SnapshotBody;
}

/** Gives a definition its type; the folder's `SERIALIZERS` array lists it and the registry does the rest. */
export const defineSerializer = (definition: SerializerDefinition): SerializerDefinition => definition;

/** Reads the block of nested snapshots: i32 1333245, i32 1, i32 n, n × versioned snapshot. */
export function readNestedDelegate(c: Cursor, reader: SnapshotReader): SerializerSnapshot[] {
  const at = c.position;
  const magic = c.i32('magic of nested serializers');
  if (magic !== NESTED_MAGIC) c.fail(`nested serializers begin with ${magic}, expected ${NESTED_MAGIC}`, at);
  const version = c.i32('version of nested serializers');
  if (version !== 1) c.fail(`nested serializers of version ${version}, expected 1`, at + 4);
  const n = c.count('number of nested serializers', 6);
  const nested: SerializerSnapshot[] = [];
  for (let i = 0; i < n; i++) nested.push(reader.versioned(c));
  return nested;
}

export interface Composite<T> {
  readonly outerVersion: number;
  readonly outer: T;
  readonly nested: readonly SerializerSnapshot[];
}

/**
 * Reads the body of a CompositeTypeSerializerSnapshot.
 * @param outer reads the outer body, of the version given
 * @param arity the number of nested snapshots there must be; undefined: any
 */
export function readComposite<T>(
  c: Cursor,
  reader: SnapshotReader,
  outer: (c: Cursor, outerVersion: number) => T,
  arity?: number,
): Composite<T> {
  let outerVersion = reader.version;
  if (!reader.legacy && reader.version > 2) {
    if (reader.version !== 3) reader.unknownVersion(c);
    const at = c.position;
    const magic = c.i32('magic of a composite snapshot');
    if (magic !== COMPOSITE_MAGIC) c.fail(`composite snapshot begins with ${magic}, expected ${COMPOSITE_MAGIC}`, at);
    outerVersion = c.i32('version of the outer serializer');
  }
  const value = outer(c, outerVersion);
  const at = c.position;
  const nested = isNested(c) ? readNestedDelegate(c, reader) : readResilienceBlock(c, reader);
  if (arity !== undefined && nested.length !== arity)
    c.fail(`${reader.snapshotClass} has ${nested.length} nested serializers, expected ${arity}`, at);
  return { outerVersion, outer: value, nested };
}

function isNested(c: Cursor): boolean {
  if (c.remaining < 4) return true;
  const at = c.position;
  const magic = c.i32();
  c.position = at;
  return magic === NESTED_MAGIC;
}

/**
 * Serializers and configurations "with resilience", 1.3–1.7: i32 n · n × (i32 serializer offset, i32 configuration offset) ·
 * i32 total · blob. At a configuration offset stands a snapshot with proxy; the Java-serialized serializers are stepped over.
 * TypeSerializerSerializationUtil.writeSerializersAndConfigsWithResilience (1.6).
 */
export function readResilienceBlock(c: Cursor, reader: SnapshotReader): SerializerSnapshot[] {
  const n = c.count('number of serializers', 8);
  const offsets: number[] = [];
  for (let i = 0; i < n; i++) {
    c.i32();
    offsets.push(c.i32());
  }
  const total = c.count('bytes of serializers');
  const start = c.take(total, 'serializers');
  return offsets.map(offset => {
    if (offset < 0 || offset > total) c.fail(`configuration offset ${offset} outside of ${total} bytes`, start);
    const part = new Cursor(c.bytes, start + offset, start + total, c.origin, c.base);
    return reader.withProxy(part);
  });
}

export interface OptionalMapEntry<K, V> {
  readonly name: string;
  readonly key: K | undefined;
  readonly value: V | undefined;
}

/** Reads a LinkedOptionalMap; each frame must be read to its end. */
export function readLinkedOptionalMap<K, V>(
  c: Cursor,
  what: string,
  readKey: (frame: Cursor) => K,
  readValue: (frame: Cursor) => V,
): OptionalMapEntry<K, V>[] {
  const at = c.position;
  const magic = c.i64();
  if (magic !== LINKED_OPTIONAL_MAP) c.fail(`${what} begin with ${magic.toString(16)}, expected 4f2c69a3d70`, at);
  const n = c.count(`number of ${what}`, 4);
  const entries: OptionalMapEntry<K, V>[] = [];
  for (let i = 0; i < n; i++) {
    const name = c.utf(`name of ${what}`);
    const key = c.bool() ? readFrame(c, `key of ${what}`, readKey) : undefined;
    const value = c.bool() ? readFrame(c, `value of ${what}`, readValue) : undefined;
    entries.push({ name, key, value });
  }
  return entries;
}

function readFrame<T>(c: Cursor, what: string, read: (frame: Cursor) => T): T {
  const length = c.count(`length of ${what}`);
  const start = c.take(length, what);
  const frame = new Cursor(c.bytes, start, start + length, c.origin, c.base);
  const value = read(frame);
  frame.expectEnd(what);
  return value;
}

/** Names for nested snapshots: `named(['key', 'value'], nested)`. */
export function named(names: readonly string[], snapshots: readonly SerializerSnapshot[]): NamedSnapshot[] {
  return snapshots.map((snapshot, i) => ({ name: names[i] ?? `f${i}`, snapshot }));
}

/** Class name without its package; nested classes joined by a dot: `com.x.Outer$Inner` → `Outer.Inner`. */
export function simpleName(className: string): string {
  const last = className.slice(className.lastIndexOf('.') + 1);
  return /^\$|\$$/.test(last) ? last : last.replaceAll('$', '.');
}

/** The serializer that a snapshot class belongs to, by Flink's habit: `LongSerializer$LongSerializerSnapshot` → `LongSerializer`. */
export function serializerClassOf(snapshotClass: string): string {
  const dollar = snapshotClass.lastIndexOf('$');
  if (dollar > 0 && /Snapshot\d*$/.test(snapshotClass)) {
    const inner = snapshotClass.slice(dollar + 1).replace(/(Config)?Snapshot\d*$/, '');
    const outer = snapshotClass.slice(0, dollar);
    return outer.endsWith('Serializer') || !inner.endsWith('Serializer') ? outer : `${outer}$${inner}`;
  }
  return snapshotClass.replace(/(Config)?Snapshot\d*$/, '');
}
