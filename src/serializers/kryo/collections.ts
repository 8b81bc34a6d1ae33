/**
 * Collections, maps and arrays.
 *
 *   Kryo 2   collection   varint n · n × element              map   varint n · n × (key · value)
 *            element      class and object, or "object or null" where the field's type argument is a final class
 *   Kryo 5   collection   flagged n + 1 (0 null, 1 empty) · [header] · elements
 *                         final type argument: flag = elements may be null, then "object or null"; else objects
 *                         otherwise: flag = all of one class: class tag (0: all are null) · u8 may be null · as above;
 *                         no flag: each class and object.            List.of, Set.of: no u8, no nulls
 *            map          varint n + 1 (0 null, 1 empty) · [header] · n × (key · value)
 *   TreeSet, TreeMap, ConcurrentSkipListMap (5), PriorityQueue   header: the comparator, class and object; in Kryo 2 before the count
 *   EnumSet               class tag of the enum · varint n · n × varint ordinal + 1
 *   Arrays.asList         Kryo 2 with Flink's registration: varint n · class tag of the component · n × class and object
 *   arrays                varint n + 1 (0 null) · elements: int, long as varints, other primitives fixed; String and final classes
 *                         "object or null", others class and object
 *   singletonList, Set, Map   class and object, once or twice
 *
 * CollectionSerializer, MapSerializer, DefaultSerializers, DefaultArraySerializers, ImmutableCollectionsSerializers (2.24.0, 5.6.2).
 */
import { BLOB, list, type SqlType, type Value } from '../../types.js';
import { componentOf } from './classes.js';
import { PRIMITIVES } from './known-classes.js';
import { type Body, type ClassRef, type KryoReader, keepPartial } from './reader.js';
import { primitiveBody } from './scalars.js';
import { type KryoList, type KryoMap, type KryoNode, NULL_NODE, scalar, text } from './tree.js';
import { readFlaggedInt, readVarInt } from './wire.js';

/** All elements null take no bytes at all: more of them than this are damage. */
const MAX_NULLS = 100_000;

const newList = (className: string): KryoList => ({ kind: 'list', className, items: [] });
const newMap = (className: string): KryoMap => ({ kind: 'map', className, entries: [] });

/** Reads `n` elements into `node`, keeping those before one that cannot be read. */
function fill(node: KryoList, n: number, element: () => KryoNode): KryoNode {
  try {
    for (let i = 0; i < n; i++) node.items.push(element());
  } catch (error) {
    throw keepPartial(error, part => node.items.push(part), node);
  }
  return node;
}

function fillMap(
  node: KryoMap,
  n: number,
  readKey: () => KryoNode,
  readValue: () => KryoNode,
  between?: { after(): void; before(): void },
): KryoNode {
  let key: KryoNode | undefined;
  try {
    for (let i = 0; i < n; i++) {
      between?.before();
      key = readKey();
      between?.after();
      const entryKey = key;
      const value = readValue();
      node.entries.push({ key: entryKey, value });
      key = undefined;
    }
  } catch (error) {
    throw keepPartial(error, part => node.entries.push(key === undefined ? { key: part, value: undefined } : { key, value: part }), node);
  }
  return node;
}

/** The reader of elements whose class a type argument names, or undefined. */
function known(r: KryoReader, className: string | undefined, mayBeNull = true): (() => KryoNode) | undefined {
  if (className === undefined) return undefined;
  const ref = r.dialect.classOf(className);
  return mayBeNull ? () => r.objectOrNull(ref) : () => r.object(ref);
}

interface Options {
  /** a comparator stands in front (Kryo 2) or behind the count (Kryo 5) */
  readonly comparator?: boolean;
  /** elements are never null (List.of, Set.of, Map.of in Kryo 5) */
  readonly noNulls?: boolean;
}

function comparator(r: KryoReader, whole: KryoNode): void {
  try {
    r.classAndObject();
  } catch (error) {
    throw keepPartial(
      error,
      part => void (whole.kind === 'list' ? whole.items.push(part) : (whole as KryoMap).entries.push({ key: part, value: undefined })),
      whole,
    );
  }
}

function collection2(r: KryoReader, ref: ClassRef, options: Options): KryoNode {
  const node = r.opened(newList(ref.name));
  if (options.comparator === true) comparator(r, node);
  const n = r.count(readVarInt(r.c, 'number of elements'), 'number of elements');
  const element = known(r, r.scoped.take(ref.name)[0]) ?? (() => r.classAndObject());
  return fill(node, n, element);
}

function collection5(r: KryoReader, ref: ClassRef, { comparator: hasComparator, noNulls = false }: Options): KryoNode {
  const node = r.opened(newList(ref.name));
  const generic = r.stacked.nextClass();
  const elementClass = generic !== undefined && r.dialect.classes.isFinal(generic) === true ? generic : undefined;
  try {
    const { flag, value } = elementClass !== undefined && noNulls ? { flag: false, value: readVarInt(r.c) } : readFlaggedInt(r.c);
    if (value === 0) return NULL_NODE;
    const n = value - 1;
    if (hasComparator === true) comparator(r, node);
    if (n === 0) return node;
    if (elementClass !== undefined) return fill(node, r.count(n, 'number of elements'), known(r, elementClass, flag) as () => KryoNode);
    if (!flag) return fill(node, r.count(n, 'number of elements'), () => r.classAndObject());
    const one = r.readClass();
    if (one === undefined) {
      if (n > MAX_NULLS) r.c.fail(`${n} elements, all null`);
      return fill(node, n, () => NULL_NODE);
    }
    const mayBeNull = !noNulls && r.c.bool();
    return fill(node, r.count(n, 'number of elements'), () => (mayBeNull ? r.objectOrNull(one) : r.object(one)));
  } finally {
    r.stacked.pop();
  }
}

function map2(r: KryoReader, ref: ClassRef, options: Options): KryoNode {
  const node = r.opened(newMap(ref.name));
  if (options.comparator === true) comparator(r, node);
  const n = r.count(readVarInt(r.c, 'number of map entries'), 'number of map entries');
  const [keyClass, valueClass] = r.scoped.take(ref.name);
  const key = known(r, keyClass) ?? (() => r.classAndObject());
  const value = known(r, valueClass) ?? (() => r.classAndObject());
  return fillMap(node, n, key, value);
}

function map5(r: KryoReader, ref: ClassRef, { comparator: hasComparator, noNulls = false }: Options): KryoNode {
  const size = readVarInt(r.c, 'number of map entries');
  if (size === 0) return NULL_NODE;
  const node = r.opened(newMap(ref.name));
  if (hasComparator === true) comparator(r, node);
  const n = r.count(size - 1, 'number of map entries');
  if (n === 0) return node;
  const types = r.stacked.next();
  const final = (i: number): string | undefined => {
    const className = types === undefined || types[i] === undefined ? undefined : r.stacked.resolve(types[i]);
    return className !== undefined && r.dialect.classes.isFinal(className) === true ? className : undefined;
  };
  const key = known(r, final(0), !noNulls) ?? (() => r.classAndObject());
  const value = known(r, final(1), !noNulls) ?? (() => r.classAndObject());
  const stack = types === undefined ? undefined : { before: () => r.stacked.push(types[0]), after: () => r.stacked.pop() };
  const whole = fillMap(node, n, key, value, stack);
  r.stacked.pop();
  return whole;
}

const collection =
  (options: Options = {}): Body =>
  (r, ref) =>
    r.v5 ? collection5(r, ref, options) : collection2(r, ref, options);
const map =
  (options: Options = {}): Body =>
  (r, ref) =>
    r.v5 ? map5(r, ref, options) : map2(r, ref, options);

export const collectionBody = collection();
export const mapBody = map();

/** chill's and Flink's PriorityQueueSerializer of Kryo 2: comparator · varint n · n × class and object. */
const priorityQueue2: Body = (r, ref) => {
  const node = newList(ref.name);
  comparator(r, node);
  const n = r.count(readVarInt(r.c, 'number of elements'), 'number of elements');
  return fill(node, n, () => r.classAndObject());
};

const arraysAsList2: Body = (r, ref) => {
  const node = newList(ref.name);
  const n = r.count(readVarInt(r.c, 'number of elements'), 'number of elements');
  r.readClass();
  return fill(node, n, () => r.classAndObject());
};

/** An enum constant: varint ordinal + 1, 0 null. */
export const enumBody: Body = (r, ref) => {
  const at = r.c.position;
  const constants = r.dialect.classes.enumConstants(ref.name);
  if (constants === undefined) return r.giveUp(ref.name, `enum ${ref.name} is in no jar`);
  const ordinal = readVarInt(r.c, 'ordinal') - 1;
  if (ordinal < 0) return NULL_NODE;
  return text(constants[ordinal] ?? r.c.fail(`constant ${ordinal} of ${ref.name}, which has ${constants.length}`, at));
};

const enumSet: Body = (r, ref) => {
  const node = newList(ref.name);
  const at = r.c.position;
  const element = r.readClass() ?? r.c.fail('EnumSet without a class', at);
  const n = r.count(readVarInt(r.c, 'number of elements'), 'number of elements');
  return fill(node, n, () => enumBody(r, element));
};

const singleton: Body = (r, ref) => fill(newList(ref.name), 1, () => r.classAndObject());
const singletonMap: Body = (r, ref) =>
  fillMap(
    newMap(ref.name),
    1,
    () => r.classAndObject(),
    () => r.classAndObject(),
  );

/** Bodies of classes by name, before their base decides. `fixed`: registered by Flink. */
export function collectionBodyOf(name: string, v5: boolean, fixed: boolean): Body | undefined {
  switch (name) {
    case 'java.util.Collections$SingletonList':
    case 'java.util.Collections$SingletonSet':
      return singleton;
    case 'java.util.Collections$SingletonMap':
      return singletonMap;
    case 'java.util.Arrays$ArrayList':
      return fixed && !v5 ? arraysAsList2 : collectionBody;
    case 'java.util.PriorityQueue':
      if (v5) return collection({ comparator: true });
      return fixed ? priorityQueue2 : collectionBody;
    default:
      if (v5 && name.startsWith('java.util.ImmutableCollections$'))
        return /\$(List|Set|SubList)/.test(name) ? collection({ noNulls: true }) : map({ noNulls: true });
      return undefined;
  }
}

/** Bodies by base. */
export const BASES: Readonly<Record<'collection' | 'map' | 'sorted-set' | 'sorted-map' | 'skip-list-map' | 'enum-set', Body>> = {
  collection: collectionBody,
  map: mapBody,
  'sorted-set': collection({ comparator: true }),
  'sorted-map': map({ comparator: true }),
  'skip-list-map': (r, ref) => (r.v5 ? map5(r, ref, { comparator: true }) : map2(r, ref, {})),
  'enum-set': enumSet,
};

/** Bytes of one element of a primitive array, at least. */
const MIN_BYTES: Readonly<Record<string, number>> = { short: 2, char: 2, float: 4, double: 8 };

/** Any array class. */
export const arrayBody: Body = (r, ref) => {
  const component = componentOf(ref.name);
  const size = readVarInt(r.c, 'length of an array');
  if (size === 0) return NULL_NODE;
  const n = size - 1;
  if (PRIMITIVES.has(component)) return primitiveArray(r, component, n);
  const node = r.opened(newList(ref.name));
  r.count(n, 'length of an array');
  const args = r.v5 ? undefined : r.scoped.peek(ref.name);
  // array classes are final themselves
  const isFinal = component.startsWith('[') || r.dialect.classes.isFinal(component);
  if (isFinal === undefined && n > 0) return r.giveUp(ref.name, `class ${component} is in no jar`);
  if (isFinal === true) {
    if (!r.v5) r.scoped.tell(component, args);
    const element = r.dialect.classOf(component);
    return fill(node, n, () => r.objectOrNull(element));
  }
  return fill(node, n, () => {
    if (r.v5) return r.classAndObject();
    const element = r.readClass();
    if (element === undefined) return NULL_NODE;
    r.scoped.tell(element.name, args);
    return r.object(element);
  });
};

function primitiveArray(r: KryoReader, component: string, n: number): KryoNode {
  if (n * (MIN_BYTES[component] ?? 1) > r.c.remaining)
    r.c.fail(`an array of ${n} ${component} values, but only ${r.c.remaining} bytes remain`);
  if (component === 'byte') return scalar(BLOB, r.c.slice(n).slice());
  const body = primitiveBody(component) as Body;
  const ref = { name: component };
  const values: Value[] = [];
  let type: SqlType = { kind: 'JSON' };
  for (let i = 0; i < n; i++) {
    const node = body(r, ref);
    if (node.kind !== 'scalar') break;
    values.push(node.value);
    type = node.type;
  }
  return scalar(list(type), values);
}
