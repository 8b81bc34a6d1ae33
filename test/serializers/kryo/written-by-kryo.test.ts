/**
 * Values that Flink's KryoSerializer wrote (fixtures/WriteKryo.java): Kryo 2.24 in Flink 1.20 with and without Scala on the class
 * path, Kryo 5.6 in Flink 2.3. Each line states its JSON.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openClassPool } from '../../../src/java/jar.js';
import { decode, snapshotOf } from '../support.js';

interface Written {
  readonly name: string;
  readonly snapshot: string;
  readonly value: string;
  readonly json: string;
}
const folder = join(import.meta.dirname, 'fixtures');
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const linesOf = (file: string): Written[] =>
  readFileSync(join(folder, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Written);
const classes = openClassPool([join(folder, 'kryo-model.jar')]);

/** An inner class has a field for the object around it, which only Scala's KryoBase writes. */
const inner = (scala: boolean): string =>
  scala ? '[{"$class":"KryoModel$Inner","this$0":{},"v":3},"after"]' : '[{"$class":"KryoModel$Inner","v":3},"after"]';

/** Bytes of Kryo 5 that are as long in Kryo 2, with other values: without the version they are taken for those. */
const FITS_BOTH = ['BitSet', 'Instant', 'Period', 'LocalTime with nanoseconds', 'Year', 'OptionalDouble', 'primitives', 'boxes'];

const FILES = [
  { file: 'kryo-1.20.5.ndjson', major: 1, scala: false, values: 139 },
  { file: 'kryo-1.20.5-scala.ndjson', major: 1, scala: true, values: 139 },
  { file: 'kryo-2.3.0.ndjson', major: 2, scala: false, values: 140 },
  { file: 'scala-1.20.5.ndjson', major: 1, scala: true, values: 44 },
] as const;

describe.each(FILES)('$file', ({ file, major, scala, values }) => {
  const lines = linesOf(file);
  it('has all its values', () => {
    expect(lines).toHaveLength(values);
  });
  it.each(lines)('$name', ({ snapshot, value, json }) => {
    const codec = snapshotOf(hex(snapshot)).codec({ flinkMajor: major, classes });
    const bytes = hex(value);
    const decoded = decode(codec, bytes);
    expect(decoded.json).toBe(json === 'INNER' ? inner(scala) : json);
    expect(decoded.end).toBe(bytes.length);
  });
  it('without being told the version of Flink, where the bytes tell it', () => {
    const wrong = lines.filter(({ snapshot, value, json }) => {
      const decoded = decode(snapshotOf(hex(snapshot)).codec({ classes }), hex(value));
      return decoded.json !== (json === 'INNER' ? inner(scala) : json);
    });
    expect(wrong.map(w => w.name)).toEqual(major === 2 ? FITS_BOTH : []);
  });
});
