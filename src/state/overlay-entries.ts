/**
 * Cells of a changelog as entries, in the layout of their base (entry.ts): what the base holds and what was changed, in one.
 */
import { Cursor } from '../io/cursor.js';
import { copyOf } from '../io/window.js';
import { type Codec, hidesEnd } from '../serializers/codec.js';
import type { Cell, Segment, StateOverlay } from './overlay.js';

const DELIMITER = 0x2c;

/** A value made of the segments of a cell; `unsplit`: why it is not the state's value. */
export interface MergedValue {
  readonly bytes: Uint8Array;
  readonly unsplit?: string;
}

/** The base's value of a cell's id, undefined when there is none. */
export type BaseValue = (id: string) => Uint8Array | undefined;

/** The value of a cell of a state that is no map; undefined when it has none. */
export function mergeSegments(overlay: StateOverlay, cell: Cell, layout: 'composite' | 'heap', baseOf: BaseValue): MergedValue | undefined {
  const parts: { segment: Segment; bytes: Uint8Array }[] = [];
  for (const segment of cell.segments) {
    const bytes = segment.kind === 'base' ? baseOf(segment.id) : segment.bytes;
    if (bytes !== undefined) parts.push({ segment, bytes });
  }
  if (parts.length === 0) return undefined;
  if (overlay.form !== 'list') {
    if (parts.length === 1) return { bytes: parts[0].bytes };
    return {
      bytes: Buffer.concat(parts.map(p => p.bytes)),
      unsplit: `${parts.length} values of merged namespaces, which only the job's own function can merge`,
    };
  }
  return layout === 'heap' ? heapList(parts) : delimitedList(parts, overlay.codecs.element as Codec);
}

/** i32 n · elements */
function heapList(parts: readonly { segment: Segment; bytes: Uint8Array }[]): MergedValue | undefined {
  let n = 0;
  const pieces: Uint8Array[] = [new Uint8Array(0)];
  for (const { segment, bytes } of parts) {
    if (segment.kind === 'bytes') {
      n += segment.n;
      pieces.push(bytes);
    } else {
      n += new Cursor(bytes).count('number of list elements', 0);
      pieces.push(bytes.subarray(4));
    }
  }
  if (n === 0) return undefined;
  const count = Buffer.alloc(4);
  count.writeInt32BE(n);
  pieces[0] = count;
  return { bytes: Buffer.concat(pieces) };
}

/** elements joined by one byte 0x2C */
function delimitedList(parts: readonly { segment: Segment; bytes: Uint8Array }[], element: Codec): MergedValue {
  const pieces: Uint8Array[] = [];
  const comma = Uint8Array.of(DELIMITER);
  let unsplit: string | undefined;
  for (const { segment, bytes } of parts) {
    if (segment.kind === 'base' || segment.n === 1) {
      pieces.push(comma, bytes);
      continue;
    }
    if (hidesEnd(element)) {
      unsplit ??= `${segment.n} list elements stand in the same bytes: ${element.opaque ?? 'their serializer is opaque'}`;
      pieces.push(comma, bytes);
      continue;
    }
    const c = new Cursor(bytes);
    for (let i = 0; i < segment.n; i++) {
      const start = c.position;
      element.skip(c);
      pieces.push(comma, bytes.subarray(start, c.position));
    }
  }
  const bytes = Buffer.concat(pieces.slice(1));
  return unsplit === undefined ? { bytes } : { bytes, unsplit };
}

/**
 * A whole map in heap layout: i32 n · n × (key · bool isNull · [value]); undefined when it is empty.
 * @param base the base's map, with its place for errors
 */
export function mergeMap(overlay: StateOverlay, cell: Cell, base: Cursor | undefined): Uint8Array | undefined {
  const pieces: Uint8Array[] = [Buffer.alloc(4)];
  let n = 0;
  const shown = new Set<string>();
  if (base !== undefined && !cell.cleared) {
    for (let left = base.count('number of map entries', 2); left > 0; left--) {
      const start = base.position;
      overlay.codecs.mapKey?.skip(base);
      const key = Buffer.from(base.bytes.buffer, base.bytes.byteOffset + start, base.position - start);
      if (!base.bool()) overlay.codecs.mapValue?.skip(base);
      const id = key.toString('latin1');
      const change = cell.entries.get(id);
      if (change === undefined) {
        pieces.push(copyOf(base.bytes, start, base.position));
        n++;
      } else if (change.value !== undefined) {
        pieces.push(change.key, mapValue(change.value));
        n++;
      }
      shown.add(id);
    }
    base.expectEnd('the map');
  }
  for (const [id, change] of cell.entries) {
    if (change.value === undefined || shown.has(id)) continue;
    pieces.push(change.key, mapValue(change.value));
    n++;
  }
  (pieces[0] as Buffer).writeInt32BE(n);
  return n === 0 ? undefined : Buffer.concat(pieces);
}

/** Behind a null nothing stands in heap layout. */
function mapValue(flagged: Uint8Array): Uint8Array {
  return flagged[0] === 1 ? flagged.subarray(0, 1) : flagged;
}
