/** stateInfo files: whole, damaged, of a newer writer, of another job. */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorIdOf } from '../../src/checkpoint/uid.js';
import { crc32c } from '../../src/io/crc32c.js';
import { openClassPool } from '../../src/java/jar.js';
import { loadProtobuf } from '../../src/proto/schema.js';
import { buildStateInfo } from '../../src/stateinfo/build.js';
import { parseGraph } from '../../src/stateinfo/graph.js';
import { decodeStateInfo, encodeStateInfo, FORMAT, MESSAGES, type StateInfo } from '../../src/stateinfo/message.js';
import { gatherNames, type NameSources } from '../../src/stateinfo/sources.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import { sqlTypeText } from '../../src/types.js';

const ROOT = resolve(import.meta.dirname, '../..');
const WORDCOUNT = join(ROOT, 'fixtures/snapshots/2.3-wordcount-rocksdb-canonical/snapshot');
const TYPES = readdirSync(join(ROOT, 'fixtures/snapshots')).find(name => name.includes('types'));
const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(ROOT, '../shared');
const SQL = join(SHARED, 'stated/sql/group-agg-basic-heap-canonical-1.20');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stateinfo-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(path: string, sources: NameSources = {}, notes: string[] = []): Promise<OpenedSnapshot> {
  return openSnapshot(path, await gatherNames(path, sources, { warn: note => void notes.push(note) }));
}
async function built(path: string, sources: NameSources = {}): Promise<StateInfo> {
  const snapshot = await open(path, sources);
  try {
    return buildStateInfo(snapshot, { writtenBy: 'test' });
  } finally {
    snapshot.close();
  }
}
async function written(info: StateInfo, name: string): Promise<string> {
  const file = join(folder, name);
  writeFileSync(file, await encodeStateInfo(info));
  return file;
}
const types = (s: OpenedSnapshot): string[] =>
  s.operators.flatMap(o => s.statesOf(o).variants.map(v => `${o.uid} ${o.uidSource} ${v.name} ${sqlTypeText(v.shape.value.type)}`));

describe('the schema', () => {
  it('is that of stateinfo.proto', async () => {
    const { parse } = await loadProtobuf();
    const { root } = parse(readFileSync(join(ROOT, 'src/stateinfo/stateinfo.proto'), 'utf8'));
    const inFile = Object.fromEntries(
      Object.keys(MESSAGES).map(name => [
        name,
        root.lookupType(`statequery.${name}`).fieldsArray.map((f, i) => {
          expect(f.id).toBe(i + 1);
          return `${f.repeated ? 'repeated ' : ''}${f.type} ${f.name}`;
        }),
      ]),
    );
    expect(inFile).toEqual(MESSAGES);
  });
});

describe('a file', () => {
  it('reads back as it was written', async () => {
    const info = await built(WORDCOUNT);
    const jar = openClassPool([join(ROOT, 'fixtures/classes.jar')]);
    const [first] = jar.names();
    const layout = jar.find(first);
    jar.close();
    const whole = { ...info, classes: layout === undefined ? [] : [layout] };
    expect(whole.operators.some(o => o.states.length > 0 && o.uid !== '')).toBe(true);
    expect(await decodeStateInfo(await encodeStateInfo(whole), 'f')).toEqual(whole);
  });

  it('is refused when it is cut off or changed anywhere', async () => {
    const bytes = Buffer.from(await encodeStateInfo(await built(WORDCOUNT)));
    for (let n = 0; n < bytes.length; n += 13)
      await expect(decodeStateInfo(bytes.subarray(0, n), 'f'), `${n}`).rejects.toThrow(/stateInfo/);
    for (let at = 30; at < bytes.length; at += 17) {
      const changed = Buffer.from(bytes);
      changed[at] ^= 0x41;
      await expect(decodeStateInfo(changed, 'f'), `${at}`).rejects.toMatchObject({ exitCode: 5 });
    }
  });

  it('of a newer writer is read when the writer says so', async () => {
    const { Root, Type, Field } = await loadProtobuf();
    const root = new Root();
    const type = new Type('F');
    MESSAGES['StateInfoFile'].forEach((text, i) => void type.add(new Field(text.split(' ')[1], i + 1, text.split(' ')[0])));
    type.add(new Field('later', 90, 'string'));
    root.add(type);
    const known = Buffer.from(await encodeStateInfo(await built(WORDCOUNT)));
    const envelope = type.toObject(type.decode(known));
    const added = Buffer.concat([envelope['content'] as Uint8Array, Buffer.from([0xfa, 0x3f, 0x02, 0x68, 0x69])]);
    const make = (minReaderVersion: number): Uint8Array =>
      type
        .encode(
          type.fromObject({ format: FORMAT, version: 9, minReaderVersion, content: added, checksum: crc32c(added) >>> 0, later: 'x' }),
        )
        .finish();
    expect((await decodeStateInfo(make(1), 'f')).writtenBy).toBe('test');
    await expect(decodeStateInfo(make(2), 'f')).rejects.toMatchObject({ exitCode: 6 });
  });
});

describe.runIf(existsSync(SQL))('names out of a file', () => {
  it('are those of the plan that it was built with, beside the snapshot or given', async () => {
    const plain = await open(join(SQL, 'snapshot'));
    const expected = types(plain).map(t => t.replace(' plan ', ' stateinfo ').replace(' inferred ', ' stateinfo '));
    plain.close();
    expect(expected.find(t => t.includes('accState'))).toContain('STRUCT(count1 BIGINT, count BIGINT, sum INTEGER');
    const file = await written(await built(join(SQL, 'snapshot')), 'stateInfo');
    const given = await open(join(SQL, 'snapshot'), { beside: false, stateInfo: file });
    expect(types(given)).toEqual(expected);
    given.close();
    for (const name of readdirSync(join(SQL, 'snapshot'))) copyFileSync(join(SQL, 'snapshot', name), join(folder, name));
    const notes: string[] = [];
    const beside = await open(folder, {}, notes);
    expect(types(beside)).toEqual(expected);
    beside.close();
    expect(notes).toEqual([]);
  });

  it('of another job are refused when given, and not used when they lie there', async () => {
    const info = await built(join(SQL, 'snapshot'));
    const change = (f: (s: StateInfo['operators'][number]) => StateInfo['operators'][number]): StateInfo => ({
      ...info,
      operators: info.operators.map(o => (o.uid === '4_group-aggregate' ? f(o) : o)),
    });
    const cases: [StateInfo, RegExp][] = [
      [change(o => ({ ...o, id: operatorIdOf('gone') })), /operator 4_group-aggregate is not in the snapshot/],
      [change(o => ({ ...o, states: o.states.slice(1) })), /state .* of operator 4_group-aggregate is not in the file/],
      [
        change(o => ({ ...o, states: o.states.map(s => (s.value === null ? s : { ...s, value: { ...s.value, identity: '00' } })) })),
        /the value serializer \(.*\) of state accState of operator 4_group-aggregate differs/,
      ],
    ];
    for (const [stale, reason] of cases) {
      const file = await written(stale, 'stateInfo');
      await expect(gatherNames(join(SQL, 'snapshot'), { stateInfo: file })).rejects.toMatchObject({ exitCode: 2 });
      await expect(gatherNames(join(SQL, 'snapshot'), { stateInfo: file })).rejects.toThrow(reason);
      const notes: string[] = [];
      for (const name of readdirSync(join(SQL, 'snapshot'))) copyFileSync(join(SQL, 'snapshot', name), join(folder, name));
      const snapshot = await open(folder, {}, notes);
      expect(types(snapshot).find(t => t.includes('accState'))).toContain('STRUCT(f0 BIGINT');
      snapshot.close();
      expect(notes).toHaveLength(1);
      expect(notes[0]).toMatch(reason);
    }
  });
});

describe('a job graph', () => {
  it.each([
    ['1.20-kinds', '1.20-kinds-rocksdb-canonical', ['events Source: events', 'kinds-uid all the kinds', 'null counter without uid']],
    ['2.3-operators', '2.3-operators-hashmap-canonical', undefined],
  ])('%s, written by Flink, names every operator of its snapshot', async (name, fixture, named) => {
    const file = join(ROOT, 'fixtures/stateinfo', `${name}.graph.json`);
    const graph = parseGraph(readFileSync(file, 'utf8'), file);
    const path = join(ROOT, 'fixtures/snapshots', fixture, 'snapshot');
    const snapshot = await open(path, { graph });
    const stated = JSON.parse(readFileSync(join(path, '../fixture.json'), 'utf8')) as {
      readonly operators: readonly { readonly operator_id: string; readonly uid: string | null }[];
    };
    const ids = snapshot.operators.map(o => o.id).sort();
    expect(ids).toEqual(stated.operators.map(o => o.operator_id).sort());
    for (const o of stated.operators) expect(snapshot.operators.find(v => v.id === o.operator_id)?.uid).toBe(o.uid);
    if (named !== undefined) expect(snapshot.operators.map(o => `${o.uid} ${o.name}`).sort()).toEqual(named);
    const chains = new Map(graph.operators.map(o => [o.id, o.chain]));
    const info = buildStateInfo(snapshot, { writtenBy: 'test', jobName: graph.job, chains });
    snapshot.close();
    expect(info.operators.map(o => o.chain)).toEqual(info.operators.map(o => [o.id]));
    const read = await open(path, { beside: false, stateInfo: await written(info, `${name}.stateInfo`) });
    expect(read.operators.map(o => o.name)).toEqual(info.operators.map(o => o.name));
    read.close();
  });

  it('names the operators of a file', async () => {
    const snapshot = openSnapshot(WORDCOUNT);
    const operators = snapshot.operators.map((o, i) => ({ id: o.id, name: `op ${i}`, parallelism: 2, chain: [o.id] }));
    snapshot.close();
    const graph = parseGraph(JSON.stringify({ job: 'words', operators }), 'graph.json');
    expect(graph.job).toBe('words');
    expect(graph.operators.map(o => o.name)).toEqual(operators.map(o => o.name));
    expect(parseGraph('{"operators":[{"uid":"x"}]}', 'g').operators[0].id).toBe(operatorIdOf('x'));
    expect(() => parseGraph('{"operators":[{"name":"x"}]}', 'g')).toThrow('operator 0 of the graph has neither an id');
    expect(() => parseGraph('[]', 'g')).toThrow('no list of operators');
    expect(() => parseGraph('{', 'g')).toThrow('the graph is no JSON');
  });
});

describe.runIf(TYPES !== undefined)('class layouts', () => {
  it('of a job are those that its serializers name, and what extends them', () => {
    const snapshot = openSnapshot(join(ROOT, 'fixtures/snapshots', TYPES ?? '', 'snapshot'));
    const jar = openClassPool([join(ROOT, 'fixtures/classes.jar')]);
    try {
      const { classes } = buildStateInfo(snapshot, { writtenBy: 'test', classes: jar });
      expect(classes.length).toBeGreaterThan(0);
      expect(classes.every(c => jar.find(c.name) === c)).toBe(true);
    } finally {
      jar.close();
      snapshot.close();
    }
  });
});
