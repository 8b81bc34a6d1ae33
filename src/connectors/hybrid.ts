/**
 * HybridSource: splits and enumerators of other sources, one after another.
 *
 *   split v0        i32 source index · utf split id · i32 version · i32 len · split
 *   enumerator v0   i32 current source index · i32 version · i32 len · enumerator
 *
 * What is inside is found as if it stood alone (detect.ts).
 * Flink: HybridSourceSplitSerializer, HybridSourceEnumeratorStateSerializer in flink-connector-base (1.14–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import { readName, readVersioned } from './bytes.js';
import type { SourceFormat } from './format.js';

function readIndex(c: Cursor): number {
  const source = c.i32();
  if (source < 0 || source > 1000) c.fail(`source index ${source}`);
  return source;
}

export const HYBRID_SOURCE: SourceFormat = {
  connector: 'hybrid',
  hint: /hybrid/i,
  splitVersions: [0, 0],
  readSplit(c) {
    const source = readIndex(c);
    const splitId = readName(c, 'split id');
    const wrapped = { source, ...readVersioned(c, 'wrapped split') };
    return {
      splitId,
      wrapped,
      details: {
        source_index: source,
        split_id: splitId,
        wrapped_serializer_version: wrapped.version,
        wrapped_hex: wrapped.bytes,
      },
    };
  },
  enumeratorVersions: [0, 0],
  readEnumerator(c) {
    const source = readIndex(c);
    const wrapped = { source, ...readVersioned(c, 'wrapped enumerator') };
    return {
      splits: [],
      wrapped,
      facts: { current_source_index: source, wrapped_serializer_version: wrapped.version, wrapped_hex: wrapped.bytes },
    };
  },
};
