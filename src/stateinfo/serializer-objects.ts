/**
 * The SQL types of serializers that are Java objects in a state descriptor.
 *
 *   without configuration       by the class
 *   List, Map, Tuple, Nullable, Either, arrays, Ttl     by the fields that hold the serializers inside
 *   PojoSerializer              fieldSerializers; names in what its writeObject adds: i32 n · n × (class · utf field)
 *   RowDataSerializer           types: LogicalType[]
 *   KryoSerializer, EnumSerializer                      by the class of the values
 *
 * What is not known has the type JSON. Flink: org.apache.flink.api.common.typeutils.TypeSerializer is java.io.Serializable (1.8–2.3).
 */
import { Cursor } from '../io/cursor.js';
import { javaElements } from '../java/collections.js';
import { classDescName, type JavaObject, type JavaValue, javaAnnotation, javaField } from '../java/tree.js';
import { sqlTypeOfLogical } from '../names/logical-sql.js';
import type { Codec, CodecContext } from '../serializers/codec.js';
import { kryoCodec } from '../serializers/kryo/codec.js';
import { simpleSerializer } from '../serializers/registry.js';
import { logicalTypeOf } from '../serializers/table/logical-type.js';
import { JSON_TYPE, type SqlType, VARCHAR } from '../types.js';

const MAX_DEPTH = 32;
const CONTEXT: CodecContext = { flinkMajor: 1 };
const BASE = 'org.apache.flink.api.common.typeutils.base.';
const RUNTIME = 'org.apache.flink.api.java.typeutils.runtime.';
const TABLE = 'org.apache.flink.table.runtime.typeutils.';

export interface SerializerObject {
  readonly className: string;
  readonly type: SqlType;
  /** of lists: the elements'; of maps: the keys' and values' */
  readonly inside: readonly SqlType[];
  /** set where a value can be decoded */
  readonly codec?: Codec;
}

/** @returns undefined when the value is no object */
export function serializerObject(value: JavaValue | undefined, depth = 0): SerializerObject | undefined {
  if (value?.kind !== 'object') return undefined;
  const className = classDescName(value.classDesc);
  const simple = simpleSerializer(className)?.codec(CONTEXT);
  if (simple !== undefined) return { className, type: simple.type, inside: [], codec: simple };
  if (depth > MAX_DEPTH) return { className, type: JSON_TYPE, inside: [] };
  const typeIn = (field: string): SqlType => serializerObject(javaField(value, field), depth + 1)?.type ?? JSON_TYPE;
  const typesIn = (field: string): SqlType[] =>
    elementsOf(javaField(value, field)).map(v => serializerObject(v, depth + 1)?.type ?? JSON_TYPE);
  const of = (type: SqlType, ...inside: readonly SqlType[]): SerializerObject => ({ className, type, inside });
  switch (className) {
    case `${BASE}ListSerializer`: {
      const element = typeIn('elementSerializer');
      return of({ kind: 'LIST', element }, element);
    }
    case `${BASE}MapSerializer`: {
      const [key, mapped] = [typeIn('keySerializer'), typeIn('valueSerializer')];
      return of({ kind: 'MAP', key, value: mapped }, key, mapped);
    }
    case `${BASE}GenericArraySerializer`:
      return of({ kind: 'LIST', element: typeIn('componentSerializer') });
    case `${BASE}EnumSerializer`:
      return of(VARCHAR);
    case `${RUNTIME}TupleSerializer`:
      return of(structOf(typesIn('fieldSerializers')));
    case `${RUNTIME}RowSerializer`:
      return of(structOf(typesIn('fieldSerializers')));
    case `${RUNTIME}NullableSerializer`:
      return of(typeIn('originalSerializer'));
    case `${RUNTIME}EitherSerializer`:
      return of(structOf([typeIn('leftSerializer'), typeIn('rightSerializer')], ['left', 'right']));
    case `${RUNTIME}PojoSerializer`: {
      const types = typesIn('fieldSerializers');
      const names = pojoFields(value);
      return of(names.length === types.length ? structOf(types, names) : JSON_TYPE);
    }
    case `${RUNTIME}kryo.KryoSerializer`: {
      const type = javaField(value, 'type');
      if (type?.kind !== 'class') return of(JSON_TYPE);
      return of(kryoCodec({ typeClass: classDescName(type.classDesc), registrations: [], defaults: [] }, CONTEXT).type);
    }
    case `${TABLE}RowDataSerializer`:
    case `${TABLE}BaseRowSerializer`:
      return of(structOf(elementsOf(javaField(value, 'types')).map(t => sqlTypeOfLogical(logicalTypeOf(t)))));
    case `${TABLE}ExternalSerializer`:
      return of(typeIn('internalSerializer'));
    default:
      return of(JSON_TYPE);
  }
}

function structOf(types: readonly SqlType[], names: readonly string[] = types.map((_, i) => `f${i}`)): SqlType {
  return types.length === 0 ? JSON_TYPE : { kind: 'STRUCT', fields: types.map((type, i) => ({ name: names[i], type })) };
}

/** Elements of an array or list. */
function elementsOf(value: JavaValue | undefined): readonly JavaValue[] {
  if (value?.kind === 'array') return value.elements;
  return value === undefined ? [] : (javaElements(value) ?? []);
}

/** Names of the fields, in the order of their serializers. */
function pojoFields(object: JavaObject): string[] {
  const names: string[] = [];
  for (const [i, part] of javaAnnotation(object, `${RUNTIME}PojoSerializer`).entries()) {
    if (part.kind !== 'block') continue;
    const c = new Cursor(part.bytes, 0, part.bytes.length, { where: 'fields of a PojoSerializer' }, 0);
    if (i === 0) c.i32();
    while (c.remaining > 0) names.push(c.utf('field'));
  }
  return names;
}
