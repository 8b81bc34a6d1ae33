/**
 * Damaged `_metadata`: every answer is a parsed file or a StateQueryError. Whatever still parses is walked as the tables walk it.
 */
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { flinkVersions } from '../../src/checkpoint/flink-versions.js';
import { readMetadata } from '../../src/checkpoint/metadata.js';
import { referencedBytes, streamReferences } from '../../src/checkpoint/references.js';
import { newSize, operatorCheckpointedSize, operatorSizes } from '../../src/checkpoint/sizes.js';
import { snapshotKind } from '../../src/checkpoint/snapshot-kind.js';
import { StateQueryError } from '../../src/errors.js';
import { FIXTURES, HAS_CORPUS, metadataFiles, SHARED, seeded } from './shared.js';

const WRITTEN = ['flink-1.15.4-v3', 'flink-2.3.0-v6'].map(name => new URL(`written/${name}.bin`, import.meta.url).pathname);

/** A few small files of every version. */
function samples(): string[] {
  const all = [...metadataFiles(FIXTURES), ...(HAS_CORPUS ? metadataFiles(`${SHARED}/corpus/snapshots`) : [])];
  const perVersion = new Map<number, string[]>();
  for (const path of all.sort((a, b) => statSync(a).size - statSync(b).size)) {
    const version = readFileSync(path).readInt32BE(4);
    const files = perVersion.get(version) ?? [];
    if (files.length < 3) files.push(path);
    perVersion.set(version, files);
  }
  return [...WRITTEN, ...[...perVersion.values()].flat()];
}

/** @returns whether it parsed */
function survives(bytes: Uint8Array): boolean {
  try {
    const metadata = readMetadata(bytes, '_metadata');
    for (const operator of metadata.operators) {
      operatorSizes(operator);
      operatorCheckpointedSize(operator);
    }
    for (const { size } of streamReferences(metadata)) if (!Number.isInteger(size)) throw new Error(`a size of ${size}`);
    newSize(metadata);
    referencedBytes(metadata);
    flinkVersions(metadata);
    snapshotKind(metadata, '/a/chk-1', '_metadata');
    return true;
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    if (error.file !== '_metadata' || (error.offset ?? 0) > bytes.length) throw new Error(`no place: ${error.describe()}`);
    return false;
  }
}

const files = samples();

describe('truncated', () => {
  it('never parses at a shorter length, except where only the properties are cut', () => {
    for (const path of files) {
      const bytes = readFileSync(path);
      const properties = readMetadata(bytes, path).properties?.offset ?? bytes.length;
      const step = Math.max(1, Math.floor(bytes.length / 300));
      const wrong: number[] = [];
      for (let length = 0; length < bytes.length; length += step)
        if (survives(bytes.subarray(0, length)) !== length >= properties + 4) wrong.push(length);
      expect(wrong, path).toEqual([]);
    }
  });
});

describe('flipped', () => {
  it('parses or says where it is wrong', () => {
    const random = seeded(20);
    let parsed = 0;
    let refused = 0;
    for (const path of files) {
      const original = readFileSync(path);
      for (let i = 0; i < 120; i++) {
        const bytes = Buffer.from(original);
        for (let flips = 1 + (random() % 3); flips > 0; flips--) bytes[random() % bytes.length] ^= 1 << (random() % 8);
        if (survives(bytes)) parsed++;
        else refused++;
      }
    }
    expect(refused).toBeGreaterThan(0);
    expect(parsed).toBeGreaterThan(0);
  });
});

describe('blown up', () => {
  it('does not believe counts and lengths', () => {
    const random = seeded(21);
    for (const path of files) {
      const original = readFileSync(path);
      for (let i = 0; i < 120; i++) {
        const bytes = Buffer.from(original);
        const at = 8 + (random() % Math.max(1, bytes.length - 12));
        bytes.writeInt32BE([0x7fffffff, -1, 0x7fff, 0x10000000, -0x80000000, 32768][random() % 6], at);
        survives(bytes);
      }
    }
  });
  it('does not believe a file of ones', () => {
    for (const version of [2, 3, 4, 5, 6]) {
      const bytes = Buffer.alloc(100_000, 0xff);
      bytes.writeInt32BE(0x4960672d, 0);
      bytes.writeInt32BE(version, 4);
      expect(survives(bytes)).toBe(false);
      bytes.fill(0, 8);
      survives(bytes);
    }
  });
});
