/** Nested values: by text, by path and by fields that are not there; the same typed and mixed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
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
  type SqlType,
  Struct,
  struct,
  TIME,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  Timestamp,
  UUID,
  VARCHAR,
  type Value,
} from '../../src/types.js';
import { fixture } from '../tables/support.js';
import { type FakeState, fakeCatalog, fakeKeyedState } from './fake-table.js';
import { errorOf, rowsOf, valuesOf } from './harness.js';

const PERSON = struct(['id', BIGINT], ['name', VARCHAR], ['inner', struct(['a', INTEGER], ['end', VARCHAR])]);
const EITHER: SqlType = { ...struct(['left', BIGINT], ['right', VARCHAR]), choice: true };
const SCALARS = struct(
  ['flag', BOOLEAN],
  ['amount', decimal(10, 2)],
  ['ratio', DOUBLE],
  ['raw', BLOB],
  ['day', DATE],
  ['at', TIMESTAMPTZ],
  ['clock', TIME],
  ['uid', UUID],
  ['nanos', TIMESTAMP_NS],
  ['huge', HUGEINT],
);

/** state → its type, a value, and how it is shown */
const STATES: readonly (readonly [name: string, type: SqlType, value: Value, json: string])[] = [
  ['person', PERSON, new Struct([5n, 'O"N', new Struct([1, 'x'])]), '{"id":5,"name":"O\\"N","inner":{"a":1,"end":"x"}}'],
  ['nulls', PERSON, new Struct([null, null, null]), '{"id":null,"name":null,"inner":null}'],
  ['inner-null', PERSON, new Struct([6n, 'null', new Struct([null, ''])]), '{"id":6,"name":"null","inner":{"a":null,"end":""}}'],
  ['list', list(INTEGER), [1, null, 3], '[1,null,3]'],
  ['empty', list(INTEGER), [], '[]'],
  ['texts', list(VARCHAR), ['1', 'null', null], '["1","null",null]'],
  ['people', list(PERSON), [new Struct([5n, 'n', null]), null], '[{"id":5,"name":"n","inner":null},null]'],
  [
    'map',
    map(VARCHAR, INTEGER),
    new MapValue([
      ['k0', 138],
      ['k1', null],
    ]),
    '{"k0":138,"k1":null}',
  ],
  ['int-map', map(INTEGER, list(VARCHAR)), new MapValue([[7, ['a']]]), '{"7":["a"]}'],
  ['date-map', map(DATE, INTEGER), new MapValue([[0, 1]]), '[{"key":"1970-01-01","value":1}]'],
  ['either', EITHER, new Struct([5n, null], undefined, 0), '{"left":5}'],
  ['right', EITHER, new Struct([null, 'r'], undefined, 1), '{"right":"r"}'],
  [
    'scalars',
    SCALARS,
    new Struct([
      true,
      new Decimal(110n, 2),
      -0.5,
      new Uint8Array([0, 255]),
      20484,
      new Timestamp(1769862896n, 789000000),
      45296000000000,
      '00000000-0000-0000-0000-0000000000ff',
      new Timestamp(1769862896n, 5),
      2n ** 100n,
    ]),
    '{"flag":true,"amount":"1.10","ratio":-0.5,"raw":"00ff","day":"2026-01-31","at":"2026-01-31T12:34:56.789Z","clock":"12:34:56","uid":"00000000-0000-0000-0000-0000000000ff","nanos":"2026-01-31T12:34:56.000000005","huge":1267650600228229401496703205376}',
  ],
];
const states = STATES.map(
  ([stateName, valueType, value]): FakeState => ({
    operatorId: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    operatorUid: 'op',
    stateName,
    keyType: INTEGER,
    valueType,
    entries: [
      [1, value],
      [2, null],
    ],
  }),
);

let db: Database;
let alasql: Database;
beforeAll(async () => {
  const snapshots = new Map([['s', fakeCatalog(fakeKeyedState('keyed_state', states))]]);
  db = await openDatabase({ snapshots, threads: 1 });
  alasql = await openDatabase({ snapshots, engine: 'alasql' });
});
afterAll(async () => {
  await db.close();
  await alasql.close();
});

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const found = async (condition: string, engine = db) =>
  (await valuesOf(engine, `SELECT state_name FROM keyed_state WHERE ${condition}`)).map(String);

describe('nested values against text', () => {
  it.each(STATES.map(s => [s[0], s[3]]))('%s is found by what is shown of it: %s', async (name, json) => {
    const spaced = json.replaceAll(',', ' , ').replaceAll(':{', ': {');
    for (const text of [json, spaced]) {
      expect(await found(`state_name = '${name}' AND value = ${quoted(text)}`)).toEqual([name]);
      expect(await found(`value = ${quoted(text)}`)).toEqual([name]);
      expect(await found(`value IN ('x', ${quoted(text)})`)).toEqual([name]);
      expect(await found(`value = ${quoted(text)}`, alasql)).toEqual([name]);
    }
    expect(await found(`state_name = '${name}' AND value <> ${quoted(json)}`)).toEqual([]);
    expect((await found(`value <> ${quoted(json)}`)).length).toBe(STATES.length - 1);
    const [row] = await rowsOf(db, `SELECT value FROM keyed_state WHERE state_name IN ('${name}', 'none', 'list', 'map') AND key = 1`);
    expect(row).toBeDefined();
  });
  it('and by nothing else', async () => {
    for (const [name, text] of [
      ['person', '{"id":5,"name":"O\\"N"}'],
      ['person', '{"id":"x","name":"O\\"N","inner":{"a":1,"end":"x"}}'],
      ['person', '{"id":5.5,"name":"O\\"N","inner":{"a":1,"end":"x"}}'],
      ['person', '{"id":5,"name":"O\\"N","inner":{"a":1,"end":"x","more":1}}'],
      ['list', '[1,2,3]'],
      ['list', '[1,null]'],
      ['list', '{"0":1}'],
      ['texts', '[1,"null",null]'],
      ['map', '{"k0":138}'],
      ['map', '{"k1":null,"k0":138}'],
      ['scalars', '{}'],
      ['person', 'x'],
      ['either', '{"left":6}'],
    ]) {
      expect(await found(`state_name = '${name}' AND value = ${quoted(text)}`), text).toEqual([]);
      expect(await found(`value = ${quoted(text)}`), text).toEqual([]);
    }
  });
  it('as the engine spells them, where the type is known', async () => {
    expect(await found("state_name = 'list' AND value = '[1, NULL, 3]'")).toEqual(['list']);
    expect(await found("state_name = 'map' AND value = '{k0=138, k1=NULL}'")).toEqual(['map']);
    expect(await found("state_name = 'either' AND value = '{''left'': 5, ''right'': NULL}'")).toEqual(['either']);
    expect(await errorOf(db, "SELECT 1 FROM keyed_state WHERE state_name = 'map' AND value = '{k0:'")).toMatch(
      /^REFUSED: .*cannot be read/,
    );
  });
});

describe('paths', () => {
  const PATHS = ['value.name', "value['name']", "value->'name'", "value->>'name'", "json_extract(to_json(value), '$.name')"];
  it.each(PATHS)('%s of a field that is null or not there is NULL', async path => {
    const [typed] = await rowsOf(db, `SELECT ${path}, ${path} IS NULL FROM keyed_state WHERE state_name = 'nulls' AND key = 1`);
    expect(typed).toEqual([null, true]);
    const mixed = path.replace('to_json(value)', 'value');
    for (const name of ['nulls', 'list']) {
      const [row] = await rowsOf(
        db,
        `SELECT ${mixed}, ${mixed} IS NULL FROM keyed_state WHERE state_name IN ('${name}', 'either') AND key = 1 ORDER BY state_name DESC LIMIT 1`,
      );
      expect(row).toEqual([null, true]);
    }
    // the text null is text
    const [text] = await rowsOf(
      db,
      `SELECT ${mixed} IS NULL FROM keyed_state WHERE state_name IN ('inner-null', 'empty') AND value->>'id' = 6`,
    );
    expect(text).toEqual([false]);
  });
  it('null inside of what is found stays', async () => {
    const [[typed], [mixed]] = [
      await valuesOf(db, "SELECT value->'inner' FROM keyed_state WHERE state_name = 'inner-null' AND key = 1"),
      await valuesOf(db, "SELECT value.inner FROM keyed_state WHERE state_name IN ('inner-null', 'empty') AND value->>'id' = 6"),
    ].map(rows => rows.map(v => (v as { text: string }).text));
    expect(typed).toBe('{"a":null,"end":""}');
    expect(mixed).toBe('{"a":null,"end":""}');
  });
  it('a field that a type does not have is an error with its place', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['value.nam', /^UNKNOWN_COLUMN: line 1, column 8: there is no field "nam" in value \| did you mean name\? fields: id, name, inner$/],
      ["value['nam']", /^UNKNOWN_COLUMN: line 1, column 8: there is no field "nam" in value \| did you mean name/],
      ['k.value.inner.b', /^UNKNOWN_COLUMN: line 1, column 8: there is no field "b" in k.value.inner \| did you mean a\? fields: a, end$/],
      ['value.id.x', /^UNKNOWN_COLUMN: line 1, column 8: value.id is a BIGINT and has no field "x"$/],
      ["struct_extract(value, 'x')", /^UNKNOWN_COLUMN: line 1, column 8: there is no field "x"/],
      ['(any_value(value)).x', /^UNKNOWN_COLUMN: .*there is no field "x" in the value \| fields: id, name, inner$/],
      ['(SELECT k.value).x', /^UNKNOWN_COLUMN: .*there is no field "x" in the value/],
    ];
    for (const [expr, message] of cases)
      expect(await errorOf(db, `SELECT ${expr} FROM keyed_state k WHERE state_name = 'person'`)).toMatch(message);
    expect(await errorOf(db, "SELECT value.x FROM keyed_state WHERE state_name = 'map'")).toContain(
      "| write value['x'] for the value of a key",
    );
    expect(await errorOf(db, "SELECT value.x FROM keyed_state WHERE state_name = 'people'")).toContain('| write value[1] for an element');
    expect(await errorOf(db, "SELECT v.x FROM (SELECT max(value) AS v FROM keyed_state WHERE state_name = 'person')")).toMatch(
      /^UNKNOWN_COLUMN: line 1, column 8: there is no field "x" in v/,
    );
  });
  it('types with words of the grammar as fields are known', async () => {
    expect(await valuesOf(db, "SELECT (max(value)).inner.a = '1' FROM keyed_state WHERE state_name = 'person'")).toEqual([true]);
    expect(await valuesOf(db, "SELECT (max(value)).inner.a = 'x' FROM keyed_state WHERE state_name = 'person'")).toEqual([false]);
  });
});

describe('states of a real snapshot', () => {
  it('are found by what is shown of their values, typed and mixed', async () => {
    const snapshot = openSnapshot(fixture('2.3-types-hashmap-native'));
    const real = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]), threads: 1 });
    try {
      const names = await valuesOf(
        real,
        "SELECT state_name FROM state_meta WHERE state_kind = 'keyed' AND decodable AND (value_type LIKE '%(%' OR value_type LIKE '%[]') ORDER BY 1",
      );
      expect(names.length).toBeGreaterThan(20);
      for (const name of names.map(String)) {
        const where = `FROM keyed_state_raw WHERE state_name = '${name}' AND value_json <> 'null'`;
        const shown = await valuesOf(
          real,
          `SELECT CASE WHEN value_json LIKE '"%' THEN json_extract_string(value_json, '$') ELSE CAST(value_json AS VARCHAR) END ${where} ORDER BY value_json LIMIT 2`,
        );
        for (const text of shown.map(String).filter(t => !/[\u0000\ufffd]/.test(t))) {
          const count = async (condition: string) =>
            (await valuesOf(real, `SELECT count(*) FROM keyed_state WHERE ${condition} AND value = ${quoted(text)}`))[0];
          const typed = await count(`state_name = '${name}'`).catch((error: Error) => error.message);
          // a value that its type cannot hold, a time finer than its type
          if (typeof typed === 'string' && /does not fit|is finer than|decoded in part|JSON form of values only/.test(typed)) continue;
          expect([typed, name, text]).toEqual([
            await count(`state_name IN ('${name}', 'either', 'pojo') AND lower(state_name) = '${name}'`),
            name,
            text,
          ]);
          expect(Number(typed), `${name} ${text}`).toBeGreaterThan(0);
        }
      }
    } finally {
      await real.close();
      snapshot.close();
    }
  }, 60_000);
});
