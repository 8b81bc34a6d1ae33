/** The tables that the SQL tests ask: typed ones of many types, and a keyed state with several types. */
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  Decimal,
  DOUBLE,
  decimal,
  HUGEINT,
  INTEGER,
  list,
  MapValue,
  map,
  Struct,
  struct,
  TIMESTAMP,
  TIMESTAMPTZ,
  Timestamp,
  UUID,
  VARCHAR,
  type Value,
} from '../../src/types.js';
import { type FakeOptions, fakeKeyedState, fakeTable } from './fake-table.js';

const day = (text: string) => Date.parse(`${text}T00:00:00Z`) / 86400000;
const time = (text: string) => Timestamp.ofMillis(BigInt(Date.parse(text)));

export const people = (options?: FakeOptions) =>
  fakeTable(
    'people',
    [
      { name: 'id', type: INTEGER },
      { name: 'name', type: VARCHAR },
      { name: 'city', type: VARCHAR },
      { name: 'born', type: DATE },
      { name: 'balance', type: decimal(10, 2) },
      { name: 'active', type: BOOLEAN },
      { name: 'score', type: DOUBLE },
      { name: 'big', type: BIGINT },
      { name: 'huge', type: HUGEINT },
      { name: 'uid', type: UUID },
      { name: 'raw', type: BLOB },
      { name: 'seen', type: TIMESTAMPTZ },
      { name: 'local', type: TIMESTAMP },
    ],
    [
      [
        1,
        'Ann',
        'Berlin',
        day('1990-01-31'),
        new Decimal(1050n, 2),
        true,
        1.5,
        9007199254740993n,
        2n ** 100n,
        '00000000-0000-0000-0000-000000000001',
        new Uint8Array([1, 255]),
        time('2026-01-31T12:34:56.789Z'),
        time('2026-01-31T12:34:56Z'),
      ],
      [
        2,
        'Bob',
        'Oslo',
        day('1985-06-15'),
        new Decimal(-500n, 2),
        false,
        Number.NaN,
        -5n,
        -(2n ** 90n),
        '00000000-0000-0000-0000-0000000000ff',
        new Uint8Array([]),
        time('2025-12-31T23:59:59.999Z'),
        time('2025-12-31T00:00:00Z'),
      ],
      [3, 'Çelik', 'Berlin', null, null, null, null, null, null, null, null, null, null],
      [
        4,
        'Dora',
        null,
        day('2001-02-28'),
        new Decimal(0n, 2),
        true,
        -0,
        0n,
        0n,
        'ffffffff-ffff-ffff-ffff-ffffffffffff',
        new Uint8Array([0]),
        time('1969-12-31T23:59:59Z'),
        time('1970-01-01T00:00:00Z'),
      ],
      [
        5,
        'Eve with a long name, longer than twelve bytes',
        'Oslo',
        day('1990-01-31'),
        new Decimal(99999999n, 2),
        false,
        1e300,
        2n ** 63n - 1n,
        5n,
        '00000000-0000-0000-0000-000000000001',
        new Uint8Array(30).fill(7),
        time('2026-01-31T12:34:56.789Z'),
        null,
      ],
      [6, '', 'Berlin', day('1990-02-01'), new Decimal(110n, 2), true, 2.5, -(2n ** 63n), -1n, null, null, null, null],
      [7, '662', 'Rome', day('1999-12-31'), new Decimal(300n, 2), true, 3, 662n, 662n, null, null, null, null],
    ],
    options,
  );

export const orders = (options?: FakeOptions) =>
  fakeTable(
    'orders',
    [
      { name: 'order_id', type: BIGINT },
      { name: 'id', type: INTEGER },
      { name: 'item', type: struct(['sku', VARCHAR], ['qty', INTEGER], ['tags', list(VARCHAR)]) },
      { name: 'prices', type: list(decimal(6, 2)) },
      { name: 'attrs', type: map(VARCHAR, INTEGER) },
    ],
    [
      [
        10n,
        1,
        new Struct(['pen', 2, ['a', 'b']]),
        [new Decimal(150n, 2), new Decimal(250n, 2)],
        new MapValue([
          ['x', 1],
          ['y', 2],
        ]),
      ],
      [11n, 1, new Struct(['ink', 1, []]), [], new MapValue([])],
      [12n, 2, new Struct(['pad', null, ['b', null]]), [null], new MapValue([['x', 5]])],
      [13n, 9, new Struct([null, 7, null]), null, null],
      [14n, 5, null, [new Decimal(999n, 2)], new MapValue([['z', null]])],
      [15n, 4, new Struct(['pen', 10, ['c']]), [new Decimal(1n, 2)], new MapValue([['y', 9]])],
    ],
    options,
  );

export const events = (options?: FakeOptions) =>
  fakeTable(
    'events',
    [
      { name: 'n', type: BIGINT },
      { name: 'kind', type: VARCHAR },
      { name: 'moment', type: TIMESTAMP },
    ],
    Array.from({ length: 300 }, (_, i): Value[] => [
      i % 50 === 49 ? null : BigInt(i),
      ['open', 'close', 'tick', 'a much longer kind of event'][i % 4],
      Timestamp.ofMillis(BigInt(1767225600000 + i * 3600000)),
    ]),
    options,
  );

/** Two operators, four states: String, Integer, Long and Boolean keys. */
export const keyedState = (options?: FakeOptions) =>
  fakeKeyedState(
    'keyed_state',
    [
      {
        operatorId: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
        operatorUid: 'counter',
        stateName: 'count',
        keyType: VARCHAR,
        valueType: BIGINT,
        entries: [
          ['key_1', 1n],
          ['key_662', 11290n],
          ['662', 5n],
          ['true', 9007199254740993n],
          [null, 3n],
        ],
      },
      {
        operatorId: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
        operatorUid: 'counter',
        stateName: 'last',
        keyType: VARCHAR,
        valueType: struct(['item', VARCHAR], ['n', INTEGER]),
        entries: [
          ['key_1', new Struct(['pen', 1])],
          ['key_662', new Struct(['a "quoted" thing', 2])],
          ['662', null],
        ],
      },
      {
        operatorId: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
        operatorUid: null,
        stateName: 'by-int',
        keyType: INTEGER,
        valueType: VARCHAR,
        entries: [
          [662, 'six hundred'],
          [1, '11290'],
          [-3, ''],
        ],
      },
      {
        operatorId: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
        operatorUid: null,
        stateName: 'flags',
        keyType: BOOLEAN,
        valueType: decimal(5, 2),
        entries: [
          [true, new Decimal(110n, 2)],
          [false, new Decimal(-5n, 2)],
        ],
      },
    ],
    { aliases: ['KeyedState'], ...options },
  );
