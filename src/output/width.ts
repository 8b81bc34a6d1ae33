/** Columns that a text takes on a terminal: CJK and emoji count two, combining marks none. */
import stringWidth from 'string-width';

/** `text` holds no control characters. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}
