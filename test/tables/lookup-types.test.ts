/**
 * Keys looked up by their bytes: for every key in real snapshots, what its own text says is its own bytes and its own key
 * group. And the rule for constants: too many candidates are right, too few never.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableObjects } from '../../src/cli/table-rows.js';
import { textOf } from '../../src/io/json.js';
import { type EncodedKey, encodeKeys } from '../../src/serializers/encode-key.js';
import { type KeyConstant, valuesOfConstant } from '../../src/serializers/keys/constants.js';
import { objectParts } from '../../src/serializers/keys/object-parts.js';
import type { StateVariant } from '../../src/tables/states.js';
import {
  BIGINT,
  BLOB,
  DATE,
  Decimal,
  DOUBLE,
  decimal,
  FLOAT,
  HUGEINT,
  INTEGER,
  type JsonText,
  type SqlType,
  TIME_NS,
  TIMESTAMPTZ,
  TINYINT,
  Timestamp,
  UUID,
  VARCHAR,
} from '../../src/types.js';
import { fixture, HAS_SHARED, hexOf, SHARED, stated, withSnapshot } from './support.js';

/** Serializers whose keys are found by key group, by bytes alone, or not at all. */
interface Found {
  readonly byGroup: Set<string>;
  readonly byBytes: Set<string>;
  readonly unknown: Set<string>;
  keys: number;
}

/** Looks up every key of a snapshot by its text and by its JSON. */
function lookUpAll(path: string, found: Found): void {
  withSnapshot(path, snapshot => {
    const seen = new Set<string>();
    for (const row of tableObjects(snapshot, 'keyed_state_raw')) {
      const operator = snapshot.operators.find(o => o.id === row['operator_id']);
      if (operator === undefined) throw new Error('an operator that the snapshot does not have');
      const bytes = hexOf(row['key_bytes']);
      for (const v of snapshot.statesOf(operator).variants) {
        const id = `${v.keySnapshot?.text} ${bytes}`;
        if (v.kind !== 'keyed' || v.name !== row['state_name'] || v.variant > 0 || seen.has(id)) continue;
        seen.add(id);
        found.keys++;
        const max = operator.operator.maxParallelism;
        const json = (row['key_json'] as JsonText).text;
        const keys = encoded(v, 'json', json);
        check(v, keys, bytes, row['key_group'] as number, max, found);
        const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
        expect(keys === undefined, `${v.keySnapshot?.text} ${text}`).toBe(encoded(v, 'text', text) === undefined);
      }
    }
  });
}

function encoded(v: StateVariant, form: 'text' | 'json', value: string): readonly EncodedKey[] | undefined {
  if (v.keySnapshot === undefined || v.shape.key === undefined) return undefined;
  return encodeKeys(v.keySnapshot, v.shape.key.type, [{ path: [], form, values: [{ kind: 'string', value }] }]);
}

function check(
  v: StateVariant,
  keys: readonly EncodedKey[] | undefined,
  bytes: string,
  keyGroup: number,
  maxParallelism: number,
  found: Found,
): void {
  const text = v.keySnapshot?.text ?? '';
  if (keys === undefined) {
    found.unknown.add(text);
    return;
  }
  const same = keys.filter(k => k.bytes === undefined || Buffer.from(k.bytes).toString('hex') === bytes);
  expect(same.length, `${text} ${bytes}`).toBeGreaterThan(0);
  const [{ keyGroupOf }] = same;
  if (keyGroupOf !== undefined) expect(keyGroupOf(maxParallelism), `${text} ${bytes}`).toBe(keyGroup);
  (keyGroupOf === undefined ? found.byBytes : found.byGroup).add(text);
}

const nothing = (): Found => ({ byGroup: new Set(), byBytes: new Set(), unknown: new Set(), keys: 0 });

describe('keys of real snapshots', () => {
  it('are what their text says', () => {
    const found = nothing();
    for (const name of [
      '2.3-keys-hashmap-canonical',
      '2.3-keyed-rocksdb-native-p1',
      '2.3-small-rocksdb-incremental-mp129',
      '2.3-types-hashmap-native',
    ])
      lookUpAll(fixture(name), found);
    expect([...found.byGroup].sort()).toEqual(
      'BigDecimal|BigInteger|Boolean|Byte|Char|Date|Double|Float|Instant|Int|Kryo(UUID)|LocalDate|LocalDateTime|LocalTime|Long|Short|String|Tuple2(Int, Long)|Tuple2(String, Int)|Tuple2(String, Long)|Tuple3(Tuple1(Int), String, Boolean)|java.sql.Timestamp'.split(
        '|',
      ),
    );
    expect([...found.byBytes].sort()).toEqual(['LongValue', 'Row(String, Int)']);
    expect([...found.unknown].every(text => /^(Pojo|Kryo|List|java\.sql\.Date)/.test(text))).toBe(true);
    expect(found.keys).toBeGreaterThan(100);
  });
  it.runIf(HAS_SHARED)('of every other type, and of SQL jobs', () => {
    const found = nothing();
    for (const name of ['1.20-keys-hashmap-canonical', '1.20-keys-rocksdb-incremental']) lookUpAll(stated(name), found);
    const sql = join(SHARED, 'stated/sql');
    for (const name of readdirSync(sql)) {
      if (/6000|-rocksdb-canonical/.test(name) || !existsSync(join(sql, name, 'snapshot'))) continue;
      lookUpAll(join(sql, name, 'snapshot'), found);
    }
    const rows = [...found.byGroup].filter(text => text.startsWith('RowData'));
    expect(rows).toContain('RowData(STRING)');
    expect(rows).toContain('RowData(BIGINT NOT NULL)');
    expect(rows).toContain('RowData(STRING, INT)');
    expect([...found.unknown].filter(text => !/^(Pojo|Kryo|List|java\.sql\.Date|RowData\(\))/.test(text))).toEqual([]);
  });
});

const string = (value: string): KeyConstant => ({ kind: 'string', value });
const integer = (value: bigint): KeyConstant => ({ kind: 'integer', value });
const fraction = (text: string): KeyConstant => ({ kind: 'decimal', text });

describe('constants', () => {
  it('are integers only where they are whole and fit', () => {
    const cases: readonly (readonly [SqlType, KeyConstant, unknown])[] = [
      [INTEGER, integer(662n), [662]],
      [INTEGER, string(' 0662 '), [662]],
      [INTEGER, fraction('662.00'), [662]],
      [INTEGER, fraction('1.5'), []],
      [INTEGER, string('x'), []],
      [INTEGER, string('6e2'), undefined],
      [INTEGER, string('0x10'), undefined],
      [INTEGER, string('1_0'), undefined],
      [INTEGER, integer(2147483648n), []],
      [TINYINT, integer(-128n), [-128]],
      [BIGINT, integer(9007199254740993n), [9007199254740993n]],
      [BIGINT, integer(1n << 63n), []],
      [BIGINT, { kind: 'boolean', value: true }, undefined],
      [HUGEINT, integer(1n << 100n), [1n << 100n]],
      [HUGEINT, fraction('1.5'), undefined],
      [decimal(6, 2), fraction('1.5'), [new Decimal(150n, 2)]],
      [decimal(6, 2), fraction('1.501'), []],
      [decimal(6, 2), integer(10000n), []],
      [decimal(38, 30), integer(1n << 60n), undefined],
      [VARCHAR, string('1.50'), ['1.50']],
      [VARCHAR, string('a\ufffdb'), undefined],
      [UUID, string('00112233-4455-6677-8899-aabbccddeeff'), ['00112233-4455-6677-8899-aabbccddeeff']],
      [BLOB, string('\\x00A\\xFF'), [Uint8Array.of(0, 65, 255)]],
      [DATE, string('2024-02-29'), [19782]],
      [DATE, string('0044-03-15 (BC)'), undefined],
      [TIME_NS, string('00:00:01.000000002'), [1_000_000_002]],
      [TIMESTAMPTZ, string('1969-12-31 23:59:59.5+00'), [new Timestamp(-1n, 500_000_000)]],
      [TIMESTAMPTZ, string('infinity'), undefined],
    ];
    for (const [type, constant, expected] of cases)
      expect(valuesOfConstant(type, constant, 'typed'), `${type.kind} ${JSON.stringify(constant, (_, v: unknown) => String(v))}`).toEqual(
        expected,
      );
  });
  it('against floats have every float that the engine may round them to', () => {
    expect(valuesOfConstant(DOUBLE, integer(0n), 'typed')).toEqual([0, -0]);
    expect(valuesOfConstant(DOUBLE, integer(42n), 'typed')).toEqual([42]);
    expect(valuesOfConstant(DOUBLE, integer(9007199254740993n), 'typed')).toContain(9007199254740992);
    expect(valuesOfConstant(DOUBLE, fraction('0.1'), 'typed')).toContain(0.1);
    expect(valuesOfConstant(FLOAT, fraction('0.1'), 'typed')).toContain(Math.fround(0.1));
    expect(valuesOfConstant(FLOAT, integer(16777217n), 'typed')).toEqual(expect.arrayContaining([16777216, 16777218]));
    expect(valuesOfConstant(DOUBLE, string('x'), 'typed')).toEqual([]);
  });
  it('against text forms are that text and nothing like it', () => {
    const shown = (type: SqlType, text: string) => valuesOfConstant(type, string(text), 'text');
    expect(shown(INTEGER, '662')).toEqual([662]);
    for (const text of ['0662', '662.0', ' 662', '+662', '6.62e2', 'x', '']) expect(shown(INTEGER, text)).toEqual([]);
    expect(shown(DOUBLE, '-0.0')).toEqual([-0]);
    expect(shown(DOUBLE, '0')).toEqual([0]);
    expect(shown(DOUBLE, 'NaN')).toEqual([Number.NaN]);
    expect(shown(DOUBLE, '1.50')).toEqual([]);
    expect(shown(FLOAT, '0.1')?.map(v => textOf(FLOAT, v))).toEqual(['0.1']);
    expect(shown(decimal(6, 2), '1.50')).toEqual([new Decimal(150n, 2)]);
    expect(shown(decimal(6, 2), '1.5')).toEqual([]);
    expect(shown(TIMESTAMPTZ, '2026-01-31T12:34:56.789Z')).toEqual([new Timestamp(1769862896n, 789_000_000)]);
    expect(shown(TIMESTAMPTZ, '2026-01-31 12:34:56.789+00')).toEqual([]);
    expect(shown(BLOB, '00ff')).toEqual([Uint8Array.of(0, 255)]);
    expect(shown(BLOB, '00FF')).toEqual([]);
    expect(valuesOfConstant(VARCHAR, string('"a"'), 'json')).toEqual(['a']);
    expect(valuesOfConstant(VARCHAR, string('a'), 'json')).toEqual([]);
    expect(valuesOfConstant(BIGINT, string('9007199254740993'), 'json')).toEqual([9007199254740993n]);
    expect(valuesOfConstant(BIGINT, string('"9007199254740993"'), 'json')).toEqual([]);
  });
  it('that are objects come apart with every digit', () => {
    expect(objectParts('{"a":12345678901234567890,"b\\"":"x,}","c":{"d":[1,"}"]},"e":null}')).toEqual([
      { name: 'a', json: '12345678901234567890' },
      { name: 'b"', json: '"x,}"' },
      { name: 'c', json: '{"d":[1,"}"]}' },
      { name: 'e', json: 'null' },
    ]);
    expect(objectParts('{}')).toEqual([]);
    for (const text of ['', '{', '{"a"}', '{"a":}', '{"a":1', '{"a":1}}', '[1]', '{"a:1}', '{a:1}'])
      expect(objectParts(text)).toBeUndefined();
  });
});
