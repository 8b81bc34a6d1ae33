/** --proto and --proto-type. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadProto, parseProtoType, protoOptions } from '../../src/cli/proto.js';

const folder = mkdtempSync(join(tmpdir(), 'proto-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('options', () => {
  it('name states, with or without the operator', () => {
    expect(parseProtoType('orders=shop.v1.Order')).toEqual([{ state: 'orders', message: 'shop.v1.Order' }]);
    expect(parseProtoType('my.op.state=.Order')).toEqual([
      { state: 'my.op.state', message: 'Order' },
      { operator: 'my', state: 'op.state', message: 'Order' },
      { operator: 'my.op', state: 'state', message: 'Order' },
    ]);
    for (const text of ['orders', '=Order', 'orders=']) expect(() => parseProtoType(text)).toThrow(/expected state=Message/);
  });
  it('go together', async () => {
    expect(protoOptions({ proto: [], protoType: [] })).toEqual({});
    expect(() => protoOptions({ proto: [], protoType: ['a=B'] })).toThrow(/without --proto/);
    const file = join(folder, 'a.proto');
    writeFileSync(file, 'syntax = "proto3"; package p; message A { int64 n = 1; }');
    await loadProto([file]);
    expect(() => protoOptions({ proto: [file], protoType: ['s=Nope'] })).toThrow(/no message Nope/);
    const { proto } = protoOptions({ proto: [file], protoType: ['s=A'] });
    expect([proto?.schemas.message('A')?.name, proto?.types]).toEqual(['p.A', [{ state: 's', message: 'A' }]]);
  });
});
