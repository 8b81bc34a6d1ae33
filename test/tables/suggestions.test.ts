/** What is told beside the rows: names that nothing has, states that cannot be decoded. And the raw tables, whose columns are one type. */
import { describe, expect, it } from 'vitest';
import { operatorIdOf } from '../../src/checkpoint/uid.js';
import { openDatabase } from '../../src/sql/engine.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { nearest } from '../../src/tables/suggest.js';
import { JsonText, type Value } from '../../src/types.js';
import { answers } from '../sql/harness.js';
import { fixture } from './support.js';

/** Rows of the last statement and what was told. */
async function told(name: string, sql: string): Promise<{ rows: readonly (readonly Value[])[]; notes: readonly string[] }> {
  const notes: string[] = [];
  const snapshot = openSnapshot(fixture(name), { warn: note => notes.push(note) });
  const db = await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]), threads: 1 });
  try {
    return { rows: (await answers(db, sql)).at(-1)?.rows ?? [], notes };
  } finally {
    await db.close();
    snapshot.close();
  }
}

const WORDCOUNT = '2.3-wordcount-hashmap-canonical';
const LISTS = 'SELECT operator_id, operator_uid, operator_name FROM operators lists them';

describe('a field that no state has', () => {
  const TYPES = '2.3-types-hashmap-native';
  const both = "FROM keyed_state WHERE state_name IN ('pojo', 'either')";
  const note = "no state that is read has a field 'nam' in value, which is NULL in every row; did you mean 'name'?";
  it.each([
    [`SELECT value.nam ${both}`, note],
    [`SELECT value->>'nam' ${both}`, note],
    [`SELECT value->'nam' ${both}`, note],
    [`SELECT value['nam'] ${both}`, note],
    [`SELECT v.value.nam FROM (SELECT value ${both}) v`, note],
    [`SELECT 1 ${both} AND value->>'nam' = 'x'`, note],
    ["SELECT value->>'nam' FROM keyed_state WHERE state_name = 'pojo'", note],
    [
      `SELECT value.zzzz ${both}`,
      "no state that is read has a field 'zzzz' in value, which is NULL in every row; fields: left, right, id, inner, name, opt, ratio",
    ],
  ])('%s', async (sql, expected) => {
    expect((await told(TYPES, sql)).notes).toEqual([expected]);
  });
  it('is none where it may be there: maps, JSON, names of one state alone', async () => {
    for (const sql of [
      `SELECT value.name, value.left, value->>'id' ${both}`,
      "SELECT value.anything FROM keyed_state WHERE state_name IN ('map-string-int', 'pojo')",
      "SELECT details->>'x' FROM source_offsets",
    ])
      expect((await told(TYPES, sql)).notes).toEqual([]);
  });
});

describe('a name that nothing has', () => {
  it.each([
    ["SELECT * FROM keyed_state WHERE state_name = 'cuont'", "no state is called 'cuont'; did you mean 'count'?"],
    ["SELECT * FROM keyed_state WHERE state_name IN ('count', 'Count2')", "no state is called 'Count2'; did you mean 'count'?"],
    ["SELECT * FROM keyed_state WHERE state_name = 'zzz'", "no state is called 'zzz'; SELECT state_name FROM state_meta lists them"],
    ["SELECT * FROM keyed_state WHERE state_name = 'offsets'", "state 'offsets' is operator state, see operator_state"],
    [
      "SELECT * FROM keyed_state WHERE operator_uid = 'words' AND state_name = 'count'",
      "no state is called 'count' in the operators asked for: operator word-count has one",
    ],
    [
      "SELECT * FROM keyed_state WHERE operator_uid = 'word_count'",
      "no operator has operator_uid 'word_count'; did you mean 'word-count'?",
    ],
    ["SELECT * FROM operators WHERE operator_uid = 'nothing like it'", `no operator has operator_uid 'nothing like it'; ${LISTS}`],
    ["SELECT * FROM timers WHERE operator_id = 'word-count'", "no operator has operator_id 'word-count': it is an operator_uid"],
    [
      `SELECT * FROM keyed_state WHERE operator_id = '${operatorIdOf('word-count').slice(0, 7)}'`,
      `no operator has operator_id '${operatorIdOf('word-count').slice(0, 7)}'; did you mean '${operatorIdOf('word-count')}'?`,
    ],
    [
      "WITH x AS (SELECT * FROM keyed_state) SELECT * FROM x WHERE state_name = 'counts'",
      "no state is called 'counts'; did you mean 'count'?",
    ],
  ])('%s', async (sql, note) => {
    expect((await told(WORDCOUNT, sql)).notes).toEqual([note]);
  });
  it('of a snapshot without names', async () => {
    const { rows, notes } = await told('1.20-wordcount-rocksdb-canonical', "SELECT * FROM keyed_state WHERE operator_uid = 'word-count'");
    expect(rows).toEqual([]);
    expect(notes).toEqual([
      `no operator has operator_uid 'word-count': the snapshot does not name its operators, but 'word-count' is the uid of operator_id '${operatorIdOf('word-count')}'`,
    ]);
  });
  it.each([
    "SELECT count(*) FROM keyed_state WHERE state_name = 'count'",
    "SELECT count(*) FROM keyed_state WHERE state_name <> 'cuont'",
    "SELECT count(*) FROM keyed_state WHERE state_name = 'cuont' OR key = 'key_1'",
    "SELECT count(*) FROM keyed_state WHERE state_name LIKE 'cuont%'",
    "SELECT count(*) FROM state_meta WHERE operator_uid = 'words' AND state_name = 'SourceReaderState'",
  ])('and none: %s', async sql => {
    expect((await told(WORDCOUNT, sql)).notes).toEqual([]);
  });
  it('is found by edits, without case', () => {
    expect(nearest('Couunt', ['amount', 'count', 'discount'])).toBe('count');
    expect(nearest('keyedstate', ['keyed_state'])).toBe('keyed_state');
    expect(nearest('x', ['abc'])).toBeUndefined();
  });
});

describe('states that cannot be decoded', () => {
  const KEYS = '2.3-keys-hashmap-canonical';
  it('are counted where a statement shows them', async () => {
    const { notes } = await told(KEYS, 'SELECT operator_uid, key FROM keyed_state');
    expect(notes).toEqual(['2 of 56 states cannot be decoded, in whole or in part (last, map): reason in state_meta says why']);
    expect((await told(KEYS, "SELECT key FROM keyed_state WHERE operator_uid = 'key-kryo-class' AND state_name = 'map'")).notes).toEqual([
      '1 of 1 states cannot be decoded, in whole or in part (map): reason in state_meta says why',
    ]);
  });
  it('in the tables of one operator and of one state too', async () => {
    const note = (text: string) => `${text}: reason in state_meta says why`;
    const id = operatorIdOf('key-kryo-class');
    const cases: readonly (readonly [sql: string, note: string])[] = [
      ['SELECT state_key FROM "uid_key-kryo-class_keyed"', '2 of 2 states cannot be decoded, in whole or in part (last, map)'],
      ['SELECT state_key FROM "uid_key-kryo-class_map_keyed_flat"', '1 of 1 states cannot be decoded, in whole or in part (map)'],
      [`SELECT key FROM "${id}#last"`, '1 of 1 states cannot be decoded, in whole or in part (last)'],
      [`SELECT * FROM "${id}#all_keyed_states"`, '2 of 2 states cannot be decoded, in whole or in part (last, map)'],
      ['SELECT key FROM all_keyed_states', '2 of 56 states cannot be decoded, in whole or in part (last, map)'],
      ['SELECT key FROM all_states', '2 of 56 states cannot be decoded, in whole or in part (last, map)'],
    ];
    for (const [sql, text] of cases) expect((await told(KEYS, sql)).notes, sql).toEqual([note(text)]);
    for (const sql of [
      'SELECT map FROM "uid_key-kryo-class_keyed"',
      'SELECT state_key FROM "uid_key-int_keyed"',
      `SELECT value FROM "${id}#last"`,
    ])
      expect((await told(KEYS, sql)).notes, sql).toEqual([]);
  });
  it('are told once each of a snapshot, when a statement comes to them', async () => {
    const inTurn = async (...statements: string[]) => (await told(KEYS, statements.join('; '))).notes;
    const all = await inTurn('SELECT key FROM keyed_state', 'SELECT key FROM keyed_state', 'SELECT key FROM all_states');
    expect(all).toEqual(['2 of 56 states cannot be decoded, in whole or in part (last, map): reason in state_meta says why']);
    const of = (state: string) => `SELECT key FROM keyed_state WHERE operator_uid = 'key-kryo-class' AND state_name = '${state}'`;
    expect(await inTurn(of('map'), of('map'), 'SELECT 1', of('last'), 'SELECT key FROM keyed_state')).toEqual([
      '1 of 1 states cannot be decoded, in whole or in part (map): reason in state_meta says why',
      '1 of 1 states cannot be decoded, in whole or in part (last): reason in state_meta says why',
    ]);
  });
  it.each([
    "SELECT key FROM keyed_state WHERE operator_uid = 'key-int'",
    'SELECT count(*), max(key_group) FROM keyed_state',
    'SELECT key_bytes FROM keyed_state_raw',
  ])('and not where none is shown: %s', async sql => expect((await told(KEYS, sql)).notes).toEqual([]));
});

describe('raw columns', () => {
  const json = (value: Value) => (value instanceof JsonText ? value.text : value);
  const ask = async (sql: string) => (await told('2.3-keyed-hashmap-canonical', sql)).rows.map(row => row.map(json));
  it('are sorted, grouped and compared by their text', async () => {
    const sorted = await ask('SELECT key_json FROM keyed_state_raw GROUP BY key_json ORDER BY key_json');
    const texts = sorted.map(row => String(row[0]));
    expect(texts).toEqual([...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    expect(await ask('SELECT min(key_json), max(key_json) FROM keyed_state_raw')).toEqual([[texts[0], texts[texts.length - 1]]]);
    const above = await ask("SELECT count(DISTINCT key_json) FROM keyed_state_raw WHERE key_json > 'a' AND key_json BETWEEN '1' AND '~'");
    expect(above).toEqual([[BigInt(texts.filter(t => t > 'a').length)]]);
    expect(await ask("SELECT count(*) FROM keyed_state_raw WHERE key_json = 'no json' OR key_json IN ('{', '')")).toEqual([[0n]]);
    expect(await ask('SELECT DISTINCT key_json FROM keyed_state_raw WHERE key_json = 662')).toEqual([['662']]);
    expect(
      await ask(
        "SELECT count(*) FROM keyed_state_raw a JOIN keyed_state_raw b ON a.key_json < b.key_json WHERE a.key_json = '1' AND b.key_json = '2' AND a.state_name = 'sum' AND b.state_name = 'sum'",
      ),
    ).toEqual([[1n]]);
    expect(await ask("SELECT count(*) FROM operator_state_raw WHERE value_json >= ''")).toEqual(
      await ask('SELECT count(*) FROM operator_state_raw'),
    );
  });
  it('have arrows, paths and functions of JSON', async () => {
    expect(
      await ask(
        `SELECT DISTINCT key_json->>'f0', key_json->'f1', key_json.f1, json_extract_string(key_json, '$.f0') FROM keyed_state_raw
         WHERE key_json = '{"f0":"a","f1":-2}'`,
      ),
    ).toEqual([['a', '-2', '-2', 'a']]);
    expect(await ask('SELECT DISTINCT typeof(key_json) FROM keyed_state_raw')).toEqual([['JSON']]);
    expect(await ask("SELECT DISTINCT key_json FROM keyed_state_raw WHERE key_json->>'f0' LIKE 'a%' AND key_json->>'f1' = '1'")).toEqual([
      ['{"f0":"a","f1":1}'],
    ]);
  });
  it('are looked up by JSON and by bytes', async () => {
    const bytes =
      "SELECT key_json, state_name, value_json FROM keyed_state_raw WHERE key_bytes = '\\x00\\x00\\x02\\x96'::BLOB AND state_name = 'last'";
    expect(await ask(bytes)).toEqual([['662', 'last', '1183803330623101950']]);
    const hex = "SELECT key_json FROM keyed_state_raw WHERE key_bytes IN ('00000296', 'ff') AND state_name = 'last'";
    expect(await ask(hex)).toEqual([['662']]);
  });
});
