/**
 * YAML (and so JSON) as a plain tree in which every part knows its line. The parser is loaded when a file is read.
 */
import type { Document, Node } from 'yaml';
import { UsageError } from '../errors.js';

export type YamlValue =
  | { readonly kind: 'scalar'; readonly line: number; readonly value: string | number | bigint | boolean | null }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly YamlValue[] }
  | { readonly kind: 'map'; readonly line: number; readonly entries: readonly YamlEntry[] };
export interface YamlEntry {
  readonly key: string;
  readonly line: number;
  readonly value: YamlValue;
}

const MAX_DEPTH = 32;
const MAX_NODES = 1_000_000;

/** @throws UsageError with the line */
export async function parseYaml(text: string, file: string): Promise<YamlValue> {
  const module = (await import('yaml')) as typeof import('yaml') & { readonly default?: typeof import('yaml') };
  const yaml = module.default ?? module;
  const lines = new yaml.LineCounter();
  const document: Document = yaml.parseDocument(text.replace(/^\ufeff/, ''), { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const lineOf = (node: { readonly range?: readonly number[] | null } | null | undefined): number =>
    node?.range == null ? 1 : lines.linePos(node.range[0]).line;
  const [problem] = document.errors;
  if (problem !== undefined) throw new UsageError(`line ${lines.linePos(problem.pos[0]).line}: ${problem.message}`, { file });
  let nodes = 0;
  const convert = (node: unknown, depth: number, line: number): YamlValue => {
    if (depth > MAX_DEPTH || ++nodes > MAX_NODES) throw new UsageError(`line ${line}: nests too deeply`, { file });
    if (yaml.isAlias(node)) return convert(node.resolve(document), depth + 1, line);
    if (node === null || node === undefined) return { kind: 'scalar', line, value: null };
    const at = lineOf(node as Node) || line;
    if (yaml.isMap(node))
      return {
        kind: 'map',
        line: at,
        entries: node.items.map(({ key, value }) => {
          if (!yaml.isScalar(key)) throw new UsageError(`line ${at}: a key that is no text`, { file });
          const keyLine = lineOf(key);
          return { key: String(key.source ?? key.value), line: keyLine, value: convert(value, depth + 1, keyLine) };
        }),
      };
    if (yaml.isSeq(node)) return { kind: 'list', line: at, items: node.items.map(item => convert(item, depth + 1, at)) };
    if (yaml.isScalar(node)) {
      const { value } = node;
      if (value === null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value))
        return { kind: 'scalar', line: at, value: value as string | number | bigint | boolean | null };
    }
    throw new UsageError(`line ${at}: neither text nor a list nor a map`, { file });
  };
  return convert(document.contents, 0, 1);
}
