/** Number constants of any length, against numbers of every type and against text, typed and mixed, in both engines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import {
  BIGINT,
  Decimal,
  DOUBLE,
  decimal,
  FLOAT,
  HUGEINT,
  INTEGER,
  JSON_TYPE,
  JsonText,
  list,
  MapValue,
  map,
  Struct,
  struct,
  VARCHAR,
} from '../../src/types.js';
import { fakeCatalog, fakeKeyedState, fakeTable } from './fake-table.js';
import { errorOf, valuesOf } from './harness.js';

/** 60 digits */
const LONG = '160693804425899027554196209234160693804425899027554196209234';
/** 44 digits, of which 42 are a fraction */
const FRACTION = '12.345678901234567890123456789012345678901234';
const MAX = 2n ** 127n - 1n;
const MIN = -(2n ** 127n);
const ZEROS = '0'.repeat(60);

const numbers = fakeTable(
  'numbers',
  [
    { name: 'i', type: INTEGER },
    { name: 'b', type: BIGINT },
    { name: 'h', type: HUGEINT },
    { name: 'low', type: HUGEINT },
    { name: 'dec', type: decimal(10, 2) },
    { name: 'wide', type: decimal(38, 30) },
    { name: 'whole', type: decimal(38, 0) },
    { name: 'f', type: FLOAT },
    { name: 'd', type: DOUBLE },
    { name: 'zero', type: DOUBLE },
    { name: 'inf', type: DOUBLE },
    { name: 't', type: VARCHAR },
    { name: 'fraction', type: VARCHAR },
    { name: 'thousand', type: VARCHAR },
    { name: 'j', type: JSON_TYPE },
    { name: 's', type: struct(['n', VARCHAR], ['h', HUGEINT]) },
    { name: 'l', type: list(VARCHAR) },
    { name: 'm', type: map(VARCHAR, VARCHAR) },
  ],
  [
    [
      5,
      9007199254740993n,
      MAX,
      MIN,
      new Decimal(1234567890n, 2),
      new Decimal(12345678n * 10n ** 30n + 1n, 30),
      new Decimal(10n ** 38n - 1n, 0),
      0.1,
      1e23,
      -0,
      Number.POSITIVE_INFINITY,
      LONG,
      FRACTION,
      '1000',
      new JsonText(LONG),
      new Struct([LONG, MAX]),
      [LONG],
      new MapValue([['k', LONG]]),
    ],
  ],
);
const states = fakeKeyedState('keyed_state', [
  {
    operatorId: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    operatorUid: 'a',
    stateName: 'texts',
    keyType: VARCHAR,
    valueType: struct(['n', VARCHAR]),
    entries: [
      [LONG, new Struct([LONG])],
      [`-${LONG}`, new Struct([FRACTION])],
      [FRACTION, new Struct(['0'])],
      ['1000', new Struct(['1000'])],
    ],
  },
  {
    operatorId: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
    operatorUid: 'b',
    stateName: 'doubles',
    keyType: DOUBLE,
    valueType: struct(['n', DOUBLE]),
    entries: [
      [-0, new Struct([-0])],
      [0, new Struct([0])],
      [0.5, new Struct([0.5])],
    ],
  },
  {
    operatorId: 'cccccccccccccccccccccccccccccccc',
    operatorUid: 'c',
    stateName: 'huge',
    keyType: HUGEINT,
    valueType: HUGEINT,
    entries: [[MAX, MAX]],
  },
]);

let duckdb: Database;
let alasql: Database;
beforeAll(async () => {
  const snapshots = new Map([['s', fakeCatalog(numbers, states)]]);
  duckdb = await openDatabase({ snapshots, threads: 1 });
  alasql = await openDatabase({ snapshots, engine: 'alasql' });
});
afterAll(async () => {
  await duckdb.close();
  await alasql.close();
});

const CONDITIONS: readonly (readonly [string, boolean])[] = [
  // beyond every integer type
  [`h = ${LONG}`, false],
  [`h <> ${LONG}`, true],
  [`h < ${LONG}`, true],
  [`h > ${LONG}`, false],
  [`h > -${LONG}`, true],
  [`low > -${LONG}`, true],
  [`low < -${LONG}`, false],
  [`i < ${LONG}`, true],
  [`i = ${LONG}`, false],
  [`i IN (${LONG}, 5)`, true],
  [`h < '${LONG}'`, true],
  [`h < 1${'0'.repeat(500)}`, true],
  [`h > -1${'0'.repeat(500)}`, true],
  ['i < 1e400', true],
  ["i > '-1e400'", true],
  // around the ends of HUGEINT, where doubles are all the same
  [`h = ${MAX}`, true],
  [`h = ${MAX + 1n}`, false],
  [`h < ${MAX + 1n}`, true],
  [`h >= ${MAX + 1n}`, false],
  [`low = ${MIN}`, true],
  [`low = ${MIN - 1n}`, false],
  [`low > ${MIN - 1n}`, true],
  // fractions, which are between two integers
  [`h > ${MAX}.5`, false],
  [`h < ${MAX}.5`, true],
  ['i = 5.5', false],
  ['i < 5.5', true],
  ['i > 4.5', true],
  ['i > -5.5', true],
  [`i = 5.${ZEROS}`, true],
  [`i = 5.${ZEROS}1`, false],
  [`i < 5.${ZEROS}1`, true],
  [`i > 4.${'9'.repeat(60)}`, true],
  [`i >= 5.${ZEROS}1`, false],
  ['i = 5e0', true],
  ["i = '50e-1'", true],
  ['b = 9007199254740993e0', true],
  ['b = 9007199254740992e0', false],
  // decimals
  ['dec = 12345678.90', true],
  [`dec = 12345678.90${ZEROS}`, true],
  [`dec = 12345678.90${ZEROS}1`, false],
  [`dec < 12345678.90${ZEROS}1`, true],
  ['dec > 1.000000000000000000000000000000000001', true],
  ['dec > 0.00000000000000000000000000000000000000000001', true],
  [`dec < ${LONG}`, true],
  [`dec > -${LONG}.5`, true],
  ['wide = 12345678.000000000000000000000000000001', true],
  ['wide = 12345678.0000000000000000000000000000010', true],
  ['wide > 12345678', true],
  ['wide < 123456789', true],
  [`whole = ${'9'.repeat(38)}`, true],
  [`whole < ${'9'.repeat(39)}`, true],
  [`whole = ${'9'.repeat(38)}.0`, true],
  // floats
  ['f = 0.1', true],
  ["f = '0.1'", true],
  [`d = 1${'0'.repeat(23)}`, true],
  [`d < ${LONG}`, true],
  [`inf > ${LONG}`, true],
  [`inf = 1${'0'.repeat(400)}`, false],
  [`inf > 1${'0'.repeat(400)}`, true],
  ['inf = 1e400', false],
  ["inf = 'Infinity'", true],
  [`d < 1${'0'.repeat(400)}`, true],
  [`d > -1${'0'.repeat(400)}`, true],
  ['zero = 0', true],
  ['zero = -0.0', true],
  ['zero = 0.0', true],
  ["zero = '-0.0'", true],
  ["zero = '0'", true],
  ['zero IN (-0.0)', true],
  // text: the digits as they stand
  [`t = ${LONG}`, true],
  [`t <> ${LONG}`, false],
  [`t = -${LONG}`, false],
  [`t IN (1, ${LONG})`, true],
  [`t < ${LONG}0`, true],
  [`fraction = ${FRACTION}`, true],
  ['thousand = 1e3', true],
];
const DUCKDB_ONLY: readonly (readonly [string, boolean])[] = [
  [`t BETWEEN ${LONG} AND ${LONG}`, true],
  [`h BETWEEN -${LONG} AND ${LONG}`, true],
  [`i BETWEEN 4.5 AND 5.5`, true],
  [`i BETWEEN 5.5 AND 6.5`, false],
  [`i NOT IN (5.5, ${LONG})`, true],
  [`h NOT IN (5.5, ${MAX})`, false],
  [`j = ${LONG}`, true],
  [`s.n = ${LONG}`, true],
  [`s['n'] = ${LONG}`, true],
  [`s->>'n' = ${LONG}`, true],
  [`s.h < ${LONG}`, true],
  [`s.h = ${MAX + 1n}`, false],
  [`l[1] = ${LONG}`, true],
  [`m['k'] = ${LONG}`, true],
  [`(t, i) = (${LONG}, 5)`, true],
  [`(t, i) IN ((${LONG}, 6), (${LONG}, 5))`, true],
  [`(t, i) = (1e3, 5)`, false],
  [`CASE t WHEN ${LONG} THEN true ELSE false END`, true],
  [`t = - -${LONG}`, true],
  [`'-' || t = -(${LONG})`, true],
  [`'-' || t = - /* a ( comment */ ${LONG}`, true],
  [`t = ${LONG.replace(/(.{3})(?=.)/g, '$1_')}`, true],
  [`'é' <> '' AND t = ${LONG}`, true],
  [`upper(t) = ${LONG}`, true],
  [`t IS NOT DISTINCT FROM ${LONG}`, true],
  [`h IS DISTINCT FROM ${LONG}`, true],
  [`${LONG} = t`, true],
  [`${LONG} > h`, true],
  [`5.5 > i`, true],
  [`EXISTS (SELECT 1 FROM numbers x WHERE x.t = ${LONG})`, true],
  [`${LONG} IN (SELECT t FROM numbers)`, true],
  [`${LONG} IN (SELECT h FROM numbers)`, false],
  [`h + 0 < ${LONG}`, true],
  [`abs(zero) = -0.0`, true],
  [`t LIKE ${LONG}`, true],
];

describe('numbers of any length', () => {
  it.each(CONDITIONS)('%s: %s, in both engines', async (condition, expected) => {
    expect(await valuesOf(duckdb, `SELECT ${condition} FROM numbers`)).toEqual([expected]);
    for (const db of [duckdb, alasql]) expect(await valuesOf(db, `SELECT i FROM numbers WHERE ${condition}`)).toEqual(expected ? [5] : []);
  });
  it.each(DUCKDB_ONLY)('%s: %s', async (condition, expected) => {
    expect(await valuesOf(duckdb, `SELECT ${condition} FROM numbers`)).toEqual([expected]);
    expect(await valuesOf(duckdb, `SELECT i FROM numbers WHERE ${condition}`)).toEqual(expected ? [5] : []);
    expect(await valuesOf(duckdb, `SELECT i FROM numbers WHERE NOT (${condition})`)).toEqual(expected ? [] : [5]);
  });

  const mixed: readonly (readonly [string, number])[] = [
    [`key = ${LONG}`, 1],
    [`key = -${LONG}`, 1],
    [`key IN (${LONG}, -${LONG})`, 2],
    [`key = ${FRACTION}`, 1],
    ['key = 1e3', 1],
    ['key = 1000', 1],
    [`key = ${MAX}`, 1],
    [`key = ${MAX + 1n}`, 0],
    [`key <> ${LONG}`, 7],
    // a float has two zeros, and a number finds both
    ['key = 0', 2],
    ['key = -0.0', 2],
    ['key = 0.0', 2],
    ['key = 0e0', 2],
    ['key IN (0, 0.5)', 3],
    ['key <> 0', 6],
    ['key = 0 OR key = 0.5', 3],
    // text is text
    ["key = '-0.0'", 1],
    ["key = '0'", 1],
  ];
  it.each(mixed)('%s on a column of several types: %d rows, in both engines', async (condition, count) => {
    for (const db of [duckdb, alasql])
      expect((await valuesOf(db, `SELECT state_name FROM keyed_state WHERE ${condition}`)).length).toBe(count);
  });
  it('by a path', async () => {
    const count = async (condition: string) => (await valuesOf(duckdb, `SELECT state_name FROM keyed_state WHERE ${condition}`)).length;
    expect(await count(`value.n = ${LONG}`)).toBe(1);
    expect(await count(`value->>'n' = ${LONG}`)).toBe(1);
    expect(await count('value.n = -0.0')).toBe(3);
    expect(await count('value.n = 0 AND operator_uid = $$b$$')).toBe(2);
    expect(await count(`key NOT IN (0, ${LONG})`)).toBe(5);
    expect(await count('key IS DISTINCT FROM 0')).toBe(6);
    expect(await count('key IS NOT DISTINCT FROM 0')).toBe(2);
  });
  it('elsewhere stay what the engine makes of them', async () => {
    expect(await valuesOf(duckdb, `SELECT ${LONG}`)).toEqual([1.6069380442589904e59]);
    expect(await valuesOf(duckdb, `SELECT typeof(${LONG}) || typeof(1e3) || typeof(-0.0)`)).toEqual(['DOUBLEDOUBLEDECIMAL(2,1)']);
    expect(await valuesOf(duckdb, 'SELECT 1e400')).toEqual([Number.POSITIVE_INFINITY]);
    expect(await valuesOf(duckdb, `SELECT -1${'0'.repeat(400)}`)).toEqual([Number.NEGATIVE_INFINITY]);
    expect(await errorOf(duckdb, `SELECT 1 LIMIT ${LONG}`)).toMatch(/^VALUE_OUT_OF_RANGE/);
  });
});
