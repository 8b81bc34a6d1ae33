/**
 * A protobuf message as a SQL type and a decoder of its wire form.
 *
 *   message       (tag varint: number << 3 | wire type, value)*
 *   wire type     0 varint · 1 8 bytes · 2 varint len, bytes · 3 … 4 group: fields up to the end tag of its number · 5 4 bytes
 *
 *   int32, sint32, sfixed32   INTEGER       uint32, fixed32   BIGINT        float, double   FLOAT, DOUBLE     bool     BOOLEAN
 *   int64, sint64, sfixed64   BIGINT        uint64, fixed64   HUGEINT       string, bytes   VARCHAR, BLOB
 *   enum       VARCHAR: the constant's name; a number without one as its digits
 *   message    STRUCT of its fields in the order of the file; inside itself, without fields, or too large to spell: JSON
 *   repeated   LIST, empty when nothing was written      map   MAP: of a key written twice the last
 *   unset      NULL where the field has presence (proto2, optional, oneof, messages), else its default
 *   google.protobuf.Struct, Value, ListValue   JSON as they mean it
 *
 * A field that was written twice: the last, messages are merged. Repeated numbers may be packed or not, whatever the file says.
 * Fields that the schema does not have are kept in the JSON form: `"$unknown": [{"field": 9, "varint": 1}]`.
 *
 * protobuf.dev/programming-guides/encoding (proto2, proto3, editions).
 */
import { Cursor } from '../io/cursor.js';
import { hexOf, INSIDE_JSON, jsonOf, jsonString, numberText } from '../io/json.js';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  HUGEINT,
  INTEGER,
  JSON_TYPE,
  JsonText,
  list,
  MapValue,
  map,
  type SqlType,
  Struct,
  type StructExtra,
  VARCHAR,
  type Value,
} from '../types.js';

/** A message type as the parser has it. */
export interface RawType {
  /** full name: `shop.v1.Order` */
  readonly name: string;
  fields(): readonly RawField[];
}
export interface RawField {
  readonly name: string;
  readonly number: number;
  /** `int64`, `string` …, or the name of a message or enum */
  readonly type: string;
  readonly repeated: boolean;
  readonly presence: boolean;
  readonly message?: RawType;
  readonly constants?: ReadonlyMap<number, string>;
  /** type of the keys, when it is a map */
  readonly mapKey?: string;
}

/** A message, ready to be decoded. */
export interface ProtoMessage {
  readonly name: string;
  readonly type: SqlType;
  /** @throws CorruptError when the bytes are no message */
  decode(bytes: Uint8Array): Value;
}

/** Messages nest no deeper than this: as in Java's CodedInputStream. */
const MAX_DEPTH = 100;
/** fields of a type, those of its STRUCTs counted: beyond that inner messages are JSON */
const MAX_FIELDS = 2000;

export function compileMessage(raw: RawType): ProtoMessage {
  const message = new Compiler().message(raw, []);
  return {
    name: raw.name,
    type: message.type,
    decode(bytes) {
      const c = new Cursor(bytes);
      const value = message.read(c, undefined, 0);
      c.expectEnd(raw.name);
      return value;
    },
  };
}

interface Message {
  readonly type: SqlType;
  /** Reads fields up to the end, or up to the end of group `group`. */
  read(c: Cursor, group: number | undefined, depth: number): Value;
}
/** One value: `wire` is the wire type it stands under when it is not packed. */
interface Scalar {
  readonly type: SqlType;
  readonly wire: 0 | 1 | 2 | 5;
  readonly zero: Value;
  read(c: Cursor): Value;
}
type Kind =
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'map'; readonly key: Scalar; readonly value: Scalar | Message };

interface FieldPlan {
  readonly name: string;
  readonly number: number;
  readonly index: number;
  readonly repeated: boolean;
  readonly presence: boolean;
  readonly kind: Kind;
  readonly type: SqlType;
}

class Compiler {
  private fields = 0;
  private readonly asJson = new Map<RawType, Message>();

  /** `path`: the messages around it. */
  message(raw: RawType, path: readonly RawType[]): Message {
    const plans: FieldPlan[] = raw.fields().map((field, index) => {
      this.fields++;
      const kind = this.kind(field, [...path, raw]);
      const one =
        kind.kind === 'scalar' ? kind.scalar.type : kind.kind === 'message' ? kind.message.type : map(kind.key.type, kind.value.type);
      return {
        name: field.name,
        number: field.number,
        index,
        repeated: field.repeated,
        presence: field.presence || (kind.kind === 'message' && !field.repeated),
        kind,
        type: field.repeated ? list(one) : one,
      };
    });
    return messageOf(raw.name, plans);
  }

  private kind(field: RawField, path: readonly RawType[]): Kind {
    const value = field.message === undefined ? undefined : this.inner(field.message, path);
    if (field.mapKey !== undefined)
      return { kind: 'map', key: scalarOf(field.mapKey, undefined), value: value ?? scalarOf(field.type, field.constants) };
    return value === undefined ? { kind: 'scalar', scalar: scalarOf(field.type, field.constants) } : { kind: 'message', message: value };
  }

  private inner(raw: RawType, path: readonly RawType[]): Message {
    const known = WELL_KNOWN[raw.name];
    const plain = !path.includes(raw) && path.length < 24 && this.fields < MAX_FIELDS && known === undefined && raw.fields().length > 0;
    return plain ? this.message(raw, path) : this.json(raw, known);
  }

  /** The message as JSON text, made when a value needs it: so a schema that contains itself ends. */
  private json(raw: RawType, known: ((v: Struct) => string) | undefined): Message {
    let message = this.asJson.get(raw);
    if (message === undefined) {
      let inside: Message | undefined;
      message = {
        type: JSON_TYPE,
        read: (c, group, depth) => {
          inside ??= new Compiler().message(raw, []);
          const value = inside.read(c, group, depth);
          return new JsonText(known !== undefined && value instanceof Struct ? known(value) : jsonOf(inside.type, value, INSIDE_JSON));
        },
      };
      this.asJson.set(raw, message);
    }
    return message;
  }
}

/** Google's types for JSON itself, from their Struct of fields. */
const WELL_KNOWN: Readonly<Record<string, ((v: Struct) => string) | undefined>> = {
  'google.protobuf.Struct': v => objectText(v.values[0]),
  'google.protobuf.ListValue': v => listText(v.values[0]),
  'google.protobuf.Value': v => {
    const [, number, text, boolean, object, array] = v.values;
    if (typeof number === 'number') return Number.isFinite(number) ? numberText(number) : `"${number}"`;
    if (typeof text === 'string') return jsonString(text);
    if (typeof boolean === 'boolean') return String(boolean);
    if (object instanceof JsonText) return object.text;
    return array instanceof JsonText ? array.text : 'null';
  },
};
const innerText = (v: Value): string => (v instanceof JsonText ? v.text : 'null');
function objectText(fields: Value | undefined): string {
  const entries = fields instanceof MapValue ? fields.entries : [];
  return `{${entries.map(([k, v]) => `${jsonString(String(k))}:${innerText(v)}`).join(',')}}`;
}
function listText(values: Value | undefined): string {
  return `[${(Array.isArray(values) ? (values as readonly Value[]) : []).map(innerText).join(',')}]`;
}

/** What was read so far of a message. */
interface Building {
  readonly values: Value[];
  readonly lists: (Value[] | undefined)[];
  readonly maps: (Map<string, readonly [Value, Value]> | undefined)[];
  /** singular messages, not read yet */
  readonly parts: (Cursor[] | undefined)[];
  readonly unknown: string[];
}

function messageOf(name: string, plans: readonly FieldPlan[]): Message {
  const byNumber = new Map(plans.map(p => [p.number, p] as const));
  const type: SqlType = plans.length === 0 ? JSON_TYPE : { kind: 'STRUCT', fields: plans.map(p => ({ name: p.name, type: p.type })) };
  return {
    type,
    read(c, group, depth) {
      if (depth > MAX_DEPTH) c.fail(`messages nested deeper than ${MAX_DEPTH}`);
      const building: Building = {
        values: plans.map(unset),
        lists: [],
        maps: [],
        parts: [],
        unknown: [],
      };
      for (;;) {
        if (c.remaining === 0) {
          if (group !== undefined) c.fail(`group ${group} of ${name} has no end`);
          break;
        }
        const at = c.position;
        const tag = c.varint('tag');
        const number = tag >>> 3;
        const wire = tag & 7;
        if (number === 0) c.fail('field number 0', at);
        if (wire === 4) {
          if (number !== group) c.fail(`end of group ${number}`, at);
          break;
        }
        const plan = byNumber.get(number);
        if (plan === undefined || !readField(c, plan, wire, building, depth)) building.unknown.push(unknownField(c, number, wire, depth));
      }
      for (const plan of plans) {
        const read = building.lists[plan.index];
        const entries = building.maps[plan.index];
        const parts = building.parts[plan.index];
        if (parts !== undefined && plan.kind.kind === 'message')
          building.values[plan.index] = plan.kind.message.read(joined(parts), undefined, depth + 1);
        if (read !== undefined) building.values[plan.index] = read;
        if (entries !== undefined) building.values[plan.index] = new MapValue([...entries.values()]);
      }
      const extras: StructExtra[] =
        building.unknown.length === 0 ? [] : [{ name: '$unknown', json: `[${building.unknown.join(',')}]`, lead: false }];
      const struct = new Struct(building.values, extras.length === 0 ? undefined : extras);
      return type.kind === 'STRUCT' ? struct : new JsonText(jsonOf({ kind: 'STRUCT', fields: [] }, struct, INSIDE_JSON));
    },
  };
}

function unset(plan: FieldPlan): Value {
  if (plan.kind.kind === 'map') return new MapValue([]);
  if (plan.repeated) return [];
  return plan.presence || plan.kind.kind === 'message' ? null : plan.kind.scalar.zero;
}

/** Reads a field; false when its wire type is not one of the field's, with nothing read. */
function readField(c: Cursor, plan: FieldPlan, wire: number, into: Building, depth: number): boolean {
  const { kind, index } = plan;
  const put = (value: Value): void => {
    if (!plan.repeated) into.values[index] = value;
    else {
      const values = into.lists[index];
      if (values === undefined) into.lists[index] = [value];
      else values.push(value);
    }
  };
  if (kind.kind === 'scalar') {
    const { scalar } = kind;
    if (wire === scalar.wire) {
      put(scalar.read(c));
      return true;
    }
    if (wire !== 2 || !plan.repeated || scalar.wire === 2) return false;
    const part = sub(c);
    while (part.remaining > 0) put(scalar.read(part));
    if (into.lists[index] === undefined) into.lists[index] = [];
    return true;
  }
  if (kind.kind === 'message') {
    if (wire !== 2 && wire !== 3) return false;
    if (wire === 3) {
      put(kind.message.read(c, plan.number, depth + 1));
      return true;
    }
    const part = sub(c);
    if (plan.repeated) put(kind.message.read(part, undefined, depth + 1));
    else {
      // messages merge: what was written in several parts is their bytes one after another
      const parts = into.parts[index];
      if (parts === undefined) into.parts[index] = [part];
      else parts.push(part);
    }
    return true;
  }
  if (wire !== 2) return false;
  const part = sub(c);
  let key: Value = kind.key.zero;
  let value: Value | undefined;
  while (part.remaining > 0) {
    const tag = part.varint('tag');
    const number = tag >>> 3;
    const isMessage = !('wire' in kind.value);
    if (number === 1 && (tag & 7) === kind.key.wire) key = kind.key.read(part);
    else if (number === 2 && isMessage && (tag & 7) === 2) value = (kind.value as Message).read(sub(part), undefined, depth + 1);
    else if (number === 2 && !isMessage && (tag & 7) === (kind.value as Scalar).wire) value = (kind.value as Scalar).read(part);
    else unknownField(part, number, tag & 7, depth);
  }
  value ??= 'wire' in kind.value ? kind.value.zero : kind.value.read(new Cursor(new Uint8Array(0)), undefined, depth + 1);
  into.maps[index] ??= new Map();
  into.maps[index].set(key instanceof Uint8Array ? hexOf(key) : `${typeof key}${String(key)}`, [key, value]);
  return true;
}

function joined(parts: readonly Cursor[]): Cursor {
  if (parts.length === 1) return parts[0];
  return new Cursor(Buffer.concat(parts.map(p => p.bytes.subarray(p.position, p.end))));
}

/** The bytes of a length-delimited field. */
function sub(c: Cursor): Cursor {
  const length = c.varint('length');
  const start = c.take(length, 'field');
  return new Cursor(c.bytes, start, start + length, c.origin, c.base);
}

/** Steps over a field that the schema does not have; its JSON. */
function unknownField(c: Cursor, number: number, wire: number, depth: number): string {
  if (depth > MAX_DEPTH) c.fail(`messages nested deeper than ${MAX_DEPTH}`);
  const head = `{"field":${number},`;
  switch (wire) {
    case 0:
      return `${head}"varint":${varint64(c)}}`;
    case 1:
      return `${head}"fixed64":${c.u64le()}}`;
    case 2: {
      const length = c.varint('length');
      return `${head}"hex":"${hexOf(c.slice(length, 'field'))}"}`;
    }
    case 3: {
      const inside: string[] = [];
      for (;;) {
        const tag = c.varint('tag');
        if ((tag & 7) === 4) {
          if (tag >>> 3 !== number) c.fail(`end of group ${tag >>> 3}`);
          return `${head}"group":[${inside.join(',')}]}`;
        }
        inside.push(unknownField(c, tag >>> 3, tag & 7, depth + 1));
      }
    }
    case 5:
      return `${head}"fixed32":${c.u32le()}}`;
    default:
      return c.fail(`wire type ${wire} of field ${number}`);
  }
}

/** At most 10 bytes; bits beyond 64 are dropped, as every reader does. */
function varint64(c: Cursor): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const b = c.u8();
    value |= BigInt(b & 0x7f) << shift;
    if (b < 0x80) return BigInt.asUintN(64, value);
  }
  return c.fail('varint of more than 10 bytes');
}

const zigzag = (n: bigint): bigint => (n >> 1n) ^ -(n & 1n);
const int32 = (n: bigint): number => Number(BigInt.asIntN(32, n));

const SCALARS: Readonly<Record<string, Scalar>> = {
  int32: { type: INTEGER, wire: 0, zero: 0, read: c => int32(varint64(c)) },
  sint32: { type: INTEGER, wire: 0, zero: 0, read: c => int32(zigzag(BigInt.asUintN(32, varint64(c)))) },
  uint32: { type: BIGINT, wire: 0, zero: 0n, read: c => BigInt.asUintN(32, varint64(c)) },
  int64: { type: BIGINT, wire: 0, zero: 0n, read: c => BigInt.asIntN(64, varint64(c)) },
  sint64: { type: BIGINT, wire: 0, zero: 0n, read: c => BigInt.asIntN(64, zigzag(varint64(c))) },
  uint64: { type: HUGEINT, wire: 0, zero: 0n, read: varint64 },
  bool: { type: BOOLEAN, wire: 0, zero: false, read: c => varint64(c) !== 0n },
  fixed32: { type: BIGINT, wire: 5, zero: 0n, read: c => BigInt(c.u32le()) },
  sfixed32: { type: INTEGER, wire: 5, zero: 0, read: c => c.i32le() },
  float: { type: { kind: 'FLOAT' }, wire: 5, zero: 0, read: c => bitsToFloat(c.u32le()) },
  fixed64: { type: HUGEINT, wire: 1, zero: 0n, read: c => c.u64le() },
  sfixed64: { type: BIGINT, wire: 1, zero: 0n, read: c => c.i64le() },
  double: { type: { kind: 'DOUBLE' }, wire: 1, zero: 0, read: c => bitsToDouble(c.u64le()) },
  string: { type: VARCHAR, wire: 2, zero: '', read: c => Buffer.from(lengthDelimited(c)).toString('utf8') },
  bytes: { type: BLOB, wire: 2, zero: new Uint8Array(0), read: c => lengthDelimited(c).slice() },
};

function scalarOf(type: string, constants: ReadonlyMap<number, string> | undefined): Scalar {
  if (constants === undefined) return SCALARS[type] ?? SCALARS['bytes'];
  const name = (number: number): string => constants.get(number) ?? String(number);
  // the default of an open enum is 0; of a closed one its first constant
  const first = constants.keys().next();
  const zero = constants.has(0) || first.done === true ? 0 : first.value;
  return { type: VARCHAR, wire: 0, zero: name(zero), read: c => name(int32(varint64(c))) };
}

function lengthDelimited(c: Cursor): Uint8Array {
  return c.slice(c.varint('length'), 'field');
}

const scratch = new DataView(new ArrayBuffer(8));
function bitsToFloat(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}
function bitsToDouble(bits: bigint): number {
  scratch.setBigUint64(0, bits);
  return scratch.getFloat64(0);
}
