/**
 * Enum constants.
 *
 *   snapshot   version 3: utf enum class · i32 n · n × utf constant, in the order of the wire (not of the class after it changed)
 *   value      i32 index into that list
 *
 * Flink: org.apache.flink.api.common.typeutils.base.EnumSerializer (1.8–2.3); legacy EnumSerializerConfigSnapshot (1.4–1.7,
 * version 2) has the same body.
 */
import { BytesColumn } from '../io/column.js';
import type { Cursor } from '../io/cursor.js';
import { VARCHAR } from '../types.js';
import { type Codec, codecOf } from './codec.js';
import { defineSerializer, type SnapshotBody, simpleName } from './snapshot.js';

/** i32 index into `constants`. */
export function enumCodec(constants: readonly string[]): Codec {
  const utf8 = constants.map(name => Buffer.from(name, 'utf8'));
  const index = (c: Cursor): number => {
    const at = c.position;
    const i = c.i32();
    if (i < 0 || i >= constants.length) c.fail(`enum constant ${i} of ${constants.length}`, at);
    return i;
  };
  return codecOf({
    type: VARCHAR,
    length: 4,
    read: c => constants[index(c)],
    skip: c => void index(c),
    append(c, out) {
      const i = index(c);
      if (out instanceof BytesColumn) out.pushBytes(utf8[i], 0, utf8[i].length);
      else out.push(constants[i]);
    },
  });
}

/** Reads n × utf name. */
export function readNames(c: Cursor, what: string): string[] {
  const n = c.count(`number of ${what}`, 2);
  const names: string[] = [];
  for (let i = 0; i < n; i++) names.push(c.utf(what));
  return names;
}

const BASE = 'org.apache.flink.api.common.typeutils.base.';
export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [`${BASE}EnumSerializer$EnumSerializerSnapshot`, `${BASE}EnumSerializer$EnumSerializerConfigSnapshot`],
    read(c, version, reader): SnapshotBody {
      if (version !== (reader.snapshotClass.endsWith('ConfigSnapshot') ? 2 : 3)) reader.unknownVersion(c);
      const typeClass = c.utf('enum class');
      const constants = readNames(c, 'enum constants');
      return {
        serializer: 'EnumSerializer',
        text: `Enum(${simpleName(typeClass)}: ${constants.join(', ')})`,
        details: { typeClass, constants },
        codec: () => enumCodec(constants),
      };
    },
  }),
];
