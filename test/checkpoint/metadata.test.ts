import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ChangelogHandle, ChannelHandle, KeyedHandle, Metadata } from '../../src/checkpoint/handles.js';
import { readMetadata, readMetadataFile } from '../../src/checkpoint/metadata.js';
import { CorruptError, type StateQueryError, UnsupportedError } from '../../src/errors.js';
import * as e from './encode.js';
import { FIXTURES, HAS_CORPUS, HAS_STATED, metadataFiles, SHARED } from './shared.js';

expect.addEqualityTesters([e.sameBytes]);

const read = (bytes: Uint8Array): Metadata => readMetadata(bytes, '_metadata');
const keyedOf = (bytes: Uint8Array): KeyedHandle => read(bytes).operators[0].subtasks[0].managedKeyed!;
const failure = (bytes: Uint8Array): StateQueryError => {
  try {
    read(bytes);
  } catch (error) {
    return error as StateQueryError;
  }
  throw new Error('nothing was thrown');
};

const EXAMPLE_BODY = `8409efe6adc6d20787611f16017c808f 00000001 00000080 00 00000001 00000000 00000000 00000000
  07 00000000 00000002 0000000000000000 000000000000003a 06 0004 39663363 0000000000000064 00 00000000 00000000`;

describe('the worked example', () => {
  it('reads version 3', () => {
    const bytes = e.hex(`4960672d 00000003 0000000000000007 00000000 00000001 ${EXAMPLE_BODY}`);
    expect(bytes.length).toBe(114);
    expect(read(bytes)).toEqual({
      version: 3,
      checkpointId: 7,
      masterStates: [],
      operators: [
        {
          id: '8409efe6adc6d20787611f16017c808f',
          parallelism: 1,
          maxParallelism: 128,
          fullyFinished: false,
          subtasks: [
            {
              index: 0,
              finished: false,
              managedKeyed: {
                kind: 'key-groups',
                tag: 7,
                range: { first: 0, count: 2 },
                offsets: [0, 0x3a],
                stream: { kind: 'relative', path: '9f3c', size: 100 },
              },
              channels: [],
            },
          ],
          start: 24,
          end: 114,
        },
      ],
      layout: {},
      size: 114,
    });
  });
  it('reads version 6 with name, uid and properties', () => {
    const bytes = e.hex(`4960672d 00000006 0000000000000007 00000000 00000001 0003 4d6170 0006 6d792d756964 ${EXAMPLE_BODY} aced0005 70`);
    const { operators, properties } = read(bytes);
    expect(operators[0]).toMatchObject({ name: 'Map', uid: 'my-uid', start: 24, end: 127 });
    expect(properties).toEqual({ bytes: e.hex('aced000570'), offset: 127 });
  });
});

describe('versions', () => {
  const header = (version: number): Buffer => e.bytesOf(e.hex('4960672d'), e.i32(version), e.i64(1), e.i32(0), e.i32(0));
  it.each([
    [0, 'was written by Flink 1.1'],
    [1, 'was written by Flink 1.2'],
    [7, 'unreleased'],
    [8, 'not known'],
  ])('refuses version %i', (version, words) => {
    const error = failure(header(version));
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error.message).toContain(words);
    expect(error.hint).toMatch(/Flink|statequery/);
    expect(error.offset).toBe(4);
  });
  it('takes other versions and other files for damage', () => {
    expect(failure(header(-3))).toBeInstanceOf(CorruptError);
    expect(failure(header(0x04000000)).message).toBe('_metadata version is 67108864, expected 2 to 6');
    expect(failure(e.hex('aced0005 73720000')).message).toBe('not a Flink _metadata file: it starts with aced0005, expected 4960672d');
    expect(failure(new Uint8Array(0)).message).toBe('a _metadata file has at least 8 bytes, this one 0');
  });
  it('wants the end of the file after the operators of V3, and a Java stream in V4', () => {
    expect(failure(e.bytesOf(e.metadata(3, []), 0)).message).toBe('1 bytes left over after the operators');
    expect(failure(e.bytesOf(e.hex('4960672d'), e.i32(4), e.i64(1), e.i32(0), e.i32(0), e.i32(0))).message).toContain('ac ed 00 05');
  });
});

describe('handles', () => {
  const shared = 'file:/ck/shared/11111111-1111-1111-1111-111111111111';
  it('reads incremental handles before and after 1.15', () => {
    const files = (names: readonly string[]): e.Part => e.list(names.map(n => [e.utf(n), e.file(shared, 10)]));
    const handle = (tag: 5 | 11): e.Part => [
      tag,
      e.i64(4),
      e.utf('backend'),
      e.i32(3),
      e.i32(2),
      tag === 11 ? e.i64(77) : [],
      e.relative('meta', 5),
      files(['000012.sst']),
      files(['CURRENT', 'MANIFEST-000004']),
      tag === 11 ? e.utf('handle-id') : [],
    ];
    for (const tag of [5, 11] as const)
      expect(keyedOf(e.withKeyed(3, handle(tag)))).toMatchObject({
        kind: 'incremental',
        tag,
        checkpointId: 4,
        backendId: 'backend',
        range: { first: 3, count: 2 },
        meta: { kind: 'relative', path: 'meta', size: 5 },
        shared: [{ localName: '000012.sst', stream: { kind: 'file', path: shared, size: 10 } }],
        private: [{ localName: 'CURRENT' }, { localName: 'MANIFEST-000004' }],
        ...(tag === 11 ? { checkpointedSize: 77, stateHandleId: 'handle-id' } : {}),
      });
  });
  it('reads operator state, merged files and modes', () => {
    const states = e.list([
      [e.utf('list'), 0, e.list([e.i64(5), e.i64(9)])],
      [e.utf('union'), 1, e.list([])],
      [e.utf('broadcast'), 2, e.list([e.i64(20)])],
    ]);
    const bytes = e.metadata(4, [
      {
        coordinator: e.inline('c', e.hex('0102')),
        subtasks: [
          {
            index: 1,
            body: {
              managedOperator: [17, states, e.utf('file:/ck/taskowned'), e.utf('file:/ck/shared'), 0, e.segment(shared, 4, 30, 0)],
              rawOperator: [17, e.list([]), e.utf('t'), e.utf('s'), 1, e.EMPTY_SEGMENT],
              rawKeyed: e.keyGroups(3, 0, [-1, 12], e.keyGroups(3, 0, [], e.inline('x', e.hex('ff')))),
            },
          },
        ],
      },
    ]);
    const [operator] = read(bytes).operators;
    expect(operator.coordinator).toMatchObject({ kind: 'inline', name: 'c', bytes: e.hex('0102') });
    expect(operator.subtasks[0]).toMatchObject({
      index: 1,
      managedOperator: {
        tag: 17,
        states: [
          { name: 'list', mode: 'SPLIT_DISTRIBUTE', offsets: [5, 9] },
          { name: 'union', mode: 'UNION', offsets: [] },
          { name: 'broadcast', mode: 'BROADCAST', offsets: [20] },
        ],
        stream: { kind: 'segment', path: shared, start: 4, size: 30, scope: 'EXCLUSIVE', logicalFileId: 'logical-1' },
        taskOwnedDir: 'file:/ck/taskowned',
        empty: false,
      },
      rawOperator: { empty: true, stream: { kind: 'empty-segment' } },
      rawKeyed: { tag: 3, offsets: [-1, 12], stream: { kind: 'key-groups-stream', handle: { stream: { bytes: e.hex('ff') } } } },
    });
  });
  it('gives inline bytes as views with their offset in the file', () => {
    const bytes = e.withKeyed(6, e.keyGroups(12, 0, [2], e.inline('name', Buffer.from('state bytes'))));
    const keyed = keyedOf(bytes);
    if (keyed.kind !== 'key-groups' || keyed.stream.kind !== 'inline') throw new Error('not inline');
    expect(Buffer.from(keyed.stream.bytes).toString()).toBe('state bytes');
    expect(bytes.indexOf('state bytes')).toBe(keyed.stream.offset);
    expect(keyed.stream.bytes.buffer).toBe(bytes.buffer);
  });
  it('names tags that are unknown or stand in the wrong place', () => {
    const wrong = failure(e.withKeyed(4, [4, e.i32(0)]));
    expect(wrong.message).toBe(
      'state handle tag 4 (OperatorStreamStateHandle) where keyed state is expected, one of 0, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14',
    );
    expect(wrong.where).toBe('operator 0 (8409efe6adc6d20787611f16017c808f), subtask 0, managed keyed state');
    expect(failure(e.withKeyed(4, 99)).message).toContain('unknown state handle tag 99 where keyed state is expected');
    expect(failure(e.metadata(4, [{ coordinator: e.relative('x', 1), subtasks: [] }])).message).toBe(
      'coordinator state is a relative handle, expected inline bytes',
    );
    expect(failure(e.withKeyed(4, e.keyGroups(7, 0, [0], e.NULL))).message).toBe('the keyed state is missing: its state handle is null');
  });
  it('limits nesting', () => {
    let part: e.Part = e.NULL;
    for (let i = 0; i < 40; i++) part = [14, e.i32(0), e.i32(1), e.i64(0), e.list([part]), e.list([]), e.i64(0), e.i64(0), e.utf('')];
    expect(failure(e.withKeyed(4, part)).message).toBe('state handles nested more than 16 deep');
  });
});

describe('counts and ranges are checked before anything is allocated', () => {
  it.each([
    ['operators', e.bytesOf(e.hex('4960672d'), e.i32(3), e.i64(1), e.i32(0), e.i32(0x7fffffff)), 'number of operators is 2147483647'],
    ['master states', e.bytesOf(e.hex('4960672d'), e.i32(3), e.i64(1), e.i32(500), e.i32(0)), 'number of master states is 500'],
    ['key groups', e.withKeyed(3, [7, e.i32(0), e.i32(32768), e.i64(0)]), '32768 key group offsets need 262144 bytes'],
    [
      'key group range',
      e.withKeyed(3, [7, e.i32(32767), e.i32(2), e.i64(0), e.i64(0)]),
      'key group range starts at 32767 and has 2 groups',
    ],
    [
      'inline bytes',
      e.withKeyed(3, e.keyGroups(7, 0, [], [1, e.utf('n'), e.i32(0x40000000)])),
      'length of inline keyed state is 1073741824',
    ],
    ['parallelism', e.metadata(3, [{ parallelism: 200, subtasks: [] }]), 'parallelism is 200 of at most 128'],
    ['subtask', e.metadata(3, [{ parallelism: 1, subtasks: [{ index: 1, body: {} }] }]), 'subtask 1 of an operator with parallelism 1'],
    ['same subtask', e.metadata(3, [{ subtasks: [{ index: 1, body: {} }, { index: 1 }] }]), 'subtask 1 occurs twice'],
    ['same operator', e.metadata(3, [{ subtasks: [] }, { subtasks: [] }]), 'operator 8409efe6adc6d20787611f16017c808f occurs twice'],
  ])('%s', (_, bytes, message) => {
    const error = failure(bytes);
    expect(error).toBeInstanceOf(CorruptError);
    expect(error.message).toContain(message);
    expect(error.file).toBe('_metadata');
  });
});

describe('layouts that share version 3', () => {
  const path = 'file:/ck/dstl/11111111-1111-1111-1111-111111111111';
  const changelog = (layout: '1.14' | '1.15'): e.Part => {
    const full = (...parts: readonly e.Part[]): e.Part => (layout === '1.15' ? parts : []);
    const memory: e.Part = [9, e.i32(0), e.i32(1), e.i64(1), e.i64(2), e.list([[e.i32(-1), e.i32(1), 8]]), full(e.utf('m'))];
    const files: e.Part = [10, e.i32(0), e.i32(1), e.list([[e.i64(16), e.file(path, 60)]]), e.i64(44), full(e.i64(33), e.utf('s'))];
    return [
      8,
      e.i32(0),
      e.i32(1),
      full(e.i64(500)),
      e.list([e.NULL, e.keyGroups(12, 0, [0], e.relative('base', 90))]),
      e.list([memory, files]),
      full(e.i64(2), e.utf('b')),
    ];
  };
  it.each(['1.14', '1.15'] as const)('changelog handles of %s', layout => {
    const bytes = e.withKeyed(3, changelog(layout));
    expect(read(bytes).layout).toEqual({ changelog: layout });
    const handle = keyedOf(bytes) as ChangelogHandle;
    expect(handle.materialized).toHaveLength(1);
    expect(handle.nonMaterialized).toMatchObject([
      { kind: 'changelog-memory', from: 1, to: 2, changes: [{ keyGroup: -1, bytes: e.hex('08') }] },
      { kind: 'changelog-stream', size: 44, parts: [{ offset: 16, stream: { kind: 'file', path, size: 60, uncompressed: true } }] },
    ]);
    expect([handle.checkpointedSize, handle.materializationId, handle.stateHandleId]).toEqual(
      layout === '1.15' ? [500, 2, 'b'] : [undefined, undefined, undefined],
    );
  });
  it.each([
    ['with-subtask', [e.i32(1)]],
    ['without-subtask', []],
  ] as const)('channels %s index', (channels, subtask) => {
    const channel = (a: number, b: number): e.Part => [
      subtask,
      e.i32(a),
      e.i32(b),
      e.list([e.i64(4), e.i64(20)]),
      e.i64(30),
      e.relative('in', 70),
    ];
    const bytes = e.metadata(3, [{ subtasks: [{ index: 1, body: { inputs: [channel(0, 3), channel(1, 0)], outputs: [channel(0, 9)] } }] }]);
    const metadata = read(bytes);
    expect(metadata.layout).toEqual({ channels });
    expect(metadata.operators[0].subtasks[0].channels).toEqual(
      [
        ['input', 0, 3],
        ['input', 1, 0],
        ['output', 0, 9],
      ].map(([direction, gateOrPartition, channelIndex]) => ({
        direction,
        subtaskIndex: 1,
        gateOrPartition,
        channelIndex,
        offsets: [4, 20],
        size: 30,
        stream: { kind: 'relative', path: 'in', size: 70 },
      })),
    );
  });
  it('tells the error that lies furthest when no layout fits', () => {
    const bytes = e.withKeyed(3, changelog('1.14'));
    const error = failure(bytes.subarray(0, bytes.length - 6));
    expect(error).toBeInstanceOf(CorruptError);
    expect(error.offset).toBeGreaterThan(bytes.length - 30);
  });
});

describe('what is old or rare', () => {
  it('reads legacy state of 1.3 and the chain length', () => {
    const bytes = e.metadata(2, [{ subtasks: [{ index: 0, legacy: e.file('hdfs://nn/x', 9), body: {} }] }]);
    expect(read(bytes).operators[0].subtasks[0]).toMatchObject({ finished: false, legacy: { kind: 'file', path: 'hdfs://nn/x', size: 9 } });
  });
  it('reads finished operators and subtasks', () => {
    const bytes = e.metadata(4, [{ id: '00'.repeat(16), parallelism: 3 }, { subtasks: [{ index: 1 }, { index: 0, body: {} }] }]);
    const [finished, partly] = read(bytes).operators;
    expect(finished).toMatchObject({ fullyFinished: true, parallelism: 3, subtasks: [] });
    expect(partly.subtasks.map(s => [s.index, s.finished])).toEqual([
      [1, true],
      [0, false],
    ]);
    expect(failure(e.metadata(4, [{ coordinator: e.inline('c', e.hex('01')) }])).message).toBe(
      'a fully finished operator has coordinator state',
    );
  });
  it('reads master states', () => {
    const body = e.bytesOf(e.i32(3), e.utf('hook'), e.i32(2), 5, 6);
    const state = e.bytesOf(e.hex('c96b1696'), e.i32(body.length), body);
    expect(read(e.metadata(2, [], [state])).masterStates).toEqual([{ name: 'hook', version: 3, bytes: e.hex('0506'), offset: 42 }]);
    const short = e.bytesOf(e.hex('c96b1696'), e.i32(body.length + 1), body, 0);
    expect(failure(e.metadata(2, [], [short])).message).toContain('expected');
  });
});

describe('files written by Flink’s own classes', () => {
  const written = (name: string): Metadata => readMetadataFile(new URL(`written/${name}.bin`, import.meta.url).pathname);
  const [old, current] = [written('flink-1.15.4-v3'), written('flink-2.3.0-v6')];
  it('agree in what was put into them', () => {
    for (const metadata of [old, current]) {
      expect(metadata.checkpointId).toBe(9);
      expect(metadata.masterStates).toMatchObject([{ name: 'hook', version: 7, bytes: e.hex('0506') }]);
      const [operator, finished] = metadata.operators;
      expect(operator).toMatchObject({ id: '00000000000000010000000000000002', parallelism: 2, coordinator: { bytes: e.hex('010203') } });
      expect(finished).toMatchObject({ id: '00000000000000030000000000000004', parallelism: 3, fullyFinished: true });
      const keyed = operator.subtasks[0].managedKeyed as ChangelogHandle;
      expect(keyed.materialized).toMatchObject([{ tag: 12, offsets: [5, 6], stream: { kind: 'file', size: 100 } }]);
      expect(keyed.nonMaterialized).toMatchObject([
        {
          from: 3,
          to: 5,
          changes: [
            { keyGroup: -1, bytes: e.hex('09') },
            { keyGroup: 1, bytes: e.hex('0707') },
          ],
        },
        { size: 55, checkpointedSize: 44, parts: [{ offset: 17 }] },
      ]);
      const channels = operator.subtasks[0].channels.map((c: ChannelHandle) => [
        c.direction,
        c.gateOrPartition,
        c.channelIndex,
        c.offsets,
        c.size,
      ]);
      expect(channels).toEqual([
        ['input', 0, 1, [4, 8], 10],
        ['input', 1, 0, [20], 6],
        ['output', 0, 3, [28], 4],
        ['output', 0, 4, [30], 2],
      ]);
      expect(operator.subtasks[1]).toEqual({ index: 1, finished: true, channels: [] });
    }
  });
  it('1.15 has one entry a channel, 2.3 merged ones', () => {
    expect(old.layout).toEqual({ channels: 'with-subtask', changelog: '1.15' });
    expect(old.operators[0].subtasks[0].channels.every(c => c.merged === undefined)).toBe(true);
    const { channels } = current.operators[0].subtasks[0];
    expect(channels.map(c => c.merged)).toEqual([
      { size: 16, channels: 2 },
      { size: 16, channels: 2 },
      { size: 6, channels: 2 },
      { size: 6, channels: 2 },
    ]);
    expect(channels[0].merged).toBe(channels[1].merged);
    expect(channels[0].stream).toBe(channels[1].stream);
    expect(current.operators[0]).toMatchObject({ name: 'Map', uid: 'my-uid' });
    expect(current.operators[0].subtasks[0].managedKeyed).toMatchObject({
      tag: 14,
      checkpointId: 70,
      materializationId: 71,
      checkpointedSize: 72,
    });
  });
});

/** Every file to its last byte: the reader throws otherwise. Whether operators tile the file is checked besides. */
function checkAll(files: readonly string[]): Record<number, number> {
  const versions: Record<number, number> = {};
  for (const path of files) {
    const bytes = readFileSync(path);
    const metadata = readMetadata(bytes, path);
    versions[metadata.version] = (versions[metadata.version] ?? 0) + 1;
    const { operators, properties, masterStates } = metadata;
    const end = operators.at(-1)?.end ?? 24;
    expect(properties?.offset ?? bytes.length, path).toBe(end);
    if (masterStates.length === 0) expect(operators[0]?.start ?? 24, path).toBe(24);
    for (let i = 1; i < operators.length; i++) expect(operators[i].start, path).toBe(operators[i - 1].end);
  }
  return versions;
}

describe('whole snapshots', () => {
  it('reads every fixture', () => {
    const versions = checkAll(metadataFiles(FIXTURES));
    expect(Object.keys(versions)).toEqual(expect.arrayContaining(['4', '6']));
  });
  it.runIf(HAS_CORPUS)('reads the corpus', () => {
    expect(checkAll(metadataFiles(`${SHARED}/corpus`))).toEqual({ 2: 18, 3: 43, 4: 159, 5: 18, 6: 78 });
  });
  it.runIf(HAS_STATED)('reads the stated snapshots', () => {
    expect(Object.keys(checkAll(metadataFiles(`${SHARED}/stated`)))).toContain('4');
  });
});
