/** Generated decoders against the codecs that they stand for: the same rows from good bytes, and never rows from bad ones. */
import { describe, expect, it } from 'vitest';
import { CorruptError } from '../../src/errors.js';
import { BytesColumn, columnValue, createColumn, type StructColumn } from '../../src/io/column.js';
import { Cursor } from '../../src/io/cursor.js';
import type { Codec } from '../../src/serializers/codec.js';
import { compositeCodec } from '../../src/serializers/composite.js';
import { pojoCodec } from '../../src/serializers/pojo-codec.js';
import * as primitives from '../../src/serializers/primitives.js';
import { STRING_CODEC, STRING_VALUE_CODEC } from '../../src/serializers/string.js';
import { compileDecoder, compileSkipper, wireOf } from '../../src/serializers/wire.js';
import { random } from '../state/seeded.js';
import { Out } from './support.js';

type Write = (out: Out, next: () => number) => void;
interface Kind {
  readonly codec: Codec;
  readonly write: Write;
}

const TEXTS = ['', 'a', 'user-2374c5af2a9', 'x'.repeat(126), 'y'.repeat(127), 'z'.repeat(300), 'w'.repeat(20000), 'é', 'a\u{1f600}b', '\0'];
const any = (next: () => number) => BigInt.asIntN(64, BigInt(Math.floor(next() * 2 ** 32)) * 4294967291n);
const text = (next: () => number) => TEXTS[Math.floor(next() * TEXTS.length)];

const LEAVES: readonly Kind[] = [
  { codec: primitives.LONG_CODEC, write: (o, r) => void o.i64(any(r)) },
  { codec: primitives.INT_CODEC, write: (o, r) => void o.i32(Math.floor(r() * 2 ** 32) | 0) },
  { codec: primitives.SHORT_CODEC, write: (o, r) => void o.u16(Math.floor(r() * 65536)) },
  { codec: primitives.BYTE_CODEC, write: (o, r) => void o.u8(Math.floor(r() * 256)) },
  { codec: primitives.DOUBLE_CODEC, write: (o, r) => void o.i64(any(r)) },
  { codec: primitives.FLOAT_CODEC, write: (o, r) => void o.f32(r() * 1000 - 500) },
  { codec: primitives.BOOLEAN_CODEC, write: (o, r) => void o.bool(r() < 0.5) },
  { codec: STRING_CODEC, write: (o, r) => void o.string(r() < 0.1 ? null : text(r)) },
  {
    codec: STRING_VALUE_CODEC,
    write(o, r) {
      const t = text(r);
      o.varint(t.length);
      for (let i = 0; i < t.length; i++) o.varint(t.charCodeAt(i));
    },
  },
  // no wire of its own: called from the generated code
  { codec: primitives.CHAR_CODEC, write: (o, r) => void o.u16(Math.floor(r() * 0xd800)) },
];

function composite(next: () => number, depth: number): Kind {
  const parts = Array.from({ length: 1 + Math.floor(next() * 6) }, (_, i) => ({
    name: `f${i}`,
    kind: depth > 0 && next() < 0.25 ? composite(next, depth - 1) : LEAVES[Math.floor(next() * LEAVES.length)],
  }));
  const fields = parts.map(p => ({ name: p.name, codec: p.kind.codec }));
  const flagged = next() < 0.6;
  const pojo = flagged && next() < 0.7;
  const write: Write = (o, r) => {
    if (pojo) {
      if (r() < 0.05) {
        o.u8(1);
        return;
      }
      o.u8(2);
    }
    for (const { kind } of parts) {
      const isNull = flagged && r() < 0.15;
      if (flagged) o.bool(isNull);
      if (!isNull) kind.write(o, r);
    }
  };
  const codec = pojo ? pojoCodec({ typeClass: 'x.P', fields, registered: [], byName: new Map() }) : compositeCodec(fields, { flagged });
  return { codec, write };
}

/** Rows of a column made by the decoder where it decodes, and by the codec where it does not. */
function rowsBy(codec: Codec, values: readonly Uint8Array[], generated: boolean, fields?: readonly string[]) {
  const out = createColumn(codec.type, 4, fields);
  const decode = generated ? compileDecoder(codec, out) : undefined;
  const cursor = new Cursor(new Uint8Array(0));
  let decoded = 0;
  const rows = values.map(bytes => {
    const { length } = out;
    const padded = Buffer.concat([Buffer.from([1, 2, 3]), bytes, Buffer.from([9, 9])]);
    try {
      if (decode !== undefined) {
        if (decode(padded, 3, padded.length - 2, out, cursor, 0) === padded.length - 2) {
          decoded++;
          return columnValue(out, length);
        }
        out.truncate(length);
      }
      const c = cursor.reset(padded, 3, padded.length - 2);
      codec.append(c, out);
      c.expectEnd('the value');
      return columnValue(out, length);
    } catch (error) {
      out.truncate(length);
      if (!(error instanceof CorruptError)) throw error;
      return 'error';
    }
  });
  return { rows, decoded };
}

describe('generated decoders', () => {
  it('give the rows of the codecs, for every plain type', () => {
    for (const { codec, write } of LEAVES) {
      const next = random(7);
      const values = Array.from({ length: 200 }, () => {
        const out = new Out();
        write(out, next);
        return out.bytes;
      });
      const { rows, decoded } = rowsBy(codec, values, true);
      expect(rows).toEqual(rowsBy(codec, values, false).rows);
      expect(decoded > 0).toBe(wireOf(codec) !== undefined);
    }
  });

  it('give the rows of the codecs, for 300 trees of types, whole and damaged, all fields and some', () => {
    const next = random(20260131);
    let decoded = 0;
    for (let tree = 0; tree < 300; tree++) {
      const { codec, write } = composite(next, 2);
      expect(wireOf(codec)?.kind).toBe('parts');
      const values = Array.from({ length: 40 }, (_, i) => {
        const out = new Out();
        write(out, next);
        const bytes = Uint8Array.from(out.bytes);
        if (i % 4 === 1 && bytes.length > 0) return bytes.subarray(0, Math.floor(next() * bytes.length));
        if (i % 4 === 2) return Buffer.concat([bytes, Buffer.from([0])]);
        if (i % 4 === 3 && bytes.length > 0) bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 256);
        return bytes;
      });
      const whole = rowsBy(codec, values, true);
      expect(whole.rows).toEqual(rowsBy(codec, values, false).rows);
      decoded += whole.decoded;
      const names = codec.type.kind === 'STRUCT' ? codec.type.fields.map(f => f.name).filter(() => next() < 0.5) : [];
      expect(fieldsOf(rowsBy(codec, values, true, names).rows)).toEqual(fieldsOf(rowsBy(codec, values, false, names).rows));
    }
    expect(decoded).toBeGreaterThan(2000);
  });

  it('step over values as the codecs do', () => {
    const next = random(11);
    let known = 0;
    for (let tree = 0; tree < 200; tree++) {
      const { codec, write } = tree < LEAVES.length ? LEAVES[tree] : composite(next, 2);
      const skip = compileSkipper(codec);
      expect(skip !== undefined).toBe(wireOf(codec) !== undefined);
      for (let i = 0; i < 40; i++) {
        const out = new Out();
        write(out, next);
        const bytes = Buffer.concat([Buffer.from([1, 2, 3]), out.bytes, Buffer.from([9, 9])]);
        if (i % 4 === 1) bytes[3 + Math.floor(next() * out.bytes.length)] ^= 1 << Math.floor(next() * 8);
        const end = bytes.length - 2 - (i % 4 === 2 ? Math.floor(next() * out.bytes.length) : 0);
        const cursor = new Cursor(bytes);
        const by = (step: () => number) => {
          try {
            return step();
          } catch (error) {
            if (!(error instanceof CorruptError)) throw error;
            return 'error';
          }
        };
        const found = by(() => skip?.(bytes, 3, end, cursor, 0) ?? -1);
        if (found === -1) continue;
        known++;
        expect(found).toBe(
          by(() => {
            codec.skip(cursor.reset(bytes, 3, end));
            return cursor.position;
          }),
        );
      }
    }
    expect(known).toBeGreaterThan(2000);
  });

  it('leave out the fields that nobody reads', () => {
    const codec = compositeCodec([
      { name: 'a', codec: primitives.INT_CODEC },
      { name: 'b', codec: STRING_CODEC },
    ]);
    const column = createColumn(codec.type, 8, ['a']) as StructColumn;
    const bytes = new Out().i32(7).string('text').bytes;
    const decode = compileDecoder(codec, column);
    expect(decode?.(bytes, 0, bytes.length, column, new Cursor(bytes), 0)).toBe(bytes.length);
    codec.append(new Cursor(bytes), column);
    expect(column.length).toBe(2);
    expect([columnValue(column.children[0], 0), columnValue(column.children[0], 1)]).toEqual([7, 7]);
    expect(column.wanted).toEqual([true, false]);
    expect(column.children[1].length).toBe(0);
  });

  it('are made for columns of their own type only', () => {
    expect(compileDecoder(STRING_CODEC, createColumn(primitives.LONG_CODEC.type, 8))).toBe(undefined);
    expect(compileDecoder(primitives.INT_CODEC, createColumn(primitives.LONG_CODEC.type, 8))).toBe(undefined);
    expect(compileDecoder({ ...STRING_CODEC }, new BytesColumn({ kind: 'VARCHAR' }, 8))).toBe(undefined);
  });

  it('leave full columns to the codec, which makes room', () => {
    const values = Array.from({ length: 100 }, (_, i) => new Out().string(`${'t'.repeat(i)}`).bytes);
    expect(rowsBy(STRING_CODEC, values, true).rows).toEqual(values.map((_, i) => 't'.repeat(i)));
  });
});

/** What a STRUCT with absent fields still tells: that there is a row, or the error. */
function fieldsOf(rows: readonly unknown[]): unknown[] {
  return rows.map(row => (typeof row === 'string' ? row : row === null ? null : 'row'));
}
