/**
 * Values that cannot be decoded stay visible: `{"$serializer": "<class>", "$hex": "<bytes>"}`; in part, the fields that were
 * decoded with `"$hex"` of the rest after them (contract §3). Such a value swallows everything up to the cursor's end.
 */
import type { Cursor } from '../io/cursor.js';
import { hexOf, jsonString } from '../io/json.js';
import { JSON_TYPE, JsonText } from '../types.js';
import { type Codec, codecOf } from './codec.js';

/**
 * A codec that shows all bytes up to the cursor's end.
 * @param serializer class of the serializer, as in `$serializer`
 * @param reason why, for `state_meta.reason`
 * @param length getLength() of the serializer when that is known: then exactly so many bytes are shown
 */
export function opaqueCodec(serializer: string, reason: string, length = -1): Codec {
  return codecOf({
    type: JSON_TYPE,
    length,
    opaque: reason,
    ...(length < 0 ? { unbounded: true } : {}),
    read: c => new JsonText(opaqueJson(serializer, c.slice(length < 0 ? c.remaining : length))),
    skip: c => void c.take(length < 0 ? c.remaining : length),
  });
}

/** `{"$serializer": …, "$hex": …}` */
export function opaqueJson(serializer: string, bytes: Uint8Array): string {
  return `{"$serializer":${jsonString(serializer)},"$hex":"${hexOf(bytes)}"}`;
}

/** The rest of the cursor as hex text; advances to the end. */
export function takeRestHex(c: Cursor): string {
  return hexOf(c.slice(c.remaining));
}
