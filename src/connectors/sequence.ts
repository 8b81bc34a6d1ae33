/**
 * NumberSequenceSource, and what is built on it (DataGeneratorSource): a split is the numbers still to come.
 *
 *   split v1        utf split id · i64 from · i64 to (included)
 *   enumerator v1   i32 n × split, none of them assigned
 *
 * Flink: NumberSequenceSource.SplitSerializer, NumberSequenceSource.CheckpointSerializer in org.apache.flink.api.connector.source.lib (1.12–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import { readList, readName } from './bytes.js';
import type { SourceFormat, Split } from './format.js';

function readSplit(c: Cursor): Split {
  const splitId = readName(c, 'split id');
  // the source numbers its splits
  if (!/^\d{1,10}$/.test(splitId)) c.fail('split id is no number');
  const from = c.i64();
  const to = c.i64();
  // a split that was read to its end is from = to + 1
  if (from > to + 1n) c.fail(`numbers from ${from} to ${to}`);
  return { splitId, next: from, stored: from, stop: to === (1n << 63n) - 1n ? null : to + 1n, details: { split_id: splitId, from, to } };
}

export const NUMBER_SEQUENCE: SourceFormat = {
  connector: 'datagen',
  hint: /datagen|sequence|generator/i,
  splitVersions: [1, 1],
  readSplit,
  enumeratorVersions: [1, 1],
  readEnumerator: c => ({ splits: readList(c, 'splits', 19, () => ({ holder: 'enumerator-unassigned' as const, split: readSplit(c) })) }),
};
