/**
 * Numbers as the statement spells them. The engine's parser keeps integers up to 128 bits and decimals up to 38 digits; longer ones
 * become a double, as does `1e3`, and the sign of `-0.0` is lost. The tree says where each constant stands: its digits are read there
 * again and noted on the node (`spelled`), where `literalOf` finds them.
 */
import { type ConstantExpr, eachNode, locationOf, numberText, type Statement } from './ast.js';

/** digits of a number, with `_` between them */
const DIGITS = '[0-9]+(?:_[0-9]+)*';
const NUMBER = new RegExp(`^(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?${DIGITS})?`);
/** what may stand between a sign, where the constant is said to be, and its digits */
const BEFORE = /^(?:[\s(+-]|--[^\n\r]*|\/\*[\s\S]*?\*\/)/;

/** Notes on the constants of a tree how they are spelled in the text that it was made of, where the tree does not say it. */
export function noteSpelledNumbers(tree: Statement, text: string): void {
  let bytes: Buffer | undefined;
  eachNode(tree, node => {
    if (node.class !== 'CONSTANT') return;
    const expr = node as unknown as ConstantExpr;
    if (expr.value.is_null || !isInexact(expr)) return;
    const at = locationOf(expr);
    bytes ??= Buffer.from(text, 'utf8');
    const spelled = at === undefined ? undefined : numberAt(bytes.subarray(at).toString('utf8'));
    if (spelled !== undefined && sameNumber(spelled, expr)) expr.spelled = spelled;
    // the engine does not read back its own infinity
    if (!Number.isFinite(Number(numberText(expr.value.value))))
      expr.value.value = numberText(expr.value.value).startsWith('-') ? -Number.MAX_VALUE : Number.MAX_VALUE;
  });
}

function isInexact({ value }: ConstantExpr): boolean {
  if (value.type.id === 'DOUBLE') return true;
  return value.type.id === 'DECIMAL' && isZero(value.value);
}

/** Wide decimals come in two halves. */
const isZero = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).every(isZero) : Number(numberText(value)) === 0;

/** The number that begins a text, after its signs. */
function numberAt(text: string): string | undefined {
  let rest = text;
  let negative = false;
  for (let before = BEFORE.exec(rest); before !== null; before = BEFORE.exec(rest)) {
    if (before[0] === '-') negative = !negative;
    rest = rest.slice(before[0].length);
  }
  const number = NUMBER.exec(rest)?.[0].replaceAll('_', '');
  return number === undefined ? undefined : `${negative ? '-' : ''}${number}`;
}

/** Whether the digits found are those of the constant. */
function sameNumber(spelled: string, { value }: ConstantExpr): boolean {
  const number = Number(spelled);
  const known = value.type.id === 'DECIMAL' ? 0 : Number(numberText(value.value).replace(/inf(inity)?/i, 'Infinity'));
  return number === known || Math.abs(number - known) <= Math.abs(known) * 1e-15;
}
