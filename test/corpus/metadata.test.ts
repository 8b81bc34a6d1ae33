/** Every `_metadata` of the corpus is parsed to its last byte, and not one byte less of it is taken for whole. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMetadata } from '../../src/checkpoint/metadata.js';
import { snapshotKind } from '../../src/checkpoint/snapshot-kind.js';
import { CorruptError } from '../../src/errors.js';
import { HAS_CORPUS, metadataFiles, SHARED } from '../checkpoint/shared.js';

const versionOf = (bytes: Buffer): number => bytes.readInt32BE(4);

describe.runIf(HAS_CORPUS)('_metadata', () => {
  const files = HAS_CORPUS ? metadataFiles(join(SHARED, 'corpus')) : [];

  it('all 316, versions 2 to 6', () => {
    const versions: Record<number, number> = {};
    for (const path of files) {
      const bytes = readFileSync(path);
      const metadata = readMetadata(bytes, path);
      expect([path, metadata.version, metadata.operators.length > 0]).toEqual([path, versionOf(bytes), true]);
      expect([path, snapshotKind(metadata, '/', path).problem]).toEqual([path, undefined]);
      versions[metadata.version] = (versions[metadata.version] ?? 0) + 1;
    }
    expect(versions).toEqual({ 2: 18, 3: 43, 4: 159, 5: 18, 6: 78 });
  });

  it('one byte more, or one less, is told with the place', () => {
    for (const path of files) {
      const bytes = readFileSync(path);
      for (const damaged of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.alloc(1)])]) {
        if (versionOf(bytes) < 4) expect(() => readMetadata(damaged, path), path).toThrow(CorruptError);
        // since version 4 the properties of the checkpoint come last: what is wrong there hides nothing else
        else expect(snapshotKind(readMetadata(damaged, path), '/', path).problem, path).toBeInstanceOf(CorruptError);
      }
    }
  });
});
