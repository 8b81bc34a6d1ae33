/**
 * Java object serialization streams: bytes → a plain tree (tree.ts). Classes are never loaded, objects never made.
 *
 *   stream      AC ED 00 05 content*
 *   content     70 null · 71 reference, i32 handle (from 00 7E 00 00) · 72 class descriptor · 73 object · 74 string, UTF · 75 array
 *               76 class · 77 block, u8 length · 78 end of block data · 79 reset · 7A long block, i32 length · 7B exception
 *               7C long string, i64 length · 7D proxy class descriptor · 7E enum constant
 *   72          UTF name, i64 serialVersionUID, +handle, u8 flags, u16 n × (u8 type, UTF name[, string content: descriptor]),
 *               annotation, class descriptor of the superclass
 *   7D          +handle, i32 n × UTF interface, annotation, class descriptor of the superclass
 *   73          class descriptor, +handle, for each class from the highest superclass down:
 *                 SC_SERIALIZABLE   field values (primitives as they are, others as contents) [SC_WRITE_METHOD: annotation]
 *                 SC_EXTERNALIZABLE annotation (SC_BLOCK_DATA is set since protocol version 2)
 *   75          class descriptor, +handle, i32 n, n values
 *   76          class descriptor, +handle
 *   7E          class descriptor, +handle, string content: name of the constant
 *   7B          the handles begin anew, content: what was thrown, the handles begin anew
 *   annotation  contents and blocks up to 78
 *
 * A stream has no length: it ends where its last object ends, so the cursor stays right behind it.
 * Everything with "+handle" and every string gets the next handle; a reference may point at an object still being read.
 *
 * Mirrors java.io.ObjectInputStream / ObjectStreamConstants (JDK 17), protocol version 2.
 */
import { UnsupportedError } from '../errors.js';
import { type Cursor, decodeModifiedUtf8 } from '../io/cursor.js';
import { readPrimitives } from './primitive-array.js';
import {
  JAVA_NULL,
  type JavaArray,
  type JavaBlock,
  type JavaClassData,
  type JavaClassDesc,
  type JavaContent,
  type JavaEnum,
  type JavaException,
  type JavaField,
  type JavaNull,
  type JavaObject,
  type JavaPrimitive,
  type JavaPrimitiveArray,
  type JavaString,
  type JavaValue,
} from './tree.js';

export interface JavaStreamLimits {
  /** objects within objects, descriptors and superclasses together */
  readonly depth?: number;
  /** objects, strings and descriptors of one stream */
  readonly handles?: number;
}
const DEFAULT_DEPTH = 800;
const DEFAULT_HANDLES = 10_000_000;
const MAX_SUPERCLASSES = 64;

const MAGIC = 0xaced;
const VERSION = 5;
const BASE_HANDLE = 0x7e0000;
const TC_NULL = 0x70;
const TC_REFERENCE = 0x71;
const TC_CLASSDESC = 0x72;
const TC_OBJECT = 0x73;
const TC_STRING = 0x74;
const TC_ARRAY = 0x75;
const TC_CLASS = 0x76;
const TC_BLOCKDATA = 0x77;
const TC_ENDBLOCKDATA = 0x78;
const TC_RESET = 0x79;
const TC_BLOCKDATALONG = 0x7a;
const TC_EXCEPTION = 0x7b;
const TC_LONGSTRING = 0x7c;
const TC_PROXYCLASSDESC = 0x7d;
const TC_ENUM = 0x7e;
const SC_WRITE_METHOD = 0x01;
const SC_SERIALIZABLE = 0x02;
const SC_EXTERNALIZABLE = 0x04;
const SC_BLOCK_DATA = 0x08;

/**
 * Reads one stream header and one object (null, string, array … are objects too); the cursor ends right behind it.
 * Throws CorruptError (also when a block of bytes stands first, or when the writer wrote an exception instead),
 * UnsupportedError (protocol version 1, limits).
 */
export function readJavaObject(cursor: Cursor, limits?: JavaStreamLimits): JavaValue {
  const start = cursor.position;
  const reader = new JavaStreamReader(cursor, limits);
  reader.readHeader();
  const content = reader.readContent();
  if (content.kind === 'block') return cursor.fail('a block of bytes where a Java object was expected', start + 4);
  if (content.kind === 'exception') return cursor.fail('the Java stream ends in an exception of its writer', start);
  return content;
}

/** Reads one stream header and every content up to the cursor's end; neighbouring blocks are joined. */
export function readJavaStream(cursor: Cursor, limits?: JavaStreamLimits): JavaContent[] {
  const reader = new JavaStreamReader(cursor, limits);
  reader.readHeader();
  const contents: JavaContent[] = [];
  while (reader.hasMore()) contents.push(reader.readContent());
  return joinBlocks(contents);
}

type Handle = Exclude<JavaValue, JavaPrimitive | JavaNull>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A nested writer failure: unwinds to the top-level content, as java.io.WriteAbortedException does. */
class Aborted {
  constructor(readonly exception: JavaException) {}
}

/** The items of one stream, one after another; what is not read stays in the cursor. */
export class JavaStreamReader {
  private handles: Handle[] = [];
  private depth = 0;
  private readonly maxDepth: number;
  private readonly maxHandles: number;

  constructor(
    private readonly c: Cursor,
    limits: JavaStreamLimits = {},
  ) {
    this.maxDepth = limits.depth ?? DEFAULT_DEPTH;
    this.maxHandles = limits.handles ?? DEFAULT_HANDLES;
  }

  readHeader(): void {
    const { c } = this;
    const at = c.position;
    const magic = c.u16();
    if (magic !== MAGIC) c.fail(`Java stream begins with ${hex(magic, 4)}, expected aced`, at);
    const version = c.u16();
    if (version !== VERSION) c.fail(`Java stream version is ${version}, expected ${VERSION}`, at + 2);
  }

  /** Whether another item follows; steps over resets. */
  hasMore(): boolean {
    this.skipResets();
    return this.c.remaining > 0;
  }

  /** The next top-level object or block. An exception that the writer left comes as one, from whatever depth. */
  readContent(): JavaContent {
    this.skipResets();
    this.depth = 0;
    try {
      const tag = this.c.u8();
      return tag === TC_BLOCKDATA || tag === TC_BLOCKDATALONG ? this.block(tag) : this.value(tag);
    } catch (e) {
      if (e instanceof Aborted) return e.exception;
      throw e;
    }
  }

  private skipResets(): void {
    const { c } = this;
    while (c.remaining > 0 && c.bytes[c.position] === TC_RESET) {
      c.position++;
      this.handles = [];
    }
  }

  private assign<T extends Handle>(handle: T): T {
    if (this.handles.length >= this.maxHandles) this.tooMuch(`more than ${this.maxHandles} objects`);
    this.handles.push(handle);
    return handle;
  }
  private tooMuch(what: string): never {
    throw new UnsupportedError(`Java stream with ${what}`, { ...this.c.origin, offset: this.c.offset });
  }
  private enter(): void {
    if (++this.depth > this.maxDepth) this.tooMuch(`objects nested deeper than ${this.maxDepth}`);
  }

  /** A value whose tag byte was read. */
  private value(tag: number): JavaValue {
    const { c } = this;
    switch (tag) {
      case TC_NULL:
        return JAVA_NULL;
      case TC_REFERENCE:
        return this.reference();
      case TC_STRING:
      case TC_LONGSTRING:
        return this.string(tag);
      case TC_OBJECT:
        return this.object();
      case TC_ARRAY:
        return this.array();
      case TC_ENUM:
        return this.enumConstant();
      case TC_CLASS:
        return this.assign({ kind: 'class', classDesc: this.classDesc('class') });
      case TC_CLASSDESC:
      case TC_PROXYCLASSDESC:
        return this.newClassDesc(tag);
      case TC_EXCEPTION:
        return this.exception();
      case TC_RESET:
        return c.fail('reset inside an object', c.position - 1);
      default:
        return c.fail(`byte ${hex(tag, 2)} where a Java object begins`, c.position - 1);
    }
  }

  private reference(): Handle {
    const { c } = this;
    const handle = c.i32();
    const found = this.handles[handle - BASE_HANDLE];
    if (found === undefined) return c.fail(`reference to handle ${handle - BASE_HANDLE} of ${this.handles.length}`, c.position - 4);
    return found;
  }

  private string(tag: number): JavaString {
    const { c } = this;
    let value: string;
    if (tag === TC_STRING) value = c.utf();
    else {
      const length = c.i64Number('length of a long string');
      const at = c.take(length, 'long string');
      value = decodeModifiedUtf8(c.bytes, at, at + length, p => c.fail('malformed modified UTF-8 in a long string', p));
    }
    return this.assign({ kind: 'string', value });
  }

  /** A string object where the grammar wants one: field descriptors, enum constants. */
  private stringContent(what: string): string {
    const { c } = this;
    const at = c.position;
    const tag = c.u8();
    if (tag === TC_STRING || tag === TC_LONGSTRING) return this.string(tag).value;
    if (tag === TC_REFERENCE) {
      const found = this.reference();
      if (found.kind === 'string') return found.value;
    }
    if (tag === TC_EXCEPTION) this.exception();
    return c.fail(`${what} is no string`, at);
  }

  /** A class descriptor that must be there: of `what`. */
  private classDesc(what: string): JavaClassDesc {
    return this.classDescOrNull(what) ?? this.c.fail(`${what} without a class descriptor`, this.c.position - 1);
  }
  private classDescOrNull(what: string): JavaClassDesc | undefined {
    const { c } = this;
    const at = c.position;
    const tag = c.u8();
    switch (tag) {
      case TC_NULL:
        return undefined;
      case TC_CLASSDESC:
      case TC_PROXYCLASSDESC:
        return this.newClassDesc(tag);
      case TC_REFERENCE: {
        const found = this.reference();
        if (found.kind === 'class-desc') return found;
        return c.fail(`class descriptor of ${what} refers to a ${found.kind}`, at);
      }
      case TC_EXCEPTION:
        return this.exception();
      default:
        return c.fail(`byte ${hex(tag, 2)} where the class descriptor of ${what} begins`, at);
    }
  }

  private newClassDesc(tag: number): JavaClassDesc {
    const { c } = this;
    const at = c.position - 1;
    this.enter();
    const fields: JavaField[] = [];
    let desc: Mutable<JavaClassDesc>;
    const blank = { kind: 'class-desc', fields, annotation: [], superDesc: undefined } as const;
    if (tag === TC_PROXYCLASSDESC) {
      const interfaces: string[] = [];
      desc = this.assign({
        ...blank,
        name: '',
        serialVersionUid: 0n,
        flags: SC_SERIALIZABLE,
        proxyInterfaces: interfaces,
      });
      for (let n = c.count('number of proxy interfaces', 2); n > 0; n--) interfaces.push(c.utf('interface name'));
    } else {
      const name = c.utf('class name');
      const serialVersionUid = c.i64();
      desc = this.assign({ ...blank, name, serialVersionUid, flags: 0, proxyInterfaces: undefined });
      desc.flags = c.u8();
      for (let n = c.u16(); n > 0; n--) {
        const type = String.fromCharCode(c.u8());
        if (!'BCDFIJSZL['.includes(type)) c.fail(`field type ${JSON.stringify(type)} in class ${name}`, c.position - 1);
        const field = c.utf('field name');
        fields.push({
          name: field,
          descriptor: type === 'L' || type === '[' ? this.stringContent('field descriptor') : type,
        });
        if (fields[fields.length - 1].descriptor[0] !== type) c.fail(`descriptor of field ${field} contradicts its type ${type}`);
      }
    }
    desc.annotation = this.annotation();
    desc.superDesc = this.classDescOrNull('a superclass');
    let supers = 0;
    for (let d = desc.superDesc; d !== undefined; d = d.superDesc)
      if (d === desc || ++supers > MAX_SUPERCLASSES) c.fail(`class ${desc.name} has more than ${MAX_SUPERCLASSES} superclasses`, at);
    this.depth--;
    return desc;
  }

  private object(): JavaObject {
    const { c } = this;
    this.enter();
    const at = c.position;
    const classDesc = this.classDesc('object');
    const data: JavaClassData[] = [];
    const object: JavaObject = this.assign({ kind: 'object', classDesc, data });
    const chain: JavaClassDesc[] = [];
    for (let d: JavaClassDesc | undefined = classDesc; d !== undefined; d = d.superDesc) {
      chain.push(d);
      // a descriptor still being read may be referred to from its own annotation
      if (chain.length > MAX_SUPERCLASSES + 1) c.fail(`class ${classDesc.name} has more than ${MAX_SUPERCLASSES} superclasses`, at);
    }
    for (const d of chain.reverse()) {
      if ((d.flags & SC_EXTERNALIZABLE) !== 0) {
        if ((d.flags & SC_BLOCK_DATA) === 0) {
          const where = { ...c.origin, offset: c.offset };
          throw new UnsupportedError(`externalizable class ${d.name} of protocol version 1, whose data has no end mark`, where);
        }
        data.push({ classDesc: d, values: [], annotation: this.annotation() });
      } else if ((d.flags & SC_SERIALIZABLE) !== 0) {
        const values: JavaValue[] = [];
        const entry: Mutable<JavaClassData> = { classDesc: d, values, annotation: [] };
        const writes = (d.flags & SC_WRITE_METHOD) !== 0;
        if (writes || d.fields.length > 0) data.push(entry);
        for (const field of d.fields) values.push(this.fieldValue(field.descriptor));
        if (writes) entry.annotation = this.annotation();
      } else c.fail(`class ${d.name} of an object is not serializable`, at);
    }
    this.depth--;
    return object;
  }

  private fieldValue(descriptor: string): JavaValue {
    const { c } = this;
    switch (descriptor[0]) {
      case 'B':
        return { kind: 'byte', value: c.i8() };
      case 'S':
        return { kind: 'short', value: c.i16() };
      case 'I':
        return { kind: 'int', value: c.i32() };
      case 'J':
        return { kind: 'long', value: c.i64() };
      case 'F':
        return { kind: 'float', value: c.f32() };
      case 'D':
        return { kind: 'double', value: c.f64() };
      case 'C':
        return { kind: 'char', value: String.fromCharCode(c.u16()) };
      case 'Z':
        return { kind: 'boolean', value: c.u8() !== 0 };
      default:
        return this.value(c.u8());
    }
  }

  private array(): JavaArray | JavaPrimitiveArray {
    const { c } = this;
    this.enter();
    const at = c.position;
    const classDesc = this.classDesc('array');
    const component = classDesc.name[1];
    if (classDesc.name[0] !== '[' || component === undefined) c.fail(`array of class ${JSON.stringify(classDesc.name)}`, at);
    let array: JavaArray | JavaPrimitiveArray;
    if (component === 'L' || component === '[') {
      const elements: JavaValue[] = [];
      array = this.assign({ kind: 'array', classDesc, elements });
      for (let n = c.count('array length'); n > 0; n--) elements.push(this.value(c.u8()));
    } else {
      // nothing inside can refer back, so the handle may come after the values
      array = { kind: 'primitive-array', classDesc, ...readPrimitives(c, component) };
      this.assign(array);
    }
    this.depth--;
    return array;
  }

  private enumConstant(): JavaEnum {
    this.enter();
    const classDesc = this.classDesc('enum constant');
    const constant: Mutable<JavaEnum> = this.assign({ kind: 'enum', classDesc, constant: '' });
    constant.constant = this.stringContent('enum constant');
    this.depth--;
    return constant;
  }

  private exception(): never {
    this.enter();
    this.handles = [];
    const thrown = this.value(this.c.u8());
    this.handles = [];
    throw new Aborted({ kind: 'exception', thrown });
  }

  private block(tag: number): JavaBlock {
    const { c } = this;
    const at = c.position;
    const length = tag === TC_BLOCKDATA ? c.u8() : c.i32();
    if (length < 0) c.fail(`block of ${length} bytes`, at);
    return { kind: 'block', bytes: c.slice(length, 'block') };
  }

  private annotation(): readonly JavaContent[] {
    const { c } = this;
    const contents: JavaContent[] = [];
    for (;;) {
      const tag = c.u8();
      if (tag === TC_ENDBLOCKDATA) break;
      contents.push(tag === TC_BLOCKDATA || tag === TC_BLOCKDATALONG ? this.block(tag) : this.value(tag));
    }
    return contents.length === 0 ? NOTHING : joinBlocks(contents);
  }
}

const NOTHING: readonly JavaContent[] = Object.freeze([]);

/** One block where several stand next to each other: the writer's buffer cuts them at 1,024 bytes, without meaning. */
function joinBlocks(contents: JavaContent[]): JavaContent[] {
  const joined: JavaContent[] = [];
  for (let i = 0; i < contents.length; ) {
    const parts: Uint8Array[] = [];
    for (; i < contents.length; i++) {
      const content = contents[i];
      if (content.kind !== 'block') break;
      parts.push(content.bytes);
    }
    if (parts.length > 0) joined.push({ kind: 'block', bytes: parts.length === 1 ? parts[0] : Buffer.concat(parts) });
    else joined.push(contents[i++]);
  }
  return joined;
}

function hex(n: number, digits: number): string {
  return n.toString(16).padStart(digits, '0');
}
