/**
 * What a connector's bytes say, as a plain tree for the `details` columns: JSON with every digit of 64-bit integers.
 */
import { hexOf, jsonString, numberText } from '../io/json.js';

export type Details = null | boolean | number | bigint | string | Uint8Array | RawJson | readonly Details[] | DetailsObject;
export interface DetailsObject {
  readonly [name: string]: Details | undefined;
}

/** JSON text that is put in as it is. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Compact JSON. Bytes as lower-case hex, undefined members are left out. Depth is bounded by the readers that make the trees. */
export function detailsJson(d: Details): string {
  if (d === null) return 'null';
  if (d instanceof RawJson) return d.text;
  if (d instanceof Uint8Array) return `"${hexOf(d)}"`;
  switch (typeof d) {
    case 'string':
      return jsonString(d);
    case 'number':
      return Number.isFinite(d) ? numberText(d) : `"${d}"`;
    case 'boolean':
    case 'bigint':
      return String(d);
    default:
      break;
  }
  if (Array.isArray(d)) return `[${(d as readonly Details[]).map(detailsJson).join(',')}]`;
  const members = Object.entries(d as DetailsObject).filter((m): m is [string, Details] => m[1] !== undefined);
  return `{${members.map(([name, value]) => `${jsonString(name)}:${detailsJson(value)}`).join(',')}}`;
}
