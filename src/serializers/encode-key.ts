/**
 * Constants of a statement as serialized keys: the inverse of the codecs that keys commonly have.
 *
 *   String   varint (UTF-16 units + 1), then a varint a unit (StringValue)         hash: 31·h + unit
 *   Byte Short Integer Long   1 2 4 8 bytes big-endian                             hash: the value; Long low ^ high
 *   Boolean  1 byte                                                                hash: 1231 | 1237
 *   Char     2 bytes                                                               hash: the unit
 *
 * The constant is first read by the literal rule (contract §2): a string against a number is that number or nothing; a
 * number against text is its text. Mixed columns compare as text, which allows no more matches than that.
 */
import { hashLong, hashString, keyGroupOfHash } from '../checkpoint/key-groups.js';
import type { SerializerSnapshot } from './codec.js';

export interface EncodedKey {
  readonly bytes: Uint8Array;
  /** key group among `maxParallelism`, where Flink's hash of the type is known */
  readonly keyGroupOf?: (maxParallelism: number) => number;
}

/** A constant of the statement (tables/table.ts has the same shape). */
export type KeyConstant =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'decimal'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean };

/**
 * The serialized keys that can equal the constant.
 * @returns 'none': no key of this type can; 'unknown': it cannot be said
 */
export function encodeKey(snapshot: SerializerSnapshot, constant: KeyConstant, mixed: boolean): readonly EncodedKey[] | 'none' | 'unknown' {
  switch (snapshot.serializer) {
    case 'StringSerializer': {
      const text = constant.kind === 'string' ? constant.value : constant.kind === 'integer' ? String(constant.value) : undefined;
      // a lone surrogate is U+FFFD in SQL text: such a constant stands for many keys
      if (text === undefined || text.includes('\ufffd')) return 'unknown';
      return [{ bytes: encodeString(text), keyGroupOf: max => keyGroupOfHash(hashString(text), max) }];
    }
    case 'LongSerializer':
      return integerKey(constant, mixed, 8);
    case 'IntSerializer':
      return integerKey(constant, mixed, 4);
    case 'ShortSerializer':
      return integerKey(constant, mixed, 2);
    case 'ByteSerializer':
      return integerKey(constant, mixed, 1);
    default:
      return 'unknown';
  }
}

function integerKey(constant: KeyConstant, mixed: boolean, width: number): readonly EncodedKey[] | 'none' | 'unknown' {
  const value = integerOf(constant);
  if (value === 'unknown' || (value === 'none' && mixed)) return 'unknown';
  if (value === 'none') return 'none';
  const limit = 1n << BigInt(width * 8 - 1);
  if (value >= limit || value < -limit) return 'none';
  const bytes = new Uint8Array(width);
  for (let i = 0; i < width; i++) bytes[width - 1 - i] = Number((value >> BigInt(8 * i)) & 0xffn);
  const hash = width === 8 ? hashLong(value) : Number(value);
  return [{ bytes, keyGroupOf: max => keyGroupOfHash(hash, max) }];
}

/** The integer that equals the constant under the literal rule. */
function integerOf(c: KeyConstant): bigint | 'none' | 'unknown' {
  if (c.kind === 'integer') return c.value;
  if (c.kind === 'boolean') return 'unknown';
  const text = (c.kind === 'string' ? c.value : c.text).trim();
  if (/^[+-]?\d{1,40}$/.test(text)) return BigInt(text.replace(/^\+/, ''));
  // 662.0 and 6.62e2 are numbers too; text that is none matches nothing
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return 'unknown';
  return c.kind === 'string' && !/^[+-]?(inf|nan|0x|0b)/i.test(text) && !/_/.test(text) ? 'none' : 'unknown';
}

/** StringValue.writeString of a non-null string. */
export function encodeString(text: string): Uint8Array {
  const out: number[] = [];
  const varint = (n: number) => {
    let rest = n;
    while (rest >= 0x80) {
      out.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    out.push(rest);
  };
  varint(text.length + 1);
  for (let i = 0; i < text.length; i++) varint(text.charCodeAt(i));
  return Uint8Array.from(out);
}
