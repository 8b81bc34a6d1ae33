/** Snapshots that state what they hold: every row of keyed state, timers and in-flight records. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openChannels } from '../../src/state/channel.js';
import type { KeyedStateReader, StateContext } from '../../src/state/entry.js';
import { openKeyedState, openOperatorState } from '../../src/state/open.js';
import { openRawKeyedState } from '../../src/state/raw-keyed.js';
import { rawPartitions } from '../../src/state/raw-operator.js';
import { keyedRows, operatorRows } from './rows.js';
import { openSnapshot, SHARED, subtasks } from './snapshots.js';

const ROOT = join(SHARED, 'stated/datastream');
const cases = existsSync(ROOT) ? readdirSync(ROOT).sort() : [];

interface Expected {
  readonly metadata_path?: string;
  readonly operators: readonly {
    readonly operator_id: string;
    readonly states: readonly {
      readonly name: string;
      readonly kind: string;
      readonly type?: string;
      readonly ttl?: boolean;
      readonly partial?: boolean;
      readonly rows: readonly Readonly<Record<string, unknown>>[];
    }[];
  }[];
}

function load(name: string) {
  const directory = join(ROOT, name);
  const expected = JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8')) as Expected;
  const path = expected.metadata_path ?? 'snapshot/_metadata';
  return {
    expected,
    snapshot: openSnapshot(existsSync(join(directory, path)) ? join(directory, path) : join(directory, 'snapshot', path)),
  };
}

/** Scalars in one form: times as epoch milliseconds, whole numbers without a fraction; fields in the order of their names. */
function canonical(value: unknown): unknown {
  if (typeof value === 'string') {
    if (/^-?\d+\.0$/.test(value)) return value.slice(0, -2);
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z?$/.test(value)) return String(Date.parse(value.endsWith('Z') ? value : `${value}Z`));
    return value;
  }
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([k, v]) => [k, canonical(v)]));
}
const text = (...parts: readonly unknown[]) => JSON.stringify(parts.map(p => canonical(p ?? null)));

/** The merging window set is written in the order of a hash map. */
const indexOf = (state: string, index: unknown) => (state === 'merging-window-set' ? null : index);

const RELEVANT = cases.filter(
  c => /-(kinds|keys|windows)-/.test(c) && (/-hashmap-|-canonical|changelog|heaptimers/.test(c) || c.endsWith('-rocksdb-native')),
);

describe.runIf(RELEVANT.length > 0)('stated keyed state', () => {
  it.each(RELEVANT)('%s', name => {
    const { expected, snapshot } = load(name);
    const rows = new Map<string, string[]>();
    const opaque = new Set<string>();
    const ttl = new Set(expected.operators.flatMap(o => o.states.filter(s => s.ttl).map(s => `${o.operator_id} ${s.name}`)));
    for (const { operator, subtask, context } of subtasks(snapshot)) {
      const add = (reader: KeyedStateReader, at: StateContext) => {
        if (reader.header.key.unknown !== undefined) opaque.add(operator.id);
        for (const r of keyedRows(reader, at)) {
          const id = `${operator.id} ${r.state}`;
          const value = ttl.has(id) && r.value !== null ? (r.value as { value?: unknown }).value : r.value;
          const list = rows.get(id) ?? [];
          list.push(text(r.key, r.namespace, r.mapKey, indexOf(r.state, r.index), value));
          rows.set(id, list);
        }
        reader.close();
      };
      if (subtask.managedKeyed !== undefined) add(openKeyedState(subtask.managedKeyed, context), context);
      if (subtask.rawKeyed !== undefined) {
        const raw = openRawKeyedState(subtask.rawKeyed, context);
        if (raw.kind === 'timers') add(raw.reader, context);
      }
    }
    let compared = 0;
    for (const operator of expected.operators) {
      if (opaque.has(operator.operator_id)) continue;
      for (const state of operator.states) {
        if (state.kind !== 'keyed' && state.kind !== 'timer') continue;
        const wanted = state.rows.map(r =>
          text(r['key'], r['namespace'], r['map_key'], indexOf(state.name, r['list_index']), r['value'] ?? r['timestamp']),
        );
        expect(rows.get(`${operator.operator_id} ${state.name}`)?.sort() ?? [], state.name).toEqual(wanted.sort());
        compared += wanted.length;
      }
    }
    expect(compared).toBeGreaterThan(50);
    if (opaque.size === 0) expect(snapshot.warnings).toEqual([]);
    snapshot.files.close();
  });
});

const OPERATORS = cases.filter(c => c.includes('-operators-'));
describe.runIf(OPERATORS.length > 0)('stated operator and raw state', () => {
  it.each(OPERATORS)('%s', name => {
    const { expected, snapshot } = load(name);
    const found = new Map<string, string[]>();
    for (const { operator, subtask, context } of subtasks(snapshot)) {
      const add = (state: string, row: string) => {
        const id = `${operator.id} ${state}`;
        found.set(id, [...(found.get(id) ?? []), row]);
      };
      if (subtask.managedOperator !== undefined) {
        const reader = openOperatorState(subtask.managedOperator, context);
        for (const r of operatorRows(reader, context))
          add(r.state, r.mapKey === undefined ? text(subtask.index, r.index, r.value) : text(subtask.index, r.mapKey, r.value));
        reader.close();
      }
      if (subtask.rawKeyed !== undefined) {
        const raw = openRawKeyedState(subtask.rawKeyed, context);
        if (raw.kind === 'bytes') for (const g of raw.groups()) add('raw keyed', text(g.keyGroup, Buffer.from(g.bytes).toString('hex')));
        raw.close();
      }
      if (subtask.rawOperator !== undefined)
        for (const p of rawPartitions(subtask.rawOperator, context))
          add('raw operator', text(subtask.index, p.index, Buffer.from(p.bytes).toString('hex')));
    }
    let compared = 0;
    for (const operator of expected.operators)
      for (const state of operator.states) {
        const got = found.get(`${operator.operator_id} ${state.name}`) ?? [];
        if (state.type === 'RAW_KEYED') expect(got.sort()).toEqual(state.rows.map(r => text(r['key_group'], r['value'])).sort());
        else if (state.kind === 'broadcast')
          // every subtask has its copy
          expect(got.filter(r => r.startsWith('[0,')).sort()).toEqual(state.rows.map(r => text(0, r['key'], r['value'])).sort());
        else if (/SourceReader|raw_states/.test(state.name)) continue;
        else if (state.kind === 'operator' || state.type === 'RAW_OPERATOR')
          expect(got.sort(), state.name).toEqual(state.rows.map(r => text(r['subtask'], r['list_index'], r['value'])).sort());
        else continue;
        compared += got.length;
      }
    expect(compared).toBeGreaterThan(50);
    snapshot.files.close();
  });
});

const IN_FLIGHT = cases.filter(c => c.includes('-inflight-'));
describe.runIf(IN_FLIGHT.length > 0)('stated in-flight records', () => {
  it.each(IN_FLIGHT)('%s', name => {
    const { expected, snapshot } = load(name);
    const stated = expected.operators.flatMap(o => o.states).find(s => s.type === 'IN_FLIGHT');
    const channels = [...subtasks(snapshot)].flatMap(({ subtask, context }) => subtask.channels.map(handle => ({ handle, context })));
    const readers = openChannels(channels);
    // what the receiver holds, then what the sender still held for it; a cut record is one
    const found: string[] = [];
    for (const receiver of new Set(stated?.rows.map(r => Number(r['subtask'])))) {
      const sides = [
        readers.find(r => r.handle.direction === 'input' && r.handle.subtaskIndex === receiver),
        readers.find(r => r.handle.direction === 'output' && r.handle.channelIndex === receiver),
      ];
      let cut = Buffer.alloc(0);
      let size = 0;
      for (const side of sides)
        for (const e of side?.elements() ?? []) {
          const bytes = Buffer.from(e.bytes.subarray(e.start, e.end));
          if (!e.complete && e.kind === 'record') cut = bytes;
          else {
            const value = e.kind === 'continuation' ? Buffer.concat([cut, bytes]) : bytes;
            // (Long, String): the string is ASCII but for one letter
            found.push(`${receiver} ${value.readBigInt64BE(value.length - valueLength(value))}`);
          }
          size++;
        }
      expect(size).toBeGreaterThan(0);
    }
    expect(found).toEqual(stated?.rows.map(r => `${r['subtask']} ${(r['value'] as { f0: string }).f0}`));
    for (const r of readers) expect(r.size + 4 * r.buffers + (r.handle.stream.kind === 'inline' ? 4 : 0)).toBe(r.handle.size);
    snapshot.files.close();
  });

  /** Bytes of the value; a continuation may begin inside the timestamp in front of it. */
  function valueLength(bytes: Buffer): number {
    for (let start = Math.max(0, bytes.length - 400); start + 10 <= bytes.length; start++) {
      const shift = bytes[start + 8] >= 0x80 ? 2 : 1;
      const units = shift === 2 ? (bytes[start + 8] & 0x7f) + (bytes[start + 9] << 7) - 1 : bytes[start + 8] - 1;
      let at = start + 8 + shift;
      let left = units;
      for (; left > 0 && at < bytes.length; left--) at += bytes[at] >= 0x80 ? 2 : 1;
      if (left === 0 && at === bytes.length && bytes.readInt32BE(start) === 0) return bytes.length - start;
    }
    throw new Error('no value');
  }
});
