/**
 * Values without a length in a window: a decoder steps over one, and when it runs out of bytes more are read and it begins anew.
 */
import { CorruptError, UnsupportedError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import type { Window } from '../io/window.js';

/**
 * Lets `read` step over what stands at the window's position. Afterwards the cursor stands behind it; the window has not moved on.
 * @param limit file offset that the bytes end at; infinite: where the window's stream ends
 * @param read steps over the value; a text: it took everything up to the cursor's end, and this is why
 * @returns that text, undefined when the value ended by itself
 * @throws CorruptError with the place in the file
 */
export function stepOver(window: Window, c: Cursor, limit: number, read: (c: Cursor) => string | undefined): string | undefined {
  for (;;) {
    const end = window.base < 0 ? Number.POSITIVE_INFINITY : limit - window.base;
    c.reset(window.bytes, window.position, Math.min(window.end, end), Math.max(0, window.base));
    let short: CorruptError | undefined;
    let swallowed: string | undefined;
    try {
      swallowed = read(c);
      if (swallowed === undefined) return undefined;
    } catch (error) {
      if (error instanceof UnsupportedError) {
        c.position = c.end;
        swallowed = error.message;
      } else if (error instanceof CorruptError) short = error;
      else throw error;
    }
    if (end > window.end && window.more()) continue;
    if (short === undefined) return swallowed;
    if (window.base >= 0) throw short;
    throw window.error(short.message, short.offset);
  }
}
