/**
 * Sinks over AsyncSinkWriter: requests that were buffered and not sent.
 *
 *   writer state     i64 −1 · i32 n × (i64 size · request)
 *   kinesis v1       data (size bytes) · i32 len · UTF-8 partition key
 *   firehose v1      data (size bytes)
 *   sqs v1           UTF-8 body (size bytes) · i32 len · UTF-8 id
 *   dynamodb v1      u8 PUT 0, DELETE 1 · item              v2: … · 2 × bool [utf expression] · bool [i32 n × (utf, utf)] · bool [item]
 *     item           i32 n × (utf name · value)
 *     value          u8 0 S utf · 1 N utf · 2 BOOL · 3 NULL · 4 B i32 len, bytes · 5 SS · 6 NS i32 n × utf · 7 BS · 8 L i32 n × value · 9 M item
 *
 * Kinesis and SQS look alike: the operator's name has to tell them apart.
 * flink-connector-base AsyncSinkWriterStateSerializer; KinesisStreamsStateSerializer, KinesisFirehoseStateSerializer,
 * SqsStateSerializer, DynamoDbWriterStateSerializer (flink-connector-aws 4.1–5.1).
 */
import type { Cursor } from '../io/cursor.js';
import { isText, readLongUtf8, readOptional, readUtf8 } from './bytes.js';
import { type Details, type DetailsObject, RawJson } from './details.js';
import type { SinkFormat, SinkItem } from './format.js';

const MAX_DEPTH = 64;

function asyncSink(
  connector: string,
  hint: RegExp,
  versions: readonly [number, number],
  request: (c: Cursor, size: number, version: number) => DetailsObject,
): SinkFormat {
  return {
    connector,
    hint,
    writer: {
      versions,
      read(c, version): SinkItem[] {
        const identifier = c.i64();
        if (identifier !== -1n) c.fail(`buffered requests begin with ${identifier}, expected -1`, 0);
        const n = c.count('number of requests', 8);
        const items: SinkItem[] = [];
        for (let i = 0; i < n; i++) {
          const size = c.i64Number('size of a request');
          if (size < 0) c.fail(`size ${size} of a request`);
          items.push({ state: 'buffered', details: { size_in_bytes: size, ...request(c, size, version) } });
        }
        return items;
      },
    },
    // an empty buffer is anybody's
    weak: (_part, entries) => entries.every(e => e.bytes.length <= 12),
  };
}

/** Data as text when it is printable, otherwise as hex. */
function readData(c: Cursor, size: number, what: string): DetailsObject {
  const bytes = c.slice(size, what);
  const text = Buffer.from(bytes).toString('utf8');
  const printable = isText(text.replace(/[\t\r\n]/g, '')) && Buffer.from(text, 'utf8').equals(bytes);
  return printable ? { [what]: text } : { [`${what}_hex`]: bytes };
}

export const KINESIS_SINK = asyncSink('kinesis', /kinesis|stream/i, [1, 1], (c, size) => ({
  ...readData(c, size, 'data'),
  partition_key: checkText(c, readLongUtf8(c, 'partition key')),
}));
export const FIREHOSE_SINK = asyncSink('firehose', /firehose/i, [1, 1], (c, size) => readData(c, size, 'data'));
export const SQS_SINK = asyncSink('sqs', /sqs|queue/i, [1, 1], (c, size) => ({
  body: readUtf8(c, size, 'message body'),
  id: checkText(c, readLongUtf8(c, 'id')),
}));
export const DYNAMODB_SINK = asyncSink('dynamodb', /dynamo/i, [0, 2], (c, _size, version) => {
  const type = c.u8();
  if (type > 1) c.fail(`write request of type ${type}`);
  const plain = { type: type === 0 ? 'PUT' : 'DELETE', item: readItem(c, 0) };
  if (version < 2) return plain;
  return {
    ...plain,
    update_expression: readOptional(c, () => c.utf('expression')),
    condition_expression: readOptional(c, () => c.utf('expression')),
    expression_attribute_names: readOptional(c, () => readNames(c)),
    expression_attribute_values: readOptional(c, () => readItem(c, 0)),
  };
});

function checkText(c: Cursor, text: string): string {
  if (text === '' || !isText(text)) c.fail('a key that is no text');
  return text;
}

function readNames(c: Cursor): DetailsObject {
  const names: [string, Details][] = [];
  for (let n = c.count('number of names', 4); n > 0; n--) names.push([c.utf('name'), c.utf('attribute')]);
  return Object.fromEntries(names);
}

function readItem(c: Cursor, depth: number): DetailsObject {
  if (depth > MAX_DEPTH) c.fail(`item nested deeper than ${MAX_DEPTH}`);
  const item: [string, Details][] = [];
  for (let n = c.count('number of attributes', 3); n > 0; n--) item.push([c.utf('attribute'), readAttribute(c, depth)]);
  return Object.fromEntries(item);
}

/** An attribute; numbers keep their digits. */
function readAttribute(c: Cursor, depth: number): Details {
  const many = <T extends Details>(least: number, read: () => T): T[] => {
    const values: T[] = [];
    for (let n = c.count('number of values', least); n > 0; n--) values.push(read());
    return values;
  };
  const bytes = (): Uint8Array => c.slice(c.count('length of binary'), 'binary');
  if (depth > MAX_DEPTH) c.fail(`attribute nested deeper than ${MAX_DEPTH}`);
  const type = c.u8();
  switch (type) {
    case 0:
      return c.utf('string');
    case 1:
      return number(c, c.utf('number'));
    case 2:
      return c.bool();
    case 3:
      return null;
    case 4:
      return bytes();
    case 5:
      return many(2, () => c.utf('string'));
    case 6:
      return many(2, () => number(c, c.utf('number')));
    case 7:
      return many(4, bytes);
    case 8:
      return many(1, () => readAttribute(c, depth + 1));
    case 9:
      return readItem(c, depth + 1);
    default:
      return c.fail(`attribute of type ${type}`);
  }
}

function number(c: Cursor, text: string): Details {
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return new RawJson(text);
  return /^[+-]?\d*\.?\d*([eE][+-]?\d+)?$/.test(text) ? text : c.fail(`number ${text}`);
}
