/**
 * Values that are a count and elements: lists, arrays, sets, maps.
 *
 *   list    i32 n · n × element
 *   flagged i32 n · n × (bool isNull or isPresent · [element])
 *   map     i32 n · n × (key · bool isNull · [value])                or, of entries: n × (bool isPresent · key · value)
 *
 * When an element's own end cannot be known, it has swallowed those after it: the JSON form is then
 * `{"$size": n, "$elements": [what came before], "$hex": "…"}` (`$entries` for maps).
 */
import { BytesColumn, type Column, FixedColumn, ListColumn, mapKeyIdentity, outOfRange } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { INSIDE_JSON, jsonOf } from '../io/json.js';
import { JSON_TYPE, JsonText, list, MapValue, map, type SqlType, type Value } from '../types.js';
import { boundsOf, type Codec, hidesEnd } from './codec.js';
import { hoistHex, refusePartial } from './composite.js';

/** Elements of no bytes at all (a list of NullValues) are believed up to this number; more can only be damage. */
const MAX_EMPTY = 16;

/** The i32 count of elements that may be empty. */
export function readCount(c: Cursor, what: string, minBytes = 0): number {
  if (minBytes > 0) return c.count(what, minBytes);
  const at = c.position;
  const n = c.i32();
  if (n < 0) c.fail(`${what} is ${n}`, at);
  if (n > c.remaining && n > MAX_EMPTY) c.fail(`${what} is ${n}, but only ${c.remaining} bytes remain`, at);
  return n;
}

export interface ListOptions {
  /** bool in front of each element: `isNull` true = null follows nothing, `isPresent` true = the element follows */
  readonly flag?: 'isNull' | 'isPresent';
}

/** Null elements are `null`; the type is LIST, or JSON when an element may swallow the rest. */
export function listCodec(element: Codec, { flag }: ListOptions = {}): Codec {
  const nullFlag = flag === 'isNull';
  const elements = list(element.type);
  const jsonOnly = hidesEnd(element);
  const count = (c: Cursor): number => readCount(c, 'number of elements', flag === undefined ? 0 : 1);

  const read = (c: Cursor): Value => {
    const n = count(c);
    const values: Value[] = [];
    for (let i = 0; i < n; i++) {
      if (flag !== undefined && c.bool() === nullFlag) {
        values.push(null);
        continue;
      }
      const value = element.read(c);
      if (c.position === c.end && i < n - 1) {
        const swallowed = hoistHex(jsonOf(element.type, value, INSIDE_JSON));
        if (swallowed !== undefined)
          return partialSequence(n, '$elements', [...values.map(v => jsonOf(element.type, v, INSIDE_JSON)), swallowed.json], swallowed.hex);
      }
      values.push(value);
    }
    return jsonOnly ? new JsonText(jsonOf(elements, values, INSIDE_JSON)) : values;
  };
  return {
    type: jsonOnly ? JSON_TYPE : elements,
    length: -1,
    ...obstaclesOf([['element', element]]),
    read,
    skip(c) {
      const start = c.position;
      const n = count(c);
      for (let i = 0; i < n; i++) {
        if (flag !== undefined && c.bool() === nullFlag) continue;
        element.skip(c);
        if (c.position === c.end && i < n - 1) {
          c.position = start;
          read(c);
          return;
        }
      }
    },
    append(c, out: Column) {
      if (!(out instanceof ListColumn)) {
        out.push(read(c));
        return;
      }
      const [child] = out.children;
      const start = c.position;
      const n = count(c);
      for (let i = 0; i < n; i++) {
        if (flag !== undefined && c.bool() === nullFlag) child.pushNull();
        else {
          element.append(c, child);
          if (c.position === c.end && i < n - 1 && element.unbounded === true) refusePartial(c, start, read, out);
        }
      }
      out.finish();
    },
  };
}

export interface MapOptions {
  /** where the boolean stands: before the value (true = null, MapSerializer) or before the entry, which must be there */
  readonly flag?: 'valueIsNull' | 'entryIsPresent';
}

/** The type is MAP, or JSON when a key or value may swallow the rest. */
export function mapCodec(key: Codec, value: Codec, { flag = 'valueIsNull' }: MapOptions = {}): Codec {
  const byEntry = flag === 'entryIsPresent';
  const beginEntry = (c: Cursor): void => {
    if (byEntry && !c.bool()) c.fail('a map entry that is null', c.position - 1);
  };
  const isNull = (c: Cursor): boolean => !byEntry && c.bool();
  const entriesType = map(key.type, value.type);
  const jsonOnly = hidesEnd(key) || hidesEnd(value);
  // a key may be empty, but the flag after it is not
  const count = (c: Cursor): number => readCount(c, 'number of map entries', 1);

  const partial = (n: number, entries: readonly (readonly [Value, Value])[], last: string, hex: string): JsonText =>
    partialSequence(
      n,
      '$entries',
      [...entries.map(([k, v]) => entryJson(jsonOf(key.type, k, INSIDE_JSON), jsonOf(value.type, v, INSIDE_JSON))), last],
      hex,
    );

  const read = (c: Cursor): Value => {
    const n = count(c);
    const entries: (readonly [Value, Value])[] = [];
    for (let i = 0; i < n; i++) {
      beginEntry(c);
      const k = key.read(c);
      if (c.position === c.end) {
        const swallowed = hoistHex(jsonOf(key.type, k, INSIDE_JSON));
        if (swallowed !== undefined) return partial(n, entries, `{"key":${swallowed.json}}`, swallowed.hex);
      }
      const v = isNull(c) ? null : value.read(c);
      if (c.position === c.end && i < n - 1) {
        const swallowed = hoistHex(jsonOf(value.type, v, INSIDE_JSON));
        if (swallowed !== undefined) return partial(n, entries, entryJson(jsonOf(key.type, k, INSIDE_JSON), swallowed.json), swallowed.hex);
      }
      entries.push([k, v]);
    }
    const whole = new MapValue(entries);
    return jsonOnly ? new JsonText(jsonOf(entriesType, whole, INSIDE_JSON)) : whole;
  };
  return {
    type: jsonOnly ? JSON_TYPE : entriesType,
    length: -1,
    ...obstaclesOf([
      ['key', key],
      ['value', value],
    ]),
    read,
    skip(c) {
      const start = c.position;
      const n = count(c);
      for (let i = 0; i < n; i++) {
        beginEntry(c);
        key.skip(c);
        if (c.position === c.end) {
          c.position = start;
          read(c);
          return;
        }
        if (isNull(c)) continue;
        value.skip(c);
        if (c.position === c.end && i < n - 1) {
          c.position = start;
          read(c);
          return;
        }
      }
    },
    append(c, out: Column) {
      if (!(out instanceof ListColumn)) {
        out.push(read(c));
        return;
      }
      const [keys, values] = out.children;
      const start = c.position;
      const n = count(c);
      const direct = n <= SMALL_MAP && comparesByBytes(keys);
      const seen = direct ? undefined : new Set<unknown>();
      const first = keys.length;
      for (let i = 0; i < n; i++) {
        beginEntry(c);
        if (seen === undefined) {
          key.append(c, keys);
          if (c.position === c.end && key.unbounded === true) refusePartial(c, start, read, out);
          if (keys.validity[first + i] === 0) throw outOfRange(out.type, 'a map with a null key');
          if (repeats(keys, first)) throw outOfRange(out.type, 'a map with a repeated key');
        } else {
          const k = key.read(c);
          if (c.position === c.end && key.unbounded === true) refusePartial(c, start, read, out);
          if (k === null) throw outOfRange(out.type, 'a map with a null key');
          const id = mapKeyIdentity(k);
          if (seen.has(id)) throw outOfRange(out.type, 'a map with a repeated key');
          seen.add(id);
          keys.push(k);
        }
        if (isNull(c)) values.pushNull();
        else value.append(c, values);
        if (c.position === c.end && i < n - 1 && value.unbounded === true) refusePartial(c, start, read, out);
      }
      out.finish();
    },
  };
}

/** Up to so many keys are compared with each other as the column has them, which needs no JavaScript values. */
const SMALL_MAP = 16;

/** Whether equal keys have equal bytes in the column, and only those. */
function comparesByBytes(keys: Column): keys is FixedColumn | BytesColumn {
  return keys instanceof BytesColumn || (keys instanceof FixedColumn && keys.type.kind !== 'FLOAT' && keys.type.kind !== 'DOUBLE');
}

/** Whether the last row of `keys` equals one of those from `first` on. */
function repeats(keys: Column, first: number): boolean {
  const last = keys.length - 1;
  if (keys instanceof BytesColumn) {
    const { heap, offsets } = keys;
    const start = offsets[last];
    const size = offsets[last + 1] - start;
    for (let row = first; row < last; row++)
      if (offsets[row + 1] - offsets[row] === size && sameBytes(heap, offsets[row], start, size)) return true;
  } else if (keys instanceof FixedColumn) {
    const { data, width } = keys;
    for (let row = first; row < last; row++) if (sameBytes(data, row * width, last * width, width)) return true;
  }
  return false;
}

function sameBytes(bytes: Uint8Array, a: number, b: number, size: number): boolean {
  for (let i = 0; i < size; i++) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

function entryJson(key: string, value: string): string {
  return `{"key":${key},"value":${value}}`;
}

function partialSequence(n: number, member: string, parts: readonly string[], hex: string): JsonText {
  return new JsonText(`{"$size":${n},"${member}":[${parts.join(',')}],"$hex":"${hex}"}`);
}

function obstaclesOf(parts: readonly (readonly [string, Codec])[]): { opaque?: string; unbounded?: boolean; mostlyBounded?: boolean } {
  const reasons = parts.filter(([, x]) => x.opaque !== undefined).map(([name, x]) => `${name}: ${x.opaque}`);
  return {
    ...(reasons.length === 0 ? {} : { opaque: reasons.join(' · ') }),
    ...boundsOf(parts.map(([, x]) => x)),
  };
}

/** Types of the sequences, for those who write their own codecs. */
export function listTypeOf(element: Codec): SqlType {
  return hidesEnd(element) ? JSON_TYPE : list(element.type);
}
