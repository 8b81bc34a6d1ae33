/**
 * Classes whose fields together are one value: what FieldSerializer writes of them, read as that value.
 *
 *   java.time, Optional (Kryo 2)   as their toString; Optional its value        URL, File, Path      text
 *   AtomicInteger …                the number                                   Range                its elements
 *   scala.math, Some, Try, Either  number, value, {"success"}, {"left"} …       Flink Either, Row    the same, {"f0": …}
 *   Avro generic records           fields by the schema, which stands in front as text
 *   Joda                           points in time; local dates and times
 */
import { StateQueryError } from '../../errors.js';
import { durationText } from '../../io/json.js';
import { BOOLEAN, DATE, INTEGER, TIME, TIMESTAMP, TIMESTAMPTZ, Timestamp, type Value } from '../../types.js';
import { parseAvroSchema } from '../avro/schema.js';
import type { KryoReader } from './reader.js';
import { timeMeaning } from './times.js';
import { type KryoNode, type KryoObject, NULL_NODE, scalar, text } from './tree.js';

export type Fields = ReadonlyMap<string, KryoNode>;
/** @param whole the object with its fields: what it stays when its fields make no sense */
export type Meaning = (r: KryoReader, fields: Fields, whole: KryoObject) => KryoNode;

/** A range of more elements stays an object: a few bytes could make an endless list. */
const MAX_RANGE = 100_000;
const MS_PER_DAY = 86_400_000n;

const fieldValue = (f: Fields, name: string): Value | undefined => {
  const node = f.get(name);
  return node?.kind === 'scalar' ? node.value : undefined;
};
const bigint = (f: Fields, name: string): bigint => {
  const v = fieldValue(f, name);
  return typeof v === 'bigint' ? v : 0n;
};
const string = (f: Fields, name: string): string | undefined => {
  const v = fieldValue(f, name);
  return typeof v === 'string' ? v : undefined;
};
const field =
  (name: string): Meaning =>
  (_r, f) =>
    f.get(name) ?? NULL_NODE;
const choice =
  (name: string, of = 'value'): Meaning =>
  (_r, f) => ({ kind: 'object', className: '', fields: [{ name, value: f.get(of) ?? NULL_NODE }] });

const without =
  (name: string): Meaning =>
  (_r, _f, whole) => ({ ...whole, fields: whole.fields.filter(x => x.name !== name) });

/** URL.toExternalForm */
const url: Meaning = (_r, f) => {
  const authority = string(f, 'authority') ?? '';
  const ref = string(f, 'ref');
  return text(
    `${string(f, 'protocol') ?? ''}:${authority === '' ? '' : `//${authority}`}${string(f, 'file') ?? ''}${ref === undefined ? '' : `#${ref}`}`,
  );
};

const range: Meaning = (_r, f, whole) => {
  const n = fieldValue(f, 'scala$collection$immutable$Range$$numRangeElements');
  const [start, step] = [fieldValue(f, 'start'), fieldValue(f, 'step')];
  if (typeof n !== 'number' || typeof start !== 'number' || typeof step !== 'number' || n < 0 || n > MAX_RANGE) return whole;
  return { kind: 'list', className: whole.className, items: Array.from({ length: n }, (_, i) => scalar(INTEGER, start + i * step)) };
};

const row: Meaning = (_r, f, whole) => {
  const positions = f.get('fieldByPosition');
  const names = f.get('fieldByName');
  const kind = { INSERT: '', UPDATE_BEFORE: '-U', UPDATE_AFTER: '+U', DELETE: '-D' }[string(f, 'kind') ?? ''] ?? '';
  const fields: KryoObject['fields'] = kind === '' ? [] : [{ name: '$kind', value: text(kind) }];
  if (names?.kind === 'map')
    for (const e of names.entries) {
      const name = e.key.kind === 'scalar' && typeof e.key.value === 'string' ? e.key.value : undefined;
      if (name === undefined || e.value === undefined) return whole;
      fields.push({ name, value: e.value });
    }
  else if (positions?.kind === 'list') fields.push(...positions.items.map((value, i) => ({ name: `f${i}`, value })));
  else return whole;
  return { kind: 'object', className: '', fields };
};

const avroRecord: Meaning = (_r, f, whole) => {
  const schema = string(f, 'schema');
  const values = f.get('values');
  if (values?.kind !== 'list') return whole;
  const names = schemaNames(f.get('schema'));
  if (names?.length === values.items.length)
    return { kind: 'object', className: '', fields: names.map((name, i) => ({ name, value: values.items[i] })) };
  if (schema === undefined) return whole;
  try {
    const record = parseAvroSchema(schema);
    if (record.kind !== 'record' || record.fields.length !== values.items.length) return whole;
    return { kind: 'object', className: '', fields: record.fields.map((x, i) => ({ name: x.name, value: values.items[i] })) };
  } catch (error) {
    if (error instanceof StateQueryError) return whole;
    throw error;
  }
};

/** Names of the fields of a Schema that was written by its own fields: `fields`, a list of `{name, position, schema …}`. */
function schemaNames(schema: KryoNode | undefined): string[] | undefined {
  const fields = schema?.kind === 'object' ? schema.fields.find(x => x.name === 'fields')?.value : undefined;
  if (fields?.kind !== 'list') return undefined;
  const names: string[] = [];
  for (const item of fields.items) {
    const name = item.kind === 'object' ? item.fields.find(x => x.name === 'name')?.value : undefined;
    if (name?.kind !== 'scalar' || typeof name.value !== 'string') return undefined;
    names.push(name.value);
  }
  return names;
}

const utf8: Meaning = (_r, f, whole) => {
  const bytes = fieldValue(f, 'bytes');
  const length = fieldValue(f, 'length');
  if (!(bytes instanceof Uint8Array) || typeof length !== 'number' || length < 0 || length > bytes.length) return whole;
  return text(Buffer.from(bytes.subarray(0, length)).toString('utf8'));
};

const floorDay = (ms: bigint): bigint => (ms - (((ms % MS_PER_DAY) + MS_PER_DAY) % MS_PER_DAY)) / MS_PER_DAY;
const instantOf =
  (name: string): Meaning =>
  (_r, f) =>
    scalar(TIMESTAMPTZ, Timestamp.ofMillis(bigint(f, name)));

const MEANINGS: Readonly<Record<string, Meaning>> = {
  'java.net.URL': url,
  'java.io.File': field('path'),
  'java.util.concurrent.atomic.AtomicInteger': field('value'),
  'java.util.concurrent.atomic.AtomicLong': field('value'),
  'java.util.concurrent.atomic.AtomicReference': field('value'),
  'java.util.concurrent.atomic.AtomicBoolean': (_r, f) => scalar(BOOLEAN, fieldValue(f, 'value') !== 0),
  'java.util.concurrent.atomic.AtomicIntegerArray': field('array'),
  'java.util.concurrent.atomic.AtomicLongArray': field('array'),
  'scala.collection.immutable.Range': range,
  'scala.collection.immutable.Range$Inclusive': range,
  'scala.collection.convert.Wrappers$SeqWrapper': field('underlying'),
  'scala.collection.convert.Wrappers$MapWrapper': field('scala$collection$convert$Wrappers$MapWrapper$$underlying'),
  'scala.collection.convert.Wrappers$JListWrapper': field('underlying'),
  'scala.collection.convert.Wrappers$JMapWrapper': field('underlying'),
  'scala.math.BigDecimal': field('bigDecimal'),
  'scala.math.BigInt': field('bigInteger'),
  'scala.collection.mutable.StringBuilder': field('underlying'),
  'scala.Some': field('value'),
  'scala.util.Left': choice('left'),
  'scala.util.Right': choice('right'),
  'scala.util.Success': choice('success'),
  'scala.util.Failure': (_r, f) => {
    const thrown = f.get('exception');
    const failure: KryoNode =
      thrown?.kind === 'object'
        ? {
            kind: 'object',
            className: '',
            fields: [{ name: 'class', value: text(thrown.className) }, ...thrown.fields.filter(x => x.name === 'message')],
          }
        : NULL_NODE;
    return { kind: 'object', className: '', fields: [{ name: 'failure', value: failure }] };
  },
  'org.apache.flink.types.Either$Left': choice('left'),
  'org.apache.flink.types.Either$Right': choice('right'),
  'org.apache.flink.types.Row': row,
  'org.apache.flink.core.fs.Path': field('uri'),
  'org.apache.avro.generic.GenericData$Record': avroRecord,
  'org.apache.avro.generic.GenericData$EnumSymbol': field('symbol'),
  'org.apache.avro.generic.GenericData$Fixed': field('bytes'),
  'org.apache.avro.util.Utf8': utf8,
  // a hash that is computed when it is first asked for
  'org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition': without('cachedHash'),
  'org.apache.flink.streaming.connectors.kinesis.model.SequenceNumber': without('cachedHash'),
  'org.joda.time.DateTime': instantOf('iMillis'),
  'org.joda.time.MutableDateTime': instantOf('iMillis'),
  'org.joda.time.Instant': instantOf('iMillis'),
  'org.joda.time.LocalDate': (_r, f) => scalar(DATE, Number(floorDay(bigint(f, 'iLocalMillis')))),
  'org.joda.time.LocalDateTime': (_r, f) => scalar(TIMESTAMP, Timestamp.ofMillis(bigint(f, 'iLocalMillis'))),
  'org.joda.time.LocalTime': (_r, f) => {
    const ms = bigint(f, 'iLocalMillis');
    return scalar(TIME, Number(ms - floorDay(ms) * MS_PER_DAY) * 1_000_000);
  },
  'org.joda.time.Duration': (_r, f) => {
    const t = Timestamp.ofMillis(bigint(f, 'iMillis'));
    return text(durationText(t.seconds, t.nanos));
  },
};
for (const name of ['Boolean', 'Byte', 'Short', 'Int', 'Long', 'Float', 'Double', 'Char'])
  (MEANINGS as Record<string, Meaning>)[`org.apache.flink.types.${name}Value`] = field('value');

/** How the fields of a class become a value; undefined: they stay an object. */
export function meaningOf(name: string): Meaning | undefined {
  if (Object.hasOwn(MEANINGS, name)) return MEANINGS[name];
  const time = timeMeaning(name);
  return time === undefined ? undefined : (r, f) => time(r, f);
}
