/**
 * Operator ids without a uid. Flink then hashes the operator's place in the job graph:
 *
 *   own   murmur3(n, n × each output it is chained to)       n: nodes hashed before it, as little-endian ints
 *   id    own, then for every input in turn, byte by byte: id = id·37 ^ input's id
 *
 * `own` has at most 16 bytes of input for up to three chained outputs, so it can be undone (`murmur3.ts`): for each operator it is
 * tried whether it is such a node over none, one or two other operators. What is found says that the id changes with the job graph, and
 * which operators feed it. Nothing is found where an input is not in the snapshot or nothing is known of it.
 *
 * Flink: StreamGraphHasherV2.generateDeterministicHash (1.20).
 */
import { murmur3, solveBlock, unfinish } from './murmur3.js';

export interface TopologyId {
  /** place in the traversal of the job graph, from 0 */
  readonly node: number;
  readonly chainedOutputs: number;
  /** ids of the operators that feed it; none for a source */
  readonly inputs: readonly string[];
}

/** A node number above this is taken for chance. */
const MAX_NODE = 10_000;
/** Two inputs are tried for all pairs only in snapshots of so many operators. */
const MAX_OPERATORS_FOR_PAIRS = 40;
const MAX_OPERATORS = 1000;
/** 37 · 173 = 1 modulo 256 */
const INVERSE_OF_37 = 173;

/**
 * The operators whose ids come from the job graph, as far as that can be shown.
 * @param known ids that have a uid: where the search starts, besides the sources it finds itself. The relation of an operator to its
 *   input is symmetric, so which of two operators feeds the other is known only from there on.
 */
export function topologyIds(operatorIds: readonly string[], known: ReadonlySet<string> = new Set()): Map<string, TopologyId> {
  const found = new Map<string, TopologyId>();
  const nodes = operatorIds.filter(id => /^[0-9a-f]{32}$/.test(id)).map(id => ({ id, bytes: Uint8Array.from(Buffer.from(id, 'hex')) }));
  if (nodes.length > MAX_OPERATORS) return found;
  const explained: Node[] = [];
  let open: Node[] = [];
  for (const node of nodes) {
    const source = known.has(node.id) ? undefined : nodeOf(node.bytes);
    if (source !== undefined) found.set(node.id, { ...source, inputs: [] });
    if (source !== undefined || known.has(node.id)) explained.push(node);
    else open.push(node);
  }
  const own = new Uint8Array(16);
  const explain = (node: Node, inputs: readonly Node[]): boolean => {
    let id = node.bytes;
    for (let i = inputs.length - 1; i >= 0; i--) {
      undoInput(id, inputs[i].bytes, own);
      id = own;
    }
    const place = nodeOf(own, false);
    if (place === undefined) return false;
    found.set(node.id, { ...place, inputs: inputs.map(input => input.id) });
    explained.push(node);
    return true;
  };
  let paired = 0;
  for (let at = 0; at < explained.length || paired < explained.length; ) {
    if (at < explained.length) {
      const input = explained[at++];
      open = open.filter(node => !explain(node, [input]));
    } else {
      if (nodes.length > MAX_OPERATORS_FOR_PAIRS) break;
      const tried = explained.length;
      open = open.filter(node => !explainedByPair(node, explained.slice(0, tried), paired, explain));
      paired = tried;
    }
  }
  return found;
}

interface Node {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Tries all pairs of inputs of which one at least is new, that is at `from` or later. */
function explainedByPair(
  node: Node,
  inputs: readonly Node[],
  from: number,
  explain: (node: Node, inputs: readonly Node[]) => boolean,
): boolean {
  for (let a = 0; a < inputs.length; a++)
    for (let b = a < from ? from : 0; b < inputs.length; b++) if (explain(node, [inputs[a], inputs[b]])) return true;
  return false;
}

/** id = own·37 ^ input, undone. */
function undoInput(id: Uint8Array, input: Uint8Array, own: Uint8Array): void {
  for (let i = 0; i < 16; i++) own[i] = (id[i] ^ input[i]) * INVERSE_OF_37;
}

const NO_BYTES = new Int32Array(4);
const SOLVED = new Uint8Array(16);
let manyOutputs: Map<string, { node: number; chainedOutputs: number }> | undefined;

/** Whether a digest is that of one to four equal small ints; `deep`: of more, too. */
function nodeOf(digest: Uint8Array, deep = true): { readonly node: number; readonly chainedOutputs: number } | undefined {
  for (let count = 1; count <= 4; count++) {
    solveBlock(NO_BYTES, unfinish(digest, count * 4), count === 4, SOLVED);
    const view = new DataView(SOLVED.buffer);
    const node = view.getUint32(0, true);
    if (node > MAX_NODE) continue;
    let equal = true;
    for (let i = 1; i < 4; i++) if (view.getUint32(i * 4, true) !== (i < count ? node : 0)) equal = false;
    if (equal) return { node, chainedOutputs: count - 1 };
  }
  if (!deep) return undefined;
  manyOutputs ??= tableOfManyOutputs();
  return manyOutputs.get(Buffer.from(digest).toString('hex'));
}

function tableOfManyOutputs(): Map<string, { node: number; chainedOutputs: number }> {
  const table = new Map<string, { node: number; chainedOutputs: number }>();
  const input = Buffer.alloc(64);
  for (let node = 0; node < 200; node++) {
    for (let i = 0; i < 16; i++) input.writeUInt32LE(node, i * 4);
    for (let count = 5; count <= 16; count++)
      table.set(Buffer.from(murmur3(input.subarray(0, count * 4))).toString('hex'), { node, chainedOutputs: count - 1 });
  }
  return table;
}
