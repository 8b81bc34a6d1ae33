/**
 * AvroSerializer: specific, generic and reflected records. The snapshot holds the writer's schema.
 *
 *   version 1   utf schema                       version 2   utf class · utf schema
 *   version 3   StringValue class · StringValue schema (since 1.12: no 64 KiB limit)
 *
 * Flink: flink-avro, org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot (1.20, 2.3); before 1.7
 * AvroSerializer$AvroSchemaSerializerConfigSnapshot: utf schema.
 */
import type { Cursor } from '../../io/cursor.js';
import { defineSerializer, type SerializerDefinition, simpleName } from '../snapshot.js';
import { readFlinkString } from '../string.js';
import { avroCodec } from './codec.js';
import { type AvroSchema, parseAvroSchema } from './schema.js';

const AVRO = defineSerializer({
  snapshotClasses: [
    'org.apache.flink.formats.avro.typeutils.AvroSerializerSnapshot',
    'org.apache.flink.formats.avro.typeutils.AvroSerializer$AvroSchemaSerializerConfigSnapshot',
  ],
  read(c, version, reader) {
    if (version < 1 || version > 3) reader.unknownVersion(c);
    const string = (what: string) => (version === 3 ? stringValue(c, what) : c.utf(what));
    const runtimeClass = version === 1 ? null : string('class of the Avro type');
    const text = string('Avro schema');
    const schema = parseAvroSchema(text);
    return {
      serializer: 'AvroSerializer',
      text: `Avro(${schemaName(schema)})`,
      details: { runtimeClass, schema: text },
      codec: () => avroCodec(schema),
    };
  },
});

function stringValue(c: Cursor, what: string): string {
  return readFlinkString(c) ?? c.fail(`${what} is null`);
}

function schemaName(schema: AvroSchema): string {
  return 'name' in schema ? simpleName(schema.name) : schema.kind;
}

export const SERIALIZERS: readonly SerializerDefinition[] = [AVRO];
