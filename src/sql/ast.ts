/**
 * DuckDB's syntax tree as `json_serialize_sql` writes it (1.5.6), as far as statements are understood here. guard.ts
 * refuses every node kind that is not below, so that what passes it has these shapes.
 *
 * Numbers that a double would change (`9007199254740993`, `1.0`) are kept as their text behind a NUL and written back
 * unchanged. Locations are byte offsets in the UTF-8 text; 2^64-1 stands for none. `spelled` is ours; the engine passes over it.
 */

export interface ExprBase {
  alias: string;
  query_location?: number | string;
  /** a number constant as the statement spells it, where the node itself has lost digits or the sign */
  spelled?: string;
}
export interface ColumnRef extends ExprBase {
  class: 'COLUMN_REF';
  type: 'COLUMN_REF';
  column_names: string[];
}
export interface AstType {
  id: string;
  type_info: null | {
    type: string;
    alias?: string;
    width?: number;
    scale?: number;
    child_type?: AstType;
    child_types?: { first: string; second: AstType }[];
  };
}
export interface ConstantValue {
  type: AstType;
  is_null: boolean;
  value?: unknown;
}
export interface ConstantExpr extends ExprBase {
  class: 'CONSTANT';
  type: 'VALUE_CONSTANT';
  value: ConstantValue;
}
export interface ParameterExpr extends ExprBase {
  class: 'PARAMETER';
  type: 'VALUE_PARAMETER';
  identifier: string;
}
export type CompareType =
  | 'COMPARE_EQUAL'
  | 'COMPARE_NOTEQUAL'
  | 'COMPARE_LESSTHAN'
  | 'COMPARE_GREATERTHAN'
  | 'COMPARE_LESSTHANOREQUALTO'
  | 'COMPARE_GREATERTHANOREQUALTO'
  | 'COMPARE_DISTINCT_FROM'
  | 'COMPARE_NOT_DISTINCT_FROM';
export interface ComparisonExpr extends ExprBase {
  class: 'COMPARISON';
  type: CompareType;
  left: Expr;
  right: Expr;
}
export interface ConjunctionExpr extends ExprBase {
  class: 'CONJUNCTION';
  type: 'CONJUNCTION_AND' | 'CONJUNCTION_OR';
  children: Expr[];
}
export interface BetweenExpr extends ExprBase {
  class: 'BETWEEN';
  type: string;
  input: Expr;
  lower: Expr;
  upper: Expr;
}
export interface OperatorExpr extends ExprBase {
  class: 'OPERATOR';
  type: string;
  children: Expr[];
}
export interface OrderBy {
  type: string;
  null_order: string;
  expression: Expr;
}
export interface FunctionExpr extends ExprBase {
  class: 'FUNCTION';
  type: string;
  function_name: string;
  schema: string;
  catalog: string;
  children: Expr[];
  filter: Expr | null;
  order_bys: { type: string; orders: OrderBy[] } | null;
  distinct: boolean;
  is_operator: boolean;
  export_state: boolean;
}
export interface WindowExpr extends ExprBase {
  class: 'WINDOW';
  type: string;
  function_name: string;
  schema: string;
  catalog: string;
  children: Expr[];
  partitions: Expr[];
  orders: OrderBy[];
  start_expr: Expr | null;
  end_expr: Expr | null;
  offset_expr: Expr | null;
  default_expr: Expr | null;
  filter_expr: Expr | null;
  arg_orders: OrderBy[];
  distinct: boolean;
}
export interface CaseExpr extends ExprBase {
  class: 'CASE';
  type: string;
  case_checks: { when_expr: Expr; then_expr: Expr }[];
  else_expr: Expr;
}
export interface CastExpr extends ExprBase {
  class: 'CAST';
  type: string;
  child: Expr;
  cast_type: AstType;
  try_cast: boolean;
}
export interface SubqueryExpr extends ExprBase {
  class: 'SUBQUERY';
  type: string;
  subquery_type: string;
  subquery: Statement;
  child: Expr | null;
  comparison_type: string;
}
export interface StarExpr extends ExprBase {
  class: 'STAR';
  type: string;
  relation_name: string;
  exclude_list: string[];
  replace_list: { key: string; value: Expr }[];
  rename_list: { key: QualifiedName; value: string }[];
  qualified_exclude_list: QualifiedName[];
  columns: boolean;
  expr: Expr | null;
}
export interface QualifiedName {
  catalog: string;
  schema: string;
  table: string;
  column: string;
}
export interface LambdaExpr extends ExprBase {
  class: 'LAMBDA';
  type: string;
  lhs: Expr;
  expr: Expr;
}
export interface CollateExpr extends ExprBase {
  class: 'COLLATE';
  type: string;
  child: Expr;
  collation: string;
}
export type Expr =
  | ColumnRef
  | ConstantExpr
  | ParameterExpr
  | ComparisonExpr
  | ConjunctionExpr
  | BetweenExpr
  | OperatorExpr
  | FunctionExpr
  | WindowExpr
  | CaseExpr
  | CastExpr
  | SubqueryExpr
  | StarExpr
  | LambdaExpr
  | CollateExpr;

export interface TableBase {
  alias: string;
  sample: unknown;
  query_location?: number | string;
}
export interface BaseTable extends TableBase {
  type: 'BASE_TABLE';
  catalog_name: string;
  schema_name: string;
  table_name: string;
  column_name_alias: string[];
  at_clause: unknown;
}
export interface SubqueryTable extends TableBase {
  type: 'SUBQUERY';
  subquery: Statement;
  column_name_alias: string[];
}
export interface JoinTable extends TableBase {
  type: 'JOIN';
  left: TableRef;
  right: TableRef;
  condition: Expr | null;
  join_type: string;
  ref_type: string;
  using_columns: string[];
  delim_flipped: boolean;
  duplicate_eliminated_columns: unknown[];
}
export interface FunctionTable extends TableBase {
  type: 'TABLE_FUNCTION';
  function: FunctionExpr;
  column_name_alias: string[];
  with_ordinality: string;
}
export interface EmptyTable extends TableBase {
  type: 'EMPTY';
}
export interface ValuesTable extends TableBase {
  type: 'EXPRESSION_LIST';
  expected_names: string[];
  expected_types: unknown[];
  values: Expr[][];
}
export interface ShowTable extends TableBase {
  type: 'SHOW_REF';
  table_name: string;
  query: QueryNode | null;
  show_type: string;
  catalog_name: string;
  schema_name: string;
}
export type TableRef = BaseTable | SubqueryTable | JoinTable | FunctionTable | EmptyTable | ValuesTable | ShowTable;

export interface CommonTable {
  aliases: string[];
  query: Statement;
  materialized: string;
  key_targets: unknown[];
}
export interface CteMap {
  map: { key: string; value: CommonTable }[];
}
export type Modifier =
  | { type: 'ORDER_MODIFIER'; orders: OrderBy[] }
  | { type: 'DISTINCT_MODIFIER'; distinct_on_targets: Expr[] }
  | { type: 'LIMIT_MODIFIER' | 'LIMIT_PERCENT_MODIFIER'; limit: Expr | null; offset: Expr | null };
export interface SelectNode {
  type: 'SELECT_NODE';
  modifiers: Modifier[];
  cte_map: CteMap;
  select_list: Expr[];
  from_table: TableRef;
  where_clause: Expr | null;
  group_expressions: Expr[];
  group_sets: number[][];
  aggregate_handling: string;
  having: Expr | null;
  sample: unknown;
  qualify: Expr | null;
}
export interface SetOperationNode {
  type: 'SET_OPERATION_NODE';
  modifiers: Modifier[];
  cte_map: CteMap;
  setop_type: string;
  setop_all: boolean;
  left: QueryNode;
  right: QueryNode;
}
export interface RecursiveNode {
  type: 'RECURSIVE_CTE_NODE';
  modifiers: Modifier[];
  cte_map: CteMap;
  cte_name: string;
  union_all: boolean;
  left: QueryNode;
  right: QueryNode;
  aliases: string[];
  key_targets: Expr[];
}
export type QueryNode = SelectNode | SetOperationNode | RecursiveNode;
export interface Statement {
  node: QueryNode;
  named_param_map: unknown[];
}

const RAW = '\u0000';

/** A serialized document to a tree; numbers keep every digit, and the engine's infinities are among them. */
export function parseTree(json: string): unknown {
  const kept = json.replace(/"(?:[^"\\]|\\.)*"|-?(?:infinity|inf|nan|[0-9][0-9.eE+-]*)/gi, token =>
    token.startsWith('"') || (String(Number(token)) === token && /[0-9]$/.test(token)) ? token : `"\\u0000${token}"`,
  );
  return JSON.parse(kept);
}

/** The tree as the engine reads it. */
export function treeText(tree: unknown): string {
  return JSON.stringify(tree).replace(/"\\u0000([^"\\]*)"/g, '$1');
}

/** The digits of a number kept by `parseTree`. */
export function numberText(value: unknown): string {
  return typeof value === 'string' && value.startsWith(RAW) ? value.slice(1) : String(value);
}
/** A number for the tree from its digits. */
export function rawNumber(text: string): number | string {
  return String(Number(text)) === text ? Number(text) : RAW + text;
}

/** Byte offset of a node in the statement's UTF-8 text. */
export function locationOf(node: { query_location?: number | string }): number | undefined {
  return typeof node.query_location === 'number' ? node.query_location : undefined;
}

/** A copy that shares nothing. */
export function cloneTree<T>(tree: T): T {
  return JSON.parse(JSON.stringify(tree)) as T;
}

/** Calls `visit` with every object of a tree, the inner ones after the outer ones. */
export function eachNode(tree: unknown, visit: (node: Readonly<Record<string, unknown>>) => void): void {
  if (Array.isArray(tree)) {
    for (const child of tree) eachNode(child, visit);
    return;
  }
  if (typeof tree !== 'object' || tree === null) return;
  visit(tree as Readonly<Record<string, unknown>>);
  for (const child of Object.values(tree)) eachNode(child, visit);
}

/** Calls `visit` with every direct child expression and a function that replaces it. Subqueries are not entered. */
export function eachChild(expr: Expr, visit: (child: Expr, replace: (next: Expr) => void) => void): void {
  const array = (list: Expr[]) => {
    for (let i = 0; i < list.length; i++) visit(list[i], next => void (list[i] = next));
  };
  const orders = (list: OrderBy[]) => {
    for (const o of list) visit(o.expression, next => void (o.expression = next));
  };
  switch (expr.class) {
    case 'COLUMN_REF':
    case 'CONSTANT':
    case 'PARAMETER':
      return;
    case 'COMPARISON':
      visit(expr.left, next => void (expr.left = next));
      visit(expr.right, next => void (expr.right = next));
      return;
    case 'CONJUNCTION':
    case 'OPERATOR':
      array(expr.children);
      return;
    case 'BETWEEN':
      visit(expr.input, next => void (expr.input = next));
      visit(expr.lower, next => void (expr.lower = next));
      visit(expr.upper, next => void (expr.upper = next));
      return;
    case 'FUNCTION':
      array(expr.children);
      if (expr.filter) visit(expr.filter, next => void (expr.filter = next));
      if (expr.order_bys) orders(expr.order_bys.orders);
      return;
    case 'WINDOW':
      array(expr.children);
      array(expr.partitions);
      orders(expr.orders);
      orders(expr.arg_orders ?? []);
      for (const k of ['start_expr', 'end_expr', 'offset_expr', 'default_expr', 'filter_expr'] as const) {
        const child = expr[k];
        if (child) visit(child, next => void (expr[k] = next));
      }
      return;
    case 'CASE':
      for (const check of expr.case_checks) {
        visit(check.when_expr, next => void (check.when_expr = next));
        visit(check.then_expr, next => void (check.then_expr = next));
      }
      visit(expr.else_expr, next => void (expr.else_expr = next));
      return;
    case 'CAST':
    case 'COLLATE':
      visit(expr.child, next => void (expr.child = next));
      return;
    case 'SUBQUERY':
      if (expr.child) visit(expr.child, next => void (expr.child = next));
      return;
    case 'STAR':
      for (const r of expr.replace_list) visit(r.value, next => void (r.value = next));
      if (expr.expr) visit(expr.expr, next => void (expr.expr = next));
      return;
    case 'LAMBDA':
      visit(expr.lhs, next => void (expr.lhs = next));
      visit(expr.expr, next => void (expr.expr = next));
      return;
  }
}

/** Whether `test` holds for the expression or anything below it, subqueries aside. */
export function someExpr(expr: Expr, test: (e: Expr) => boolean): boolean {
  if (test(expr)) return true;
  let found = false;
  eachChild(expr, child => {
    found ||= someExpr(child, test);
  });
  return found;
}

// Builders of new nodes.

export const columnRef = (...names: string[]): ColumnRef => ({
  class: 'COLUMN_REF',
  type: 'COLUMN_REF',
  alias: '',
  column_names: names,
});
const simpleType = (id: string): AstType => ({ id, type_info: null });
export const constant = (id: string, value: unknown): ConstantExpr => ({
  class: 'CONSTANT',
  type: 'VALUE_CONSTANT',
  alias: '',
  value: { type: simpleType(id), is_null: false, value },
});
export const textConstant = (value: string) => constant('VARCHAR', value);
export const nullConstant = (): ConstantExpr => ({
  class: 'CONSTANT',
  type: 'VALUE_CONSTANT',
  alias: '',
  value: { type: simpleType('NULL'), is_null: true },
});
export const cast = (child: Expr, to: AstType | string, tryCast = false): CastExpr => ({
  class: 'CAST',
  type: 'OPERATOR_CAST',
  alias: '',
  child,
  cast_type: typeof to === 'string' ? simpleType(to) : to,
  try_cast: tryCast,
});
export const booleanConstant = (value: boolean): Expr => cast(textConstant(value ? 't' : 'f'), 'BOOLEAN');
export const call = (name: string, ...children: Expr[]): FunctionExpr => ({
  class: 'FUNCTION',
  type: 'FUNCTION',
  alias: '',
  function_name: name,
  schema: '',
  catalog: '',
  children,
  filter: null,
  order_bys: { type: 'ORDER_MODIFIER', orders: [] },
  distinct: false,
  is_operator: false,
  export_state: false,
});
export const operator = (type: string, ...children: Expr[]): OperatorExpr => ({ class: 'OPERATOR', type, alias: '', children });
export const compare = (type: CompareType, left: Expr, right: Expr): ComparisonExpr => ({
  class: 'COMPARISON',
  type,
  alias: '',
  left,
  right,
});
export const conjunction = (kind: 'AND' | 'OR', children: Expr[]): Expr =>
  children.length === 1 ? children[0] : { class: 'CONJUNCTION', type: `CONJUNCTION_${kind}`, alias: '', children };
export const emptyTable = (): EmptyTable => ({ type: 'EMPTY', alias: '', sample: null });
export function selectNode(list: Expr[], from: TableRef): SelectNode {
  return {
    type: 'SELECT_NODE',
    modifiers: [],
    cte_map: { map: [] },
    select_list: list,
    from_table: from,
    where_clause: null,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: 'STANDARD_HANDLING',
    having: null,
    sample: null,
    qualify: null,
  };
}
export const statement = (node: QueryNode): Statement => ({ node, named_param_map: [] });
export const subqueryTable = (node: QueryNode, alias: string, names: string[] = []): SubqueryTable => ({
  type: 'SUBQUERY',
  alias,
  sample: null,
  subquery: statement(node),
  column_name_alias: names,
});
/** `{"error":false,…}`: what json_deserialize_sql takes */
export const document = (node: QueryNode): unknown => ({ error: false, statements: [statement(node)] });
