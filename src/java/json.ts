/**
 * Any Java tree as readable JSON: what a JavaSerializer state shows.
 *
 *   scalars (scalars.ts), strings, enum constants   their value; long and big integers with every digit; NaN, ±Infinity as strings
 *   collections, arrays                             array; byte[] lower-case hex
 *   maps                                            object when every key is text, number, boolean or enum, else [{"key":…,"value":…}]
 *   other objects                                   {"$class": name, fields…}; a field hidden by a subclass's: `Super.field`
 *   data of the class's own writeObject             "$data": [values and hex of blocks], `Super.$data` for a superclass's
 *   an object inside itself                         {"$ref": class name}
 */
import { UnsupportedError } from '../errors.js';
import { hexOf, jsonString, numberText } from '../io/json.js';
import { javaElements, javaEntries } from './collections.js';
import { type JavaScalar, javaScalar } from './scalars.js';
import {
  classDescName,
  type JavaContent,
  type JavaObject,
  type JavaPrimitiveArray,
  type JavaValue,
  javaClassName,
  simpleClassName,
} from './tree.js';

const MAX_DEPTH = 600;
/** Shared objects are written wherever they occur, so a small tree can make an endless text. */
const MAX_NODES = 2_000_000;
const MAX_CHARS = 64 * 1024 * 1024;

/** JSON text of `value`. Throws UnsupportedError when it is too deep or would be too long. */
export function javaToJson(value: JavaContent): string {
  const path = new Set<JavaContent>();
  let nodes = 0;
  let chars = 0;

  const leaf = (text: string): string => {
    chars += text.length;
    if (chars > MAX_CHARS) throw new UnsupportedError(`Java object with more than ${MAX_CHARS} characters of JSON`);
    return text;
  };
  const write = (v: JavaContent): string => {
    if (++nodes > MAX_NODES) throw new UnsupportedError(`Java object with more than ${MAX_NODES} parts`);
    if (v.kind === 'block') return leaf(hexText(v.bytes));
    if (v.kind === 'exception') return `{"$exception":${write(v.thrown)}}`;
    if (v.kind === 'class-desc') return `{"$class":"java.io.ObjectStreamClass","name":${jsonString(classDescName(v))}}`;
    if (v.kind === 'primitive-array') {
      return leaf(primitiveArray(v));
    }
    const scalar = javaScalar(v);
    if (scalar !== undefined) return leaf(scalarJson(scalar, isFloat(v)));
    if (path.has(v)) return `{"$ref":${jsonString(className(v))}}`;
    if (path.size >= MAX_DEPTH) throw new UnsupportedError(`Java object nested deeper than ${MAX_DEPTH}`);
    path.add(v);
    const text = container(v);
    path.delete(v);
    return text;
  };

  const container = (v: JavaValue): string => {
    const elements = javaElements(v);
    if (elements !== undefined) return `[${elements.map(write).join(',')}]`;
    const entries = javaEntries(v);
    if (entries === undefined) return v.kind === 'object' ? object(v) : 'null';
    const keys = entries.map(([k]) => keyText(k));
    const plain = new Set(keys).size === keys.length && keys.every(k => k !== undefined);
    if (plain) return `{${entries.map(([, x], i) => `${jsonString(keys[i] ?? '')}:${write(x)}`).join(',')}}`;
    return `[${entries.map(([k, x]) => `{"key":${write(k)},"value":${write(x)}}`).join(',')}]`;
  };

  const object = (o: JavaObject): string => {
    const parts = [`"$class":${jsonString(className(o))}`];
    const taken = new Set<string>(['$class']);
    for (let i = o.data.length - 1; i >= 0; i--) {
      const { classDesc, values, annotation } = o.data[i];
      const add = (name: string, json: string): void => {
        const own = taken.has(name) ? `${simpleClassName(classDescName(classDesc))}.${name}` : name;
        taken.add(own);
        parts.push(`${jsonString(own)}:${json}`);
      };
      values.forEach((x, f) => {
        add(classDesc.fields[f].name, write(x));
      });
      if (annotation.length > 0) add('$data', `[${annotation.map(write).join(',')}]`);
    }
    return `{${parts.join(',')}}`;
  };
  return write(value);
}

/** The name under which a map entry stands, when its key is text, number, boolean or enum. */
function keyText(key: JavaValue): string | undefined {
  const scalar = javaScalar(key);
  return scalar === null || scalar === undefined || typeof scalar === 'object' ? undefined : String(scalar);
}

function className(v: JavaContent): string {
  return javaClassName(v) ?? v.kind;
}
function isFloat(v: JavaContent): boolean {
  return v.kind === 'float' || (v.kind === 'object' && v.classDesc.name === 'java.lang.Float');
}

function scalarJson(value: JavaScalar, single: boolean): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return numberJson(value, single);
  if (typeof value === 'object') return JSON.stringify(value);
  return typeof value === 'string' ? jsonString(value) : String(value);
}
function numberJson(n: number, single: boolean): string {
  return Number.isFinite(n) ? numberText(n, single) : `"${n}"`;
}
function primitiveArray(a: JavaPrimitiveArray): string {
  switch (a.component) {
    case 'B':
      return hexText(a.values);
    case 'Z':
      return `[${Array.from(a.values, x => x === 1).join(',')}]`;
    case 'C':
      return `[${Array.from(a.values, x => jsonString(String.fromCharCode(x))).join(',')}]`;
    case 'J':
      return `[${a.values.join(',')}]`;
    default:
      return `[${Array.from(a.values, x => numberJson(x, a.component === 'F')).join(',')}]`;
  }
}
function hexText(bytes: Uint8Array | Int8Array): string {
  return `"${hexOf(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length))}"`;
}
