/**
 * org.apache.flink.types.Row.
 *
 *   snapshot   composite; outer version 2: empty, no row kind · 3 (1.11–1.14): empty, with row kind · 4 (1.15): bool with row kind
 *              nested: one a field. Names are never written
 *   value      bit mask of ⌈(kinds + fields) / 8⌉ bytes, most significant bit first:
 *              [kind + 1 · kind + 2 ·] one a field: 1 = null; then the fields that are not null
 *   kind       0 +I · 1 −U · 2 +U · 3 −D
 *
 * Flink: RowSerializer, MaskUtils in org.apache.flink.api.java.typeutils.runtime (1.8–2.3); legacy RowSerializerConfigSnapshot.
 */
import { type Column, StructColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { INSIDE_JSON, jsonOf } from '../io/json.js';
import { JSON_TYPE, JsonText, Struct, type StructExtra, type Value } from '../types.js';
import type { Codec } from './codec.js';
import { hidesParts, obstacles, type Part, partialOf, refusePartial, structType } from './composite.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from './snapshot.js';

const KINDS = ['+I', '-U', '+U', '-D'];
const KIND_EXTRAS: readonly (readonly StructExtra[] | undefined)[] = KINDS.map((kind, i) =>
  i === 0 ? undefined : [{ name: '$kind', json: `"${kind}"`, lead: true }],
);

/** Row with null mask; `$kind` shows in JSON unless it is +I. */
export function rowCodec(parts: readonly Part[], withKind: boolean): Codec {
  const fields = structType(parts);
  const jsonOnly = parts.length === 0 || hidesParts(parts);
  const codecs = parts.map(p => p.codec);
  const n = codecs.length;
  const kindBits = withKind ? 2 : 0;
  const maskBytes = (n + kindBits + 7) >> 3;

  const bit = (bytes: Uint8Array, mask: number, i: number): boolean => (bytes[mask + (i >> 3)] & (0x80 >> (i & 7))) !== 0;
  const kindOf = (bytes: Uint8Array, mask: number): number =>
    withKind ? (bit(bytes, mask, 0) ? 1 : 0) + (bit(bytes, mask, 1) ? 2 : 0) : 0;

  const read = (c: Cursor): Value => {
    const mask = c.take(maskBytes, 'null mask of a row');
    const extras = KIND_EXTRAS[kindOf(c.bytes, mask)];
    const values: Value[] = [];
    for (let i = 0; i < n; i++) {
      if (bit(c.bytes, mask, i + kindBits)) {
        values.push(null);
        continue;
      }
      const value = codecs[i].read(c);
      if (c.position === c.end && i < n - 1) {
        const partial = partialOf(parts, values, i, value, extras);
        if (partial !== undefined) return partial;
      }
      values.push(value);
    }
    const whole = new Struct(values, extras);
    if (!jsonOnly) return whole;
    return new JsonText(jsonOf(fields.kind === 'STRUCT' ? fields : { kind: 'STRUCT', fields: [] }, whole, INSIDE_JSON));
  };
  return {
    type: jsonOnly ? JSON_TYPE : fields,
    length: -1,
    ...obstacles(parts),
    read,
    skip(c) {
      const start = c.position;
      const mask = c.take(maskBytes, 'null mask of a row');
      for (let i = 0; i < n; i++) {
        if (bit(c.bytes, mask, i + kindBits)) continue;
        codecs[i].skip(c);
        if (c.position === c.end && i < n - 1) {
          c.position = start;
          read(c);
          return;
        }
      }
    },
    append(c, out: Column) {
      if (!(out instanceof StructColumn)) {
        out.push(read(c));
        return;
      }
      const start = c.position;
      const mask = c.take(maskBytes, 'null mask of a row');
      const { children } = out;
      out.begin();
      for (let i = 0; i < n; i++) {
        if (bit(c.bytes, mask, i + kindBits)) {
          children[i].pushNull();
          continue;
        }
        codecs[i].append(c, children[i]);
        if (c.position === c.end && i < n - 1 && codecs[i].unbounded === true) refusePartial(c, start, read, out);
      }
    },
  };
}

const RUNTIME = 'org.apache.flink.api.java.typeutils.runtime.';
export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [`${RUNTIME}RowSerializer$RowSerializerSnapshot`, `${RUNTIME}RowSerializer$RowSerializerConfigSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { outer: supportsRowKind, nested } = readComposite(c, reader, (x, outerVersion) => {
        if (outerVersion === 4) return x.bool();
        if (outerVersion > 4) reader.unknownVersion(x);
        return outerVersion === 3 && !reader.legacy;
      });
      const children = named([], nested);
      return {
        serializer: 'RowSerializer',
        text: `Row(${nested.map(f => f.text).join(', ')})`,
        children,
        details: { arity: nested.length, supportsRowKind },
        codec: context =>
          rowCodec(
            children.map(f => ({ name: f.name, codec: f.snapshot.codec(context) })),
            supportsRowKind,
          ),
      };
    },
  }),
];
