/**
 * Values made of parts that stand back to back: tuples, POJO fields, timers, TTL values, buffer entries …
 *
 *   plain     part · part · …
 *   flagged   bool isNull · [part] · …                     (POJO fields)
 *
 * When a part's own end cannot be known (`unbounded`), it has swallowed what follows it. Then the value is its decoded parts
 * and `$hex` of everything from that part on: `{"f0": 1, "f1": {"$serializer": "…"}, "$hex": "…"}`. A composite with such a
 * part before its last one has JSON as its type; with it in last place, only that field is JSON.
 */
import { type Column, outOfRange, StructColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { INSIDE_JSON, jsonOf, jsonString } from '../io/json.js';
import { JSON_TYPE, JsonText, type SqlType, Struct, type StructExtra, type Value } from '../types.js';
import { boundsOf, type Codec, hidesEnd } from './codec.js';
import { withWire } from './wire.js';

export interface Part {
  readonly name: string;
  readonly codec: Codec;
}

export interface CompositeOptions {
  /** each part has a boolean in front that says whether it is null */
  readonly flagged?: boolean;
  /** TypeSerializer.getLength() of the whole */
  readonly length?: number;
  /** shown in front of the fields of a partly decoded value */
  readonly lead?: readonly StructExtra[];
}

/** STRUCT of the parts; names that differ in case only get `_1`, as everywhere. JSON when there are no parts. */
export function structType(parts: readonly Part[]): SqlType {
  if (parts.length === 0) return JSON_TYPE;
  const names = distinctNames(parts.map(p => p.name));
  return { kind: 'STRUCT', fields: parts.map((p, i) => ({ name: names[i], type: p.codec.type })) };
}

/** Makes names distinct without regard to case: the second `a` is `a_1`. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set(names.map(n => n.toLowerCase()));
  const seen = new Set<string>();
  return names.map(name => {
    let given = name;
    for (let i = 1; seen.has(given.toLowerCase()); i++) {
      const next = `${name}_${i}`;
      if (!taken.has(next.toLowerCase())) given = next;
    }
    seen.add(given.toLowerCase());
    return given;
  });
}

/** Why and how far values made of these parts cannot be decoded: `opaque` and `unbounded` of a composite codec. */
export function obstacles(parts: readonly Part[]): { opaque?: string; unbounded?: boolean; mostlyBounded?: boolean } {
  const reasons: string[] = [];
  parts.forEach((p, i) => {
    if (p.codec.opaque === undefined) return;
    const hidden = hidesEnd(p.codec) && i < parts.length - 1 ? '; it hides what follows it' : '';
    reasons.push(`${p.name}: ${p.codec.opaque}${hidden}`);
  });
  return {
    ...(reasons.length === 0 ? {} : { opaque: reasons.join(' · ') }),
    ...boundsOf(parts.map(p => p.codec)),
  };
}

/** true when a part before the last one hides what follows: the whole can only be JSON */
export function hidesParts(parts: readonly Part[]): boolean {
  return parts.slice(0, -1).some(p => hidesEnd(p.codec));
}

/** Parts back to back as one codec. */
export function compositeCodec(parts: readonly Part[], options: CompositeOptions = {}): Codec {
  const { flagged = false, length = -1, lead } = options;
  const fields = structType(parts);
  const jsonOnly = parts.length === 0 || hidesParts(parts);
  const codecs = parts.map(p => p.codec);
  const n = codecs.length;

  const read = (c: Cursor): Value => {
    const values: Value[] = [];
    for (let i = 0; i < n; i++) {
      if (flagged && c.bool()) {
        values.push(null);
        continue;
      }
      const value = codecs[i].read(c);
      if (c.position === c.end && i < n - 1) {
        const partial = partialOf(parts, values, i, value, lead);
        if (partial !== undefined) return partial;
      }
      values.push(value);
    }
    const whole = new Struct(values);
    return jsonOnly ? new JsonText(fields.kind === 'STRUCT' ? jsonOf(fields, whole, INSIDE_JSON) : '{}') : whole;
  };
  const skip = (c: Cursor): void => {
    const start = c.position;
    for (let i = 0; i < n; i++) {
      if (flagged && c.bool()) continue;
      codecs[i].skip(c);
      if (c.position === c.end && i < n - 1) {
        // a part that swallowed the rest, or the bytes end too early: read() tells which
        c.position = start;
        read(c);
        return;
      }
    }
  };
  const append = (c: Cursor, out: Column): void => {
    if (!(out instanceof StructColumn)) {
      out.push(read(c));
      return;
    }
    const { children, wanted } = out;
    const start = c.position;
    out.begin();
    for (let i = 0; i < n; i++) {
      if (flagged && c.bool()) {
        children[i].pushNull();
        continue;
      }
      if (wanted[i]) codecs[i].append(c, children[i]);
      else codecs[i].skip(c);
      if (c.position === c.end && i < n - 1 && codecs[i].unbounded === true) refusePartial(c, start, read, out);
    }
  };
  const codec: Codec = { type: jsonOnly ? JSON_TYPE : fields, length, ...obstacles(parts), read, skip, append };
  return jsonOnly || codec.unbounded === true ? codec : withWire(codec, { kind: 'parts', flagged, parts: codecs });
}

/**
 * In the middle of appending a value from `start`, a part reached the cursor's end.
 * @throws VALUE_OUT_OF_RANGE when it swallowed the parts after it; they may as well take no bytes
 */
export function refusePartial(c: Cursor, start: number, read: (c: Cursor) => Value, out: Column): void {
  c.position = start;
  if (read(c) instanceof JsonText) throw outOfRange(out.type, 'decoded only in part');
}

/**
 * The partial form when `value`, part `at`, swallowed everything up to the end; undefined when it did not.
 * @param before values of the parts before it
 */
export function partialOf(
  parts: readonly Part[],
  before: readonly Value[],
  at: number,
  value: Value,
  lead: readonly StructExtra[] = [],
): JsonText | undefined {
  const swallowed = hoistHex(jsonOf(parts[at].codec.type, value, INSIDE_JSON));
  if (swallowed === undefined) return undefined;
  const members = lead.filter(x => x.lead).map(x => `${jsonString(x.name)}:${x.json}`);
  for (const [i, v] of before.entries()) members.push(`${jsonString(parts[i].name)}:${jsonOf(parts[i].codec.type, v, INSIDE_JSON)}`);
  members.push(`${jsonString(parts[at].name)}:${swallowed.json}`);
  return new JsonText(`{${members.join(',')},"$hex":"${swallowed.hex}"}`);
}

/** Takes the trailing `"$hex":"…"` out of a JSON text that ends in one, to stand further out. */
export function hoistHex(json: string): { json: string; hex: string } | undefined {
  const match = /,?"\$hex":"([0-9a-f]*)"([}\]]*)$/.exec(json);
  return match === null ? undefined : { json: json.slice(0, match.index) + match[2], hex: match[1] };
}

/** Sum of lengths as CompositeSerializer and TimerSerializer count it: -1 if any part's is. */
export function sumOfLengths(codecs: readonly Codec[], more = 0): number {
  return codecs.some(x => x.length < 0) ? -1 : codecs.reduce((sum, x) => sum + x.length, more);
}
