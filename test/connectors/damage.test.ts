/** Bytes that no connector wrote, and ones that were cut or changed: a typed error or nothing said, never a wrong name. */
import { describe, expect, it } from 'vitest';
import type { Versioned } from '../../src/connectors/bytes.js';
import { decodeCommittables, decodeSource, decodeWriterStates } from '../../src/connectors/detect.js';
import { decodeCollector, decodeGlobalCommitter, decodeListEntry, decodeSourceCoordinator } from '../../src/connectors/envelopes.js';
import { SINKS, SOURCES } from '../../src/connectors/formats.js';
import { StateQueryError } from '../../src/errors.js';
import { Cursor } from '../../src/io/cursor.js';
import { random } from '../state/seeded.js';
import { hasStated, statedCases } from './stated.js';

function noise(next: () => number): Uint8Array {
  const length = Math.floor(next() * 80);
  // small numbers more often than not, so that counts and lengths fit
  return Uint8Array.from({ length }, () => (next() < 0.6 ? Math.floor(next() * 3) : Math.floor(next() * 256)));
}

/** Runs a reader; everything but a typed error is a failure. */
function typed(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof StateQueryError) return false;
    throw error;
  }
}

describe('random bytes', () => {
  it('into every format: a value or a typed error', () => {
    const next = random(20_240_601);
    for (let i = 0; i < 300; i++) {
      const bytes = noise(next);
      for (let version = 0; version <= 8; version++) {
        for (const format of SOURCES) {
          typed(() => format.readSplit(new Cursor(bytes), version));
          typed(() => format.readEnumerator(new Cursor(bytes), version));
        }
        for (const format of SINKS) {
          typed(() => format.writer?.read(new Cursor(bytes), version));
          typed(() => format.committable?.read(new Cursor(bytes), version));
        }
        const versioned = { version, bytes };
        typed(() => decodeCollector(versioned));
        typed(() => decodeGlobalCommitter(versioned));
      }
      typed(() => decodeListEntry(bytes));
      typed(() => decodeSourceCoordinator(bytes));
    }
  });

  it('name no connector', () => {
    const next = random(7);
    const named: unknown[] = [];
    for (let i = 0; i < 2000; i++) {
      const entry: Versioned = { version: Math.floor(next() * 9), bytes: noise(next) };
      const source = decodeSource({ splits: [entry], enumerator: undefined, names: [] });
      const enumerator = decodeSource({ splits: [], enumerator: entry, names: [] });
      const writer = decodeWriterStates([entry], []);
      const committer = decodeCommittables([entry], []);
      for (const found of [source, enumerator, writer, committer])
        if (found !== undefined) named.push([found.connector, entry.version, Buffer.from(entry.bytes).toString('hex')]);
    }
    expect(named).toEqual([]);
  });

  it('a few zeros speak for nobody, unless the name does', () => {
    const zeros = { version: 1, bytes: new Uint8Array(4) };
    expect(decodeSource({ splits: [], enumerator: zeros, names: ['Source: orders'] })).toBeUndefined();
    expect(decodeSource({ splits: [], enumerator: zeros, names: ['Source: kafka-orders'] })?.connector).toBe('kafka');
  });
});

/** Bytes of one source, cut short, with bytes behind, with one byte changed. */
function damaged(bytes: Uint8Array, next: () => number): Uint8Array[] {
  const changed = bytes.slice();
  const at = Math.floor(next() * bytes.length);
  changed[at] ^= 1 << Math.floor(next() * 8);
  return [bytes.subarray(0, Math.floor(next() * bytes.length)), Buffer.concat([bytes, Uint8Array.of(0)]), changed];
}

describe.runIf(hasStated)('damaged connector state', () => {
  const next = random(99);
  const sources = statedCases('connectors').flatMap(c =>
    c.operators.flatMap(operator =>
      operator.states
        .filter(s => s.name === 'SourceReaderState')
        .map(s => ({ name: c.name, entries: s.rows.map(r => decodeListEntry(new Uint8Array(Buffer.from(r.value ?? '', 'hex')))) })),
    ),
  );
  for (const { name, entries } of sources) {
    it(`${name}: what is left says the same connector or nothing`, () => {
      const right = decodeSource({ splits: entries, enumerator: undefined, names: [] })?.connector;
      expect(right).toBeDefined();
      for (let round = 0; round < 20; round++)
        for (const entry of entries)
          for (const bytes of damaged(entry.bytes, next)) {
            const found = decodeSource({ splits: [{ version: entry.version, bytes }], enumerator: undefined, names: [] });
            expect([undefined, right, 'flink-cdc', 'hybrid']).toContain(found?.connector);
          }
    });
  }
});
