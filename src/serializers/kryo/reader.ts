/**
 * Kryo's object envelope: classes and references of one value.
 *
 *   class and object   class tag · [object]
 *   class tag          varint 0 null · 1 by name: varint number of the name, and at its first use the name as a string · n: class id n - 2
 *   object             [reference] · body               the reference is left out for boxed primitives, and in Kryo 5 for enums
 *   object or null     varint 0 null · 1 · [reference is this varint] · body
 *   reference          varint 1 a new object, which gets the next number from 0 · n: object n - 2
 *
 * Names and numbers begin anew with each value. com.esotericsoftware.kryo.Kryo, DefaultClassResolver, MapReferenceResolver (2.24.0, 5.6.2).
 */
import type { Cursor } from '../../io/cursor.js';
import { JavaStreamReader } from '../../java/stream.js';
import type { JavaContent } from '../../java/tree.js';
import { INTEGER } from '../../types.js';
import { isBoxed, type KryoClasses } from './classes.js';
import { ScopedGenerics, StackedGenerics } from './generics.js';
import { isPlatform, knownBase, knownLayout } from './known-classes.js';
import { type KryoNode, type KryoRest, NULL_NODE, scalar } from './tree.js';
import { BIG_ENDIAN, type FixedNumbers, LITTLE_ENDIAN, readString, readVarInt } from './wire.js';

/** A class as the data or a declaration names it. */
export interface ClassRef {
  readonly name: string;
  /** class of the serializer that the snapshot registers for it */
  readonly serializer?: string;
  /** one of Flink's fixed registrations (ids 10–84) */
  readonly fixed?: boolean;
}

/** Reads a body; the class is known, class tag and reference were read. */
export type Body = (r: KryoReader, ref: ClassRef) => KryoNode;

/** Everything about a codec that does not change from value to value. */
export interface KryoDialect {
  readonly v5: boolean;
  /** chill's KryoBase: singletons have no body, synthetic fields are written */
  readonly scala: boolean;
  readonly classes: KryoClasses;
  /** by class id */
  registered(id: number): ClassRef | undefined;
  /** a class that is not named in the data: with its registration, if it has one */
  classOf(name: string): ClassRef;
  body(ref: ClassRef): Body;
  /** bytes of a protobuf message by its class, when a schema is at hand */
  protobuf?(className: string, bytes: Uint8Array): KryoNode | undefined;
}

/** Nothing tells how the bytes from `at` on are to be read. Carries what was read so far. */
export class Undecodable {
  constructor(
    readonly reason: string,
    readonly rest: KryoRest,
    readonly at: number,
    public partial: KryoNode,
  ) {}
}

/** Objects within objects; Kryo itself recurses and reaches Java's stack limit some levels later. */
const MAX_DEPTH = 700;

/** Reads one value. */
export class KryoReader {
  readonly numbers: FixedNumbers;
  readonly v5: boolean;
  /** type arguments of Kryo 2's and of Kryo 5's serializers */
  readonly scoped: ScopedGenerics;
  readonly stacked: StackedGenerics;
  /** Kryo.getDepth() */
  depth = 0;
  private readonly objects: (KryoNode | undefined)[] = [];
  private readonly names: ClassRef[] = [];
  /** number of the object whose body is about to be read */
  private opening = -1;
  private readonly javaStreams = new Map<string, JavaStreamReader>();

  constructor(
    readonly c: Cursor,
    readonly dialect: KryoDialect,
  ) {
    this.v5 = dialect.v5;
    this.numbers = dialect.v5 ? LITTLE_ENDIAN : BIG_ENDIAN;
    this.scoped = new ScopedGenerics(dialect.classes);
    this.stacked = new StackedGenerics(dialect.classes, () => this.depth);
  }

  /** Kryo.readClass; undefined: null. */
  readClass(): ClassRef | undefined {
    const at = this.c.position;
    const tag = readVarInt(this.c, 'class tag');
    if (tag === 0) return undefined;
    if (tag === 1) return this.readName();
    return this.dialect.registered(tag - 2) ?? this.c.fail(`class id ${tag - 2} is not registered`, at);
  }

  private readName(): ClassRef {
    const at = this.c.position;
    const number = readVarInt(this.c, 'number of a class name');
    if (number < this.names.length) return this.names[number];
    if (number > this.names.length) this.c.fail(`class name ${number} before name ${this.names.length}`, at);
    const name = readString(this.c, 'class name');
    if (name === null || !/^[^\s;/[\]]+$|^\[+(?:[BCDFIJSZ]|L[^\s;/[\]]+;)$/u.test(name)) this.c.fail('class name is not one', at);
    // by name come only classes without an id: a registration of the same name is another version's
    const ref = { name };
    this.names.push(ref);
    return ref;
  }

  /** Kryo.readClassAndObject */
  classAndObject(): KryoNode {
    this.enter();
    const ref = this.readClass();
    const node = ref === undefined ? NULL_NODE : this.referenced(ref, false);
    this.depth--;
    return node;
  }

  /** Kryo.readObject of a class that was read or is declared. */
  object(ref: ClassRef): KryoNode {
    this.enter();
    const node = this.referenced(ref, false);
    this.depth--;
    return node;
  }

  /** Kryo.readObjectOrNull */
  objectOrNull(ref: ClassRef): KryoNode {
    this.enter();
    const node = this.referenced(ref, true);
    this.depth--;
    return node;
  }

  private enter(): void {
    if (++this.depth > MAX_DEPTH) this.giveUp(undefined, `objects nest deeper than ${MAX_DEPTH}`);
  }

  private hasReference(ref: ClassRef): boolean {
    if (isBoxed(ref.name)) return false;
    return !this.v5 || this.dialect.classes.enumConstants(ref.name) === undefined;
  }

  /** Kryo 5 writes no references to enums: of a class that is in no jar the next number may be a constant. */
  private mayBeEnum({ name, serializer, fixed }: ClassRef): boolean {
    if (!this.v5 || serializer !== undefined || fixed === true || isPlatform(name)) return false;
    return knownLayout(name) === undefined && knownBase(name) === undefined && !this.dialect.classes.has(name);
  }

  private referenced(ref: ClassRef, mayBeNull: boolean): KryoNode {
    if (!this.hasReference(ref)) {
      if (mayBeNull && readVarInt(this.c, 'null mark') === 0) return NULL_NODE;
      this.opening = -1;
      return this.dialect.body(ref)(this, ref);
    }
    const at = this.c.position;
    const tag = readVarInt(this.c, 'reference');
    if (tag === 0) {
      if (!mayBeNull) this.c.fail('reference 0 where no null can be', at);
      return NULL_NODE;
    }
    if (tag > 1) {
      if (this.mayBeEnum(ref)) {
        this.c.position = at;
        this.giveUp(ref.name, `class ${ref.name} is in no jar: this may be a reference, or the constant of an enum`);
      }
      if (tag - 2 >= this.objects.length) this.c.fail(`reference to object ${tag - 2} of ${this.objects.length}`, at);
      return this.objects[tag - 2] ?? unfinished(tag - 2);
    }
    const number = this.objects.length;
    this.objects.push(undefined);
    this.opening = number;
    const node = this.dialect.body(ref)(this, ref);
    this.objects[number] = node;
    return node;
  }

  /** Kryo.reference: the node under which the object that is being read is known; before its parts are read. */
  opened<N extends KryoNode>(node: N): N {
    if (this.opening >= 0) this.objects[this.opening] = node;
    this.opening = -1;
    return node;
  }

  /** A count of parts that take a byte at least. */
  count(n: number, what: string): number {
    if (n > this.c.remaining) this.c.fail(`${what} is ${n}, but only ${this.c.remaining} bytes remain`);
    return n;
  }

  /** One content of a Java object stream; a serializer's stream has its header before its first object only. */
  javaObject(serializer: string): JavaContent {
    let stream = this.javaStreams.get(serializer);
    if (stream === undefined) {
      stream = new JavaStreamReader(this.c);
      stream.readHeader();
      this.javaStreams.set(serializer, stream);
    }
    return stream.readContent();
  }

  /** Throws: from here on the bytes cannot be read. */
  giveUp(className: string | undefined, reason: string): never {
    const rest: KryoRest = { kind: 'rest', className, bytes: new Uint8Array(0) };
    throw new Undecodable(reason, rest, this.c.position, rest);
  }
}

/** An object inside itself that has no node of its own: `{"$ref": number}`. */
const unfinished = (n: number): KryoNode => ({
  kind: 'object',
  className: '',
  fields: [{ name: '$ref', value: scalar(INTEGER, n) }],
});

/** Keeps what a container read before `error`: puts the partial part into it and passes the error on. */
export function keepPartial(error: unknown, put: (part: KryoNode) => void, whole: KryoNode): unknown {
  if (error instanceof Undecodable) {
    put(error.partial);
    error.partial = whole;
  }
  return error;
}
