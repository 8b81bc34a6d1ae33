/**
 * The value model: SQL types, as they follow from serializer snapshots alone, and the values that decoders make.
 *
 * SqlType               Value (JavaScript)                       column bytes (io/column.ts)
 * BOOLEAN               boolean                                  u8
 * TINYINT..INTEGER      number                                   i8 i16 i32
 * BIGINT                bigint                                   i64
 * HUGEINT               bigint (BigInteger: any size)            i128
 * FLOAT, DOUBLE         number                                   f32 f64
 * DECIMAL(p,s)          Decimal                                  i16 i32 i64 i128 by precision (4, 9, 18, 38)
 * VARCHAR               string (UTF-16, lone surrogates kept)    UTF-8 heap
 * BLOB                  Uint8Array                               heap
 * UUID                  string, 8-4-4-4-12 lower case            i128 with the top bit flipped
 * DATE                  number, days since 1970-01-01            i32
 * TIME, TIME_NS         number, nanoseconds of the day           i64 microseconds, nanoseconds
 * TIMESTAMP             Timestamp                                i64 microseconds
 * TIMESTAMP_NS          Timestamp                                i64 nanoseconds
 * TIMESTAMPTZ           Timestamp (UTC)                          i64 microseconds
 * INTERVAL              Interval                                 i32 months, i32 days, i64 microseconds
 * STRUCT                Struct                                   children
 * LIST                  Value[]                                  offsets + child
 * MAP                   MapValue                                 offsets + key child + value child
 * JSON                  JsonText                                 UTF-8 heap
 *
 * NULL is `null` in every type. All byte forms are little-endian, as DuckDB's vectors hold them.
 */

export type SqlType =
  | { readonly kind: 'BOOLEAN' | 'TINYINT' | 'SMALLINT' | 'INTEGER' | 'BIGINT' | 'HUGEINT' | 'FLOAT' | 'DOUBLE' }
  | { readonly kind: 'VARCHAR' | 'BLOB' | 'UUID' | 'JSON' }
  | { readonly kind: 'DATE' | 'TIME' | 'TIME_NS' | 'TIMESTAMP' | 'TIMESTAMP_NS' | 'TIMESTAMPTZ' | 'INTERVAL' }
  | { readonly kind: 'DECIMAL'; readonly precision: number; readonly scale: number }
  /** `choice`: one of its fields is there, the others are NULL (Either, Try) */
  | { readonly kind: 'STRUCT'; readonly fields: readonly StructField[]; readonly choice?: true }
  | { readonly kind: 'LIST'; readonly element: SqlType }
  | { readonly kind: 'MAP'; readonly key: SqlType; readonly value: SqlType };

export type SqlKind = SqlType['kind'];
export interface StructField {
  readonly name: string;
  readonly type: SqlType;
}

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Decimal
  | Timestamp
  | Interval
  | Struct
  | MapValue
  | JsonText
  | readonly Value[];

/** unscaled × 10^-scale, exact. */
export class Decimal {
  constructor(
    readonly unscaled: bigint,
    readonly scale: number,
  ) {}
  /** Plain notation with exactly `scale` fraction digits (`1.10`); a negative scale appends zeros. */
  toString(): string {
    const negative = this.unscaled < 0n;
    let digits = (negative ? -this.unscaled : this.unscaled).toString();
    if (this.scale > 0) {
      digits = digits.padStart(this.scale + 1, '0');
      digits = `${digits.slice(0, -this.scale)}.${digits.slice(-this.scale)}`;
    } else if (this.scale < 0 && digits !== '0') digits += '0'.repeat(-this.scale);
    return negative ? `-${digits}` : digits;
  }
}

/** A point in time or a local date-time: seconds since 1970-01-01T00:00:00 (floor) and nanoseconds 0..999,999,999. */
export class Timestamp {
  constructor(
    readonly seconds: bigint,
    readonly nanos: number,
  ) {}
  static ofMillis(millis: bigint): Timestamp {
    let seconds = millis / 1000n;
    let rest = Number(millis % 1000n);
    if (rest < 0) {
      rest += 1000;
      seconds -= 1n;
    }
    return new Timestamp(seconds, rest * 1_000_000);
  }
  /** DuckDB's ±infinity: bounds of windows and timers that SQL timestamps cannot hold. */
  static readonly INFINITY = new Timestamp(9223372036854775807n, 0);
  static readonly NEGATIVE_INFINITY = new Timestamp(-9223372036854775807n, 0);
  /** A window bound: ±infinity outside of DuckDB's range (contract §3). */
  static ofBoundMillis(millis: bigint): Timestamp {
    if (millis > 9223372036854774n) return Timestamp.INFINITY;
    return millis < -9223372022400000n ? Timestamp.NEGATIVE_INFINITY : Timestamp.ofMillis(millis);
  }
}

export class Interval {
  constructor(
    readonly months: number,
    readonly days: number,
    readonly micros: bigint,
  ) {}
}

/**
 * Field values in the order of the type's fields. `extras` exist in the JSON form only: `$class`, `$kind`, fields of a
 * subclass, `$hex` of an undecoded rest; each a name and finished JSON text. `lead` ones stand before the fields.
 */
export class Struct {
  constructor(
    readonly values: readonly Value[],
    readonly extras?: readonly StructExtra[],
    /** of a choice (Either, Try): index of the field that is there; JSON shows it alone, the other one is NULL in SQL */
    readonly chosen?: number,
  ) {}
}
export interface StructExtra {
  readonly name: string;
  readonly json: string;
  readonly lead: boolean;
}

/** Entries in stored order; keys may be null or repeat (SQL refuses those, JSON shows them). */
export class MapValue {
  constructor(readonly entries: readonly (readonly [key: Value, value: Value])[]) {}
}

/**
 * A value whose only form is JSON: finished JSON text (numbers exact, decimals as strings). It may stand for a value of any
 * type that could be decoded in part only; columns of other types than JSON refuse it (VALUE_OUT_OF_RANGE).
 */
export class JsonText {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

const simple = <K extends SqlKind>(kind: K): { readonly kind: K } => Object.freeze({ kind });
export const BOOLEAN = simple('BOOLEAN');
export const TINYINT = simple('TINYINT');
export const SMALLINT = simple('SMALLINT');
export const INTEGER = simple('INTEGER');
export const BIGINT = simple('BIGINT');
export const HUGEINT = simple('HUGEINT');
export const FLOAT = simple('FLOAT');
export const DOUBLE = simple('DOUBLE');
export const VARCHAR = simple('VARCHAR');
export const BLOB = simple('BLOB');
export const UUID = simple('UUID');
export const JSON_TYPE = simple('JSON');
export const DATE = simple('DATE');
export const TIME = simple('TIME');
export const TIME_NS = simple('TIME_NS');
export const TIMESTAMP = simple('TIMESTAMP');
export const TIMESTAMP_NS = simple('TIMESTAMP_NS');
export const TIMESTAMPTZ = simple('TIMESTAMPTZ');
export const INTERVAL = simple('INTERVAL');
export const decimal = (precision: number, scale: number): SqlType => ({ kind: 'DECIMAL', precision, scale });
export const struct = (...fields: readonly (readonly [string, SqlType])[]): SqlType & { kind: 'STRUCT' } => ({
  kind: 'STRUCT',
  fields: fields.map(([name, type]) => ({ name, type })),
});
export const list = (element: SqlType): SqlType => ({ kind: 'LIST', element });
export const map = (key: SqlType, value: SqlType): SqlType => ({ kind: 'MAP', key, value });

/** A SQL identifier, quoted where it has to be. */
export function sqlName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The type as DuckDB spells it, always quoting STRUCT field names that need it: `STRUCT(f0 VARCHAR, f1 BIGINT)[]`. */
export function sqlTypeText(type: SqlType): string {
  switch (type.kind) {
    case 'DECIMAL':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'STRUCT':
      return `STRUCT(${type.fields.map(f => `"${f.name.replaceAll('"', '""')}" ${sqlTypeText(f.type)}`.replace(/^"([A-Za-z_][A-Za-z0-9_]*)" /, '$1 ')).join(', ')})`;
    case 'LIST':
      return `${sqlTypeText(type.element)}[]`;
    case 'MAP':
      return `MAP(${sqlTypeText(type.key)}, ${sqlTypeText(type.value)})`;
    default:
      return type.kind;
  }
}

/** The type in a statement: every field quoted, since `end`, `left`, `inner` and more are words of the grammar. */
export function sqlTypeSyntax(type: SqlType): string {
  switch (type.kind) {
    case 'STRUCT':
      return `STRUCT(${type.fields.map(f => `"${f.name.replaceAll('"', '""')}" ${sqlTypeSyntax(f.type)}`).join(', ')})`;
    case 'LIST':
      return `${sqlTypeSyntax(type.element)}[]`;
    case 'MAP':
      return `MAP(${sqlTypeSyntax(type.key)}, ${sqlTypeSyntax(type.value)})`;
    default:
      return sqlTypeText(type);
  }
}

/** Structural equality: same kinds, names (case-sensitive) and order. */
export function sameType(a: SqlType, b: SqlType): boolean {
  return a === b || sqlTypeText(a) === sqlTypeText(b);
}
