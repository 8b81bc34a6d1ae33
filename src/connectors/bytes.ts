/**
 * Reading connector state: bytes that carry no class name, so every reader checks what it can and reads to the last byte.
 *
 * All readers here throw CorruptError where the bytes are not theirs.
 */
import { Cursor } from '../io/cursor.js';
import { javaToJson } from '../java/json.js';
import { readJavaObject } from '../java/stream.js';
import { type Details, RawJson } from './details.js';

const LONG_MIN = -(1n << 63n);
export const NO_OFFSET = LONG_MIN;

/** Bytes with the version of the serializer that wrote them. */
export interface Versioned {
  readonly version: number;
  readonly bytes: Uint8Array;
}

/** i32 version, i32 length, bytes: SimpleVersionedSerialization.writeVersionAndSerialize. */
export function readVersioned(c: Cursor, what: string): Versioned {
  const version = c.i32();
  if (version < 0 || version > 1000) c.fail(`serializer version ${version} of ${what}`, c.position - 4);
  return { version, bytes: c.slice(c.count(`length of ${what}`), what) };
}

/** i32 version, i32 n, n × (i32 length, bytes): SimpleVersionedSerialization.writeVersionAndSerializeList. */
export function readVersionedList(c: Cursor, what: string): Versioned[] {
  const version = c.i32();
  if (version < 0 || version > 1000) c.fail(`serializer version ${version} of ${what}`, c.position - 4);
  return readList(c, what, 4, () => ({ version, bytes: c.slice(c.count(`length of ${what}`), what) }));
}

/** i32 n, n × item. `least`: bytes that an item has at least. */
export function readList<T>(c: Cursor, what: string, least: number, read: (c: Cursor) => T): T[] {
  const n = c.count(`number of ${what}`, least);
  const items: T[] = [];
  for (let i = 0; i < n; i++) items.push(read(c));
  return items;
}

/** bool, then the value when it is true. */
export function readOptional<T>(c: Cursor, read: (c: Cursor) => T): T | null {
  return c.bool() ? read(c) : null;
}

/** Reads all of `bytes` with `read`; bytes left over are an error. */
export function readWhole<T>(bytes: Uint8Array, what: string, read: (c: Cursor) => T): T {
  const c = new Cursor(bytes);
  const value = read(c);
  c.expectEnd(what);
  return value;
}

/** A string that a person or a service named: not empty, no control characters. */
export function readName(c: Cursor, what: string): string {
  return checkName(c, c.utf(what), what);
}
export function checkName(c: Cursor, name: string, what: string): string {
  if (name === '' || !isText(name)) c.fail(`${what} is no name`);
  return name;
}
/** Printable characters only; may be empty. */
export function isText(text: string): boolean {
  return !/[\u0000-\u001f\u007f-\u009f\ufffd\ufffe\uffff]/.test(text);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** The next `length` bytes as UTF-8. */
export function readUtf8(c: Cursor, length: number, what: string): string {
  const bytes = c.slice(length, what);
  try {
    return utf8.decode(bytes);
  } catch {
    return c.fail(`${what} is no UTF-8`);
  }
}
/** i32 length, UTF-8 */
export function readLongUtf8(c: Cursor, what: string): string {
  return readUtf8(c, c.count(`length of ${what}`), what);
}
/** little-endian i32 length, checked against what remains */
export function readLengthLe(c: Cursor, what: string, least = 1): number {
  const n = c.i32le();
  if (n < 0 || n * least > c.remaining) c.fail(`${what} is ${n}, ${c.remaining} bytes remain`);
  return n;
}
/** little-endian i32 length, UTF-8 */
export function readUtf8Le(c: Cursor, what: string): string {
  return readUtf8(c, readLengthLe(c, `length of ${what}`), what);
}

/** JSON text, checked, kept with its digits. */
export function checkJson(c: Cursor, text: string, what: string): RawJson {
  try {
    JSON.parse(text);
  } catch {
    c.fail(`${what} is no JSON`);
  }
  return new RawJson(text);
}

/** A Java object stream that fills `bytes`, as readable JSON. */
export function javaDetails(bytes: Uint8Array, what: string): Details {
  return readWhole(bytes, what, c => new RawJson(javaToJson(readJavaObject(c))));
}
/** A code from a fixed list. */
export function readCode<T extends string>(c: Cursor, names: readonly T[], what: string, value = c.i32()): T {
  const name = names[value];
  return name === undefined ? c.fail(`${what} ${value} is not known`) : name;
}
