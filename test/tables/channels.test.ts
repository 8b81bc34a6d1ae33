/** channel_state and channel_records of unaligned checkpoints. */
import { describe, expect, it } from 'vitest';
import { fixture, HAS_SHARED, type ObjectRow, rowsOf, stated, sum } from './support.js';

const SNAPSHOTS = [
  fixture('2.3-inflight-hashmap-checkpoint'),
  fixture('2.3-inflight-rocksdb-incremental-rescaled2to3'),
  fixture('1.20-inflight-hashmap-checkpoint'),
  fixture('1.17-inflight-hashmap-checkpoint'),
  ...(HAS_SHARED ? [stated('1.20-inflight-hashmap-checkpoint-onefile'), stated('1.20-inflight-rocksdb-incremental-merged')] : []),
];

const channelOf = (r: ObjectRow) =>
  `${r['operator_id']} ${r['subtask_index']} ${r['direction']} ${r['gate_or_partition']} ${r['channel_index']}`;

/** bytes of an element in front of its value: length, kind, and the timestamp of a record that has one */
const head = (r: ObjectRow) => 5 + (r['record_kind'] === 'record' && r['record_timestamp_ms'] !== null ? 8 : 0);

describe.each(SNAPSHOTS)('%s', path => {
  const channels = rowsOf(path, 'channel_state');
  const records = rowsOf(path, 'channel_records');
  it('adds up to what the operators say', () => {
    expect(channels.length).toBeGreaterThan(0);
    expect(new Set(channels.map(channelOf)).size).toBe(channels.length);
    expect(sum(channels, 'size_bytes')).toBe(sum(rowsOf(path, 'operators'), 'channel_state_size_in_bytes'));
  });
  it('has each byte of a channel in one record', () => {
    for (const channel of channels) {
      const own = records.filter(r => channelOf(r) === channelOf(channel));
      const bytes = own.reduce((total, r) => {
        const whole = r['record_kind'] !== 'continuation' && !(r['complete'] === false && (r['value_bytes'] as Uint8Array).length < 5);
        return total + (r['value_bytes'] as Uint8Array).length + (whole ? head(r) : 0);
      }, 0);
      const data = Number(channel['size_bytes']) - 4 * Number(channel['buffers']);
      // an element that is cut inside its head has no more than 13 bytes of it
      expect(Math.abs(bytes - data)).toBeLessThan(own.some(r => r['complete'] === false) ? 14 : 1);
      expect(own.map(r => Number(r['record_index']))).toEqual(own.map((_, i) => i));
    }
  });
  it('marks at most the first and the last element of a channel as cut', () => {
    for (const channel of channels) {
      const own = records.filter(r => channelOf(r) === channelOf(channel));
      expect(own.slice(1, -1).filter(r => r['complete'] === false)).toEqual([]);
    }
  });
});

it('a snapshot without in-flight data has no rows', () => {
  expect(rowsOf(fixture('2.3-kinds-hashmap-native'), 'channel_state')).toEqual([]);
  expect(rowsOf(fixture('2.3-kinds-hashmap-native'), 'channel_records')).toEqual([]);
});
