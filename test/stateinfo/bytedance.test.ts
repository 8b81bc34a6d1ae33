/** ByteDance's `_stateinfo`: what the stated files say, and what is wrong with damaged ones. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeStateInfoFile } from '../../src/stateinfo/bytedance.js';
import { showStateInfo } from '../../src/stateinfo/show.js';
import { gatherNames } from '../../src/stateinfo/sources.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { stateMetaRows } from '../../src/tables/state-meta.js';

const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(import.meta.dirname, '../../../shared');
const STATED = join(SHARED, 'stated/stateinfo');

interface Block {
  readonly states: readonly Record<string, unknown>[];
}
interface Operator {
  readonly operator_id: string;
  readonly keyed: Block | null;
  readonly operator: Block | null;
}
interface Document {
  readonly checkpoint_id: number;
  readonly operators: readonly Operator[];
}

/** Operators and states lie in the order of a Java hash map. */
function sorted(document: Document): unknown {
  const block = (b: Block | null): unknown =>
    b === null ? null : { ...b, states: [...b.states].sort((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1)) };
  return {
    checkpoint_id: document.checkpoint_id,
    operators: [...document.operators]
      .sort((a, b) => (a.operator_id < b.operator_id ? -1 : 1))
      .map(o => ({ ...o, keyed: block(o.keyed), operator: block(o.operator) })),
  };
}

/** What the stated document does not say: SQL types of keys; and it has names for values of another tool. */
function comparable(document: unknown): unknown {
  return JSON.parse(
    JSON.stringify(document, (key, value) => {
      if (key === 'bytedance_value_type' || key === 'key_type') return undefined;
      return key === 'value_type' && typeof value === 'string' ? value.replaceAll('"', '') : value;
    }),
  );
}

describe.runIf(existsSync(STATED))('a stated file', () => {
  it.each(['two-operators-heap', 'rowdata-rocksdb'])('%s: names, types, descriptors', async name => {
    const stated = JSON.parse(readFileSync(join(STATED, name, 'expected.json'), 'utf8')) as { readonly stateinfo: Document };
    const { document } = await showStateInfo(join(STATED, name, 'snapshot'));
    const withoutAbsent = (d: unknown): unknown =>
      JSON.parse(JSON.stringify(d, (k, v) => (v === null && k !== 'keyed' && k !== 'operator' ? undefined : v)));
    expect(withoutAbsent(comparable(sorted(document as Document)))).toEqual(withoutAbsent(comparable(sorted(stated.stateinfo))));
  });

  it('names operators and says what descriptors add', async () => {
    const path = join(STATED, 'two-operators-heap/snapshot');
    const snapshot = openSnapshot(path, await gatherNames(path, {}));
    const rows = [...stateMetaRows(snapshot)];
    snapshot.close();
    expect([...new Set(rows.filter(r => r['state_name'] !== undefined).map(r => `${r['operator_uid']} ${r['operator_name']}`))]).toEqual([
      'kinds_uid Keyed Kinds',
      'ops_uid Operator States',
    ]);
    expect(rows.find(r => r['state_name'] === 'buffer')?.['operator_uid_source']).toBe('stateinfo');
    const reason = (state: string) => rows.find(r => r['state_name'] === state)?.['reason'];
    expect(reason('value-with-default')).toBe('_stateinfo: ValueStateDescriptor, queryable as queryable-name-ž, default value 42');
    expect(reason('ttl-value')).toBe(
      '_stateinfo: ValueStateDescriptor, TTL 315360000000 ms (OnReadAndWrite, ReturnExpiredIfNotCleanedUp, ProcessingTime)',
    );
    expect(reason('value-pojo')).toBeNull();
  });

  it('that is cut off is refused, and the snapshot is readable', async () => {
    const path = join(STATED, 'truncated/snapshot');
    await expect(showStateInfo(path)).rejects.toMatchObject({
      exitCode: 5,
      where: 'operator 1a5b694adadc75bce528d3625b7bc429, keyed state map-long-tuple',
    });
    const notes: string[] = [];
    const names = await gatherNames(path, {}, { warn: note => void notes.push(note) });
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/_stateinfo is not used: class name needs 59 bytes, 8 remain \(byte 44234, operator 1a5b.*map-long-tuple\)$/);
    const snapshot = openSnapshot(path, names);
    expect([...stateMetaRows(snapshot)].filter(r => r['decodable'] === true).length).toBeGreaterThan(15);
    snapshot.close();
  });
});

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('bytes', () => {
  const OPERATOR = '000000000000000a0000000000000000 04 0008 746573744e616d65 03';
  const KEYED = `01 0054 ${Buffer.from('org.apache.flink.api.common.typeutils.base.StringSerializer$StringSerializerSnapshot').toString('hex')} 00000003 0012 ${Buffer.from('HEAP_STATE_BACKEND').toString('hex')} 00000000`;

  it('without operators', () => {
    expect(decodeStateInfoFile(bytes('0000000000000001 00000000'), 'f')).toEqual({ checkpointId: 1n, operators: [] });
  });
  it('of an operator without states', () => {
    expect(decodeStateInfoFile(bytes(`0000000000000001 00000001 ${OPERATOR} 00 00`), 'f').operators).toEqual([
      { id: '000000000000000a0000000000000000', name: 'testName', uid: null, keyed: null, operator: null },
    ]);
  });
  it('of a keyed block without states', () => {
    const [operator] = decodeStateInfoFile(bytes(`0000000000000001 00000001 ${OPERATOR} 00 ${KEYED}`), 'f').operators;
    expect(operator.keyed).toMatchObject({
      keySerializer: 'org.apache.flink.api.common.typeutils.base.StringSerializer',
      backend: 'HEAP_STATE_BACKEND',
      states: [],
    });
  });
  it.each([
    ['ffffffffffffffff 00000000', 'checkpoint id -1'],
    ['0000000000000001 ffffffff', '-1 operators'],
    ['0000000000000001 7fffffff', '2147483647 operators in 0 bytes'],
    ['0000000000000001 00000000 00', '1 bytes left over after the last operator'],
    [`0000000000000001 00000001 ${OPERATOR} 05 00`, 'block tag 5, expected 0 or 2'],
    [`0000000000000001 00000001 ${OPERATOR.replace('04', '06')} 00 00`, 'tag 6 of the operator name, expected 3 or 4'],
    [`0000000000000001 00000001 ${OPERATOR} 00 ${KEYED.slice(0, -8)}ffffffff`, '-1 states'],
    ['0000', 'remain'],
  ])('that are wrong: %s', (hex, message) => {
    expect(() => decodeStateInfoFile(bytes(hex), 'f')).toThrow(message);
  });
});
