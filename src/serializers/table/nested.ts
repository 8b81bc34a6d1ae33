/**
 * Rows, arrays and maps in Flink's binary form, and what stands in their slots.
 *
 *   BinaryRow     ⌈(fields + 8) / 64⌉ × 8 bytes: u8 row kind · a bit a field, lowest first: 1 = null
 *                 fields × 8 bytes: slots (slots.ts) · parts of variable length
 *   BinaryArray   i32 n · ⌈n / 32⌉ × 4 bytes: a bit an element, lowest first: 1 = null · n × width, rounded up to 8 bytes · parts
 *   BinaryMap     i32 bytes of the keys · BinaryArray of keys · BinaryArray of values            (all little-endian)
 *
 *   slot of ROW, STRUCTURED, ARRAY, MAP, MULTISET   size and offset of the same form
 *   slot of RAW                                     size and offset of what the inner serializer wrote
 *
 * Null bits count whatever the type says: a PROCTIME column is NOT NULL and stored as null. Order and padding of the parts mean
 * nothing, since rows are updated in place. A row kind other than +I is `$kind` in the JSON form.
 *
 * Flink: BinaryRowData, BinaryArrayData, BinaryMapData in org.apache.flink.table.data.binary (1.9–2.3).
 */
import { type Column, type ListColumn, mapKeyIdentity, outOfRange, StructColumn } from '../../io/column.js';
import { Cursor } from '../../io/cursor.js';
import { hexOf } from '../../io/json.js';
import { JSON_TYPE, JsonText, list, MapValue, map, type SqlType, Struct, type StructExtra, type Value } from '../../types.js';
import type { Codec } from '../codec.js';
import { distinctNames } from '../composite.js';
import { opaqueJson } from '../opaque.js';
import { type Budget, Region } from './binary-region.js';
import type { Slot } from './slots.js';

/** Something that fills a region: what a slot of variable length points at. */
export interface Shape {
  readonly type: SqlType;
  readonly depth: number;
  readonly opaque?: string;
  /** the value that fills bytes[from, to) of the cursor's buffer */
  read(c: Cursor, from: number, to: number, budget: Budget): Value;
  append(c: Cursor, from: number, to: number, budget: Budget, out: Column): void;
}

/** The slot whose 8 bytes are size and offset of a shape. */
export function shapeSlot(shape: Shape, what: string): Slot {
  return {
    type: shape.type,
    width: 8,
    depth: shape.depth + 1,
    ...(shape.opaque === undefined ? {} : { opaque: shape.opaque }),
    read(r, at) {
      r.locate(at, what);
      return shape.read(r.source, r.from, r.to, r.budget);
    },
    append(r, at, out) {
      r.locate(at, what);
      shape.append(r.source, r.from, r.to, r.budget, out);
    },
  };
}

/** What parts of a value of `size` bytes may add up to: each byte once on every level. */
export function budgetOf(size: number, shape: { readonly depth: number }): Budget {
  return { left: size * (shape.depth + 1) };
}

export interface RowField {
  readonly name: string;
  readonly slot: Slot;
}

const KINDS = ['+I', '-U', '+U', '-D'];
const KIND_EXTRAS: readonly (readonly StructExtra[] | undefined)[] = KINDS.map((kind, i) =>
  i === 0 ? undefined : [{ name: '$kind', json: `"${kind}"`, lead: true }],
);

/** A row. Without fields its type is JSON and its value `{}`. */
export function rowShape(fields: readonly RowField[]): Shape {
  const slots = fields.map(f => f.slot);
  const n = slots.length;
  const names = distinctNames(fields.map(f => f.name));
  const headerBytes = ((n + 63 + 8) >> 6) << 3;
  const fixedBytes = headerBytes + n * 8;
  const type: SqlType = n === 0 ? JSON_TYPE : { kind: 'STRUCT', fields: slots.map((s, i) => ({ name: names[i], type: s.type })) };
  const region = new Region();

  const open = (c: Cursor, from: number, to: number, budget: Budget): Region => {
    if (to - from < fixedBytes) c.fail(`row of ${n} fields in ${to - from} bytes, expected at least ${fixedBytes}`, from);
    if (c.bytes[from] > 3) c.fail(`row kind is ${c.bytes[from]}, expected 0 to 3`, from);
    return region.reset(c, from, to, budget);
  };
  const isNull = (bytes: Uint8Array, from: number, i: number): boolean => (bytes[from + ((i + 8) >> 3)] & (1 << (i & 7))) !== 0;

  return {
    type,
    depth: 1 + Math.max(0, ...slots.map(s => s.depth)),
    ...reasons(fields.map(f => [f.name, f.slot.opaque])),
    read(c, from, to, budget) {
      open(c, from, to, budget);
      const { bytes } = c;
      const kind = KIND_EXTRAS[bytes[from]];
      if (n === 0) return new JsonText(kind === undefined ? '{}' : `{"$kind":${kind[0].json}}`);
      const values = new Array<Value>(n);
      for (let i = 0; i < n; i++) values[i] = isNull(bytes, from, i) ? null : slots[i].read(region, from + headerBytes + i * 8);
      return new Struct(values, kind);
    },
    append(c, from, to, budget, out) {
      if (!(out instanceof StructColumn)) {
        out.push(this.read(c, from, to, budget));
        return;
      }
      open(c, from, to, budget);
      const { bytes } = c;
      const { children } = out;
      out.begin();
      for (let i = 0; i < n; i++) {
        if (isNull(bytes, from, i)) children[i].pushNull();
        else slots[i].append(region, from + headerBytes + i * 8, children[i]);
      }
    },
  };
}

/** The elements of a BinaryArray, which fills bytes[from, to). */
class Elements {
  readonly region = new Region();
  n = 0;
  /** where the first element stands */
  first = 0;
  private nulls = 0;
  constructor(readonly slot: Slot) {}

  open(c: Cursor, from: number, to: number, budget: Budget, what: string): void {
    const { slot, region } = this;
    if (to - from < 4) c.fail(`${what} of ${to - from} bytes, expected at least 4`, from);
    region.reset(c, from, to, budget);
    const n = region.view.getInt32(from, true);
    const header = 4 + ((n + 31) >>> 5) * 4;
    if (n < 0 || header + n * slot.width > to - from) c.fail(`${what} of ${n} elements in ${to - from} bytes`, from);
    this.n = n;
    this.nulls = from + 4;
    this.first = from + header;
  }
  isNull(i: number): boolean {
    return (this.region.bytes[this.nulls + (i >> 3)] & (1 << (i & 7))) !== 0;
  }
  read(i: number): Value {
    return this.isNull(i) ? null : this.slot.read(this.region, this.first + i * this.slot.width);
  }
  append(i: number, out: Column): void {
    if (this.isNull(i)) out.pushNull();
    else this.slot.append(this.region, this.first + i * this.slot.width, out);
  }
}

export function arrayShape(element: Slot): Shape {
  const elements = new Elements(element);
  return {
    type: list(element.type),
    depth: element.depth + 1,
    ...reasons([['element', element.opaque]]),
    read(c, from, to, budget) {
      elements.open(c, from, to, budget, 'array');
      const { n } = elements;
      const values: Value[] = [];
      for (let i = 0; i < n; i++) values.push(elements.read(i));
      return values;
    },
    append(c, from, to, budget, out) {
      const column = out as ListColumn;
      elements.open(c, from, to, budget, 'array');
      const { n } = elements;
      for (let i = 0; i < n; i++) elements.append(i, column.children[0]);
      column.finish();
    },
  };
}

export function mapShape(key: Slot, value: Slot): Shape {
  const type = map(key.type, value.type);
  const keys = new Elements(key);
  const values = new Elements(value);
  const open = (c: Cursor, from: number, to: number, budget: Budget): number => {
    if (to - from < 4) c.fail(`map of ${to - from} bytes, expected at least 4`, from);
    const view = keys.region.reset(c, from, to, budget).view;
    const size = view.getInt32(from, true);
    const middle = from + 4 + size;
    if (size < 0 || middle > to) c.fail(`keys of ${size} bytes in a map of ${to - from} bytes`, from);
    keys.open(c, from + 4, middle, budget, 'keys of a map');
    values.open(c, middle, to, budget, 'values of a map');
    if (keys.n !== values.n) c.fail(`map of ${keys.n} keys and ${values.n} values`, from);
    return keys.n;
  };
  return {
    type,
    depth: Math.max(key.depth, value.depth) + 1,
    ...reasons([
      ['key', key.opaque],
      ['value', value.opaque],
    ]),
    read(c, from, to, budget) {
      const n = open(c, from, to, budget);
      const entries: (readonly [Value, Value])[] = [];
      for (let i = 0; i < n; i++) entries.push([keys.read(i), values.read(i)]);
      return new MapValue(entries);
    },
    append(c, from, to, budget, out) {
      const column = out as ListColumn;
      const n = open(c, from, to, budget);
      const seen = n > 1 ? new Set<unknown>() : undefined;
      for (let i = 0; i < n; i++) {
        const k = keys.read(i);
        if (k === null) throw outOfRange(type, 'a map with a null key');
        if (seen !== undefined) {
          const id = mapKeyIdentity(k);
          if (seen.has(id)) throw outOfRange(type, 'a map with a repeated key');
          seen.add(id);
        }
        column.children[0].push(k);
        values.append(i, column.children[1]);
      }
      column.finish();
    },
  };
}

/** RAW: what `inner` wrote, and nothing after it. */
export function rawShape(inner: Codec, serializer: string): Shape {
  const jsonOnly = inner.opaque !== undefined && inner.type.kind === 'JSON';
  const open = (c: Cursor, from: number, to: number): Cursor => new Cursor(c.bytes, from, to, c.origin, c.base);
  const leftOver = (c: Cursor): never => c.fail(`${c.end - c.position} bytes left over after RAW of ${serializer}`);
  return {
    type: inner.type,
    depth: 1,
    ...(inner.opaque === undefined ? {} : { opaque: inner.opaque }),
    read(c, from, to) {
      const part = open(c, from, to);
      const value = inner.read(part);
      if (part.position === to) return value;
      return jsonOnly ? new JsonText(opaqueJson(serializer, c.bytes.subarray(from, to))) : leftOver(part);
    },
    append(c, from, to, budget, out) {
      if (jsonOnly) {
        out.push(this.read(c, from, to, budget));
        return;
      }
      const part = open(c, from, to);
      inner.append(part, out);
      if (part.position !== to) leftOver(part);
    },
  };
}

/** The 8 bytes of a slot whose type cannot be decoded: `{"$type", "$hex"}`. */
export function opaqueSlot(type: string, reason: string): Slot {
  return {
    type: JSON_TYPE,
    width: 8,
    depth: 0,
    opaque: reason,
    read: (r, at) => new JsonText(`{"$type":${JSON.stringify(type)},"$hex":"${hexOf(r.bytes.subarray(at, at + 8))}"}`),
    append(r, at, out) {
      out.push(this.read(r, at));
    },
  };
}

function reasons(parts: readonly (readonly [string, string | undefined])[]): { opaque?: string } {
  const given = parts.filter(([, reason]) => reason !== undefined).map(([name, reason]) => `${name}: ${reason}`);
  return given.length === 0 ? {} : { opaque: given.join(' · ') };
}
