/** Property tests: values written as Flink writes them come back, and read, skip and append end at the same byte and agree. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cursor } from '../../src/io/cursor.js';
import { dateText, jsonString, numberText, timeText } from '../../src/io/json.js';
import type { Codec } from '../../src/serializers/codec.js';
import { Struct, sqlTypeText } from '../../src/types.js';
import { codecFor, decode, Out, snapshots } from './support.js';

/** A type: its snapshot, how a value is written, what its JSON is. */
interface Kind {
  readonly name: string;
  readonly snapshot: Uint8Array;
  readonly sql: string;
  readonly length: number;
  readonly value: fc.Arbitrary<Sample>;
}
interface Sample {
  readonly bytes: Uint8Array;
  readonly json: string;
  /** JSON of the column, where it holds less than the value; `refused` when it cannot hold it */
  readonly column?: string | 'refused';
}

const unit = fc.integer({ min: 0, max: 0xffff });
/** any UTF-16, lone surrogates too, mostly ASCII */
const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 40 }) },
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.array(unit, { maxLength: 20 }).map(units => String.fromCharCode(...units)),
);
const wellFormed = (s: string): string => Buffer.from(s, 'utf8').toString('utf8');
const i64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });
const i32 = fc.integer({ min: -0x80000000, max: 0x7fffffff });
const same = (bytes: Uint8Array, json: string): Sample => ({ bytes, json });
const ofText = (bytes: Uint8Array, s: string): Sample =>
  wellFormed(s) === s ? same(bytes, jsonString(s)) : { bytes, json: jsonString(s), column: jsonString(wellFormed(s)) };
const floatText = (n: number, float: boolean): string => (Number.isFinite(n) ? numberText(n, float) : `"${n}"`);

const SCALARS: readonly Kind[] = [
  {
    name: 'Boolean',
    snapshot: snapshots.simple('Boolean'),
    sql: 'BOOLEAN',
    length: 1,
    value: fc.boolean().map(x => same(new Out().bool(x).bytes, String(x))),
  },
  {
    name: 'Byte',
    snapshot: snapshots.simple('Byte'),
    sql: 'TINYINT',
    length: 1,
    value: fc.integer({ min: -128, max: 127 }).map(n => same(new Out().u8(n).bytes, String(n))),
  },
  {
    name: 'Short',
    snapshot: snapshots.simple('Short'),
    sql: 'SMALLINT',
    length: 2,
    value: fc.integer({ min: -32768, max: 32767 }).map(n => same(new Out().i16(n).bytes, String(n))),
  },
  {
    name: 'Int',
    snapshot: snapshots.simple('Int'),
    sql: 'INTEGER',
    length: 4,
    value: i32.map(n => same(new Out().i32(n).bytes, String(n))),
  },
  {
    name: 'Long',
    snapshot: snapshots.simple('Long'),
    sql: 'BIGINT',
    length: 8,
    value: i64.map(n => same(new Out().i64(n).bytes, String(n))),
  },
  {
    name: 'Float',
    snapshot: snapshots.simple('Float'),
    sql: 'FLOAT',
    length: 4,
    value: fc.float().map(n => same(new Out().f32(n).bytes, floatText(Math.fround(n), true))),
  },
  {
    name: 'Double',
    snapshot: snapshots.simple('Double'),
    sql: 'DOUBLE',
    length: 8,
    value: fc.double().map(n => same(new Out().f64(n).bytes, floatText(n, false))),
  },
  {
    name: 'Char',
    snapshot: snapshots.simple('Char'),
    sql: 'VARCHAR',
    length: 2,
    value: unit.map(u => ofText(new Out().u16(u).bytes, String.fromCharCode(u))),
  },
  {
    name: 'String',
    snapshot: snapshots.simple('String'),
    sql: 'VARCHAR',
    length: -1,
    value: fc.option(text).map(s => (s === null ? same(Uint8Array.of(0), 'null') : ofText(new Out().string(s).bytes, s))),
  },
  {
    name: 'BigInt',
    snapshot: snapshots.simple('BigInt'),
    sql: 'HUGEINT',
    length: -1,
    value: fc
      .option(fc.oneof(i64, fc.bigInt({ min: -(1n << 140n), max: 1n << 140n }), fc.constantFrom(0n, 1n, 10n, -1n, 127n, 128n, -128n)))
      .map(n => {
        const bytes = new Out().bigInteger(n).bytes;
        const fits = n === null || (n < 1n << 127n && n >= -(1n << 127n));
        return { bytes, json: String(n), ...(fits ? {} : { column: 'refused' }) };
      }),
  },
  {
    name: 'Date',
    snapshot: snapshots.simple('Date'),
    sql: 'TIMESTAMPTZ',
    length: 8,
    value: fc.date({ min: new Date(-62_167_219_200_000), max: new Date(253_402_300_799_999), noInvalidDate: true }).map(d => {
      const iso = d.toISOString();
      return same(new Out().i64(BigInt(d.getTime())).bytes, `"${iso.endsWith('.000Z') ? iso.replace('.000Z', 'Z') : iso}"`);
    }),
  },
  {
    name: 'LocalDate',
    snapshot: snapshots.simple('LocalDate'),
    sql: 'DATE',
    length: 6,
    value: fc.date({ min: new Date(-62_167_219_200_000), max: new Date(253_402_300_799_999), noInvalidDate: true }).map(d => {
      const out = new Out()
        .i32(d.getUTCFullYear())
        .u8(d.getUTCMonth() + 1)
        .u8(d.getUTCDate());
      return same(out.bytes, `"${d.toISOString().slice(0, 10)}"`);
    }),
  },
  {
    name: 'LocalTime',
    snapshot: snapshots.simple('LocalTime'),
    sql: 'TIME_NS',
    length: 7,
    value: fc
      .tuple(
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: 59 }),
        fc.constantFrom(0, 1, 1000, 123_000_000, 999_999_999),
      )
      .map(([h, m, s, n]) => same(new Out().u8(h).u8(m).u8(s).i32(n).bytes, `"${timeText(((h * 60 + m) * 60 + s) * 1e9 + n)}"`)),
  },
  {
    name: 'Enum',
    snapshot: snapshots.enum('RED', 'GRÜN', ''),
    sql: 'VARCHAR',
    length: 4,
    value: fc.integer({ min: 0, max: 2 }).map(i => same(new Out().i32(i).bytes, jsonString(['RED', 'GRÜN', ''][i]))),
  },
  {
    name: 'byte[]',
    snapshot: snapshots.array('BytePrimitive'),
    sql: 'BLOB',
    length: -1,
    value: fc.uint8Array({ maxLength: 40 }).map(b => same(new Out().i32(b.length).raw(b).bytes, `"${Buffer.from(b).toString('hex')}"`)),
  },
  {
    name: 'long[]',
    snapshot: snapshots.array('LongPrimitive'),
    sql: 'BIGINT[]',
    length: -1,
    value: fc.array(i64, { maxLength: 5 }).map(a => {
      const out = new Out().i32(a.length);
      for (const n of a) out.i64(n);
      return same(out.bytes, `[${a.join(',')}]`);
    }),
  },
  {
    name: 'boolean[]',
    snapshot: snapshots.array('BooleanPrimitive'),
    sql: 'BOOLEAN[]',
    length: -1,
    value: fc.array(fc.boolean(), { maxLength: 5 }).map(a => {
      const out = new Out().i32(a.length);
      for (const x of a) out.bool(x);
      return same(out.bytes, `[${a.join(',')}]`);
    }),
  },
];

const sampleColumn = (s: Sample): string => s.column ?? s.json;
const refusedIf = (parts: readonly Sample[]): boolean => parts.some(s => s.column === 'refused');
/** JSON and column of something made of samples */
function built(bytes: Uint8Array, parts: readonly Sample[], form: (of: (s: Sample) => string) => string): Sample {
  return { bytes, json: form(s => s.json), column: refusedIf(parts) ? 'refused' : form(sampleColumn) };
}
const isNull = (s: Sample): boolean => s.json === 'null';

/** Kinds made of other kinds. */
function compound(inner: readonly Kind[]): fc.Arbitrary<Kind> {
  const one = fc.constantFrom(...inner);
  const some = fc.array(one, { minLength: 1, maxLength: 5 });
  const listOf = (k: Kind): Kind => ({
    name: `List(${k.name})`,
    snapshot: snapshots.list(k.snapshot),
    sql: `${k.sql}[]`,
    length: -1,
    value: fc.array(k.value, { maxLength: 4 }).map(vs => {
      const out = new Out().i32(vs.length);
      for (const v of vs) out.raw(v.bytes);
      return built(out.bytes, vs, of => `[${vs.map(of).join(',')}]`);
    }),
  });
  const setOf = (k: Kind): Kind => ({
    ...listOf(k),
    name: `Set(${k.name})`,
    snapshot: snapshots.set(k.snapshot),
    value: fc.array(fc.option(k.value), { maxLength: 4 }).map(vs => {
      const out = new Out().i32(vs.length);
      for (const v of vs) out.bool(v === null).raw(v?.bytes ?? new Uint8Array(0));
      const there = vs.filter(v => v !== null);
      return built(out.bytes, there, of => `[${vs.map(v => (v === null ? 'null' : of(v))).join(',')}]`);
    }),
  });
  const arrayOf = (k: Kind): Kind => ({
    ...listOf(k),
    name: `${k.name}[]`,
    snapshot: snapshots.genericArray(k.snapshot),
    value: fc.array(fc.option(k.value), { maxLength: 4 }).map(vs => {
      const out = new Out().i32(vs.length);
      for (const v of vs) out.bool(v !== null).raw(v?.bytes ?? new Uint8Array(0));
      const there = vs.filter(v => v !== null);
      return built(out.bytes, there, of => `[${vs.map(v => (v === null ? 'null' : of(v))).join(',')}]`);
    }),
  });
  const nullableOf = (k: Kind): Kind => ({
    ...k,
    name: `Nullable(${k.name})`,
    snapshot: snapshots.nullable(k.snapshot, Math.max(k.length, 0)),
    length: k.length > 0 ? k.length + 1 : -1,
    value: fc
      .option(k.value)
      .map(v =>
        v === null
          ? same(new Out().bool(true).raw(new Uint8Array(Math.max(k.length, 0))).bytes, 'null')
          : { ...v, bytes: new Out().bool(false).raw(v.bytes).bytes },
      ),
  });
  const tupleOf = (ks: readonly Kind[]): Kind => ({
    name: `Tuple(${ks.map(k => k.name).join(', ')})`,
    snapshot: snapshots.tuple(...ks.map(k => k.snapshot)),
    sql: `STRUCT(${ks.map((k, i) => `f${i} ${k.sql}`).join(', ')})`,
    length: ks.every(k => k.length > 0) ? ks.reduce((n, k) => n + k.length, 0) : -1,
    value: fc
      .tuple(...ks.map(k => k.value))
      .map(vs => built(Buffer.concat(vs.map(v => v.bytes)), vs, of => `{${vs.map((v, i) => `"f${i}":${of(v)}`).join(',')}}`)),
  });
  const pojoOf = (ks: readonly Kind[]): Kind => ({
    ...tupleOf(ks),
    name: `Pojo(${ks.map(k => k.name).join(', ')})`,
    snapshot: snapshots.pojo(ks.map((k, i) => [`f${i}`, k.snapshot] as const)),
    length: -1,
    value: fc.option(fc.tuple(...ks.map(k => fc.option(k.value)))).map(vs => {
      if (vs === null) return same(Uint8Array.of(1), 'null');
      const out = new Out().u8(2);
      for (const v of vs) out.bool(v === null).raw(v?.bytes ?? new Uint8Array(0));
      const there = vs.filter(v => v !== null);
      return built(out.bytes, there, of => `{${vs.map((v, i) => `"f${i}":${v === null ? 'null' : of(v)}`).join(',')}}`);
    }),
  });
  const rowOf = (ks: readonly Kind[]): Kind => ({
    ...tupleOf(ks),
    name: `Row(${ks.map(k => k.name).join(', ')})`,
    snapshot: snapshots.row(...ks.map(k => k.snapshot)),
    length: -1,
    value: fc.tuple(fc.integer({ min: 0, max: 3 }), ...ks.map(k => fc.option(k.value))).map(([kind, ...vs]) => {
      const bits = [(kind & 1) !== 0, (kind & 2) !== 0, ...vs.map(v => v === null)];
      const mask = new Uint8Array((bits.length + 7) >> 3);
      bits.forEach((b, i) => {
        if (b) mask[i >> 3] |= 0x80 >> (i & 7);
      });
      const out = new Out().raw(mask);
      for (const v of vs) if (v !== null) out.raw(v.bytes);
      const there = vs.filter(v => v !== null);
      const fields = (of: (s: Sample) => string) => vs.map((v, i) => `"f${i}":${v === null ? 'null' : of(v)}`).join(',');
      const extra = kind === 0 ? '' : `"$kind":"${['+I', '-U', '+U', '-D'][kind]}",`;
      return {
        bytes: out.bytes,
        json: `{${extra}${fields(s => s.json)}}`,
        column: refusedIf(there) ? 'refused' : `{${fields(sampleColumn)}}`,
      };
    }),
  });
  /** of a column, which does not tell a null on the left from one on the right */
  const choiceJson = (name: string, json: string) => (json === 'null' ? '{"left":null,"right":null}' : `{"${name}":${json}}`);
  const eitherOf = (l: Kind, r: Kind): Kind => ({
    name: `Either(${l.name}, ${r.name})`,
    snapshot: snapshots.either(l.snapshot, r.snapshot),
    sql: `STRUCT(left ${l.sql}, right ${r.sql})`,
    length: -1,
    value: fc.oneof(
      l.value.map(v => ({
        bytes: new Out().bool(true).raw(v.bytes).bytes,
        json: `{"left":${v.json}}`,
        column: v.column === 'refused' ? 'refused' : choiceJson('left', sampleColumn(v)),
      })),
      r.value.map(v => ({
        bytes: new Out().bool(false).raw(v.bytes).bytes,
        json: `{"right":${v.json}}`,
        column: v.column === 'refused' ? 'refused' : choiceJson('right', sampleColumn(v)),
      })),
    ),
  });
  const mapOf = (k: Kind, v: Kind): Kind => ({
    name: `Map(${k.name}, ${v.name})`,
    snapshot: snapshots.map(k.snapshot, v.snapshot),
    sql: `MAP(${k.sql}, ${v.sql})`,
    length: -1,
    value: fc.uniqueArray(fc.tuple(k.value, fc.option(v.value)), { maxLength: 4, selector: ([key]) => sampleColumn(key) }).map(entries => {
      const out = new Out().i32(entries.length);
      for (const [key, value] of entries)
        out
          .raw(key.bytes)
          .bool(value === null)
          .raw(value?.bytes ?? new Uint8Array(0));
      const parts = entries.flatMap(([key, value]) => (value === null ? [key] : [key, value]));
      const nullKey = entries.some(([key]) => isNull(key));
      const plain = /^(VARCHAR|BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|FLOAT|DOUBLE)$/.test(k.sql) && !nullKey;
      const form = (of: (s: Sample) => string): string =>
        plain
          ? `{${entries.map(([key, value]) => `${of(key).startsWith('"') ? of(key) : `"${of(key)}"`}:${value === null ? 'null' : of(value)}`).join(',')}}`
          : `[${entries.map(([key, value]) => `{"key":${of(key)},"value":${value === null ? 'null' : of(value)}}`).join(',')}]`;
      return {
        bytes: out.bytes,
        json: form(s => s.json),
        column: nullKey || refusedIf(parts) ? 'refused' : form(sampleColumn),
      };
    }),
  });
  return fc.oneof(
    one.map(listOf),
    one.map(setOf),
    one.map(arrayOf),
    one.map(nullableOf),
    some.map(tupleOf),
    some.map(pojoOf),
    some.map(rowOf),
    fc.tuple(one, one).map(([l, r]) => eitherOf(l, r)),
    fc.tuple(one, one).map(([k, v]) => mapOf(k, v)),
  );
}

function check(codec: Codec, sample: Sample): void {
  // something before and behind: no codec may look there
  const bytes = Buffer.concat([sample.bytes, Buffer.from('ff0102', 'hex')]);
  const decoded = decode(codec, bytes);
  expect(decoded.end).toBe(sample.bytes.length);
  expect(decoded.json).toBe(sample.json);
  expect(decoded.column ?? 'refused').toBe(sample.column ?? sample.json);
}

const SETTINGS = { seed: 20_240_117, numRuns: 150 };

describe('scalars', () => {
  it.each(SCALARS.map(k => [k.name, k] as const))('%s', (_name, kind) => {
    const codec = codecFor(kind.snapshot);
    expect(sqlTypeText(codec.type)).toBe(kind.sql);
    expect(codec.length).toBe(kind.length);
    fc.assert(
      fc.property(kind.value, sample => check(codec, sample)),
      SETTINGS,
    );
  });

  it('nulls in band of dates and times', () => {
    const long = new Out().i64(-(1n << 63n)).bytes;
    const nulls: Readonly<Record<string, Uint8Array>> = {
      Date: long,
      SqlDate: long,
      SqlTime: long,
      SqlTimestamp: new Out().raw(long).i32(0).bytes,
      Instant: new Out().raw(long).i32(-0x80000000).bytes,
      LocalDate: new Out().i32(-0x80000000).i16(-0x8000).bytes,
      LocalTime: new Out().u8(-128).i16(-0x8000).i32(-0x80000000).bytes,
      LocalDateTime: new Out().i32(-0x80000000).i16(-0x8000).u8(-128).i16(-0x8000).i32(-0x80000000).bytes,
    };
    for (const [name, bytes] of Object.entries(nulls)) {
      const codec = codecFor(snapshots.simple(name));
      expect([name, codec.length, decode(codec, bytes)]).toEqual([
        name,
        bytes.length,
        { value: null, json: 'null', column: 'null', end: bytes.length },
      ]);
    }
  });

  it('instants and local times finer than microseconds', () => {
    const instant = codecFor(snapshots.simple('Instant'));
    expect(decode(instant, new Out().i64(-1n).i32(999_999_999).bytes).json).toBe('"1969-12-31T23:59:59.999999999Z"');
    const dateTime = codecFor(snapshots.simple('LocalDateTime'));
    const bytes = new Out().i32(-44).u8(3).u8(15).u8(23).u8(59).u8(58).i32(120_000).bytes;
    expect(decode(dateTime, bytes).json).toBe('"-0044-03-15T23:59:58.000120"');
    expect(decode(dateTime, bytes).column).toBeUndefined();
    const stamp = codecFor(snapshots.simple('SqlTimestamp'));
    expect(decode(stamp, new Out().i64(-1n).i32(999_000_001).bytes).json).toBe('"1969-12-31T23:59:59.999000001Z"');
  });

  it('dates that do not exist are damage', () => {
    const date = codecFor(snapshots.simple('LocalDate'));
    for (const [y, m, d] of [
      [2023, 2, 29],
      [2023, 13, 1],
      [2023, 0, 1],
      [2023, 4, 31],
      [2023, 1, 0],
    ])
      expect(() => date.read(new Cursor(new Out().i32(y).u8(m).u8(d).bytes))).toThrow(`date ${y}-${m}-${d}`);
    expect(date.read(new Cursor(new Out().i32(2024).u8(2).u8(29).bytes))).toBe(19782);
    expect(dateText(19782n)).toBe('2024-02-29');
    const far = new Out().i32(-999_999_999).u8(1).u8(1).bytes;
    expect(decode(date, far)).toMatchObject({ json: '"-999999999-01-01"', column: undefined });
  });

  it('a BigDecimal shows as BigDecimal.toString does', () => {
    const codec = codecFor(snapshots.simple('BigDec'));
    const cases: readonly (readonly [bigint, number, string])[] = [
      [0n, 3, '0.000'],
      [0n, 7, '0E-7'],
      [0n, -2, '0E+2'],
      [1n, 0, '1'],
      [10n, 1, '1.0'],
      [-123n, 1, '-12.3'],
      [123n, 9, '1.23E-7'],
      [-5n, 6, '-0.000005'],
      [1n, -2, '1E+2'],
      [1234n, -2147483647, '1.234E+2147483650'],
      [1n, 2147483647, '1E-2147483647'],
    ];
    for (const [unscaled, scale, text] of cases)
      expect(decode(codec, new Out().bigInteger(unscaled).i32(scale).bytes).json).toBe(`"${text}"`);
    expect(decode(codec, new Out().bigInteger(null).bytes).json).toBe('null');
  });
});

describe('compounds', () => {
  it('of scalars', () => {
    fc.assert(
      fc.property(
        compound(SCALARS).chain(kind => fc.tuple(fc.constant(kind), fc.array(kind.value, { minLength: 1, maxLength: 4 }))),
        ([kind, samples]) => {
          const codec = codecFor(kind.snapshot);
          expect(sqlTypeText(codec.type)).toBe(kind.sql);
          expect(codec.length).toBe(kind.length);
          for (const sample of samples) check(codec, sample);
        },
      ),
      { ...SETTINGS, numRuns: 400 },
    );
  });

  it('of compounds', () => {
    fc.assert(
      fc.property(
        compound(SCALARS)
          .chain(a => compound([...SCALARS, a]).chain(b => compound([a, b, ...SCALARS.slice(0, 3)])))
          .chain(kind => fc.tuple(fc.constant(kind), kind.value)),
        ([kind, sample]) => {
          const codec = codecFor(kind.snapshot);
          expect(sqlTypeText(codec.type)).toBe(kind.sql);
          check(codec, sample);
        },
      ),
      { ...SETTINGS, numRuns: 300 },
    );
  });

  it('a tuple with a part of length 0 has no fixed length, as in Flink', () => {
    const none = new Out().utf('org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot').i32(3).bytes;
    expect(codecFor(snapshots.tuple(snapshots.simple('Long'), none)).length).toBe(-1);
    expect(codecFor(snapshots.tuple(snapshots.simple('Long'), snapshots.simple('Int'))).length).toBe(12);
    // CompositeSerializer counts it
    const timer = (key: Uint8Array, namespace: Uint8Array) =>
      codecFor(
        snapshots.composite('org.apache.flink.streaming.api.operators.TimerSerializerSnapshot', 2, new Uint8Array(0), [key, namespace]),
      );
    expect(timer(snapshots.simple('Long'), none).length).toBe(16);
    expect(timer(snapshots.simple('String'), none).length).toBe(-1);
  });

  it('field names that differ in case only', () => {
    const codec = codecFor(
      snapshots.pojo([
        ['a', snapshots.simple('Int')],
        ['A', snapshots.simple('Int')],
        ['a_1', snapshots.simple('Int')],
      ]),
    );
    expect(sqlTypeText(codec.type)).toBe('STRUCT(a INTEGER, A_2 INTEGER, a_1 INTEGER)');
  });

  it('a tuple or row without fields is JSON', () => {
    expect(decode(codecFor(snapshots.row()), Uint8Array.of(0x40)).json).toBe('{"$kind":"+U"}');
    const tuple0 = new Out().utf('org.apache.flink.api.java.typeutils.runtime.Tuple0SerializerSnapshot').i32(3).bytes;
    expect(decode(codecFor(tuple0), Uint8Array.of(42))).toMatchObject({ json: '{}', end: 1 });
    expect(codecFor(tuple0).length).toBe(1);
  });
});

describe('POJO subclasses', () => {
  const fields = [
    ['id', snapshots.simple('Int')],
    ['name', snapshots.simple('String')],
  ] as const;
  const sub = snapshots.pojo([...fields, ['more', snapshots.simple('Long')]], [], [], 'com.x.Sub');
  const base = snapshots.pojo(
    [...fields],
    [
      ['com.x.Gone', sub],
      ['com.x.Sub', sub],
    ],
    [['com.x.Other', sub]],
  );
  const own = new Out()
    .u8(2)
    .bool(false)
    .i32(7)
    .bool(true)
    .bool(false)
    .i64(1n << 60n).bytes;
  const codec = codecFor(base);

  it('by tag and by name', () => {
    const json = (name: string) => `{"$class":"${name}","id":7,"name":null,"more":${1n << 60n}}`;
    const column = '{"id":7,"name":null}';
    const byTag = new Out().u8(8).u8(1).raw(own).bytes;
    expect(decode(codec, byTag)).toMatchObject({ json: json('com.x.Sub'), column, end: byTag.length });
    const byName = new Out().u8(4).utf('com.x.Other').raw(own).bytes;
    expect(decode(codec, byName)).toMatchObject({ json: json('com.x.Other'), column, end: byName.length });
    expect(decode(codec, byName).value).toBeInstanceOf(Struct);
  });

  it('a class that the snapshot does not describe shows its bytes', () => {
    const bytes = new Out().u8(4).utf('com.x.New').raw(own).bytes;
    expect(decode(codec, bytes)).toMatchObject({
      json: `{"$class":"com.x.New","$hex":"${own.toString('hex')}"}`,
      column: undefined,
      end: bytes.length,
    });
    // … and hides what follows it
    const pair = codecFor(snapshots.tuple(snapshots.simple('Int'), base, snapshots.simple('Int')));
    const three = new Out().i32(5).raw(bytes).i32(9).bytes;
    expect(decode(pair, three)).toMatchObject({
      json: `{"f0":5,"f1":{"$class":"com.x.New"},"$hex":"${own.toString('hex')}00000009"}`,
      column: undefined,
      end: three.length,
    });
  });

  it('damage', () => {
    expect(() => codec.read(new Cursor(Uint8Array.of(3)))).toThrow('flags 3 of a POJO');
    expect(() => codec.read(new Cursor(Uint8Array.of(8, 2)))).toThrow('subclass 2 of 2 registered ones');
  });
});
