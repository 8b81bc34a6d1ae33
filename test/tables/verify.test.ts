/** verify: undamaged snapshots are whole; damage is found, with the operators and states that lose something. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Verified, verifySnapshot } from '../../src/tables/verify.js';
import { fixture, HAS_SHARED, rowsOf, SHARED, withSnapshot } from './support.js';

const FIXTURES = fixture('x').replace(/x\/snapshot$/, '');
const temporary = mkdtempSync(join(tmpdir(), 'statequery-verify-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

function verify(path: string): Verified {
  return withSnapshot(path, snapshot => {
    const steps = verifySnapshot(snapshot);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  });
}

let copies = 0;
function copyOf(name: string): string {
  const to = join(temporary, String(copies++));
  cpSync(fixture(name), to, { recursive: true });
  return to;
}

const told = (v: Verified) =>
  v.findings.map(f => ({ problem: f.problem, file: basename(f.file ?? ''), uid: f.operator?.uid, subtask: f.subtask, state: f.state }));

describe('what Flink wrote is whole', () => {
  it.each(readdirSync(FIXTURES))('%s', name => {
    expect(told(verify(fixture(name)))).toEqual([]);
  });
  if (HAS_SHARED)
    it.each(readdirSync(join(SHARED, 'stated/datastream')))('%s', name => {
      expect(told(verify(join(SHARED, 'stated/datastream', name, 'snapshot')))).toEqual([]);
    });
});

describe('a RocksDB checkpoint', () => {
  const name = '2.3-kinds-rocksdb-incremental-p1';
  const sst = (path: string) => {
    const files = rowsOf(path, 'state_handles').filter(h => String(h['local_name']).endsWith('.sst'));
    return files.sort((a, b) => Number((b['size_bytes'] as bigint) - (a['size_bytes'] as bigint)))[0];
  };
  it('with a table missing', () => {
    const copy = copyOf(name);
    const { path, operator_uid: uid } = sst(copy);
    unlinkSync(String(path));
    const found = told(verify(copy));
    expect(found[0]).toEqual({ problem: 'missing', file: basename(String(path)), uid, subtask: 0, state: undefined });
    expect(found.every(f => f.file === basename(String(path)))).toBe(true);
  });
  it('with a table cut', () => {
    const copy = copyOf(name);
    const { path, operator_uid: uid } = sst(copy);
    truncateSync(String(path), statSync(String(path)).size - 7);
    expect(told(verify(copy))[0]).toEqual({ problem: 'short', file: basename(String(path)), uid, subtask: 0, state: undefined });
  });
  it('with a byte of a block flipped: the state is named, the others are read', () => {
    const copy = copyOf(name);
    const { path, operator_uid: uid } = sst(copy);
    const bytes = readFileSync(String(path));
    bytes[10] ^= 4;
    writeFileSync(String(path), bytes);
    const whole = verify(fixture(name));
    const damaged = verify(copy);
    const states = new Set(damaged.findings.map(f => f.state));
    expect(damaged.findings.length).toBeGreaterThan(0);
    expect(damaged.findings.every(f => f.problem === 'damaged' && f.operator?.uid === uid && f.file === path)).toBe(true);
    expect(states.size).toBe(1);
    expect([...states][0]).toBeDefined();
    expect(damaged.entries).toBeGreaterThan(whole.entries / 2);
    expect(damaged.entries).toBeLessThan(whole.entries);
  });
});

describe('canonical and heap savepoints', () => {
  it.each(['2.3-kinds-rocksdb-canonical', '2.3-kinds-hashmap-native'])('%s: behind a damaged key group the others are read', name => {
    const copy = copyOf(name);
    const handle = rowsOf(copy, 'state_handles')
      .filter(h => h['slot'] === 'managed-keyed')
      .sort((a, b) => Number((b['size_bytes'] as bigint) - (a['size_bytes'] as bigint)))[0];
    const path = String(handle['path']);
    const bytes = readFileSync(path);
    bytes.fill(0xff, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 64);
    writeFileSync(path, bytes);
    const whole = verify(fixture(name));
    const damaged = verify(copy);
    expect(damaged.findings.length).toBeGreaterThan(0);
    expect(damaged.findings[0]).toMatchObject({ problem: 'damaged', file: path, subtask: handle['subtask_index'] });
    expect(damaged.entries).toBeGreaterThan(whole.entries * 0.8);
    expect(damaged.entries).toBeLessThan(whole.entries);
  });
});
