/**
 * Which serializers are read, by Flink version: printed from bytes that Flink wrote.
 *
 *   npm run support-matrix             prints the table
 *   npm run support-matrix -- --write  also writes test/serializers/proven.json, from which README.md has it
 *
 * A serializer counts for a version when a value of it, alone or within another, was decoded to the last of its bytes and none of
 * that state is shown as bytes. The values: the serializer pairs and snapshots of Flink's releases and the stated snapshots (the
 * folder `shared`), `fixtures/snapshots`, and what Flink's serializers wrote for the tests of serializers. Without the folder, what is recorded in proven.json is printed; a test of the corpus
 * compares the two.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { columnValue } from '../src/io/column.js';
import { Cursor } from '../src/io/cursor.js';
import { jsonOf } from '../src/io/json.js';
import { openClassPool } from '../src/java/jar.js';
import type { SerializerSnapshot } from '../src/serializers/codec.js';
import { inspectSnapshot } from '../src/serializers/inspect.js';
import { readVersionedSnapshot } from '../src/serializers/registry.js';
import { type OpenedSnapshot, type OpenOptions, openSnapshot } from '../src/tables/snapshot.js';
import { readCases } from '../test/serializers/table/fixtures/read.js';

const ROOT = resolve(import.meta.dirname, '..');
const RECORD = join(ROOT, 'test/serializers/proven.json');
const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(ROOT, '../shared');
export const hasShared = existsSync(join(SHARED, 'corpus')) && existsSync(join(SHARED, 'stated'));

/** Flink versions by serializer, both sorted. */
export type Proven = Readonly<Record<string, readonly string[]>>;

const byVersion = (a: string, b: string): number => {
  const [x, y] = [a, b].map(v => v.split('.').map(Number));
  return x[0] - y[0] || x[1] - y[1];
};

class Evidence {
  private readonly found = new Map<string, Set<string>>();

  add(snapshot: SerializerSnapshot, version: string): void {
    if (snapshot.unknown === undefined) {
      const versions = this.found.get(snapshot.serializer) ?? new Set<string>();
      this.found.set(snapshot.serializer, versions.add(version));
    }
    for (const child of snapshot.children) this.add(child.snapshot, version);
  }

  get proven(): Proven {
    const names = [...this.found.keys()].sort((a, b) => (a < b ? -1 : 1));
    return Object.fromEntries(names.map(name => [name, [...this.found.get(name)!].sort(byVersion)]));
  }
}

/** `operator state` of every state that has rows, all of them decoded. */
function decodedStates(snapshot: OpenedSnapshot): ReadonlySet<string> {
  const rows = new Set<string>();
  const opaque = new Set<string>();
  for (const table of ['keyed_state_raw', 'operator_state_raw']) {
    const columns = [
      'operator_id',
      'state_name',
      ...(table === 'keyed_state_raw' ? ['key_json', 'namespace_json'] : []),
      'map_key_json',
      'value_json',
    ];
    const scan = snapshot.catalog
      .find(table)!
      .bind([])
      .scan({ columns: columns.map(name => ({ name, form: 'value' })), filters: [] });
    for (let batch = scan.next(); batch !== undefined; batch = scan.next())
      for (let i = 0; i < batch.length; i++) {
        const [operator, state, ...cells] = batch.columns.map(c => {
          const value = columnValue(c, i);
          return value === null ? '' : jsonOf(c.type, value);
        });
        const id = `${operator} ${state}`;
        rows.add(id);
        if (cells.some(cell => cell.includes('"$hex"') || cell.includes('"$serializer"'))) opaque.add(id);
      }
  }
  return new Set([...rows].filter(id => !opaque.has(id)));
}

function addSnapshot(evidence: Evidence, path: string, version: string, options: OpenOptions = {}): void {
  const snapshot = openSnapshot(path, options);
  try {
    const decoded = decodedStates(snapshot);
    for (const operator of snapshot.operators)
      for (const variant of snapshot.statesOf(operator).variants) {
        if (variant.reason !== undefined || !decoded.has(`${JSON.stringify(operator.id)} ${JSON.stringify(variant.name)}`)) continue;
        const { namespace, value } = variant.registered;
        for (const part of [variant.keySnapshot, namespace, value]) if (part !== undefined) evidence.add(part, version);
      }
  } finally {
    snapshot.close();
  }
}

const folders = (directory: string): string[] =>
  readdirSync(directory)
    .sort()
    .map(name => join(directory, name));
const minor = (version: string): string => version.split('.').slice(0, 2).join('.');

/** The head of a fixture.json or expected.json, without its rows. */
function head(file: string): { readonly flink: string; readonly metadata_path?: string; readonly snapshot?: string } {
  const text = readFileSync(file, 'utf8');
  return JSON.parse(`${text.slice(0, text.search(/,\s*"operators"/))}}`) as ReturnType<typeof head>;
}

/** One value to its last byte, not shown as bytes. */
function addValue(evidence: Evidence, snapshot: SerializerSnapshot, value: Uint8Array, version: string): void {
  const codec = snapshot.codec({ flinkMajor: version.startsWith('2') ? 2 : 1 });
  const c = new Cursor(value);
  codec.read(c);
  if (c.remaining === 0 && codec.opaque === undefined) evidence.add(snapshot, version);
}

/** Values that Flink's own serializers wrote, each beside its snapshot. */
function addWrittenValues(evidence: Evidence): void {
  const folder = join(ROOT, 'test/serializers/fixtures');
  for (const name of readdirSync(folder)) {
    const version = /^written-by-flink-(\d+\.\d+)\.\d+\.ndjson$/.exec(name)?.[1];
    if (version === undefined) continue;
    for (const line of readFileSync(join(folder, name), 'utf8').trim().split('\n')) {
      const { snapshot, value } = JSON.parse(line) as { readonly snapshot: string; readonly value: string };
      addValue(evidence, readVersionedSnapshot(new Cursor(Buffer.from(snapshot, 'hex'))), Buffer.from(value, 'hex'), version);
    }
  }
  for (const version of ['1.20', '2.3'] as const)
    for (const { snapshot, values } of readCases(version).values())
      for (const value of values) addValue(evidence, snapshot, value, version);
}

/** What the fixtures of the repository prove. */
export function provenByFixtures(evidence = new Evidence()): Proven {
  addWrittenValues(evidence);
  const classes = openClassPool([join(ROOT, 'fixtures/classes.jar')]);
  for (const folder of folders(join(ROOT, 'fixtures/snapshots'))) {
    const { flink, metadata_path = 'snapshot/_metadata' } = head(join(folder, 'fixture.json'));
    addSnapshot(evidence, dirname(join(folder, metadata_path)), minor(flink), { classes });
  }
  return evidence.proven;
}

/** What the fixtures and the folder `shared` prove. */
export function provenByAll(): Proven {
  const evidence = new Evidence();
  provenByFixtures(evidence);
  for (const folder of folders(join(SHARED, 'corpus/serializers'))) {
    const version = /-(\d+\.\d+)$/.exec(folder)?.[1] ?? '';
    if (!existsSync(join(folder, 'test-data')) || !existsSync(join(folder, 'serializer-snapshot'))) continue;
    const read = (name: string): Buffer => readFileSync(join(folder, name));
    const seen = inspectSnapshot(read('serializer-snapshot'), read('test-data'), { flinkMajor: version.startsWith('2') ? 2 : 1 });
    if (seen.left_over === 0 && seen.reason === undefined) evidence.add(seen.snapshot, version);
  }
  for (const folder of folders(join(SHARED, 'corpus/snapshots'))) {
    const version = /flink(\d+\.\d+)/.exec(folder)?.[1];
    if (version !== undefined) addSnapshot(evidence, folder, version);
  }
  for (const group of ['datastream', 'sql', 'connectors'])
    for (const folder of folders(join(SHARED, 'stated', group))) {
      if (!existsSync(join(folder, 'expected.json'))) continue;
      const { flink, metadata_path, snapshot = 'snapshot' } = head(join(folder, 'expected.json'));
      const jar = [folder, dirname(folder), join(SHARED, 'stated')].map(d => join(d, 'classes.jar')).find(existsSync);
      const path = metadata_path === undefined ? join(folder, snapshot) : dirname(join(folder, metadata_path));
      addSnapshot(evidence, path, minor(flink), jar === undefined ? {} : { classes: openClassPool([jar]) });
    }
  return evidence.proven;
}

export const recorded = (): Proven => JSON.parse(readFileSync(RECORD, 'utf8')) as Proven;

/** Serializers in rows, Flink versions in columns; before 1.11 one column. */
export function matrixTable(proven: Proven): string {
  const all = [...new Set(Object.values(proven).flat())].sort(byVersion);
  const versions = all.filter(v => byVersion(v, '1.11') >= 0);
  const old = all.filter(v => byVersion(v, '1.11') < 0);
  const rows = Object.entries(proven).map(([name, has]) => {
    const early = old.filter(v => has.includes(v));
    return `| ${[name, early.join(', '), ...versions.map(v => (has.includes(v) ? 'yes' : ''))].join(' | ')} |`;
  });
  return `| serializer | before | ${versions.join(' | ')} |\n|---|---|${versions.map(() => '---|').join('')}\n${rows.join('\n')}\n`;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === resolve(import.meta.filename)) {
  const proven = hasShared ? provenByAll() : recorded();
  if (process.argv.includes('--write')) {
    if (!hasShared) throw new Error('the folder shared is not there: nothing to write');
    const lines = Object.entries(proven).map(
      ([name, versions]) => `  ${JSON.stringify(name)}: ${JSON.stringify(versions).replaceAll('","', '", "')}`,
    );
    writeFileSync(RECORD, `{\n${lines.join(',\n')}\n}\n`);
  }
  process.stdout.write(matrixTable(proven));
}
