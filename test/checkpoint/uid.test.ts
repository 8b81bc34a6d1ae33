import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readMetadataFile } from '../../src/checkpoint/metadata.js';
import { absorbBlock, type MurmurState, murmur3, releaseBlock, solveBlock, unfinish } from '../../src/checkpoint/murmur3.js';
import { parseSqlUid, sqlUidPatterns } from '../../src/checkpoint/sql-uids.js';
import { topologyIds } from '../../src/checkpoint/topology-ids.js';
import { inferUids, matchUids, operatorIdOf, parseUidsFile } from '../../src/checkpoint/uid.js';
import { UsageError } from '../../src/errors.js';
import { HAS_CORPUS, HAS_STATED, metadataFiles, SHARED, seeded } from './shared.js';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Published with FLINK-20376 and in Flink’s own plans. */
const KNOWN = {
  a: '897859f6655555855a890e51483ab5e6',
  b: 'eed1d3b157a9987ae9944e541e132efa',
  c: 'd7741f4a6cdf388e747557749a0f0d21',
  d: '76f74784cdf272cbdd1c37d471a532a0',
  e: '94e9d5a34992b6c51461d69a7ca2eb56',
  f: 'afa3664e2d13439221e8d041382a4dc1',
  z: '936222da3bb558848f700bb01edb34c0',
  'my-uid': '8409efe6adc6d20787611f16017c808f',
  'source-id': 'bd9c186e89cc37a76d776844dfa8ccba',
  uid: '0e1febe90327d1cea326114660ec1de8',
  'ümläut-😀': '813fd6aeb70f694d7e3865ba2104e903',
  '4_group-aggregate': '23eaad2bb152dd975bbc63554c2ca61f',
};
/** An id that comes from no uid. */
const noUid = (n: number): string => createHash('md5').update(`no uid ${n}`).digest('hex');

describe('the hash', () => {
  it.each(Object.entries(KNOWN))('of %s', (uid, id) => {
    expect(operatorIdOf(uid)).toBe(id);
  });
  it('is undone, block by block, for every length', () => {
    const random = seeded(3);
    for (let length = 0; length < 70; length++) {
      const bytes = Uint8Array.from({ length }, () => random() & 0xff);
      const states: MurmurState[] = [new Int32Array(4)];
      for (let at = 0; at < length; at += 16) {
        const next = states[states.length - 1].slice();
        absorbBlock(next, bytes, at, length, at + 16 <= length);
        states.push(next);
      }
      const state = unfinish(murmur3(bytes), length);
      expect(state).toEqual(states[states.length - 1]);
      for (let block = states.length - 2; block >= 0; block--) {
        const at = block * 16;
        const solved = new Uint8Array(16);
        solveBlock(states[block], state, at + 16 <= length, solved);
        const wanted = new Uint8Array(16);
        wanted.set(bytes.subarray(at, at + 16));
        expect(solved).toEqual(wanted);
        releaseBlock(state, bytes, at, length, at + 16 <= length);
        expect(state).toEqual(states[block]);
      }
    }
  });
});

describe('a list of uids', () => {
  it('has a name after a tab, comments and empty lines', () => {
    expect(parseUidsFile('\ufeffsource\tKafka orders\r\n\n# comment\nplain\nwith space \t\n')).toEqual([
      { uid: 'source', name: 'Kafka orders' },
      { uid: 'plain', name: undefined },
      { uid: 'with space ', name: undefined },
    ]);
    expect(() => parseUidsFile('a\tb\tc')).toThrow(UsageError);
    expect(() => parseUidsFile('a\n\tb')).toThrow('line 2 of the uids');
  });
  it('matches ids, forms around sinks, and ids themselves', () => {
    const entries = parseUidsFile('my-sink\tThe sink\nunused\n00112233445566778899AABBCCDDEEFF\tBy hash');
    const ids = ['00112233445566778899aabbccddeeff', operatorIdOf('my-sink'), operatorIdOf('Sink Committer: my-sink'), noUid(1)];
    expect([...matchUids(ids, entries)]).toEqual([
      [ids[1], { uid: 'my-sink', name: 'The sink' }],
      [ids[2], { uid: 'Sink Committer: my-sink', name: undefined }],
      [ids[0], { uid: '00112233445566778899AABBCCDDEEFF', name: 'By hash' }],
    ]);
  });
});

describe('uids from ids alone', () => {
  it('finds every form that Flink SQL makes, at any node id', () => {
    const patterns = sqlUidPatterns();
    expect(patterns.length).toBeGreaterThan(200);
    const uids = patterns.map(({ before, after }, i) => `${before}${[0, 7, 83, 200, 4711, 10_000][i % 6]}${after}`);
    const found = inferUids(uids.map(operatorIdOf));
    expect(uids.filter(uid => found.get(operatorIdOf(uid))?.uid !== uid)).toEqual([]);
    expect([...found.values()].filter(f => f.how !== 'sql')).toEqual([]);
  });
  it('keeps to the highest id asked for', () => {
    const id = operatorIdOf('201_group-window-aggregate');
    expect(inferUids([id], { maxId: 200 }).size).toBe(0);
    expect(inferUids([id], { maxId: 201 }).get(id)).toEqual({ uid: '201_group-window-aggregate', how: 'sql' });
    expect(inferUids([operatorIdOf('007_group-window-aggregate')]).size).toBe(0);
  });
  it('finds any text of at most 16 bytes, and the sinks around it', () => {
    const uids = ['a', 'Kafka: orders', 'exactly-16-bytes', 'größe-😀', 'my-sink'];
    const ids = [...uids, 'Sink Committer: my-sink', 'Sink my-sink Global Committer'].map(operatorIdOf);
    const found = inferUids(ids);
    expect(uids.map(uid => found.get(operatorIdOf(uid)))).toEqual(uids.map(uid => ({ uid, how: 'short' })));
    expect(ids.slice(5).map(id => found.get(id))).toEqual([
      { uid: 'Sink Committer: my-sink', how: 'derived' },
      { uid: 'Sink my-sink Global Committer', how: 'derived' },
    ]);
    expect(inferUids(ids, { anyShort: false }).size).toBe(0);
  });
  it('finds nothing where there is no uid, and nothing in what is no id', () => {
    expect(inferUids(Array.from({ length: 300 }, (_, i) => noUid(i))).size).toBe(0);
    expect(inferUids([operatorIdOf('a-uid-of-more-than-16-bytes'), 'not an id', '']).size).toBe(0);
  });
  it('reads the parts of a SQL uid', () => {
    expect(parseSqlUid('4_group-aggregate')).toEqual({ nodeId: 4, transformation: 'group-aggregate' });
    expect(parseSqlUid('Sink Committer: 12_stream-exec-sink_1_sink')).toEqual({ nodeId: 12, transformation: 'sink' });
    expect(parseSqlUid('Sink 5_sink Global Committer')).toEqual({ nodeId: 5, transformation: 'sink' });
    expect(parseSqlUid('events')).toBeUndefined();
  });
});

describe('ids that come from the job graph', () => {
  const own = (node: number, chained = 0): Buffer => {
    const input = Buffer.alloc(4 * (chained + 1));
    for (let i = 0; i <= chained; i++) input.writeInt32LE(node, i * 4);
    return Buffer.from(murmur3(input));
  };
  const over = (hash: Buffer, ...inputs: readonly string[]): string => {
    for (const input of inputs) for (const [i, byte] of Buffer.from(input, 'hex').entries()) hash[i] = (hash[i] * 37) ^ byte;
    return hash.toString('hex');
  };
  it('sources, known from the web', () => {
    const found = topologyIds(['bc764cd8ddf7a0cff126f51c16239658', 'cbc357ccb763df2852fee8c4fc7d55f2', noUid(1)]);
    expect([...found]).toEqual([
      ['bc764cd8ddf7a0cff126f51c16239658', { node: 0, chainedOutputs: 0, inputs: [] }],
      ['cbc357ccb763df2852fee8c4fc7d55f2', { node: 0, chainedOutputs: 1, inputs: [] }],
    ]);
  });
  it('follows the graph from sources and from operators with a uid', () => {
    const source = over(own(0, 6));
    const uid = operatorIdOf('second-source-with-a-long-uid');
    const map = over(own(2, 1), source);
    const join = over(own(3), map, uid);
    const sink = over(own(4), join);
    const strange = noUid(2);
    expect(Object.fromEntries(topologyIds([sink, strange, join, uid, map, source], new Set([uid])))).toEqual({
      [source]: { node: 0, chainedOutputs: 6, inputs: [] },
      [map]: { node: 2, chainedOutputs: 1, inputs: [source] },
      [join]: { node: 3, chainedOutputs: 0, inputs: [map, uid] },
      [sink]: { node: 4, chainedOutputs: 0, inputs: [join] },
    });
  });
  it('does not guess a direction without a starting point', () => {
    const unknown = operatorIdOf('a-uid-that-nobody-told-us-of');
    const map = over(own(1), unknown);
    expect(topologyIds([map, unknown]).size).toBe(0);
    expect(topologyIds([map, unknown], new Set([unknown])).get(map)).toEqual({ node: 1, chainedOutputs: 0, inputs: [unknown] });
  });
});

describe('real snapshots', () => {
  it.runIf(HAS_CORPUS)('every operator of a SQL plan gets its uid back', () => {
    let operators = 0;
    const without: string[] = [];
    for (const path of metadataFiles(`${SHARED}/corpus/sql`)) {
      // the two filters of this plan have no uid
      if (path.includes('interval-join-negative-interval')) continue;
      const metadata = readMetadataFile(path);
      const found = inferUids(metadata.operators.map(o => o.id));
      for (const o of metadata.operators) {
        operators++;
        const uid = found.get(o.id)?.uid;
        if (uid === undefined || (o.uid !== undefined && o.uid !== uid)) without.push(`${path} ${o.id} ${o.uid ?? ''}`);
      }
    }
    expect(operators).toBeGreaterThan(500);
    expect(without).toEqual([]);
  });
  it.runIf(HAS_CORPUS)('where `_metadata` has the uid, what is inferred is that', () => {
    const wrong: string[] = [];
    for (const path of metadataFiles(`${SHARED}/corpus/snapshots`)) {
      const { operators } = readMetadataFile(path);
      const found = inferUids(operators.map(o => o.id));
      for (const { id, uid } of operators) {
        if (uid !== undefined && operatorIdOf(uid) !== id) wrong.push(`${path} ${id} ${uid}`);
        const inferred = found.get(id)?.uid;
        if (uid !== undefined && inferred !== uid && (inferred !== undefined || Buffer.byteLength(uid) <= 16)) wrong.push(`${path} ${uid}`);
        if (uid === undefined && inferred !== undefined && operatorIdOf(inferred) !== id) wrong.push(`${path} ${inferred}`);
      }
    }
    expect(wrong).toEqual([]);
  });
  it.runIf(HAS_STATED)('a SQL job without a plan has ids of the job graph', () => {
    const { operators } = readMetadataFile(`${SHARED}/stated/sql/no-plan-insert-1.20/snapshot/_metadata`);
    const found = topologyIds(operators.map(o => o.id));
    expect(found.size).toBe(operators.length);
    expect(hexOf(Buffer.from('cbc357ccb763df2852fee8c4fc7d55f2', 'hex'))).toBe([...found].find(([, t]) => t.inputs.length === 0)?.[0]);
  });
});
