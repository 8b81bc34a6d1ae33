import { describe, expect, it } from 'vitest';
import type { ChangelogHandle, ChangelogStreamHandle, KeyedHandle } from '../../src/checkpoint/handles.js';
import { hashLong, hashString, keyGroupOfHash } from '../../src/checkpoint/key-groups.js';
import type { EntryFilter } from '../../src/state/entry.js';
import { openKeyedState } from '../../src/state/open.js';
import { framed } from '../io/snappy-frames.js';
import {
  canonicalGroup,
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
  metaInfo,
  NO_NAMESPACE,
  Out,
  STRING,
  type StateDecl,
  string,
  timers,
  UNKNOWN,
} from './encode.js';
import { problem } from './problem.js';
import { keyedRows } from './rows.js';

const COUNT = keyed('count', 'VALUE', LONG);
const TAGS = keyed('tags', 'LIST', listOf(STRING), STRING);
const SCORES = keyed('scores', 'MAP', mapOf(STRING, LONG));
const SUM = keyed('sum', 'REDUCING', LONG, STRING);
const TIMERS = timers('event_t', STRING);
const STATES = [COUNT, TAGS, SCORES, SUM, TIMERS];
const IDS = new Map(STATES.map((s, i) => [s, 10 + i]));
const RANGE = { first: 0, count: 8 };

// --- the base, in both layouts, all in key group 3
const lengths = (key: string, namespace: string) =>
  Buffer.concat([string(key), Buffer.from([key.length + 1]), string(namespace), Buffer.from([namespace.length + 1])]);
const flipped = (ms: bigint) => long(BigInt.asIntN(64, ms ^ (1n << 63n)));
const timer = (ms: bigint, key: string) => Buffer.concat([flipped(ms), string(key), NO_NAMESPACE]);
const flagged = (n: number) => Buffer.concat([Buffer.from([0]), long(n)]);
const key = (k: string, ...rest: readonly Buffer[]) => Buffer.concat([string(k), NO_NAMESPACE, ...rest]);
const composite = keyGroupsFile(keyedHeaderBytes(STRING, STATES), [
  undefined,
  undefined,
  undefined,
  canonicalGroup(3, [
    {
      id: 0,
      entries: [
        [key('a'), long(1)],
        [key('b'), long(2)],
        [key('c'), long(3)],
      ],
    },
    {
      id: 1,
      entries: [
        [lengths('a', 'w1'), Buffer.concat([string('x'), Buffer.from(','), string('y')])],
        [lengths('a', 'w2'), string('z')],
      ],
    },
    {
      id: 2,
      entries: [
        [key('a', string('k1')), flagged(1)],
        [key('a', string('k2')), flagged(2)],
        [key('b', string('k3')), flagged(3)],
      ],
    },
    {
      id: 3,
      entries: [
        [lengths('a', 'w1'), long(100)],
        [lengths('a', 'w2'), long(200)],
        [lengths('b', 'w1'), long(300)],
      ],
    },
    {
      id: 4,
      entries: [
        [timer(5n, 'a'), Buffer.alloc(0)],
        [timer(6n, 'a'), Buffer.alloc(0)],
      ],
    },
  ]),
]);
const heapState = (id: number, ...entries: readonly Buffer[]) =>
  Buffer.concat([new Out().u16(id).bytes(), int(entries.length), ...entries]);
const heapKey = (namespace: Buffer, k: string, value: Buffer) => Buffer.concat([namespace, string(k), value]);
const heapGroup = (keyGroup: number, full: boolean) =>
  Buffer.concat([
    int(keyGroup),
    ...(full
      ? [
          heapState(0, heapKey(NO_NAMESPACE, 'a', long(1)), heapKey(NO_NAMESPACE, 'b', long(2)), heapKey(NO_NAMESPACE, 'c', long(3))),
          heapState(
            1,
            heapKey(string('w1'), 'a', Buffer.concat([int(2), string('x'), string('y')])),
            heapKey(string('w2'), 'a', Buffer.concat([int(1), string('z')])),
          ),
          heapState(
            2,
            heapKey(NO_NAMESPACE, 'a', Buffer.concat([int(2), string('k1'), flagged(1), string('k2'), flagged(2)])),
            heapKey(NO_NAMESPACE, 'b', Buffer.concat([int(1), string('k3'), flagged(3)])),
          ),
          heapState(3, heapKey(string('w1'), 'a', long(100)), heapKey(string('w2'), 'a', long(200)), heapKey(string('w1'), 'b', long(300))),
          heapState(4, timer(5n, 'a'), timer(6n, 'a')),
        ]
      : [0, 1, 2, 3, 4].map(id => heapState(id))),
  ]);
const heap = keyGroupsFile(
  keyedHeaderBytes(STRING, STATES),
  Array.from({ length: 8 }, (_, g) => heapGroup(g, g === 3)),
  { tag: 12 },
);

// --- changes
type Change = readonly [keyGroup: number, bytes: Buffer];
const register = (state: StateDecl, id = IDS.get(state) as number, rest: Buffer = Buffer.from([0, 0])): Change => [
  -1,
  metaInfo(new Out().u8(8).i32(7), state)
    .raw(state.ordinal === 3 ? Buffer.alloc(0) : rest)
    .u16(id)
    .u8(state.ordinal === 3 ? 3 : 0)
    .bytes(),
];
const change = (state: StateDecl, op: number, ...parts: readonly Buffer[]): Change => [
  3,
  Buffer.concat([
    new Out()
      .u8(op)
      .u16(IDS.get(state) as number)
      .bytes(),
    ...parts,
  ]),
];
const set = (state: StateDecl, k: string, namespace: Buffer, value: Buffer) => change(state, 2, string(k), namespace, value);
const clear = (state: StateDecl, k: string, namespace: Buffer) => change(state, 0, string(k), namespace);
const merge = (state: StateDecl, k: string, target: string, ...sources: readonly string[]) =>
  change(state, 4, string(k), string(target), string(target), int(sources.length), ...sources.map(string));

/** A change set: registrations first, then a group for each key group. */
function changeSet(changes: readonly Change[]): Buffer {
  const groups = [...new Set(changes.map(([g]) => g))].sort((a, b) => a - b);
  const out = new Out().i32(groups.length);
  for (const g of groups) {
    const own = changes.filter(([group]) => group === g);
    out.i32(own.length).i32(g);
    for (const [, bytes] of own) out.i32(bytes.length).raw(bytes);
  }
  return out.bytes();
}
function logOf(sets: readonly (readonly Change[])[], compressed = false): ChangelogStreamHandle {
  const others = Buffer.from('00000001000000000000000500000000', 'hex');
  const bytes = sets.map(changeSet);
  const offsets: number[] = [];
  let at = others.length;
  for (const b of bytes) {
    offsets.push(at);
    at += b.length;
  }
  const content = Buffer.concat([others, ...bytes]);
  const file = Buffer.concat([Buffer.from([compressed ? 1 : 0]), compressed ? framed(content) : content]);
  const stream = inline(file);
  return {
    kind: 'changelog-stream',
    tag: 13,
    range: RANGE,
    size: sets.flat().reduce((n, [, b]) => n + b.length, 0),
    parts: offsets.map(offset => ({ offset, stream })),
  };
}
const changelog = (materialized: readonly KeyedHandle[], nonMaterialized: readonly KeyedHandle[]): ChangelogHandle => ({
  kind: 'changelog',
  tag: 14,
  range: RANGE,
  materialized,
  nonMaterialized,
});
const REGISTER = STATES.map(state => register(state));

function rows(handle: KeyedHandle, filter: EntryFilter = {}): string[] {
  const context = contextOf();
  const reader = openKeyedState(handle, context);
  try {
    return keyedRows(reader, context, filter).map(
      r =>
        `${r.state} ${r.key}${r.namespace === null ? '' : `@${r.namespace}`}${r.mapKey === undefined ? '' : `[${r.mapKey}]`}${r.index === undefined ? '' : `#${r.index}`}=${r.value}`,
    );
  } finally {
    reader.close();
  }
}
const BASE = rows(composite.handle).sort();
const without = (...gone: readonly string[]) => BASE.filter(row => !gone.some(g => row.startsWith(g)));

describe.each([
  ['canonical', composite.handle],
  ['heap', heap.handle],
])('changes over a %s base', (_name, base) => {
  const apply = (...changes: readonly Change[]) => rows(changelog([base], [logOf([[...REGISTER, ...changes]])])).sort();

  it('none: the base passes', () => {
    expect(rows(base).sort()).toEqual(BASE);
    expect(rows(changelog([base], [])).sort()).toEqual(BASE);
    expect(apply()).toEqual(BASE);
  });
  it('set, clear and set again', () => {
    expect(
      apply(
        set(COUNT, 'b', NO_NAMESPACE, long(20)),
        clear(COUNT, 'c', NO_NAMESPACE),
        clear(COUNT, 'a', NO_NAMESPACE),
        set(COUNT, 'a', NO_NAMESPACE, long(10)),
        set(COUNT, 'new', NO_NAMESPACE, long(4)),
        clear(COUNT, 'never', NO_NAMESPACE),
      ),
    ).toEqual([...without('count'), 'count a=10', 'count b=20', 'count new=4'].sort());
  });
  it('add to lists, set and clear them', () => {
    expect(
      apply(
        change(TAGS, 5, string('a'), string('w1'), string('z')),
        change(TAGS, 3, string('a'), string('w1'), int(2), string('p'), string('q')),
        clear(TAGS, 'a', string('w2')),
        change(TAGS, 5, string('a'), string('w2'), string('n')),
        set(TAGS, 'b', string('w1'), Buffer.concat([int(2), string('s'), string('')])),
        set(TAGS, 'c', string('w1'), int(0)),
      ),
    ).toEqual(
      [
        ...without('tags'),
        ...['x', 'y', 'z', 'p', 'q'].map((v, i) => `tags a@w1#${i}=${v}`),
        'tags a@w2#0=n',
        'tags b@w1#0=s',
        'tags b@w1#1=',
      ].sort(),
    );
  });
  it('put, remove, put all and clear in maps', () => {
    expect(
      apply(
        change(SCORES, 6, string('a'), NO_NAMESPACE, string('k1'), long(11)),
        change(SCORES, 7, string('a'), NO_NAMESPACE, string('k2')),
        change(SCORES, 7, string('a'), NO_NAMESPACE, string('none')),
        change(SCORES, 3, string('a'), NO_NAMESPACE, int(2), string('k4'), flagged(4), string('null'), Buffer.from([1])),
        clear(SCORES, 'b', NO_NAMESPACE),
        change(SCORES, 6, string('b'), NO_NAMESPACE, string('k9'), long(9)),
        change(SCORES, 6, string('c'), NO_NAMESPACE, string('k'), long(5)),
        change(SCORES, 7, string('c'), NO_NAMESPACE, string('k')),
      ),
    ).toEqual([...without('scores'), 'scores a[k1]=11', 'scores a[k4]=4', 'scores a[null]=null', 'scores b[k9]=9'].sort());
  });
  it('register and remove timers', () => {
    expect(
      apply(
        change(TIMERS, 5, int(2), timer(7n, 'b'), timer(5n, 'a')),
        change(TIMERS, 7, timer(6n, 'a')),
        change(TIMERS, 5, int(1), timer(8n, 'b')),
        change(TIMERS, 7, timer(8n, 'b')),
      ),
    ).toEqual([...without('_timer'), '_timer_state/event_t a=5', '_timer_state/event_t b=7'].sort());
  });
  it('merge lists', () => {
    expect(apply(merge(TAGS, 'a', 'w1', 'w2'))).toEqual([...without('tags'), 'tags a@w1#0=x', 'tags a@w1#1=y', 'tags a@w1#2=z'].sort());
    expect(apply(merge(TAGS, 'a', 'w3', 'w2', 'w1'), change(TAGS, 5, string('a'), string('w1'), string('again')))).toEqual(
      [...without('tags'), 'tags a@w1#0=again', 'tags a@w3#0=z', 'tags a@w3#1=x', 'tags a@w3#2=y'].sort(),
    );
    expect(apply(clear(TAGS, 'a', string('w2')), merge(TAGS, 'a', 'w1', 'w2'))).toEqual(without('tags a@w2'));
  });
  it('merge values: right where one is left or set again, unresolved where the function is needed', () => {
    // w2 into the empty w9: that is the value of w2
    expect(apply(merge(SUM, 'a', 'w9', 'w2'))).toEqual([...without('sum a@w2'), 'sum a@w9=200'].sort());
    expect(apply(merge(SUM, 'a', 'w1', 'w2'), set(SUM, 'a', string('w1'), long(310)))).toEqual(
      [...without('sum a@w1', 'sum a@w2'), 'sum a@w1=310'].sort(),
    );
    const handle = changelog([base], [logOf([[...REGISTER, merge(SUM, 'a', 'w1', 'w2')]])]);
    const reader = openKeyedState(handle, contextOf());
    expect([...(reader.unresolved?.() ?? [])]).toEqual([[3, "1 value of merged namespaces need the job's own function"]]);
    const c = reader.entries({ states: new Set([3]) });
    const seen: unknown[] = [];
    while (c.next()) seen.push([Buffer.from(c.bytes.subarray(c.valueStart, c.valueEnd)).toString('hex'), c.unsplit]);
    expect(seen.sort()).toEqual([
      [Buffer.concat([long(100), long(200)]).toString('hex'), "2 values of merged namespaces, which only the job's own function can merge"],
      [long(300).toString('hex'), undefined],
    ]);
    reader.close();
  });
  it('in several sets, a compressed file, memory, and nested handles', () => {
    const one = [...REGISTER, set(COUNT, 'a', NO_NAMESPACE, long(10))];
    const two = [set(COUNT, 'a', NO_NAMESPACE, long(11)), clear(COUNT, 'b', NO_NAMESPACE)];
    const expected = [...without('count a', 'count b'), 'count a=11'].sort();
    expect(rows(changelog([base], [logOf([one, two])])).sort()).toEqual(expected);
    expect(rows(changelog([base], [logOf([one, two], true)])).sort()).toEqual(expected);
    expect(rows(changelog([base], [logOf([one]), logOf([two])])).sort()).toEqual(expected);
    expect(rows(changelog([changelog([base], [logOf([one])])], [logOf([[...REGISTER, ...two]])])).sort()).toEqual(expected);
    const memory: KeyedHandle = {
      kind: 'changelog-memory',
      tag: 9,
      range: RANGE,
      from: 0,
      to: 9,
      changes: [...one, ...two].map(([keyGroup, bytes]) => ({ keyGroup, bytes, offset: 0 })),
    };
    expect(rows(changelog([base], [memory])).sort()).toEqual(expected);
  });
  it('of other key groups are not applied', () => {
    const other: Change = [100, set(COUNT, 'a', NO_NAMESPACE, long(10))[1]];
    expect(apply(other)).toEqual(BASE);
  });
  it('filters by state, key group and key', () => {
    const handle = changelog(
      [base],
      [
        logOf([
          [
            ...REGISTER,
            set(COUNT, 'a', NO_NAMESPACE, long(10)),
            set(COUNT, 'new', NO_NAMESPACE, long(4)),
            change(TIMERS, 5, int(1), timer(9n, 'new')),
          ],
        ]),
      ],
    );
    expect(rows(handle, { states: new Set([0]) })).toEqual(['count a=10', 'count b=2', 'count c=3', 'count new=4']);
    expect(rows(handle, { keys: [string('new')] })).toEqual(['count new=4', '_timer_state/event_t new=9']);
    expect(rows(handle, { keys: [string('a')], states: new Set([0, 4]) })).toEqual([
      'count a=10',
      '_timer_state/event_t a=5',
      '_timer_state/event_t a=6',
    ]);
    expect(rows(handle, { keyGroups: new Set([2]) })).toEqual([]);
    expect(rows(handle, { keyGroups: new Set([3]), states: new Set([0]) })).toHaveLength(4);
  });
  it('leaves out what a base holds beyond its range', () => {
    const handle = {
      ...changelog([base], [logOf([[...REGISTER, set(COUNT, 'a', NO_NAMESPACE, long(10))]])]),
      range: { first: 0, count: 3 },
    };
    expect(rows(handle)).toEqual([]);
  });
  it('may register states that the base does not have', () => {
    const fresh = keyed('fresh', 'VALUE', STRING);
    IDS.set(fresh, 33);
    const handle = changelog([base], [logOf([[register(fresh), set(fresh, 'a', NO_NAMESPACE, string('hello'))]])]);
    const reader = openKeyedState(handle, contextOf());
    expect([reader.backend, reader.header.states.map(s => [s.id, s.name]).slice(4)]).toEqual([
      'changelog',
      [
        [4, '_timer_state/event_t'],
        [5, 'fresh'],
      ],
    ]);
    expect(rows(handle).sort()).toEqual([...BASE, 'fresh a=hello'].sort());
  });
});

it('reads logs larger than its window', () => {
  const label = keyed('label', 'VALUE', STRING);
  IDS.set(label, 20);
  const keys = Array.from({ length: 3000 }, (_, i) => `key-${i}`);
  const text = (k: string) => k.repeat(100);
  const sets = [
    [register(label), ...keys.map(k => set(label, k, NO_NAMESPACE, string(text(k))))],
    keys.slice(1000).map(k => set(label, k, NO_NAMESPACE, string(`${text(k)}!`))),
  ];
  for (const compressed of [false, true]) {
    const found = new Set(rows(changelog([composite.handle], [logOf(sets, compressed)]), { states: new Set([5]) }));
    expect(found).toEqual(new Set(keys.map((k, i) => `label ${k}=${text(k)}${i < 1000 ? '' : '!'}`)));
  }
});

describe('a changelog without a base', () => {
  const g = (k: string) => keyGroupOfHash(hashString(k), 128);
  const at = (k: string, [, bytes]: Change): Change => [g(k), bytes];
  const wide = (sets: readonly (readonly Change[])[]): ChangelogHandle => ({
    ...changelog([], [logOf(sets)]),
    range: { first: 0, count: 128 },
  });
  it('takes the key serializer from timers', () => {
    const handle = changelog(
      [],
      [logOf([[...REGISTER, set(COUNT, 'a', NO_NAMESPACE, long(10)), change(TIMERS, 5, int(1), timer(9n, 'a'))]])],
    );
    const reader = openKeyedState(handle, contextOf());
    expect([reader.layout, reader.header.key.text, reader.header.keyGuess]).toEqual(['composite', 'String', undefined]);
    expect(rows(handle)).toEqual(['count a=10', '_timer_state/event_t a=9']);
  });
  it('finds the key serializer by the key groups', () => {
    const keys = ['k1', 'k2', 'user-17'];
    const handle = wide([[register(COUNT), ...keys.map(k => at(k, set(COUNT, k, NO_NAMESPACE, long(k.length))))]]);
    const reader = openKeyedState(handle, contextOf());
    expect(reader.header.keyGuess).toBe(
      'the changelog does not have the key serializer; String fits 3 different changes and their key groups',
    );
    expect(rows(handle).sort()).toEqual(['count k1=2', 'count k2=2', 'count user-17=7']);
  });
  it('says which types look alike', () => {
    const keys = [1n, 77n, 123456789012n];
    const group = (n: bigint) => keyGroupOfHash(hashLong(n), 128);
    const handle = wide([
      [
        register(COUNT),
        ...keys.map((n): Change => [group(n), Buffer.concat([new Out().u8(1).u16(10).bytes(), long(n), NO_NAMESPACE, long(n)])]),
      ],
    ]);
    const reader = openKeyedState(handle, contextOf());
    expect(reader.header.keyGuess).toBe(
      'the changelog does not have the key serializer; Long fits 3 different changes and their key groups; so does Double, Date',
    );
    expect(rows(handle).sort()).toEqual(keys.map(n => `count ${n}=${n}`).sort());
  });
  it('keeps the changes of keys that nothing fits', () => {
    const handle = wide([
      [register(COUNT), [5, Buffer.concat([new Out().u8(1).u16(10).bytes(), Buffer.from('feedface00', 'hex'), long(3)])]],
    ]);
    const reader = openKeyedState(handle, contextOf());
    expect(reader.header.keyGuess).toBe('the changelog does not have the key serializer');
    const c = reader.entries({});
    expect(c.next()).toBe(true);
    expect([c.state, c.keyGroup, Buffer.from(c.bytes.subarray(c.keyStart, c.keyEnd)).toString('hex')]).toEqual([
      0,
      5,
      'feedface000000000000000003',
    ]);
    expect(c.unsplitKey).toContain('a change that could not be applied: where the key ends is not known');
    expect(c.next()).toBe(false);
    expect(reader.unresolved?.().get(0)).toContain('1 changes could not be applied');
  });
  it('may hold nothing at all', () => {
    expect(rows(changelog([], []))).toEqual([]);
  });
});

describe('damaged changelogs', () => {
  it('are named with their place', () => {
    const good = logOf([[...REGISTER, set(COUNT, 'a', NO_NAMESPACE, long(10))]]);
    const of = (log: ChangelogStreamHandle) => problem(() => rows(changelog([composite.handle], [log])));
    const bytes = (good.parts[0].stream as unknown as { bytes: Buffer }).bytes;
    const edited = (edit: (b: Buffer) => Buffer | undefined): ChangelogStreamHandle => {
      const copy = Buffer.from(bytes);
      const stream = inline(edit(copy) ?? copy);
      return { ...good, parts: good.parts.map(p => ({ ...p, stream })) };
    };
    expect(of(edited(b => b.subarray(0, b.length - 4)))).toMatch(
      /change needs \d+ bytes, \d+ remain \(state file, byte \d+, operator test, subtask 0\)/,
    );
    expect(of(edited(b => void b.writeUInt8(7, 0)))).toContain(
      'compression flag of the changelog is 7, expected 0 or 1 (state file, byte 0',
    );
    expect(of({ ...good, size: good.size + 1 })).toContain(`changes of ${good.size} bytes, the state handle says ${good.size + 1}`);
    expect(of({ ...good, parts: [{ ...good.parts[0], offset: 1 << 20 }] })).toContain('number of groups needs 4 bytes, 0 remain');
    const stranger = logOf([[set(COUNT, 'a', NO_NAMESPACE, long(10))]]);
    expect(of(stranger)).toContain('change of state 10, which was not registered');
    const long9 = logOf([[...REGISTER, change(COUNT, 1, string('a'), NO_NAMESPACE, long(1), Buffer.from([0]))]]);
    expect(of(long9)).toContain('1 bytes left over after value');
    const opaque = keyed('opaque', 'VALUE', UNKNOWN);
    IDS.set(opaque, 44);
    expect(
      rows(changelog([composite.handle], [logOf([[register(opaque), set(opaque, 'a', NO_NAMESPACE, Buffer.from('ff', 'hex'))]])])).at(-1),
    ).toBe('opaque a=[object Object]');
  });
});
