import { describe, expect, it } from 'vitest';
import { Cursor } from '../../src/io/cursor.js';
import { memorySource } from '../../src/io/source.js';
import { keyedHeader, operatorHeader, readKeyedHeader } from '../../src/state/header.js';
import { codecsOf, wireSize } from '../../src/state/state-codecs.js';
import { keyed, keyedHeaderBytes, LONG, listOf, mapOf, operatorHeaderBytes, STRING, timers, UNKNOWN, VOID } from './encode.js';
import { problem } from './problem.js';

const parse = (bytes: Buffer) => keyedHeader(new Cursor(bytes, 0, bytes.length, { file: 'f' }));

describe('headers of keyed state', () => {
  const states = [keyed('a', 'VALUE', LONG), timers('event_x', STRING), keyed('b', 'MAP', mapOf(STRING, LONG))];
  it('are read to their last byte', () => {
    const bytes = keyedHeaderBytes(STRING, states, true);
    const header = parse(bytes);
    expect([header.version, header.compressed, header.key.text, header.size]).toEqual([6, true, 'String', bytes.length]);
    expect(header.states.map(s => [s.id, s.name, s.kind, s.stateType, s.v2, s.namespace?.text, s.value?.text])).toEqual([
      [0, 'a', 'keyed', 'VALUE', false, 'VoidNamespace', 'Long'],
      [1, '_timer_state/event_x', 'timer', undefined, false, undefined, 'Timer(String, VoidNamespace)'],
      [2, 'b', 'keyed', 'MAP', false, 'VoidNamespace', 'Map(String, Long)'],
    ]);
  });
  it('knows the state of asynchronous jobs by its ordinal', () => {
    const { states: read } = parse(
      keyedHeaderBytes(STRING, [
        {
          name: 'v2',
          ordinal: 4,
          options: { KEYED_STATE_TYPE: 'MAP' },
          serializers: { NAMESPACE_SERIALIZER: VOID, VALUE_SERIALIZER: LONG, USER_KEY_SERIALIZER: STRING },
        },
      ]),
    );
    expect([read[0].kind, read[0].v2, read[0].userKey?.text]).toEqual(['keyed', true, 'String']);
    const codecs = codecsOf(read[0].userKey as never, read[0], {});
    expect([codecs.mapKey?.type.kind, codecs.mapValue?.type.kind, codecs.value]).toEqual(['VARCHAR', 'BIGINT', undefined]);
  });
  it('stay readable behind serializers that are not known', () => {
    for (const key of [STRING, UNKNOWN]) {
      const bytes = keyedHeaderBytes(key, [
        keyed('u', 'VALUE', UNKNOWN),
        keyed('a', 'VALUE', LONG),
        { name: 'first', options: { KEYED_STATE_TYPE: 'VALUE' }, serializers: { VALUE_SERIALIZER: UNKNOWN, NAMESPACE_SERIALIZER: VOID } },
        keyed('list', 'LIST', listOf(UNKNOWN)),
        timers('event_x', UNKNOWN),
        keyed('z', 'LIST', listOf(STRING)),
        keyed('last', 'VALUE', UNKNOWN),
      ]);
      const header = parse(bytes);
      expect(header.size).toBe(bytes.length);
      expect(header.states.map(s => s.name)).toEqual(['u', 'a', 'first', 'list', '_timer_state/event_x', 'z', 'last']);
      expect(header.states.map(s => s.namespace?.text)).toEqual([
        'VoidNamespace',
        'VoidNamespace',
        'VoidNamespace',
        'VoidNamespace',
        undefined,
        'VoidNamespace',
        'VoidNamespace',
      ]);
      expect(header.states.map(s => s.unreadable !== undefined)).toEqual([true, false, true, true, true, false, true]);
      expect(header.states[4].value?.children.map(c => c.snapshot.text)).toEqual(['Custom(unknown)', 'VoidNamespace']);
      expect(header.states[5].value?.text).toBe('List(String)');
      expect(header.key.unknown).toBe(key === STRING ? undefined : 'serializer com.example.Custom is not known');
    }
  });
  it('without states may have a key that is not known', () => {
    const bytes = keyedHeaderBytes(UNKNOWN, []);
    expect([parse(bytes).states, parse(bytes).size]).toEqual([[], bytes.length]);
  });
  it('are read a little at a time, as far as they reach', () => {
    const many = Array.from({ length: 200 }, (_, i) => keyed(`state-${i}`, 'MAP', mapOf(STRING, LONG)));
    const bytes = Buffer.concat([keyedHeaderBytes(STRING, many), Buffer.alloc(1 << 22)]);
    const reads: number[] = [];
    const source = memorySource(bytes, 'f');
    const counting = {
      ...source,
      read(position: number, length: number) {
        reads.push(length);
        return source.read(position, length);
      },
    };
    expect(readKeyedHeader(counting, bytes.length, 'w').states).toHaveLength(200);
    expect(reads).toEqual([1 << 14, 1 << 17]);
    expect(readKeyedHeader(source, bytes.length - (1 << 22), 'w').states).toHaveLength(200);
  });
  it('of older and newer versions are refused by name', () => {
    const version = (n: number) => problem(() => parse(keyedHeaderBytes(STRING, states, false, n)));
    expect(version(5)).toBe('keyed state format 5, which Flink 1.6 wrote, is not read (f, byte 0)');
    expect(version(3)).toContain('which Flink 1.3 wrote');
    expect(version(1)).toContain('which Flink 1.2 wrote');
    expect(version(7)).toBe('keyed state format 7 is newer than what is known (6) (f, byte 0)');
    expect(version(-9)).toBe('keyed state begins with -9, expected the format version 6 (f, byte 0)');
  });
  it('fail where they are cut or damaged', () => {
    const bytes = keyedHeaderBytes(STRING, states);
    for (let n = 0; n < bytes.length; n++) expect(problem(() => parse(bytes.subarray(0, n)))).toMatch(/byte \d+/);
    expect(problem(() => parse(keyedHeaderBytes(STRING, [{ ...states[0], ordinal: 9 }])))).toContain('kind 9 of state a is not known');
    expect(problem(() => parse(keyedHeaderBytes(STRING, [{ ...states[0], options: { KEYED_STATE_TYPE: 'SET' } }])))).toContain(
      'type SET of state a is not known',
    );
  });
});

describe('headers of operator state', () => {
  const list = (name: string, value: typeof STRING) => ({
    name,
    ordinal: 1,
    options: { OPERATOR_STATE_DISTRIBUTION_MODE: 'UNION' },
    serializers: { VALUE_SERIALIZER: value },
  });
  const broadcast = (name: string, value: typeof STRING) => ({
    name,
    ordinal: 2,
    options: { OPERATOR_STATE_DISTRIBUTION_MODE: 'BROADCAST' },
    serializers: { KEY_SERIALIZER: STRING, VALUE_SERIALIZER: value },
  });
  it('stay readable behind serializers that are not known, over the count between the lists', () => {
    const read = (lists: Parameters<typeof operatorHeaderBytes>[0], maps: Parameters<typeof operatorHeaderBytes>[1]) => {
      const bytes = operatorHeaderBytes(lists, maps, false);
      const header = operatorHeader(new Cursor(bytes));
      expect(header.size).toBe(bytes.length);
      return header.states.map(s => `${s.kind} ${s.name} ${s.mode} ${s.unreadable === undefined}`);
    };
    expect(read([list('a', UNKNOWN), list('b', LONG), list('c', UNKNOWN)], [broadcast('d', UNKNOWN), broadcast('e', LONG)])).toEqual([
      'operator a UNION false',
      'operator b UNION true',
      'operator c UNION false',
      'broadcast d BROADCAST false',
      'broadcast e BROADCAST true',
    ]);
    expect(read([list('c', UNKNOWN)], [])).toEqual(['operator c UNION false']);
    expect(read([], [broadcast('e', UNKNOWN)])).toEqual(['broadcast e BROADCAST false']);
    expect(read([], [])).toEqual([]);
  });
});

describe('sizes on the wire', () => {
  it('are measured where the declared length is 0', () => {
    const [state] = parse(keyedHeaderBytes(STRING, [keyed('a', 'VALUE', LONG)])).states;
    const codecs = codecsOf(state.value as never, state, {});
    expect([codecs.namespace.length, wireSize(codecs.namespace), wireSize(codecs.key), wireSize(codecs.value as never)]).toEqual([
      0, 1, 8, 8,
    ]);
  });
});
