/** What TableValues.java puts into Flink's serializers, read back: every logical type, every serializer of the table runtime. */
import { describe, expect, it } from 'vitest';
import { columnValue, createColumn } from '../../../src/io/column.js';
import { Cursor } from '../../../src/io/cursor.js';
import { jsonOf } from '../../../src/io/json.js';
import { encodeBinaryRow } from '../../../src/serializers/table/encode-binary-row.js';
import type { LogicalType } from '../../../src/serializers/table/logical-type.js';
import { Decimal, Interval, type Struct, sqlTypeText, Timestamp } from '../../../src/types.js';
import { type Case, readCases } from './fixtures/read.js';

interface Expected {
  readonly type: string;
  readonly text?: string;
  readonly length?: number;
  /** a JSON form a value */
  readonly json: readonly string[];
  /** what the column holds, where that is less than the JSON form; `!` and a message when it cannot hold the value */
  readonly column?: Readonly<Record<number, string>>;
  readonly opaque?: string;
}

const fields = (...values: readonly (string | number | boolean)[]): string => `{${values.map((v, i) => `"f${i}":${v}`).join(',')}}`;
const nulls = (n: number): string[] => Array<string>(n).fill('null');
const ends = (value: string): string => `[${[value, ...nulls(32), value].join(',')}]`;
const FULL = [
  'true', '-1', '-2', '-3', '-9223372036854775808', '1.1', '-0.1', '"abc"', '"1234567"', '"12345678 ä€😀"', '"01ff"', '"000102030405060708"',
  '-0.9', '-999.99', '999999999999999999', '-123456789012345.6789', '0.00000000000000000000000000000000000001',
  '"1969-12-31"', '"23:59:59"', '"12:34:56.789"', '"1969-12-31T23:59:59"', '"2026-01-31T12:34:56.789"', '"1969-12-31T23:59:59.123456"',
  '"2026-01-31T12:34:56.123456789"', '"2026-01-31T12:34:56.789Z"', '"1969-12-31T23:59:59.000000001Z"', '"P1Y2M"', '"PT-25H-1M-1.001S"',
]; // biome-ignore format: a table
const ROW_ALL = [
  'BOOLEAN', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'FLOAT', 'DOUBLE', 'VARCHAR', 'VARCHAR', 'VARCHAR', 'BLOB', 'BLOB',
  'DECIMAL(1,1)', 'DECIMAL(5,2)', 'DECIMAL(18,0)', 'DECIMAL(19,4)', 'DECIMAL(38,38)', 'DATE', 'TIME', 'TIME', 'TIMESTAMP', 'TIMESTAMP', 'TIMESTAMP',
  'TIMESTAMP_NS', 'TIMESTAMPTZ', 'TIMESTAMPTZ', 'INTERVAL', 'INTERVAL',
]; // biome-ignore format: a table
const structOf = (types: readonly string[]): string => `STRUCT(${types.map((t, i) => `f${i} ${t}`).join(', ')})`;
const DEWEY = 'STRUCT(deweyNumber VARCHAR)';
const EVENT = 'STRUCT(id INTEGER, timestamp BIGINT)';
const NODE = `STRUCT(pageName VARCHAR, eventId ${EVENT})`;
const MATCH = `STRUCT(currentStateName VARCHAR, version ${DEWEY}, startTimestamp BIGINT, previousTimestamp BIGINT, previousBufferEntry ${NODE}, startEventID ${EVENT})[]`;
const node = '{"pageName":"page","eventId":{"id":3,"timestamp":1700000000000}}';

const EXPECTED: Readonly<Record<string, Expected>> = {
  'row-all': {
    type: structOf(ROW_ALL),
    text:
      'RowData(BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, CHAR(3), VARCHAR(9), STRING, BINARY(2), BYTES, DECIMAL(1, 1), DECIMAL(5, 2), ' +
      'DECIMAL(18, 0), DECIMAL(19, 4), DECIMAL(38, 38), DATE, TIME(0), TIME(3), TIMESTAMP(0), TIMESTAMP(3), TIMESTAMP(6), TIMESTAMP(9), ' +
      'TIMESTAMP_LTZ(3), TIMESTAMP_LTZ(9), INTERVAL YEAR TO MONTH, INTERVAL DAY TO SECOND)',
    json: [
      fields(...FULL),
      fields(...nulls(28)),
      `{"$kind":"+U",${fields(...FULL.map((_, i) => (i === 9 || i === 11 ? '""' : i === 15 ? '0.0000' : 'null'))).slice(1)}`,
      `{"$kind":"-D",${fields(...nulls(28)).slice(1)}`,
    ],
    column: {
      0: fields(...FULL.map((v, i) => (i === 25 ? '"1969-12-31T23:59:59Z"' : v))),
      2: fields(...FULL.map((_, i) => (i === 9 || i === 11 ? '""' : i === 15 ? '0.0000' : 'null'))),
      3: fields(...nulls(28)),
    },
  },
  'row-empty': { type: 'JSON', text: 'RowData()', json: ['{}'] },
  'row-not-null': {
    type: 'STRUCT(f0 BIGINT, f1 TIMESTAMPTZ)',
    text: 'RowData(BIGINT NOT NULL, TIMESTAMP_LTZ(3) NOT NULL)',
    json: ['{"f0":1,"f1":null}'],
  },
  'row-wide': { type: structOf(Array<string>(57).fill('INTEGER')), json: [fields(7, ...nulls(54), 55, 56)] },
  'row-updated': {
    type: 'STRUCT(f0 DECIMAL(38,1), f1 TIMESTAMP_NS, f2 VARCHAR)',
    json: ['{"f0":-1.5,"f1":null,"f2":"a longer text"}', '{"f0":null,"f1":"1970-01-01T00:00:00.000000001","f2":"a longer text"}'],
  },
  'row-key': {
    type: 'STRUCT(f0 DECIMAL(38,1), f1 TIMESTAMP_NS, f2 VARCHAR, f3 VARCHAR, f4 BIGINT)',
    json: ['{"f0":null,"f1":null,"f2":null,"f3":"longer than seven","f4":-1}'],
  },
  'row-broken-text': { type: 'STRUCT(f0 VARCHAR, f1 VARCHAR)', json: ['{"f0":"a\ufffd","f1":"abcdefgh\ufffd"}'] },
  'binary-row': {
    type: 'JSON',
    text: 'BinaryRowData(3 fields)',
    opaque: 'BinaryRowDataSerializer does not say what its fields are',
    json: [
      '{"$serializer":"org.apache.flink.table.runtime.typeutils.BinaryRowDataSerializer","f0":"0100000020000000","f1":null,"f2":"0d00000038000000",' +
        '"$hex":"f1000000000000000000000000000000000000000000000061206c6f6e6765722074657874000000"}',
    ],
  },
  'row-nested': {
    type:
      'STRUCT(f0 STRUCT(a INTEGER, b VARCHAR), f1 STRUCT(name VARCHAR, age INTEGER), f2 INTEGER, f3 INTEGER[], f4 STRUCT(a INTEGER, b VARCHAR)[], ' +
      'f5 MAP(VARCHAR, BIGINT), f6 MAP(STRUCT(a INTEGER, b VARCHAR), VARCHAR[]), f7 MAP(VARCHAR, INTEGER), f8 MAP(INTEGER, DOUBLE)[][], f9 INTEGER[], f10 VARCHAR)',
    text:
      'RowData(ROW<a INT, b STRING>, STRUCTURED<TableValues$Person, name STRING, age INT>, RAW(Integer), ARRAY<INT>, ARRAY<ROW<a INT, b STRING>>, ' +
      'MAP<STRING, BIGINT>, MAP<ROW<a INT, b STRING>, ARRAY<STRING>>, MULTISET<STRING>, ARRAY<ARRAY<MAP<INT, DOUBLE>>>, ARRAY<RAW(Integer)>, RAW(Object))',
    json: [
      fields(
        '{"a":1,"b":"one and only"}',
        '{"name":"Zoe","age":42}',
        77,
        '[1,null,-1]',
        '[{"a":1,"b":"one and only"},null,{"a":null,"b":null}]',
        '{"x":1,"a longer key":null}',
        '[{"key":{"a":1,"b":"one and only"},"value":["p",null]}]',
        '{"twice":2}',
        '[[{"1":0.5}],[]]',
        '[5,null]',
        'null', // biome-ignore format: a table
      ),
      fields(...nulls(11)),
    ],
  },
  'row-distinct': {
    type: 'STRUCT(f0 DECIMAL(10,2), f1 DECIMAL(10,2))',
    text: 'RowData(DISTINCT<money, DECIMAL(10, 2)>, DISTINCT<money, DECIMAL(10, 2)>)',
    json: ['{"f0":12.50,"f1":null}'],
  },
  'row-arrays': {
    type: structOf(
      [
        'BOOLEAN',
        'TINYINT',
        'SMALLINT',
        'INTEGER',
        'BIGINT',
        'FLOAT',
        'DOUBLE',
        'VARCHAR',
        'BLOB',
        'DECIMAL(5,2)',
        'DECIMAL(38,2)',
        'DATE',
        'TIME',
        'TIMESTAMP',
        'TIMESTAMP_NS',
        'TIMESTAMPTZ',
        'INTERVAL',
        'INTERVAL', // biome-ignore format: a table
      ].map(t => `${t}[]`),
    ),
    json: [
      fields(
        ...[
          'true',
          '1',
          '2',
          '3',
          '4',
          '5.5',
          '6.5',
          '"12345678"',
          '"09"',
          '1.25',
          '-12345678901234567890.25',
          '"2026-01-31"',
          '"00:00:01"',
          '"2026-01-31T00:00:00"',
          '"2026-01-31T00:00:00.000000001"',
          '"2026-01-31T00:00:00.000001Z"',
          '"P-1M"',
          '"PT0.001S"', // biome-ignore format: a table
        ].map(ends),
      ),
    ],
  },
  'string-data': { type: 'VARCHAR', text: 'StringData', json: ['""', '"abc"', '"ä€😀"'] },
  'decimal-data-18': { type: 'DECIMAL(18,3)', text: 'DecimalData(18, 3)', json: ['-1.500'] },
  'decimal-data-38': { type: 'DECIMAL(38,0)', text: 'DecimalData(38, 0)', json: [`-${'9'.repeat(38)}`, '0'] },
  'timestamp-data-3': { type: 'TIMESTAMP', text: 'TimestampData(3)', length: 8, json: ['"1969-12-31T23:59:59.999"'] },
  'timestamp-data-9': { type: 'TIMESTAMP_NS', text: 'TimestampData(9)', length: 12, json: ['"1969-12-31T23:59:59.999999999"'] },
  'raw-value': { type: 'VARCHAR', text: 'RawValueData(String)', json: ['"raw"'] },
  'array-data': { type: 'VARCHAR[]', text: 'ArrayData(STRING)', json: ['["a",null]', '[]'] },
  'map-data': { type: 'MAP(VARCHAR, INTEGER)', text: 'MapData(STRING, INT)', json: ['{"k":1,"null":null}'] },
  null: { type: 'VARCHAR', text: 'Null', length: 1, json: ['null'] },
  'linked-list': { type: 'BIGINT[]', text: 'LinkedList(Long)', json: ['[1,null,3,null,5,6,7,8,null]'] },
  'sorted-map': {
    type: 'MAP(STRUCT(f0 INTEGER), BIGINT)',
    text: 'SortedMap(RowData(INT), Long)',
    json: ['[{"key":{"f0":3},"value":30},{"key":{"f0":2},"value":null},{"key":{"f0":1},"value":10}]'],
  },
  'list-view': { type: 'VARCHAR[]', text: 'ListView(String)', json: ['["a","b"]'] },
  'map-view': { type: 'MAP(VARCHAR, INTEGER)', text: 'MapView(String, Int)', json: ['{"k":1,"n":null}'] },
  'null-aware-map': {
    type: 'MAP(VARCHAR, INTEGER)',
    text: 'NullAwareMap(String, Int)',
    json: ['[{"key":null,"value":7}]', '{"n":null}'],
    column: { 0: '!value a map with a null key does not fit MAP(VARCHAR, INTEGER)' },
  },
  'window-key': {
    type: 'STRUCT(window BIGINT, key STRUCT(f0 VARCHAR))',
    text: 'WindowKey(RowData(STRING))',
    json: ['{"window":60000,"key":{"f0":"key"}}'],
  },
  'external-date': { type: 'DATE', text: 'External(DATE)', length: 4, json: ['"1969-12-31"'] },
  'external-time': { type: 'TIME', text: 'External(TIME(0))', length: 4, json: ['"23:59:59"'] },
  'external-ltz': {
    type: 'TIMESTAMPTZ',
    text: 'External(TIMESTAMP_LTZ(9))',
    length: 12,
    json: ['"2026-01-31T12:34:56.123456789Z"'],
    column: { 0: '"2026-01-31T12:34:56.123456Z"' },
  },
  'external-timestamp': { type: 'TIMESTAMP', text: 'External(TIMESTAMP(3))', length: 8, json: ['"2026-01-31T12:34:56.789"'] },
  'external-decimal': { type: 'DECIMAL(20,2)', text: 'External(DECIMAL(20, 2))', json: ['-12.50'] },
  'external-bytes': { type: 'BLOB', text: 'External(BYTES)', json: ['"0102"'] },
  'external-period': { type: 'INTERVAL', text: 'External(INTERVAL YEAR TO MONTH)', length: 4, json: ['"P1Y2M"'] },
  'external-duration': { type: 'INTERVAL', text: 'External(INTERVAL DAY TO SECOND)', length: 8, json: ['"PT1.5S"'] },
  'external-row': {
    type: 'STRUCT(id BIGINT, tags STRUCT(t VARCHAR)[])',
    text: 'External(ROW<id BIGINT, tags ARRAY<ROW<t STRING>>>)',
    json: ['{"id":1,"tags":[{"t":"x"},null]}'],
  },
  'external-structured': {
    type: 'STRUCT(name VARCHAR, age INTEGER)',
    text: 'External(STRUCTURED<TableValues$Person, name STRING, age INT>)',
    json: ['{"name":"Zoe","age":null}'],
  },
  'external-int': { type: 'INTEGER', text: 'External(INT NOT NULL)', length: 4, json: ['5'] },
  'external-multiset': { type: 'MAP(VARCHAR, INTEGER)', text: 'External(MULTISET<STRING>)', json: ['{"m":2}'] },
  'cep-event-id': { type: EVENT, text: 'EventId', length: 12, json: ['{"id":3,"timestamp":1700000000000}'] },
  'cep-node-id': { type: NODE, text: 'NodeId', json: [node, 'null'] },
  'cep-dewey': { type: DEWEY, text: 'DeweyNumber', json: ['{"deweyNumber":"[1, 2]"}'] },
  'cep-lockable': {
    type: 'STRUCT(refCounter INTEGER, element VARCHAR)',
    text: 'Lockable(String)',
    json: ['{"refCounter":2,"element":"event"}'],
  },
  'cep-edge': {
    type: `STRUCT(target ${NODE}, deweyNumber ${DEWEY})`,
    text: 'SharedBufferEdge',
    json: [`{"target":${node},"deweyNumber":{"deweyNumber":"[1, 2]"}}`, '{"target":null,"deweyNumber":{"deweyNumber":"[1, 2]"}}'],
  },
  'cep-node': {
    type: `STRUCT(edges STRUCT(refCounter INTEGER, element STRUCT(target ${NODE}, deweyNumber ${DEWEY}))[])`,
    text: 'SharedBufferNode',
    json: [
      `{"edges":[{"refCounter":0,"element":{"target":${node},"deweyNumber":{"deweyNumber":"[1, 2]"}}},` +
        '{"refCounter":0,"element":{"target":null,"deweyNumber":{"deweyNumber":"[7]"}}}]}',
    ],
  },
  'cep-nfa': {
    type: `STRUCT(partialMatches ${MATCH}, completedMatches ${MATCH}, stateChanged BOOLEAN, isNewStartPartialMatch BOOLEAN)`,
    text: 'NFAState',
    json: [
      `{"partialMatches":[{"currentStateName":"middle","version":{"deweyNumber":"[1, 2]"},"startTimestamp":1700000000000,"previousTimestamp":1700000000500,` +
        `"previousBufferEntry":${node},"startEventID":{"id":3,"timestamp":1700000000000}}],` +
        '"completedMatches":[{"currentStateName":"start","version":{"deweyNumber":"[1]"},"startTimestamp":-1,"previousTimestamp":-1,' +
        '"previousBufferEntry":null,"startEventID":null}],"stateChanged":false,"isNewStartPartialMatch":false}',
    ],
  },
};

const ALL_KINDS =
  '{"big":"12345678901234567890.5","byte":-1,"bytes":"AQID","date":"2026-01-31","decimal":"-12.50","double":0.1,"false":false,"float":1.1,' +
  '"instant":"1969-12-31T23:59:59.999999Z","int":70000,"list":[1,[]],"local":"2026-01-31T12:34:56.789","long":1152921504606846976,' +
  `"long text":"${'x'.repeat(100)}","null":null,"short":300,"text":"ä€","true":true}`;
const range = (n: number, of: (i: number) => number): string => `[${Array.from({ length: n }, (_, i) => of(i)).join(',')}]`;

/** 2.3 alone */
const EXPECTED_23: Readonly<Record<string, Expected>> = {
  'row-variant': {
    type: 'STRUCT(f0 JSON, f1 JSON[], f2 INTEGER[])',
    text: 'RowData(VARIANT, ARRAY<VARIANT>, BITMAP)',
    json: [`{"f0":${ALL_KINDS},"f1":["x",null],"f2":[1,5,70000,-1]}`, '{"f0":null,"f1":null,"f2":null}'],
  },
  variant: { type: 'JSON', text: 'Variant', json: [ALL_KINDS, 'null', '"text"'] },
  bitmap: { type: 'INTEGER[]', text: 'Bitmap', json: ['[]', '[1,5,70000,-1]', range(5000, i => 2 * i), range(100, i => 100 + i)] },
  'row-data-key': { type: 'STRUCT(f0 INTEGER, f1 VARCHAR)', text: 'RowDataKey(RowData(INT, STRING))', json: ['{"f0":1,"f1":"row"}'] },
  node: {
    type: 'STRUCT(row STRUCT(f0 INTEGER, f1 VARCHAR), sqn BIGINT, prevSqn BIGINT, nextSqn BIGINT, nextSqnForRecord BIGINT, timestamp BIGINT)',
    json: ['{"row":{"f0":1,"f1":"row"},"sqn":5,"prevSqn":null,"nextSqn":6,"nextSqnForRecord":7,"timestamp":1700000000000}'],
  },
  'row-sqn-info': { type: 'STRUCT(firstSqn BIGINT, lastSqn BIGINT)', length: 16, json: ['{"firstSqn":1,"lastSqn":2}'] },
  'meta-sqn-info': { type: 'STRUCT(highSqn BIGINT, size BIGINT)', length: 16, json: ['{"highSqn":9,"size":3}'] },
  'sorted-long': { type: 'BIGINT', text: 'SortedLong', length: 8, json: ['-5', '0', '7'] },
};

describe.each([
  ['1.20', EXPECTED],
  ['2.3', { ...EXPECTED, ...EXPECTED_23 }],
] as const)('values written by Flink %s', (version, expected: Readonly<Record<string, Expected>>) => {
  const cases = readCases(version);

  it('are all stated', () => {
    expect([...cases.keys()].sort()).toEqual(Object.keys(expected).sort());
  });

  it.each(Object.keys(expected))('%s', name => {
    const { snapshot, codec, values } = cases.get(name) as Case;
    const want = expected[name];
    expect(sqlTypeText(codec.type)).toBe(want.type);
    if (want.text !== undefined) expect(snapshot.text).toBe(want.text);
    expect(codec.length).toBe(want.length ?? -1);
    expect(codec.opaque).toBe(want.opaque);
    expect(values.map(bytes => decoded(codec, bytes))).toEqual(want.json);
    expect(values.map(bytes => appended(codec, bytes))).toEqual(want.json.map((json, i) => want.column?.[i] ?? json));
    for (const bytes of values) {
      const c = new Cursor(bytes);
      codec.skip(c);
      expect(c.remaining).toBe(0);
    }
  });
});

function decoded(codec: Case['codec'], bytes: Uint8Array): string {
  const c = new Cursor(bytes);
  const value = codec.read(c);
  c.expectEnd('value');
  return jsonOf(codec.type, value);
}
/** What a column holds after append, behind other rows. */
function appended(codec: Case['codec'], bytes: Uint8Array): string {
  const column = createColumn(codec.type, 1);
  const c = new Cursor(bytes);
  try {
    for (let i = 0; i < 3; i++) {
      c.position = 0;
      column.pushNull();
      codec.append(c, column);
    }
  } catch (e) {
    return `!${(e as Error).message}`;
  }
  c.expectEnd('value');
  expect(column.length).toBe(6);
  return jsonOf(codec.type, columnValue(column, 5));
}

describe('details for comparing schemas', () => {
  const cases = readCases('2.3');
  it('names the logical types', () => {
    expect(cases.get('row-not-null')?.snapshot.details).toEqual({ types: ['BIGINT NOT NULL', 'TIMESTAMP_LTZ(3) NOT NULL'], names: null });
    expect(cases.get('external-row')?.snapshot.details).toEqual({ type: 'ROW<id BIGINT, tags ARRAY<ROW<t STRING>>>' });
    expect(cases.get('map-data')?.snapshot.details).toEqual({ key: 'STRING', value: 'INT' });
    expect(cases.get('sorted-map')?.snapshot.details).toEqual({ comparator: 'fixture.TableValues$ByCount' });
  });
});

describe('encodeBinaryRow', () => {
  const cases = readCases('1.20');
  const row = (name: string, i = 0): { bytes: Uint8Array; values: Struct['values'] } => {
    const { codec, values } = cases.get(name) as Case;
    return { bytes: values[i].subarray(4), values: (codec.read(new Cursor(values[i])) as Struct).values };
  };
  const t = (type: object): LogicalType => ({ nullable: true, ...type }) as LogicalType;
  const simple = (kind: string): LogicalType => t({ kind });
  const text = t({ kind: 'VARCHAR', length: 9 });
  const dec = (precision: number, scale: number): LogicalType => t({ kind: 'DECIMAL', precision, scale });
  const at = (kind: string, precision: number): LogicalType => t({ kind, precision });
  const ALL = [
    ...['BOOLEAN', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'FLOAT', 'DOUBLE'].map(simple),
    text, text, text, t({ kind: 'BINARY', length: 2 }), t({ kind: 'VARBINARY', length: 9 }),
    dec(1, 1), dec(5, 2), dec(18, 0), dec(19, 4), dec(38, 38), simple('DATE'), at('TIME', 0), at('TIME', 3),
    at('TIMESTAMP', 0), at('TIMESTAMP', 3), at('TIMESTAMP', 6), at('TIMESTAMP', 9), at('TIMESTAMP_LTZ', 3), at('TIMESTAMP_LTZ', 9),
    simple('INTERVAL_YEAR_MONTH'), simple('INTERVAL_DAY_TIME'),
  ]; // biome-ignore format: a table

  it('gives the bytes that Flink wrote', () => {
    const all = row('row-all');
    expect(Buffer.from(encodeBinaryRow(all.values, ALL) ?? []).toString('hex')).toBe(Buffer.from(all.bytes).toString('hex'));
    const key = row('row-key');
    const types = [dec(38, 1), at('TIMESTAMP', 9), text, text, simple('BIGINT')];
    expect(Buffer.from(encodeBinaryRow(key.values, types) ?? []).toString('hex')).toBe(Buffer.from(key.bytes).toString('hex'));
    const wide = row('row-wide');
    expect(encodeBinaryRow(wide.values, Array<LogicalType>(57).fill(simple('INTEGER')))).toEqual(Buffer.from(wide.bytes));
    expect(encodeBinaryRow([], [])).toEqual(Buffer.alloc(8));
  });
  it.each([
    [1.5, simple('INTEGER')],
    [128, simple('TINYINT')],
    [1n << 63n, simple('BIGINT')],
    ['1', simple('BIGINT')],
    ['\ud800', text],
    [new Decimal(1n, 1), dec(10, 2)],
    [new Decimal(10n ** 10n, 2), dec(10, 2)],
    [new Timestamp(0n, 1), at('TIMESTAMP', 3)],
    [new Interval(1, 1, 0n), simple('INTERVAL_YEAR_MONTH')],
    [1, t({ kind: 'ARRAY', element: simple('INTEGER') })],
  ] as const)('refuses what is none of the type: %s', (value, type) => {
    expect(encodeBinaryRow([value], [type])).toBeUndefined();
  });
});
