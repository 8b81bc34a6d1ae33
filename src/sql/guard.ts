/**
 * What a statement may be: the allow-list over the parsed tree (contract §5). It is the guard; the engine's locked
 * settings are the second line. Whatever is not named here is refused, also node kinds that a newer parser may bring.
 *
 *   statements   SELECT with WITH, set operations, VALUES, FROM-first, DESCRIBE, SUMMARIZE, SHOW TABLES; EXPLAIN before any
 *   FROM         tables, subqueries, joins, VALUES, range, generate_series, unnest, json_each
 *   functions    functions.ts, in no schema or in `main` (which the parser itself writes)
 *   sizes        functions whose output is as long as an argument says take constants up to a bound; see `Sizes`
 */
import { SqlError, type SqlErrorCode } from '../errors.js';
import type { Parenthesized } from './arrows.js';
import { type Expr, type FunctionExpr, locationOf, numberText, type Statement } from './ast.js';
import { AGGREGATES, ALLOWED_FUNCTIONS, FORMATS, REPLACES, SIZED, TABLE_FUNCTIONS, WINDOWS } from './functions.js';
import { nearest } from './suggest.js';
import { indexOfByte, placeOf, type StatementText, withoutComments } from './text.js';

/** Makes errors with the place of a node in the whole text. */
export class Places {
  constructor(
    private readonly whole: string,
    readonly statement: StatementText,
    /** characters of the statement before the part that was parsed (`EXPLAIN `) */
    private readonly skipped = 0,
    /** that part as the parser got it */
    private readonly parsed: Parenthesized = { text: statement.text.slice(skipped), original: index => index },
  ) {}
  /** the place of a byte offset in the parsed part */
  at(byte: number | undefined): { line?: number; column?: number } {
    if (byte === undefined) return {};
    return this.ofParsed(indexOfByte(this.parsed.text, byte));
  }
  /** the place of a code point of the parsed part, as the parser's errors count */
  atCharacter(characters: number): { line: number; column: number } {
    return this.ofParsed([...this.parsed.text].slice(0, characters).join('').length);
  }
  private ofParsed(index: number): { line: number; column: number } {
    return placeOf(this.whole, this.statement.start + this.skipped + this.parsed.original(index));
  }
  /** the place of a UTF-16 index in the statement */
  ofIndex(index: number): { line: number; column: number } {
    return placeOf(this.whole, this.statement.start + index);
  }
  /** the place of the name in "quotes" of a message, where the statement has it just once */
  ofQuoted(message: string): { line?: number; column?: number } {
    const name = /(?:"|^column )([\w.$ -]+)(?:"| must)/.exec(message)?.[1];
    return name === undefined ? {} : this.ofWord(name);
  }
  /** the place of a word, where the statement has it just once */
  ofWord(word: string): { line?: number; column?: number } {
    const { text } = this.statement;
    const blank = withoutComments(text);
    const bounds = /^\w+$/.test(word) ? '\\b' : '';
    const found = [...blank.matchAll(new RegExp(`${bounds}${word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}${bounds}`, 'gi'))];
    return found.length === 1 ? this.ofIndex(found[0].index) : {};
  }
  error(code: SqlErrorCode, message: string, node?: { query_location?: number | string }, hint?: string): SqlError {
    const place = this.at(node && locationOf(node));
    const where = place.line === undefined ? '' : `line ${place.line}, column ${place.column}: `;
    return new SqlError(code, `${where}${message}`, { ...place, hint });
  }
}

export const ALLOWED_HINT = 'statequery runs SELECT, WITH, VALUES, FROM, DESCRIBE, SUMMARIZE, SHOW TABLES and EXPLAIN of these';

/** Leading words of statements that the parser would not take, with what to say. */
const REFUSED_STATEMENTS: ReadonlyMap<string, string> = new Map([
  ['insert', 'a snapshot is read-only'],
  ['update', 'a snapshot is read-only'],
  ['delete', 'a snapshot is read-only'],
  ['merge', 'a snapshot is read-only'],
  ['truncate', 'a snapshot is read-only'],
  ['create', 'nothing can be created; use WITH for a name inside the statement'],
  ['alter', 'a snapshot is read-only'],
  ['drop', 'a snapshot is read-only'],
  ['copy', 'no files are written by SQL; use -o csv, -o json and the like'],
  ['export', 'no files are written by SQL; use -o csv, -o json and the like'],
  ['import', 'no files are read by SQL'],
  ['attach', 'give snapshots with -s alias=path'],
  ['detach', 'give snapshots with -s alias=path'],
  ['install', 'no extensions are loaded'],
  ['load', 'no extensions are loaded'],
  ['set', 'settings are options of the command line: --threads, --max-memory, --timeout'],
  ['reset', 'settings are options of the command line: --threads, --max-memory, --timeout'],
  ['pragma', 'settings are options of the command line: --threads, --max-memory, --timeout'],
  ['use', 'write alias.table, or give one snapshot only'],
  ['call', 'no procedures are called'],
  ['prepare', 'bind parameters with -p name=value'],
  ['execute', 'bind parameters with -p name=value'],
  ['deallocate', 'bind parameters with -p name=value'],
  ['begin', 'there are no transactions'],
  ['start', 'there are no transactions'],
  ['commit', 'there are no transactions'],
  ['rollback', 'there are no transactions'],
  ['abort', 'there are no transactions'],
  ['vacuum', 'a snapshot is read-only'],
  ['analyze', 'a snapshot is read-only'],
  ['checkpoint', 'a snapshot is read-only'],
  ['force', 'a snapshot is read-only'],
  ['comment', 'a snapshot is read-only'],
  ['pivot', 'PIVOT is not among the statements; use GROUP BY with FILTER'],
  ['pivot_wider', 'PIVOT is not among the statements; use GROUP BY with FILTER'],
  ['unpivot', 'UNPIVOT is not among the statements; use UNION ALL or unnest'],
  ['pivot_longer', 'UNPIVOT is not among the statements; use UNION ALL or unnest'],
]);

/** Refuses by the statement's first word what the parser does not turn into a tree. */
export function refuseByFirstWord(text: string, places: Places): void {
  const word = /^[\s(]*([A-Za-z_]+)/.exec(withoutComments(text))?.[1]?.toLowerCase();
  const reason = word === undefined ? undefined : REFUSED_STATEMENTS.get(word);
  if (reason !== undefined)
    throw places.error('REFUSED', `${word!.toUpperCase()} is refused: ${reason}`, { query_location: 0 }, ALLOWED_HINT);
}

const NODES = new Set(['SELECT_NODE', 'SET_OPERATION_NODE', 'RECURSIVE_CTE_NODE']);
const TABLES = new Set(['BASE_TABLE', 'SUBQUERY', 'JOIN', 'TABLE_FUNCTION', 'EMPTY', 'EXPRESSION_LIST', 'SHOW_REF']);
const MODIFIERS = new Set(['ORDER_MODIFIER', 'DISTINCT_MODIFIER', 'LIMIT_MODIFIER', 'LIMIT_PERCENT_MODIFIER']);
const CLASSES = new Set([
  'COLUMN_REF',
  'CONSTANT',
  'PARAMETER',
  'COMPARISON',
  'CONJUNCTION',
  'BETWEEN',
  'OPERATOR',
  'FUNCTION',
  'WINDOW',
  'CASE',
  'CAST',
  'SUBQUERY',
  'STAR',
  'LAMBDA',
  'COLLATE',
]);
const OPERATORS = new Set([
  'OPERATOR_NOT',
  'OPERATOR_IS_NULL',
  'OPERATOR_IS_NOT_NULL',
  'OPERATOR_COALESCE',
  'OPERATOR_TRY',
  'OPERATOR_UNPACK',
  'COMPARE_IN',
  'COMPARE_NOT_IN',
  'ARRAY_EXTRACT',
  'ARRAY_SLICE',
  'ARRAY_CONSTRUCTOR',
  'STRUCT_EXTRACT',
  'GROUPING_FUNCTION',
]);
const SETS = new Set(['UNION', 'UNION_BY_NAME', 'EXCEPT', 'INTERSECT']);
const SHOWS = new Set(['DESCRIBE', 'SUMMARY', 'SHOW_UNQUALIFIED', 'SHOW_FROM']);

const MAX_DEPTH = 400;
type Tree = Readonly<Record<string, unknown>>;
const isTree = (x: unknown): x is Tree => typeof x === 'object' && x !== null && !Array.isArray(x);

/** Refuses a statement's tree, or does nothing. */
export function guard(tree: Statement, places: Places): void {
  new Guard(places).query(tree.node as unknown, 0);
}

class Guard {
  private readonly sizes = new Sizes();
  /** functions in FROM, whose rows stream */
  private readonly streamed = new Set<FunctionExpr>();
  constructor(private readonly places: Places) {}

  private refuse(what: string, node?: Tree, hint: string = ALLOWED_HINT): never {
    throw this.places.error('REFUSED', `${what} is refused`, node as { query_location?: number } | undefined, hint);
  }

  /**
   * A query node, table, modifier or expression, by its `class` and `type`; then everything below it.
   * @param place the SELECT around: what stands in it twice is the same; a lambda runs for each element
   */
  query(node: unknown, depth: number, place: object = this): void {
    if (depth > MAX_DEPTH) this.refuse(`a statement nested deeper than ${MAX_DEPTH} levels`);
    if (Array.isArray(node)) {
      for (const child of node) this.query(child, depth, place);
      return;
    }
    if (!isTree(node)) return;
    this.check(node, place);
    const inner = 'cte_map' in node || node.class === 'LAMBDA' ? node : place;
    for (const [key, child] of Object.entries(node)) {
      if (key !== 'value' || node.class !== 'CONSTANT') this.query(child, depth + 1, inner);
    }
  }

  private check(node: Tree, place: object): void {
    const { type } = node;
    if (typeof node.class === 'string') {
      if (!CLASSES.has(node.class)) this.refuse(`the expression ${String(type)}`, node);
      this.expression(node as unknown as Expr, node, place);
    } else if ('cte_map' in node) {
      if (!NODES.has(String(type))) this.refuse(`the statement ${String(type)}`, node);
      if (type === 'SET_OPERATION_NODE' && !SETS.has(String(node.setop_type))) this.refuse(String(node.setop_type), node);
    } else if ('sample' in node && 'alias' in node) this.table(node);
    else if (typeof type === 'string' && type.endsWith('_MODIFIER')) {
      if (!MODIFIERS.has(type)) this.refuse(type, node);
    } else if ('materialized' in node && 'query' in node) {
      const inner = isTree(node.query) && isTree(node.query.node) ? node.query.node : undefined;
      if (inner === undefined) this.refuse('a WITH item that is no SELECT', node);
    }
  }

  private table(node: Tree): void {
    const type = String(node.type);
    if (!TABLES.has(type)) this.refuse(`${type} in FROM`, node);
    if (type === 'BASE_TABLE') {
      if (node.at_clause !== null) this.refuse('AT (VERSION/TIMESTAMP)', node, 'give the other snapshot with -s alias=path');
    } else if (type === 'SHOW_REF') {
      if (!SHOWS.has(String(node.show_type))) this.refuse(String(node.show_type), node);
    } else if (type === 'TABLE_FUNCTION') {
      const fn = node.function as unknown as FunctionExpr;
      if (fn.class !== 'FUNCTION') this.refuse('this table function', node);
      const name = fn.function_name.toLowerCase();
      if (!TABLE_FUNCTIONS.has(name) || fn.schema !== '' || fn.catalog !== '') {
        const what = `the table function ${fn.function_name}`;
        this.refuse(what, node, `functions in FROM: ${[...TABLE_FUNCTIONS].join(', ')}`);
      }
      this.streamed.add(fn);
    }
  }

  private expression(expr: Expr, node: Tree, place: object): void {
    if (expr.class === 'OPERATOR' && !OPERATORS.has(expr.type)) this.refuse(`the operator ${expr.type}`, node);
    if (expr.class === 'FUNCTION' || expr.class === 'WINDOW') {
      const name = expr.function_name.toLowerCase();
      const inTable = expr.class === 'FUNCTION' && TABLE_FUNCTIONS.has(name);
      const schema = expr.schema.toLowerCase();
      if (expr.catalog !== '' || (schema !== '' && schema !== 'main')) {
        this.refuse(`the function ${[expr.catalog, expr.schema, expr.function_name].filter(x => x).join('.')}`, node);
      }
      if (!ALLOWED_FUNCTIONS.has(name) && !inTable) {
        const near = nearest(name, ALLOWED_FUNCTIONS);
        throw this.places.error(
          'REFUSED',
          `the function ${expr.function_name} does not exist or is refused`,
          expr,
          `${near === undefined ? '' : `did you mean ${near}? `}functions of DuckDB that only compute are allowed; none that reads files, settings or catalogs`,
        );
      }
      if (expr.class === 'FUNCTION' && WINDOWS.has(name) && !AGGREGATES.has(name))
        throw this.places.error('SQL_ERROR', `${name} is a window function`, expr, `write ${name}(…) OVER (…)`);
      if (expr.class === 'FUNCTION') {
        if (expr.export_state) this.refuse('EXPORT_STATE', node);
        const problem = this.streamed.has(expr) ? undefined : this.sizes.check(expr, name, place);
        if (problem !== undefined) this.refuse(problem, node, 'give a smaller constant, or use FROM range(…)');
      }
    }
    if (expr.class === 'CAST' && !this.plainType(expr.cast_type as unknown)) this.refuse('this type', node);
  }

  /** No user-defined types: they are looked up in the catalog. */
  private plainType(type: unknown): boolean {
    if (!isTree(type)) return true;
    if (type.id === 'AGGREGATE_STATE' || type.id === 'LAMBDA' || type.id === 'INVALID') return false;
    const info = type.type_info;
    if (!isTree(info)) return true;
    return [info.child_type, ...(Array.isArray(info.child_types) ? info.child_types.map((c: Tree) => c.second) : [])].every(t =>
      this.plainType(t),
    );
  }
}

/** what a replacement that is no constant counts as */
const UNKNOWN_REPLACEMENT = 30;

/**
 * Bounds on functions that make much out of little: memory that a vector of such values takes is not under the engine's
 * limit. A size argument is a constant; the product of all of a statement is bounded.
 */
class Sizes {
  private product = 1;
  private readonly seen = new WeakMap<object, Set<string>>();
  private static readonly LIMIT = 100_000;

  /** What is wrong with a call; undefined when nothing is. */
  check(expr: FunctionExpr, name: string, place: object): string | undefined {
    if (!FORMATS.has(name) && !REPLACES.has(name) && !SIZED.has(name)) return undefined;
    // the same expression twice in one place makes nothing longer
    const text = JSON.stringify(expr, (key, value: unknown) => (key === 'query_location' ? undefined : value));
    const seen = this.seen.get(place) ?? new Set<string>();
    this.seen.set(place, seen);
    if (seen.has(text)) return undefined;
    seen.add(text);
    if (FORMATS.has(name)) {
      const format = expr.children[0];
      const pattern = format?.class === 'CONSTANT' ? String(format.value.value) : undefined;
      if (pattern === undefined) return `${name} with a format that is no constant`;
      if (/\d{4}|\{[^{}]*\{|%[^a-zA-Z%]*\*/.test(pattern)) return `${name} with a width above 999`;
      return undefined;
    }
    if (REPLACES.has(name)) {
      const by = expr.children[2];
      this.product *= by?.class === 'CONSTANT' ? Math.max(1, String(by.value.value).length) : UNKNOWN_REPLACEMENT;
      return this.product > Sizes.LIMIT ? `${name} of this size` : undefined;
    }
    const positions = SIZED.get(name);
    if (positions === undefined) return undefined;
    let largest = 0;
    for (const position of positions) {
      const argument = expr.children[position];
      if (argument === undefined) continue;
      if (argument.class !== 'CONSTANT') return `${name} with a size that is no constant`;
      largest = Math.max(largest, Math.abs(Number(numberText(argument.value.value))));
    }
    if (Number.isNaN(largest)) return `${name} with a size that is no number`;
    this.product *= Math.max(1, largest);
    return this.product > Sizes.LIMIT ? `${name} of this size` : undefined;
  }
}
