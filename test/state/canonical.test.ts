import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFile } from '../../src/io/source.js';
import type { EntryFilter } from '../../src/state/entry.js';
import { openKeyedState } from '../../src/state/open.js';
import { framed } from '../io/snappy-frames.js';
import {
  canonicalGroup,
  contextOf,
  INT,
  keyed,
  keyedHeaderBytes,
  keyGroupsFile,
  LONG,
  listOf,
  long,
  mapOf,
  NO_NAMESPACE,
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
  keyed('named', 'VALUE', LONG, STRING),
];
const header = keyedHeaderBytes(STRING, STATES);
const key = (text: string, ...rest: readonly Buffer[]) => Buffer.concat([string(text), NO_NAMESPACE, ...rest]);
const timer = (ms: bigint, text: string) => Buffer.concat([long(BigInt.asIntN(64, ms ^ (1n << 63n))), string(text), NO_NAMESPACE]);
const named = (text: string, namespace: string) =>
  Buffer.concat([string(text), Buffer.from([text.length + 1]), string(namespace), Buffer.from([namespace.length + 1])]);

const GROUPS = [
  canonicalGroup(0, [
    {
      id: 0,
      entries: [
        [key('a'), long(1)],
        [key('bb'), long(-2)],
      ],
    },
    { id: 1, entries: [[key('a'), Buffer.concat([string('x'), Buffer.from(','), string('y')])]] },
    {
      id: 2,
      entries: [
        [key('a', string('k1')), Buffer.concat([Buffer.from([0]), long(7)])],
        [key('a', string('')), Buffer.from([1])],
      ],
    },
    { id: 3, entries: [[timer(-5n, 'a'), Buffer.alloc(0)]] },
  ]),
  undefined,
  canonicalGroup(
    2,
    [
      {
        id: 4,
        entries: [
          [named('c', 'ns'), long(3)],
          [named('d'.repeat(300), ''), long(4)],
        ],
      },
    ].map(s => ({
      ...s,
      entries: s.entries.map(([k, v]) => [k, v] as const),
    })),
  ),
];
// 301 as a length: 2D 01
GROUPS[2] = canonicalGroup(2, [
  {
    id: 4,
    entries: [
      [named('c', 'ns'), long(3)],
      [Buffer.concat([string('d'.repeat(300)), Buffer.from([0x2e, 0x01]), string(''), Buffer.from([1])]), long(4)],
    ],
  },
]);

const ROWS: Row[] = [
  { state: 'count', key: 'a', namespace: null, value: '1' },
  { state: 'count', key: 'bb', namespace: null, value: '-2' },
  { state: 'tags', key: 'a', namespace: null, index: 0, value: 'x' },
  { state: 'tags', key: 'a', namespace: null, index: 1, value: 'y' },
  { state: 'scores', key: 'a', namespace: null, mapKey: 'k1', value: '7' },
  { state: 'scores', key: 'a', namespace: null, mapKey: '', value: null },
  { state: '_timer_state/event_user-timers', key: 'a', namespace: null, value: '-5' },
  { state: 'named', key: 'c', namespace: 'ns', value: '3' },
  { state: 'named', key: 'd'.repeat(300), namespace: '', value: '4' },
];

function rows(file: { handle: Parameters<typeof openKeyedState>[0] }, filter: EntryFilter = {}, context = contextOf()): Row[] {
  const reader = openKeyedState(file.handle, context);
  try {
    return keyedRows(reader, context, filter);
  } finally {
    reader.close();
  }
}

describe('canonical keyed state', () => {
  const file = keyGroupsFile(header, GROUPS);

  it('gives every entry with its parts', () => {
    expect(rows(file)).toEqual(ROWS);
  });
  it('reads two bytes of key group above 128', () => {
    const groups = [canonicalGroup(300, [{ id: 0, entries: [[key('a'), long(1)]] }], 2)];
    expect(rows(keyGroupsFile(header, groups, { first: 300 }), {}, contextOf({ maxParallelism: 4096 }))).toEqual([ROWS[0]]);
  });
  it('filters by state, key group and serialized key', () => {
    expect(rows(file, { states: new Set([1, 3]) })).toEqual([ROWS[2], ROWS[3], ROWS[6]]);
    expect(rows(file, { keyGroups: new Set([2]) })).toEqual(ROWS.slice(7));
    expect(rows(file, { keyGroups: new Set([1, 77]) })).toEqual([]);
    expect(rows(file, { keys: [string('bb')] })).toEqual([ROWS[1]]);
    // 'd' begins like a key that is there, and is none
    expect(rows(file, { keys: [string('b'), string('d')] })).toEqual([]);
    expect(rows(file, { keys: Array.from({ length: 20 }, (_, i) => string('d'.repeat(290 + i))) })).toEqual([ROWS[8]]);
    expect(rows(file, { keys: [string('a')], states: new Set([3]) })).toEqual([ROWS[6]]);
  });

  it('keys among others that begin alike, that are shorter, and at the end of a state', () => {
    const texts = ['', 'a', 'aa', 'aab', 'ab', 'b', 'ba', 'bab', 'x'.repeat(130), 'key_1', 'key_10', 'key_100', 'key_2'];
    const entries = texts.map((text, i) => [key(text), long(i)] as const);
    const fires = texts.map((text, i) => [timer(BigInt(i), text), Buffer.alloc(0)] as const);
    const group = canonicalGroup(5, [
      { id: 0, entries },
      { id: 3, entries: fires },
    ]);
    const one = keyGroupsFile(header, [group], { first: 5 });
    const all = rows(one);
    expect(all.length).toBe(2 * texts.length);
    for (const text of [...texts, 'key_', 'c', 'bb']) {
      expect(rows(one, { keys: [string(text)] })).toEqual(all.filter(row => row.key === text));
    }
  });

  it('skip() counts what next() shows', () => {
    for (const filter of [{}, { split: false }, { states: new Set([0, 2]), split: false }, { keys: [string('a')] }] as EntryFilter[]) {
      const shown = openKeyedState(file.handle, contextOf()).entries(filter);
      let expected = 0;
      while (shown.next()) expected++;
      for (const limit of [1, 3, 1000]) {
        const reader = openKeyedState(file.handle, contextOf());
        const cursor = reader.entries(filter);
        let count = 0;
        for (let n = cursor.skip?.(limit) ?? -1; n !== 0; n = cursor.skip?.(limit) ?? -1) {
          expect(n > 0 && n <= limit).toBe(true);
          count += n;
        }
        expect(count).toBe(expected);
        cursor.close();
        reader.close();
      }
    }
  });
  it('counts without splitting', () => {
    const reader = openKeyedState(file.handle, contextOf());
    const cursor = reader.entries({ split: false });
    const seen: [number, number, number][] = [];
    while (cursor.next()) seen.push([cursor.state, cursor.keyGroup, cursor.valueEnd - cursor.valueStart]);
    expect(seen).toEqual([
      [0, 0, 8],
      [0, 0, 8],
      [1, 0, 5],
      [2, 0, 9],
      [2, 0, 1],
      [3, 0, 0],
      [4, 2, 8],
      [4, 2, 8],
    ]);
  });
  it('reads compressed key groups', () => {
    const groups = GROUPS.map(g => (g === undefined ? undefined : framed(g)));
    const compressed = keyGroupsFile(keyedHeaderBytes(STRING, STATES, true), groups);
    expect(rows(compressed)).toEqual(ROWS);
    expect(rows(compressed, { keyGroups: new Set([2]) })).toEqual(ROWS.slice(7));
  });
  it('accepts a handle that was cut to fewer key groups than the file has', () => {
    const cut = { handle: { ...file.handle, range: { first: 0, count: 1 }, offsets: file.handle.offsets.slice(0, 1) } };
    expect(rows(cut)).toEqual(ROWS.slice(0, 7));
    const compressed = keyGroupsFile(keyedHeaderBytes(STRING, STATES, true), [framed(GROUPS[0] as Buffer), framed(GROUPS[2] as Buffer)]);
    const cutToo = { handle: { ...compressed.handle, range: { first: 0, count: 1 }, offsets: compressed.handle.offsets.slice(0, 1) } };
    expect(rows(cutToo)).toEqual(ROWS.slice(0, 7));
  });
  it('reads a file of which only the header is there', () => {
    expect(rows(keyGroupsFile(header, [undefined, undefined]))).toEqual([]);
  });
  it('goes through a file larger than its window, with frames larger than the window', () => {
    const big = Buffer.alloc(3_000_000, 'v');
    const entries = Array.from(
      { length: 3000 },
      (_, i) => [key(`key-${i}`), Buffer.concat([string(''), big.subarray(0, i === 1500 ? 2_500_000 : 900)])] as const,
    );
    const bytesState = [keyed('blob', 'VALUE', UNKNOWN)];
    const directory = mkdtempSync(join(tmpdir(), 'canonical-'));
    try {
      const made = keyGroupsFile(keyedHeaderBytes(STRING, bytesState), [
        canonicalGroup(0, [{ id: 0, entries }]),
        canonicalGroup(1, [{ id: 0, entries }]),
      ]);
      writeFileSync(join(directory, 'state'), made.bytes);
      const context = { ...contextOf(), open: () => openFile(join(directory, 'state')) };
      const reader = openKeyedState(made.handle, context);
      const cursor = reader.entries({});
      let n = 0;
      let bytes = 0;
      while (cursor.next()) {
        const text = Buffer.from(cursor.bytes.subarray(cursor.keyStart, cursor.keyEnd)).toString('latin1').slice(1);
        expect(text).toBe(`key-${n % 3000}`);
        bytes += cursor.valueEnd - cursor.valueStart;
        n++;
      }
      cursor.close();
      reader.close();
      expect([n, bytes]).toEqual([6000, 2 * (2999 * 901 + 2_500_001)]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
  it('is recognised behind a handle of 1.15 and before', () => {
    expect(rows(keyGroupsFile(header, GROUPS, { tag: 3 }))).toEqual(ROWS);
    const full = keyGroupsFile(header, [GROUPS[0], canonicalGroup(1, [{ id: 0, entries: [[key('z'), long(9)]] }])], { tag: 3 });
    expect(openKeyedState(full.handle, contextOf()).backend).toBe('canonical');
    const zero = keyGroupsFile(header, [GROUPS[0]], { tag: 3 });
    expect(openKeyedState(zero.handle, contextOf()).backend).toBe('canonical');
  });

  it('names file, offset and place of what is wrong', () => {
    const { bytes, handle } = file;
    const broken = (edit: (b: Buffer) => void) => {
      const copy = Buffer.from(bytes);
      edit(copy);
      return problem(() => rows({ handle: { ...handle, stream: { kind: 'inline', name: 'x', bytes: copy, offset: 0 } } }));
    };
    const first = handle.offsets[0];
    const at = (offset: number) => `(state file, byte ${offset}, operator test, subtask 0)`;
    expect(broken(b => b.writeUInt16BE(9, first))).toBe(`state id 9 in key group 0, 5 states are registered ${at(first)}`);
    expect(broken(b => b.writeInt32BE(0, first + 2))).toBe(`key of 0 bytes, shorter than its key group ${at(first + 2)}`);
    expect(broken(b => b.writeInt32BE(0x7fffffff, first + 2))).toMatch(/^key: 2147483655 bytes needed, \d+ remain in key group 0 /);
    expect(broken(b => b.writeUInt8(5, first + 6))).toBe(`key of key group 5 in key group 0 ${at(first + 6)}`);
    expect(broken(b => b.writeInt32BE(-1, first + 10))).toBe(`value of -1 bytes ${at(first + 10)}`);
    expect(broken(b => b.writeUInt8(1, first + 9))).toContain('the void namespace is 1, expected 0');
    const end = bytes.length - 2;
    expect(broken(b => b.writeUInt16BE(0, end))).toBe(`key group 2 ends without its end mark ${at(bytes.length)}`);
    const cut = Buffer.concat([bytes, Buffer.from([1, 2, 3])]);
    expect(problem(() => rows({ handle: { ...handle, stream: { kind: 'inline', name: 'x', bytes: cut, offset: 0 } } }))).toBe(
      `3 bytes left over after key group 2 ${at(bytes.length)}`,
    );
    const swapped = { handle: { ...handle, offsets: [handle.offsets[2], 0, handle.offsets[0]] } };
    expect(problem(() => rows(swapped))).toContain(`key group 2 begins at ${first}, not behind the one before it at ${handle.offsets[2]}`);
    const beyond = { handle: { ...handle, offsets: [first, 0, 99999] } };
    expect(problem(() => rows(beyond))).toContain(`key group 2 begins at 99999, the file has ${bytes.length} bytes`);
  });
  it('refuses a length behind a key that is not its own', () => {
    const groups = [
      canonicalGroup(0, [{ id: 4, entries: [[Buffer.concat([string('c'), Buffer.from([3]), string('n'), Buffer.from([2])]), long(1)]] }]),
    ];
    expect(problem(() => rows(keyGroupsFile(header, groups)))).toContain('length behind the key does not say 2');
  });
});

describe('composite keys with an opaque key', () => {
  const states = [
    keyed('v', 'VALUE', LONG),
    keyed('m', 'MAP', mapOf(INT, LONG)),
    keyed('n', 'VALUE', LONG, STRING),
    timers('event_t', UNKNOWN),
  ];
  const opaque = Buffer.from('deadbeef05', 'hex');
  const parts = (id: number, entryKey: Buffer) => {
    const file = keyGroupsFile(keyedHeaderBytes(UNKNOWN, states), [
      canonicalGroup(0, [
        { id, entries: [[entryKey, id === 1 ? Buffer.concat([Buffer.from([0]), long(1)]) : id === 3 ? Buffer.alloc(0) : long(1)]] },
      ]),
    ]);
    const reader = openKeyedState(file.handle, contextOf());
    expect(reader.header.states.map(s => s.name)).toEqual(['v', 'm', 'n', '_timer_state/event_t']);
    const c = reader.entries({});
    expect(c.next()).toBe(true);
    const hex = (start: number, end: number) => Buffer.from(c.bytes.subarray(start, end)).toString('hex');
    return [hex(c.keyStart, c.keyEnd), hex(c.namespaceStart, c.namespaceEnd), hex(c.userKeyStart, c.userKeyEnd), c.unsplitKey];
  };
  it('ends where the rest fits in one way only', () => {
    expect(parts(0, Buffer.concat([opaque, NO_NAMESPACE]))).toEqual(['deadbeef05', '00', '', undefined]);
    expect(parts(1, Buffer.concat([opaque, NO_NAMESPACE, Buffer.from([0, 0, 1, 2])]))).toEqual(['deadbeef05', '00', '00000102', undefined]);
    expect(parts(2, Buffer.concat([opaque, Buffer.from([5]), string('ns'), Buffer.from([3])]))).toEqual([
      'deadbeef05',
      '036e73',
      '',
      undefined,
    ]);
    expect(parts(3, Buffer.concat([long(0), opaque, NO_NAMESPACE]))).toEqual([
      'deadbeef05',
      '00',
      '0000000000000000deadbeef0500',
      undefined,
    ]);
  });
});
