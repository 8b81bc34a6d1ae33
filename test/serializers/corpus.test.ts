/**
 * Every pair of snapshot and value that Flink's own upgrade tests wrote, 1.7 to 2.3: read to the last byte, and the value is
 * the one that the test of that serializer puts in.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cursor } from '../../src/io/cursor.js';
import { jsonOf } from '../../src/io/json.js';
import type { SerializerSnapshot } from '../../src/serializers/codec.js';
import { inspectSnapshot } from '../../src/serializers/inspect.js';
import { opaqueCodec } from '../../src/serializers/opaque.js';
import { throwableCodec } from '../../src/serializers/scala.js';
import { decode, hasCorpus, PAIRS, pairsOf } from './support.js';

interface Expected {
  readonly type: string;
  readonly text: string;
  /** JSON of the value; a function of the version where tests differ */
  readonly json: string;
  /** what a typed column holds, where that is less than the JSON form */
  readonly column?: string;
  readonly length?: number;
  readonly pairs: number;
  /** the whole value is bytes */
  readonly opaque?: RegExp;
}

const POJO = 'PojoSerializerUpgradeTestSpecifications.StaticSchemaPojo';
const POJO_TEXT = `Pojo(${POJO}: age Int, favoriteColor Enum(${POJO}.Color: RED, BLUE, GREEN), married Boolean, name String)`;
const POJO_TYPE = 'STRUCT(age INTEGER, favoriteColor VARCHAR, married BOOLEAN, name VARCHAR)';
const subclass = (name: string, field: string): Pick<Expected, 'text' | 'type' | 'json' | 'column' | 'pairs'> => ({
  text: POJO_TEXT,
  type: POJO_TYPE,
  json: `{"$class":"${name}","age":7,"favoriteColor":"BLUE","married":false,"name":"gt",${field}}`,
  column: '{"age":7,"favoriteColor":"BLUE","married":false,"name":"gt"}',
  pairs: 11,
});
const PACKAGE = 'org.apache.flink.api.java.typeutils.runtime.PojoSerializerUpgradeTestSpecifications';
const ints = (from: number, to: number): string => `[${Array.from({ length: to - from }, (_, i) => from + i).join(',')}]`;

const EXPECTED: Readonly<Record<string, Expected>> = {
  'boolean-serializer': { text: 'Boolean', type: 'BOOLEAN', length: 1, json: 'true', pairs: 9 },
  'byte-serializer': { text: 'Byte', type: 'TINYINT', length: 1, json: '42', pairs: 9 },
  'short-serializer': { text: 'Short', type: 'SMALLINT', length: 2, json: '123', pairs: 9 },
  'int-serializer': { text: 'Int', type: 'INTEGER', length: 4, json: '123456', pairs: 9 },
  'long-serializer': { text: 'Long', type: 'BIGINT', length: 8, json: '1234567890', pairs: 9 },
  'float-serializer': { text: 'Float', type: 'FLOAT', length: 4, json: '123.456', pairs: 9 },
  'double-serializer': { text: 'Double', type: 'DOUBLE', length: 8, json: '12345.6789', pairs: 9 },
  'char-serializer': { text: 'Char', type: 'VARCHAR', length: 2, json: '"\uffff"', pairs: 9 },
  'boolean-value-serializer': { text: 'BooleanValue', type: 'BOOLEAN', length: 1, json: 'true', pairs: 9 },
  'byte-value-serializer': { text: 'ByteValue', type: 'TINYINT', length: 1, json: '42', pairs: 9 },
  'short-value-serializer': { text: 'ShortValue', type: 'SMALLINT', length: 2, json: '123', pairs: 9 },
  'int-value-serializer': { text: 'IntValue', type: 'INTEGER', length: 4, json: '123456', pairs: 9 },
  'long-value-serializer': { text: 'LongValue', type: 'BIGINT', length: 8, json: '1234567890', pairs: 9 },
  'float-value-serializer': { text: 'FloatValue', type: 'FLOAT', length: 4, json: '123.456', pairs: 9 },
  'double-value-serializer': { text: 'DoubleValue', type: 'DOUBLE', length: 8, json: '12345.6789', pairs: 9 },
  'char-value-serializer': { text: 'CharValue', type: 'VARCHAR', length: 2, json: '"*"', pairs: 9 },
  'null-value-serializer': { text: 'NullValue', type: 'VARCHAR', length: 0, json: 'null', pairs: 9 },
  'void-namespace-serializer': { text: 'VoidNamespace', type: 'VARCHAR', length: 0, json: 'null', pairs: 9 },
  'string-serializer': { text: 'String', type: 'VARCHAR', json: '"123456789012345678901234567890123456"', pairs: 9 },
  'string-value-serializer': { text: 'StringValue', type: 'VARCHAR', json: '"123456789012345678901234567890123456"', pairs: 9 },
  'big-int-serializer': { text: 'BigInteger', type: 'HUGEINT', json: '123456789012345678901234567890123456', pairs: 9 },
  'big-dec-serializer': { text: 'BigDecimal', type: 'VARCHAR', json: '"123456789012345678901234567890123456.789"', pairs: 9 },
  'date-serializer': { text: 'Date', type: 'TIMESTAMPTZ', length: 8, json: '"1970-01-19T06:59:42.960Z"', pairs: 9 },
  'sql-date-serializer': { text: 'java.sql.Date', type: 'DATE', length: 8, json: '"1970-01-19"', pairs: 9 },
  'sql-time-serializer': { text: 'java.sql.Time', type: 'TIME', length: 8, json: '"06:59:42.960"', pairs: 9 },
  'sql-timestamp-serializer': { text: 'java.sql.Timestamp', type: 'TIMESTAMPTZ', length: 12, json: '"1970-01-19T06:59:42.960Z"', pairs: 9 },
  'boolean-primitive-array-serializer': { text: 'boolean[]', type: 'BOOLEAN[]', json: '[true,false]', pairs: 9 },
  'byte-primitive-array-serializer': { text: 'byte[]', type: 'BLOB', json: '"00010203040506070809"', pairs: 9 },
  'char-primitive-array-serializer': {
    text: 'char[]',
    type: 'VARCHAR[]',
    json: JSON.stringify(Array.from({ length: 10 }, (_, i) => String.fromCharCode(i))),
    pairs: 9,
  },
  'short-primitive-array-serializer': { text: 'short[]', type: 'SMALLINT[]', json: ints(0, 10), pairs: 9 },
  'int-primitive-array-serializer': { text: 'int[]', type: 'INTEGER[]', json: ints(0, 10), pairs: 9 },
  'long-primitive-array-serializer': { text: 'long[]', type: 'BIGINT[]', json: ints(0, 10), pairs: 9 },
  'float-primitive-array-serializer': {
    text: 'float[]',
    type: 'FLOAT[]',
    json: '[0.2,1.2,2.2,3.2,4.2,5.2,6.2,7.2,8.2,9.2]',
    pairs: 9,
  },
  'double-primitive-array-serializer': {
    text: 'double[]',
    type: 'DOUBLE[]',
    // i + 0.1f, widened
    json: JSON.stringify(Array.from({ length: 10 }, (_, i) => Math.fround(i + Math.fround(0.1)))),
    pairs: 9,
  },
  'string-array-serializer': { text: 'String[]', type: 'VARCHAR[]', json: '["0","1","2","3","4","5","6","7","8","9"]', pairs: 9 },
  'generic-array-serializer': { text: 'Array(String)', type: 'VARCHAR[]', json: '["Apache","Flink"]', pairs: 9 },
  'list-serializer': { text: 'List(String)', type: 'VARCHAR[]', json: '["Apache","Flink"]', pairs: 9 },
  'arraylist-serializer': { text: 'List(String)', type: 'VARCHAR[]', json: '["Apache","Flink"]', pairs: 9 },
  'set-serializer': { text: 'Set(String)', type: 'VARCHAR[]', json: '["Apache","Flink"]', pairs: 3 },
  'map-serializer': { text: 'Map(Int, String)', type: 'MAP(INTEGER, VARCHAR)', json: '{"0":"0","1":"1","2":"2"}', pairs: 9 },
  'either-serializer': {
    text: 'Either(String, Int)',
    type: 'STRUCT(left VARCHAR, right INTEGER)',
    json: '{"left":"ApacheFlink"}',
    pairs: 9,
  },
  'nullable-not-padded-serializer': { text: 'Nullable(Long)', type: 'BIGINT', length: -1, json: 'null', pairs: 9 },
  'nullable-padded-serializer': { text: 'Nullable(Long)', type: 'BIGINT', length: 9, json: 'null', pairs: 9 },
  'enum-serializer': {
    text: 'Enum(TestEnum: FOO, BAR, PETER, PAULA, NATHANIEL, EMMA)',
    type: 'VARCHAR',
    length: 4,
    json: '"EMMA"',
    pairs: 9,
  },
  'enum-serializerreconfig': {
    text: 'Enum(TestEnumSerializerReconfig: FOO, BAR, PETER, NATHANIEL, EMMA, PAULA)',
    type: 'VARCHAR',
    length: 4,
    json: '"EMMA"',
    pairs: 9,
  },
  'tuple-serializer': {
    text: 'Tuple3(String, String, Int)',
    type: 'STRUCT(f0 VARCHAR, f1 VARCHAR, f2 INTEGER)',
    json: '{"f0":"hello Gordon","f1":"ciao","f2":14}',
    pairs: 9,
  },
  'row-serializer': {
    text: 'Row(String, Long, String, String)',
    type: 'STRUCT(f0 VARCHAR, f1 BIGINT, f2 VARCHAR, f3 VARCHAR)',
    json: '{"f0":null,"f1":42,"f2":"My string.","f3":null}',
    pairs: 10,
  },
  'pojo-serializer-identical-schema': {
    text: POJO_TEXT,
    type: POJO_TYPE,
    json: '{"age":27,"favoriteColor":"BLUE","married":false,"name":"Gordon"}',
    pairs: 11,
  },
  'pojo-serializer-record-migration': {
    text: 'Pojo(TestRecordMigration: id Int, name String)',
    type: 'STRUCT(id INTEGER, name VARCHAR)',
    json: '{"id":911108,"name":"Gordon"}',
    pairs: 1,
  },
  'pojo-serializer-to-record': {
    text: 'Pojo(TestPojoToRecord: id Int, name String)',
    type: 'STRUCT(id INTEGER, name VARCHAR)',
    json: '{"id":911108,"name":"Gordon"}',
    pairs: 1,
  },
  'pojo-serializer-with-different-field-types': {
    text: 'Pojo(TestPojoWithDifferentFieldType: fieldValue Int)',
    type: 'STRUCT(fieldValue INTEGER)',
    json: '{"fieldValue":911108}',
    pairs: 11,
  },
  'pojo-serializer-with-different-field-types-in-registered-subclass': subclass(
    'TestPojoSubclassWithDifferentFieldType',
    '"fieldValue":911108',
  ),
  'pojo-serializer-with-different-subclass-registration-order': subclass(`${PACKAGE}$StaticSchemaPojoSubclassB`, '"subclassField":true'),
  'pojo-serializer-with-missing-registered-subclass': subclass(`${PACKAGE}$StaticSchemaPojoSubclassB`, '"subclassField":true'),
  'pojo-serializer-with-modified-schema': {
    text: 'Pojo(TestPojoWithModifiedSchema: age Int, height Double, id Int, name String)',
    type: 'STRUCT(age INTEGER, height DOUBLE, id INTEGER, name VARCHAR)',
    json: '{"age":27,"height":172.8,"id":911108,"name":"Gordon"}',
    pairs: 11,
  },
  'pojo-serializer-with-modified-schema-in-registered-subclass': {
    text: 'Pojo(BasePojo: baseFieldA Int, baseFieldB String)',
    type: 'STRUCT(baseFieldA INTEGER, baseFieldB VARCHAR)',
    json: '{"$class":"SublassPojo","baseFieldA":911108,"baseFieldB":"Gordon","subclassFieldC":true,"subclassFieldD":66.7}',
    column: '{"baseFieldA":911108,"baseFieldB":"Gordon"}',
    pairs: 11,
  },
  'pojo-serializer-with-new-and-missing-registered-subclasses': subclass(`${PACKAGE}$StaticSchemaPojoSubclassB`, '"subclassField":true'),
  'pojo-serializer-with-new-registered-subclass': subclass(`${PACKAGE}$StaticSchemaPojoSubclassA`, '"subclassField":911108'),
  'pojo-serializer-with-non-registered-subclass': subclass(`${PACKAGE}$StaticSchemaPojoSubclassA`, '"subclassField":911108'),
  'time-window-serializer': {
    text: 'TimeWindow',
    type: 'STRUCT(start TIMESTAMPTZ, end TIMESTAMPTZ)',
    length: 16,
    json: '{"start":"1970-01-01T00:00:12.345Z","end":"1970-01-01T00:01:07.890Z"}',
    pairs: 9,
  },
  'global-window-serializer': { text: 'GlobalWindow', type: 'VARCHAR', length: 1, json: '"GlobalWindow"', pairs: 9 },
  'timer-serializer': {
    text: 'Timer(String, Int)',
    type: 'STRUCT(timestamp BIGINT, key VARCHAR, namespace INTEGER)',
    json: '{"timestamp":12345,"key":"key","namespace":678}',
    pairs: 9,
  },
  'ttl-serializer': {
    text: 'Ttl(String)',
    type: 'STRUCT(timestamp BIGINT, value VARCHAR)',
    json: '{"timestamp":13,"value":"hello Gordon"}',
    pairs: 9,
  },
  'ttl-aware-serializer-ttl-value': {
    text: 'Ttl(String)',
    type: 'STRUCT(timestamp BIGINT, value VARCHAR)',
    json: '{"timestamp":13,"value":"hello Gordon"}',
    pairs: 9,
  },
  'ttl-aware-serializer-string-value': { text: 'String', type: 'VARCHAR', json: '"hello Gordon"', pairs: 9 },
  'stream-element-serializer': {
    text: 'StreamElement(String)',
    type: 'STRUCT(value VARCHAR, timestamp BIGINT)',
    json: '{"value":"key","timestamp":123456}',
    pairs: 9,
  },
  'buffer-entry-serializer': {
    text: 'BufferEntry(String)',
    type: 'STRUCT(element VARCHAR, hasBeenJoined BOOLEAN)',
    json: '{"element":"hello","hasBeenJoined":false}',
    pairs: 9,
  },
  'union-serializer-one': {
    text: 'Union(String, Long)',
    type: 'STRUCT(one VARCHAR, two BIGINT)',
    json: '{"one":"flink"}',
    pairs: 9,
  },
  'union-serializer-two': {
    text: 'Union(String, Long)',
    type: 'STRUCT(one VARCHAR, two BIGINT)',
    json: '{"two":23456}',
    pairs: 9,
  },
  'two-phase-commit-sink-state-serializer': {
    text: 'TwoPhaseCommit(Int, String)',
    type: 'STRUCT(pending_transaction INTEGER, pending_commit_transactions INTEGER[], context VARCHAR)',
    json: '{"pending_transaction":12,"pending_commit_transactions":[123],"context":"flink"}',
    pairs: 6,
  },
  'java-serializer': { text: 'Java', type: 'JSON', json: '26', pairs: 9 },
  'copyable-value-serializer': {
    text: 'CopyableValue(CopyableSerializerUpgradeTest.SimpleCopyable)',
    type: 'JSON',
    json: '{"$serializer":"org.apache.flink.api.java.typeutils.runtime.CopyableValueSerializer","$hex":"000000000001e240"}',
    opaque: /SimpleCopyable writes itself/,
    pairs: 9,
  },
  'value-serializer': {
    text: 'Value(ValueSerializerUpgradeTest.NameValue)',
    type: 'JSON',
    json: '{"$serializer":"org.apache.flink.api.java.typeutils.runtime.ValueSerializer","$hex":"00076b6c696f6e3236"}',
    opaque: /NameValue writes itself/,
    pairs: 9,
  },
  'writeable-serializer': {
    text: 'Writable(WritableSerializerUpgradeTest.WritableName)',
    type: 'JSON',
    json: '{"$serializer":"org.apache.flink.api.java.typeutils.runtime.WritableSerializer","$hex":"0005666c696e6b"}',
    opaque: /WritableName writes itself/,
    pairs: 9,
  },
  'scala-case-class-serializer': {
    text: 'CustomCaseClass(String, Int)',
    type: 'STRUCT(f0 VARCHAR, f1 INTEGER)',
    json: '{"f0":"flink","f1":11}',
    pairs: 8,
  },
  'scala-either-serializer': {
    text: 'Either(Int, String)',
    type: 'STRUCT(left INTEGER, right VARCHAR)',
    json: '{"right":"Hello world"}',
    pairs: 8,
  },
  'scala-enum-serializer': { text: 'Enumeration(Letters$: A, B, C)', type: 'VARCHAR', length: 4, json: '"A"', pairs: 8 },
  'scala-option-serializer': { text: 'Option(String)', type: 'VARCHAR', json: 'null', pairs: 8 },
  'traversable-serializer-bitset': { text: 'Traversable(Int)', type: 'INTEGER[]', json: '[0,2,3]', pairs: 8 },
  'traversable-serializer-indexedseq': { text: 'Traversable(Int)', type: 'INTEGER[]', json: '[1,2,3]', pairs: 8 },
  'traversable-serializer-linearseq': { text: 'Traversable(Int)', type: 'INTEGER[]', json: '[2,3,4]', pairs: 8 },
  'traversable-serializer-list-buffer': { text: 'Traversable(Int)', type: 'INTEGER[]', json: '[1,2,3]', pairs: 3 },
  'traversable-serializer-mutable-list': { text: 'Traversable(Int)', type: 'INTEGER[]', json: '[1,2,3]', pairs: 5 },
  'traversable-serializer-seq': { text: 'Traversable(Int)', type: 'INTEGER[]', json: '[1,2,3]', pairs: 8 },
  'traversable-serializer-set': { text: 'Traversable(Int)', type: 'INTEGER[]', json: '[2,3,4]', pairs: 8 },
  'traversable-serializer-map': { text: 'Map(String, Int)', type: 'MAP(VARCHAR, INTEGER)', json: '{"Apache":0,"Flink":1}', pairs: 8 },
  'traversable-serializer-with-case-class': {
    text: 'Traversable(Tuple2(Int, String))',
    type: 'STRUCT(f0 INTEGER, f1 VARCHAR)[]',
    json: '[{"f0":0,"f1":"Apache"},{"f0":1,"f1":"Flink"}]',
    pairs: 8,
  },
  'traversable-serializer-with-pojo': {
    text: 'Traversable(Pojo(TraversableSerializerUpgradeTest.Types.Pojo: count Int, name String))',
    type: 'STRUCT(count INTEGER, name VARCHAR)[]',
    json: '[{"count":0,"name":"Apache"},{"count":1,"name":"Flink"}]',
    pairs: 8,
  },
};

describe.runIf(hasCorpus)('pairs of Flink', () => {
  it.each(Object.entries(EXPECTED))('%s', (serializer, expected) => {
    const pairs = pairsOf(serializer);
    expect(pairs.length).toBe(expected.pairs);
    for (const { folder, version } of pairs) {
      const valueFile = join(folder, 'test-data');
      const value = existsSync(valueFile) ? readFileSync(valueFile) : undefined;
      const flinkMajor = version.startsWith('2') ? 2 : 1;
      const seen = inspectSnapshot(readFileSync(join(folder, 'serializer-snapshot')), value, { flinkMajor });
      expect({ version, ...seen, snapshot: undefined, reason: undefined }).toEqual({
        version,
        serializer: expected.text,
        type: expected.type,
        value: expected.json,
        left_over: 0,
        snapshot: undefined,
        reason: undefined,
      });
      if (expected.opaque === undefined) expect(seen.reason).toBeUndefined();
      else expect(seen.reason).toMatch(expected.opaque);
      const codec = seen.snapshot.codec({ flinkMajor });
      expect(codec.length).toBe(expected.length ?? -1);
      const decoded = decode(codec, value as Buffer);
      expect(decoded.end).toBe((value as Buffer).length);
      expect(decoded.column).toBe(expected.column ?? expected.json);
    }
  });

  it('scala-try-serializer: the Throwable of a failure', () => {
    const pairs = pairsOf('scala-try-serializer');
    expect(pairs.length).toBe(8);
    const codec = throwableCodec(opaqueCodec('KryoSerializer', 'not needed'));
    for (const { folder, version } of pairs) {
      // bool isSuccess, then the Throwable
      const c = new Cursor(readFileSync(join(folder, 'test-data')));
      expect(c.bool()).toBe(false);
      const api = version.startsWith('2') ? 'table.api' : 'api.scala';
      expect(jsonOf(codec.type, codec.read(c))).toBe(
        `{"class":"org.apache.flink.${api}.typeutils.ScalaTrySerializerUpgradeTest$SpecifiedException","message":"Specified exception for ScalaTry."}`,
      );
      c.expectEnd('Try');
    }
  });

  it('all 896: each snapshot and value to the last byte, no unknown class, bytes only of classes that nothing describes', () => {
    const folders = readdirSync(PAIRS);
    expect(folders.length).toBe(896);
    const unknown = (snapshot: SerializerSnapshot): boolean =>
      snapshot.unknown !== undefined || snapshot.children.some(child => unknown(child.snapshot));
    const opaque = new Set<string>();
    for (const folder of folders) {
      const flinkMajor = /-2\.\d+$/.test(folder) ? 2 : 1;
      const valueFile = join(PAIRS, folder, 'test-data');
      const value = existsSync(valueFile) ? readFileSync(valueFile) : undefined;
      const seen = inspectSnapshot(readFileSync(join(PAIRS, folder, 'serializer-snapshot')), value, { flinkMajor });
      expect([folder, seen.left_over, unknown(seen.snapshot)]).toEqual([folder, 0, false]);
      if (value !== undefined) expect([folder, decode(seen.snapshot.codec({ flinkMajor }), value).end]).toEqual([folder, value.length]);
      if (seen.reason !== undefined) opaque.add(folder.replace(/-serializer.*$/, ''));
    }
    // Kryo's are objects of the tests' own classes
    expect([...opaque].sort()).toEqual(['copyable-value', 'kryo-custom-type', 'kryo-type', 'value', 'writeable']);
  });

  it('reads a snapshot without the proxy version in front', () => {
    const [{ folder }] = pairsOf('map-serializer');
    const seen = inspectSnapshot(readFileSync(join(folder, 'serializer-snapshot')).subarray(4));
    expect(seen.serializer).toBe('Map(Int, String)');
    expect(seen.left_over).toBe(0);
  });
});
