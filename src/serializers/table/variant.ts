/**
 * VARIANT (2.1): a value of its own type, as JSON.
 *
 *   metadata   u8 version 1 | (bytes of an offset - 1) << 6 · n · n + 1 offsets · the keys' UTF-8           numbers little-endian
 *   value      u8 kind | info << 2
 *     kind 0   by info: 0 null · 1 true · 2 false · 3 i8 · 4 i16 · 5 i32 · 6 i64 · 7 f64 · 8 u8 scale, i32 · 9 u8 scale, i64
 *              10 u8 scale, i128 · 11 i32 days · 12 i64 µs, a point in time · 13 i64 µs, local · 14 f32 · 15 u32 n, bytes · 16 u32 n, UTF-8
 *     kind 1   text of `info` bytes
 *     kind 2   object: info = bytes of an offset - 1 | (bytes of a key number - 1) << 2 | (n has 4 bytes, not 1) << 4
 *              n · n key numbers · n + 1 offsets · values at the offsets
 *     kind 3   array: info = bytes of an offset - 1 | (n has 4 bytes, not 1) << 2; n · n + 1 offsets · values at the offsets
 *
 *   alone      i32 bytes of the value · i32 bytes of the metadata · value · metadata
 *   in a row   i32 bytes of the metadata · metadata · value
 *
 * JSON: numbers exact, decimals as strings with their scale, times as in every JSON form, bytes base64 (VARIANT's own JSON form).
 * Flink: BinaryVariant, BinaryVariantUtil, VariantSerializer, AbstractBinaryWriter.writeVariant (2.1–2.3).
 */
import { UnsupportedError } from '../../errors.js';
import type { Cursor } from '../../io/cursor.js';
import { INSIDE_JSON, jsonOf, jsonString } from '../../io/json.js';
import { DATE, Decimal, DOUBLE, decimal, FLOAT, JSON_TYPE, JsonText, TIMESTAMP, TIMESTAMPTZ, Timestamp } from '../../types.js';
import { codecOf } from '../codec.js';
import { simpleDefinition } from '../simple.js';

const MAX_DEPTH = 200;
/** Keys are stored once and may be used often. */
const MAX_CHARS = 64 * 1024 * 1024;

/** A part [from, to) of the cursor's buffer. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** JSON text of a variant. @throws CorruptError, UnsupportedError (too deep, too long) */
export function variantJson(c: Cursor, metadata: Span, value: Span): string {
  return new VariantReader(c, metadata, value).json();
}

class VariantReader {
  private readonly view: DataView;
  /** every byte of the value belongs to one part, so parts cannot add up to more than there are bytes */
  private left: number;
  private chars = 0;
  private readonly keyOffset: number;
  private readonly keyBytes: number;
  private readonly keyOffsets: number;
  private readonly keys: number;

  constructor(
    private readonly c: Cursor,
    private readonly metadata: Span,
    private readonly value: Span,
  ) {
    this.view = new DataView(c.bytes.buffer, c.bytes.byteOffset, c.bytes.byteLength);
    this.left = value.to - value.from;
    const { from, to } = metadata;
    if (from >= to) c.fail('VARIANT without metadata', from);
    const header = c.bytes[from];
    if ((header & 0x0f) !== 1) c.fail(`VARIANT metadata of version ${header & 0x0f}, expected 1`, from);
    this.keyOffset = (header >> 6) + 1;
    this.keys = this.unsigned(from + 1, this.keyOffset, metadata);
    this.keyOffsets = from + 1 + this.keyOffset;
    this.keyBytes = this.keyOffsets + (this.keys + 1) * this.keyOffset;
    if (this.keyBytes > to) c.fail(`VARIANT metadata of ${this.keys} keys in ${to - from} bytes`, from);
  }

  json(): string {
    const { value } = this;
    const end = { at: value.from };
    const text = this.write(value.from, 0, end);
    if (end.at !== value.to) this.c.fail(`${value.to - end.at} bytes left over after a VARIANT`, end.at);
    return text;
  }

  /** `end.at` becomes where the value ends */
  private write(at: number, depth: number, end: { at: number }): string {
    if (depth > MAX_DEPTH)
      throw new UnsupportedError(`VARIANT nested deeper than ${MAX_DEPTH}`, { ...this.c.origin, offset: this.c.base + at });
    this.need(at, 1);
    this.spend(1, at);
    const header = this.c.bytes[at];
    const info = header >> 2;
    switch (header & 3) {
      case 0:
        return this.leaf(this.primitive(at + 1, info, end));
      case 1:
        return this.leaf(this.text(at + 1, info, end));
      case 2:
        return this.container(at + 1, info >> 4, ((info >> 2) & 3) + 1, (info & 3) + 1, depth, end);
      default:
        return this.container(at + 1, (info >> 2) & 1, 0, (info & 3) + 1, depth, end);
    }
  }

  /** An object (`keyWidth` > 0) or an array. */
  private container(at: number, large: number, keyWidth: number, offsetWidth: number, depth: number, end: { at: number }): string {
    const { c, value } = this;
    const sizeWidth = large === 0 ? 1 : 4;
    const n = this.unsigned(at, sizeWidth, value);
    const ids = at + sizeWidth;
    const offsets = ids + n * keyWidth;
    const data = offsets + (n + 1) * offsetWidth;
    if (data > value.to) c.fail(`VARIANT container of ${n} parts in ${value.to - at} bytes`, at);
    this.spend(data - at, at);
    const parts: string[] = [];
    for (let i = 0; i < n; i++) {
      const part = data + this.unsigned(offsets + i * offsetWidth, offsetWidth, value);
      const text = this.write(part, depth + 1, { at: part });
      parts.push(
        keyWidth === 0 ? text : `${this.leaf(jsonString(this.key(this.unsigned(ids + i * keyWidth, keyWidth, value), at)))}:${text}`,
      );
    }
    end.at = data + this.unsigned(offsets + n * offsetWidth, offsetWidth, value);
    return keyWidth === 0 ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
  }

  private key(id: number, at: number): string {
    const { c, metadata } = this;
    if (id >= this.keys) c.fail(`VARIANT key ${id} of ${this.keys}`, at);
    const from = this.keyBytes + this.unsigned(this.keyOffsets + id * this.keyOffset, this.keyOffset, metadata);
    const to = this.keyBytes + this.unsigned(this.keyOffsets + (id + 1) * this.keyOffset, this.keyOffset, metadata);
    if (from > to || to > metadata.to) c.fail(`VARIANT key ${id} is outside of the metadata`, metadata.from);
    return utf8(c.bytes, from, to);
  }

  private primitive(at: number, info: number, end: { at: number }): string {
    const { view } = this;
    const take = (n: number): number => {
      this.need(at, n);
      this.spend(n, at);
      end.at = at + n;
      return at;
    };
    switch (info) {
      case 0:
      case 1:
      case 2:
        take(0);
        return ['null', 'true', 'false'][info];
      case 3:
        return String(view.getInt8(take(1)));
      case 4:
        return String(view.getInt16(take(2), true));
      case 5:
        return String(view.getInt32(take(4), true));
      case 6:
        return String(view.getBigInt64(take(8), true));
      case 7:
        return jsonOf(DOUBLE, view.getFloat64(take(8), true));
      case 8:
        take(5);
        return this.decimal(at, BigInt(view.getInt32(at + 1, true)));
      case 9:
        take(9);
        return this.decimal(at, view.getBigInt64(at + 1, true));
      case 10:
        take(17);
        return this.decimal(at, (view.getBigInt64(at + 9, true) << 64n) | view.getBigUint64(at + 1, true));
      case 11:
        return jsonOf(DATE, view.getInt32(take(4), true));
      case 12:
        return jsonOf(TIMESTAMPTZ, ofMicros(view.getBigInt64(take(8), true)));
      case 13:
        return jsonOf(TIMESTAMP, ofMicros(view.getBigInt64(take(8), true)));
      case 14:
        return jsonOf(FLOAT, view.getFloat32(take(4), true));
      case 15: {
        const n = this.unsigned(take(4), 4, this.value);
        this.need(at + 4, n);
        this.spend(n, at);
        end.at = at + 4 + n;
        return `"${Buffer.from(this.c.bytes.subarray(at + 4, at + 4 + n)).toString('base64')}"`;
      }
      case 16:
        return this.text(take(4) + 4, this.unsigned(at, 4, this.value), end);
      default:
        throw new UnsupportedError(`VARIANT of kind ${info}`, { ...this.c.origin, offset: this.c.base + at - 1 });
    }
  }
  private decimal(at: number, unscaled: bigint): string {
    const scale = this.c.bytes[at];
    if (scale > 38) this.c.fail(`VARIANT decimal of scale ${scale}`, at);
    return jsonOf(decimal(38, scale), new Decimal(unscaled, scale), INSIDE_JSON);
  }
  private text(at: number, n: number, end: { at: number }): string {
    this.need(at, n);
    this.spend(n, at);
    end.at = at + n;
    return jsonString(utf8(this.c.bytes, at, at + n));
  }

  private leaf(text: string): string {
    this.chars += text.length;
    if (this.chars > MAX_CHARS) throw new UnsupportedError(`VARIANT with more than ${MAX_CHARS} characters of JSON`, this.c.origin);
    return text;
  }
  private need(at: number, n: number): void {
    if (at + n > this.value.to) this.c.fail(`VARIANT needs ${n} bytes, ${this.value.to - at} remain`, at);
  }
  private spend(n: number, at: number): void {
    this.left -= n;
    if (this.left < 0) this.c.fail('parts of a VARIANT overlap', at);
  }
  /** A little-endian number of 1 to 4 bytes. */
  private unsigned(at: number, width: number, span: Span): number {
    if (at + width > span.to) this.c.fail(`VARIANT needs ${width} bytes, ${span.to - at} remain`, at);
    let n = 0;
    for (let i = width - 1; i >= 0; i--) n = n * 256 + this.c.bytes[at + i];
    return n;
  }
}

function utf8(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
}
function ofMicros(micros: bigint): Timestamp {
  const seconds = micros / 1000000n;
  const rest = micros % 1000000n;
  return rest < 0n ? new Timestamp(seconds - 1n, Number(rest + 1000000n) * 1000) : new Timestamp(seconds, Number(rest) * 1000);
}

/** i32 bytes of the value · i32 bytes of the metadata · value · metadata */
export const VARIANT_CODEC = codecOf({
  type: JSON_TYPE,
  read(c) {
    const lengths = c.take(8, 'VARIANT');
    const [n, m] = [readLength(c, lengths), readLength(c, lengths + 4)];
    const value = c.take(n, 'VARIANT value');
    const metadata = c.take(m, 'VARIANT metadata');
    return new JsonText(variantJson(c, { from: metadata, to: metadata + m }, { from: value, to: value + n }));
  },
  skip(c) {
    const lengths = c.take(8, 'VARIANT');
    c.take(readLength(c, lengths), 'VARIANT value');
    c.take(readLength(c, lengths + 4), 'VARIANT metadata');
  },
});
function readLength(c: Cursor, at: number): number {
  const { bytes } = c;
  return (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
}

export const SERIALIZERS = [
  simpleDefinition(
    ['org.apache.flink.api.common.typeutils.base.VariantSerializer$VariantSerializerSnapshot'],
    'VariantSerializer',
    'Variant',
    () => VARIANT_CODEC,
  ),
];
