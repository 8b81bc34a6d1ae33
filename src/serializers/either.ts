/**
 * Wrappers of one or two values in flink-core.
 *
 *   Either     composite, outer version 1, nested [left, right]      bool isLeft · value
 *   Nullable   composite, outer version 2: i32 padding, nested [x]   bool isNull · null: `padding` zero bytes | value
 *   SingleThreadAccessChecking   composite, outer version 1, nested [x]      as x
 *
 * A padded Nullable has the length 1 + padding, so that keys keep their layout.
 * Flink: EitherSerializer (JavaEitherSerializerSnapshot, EitherSerializerSnapshot), NullableSerializer in
 * org.apache.flink.api.java.typeutils.runtime, SingleThreadAccessCheckingTypeSerializer (1.8–2.3).
 */
import { type Column, StructColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { Struct, struct, type Value } from '../types.js';
import { boundsOf, type Codec, codecOf } from './codec.js';
import { obstacles, type Part } from './composite.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from './snapshot.js';

const RUNTIME = 'org.apache.flink.api.java.typeutils.runtime.';

/**
 * One of two values, told by a leading byte; STRUCT of both names, of which one is NULL.
 * @param first whether the leading byte says the first one
 */
export function choiceCodec(first: Part, second: Part, isFirst: (c: Cursor) => boolean): Codec {
  const parts = [first, second];
  return {
    type: { ...struct([first.name, first.codec.type], [second.name, second.codec.type]), choice: true },
    length: -1,
    ...obstaclesOfChoice(parts),
    read(c) {
      const left = isFirst(c);
      const value = (left ? first : second).codec.read(c);
      return new Struct(left ? [value, null] : [null, value], undefined, left ? 0 : 1);
    },
    skip(c) {
      (isFirst(c) ? first : second).codec.skip(c);
    },
    append(c, out: Column) {
      const at = isFirst(c) ? 0 : 1;
      if (out instanceof StructColumn) {
        out.begin();
        parts[at].codec.append(c, out.children[at]);
        out.children[1 - at].pushNull();
      } else {
        const value = parts[at].codec.read(c);
        out.push(new Struct(at === 0 ? [value, null] : [null, value], undefined, at));
      }
    },
  };
}

function obstaclesOfChoice(parts: readonly Part[]): { opaque?: string; unbounded?: boolean; mostlyBounded?: boolean } {
  // neither hides the other: each is the last part when it is there
  return {
    ...reasonOf(parts[0]),
    ...reasonOf(parts[1]),
    ...boundsOf(parts.map(p => p.codec)),
    ...(parts.every(p => p.codec.opaque !== undefined) ? { opaque: parts.map(p => `${p.name}: ${p.codec.opaque}`).join(' · ') } : {}),
  };
}

function reasonOf(part: Part): { opaque?: string } {
  const { opaque } = obstacles([part]);
  return opaque === undefined ? {} : { opaque };
}

/** The value or NULL after a boolean. `nullIs`: the byte that says null; `padding`: bytes written for a null. */
export function optionalCodec(inner: Codec, nullIs: boolean, padding = 0): Codec {
  const isNull = (c: Cursor): boolean => {
    if (c.bool() !== nullIs) return false;
    c.take(padding, 'padding');
    return true;
  };
  return codecOf({
    type: inner.type,
    length: padding > 0 ? 1 + padding : -1,
    ...(inner.opaque === undefined ? {} : { opaque: inner.opaque }),
    ...boundsOf([inner]),
    read: (c): Value => (isNull(c) ? null : inner.read(c)),
    skip(c) {
      if (!isNull(c)) inner.skip(c);
    },
    append(c, out) {
      if (isNull(c)) out.pushNull();
      else inner.append(c, out);
    },
  });
}

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [
      `${RUNTIME}JavaEitherSerializerSnapshot`,
      `${RUNTIME}EitherSerializerSnapshot`,
      `${RUNTIME}EitherSerializerConfigSnapshot`,
    ],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      const [left, right] = nested;
      return {
        serializer: 'EitherSerializer',
        text: `Either(${left.text}, ${right.text})`,
        children: named(['left', 'right'], nested),
        codec: context =>
          choiceCodec({ name: 'left', codec: left.codec(context) }, { name: 'right', codec: right.codec(context) }, x => x.bool()),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [
      `${RUNTIME}NullableSerializer$NullableSerializerSnapshot`,
      `${RUNTIME}NullableSerializer$NullableSerializerConfigSnapshot`,
    ],
    read(c, _version, reader): SnapshotBody {
      const { outer, nested } = readComposite(
        c,
        reader,
        () => {
          if (reader.legacy) return 0;
          const at = c.position;
          const padding = c.i32();
          if (padding < 0) c.fail(`padding of ${padding} bytes`, at);
          return padding;
        },
        1,
      );
      const [inner] = nested;
      return {
        serializer: 'NullableSerializer',
        text: `Nullable(${inner.text})`,
        children: named(['value'], nested),
        details: { padding: outer },
        codec: context => optionalCodec(inner.codec(context), true, outer),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [
      'org.apache.flink.api.common.typeutils.SingleThreadAccessCheckingTypeSerializer$SingleThreadAccessCheckingTypeSerializerSnapshot',
    ],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      const [inner] = nested;
      return { ...inner, children: named(['value'], nested), codec: context => inner.codec(context) };
    },
  }),
];
