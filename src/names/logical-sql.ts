/** SQL types of logical types, without a serializer beside them. */
import type { LogicalType } from '../serializers/table/logical-type.js';
import { scalarSlot } from '../serializers/table/slots.js';
import { INTEGER, JSON_TYPE, list, map, type SqlType } from '../types.js';

/** RAW and what has no form in rows is JSON. */
export function sqlTypeOfLogical(type: LogicalType): SqlType {
  const scalar = scalarSlot(type);
  if (scalar !== undefined) return scalar.type;
  switch (type.kind) {
    case 'ROW':
    case 'STRUCTURED':
      if (type.fields.length === 0) return JSON_TYPE;
      return { kind: 'STRUCT', fields: type.fields.map(f => ({ name: f.name, type: sqlTypeOfLogical(f.type) })) };
    case 'ARRAY':
      return list(sqlTypeOfLogical(type.element));
    case 'MULTISET':
      return map(sqlTypeOfLogical(type.element), INTEGER);
    case 'MAP':
      return map(sqlTypeOfLogical(type.key), sqlTypeOfLogical(type.value));
    case 'DISTINCT':
      return sqlTypeOfLogical(type.source);
    default:
      return JSON_TYPE;
  }
}
