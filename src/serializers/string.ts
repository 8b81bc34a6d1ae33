/**
 * Strings as Flink writes them.
 *
 *   String        varint (units + 1), 0 = null · units × varint           units: UTF-16, surrogates apart
 *   StringValue   varint units · units × varint                           no null
 *   varint        7 bits a byte, least significant first, high bit = more
 *
 * ASCII text is thus a length and its bytes, which go straight into a column.
 * Flink: org.apache.flink.types.StringValue.readString, StringSerializer, StringValueSerializer (1.8–2.3).
 */
import { BytesColumn, type Column } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { VARCHAR } from '../types.js';
import type { Codec } from './codec.js';
import { simpleDefinition } from './simple.js';
import { withWire } from './wire.js';

/** Reads the length in units; -1 for null. Checked against the bytes that remain. */
function readLength(c: Cursor, nullable: boolean): number {
  const at = c.position;
  const n = c.varint('string length') - (nullable ? 1 : 0);
  if (n > c.end - c.position) c.fail(`string of ${n} characters, ${c.end - c.position} bytes remain`, at);
  return n;
}

/** The position after the first `units` bytes if all are ASCII, or -1. */
function asciiEnd(c: Cursor, units: number): number {
  const { bytes } = c;
  const end = c.position + units;
  for (let p = c.position; p < end; p++) if (bytes[p] >= 0x80) return -1;
  return end;
}

function readUnit(c: Cursor): number {
  const at = c.position;
  const unit = c.varint('UTF-16 unit');
  if (unit > 0xffff) c.fail(`UTF-16 unit ${unit} is out of range`, at);
  return unit;
}

/** StringValue.readString: a string or null. */
export function readFlinkString(c: Cursor): string | null {
  const n = readLength(c, true);
  return n < 0 ? null : readUnits(c, n);
}

function readUnits(c: Cursor, n: number): string {
  const end = asciiEnd(c, n);
  if (end >= 0) {
    const { bytes } = c;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + c.position, n).toString('latin1');
    c.position = end;
    return text;
  }
  const units: number[] = [];
  let out = '';
  for (let i = 0; i < n; i++) {
    units.push(readUnit(c));
    if (units.length === 4096) {
      out += String.fromCharCode(...units);
      units.length = 0;
    }
  }
  return out + String.fromCharCode(...units);
}

function skipUnits(c: Cursor, n: number): void {
  const end = asciiEnd(c, n);
  if (end >= 0) c.position = end;
  else for (let i = 0; i < n; i++) readUnit(c);
}

function appendUnits(c: Cursor, n: number, out: BytesColumn): void {
  const end = asciiEnd(c, n);
  if (end >= 0) {
    out.pushBytes(c.bytes, c.position, end);
    c.position = end;
  } else out.pushString(readUnits(c, n));
}

function stringCodec(nullable: boolean): Codec {
  const codec: Codec = {
    type: VARCHAR,
    length: -1,
    read(c) {
      const n = readLength(c, nullable);
      return n < 0 ? null : readUnits(c, n);
    },
    skip(c) {
      const n = readLength(c, nullable);
      if (n > 0) skipUnits(c, n);
    },
    append(c: Cursor, out: Column) {
      const n = readLength(c, nullable);
      if (n < 0) out.pushNull();
      else if (out instanceof BytesColumn) appendUnits(c, n, out);
      else out.push(readUnits(c, n));
    },
  };
  return withWire(codec, { kind: 'string', nullable });
}

/** String: null in band. */
export const STRING_CODEC: Codec = stringCodec(true);
/** StringValue */
export const STRING_VALUE_CODEC: Codec = stringCodec(false);

const BASE = 'org.apache.flink.api.common.typeutils.base.';
export const SERIALIZERS = [
  simpleDefinition([`${BASE}StringSerializer$StringSerializerSnapshot`], 'StringSerializer', 'String', () => STRING_CODEC),
  simpleDefinition(
    [`${BASE}StringValueSerializer$StringValueSerializerSnapshot`],
    'StringValueSerializer',
    'StringValue',
    () => STRING_VALUE_CODEC,
  ),
];
