/**
 * SqlType ↔ DuckDB logical types.
 *
 * Towards the engine the mapping is one to one (JSON is VARCHAR with the alias JSON). Results may hold types that the
 * value model lacks; `readType` says how they come back:
 *
 *   UTINYINT → SMALLINT   USMALLINT → INTEGER   UINTEGER → BIGINT   UBIGINT → HUGEINT   (widened)
 *   TIMESTAMP_S, _MS → TIMESTAMP    ENUM → VARCHAR    ARRAY → LIST    NULL → INTEGER, as DuckDB itself does
 *   UHUGEINT, BIT, TIMETZ, UNION, BIGNUM, VARIANT, GEOMETRY → undefined: the statement casts them to VARCHAR
 */
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  DOUBLE,
  decimal,
  FLOAT,
  HUGEINT,
  INTEGER,
  INTERVAL,
  JSON_TYPE,
  SMALLINT,
  type SqlKind,
  type SqlType,
  TIME,
  TIME_NS,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  TINYINT,
  UUID,
  VARCHAR,
} from '../../types.js';
import type { Duck, LogicalType } from './bindings.js';

/** enum duckdb_type of duckdb.h */
export const TypeId = {
  BOOLEAN: 1,
  TINYINT: 2,
  SMALLINT: 3,
  INTEGER: 4,
  BIGINT: 5,
  UTINYINT: 6,
  USMALLINT: 7,
  UINTEGER: 8,
  UBIGINT: 9,
  FLOAT: 10,
  DOUBLE: 11,
  TIMESTAMP: 12,
  DATE: 13,
  TIME: 14,
  INTERVAL: 15,
  HUGEINT: 16,
  VARCHAR: 17,
  BLOB: 18,
  DECIMAL: 19,
  TIMESTAMP_S: 20,
  TIMESTAMP_MS: 21,
  TIMESTAMP_NS: 22,
  ENUM: 23,
  LIST: 24,
  STRUCT: 25,
  MAP: 26,
  UUID: 27,
  TIMESTAMP_TZ: 31,
  ARRAY: 33,
  SQLNULL: 36,
  TIME_NS: 39,
} as const;

type SimpleKind = Exclude<SqlKind, 'DECIMAL' | 'STRUCT' | 'LIST' | 'MAP' | 'JSON'>;

const SIMPLE: Readonly<Record<SimpleKind, number>> = {
  BOOLEAN: TypeId.BOOLEAN,
  TINYINT: TypeId.TINYINT,
  SMALLINT: TypeId.SMALLINT,
  INTEGER: TypeId.INTEGER,
  BIGINT: TypeId.BIGINT,
  HUGEINT: TypeId.HUGEINT,
  FLOAT: TypeId.FLOAT,
  DOUBLE: TypeId.DOUBLE,
  VARCHAR: TypeId.VARCHAR,
  BLOB: TypeId.BLOB,
  UUID: TypeId.UUID,
  DATE: TypeId.DATE,
  TIME: TypeId.TIME,
  TIME_NS: TypeId.TIME_NS,
  TIMESTAMP: TypeId.TIMESTAMP,
  TIMESTAMP_NS: TypeId.TIMESTAMP_NS,
  TIMESTAMPTZ: TypeId.TIMESTAMP_TZ,
  INTERVAL: TypeId.INTERVAL,
};

/** The engine's type for a column of ours. */
export function createLogicalType(duck: Duck, type: SqlType): LogicalType {
  switch (type.kind) {
    case 'DECIMAL':
      return duck.create_decimal_type(type.precision, type.scale);
    case 'STRUCT':
      return duck.create_struct_type(
        type.fields.map(f => createLogicalType(duck, f.type)),
        type.fields.map(f => f.name),
      );
    case 'LIST':
      return duck.create_list_type(createLogicalType(duck, type.element));
    case 'MAP':
      return duck.create_map_type(createLogicalType(duck, type.key), createLogicalType(duck, type.value));
    case 'JSON': {
      const json = duck.create_logical_type(TypeId.VARCHAR);
      duck.logical_type_set_alias(json, 'JSON');
      return json;
    }
    default:
      return duck.create_logical_type(SIMPLE[type.kind]);
  }
}

/** A result column's type: ours, and the tree that decodes its vectors. */
export interface ReadType {
  readonly id: number;
  readonly sql: SqlType;
  /** STRUCT: a child a field; LIST and ARRAY: the element; MAP: key and value */
  readonly children: readonly ReadType[];
  /** ENUM: width of the index and the names */
  readonly dictionary?: { readonly width: 1 | 2 | 4; readonly names: readonly string[] };
  /** ARRAY: elements of each row */
  readonly arraySize?: number;
}

const READ: ReadonlyMap<number, SqlType> = new Map<number, SqlType>([
  [TypeId.BOOLEAN, BOOLEAN],
  [TypeId.TINYINT, TINYINT],
  [TypeId.SMALLINT, SMALLINT],
  [TypeId.INTEGER, INTEGER],
  [TypeId.BIGINT, BIGINT],
  [TypeId.UTINYINT, SMALLINT],
  [TypeId.USMALLINT, INTEGER],
  [TypeId.UINTEGER, BIGINT],
  [TypeId.UBIGINT, HUGEINT],
  [TypeId.FLOAT, FLOAT],
  [TypeId.DOUBLE, DOUBLE],
  [TypeId.TIMESTAMP, TIMESTAMP],
  [TypeId.TIMESTAMP_S, TIMESTAMP],
  [TypeId.TIMESTAMP_MS, TIMESTAMP],
  [TypeId.TIMESTAMP_NS, TIMESTAMP_NS],
  [TypeId.TIMESTAMP_TZ, TIMESTAMPTZ],
  [TypeId.DATE, DATE],
  [TypeId.TIME, TIME],
  [TypeId.TIME_NS, TIME_NS],
  [TypeId.INTERVAL, INTERVAL],
  [TypeId.HUGEINT, HUGEINT],
  [TypeId.BLOB, BLOB],
  [TypeId.UUID, UUID],
  [TypeId.SQLNULL, INTEGER],
]);

/** How a result column comes back; undefined for types that have to be cast to VARCHAR in the statement. */
export function readType(duck: Duck, logical: LogicalType): ReadType | undefined {
  const id = duck.get_type_id(logical) as number;
  switch (id) {
    case TypeId.VARCHAR:
      return { id, sql: duck.logical_type_get_alias(logical) === 'JSON' ? JSON_TYPE : VARCHAR, children: [] };
    case TypeId.DECIMAL:
      return { id, sql: decimal(duck.decimal_width(logical), duck.decimal_scale(logical)), children: [] };
    case TypeId.ENUM: {
      const names = Array.from({ length: duck.enum_dictionary_size(logical) }, (_, i) => duck.enum_dictionary_value(logical, i));
      const internal = duck.enum_internal_type(logical) as number;
      const width = internal === TypeId.UTINYINT ? 1 : internal === TypeId.USMALLINT ? 2 : 4;
      return { id, sql: VARCHAR, children: [], dictionary: { width, names } };
    }
    case TypeId.LIST: {
      const element = readType(duck, duck.list_type_child_type(logical));
      return element && { id, sql: { kind: 'LIST', element: element.sql }, children: [element] };
    }
    case TypeId.ARRAY: {
      const element = readType(duck, duck.array_type_child_type(logical));
      const arraySize = duck.array_type_array_size(logical);
      return element && { id, sql: { kind: 'LIST', element: element.sql }, children: [element], arraySize };
    }
    case TypeId.MAP: {
      const key = readType(duck, duck.map_type_key_type(logical));
      const value = readType(duck, duck.map_type_value_type(logical));
      return key && value && { id, sql: { kind: 'MAP', key: key.sql, value: value.sql }, children: [key, value] };
    }
    case TypeId.STRUCT: {
      const children: ReadType[] = [];
      const fields: { name: string; type: SqlType }[] = [];
      for (let i = 0; i < duck.struct_type_child_count(logical); i++) {
        const child = readType(duck, duck.struct_type_child_type(logical, i));
        if (child === undefined) return undefined;
        children.push(child);
        fields.push({ name: duck.struct_type_child_name(logical, i), type: child.sql });
      }
      return { id, sql: { kind: 'STRUCT', fields }, children };
    }
    default: {
      const sql = READ.get(id);
      return sql && { id, sql, children: [] };
    }
  }
}
