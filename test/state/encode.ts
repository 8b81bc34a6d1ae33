/** Writes state files by hand, for tests. */
import type { KeyGroupsHandle, StreamHandle } from '../../src/checkpoint/handles.js';
import { memorySource } from '../../src/io/source.js';
import type { StateContext } from '../../src/state/entry.js';

export class Out {
  private readonly parts: Buffer[] = [];
  size = 0;
  raw(bytes: Uint8Array): this {
    this.parts.push(Buffer.from(bytes));
    this.size += bytes.length;
    return this;
  }
  private number(length: number, write: (b: Buffer) => void): this {
    const b = Buffer.alloc(length);
    write(b);
    return this.raw(b);
  }
  u8(n: number): this {
    return this.raw(Uint8Array.of(n));
  }
  u16(n: number): this {
    return this.number(2, b => b.writeUInt16BE(n));
  }
  i32(n: number): this {
    return this.number(4, b => b.writeInt32BE(n));
  }
  i64(n: bigint | number): this {
    return this.number(8, b => b.writeBigInt64BE(BigInt(n)));
  }
  utf(text: string): this {
    const bytes = Buffer.from(text, 'utf8');
    return this.u16(bytes.length).raw(bytes);
  }
  bytes(): Buffer {
    return Buffer.concat(this.parts);
  }
}

const BASE = 'org.apache.flink.api.common.typeutils.base.';
const STATE = 'org.apache.flink.runtime.state.';
export type Snapshot = (out: Out) => Out;
const simple =
  (name: string): Snapshot =>
  out =>
    out.utf(name).i32(3);
export const STRING = simple(`${BASE}StringSerializer$StringSerializerSnapshot`);
export const LONG = simple(`${BASE}LongSerializer$LongSerializerSnapshot`);
export const INT = simple(`${BASE}IntSerializer$IntSerializerSnapshot`);
export const VOID = simple(`${STATE}VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot`);
/** a class that nobody knows, with a body of its own */
export const UNKNOWN: Snapshot = out => out.utf('com.example.CustomSnapshot').i32(7).raw(Buffer.from('0102ff00aabb', 'hex'));
const composite =
  (name: string, version: number, ...nested: readonly Snapshot[]): Snapshot =>
  out => {
    out.utf(name).i32(3).i32(911108).i32(version).i32(1333245).i32(1).i32(nested.length);
    for (const snapshot of nested) snapshot(out);
    return out;
  };
export const listOf = (element: Snapshot): Snapshot => composite(`${BASE}ListSerializerSnapshot`, 1, element);
export const mapOf = (key: Snapshot, value: Snapshot): Snapshot => composite(`${BASE}MapSerializerSnapshot`, 1, key, value);
export const timerOf = (key: Snapshot, namespace: Snapshot): Snapshot =>
  composite('org.apache.flink.streaming.api.operators.TimerSerializerSnapshot', 2, key, namespace);

export interface StateDecl {
  readonly name: string;
  readonly ordinal?: number;
  readonly options?: Readonly<Record<string, string>>;
  readonly serializers: Readonly<Record<string, Snapshot>>;
}
export const keyed = (name: string, type: string, value: Snapshot, namespace: Snapshot = VOID): StateDecl => ({
  name,
  options: { KEYED_STATE_TYPE: type },
  serializers: { NAMESPACE_SERIALIZER: namespace, VALUE_SERIALIZER: value },
});
export const timers = (name: string, key: Snapshot, namespace: Snapshot = VOID): StateDecl => ({
  name: `_timer_state/${name}`,
  ordinal: 3,
  serializers: { VALUE_SERIALIZER: timerOf(key, namespace) },
});

export function metaInfo(out: Out, { name, ordinal = 0, options = {}, serializers }: StateDecl): Out {
  out.utf(name).i32(ordinal).i32(Object.keys(options).length);
  for (const [k, v] of Object.entries(options)) out.utf(k).utf(v);
  out.i32(Object.keys(serializers).length);
  for (const [k, snapshot] of Object.entries(serializers)) snapshot(out.utf(k).i32(2));
  return out;
}

export function keyedHeaderBytes(key: Snapshot, states: readonly StateDecl[], compressed = false, version = 6): Buffer {
  const out = new Out().i32(version).u8(compressed ? 1 : 0);
  key(out.i32(2)).u16(states.length);
  for (const state of states) metaInfo(out, state);
  return out.bytes();
}

export function operatorHeaderBytes(list: readonly StateDecl[], broadcast: readonly StateDecl[] = [], compressed?: boolean): Buffer {
  const out = new Out().i32(compressed === undefined ? 5 : 6);
  if (compressed !== undefined) out.u8(compressed ? 1 : 0);
  for (const states of [list, broadcast]) {
    out.u16(states.length);
    for (const state of states) metaInfo(out, state);
  }
  return out.bytes();
}

/** StringValue: varint (length + 1), then a varint for each unit (ASCII only here). */
export function string(text: string): Buffer {
  const head: number[] = [];
  let n = text.length + 1;
  for (; n >= 0x80; n >>>= 7) head.push((n & 0x7f) | 0x80);
  head.push(n);
  return Buffer.concat([Buffer.from(head), Buffer.from(text, 'latin1')]);
}
export const long = (n: bigint | number): Buffer => new Out().i64(n).bytes();
export const int = (n: number): Buffer => new Out().i32(n).bytes();
export const NO_NAMESPACE = Buffer.from([0]);

/** One key group of canonical state: entries by state, in order. */
export function canonicalGroup(
  keyGroup: number,
  states: readonly { readonly id: number; readonly entries: readonly (readonly [key: Buffer, value: Buffer])[] }[],
  prefix: 1 | 2 = 1,
): Buffer {
  const out = new Out().u16(states[0].id);
  states.forEach(({ entries }, s) => {
    entries.forEach(([key, value], i) => {
      const last = i === entries.length - 1;
      const head = prefix === 1 ? Buffer.from([keyGroup]) : Buffer.from([keyGroup >> 8, keyGroup & 0xff]);
      if (last) head[0] |= 0x80;
      out
        .i32(prefix + key.length)
        .raw(head)
        .raw(key)
        .i32(value.length)
        .raw(value);
      if (last) out.u16(s === states.length - 1 ? 0xffff : states[s + 1].id);
    });
  });
  return out.bytes();
}

/** A file of key groups and its handle; an undefined group is empty (offset 0). */
export function keyGroupsFile(
  header: Buffer,
  groups: readonly (Buffer | undefined)[],
  options: { readonly first?: number; readonly tag?: 3 | 7 | 12; readonly empty?: number } = {},
): { readonly handle: KeyGroupsHandle; readonly bytes: Buffer } {
  const offsets: number[] = [];
  const parts = [header];
  let at = header.length;
  for (const group of groups) {
    offsets.push(group === undefined ? (options.empty ?? 0) : at);
    if (group === undefined) continue;
    parts.push(group);
    at += group.length;
  }
  const bytes = Buffer.concat(parts);
  const handle: KeyGroupsHandle = {
    kind: 'key-groups',
    tag: options.tag ?? 7,
    range: { first: options.first ?? 0, count: groups.length },
    offsets,
    stream: inline(bytes),
  };
  return { handle, bytes };
}

export const inline = (bytes: Uint8Array): StreamHandle => ({ kind: 'inline', name: 'state', bytes, offset: 0 });

/** A context over inline state; `warnings` collects what is said. */
export function contextOf(options: { maxParallelism?: number; warnings?: string[] } = {}): StateContext {
  return {
    open(stream) {
      if (stream.kind !== 'inline') throw new Error(`no ${stream.kind} in this test`);
      return memorySource(stream.bytes, 'state file', stream.offset);
    },
    maxParallelism: options.maxParallelism ?? 128,
    codecs: { flinkMajor: 1 },
    where: 'operator test, subtask 0',
    verify: true,
    warn: message => void options.warnings?.push(message),
  };
}
