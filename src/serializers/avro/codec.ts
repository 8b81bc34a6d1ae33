/**
 * Avro values in Flink's own encoding, which is not Avro's binary encoding:
 *
 *   boolean         1 byte                    string, bytes   i32 length, bytes (UTF-8)
 *   int, enum       i32 (enum: the ordinal)   fixed           its bytes
 *   long            i64                       union           i32 branch, value
 *   float, double   4, 8 bytes, big-endian    array           (varint count > 0, items)*, byte 0
 *   null            nothing                   map             (varint count > 0, (string, value)*)*, byte 0
 *   record          fields in schema order
 *
 * Flink: flink-avro, org.apache.flink.formats.avro.utils.DataOutputEncoder, DataInputDecoder (1.20, 2.3).
 *
 * A union of null and one other type is that type; any other union, and a record inside itself, is JSON.
 */
import type { BytesColumn, FixedColumn, ListColumn, StructColumn } from '../../io/column.js';
import type { Cursor } from '../../io/cursor.js';
import { INSIDE_JSON, jsonOf } from '../../io/json.js';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  Decimal,
  DOUBLE,
  decimal,
  FLOAT,
  INTEGER,
  JSON_TYPE,
  JsonText,
  list,
  MapValue,
  map,
  Struct,
  struct,
  TIME,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  Timestamp,
  UUID,
  VARCHAR,
  type Value,
} from '../../types.js';
import { type Codec, codecOf } from '../codec.js';
import type { AvroRecord, AvroSchema } from './schema.js';

/** values nest no deeper than this: a recursive schema says nothing of its own depth */
const MAX_VALUE_DEPTH = 500;

/** The codec of a schema. */
export function avroCodec(schema: AvroSchema): Codec {
  return new Builder().build(schema);
}

class Builder {
  private readonly open = new Set<AvroRecord>();
  private readonly records = new Map<AvroRecord, Codec>();
  private depth = 0;

  build(schema: AvroSchema): Codec {
    switch (schema.kind) {
      case 'null':
        return codecOf({ type: VARCHAR, read: () => null, skip: () => undefined });
      case 'boolean':
        return codecOf({
          type: BOOLEAN,
          read: c => c.bool(),
          skip: c => void c.take(1),
          append: (c, out) => (out as FixedColumn).pushI8(c.bool() ? 1 : 0),
        });
      case 'int':
        return intCodec(schema.logical?.type);
      case 'long':
        return longCodec(schema.logical?.type);
      case 'float':
        return codecOf({
          type: FLOAT,
          read: c => c.f32(),
          skip: c => void c.take(4),
          append: (c, out) => (out as FixedColumn).pushF32(c.f32()),
        });
      case 'double':
        return codecOf({
          type: DOUBLE,
          read: c => c.f64(),
          skip: c => void c.take(8),
          append: (c, out) => (out as FixedColumn).pushF64(c.f64()),
        });
      case 'bytes':
        return schema.logical?.type === 'decimal'
          ? decimalCodec(schema.logical, c => c.count('length of the decimal'))
          : bytesCodec(c => c.count('length of bytes'));
      case 'string':
        return stringCodec();
      case 'fixed':
        return fixedCodec(schema);
      case 'enum':
        return enumCodec(schema);
      case 'array':
        return arrayCodec(this.build(schema.items));
      case 'map':
        return mapCodec(this.build(schema.values));
      case 'union':
        return this.union(schema.branches);
      case 'record':
        return this.record(schema);
    }
  }

  private record(schema: AvroRecord): Codec {
    if (this.open.has(schema)) return this.recursive(schema);
    const known = this.records.get(schema);
    if (known !== undefined) return known;
    this.open.add(schema);
    const fields = schema.fields.map(f => ({ name: f.name, codec: this.build(f.schema) }));
    this.open.delete(schema);
    const codecs = fields.map(f => f.codec);
    const codec = codecOf({
      type: struct(...fields.map(f => [f.name, f.codec.type] as const)),
      read: c => new Struct(codecs.map(x => x.read(c))),
      skip: c => {
        for (const x of codecs) x.skip(c);
      },
      append: (c, out) => {
        const column = out as StructColumn;
        column.begin();
        for (let i = 0; i < codecs.length; i++) codecs[i].append(c, column.children[i]);
      },
    });
    this.records.set(schema, codec);
    return codec;
  }

  /** A record inside itself: its type would be endless, so it is JSON; its codec exists when the first value is read. */
  private recursive(schema: AvroRecord): Codec {
    const late = (): Codec => {
      const codec = this.records.get(schema);
      if (codec === undefined) throw new Error(`record ${schema.name} has no codec yet`);
      return codec;
    };
    const nested = <T>(c: Cursor, run: () => T): T => {
      if (++this.depth > MAX_VALUE_DEPTH) {
        this.depth = 0;
        c.fail(`Avro record ${schema.name} nests deeper than ${MAX_VALUE_DEPTH}`);
      }
      try {
        return run();
      } finally {
        if (this.depth > 0) this.depth--;
      }
    };
    return codecOf({
      type: JSON_TYPE,
      read: c => nested(c, () => new JsonText(jsonOf(late().type, late().read(c), INSIDE_JSON))),
      skip: c => nested(c, () => late().skip(c)),
    });
  }

  private union(branches: readonly AvroSchema[]): Codec {
    const codecs = branches.map(b => this.build(b));
    const others = branches.flatMap((b, i) => (b.kind === 'null' ? [] : [i]));
    const branchOf = (c: Cursor): number => {
      const at = c.position;
      const i = c.i32();
      if (i < 0 || i >= branches.length) c.fail(`union branch ${i} of ${branches.length}`, at);
      return i;
    };
    const skip = (c: Cursor) => codecs[branchOf(c)].skip(c);
    if (others.length <= 1) {
      const inner = codecs[others[0] ?? 0] as Codec | undefined;
      if (inner === undefined) return codecOf({ type: VARCHAR, read: c => void branchOf(c) as never });
      return codecOf({
        type: inner.type,
        read: c => codecs[branchOf(c)].read(c),
        skip,
        append: (c, out) => {
          const i = branchOf(c);
          if (branches[i].kind === 'null') out.pushNull();
          else codecs[i].append(c, out);
        },
      });
    }
    return codecOf({
      type: JSON_TYPE,
      read: c => {
        const codec = codecs[branchOf(c)];
        const value = codec.read(c);
        return value === null ? null : new JsonText(jsonOf(codec.type, value, INSIDE_JSON));
      },
      skip,
    });
  }
}

function intCodec(logical: string | undefined): Codec {
  const type = logical === 'date' ? DATE : logical === 'time-millis' ? TIME : INTEGER;
  const skip = (c: Cursor) => void c.take(4);
  if (type === TIME) {
    return codecOf({
      type,
      read: c => timeOfDay(c, c.i32(), 86_400_000) * 1_000_000,
      skip,
    });
  }
  return codecOf({
    type,
    read: c => c.i32(),
    skip,
    append: (c, out) => (type === DATE ? out.push(c.i32()) : (out as FixedColumn).pushI32(c.i32())),
  });
}

function timeOfDay(c: Cursor, units: number, limit: number): number {
  if (units < 0 || units >= limit) c.fail(`time of day ${units} is outside of a day`, c.position - 4);
  return units;
}

function longCodec(logical: string | undefined): Codec {
  const skip = (c: Cursor) => void c.take(8);
  const units: Readonly<Record<string, readonly [bigint, number, typeof TIMESTAMP | typeof TIMESTAMPTZ | typeof TIMESTAMP_NS]>> = {
    'timestamp-millis': [1000n, 1_000_000, TIMESTAMPTZ],
    'timestamp-micros': [1_000_000n, 1000, TIMESTAMPTZ],
    'timestamp-nanos': [1_000_000_000n, 1, TIMESTAMPTZ],
    'local-timestamp-millis': [1000n, 1_000_000, TIMESTAMP],
    'local-timestamp-micros': [1_000_000n, 1000, TIMESTAMP],
    'local-timestamp-nanos': [1_000_000_000n, 1, TIMESTAMP_NS],
  };
  if (logical === 'time-micros') {
    return codecOf({ type: TIME, read: c => timeOfDay(c, c.i64Number('time of day'), 86_400_000_000) * 1000, skip });
  }
  const unit = logical === undefined ? undefined : units[logical];
  if (unit === undefined) {
    return codecOf({
      type: BIGINT,
      read: c => c.i64(),
      skip,
      append: (c, out) => {
        const at = c.take(8, 'long');
        (out as FixedColumn).pushReversed(c.bytes, at);
      },
    });
  }
  const [perSecond, nanos, type] = unit;
  return codecOf({
    type,
    read: c => {
      const v = c.i64();
      let seconds = v / perSecond;
      let rest = v % perSecond;
      if (rest < 0n) {
        rest += perSecond;
        seconds -= 1n;
      }
      return new Timestamp(seconds, Number(rest) * nanos);
    },
    skip,
  });
}

function stringCodec(): Codec {
  return codecOf({
    type: VARCHAR,
    read: c => {
      const n = c.count('length of the string');
      const at = c.take(n, 'string');
      return Buffer.from(c.bytes.buffer, c.bytes.byteOffset + at, n).toString('utf8');
    },
    skip: c => void c.take(c.count('length of the string'), 'string'),
  });
}

function bytesCodec(lengthOf: (c: Cursor) => number): Codec {
  return codecOf({
    type: BLOB,
    read: c => c.slice(lengthOf(c)).slice(),
    skip: c => void c.take(lengthOf(c), 'bytes'),
    append: (c, out) => {
      const n = lengthOf(c);
      const at = c.take(n, 'bytes');
      (out as BytesColumn).pushBytes(c.bytes, at, at + n);
    },
  });
}

/** two's complement, big-endian */
function decimalCodec(logical: { readonly precision?: number; readonly scale?: number }, lengthOf: (c: Cursor) => number): Codec {
  const { precision, scale = 0 } = logical;
  if (precision === undefined || precision < 1 || scale < 0 || scale > precision) return bytesCodec(lengthOf);
  const wide = precision > 38;
  return codecOf({
    type: wide ? VARCHAR : decimal(precision, scale),
    read: c => {
      const bytes = c.slice(lengthOf(c), 'decimal');
      let unscaled = 0n;
      for (const b of bytes) unscaled = (unscaled << 8n) | BigInt(b);
      const value = new Decimal(bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, unscaled), scale);
      return wide ? value.toString() : value;
    },
    skip: c => void c.take(lengthOf(c), 'decimal'),
  });
}

function fixedCodec(schema: AvroSchema & { kind: 'fixed' }): Codec {
  const { size, logical } = schema;
  if (logical?.type === 'decimal') return decimalCodec(logical, () => size);
  if (logical?.type === 'uuid' && size === 16) {
    return codecOf({
      type: UUID,
      read: c => {
        const hex = Buffer.from(c.slice(16)).toString('hex');
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
      },
      skip: c => void c.take(16),
    });
  }
  if (logical?.type === 'duration' && size === 12) {
    return codecOf({
      type: struct(['months', BIGINT], ['days', BIGINT], ['millis', BIGINT]),
      read: c => new Struct([BigInt(c.u32le()), BigInt(c.u32le()), BigInt(c.u32le())]),
      skip: c => void c.take(12),
    });
  }
  return bytesCodec(() => size);
}

function enumCodec(schema: AvroSchema & { kind: 'enum' }): Codec {
  return codecOf({
    type: VARCHAR,
    read: c => {
      const at = c.position;
      const ordinal = c.i32();
      const symbol = schema.symbols[ordinal];
      return symbol ?? c.fail(`ordinal ${ordinal} of Avro enum ${schema.name}, which has ${schema.symbols.length} symbols`, at);
    },
    skip: c => void c.take(4),
  });
}

/** Items come in blocks; a count larger than the bytes left can hold is corrupt unless items take no bytes. */
function* blocks(c: Cursor): Generator<number, undefined, undefined> {
  for (;;) {
    const at = c.position;
    const n = c.varint('number of items');
    if (n === 0) return undefined;
    if (n > Math.max(c.remaining, 0) + 1_000_000) c.fail(`${n} items, but only ${c.remaining} bytes remain`, at);
    yield n;
  }
}

function arrayCodec(item: Codec): Codec {
  return codecOf({
    type: list(item.type),
    read: c => {
      const items: Value[] = [];
      for (const n of blocks(c)) for (let i = 0; i < n; i++) items.push(item.read(c));
      return items;
    },
    skip: c => {
      for (const n of blocks(c)) for (let i = 0; i < n; i++) item.skip(c);
    },
    append: (c, out) => {
      const column = out as ListColumn;
      for (const n of blocks(c)) for (let i = 0; i < n; i++) item.append(c, column.children[0]);
      column.finish();
    },
  });
}

function mapCodec(value: Codec): Codec {
  const key = stringCodec();
  return codecOf({
    type: map(VARCHAR, value.type),
    read: c => {
      const entries: (readonly [Value, Value])[] = [];
      for (const n of blocks(c)) for (let i = 0; i < n; i++) entries.push([key.read(c), value.read(c)]);
      return new MapValue(entries);
    },
    skip: c => {
      for (const n of blocks(c)) {
        for (let i = 0; i < n; i++) {
          key.skip(c);
          value.skip(c);
        }
      }
    },
  });
}
