/** state_stats and key_groups count what keyed_state_raw and timers show. */
import { describe, expect, it } from 'vitest';
import type { Value } from '../../src/types.js';
import { fixture, HAS_SHARED, type ObjectRow, rowsOf, stated, sum } from './support.js';

const SNAPSHOTS = [
  fixture('2.3-kinds-hashmap-native'),
  fixture('2.3-kinds-rocksdb-canonical'),
  fixture('2.3-kinds-rocksdb-incremental-p1'),
  fixture('2.3-kinds-forst-incremental-v2async-p1'),
  fixture('1.20-windows-hashmap-canonical'),
  fixture('2.3-kinds-hashmap-checkpoint-changelog-nomat'),
  ...(HAS_SHARED ? [stated('1.20-kinds-rocksdb-incremental-changelog'), stated('1.20-windows-hashmap-native')] : []),
];

const length = (value: Value | undefined) => (value instanceof Uint8Array ? value.length : 0);
const hex = (value: Value | undefined) => Buffer.from(value as Uint8Array).toString('hex');
const groupBy = (rows: readonly ObjectRow[], key: (row: ObjectRow) => string) => {
  const groups = new Map<string, ObjectRow[]>();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return groups;
};

describe.each(SNAPSHOTS)('%s', path => {
  const raw = rowsOf(path, 'keyed_state_raw');
  const stats = rowsOf(path, 'state_stats');

  it('state_stats has what keyed_state_raw has', () => {
    const states = groupBy(raw, r => `${r['operator_id']} ${r['state_name']}`);
    const keyed = stats.filter(s => s['state_kind'] === 'keyed');
    expect(keyed.length).toBeGreaterThan(0);
    for (const s of keyed) {
      const rows = states.get(`${s['operator_id']} ${s['state_name']}`) ?? [];
      const sizes = rows.flatMap(r => (r['value_size'] === null ? [] : [Number(r['value_size'])]));
      expect({
        state: s['state_name'],
        entries: s['entries'],
        keys: s['keys'],
        max: s['max_value_size'],
        mean: s['mean_value_size'],
        longest: s['longest_list'],
        maxKey: s['max_key_size'],
      }).toEqual({
        state: s['state_name'],
        entries: BigInt(rows.length),
        keys: BigInt(new Set(rows.map(r => hex(r['key_bytes']))).size),
        max: sizes.length === 0 ? null : BigInt(Math.max(...sizes)),
        mean: sizes.length === 0 ? null : sizes.reduce((a, b) => a + b, 0) / sizes.length,
        longest: s['longest_list'] === null ? null : BigInt(Math.max(0, ...rows.map(r => Number(r['list_index'] ?? -1) + 1))),
        maxKey: rows.length === 0 ? null : BigInt(Math.max(...rows.map(r => length(r['key_bytes'])))),
      });
    }
  });

  it('key_groups has every row in its key group', () => {
    const groups = rowsOf(path, 'key_groups');
    const keyed = groups.filter(g => g['state_kind'] === 'keyed');
    expect(Object.fromEntries(keyed.map(g => [`${g['operator_id']} ${g['state_name']} ${g['key_group']}`, g['entries']]))).toEqual(
      Object.fromEntries(
        [...groupBy(raw, r => `${r['operator_id']} ${r['state_name']} ${r['key_group']}`)].map(([k, rows]) => [k, BigInt(rows.length)]),
      ),
    );
    expect(sum(groups, 'entries')).toBe(BigInt(raw.length + rowsOf(path, 'timers').length));
    expect(sum(groups, 'size_bytes')).toBe(sum(stats, 'size_bytes'));
  });
});

describe('expired entries', () => {
  const path = fixture('2.3-kinds-rocksdb-canonical');
  it('are counted when a duration is given', () => {
    const meta = rowsOf(path, 'state_meta').filter(m => m['ttl'] === true && m['state_kind'] === 'keyed');
    expect(meta.length).toBeGreaterThan(0);
    const state = String(meta[0]['state_name']);
    const of = (asOfMillis: bigint) =>
      rowsOf(path, 'state_stats', { ttl: [{ state, millis: 1n }], asOfMillis }).find(s => s['state_name'] === state);
    expect(of(0n)?.['expired']).toBe(0n);
    const all = of(9_000_000_000_000n);
    expect(all?.['expired']).toBe(all?.['entries']);
    expect(rowsOf(path, 'state_stats').every(s => s['expired'] === null)).toBe(true);
  });
});
