/**
 * Behind a value of unknown length in a heap-native key group: where do the states that follow begin?
 *
 * Each position is tried: the states that are missing yet must stand there, each once, and end exactly where the key group
 * does. The right position always fits, so if only one does, it is right. Where several do, nothing is claimed.
 */
import { StateQueryError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import type { HeapEntry } from './heap-entry.js';

/** Key groups with more bytes than this are not searched. */
const MAX_SEARCH = 1 << 26;
/** Nor is it gone on with when this many entries were tried. */
const MAX_ENTRIES = 1 << 22;

/**
 * @param c the key group's bytes: `c.bytes[from, end)` are searched, `end` is where the key group ends
 * @param missing ids of the states that must follow
 * @returns the position of the first of them, -1 when it is not certain
 */
export function findStates(c: Cursor, from: number, end: number, missing: readonly number[], entryOf: (id: number) => HeapEntry): number {
  if (end - from > MAX_SEARCH) return -1;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const work: Work = { entries: 0 };
  let found = -1;
  try {
    for (let p = from; p + 6 * missing.length <= end; p++) {
      if (work.entries > MAX_ENTRIES) return -1;
      if (!missing.includes((c.bytes[p] << 8) | c.bytes[p + 1])) continue;
      if (!fits(c.reset(c.bytes, p, end, c.base), missing, entryOf, work)) continue;
      if (found >= 0) return -1;
      found = p;
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return found;
}

interface Work {
  entries: number;
}

function fits(c: Cursor, missing: readonly number[], entryOf: (id: number) => HeapEntry, work: Work): boolean {
  try {
    const left = new Set(missing);
    while (left.size > 0) {
      const id = c.u16();
      if (!left.delete(id)) return false;
      const entry = entryOf(id);
      for (let n = c.count('number of entries'); n > 0; n--) {
        if (++work.entries > MAX_ENTRIES) return false;
        entry.read(c);
      }
    }
    return c.position === c.end;
  } catch (error) {
    if (error instanceof StateQueryError) return false;
    throw error;
  }
}
