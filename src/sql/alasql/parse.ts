/**
 * alasql's tree of a masked statement (tokens.ts) → a query of the subset. Every node is checked against an allow-list of
 * shapes; a key that is not expected is refused.
 *
 *   Select   columns from where order limit
 *   Column   columnid tableid as        COUNT   aggregatorid expression as        Table   tableid databaseid as
 *   Op       left op right  (= != < > <= >= IN LIKE AND OR)        parentheses   right alone
 */
import { UnsupportedError } from '../../errors.js';
import { type CompareType, call, columnRef, compare, conjunction, type Expr, nullConstant, operator } from '../ast.js';
import type { Places } from '../guard.js';
import type { Literal } from '../literals.js';
import { SUBSET_HINT, type Token, type Tokens } from './tokens.js';

export type SelectItem =
  | { readonly kind: 'star'; readonly table: string | undefined; readonly at: Token<string> | undefined }
  | { readonly kind: 'count'; readonly alias: string | undefined }
  | { readonly kind: 'column'; readonly expr: Expr; readonly name: string; readonly alias: string | undefined };

export interface SubsetQuery {
  readonly items: readonly SelectItem[];
  readonly table: {
    readonly catalog_name: string;
    readonly schema_name: string;
    readonly table_name: string;
    readonly query_location: number;
  };
  readonly alias: string;
  readonly where: Expr | undefined;
  readonly order: readonly { readonly expr: Expr; readonly name: string; readonly descending: boolean }[];
  readonly limit: number | undefined;
  /** the constants behind the condition's operands */
  readonly literals: ReadonlyMap<Expr, Literal>;
}

type Tree = Readonly<Record<string, unknown>>;
const isTree = (x: unknown): x is Tree => typeof x === 'object' && x !== null && !Array.isArray(x);

interface Alasql {
  parse(text: string): { readonly statements: readonly unknown[] };
}
let loaded: Promise<Alasql> | undefined;

/** alasql, loaded on first use (its import takes 200 ms). */
export function loadAlasql(): Promise<Alasql> {
  loaded ??= import('alasql').then(
    module => {
      const found = module as unknown as { default?: Alasql } & Alasql;
      return found.default ?? found;
    },
    cause => {
      loaded = undefined;
      throw new UnsupportedError('the alasql engine does not load', { cause });
    },
  );
  return loaded;
}

const COMPARE: Readonly<Record<string, CompareType>> = {
  '=': 'COMPARE_EQUAL',
  '!=': 'COMPARE_NOTEQUAL',
  '<>': 'COMPARE_NOTEQUAL',
  '<': 'COMPARE_LESSTHAN',
  '>': 'COMPARE_GREATERTHAN',
  '<=': 'COMPARE_LESSTHANOREQUALTO',
  '>=': 'COMPARE_GREATERTHANOREQUALTO',
};

/** Parses the masked text. @throws SqlError SQL_SYNTAX, REFUSED */
export async function parseSubset(tokens: Tokens, places: Places): Promise<SubsetQuery> {
  const alasql = await loadAlasql();
  let statements: readonly unknown[];
  try {
    statements = alasql.parse(tokens.text).statements;
  } catch (error) {
    throw syntaxError(error, tokens, places);
  }
  if (statements.length !== 1) throw places.error('SQL_SYNTAX', 'expected one statement', undefined, SUBSET_HINT);
  return new Translator(tokens, places).select(statements[0]);
}

/**
 * alasql shows the text up to the end of the token that it did not expect, cut at its begin, over a line that ends in a caret. At the end
 * of the text the caret is behind everything.
 */
function syntaxError(error: unknown, tokens: Tokens, places: Places): Error {
  const [, shown = '', line = ''] = String((error as Error).message).split('\n');
  const caret = line.indexOf('^');
  const before = shown.slice(0, Math.max(0, caret)).replace(/^\.\.\./, '');
  const at = caret < 0 ? -1 : tokens.text.lastIndexOf(before) + before.length;
  const token = at < 0 || at >= tokens.text.trimEnd().length ? undefined : tokens.ends.find(t => t.end >= at);
  if (token !== undefined) return places.error('SQL_SYNTAX', `syntax error at or near "${token.token}"`, token, SUBSET_HINT);
  const last = tokens.ends.at(-1);
  const end = last === undefined ? 0 : last.query_location + Buffer.byteLength(last.token);
  return places.error('SQL_SYNTAX', 'syntax error at end of input', { query_location: end }, SUBSET_HINT);
}

class Translator {
  private readonly literals = new Map<Expr, Literal>();
  constructor(
    private readonly tokens: Tokens,
    private readonly places: Places,
  ) {}

  select(tree: unknown): SubsetQuery {
    const select = this.shape(tree, ['columns', 'from'], ['where', 'order', 'limit'], 'this statement');
    const from = this.list(select.from, 'FROM');
    if (from.length !== 1) throw this.refuse('more than one table');
    const table = this.shape(from[0], ['tableid'], ['databaseid', 'as'], 'this FROM');
    const name = this.name(table.tableid);
    const schema = table.databaseid === undefined ? undefined : this.name(table.databaseid);
    const alias = table.as === undefined || table.as === 'default' ? name.value : this.name(table.as).value;
    const items = this.list(select.columns, 'SELECT').map(c => this.item(c));
    const where =
      select.where === undefined ? undefined : this.condition(this.shape(select.where, ['expression'], [], 'this WHERE').expression, 0);
    const order = (select.order === undefined ? [] : this.list(select.order, 'ORDER BY')).map(o => {
      const by = this.shape(o, ['expression', 'direction'], [], 'this ORDER BY');
      const { expr, last } = this.column(by.expression);
      return { expr, name: last, descending: by.direction === 'DESC' };
    });
    return {
      items,
      table: { catalog_name: '', schema_name: schema?.value ?? '', table_name: name.value, query_location: name.query_location },
      alias,
      where,
      order,
      limit: select.limit === undefined ? undefined : this.limit(select.limit),
      literals: this.literals,
    };
  }

  private item(tree: unknown): SelectItem {
    if (isTree(tree) && 'aggregatorid' in tree) {
      const count = this.shape(tree, ['aggregatorid', 'expression'], ['as'], 'this aggregate');
      const argument = this.shape(count.expression, ['columnid'], [], 'this aggregate');
      if (count.aggregatorid !== 'COUNT' || argument.columnid !== '*') throw this.refuse('an aggregate other than count(*)');
      return { kind: 'count', alias: count.as === undefined ? undefined : this.name(count.as).value };
    }
    const { as, ...rest } = this.shape(tree, ['columnid'], ['tableid', 'databaseid', 'as'], 'an expression in SELECT');
    if (rest.columnid === '*') {
      const at = rest.tableid === undefined ? undefined : this.name(rest.tableid);
      return { kind: 'star', table: at?.value, at };
    }
    const { expr, last } = this.column(rest);
    return { kind: 'column', expr, name: last, alias: as === undefined ? undefined : this.name(as).value };
  }

  private column(tree: unknown): { expr: Expr; last: string } {
    const column = this.shape(tree, ['columnid'], ['tableid', 'databaseid'], 'this expression');
    const last = this.name(column.columnid);
    const names = [column.databaseid, column.tableid].filter(n => n !== undefined).map(n => this.name(n));
    names.push(last);
    const expr = columnRef(...names.map(n => n.value));
    expr.query_location = names[0].query_location;
    return { expr, last: last.value };
  }

  private condition(tree: unknown, depth: number): Expr {
    if (depth > 200) throw this.refuse('a condition nested deeper than 200 levels');
    if (!isTree(tree)) throw this.refuse('this condition');
    if (!('op' in tree)) {
      const { right } = this.shape(tree, ['right'], [], 'this condition');
      return this.condition(right, depth + 1);
    }
    const node = this.shape(tree, ['left', 'op', 'right'], [], 'this condition');
    const op = String(node.op);
    if (op === 'AND' || op === 'OR') {
      return conjunction(op, [this.condition(node.left, depth + 1), this.condition(node.right, depth + 1)]);
    }
    if (op === 'IN') {
      const items = this.list(node.right, 'IN').map(x => this.operand(x));
      if (items.length === 0) throw this.refuse('IN ()');
      return operator('COMPARE_IN', this.operand(node.left), ...items);
    }
    if (op === 'LIKE') return call('~~', this.operand(node.left), this.operand(node.right));
    const type = COMPARE[op];
    if (type === undefined) throw this.refuse(`the operator ${op}`);
    return compare(type, this.operand(node.left), this.operand(node.right));
  }

  private operand(tree: unknown): Expr {
    if (isTree(tree) && 'value' in tree) return this.constant(tree);
    if (isTree(tree) && !('op' in tree) && 'right' in tree) return this.operand(this.shape(tree, ['right'], [], 'this expression').right);
    return this.column(tree).expr;
  }

  private constant(tree: Tree): Expr {
    const { value } = this.shape(tree, ['value'], [], 'this constant');
    const token = typeof value === 'string' && /^\d+$/.test(value) ? this.tokens.constants[Number(value)] : undefined;
    if (token === undefined) throw this.refuse('this constant');
    const expr = nullConstant();
    expr.query_location = token.query_location;
    this.literals.set(expr, token.value);
    return expr;
  }

  private limit(tree: unknown): number {
    const { value } = this.shape(tree, ['value'], [], 'this LIMIT');
    const token = typeof value === 'number' ? this.tokens.constants[value] : undefined;
    const literal = token?.value;
    const count =
      literal?.kind === 'integer' ? literal.value : literal?.kind === 'string' && /^\d+$/.test(literal.value) ? BigInt(literal.value) : 0n;
    if (count <= 0n || count > BigInt(Number.MAX_SAFE_INTEGER)) throw this.refuse('a LIMIT that is no positive integer', token);
    return Number(count);
  }

  private name(tree: unknown): Token<string> {
    const index = typeof tree === 'string' ? /^n(\d+)$/.exec(tree)?.[1] : undefined;
    const token = index === undefined ? undefined : this.tokens.names[Number(index)];
    if (token === undefined) throw this.refuse('this name');
    return token;
  }

  private list(tree: unknown, what: string): readonly unknown[] {
    if (!Array.isArray(tree)) throw this.refuse(`this ${what}`);
    return tree;
  }

  private shape(tree: unknown, required: readonly string[], optional: readonly string[], what: string): Tree {
    if (!isTree(tree)) throw this.refuse(what);
    const keys = Object.keys(tree).filter(k => tree[k] !== undefined);
    if (required.some(k => !keys.includes(k))) throw this.refuse(what);
    const unexpected = keys.find(k => !required.includes(k) && !optional.includes(k));
    if (unexpected !== undefined) throw this.refuse(`${what} (${unexpected})`);
    return tree;
  }

  private refuse(what: string, at: { readonly query_location: number } = { query_location: 0 }): Error {
    return this.places.error('REFUSED', `${what} is not in what the alasql engine answers`, at, SUBSET_HINT);
  }
}
