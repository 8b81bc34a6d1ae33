/** Databases that RocksDB wrote (databases/README.md): the merge of all their tables is what its own iterator said. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openFile } from '../../src/io/source.js';
import { readBlock } from '../../src/sst/block.js';
import { ColumnFamily, chain } from '../../src/sst/column-family.js';
import { forEachEntry } from '../../src/sst/entries.js';
import { decodeManifest, type LiveFile, parseCurrent } from '../../src/sst/manifest.js';
import { openTable } from '../../src/sst/table.js';
import { random } from '../state/seeded.js';
import { hex } from './support.js';

const DATABASES = join(dirname(fileURLToPath(import.meta.url)), 'databases');
const names = readdirSync(DATABASES).filter(name => statSync(join(DATABASES, name)).isDirectory());

const tableName = (file: LiveFile): string => `${String(file.number).padStart(6, '0')}.sst`;

function open(name: string) {
  const directory = join(DATABASES, name);
  const current = parseCurrent(readFileSync(join(directory, 'CURRENT')), {});
  const manifest = decodeManifest(readFileSync(join(directory, current)), { file: current });
  const contents = new Map<string, [string, string][]>();
  for (const line of gunzipSync(readFileSync(join(directory, 'contents.txt.gz')))
    .toString()
    .trim()
    .split('\n')) {
    const [family, key, value] = line.split(' ');
    contents.set(family, [...(contents.get(family) ?? []), [key, value ?? '']]);
  }
  const family = (files: readonly LiveFile[]) =>
    new ColumnFamily(
      files.map(file => ({ name: tableName(file), ...file, open: () => openFile(join(directory, tableName(file))) })),
      { verify: true, where: name },
    );
  return { directory, manifest, contents, family };
}

it('there are databases of every kind', () => {
  expect(names).toEqual([
    'v2-crc32c-snappy-bloom',
    'v3-xxhash-zlib-dictionary',
    'v4-xxhash64-lz4-dictionary-partitioned',
    'v5-crc32c-lz4hc-hash',
    'v5-nochecksum-none-firstkey',
    'v5-xxh3-zstd-dictionary-partitioned-bloom',
    'v5-xxh3-zstd-trained',
    'v6-crc32c-bzip2',
    'v6-xxh3-snappy-blockhash-bloom',
  ]);
});

describe.each(names)('%s', name => {
  const { directory, manifest, contents, family } = open(name);

  const rows = (files: readonly LiveFile[], lower?: Uint8Array, upper?: Uint8Array, exact?: Uint8Array) => {
    const opened = family(files);
    const visible = opened.scan({
      ...(lower === undefined ? {} : { lower }),
      ...(upper === undefined ? {} : { upper }),
      ...(exact === undefined ? {} : { exact, lookup: true }),
    });
    const out: [string, string][] = [];
    while (visible.next())
      out.push([
        hex(visible.bytes.subarray(visible.keyStart, visible.keyEnd)),
        hex(visible.bytes.subarray(visible.valueStart, visible.valueEnd)),
      ]);
    visible.close();
    opened.close();
    return out;
  };

  it('has what RocksDB says, all of it', () => {
    expect(manifest.columnFamilies.map(f => f.name)).toEqual(['default', 'value', 'list', '_timer_state/event']);
    for (const { name: cf, files } of manifest.columnFamilies) expect(rows(files), cf).toEqual(contents.get(cf) ?? []);
    expect([...contents.values()].flat().length).toBeGreaterThan(1000);
  });

  it('has what RocksDB says, by ranges and keys', () => {
    const next = random(5);
    for (const { name: cf, files } of manifest.columnFamilies) {
      const all = contents.get(cf) ?? [];
      if (all.length === 0) continue;
      for (let round = 0; round < 25; round++) {
        const pick = () => all[Math.floor(next() * all.length)][0];
        let [from, to] = [pick(), pick()].sort();
        if (next() < 0.5) from += '00';
        if (next() < 0.3) to = to.slice(0, -2);
        expect(rows(files, Buffer.from(from, 'hex'), Buffer.from(to, 'hex')), `${cf} ${from} ${to}`).toEqual(
          all.filter(([key]) => key >= from && key < to),
        );
        const key = next() < 0.5 ? pick() : `${pick().slice(0, -2)}2d`;
        const bytes = Buffer.from(key, 'hex');
        expect(rows(files, bytes, Buffer.from(`${key}00`, 'hex'), bytes), `${cf} ${key}`).toEqual(all.filter(([k]) => k === key));
      }
    }
  });

  it('has tables that agree with their properties, the manifest and their filters', () => {
    let filtered = 0;
    let refused = 0;
    for (const { name: cf, id, files } of manifest.columnFamilies)
      for (const file of files) {
        expect(statSync(join(directory, tableName(file))).size).toBe(file.size);
        const table = openTable(openFile(join(directory, tableName(file))), { verify: true });
        const { properties } = table;
        // ingested files do not know where they go
        if (properties.globalSequence === undefined) expect([properties.columnFamily, properties.columnFamilyId]).toEqual([cf, id]);
        const filter = table.filter();
        let entries = 0;
        let blocks = 0;
        const index = table.index();
        while (index.next()) {
          blocks++;
          forEachEntry(readBlock(table, { offset: index.offset, size: index.size }, table.dictionary), {}, key => {
            entries++;
            if (filter === undefined) return;
            filtered++;
            const userKey = Uint8Array.from(key.subarray(0, key.length - 8));
            expect(filter.mightMatch(userKey)).toBe(true);
            if (!filter.mightMatch(Uint8Array.from([...userKey, 1]))) refused++;
          });
        }
        expect(entries + table.rangeDeletions().length).toBe(properties.entries);
        expect(table.rangeDeletions().length).toBe(properties.rangeDeletions);
        expect(blocks).toBe(properties.dataBlocks);
        table.close();
      }
    if (name.includes('bloom')) expect(refused).toBeGreaterThan(0.9 * filtered);
    else expect(filtered).toBe(0);
  });

  it('needs as many tables at a time as overlap', () => {
    for (const { files } of manifest.columnFamilies) {
      const chains = chain(files);
      expect(chains.flat().length).toBe(files.length);
      const levels = new Set(files.filter(f => f.level > 0).map(f => f.level)).size;
      expect(chains.length).toBeLessThanOrEqual(levels + files.filter(f => f.level === 0).length);
    }
  });
});

it('a trained dictionary is one', () => {
  const { directory, manifest } = open('v5-xxh3-zstd-trained');
  const trained = manifest.columnFamilies
    .flatMap(f => f.files)
    .map(file => openTable(openFile(join(directory, tableName(file))), { verify: true }).dictionary)
    .filter(dictionary => dictionary !== undefined && hex(dictionary.subarray(0, 4)) === '37a430ec');
  expect(trained.length).toBeGreaterThan(0);
});
