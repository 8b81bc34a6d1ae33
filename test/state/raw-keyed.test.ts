import { describe, expect, it } from 'vitest';
import type { KeyGroupsHandle } from '../../src/checkpoint/handles.js';
import { openRawKeyedState } from '../../src/state/raw-keyed.js';
import { contextOf, inline, int, long, NO_NAMESPACE, Out, STRING, string, VOID } from './encode.js';
import { problem } from './problem.js';
import { keyedRows } from './rows.js';

const MARKER = Buffer.from('f1cd859f', 'hex');
const timer = (key: string, ms: number) => Buffer.concat([string(key), NO_NAMESPACE, long(ms)]);
const queue = (...timers: readonly Buffer[]) => Buffer.concat([int(timers.length), ...timers]);
const service = (name: string, event: Buffer, processing: Buffer) =>
  VOID(STRING(new Out().utf(name)))
    .raw(event)
    .raw(processing)
    .bytes();
const group = (...services: readonly Buffer[]) => Buffer.concat([MARKER, int(2), int(services.length), ...services]);

function handleOf(groups: readonly (Buffer | undefined)[], order = groups.map((_, i) => i)): KeyGroupsHandle {
  const offsets = groups.map(() => -1);
  const parts: Buffer[] = [];
  let at = 0;
  for (const i of order) {
    const bytes = groups[i];
    if (bytes === undefined) continue;
    offsets[i] = at;
    parts.push(bytes);
    at += bytes.length;
  }
  return { kind: 'key-groups', tag: 3, range: { first: 10, count: groups.length }, offsets, stream: inline(Buffer.concat(parts)) };
}

describe('raw keyed state', () => {
  it('gives the bytes of each key group, in whatever order they were written', () => {
    const groups = [Buffer.from('aa', 'hex'), undefined, Buffer.from('bbcc', 'hex'), Buffer.alloc(0)];
    for (const order of [undefined, [2, 3, 0, 1]]) {
      const raw = openRawKeyedState(handleOf(groups, order), contextOf());
      if (raw.kind !== 'bytes') throw new Error('not bytes');
      expect([...raw.groups()].map(g => [g.keyGroup, Buffer.from(g.bytes).toString('hex')])).toEqual([
        [10, 'aa'],
        [12, 'bbcc'],
        [13, order === undefined ? '' : 'aa'],
      ]);
      raw.close();
    }
  });
  it('knows timers by their first bytes', () => {
    const groups = [
      group(service('user-timers', queue(timer('a', -5), timer('b', 7)), queue()), service('other', queue(), queue(timer('a', 1)))),
      undefined,
      group(service('other', queue(), queue()), service('user-timers', queue(), queue(timer('c', 9)))),
    ];
    const raw = openRawKeyedState(handleOf(groups), contextOf());
    if (raw.kind !== 'timers') throw new Error('no timers');
    expect(raw.reader.header.states.map(s => s.name)).toEqual([
      '_timer_state/event_user-timers',
      '_timer_state/processing_user-timers',
      '_timer_state/event_other',
      '_timer_state/processing_other',
    ]);
    const rows = keyedRows(raw.reader, contextOf());
    expect(rows.map(r => [r.state, r.key, r.value])).toEqual([
      ['_timer_state/event_user-timers', 'a', '-5'],
      ['_timer_state/event_user-timers', 'b', '7'],
      ['_timer_state/processing_other', 'a', '1'],
      ['_timer_state/processing_user-timers', 'c', '9'],
    ]);
    expect(keyedRows(raw.reader, contextOf(), { keys: [string('a')], states: new Set([0]) })).toHaveLength(1);
    expect(keyedRows(raw.reader, contextOf(), { keyGroups: new Set([12]) })).toHaveLength(1);
    raw.close();
  });
  it('reads the serializers of version 1', () => {
    const snapshot = (s: typeof STRING) => s(new Out().i32(2)).bytes();
    const [key, namespace] = [snapshot(STRING), snapshot(VOID)];
    const java = Buffer.from('00000001000000020102', 'hex');
    const blob = Buffer.concat([java, key, java, namespace]);
    const offsets = [0, java.length, java.length + key.length, 2 * java.length + key.length];
    const old = Buffer.concat([
      MARKER,
      int(1),
      int(1),
      new Out().utf('t').i32(2).bytes(),
      ...offsets.map(int),
      int(blob.length),
      blob,
      queue(timer('k', 3)),
      queue(),
    ]);
    const raw = openRawKeyedState(handleOf([old]), contextOf());
    if (raw.kind !== 'timers') throw new Error('no timers');
    expect(keyedRows(raw.reader, contextOf()).map(r => [r.state, r.key, r.value])).toEqual([['_timer_state/event_t', 'k', '3']]);
  });
  it('without a timer service has no state', () => {
    const raw = openRawKeyedState(handleOf([group()]), contextOf());
    if (raw.kind !== 'timers') throw new Error('no timers');
    expect([raw.reader.header.states, keyedRows(raw.reader, contextOf())]).toEqual([[], []]);
  });
  it('names file, offset and place of what is wrong', () => {
    const good = group(service('t', queue(timer('a', 1)), queue()));
    const read = (bytes: Buffer) =>
      problem(() => {
        const raw = openRawKeyedState(handleOf([bytes]), contextOf());
        if (raw.kind === 'timers') keyedRows(raw.reader, contextOf());
      });
    expect(read(good)).toBe('no error');
    for (let n = 8; n < good.length; n++)
      expect(read(good.subarray(0, n))).toMatch(/\(state file(, byte \d+)?, operator test, subtask 0\)/);
    expect(read(Buffer.concat([good, Buffer.from([0])]))).toContain('bytes left over after the timers of key group 10');
    const strange = [good, group(service('x', queue(), queue()))];
    expect(
      problem(() => {
        const raw = openRawKeyedState(handleOf(strange), contextOf());
        if (raw.kind === 'timers') keyedRows(raw.reader, contextOf());
      }),
    ).toContain('timer service x is not one of those of the first key group');
    const beyond = { ...handleOf([good]), offsets: [1 << 20] };
    expect(problem(() => openRawKeyedState(beyond, contextOf()))).toContain('raw state of key group 10 begins at 1048576');
  });
});
