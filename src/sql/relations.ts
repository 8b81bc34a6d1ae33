/**
 * What names mean: the relations of a FROM, their columns, and scopes within scopes.
 *
 * Every relation of a statement has a physical alias of its own, so that a rewritten reference is never ambiguous; users
 * see theirs in messages. A column is `plain` (one SQL type) or `mixed` (JSON or text, as it is asked for).
 */
import type { SqlType } from '../types.js';
import { columnRef, type Expr } from './ast.js';
import type { ScanUse } from './scan-use.js';

/** A column of a base table that a column stands for unchanged, with what lies between. */
export interface Lineage {
  readonly scan: ScanUse;
  readonly column: string;
  /** an outer join in between may have made it NULL */
  readonly nullable: boolean;
  /** WITH items in between: a filter may pass only if nobody else reads them */
  readonly through: readonly CteUse[];
}

/** References to a WITH item. */
export interface CteUse {
  references: number;
}

export interface RelationColumn {
  readonly name: string;
  readonly mixed: boolean;
  /** a fresh reference: the value, or JSON if mixed */
  ref(): Expr;
  /** mixed: a fresh reference to the text form */
  text(): Expr;
  type(): Promise<SqlType | undefined>;
  readonly lineage: readonly Lineage[];
}

export interface Relation {
  /** what the user calls it */
  readonly alias: string;
  /** the snapshot's alias, for `alias.table.column` */
  readonly snapshot: string | undefined;
  /** what the rewritten statement calls it */
  readonly physical: string;
  readonly columns: readonly RelationColumn[];
  /** false: it may have columns that are not listed */
  readonly complete: boolean;
  /** makes every column visible, for references to the row as a whole */
  exposeAll(): void;
}

/** The relations of one FROM. */
export interface From {
  readonly relations: readonly Relation[];
  /** what `*` gives, USING columns once */
  readonly star: readonly RelationColumn[];
  /** columns that USING made one, by lower-case name */
  readonly merged: ReadonlyMap<string, RelationColumn>;
}

export const EMPTY_FROM: From = { relations: [], star: [], merged: new Map() };

export interface Scope {
  readonly from: From;
  readonly outer: Scope | undefined;
  /** items of the SELECT that later clauses may name */
  readonly aliases: ReadonlyMap<string, SelectAlias>;
  /** parameters of the lambdas around */
  readonly lambda: ReadonlySet<string>;
}

export interface SelectAlias {
  readonly name: string;
  /** the item as the user wrote it */
  readonly original: Expr;
}

export type Resolved =
  | { readonly kind: 'column'; readonly column: RelationColumn; readonly path: readonly string[] }
  | { readonly kind: 'row'; readonly relation: Relation; readonly path: readonly string[] }
  | { readonly kind: 'alias'; readonly alias: SelectAlias; readonly path: readonly string[] }
  | { readonly kind: 'open'; readonly names: readonly string[] }
  | { readonly kind: 'lambda' }
  | { readonly kind: 'ambiguous'; readonly name: string; readonly relations: readonly Relation[] }
  | { readonly kind: 'unknown'; readonly name: string; readonly table?: string };

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** The column of a relation by name. */
export function columnOf(relation: Relation, name: string): RelationColumn | undefined {
  return relation.columns.find(c => c.name === name) ?? relation.columns.find(c => same(c.name, name));
}

/** The meaning of a dotted name, as DuckDB resolves it: table.column before column.field, inner scopes before outer. */
export function resolveName(names: readonly string[], scope: Scope, aliasFirst = false): Resolved {
  const [first] = names;
  if (scope.lambda.has(first.toLowerCase())) return { kind: 'lambda' };
  if (aliasFirst && names.length === 1) {
    const alias = scope.aliases.get(first.toLowerCase());
    if (alias !== undefined) return { kind: 'alias', alias, path: [] };
  }
  let unknownIn: string | undefined;
  let open = false;
  for (let s: Scope | undefined = scope; s !== undefined; s = s.outer) {
    const found = inScope(names, s);
    if (found !== undefined && found.kind !== 'unknown') return found;
    if (found?.kind === 'unknown') unknownIn ??= found.table;
    if (s === scope) {
      const alias = scope.aliases.get(first.toLowerCase());
      if (alias !== undefined && found === undefined) return { kind: 'alias', alias, path: names.slice(1) };
    }
    open ||= s.from.relations.some(r => !r.complete);
  }
  if (open) return { kind: 'open', names };
  return unknownIn === undefined ? { kind: 'unknown', name: first } : { kind: 'unknown', name: names[1] ?? first, table: unknownIn };
}

function inScope(names: readonly string[], scope: Scope): Resolved | undefined {
  const { relations, merged } = scope.from;
  const [first, second, third] = names;
  let unknown: Resolved | undefined;
  if (names.length >= 2) {
    const tables = relations.filter(r => same(r.alias, first));
    if (tables.length > 1 && tables.some(t => t.snapshot !== tables[0].snapshot))
      return { kind: 'ambiguous', name: first, relations: tables };
    if (tables.length > 0) {
      const column = columnOf(tables[0], second);
      if (column !== undefined) return { kind: 'column', column, path: names.slice(2) };
      if (!tables[0].complete) return { kind: 'open', names: [tables[0].physical, ...names.slice(1)] };
      unknown = { kind: 'unknown', name: second, table: first };
    }
    if (names.length >= 3) {
      const table = relations.find(r => r.snapshot !== undefined && same(r.snapshot, first) && same(r.alias, second));
      if (table !== undefined) {
        const column = columnOf(table, third);
        if (column !== undefined) return { kind: 'column', column, path: names.slice(3) };
        unknown = { kind: 'unknown', name: third, table: `${first}.${second}` };
      }
    }
  }
  const one = merged.get(first.toLowerCase());
  if (one !== undefined) return { kind: 'column', column: one, path: names.slice(1) };
  const holders = relations.filter(r => columnOf(r, first) !== undefined);
  if (holders.length > 1) return { kind: 'ambiguous', name: first, relations: holders };
  if (holders.length === 1) return { kind: 'column', column: columnOf(holders[0], first)!, path: names.slice(1) };
  const row = relations.find(r => same(r.alias, first));
  if (row !== undefined && unknown === undefined) return { kind: 'row', relation: row, path: names.slice(1) };
  return unknown;
}

/** Every column name that could have been meant, for suggestions. */
export function visibleNames(scope: Scope, table?: string): readonly string[] {
  const names: string[] = [];
  for (let s: Scope | undefined = scope; s !== undefined; s = s.outer) {
    for (const r of s.from.relations) {
      if (table !== undefined && !same(r.alias, table) && !same(`${r.snapshot}.${r.alias}`, table)) continue;
      names.push(...r.columns.map(c => c.name));
    }
  }
  return names;
}

/** A column of the rewritten statement, by alias and name. */
export const physicalRef = (alias: string, column: string) => columnRef(alias, column);

/** Columns that a condition names, of one FROM only. */
export function columnFinder(scope: Scope): ColumnFinder {
  const own: Scope = { ...scope, outer: undefined, aliases: new Map() };
  const field = (expr: Expr): FieldRef | undefined => {
    const found = expr.class === 'COLUMN_REF' ? resolveName(expr.column_names, own) : undefined;
    return found?.kind === 'column' ? found : undefined;
  };
  const column = (expr: Expr): RelationColumn | undefined => {
    const found = field(expr);
    return found?.path.length === 0 ? found.column : undefined;
  };
  return Object.assign(column, { field });
}

/** A column and a path into it. */
export interface FieldRef {
  readonly column: RelationColumn;
  readonly path: readonly string[];
}

/** What an expression in a condition is, when it is a column; `field`: or a field of one. */
export type ColumnFinder = ((expr: Expr) => RelationColumn | undefined) & { readonly field?: (expr: Expr) => FieldRef | undefined };

export const single = (relation: Relation): From => ({ relations: [relation], star: relation.columns, merged: new Map() });

function mapColumns(from: From, change: (c: RelationColumn) => RelationColumn): From {
  const made = new Map<RelationColumn, RelationColumn>();
  const changed = (c: RelationColumn) => {
    const done = made.get(c) ?? change(c);
    made.set(c, done);
    return done;
  };
  return {
    relations: from.relations.map(r => ({ ...r, columns: r.columns.map(changed) })),
    star: from.star.map(changed),
    merged: new Map([...from.merged].map(([n, c]) => [n, changed(c)])),
  };
}
export const withoutLineage = (from: From) => mapColumns(from, c => ({ ...c, lineage: [] }));
export const nullable = (from: From) => mapColumns(from, c => ({ ...c, lineage: c.lineage.map(l => ({ ...l, nullable: true })) }));
