/**
 * Escapes over UTF-8 bytes.
 *
 * What a terminal acts on instead of showing it, and what can turn the order of a line around, is written as JSON would write it:
 *
 *   00–1F, 7F                   C0 and DEL                        `\n` `\r` `\t`, otherwise `\u001b`
 *   C2 80–9F                    U+0080–U+009F, C1
 *   D8 9C                       U+061C Arabic letter mark
 *   E2 80 8E–8F, A8–AE          U+200E, U+200F, U+2028–U+202E     marks, line separators, embeddings, overrides
 *   E2 81 A6–A9                 U+2066–U+2069                     isolates
 */
import type { ByteWriter } from './bytes.js';

const BACKSLASH = 0x5c;
const QUOTE = 0x22;

/** Bytes of the character at `i` when it has to be escaped, otherwise 0. */
function controlLength(bytes: Uint8Array, i: number, end: number): 0 | 1 | 2 | 3 {
  const b = bytes[i];
  if (b < 0x20 || b === 0x7f) return 1;
  if (b < 0xc2) return 0;
  if (b === 0xc2) return i + 1 < end && bytes[i + 1] < 0xa0 ? 2 : 0;
  if (b === 0xd8) return i + 1 < end && bytes[i + 1] === 0x9c ? 2 : 0;
  if (b !== 0xe2 || i + 2 >= end) return 0;
  const c = bytes[i + 1];
  const d = bytes[i + 2];
  if (c === 0x80) return d === 0x8e || d === 0x8f || (d >= 0xa8 && d <= 0xae) ? 3 : 0;
  return c === 0x81 && d >= 0xa6 && d <= 0xa9 ? 3 : 0;
}

/** true when every byte is a printable ASCII character: its width is its length and nothing has to be escaped. */
export function isPlainAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const b = bytes[i];
    if (b < 0x20 || b > 0x7e) return false;
  }
  return true;
}

/** Copies text with control and bidi characters escaped. `keep`: line ends and tabs stay (a whole row of csv or tsv). */
export function escapeControls(bytes: Uint8Array, start: number, end: number, out: ByteWriter, keep = false): void {
  let from = start;
  for (let i = start; i < end; ) {
    const n = controlLength(bytes, i, end);
    if (n === 0 || (keep && (bytes[i] === 0x0a || bytes[i] === 0x09))) {
      i++;
      continue;
    }
    out.copy(bytes, from, i);
    writeEscape(bytes, i, n, out);
    i += n;
    from = i;
  }
  out.copy(bytes, from, end);
}

/** The same for a short text. */
export function escapeText(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, c => {
    if (c === '\n') return '\\n';
    if (c === '\r') return '\\r';
    return c === '\t' ? '\\t' : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

const SHORT: Readonly<Record<number, string>> = { 10: '\\n', 13: '\\r', 9: '\\t' };

function writeEscape(bytes: Uint8Array, i: number, n: 1 | 2 | 3, out: ByteWriter): void {
  const b = bytes[i];
  const second = bytes[i + 1] & 0x3f;
  const code = n === 1 ? b : n === 2 ? ((b & 0x1f) << 6) | second : ((b & 0xf) << 12) | (second << 6) | (bytes[i + 2] & 0x3f);
  out.ascii(SHORT[code] ?? `\\u${code.toString(16).padStart(4, '0')}`);
}

/** UTF-8 text as a JSON string literal. */
export function writeJsonString(bytes: Uint8Array, start: number, end: number, out: ByteWriter): void {
  out.reserve((end - start) * 2 + 2);
  const target = out.bytes;
  let at = out.length;
  target[at++] = QUOTE;
  let i = start;
  for (; i < end; i++) {
    const b = bytes[i];
    if (b < 0x20) break;
    if (b === QUOTE || b === BACKSLASH) target[at++] = BACKSLASH;
    target[at++] = b;
  }
  out.length = at;
  if (i < end) jsonStringRest(bytes, i, end, out);
  out.byte(QUOTE);
}

function jsonStringRest(bytes: Uint8Array, start: number, end: number, out: ByteWriter): void {
  for (let i = start; i < end; i++) {
    const b = bytes[i];
    if (b === 0x08) out.ascii('\\b');
    else if (b === 0x0c) out.ascii('\\f');
    else if (b < 0x20) writeEscape(bytes, i, 1, out);
    else {
      if (b === QUOTE || b === BACKSLASH) out.byte(BACKSLASH);
      out.byte(b);
    }
  }
}

/**
 * Finished JSON text on one line: white space between tokens goes, and what the engine's own functions write beside the standard
 * (`NaN`, `inf`, `-Infinity`) becomes the string that stands for it here. Returns true when it holds an integer beyond ±2^53.
 */
export function writeJsonText(bytes: Uint8Array, start: number, end: number, out: ByteWriter): boolean {
  out.reserve(end - start);
  let big = false;
  for (let i = start; i < end; ) {
    const b = bytes[i];
    if (b === QUOTE) {
      const from = i++;
      while (i < end && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
      i = Math.min(i + 1, end);
      out.copy(bytes, from, i);
    } else if (b <= 0x20) i++;
    else if (b === 0x2d || (b >= 0x30 && b <= 0x39) || isLetter(b)) {
      const from = i++;
      while (i < end && isWord(bytes[i])) i++;
      if (writeToken(bytes, from, i, out)) big = true;
    } else {
      out.byte(b);
      i++;
    }
  }
  return big;
}

function isLetter(b: number): boolean {
  return (b >= 0x61 && b <= 0x7a) || (b >= 0x41 && b <= 0x5a);
}

/** Bytes of numbers and words: letters, digits, `+`, `-`, `.` */
function isWord(b: number): boolean {
  return isLetter(b) || (b >= 0x30 && b <= 0x39) || b === 0x2b || b === 0x2d || b === 0x2e;
}

const NOT_FINITE: Readonly<Record<string, string>> = {
  nan: '"NaN"',
  inf: '"Infinity"',
  infinity: '"Infinity"',
  '-inf': '"-Infinity"',
  '-infinity': '"-Infinity"',
};

function writeToken(bytes: Uint8Array, start: number, end: number, out: ByteWriter): boolean {
  const first = bytes[start] === 0x2d ? bytes[start + 1] : bytes[start];
  if (isLetter(first)) {
    const word = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
    out.ascii(NOT_FINITE[word.toLowerCase()] ?? word);
    return false;
  }
  out.copy(bytes, start, end);
  if (end - start < 16) return false;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
  if (!/^-?\d+$/.test(text)) return false;
  const n = BigInt(text);
  return n > 9007199254740992n || n < -9007199254740992n;
}
