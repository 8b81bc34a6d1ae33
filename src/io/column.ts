/**
 * Columns as bytes: what decoders write and engines read, in the shape of DuckDB's vectors.
 *
 *   FixedColumn    width 1 2 4 8 16, little-endian: numbers, decimals, times, UUID, INTERVAL
 *   BytesColumn    offsets u32[n+1] into one heap: VARCHAR and JSON (UTF-8), BLOB
 *   StructColumn   a child a field, all of the same length; an AbsentColumn where nobody reads the field
 *   ListColumn     offsets u32[n+1] into one child (LIST) or a key and a value child (MAP)
 *
 *   validity       u8 a row: 1 valid, 0 NULL; a NULL row still has its slot in the data and in every child of a STRUCT
 *
 * A builder is filled by `push(value)` (any Value of its type) or by the typed methods, which make no JavaScript value;
 * `length` counts rows; `truncate(n)` takes rows back; `clear()` starts the next batch in the same memory.
 */
import { SqlError } from '../errors.js';
import { Decimal, HUGEINT, Interval, JsonText, MapValue, type SqlType, Struct, sqlTypeText, Timestamp, type Value } from '../types.js';

export type Column = FixedColumn | BytesColumn | StructColumn | ListColumn;

/** A batch: columns of equal length. The columns are reused for the next batch. */
export interface ColumnBatch {
  readonly length: number;
  readonly columns: readonly Column[];
}

/**
 * A new empty column of `type`; `capacity` rows to start with, growing as needed.
 * @param fields of a STRUCT: the names of those that are read; undefined: all
 */
export function createColumn(type: SqlType, capacity = 2048, fields?: readonly string[]): Column {
  switch (type.kind) {
    case 'STRUCT':
      return new StructColumn(type, capacity, fields);
    case 'LIST':
    case 'MAP':
      return new ListColumn(type, capacity);
    case 'VARCHAR':
    case 'JSON':
    case 'BLOB':
      return new BytesColumn(type, capacity);
    default:
      return new FixedColumn(type, capacity);
  }
}

/** Width in bytes of a fixed-width type. */
export function fixedWidth(type: SqlType): number {
  switch (type.kind) {
    case 'BOOLEAN':
    case 'TINYINT':
      return 1;
    case 'SMALLINT':
      return 2;
    case 'INTEGER':
    case 'FLOAT':
    case 'DATE':
      return 4;
    case 'BIGINT':
    case 'DOUBLE':
    case 'TIME':
    case 'TIME_NS':
    case 'TIMESTAMP':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMPTZ':
      return 8;
    case 'HUGEINT':
    case 'UUID':
    case 'INTERVAL':
      return 16;
    case 'DECIMAL':
      return type.precision <= 4 ? 2 : type.precision <= 9 ? 4 : type.precision <= 18 ? 8 : 16;
    default:
      throw new Error(`${type.kind} has no fixed width`);
  }
}

/** A value that its SQL type cannot hold: contract §3. The table that scans adds operator, state and key. */
export function outOfRange(type: SqlType, text: string): SqlError {
  return new SqlError('VALUE_OUT_OF_RANGE', `value ${text} does not fit ${sqlTypeText(type)}`, {
    hint: 'read value_json of keyed_state_raw or operator_state_raw, which hold every value',
  });
}

abstract class ColumnBase {
  length = 0;
  validity: Uint8Array;
  constructor(
    readonly type: SqlType,
    capacity: number,
  ) {
    this.validity = new Uint8Array(capacity);
  }
  /** true when any row is NULL */
  hasNulls(): boolean {
    const v = this.validity;
    for (let i = 0; i < this.length; i++) if (v[i] === 0) return true;
    return false;
  }
  protected growValidity(): void {
    const next = new Uint8Array(Math.max(16, this.validity.length * 2));
    next.set(this.validity);
    this.validity = next;
  }
  clear(): void {
    this.truncate(0);
  }
  abstract truncate(length: number): void;
  abstract push(value: Value): void;
  abstract pushNull(): void;
}

const I64_MAX = 0x7fffffffffffffffn;
const I64_MIN = -0x8000000000000000n;
const I128_MAX = (1n << 127n) - 1n;

export class FixedColumn extends ColumnBase {
  readonly width: number;
  /** set when a time finer than microseconds was cut (contract §3: the JSON forms have it whole) */
  cut = false;
  data: Uint8Array;
  view: DataView;
  constructor(type: SqlType, capacity: number) {
    super(type, capacity);
    this.width = fixedWidth(type);
    this.data = new Uint8Array(capacity * this.width);
    this.view = new DataView(this.data.buffer);
  }
  /** Byte offset of a new valid row's slot. */
  slot(): number {
    const row = this.length;
    if (row === this.validity.length) this.grow();
    this.validity[row] = 1;
    this.length = row + 1;
    return row * this.width;
  }
  private grow(): void {
    this.growValidity();
    const next = new Uint8Array(this.validity.length * this.width);
    next.set(this.data);
    this.data = next;
    this.view = new DataView(next.buffer);
  }
  override truncate(length: number): void {
    this.length = length;
  }
  override pushNull(): void {
    const at = this.slot();
    this.data.fill(0, at, at + this.width);
    this.validity[this.length - 1] = 0;
  }
  pushI8(n: number): void {
    // the slot first: growing replaces the view
    const at = this.slot();
    this.view.setInt8(at, n);
  }
  pushI16(n: number): void {
    const at = this.slot();
    this.view.setInt16(at, n, true);
  }
  pushI32(n: number): void {
    const at = this.slot();
    this.view.setInt32(at, n, true);
  }
  pushF32(n: number): void {
    const at = this.slot();
    this.view.setFloat32(at, n, true);
  }
  pushF64(n: number): void {
    const at = this.slot();
    this.view.setFloat64(at, n, true);
  }
  pushI64(n: bigint): void {
    const at = this.slot();
    this.view.setBigInt64(at, n, true);
  }
  /** A safe integer as i64, without a bigint. */
  pushI64Number(n: number): void {
    const at = this.slot();
    const high = Math.floor(n / 4294967296);
    this.view.setUint32(at, n - high * 4294967296, true);
    this.view.setInt32(at + 4, high, true);
  }
  /** Copies `width` big-endian bytes, turned round (Java's integers as they stand in the file). */
  pushReversed(bytes: Uint8Array, start: number): void {
    const at = this.slot();
    const { data, width } = this;
    // the widths of long and int without a loop: three times as fast
    if (width === 8) {
      data[at] = bytes[start + 7];
      data[at + 1] = bytes[start + 6];
      data[at + 2] = bytes[start + 5];
      data[at + 3] = bytes[start + 4];
      data[at + 4] = bytes[start + 3];
      data[at + 5] = bytes[start + 2];
      data[at + 6] = bytes[start + 1];
      data[at + 7] = bytes[start];
    } else if (width === 4) {
      data[at] = bytes[start + 3];
      data[at + 1] = bytes[start + 2];
      data[at + 2] = bytes[start + 1];
      data[at + 3] = bytes[start];
    } else for (let i = 0; i < width; i++) data[at + i] = bytes[start + width - 1 - i];
  }
  /** Copies `width` little-endian bytes. */
  pushBytes(bytes: Uint8Array, start: number): void {
    const at = this.slot();
    const { data, width } = this;
    for (let i = 0; i < width; i++) data[at + i] = bytes[start + i];
  }
  pushI128(n: bigint): void {
    const at = this.slot();
    this.view.setBigUint64(at, BigInt.asUintN(64, n), true);
    this.view.setBigInt64(at + 8, BigInt.asIntN(64, n >> 64n), true);
  }
  override push(value: Value): void {
    if (value === null) {
      this.pushNull();
      return;
    }
    const { type } = this;
    if (value instanceof JsonText) throw outOfRange(type, 'decoded only in part');
    switch (type.kind) {
      case 'BOOLEAN':
        this.pushI8(value === true ? 1 : 0);
        return;
      case 'TINYINT':
        this.pushI8(value as number);
        return;
      case 'SMALLINT':
        this.pushI16(value as number);
        return;
      case 'INTEGER':
        this.pushI32(value as number);
        return;
      case 'DATE':
        // DuckDB's dates end where its i32 day count meets ±infinity
        if (Math.abs(value as number) >= 2147483647) throw outOfRange(type, `day ${value}`);
        this.pushI32(value as number);
        return;
      case 'FLOAT':
        this.pushF32(value as number);
        return;
      case 'DOUBLE':
        this.pushF64(value as number);
        return;
      case 'BIGINT':
        this.pushI64(value as bigint);
        return;
      case 'HUGEINT':
        if ((value as bigint) > I128_MAX || (value as bigint) < -I128_MAX - 1n) throw outOfRange(type, String(value));
        this.pushI128(value as bigint);
        return;
      case 'TIME':
        this.pushI64Number(Math.floor((value as number) / 1000));
        return;
      case 'TIME_NS':
        this.pushI64Number(value as number);
        return;
      case 'TIMESTAMP':
      case 'TIMESTAMPTZ': {
        const t = value as Timestamp;
        if (t === Timestamp.INFINITY || t === Timestamp.NEGATIVE_INFINITY) {
          this.pushI64(t === Timestamp.INFINITY ? I64_MAX : -I64_MAX);
          return;
        }
        if (t.nanos % 1000 !== 0) this.cut = true;
        const micros = t.seconds * 1000000n + BigInt(Math.floor(t.nanos / 1000));
        if (micros >= I64_MAX || micros <= -9223372022400000000n) throw outOfRange(type, `${t.seconds}s`);
        this.pushI64(micros);
        return;
      }
      case 'TIMESTAMP_NS': {
        const t = value as Timestamp;
        const nanos = t.seconds * 1000000000n + BigInt(t.nanos);
        if (nanos >= I64_MAX || nanos <= I64_MIN + 1n) throw outOfRange(type, `${t.seconds}s`);
        this.pushI64(nanos);
        return;
      }
      case 'INTERVAL': {
        const v = value as Interval;
        const at = this.slot();
        this.view.setInt32(at, v.months, true);
        this.view.setInt32(at + 4, v.days, true);
        this.view.setBigInt64(at + 8, v.micros, true);
        return;
      }
      case 'UUID':
        this.pushI128(BigInt.asIntN(128, BigInt(`0x${(value as string).replaceAll('-', '')}`) ^ (1n << 127n)));
        return;
      case 'DECIMAL': {
        const d = value as Decimal;
        if (d.scale !== type.scale) throw outOfRange(type, d.toString());
        const limit = 10n ** BigInt(type.precision);
        if (d.unscaled >= limit || d.unscaled <= -limit) throw outOfRange(type, d.toString());
        if (this.width === 16) this.pushI128(d.unscaled);
        else if (this.width === 8) this.pushI64(d.unscaled);
        else if (this.width === 4) this.pushI32(Number(d.unscaled));
        else this.pushI16(Number(d.unscaled));
        return;
      }
      default:
        throw new Error(`${type.kind} is not a fixed-width column`);
    }
  }
}

export class BytesColumn extends ColumnBase {
  offsets: Uint32Array;
  heap: Buffer;
  /** set while every row is this text, where the reader of the column allows it: then neither heap, offsets nor validity are filled */
  constant: Uint8Array | undefined;
  /** whether `constant` is understood by who reads the column */
  constants = false;
  constructor(type: SqlType, capacity: number) {
    super(type, capacity);
    this.offsets = new Uint32Array(capacity + 1);
    this.heap = Buffer.allocUnsafe(Math.max(64, capacity * 16));
  }
  private row(heapEnd: number): void {
    const row = this.length;
    if (row === this.validity.length) {
      this.growValidity();
      const next = new Uint32Array(this.validity.length + 1);
      next.set(this.offsets);
      this.offsets = next;
    }
    this.validity[row] = 1;
    this.length = row + 1;
    this.offsets[row + 1] = heapEnd;
  }
  /** Makes room for `extra` more heap bytes; returns where they begin. */
  reserve(extra: number): number {
    const at = this.offsets[this.length];
    if (at + extra > this.heap.length) {
      const next = Buffer.allocUnsafe(Math.max(this.heap.length * 2, at + extra));
      this.heap.copy(next, 0, 0, at);
      this.heap = next;
    }
    return at;
  }
  /** Ends a row whose bytes were written to the heap up to `end`. */
  finish(end: number): void {
    this.row(end);
  }
  override truncate(length: number): void {
    this.length = length;
    if (length === 0) this.constant = undefined;
  }
  /** The bytes of a text that many rows have; the same array each time. */
  pushText(bytes: Uint8Array): void {
    if (this.constants && (this.length === 0 || this.constant === bytes)) {
      this.constant = bytes;
      this.length++;
    } else {
      if (this.constant !== undefined) this.spread();
      this.pushBytes(bytes, 0, bytes.length);
    }
  }
  /** Writes the constant into every row. */
  private spread(): void {
    const { length, constant } = this;
    if (constant === undefined) return;
    this.constant = undefined;
    this.length = 0;
    for (let i = 0; i < length; i++) this.pushBytes(constant, 0, constant.length);
  }
  override pushNull(): void {
    if (this.constant !== undefined) this.spread();
    this.row(this.offsets[this.length]);
    this.validity[this.length - 1] = 0;
  }
  /** Raw bytes: BLOB, or text that is UTF-8 already. */
  pushBytes(bytes: Uint8Array, start: number, end: number): void {
    const n = end - start;
    const at = this.reserve(n);
    if (n < 24) for (let i = 0; i < n; i++) this.heap[at + i] = bytes[start + i];
    else this.heap.set(bytes.subarray(start, end), at);
    this.row(at + n);
  }
  /** UTF-16 text; lone surrogates become U+FFFD. */
  pushString(text: string): void {
    const at = this.reserve(text.length * 3);
    this.row(at + this.heap.write(text, at, 'utf8'));
  }
  override push(value: Value): void {
    if (value === null) this.pushNull();
    else if (typeof value === 'string') this.pushString(value);
    else if (value instanceof JsonText) {
      if (this.type.kind !== 'JSON') throw outOfRange(this.type, 'decoded only in part');
      this.pushString(value.text);
    } else {
      const bytes = value as Uint8Array;
      this.pushBytes(bytes, 0, bytes.length);
    }
  }
  /** The bytes of a row (a view). */
  bytesAt(row: number): Buffer {
    return this.heap.subarray(this.offsets[row], this.offsets[row + 1]);
  }
}

/** Stands for a field that nobody reads: takes anything, has nothing. Engines fill NULL in. */
export class AbsentColumn extends FixedColumn {
  /** @param field type of what is left out */
  constructor(readonly field: SqlType) {
    super(HUGEINT, 1);
  }
  override slot(): number {
    return 0;
  }
  override truncate(): void {}
  override push(): void {}
  override pushNull(): void {}
}

export class StructColumn extends ColumnBase {
  readonly children: readonly Column[];
  /** a field each: false where the child is an AbsentColumn */
  readonly wanted: readonly boolean[];
  /** @param fields names of the fields that are read; undefined: all */
  constructor(type: SqlType & { kind: 'STRUCT' }, capacity: number, fields?: readonly string[]) {
    super(type, capacity);
    this.wanted = type.fields.map(f => fields === undefined || fields.includes(f.name));
    this.children = type.fields.map((f, i) => (this.wanted[i] ? createColumn(f.type, capacity) : new AbsentColumn(f.type)));
  }
  /** Begins a valid row; the caller pushes one value to each child. */
  begin(): void {
    if (this.length === this.validity.length) this.growValidity();
    this.validity[this.length++] = 1;
  }
  override truncate(length: number): void {
    this.length = length;
    for (const child of this.children) child.truncate(length);
  }
  override pushNull(): void {
    this.begin();
    this.validity[this.length - 1] = 0;
    for (const child of this.children) child.pushNull();
  }
  override push(value: Value): void {
    if (value === null) {
      this.pushNull();
      return;
    }
    if (value instanceof JsonText) throw outOfRange(this.type, 'decoded only in part');
    const { values, extras } = value as Struct;
    if (extras?.some(x => x.name === '$hex')) throw outOfRange(this.type, 'decoded only in part');
    this.begin();
    for (let i = 0; i < this.children.length; i++) this.children[i].push(values[i]);
  }
}

export class ListColumn extends ColumnBase {
  offsets: Uint32Array;
  /** LIST: [element]; MAP: [key, value] */
  readonly children: readonly Column[];
  constructor(type: SqlType & { kind: 'LIST' | 'MAP' }, capacity: number) {
    super(type, capacity);
    this.offsets = new Uint32Array(capacity + 1);
    this.children =
      type.kind === 'LIST'
        ? [createColumn(type.element, capacity)]
        : [createColumn(type.key, capacity), createColumn(type.value, capacity)];
  }
  /** Ends a valid row after its elements were pushed to the children. */
  finish(): void {
    const row = this.length;
    if (row === this.validity.length) {
      this.growValidity();
      const next = new Uint32Array(this.validity.length + 1);
      next.set(this.offsets);
      this.offsets = next;
    }
    this.validity[row] = 1;
    this.length = row + 1;
    this.offsets[row + 1] = this.children[0].length;
  }
  override truncate(length: number): void {
    this.length = length;
    for (const child of this.children) child.truncate(this.offsets[length]);
  }
  override pushNull(): void {
    this.finish();
    this.validity[this.length - 1] = 0;
  }
  override push(value: Value): void {
    if (value === null) {
      this.pushNull();
      return;
    }
    if (value instanceof JsonText) throw outOfRange(this.type, 'decoded only in part');
    if (this.type.kind === 'MAP') {
      const seen = new Set<unknown>();
      const [keys, values] = this.children;
      for (const [k, v] of (value as MapValue).entries) {
        if (k === null) throw outOfRange(this.type, 'a map with a null key');
        const id = mapKeyIdentity(k);
        if (seen.has(id)) throw outOfRange(this.type, 'a map with a repeated key');
        seen.add(id);
        keys.push(k);
        values.push(v);
      }
    } else for (const element of value as readonly Value[]) this.children[0].push(element);
    this.finish();
  }
}

/** Something that is equal (by ===) for equal map keys. */
export function mapKeyIdentity(v: Value): unknown {
  if (typeof v !== 'object' || v === null) return typeof v === 'number' ? `n${Object.is(v, -0) ? 0 : v}` : v;
  if (v instanceof Uint8Array) return `x${Buffer.from(v).toString('hex')}`;
  if (v instanceof Decimal) return `d${v.toString()}`;
  if (v instanceof Timestamp) return `t${v.seconds}.${v.nanos}`;
  if (v instanceof Interval) return `i${v.months}/${v.days}/${v.micros}`;
  if (v instanceof JsonText) return `j${v.text}`;
  if (v instanceof Struct) return `s(${v.values.map(x => String(mapKeyIdentity(x))).join('\u0001')})`;
  if (v instanceof MapValue) return `m(${v.entries.map(([k, x]) => `${mapKeyIdentity(k)}\u0002${mapKeyIdentity(x)}`).join('\u0001')})`;
  return `l(${v.map(x => String(mapKeyIdentity(x))).join('\u0001')})`;
}

/** The JavaScript value of a row, in the forms of `types.ts` (JSON as JsonText). For row-wise consumers and tests. */
export function columnValue(column: Column, row: number): Value {
  if (column instanceof AbsentColumn || column.validity[row] === 0) return null;
  if (column instanceof FixedColumn) return fixedValue(column, row);
  if (column instanceof BytesColumn) {
    const bytes = column.bytesAt(row);
    if (column.type.kind === 'BLOB') return new Uint8Array(bytes);
    const text = bytes.toString('utf8');
    return column.type.kind === 'JSON' ? new JsonText(text) : text;
  }
  if (column instanceof StructColumn) return new Struct(column.children.map(child => columnValue(child, row)));
  const from = column.offsets[row];
  const to = column.offsets[row + 1];
  if (column.type.kind === 'MAP') {
    const entries: (readonly [Value, Value])[] = [];
    for (let i = from; i < to; i++) entries.push([columnValue(column.children[0], i), columnValue(column.children[1], i)]);
    return new MapValue(entries);
  }
  const elements: Value[] = [];
  for (let i = from; i < to; i++) elements.push(columnValue(column.children[0], i));
  return elements;
}

function fixedValue(column: FixedColumn, row: number): Value {
  const { view, type } = column;
  const at = row * column.width;
  switch (type.kind) {
    case 'BOOLEAN':
      return view.getUint8(at) === 1;
    case 'TINYINT':
      return view.getInt8(at);
    case 'SMALLINT':
      return view.getInt16(at, true);
    case 'INTEGER':
    case 'DATE':
      return view.getInt32(at, true);
    case 'FLOAT':
      return view.getFloat32(at, true);
    case 'DOUBLE':
      return view.getFloat64(at, true);
    case 'BIGINT':
      return view.getBigInt64(at, true);
    case 'HUGEINT':
      return i128(view, at);
    case 'TIME':
      return Number(view.getBigInt64(at, true)) * 1000;
    case 'TIME_NS':
      return Number(view.getBigInt64(at, true));
    case 'TIMESTAMP':
    case 'TIMESTAMPTZ':
      return timestampOf(view.getBigInt64(at, true), 1000000n, 1000);
    case 'TIMESTAMP_NS':
      return timestampOf(view.getBigInt64(at, true), 1000000000n, 1);
    case 'INTERVAL':
      return new Interval(view.getInt32(at, true), view.getInt32(at + 4, true), view.getBigInt64(at + 8, true));
    case 'UUID': {
      const hex = BigInt.asUintN(128, i128(view, at) ^ (1n << 127n))
        .toString(16)
        .padStart(32, '0');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    }
    case 'DECIMAL': {
      const unscaled =
        column.width === 16
          ? i128(view, at)
          : column.width === 8
            ? view.getBigInt64(at, true)
            : BigInt(column.width === 4 ? view.getInt32(at, true) : view.getInt16(at, true));
      return new Decimal(unscaled, type.scale);
    }
    default:
      throw new Error(`${type.kind} is not a fixed-width column`);
  }
}

function i128(view: DataView, at: number): bigint {
  return (view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true);
}

function timestampOf(units: bigint, perSecond: bigint, nanosPerUnit: number): Timestamp {
  if (units === I64_MAX) return Timestamp.INFINITY;
  if (units === -I64_MAX) return Timestamp.NEGATIVE_INFINITY;
  let seconds = units / perSecond;
  let rest = units % perSecond;
  if (rest < 0n) {
    rest += perSecond;
    seconds -= 1n;
  }
  return new Timestamp(seconds, Number(rest) * nanosPerUnit);
}

/** Whether a column, or one inside it, cut a time finer than microseconds. */
export function wasCut(column: Column): boolean {
  if (column instanceof FixedColumn) return column.cut;
  return !(column instanceof BytesColumn) && column.children.some(wasCut);
}
