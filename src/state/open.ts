/**
 * A state handle → a reader of what it holds, whatever wrote it.
 *
 *   key groups, tag 7            canonical                                KeyGroupsSavepointStateHandle (1.13+)
 *   key groups, tags 3 and 12    heap native; up to 1.15 also canonical   KeyGroupsStateHandle, told apart by their bytes
 *   incremental                  RocksDB or ForSt                         IncrementalRemoteKeyedStateHandle
 *   changelog                    one of these, and changes                ChangelogStateBackendHandle
 *
 * Nothing in a keyed file says which of the formats it has, and the wrong reader may succeed part-way: the handle decides.
 */
import type { KeyedHandle, KeyGroupsHandle } from '../checkpoint/handles.js';
import { CorruptError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { ByteSource } from '../io/source.js';
import { CanonicalCursor, openCanonical } from './canonical.js';
import { openChangelog } from './changelog.js';
import type { KeyedStateReader, StateContext } from './entry.js';
import { readKeyedHeader, withWhere } from './header.js';
import { openHeap } from './heap.js';
import { headerLimit, keyGroupPlaces } from './key-groups.js';
import { openRocksdbState } from './rocksdb.js';

export { openOperatorState } from './operator.js';

/** Opens managed keyed state. Reads the header only. @throws StateQueryError */
export function openKeyedState(handle: KeyedHandle, context: StateContext): KeyedStateReader {
  switch (handle.kind) {
    case 'key-groups': {
      const source = context.open(handle.stream);
      try {
        return isCanonical(handle, source, context) ? openCanonical(handle, source, context) : openHeap(handle, source, context);
      } catch (error) {
        source.close();
        throw withWhere(error, context.where, source.name);
      }
    }
    case 'incremental':
      return openRocksdbState(handle, context);
    case 'changelog':
      return openChangelog(handle, context, openKeyedState);
    default:
      throw new CorruptError('changes without the changelog handle that they belong to', { where: context.where });
  }
}

/**
 * Whether a file of key groups is in the canonical format: up to 1.12 every RocksDB snapshot, and up to 1.15 its full ones,
 * stand behind the same handle as heap-native files. Canonical files mark empty key groups by offset 0; heap files begin each
 * key group with its number as i32, where canonical ones have a state id and the high half of a length.
 */
export function isCanonical(handle: KeyGroupsHandle, source: ByteSource, context: StateContext): boolean {
  if (handle.tag === 7 || handle.offsets.includes(0)) return true;
  const places = keyGroupPlaces(handle, source, context.where);
  const told = places.filter(place => place.keyGroup > 0 && place.end - place.start >= 4).slice(0, 3);
  if (told.length > 0) return !told.some(place => new Cursor(source.read(place.start, 4)).i32() === place.keyGroup);
  // key group 0 alone: both may begin with i32 0, so one of them has to work
  if (places.length === 0) return true;
  if (places[0].end - places[0].start < 4 || new Cursor(source.read(places[0].start, 4)).i32() !== 0) return true;
  try {
    const header = readKeyedHeader(source, headerLimit(places, source), context.where);
    if (header.states.length === 0) return false;
    const cursor = new CanonicalCursor(header, source, places, { split: false }, context);
    for (let i = 0; i < 16 && cursor.next(); i++);
    cursor.close();
    return true;
  } catch {
    return false;
  }
}
