/**
 * The codec of a Kryo snapshot: decodes each value in the dialects that are possible and takes the one that fits.
 *
 * The SQL type follows from the snapshot's type class (and a jar) where every value of it has that type: identifiers, texts,
 * times, enums. Everything else is JSON: a value may be of any subclass.
 *
 * A class that is in no jar ends what can be read: the value is then what came before, with `{"$class", "$strings", "$hex"}` in
 * the place of the object and everything after it.
 */
import { CorruptError, StateQueryError } from '../../errors.js';
import type { Cursor } from '../../io/cursor.js';
import { JSON_TYPE, JsonText, type SqlType, sameType, VARCHAR, type Value } from '../../types.js';
import { type Codec, type CodecContext, codecOf } from '../codec.js';
import { KryoClasses } from './classes.js';
import { type Dialect, dialectsOf } from './dialects.js';
import { isPlatform, knownBase, knownLayout } from './known-classes.js';
import { KryoReader, Undecodable } from './reader.js';
import { scalarType } from './scalars.js';
import { isKnownSerializer } from './serializers.js';
import type { KryoConfiguration } from './snapshot.js';
import { timeType } from './times.js';
import { type KryoNode, kryoJson, scalar } from './tree.js';

export function kryoCodec(configuration: KryoConfiguration, context: CodecContext): Codec {
  const { typeClass } = configuration;
  const classes = new KryoClasses(context.classes);
  const protobuf =
    context.protobuf === undefined
      ? undefined
      : (className: string, bytes: Uint8Array): KryoNode | undefined => {
          const json = context.protobuf?.(className, bytes);
          return json === undefined ? undefined : scalar(JSON_TYPE, json);
        };
  const versions = context.flinkMajor === undefined ? [false, true] : [context.flinkMajor === 2];
  const dialects = versions.flatMap(v5 => dialectsOf(v5, configuration, classes, protobuf));
  const type = typeOf(configuration, classes);
  const reason = obstacle(configuration, classes, context.flinkMajor);

  const read = (c: Cursor): Value => {
    const start = c.position;
    const node = readValue(c, dialects, classes, typeClass);
    if (node.kind === 'scalar' && node.value === null) return null;
    if (type.kind !== 'JSON' && node.kind === 'scalar' && sameType(node.type, type)) return node.value;
    return new JsonText(kryoJson(node, typeClass, c.position - start));
  };
  return codecOf({
    type,
    ...(reason === undefined ? {} : { opaque: reason, unbounded: true }),
    ...(type.kind === 'JSON' && reason === undefined ? { unbounded: true, mostlyBounded: true } : {}),
    read,
  });
}

/** The type of all values, when the type class alone decides it. */
function typeOf({ typeClass, registrations }: KryoConfiguration, classes: KryoClasses): SqlType {
  if (registrations.some(r => r.className === typeClass && r.serializer !== undefined)) return JSON_TYPE;
  return scalarType(typeClass) ?? timeType(typeClass) ?? (classes.enumConstants(typeClass) === undefined ? JSON_TYPE : VARCHAR);
}

/** Why values of the type class cannot be decoded, as far as that is clear without them. */
function obstacle({ typeClass, registrations }: KryoConfiguration, classes: KryoClasses, major: 1 | 2 | undefined): string | undefined {
  const own = registrations.find(r => r.className === typeClass);
  if (own?.serializer !== undefined)
    return isKnownSerializer(own.serializer) ? undefined : `${typeClass} is written by ${own.serializer}: only its code knows how`;
  if (typeClass.startsWith('[') || isPlatform(typeClass) || knownBase(typeClass) !== undefined || knownLayout(typeClass) !== undefined)
    return undefined;
  if (typeClass.startsWith('scala.') && major !== 2) return undefined;
  if (!classes.has(typeClass)) return `Kryo writes no field names: class ${typeClass} is needed (--jar)`;
  if (classes.isInterfaceOrAbstract(typeClass) || classes.baseOf(typeClass) !== undefined) return undefined;
  if (classes.enumConstants(typeClass) !== undefined || classes.layout(typeClass) !== undefined) return undefined;
  return `Kryo writes no field names: a superclass of ${typeClass} is needed (--jar)`;
}

interface Attempt {
  readonly node: KryoNode;
  readonly end: number;
  readonly at: number;
  readonly failure: Undecodable | StateQueryError | undefined;
}

function attempt(c: Cursor, dialect: Dialect, start: number): Attempt {
  c.position = start;
  const reader = new KryoReader(c, dialect);
  try {
    const node = reader.classAndObject();
    return { node, end: c.position, at: c.position, failure: undefined };
  } catch (error) {
    if (error instanceof Undecodable) return { node: error.partial, end: c.end, at: error.at, failure: error };
    if (error instanceof StateQueryError)
      return { node: { kind: 'rest', className: undefined, bytes: NONE }, end: c.end, at: start, failure: error };
    throw error;
  }
}
const NONE = new Uint8Array(0);

/** Whether the root's class tag can be of this dialect, and is of the type where that is final. */
function fits(c: Cursor, start: number, dialect: Dialect, classes: KryoClasses, typeClass: string): boolean {
  const first = c.bytes[start];
  if (first < 2 || first >= 0x80) return true;
  const ref = dialect.ids.get(first - 2);
  if (ref === undefined) return false;
  // no class of the platform or Scala is a user's
  if (ref.fixed === true && !isPlatform(typeClass) && !typeClass.startsWith('scala.')) return false;
  return classes.isFinal(typeClass) !== true || ref.name === typeClass || first - 2 < 9;
}

/** Reads one value; the cursor ends behind it, or at its end when the value's own is not known. */
function readValue(c: Cursor, dialects: readonly Dialect[], classes: KryoClasses, typeClass: string): KryoNode {
  const start = c.position;
  if (c.remaining === 0) c.fail('Kryo value has no bytes');
  const candidates = dialects.filter(d => fits(c, start, d, classes, typeClass));
  let best: Attempt | undefined;
  for (const dialect of candidates) {
    const one = attempt(c, dialect, start);
    if (one.failure === undefined && one.end === c.end) {
      best = one;
      break;
    }
    if (best === undefined || better(one, best)) best = one;
  }
  if (best === undefined) return c.fail(`class tag ${c.bytes[start]} of a Kryo value of ${typeClass}`, start);
  const { failure } = best;
  if (failure === undefined) {
    c.position = best.end;
    return best.node;
  }
  if (failure instanceof Undecodable) {
    c.position = failure.at;
    failure.rest.bytes = c.slice(c.remaining).slice();
    return best.node;
  }
  c.position = start;
  if (failure instanceof CorruptError || dialects.length === 0) throw failure;
  return { kind: 'rest', className: undefined, bytes: c.slice(c.remaining).slice() };
}

/** A whole value before a part of one, a part before none; of parts the longer one. */
function better(one: Attempt, than: Attempt): boolean {
  const rank = (a: Attempt): number => (a.failure === undefined ? 2 : a.failure instanceof Undecodable ? 1 : 0);
  return rank(one) > rank(than) || (rank(one) === 1 && rank(than) === 1 && one.at > than.at);
}
