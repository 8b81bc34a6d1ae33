import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  civilFromDays,
  dateText,
  daysFromCivil,
  durationText,
  INSIDE_JSON,
  jsonOf,
  numberText,
  textOf,
  timeText,
} from '../../src/io/json.js';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  Decimal,
  DOUBLE,
  decimal,
  FLOAT,
  HUGEINT,
  INTEGER,
  INTERVAL,
  Interval,
  JSON_TYPE,
  JsonText,
  list,
  MapValue,
  map,
  Struct,
  struct,
  TIME,
  TIME_NS,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  Timestamp,
  UUID,
  VARCHAR,
} from '../../src/types.js';

describe('numbers', () => {
  it('integers have every digit; quoted by type on wish', () => {
    expect(jsonOf(BIGINT, 9007199254740993n)).toBe('9007199254740993');
    expect(jsonOf(HUGEINT, -170141183460469231731687303715884105728n)).toBe('-170141183460469231731687303715884105728');
    const type = struct(['a', BIGINT], ['b', INTEGER], ['c', decimal(10, 2)], ['d', list(HUGEINT)]);
    const value = new Struct([1n, 2, new Decimal(110n, 2), [3n]]);
    expect(jsonOf(type, value)).toBe('{"a":1,"b":2,"c":1.10,"d":[3]}');
    expect(jsonOf(type, value, { numbers: 'string' })).toBe('{"a":"1","b":2,"c":"1.10","d":["3"]}');
    expect(jsonOf(type, value, INSIDE_JSON)).toBe('{"a":1,"b":2,"c":"1.10","d":[3]}');
  });

  it('decimals keep their scale', () => {
    expect(new Decimal(-5n, 3).toString()).toBe('-0.005');
    expect(jsonOf(decimal(38, 0), new Decimal(12n, 0))).toBe('12');
    expect(jsonOf(decimal(5, 5), new Decimal(0n, 5))).toBe('0.00000');
  });

  it('doubles', () => {
    expect([1, -1.5, 1e21, 1e-7, 123456789012345680000, 5e-324, 1.7976931348623157e308].map(n => jsonOf(DOUBLE, n))).toEqual([
      '1',
      '-1.5',
      '1e+21',
      '1e-7',
      '123456789012345680000',
      '5e-324',
      '1.7976931348623157e+308',
    ]);
    expect([0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(n => jsonOf(DOUBLE, n))).toEqual([
      '0',
      '-0.0',
      '"NaN"',
      '"Infinity"',
      '"-Infinity"',
    ]);
    expect(Object.is(JSON.parse(jsonOf(DOUBLE, -0)), -0)).toBe(true);
  });

  it('floats are as short as they can be', () => {
    const bits = new DataView(new ArrayBuffer(4));
    const float = (n: number): number => {
      bits.setUint32(0, n);
      return bits.getFloat32(0);
    };
    expect(
      [0.1, 16777216, 3.4028234663852886e38, 1.401298464324817e-45, 1e10, 1.17549435e-38].map(n => numberText(Math.fround(n), true)),
    ).toEqual(['0.1', '16777216', '3.4028235e+38', '1e-45', '10000000000', '1.1754944e-38']);
    const shorter = (text: string): string[] => {
      // every decimal with one digit fewer around the number
      const [mantissa, exponent] = Number(text).toExponential().split('e');
      const digits = mantissa.replace(/[-.]/g, '');
      if (digits.length === 1) return [];
      const base = BigInt(digits.slice(0, -1));
      const power = Number(exponent) - digits.length + 2;
      return [base, base + 1n].map(m => `${mantissa.startsWith('-') ? '-' : ''}${m}e${power}`);
    };
    const check = (n: number): void => {
      const text = numberText(n, true);
      expect(Math.fround(Number(text))).toBe(n);
      for (const candidate of shorter(text))
        expect([text, candidate, Math.fround(Number(candidate)) === n]).toEqual([text, candidate, false]);
    };
    for (let exponent = 1; exponent < 255; exponent++) check(float(exponent << 23));
    for (let bit = 0; bit < 23; bit++) check(float(1 << bit));
    fc.assert(
      fc.property(
        fc.float({ noNaN: true, noDefaultInfinity: true }).filter(n => n !== 0),
        n => check(Math.fround(n)),
      ),
      { seed: 11, numRuns: 3000 },
    );
  });
});

describe('text', () => {
  it('is escaped, lone surrogates by name', () => {
    expect(jsonOf(VARCHAR, 'a"\\\n\u0000\u001f\ud800x\udc00 😀\u2028')).toBe('"a\\"\\\\\\n\\u0000\\u001f\\ud800x\\udc00 😀\u2028"');
    expect(textOf(VARCHAR, 'a"b')).toBe('a"b');
    expect(jsonOf(BLOB, Buffer.from([0, 171, 255]))).toBe('"00abff"');
    expect(jsonOf(UUID, '00000000-0000-0002-ffff-fffffffffffe')).toBe('"00000000-0000-0002-ffff-fffffffffffe"');
  });
});

describe('times', () => {
  const stamp = (seconds: bigint, nanos = 0) => new Timestamp(seconds, nanos);
  it('have 0, 3, 6 or 9 fraction digits', () => {
    expect([0, 120_000_000, 120_000, 12].map(n => jsonOf(TIMESTAMP_NS, stamp(0n, n)))).toEqual([
      '"1970-01-01T00:00:00"',
      '"1970-01-01T00:00:00.120"',
      '"1970-01-01T00:00:00.000120"',
      '"1970-01-01T00:00:00.000000012"',
    ]);
    expect(jsonOf(TIMESTAMPTZ, stamp(-1n, 999_000_000))).toBe('"1969-12-31T23:59:59.999Z"');
    expect(jsonOf(TIMESTAMP, stamp(951_782_400n))).toBe('"2000-02-29T00:00:00"');
    expect(jsonOf(TIME, 86_399_999_000_000)).toBe('"23:59:59.999"');
    expect(jsonOf(TIME_NS, 1)).toBe('"00:00:00.000000001"');
    expect(timeText(3_600_000_000_000)).toBe('01:00:00');
  });

  it('years outside of 0000–9999 are signed', () => {
    expect(jsonOf(TIMESTAMPTZ, stamp(253_402_300_800n))).toBe('"+10000-01-01T00:00:00Z"');
    expect(jsonOf(TIMESTAMPTZ, stamp(-62_167_219_201n))).toBe('"-0001-12-31T23:59:59Z"');
    expect(jsonOf(TIMESTAMPTZ, Timestamp.ofMillis(9223372036854775807n))).toBe('"+292278994-08-17T07:12:55.807Z"');
    expect(jsonOf(DATE, -719_528)).toBe('"0000-01-01"');
  });

  it('bounds beyond SQL are ±infinity', () => {
    expect(jsonOf(TIMESTAMPTZ, Timestamp.ofBoundMillis(9223372036854775807n))).toBe('"infinity"');
    expect(jsonOf(TIMESTAMPTZ, Timestamp.ofBoundMillis(-9223372036854775808n))).toBe('"-infinity"');
    expect(jsonOf(TIMESTAMPTZ, Timestamp.ofBoundMillis(12_345n))).toBe('"1970-01-01T00:00:12.345Z"');
  });

  it('calendar there and back', () => {
    for (let day = -1_000_000; day < 1_000_000; day += 997) {
      const date = new Date(day * 86_400_000);
      const { year, month, day: d } = civilFromDays(BigInt(day));
      expect([Number(year), month, d]).toEqual([date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]);
      expect(daysFromCivil(Number(year), month, d)).toBe(day);
    }
    expect(dateText(BigInt(daysFromCivil(999_999_999, 12, 31)))).toBe('+999999999-12-31');
    expect(dateText(BigInt(daysFromCivil(-999_999_999, 1, 1)))).toBe('-999999999-01-01');
  });

  it('durations as java.time.Duration.toString', () => {
    expect([
      durationText(0n, 0),
      durationText(29_172n, 345_000_000),
      durationText(-1n, 500_000_000),
      durationText(-1n, 0),
      durationText(-61n, 999_999_999),
      durationText(3600n, 0),
      durationText(0n, 1),
      durationText(90_061n, 0),
    ]).toEqual(['PT0S', 'PT8H6M12.345S', 'PT-0.5S', 'PT-1S', 'PT-1M-0.000000001S', 'PT1H', 'PT0.000000001S', 'PT25H1M1S']);
  });

  it('intervals', () => {
    expect(
      [
        new Interval(14, 0, 0n),
        new Interval(-14, 0, 0n),
        new Interval(0, 3, 3_600_500_000n),
        new Interval(0, 0, 0n),
        new Interval(0, -1, -500_000n),
      ].map(i => jsonOf(INTERVAL, i)),
    ).toEqual(['"P1Y2M"', '"P-1Y-2M"', '"P3DT1H0.5S"', '"PT0S"', '"P-1DT-0.5S"']);
  });
});

describe('nested', () => {
  it('extras of a struct stand before or behind its fields; a choice shows one', () => {
    const type = struct(['a', INTEGER], ['b', VARCHAR]);
    const extras = [
      { name: '$class', json: '"X"', lead: true },
      { name: 'more', json: '[1]', lead: false },
    ];
    expect(jsonOf(type, new Struct([1, null], extras))).toBe('{"$class":"X","a":1,"b":null,"more":[1]}');
    expect(jsonOf(type, new Struct([null, 'x'], undefined, 1))).toBe('{"b":"x"}');
    expect(jsonOf(type, null)).toBe('null');
  });

  it('maps are objects when their keys allow it', () => {
    const of = (key: typeof VARCHAR | typeof BIGINT | typeof BOOLEAN | typeof FLOAT | typeof DATE, ...entries: [never, number][]) =>
      jsonOf(map(key, INTEGER), new MapValue(entries));
    expect(of(VARCHAR, ['a"' as never, 1], ['b' as never, 2])).toBe('{"a\\"":1,"b":2}');
    expect(of(BIGINT, [9007199254740993n as never, 1])).toBe('{"9007199254740993":1}');
    expect(of(BOOLEAN, [true as never, 1])).toBe('{"true":1}');
    expect(of(FLOAT, [Math.fround(0.1) as never, 1])).toBe('{"0.1":1}');
    expect(jsonOf(map(decimal(4, 2), INTEGER), new MapValue([[new Decimal(110n, 2), 1]]))).toBe('{"1.10":1}');
    expect(of(DATE, [0 as never, 1])).toBe('[{"key":"1970-01-01","value":1}]');
    expect(of(VARCHAR, [null as never, 1])).toBe('[{"key":null,"value":1}]');
    expect(of(VARCHAR, ['null' as never, 1])).toBe('{"null":1}');
    expect(of(VARCHAR, ['a' as never, 1], ['a' as never, 2])).toBe('[{"key":"a","value":1},{"key":"a","value":2}]');
    expect(of(VARCHAR)).toBe('{}');
  });

  it('finished JSON stays as it is, in place of any type too', () => {
    expect(jsonOf(JSON_TYPE, new JsonText('{"a":1.50}'))).toBe('{"a":1.50}');
    expect(jsonOf(list(INTEGER), new JsonText('{"$hex":"00"}'))).toBe('{"$hex":"00"}');
    expect(jsonOf(list(JSON_TYPE), [new JsonText('1'), null])).toBe('[1,null]');
    expect(textOf(JSON_TYPE, new JsonText('"a\\n"'))).toBe('a\n');
    expect(textOf(JSON_TYPE, new JsonText('[1]'))).toBe('[1]');
    expect(textOf(list(VARCHAR), ['a'])).toBe('["a"]');
  });
});
