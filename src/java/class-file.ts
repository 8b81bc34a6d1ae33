/**
 * `.class` files, read as data: which fields a class has, and of what types.
 *
 *   CA FE BA BE · u16 minor · u16 major · u16 n · n - 1 constants · u16 flags · u16 class · u16 superclass · u16 n × u16 interface
 *   u16 n × field · u16 n × method · u16 n × attribute
 *   constant    u8 tag, then: 1 Utf8 u16 + bytes · 3 4 u32 · 5 6 u64, takes two numbers · 7 8 16 19 20 u16 · 9 10 11 12 17 18 2 × u16
 *               15 u8, u16
 *   field, method   u16 flags · u16 name · u16 descriptor · u16 n × attribute
 *   attribute   u16 name · u32 length · bytes;  Signature: u16 text;  Record: u16 n × (u16 name · u16 descriptor · u16 n × attribute)
 *
 * Methods and code are stepped over; nothing is ever run. Fields are in the order of the file, which is that of the source, so
 * an enum's constants stand in the order of their ordinals.
 *
 * Mirrors chapter 4 of the "Java Virtual Machine Specification" (Java SE 21).
 */

import type { ErrorOrigin } from '../errors.js';
import { Cursor } from '../io/cursor.js';

/** Layouts of user classes, read from .class files as data. */
export interface ClassPool {
  /** a class by its Java name (`com.x.Outer$Inner`), or undefined */
  find(name: string): ClassLayout | undefined;
}
export interface ClassLayout {
  readonly name: string;
  /** undefined for java.lang.Object alone */
  readonly superName: string | undefined;
  readonly interfaces: readonly string[];
  /** generic signature when there is one: `<T:Ljava/lang/Object;>Lcom/x/Base<TT;>;` */
  readonly signature?: string;
  readonly isEnum: boolean;
  readonly isRecord: boolean;
  readonly isInterface: boolean;
  readonly isFinal: boolean;
  readonly isAbstract: boolean;
  readonly enumConstants: readonly string[];
  readonly fields: readonly FieldLayout[];
  /** record components in declaration order */
  readonly recordComponents: readonly string[];
}
export interface FieldLayout {
  readonly name: string;
  /** JVM descriptor: `I`, `Ljava/lang/String;`, `[J` */
  readonly descriptor: string;
  /** generic signature when there is one: `Ljava/util/List<Ljava/lang/String;>;` */
  readonly signature: string | undefined;
  readonly isStatic: boolean;
  readonly isTransient: boolean;
  readonly isSynthetic: boolean;
}

const ACC_STATIC = 0x0008;
const ACC_FINAL = 0x0010;
const ACC_TRANSIENT = 0x0080;
const ACC_INTERFACE = 0x0200;
const ACC_ABSTRACT = 0x0400;
const ACC_SYNTHETIC = 0x1000;
const ACC_ENUM = 0x4000;

/** Bytes behind the tag of a constant; Utf8 (1) has its own length. */
const CONSTANT_BYTES: Readonly<Record<number, number>> = {
  3: 4,
  4: 4,
  5: 8,
  6: 8,
  7: 2,
  8: 2,
  9: 4,
  10: 4,
  11: 4,
  12: 4,
  15: 3,
  16: 2,
  17: 4,
  18: 4,
  19: 2,
  20: 2, // biome-ignore format: a table
};

/** Reads one class file. Throws CorruptError with the byte. */
export function decodeClassFile(bytes: Uint8Array, origin: ErrorOrigin = {}): ClassLayout {
  const c = new Cursor(bytes, 0, bytes.length, origin);
  if (c.u32() !== 0xcafebabe) c.fail('class file does not begin with cafebabe', 0);
  c.take(4, 'class file version');
  const constants = new ConstantPool(c);
  const flags = c.u16();
  const name = constants.className(c, c.u16()) ?? c.fail('class without a name');
  const superName = constants.className(c, c.u16());
  const interfaces: string[] = [];
  for (let n = c.u16(); n > 0; n--) interfaces.push(constants.className(c, c.u16()) ?? c.fail('interface without a name'));

  const fields: FieldLayout[] = [];
  const enumConstants: string[] = [];
  for (let n = c.u16(); n > 0; n--) {
    const access = c.u16();
    const field = constants.utf8(c, c.u16());
    const descriptor = constants.utf8(c, c.u16());
    let signature: string | undefined;
    readAttributes(c, constants, (attribute, body) => {
      if (attribute === 'Signature') signature = constants.utf8(body, body.u16());
    });
    if ((access & ACC_ENUM) !== 0) enumConstants.push(field);
    fields.push({
      name: field,
      descriptor,
      signature,
      isStatic: (access & ACC_STATIC) !== 0,
      isTransient: (access & ACC_TRANSIENT) !== 0,
      isSynthetic: (access & ACC_SYNTHETIC) !== 0,
    });
  }
  for (let n = c.u16(); n > 0; n--) {
    c.take(6, 'method');
    readAttributes(c, constants, () => {});
  }
  let signature: string | undefined;
  let isRecord = false;
  const recordComponents: string[] = [];
  readAttributes(c, constants, (attribute, body) => {
    if (attribute === 'Signature') signature = constants.utf8(body, body.u16());
    else if (attribute === 'Record') {
      isRecord = true;
      for (let n = body.u16(); n > 0; n--) {
        recordComponents.push(constants.utf8(body, body.u16()));
        body.u16();
        readAttributes(body, constants, () => {});
      }
    }
  });
  c.expectEnd('class file');
  return {
    name,
    superName,
    interfaces,
    ...(signature === undefined ? {} : { signature }),
    isEnum: (flags & ACC_ENUM) !== 0,
    isRecord,
    isInterface: (flags & ACC_INTERFACE) !== 0,
    isFinal: (flags & ACC_FINAL) !== 0,
    isAbstract: (flags & ACC_ABSTRACT) !== 0,
    enumConstants,
    fields,
    recordComponents,
  };
}

/** Hands each attribute to `use`, as a cursor over its bytes. */
function readAttributes(c: Cursor, constants: ConstantPool, use: (name: string, body: Cursor) => void): void {
  for (let n = c.u16(); n > 0; n--) {
    const name = constants.utf8(c, c.u16());
    const length = c.u32();
    const at = c.take(length, `attribute ${name}`);
    use(name, new Cursor(c.bytes, at, at + length, c.origin, c.base));
  }
}

/** Where each constant begins; texts are decoded when asked for. */
class ConstantPool {
  private readonly at: Int32Array;
  constructor(private readonly c: Cursor) {
    const n = c.u16();
    this.at = new Int32Array(n).fill(-1);
    for (let i = 1; i < n; i++) {
      this.at[i] = c.position;
      const tag = c.u8();
      if (tag === 1) c.take(c.u16(), 'constant text');
      else {
        const length = CONSTANT_BYTES[tag] ?? c.fail(`constant of kind ${tag}`, c.position - 1);
        c.take(length, 'constant');
        if (tag === 5 || tag === 6) i++;
      }
    }
  }
  private open(user: Cursor, index: number, tag: number): Cursor {
    const at = index < this.at.length ? this.at[index] : -1;
    if (at < 0 || this.c.bytes[at] !== tag) user.fail(`constant ${index} is not of kind ${tag}`);
    return new Cursor(this.c.bytes, at + 1, this.c.end, this.c.origin, this.c.base);
  }
  utf8(user: Cursor, index: number): string {
    return this.open(user, index, 1).utf('constant text');
  }
  /** The Java name of a class constant; undefined for index 0. */
  className(user: Cursor, index: number): string | undefined {
    return index === 0 ? undefined : this.utf8(user, this.open(user, index, 7).u16()).replaceAll('/', '.');
  }
}
