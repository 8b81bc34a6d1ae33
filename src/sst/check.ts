/** Reads all of a table and compares it with what it says of itself: for `verify`, and for tests. */
import { CorruptError } from '../errors.js';
import { readBlock } from './block.js';
import { forEachEntry } from './entries.js';
import { compareInternalKeys } from './internal-key.js';
import type { Table } from './table.js';

export interface TableCheck {
  readonly dataBlocks: number;
  /** range deletions aside */
  readonly entries: number;
  readonly rangeDeletions: number;
}

/**
 * Reads every data block, the range deletions and the filter of a table.
 * @throws CorruptError: a checksum, an order or a count is wrong; UnsupportedError
 */
export function checkTable(table: Table): TableCheck {
  const { properties, origin } = table;
  let dataBlocks = 0;
  let entries = 0;
  let last: Uint8Array | undefined;
  const index = table.index();
  while (index.next()) {
    dataBlocks++;
    forEachEntry(readBlock(table, { offset: index.offset, size: index.size }, table.dictionary), origin, key => {
      if (last !== undefined && compareInternalKeys(last, key) >= 0) throw new CorruptError('keys do not ascend', origin);
      last = key;
      entries++;
    });
  }
  const rangeDeletions = table.rangeDeletions().length;
  table.filter();
  const counted = { 'data blocks': dataBlocks, entries: entries + rangeDeletions, 'range deletions': rangeDeletions };
  const said = { 'data blocks': properties.dataBlocks, entries: properties.entries, 'range deletions': properties.rangeDeletions };
  for (const what of ['data blocks', 'entries', 'range deletions'] as const)
    if (said[what] !== undefined && said[what] !== counted[what])
      throw new CorruptError(`table has ${counted[what]} ${what}, its properties say ${said[what]}`, origin);
  return { dataBlocks, entries, rangeDeletions };
}
