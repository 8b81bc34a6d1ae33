/**
 * What a serializer snapshot becomes: a tree of SerializerSnapshots (pure data, as read from the file) and, built from it,
 * a Codec that walks value bytes.
 *
 * Flink: org.apache.flink.api.common.typeutils.TypeSerializerSnapshot / TypeSerializer (1.20).
 */
import type { Column } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import type { ClassPool } from '../java/class-file.js';
import type { JsonText, SqlType, Value } from '../types.js';

export type { ClassLayout, ClassPool, FieldLayout } from '../java/class-file.js';

/** Reads, skips and appends values of one serializer. `read`, `skip` and `append` end at the same byte. */
export interface Codec {
  /** the SQL type of the values, from the snapshot alone */
  readonly type: SqlType;
  /** TypeSerializer.getLength(): bytes of every value, or -1. Decides the length suffixes of composite keys. */
  readonly length: number;
  /**
   * Set when (some) values cannot be decoded: the reason, in words for `state_meta.reason`. Where that is the whole value, or a
   * part before the last one, the type is JSON and read() gives `{"$serializer","$hex"}` (or a partial form) of everything up
   * to the cursor's `end`; where it is the last part, only that field is JSON.
   */
  readonly opaque?: string;
  /**
   * true when a value may swallow everything up to the cursor's end because its own end cannot be known. Inside a
   * composite, what follows such a value is not decodable.
   */
  readonly unbounded?: boolean;
  /**
   * Beside `unbounded`: true when that happens only for values of classes that the snapshot does not name (Kryo). What is built on
   * it keeps its type; a value in partial form is refused by a typed column.
   */
  readonly mostlyBounded?: boolean;
  /** A value of `type`; a JsonText that ends in `"$hex"` when this value could be decoded in part only, up to the cursor's end. */
  read(c: Cursor): Value;
  skip(c: Cursor): void;
  /** Decodes one value straight into a column of `type`. */
  append(c: Cursor, out: Column): void;
}

/** A serializer snapshot as it stands in the file. */
export interface SerializerSnapshot {
  /** full class name of the snapshot, as written */
  readonly snapshotClass: string;
  /** the snapshot's own version */
  readonly version: number;
  /** simple name of the serializer (`PojoSerializer`) */
  readonly serializer: string;
  /** readable tree without package names: `Pojo(Profile: id Long, name String)` */
  readonly text: string;
  /** nested snapshots, in order; `name` is the field, `key`, `value`, `element` … */
  readonly children: readonly NamedSnapshot[];
  /** what else the snapshot says, by field name: type class, enum constants, Avro schema, declared subclasses … (for `check`, `inspect`) */
  readonly details: Readonly<Record<string, SnapshotDetail>>;
  /** set when the snapshot class is not known and the body was stepped over */
  readonly unknown?: string;
  /** Builds the codec. Pure; may throw only StateQueryErrors. */
  codec(context: CodecContext): Codec;
  /** The bytes of a value, where the snapshot alone knows how they are made; undefined where even it does not. */
  readonly encode?: (value: Value) => Uint8Array | undefined;
}
export interface NamedSnapshot {
  readonly name: string;
  readonly snapshot: SerializerSnapshot;
}
export type SnapshotDetail = string | number | boolean | null | readonly SnapshotDetail[] | { readonly [k: string]: SnapshotDetail };

/** What a codec may need beyond its snapshot. */
export interface CodecContext {
  /** major version of the Flink that wrote the snapshot (1 or 2): Kryo 2.24 or Kryo 5.6; undefined: unknown */
  readonly flinkMajor?: 1 | 2;
  /** class layouts from `--jar`; java/jar.ts */
  readonly classes?: ClassPool;
  /** JSON of a protobuf message by its Java class, when the user gave its schema */
  readonly protobuf?: (className: string, bytes: Uint8Array) => JsonText | undefined;
  /** current nesting of codec building, limited */
  readonly depth?: number;
}

/** Whether values of a codec swallow what follows them as a rule: what is built on it has JSON as its type. */
export function hidesEnd(codec: Codec): boolean {
  return codec.unbounded === true && codec.mostlyBounded !== true;
}

/** `unbounded` and `mostlyBounded` of what is built on these codecs. */
export function boundsOf(codecs: readonly Codec[]): { unbounded?: boolean; mostlyBounded?: boolean } {
  const unbounded = codecs.filter(x => x.unbounded === true);
  if (unbounded.length === 0) return {};
  return unbounded.some(hidesEnd) ? { unbounded: true } : { unbounded: true, mostlyBounded: true };
}

/** A codec whose append() goes through read(). Hot codecs write their own. */
export function codecOf(parts: {
  type: SqlType;
  length?: number;
  opaque?: string;
  unbounded?: boolean;
  mostlyBounded?: boolean;
  read(c: Cursor): Value;
  skip?(c: Cursor): void;
  append?(c: Cursor, out: Column): void;
}): Codec {
  const { read } = parts;
  return {
    type: parts.type,
    length: parts.length ?? -1,
    ...(parts.opaque === undefined ? {} : { opaque: parts.opaque }),
    ...(parts.unbounded === undefined ? {} : { unbounded: parts.unbounded }),
    ...(parts.mostlyBounded === undefined ? {} : { mostlyBounded: parts.mostlyBounded }),
    read,
    skip: parts.skip ?? (c => void read(c)),
    append: parts.append ?? ((c, out) => out.push(read(c))),
  };
}
