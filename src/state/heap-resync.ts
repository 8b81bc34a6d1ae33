/**
 * Behind a value of unknown length in a heap-native key group: where does the next entry begin, and where the next state?
 *
 * Positions are tried. What must stand there is known well: a state begins with its id and a count, and every state up to the
 * next one with values of unknown length must read well, to the key group's last byte if there is no such state; an entry has
 * a namespace and a key that hashes to the key group. The right positions always fit, so if no more fit than there must be,
 * they are right. Otherwise nothing is claimed.
 */
import { type JavaKeyType, javaHashCode } from '../checkpoint/java-hash.js';
import { keyGroupOfHash } from '../checkpoint/key-groups.js';
import { StateQueryError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import type { HeapEntry } from './heap-entry.js';

/** Key groups with more bytes than this are not searched. */
const MAX_SEARCH = 1 << 26;
/** Nor is it gone on with when this many entries were tried. */
const MAX_ENTRIES = 1 << 22;

/** What is known of the states that follow. */
export interface Following {
  /** ids of the states that the key group does not have yet */
  readonly missing: ReadonlySet<number>;
  /** the order of all states in the file's key groups, where it is known */
  readonly order: readonly number[] | undefined;
  /** the state whose values are being stepped over */
  readonly current: number;
  entryOf(id: number): HeapEntry;
}

/**
 * Where the next state begins in `c.bytes[from, end)`; `end` is where the key group ends.
 * @returns -1 when it is not certain
 */
export function findStates(c: Cursor, from: number, end: number, following: Following): number {
  if (end - from > MAX_SEARCH) return -1;
  const { missing, order, current } = following;
  const next = order?.[order.indexOf(current) + 1];
  const work: Work = { entries: 0 };
  return quietly(() => {
    let found = -1;
    for (let p = from; p + 6 * missing.size <= end; p++) {
      if (work.entries > MAX_ENTRIES) return -1;
      const id = (c.bytes[p] << 8) | c.bytes[p + 1];
      if (next === undefined ? !missing.has(id) : id !== next) continue;
      if (unlessDamaged(() => fits(c.reset(c.bytes, p, end, c.base), following, work)) !== true) continue;
      if (found >= 0) return -1;
      found = p;
    }
    return found;
  });
}

interface Work {
  entries: number;
}

/** Whether states stand at the cursor, up to one whose values have no end of their own. */
function fits(c: Cursor, { missing, order, current, entryOf }: Following, work: Work): boolean {
  const left = new Set(missing);
  let at = order === undefined ? -1 : order.indexOf(current);
  while (left.size > 0) {
    const id = c.u16();
    if (!left.delete(id) || (order !== undefined && order[++at] !== id)) return false;
    const entry = entryOf(id);
    for (let n = c.count('number of entries'); n > 0; n--) {
      if (++work.entries > MAX_ENTRIES) return false;
      entry.read(c);
      if (entry.swallowed === undefined) continue;
      entry.settle(c);
      // the rest is this entry's, or others' that cannot be told apart
      if (entry.swallowed !== undefined) return true;
    }
  }
  return c.position === c.end;
}

/**
 * Where the entries behind the first one begin: `count` of them stand in `c.bytes[from, end)`, in front of each a value of
 * unknown length.
 * @param type of the keys, as Java hashes them
 * @returns undefined when it is not certain
 */
export function findEntries(
  c: Cursor,
  from: number,
  end: number,
  count: number,
  entry: HeapEntry,
  keyGroup: { readonly type: JavaKeyType; readonly number: number; readonly maxParallelism: number },
): readonly number[] | undefined {
  if (end - from > MAX_SEARCH) return undefined;
  return quietly(() => {
    const found: number[] = [];
    for (let p = from + 1; p < end; p++) {
      const key = unlessDamaged(() => entry.readKey(c.reset(c.bytes, p, end, c.base)));
      const hash = key === undefined ? undefined : javaHashCode(keyGroup.type, key);
      if (hash === undefined || keyGroupOfHash(hash, keyGroup.maxParallelism) !== keyGroup.number) continue;
      found.push(p);
      if (found.length > count) return undefined;
    }
    return found.length === count ? found : undefined;
  });
}

/** Runs a search whose misses are errors: without stack traces, an error for one position is no error of the search. */
function quietly<T>(search: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return search();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** undefined where `f` meets bytes that cannot be. */
function unlessDamaged<T>(f: () => T): T | undefined {
  try {
    return f();
  } catch (error) {
    if (error instanceof StateQueryError) return undefined;
    throw error;
  }
}
