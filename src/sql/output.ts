/**
 * What the parts of the resolver share: the columns that a query node gives, WITH items in reach, and the context of one
 * statement.
 */
import type { Catalog } from '../tables/table.js';
import type { SqlType } from '../types.js';
import type { Expr, QueryNode, StarExpr } from './ast.js';
import type { Places } from './guard.js';
import { type Literal, literalOf } from './literals.js';
import type { CteUse, Lineage, Relation, Scope } from './relations.js';
import type { Analysis } from './rewritten.js';
import type { ScanUse } from './scan-use.js';
import { nearest } from './suggest.js';
import type { Binder } from './typing.js';

export interface ResolveOptions {
  /** by alias, in the order given; an alias of its own for a single snapshot */
  readonly snapshots: ReadonlyMap<string, Catalog>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly binder: Binder;
  readonly places: Places;
  /** the table function that scans are made of, and a number for the next of them */
  readonly scanFunction: string;
  nextScanId(): number;
}

/** An output column of a query node. */
export interface OutputColumn {
  readonly name: string;
  readonly mixed: boolean;
  type(): Promise<SqlType | undefined>;
  readonly lineage: readonly Lineage[];
}
export interface Output {
  readonly columns: readonly OutputColumn[];
  /** false: the list is not known; the engine expands it */
  readonly complete: boolean;
  /** turns a column into text, for set operations over different types */
  asText(index: number): Promise<void>;
}

export interface CommonTableEntry {
  readonly output: Output;
  readonly use: CteUse;
}
export interface CteEnv {
  readonly items: ReadonlyMap<string, CommonTableEntry>;
}

/** One statement being resolved. */
export interface Context extends Analysis {
  readonly options: ResolveOptions;
  readonly scans: ScanUse[];
  /** conjuncts of WHERE that no scan can use, as they were written */
  readonly leftToEngine: Expr[];
  /** the text of mixed columns is made of their JSON: where COLUMNS(…) sees every column of FROM */
  textFromJson: boolean;
  query(node: QueryNode, outer: Scope | undefined, env: CteEnv): Promise<Output>;
  /** an alias that no other relation of the statement has */
  unique(alias: string): string;
  /** a relation over a query's columns, as a subquery or a WITH item */
  relation(alias: string, snapshot: string | undefined, physical: string, output: Output, through: readonly CteUse[]): Relation;
  /** types of a relation's physical columns, for probes */
  registerTypes(physical: string, types: ReadonlyMap<string, () => Promise<SqlType | undefined>>): void;
  /** constants, parameters in their places */
  readonly literal: (expr: Expr) => Literal | undefined;
  /** runs with the WITH items that subqueries of expressions see */
  within<T>(env: CteEnv, run: () => Promise<T>): Promise<T>;
  /** names and types of a node that reads no scan; undefined where it does not bind */
  describeNode(node: QueryNode): Promise<readonly { readonly name: string; readonly sql: SqlType | undefined }[] | undefined>;
}

export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

export const plainColumn = (name: string, type: () => Promise<SqlType | undefined>): OutputColumn => ({
  name,
  mixed: false,
  type,
  lineage: [],
});

/** The output under other names, as `t(a, b)` gives them. */
export function renamed(output: Output, names: readonly string[]): Output {
  if (names.length === 0) return output;
  return { ...output, columns: output.columns.map((c, i) => ({ ...c, name: names[i] ?? c.name })) };
}

/** 1, 2, … as in GROUP BY 1. */
export function ordinalOf(expr: Expr): number | undefined {
  if (expr.class !== 'CONSTANT') return undefined;
  const literal = literalOf(expr);
  return literal?.kind === 'integer' ? Number(literal.value) : undefined;
}

export const didYouMean = (name: string, names: readonly string[]) => {
  const near = nearest(name, names);
  return near === undefined ? undefined : `did you mean ${near}?`;
};

export const starExpr = (): StarExpr => ({
  class: 'STAR',
  type: 'STAR',
  alias: '',
  relation_name: '',
  exclude_list: [],
  replace_list: [],
  rename_list: [],
  qualified_exclude_list: [],
  columns: false,
  expr: null,
});
