/**
 * Values out of bytes into a column: by their codec, and after some of them by code made for it (serializers/wire.ts).
 */
import type { BytesColumn, Column } from '../io/column.js';
import { Cursor } from '../io/cursor.js';
import { jsonOf, textOf } from '../io/json.js';
import type { Codec } from '../serializers/codec.js';
import { compileDecoder, type Decoder } from '../serializers/wire.js';
import { JsonText, type SqlType, type Value } from '../types.js';

/** Values before one of a kind gets a decoder of its own. */
const COMPILE_AFTER = 256;

/**
 * Appends the value that begins at bytes[start], and ends at `end` at the latest, to a column.
 * @param base file offset of bytes[0], for errors
 * @returns where the value ends
 * @throws CorruptError; SqlError when the column's type cannot hold the value
 */
export type Append = (bytes: Uint8Array, start: number, end: number, base: number, out: Column) => number;

/** @param form of the column: `value` is the codec's own type, `text` VARCHAR, `json` JSON */
export function appenderOf(codec: Codec, form: 'value' | 'text' | 'json'): Append {
  const cursor = new Cursor(new Uint8Array(0));
  if (form !== 'value' && !(form === 'text' && codec.type.kind === 'VARCHAR'))
    return (bytes, start, end, base, out) => {
      pushAs(out, form, codec.type, codec.read(cursor.reset(bytes, start, end, base)));
      return cursor.position;
    };
  let seen = 0;
  let target: Column | undefined;
  let decoder: Decoder | undefined;
  return (bytes, start, end, base, out) => {
    if (decoder !== undefined && out === target) {
      const { length } = out;
      const to = decoder(bytes, start, end, out, cursor, base);
      if (to >= 0) return to;
      out.truncate(length);
    } else if (++seen === COMPILE_AFTER) {
      target = out;
      decoder = compileDecoder(codec, out);
    }
    codec.append(cursor.reset(bytes, start, end, base), out);
    return cursor.position;
  };
}

/** Pushes a value of `type` to a column of that type, or of its text or JSON. */
export function pushAs(out: Column, form: 'value' | 'text' | 'json', type: SqlType, value: Value): void {
  if (value === null) out.pushNull();
  else if (form === 'value') out.push(value);
  else if (form === 'json') (out as BytesColumn).pushString(value instanceof JsonText ? value.text : jsonOf(type, value));
  else (out as BytesColumn).pushString(textOf(type, value));
}
