/** Foreign snapshots with RocksDB: every table, and the same state as the canonical savepoint of the same job. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHARED } from '../state/snapshots.js';
import { compare, placesIn, readTables, usesTables } from './places.js';

const stated = placesIn(join(SHARED, 'stated/datastream'));
const others = ['stated/sql', 'stated/connectors', 'corpus/snapshots'].flatMap(folder => placesIn(join(SHARED, folder)));

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
