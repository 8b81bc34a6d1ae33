/** Reads all of a table and compares it with what it says of itself: for `verify`, and for tests. */
import { CorruptError } from '../errors.js';
import { compareTrailers, TRAILER } from './internal-key.js';
import { Run } from './run.js';
import type { Table } from './table.js';

const READ = 256 << 10;

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
  const index = table.index();
  while (index.next()) dataBlocks++;
  const file = { name: '', acquire: () => table, release: () => undefined };
  const run = new Run([file], { readAhead: READ, onOpen: () => undefined });
  // a run sees to the order of user keys
  const trailer = new Uint8Array(TRAILER);
  while (run.next()) {
    const { bytes, keyEnd } = run;
    if (run.same && compareTrailers(trailer, 0, bytes, keyEnd) >= 0) throw new CorruptError('keys do not ascend', run.origin());
    for (let i = 0; i < TRAILER; i++) trailer[i] = bytes[keyEnd + i];
    entries++;
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
