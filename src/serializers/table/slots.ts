/**
 * What stands in one slot of a BinaryRow or one element of a BinaryArray, by logical type.
 *
 *   width (array)   slot
 *   1               BOOLEAN, TINYINT
 *   2               SMALLINT
 *   4               INTEGER, DATE (days), TIME (ms of the day), INTERVAL YEAR TO MONTH (months), FLOAT
 *   8               BIGINT, DOUBLE, INTERVAL DAY TO SECOND (ms), DECIMAL(p ≤ 18) unscaled, TIMESTAMP(p ≤ 3) ms
 *   8               CHAR, VARCHAR, BINARY, VARBINARY: up to 7 bytes in the slot, else size and offset
 *   8               DECIMAL(p > 18): size and offset of the unscaled number, big-endian
 *   8               TIMESTAMP(p > 3): i32 nanoseconds of the millisecond and offset of i64 ms
 *   8               VARIANT: size and offset of: i32 size of the metadata (big-endian) · metadata · value
 *   8               everything else: size and offset (nested.ts)
 *
 * In a row every slot has 8 bytes and the value stands in the lowest ones. Flink: BinaryRowData, BinaryArrayData, BinaryWriter in
 * org.apache.flink.table.data (1.9–2.3).
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { type BytesColumn, type Column, type FixedColumn, outOfRange } from '../../io/column.js';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  Decimal,
  DOUBLE,
  decimal,
  FLOAT,
  INTEGER,
  INTERVAL,
  Interval,
  JSON_TYPE,
  JsonText,
  SMALLINT,
  type SqlType,
  TIME,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  TINYINT,
  Timestamp,
  VARCHAR,
  type Value,
} from '../../types.js';
import type { Region } from './binary-region.js';
import { BITMAP_TYPE, bitmapValue } from './bitmap.js';
import type { LogicalType } from './logical-type.js';
import { variantJson } from './variant.js';

export interface Slot {
  readonly type: SqlType;
  /** bytes of an element in an array */
  readonly width: 1 | 2 | 4 | 8;
  /** how deep values nest below this one: bounds what parts may add up to */
  readonly depth: number;
  /** why (some) values cannot be decoded */
  readonly opaque?: string;
  /** the value of the slot that begins at bytes[at]; it is not null */
  read(r: Region, at: number): Value;
  append(r: Region, at: number, out: Column): void;
}

const fixed = (column: Column): FixedColumn => column as FixedColumn;
const bytesOf = (column: Column): BytesColumn => column as BytesColumn;

/** Bytes that DuckDB holds in the same way. */
function copied(type: SqlType, width: 1 | 2 | 4 | 8, read: (r: Region, at: number) => Value): Slot {
  return { type, width, depth: 0, read, append: (r, at, out) => fixed(out).pushBytes(r.bytes, at) };
}
/** Appended by way of the value. */
function pushed(type: SqlType, width: 4 | 8, read: (r: Region, at: number) => Value, depth = 1): Slot {
  return { type, width, depth, read, append: (r, at, out) => out.push(read(r, at)) };
}

const BOOLEAN_SLOT: Slot = {
  type: BOOLEAN,
  width: 1,
  depth: 0,
  read: (r, at) => r.bytes[at] !== 0,
  append: (r, at, out) => fixed(out).pushI8(r.bytes[at] === 0 ? 0 : 1),
};
const TINYINT_SLOT = copied(TINYINT, 1, (r, at) => r.view.getInt8(at));
const SMALLINT_SLOT = copied(SMALLINT, 2, (r, at) => r.view.getInt16(at, true));
const INTEGER_SLOT = copied(INTEGER, 4, (r, at) => r.view.getInt32(at, true));
const BIGINT_SLOT = copied(BIGINT, 8, (r, at) => r.view.getBigInt64(at, true));
const FLOAT_SLOT = copied(FLOAT, 4, (r, at) => r.view.getFloat32(at, true));
const DOUBLE_SLOT = copied(DOUBLE, 8, (r, at) => r.view.getFloat64(at, true));
const DATE_SLOT = pushed(DATE, 4, (r, at) => r.view.getInt32(at, true), 0);
const TIME_SLOT: Slot = {
  type: TIME,
  width: 4,
  depth: 0,
  read: (r, at) => r.view.getInt32(at, true) * 1_000_000,
  append(r, at, out) {
    const ms = r.view.getInt32(at, true);
    if (ms < 0 || ms >= 86_400_000) throw outOfRange(TIME, `${ms} ms of the day`);
    fixed(out).pushI64Number(ms * 1000);
  },
};
const YEAR_MONTH_SLOT = pushed(INTERVAL, 4, (r, at) => new Interval(r.view.getInt32(at, true), 0, 0n), 0);
const DAY_TIME_SLOT = pushed(INTERVAL, 8, (r, at) => new Interval(0, 0, r.view.getBigInt64(at, true) * 1000n), 0);

/** Text; bytes that are no UTF-8 (a cast can make them) become U+FFFD. */
export function textOfBytes(bytes: Uint8Array, from: number, to: number): string {
  if (Buffer.isBuffer(bytes)) return bytes.toString('utf8', from, to);
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
}
/** Appends text that is UTF-8 already, without making a string of it. */
export function appendText(bytes: Uint8Array, from: number, to: number, out: BytesColumn): void {
  const n = to - from;
  if (n < 32) {
    const at = out.reserve(n);
    const { heap } = out;
    let seen = 0;
    for (let i = 0; i < n; i++) seen |= heap[at + i] = bytes[from + i];
    if (seen < 0x80) {
      out.finish(at + n);
      return;
    }
  }
  const part = bytes.subarray(from, to);
  if (isAscii(part) || isUtf8(part)) out.pushBytes(bytes, from, to);
  else out.pushString(textOfBytes(bytes, from, to));
}

const TEXT_SLOT: Slot = {
  type: VARCHAR,
  width: 8,
  depth: 1,
  read(r, at) {
    r.locateText(at, 'text');
    return textOfBytes(r.bytes, r.from, r.to);
  },
  append(r, at, out) {
    r.locateText(at, 'text');
    appendText(r.bytes, r.from, r.to, bytesOf(out));
  },
};
const BYTES_SLOT: Slot = {
  type: BLOB,
  width: 8,
  depth: 1,
  read(r, at) {
    r.locateText(at, 'bytes');
    return r.bytes.slice(r.from, r.to);
  },
  append(r, at, out) {
    r.locateText(at, 'bytes');
    bytesOf(out).pushBytes(r.bytes, r.from, r.to);
  },
};

/** A big-endian number in two's complement; no bytes: 0. */
export function signedBigEndian(bytes: Uint8Array, from: number, to: number): bigint {
  if (from === to) return 0n;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('hex');
  return BigInt.asIntN((to - from) * 8, BigInt(`0x${hex}`));
}

/** More bytes than the 16 that DECIMAL(38) needs. */
export const MAX_DECIMAL_BYTES = 16;

function decimalSlot(precision: number, scale: number): Slot {
  const type = decimal(precision, scale);
  if (precision > 18)
    return pushed(type, 8, (r, at) => {
      r.locate(at, 'DECIMAL');
      if (r.to - r.from > MAX_DECIMAL_BYTES) r.fail(`DECIMAL of ${r.to - r.from} bytes`, at);
      return new Decimal(signedBigEndian(r.bytes, r.from, r.to), scale);
    });
  const limit = 10 ** Math.min(precision, 15);
  return {
    type,
    width: 8,
    depth: 0,
    read: (r, at) => new Decimal(r.view.getBigInt64(at, true), scale),
    append(r, at, out) {
      const n = r.view.getInt32(at + 4, true) * 4294967296 + r.view.getUint32(at, true);
      const column = fixed(out);
      if (n >= limit || n <= -limit) out.push(new Decimal(r.view.getBigInt64(at, true), scale));
      else if (column.width === 8) column.pushI64Number(n);
      else if (column.width === 4) column.pushI32(n);
      else column.pushI16(n);
    },
  };
}

/** Milliseconds whose microseconds are still exact as a double: years −283 to 2255. */
const SAFE_MILLIS = 9_000_000_000_000;

function timestampSlot(type: SqlType, precision: number): Slot {
  if (precision > 3)
    return pushed(type, 8, (r, at) => {
      const nanos = r.view.getInt32(at, true);
      if (nanos < 0 || nanos > 999_999) r.fail(`${nanos} nanoseconds of a millisecond`, at);
      r.span(at, 8, 'TIMESTAMP');
      return timestampOf(r.view.getBigInt64(r.from, true), nanos);
    });
  return {
    type,
    width: 8,
    depth: 0,
    read: (r, at) => Timestamp.ofMillis(r.view.getBigInt64(at, true)),
    append(r, at, out) {
      const ms = r.view.getInt32(at + 4, true) * 4294967296 + r.view.getUint32(at, true);
      if (type.kind === 'TIMESTAMP_NS' || ms > SAFE_MILLIS || ms < -SAFE_MILLIS) out.push(Timestamp.ofMillis(r.view.getBigInt64(at, true)));
      else fixed(out).pushI64Number(ms * 1000);
    },
  };
}

/** TimestampData: milliseconds since 1970 and nanoseconds of that millisecond. */
export function timestampOf(ms: bigint, nanosOfMilli: number): Timestamp {
  const whole = Timestamp.ofMillis(ms);
  return nanosOfMilli === 0 ? whole : new Timestamp(whole.seconds, whole.nanos + nanosOfMilli);
}

const VARIANT_SLOT = pushed(JSON_TYPE, 8, (r, at) => {
  r.locate(at, 'VARIANT');
  if (r.to - r.from < 4) r.fail(`VARIANT of ${r.to - r.from} bytes`, at);
  const metadata = r.view.getInt32(r.from);
  const value = r.from + 4 + metadata;
  if (metadata < 0 || value > r.to) r.fail(`VARIANT metadata of ${metadata} bytes`, r.from);
  return new JsonText(variantJson(r.source, { from: r.from + 4, to: value }, { from: value, to: r.to }));
});
const BITMAP_SLOT = pushed(BITMAP_TYPE, 8, (r, at) => {
  r.locate(at, 'BITMAP');
  return bitmapValue(r.source, r.from, r.to);
});

/** SQL type of TIMESTAMP(p) and TIMESTAMP_LTZ(p). */
export function timestampType(precision: number, local: boolean): SqlType {
  return local ? TIMESTAMPTZ : precision > 6 ? TIMESTAMP_NS : TIMESTAMP;
}

/** The slot of a type that does not nest; undefined for the others. */
export function scalarSlot(type: LogicalType): Slot | undefined {
  switch (type.kind) {
    case 'BOOLEAN':
      return BOOLEAN_SLOT;
    case 'TINYINT':
      return TINYINT_SLOT;
    case 'SMALLINT':
      return SMALLINT_SLOT;
    case 'INTEGER':
      return INTEGER_SLOT;
    case 'BIGINT':
      return BIGINT_SLOT;
    case 'FLOAT':
      return FLOAT_SLOT;
    case 'DOUBLE':
      return DOUBLE_SLOT;
    case 'DATE':
      return DATE_SLOT;
    case 'TIME':
      return TIME_SLOT;
    case 'INTERVAL_YEAR_MONTH':
      return YEAR_MONTH_SLOT;
    case 'INTERVAL_DAY_TIME':
      return DAY_TIME_SLOT;
    case 'CHAR':
    case 'VARCHAR':
      return TEXT_SLOT;
    case 'BINARY':
    case 'VARBINARY':
      return BYTES_SLOT;
    case 'DECIMAL':
      return decimalSlot(type.precision, type.scale);
    case 'TIMESTAMP':
    case 'TIMESTAMP_LTZ':
      return timestampSlot(timestampType(type.precision, type.kind === 'TIMESTAMP_LTZ'), type.precision);
    case 'VARIANT':
      return VARIANT_SLOT;
    case 'BITMAP':
      return BITMAP_SLOT;
    default:
      return undefined;
  }
}
