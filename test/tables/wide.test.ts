/**
 * The wide tables of operators say what keyed_state says: its rows joined by key (and window), in every backend; and what they read is
 * what the states hold, once.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StateQueryError } from '../../src/errors.js';
import { type Column, columnValue } from '../../src/io/column.js';
import { jsonOf } from '../../src/io/json.js';
import { ReadStats } from '../../src/io/source.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import type { StateVariant } from '../../src/tables/states.js';
import type { Filter, Restriction } from '../../src/tables/table.js';
import { Cells, WideRows } from '../../src/tables/wide-rows.js';
import { MapValue, type SqlType, type Value } from '../../src/types.js';
import { countOf, type Form, type GeneratedState, writeState } from '../bench/states.js';
import { inline, keyGroups, metadata } from '../checkpoint/encode.js';
import { canonicalGroup, keyed, keyedHeaderBytes, NO_NAMESPACE, STRING, string, UNKNOWN } from '../state/encode.js';

const root = join(import.meta.dirname, '../../fixtures/snapshots');
const names = readdirSync(root).filter(n => existsSync(join(root, n, 'snapshot')));

interface Rows {
  readonly types: readonly SqlType[];
  readonly rows: readonly (readonly Value[])[];
}

function read(
  snapshot: OpenedSnapshot,
  table: string,
  columns: readonly string[],
  { restrictions = [], filters = [], limit }: { restrictions?: Restriction[]; filters?: Filter[]; limit?: number } = {},
): Rows {
  const bound = snapshot.catalog.find(table)?.bind(restrictions);
  if (bound === undefined) throw new Error(`no table ${table}`);
  const asked = columns.map(name => {
    const column = bound.columns.find(c => c.name === name);
    if (column === undefined) throw new Error(`no column ${name}`);
    return { type: column.type, projection: { name, form: column.mixed ? ('json' as const) : ('value' as const) } };
  });
  const scan = bound.scan({ columns: asked.map(a => a.projection), filters, ...(limit === undefined ? {} : { limit }) });
  const rows: Value[][] = [];
  try {
    for (let batch = scan.next(); batch !== undefined; batch = scan.next()) {
      const { columns: filled }: { columns: readonly Column[] } = batch;
      for (let i = 0; i < batch.length; i++) rows.push(filled.map(c => columnValue(c, i)));
    }
  } finally {
    scan.close();
  }
  return { types: asked.map(a => a.type), rows };
}

/** What a read gives, or the kind of its failure. */
function attempt<T>(make: () => T): T | string {
  try {
    return make();
  } catch (error) {
    if (error instanceof StateQueryError) return error.code;
    throw error;
  }
}

/** The values of one state by key and namespace, put together out of the rows of keyed_state. */
function stateByKey(snapshot: OpenedSnapshot, v: StateVariant): Map<string, { key: string; value: Value }> {
  const { types, rows } = read(snapshot, 'keyed_state', ['key', 'namespace', 'map_key', 'value'], {
    restrictions: [
      { column: 'operator_id', values: [v.operator.id] },
      { column: 'state_name', values: [v.name] },
    ],
  });
  const out = new Map<string, { key: string; value: Value }>();
  for (const [key, namespace, mapKey, value] of rows) {
    const text = jsonOf(types[0], key);
    const id = `${text}\0${jsonOf(types[1], namespace)}`;
    const known = out.get(id);
    if (v.shape.form === 'list') {
      if (known === undefined) out.set(id, { key: text, value: [value] });
      else (known.value as Value[]).push(value);
    } else if (v.shape.form === 'map') {
      const entries = known === undefined ? [] : (known.value as MapValue).entries;
      out.set(id, { key: text, value: new MapValue([...entries, [mapKey, value]]) });
    } else {
      expect(known, `${v.name} ${id}`).toBeUndefined();
      out.set(id, { key: text, value });
    }
  }
  return out;
}

function compareWithKeyedState(snapshot: OpenedSnapshot, table: string, variants: readonly StateVariant[]): void {
  const columns = (snapshot.catalog.find(table)?.spec.columns ?? []).map(c => c.name);
  const stateColumns = columns.filter(c => c !== 'state_key' && c !== 'state_window');
  expect(stateColumns.length).toBe(variants.length);
  const shown: { readonly column: string; readonly alone: Rows; readonly states: Map<string, { key: string; value: Value }> }[] = [];
  let entries = 0;
  for (const [i, v] of variants.entries()) {
    const before = snapshot.stats.entriesDecoded;
    const states = attempt(() => stateByKey(snapshot, v));
    entries += snapshot.stats.entriesDecoded - before;
    const alone = attempt(() => read(snapshot, table, [stateColumns[i]]));
    if (typeof states === 'string' || typeof alone === 'string') expect([v.name, alone]).toEqual([v.name, states]);
    else shown.push({ column: stateColumns[i], alone, states });
  }
  const whole = shown.length === variants.length;
  const before = snapshot.stats.entriesDecoded;
  const count = attempt(() => read(snapshot, table, []).rows.length);
  if (typeof count === 'string') return;
  if (whole) expect(snapshot.stats.entriesDecoded - before).toBe(entries);
  const { types, rows } = read(snapshot, table, ['state_key', ...shown.map(s => s.column)]);
  expect(rows.length).toBe(count);
  const keys = new Map(shown.flatMap(({ states }) => [...states].map(([id, { key }]) => [id, key] as const)));
  if (whole) expect(rows.length).toBe(keys.size);
  const expected = [...keys].map(([id, key]) =>
    [key, ...shown.map(({ states }, i) => jsonOf(types[i + 1], states.get(id)?.value ?? null))].join(' | '),
  );
  const found = rows.map(row => row.map((value, i) => jsonOf(types[i], value)).join(' | '));
  const nothing = [...'x'.repeat(shown.length)].map(() => 'null').join(' | ');
  const some = (lines: readonly string[]) => lines.filter(line => whole || !line.endsWith(` | ${nothing}`)).sort();
  expect(some(found)).toEqual(some(expected));
  for (const [i, { alone }] of shown.entries())
    expect(alone.rows.map(r => jsonOf(types[i + 1], r[0]))).toEqual(rows.map(r => jsonOf(types[i + 1], r[i + 1])));
  const half = Math.ceil(count / 2);
  expect(read(snapshot, table, ['state_key'], { limit: half }).rows).toEqual(rows.slice(0, half).map(r => [r[0]]));
}

describe('wide tables have what keyed_state has', () => {
  it.each(names)('%s', name => {
    const snapshot = openSnapshot(join(root, name, 'snapshot'), { stats: new ReadStats() });
    try {
      for (const operator of snapshot.operators) {
        const { variants } = snapshot.statesOf(operator);
        // where subtasks differ in type, a wide table shows one form only
        if (variants.some(v => v.variant > 0)) continue;
        const keyed = variants.filter(v => v.kind === 'keyed' && v.shape.namespace === undefined);
        const windowed = variants.filter(v => v.kind === 'keyed' && v.shape.namespace !== undefined);
        if (keyed.length > 0) compareWithKeyedState(snapshot, `id_${operator.id}_keyed`, keyed);
        if (windowed.length > 0) compareWithKeyedState(snapshot, `id_${operator.id}_windowed`, windowed);
      }
    } finally {
      snapshot.close();
    }
  });
});

describe.each<Form>(['canonical', 'heap'])('a %s savepoint of 20,000 keys', form => {
  const KEYS = 20_000;
  const directory = mkdtempSync(join(tmpdir(), 'statequery-wide-'));
  let state: GeneratedState;
  beforeAll(() => {
    state = writeState(join(directory, 'savepoint'), KEYS, form);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** Rows, and what was read and decoded for them behind the headers. */
  function ask(columns: readonly string[], filters: Filter[] = []) {
    const stats = new ReadStats();
    const snapshot = openSnapshot(state.path, { stats });
    try {
      for (const operator of snapshot.operators) snapshot.statesOf(operator);
      const { bytesRead, reads, entriesDecoded } = stats;
      const { rows } = read(snapshot, `id_${snapshot.operators[0].id}_keyed`, columns, { filters });
      return { rows, bytes: stats.bytesRead - bytesRead, reads: stats.reads - reads, entries: stats.entriesDecoded - entriesDecoded };
    } finally {
      snapshot.close();
    }
  }

  it.each([[[]], [['count']], [['state_key', 'count', 'profile']]])('%j reads everything once', columns => {
    const { rows, bytes, reads, entries } = ask(columns);
    expect(rows.length).toBe(KEYS);
    expect(entries).toBe(2 * KEYS);
    expect(bytes).toBeLessThanOrEqual(state.bytes + 2 * 4096);
    expect(reads).toBeLessThan(2 * Math.ceil(state.bytes / (1 << 20)) + 8);
  });

  it('one key reads its key group', () => {
    const { rows, bytes, entries } = ask(
      ['state_key', 'count'],
      [{ column: 'state_key', op: '=', value: { kind: 'string', value: 'key_662' } }],
    );
    expect(rows).toEqual([['key_662', BigInt(countOf(662))]]);
    expect(entries).toBe(2);
    expect(bytes).toBeLessThan(state.bytes / 50);
  });
});

it('does not look for each of 32,768 key groups', () => {
  const stats = new ReadStats();
  const snapshot = openSnapshot(join(root, '2.3-small-rocksdb-incremental-mp32768/snapshot'), { stats });
  try {
    for (const operator of snapshot.operators)
      if (snapshot.catalog.find(`id_${operator.id}_keyed`) !== undefined) read(snapshot, `id_${operator.id}_keyed`, ['state_key']);
    expect(stats.reads).toBeLessThan(500);
  } finally {
    snapshot.close();
  }
});

it('a map whose serializer is not known still has one row a key', () => {
  const directory = mkdtempSync(join(tmpdir(), 'statequery-wide-'));
  try {
    const header = keyedHeaderBytes(STRING, [keyed('m', 'MAP', UNKNOWN)]);
    const composite = (key: string, mapKey: string) => Buffer.concat([string(key), NO_NAMESPACE, string(mapKey)]);
    const entries = ['x', 'y'].flatMap(key => ['p', 'q', 'r'].map(k => [composite(key, k), Buffer.from([0, 1])] as const));
    const bytes = Buffer.concat([header, canonicalGroup(0, [{ id: 0, entries }])]);
    const handle = keyGroups(7, 0, [header.length], inline('state', bytes));
    writeFileSync(join(directory, '_metadata'), metadata(5, [{ subtasks: [{ index: 0, body: { managedKeyed: handle } }] }]));
    const snapshot = openSnapshot(directory);
    try {
      const table = `id_${snapshot.operators[0].id}_keyed`;
      expect(read(snapshot, table, ['state_key']).rows).toEqual([['x'], ['y']]);
      expect(read(snapshot, table, []).rows.length).toBe(2);
      expect(read(snapshot, 'state_stats', ['entries', 'keys']).rows).toEqual([[6n, 2n]]);
    } finally {
      snapshot.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

describe('rows out of entries', () => {
  const entry = (
    key: readonly number[],
    namespace: readonly number[] = [],
    value: readonly number[] = [],
    userKey: readonly number[] = [],
  ) => {
    const bytes = Uint8Array.from([...namespace, ...key, ...userKey, ...value]);
    const keyStart = namespace.length;
    const keyEnd = keyStart + key.length;
    const valueStart = keyEnd + userKey.length;
    return {
      ...{ state: 0, keyGroup: 0, bytes, base: 100, keyStart, keyEnd, namespaceStart: 0, namespaceEnd: namespace.length },
      ...{ userKeyStart: keyEnd, userKeyEnd: valueStart, valueStart, valueEnd: bytes.length, next: () => false, close: () => undefined },
    };
  };
  const keyOf = (rows: WideRows, row: number) => [...rows.bytes.subarray(rows.keyStart(row), rows.keyEnd(row))];

  it('are in the order in which their keys are met', () => {
    const rows = new WideRows(false);
    for (let round = 0; round < 3; round++) {
      rows.clear();
      expect([[3], [5], [7]].map(key => rows.rowOf(entry(key), 0))).toEqual([0, 1, 2]);
      // one more in between, one behind, one that is there
      expect([[4], [5], [9], [7, 1]].map(key => rows.rowOf(entry(key), 1))).toEqual([3, 1, 4, 5]);
      expect([[9], [3], [4], [7], [7, 1], []].map(key => rows.rowOf(entry(key), 2))).toEqual([4, 0, 3, 2, 5, 6]);
      expect(Array.from({ length: rows.count }, (_, i) => keyOf(rows, i))).toEqual([[3], [5], [7], [4], [9], [7, 1], []]);
    }
  });
  it('are found among many, whatever their order', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 20_011);
    const bytes = (n: number) => [n & 255, n >> 8, ...(n % 3 === 0 ? [] : [n % 3])];
    const rows = new WideRows(false);
    expect(keys.map(k => rows.rowOf(entry(bytes(k)), 0))).toEqual(keys.map((_, i) => i));
    expect([...keys].reverse().map(k => rows.rowOf(entry(bytes(k)), 1))).toEqual(keys.map((_, i) => keys.length - 1 - i));
  });
  it('are told apart by where the key ends and the namespace begins', () => {
    const rows = new WideRows(true);
    const pairs: [number[], number[]][] = [
      [[1], [0, 2]],
      [[1, 0], [2]],
      [[1, 0, 2], []],
      [[1], [0, 2, 0]],
    ];
    expect(pairs.map(([key, namespace]) => rows.rowOf(entry(key, namespace), 0))).toEqual([0, 1, 2, 3]);
    expect([...pairs].reverse().map(([key, namespace]) => rows.rowOf(entry(key, namespace), 1))).toEqual([3, 2, 1, 0]);
  });
  it('have the last value, or all map entries, with their places in the file', () => {
    const single = new Cells(false);
    single.add(2, entry([1], [], [7, 8]));
    single.add(2, entry([1], [], [9]));
    expect([0, 1, 3].map(row => single.entryOf(row))).toEqual([0, 0, 0]);
    const at = single.entryOf(2);
    expect([...single.bytes.subarray(single.valueStart(at), single.valueEnd(at))]).toEqual([9]);
    expect(single.baseOf(at) + single.valueStart(at)).toBe(101);
    const chained = new Cells(true);
    for (let i = 0; i < 3000; i++) chained.add(i % 2, entry([i % 2], [], [i & 255, i >> 8], [1]));
    let last = 0;
    let n = 0;
    for (let e = chained.entryOf(1); e !== 0; e = chained.nextOf(e), n++) last = e;
    expect(n).toBe(1500);
    expect([...chained.bytes.subarray(chained.mapKeyStart(last), chained.valueEnd(last))]).toEqual([1, 2999 & 255, 2999 >> 8]);
  });
});
