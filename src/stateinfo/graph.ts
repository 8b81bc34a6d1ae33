/**
 * The operators of a job as a program writes them that has the job's graph at hand (`stateinfo build --graph FILE`):
 *
 *   {"job": "word count", "operators": [
 *     {"id": "23eaad2b…", "uid": "counter", "name": "count words", "parallelism": 2, "maxParallelism": 128, "chain": ["cbc357cc…", "23eaad2b…"]}]}
 *
 * `fixtures/generator/…/GraphFile.java` writes it from a StreamGraph, with Flink 1.15 to 2.3.
 * `id` is the operator id; `uid` may stand alone, the id is its hash. The rest may be left out.
 */
import { operatorIdOf } from '../checkpoint/uid.js';
import { UsageError } from '../errors.js';
import type { KnownName, OperatorNames } from '../names/operator-names.js';

export interface JobGraph {
  readonly job: string;
  readonly operators: readonly GraphOperator[];
}
export interface GraphOperator {
  readonly id: string;
  readonly uid: string | null;
  readonly name: string | null;
  readonly parallelism: number | null;
  readonly chain: readonly string[];
}

const ID = /^[0-9a-f]{32}$/;

/** @throws UsageError */
export function parseGraph(text: string, file: string): JobGraph {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new UsageError(`the graph is no JSON: ${error instanceof Error ? error.message : String(error)}`, { file, cause: error });
  }
  const root = json as { readonly job?: unknown; readonly operators?: unknown } | null;
  if (typeof root !== 'object' || root === null || !Array.isArray(root.operators))
    throw new UsageError('not a job graph: it has no list of operators', { file });
  const operators = root.operators.map((entry: Readonly<Record<string, unknown>> | null, i): GraphOperator => {
    const text = (key: string): string | null => (typeof entry?.[key] === 'string' && entry[key] !== '' ? (entry[key] as string) : null);
    const uid = text('uid');
    const id = text('id')?.toLowerCase() ?? (uid === null ? '' : operatorIdOf(uid));
    if (!ID.test(id)) throw new UsageError(`operator ${i} of the graph has neither an id of 32 hex digits nor a uid`, { file });
    const { parallelism, chain } = entry ?? {};
    return {
      id,
      uid,
      name: text('name'),
      parallelism: typeof parallelism === 'number' ? parallelism : null,
      chain: Array.isArray(chain) ? chain.map(String) : [],
    };
  });
  return { job: typeof root.job === 'string' ? root.job : '', operators };
}

export function graphNames(graph: JobGraph): OperatorNames {
  return new Map(graph.operators.map((o): [string, KnownName] => [o.id, { uid: o.uid, name: o.name, source: 'file' }]));
}
