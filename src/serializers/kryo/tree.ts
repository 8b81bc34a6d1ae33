/**
 * What Kryo wrote, as a graph of plain nodes, and its JSON.
 *
 *   scalar   one value with its SQL type: primitives, text, times, identifiers
 *   list     collections and arrays          map   maps
 *   object   the fields of a class; `$class` in JSON where the class is not the declared one; '' is no class: `{"left": …}`
 *   rest     bytes of a class whose layout nothing tells: `{"$class", "$strings", "$hex"}`, always the last thing of a value
 *
 * Nodes may refer to themselves (Kryo keeps references): JSON shows `{"$ref": class}` for an object inside itself.
 */
import { UnsupportedError } from '../../errors.js';
import { hexOf, INSIDE_JSON, jsonOf, jsonString, textOf } from '../../io/json.js';
import { JsonText, type SqlType, VARCHAR, type Value } from '../../types.js';

export type KryoNode = KryoScalar | KryoList | KryoMap | KryoObject | KryoRest;
export interface KryoScalar {
  readonly kind: 'scalar';
  readonly type: SqlType;
  readonly value: Value;
}
export interface KryoList {
  readonly kind: 'list';
  readonly className: string;
  readonly items: KryoNode[];
}
export interface KryoMap {
  readonly kind: 'map';
  readonly className: string;
  /** without a value: the key's end is not known */
  readonly entries: { readonly key: KryoNode; value: KryoNode | undefined }[];
}
export interface KryoObject {
  readonly kind: 'object';
  readonly className: string;
  /** `declared`: the class of the field; `$class` is shown where the value is of another one */
  readonly fields: { readonly name: string; readonly value: KryoNode; readonly declared?: string }[];
}
export interface KryoRest {
  readonly kind: 'rest';
  /** undefined: not even the class is known */
  readonly className: string | undefined;
  /** set when the whole value is known to end here */
  bytes: Uint8Array;
}

export const NULL_NODE: KryoScalar = Object.freeze({ kind: 'scalar', type: VARCHAR, value: null });
export const scalar = (type: SqlType, value: Value): KryoScalar => ({ kind: 'scalar', type, value });
export const text = (value: string | null): KryoScalar => (value === null ? NULL_NODE : scalar(VARCHAR, value));

const MAX_DEPTH = 3000;
/** Shared objects are written wherever they occur, so a small graph can make an endless text: so much more than its bytes. */
const MIN_CHARS = 4 * 1024 * 1024;
const CHARS_PER_BYTE = 256;

/**
 * JSON text of a node.
 * @param declared the class that is expected: an object of it shows no `$class`
 * @param bytes how many the value took
 * @throws UnsupportedError when it would be too long or too deep
 */
export function kryoJson(root: KryoNode, declared: string | undefined, bytes: number): string {
  const maxChars = MIN_CHARS + bytes * CHARS_PER_BYTE;
  const path = new Set<KryoNode>();
  let chars = 0;
  const leaf = (json: string): string => {
    chars += json.length;
    if (chars > maxChars) throw new UnsupportedError(`Kryo value with more than ${maxChars} characters of JSON`);
    return json;
  };
  const write = (node: KryoNode, expected?: string): string => {
    // empty parts have characters too: brackets and commas
    chars++;
    if (node.kind === 'scalar') return leaf(jsonOf(node.type, node.value, INSIDE_JSON));
    if (node.kind === 'rest') return leaf(restJson(node));
    if (path.has(node)) return leaf(`{"$ref":${jsonString(node.className)}}`);
    if (path.size >= MAX_DEPTH) throw new UnsupportedError(`Kryo value nested deeper than ${MAX_DEPTH}`);
    if (chars > maxChars) leaf('');
    path.add(node);
    const json = node.kind === 'list' ? list(node) : node.kind === 'map' ? map(node) : object(node, expected);
    path.delete(node);
    return json;
  };
  const list = (node: KryoList): string => {
    const items = node.items.map(x => write(x));
    // a partial element has to stay last
    if (UNORDERED.test(node.className) && items.at(-1)?.includes('"$hex"') !== true) items.sort(byText);
    return `[${items.join(',')}]`;
  };
  const map = (node: KryoMap): string => {
    const keys = node.entries.map(e => (e.value === undefined ? undefined : keyText(e.key)));
    if (keys.every(k => k !== undefined) && new Set(keys).size === keys.length)
      return `{${node.entries.map((e, i) => `${leaf(jsonString(keys[i] as string))}:${write(e.value as KryoNode)}`).join(',')}}`;
    const entry = (e: KryoMap['entries'][number]): string =>
      `{"key":${write(e.key)}${e.value === undefined ? '' : `,"value":${write(e.value)}`}}`;
    return `[${node.entries.map(entry).join(',')}]`;
  };
  const object = (node: KryoObject, expected: string | undefined): string => {
    const members = node.className === '' || node.className === expected ? [] : [`"$class":${jsonString(node.className)}`];
    for (const f of node.fields) members.push(`${jsonString(f.name)}:${write(f.value, f.declared)}`);
    return `{${members.join(',')}}`;
  };
  return write(root, declared);
}

/** Sets without an order of their own are shown sorted: equal sets look the same. */
const UNORDERED =
  /^(java\.util\.(HashSet|HashMap\$KeySet|ImmutableCollections\$Set(12|N)|concurrent\.ConcurrentHashMap\$KeySetView)|scala\.collection\.immutable\.(Set\$Set\d|HashSet\$HashTrieSet)|scala\.collection\.mutable\.HashSet)$/;
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The name under which a map entry stands, when its key is text, number, boolean or enum. */
function keyText(key: KryoNode): string | undefined {
  if (key.kind !== 'scalar' || key.value === null || key.value instanceof JsonText) return undefined;
  switch (key.type.kind) {
    case 'LIST':
    case 'BLOB':
    case 'STRUCT':
      return undefined;
    default:
      return textOf(key.type, key.value, INSIDE_JSON);
  }
}

/** Class tag of the serializer where no class could be read. */
export const KRYO_SERIALIZER = 'org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializer';

function restJson(node: KryoRest): string {
  const hex = `"$hex":"${hexOf(node.bytes)}"`;
  if (node.className === undefined) return `{"$serializer":"${KRYO_SERIALIZER}",${hex}}`;
  const strings = readableStrings(node.bytes);
  const shown = strings.length === 0 ? '' : `"$strings":[${strings.map(jsonString).join(',')}],`;
  return `{"$class":${jsonString(node.className)},${shown}${hex}}`;
}

const MAX_STRINGS = 100;

/**
 * Runs of text that could be strings of Kryo: ASCII whose last byte carries bit 0x80 (`Hass` + `o` | 0x80), or ASCII of at least
 * four characters.
 */
export function readableStrings(bytes: Uint8Array): string[] {
  const found: string[] = [];
  let from = 0;
  for (let i = 0; i < bytes.length && found.length < MAX_STRINGS; i++) {
    const b = bytes[i] & 0x7f;
    const printable = b >= 0x20 && b < 0x7f;
    const ends = (bytes[i] & 0x80) !== 0;
    if (printable && !ends) continue;
    const length = i - from + (printable ? 1 : 0);
    if (length >= (printable ? 3 : 4)) found.push(Buffer.from(bytes.subarray(from, from + length).map(x => x & 0x7f)).toString('latin1'));
    from = i + 1;
  }
  if (bytes.length - from >= 4 && found.length < MAX_STRINGS) found.push(Buffer.from(bytes.subarray(from)).toString('latin1'));
  return found;
}
