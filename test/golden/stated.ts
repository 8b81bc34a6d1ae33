/**
 * Stated contents against rows: `fixture.json` (or `expected.json`) says what a job put into its state, every scalar as text;
 * a row says it as JSON. The stated side decides the shape:
 *
 *   scalar   text; numbers compare as numbers, times without trailing zeros and zone
 *   object   POJO, row with names: field order means nothing; tuple: f0…
 *   list     array, set (sorted), row without names, or `[{key, value}]` for a map
 */

/** JSON with numbers as their text, so that nothing is rounded. */
export type Json = null | boolean | string | { readonly number: string } | readonly Json[] | { readonly [key: string]: Json };

/** Parses JSON text, keeping numbers exact. */
export function parseExact(text: string): Json {
  let p = 0;
  const space = () => {
    while (/\s/.test(text[p] ?? '')) p++;
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
    const word = /^(true|false|null|-?[0-9.eE+-]+)/.exec(text.slice(p, p + 400))?.[0];
    if (word === undefined) throw new Error(`not JSON at ${p}: ${text.slice(p, p + 20)}`);
    p += word.length;
    return word === 'null' ? null : word === 'true' ? true : word === 'false' ? false : { number: word };
  };
  return value();
}

const isNumber = (v: Json): v is { readonly number: string } =>
  typeof v === 'object' &&
  v !== null &&
  !Array.isArray(v) &&
  Object.keys(v).length === 1 &&
  typeof (v as Record<string, Json>)['number'] === 'string';
const isObject = (v: Json): v is { readonly [key: string]: Json } =>
  typeof v === 'object' && v !== null && !Array.isArray(v) && !isNumber(v);

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

function epochMillis(s: string): bigint | undefined {
  if (/^[+-]?\d+$/.test(s)) return BigInt(s);
  const m = STAMP.exec(s);
  if (m === null) return undefined;
  const ms = Date.UTC(Number(m[1]), Number(m[2]) - 1, Number(m[3]), Number(m[4]), Number(m[5]), Number(m[6] ?? 0));
  return BigInt(ms) + BigInt(`${m[7] ?? ''}000`.slice(0, 3));
}

function scalarEqual(want: string, got: Json): boolean {
  if (typeof got === 'boolean') return want === String(got);
  const text = isNumber(got) ? got.number : typeof got === 'string' ? got : undefined;
  if (text === undefined) return false;
  if (want === text) return true;
  const a = clock(want);
  if (a !== undefined || clock(text) !== undefined) return a === clock(text);
  const n = canonicalNumber(want);
  if (n === undefined) return false;
  if (!isNumber(got)) return /[.eE]/.test(want) && canonicalNumber(text) === n;
  if (canonicalNumber(text) === n) return true;
  // Java prints floats and doubles with other digits than the shortest ones
  return /[.eE]/.test(want) && (Number(want) === Number(text) || Math.fround(Number(want)) === Math.fround(Number(text)));
}

const without = (o: { readonly [key: string]: Json }): [string, Json][] =>
  Object.entries(o).filter(([k]) => k !== '$class' && k !== '$kind');
const isPairs = (v: Json): v is readonly { readonly key: Json; readonly value: Json }[] =>
  Array.isArray(v) && v.length > 0 && v.every(x => isObject(x) && Object.keys(x).sort().join() === 'key,value');

function bagEqual(want: readonly Json[], got: readonly Json[], equal: (a: Json, b: Json) => boolean): boolean {
  const rest = [...got];
  return (
    want.length === got.length &&
    want.every(w => {
      const i = rest.findIndex(g => equal(w, g));
      if (i >= 0) rest.splice(i, 1);
      return i >= 0;
    })
  );
}

/** Does the row's `got` say what was stated? */
export function says(want: Json, got: Json): boolean {
  if (want === null || got === null) return want === got || (want !== null && isObject(want) && '$placeholder' in want);
  if (Array.isArray(want)) {
    const pairs: Json = isPairs(want) && isObject(got) ? Object.entries(got).map(([key, value]) => ({ key, value })) : got;
    if (isPairs(want) && isPairs(pairs)) return bagEqual(want, pairs, says);
    if (want.length === 0 && isObject(got)) return without(got).length === 0;
    const list = Array.isArray(pairs) ? pairs : isObject(pairs) ? without(pairs).map(([, v]) => v) : undefined;
    return list !== undefined && list.length === want.length && want.every((w, i) => says(w, list[i]));
  }
  if (isObject(want)) {
    if ('$row_kind' in want) return says(want['row'], got);
    if (!isObject(got)) return false;
    const w = without(want);
    const g = without(got);
    if (w.length !== g.length) return false;
    const isWindow = w.length === 2 && 'start' in want && 'end' in want;
    const byName = w.every(([k]) => k in got);
    const byPlace = !byName && g.every(([k]) => /^f\d+$/.test(k));
    return (
      (byName || byPlace) &&
      w.every(([k, v], i) => {
        const other: Json = byName ? (got as { readonly [key: string]: Json })[k] : g[i][1];
        if (isWindow && typeof v === 'string')
          return epochMillis(v) !== undefined && epochMillis(v) === epochMillis(isNumber(other) ? other.number : String(other));
        return says(v, other);
      })
    );
  }
  return scalarEqual(isNumber(want) ? want.number : String(want), got);
}
