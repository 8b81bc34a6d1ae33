import { describe, expect, it } from 'vitest';
import { hashString, keyGroupOfHash } from '../../src/checkpoint/key-groups.js';
import type { EntryFilter } from '../../src/state/entry.js';
import { openKeyedState } from '../../src/state/open.js';
import { framed } from '../io/snappy-frames.js';
import {
  contextOf,
  inline,
  int,
  keyed,
  keyedHeaderBytes,
  keyGroupsFile,
  LONG,
  listOf,
  long,
  mapOf,
  NO_NAMESPACE,
  Out,
  STRING,
  string,
  timers,
  UNKNOWN,
} from './encode.js';
import { problem } from './problem.js';
import { keyedRows, type Row } from './rows.js';

const STATES = [
  keyed('count', 'VALUE', LONG),
  keyed('tags', 'LIST', listOf(STRING)),
  keyed('scores', 'MAP', mapOf(STRING, LONG)),
  timers('event_user-timers', STRING),
];
const header = keyedHeaderBytes(STRING, STATES);
const entry = (key: string, value: Buffer) => Buffer.concat([NO_NAMESPACE, string(key), value]);
const state = (id: number, ...entries: readonly Buffer[]) => Buffer.concat([new Out().u16(id).bytes(), int(entries.length), ...entries]);
const flipped = (ms: bigint) => long(BigInt.asIntN(64, ms ^ (1n << 63n)));
const group = (keyGroup: number, ...states: readonly Buffer[]) => Buffer.concat([int(keyGroup), ...states]);
const compressedGroup = (keyGroup: number, ...states: readonly Buffer[]) => Buffer.concat([int(keyGroup), ...states.map(framed)]);

const FULL = [
  state(1, entry('a', Buffer.concat([int(2), string('x'), string('y')])), entry('e', int(0))),
  state(0, entry('a', long(1)), entry('bb', long(-2))),
  state(3, Buffer.concat([flipped(-5n), string('a'), NO_NAMESPACE])),
  state(2, entry('a', Buffer.concat([int(2), string('k1'), Buffer.from([0]), long(7), string(''), Buffer.from([1])]))),
];
const NONE = [state(1), state(0), state(3), state(2)];

const ROWS: Row[] = [
  { state: 'tags', key: 'a', namespace: null, index: 0, value: 'x' },
  { state: 'tags', key: 'a', namespace: null, index: 1, value: 'y' },
  { state: 'count', key: 'a', namespace: null, value: '1' },
  { state: 'count', key: 'bb', namespace: null, value: '-2' },
  { state: '_timer_state/event_user-timers', key: 'a', namespace: null, value: '-5' },
  { state: 'scores', key: 'a', namespace: null, mapKey: 'k1', value: '7' },
  { state: 'scores', key: 'a', namespace: null, mapKey: '', value: null },
];

function rows(file: { handle: Parameters<typeof openKeyedState>[0] }, filter: EntryFilter = {}, context = contextOf()): Row[] {
  const reader = openKeyedState(file.handle, context);
  expect(reader.layout).toBe('heap');
  try {
    return keyedRows(reader, context, filter);
  } finally {
    reader.close();
  }
}

describe('heap-native keyed state', () => {
  const file = keyGroupsFile(header, [group(0, ...FULL), group(1, ...NONE), group(2, ...FULL)], { tag: 3 });
  const compressed = keyGroupsFile(
    keyedHeaderBytes(STRING, STATES, true),
    [compressedGroup(0, ...FULL), compressedGroup(1, ...NONE), compressedGroup(2, ...FULL)],
    { tag: 12 },
  );

  it('gives every entry with its parts', () => {
    expect(rows(file)).toEqual([...ROWS, ...ROWS]);
    expect(rows(compressed)).toEqual([...ROWS, ...ROWS]);
  });
  it('filters by state, key group and serialized key', () => {
    for (const f of [file, compressed]) {
      expect(rows(f, { states: new Set([0, 3]), keyGroups: new Set([2]) })).toEqual(ROWS.slice(2, 5));
      expect(rows(f, { keys: [string('bb')] })).toEqual([ROWS[3], ROWS[3]]);
      expect(rows(f, { keyGroups: new Set([1]) })).toEqual([]);
    }
  });
  it('accepts a handle that was cut to fewer key groups than the file has', () => {
    for (const f of [file, compressed]) {
      const cut = { ...f.handle, range: { first: 0, count: 1 }, offsets: f.handle.offsets.slice(0, 1) };
      expect(rows({ handle: cut })).toEqual(ROWS);
    }
  });
  it('shows values of unknown length with what stands behind them, and goes on with the next key group', () => {
    const states = [keyed('opaque', 'VALUE', UNKNOWN), keyed('count', 'VALUE', LONG)];
    const blob = Buffer.from('cafebabe', 'hex');
    const opaque = [state(0, entry('a', blob), entry('b', blob)), state(1, entry('a', long(1)))];
    const warnings: string[] = [];
    const context = contextOf({ warnings });
    const read = (f: { handle: Parameters<typeof openKeyedState>[0] }, filter: EntryFilter = {}) => {
      const reader = openKeyedState(f.handle, context);
      const c = reader.entries(filter);
      const seen: unknown[] = [];
      while (c.next()) {
        const hex = (start: number, end: number) => Buffer.from(c.bytes.subarray(start, end)).toString('hex');
        seen.push([c.keyGroup, c.state, hex(c.keyStart, c.keyEnd), hex(c.valueStart, c.valueEnd), c.unsplit]);
      }
      return seen;
    };
    const reason = 'serializer com.example.Custom is not known';
    const both = Buffer.concat([blob, entry('b', blob)]).toString('hex');
    // the states behind it are found, because they fit in one place only
    const plain = keyGroupsFile(keyedHeaderBytes(STRING, states), [group(0, ...opaque), group(1, ...opaque)], { tag: 3 });
    const expected = [0, 1].flatMap(g => [
      [g, 0, '0261', both, `${reason}; 1 more entry of this state stand in the same bytes`],
      [g, 1, '0261', '0000000000000001', undefined],
    ]);
    expect(read(plain)).toEqual(expected);
    // compressed: each state has a stream of its own
    const snappy = keyGroupsFile(keyedHeaderBytes(STRING, states, true), [compressedGroup(0, ...opaque), compressedGroup(1, ...opaque)], {
      tag: 3,
    });
    expect(read(snappy)).toEqual(expected);
    expect(read(snappy, { states: new Set([1]) })).toEqual([expected[1], expected[3]]);
    // one entry, and nothing else behind it: it is whole
    const last = keyGroupsFile(keyedHeaderBytes(STRING, states), [group(0, opaque[1], state(0, entry('a', blob))), group(1, ...opaque)], {
      tag: 3,
    });
    expect(read(last)).toEqual([
      [0, 1, '0261', '0000000000000001', undefined],
      [0, 0, '0261', 'cafebabe', undefined],
      ...expected.slice(2),
    ]);
    // one entry in front of another state: whole too
    const one = keyGroupsFile(keyedHeaderBytes(STRING, states), [group(0, state(0, entry('a', blob)), opaque[1]), group(1, ...opaque)], {
      tag: 3,
    });
    expect(read(one, { keyGroups: new Set([0]) })).toEqual([
      [0, 0, '0261', 'cafebabe', undefined],
      [0, 1, '0261', '0000000000000001', undefined],
    ]);
    expect(warnings).toEqual([]);
  });
  it('finds values of unknown length by the keys around them, and states by their order', () => {
    const g = (k: string) => keyGroupOfHash(hashString(k), 128);
    const keys = Array.from({ length: 3000 }, (_, i) => `k${i}`)
      .filter(k => g(k) === 9)
      .slice(0, 5);
    const states = [
      keyed('opaque', 'VALUE', UNKNOWN),
      keyed('other', 'VALUE', UNKNOWN),
      keyed('count', 'VALUE', LONG),
      keyed('last', 'VALUE', UNKNOWN),
    ];
    const value = (i: number) => Buffer.from(`value of ${'any '.repeat(i)}length`);
    const full = group(
      9,
      state(2, entry(keys[0], long(7))),
      state(1, ...keys.map((k, i) => entry(k, value(i)))),
      state(0, entry(keys[1], value(3))),
      state(3, ...keys.slice(0, 2).map((k, i) => entry(k, value(i)))),
    );
    const none = group(10, state(2), state(1), state(0), state(3));
    const file = keyGroupsFile(keyedHeaderBytes(STRING, states), [full, none], { tag: 3, first: 9 });
    const warnings: string[] = [];
    const c = openKeyedState(file.handle, contextOf({ warnings })).entries({});
    const seen: string[] = [];
    while (c.next()) {
      const text = (start: number, end: number) => Buffer.from(c.bytes.subarray(start, end)).toString('latin1');
      seen.push(`${c.state} ${text(c.keyStart + 1, c.keyEnd)} ${text(c.valueStart, c.valueEnd)} ${c.unsplit ?? ''}`);
    }
    expect(seen).toEqual([
      `2 ${keys[0]} ${long(7).toString('latin1')} `,
      ...keys.map((k, i) => `1 ${k} ${value(i)} `),
      `0 ${keys[1]} ${value(3)} `,
      ...keys.slice(0, 2).map((k, i) => `3 ${k} ${value(i)} `),
    ]);
    expect(warnings).toEqual([]);
  });
  it('says so when the states behind a value of unknown length cannot be found', () => {
    const states = [keyed('opaque', 'VALUE', UNKNOWN), keyed('count', 'VALUE', LONG)];
    const warnings: string[] = [];
    // twice something that could be the state: nothing is claimed
    const tail = state(1, entry('a', long(1)));
    const blob = Buffer.concat([Buffer.from('aa', 'hex'), new Out().u16(1).i32(2).bytes(), entry('z', long(7)).subarray(0, 3)]);
    const fake = Buffer.concat([blob, long(7)]);
    const f = keyGroupsFile(keyedHeaderBytes(STRING, states), [group(1, state(0, entry('a', fake)), tail)], { tag: 3, first: 1 });
    const context = contextOf({ warnings });
    const c = openKeyedState(f.handle, context).entries({});
    expect(c.next()).toBe(true);
    expect([c.valueEnd - c.valueStart, c.unsplit]).toEqual([fake.length, undefined]);
    expect(c.next()).toBe(true);
    expect(c.state).toBe(1);
    expect(c.next()).toBe(false);
    // a value that ends like an empty state makes two places possible
    const g = keyGroupsFile(
      keyedHeaderBytes(STRING, [keyed('opaque', 'VALUE', UNKNOWN), keyed('count', 'VALUE', LONG)]),
      [group(1, state(0, entry('a', Buffer.from('ab', 'hex'))), state(1, entry('a', long(0x1_0000_0000))))],
      { tag: 3, first: 1 },
    );
    const d = openKeyedState(g.handle, context).entries({});
    expect(d.next()).toBe(true);
    expect(d.unsplit).toBe('serializer com.example.Custom is not known; 1 more state of the key group stand in the same bytes');
    expect(d.next()).toBe(false);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('stand behind values of state opaque');
  });

  it('names file, offset and place of what is wrong', () => {
    const { bytes, handle } = file;
    const broken = (edit: (b: Buffer) => void, of = file) => {
      const copy = Buffer.from(of.bytes);
      edit(copy);
      return problem(() => rows({ handle: { ...of.handle, stream: inline(copy) } }));
    };
    const second = handle.offsets[1];
    expect(broken(b => b.writeInt32BE(77, handle.offsets[2]))).toBe(
      `key group 77 where 2 is expected (state file, byte ${handle.offsets[2]}, operator test, subtask 0)`,
    );
    expect(broken(b => b.writeUInt16BE(9, second + 4))).toContain('state id 9 in key group 1, 4 states are registered');
    expect(broken(b => b.writeUInt16BE(1, second + 10))).toContain('state id 1 occurs twice in key group 1');
    expect(broken(b => b.writeInt32BE(-1, second + 6))).toContain('-1 entries in state tags');
    expect(broken(b => b.writeInt32BE(1_000_000, second + 6))).toMatch(/state tags, key group 1\)$|needs|bytes/);
    expect(problem(() => rows({ handle: { ...handle, stream: inline(bytes.subarray(0, bytes.length - 3)) } }))).toMatch(
      /needs \d+ bytes, \d+ remain \(state file, byte \d+, operator test, subtask 0, state scores, key group 2\)|boolean needs/,
    );
    const longer = Buffer.concat([bytes, Buffer.from([0, 0, 0, 0, 9])]);
    expect(problem(() => rows({ handle: { ...handle, stream: inline(longer) } }))).toContain('5 bytes left over after key group 2');
    const short = keyGroupsFile(keyedHeaderBytes(STRING, STATES, true), [compressedGroup(0, ...FULL.slice(0, 3))], { tag: 3, first: 0 });
    expect(problem(() => rows({ handle: { ...short.handle, offsets: short.handle.offsets } }))).toContain(
      '1 states of key group 0 are missing',
    );
  });
});
