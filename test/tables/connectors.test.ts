/** source_offsets and sink_transactions of stated jobs: Kafka, files, data generators; and positions of the legacy Kafka consumer. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LEGACY_SOURCES } from '../../src/connectors/legacy-sources.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { stateMetaRows } from '../../src/tables/state-meta.js';
import { BIGINT, JSON_TYPE, JsonText, Struct, struct } from '../../src/types.js';
import { hasStated, leavesOfRow, STATED, statedCases, tablesOf } from '../connectors/stated.js';

interface Facts {
  readonly facts?: { readonly kafka_offsets?: Readonly<Record<string, string>> };
}

describe.runIf(hasStated)('stated jobs', () => {
  const sql = statedCases('sql');
  const kafka = sql.filter(c => (c as unknown as Facts).facts?.kafka_offsets !== undefined);
  it('are there', () => expect(kafka.length).toBeGreaterThan(2));
  for (const stated of kafka) {
    it(`${stated.name}: next offsets of every partition`, () => {
      const { offsets } = tablesOf(stated.snapshot);
      const readers = offsets.filter(r => r['holder'] === 'reader');
      const found = Object.fromEntries(readers.map(r => [String(r['partition_id']), String(r['stored_offset'])]));
      expect(found).toEqual((stated as unknown as Facts).facts?.kafka_offsets);
      for (const r of readers) {
        const marked = (r['stored_offset'] as bigint) < 0n;
        expect([r['connector'], r['next_offset'], r['offset_marker']]).toEqual(
          marked ? ['kafka', null, 'earliest'] : ['kafka', r['stored_offset'], null],
        );
      }
    });
  }

  for (const name of ['file-source-sink-inprogress-1.20', 'file-source-sink-rolling-1.20']) {
    it(`${name}: files of writers and of commits`, () => {
      const stated = sql.find(c => c.name === name)!;
      const { transactions } = tablesOf(stated.snapshot);
      expect(transactions.map(r => r['connector'])).toEqual(transactions.map(() => 'filesystem'));
      const committed = transactions.filter(r => r['state'] === 'RECEIVED');
      const expected = stated.operators
        .flatMap(o => o.states)
        .filter(s => s.name === 'streaming_committer_raw_states')
        .flatMap(s => s.rows)
        .flatMap(row => JSON.stringify(row.decoded).match(/"targetFile":\s*"[^"]*"/g) ?? []);
      expect(committed.length).toBe(expected.length);
      const paths = committed.map(r => String(r['transaction_id']).replace(/^file:/, '')).sort();
      expect(paths).toEqual(expected.map(t => (JSON.parse(`{${t}}`) as { targetFile: string }).targetFile).sort());
      const text = JSON.stringify(stated.operators);
      for (const row of committed)
        for (const leaf of leavesOfRow(row)) if (/^\/|^bucket=/.test(leaf)) expect(text).toContain(leaf.replace(/^file:/, ''));
    });
  }

  it('datagen-source: numbers still to come', () => {
    const { offsets } = tablesOf(join(STATED, 'sql/datagen-source-1.20/snapshot'));
    expect(offsets.map(r => [r['connector'], r['split_id'], r['next_offset'], r['stop_offset']])).toEqual([
      ['datagen', '2', 520n, 1000n],
      ['datagen', '1', 20n, 500n],
    ]);
  });
  it('datagen-sql-sequence: the next number of each field and subtask', () => {
    const { offsets } = tablesOf(join(STATED, 'sql/datagen-sql-sequence-1.20/snapshot'));
    const id = offsets.find(r => r['split_id'] === 'id' && r['subtask_index'] === 0);
    expect([id?.['connector'], id?.['next_offset']]).toEqual(['datagen', 301n]);
    expect(offsets.length).toBe(4);
  });

  it('operators of a DataStream job: a source and a sink on files, sources that nobody knows', () => {
    const path = join(STATED, 'datastream/1.20-operators-hashmap-canonical/snapshot');
    const { offsets, transactions } = tablesOf(path);
    const stated = statedCases('datastream').find(c => c.name === '1.20-operators-hashmap-canonical');
    const writers = (stated?.operators ?? []).flatMap(o => o.states).find(s => s.name === 'writer_raw_states')?.rows as unknown as
      | { subtask: number; value: { bucket: string; in_progress_offset: string } }[]
      | undefined;
    const seen = transactions
      .filter(r => r['state'] === 'in-progress')
      .map(r => [r['subtask_index'], ...leavesOfRow(r).filter(x => /^bucket-\d$|^\d{3}$/.test(x))].join(' '));
    expect(seen.sort()).toEqual((writers ?? []).map(w => `${w.subtask} ${w.value.bucket} ${w.value.in_progress_offset}`).sort());
    const unknown = offsets.filter(r => (r['connector'] ?? null) === null);
    expect(unknown.some(r => leavesOfRow(r).includes('000000000000027673706c69742dc5be2d30'))).toBe(true);
    expect(new Set(offsets.map(r => r['connector'] ?? null))).toEqual(new Set([null, 'filesystem']));
  });

  it('state_meta tells which coordinators can be read', () => {
    const snapshot = openSnapshot(join(STATED, 'connectors/kafka-3.4-source-sink-1.20/snapshot'));
    const rows = [...stateMetaRows(snapshot)].filter(r => r['state_kind'] === 'coordinator');
    snapshot.close();
    expect(rows.map(r => [r['decodable'], r['reason']])).toEqual([[true, 'enumerator of a kafka source: source_offsets has its splits']]);
  });

  it('a source that nobody knows has its bytes, a sink without state nothing', () => {
    const stated = sql.find(c => c.name === 'group-agg-basic-heap-canonical-1.20')!;
    const { offsets, transactions } = tablesOf(stated.snapshot);
    expect(transactions).toEqual([]);
    expect(offsets.map(r => [r['connector'] ?? null, leavesOfRow(r).some(x => /^[0-9a-f]+$/.test(x))])).toEqual(
      offsets.map(() => [null, true]),
    );
  });
});

describe('legacy Kafka consumer', () => {
  const kafka = LEGACY_SOURCES.find(f => f.state.test('topic-partition-offset-states'))!;
  const type = struct(['f0', JSON_TYPE], ['f1', BIGINT]);
  const partition = new JsonText('{"topic":"ord-ž","partition":7,"cachedHash":12}');
  const read = (stored: bigint) => kafka.read(type, [new Struct([partition, stored])], 'topic-partition-offset-states')[0];

  it('stores the last record read: the next one is one further', () => {
    expect(read(41n)).toMatchObject({ topic: 'ord-ž', partition: 7, stored: 41n, next: 42n, marker: null, splitId: 'ord-ž-7' });
    expect(read(9223372036854775806n)).toMatchObject({ next: 9223372036854775807n });
    expect(read(-1n)).toMatchObject({ stored: -1n, next: 0n });
  });
  it('has marks of its own', () => {
    expect([-915623761776n, -915623761775n, -915623761774n, -915623761773n].map(n => [read(n).next, read(n).marker])).toEqual([
      [null, null],
      [null, 'earliest'],
      [null, 'latest'],
      [null, 'committed'],
    ]);
  });
  it('of a class that cannot be read: what there is', () => {
    const opaque = new Struct([new JsonText('{"$class":"x","$hex":"00"}'), 1n]);
    expect(kafka.read(type, [opaque], 'topic-partition-offset-states')[0].topic).toBeUndefined();
  });
});
