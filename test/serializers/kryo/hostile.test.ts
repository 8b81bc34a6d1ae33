/** Damaged values: a value or a typed error, the same end from read and skip, no more memory than the bytes warrant. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StateQueryError } from '../../../src/errors.js';
import { createColumn } from '../../../src/io/column.js';
import { Cursor } from '../../../src/io/cursor.js';
import { jsonOf } from '../../../src/io/json.js';
import { openClassPool } from '../../../src/java/jar.js';
import type { Codec } from '../../../src/serializers/codec.js';
import { snapshotOf } from '../support.js';

const folder = join(import.meta.dirname, 'fixtures');
const classes = openClassPool([join(folder, 'kryo-model.jar')]);
const MAX_JSON_PER_BYTE = 400_000;

function outcome(run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (error instanceof StateQueryError) return `error: ${error.message}`;
    throw error;
  }
}

function check(codec: Codec, bytes: Uint8Array): void {
  const read = new Cursor(bytes);
  const value = outcome(() => jsonOf(codec.type, codec.read(read)));
  const skip = new Cursor(bytes);
  const skipped = outcome(() => {
    codec.skip(skip);
    return '';
  });
  expect(skipped.startsWith('error')).toBe(value.startsWith('error'));
  if (!value.startsWith('error')) expect(skip.position).toBe(read.position);
  expect(value.length).toBeLessThan(1000 + bytes.length * MAX_JSON_PER_BYTE);
  outcome(() => {
    codec.append(new Cursor(bytes), createColumn(codec.type, 2));
    return '';
  });
}

/** A seeded generator of 32-bit numbers (xorshift). */
function random(seed: number): () => number {
  let x = seed;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

describe.each([
  ['kryo-1.20.5-scala.ndjson', 1],
  ['scala-1.20.5.ndjson', 1],
  ['kryo-2.3.0.ndjson', 2],
] as const)('%s', (file, flinkMajor) => {
  const lines = readFileSync(join(folder, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { snapshot: string; value: string });
  const next = random(20240229);
  const cases = lines.map(({ snapshot, value }) => ({
    codec: snapshotOf(Buffer.from(snapshot, 'hex')).codec({ flinkMajor, classes }),
    bytes: Buffer.from(value, 'hex'),
  }));

  it('cut off', () => {
    for (const { codec, bytes } of cases)
      for (let n = 0; n < bytes.length; n += 1 + (bytes.length >> 5)) check(codec, bytes.subarray(0, n));
  });
  it('with bytes changed', () => {
    for (const { codec, bytes } of cases) {
      for (let i = 0; i < 12; i++) {
        const changed = Uint8Array.from(bytes);
        for (let k = 1 + (next() % 3); k > 0; k--) changed[next() % changed.length] = next() & 0xff;
        check(codec, changed);
      }
    }
  });
  it('of random bytes', () => {
    for (const { codec } of cases.slice(0, 40)) {
      for (let i = 0; i < 12; i++)
        check(
          codec,
          Uint8Array.from({ length: next() % 60 }, () => next() & (i % 2 === 0 ? 0xff : 0x5f)),
        );
    }
  });
});

it('objects within objects beyond every stack', () => {
  const [line] = readFileSync(join(folder, 'kryo-1.20.5.ndjson'), 'utf8').split('\n');
  const codec = snapshotOf(Buffer.from((JSON.parse(line) as { snapshot: string }).snapshot, 'hex')).codec({ flinkMajor: 1 });
  const name = Buffer.from('java.util.ArrayList', 'latin1');
  name[name.length - 1] |= 0x80;
  const bytes = Buffer.concat([Buffer.from('0100', 'hex'), name, Buffer.from('0101'.repeat(1) + '01000101'.repeat(20_000), 'hex')]);
  const json = outcome(() => jsonOf(codec.type, codec.read(new Cursor(bytes))));
  expect(json).toMatch(/^\[\[\[\[/);
  expect(json).toMatch(/"\$hex":"[0-9a-f]+"\}\]+$/);
});
