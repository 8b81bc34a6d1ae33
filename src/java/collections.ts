/**
 * The JDK's collections, out of what they write: elements and entries in stored order.
 *
 *   ArrayList             field size, block i32 capacity, elements          ArrayDeque    block i32 n, elements
 *   LinkedList            block i32 n, elements                             Vector, Stack fields elementData, elementCount
 *   HashSet, Linked…      block i32 capacity, f32 load factor, i32 n, elements
 *   TreeSet               comparator, block i32 n, elements                 Arrays.asList field a
 *   PriorityQueue         fields size, comparator; block i32 n + 1, elements
 *   CopyOnWriteArrayList  block i32 n, elements (…Set: field al)            ConcurrentLinked…, LinkedBlocking…  elements, null
 *   HashMap, Linked…      fields; block i32 capacity, i32 n; key, value …   Hashtable     the same; Properties: (defaults) the same
 *   IdentityHashMap, EnumMap  block i32 n; key, value …                     TreeMap       comparator field; block i32 n; key, value …
 *   ConcurrentHashMap, ConcurrentSkipListMap   … key, value, …, null
 *   Collections.unmodifiable…, synchronized…, checked…   field c, m, list, s…: the wrapped one; singleton…, empty…, nCopies
 *   List.of, Set.of, Map.of   java.util.CollSer: field tag (1 list, 2 set, 3 map; 4 list with nulls), block i32 n, elements
 *   EnumSet               EnumSet$SerializationProxy: fields elementType, elements
 *   Guava Immutable…      ImmutableList$SerializedForm { elements }, ImmutableMap$SerializedForm { keys, values }
 *
 * Mirrors the writeObject methods of java.util and java.util.concurrent (JDK 8 to 21).
 */
import { type JavaContent, type JavaObject, type JavaValue, javaAnnotation, javaField } from './tree.js';

type Elements = (o: JavaObject) => readonly JavaValue[] | undefined;
type Entries = (o: JavaObject) => readonly (readonly [JavaValue, JavaValue])[] | undefined;

/** The elements of a collection or array of objects; undefined for everything else. */
export function javaElements(value: JavaValue): readonly JavaValue[] | undefined {
  let inner = value;
  for (let wrappers = 0; wrappers < 16; wrappers++) {
    if (inner.kind === 'array') return inner.elements;
    if (inner.kind !== 'object') return undefined;
    const reader = lookUp(COLLECTIONS, inner);
    if (reader !== undefined) return reader(inner);
    const wrapped =
      wrappedOne(inner, 'c') ??
      wrappedOne(inner, 'list') ??
      (inner.classDesc.name === 'java.util.concurrent.CopyOnWriteArraySet' ? javaField(inner, 'al') : undefined);
    if (wrapped === undefined) return undefined;
    inner = wrapped;
  }
  return undefined;
}

/** The entries of a map; undefined for everything else. */
export function javaEntries(value: JavaValue): readonly (readonly [JavaValue, JavaValue])[] | undefined {
  let inner = value;
  for (let wrappers = 0; wrappers < 16; wrappers++) {
    if (inner.kind !== 'object') return undefined;
    const reader = lookUp(MAPS, inner);
    if (reader !== undefined) return reader(inner);
    const wrapped = wrappedOne(inner, 'm');
    if (wrapped === undefined) return undefined;
    inner = wrapped;
  }
  return undefined;
}

/** By the class itself, then by what it extends: a user's `class Tags extends ArrayList<String>` is a list too, if it adds no fields. */
function lookUp<T>(table: Readonly<Record<string, T>>, object: JavaObject): T | undefined {
  for (let d: JavaObject['classDesc'] | undefined = object.classDesc; d !== undefined; d = d.superDesc) {
    if (Object.hasOwn(table, d.name)) return table[d.name];
    if (d.fields.length > 0 || (d.flags & 1) !== 0) return undefined;
  }
  return undefined;
}

function wrappedOne(object: JavaObject, field: string): JavaValue | undefined {
  return /^java\.util\.Collections\$(Unmodifiable|Synchronized|Checked)/.test(object.classDesc.name) ? javaField(object, field) : undefined;
}

/** The objects that `className` wrote behind its fields, without blocks. */
function written(object: JavaObject, className: string): JavaValue[] {
  return javaAnnotation(object, className).filter(isValue);
}
function isValue(content: JavaContent): content is JavaValue {
  return content.kind !== 'block' && content.kind !== 'exception';
}
/** `n` as the last i32 of the first block (where it is the number of elements), or undefined. */
function blockCount(object: JavaObject, className: string): number | undefined {
  const block = javaAnnotation(object, className).find(c => c.kind === 'block');
  if (block?.kind !== 'block' || block.bytes.length < 4) return undefined;
  return Buffer.from(block.bytes.buffer, block.bytes.byteOffset, block.bytes.byteLength).readInt32BE(block.bytes.length - 4);
}
function untilNull(values: readonly JavaValue[], step: number): readonly JavaValue[] {
  for (let i = 0; i < values.length; i += step) if (values[i].kind === 'null') return values.slice(0, i);
  return values;
}
function pairs(values: readonly JavaValue[]): readonly (readonly [JavaValue, JavaValue])[] | undefined {
  if (values.length % 2 !== 0) return undefined;
  const entries: (readonly [JavaValue, JavaValue])[] = [];
  for (let i = 0; i < values.length; i += 2) entries.push([values[i], values[i + 1]]);
  return entries;
}

const listed =
  (className: string, count?: (n: number) => number): Elements =>
  o => {
    const values = written(o, className);
    const n = count === undefined ? values.length : count(blockCount(o, className) ?? -1);
    return n === values.length ? values : undefined;
  };
const counted = (className: string): Elements => listed(className, n => n);
const ended =
  (className: string): Elements =>
  o =>
    untilNull(written(o, className), 1);
const arrayField =
  (field: string): Elements =>
  o => {
    const array = javaField(o, field);
    return array?.kind === 'array' ? array.elements : undefined;
  };

function keysOf(field: string): Elements {
  return o => {
    const m = javaField(o, field);
    return m === undefined ? undefined : javaEntries(m)?.map(([key]) => key);
  };
}

const COLLECTIONS: Readonly<Record<string, Elements>> = {
  'java.util.ArrayList': o => {
    const values = written(o, 'java.util.ArrayList');
    const size = javaField(o, 'size', 'java.util.ArrayList');
    return size?.kind === 'int' && size.value === values.length ? values : undefined;
  },
  'java.util.LinkedList': counted('java.util.LinkedList'),
  'java.util.ArrayDeque': counted('java.util.ArrayDeque'),
  'java.util.HashSet': counted('java.util.HashSet'),
  'java.util.LinkedHashSet': counted('java.util.HashSet'),
  'java.util.TreeSet': o => {
    const values = written(o, 'java.util.TreeSet'); // the comparator stands first
    return values.length === (blockCount(o, 'java.util.TreeSet') ?? -2) + 1 ? values.slice(1) : undefined;
  },
  'java.util.PriorityQueue': listed('java.util.PriorityQueue'),
  'java.util.concurrent.CopyOnWriteArrayList': counted('java.util.concurrent.CopyOnWriteArrayList'),
  'java.util.concurrent.ConcurrentLinkedQueue': ended('java.util.concurrent.ConcurrentLinkedQueue'),
  'java.util.concurrent.ConcurrentLinkedDeque': ended('java.util.concurrent.ConcurrentLinkedDeque'),
  'java.util.concurrent.LinkedBlockingQueue': ended('java.util.concurrent.LinkedBlockingQueue'),
  'java.util.concurrent.LinkedBlockingDeque': ended('java.util.concurrent.LinkedBlockingDeque'),
  'java.util.Vector': vector,
  'java.util.Stack': vector,
  'java.util.Arrays$ArrayList': arrayField('a'),
  'java.util.Collections$EmptyList': () => [],
  'java.util.Collections$EmptySet': () => [],
  'java.util.Collections$SingletonList': o => one(javaField(o, 'element')),
  'java.util.Collections$SingletonSet': o => one(javaField(o, 'element')),
  'java.util.Collections$CopiesList': o => {
    const n = javaField(o, 'n');
    const element = javaField(o, 'element');
    return n?.kind === 'int' && n.value >= 0 && n.value <= 1000 && element !== undefined
      ? Array<JavaValue>(n.value).fill(element)
      : undefined;
  },
  'java.util.CollSer': o => (collTag(o) === 3 ? undefined : counted('java.util.CollSer')(o)),
  'java.util.EnumSet$SerializationProxy': arrayField('elements'),
  'java.util.Collections$SetFromMap': keysOf('m'),
  'java.util.concurrent.ConcurrentHashMap$KeySetView': keysOf('map'),
  'com.google.common.collect.ImmutableList$SerializedForm': arrayField('elements'),
  'com.google.common.collect.ImmutableSet$SerializedForm': arrayField('elements'),
};

function vector(o: JavaObject): readonly JavaValue[] | undefined {
  const data = javaField(o, 'elementData', 'java.util.Vector');
  const count = javaField(o, 'elementCount', 'java.util.Vector');
  if (data?.kind !== 'array' || count?.kind !== 'int' || count.value < 0 || count.value > data.elements.length) return undefined;
  return data.elements.slice(0, count.value);
}
function one(value: JavaValue | undefined): readonly JavaValue[] | undefined {
  return value === undefined ? undefined : [value];
}
/** The low byte of CollSer's tag is the kind. */
function collTag(o: JavaObject): number | undefined {
  const tag = javaField(o, 'tag');
  return tag?.kind === 'int' ? tag.value & 0xff : undefined;
}

const mapped =
  (className: string): Entries =>
  o => {
    const entries = pairs(written(o, className));
    return entries?.length === blockCount(o, className) ? entries : undefined;
  };

const MAPS: Readonly<Record<string, Entries>> = {
  'java.util.HashMap': mapped('java.util.HashMap'),
  'java.util.LinkedHashMap': mapped('java.util.HashMap'),
  'java.util.TreeMap': mapped('java.util.TreeMap'),
  'java.util.Hashtable': mapped('java.util.Hashtable'),
  'java.util.Properties': mapped('java.util.Hashtable'),
  'java.util.IdentityHashMap': mapped('java.util.IdentityHashMap'),
  'java.util.EnumMap': mapped('java.util.EnumMap'),
  'java.util.concurrent.ConcurrentHashMap': o => pairs(untilNull(written(o, 'java.util.concurrent.ConcurrentHashMap'), 2)),
  'java.util.concurrent.ConcurrentSkipListMap': o => pairs(untilNull(written(o, 'java.util.concurrent.ConcurrentSkipListMap'), 2)),
  'java.util.Collections$EmptyMap': () => [],
  'java.util.Collections$SingletonMap': o => {
    const k = javaField(o, 'k');
    const v = javaField(o, 'v');
    return k === undefined || v === undefined ? undefined : [[k, v]];
  },
  'java.util.CollSer': o => {
    const values = written(o, 'java.util.CollSer');
    return collTag(o) === 3 && values.length === blockCount(o, 'java.util.CollSer') ? pairs(values) : undefined;
  },
  'com.google.common.collect.ImmutableMap$SerializedForm': guavaMap,
  'com.google.common.collect.ImmutableBiMap$SerializedForm': guavaMap,
};

/** `keys` and `values`: arrays, in newer Guava also immutable collections. */
function guavaMap(o: JavaObject): readonly (readonly [JavaValue, JavaValue])[] | undefined {
  const keys = javaField(o, 'keys');
  const values = javaField(o, 'values');
  const ks = keys === undefined ? undefined : javaElements(keys);
  const vs = values === undefined ? undefined : javaElements(values);
  return ks === undefined || vs === undefined || ks.length !== vs.length ? undefined : ks.map((k, i) => [k, vs[i]] as const);
}
