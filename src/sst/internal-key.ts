/**
 * Internal keys: what a table really sorts by.
 *
 *   user key · u64 little-endian trailer = sequence number << 8 | type
 *
 * Order: user key bytewise ascending, then trailer descending, so that the newest version of a user key comes first.
 * Mirrors db/dbformat.h of RocksDB 8.10. A trailer is read as two u32, `low` (type and 24 bits of the sequence number) and
 * `high` (the other 32 bits): 56 bits do not fit a double.
 */

export const TRAILER = 8;

/** ValueType of db/dbformat.h, those that may stand in a table. */
export const DELETION = 0x00;
export const VALUE = 0x01;
export const MERGE = 0x02;
export const SINGLE_DELETION = 0x07;
export const RANGE_DELETION = 0x0f;
export const BLOB_INDEX = 0x11;
export const DELETION_WITH_TIMESTAMP = 0x14;
export const WIDE_COLUMN_ENTITY = 0x16;
export const VALUE_PREFERRED_SEQNO = 0x18;

/** Names for messages. */
export const TYPE_NAMES: Readonly<Record<number, string>> = {
  [DELETION]: 'deletion',
  [VALUE]: 'value',
  [MERGE]: 'merge operand',
  [SINGLE_DELETION]: 'single deletion',
  [RANGE_DELETION]: 'range deletion',
  [BLOB_INDEX]: 'blob index',
  [DELETION_WITH_TIMESTAMP]: 'deletion with a user-defined timestamp',
  [WIDE_COLUMN_ENTITY]: 'wide column entity',
  [VALUE_PREFERRED_SEQNO]: 'value with a preferred sequence number',
};

/** Trailer of the largest key of a file whose end is the exclusive end of a range deletion. */
export const RANGE_SENTINEL_LOW = 0xffffff00 + RANGE_DELETION;
export const RANGE_SENTINEL_HIGH = 0xffffffff;

export const readU32 = (bytes: Uint8Array, at: number): number =>
  (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;

/** A sequence number out of the halves of a trailer. */
export const sequenceOf = (low: number, high: number): bigint => (BigInt(high) << 24n) | BigInt(low >>> 8);

/** -1, 0, 1: bytewise, a prefix before what it begins. */
export function compareBytes(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const difference = a[aStart + i] - b[bStart + i];
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  const rest = aEnd - aStart - (bEnd - bStart);
  return rest === 0 ? 0 : rest < 0 ? -1 : 1;
}

/** compareBytes of whole arrays. */
export const compareKeys = (a: Uint8Array, b: Uint8Array): number => compareBytes(a, 0, a.length, b, 0, b.length);

/** Compares internal keys (user key and trailer). */
export function compareInternalKeys(a: Uint8Array, b: Uint8Array): number {
  const order = compareBytes(a, 0, a.length - TRAILER, b, 0, b.length - TRAILER);
  if (order !== 0) return order;
  return compareTrailers(a, a.length - TRAILER, b, b.length - TRAILER);
}

/** -1 when the trailer at `aAt` is newer (sorts first). */
export function compareTrailers(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  const aHigh = readU32(a, aAt + 4);
  const bHigh = readU32(b, bAt + 4);
  if (aHigh !== bHigh) return aHigh > bHigh ? -1 : 1;
  const aLow = readU32(a, aAt);
  const bLow = readU32(b, bAt);
  return aLow === bLow ? 0 : aLow > bLow ? -1 : 1;
}
