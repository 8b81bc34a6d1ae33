/**
 * SQL types of Flink's table runtime, as serializer snapshots hold them: Java objects of the package
 * org.apache.flink.table.types.logical (and of DataType around them), turned into plain data.
 *
 *   LogicalType      isNullable, typeRoot enum
 *   CharType, VarCharType, BinaryType, VarBinaryType   length (2147483647: STRING, BYTES)
 *   DecimalType      precision, scale                  TimeType, TimestampType, LocalZonedTimestampType …   precision
 *   ArrayType, MultisetType   elementType              MapType  keyType, valueType
 *   RowType          fields: list of RowField { name, type }
 *   StructuredType   attributes: list of StructuredAttribute { name, type }, implementationClass, className, objectIdentifier
 *   DistinctType     sourceType                        RawType  clazz, serializer (a TypeSerializer)
 *   DataType         logicalType
 *
 *   SQL type: CHAR, VARCHAR → VARCHAR · BINARY, VARBINARY → BLOB · TIME → TIME · TIMESTAMP(p) → TIMESTAMP, p > 6 TIMESTAMP_NS
 *   TIMESTAMP_LTZ → TIMESTAMPTZ · INTERVAL → INTERVAL · ARRAY → LIST · MAP, MULTISET → MAP · ROW, STRUCTURED → STRUCT
 *   DISTINCT → its source · VARIANT → JSON · BITMAP → LIST(INTEGER) of the set bits · RAW → that of its serializer
 *
 * Flink: LogicalTypeRoot and the classes named, flink-table-common 1.9–2.3.
 */
import { CorruptError } from '../../errors.js';
import { javaElements } from '../../java/collections.js';
import { classDescName, isJavaInstance, type JavaObject, type JavaValue, javaField, simpleClassName } from '../../java/tree.js';

export type LogicalType = { readonly nullable: boolean } & (
  | {
      readonly kind:
        | 'BOOLEAN'
        | 'TINYINT'
        | 'SMALLINT'
        | 'INTEGER'
        | 'BIGINT'
        | 'FLOAT'
        | 'DOUBLE'
        | 'DATE'
        | 'NULL'
        | 'VARIANT'
        | 'BITMAP';
    }
  | { readonly kind: 'CHAR' | 'VARCHAR' | 'BINARY' | 'VARBINARY'; readonly length: number }
  | { readonly kind: 'DECIMAL'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'TIME' | 'TIMESTAMP' | 'TIMESTAMP_TZ' | 'TIMESTAMP_LTZ'; readonly precision: number }
  | { readonly kind: 'INTERVAL_YEAR_MONTH' | 'INTERVAL_DAY_TIME' }
  | { readonly kind: 'ARRAY' | 'MULTISET'; readonly element: LogicalType }
  | { readonly kind: 'MAP'; readonly key: LogicalType; readonly value: LogicalType }
  | { readonly kind: 'ROW'; readonly fields: readonly LogicalField[] }
  | { readonly kind: 'STRUCTURED'; readonly name: string; readonly fields: readonly LogicalField[] }
  | { readonly kind: 'DISTINCT'; readonly name: string; readonly source: LogicalType }
  | { readonly kind: 'RAW'; readonly className: string; readonly serializer: JavaValue | undefined }
  /** a type that the table runtime cannot store in rows, or one of a class not known */
  | { readonly kind: 'OTHER'; readonly name: string }
);
export interface LogicalField {
  readonly name: string;
  readonly type: LogicalType;
}

const PACKAGE = 'org.apache.flink.table.types.logical.';
const MAX_DEPTH = 64;
/** Shared parts count as often as they occur. */
const MAX_TYPES = 100_000;

/** The logical type that a Java object describes. @throws CorruptError when it is none */
export function logicalTypeOf(value: JavaValue): LogicalType {
  return new TypeReader().read(value, 0);
}

/** The logical type inside of a DataType object. @throws CorruptError */
export function logicalTypeOfDataType(value: JavaValue): LogicalType {
  const logical = value.kind === 'object' ? javaField(value, 'logicalType') : undefined;
  if (logical === undefined) throw new CorruptError(`${describe(value)} where a DataType was expected`);
  return logicalTypeOf(logical);
}

function describe(value: JavaValue): string {
  return value.kind === 'object' ? `object of ${classDescName(value.classDesc)}` : value.kind;
}

class TypeReader {
  private types = 0;

  read(value: JavaValue, depth: number): LogicalType {
    if (depth > MAX_DEPTH || ++this.types > MAX_TYPES) throw new CorruptError('logical type nests too deeply');
    if (value.kind !== 'object' || !isJavaInstance(value, `${PACKAGE}LogicalType`))
      throw new CorruptError(`${describe(value)} where a logical type was expected`);
    const isNullable = javaField(value, 'isNullable');
    const nullable = isNullable?.kind === 'boolean' ? isNullable.value : true;
    return { nullable, ...this.body(value, depth) } as LogicalType;
  }

  private body(o: JavaObject, depth: number): object {
    const type = (field: string): LogicalType => this.read(this.need(o, field), depth + 1);
    const int = (field: string): number => {
      const v = this.need(o, field);
      return v.kind === 'int' ? v.value : this.bad(o, field);
    };
    const fields = (list: string): LogicalField[] =>
      (javaElements(this.need(o, list)) ?? this.bad(o, list)).map(entry => {
        if (entry.kind !== 'object') return this.bad(o, list);
        const name = this.need(entry, 'name');
        return { name: name.kind === 'string' ? name.value : this.bad(o, list), type: this.read(this.need(entry, 'type'), depth + 1) };
      });
    const className = classDescName(o.classDesc);
    switch (className.startsWith(PACKAGE) ? className.slice(PACKAGE.length) : '') {
      case 'CharType':
        return { kind: 'CHAR', length: int('length') };
      case 'VarCharType':
        return { kind: 'VARCHAR', length: int('length') };
      case 'BooleanType':
        return { kind: 'BOOLEAN' };
      case 'BinaryType':
        return { kind: 'BINARY', length: int('length') };
      case 'VarBinaryType':
        return { kind: 'VARBINARY', length: int('length') };
      case 'DecimalType': {
        const precision = int('precision');
        const scale = int('scale');
        if (precision < 1 || precision > 38 || scale < 0 || scale > precision) throw new CorruptError(`DECIMAL(${precision}, ${scale})`);
        return { kind: 'DECIMAL', precision, scale };
      }
      case 'TinyIntType':
        return { kind: 'TINYINT' };
      case 'SmallIntType':
        return { kind: 'SMALLINT' };
      case 'IntType':
        return { kind: 'INTEGER' };
      case 'BigIntType':
        return { kind: 'BIGINT' };
      case 'FloatType':
        return { kind: 'FLOAT' };
      case 'DoubleType':
        return { kind: 'DOUBLE' };
      case 'DateType':
        return { kind: 'DATE' };
      case 'TimeType':
        return { kind: 'TIME', precision: int('precision') };
      case 'TimestampType':
        return { kind: 'TIMESTAMP', precision: int('precision') };
      case 'ZonedTimestampType':
        return { kind: 'TIMESTAMP_TZ', precision: int('precision') };
      case 'LocalZonedTimestampType':
        return { kind: 'TIMESTAMP_LTZ', precision: int('precision') };
      case 'YearMonthIntervalType':
        return { kind: 'INTERVAL_YEAR_MONTH' };
      case 'DayTimeIntervalType':
        return { kind: 'INTERVAL_DAY_TIME' };
      case 'ArrayType':
        return { kind: 'ARRAY', element: type('elementType') };
      case 'MultisetType':
        return { kind: 'MULTISET', element: type('elementType') };
      case 'MapType':
        return { kind: 'MAP', key: type('keyType'), value: type('valueType') };
      case 'RowType':
        return { kind: 'ROW', fields: fields('fields') };
      case 'StructuredType':
        return { kind: 'STRUCTURED', name: userTypeName(o), fields: fields('attributes') };
      case 'DistinctType':
        return { kind: 'DISTINCT', name: userTypeName(o), source: type('sourceType') };
      case 'RawType':
      case 'AnyType': // its name in 1.9
        return {
          kind: 'RAW',
          className: javaClassNameOf(javaField(o, 'clazz')) ?? 'java.lang.Object',
          serializer: javaField(o, 'serializer'),
        };
      case 'NullType':
        return { kind: 'NULL' };
      case 'VariantType':
        return { kind: 'VARIANT' };
      case 'BitmapType':
        return { kind: 'BITMAP' };
      case 'TypeInformationRawType':
      case 'TypeInformationAnyType':
        return { kind: 'RAW', className: simpleClassName(className), serializer: undefined };
      case 'LegacyTypeInformationType': {
        // the old planner's DECIMAL has the precision that the new one gives to BigDecimal
        const root = javaField(o, 'typeRoot');
        if (root?.kind === 'enum' && root.constant === 'DECIMAL') return { kind: 'DECIMAL', precision: 38, scale: 18 };
        return { kind: 'RAW', className: simpleClassName(className), serializer: undefined };
      }
      default:
        return { kind: 'OTHER', name: simpleClassName(className) };
    }
  }

  private need(o: JavaObject, field: string): JavaValue {
    return javaField(o, field) ?? this.bad(o, field);
  }
  private bad(o: JavaObject, field: string): never {
    throw new CorruptError(`field ${field} of ${classDescName(o.classDesc)} is not as expected`);
  }
}

/** Name of a user-defined type: its catalog name, or the class. */
function userTypeName(o: JavaObject): string {
  const id = javaField(o, 'objectIdentifier');
  if (id?.kind === 'object') {
    const parts = ['catalogName', 'databaseName', 'objectName'].map(f => javaField(id, f));
    const names = parts.flatMap(p => (p?.kind === 'string' ? [p.value] : []));
    if (names.length > 0) return names.join('.');
  }
  const className = javaField(o, 'className');
  return javaClassNameOf(javaField(o, 'implementationClass')) ?? (className?.kind === 'string' ? className.value : 'STRUCTURED');
}

function javaClassNameOf(value: JavaValue | undefined): string | undefined {
  return value?.kind === 'class' ? classDescName(value.classDesc) : undefined;
}

/** The type as Flink's SQL spells it: `VARCHAR(10) NOT NULL`, `ROW<a BIGINT>`. */
export function logicalTypeText(type: LogicalType): string {
  return type.nullable ? bareText(type) : `${bareText(type)} NOT NULL`;
}

const MAX_LENGTH = 2147483647;

function bareText(type: LogicalType): string {
  switch (type.kind) {
    case 'CHAR':
    case 'BINARY':
      return `${type.kind}(${type.length})`;
    case 'VARCHAR':
      return type.length === MAX_LENGTH ? 'STRING' : `VARCHAR(${type.length})`;
    case 'VARBINARY':
      return type.length === MAX_LENGTH ? 'BYTES' : `VARBINARY(${type.length})`;
    case 'INTEGER':
      return 'INT';
    case 'DECIMAL':
      return `DECIMAL(${type.precision}, ${type.scale})`;
    case 'TIME':
    case 'TIMESTAMP':
    case 'TIMESTAMP_LTZ':
      return `${type.kind}(${type.precision})`;
    case 'TIMESTAMP_TZ':
      return `TIMESTAMP(${type.precision}) WITH TIME ZONE`;
    case 'INTERVAL_YEAR_MONTH':
      return 'INTERVAL YEAR TO MONTH';
    case 'INTERVAL_DAY_TIME':
      return 'INTERVAL DAY TO SECOND';
    case 'ARRAY':
    case 'MULTISET':
      return `${type.kind}<${logicalTypeText(type.element)}>`;
    case 'MAP':
      return `MAP<${logicalTypeText(type.key)}, ${logicalTypeText(type.value)}>`;
    case 'ROW':
      return `ROW<${fieldsText(type.fields)}>`;
    case 'STRUCTURED':
      return `STRUCTURED<${simpleClassName(type.name)}, ${fieldsText(type.fields)}>`;
    case 'DISTINCT':
      return `DISTINCT<${simpleClassName(type.name)}, ${logicalTypeText(type.source)}>`;
    case 'RAW':
      return `RAW(${simpleClassName(type.className)})`;
    case 'OTHER':
      return type.name;
    default:
      return type.kind;
  }
}

function fieldsText(fields: readonly LogicalField[]): string {
  return fields
    .map(f => `${/^[A-Za-z_]\w*$/.test(f.name) ? f.name : `\`${f.name.replaceAll('`', '``')}\``} ${logicalTypeText(f.type)}`)
    .join(', ');
}
