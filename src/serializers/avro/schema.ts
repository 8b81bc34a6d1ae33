/**
 * Avro schemas as a tree with names resolved. Only what decoding needs: shape, logical types, names.
 *
 * A schema in a serializer snapshot is the writer's, complete: a name stands for a type that was defined before it (Avro 1.11
 * specification, "Names"). Nesting is limited.
 */
import { CorruptError } from '../../errors.js';

export type AvroSchema =
  | { readonly kind: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string'; readonly logical?: Logical }
  | { readonly kind: 'fixed'; readonly name: string; readonly size: number; readonly logical?: Logical }
  | { readonly kind: 'enum'; readonly name: string; readonly symbols: readonly string[] }
  | { readonly kind: 'array'; readonly items: AvroSchema }
  | { readonly kind: 'map'; readonly values: AvroSchema }
  | { readonly kind: 'union'; readonly branches: readonly AvroSchema[] }
  | AvroRecord;

/** Filled after it is registered under its name, so that it can refer to itself. */
export interface AvroRecord {
  readonly kind: 'record';
  readonly name: string;
  fields: readonly { readonly name: string; readonly schema: AvroSchema }[];
}

export interface Logical {
  readonly type: string;
  readonly precision?: number;
  readonly scale?: number;
}

const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);
const MAX_DEPTH = 64;

/** Parses schema JSON. @throws CorruptError */
export function parseAvroSchema(text: string): AvroSchema {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CorruptError('Avro schema is not JSON', { cause: error });
  }
  return parse(json, '', new Map(), 0);
}

type Named = Map<string, AvroSchema>;

function parse(json: unknown, space: string, names: Named, depth: number): AvroSchema {
  if (depth > MAX_DEPTH) throw new CorruptError(`Avro schema nests deeper than ${MAX_DEPTH}`);
  if (typeof json === 'string') {
    if (PRIMITIVES.has(json)) return { kind: json as 'null' };
    const known = names.get(json.includes('.') || space === '' ? json : `${space}.${json}`) ?? names.get(json);
    if (known === undefined) throw new CorruptError(`Avro schema names an unknown type ${json}`);
    return known;
  }
  if (Array.isArray(json)) return { kind: 'union', branches: json.map(x => parse(x, space, names, depth + 1)) };
  if (typeof json !== 'object' || json === null) throw new CorruptError('Avro schema holds something that is no type');
  const o = json as Record<string, unknown>;
  const type = o['type'];
  if (typeof type !== 'string') return parse(type, space, names, depth + 1);
  const logical = logicalOf(o);
  if (PRIMITIVES.has(type)) return { kind: type as 'null', ...(logical === undefined ? {} : { logical }) };
  switch (type) {
    case 'array':
      return { kind: 'array', items: parse(o['items'], space, names, depth + 1) };
    case 'map':
      return { kind: 'map', values: parse(o['values'], space, names, depth + 1) };
    case 'record':
    case 'error': {
      const { full, inner } = fullName(o, space);
      const record: AvroRecord = { kind: 'record', name: full, fields: [] };
      names.set(full, record);
      if (!Array.isArray(o['fields'])) throw new CorruptError(`Avro record ${full} has no fields`);
      record.fields = (o['fields'] as Record<string, unknown>[]).map(f => {
        if (typeof f?.['name'] !== 'string') throw new CorruptError(`Avro record ${full} has a field without a name`);
        return { name: f['name'], schema: parse(f['type'], inner, names, depth + 1) };
      });
      return record;
    }
    case 'enum': {
      const { full } = fullName(o, space);
      const symbols = o['symbols'];
      if (!Array.isArray(symbols) || !symbols.every(s => typeof s === 'string')) throw new CorruptError(`Avro enum ${full} has no symbols`);
      const schema: AvroSchema = { kind: 'enum', name: full, symbols };
      names.set(full, schema);
      return schema;
    }
    case 'fixed': {
      const { full } = fullName(o, space);
      const size = o['size'];
      if (typeof size !== 'number' || !Number.isInteger(size) || size < 0) throw new CorruptError(`Avro fixed ${full} has no size`);
      const schema: AvroSchema = { kind: 'fixed', name: full, size, ...(logical === undefined ? {} : { logical }) };
      names.set(full, schema);
      return schema;
    }
    default:
      return parse(type, space, names, depth + 1);
  }
}

function fullName(o: Record<string, unknown>, space: string): { full: string; inner: string } {
  const name = o['name'];
  if (typeof name !== 'string') throw new CorruptError('Avro schema has a named type without a name');
  const dot = name.lastIndexOf('.');
  if (dot >= 0) return { full: name, inner: name.slice(0, dot) };
  const own = typeof o['namespace'] === 'string' ? o['namespace'] : space;
  return { full: own === '' ? name : `${own}.${name}`, inner: own };
}

function logicalOf(o: Record<string, unknown>): Logical | undefined {
  if (typeof o['logicalType'] !== 'string') return undefined;
  const number = (v: unknown) => (typeof v === 'number' && Number.isInteger(v) ? v : undefined);
  const precision = number(o['precision']);
  const scale = number(o['scale']);
  return {
    type: o['logicalType'],
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
  };
}
