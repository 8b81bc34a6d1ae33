import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { flinkVersions } from '../../src/checkpoint/flink-versions.js';
import { readMetadata, readMetadataFile } from '../../src/checkpoint/metadata.js';
import { finishedState, newSize, operatorCheckpointedSize, operatorSizes } from '../../src/checkpoint/sizes.js';
import { snapshotKind } from '../../src/checkpoint/snapshot-kind.js';
import { CorruptError } from '../../src/errors.js';
import * as e from './encode.js';
import { HAS_CORPUS, HAS_STATED, metadataFiles, SHARED } from './shared.js';

const read = (bytes: Uint8Array) => readMetadata(bytes, '_metadata');
const written = (name: string) => readMetadataFile(new URL(`written/${name}.bin`, import.meta.url).pathname);

describe('sizes', () => {
  it('are those that Flink computed when it wrote these files', () => {
    for (const [name, checkpointed] of [
      ['flink-1.15.4-v3', 96],
      ['flink-2.3.0-v6', 97],
    ] as const) {
      const [operator, finished] = written(name).operators;
      expect(operatorSizes(operator)).toEqual({ subtaskStateCount: 2, coordinatorBytes: 3, channelBytes: 22, totalBytes: 183 });
      expect(operatorCheckpointedSize(operator)).toBe(checkpointed);
      expect(finishedState(operator)).toEqual({ finished: 'partly', finishedSubtasks: 1 });
      expect(operatorSizes(finished)).toEqual({ subtaskStateCount: 0, coordinatorBytes: 0, channelBytes: 0, totalBytes: 0 });
      expect(finishedState(finished)).toEqual({ finished: 'fully', finishedSubtasks: 3 });
    }
  });
  it('do not make up what a checkpoint added when its handles do not say it', () => {
    const old = e.withKeyed(3, [
      5,
      e.i64(1),
      e.utf('b'),
      e.i32(0),
      e.i32(1),
      e.relative('m', 4),
      e.list([[e.utf('1.sst'), e.file('/s', 90)]]),
      e.list([]),
    ]);
    expect(newSize(read(old))).toBeUndefined();
    expect(operatorCheckpointedSize(read(old).operators[0])).toBe(94);
    expect(newSize(read(e.withKeyed(3, e.keyGroups(7, 0, [1], e.relative('k', 31)))))).toBe(31);
  });
  it.runIf(HAS_STATED)('agree with the output of savepoint_metadata', () => {
    const root = `${SHARED}/stated/sql`;
    let compared = 0;
    for (const name of readdirSync(root)) {
      const wanted = `${root}/${name}/flink-savepoint_metadata.json`;
      if (!existsSync(wanted)) continue;
      const { snapshot } = JSON.parse(readFileSync(`${root}/${name}/expected.json`, 'utf8')) as { snapshot: string };
      const metadata = readMetadataFile(`${root}/${name}/${snapshot}/_metadata`);
      const rows = metadata.operators.map(o => ({
        'checkpoint-id': String(metadata.checkpointId),
        'operator-name': o.name ?? null,
        'operator-uid': o.uid ?? null,
        'operator-uid-hash': o.id,
        'operator-parallelism': String(o.parallelism),
        'operator-max-parallelism': String(o.maxParallelism),
        'operator-subtask-state-count': String(operatorSizes(o).subtaskStateCount),
        'operator-coordinator-state-size-in-bytes': String(operatorSizes(o).coordinatorBytes),
        'operator-total-size-in-bytes': String(operatorCheckpointedSize(o)),
      }));
      const byId = (a: { 'operator-uid-hash': string }, b: { 'operator-uid-hash': string }) =>
        a['operator-uid-hash'] < b['operator-uid-hash'] ? -1 : 1;
      expect(rows.sort(byId), name).toEqual((JSON.parse(readFileSync(wanted, 'utf8')) as typeof rows).sort(byId));
      compared++;
    }
    expect(compared).toBeGreaterThan(50);
  });
});

describe('releases', () => {
  const versions = (bytes: Uint8Array): string => flinkVersions(read(bytes)).text;
  it('follow from version, tags and layouts', () => {
    expect(versions(e.metadata(2, []))).toBe('1.3–1.10');
    expect(versions(e.metadata(3, []))).toBe('1.11–1.15');
    expect(versions(e.metadata(4, []))).toBe('1.16–1.20');
    expect(versions(e.metadata(6, []))).toBe('2.1 or later');
    expect(versions(e.withKeyed(3, e.keyGroups(12, 0, [0], e.relative('k', 1))))).toBe('1.15');
    expect(versions(e.withKeyed(3, e.keyGroups(7, 0, [0], e.relative('k', 1))))).toBe('1.13–1.15');
    expect(versions(e.withKeyed(3, e.keyGroups(3, 0, [0], e.relative('k', 1))))).toBe('1.11–1.14');
    expect(versions(e.withKeyed(4, e.keyGroups(12, 0, [0], e.segment('/a', 0, 1, 0))))).toBe('1.20');
    expect(versions(e.metadata(3, [{ subtasks: [{ index: 0 }] }]))).toBe('1.14–1.15');
    expect(flinkVersions(written('flink-1.15.4-v3')).text).toBe('1.15');
  });
  it('say why', () => {
    const metadata = read(e.withKeyed(3, e.keyGroups(12, 0, [0], e.relative('k', 1))));
    const { evidence } = flinkVersions(metadata, [{ since: '1.9', because: 'not narrower' }]);
    expect(evidence.map(f => f.because)).toEqual(['_metadata version 3', 'state handle tag 12 (KeyGroupsStateHandle)']);
  });
  it('take in what others know, and fall back when facts exclude each other', () => {
    const metadata = read(e.metadata(6, []));
    expect(flinkVersions(metadata, [{ until: '2.2', because: 'a serializer' }]).text).toBe('2.1–2.2');
    const torn = flinkVersions(metadata, [{ until: '1.17', because: 'a serializer' }]);
    expect([torn.text, torn.contradictory]).toEqual(['2.1 or later', true]);
  });
  it.runIf(HAS_CORPUS)('hold for the corpus, whose names say the release', () => {
    const wrong: string[] = [];
    for (const path of metadataFiles(`${SHARED}/corpus/snapshots`)) {
      const release = /flink(\d+\.\d+)/.exec(path)?.[1];
      const { since, until, contradictory } = flinkVersions(readMetadataFile(path));
      if (release === undefined || contradictory) continue;
      const order = (v: string): number => Number(v.split('.')[0]) * 100 + Number(v.split('.')[1]);
      if (order(release) < order(since) || (until !== undefined && order(release) > order(until))) wrong.push(`${path} ${since}–${until}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('kind and format', () => {
  const kindOf = (bytes: Uint8Array, directory: string) => {
    const { kind, format } = snapshotKind(read(bytes), directory, '_metadata');
    return [kind, format];
  };
  it('before the properties: from handles, then from the name of the directory', () => {
    expect(kindOf(e.withKeyed(3, e.keyGroups(7, 0, [0], e.relative('k', 1))), '/a/b')).toEqual(['savepoint', 'canonical']);
    expect(kindOf(e.metadata(3, []), '/a/chk-12')).toEqual(['checkpoint', undefined]);
    expect(kindOf(e.withKeyed(3, e.keyGroups(12, 0, [0], e.relative('k', 1))), '/a/savepoint-1a2b3c-4d')).toEqual(['savepoint', 'native']);
    expect(kindOf(e.withKeyed(2, e.keyGroups(3, 0, [0], e.file('hdfs://n/j/chk-4/x', 1))), '/a/b')).toEqual(['checkpoint', undefined]);
    expect(kindOf(e.metadata(2, []), '/a/b')).toEqual([undefined, undefined]);
  });
  it('reads the properties Flink wrote', () => {
    const { kind, properties } = snapshotKind(written('flink-2.3.0-v6'), '/x', '_metadata');
    expect(kind).toBe('checkpoint');
    expect(properties).toEqual({
      kind: 'checkpoint',
      typeName: 'Checkpoint',
      sharingStrategy: 'FORWARD_BACKWARD',
      forced: false,
      unclaimed: false,
      discardedWhen: ['subsumed', 'finished', 'cancelled', 'failed', 'suspended'],
    });
  });
  it('keeps what handles tell when the properties are damaged', () => {
    const bytes = e.withKeyed(4, e.keyGroups(7, 0, [0], e.relative('k', 1)));
    bytes[bytes.length - 1] = 0x01;
    const { kind, format, problem } = snapshotKind(read(bytes), '/a', '_metadata');
    expect([kind, format]).toEqual(['savepoint', 'canonical']);
    expect(problem).toBeInstanceOf(CorruptError);
    expect(problem?.offset).toBe(bytes.length - 1);
  });
  it.runIf(HAS_STATED)('agree with the names of the stated snapshots', () => {
    const wrong: string[] = [];
    let seen = 0;
    for (const path of metadataFiles(`${SHARED}/stated/datastream`)) {
      const name = /1\.20-[^/]+/.exec(path)![0];
      const { kind, format } = snapshotKind(readMetadataFile(path), path.replace(/\/_metadata$/, ''), path);
      const wanted = /-(canonical|native)/.exec(name)?.[1];
      seen++;
      if (kind !== (wanted === undefined || /-incremental-from-canonical/.test(name) ? 'checkpoint' : 'savepoint'))
        wrong.push(`${name} ${kind}`);
      else if (kind === 'savepoint' && format !== wanted) wrong.push(`${name} ${format}`);
    }
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(80);
  });
});
