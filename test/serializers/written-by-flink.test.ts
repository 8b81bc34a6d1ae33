/**
 * Values that Flink's own classes wrote (fixtures/WriteValues.java, run with flink-core … of each version): what no pair of the
 * corpus shows, nulls and extremes, and TypeSerializer.getLength() of each, which decides how stored keys are laid out.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cursor } from '../../src/io/cursor.js';
import { jsonOf } from '../../src/io/json.js';
import type { ClassLayout, ClassPool, FieldLayout } from '../../src/serializers/codec.js';
import { decode, snapshotOf } from './support.js';

interface Written {
  readonly name: string;
  readonly length: number;
  readonly snapshot: string;
  readonly value: string;
  readonly json: string;
}

const folder = join(import.meta.dirname, 'fixtures');
const files = readdirSync(folder).filter(name => name.endsWith('.ndjson'));
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const field = (name: string, descriptor: string): FieldLayout => ({
  name,
  descriptor,
  signature: undefined,
  isStatic: false,
  isTransient: false,
  isSynthetic: false,
});
const layout = (name: string, superName: string, fields: readonly FieldLayout[]): ClassLayout => ({
  name,
  superName,
  interfaces: [],
  isEnum: false,
  isRecord: false,
  isInterface: false,
  isFinal: false,
  isAbstract: false,
  enumConstants: [],
  fields,
  recordComponents: [],
});
const LAYOUTS: readonly ClassLayout[] = [
  layout('WriteValues$Point', 'java.lang.Object', [field('x', 'I'), field('y', 'Ljava/lang/Integer;')]),
  layout('WriteValues$Point3', 'WriteValues$Point', [
    field('label', 'Ljava/lang/String;'),
    field('color', 'LWriteValues$Color;'),
    field('path', '[I'),
    field('origin', 'LWriteValues$Corner;'),
  ]),
  layout('WriteValues$Corner', 'java.lang.Object', [field('name', 'Ljava/lang/String;')]),
  layout('WriteValues$Point4', 'WriteValues$Point', [field('a', 'I'), field('self', 'LWriteValues$Point;')]),
  { ...layout('WriteValues$Color', 'java.lang.Enum', []), isEnum: true, enumConstants: ['RED', 'GREEN', 'BLUE'] },
];
const pool: ClassPool = { find: name => LAYOUTS.find(l => l.name === name) };

/** The same rows in every version. */
const ROWS: Readonly<Record<string, number>> = {
  'written-by-flink-1.15.4.ndjson': 97,
  'written-by-flink-1.20.5.ndjson': 97,
  'written-by-flink-2.3.0.ndjson': 98,
};

describe('values written by Flink', () => {
  it('come from three versions', () => expect(files).toEqual(Object.keys(ROWS)));

  it.each(files)('%s', file => {
    const rows = readFileSync(join(folder, file), 'utf8').trim().split('\n');
    expect(rows.length).toBe(ROWS[file]);
    for (const row of rows) {
      const { name, length, snapshot, value, json } = JSON.parse(row) as Written;
      const codec = snapshotOf(hex(snapshot)).codec({ classes: pool });
      const decoded = decode(codec, hex(value));
      if (json === 'KRYO') {
        expect(decoded.json).toMatch(
          /^\{"\$class":"WriteValues\$Point4","a":0,"self":\{"\$serializer":"WriteValues\$Point"\},"\$hex":"5701/,
        );
        expect(decoded.end).toBe(value.length / 2);
      } else expect([name, codec.length, decoded.end, decoded.json]).toEqual([name, length, value.length / 2, json]);
    }
  });

  it('a subclass without its class shows its bytes', () => {
    const rows = readFileSync(join(folder, files[0]), 'utf8')
      .trim()
      .split('\n')
      .map(row => JSON.parse(row) as Written);
    const { snapshot, value } = rows.find(row => row.name === 'Pojo subclass') as Written;
    const codec = snapshotOf(hex(snapshot)).codec({});
    const name = Buffer.from('WriteValues$Point3').toString('hex');
    const rest = value.slice(value.indexOf(name) + name.length);
    expect(jsonOf(codec.type, codec.read(new Cursor(hex(value))))).toBe(`{"$class":"WriteValues$Point3","$hex":"${rest}"}`);
  });
});
