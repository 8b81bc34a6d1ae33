/** Messages of stated snapshots: in byte[] states and in Kryo, as SQL types and as values. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { columnValue } from '../../src/io/column.js';
import { openProto } from '../../src/proto/schema.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { JsonText, sqlTypeText, type Value } from '../../src/types.js';
import { hasStated, type Json, STATED, statedCases } from '../connectors/stated.js';

interface StatedState {
  readonly name: string;
  readonly rows: readonly { readonly key: string; readonly value: Json }[];
}

/** The rows of keyed_state_raw: state, key, JSON of the value. */
function rawRows(
  path: string,
  proto: NonNullable<Parameters<typeof openSnapshot>[1]>['proto'],
): { state: string; key: string; json: string }[] {
  const snapshot = openSnapshot(path, proto === undefined ? {} : { proto });
  try {
    const rows: { state: string; key: string; json: string }[] = [];
    const scan = snapshot.catalog
      .find('keyed_state_raw')!
      .bind([])
      .scan({ columns: ['state_name', 'key_json', 'value_json'].map(name => ({ name, form: 'value' })), filters: [] });
    for (let batch = scan.next(); batch !== undefined; batch = scan.next())
      for (let i = 0; i < batch.length; i++) {
        const [state, key, value] = batch.columns.map(c => textOf(columnValue(c, i)));
        rows.push({ state, key, json: value });
      }
    scan.close();
    return rows;
  } finally {
    snapshot.close();
  }
}
const textOf = (value: Value): string => (value instanceof JsonText ? value.text : String(value));

/** Whether `got` says what is stated: scalars as text, maps as lists of key and value. */
function says(stated: Json, got: unknown): boolean {
  if (stated === null) return got === null;
  if (Array.isArray(stated)) {
    const pairs = stated as readonly { key?: Json; value?: Json }[];
    if (pairs.length > 0 && pairs.every(p => p !== null && typeof p === 'object' && 'key' in p && 'value' in p) && !Array.isArray(got))
      return pairs.every(p => says(p.value ?? null, (got as Record<string, unknown>)[String(p.key)]));
    if (stated.length === 0) return (Array.isArray(got) && got.length === 0) || JSON.stringify(got) === '{}';
    return Array.isArray(got) && got.length === stated.length && stated.every((x, i) => says(x, got[i]));
  }
  if (typeof stated === 'object') {
    const object = got as Record<string, unknown>;
    return Object.keys(stated).length === Object.keys(object).length && Object.entries(stated).every(([k, v]) => says(v, object[k]));
  }
  const text = String(got);
  return text === stated || (typeof got === 'number' && Number(stated) === got);
}

/** JSON with its integers as text. */
const exact = (json: string): unknown => JSON.parse(json.replace(/(?<=[[,:])-?\d{15,}(?=[,\]}])/g, '"$&"'));

const cases = statedCases('connectors').filter(c => c.name.startsWith('protobuf-'));

describe.runIf(hasStated)('stated messages', () => {
  for (const stated of cases) {
    describe(stated.name, async () => {
      const folder = join(STATED, 'connectors', stated.name);
      const schemas = await openProto(['shop.proto', 'legacy.proto'].map(f => join(folder, f)).filter(f => existsSync(f)));
      const proto = { schemas, types: [{ state: 'order-bytes', message: 'shop.v1.Order' }] };
      const states = stated.operators.flatMap(o => o.states).filter(s => s.kind === 'keyed') as unknown as readonly StatedState[];
      const rows = rawRows(stated.snapshot, proto);
      for (const state of states) {
        it(`${state.name}: every value`, () => {
          const got = new Map(rows.filter(r => r.state === state.name).map(r => [r.key, r.json]));
          expect(got.size).toBe(state.rows.length);
          for (const row of state.rows) {
            const value = row.value as { readonly decoded?: Json };
            const json = got.get(row.key) ?? 'null';
            expect([row.key, says(value.decoded ?? row.value, exact(json)), json]).toEqual([row.key, true, json]);
          }
        });
      }
      it('types come from the files', () => {
        const snapshot = openSnapshot(stated.snapshot, { proto });
        try {
          const types = new Map(
            snapshot.operators.flatMap(o => snapshot.statesOf(o).variants).map(v => [v.name, [sqlTypeText(v.shape.value.type), v.reason]]),
          );
          const order =
            'STRUCT(id BIGINT, customer VARCHAR, delta INTEGER, hash HUGEINT, paid BOOLEAN, raw BLOB, status VARCHAR, packed INTEGER[], ' +
            'tags VARCHAR[], counts MAP(VARCHAR, BIGINT), address STRUCT(street VARCHAR, city VARCHAR, geo DOUBLE[]), email VARCHAR, ' +
            'phone BIGINT, maybe INTEGER, at STRUCT(seconds BIGINT, nanos INTEGER), children JSON[], ratio FLOAT)';
          const item =
            'STRUCT(id INTEGER, name VARCHAR, weight DOUBLE, part STRUCT(label VARCHAR)[], kind VARCHAR, unpacked INTEGER[], ' +
            '"[shop.legacy.note]" VARCHAR)';
          expect(types.get('order-bytes')).toEqual([order, undefined]);
          expect(types.get('order')).toEqual([order, undefined]);
          expect(types.get('item')).toEqual([item, undefined]);
        } finally {
          snapshot.close();
        }
      });
      it('without them the bytes stay bytes', () => {
        const plain = rawRows(stated.snapshot, undefined);
        const value = plain.find(r => r.state === 'order-bytes' && r.key === '1')?.json ?? '';
        expect(value).toMatch(/^"[0-9a-f]+"$/);
        expect(plain.find(r => r.state === 'order' && r.key === '1')?.json).toContain(value.slice(1, -1));
      });
    });
  }
});
