/**
 * Names of columns, as a tree beside a SQL type: what the fields of a row are called, down to nested rows, list elements and map
 * entries. Table rows (RowData) are stored without the names of their columns; a compiled plan, a file of names or a stateInfo file
 * has them.
 *
 * Names are put on a type only where arity and types agree everywhere; otherwise the type stays as it was and the difference is said.
 * Within a row names are made unique without regard to case (`count`, `count_1`), as SQL compares them.
 */
import type { LogicalType } from '../serializers/table/logical-type.js';
import { logicalTypeText } from '../serializers/table/logical-type.js';
import { scalarSlot } from '../serializers/table/slots.js';
import { type SqlType, type StructField, sqlTypeText } from '../types.js';

/** What a type has to be. */
export interface ExpectedType {
  readonly text: string;
  fits(type: SqlType): boolean;
}
export interface NamedColumn {
  /** undefined: the name that the snapshot has */
  readonly name?: string;
  readonly type?: ExpectedType;
  /** names inside of the column */
  readonly names?: NameTree;
}
export type NameTree =
  | { readonly kind: 'row'; readonly columns: readonly NamedColumn[] }
  /** some columns under other names; the rest stays */
  | { readonly kind: 'renames'; readonly names: ReadonlyMap<string, string> }
  | { readonly kind: 'list'; readonly element: NameTree }
  | { readonly kind: 'map'; readonly key?: NameTree; readonly value?: NameTree }
  /** names of a row, wherever it stands: of list elements and map values, too */
  | { readonly kind: 'inside'; readonly names: NameTree }
  /** nothing to name: the type is checked */
  | { readonly kind: 'scalar'; readonly type: ExpectedType };

export const row = (columns: readonly NamedColumn[]): NameTree => ({ kind: 'row', columns });
export const listOf = (element: NameTree): NameTree => ({ kind: 'list', element });
export const mapOf = (key: NameTree | undefined, value: NameTree | undefined): NameTree => ({
  kind: 'map',
  ...(key === undefined ? {} : { key }),
  ...(value === undefined ? {} : { value }),
});

/** A type out of a plan. RAW and what is not known are taken for anything. */
export function expectType(type: LogicalType): ExpectedType {
  return { text: logicalTypeText(type), fits: actual => fitsLogical(actual, type) };
}
export function expectKind(...kinds: readonly SqlType['kind'][]): ExpectedType {
  return { text: kinds.join(' or '), fits: actual => actual.kind === 'JSON' || kinds.includes(actual.kind) };
}

/** A JSON column is one whose values (or some of them) cannot be decoded, or a VARIANT. */
function fitsLogical(actual: SqlType, type: LogicalType): boolean {
  if (actual.kind === 'JSON') return true;
  const scalar = scalarSlot(type);
  if (scalar !== undefined) return sqlTypeText(scalar.type) === sqlTypeText(actual);
  switch (type.kind) {
    case 'ROW':
    case 'STRUCTURED':
      return (
        actual.kind === 'STRUCT' &&
        actual.fields.length === type.fields.length &&
        type.fields.every((f, i) => fitsLogical(actual.fields[i].type, f.type))
      );
    case 'ARRAY':
      return actual.kind === 'LIST' && fitsLogical(actual.element, type.element);
    case 'MULTISET':
      return actual.kind === 'MAP' && fitsLogical(actual.key, type.element);
    case 'MAP':
      return actual.kind === 'MAP' && fitsLogical(actual.key, type.key) && fitsLogical(actual.value, type.value);
    case 'DISTINCT':
      return fitsLogical(actual, type.source);
    default:
      return true;
  }
}

/** Names that differ without regard to case: the second `count` is `count_1`. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const wanted = new Set(names.map(n => n.toLowerCase()));
  return names.map(name => {
    let unique = name;
    for (let n = 1; taken.has(unique.toLowerCase()) || (n > 1 && wanted.has(unique.toLowerCase())); n++) unique = `${name}_${n}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}

/** Why names cannot be put on a type. */
export class NameMismatch {
  constructor(readonly reason: string) {}
}

/** The type under the names of the tree, or why they do not fit. `what` names the part in the reason: `value`. */
export function nameType(type: SqlType, tree: NameTree, what: string): SqlType | NameMismatch {
  try {
    return apply(type, tree, what);
  } catch (error) {
    if (error instanceof NameMismatch) return error;
    throw error;
  }
}

function apply(type: SqlType, tree: NameTree, what: string): SqlType {
  // a row that is not decodable, or one without columns
  if (type.kind === 'JSON') return type;
  switch (tree.kind) {
    case 'scalar':
      if (!tree.type.fits(type)) throw new NameMismatch(`${what} is ${sqlTypeText(type)}, expected ${tree.type.text}`);
      return type;
    case 'list':
      if (type.kind !== 'LIST') throw new NameMismatch(`${what} is ${sqlTypeText(type)}, expected a list`);
      return { kind: 'LIST', element: apply(type.element, tree.element, `element of ${what}`) };
    case 'map':
      if (type.kind !== 'MAP') throw new NameMismatch(`${what} is ${sqlTypeText(type)}, expected a map`);
      return {
        kind: 'MAP',
        key: tree.key === undefined ? type.key : apply(type.key, tree.key, `map key of ${what}`),
        value: tree.value === undefined ? type.value : apply(type.value, tree.value, `map value of ${what}`),
      };
    case 'inside':
      if (type.kind === 'LIST') return { kind: 'LIST', element: apply(type.element, tree, what) };
      if (type.kind === 'MAP') return { kind: 'MAP', key: type.key, value: apply(type.value, tree, what) };
      return apply(type, tree.names, what);
    case 'renames': {
      if (type.kind !== 'STRUCT') throw new NameMismatch(`${what} is ${sqlTypeText(type)} and has no columns`);
      const absent = [...tree.names.keys()].find(name => !type.fields.some(f => f.name === name));
      if (absent !== undefined) throw new NameMismatch(`${what} has no column ${absent}`);
      return structOf(
        type.fields,
        type.fields.map(f => tree.names.get(f.name) ?? f.name),
      );
    }
    case 'row': {
      const { columns } = tree;
      if (type.kind !== 'STRUCT') throw new NameMismatch(`${what} is ${sqlTypeText(type)}, expected a row of ${columns.length}`);
      if (type.fields.length !== columns.length)
        throw new NameMismatch(`${what} has ${type.fields.length} columns, expected ${columns.length}`);
      const fields = columns.map((column, i): StructField => {
        const field = type.fields[i];
        if (column.type?.fits(field.type) === false)
          throw new NameMismatch(
            `column ${i} of ${what}${column.name === undefined ? '' : ` (${column.name})`} is ${sqlTypeText(field.type)}, expected ${column.type.text}`,
          );
        return column.names === undefined
          ? field
          : { name: field.name, type: apply(field.type, column.names, `column ${column.name ?? field.name} of ${what}`) };
      });
      return structOf(
        fields,
        columns.map((c, i) => c.name ?? type.fields[i].name),
      );
    }
  }
}

function structOf(fields: readonly StructField[], names: readonly string[]): SqlType {
  const unique = uniqueNames(names);
  return { kind: 'STRUCT', fields: fields.map((f, i) => ({ name: unique[i], type: f.type })) };
}
