/**
 * The elements of a Java array of primitives, as they stand in a serialization stream: i32 count, then big-endian elements.
 *
 *   B byte 1 · Z boolean 1 · C char 2 (UTF-16 unit) · S short 2 · I int 4 · J long 8 · F float 4 · D double 8 bytes
 *
 * Mirrors java.io.ObjectOutputStream.writeArray (JDK 17).
 */
import type { Cursor } from '../io/cursor.js';
import type { JavaPrimitiveArray } from './tree.js';

type PrimitiveArrayOf<P> = P extends JavaPrimitiveArray ? Omit<P, 'kind' | 'classDesc'> : never;

/** Reads count and elements. `component` is the letter behind `[` in the array's class name. */
export function readPrimitives(c: Cursor, component: string): PrimitiveArrayOf<JavaPrimitiveArray> {
  switch (component) {
    case 'B':
      return { component, values: fill(new Int8Array(c.count('array length', 1)), () => c.i8()) };
    case 'Z':
      return {
        component,
        values: fill<number, Uint8Array>(new Uint8Array(c.count('array length', 1)), () => (c.u8() === 0 ? 0 : 1)),
      };
    case 'C':
      return { component, values: fill(new Uint16Array(c.count('array length', 2)), () => c.u16()) };
    case 'S':
      return { component, values: fill(new Int16Array(c.count('array length', 2)), () => c.i16()) };
    case 'I':
      return { component, values: fill(new Int32Array(c.count('array length', 4)), () => c.i32()) };
    case 'J':
      return { component, values: fill(new BigInt64Array(c.count('array length', 8)), () => c.i64()) };
    case 'F':
      return { component, values: fill(new Float32Array(c.count('array length', 4)), () => c.f32()) };
    case 'D':
      return { component, values: fill(new Float64Array(c.count('array length', 8)), () => c.f64()) };
    default:
      return c.fail(`array of component type ${JSON.stringify(component)}`);
  }
}

function fill<E, A extends { [i: number]: E; readonly length: number }>(array: A, next: () => E): A {
  for (let i = 0; i < array.length; i++) array[i] = next();
  return array;
}
