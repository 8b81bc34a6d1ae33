/**
 * java.math numbers.
 *
 *   BigInteger   i32 L: 0 null, 1 zero, 2 one, 3 ten, else L − 4 bytes of two's complement, big-endian
 *   BigDecimal   the unscaled BigInteger; if not null i32 scale
 *
 * Flink: BigIntSerializer.readBigInteger, BigDecSerializer.readBigDecimal (1.8–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import { HUGEINT, VARCHAR } from '../types.js';
import { type Codec, codecOf } from './codec.js';
import { simpleDefinition } from './simple.js';

/** JavaScript's integers end at 2^30 bits; none in a state comes near. */
const MAX_BYTES = 1 << 24;

/** A BigInteger or null. */
export function readBigInteger(c: Cursor): bigint | null {
  const at = c.position;
  const n = c.i32();
  switch (n) {
    case 0:
      return null;
    case 1:
      return 0n;
    case 2:
      return 1n;
    case 3:
      return 10n;
    default:
      if (n < 5) c.fail(`length code ${n} of a BigInteger`, at);
      return twosComplement(c, c.take(n - 4, 'BigInteger'), n - 4);
  }
}

/** `length` big-endian bytes at `at` as a signed integer of any size. */
export function twosComplement(c: Cursor, at: number, length: number): bigint {
  if (length > MAX_BYTES) c.fail(`integer of ${length} bytes`, at);
  if (length === 0) return 0n;
  const hex = Buffer.from(c.bytes.buffer, c.bytes.byteOffset + at, length).toString('hex');
  const n = BigInt(`0x${hex}`);
  return c.bytes[at] >= 0x80 ? n - (1n << BigInt(length * 8)) : n;
}

/** BigDecimal.toString: every digit and the scale; an exponent when the scale is negative or the number very small. */
export function bigDecimalText(unscaled: bigint, scale: number): string {
  const negative = unscaled < 0n;
  const digits = (negative ? -unscaled : unscaled).toString();
  const sign = negative ? '-' : '';
  if (scale === 0) return sign + digits;
  const exponent = digits.length - 1 - scale;
  if (scale > 0 && exponent >= -6) {
    const padded = digits.padStart(scale + 1, '0');
    return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  }
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${sign}${digits[0]}${fraction}${exponent === 0 ? '' : `E${exponent > 0 ? '+' : ''}${exponent}`}`;
}

/** A BigDecimal's text or null. */
export function readBigDecimal(c: Cursor): string | null {
  const unscaled = readBigInteger(c);
  return unscaled === null ? null : bigDecimalText(unscaled, c.i32());
}

function skipBigInteger(c: Cursor): boolean {
  const at = c.position;
  const n = c.i32();
  if (n < 0 || n === 4) c.fail(`length code ${n} of a BigInteger`, at);
  if (n > 4) c.take(n - 4, 'BigInteger');
  if (n - 4 > MAX_BYTES) c.fail(`integer of ${n - 4} bytes`, at + 4);
  return n !== 0;
}

export const BIG_INT_CODEC: Codec = codecOf({ type: HUGEINT, read: readBigInteger, skip: c => void skipBigInteger(c) });
export const BIG_DEC_CODEC: Codec = codecOf({
  type: VARCHAR,
  read: readBigDecimal,
  skip(c) {
    if (skipBigInteger(c)) c.take(4);
  },
});

const BASE = 'org.apache.flink.api.common.typeutils.base.';
export const SERIALIZERS = [
  simpleDefinition([`${BASE}BigIntSerializer$BigIntSerializerSnapshot`], 'BigIntSerializer', 'BigInteger', () => BIG_INT_CODEC),
  simpleDefinition([`${BASE}BigDecSerializer$BigDecSerializerSnapshot`], 'BigDecSerializer', 'BigDecimal', () => BIG_DEC_CODEC),
];
