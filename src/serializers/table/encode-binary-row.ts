/**
 * A BinaryRow out of values, byte for byte as Flink's generated code writes one: what point look-ups compare keys with.
 *
 *   header and slots as in nested.ts; the parts of variable length follow in the order of the fields, each filled up with zeros
 *   to 8 bytes. DECIMAL(p > 18) always takes 16 bytes there, TIMESTAMP(p > 3) 8, null or not.
 *
 * Flink: BinaryRowWriter, AbstractBinaryWriter in org.apache.flink.table.data.writer, ProjectionCodeGenerator (1.11–2.3).
 */
import { Decimal, Interval, Timestamp, type Value } from '../../types.js';
import type { LogicalType } from './logical-type.js';

/**
 * The BinaryRow with row kind +I (without the i32 size that RowDataSerializer puts in front), or undefined when a type nests or
 * a value is none of its type.
 * @param values in the forms of types.ts, one a type; null is a null field
 */
export function encodeBinaryRow(values: readonly Value[], types: readonly LogicalType[]): Uint8Array | undefined {
  const n = types.length;
  if (values.length !== n) return undefined;
  const headerBytes = ((n + 63 + 8) >> 6) << 3;
  const fixed = Buffer.alloc(headerBytes + n * 8);
  const parts: Buffer[] = [];
  let end = fixed.length;

  /** Adds a part of at least `room` bytes; `low` is the slot's lower half. */
  const part = (slot: number, bytes: Buffer, low: number, room = bytes.length): void => {
    fixed.writeInt32LE(low, slot);
    fixed.writeInt32LE(end, slot + 4);
    const padded = Buffer.alloc(Math.ceil(room / 8) * 8);
    bytes.copy(padded);
    parts.push(padded);
    end += padded.length;
  };

  for (const [i, written] of types.entries()) {
    const type = written.kind === 'DISTINCT' ? written.source : written;
    const slot = headerBytes + i * 8;
    const value = values[i];
    if (value === null) {
      fixed[(i + 8) >> 3] |= 1 << (i & 7);
      if (type.kind === 'DECIMAL' && type.precision > 18) part(slot, NO_BYTES, 0, 16);
      else if ((type.kind === 'TIMESTAMP' || type.kind === 'TIMESTAMP_LTZ') && type.precision > 3) part(slot, NO_BYTES, 0, 8);
      continue;
    }
    if (!writeValue(type, value, fixed, slot, part)) return undefined;
  }
  return Buffer.concat([fixed, ...parts]);
}

const NO_BYTES = Buffer.alloc(0);
type Part = (slot: number, bytes: Buffer, low: number, room?: number) => void;

/** false: the value is none of the type */
function writeValue(type: LogicalType, value: Value, fixed: Buffer, slot: number, part: Part): boolean {
  const integer = (bytes: 1 | 2 | 4): boolean => {
    const limit = 2 ** (bytes * 8 - 1);
    if (typeof value !== 'number' || !Number.isInteger(value) || value < -limit || value >= limit) return false;
    fixed.writeIntLE(value, slot, bytes);
    return true;
  };
  const long = (n: bigint): boolean => {
    if (BigInt.asIntN(64, n) !== n) return false;
    fixed.writeBigInt64LE(n, slot);
    return true;
  };
  const bytes = (b: Buffer): boolean => {
    if (b.length > 7) part(slot, b, b.length);
    else {
      b.copy(fixed, slot);
      fixed[slot + 7] = 0x80 | b.length;
    }
    return true;
  };
  switch (type.kind) {
    case 'BOOLEAN':
      if (typeof value !== 'boolean') return false;
      fixed[slot] = value ? 1 : 0;
      return true;
    case 'TINYINT':
      return integer(1);
    case 'SMALLINT':
      return integer(2);
    case 'INTEGER':
    case 'DATE':
      return integer(4);
    case 'BIGINT':
      return typeof value === 'bigint' && long(value);
    case 'FLOAT':
      if (typeof value !== 'number') return false;
      fixed.writeFloatLE(value, slot);
      return true;
    case 'DOUBLE':
      if (typeof value !== 'number') return false;
      fixed.writeDoubleLE(value, slot);
      return true;
    case 'TIME':
      if (typeof value !== 'number' || value % 1_000_000 !== 0) return false;
      fixed.writeInt32LE(value / 1_000_000, slot);
      return true;
    case 'CHAR':
    case 'VARCHAR':
      // a surrogate without its partner has no UTF-8
      return typeof value === 'string' && !/\p{Surrogate}/u.test(value) && bytes(Buffer.from(value, 'utf8'));
    case 'BINARY':
    case 'VARBINARY':
      return value instanceof Uint8Array && bytes(Buffer.from(value));
    case 'DECIMAL': {
      if (!(value instanceof Decimal) || value.scale !== type.scale) return false;
      const limit = 10n ** BigInt(type.precision);
      if (value.unscaled >= limit || value.unscaled <= -limit) return false;
      if (type.precision <= 18) return long(value.unscaled);
      const unscaled = twosComplement(value.unscaled);
      part(slot, unscaled, unscaled.length, 16);
      return true;
    }
    case 'TIMESTAMP':
    case 'TIMESTAMP_LTZ': {
      if (!(value instanceof Timestamp)) return false;
      const ms = value.seconds * 1000n + BigInt(Math.floor(value.nanos / 1_000_000));
      const nanosOfMilli = value.nanos % 1_000_000;
      if (type.precision <= 3) return nanosOfMilli === 0 && long(ms);
      if (BigInt.asIntN(64, ms) !== ms) return false;
      const b = Buffer.alloc(8);
      b.writeBigInt64LE(ms);
      part(slot, b, nanosOfMilli);
      return true;
    }
    case 'INTERVAL_YEAR_MONTH':
      if (!(value instanceof Interval) || value.days !== 0 || value.micros !== 0n) return false;
      fixed.writeInt32LE(value.months, slot);
      return true;
    case 'INTERVAL_DAY_TIME':
      return (
        value instanceof Interval && value.months === 0 && value.days === 0 && value.micros % 1000n === 0n && long(value.micros / 1000n)
      );
    default:
      return false;
  }
}

/** As java.math.BigInteger.toByteArray: the fewest bytes, big-endian. */
function twosComplement(n: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(length * 8, n) !== n) length++;
  return Buffer.from(
    BigInt.asUintN(length * 8, n)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  );
}
