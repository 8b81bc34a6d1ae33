/** Arbitrary types and values for the output tests: every kind of SQL type, nested to a small depth. */
import fc from 'fast-check';
import * as t from '../../src/types.js';

const unit = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      "it's",
      '"',
      '\\',
      '\n',
      '\t',
      '\u0000',
      '\u001b[31m',
      '\u202e',
      'NULL',
      'a|b',
      '日本',
      '\u0085',
      '\u2066',
    ),
  },
);

const days = fc.integer({ min: -2_000_000, max: 3_000_000 });
const nanosOfDay = fc.integer({ min: 0, max: 86_399_999_999 }).map(micros => micros * 1000);
const instant = (unitNanos: number, lowest = -9_000_000_000n, highest = 9_000_000_000n) =>
  fc
    .tuple(fc.bigInt({ min: lowest, max: highest }), fc.integer({ min: 0, max: 1e9 / unitNanos - 1 }))
    .map(([seconds, units]) => new t.Timestamp(seconds, units * unitNanos));

const scalars: readonly (readonly [t.SqlType, fc.Arbitrary<t.Value>])[] = [
  [t.BOOLEAN, fc.boolean()],
  [t.TINYINT, fc.integer({ min: -128, max: 127 })],
  [t.SMALLINT, fc.integer({ min: -32768, max: 32767 })],
  [t.INTEGER, fc.integer()],
  [
    t.BIGINT,
    fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
      fc.bigInt(-999n, 999n),
    ),
  ],
  [t.HUGEINT, fc.oneof(fc.bigInt({ min: 1n - 2n ** 127n, max: 2n ** 127n - 1n }), fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }))],
  [t.FLOAT, fc.float()],
  [t.DOUBLE, fc.double()],
  [t.VARCHAR, unit],
  [t.BLOB, fc.uint8Array({ maxLength: 9 })],
  [t.UUID, fc.uuid()],
  [t.DATE, days],
  [t.TIME, nanosOfDay],
  [t.TIME_NS, fc.integer({ min: 0, max: 86_399_999_999_999 })],
  [t.TIMESTAMP, instant(1000, -200_000_000_000n, 200_000_000_000n)],
  [t.TIMESTAMP_NS, instant(1)],
  [t.TIMESTAMPTZ, instant(1000, -200_000_000_000n, 200_000_000_000n)],
  [
    t.INTERVAL,
    fc
      .tuple(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: -9999, max: 9999 }), fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }))
      .map(([m, d, u]) => new t.Interval(m, d, u)),
  ],
  ...(
    [
      [4, 2],
      [9, 0],
      [18, 6],
      [38, 10],
    ] as const
  ).map(
    ([precision, scale]) =>
      [
        t.decimal(precision, scale),
        fc.bigInt({ min: 1n - 10n ** BigInt(precision), max: 10n ** BigInt(precision) - 1n }).map(n => new t.Decimal(n, scale)),
      ] as const,
  ),
  [t.JSON_TYPE, fc.json({ maxDepth: 2 }).map(text => new t.JsonText(text))],
];

export interface Typed {
  readonly type: t.SqlType;
  readonly values: readonly t.Value[];
}

const typeAndValue = (depth: number): fc.Arbitrary<readonly [t.SqlType, fc.Arbitrary<t.Value>]> => {
  const scalar = fc.constantFrom(...scalars);
  if (depth === 0) return scalar;
  const inner = typeAndValue(depth - 1);
  const maybe = (v: fc.Arbitrary<t.Value>) => fc.option(v, { nil: null, freq: 5 });
  return fc.oneof(
    { weight: 5, arbitrary: scalar },
    { weight: 1, arbitrary: inner.map(([element, v]) => [t.list(element), fc.array(maybe(v), { maxLength: 3 })] as const) },
    {
      weight: 1,
      arbitrary: fc
        .uniqueArray(
          fc.tuple(
            fc.oneof(fc.constantFrom('end', 'a b', 'q"q', 'f0', 'ü'), fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme-ascii' })),
            inner,
          ),
          {
            minLength: 1,
            maxLength: 3,
            selector: ([name]) => name.toLowerCase(),
          },
        )
        .map(
          fields =>
            [
              t.struct(...fields.map(([name, [type]]) => [name, type] as const)),
              fc.tuple(...fields.map(([, [, v]]) => maybe(v))).map(vs => new t.Struct(vs)),
            ] as const,
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...scalars.filter(([k]) => !['JSON', 'FLOAT', 'DOUBLE'].includes(k.kind))), inner)
        .map(
          ([[key, k], [value, v]]) =>
            [
              t.map(key, value),
              fc
                .uniqueArray(fc.tuple(k, maybe(v)), { maxLength: 3, selector: ([x]) => identity(x) })
                .map(entries => new t.MapValue(entries)),
            ] as const,
        ),
    },
  );
};

function identity(key: t.Value): string {
  return key instanceof Uint8Array
    ? Buffer.from(key).toString('hex')
    : JSON.stringify(key, (_, v) => (typeof v === 'bigint' ? String(v) : v));
}

/** A type with one to four values of it, NULL among them. */
export const typed: fc.Arbitrary<Typed> = typeAndValue(2).chain(([type, v]) =>
  fc.array(fc.option(v, { nil: null, freq: 6 }), { minLength: 1, maxLength: 4 }).map(values => ({ type, values })),
);

/** One type of each kind with values, for tables that have to show every one. */
export const everyKind: readonly (readonly [t.SqlType, t.Value])[] = [
  [t.BOOLEAN, true],
  [t.TINYINT, -128],
  [t.SMALLINT, -32768],
  [t.INTEGER, 2147483647],
  [t.BIGINT, 9007199254740993n],
  [t.HUGEINT, 1n - 2n ** 127n],
  [t.FLOAT, Math.fround(0.1)],
  [t.DOUBLE, Number.NaN],
  [t.decimal(10, 2), new t.Decimal(110n, 2)],
  [t.VARCHAR, 'it\'s "ü" 日本'],
  [t.BLOB, Uint8Array.of(0, 171, 255)],
  [t.UUID, '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9'],
  [t.JSON_TYPE, new t.JsonText('{"a":[1,null]}')],
  [t.DATE, 20484],
  [t.TIME, 45296789000000],
  [t.TIME_NS, 45296789000001],
  [t.TIMESTAMP, new t.Timestamp(1769862896n, 789000000)],
  [t.TIMESTAMP_NS, new t.Timestamp(1769862896n, 789000001)],
  [t.TIMESTAMPTZ, new t.Timestamp(1769862896n, 0)],
  [t.INTERVAL, new t.Interval(14, 3, 500000n)],
  [t.struct(['f0', t.VARCHAR], ['end', t.BIGINT]), new t.Struct(['a', null])],
  [t.list(t.INTEGER), [1, null, 3]],
  [t.map(t.VARCHAR, t.DOUBLE), new t.MapValue([['k', 0.5]])],
];
