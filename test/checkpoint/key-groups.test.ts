import { describe, expect, it } from 'vitest';
import { binaryRowHash, type JavaKeyType, javaHashCode, javaKeyType } from '../../src/checkpoint/java-hash.js';
import {
  defaultMaxParallelism,
  hashLong,
  hashString,
  keyGroupOfHash,
  keyGroupsOfSubtask,
  murmurOfHash,
  subtaskOfKeyGroup,
} from '../../src/checkpoint/key-groups.js';
import { Decimal, Timestamp, type Value } from '../../src/types.js';

const simple = (kind: Exclude<JavaKeyType['kind'], 'Tuple' | 'Row' | 'List'>): JavaKeyType => ({ kind });
const tuple = (...fields: readonly JavaKeyType[]): JavaKeyType => ({ kind: 'Tuple', fields });
const row = (form: 'until-1.12' | 'since-1.13', ...fields: readonly JavaKeyType[]): JavaKeyType => ({ kind: 'Row', form, fields });
const STRING = simple('String');
const INTEGER = simple('Integer');
const LONG = simple('Long');

/** type, value, hashCode, key group of 128 and of 32768: printed by a JVM with Flink's KeyGroupRangeAssignment. */
const VECTORS: readonly (readonly [JavaKeyType, Value, number, number, number])[] = [
  [STRING, '', 0, 94, 31198],
  [INTEGER, 0, 0, 94, 31198],
  [LONG, -1n, 0, 94, 31198],
  [STRING, 'a', 97, 81, 19409],
  [STRING, 'hello', 99162322, 35, 31395],
  [STRING, 'user-42', -147182656, 20, 20116],
  [INTEGER, 42, 42, 29, 28189],
  [LONG, 42n, 42, 29, 28189],
  [INTEGER, -1, -1, 80, 15184],
  [LONG, 4294967296n, 1, 86, 16342],
  [simple('Short'), -1, -1, 80, 15184],
  [simple('Boolean'), true, 1231, 77, 11725],
  [simple('Double'), 1.5, 1073217536, 65, 833],
  [simple('Double'), Number.NaN, 2146959360, 41, 12713],
  [simple('Double'), -0, -2147483648, 108, 10348],
  [simple('UUID'), '123e4567-e89b-12d3-a456-426614174000', 1256478162, 25, 19737],
  [simple('BigDecimal'), new Decimal(150n, 2), 4652, 5, 20357],
  [simple('BigDecimal'), new Decimal(15n, 1), 466, 28, 4124],
  [simple('LocalDate'), 19782, 4145309, 30, 12702],
  [simple('Instant'), new Timestamp(1n, 500_000_000), -269803775, 123, 21371],
  [tuple(STRING, INTEGER), ['a', 42], 3049, 23, 5911],
  [row('until-1.12', STRING, INTEGER), ['a', 42], 4041, 111, 17135],
  [row('since-1.13', STRING, INTEGER), ['a', 42], 5002, 49, 14129],
];

describe('hash codes and key groups', () => {
  it('are those of the JVM', () => {
    for (const [type, value, hash, of128, of32768] of VECTORS)
      expect([javaHashCode(type, value), keyGroupOfHash(hash, 128), keyGroupOfHash(hash, 32768)], `${type.kind} ${String(value)}`).toEqual([
        hash,
        of128,
        of32768,
      ]);
  });
  it('rows of SQL keys', () => {
    const bigint = Buffer.alloc(16);
    bigint.writeBigInt64LE(42n, 8);
    const text = Buffer.from('0000000000000000' + '61000000000000' + '81', 'hex');
    expect([bigint, text].map(r => [binaryRowHash(r), keyGroupOfHash(binaryRowHash(r), 128)])).toEqual([
      [907821237, 69],
      [943281246, 4],
    ]);
    expect(javaHashCode(simple('BinaryRow'), text)).toBe(943281246);
  });
  it('more classes', () => {
    expect(javaHashCode(simple('Character'), '\uffff')).toBe(65535);
    expect(javaHashCode(simple('Float'), 1.5)).toBe(0x3fc00000);
    expect(javaHashCode(simple('Float'), Number.NaN)).toBe(0x7fc00000);
    expect(javaHashCode(simple('BigInteger'), 1n << 64n)).toBe(961);
    expect(javaHashCode(simple('BigInteger'), -(1n << 64n))).toBe(-961);
    expect(javaHashCode(simple('Millis'), new Timestamp(-1n, 999_999_999))).toBe(0);
    expect(javaHashCode(simple('LocalTime'), 86_399_999_999_999)).toBe(hashLong(86_399_999_999_999n));
    expect(javaHashCode(simple('LocalDateTime'), new Timestamp(-1n, 5))).toBe(
      javaHashCode(simple('LocalDate'), -1)! ^ hashLong(86_399_000_000_005n),
    );
    // a row in a row: printed by a JVM with Flink 1.20
    expect(javaHashCode(row('since-1.13', row('since-1.13', STRING), LONG), [['jo'], 708n])).toBe(109890);
    expect(javaHashCode(row('until-1.12', row('until-1.12', STRING), LONG), [['jo'], 708n])).toBeUndefined();
    expect(['1.50', '1.5', '-1E+3', '0E-10'].map(text => javaHashCode(simple('BigDecimal'), text))).toEqual([4652, 466, -34, 10]);
    expect(javaHashCode({ kind: 'List', element: STRING }, ['a', null, 'b'])).toBe(((31 + 97) * 31 + 0) * 31 + 98);
    expect(javaHashCode(tuple(), [])).toBe(0);
    expect(javaHashCode(tuple(STRING, LONG), ['a', null])).toBe(31 * 97);
  });
  it('says nothing of values that are not of the type', () => {
    expect(javaHashCode(LONG, 42)).toBeUndefined();
    expect(javaHashCode(INTEGER, 1.5)).toBeUndefined();
    expect(javaHashCode(tuple(STRING), ['a', 'b'])).toBeUndefined();
    expect(javaHashCode(tuple(STRING), [3])).toBeUndefined();
    expect(javaHashCode(simple('UUID'), 'no uuid')).toBeUndefined();
    expect(javaHashCode(STRING, null)).toBeUndefined();
  });
  it('never gives a negative group, not even for the one hash that has no positive counterpart', () => {
    expect(hashString('polygenelubricants')).toBe(-2147483648);
    const wrong: number[] = [];
    for (let hash = -50_000; hash < 50_000; hash += 7) if (!(murmurOfHash(hash * 43_037) >= 0)) wrong.push(hash);
    expect(wrong).toEqual([]);
  });
});

describe('key types of serializers', () => {
  const leaf = (serializer: string) => ({ serializer, children: [] });
  it('knows leaves and tuples of leaves', () => {
    const children = [{ snapshot: leaf('StringSerializer') }, { snapshot: leaf('LongSerializer') }];
    expect(javaKeyType({ serializer: 'TupleSerializer', children })).toEqual(tuple(STRING, LONG));
    expect(javaKeyType(leaf('SqlDateSerializer'))).toEqual({ kind: 'Millis' });
  });
  it('knows nothing of user classes', () => {
    expect(javaKeyType(leaf('PojoSerializer'))).toBeUndefined();
    expect(javaKeyType({ serializer: 'TupleSerializer', children: [{ snapshot: leaf('EnumSerializer') }] })).toBeUndefined();
  });
});

describe('subtasks', () => {
  it('divide the key groups without gaps', () => {
    for (const [parallelism, max] of [
      [1, 128],
      [3, 128],
      [7, 129],
      [127, 128],
      [4, 32768],
    ]) {
      let next = 0;
      for (let subtask = 0; subtask < parallelism; subtask++) {
        const { first, count } = keyGroupsOfSubtask(subtask, parallelism, max);
        expect(first).toBe(next);
        const subtasks = new Set(Array.from({ length: count }, (_, i) => subtaskOfKeyGroup(first + i, parallelism, max)));
        expect([...subtasks]).toEqual([subtask]);
        next = first + count;
      }
      expect(next).toBe(max);
    }
  });
  it('have a default max parallelism', () => {
    expect([1, 85, 86, 100, 171, 30000].map(defaultMaxParallelism)).toEqual([128, 128, 256, 256, 256, 32768]);
  });
});
