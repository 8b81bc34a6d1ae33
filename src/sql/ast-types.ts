/** SQL types as casts of the tree name them, in both directions. */
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
  list,
  map,
  SMALLINT,
  type SqlType,
  TIME,
  TIME_NS,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  TINYINT,
  UUID,
  VARCHAR,
} from '../types.js';
import type { AstType } from './ast.js';

const BY_ID: ReadonlyMap<string, SqlType> = new Map<string, SqlType>([
  ['BOOLEAN', BOOLEAN],
  ['TINYINT', TINYINT],
  ['SMALLINT', SMALLINT],
  ['INTEGER', INTEGER],
  ['BIGINT', BIGINT],
  ['HUGEINT', HUGEINT],
  ['FLOAT', FLOAT],
  ['DOUBLE', DOUBLE],
  ['VARCHAR', VARCHAR],
  ['BLOB', BLOB],
  ['UUID', UUID],
  ['DATE', DATE],
  ['TIME', TIME],
  ['TIME_NS', TIME_NS],
  ['TIMESTAMP', TIMESTAMP],
  ['TIMESTAMP_NS', TIMESTAMP_NS],
  ['TIMESTAMP WITH TIME ZONE', TIMESTAMPTZ],
  ['INTERVAL', INTERVAL],
]);

/** The type that a cast names; undefined for those outside of the value model. */
export function typeOfAst(type: AstType): SqlType | undefined {
  const info = type.type_info;
  if (type.id === 'DECIMAL') return decimal(info?.width ?? 18, info?.scale ?? 3);
  if (type.id === 'LIST' && info?.child_type) {
    const element = typeOfAst(info.child_type);
    return element && list(element);
  }
  if (type.id === 'MAP' && info?.child_type?.type_info?.child_types) {
    const [key, value] = info.child_type.type_info.child_types.map(c => typeOfAst(c.second));
    return key && value && map(key, value);
  }
  if (type.id === 'STRUCT' && info?.child_types) {
    const fields = info.child_types.map(c => ({ name: c.first, type: typeOfAst(c.second) }));
    if (fields.some(f => f.type === undefined)) return undefined;
    return { kind: 'STRUCT', fields: fields as { name: string; type: SqlType }[] };
  }
  if (type.id === 'UNBOUND' && info !== null) {
    const { name } = info as unknown as { name: string };
    return name.toLowerCase() === 'json' ? JSON_TYPE : undefined;
  }
  return BY_ID.get(type.id);
}

/** Whether the type is a number. */
export function isNumeric(type: SqlType): boolean {
  switch (type.kind) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT':
    case 'HUGEINT':
    case 'FLOAT':
    case 'DOUBLE':
    case 'DECIMAL':
      return true;
    default:
      return false;
  }
}

/** A type for a cast in the tree. */
export function astOfType(type: SqlType): AstType {
  const info = (kind: string, more: object) => ({ type: kind, alias: '', extension_info: null, ...more });
  switch (type.kind) {
    case 'DECIMAL':
      return { id: 'DECIMAL', type_info: info('DECIMAL_TYPE_INFO', { width: type.precision, scale: type.scale }) };
    case 'LIST':
      return { id: 'LIST', type_info: info('LIST_TYPE_INFO', { child_type: astOfType(type.element) }) };
    case 'STRUCT':
      return {
        id: 'STRUCT',
        type_info: info('STRUCT_TYPE_INFO', {
          child_types: type.fields.map(f => ({ first: f.name, second: astOfType(f.type) })),
        }),
      };
    case 'MAP': {
      const entry = {
        kind: 'STRUCT',
        fields: [
          { name: 'key', type: type.key },
          { name: 'value', type: type.value },
        ],
      } as const;
      return { id: 'MAP', type_info: info('LIST_TYPE_INFO', { child_type: astOfType(entry) }) };
    }
    case 'JSON':
      return {
        id: 'UNBOUND',
        type_info: info('UNBOUND_TYPE_INFO', { name: 'json', catalog: '', schema: '', user_type_modifiers: [] }),
      };
    case 'TIMESTAMPTZ':
      return { id: 'TIMESTAMP WITH TIME ZONE', type_info: null };
    default:
      return { id: type.kind, type_info: null };
  }
}
