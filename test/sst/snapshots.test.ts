/** Snapshots that Flink wrote with RocksDB and ForSt: every table, and the same state as the canonical savepoint of the same job. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { IncrementalHandle, Operator, Subtask } from '../../src/checkpoint/handles.js';
import { checkTable } from '../../src/sst/check.js';
import { CHECKSUM_NAMES } from '../../src/sst/checksum.js';
import { openTable } from '../../src/sst/table.js';
import { openKeyedState } from '../../src/state/open.js';
import { FIXTURES, findMetadata, type Opened, openSnapshot, SHARED } from '../state/snapshots.js';

interface Place {
  readonly name: string;
  readonly directory: string;
}
const placesIn = (directory: string): Place[] =>
  existsSync(directory) ? readdirSync(directory).map(name => ({ name, directory: join(directory, name) })) : [];
const fixtures = placesIn(FIXTURES);
const stated = placesIn(join(SHARED, 'stated/datastream'));
const others = [
  ...placesIn(join(SHARED, 'stated/sql')),
  ...placesIn(join(SHARED, 'stated/connectors')),
  ...placesIn(join(SHARED, 'corpus/snapshots')),
];
const usesTables = ({ name }: Place): boolean => /rocksdb|forst/.test(name) && !/canonical|changelog/.test(name);

function openPlace({ directory, name }: Place): Opened | undefined {
  const [metadata] = findMetadata(directory);
  return metadata === undefined ? undefined : openSnapshot(metadata, name);
}

function* incrementalHandles(opened: Opened): Generator<{ operator: Operator; subtask: Subtask; handle: IncrementalHandle }> {
  for (const operator of opened.metadata.operators)
    for (const subtask of operator.subtasks)
      if (subtask.managedKeyed?.kind === 'incremental') yield { operator, subtask, handle: subtask.managedKeyed };
}

/** Reads every table that a snapshot refers to, checks it against its properties, and counts the forms seen. */
function readTables(place: Place, forms: Map<string, number>): number {
  const opened = openPlace(place);
  if (opened === undefined) return 0;
  let tables = 0;
  for (const { operator, subtask, handle } of incrementalHandles(opened)) {
    const context = opened.context(operator, subtask);
    for (const file of [...handle.shared, ...handle.private]) {
      if (!file.localName.endsWith('.sst')) continue;
      const table = openTable(context.open(file.stream), { verify: true, where: `${place.name} ${file.localName}` });
      const { properties, footer } = table;
      expect(checkTable(table).entries, `${place.name} ${file.localName}`).toBeGreaterThanOrEqual(0);
      expect(properties.columnFamily).toBeTypeOf('string');
      const form = `version ${footer.version}, ${CHECKSUM_NAMES[footer.checksumType]}, ${properties.compression}, index ${properties.indexType}`;
      forms.set(form, (forms.get(form) ?? 0) + 1);
      tables++;
      table.close();
    }
  }
  opened.files.close();
  return tables;
}

/** A TTL value in hex without its time: 8 bytes in front, in a map behind the null flag, in a list in front of each long. */
function withoutTime(state: string, value: string): string {
  if (state === 'ttl-value') return value.slice(16);
  if (state === 'ttl-map') return value.slice(0, 2) + value.slice(18);
  if (state === 'ttl-list') return value.replace(/.{16}(.{16}(?:2c)?)/g, '$1');
  return value;
}

/** Every entry of every keyed state as hex, without key groups; TTL times are the job's own and left out. */
function contents(place: Place): Map<string, string[]> {
  const opened = openPlace(place);
  const states = new Map<string, string[]>();
  if (opened === undefined) return states;
  for (const operator of opened.metadata.operators)
    for (const subtask of operator.subtasks) {
      if (subtask.managedKeyed === undefined) continue;
      const reader = openKeyedState(subtask.managedKeyed, opened.context(operator, subtask));
      expect(reader.layout).toBe('composite');
      const cursor = reader.entries({});
      while (cursor.next()) {
        const state = reader.header.states[cursor.state];
        const part = (start: number, end: number) => Buffer.from(cursor.bytes.subarray(start, end)).toString('hex');
        const value = part(cursor.valueStart, cursor.valueEnd);
        const row = [
          part(cursor.keyStart, cursor.keyEnd),
          part(cursor.namespaceStart, cursor.namespaceEnd),
          part(cursor.userKeyStart, cursor.userKeyEnd),
          withoutTime(state.name, value),
        ].join(' ');
        const name = `${operator.id} ${state.name}`;
        const rows = states.get(name);
        if (rows === undefined) states.set(name, [row]);
        else rows.push(row);
      }
      cursor.close();
      reader.close();
    }
  opened.files.close();
  expect(opened.warnings).toEqual([]);
  for (const rows of states.values()) rows.sort();
  return states;
}

const WITHOUT_TIMERS = /heaptimers|v2async|native-v2/;
function compare(place: Place, canonical: Place): void {
  const withoutTimers = ([name]: readonly [string, readonly string[]]) =>
    !WITHOUT_TIMERS.test(place.name) || !name.includes('_timer_state');
  const got = [...contents(place)].filter(withoutTimers).sort();
  const wanted = [...contents(canonical)].filter(withoutTimers).sort();
  expect(got.length).toBeGreaterThan(0);
  expect(got).toEqual(wanted);
}

describe('tables of the fixtures', () => {
  it('are read to their ends and agree with their properties', () => {
    const forms = new Map<string, number>();
    let tables = 0;
    for (const place of fixtures.filter(usesTables)) tables += readTables(place, forms);
    expect(tables).toBeGreaterThan(100);
    const seen = [...forms.keys()].join('\n');
    for (const form of ['version 5, crc32c, Snappy', 'version 5, xxh3, Snappy', 'ZSTD', 'LZ4', 'index 2']) expect(seen).toContain(form);
  });
});

describe('fixtures hold what the canonical savepoint of their job holds', () => {
  for (const place of fixtures.filter(usesTables)) {
    const job = /^(\d+\.\d+-small)-/.exec(place.name)?.[1];
    const canonical = fixtures.find(({ name }) => name === `${job}-rocksdb-canonical`);
    if (canonical !== undefined) it(place.name, () => compare(place, canonical));
  }
});

describe.runIf(stated.length > 0)('stated snapshots', () => {
  it('have tables that agree with their properties', () => {
    const forms = new Map<string, number>();
    let tables = 0;
    for (const place of [...stated, ...others].filter(usesTables)) tables += readTables(place, forms);
    expect(tables).toBeGreaterThan(4000);
    expect(forms.size).toBeGreaterThan(8);
  });

  const PAIRS: readonly (readonly [canonical: string, names: RegExp])[] = [
    ['1.20-kinds-rocksdb-canonical', /^1\.20-kinds-rocksdb-(checkpoint|incremental|native)(-snappy)?$/],
    ['1.20-keys-rocksdb-canonical', /^1\.20-keys-rocksdb-incremental$/],
    ['1.20-types-rocksdb-canonical', /^1\.20-types-rocksdb-incremental$/],
    ['1.20-windows-rocksdb-canonical', /^1\.20-windows-rocksdb-incremental$/],
    ['1.20-cep-rocksdb-canonical', /^1\.20-cep-rocksdb-incremental$/],
    // one smaller job in many layouts: its first one is as good as a canonical savepoint
    [
      '1.20-kinds-rocksdb-canonical-heaptimers',
      /^1\.20-kinds-rocksdb-incremental-(bzip2|crc32c|hashindex|inline|lz4|merged|merged-across|mp129|mp4096|mp32768|nocompression|p1|p4|partitioned|perlevel|universal|zlib|zstd|heaptimers)$/,
    ],
  ];
  for (const [name, names] of PAIRS) {
    const canonical = stated.find(place => place.name === name);
    if (canonical === undefined) continue;
    for (const place of stated.filter(({ name }) => names.test(name)))
      it(`${place.name} holds what ${name} does`, () => compare(place, canonical));
  }
});
