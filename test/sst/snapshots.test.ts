/** Snapshots that Flink wrote with RocksDB and ForSt: every table, and the same state as the canonical savepoint of the same job. */
import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../state/snapshots.js';
import { compare, placesIn, readTables, usesTables } from './places.js';

const fixtures = placesIn(FIXTURES);

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
