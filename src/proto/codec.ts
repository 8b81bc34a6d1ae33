/**
 * States whose bytes are protobuf messages: byte[] by `--proto-type`, Kryo's by the Java class of the message.
 */

import { CorruptError } from '../errors.js';
import { INSIDE_JSON, jsonOf } from '../io/json.js';
import { type Codec, type CodecContext, codecOf, type SerializerSnapshot } from '../serializers/codec.js';
import { JsonText, type Value } from '../types.js';
import type { ProtoMessage } from './message.js';
import type { ProtoSchemas } from './schema.js';

/** The codec of a message that stands in a byte[]: the message's type and value in place of the bytes. */
export function messageCodec(bytes: Codec, message: ProtoMessage): Codec {
  return codecOf({
    type: message.type,
    length: bytes.length,
    read(c) {
      const value = bytes.read(c);
      return value === null ? null : decode(message, value);
    },
    skip: c => bytes.skip(c),
  });
}

function decode(message: ProtoMessage, value: Value): Value {
  if (!(value instanceof Uint8Array)) throw new CorruptError(`the value is no ${message.name}: it is no byte array`);
  try {
    return message.decode(value);
  } catch (error) {
    if (!(error instanceof CorruptError)) throw error;
    throw new CorruptError(`the value is no ${message.name}: ${error.message}`, {
      cause: error,
      hint: 'the message of --proto-type is another one, or its .proto file is of another version',
    });
  }
}

/** How messages in Kryo values are decoded: JSON inside of other values, the message itself where it is the whole value. */
export class KryoMessages {
  private last: { readonly text: string; readonly value: Value } | undefined;
  constructor(private readonly schemas: ProtoSchemas) {}

  /** For CodecContext.protobuf. */
  readonly json: NonNullable<CodecContext['protobuf']> = (className, bytes) => {
    const message = this.schemas.messageOfClass(className);
    if (message === undefined) return undefined;
    try {
      const value = message.decode(bytes);
      const text = jsonOf(message.type, value, INSIDE_JSON);
      this.last = { text, value };
      return new JsonText(text);
    } catch (error) {
      // of another version of the file: the bytes stay visible
      if (error instanceof CorruptError) return undefined;
      throw error;
    }
  };

  /** The codec of a Kryo state whose type is a message; undefined when it is none. */
  codec(kryo: Codec, snapshot: SerializerSnapshot): Codec | undefined {
    const className = snapshot.serializer === 'KryoSerializer' ? snapshot.details['typeClass'] : undefined;
    const message = typeof className === 'string' ? this.schemas.messageOfClass(className) : undefined;
    if (message === undefined) return undefined;
    return codecOf({
      type: message.type,
      length: kryo.length,
      ...(kryo.unbounded === undefined ? {} : { unbounded: kryo.unbounded }),
      read: c => {
        this.last = undefined;
        const value = kryo.read(c);
        // message classes are final: the one value that was decoded is the whole
        const last = this.last as { readonly text: string; readonly value: Value } | undefined;
        return value instanceof JsonText && last !== undefined && value.text === last.text ? last.value : value;
      },
      skip: c => kryo.skip(c),
    });
  }
}
