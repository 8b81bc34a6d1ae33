/** Entries and elements as decoded rows, in the form that stated contents have: scalars as text, structs as objects. */
import { Cursor } from '../../src/io/cursor.js';
import { jsonOf } from '../../src/io/json.js';
import type { Codec } from '../../src/serializers/codec.js';
import { opaqueCodec } from '../../src/serializers/opaque.js';
import type { EntryCursor, EntryFilter, KeyedStateReader, OperatorStateReader, StateContext } from '../../src/state/entry.js';
import { codecsOf } from '../../src/state/state-codecs.js';

export interface Row {
  readonly state: string;
  readonly key: unknown;
  readonly namespace: unknown;
  readonly mapKey?: unknown;
  readonly index?: number;
  readonly value: unknown;
}

/** A value as JSON whose scalars are text: `"5"`, `null`, `{"f0":"1"}`. */
export function plain(codec: Codec, c: Cursor): unknown {
  const value = codec.read(c);
  if (value === null) return null;
  return textual(JSON.parse(quoteNumbers(jsonOf(codec.type, value))));
}

/** Numbers keep their digits. */
function quoteNumbers(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, t => (t.startsWith('"') ? t : `"${t}"`));
}

function textual(value: unknown): unknown {
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map(textual);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, textual(v)]),
  );
}

/** All rows of a reader; every part must end exactly where its range does. */
export function keyedRows(reader: KeyedStateReader, context: StateContext, filter: EntryFilter = {}): Row[] {
  const rows: Row[] = [];
  const c = new Cursor(new Uint8Array(0), 0, 0, { file: 'value', where: context.where });
  const entries = reader.entries(filter);
  try {
    while (entries.next()) expand(reader, context, entries, c, rows);
  } finally {
    entries.close();
  }
  return rows;
}

function expand(reader: KeyedStateReader, context: StateContext, e: EntryCursor, c: Cursor, rows: Row[]): void {
  const state = reader.header.states[e.state];
  const codecs = codecsOf(reader.header.key, state, context.codecs);
  const part = (codec: Codec, start: number, end: number, what: string): unknown => {
    c.reset(e.bytes, start, end);
    const value = plain(codec, c);
    c.expectEnd(`${what} of ${state.name}`);
    return value;
  };
  const hex = (start: number, end: number) => Buffer.from(e.bytes.subarray(start, end)).toString('hex');
  if (e.unsplitKey !== undefined || e.unsplit !== undefined) {
    rows.push({
      state: state.name,
      key: hex(e.keyStart, e.keyEnd),
      namespace: null,
      value: hex(e.valueStart, e.valueEnd),
      unsplit: true,
    } as Row);
    return;
  }
  const key = part(codecs.key, e.keyStart, e.keyEnd, 'key');
  const namespace = part(codecs.namespace, e.namespaceStart, e.namespaceEnd, 'namespace');
  const head = { state: state.name, key, namespace };
  if (state.kind === 'timer') {
    c.reset(e.bytes, e.userKeyStart, e.userKeyEnd);
    rows.push({ ...head, value: String(BigInt.asIntN(64, c.i64() ^ (1n << 63n))) });
    return;
  }
  const { element, mapKey, mapValue } = codecs;
  if (state.stateType === 'LIST' && element !== undefined) {
    c.reset(e.bytes, e.valueStart, e.valueEnd);
    const n = reader.layout === 'heap' ? c.i32() : Number.POSITIVE_INFINITY;
    for (let index = 0; index < n && c.remaining > 0; index++) {
      rows.push({ ...head, index, value: plain(element, c) });
      if (reader.layout === 'composite' && c.remaining > 0 && c.u8() !== 0x2c) c.fail('no delimiter');
    }
    c.expectEnd('the list');
    return;
  }
  if (state.stateType === 'MAP' && mapKey !== undefined && mapValue !== undefined) {
    if (reader.layout === 'heap') {
      c.reset(e.bytes, e.valueStart, e.valueEnd);
      for (let n = c.i32(); n > 0; n--) {
        const userKey = plain(mapKey, c);
        rows.push({ ...head, mapKey: userKey, value: c.bool() ? null : plain(mapValue, c) });
      }
      c.expectEnd('the map');
      return;
    }
    const userKey = part(mapKey, e.userKeyStart, e.userKeyEnd, 'map key');
    c.reset(e.bytes, e.valueStart, e.valueEnd);
    // behind a null Flink 1.8 to 1.20.3 wrote a value nevertheless
    const value = c.bool() ? null : plain(mapValue, c);
    if (value !== null) c.expectEnd('the map value');
    rows.push({ ...head, mapKey: userKey, value });
    return;
  }
  rows.push({ ...head, value: part(codecs.value as Codec, e.valueStart, e.valueEnd, 'value') });
}

export interface ElementRow {
  readonly state: string;
  readonly index: number;
  readonly mapKey?: unknown;
  readonly value: unknown;
}

export function operatorRows(reader: OperatorStateReader, context: StateContext): ElementRow[] {
  const rows: ElementRow[] = [];
  const c = new Cursor(new Uint8Array(0), 0, 0, { file: 'value', where: context.where });
  for (const state of reader.header.states) {
    const value = state.value?.codec(context.codecs) ?? opaqueCodec('unknown', 'no serializer');
    for (const e of reader.elements(state)) {
      const part = (codec: Codec, start: number, end: number) => {
        c.reset(e.bytes, start, end);
        const v = plain(codec, c);
        c.expectEnd(`the element of ${state.name}`);
        return v;
      };
      rows.push(
        state.kind === 'broadcast'
          ? {
              state: state.name,
              index: e.index,
              mapKey: part(state.key?.codec(context.codecs) ?? value, e.start, e.end),
              value: part(value, e.valueStart, e.valueEnd),
            }
          : { state: state.name, index: e.index, value: part(value, e.start, e.end) },
      );
    }
  }
  return rows;
}
