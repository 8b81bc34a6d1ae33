/**
 * Where in the user's text an error of the engine is. The engine says it of the rewritten text: that is parsed once more, and its tree is
 * walked beside the rewritten tree, whose nodes have kept the places of what they were made of.
 */
import { eachNode, type QueryNode } from '../ast.js';

type Tree = Readonly<Record<string, unknown>>;
const isTree = (x: unknown): x is Tree => typeof x === 'object' && x !== null && !Array.isArray(x);

/** The place of an original node, as its `query_location`, for a byte offset in the rewritten text; and the node. */
export interface OriginalPlace {
  readonly query_location: number;
  /** the rewritten node that the engine means */
  readonly node: Tree;
}

/** The one cast that the user wrote; undefined where there are several, or none. */
export function onlyCast(node: QueryNode): OriginalPlace | undefined {
  const casts: OriginalPlace[] = [];
  eachNode(node, n => {
    if (n.class === 'CAST' && typeof n.query_location === 'number') casts.push({ query_location: n.query_location, node: n });
  });
  return casts.length === 1 ? casts[0] : undefined;
}

/**
 * @param node the tree that the rewritten text was made of
 * @param reparsed the tree of that text
 * @param byte the engine's position in it
 */
export function originalPlace(node: QueryNode, reparsed: unknown, byte: number): OriginalPlace | undefined {
  let found: OriginalPlace | undefined;
  const walk = (ours: unknown, theirs: unknown, around: number | undefined): void => {
    if (found !== undefined) return;
    if (Array.isArray(ours) && Array.isArray(theirs)) {
      if (ours.length === theirs.length) for (let i = 0; i < ours.length; i++) walk(ours[i], theirs[i], around);
      return;
    }
    if (!isTree(ours) || !isTree(theirs)) return;
    // what has another shape is something else
    if (ours.class !== theirs.class) return;
    const own = typeof ours.query_location === 'number' ? ours.query_location : around;
    if (theirs.query_location === byte && own !== undefined) {
      found = { query_location: own, node: ours };
      return;
    }
    for (const key of Object.keys(theirs)) if (key in ours) walk(ours[key], theirs[key], own);
  };
  walk(node, reparsed, undefined);
  return found;
}
