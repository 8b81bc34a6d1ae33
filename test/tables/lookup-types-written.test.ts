/**
 * Keys that real snapshots seldom have: both zeros, NaN in several forms, numbers written in two ways, text that SQL cannot
 * show, values beyond 2^53. Snapshots written here; answers with and without the use of filters.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JavaKeyType, javaHashCode } from '../../src/checkpoint/java-hash.js';
import { keyGroupOfHash } from '../../src/checkpoint/key-groups.js';
import { ReadStats } from '../../src/io/source.js';
import { type Database, openDatabase } from '../../src/sql/engine.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import type { Value } from '../../src/types.js';
import { inline, keyGroups, metadata } from '../checkpoint/encode.js';
import { rowsOf } from '../sql/harness.js';
import { canonicalGroup, keyed, keyedHeaderBytes, keyGroupsFile, LONG, long, NO_NAMESPACE, type Snapshot } from '../state/encode.js';

const MAX = 128;
const base = (name: string): Snapshot => {
  const full = `org.apache.flink.api.common.typeutils.base.${name}Serializer$${name}SerializerSnapshot`;
  return out => out.utf(full).i32(3);
};

interface Key {
  readonly value: Value;
  readonly bytes: Buffer;
}

/** A state file of one VALUE state whose values count the keys from 0. */
function stateFile(serializer: Snapshot, hash: JavaKeyType, keys: readonly Key[]) {
  const groups = new Map<number, [Buffer, Buffer][]>();
  keys.forEach(({ value, bytes }, i) => {
    const group = keyGroupOfHash(javaHashCode(hash, value) as number, MAX);
    groups.set(group, [...(groups.get(group) ?? []), [Buffer.concat([bytes, NO_NAMESPACE]), long(i)]]);
  });
  const header = keyedHeaderBytes(serializer, [keyed('state', 'VALUE', LONG)]);
  return keyGroupsFile(
    header,
    Array.from({ length: MAX }, (_, g) => {
      const entries = groups.get(g);
      return entries === undefined ? undefined : canonicalGroup(g, [{ id: 0, entries }]);
    }),
  );
}

const double = (bits: bigint): Buffer => {
  const out = Buffer.alloc(8);
  out.writeBigUInt64BE(bits);
  return out;
};
const doubleOf = (value: number): Key => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return { value, bytes };
};
const i32 = (n: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeInt32BE(n);
  return out;
};
const units = (...codes: readonly number[]): Buffer => {
  const varint = (n: number): number[] => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...varint(n >>> 7)]);
  return Buffer.from([...varint(codes.length + 1), ...codes.flatMap(varint)]);
};
const text = (value: string): Key => ({ value, bytes: units(...Array.from({ length: value.length }, (_, i) => value.charCodeAt(i))) });
const long64 = (value: bigint): Key => ({ value, bytes: long(value) });

const FILES = {
  d: {
    serializer: base('Double'),
    hash: { kind: 'Double' },
    keys: [
      doubleOf(0),
      doubleOf(-0),
      { value: Number.NaN, bytes: double(0x7ff8000000000000n) },
      { value: Number.NaN, bytes: double(0xfff8000000000001n) },
      doubleOf(1.5),
      doubleOf(9007199254740992),
      doubleOf(Number.POSITIVE_INFINITY),
      doubleOf(0.1),
    ],
  },
  b: {
    serializer: base('BigInt'),
    hash: { kind: 'BigInteger' },
    keys: [
      { value: 0n, bytes: i32(1) },
      { value: 0n, bytes: Buffer.concat([i32(5), Buffer.of(0)]) },
      { value: 10n, bytes: i32(3) },
      { value: 10n, bytes: Buffer.concat([i32(5), Buffer.of(10)]) },
      { value: 1n, bytes: i32(2) },
      { value: 1n << 70n, bytes: Buffer.concat([i32(13), Buffer.of(0x40, 0, 0, 0, 0, 0, 0, 0, 0)]) },
    ],
  },
  s: {
    serializer: base('String'),
    hash: { kind: 'String' },
    keys: [text(''), text('\ud800'), text('\udfff'), text('\ufffd'), text('1.50'), text('01'), text('1'), text('ž😀'), text("it's")],
  },
  l: {
    serializer: base('Long'),
    hash: { kind: 'Long' },
    keys: [9007199254740992n, 9007199254740993n, 9007199254740994n, 1n, -1n, 9223372036854775807n].map(long64),
  },
} satisfies Record<string, { serializer: Snapshot; hash: JavaKeyType; keys: readonly Key[] }>;

const ID = { d: 'd'.repeat(32), b: 'b'.repeat(32), s: '5'.repeat(32), l: '1'.repeat(32) } as const;

describe('written keys', () => {
  const directory = mkdtempSync(join(tmpdir(), 'statequery-keys-'));
  const stats = new ReadStats();
  const opened: OpenedSnapshot[] = [];
  const databases: Database[] = [];
  beforeAll(async () => {
    const operators = Object.entries(FILES).map(([name, { serializer, hash, keys }]) => {
      const { handle, bytes } = stateFile(serializer, hash, keys);
      const managedKeyed = keyGroups(7, 0, handle.offsets, inline(name, bytes));
      return { id: ID[name as keyof typeof ID], parallelism: 1, maxParallelism: MAX, subtasks: [{ index: 0, body: { managedKeyed } }] };
    });
    writeFileSync(join(directory, '_metadata'), metadata(4, operators));
    for (const pushdown of [true, false]) {
      const snapshot = openSnapshot(directory, pushdown ? { stats } : { pushdown });
      opened.push(snapshot);
      databases.push(await openDatabase({ snapshots: new Map([['s', snapshot.catalog]]), threads: 1 }));
    }
  });
  afterAll(async () => {
    for (const db of databases) await db.close();
    for (const s of opened) s.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Numbers of the keys found, the same with and without filters, and the entries that were decoded for them. */
  async function find(file: keyof typeof FILES | undefined, condition: string): Promise<{ found: readonly number[]; decoded: number }> {
    const where = file === undefined ? condition : `operator_id = '${ID[file]}' AND ${condition}`;
    const sql = `SELECT value FROM keyed_state WHERE ${where} ORDER BY ALL`;
    const before = stats.entriesDecoded;
    const [pruned, whole] = [await rowsOf(databases[0], sql), await rowsOf(databases[1], sql)];
    expect(pruned).toEqual(whole);
    return { found: pruned.map(r => Number(r[0])), decoded: stats.entriesDecoded - before };
  }

  it.each<readonly [file: keyof typeof FILES, condition: string, found: readonly number[], decoded: number]>([
    ['d', 'key = 0', [0, 1], 2],
    ['d', "key = '-0.0'", [0, 1], 2],
    ['d', 'key = 1.50', [4], 1],
    ['d', "key = '1.5'", [4], 1],
    ['d', 'key = 0.1', [7], 1],
    ['d', 'key = 9007199254740993', [5], 1],
    ['d', "key = 'x'", [], 0],
    ['d', "key IN (1.5, 0, 'x')", [0, 1, 4], 3],
    ['d', "key = 'NaN'", [2, 3], 2],
    ['d', "key = 'inf'::DOUBLE", [6], 1],
    ['d', "key = 'Infinity'", [6], 1],
    ['d', 'key = 15e-1', [4], 1],
    ['d', "key = '9007199254740992e0'", [5], 1],
    ['b', 'key = 0', [0, 1], 2],
    ['b', "key = '10.0'", [2, 3], 2],
    ['b', 'key = 1180591620717411303424', [5], 1],
    ['b', 'key = 1180591620717411303425', [], 0],
    ['s', "key = ''", [0], 1],
    ['s', 'key = 1', [6], 1],
    ['s', 'key = 1.50', [4], 1],
    ['s', "key = '01'", [5], 1],
    ['s', "key = 'ž😀'", [7], 1],
    ['s', "key = 'it''s'", [8], 1],
    // three keys look alike in SQL
    ['s', "key = '\ufffd'", [1, 2, 3], 9],
    ['l', 'key = 9007199254740993', [1], 1],
    ['l', "key = '9007199254740993'", [1], 1],
    ['l', 'key = 9007199254740993.0', [1], 1],
    ['l', 'key = 9007199254740993.5', [], 0],
    ['l', 'key = 9223372036854775808', [], 0],
    ['l', "key = '01'", [3], 1],
    ['l', "key IN ('1', '-1', '2')", [3, 4], 2],
    ['l', "key = '1x'", [], 0],
    ['l', 'key = 1e0', [3], 1],
  ])('%s: %s', async (file, condition, found, decoded) => {
    expect(await find(file, condition)).toEqual({ found, decoded });
  });

  it.each<readonly [condition: string, found: readonly number[], decoded: number]>([
    // by their text: Double 1.5, String '1' and Long 1 and BigInteger 1
    ["key = '1.5'", [4], 1],
    ['key = 1', [3, 4, 6], 3],
    ["key = '0'", [0, 0, 1], 3],
    ["key = '-0.0'", [1], 1],
    ["key = 'NaN'", [2, 3], 2],
    ["key = '1.50'", [4], 1],
    ["key = 'nothing'", [], 0],
    ["key IN ('9007199254740993', '01')", [1, 5], 2],
  ])('of several types: %s', async (condition, found, decoded) => {
    const answer = await find(undefined, `state_name = 'state' AND ${condition}`);
    expect([...answer.found].sort((a, b) => a - b)).toEqual(found);
    expect(answer.decoded).toBe(decoded);
  });
});
