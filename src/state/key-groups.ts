/**
 * Where the key groups of a keyed state file lie: KeyGroupRangeOffsets out of `_metadata`.
 *
 *   canonical   0 = the key group is empty          heap   every key group is there
 *   raw keyed  -1 = the key group was not written
 *
 * Key groups are written in ascending order, each from its offset to the next one's. A handle may have fewer key groups than
 * its file (it was cut to a range when the job was rescaled), so what lies behind its last one may belong to others.
 *
 * Flink: KeyGroupsStateHandle, KeyGroupRangeOffsets (1.20).
 */
import type { KeyGroupsHandle } from '../checkpoint/handles.js';
import { CorruptError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import type { EntryFilter, EntryRange } from './entry.js';

export interface KeyGroupPlace {
  readonly keyGroup: number;
  /** positions in the source; `end` of the last one is the source's end, which may be too far */
  readonly start: number;
  readonly end: number;
  readonly last: boolean;
}

/** The written key groups of a handle, in ascending order of key groups. @throws CorruptError when the offsets cannot be */
export function keyGroupPlaces(handle: KeyGroupsHandle, source: ByteSource, where: string): KeyGroupPlace[] {
  const { range, offsets } = handle;
  const written: { keyGroup: number; start: number }[] = [];
  for (let i = 0; i < offsets.length; i++) {
    if (offsets[i] <= 0) continue;
    const keyGroup = range.first + i;
    const before = written.length === 0 ? 0 : written[written.length - 1].start;
    if (offsets[i] <= before || offsets[i] > source.size)
      throw new CorruptError(
        offsets[i] > source.size
          ? `key group ${keyGroup} begins at ${offsets[i]}, the file has ${source.size} bytes`
          : `key group ${keyGroup} begins at ${offsets[i]}, not behind the one before it at ${before}`,
        {
          file: source.name,
          offset: source.base + Math.min(offsets[i], source.size),
          where,
          ...(offsets[i] > source.size ? { hint: 'the file is truncated, or its snapshot was not completed' } : {}),
        },
      );
    written.push({ keyGroup, start: offsets[i] });
  }
  return written.map(({ keyGroup, start }, i) => ({
    keyGroup,
    start,
    end: i + 1 < written.length ? written[i + 1].start : source.size,
    last: i + 1 === written.length,
  }));
}

/** Where the file's header must have ended: the first key group, or the file's end. */
export function headerLimit(places: readonly KeyGroupPlace[], source: ByteSource): number {
  return places.length === 0 ? source.size : places[0].start;
}

/** The wanted ones, and for each where the run of adjacent ones ends that it begins or is part of. */
export function wantedPlaces(
  places: readonly KeyGroupPlace[],
  keyGroups: ReadonlySet<number> | undefined,
): { readonly places: readonly KeyGroupPlace[]; readonly runEnds: readonly number[] } {
  const wanted = keyGroups === undefined ? places : places.filter(place => keyGroups.has(place.keyGroup));
  const runEnds: number[] = [];
  for (let i = wanted.length - 1; i >= 0; i--) {
    runEnds[i] = i + 1 < wanted.length && wanted[i + 1].start === wanted[i].end ? runEnds[i + 1] : wanted[i].end;
  }
  return { places: wanted, runEnds };
}

/** Key groups with what they take, ascending, put together to ranges of about `bytes`. */
export function rangesOf(
  keyGroups: Iterable<{ readonly keyGroup: number; readonly bytes: number }>,
  states: readonly number[],
  bytes: number,
): EntryRange[] {
  const ranges: EntryRange[] = [];
  let open: { first: number; last: number; bytes: number } | undefined;
  for (const { keyGroup, bytes: more } of keyGroups) {
    if (open === undefined) open = { first: keyGroup, last: keyGroup, bytes: more };
    else {
      open.last = keyGroup;
      open.bytes += more;
    }
    if (open.bytes >= bytes) {
      ranges.push({ states, ...open });
      open = undefined;
    }
  }
  if (open !== undefined) ranges.push({ states, ...open });
  return ranges;
}

/** EntryRanges of a file of key groups, which has all states in each. */
export function placeRanges(places: readonly KeyGroupPlace[], filter: EntryFilter, states: number, bytes: number): readonly EntryRange[] {
  const ids = filter.states === undefined ? Array.from({ length: states }, (_, i) => i) : [...filter.states];
  return rangesOf(
    wantedPlaces(places, filter.keyGroups).places.map(({ keyGroup, start, end }) => ({ keyGroup, bytes: end - start })),
    ids,
    bytes,
  );
}
