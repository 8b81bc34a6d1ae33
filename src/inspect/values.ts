/** Keys, namespaces and values of entries as text, by the serializers of the header that stands before them. */
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { jsonOf } from '../io/json.js';
import type { Codec, CodecContext } from '../serializers/codec.js';
import type { EntryCursor, KeyedHeader, RegisteredState } from '../state/entry.js';
import { type StateShape, shapeOf } from '../tables/states.js';
import { JsonText } from '../types.js';
import { hexText } from './notes.js';

/** The JSON form of what `codec` wrote; its bytes when it cannot be decoded. */
export function textOf(codec: Codec | undefined, bytes: Uint8Array): string {
  if (codec === undefined) return hexText(bytes);
  try {
    const c = new Cursor(bytes);
    const text = readText(codec, c);
    c.expectEnd('the value');
    return text;
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return hexText(bytes);
  }
}

function readText(codec: Codec, c: Cursor): string {
  const value = codec.read(c);
  return value === null ? 'null' : value instanceof JsonText ? value.text : jsonOf(codec.type, value);
}

/** Shapes of the states of a header, made when they are first asked for. */
export class Shapes {
  private readonly made = new Map<RegisteredState, StateShape>();
  constructor(
    private readonly key: KeyedHeader['key'] | undefined,
    private readonly codecs: CodecContext,
  ) {}

  of(state: RegisteredState): StateShape {
    let shape = this.made.get(state);
    if (shape === undefined) {
      shape = shapeOf(this.key, state, this.codecs).shape;
      this.made.set(state, shape);
    }
    return shape;
  }
}

/** The stored value of an entry: a list as an array, a heap map as its entries, what has a time of last access with it. */
export function valueText(shape: StateShape, layout: 'composite' | 'heap', bytes: Uint8Array): string {
  try {
    const c = new Cursor(bytes);
    const one = (): string => {
      if (!shape.ttl) return readText(shape.value, c);
      const at = c.i64();
      return `${readText(shape.value, c)} (last access ${at})`;
    };
    let text: string;
    if (shape.form === 'list') {
      const elements: string[] = [];
      if (layout === 'heap') for (let n = c.count('number of list elements', 0); n > 0; n--) elements.push(one());
      else
        while (c.remaining > 0) {
          if (elements.length > 0) c.take(1, 'delimiter');
          elements.push(one());
        }
      text = `[${elements.join(',')}]`;
    } else if (shape.form === 'map' && layout === 'heap') {
      const entries: string[] = [];
      for (let n = c.count('number of map entries', 1); n > 0; n--) {
        const key = shape.mapKey === undefined ? '' : readText(shape.mapKey, c);
        entries.push(`${key}: ${c.bool() ? 'null' : one()}`);
      }
      text = `{${entries.join(', ')}}`;
    } else if (shape.form === 'map') {
      if (c.bool()) return 'null';
      text = one();
    } else text = one();
    c.expectEnd('the value');
    return text;
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return hexText(bytes);
  }
}

/** One line for an entry that has no bytes of its own in the file. */
export function entryText(entry: EntryCursor, state: RegisteredState, shape: StateShape, layout: 'composite' | 'heap'): string {
  const part = (start: number, end: number) => entry.bytes.subarray(start, end);
  const parts = [`key ${textOf(shape.key, part(entry.keyStart, entry.keyEnd))}`];
  if (shape.namespace !== undefined) parts.push(`namespace ${textOf(shape.namespace, part(entry.namespaceStart, entry.namespaceEnd))}`);
  if (state.kind === 'timer') parts.push(`fires at ${timerMillis(part(entry.userKeyStart, entry.userKeyEnd))}`);
  else {
    if (entry.userKeyEnd > entry.userKeyStart) parts.push(`map key ${textOf(shape.mapKey, part(entry.userKeyStart, entry.userKeyEnd))}`);
    parts.push(`value ${valueText(shape, layout, part(entry.valueStart, entry.valueEnd))}`);
  }
  return parts.join(', ');
}

/** The timestamp in front of a timer: i64 with the sign bit flipped. */
export function timerMillis(timer: Uint8Array): string {
  return timer.length < 8 ? hexText(timer) : String(BigInt.asIntN(64, new Cursor(timer).i64() ^ (1n << 63n)));
}
