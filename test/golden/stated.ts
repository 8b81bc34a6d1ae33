/**
 * Stated contents against rows: `fixture.json` (or `expected.json`) says what a job put into its state, every scalar as text;
 * a row says it as JSON. The stated side decides the shape:
 *
 *   scalar   text; numbers compare as numbers, times without trailing zeros and zone
 *   object   POJO, row with names: field order means nothing; tuple: f0…
 *   list     array, set (sorted), row without names, or `[{key, value}]` for a map
 *
 *   {"$row_kind", "row"}            a row whose kind is not +I
 *   {"$ttl_last_access", "value"}   a value with the time of its last access, which the tables have in a column of its own
 *   {"$variant_json"}               a VARIANT, as JSON text
 *   {"$placeholder"}                a view inside an accumulator: NULL
 */

/** JSON with numbers as their text, so that nothing is rounded. */
export type Json = null | boolean | string | { readonly number: string } | readonly Json[] | { readonly [key: string]: Json };

const SPACE = /\s*/y;
const WORD = /true|false|null|-?[0-9][0-9.eE+-]*/y;

/** Parses JSON text, keeping numbers exact. */
export function parseExact(text: string): Json {
  let p = 0;
  const space = () => {
    SPACE.lastIndex = p;
    SPACE.exec(text);
    p = SPACE.lastIndex;
  };
  const value = (): Json => {
    space();
    const c = text[p];
    if (c === '{') {
      const out: Record<string, Json> = {};
      p++;
      space();
      while (text[p] !== '}') {
        const key = value() as string;
        space();
        p++; // :
        out[key] = value();
        space();
        if (text[p] === ',') p++;
        space();
      }
      p++;
      return out;
    }
    if (c === '[') {
      const out: Json[] = [];
      p++;
      space();
      while (text[p] !== ']') {
        out.push(value());
        space();
        if (text[p] === ',') p++;
        space();
      }
      p++;
      return out;
    }
    if (c === '"') {
      const start = p++;
      while (text[p] !== '"') p += text[p] === '\\' ? 2 : 1;
      p++;
      return JSON.parse(text.slice(start, p)) as string;
    }
    WORD.lastIndex = p;
    const word = WORD.exec(text)?.[0];
    if (word === undefined) throw new Error(`not JSON at ${p}: ${text.slice(p, p + 20)}`);
    p += word.length;
    return word === 'null' ? null : word === 'true' ? true : word === 'false' ? false : { number: word };
  };
  return value();
}

type JsonObject = { readonly [key: string]: Json };
const isNumber = (v: Json): v is { readonly number: string } =>
  typeof v === 'object' &&
  v !== null &&
  !Array.isArray(v) &&
  Object.keys(v).length === 1 &&
  typeof (v as Record<string, Json>)['number'] === 'string';
const isList = (v: Json): v is readonly Json[] => Array.isArray(v);
const isObject = (v: Json): v is JsonObject => typeof v === 'object' && v !== null && !Array.isArray(v) && !isNumber(v);

const STAMP = /^([+-]?\d{4,})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.](\d+))?)?(Z|\+00(?::?00)?)?$/;
const CLOCK = /^(\d\d):(\d\d)(?::(\d\d)(?:[.](\d+))?)?$/;

/** A time in one spelling; undefined when it is none. */
function clock(s: string): string | undefined {
  const fraction = (f: string | undefined) => (f === undefined || /^0*$/.test(f) ? '' : `.${f.replace(/0+$/, '')}`);
  const m = STAMP.exec(s);
  if (m !== null) return `${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${m[6] ?? '00'}${fraction(m[7])}`;
  const t = CLOCK.exec(s);
  return t === null ? undefined : `${t[1]}:${t[2]}:${t[3] ?? '00'}${fraction(t[4])}`;
}

/** A decimal number in one spelling: sign, digits without leading and trailing zeros, exponent. */
function canonicalNumber(s: string): string | undefined {
  const m = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(s);
  if (m === null || (m[2] === '' && (m[3] ?? '') === '')) return undefined;
  const digits = m[2] + (m[3] ?? '');
  const stripped = digits.replace(/^0+/, '');
  if (stripped === '') return '0';
  const tail = /0*$/.exec(stripped)?.[0].length ?? 0;
  const exponent = Number(m[4] ?? 0) - (m[3]?.length ?? 0) + tail;
  return `${m[1] === '-' ? '-' : ''}${stripped.slice(0, stripped.length - tail)}e${exponent}`;
}

/** First and last second of SQL timestamps in milliseconds: beyond them a window's bound is ±infinity. */
const FIRST = -9223372022400000n;
const LAST = 9223371331200000n;

/** A window's bound in milliseconds, given as a number or ISO 8601. */
function bound(s: string): string | undefined {
  const named = /^([+-]?)infinity$/i.exec(s);
  if (named !== null) return named[1] === '-' ? '-infinity' : 'infinity';
  if (/^[+-]?\d+$/.test(s)) {
    const ms = BigInt(s);
    return ms > LAST ? 'infinity' : ms < FIRST ? '-infinity' : String(ms);
  }
  const m = STAMP.exec(s);
  if (m === null) return undefined;
  const ms = Date.UTC(Number(m[1]), Number(m[2]) - 1, Number(m[3]), Number(m[4]), Number(m[5]), Number(m[6] ?? 0));
  return String(BigInt(ms) + BigInt(`${m[7] ?? ''}000`.slice(0, 3)));
}

const digitsOf = (canonical: string): number => canonical.replace(/^-|e.*$/g, '').length;

function scalarEqual(want: string, got: Json): boolean {
  if (typeof got === 'boolean') return want === String(got);
  const text = isNumber(got) ? got.number : typeof got === 'string' ? got : undefined;
  if (text === undefined) return false;
  if (want === text) return true;
  const a = clock(want);
  if (a !== undefined || clock(text) !== undefined) return a === clock(text);
  const n = canonicalNumber(want);
  const m = canonicalNumber(text);
  if (n === undefined || m === undefined) return false;
  const fraction = /[.eE]/.test(want);
  // the scale of a BigDecimal is not compared
  if (!isNumber(got)) return fraction && m === n;
  if (m === n) return true;
  // Java prints floats and doubles with other digits than the shortest ones
  if (!fraction || Math.max(digitsOf(n), digitsOf(m)) > 17) return false;
  return Math.min(digitsOf(n), digitsOf(m)) <= 9 ? Math.fround(Number(want)) === Math.fround(Number(text)) : Number(want) === Number(text);
}

/** Fields without remarks on the class or the kind of row. */
const fields = (o: JsonObject): [string, Json][] => Object.entries(o).filter(([k]) => k !== '$class' && k !== '$kind');
const isPairs = (v: Json): v is readonly { readonly key: Json; readonly value: Json }[] =>
  isList(v) && v.length > 0 && v.every(x => isObject(x) && Object.keys(x).sort().join() === 'key,value');

function bagEqual(want: readonly Json[], got: readonly Json[], bag: boolean): boolean {
  const rest = [...got];
  return (
    want.length === got.length &&
    want.every(w => {
      const i = rest.findIndex(g => says(w, g, bag));
      if (i >= 0) rest.splice(i, 1);
      return i >= 0;
    })
  );
}

/** What is stated with a mark, without it; undefined when there is none. */
function unmarked(want: JsonObject): Json | undefined {
  if ('$row_kind' in want && 'row' in want) return want['row'];
  if ('$ttl_last_access' in want) return want['value'];
  if (typeof want['$variant_json'] === 'string') return parseExact(want['$variant_json']);
  return undefined;
}

/** Does the row's `got` say what was stated? With `bag`, the order of lists means nothing. */
export function says(want: Json, got: Json, bag = false): boolean {
  if (want !== null && isObject(want)) {
    const inner = unmarked(want);
    if (inner !== undefined) return says(inner, got, bag);
    if ('$placeholder' in want) return got === null;
    return got !== null && isObject(got) && objectSays(want, got, bag);
  }
  if (isList(want)) return listSays(want, got, bag);
  if (want === null || got === null) return want === got;
  if (isObject(got)) {
    const [only, ...others] = fields(got);
    return only !== undefined && others.length === 0 && says(want, only[1], bag);
  }
  return scalarEqual(isNumber(want) ? want.number : String(want), got);
}

function objectSays(want: JsonObject, got: JsonObject, bag: boolean): boolean {
  const w = fields(want);
  const g = fields(got);
  if (w.length !== g.length) return false;
  const byName = w.every(([k]) => k in got);
  if (!byName && !g.every(([k]) => /^f\d+$/.test(k))) return false;
  const isWindow = byName && w.length === 2 && typeof want['start'] === 'string' && typeof want['end'] === 'string';
  return w.every(([k, v], i) => {
    const other = byName ? got[k] : g[i][1];
    if (!isWindow) return says(v, other, bag);
    const at = bound(v as string);
    return at !== undefined && other !== null && at === bound(isNumber(other) ? other.number : String(other));
  });
}

function listSays(want: readonly Json[], got: Json, bag: boolean): boolean {
  if (got === null) return false;
  // an object is a map with simple keys, or a row without names
  const pairs = isPairs(want) && isObject(got) ? Object.entries(got).map(([key, value]) => ({ key, value })) : got;
  if ((isPairs(want) && isPairs(pairs)) || (bag && isList(pairs))) return bagEqual(want, pairs as readonly Json[], bag);
  if (want.length === 0 && isObject(pairs)) return fields(pairs).length === 0;
  const list = isList(pairs) ? pairs : isObject(pairs) ? fields(pairs).map(([, v]) => v) : undefined;
  // a row of one column and that column
  if (list === undefined) return want.length === 1 && says(want[0], got, bag);
  return want.length === list.length && want.every((w, i) => says(w, list[i], bag));
}

/** Every scalar of a value in one spelling, sorted: values that `says` finds equal have the same, but for the digits of floats. */
export function leaves(v: Json): string[] {
  const found: string[] = [];
  const visit = (x: Json): void => {
    if (x === null) return;
    if (isObject(x)) {
      const inner = unmarked(x);
      if (inner !== undefined) visit(inner);
      else if (!('$placeholder' in x)) for (const [, y] of fields(x)) visit(y);
    } else if (isList(x)) x.forEach(visit);
    else found.push(leaf(isNumber(x) ? x.number : String(x)));
  };
  visit(v);
  return found.sort();
}
function leaf(text: string): string {
  if (/infinity$/i.test(text) || /^[+-]?\d+$/.test(text) || STAMP.test(text)) return bound(text) ?? text;
  if (canonicalNumber(text) !== undefined) {
    const n = Math.fround(Number(text));
    return Number.isInteger(n) ? String(BigInt(n)) : n.toPrecision(6);
  }
  return clock(text) ?? text;
}

/** Is there an object with this field anywhere in a value? */
export function has(v: Json | undefined, field: string): boolean {
  if (v === undefined || v === null || typeof v !== 'object') return false;
  if (isList(v)) return v.some(x => has(x, field));
  return isObject(v) && (field in v || Object.values(v).some(x => has(x, field)));
}
