/**
 * What a Java object serialization stream holds, as a plain tree: classes are described, never loaded, objects never made.
 *
 * The tree may have cycles (an object may refer to itself or to what holds it): walkers need a guard.
 *
 *   JavaContent   what may stand at the top of a stream or in a class's own `writeObject` data: a JavaValue or a block of bytes
 *   JavaValue     a field or element: primitive, null, string, object, array, enum constant, class, class descriptor
 *   JavaObject    one JavaClassData a class that wrote something, from the highest superclass down
 *
 * Mirrors the grammar of the "Java Object Serialization Specification" chapter 6 (JDK 17).
 */

export type JavaValue =
  | JavaPrimitive
  | JavaNull
  | JavaString
  | JavaObject
  | JavaArray
  | JavaPrimitiveArray
  | JavaEnum
  | JavaClass
  | JavaClassDesc;
export type JavaContent = JavaValue | JavaBlock | JavaException;

export type JavaPrimitive =
  | { readonly kind: 'byte' | 'short' | 'int' | 'float' | 'double'; readonly value: number }
  | { readonly kind: 'long'; readonly value: bigint }
  | { readonly kind: 'char'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean };
export interface JavaNull {
  readonly kind: 'null';
}
export interface JavaString {
  readonly kind: 'string';
  /** UTF-16, lone surrogates kept */
  readonly value: string;
}
export interface JavaObject {
  readonly kind: 'object';
  readonly classDesc: JavaClassDesc;
  /** superclass first; classes that wrote neither fields nor data of their own are left out */
  readonly data: readonly JavaClassData[];
}
export interface JavaClassData {
  readonly classDesc: JavaClassDesc;
  /** in the order of `classDesc.fields`; empty for externalizable classes */
  readonly values: readonly JavaValue[];
  /** what the class's `writeObject` or `writeExternal` wrote after the fields; neighbouring blocks are joined */
  readonly annotation: readonly JavaContent[];
}
/** An array of objects or arrays. */
export interface JavaArray {
  readonly kind: 'array';
  /** `name` is `[Ljava.lang.String;`, `[[I` … */
  readonly classDesc: JavaClassDesc;
  readonly elements: readonly JavaValue[];
}
/** An array of one of the eight primitive types. boolean[] is Uint8Array of 0 and 1, char[] Uint16Array. */
export type JavaPrimitiveArray = { readonly kind: 'primitive-array'; readonly classDesc: JavaClassDesc } & (
  | { readonly component: 'B'; readonly values: Int8Array }
  | { readonly component: 'Z'; readonly values: Uint8Array }
  | { readonly component: 'C'; readonly values: Uint16Array }
  | { readonly component: 'S'; readonly values: Int16Array }
  | { readonly component: 'I'; readonly values: Int32Array }
  | { readonly component: 'J'; readonly values: BigInt64Array }
  | { readonly component: 'F'; readonly values: Float32Array }
  | { readonly component: 'D'; readonly values: Float64Array }
);
export interface JavaEnum {
  readonly kind: 'enum';
  readonly classDesc: JavaClassDesc;
  readonly constant: string;
}
/** An object of java.lang.Class. */
export interface JavaClass {
  readonly kind: 'class';
  readonly classDesc: JavaClassDesc;
}
/** A class descriptor: of an object, or an object of its own (java.io.ObjectStreamClass). */
export interface JavaClassDesc {
  readonly kind: 'class-desc';
  /** binary name (`com.x.Outer$Inner`, `[I`); of a dynamic proxy: `''` */
  readonly name: string;
  readonly serialVersionUid: bigint;
  /** SC_WRITE_METHOD 1, SC_SERIALIZABLE 2, SC_EXTERNALIZABLE 4, SC_BLOCK_DATA 8, SC_ENUM 16; 2 for a proxy */
  readonly flags: number;
  readonly fields: readonly JavaField[];
  /** interface names of a dynamic proxy class */
  readonly proxyInterfaces: readonly string[] | undefined;
  /** what annotateClass wrote; nearly always empty */
  readonly annotation: readonly JavaContent[];
  readonly superDesc: JavaClassDesc | undefined;
}
export interface JavaField {
  readonly name: string;
  /** `B C D F I J S Z`, or `L…;` / `[…` with slashes, as in a class file */
  readonly descriptor: string;
}
/** Bytes that were written with DataOutput's methods. */
export interface JavaBlock {
  readonly kind: 'block';
  readonly bytes: Uint8Array;
}
/** The stream's writer failed here: what it threw. */
export interface JavaException {
  readonly kind: 'exception';
  readonly thrown: JavaValue;
}

export const JAVA_NULL: JavaNull = Object.freeze({ kind: 'null' });

/** The class name of an object, array, enum constant, class or descriptor; `java.lang.String` for a string; undefined otherwise. */
export function javaClassName(value: JavaContent): string | undefined {
  switch (value.kind) {
    case 'object':
    case 'array':
    case 'primitive-array':
    case 'enum':
      return classDescName(value.classDesc);
    case 'class':
      return 'java.lang.Class';
    case 'class-desc':
      return 'java.io.ObjectStreamClass';
    case 'string':
      return 'java.lang.String';
    default:
      return undefined;
  }
}

/** The name of the class; a dynamic proxy is named by its interfaces: `Proxy(java.lang.Runnable)`. */
export function classDescName(desc: JavaClassDesc): string {
  return desc.proxyInterfaces === undefined ? desc.name : `Proxy(${desc.proxyInterfaces.join(', ')})`;
}

/** The name without its package: `RowType$RowField`. */
export function simpleClassName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Whether the stream says that `value`'s class is `className` or extends it. */
export function isJavaInstance(value: JavaValue, className: string): value is JavaObject {
  if (value.kind !== 'object') return false;
  for (let d: JavaClassDesc | undefined = value.classDesc; d !== undefined; d = d.superDesc) if (d.name === className) return true;
  return false;
}

/**
 * The value of a field, looked up from the class itself to its highest superclass; undefined when no class has it.
 * @param declaringClass only the field that this class declares
 */
export function javaField(object: JavaObject, name: string, declaringClass?: string): JavaValue | undefined {
  for (let i = object.data.length - 1; i >= 0; i--) {
    const { classDesc, values } = object.data[i];
    if (declaringClass !== undefined && classDesc.name !== declaringClass) continue;
    const at = classDesc.fields.findIndex(f => f.name === name);
    if (at >= 0 && at < values.length) return values[at];
  }
  return undefined;
}

/** What the class named `className` (or the object's own class) wrote after its fields. */
export function javaAnnotation(object: JavaObject, className: string = object.classDesc.name): readonly JavaContent[] {
  for (const d of object.data) if (d.classDesc.name === className) return d.annotation;
  return [];
}
