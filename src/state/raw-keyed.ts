/**
 * Raw keyed state: bytes that an operator wrote for each key group, in a format of its own.
 *
 *   each key group that was written, at its offset (-1: not written), up to the next larger offset; no header, no compression
 *
 * Timers kept on the heap beside RocksDB state stand there too (raw-timers.ts); they are told by their first bytes.
 *
 * Flink: KeyedStateCheckpointOutputStream (1.8–2.3).
 */
import type { KeyedHandle, KeyGroupsHandle } from '../checkpoint/handles.js';
import { CorruptError, UnsupportedError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import type { KeyedStateReader, StateContext } from './entry.js';
import { withWhere } from './header.js';
import type { KeyGroupPlace } from './key-groups.js';
import { openRawTimers, rawTimersVersion } from './raw-timers.js';

export type RawKeyedState =
  | { readonly kind: 'timers'; readonly reader: KeyedStateReader; close(): void }
  | { readonly kind: 'bytes'; groups(): Iterable<RawKeyGroup>; close(): void };

/** The bytes of one key group. */
export interface RawKeyGroup {
  readonly keyGroup: number;
  readonly bytes: Uint8Array;
  /** file offset of bytes[0] */
  readonly offset: number;
}

/** Opens raw keyed state. @throws StateQueryError */
export function openRawKeyedState(handle: KeyedHandle, context: StateContext): RawKeyedState {
  if (handle.kind !== 'key-groups') throw new CorruptError(`a ${handle.kind} handle as raw keyed state`, { where: context.where });
  const source = context.open(handle.stream);
  const close = () => source.close();
  try {
    const places = rawPlaces(handle, source, context.where);
    if (places.length > 0 && places.every(place => rawTimersVersion(source, place) !== undefined)) {
      try {
        return { kind: 'timers', reader: openRawTimers(source, places, context), close };
      } catch (error) {
        if (!(error instanceof UnsupportedError)) throw error;
        context.warn(`${source.name}: timers are shown as bytes: ${error.message}`);
      }
    }
    return {
      kind: 'bytes',
      *groups() {
        for (const { keyGroup, start, end } of places)
          yield { keyGroup, bytes: source.read(start, end - start), offset: source.base + start };
      },
      close,
    };
  } catch (error) {
    source.close();
    throw withWhere(error, context.where, source.name);
  }
}

/** The written key groups in ascending order; they may lie in any order in the file. */
function rawPlaces(handle: KeyGroupsHandle, source: ByteSource, where: string): KeyGroupPlace[] {
  const written = handle.offsets.flatMap((start, i) => (start < 0 ? [] : [{ keyGroup: handle.range.first + i, start }]));
  const starts = [...new Set(written.map(w => w.start))].sort((a, b) => a - b);
  const next = new Map(starts.map((start, i) => [start, starts[i + 1] ?? source.size]));
  return written.map(({ keyGroup, start }) => {
    const end = next.get(start) as number;
    if (start > source.size || end > source.size)
      throw new CorruptError(`raw state of key group ${keyGroup} begins at ${start}, the file has ${source.size} bytes`, {
        file: source.name,
        offset: source.base + source.size,
        where,
        hint: 'the file is truncated, or its snapshot was not completed',
      });
    return { keyGroup, start, end, last: end === source.size };
  });
}
