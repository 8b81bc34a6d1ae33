/**
 * Scala's classes as chill writes them in Flink 1.x (Kryo 2).
 *
 *   Seq, Set, Map, Queue, Buffer …   varint n · n × class and object (maps: of Tuple2)
 *   SortedSet, SortedMap             varint n · ordering · n × class and object
 *   BitSet (immutable)               varint n · [varint largest · n × varint difference]
 *   Some, Left, Right                class and object       Tuple1 … Tuple22   class and object each; specialised ones fixed numbers
 *   Symbol, Regex                    string                  objects (None, Nil, case objects), Unit   nothing
 *   Enumeration.Value                the enumeration, class and object · fixed int id
 *   WrappedArray                     class, object of it (Class) · array, class and object       ClassTag   Class
 *   asJava wrappers                  fields (SeqWrapper, MapWrapper …) or the collection (IterableWrapper)
 *
 * Class ids 10–72 in the order of FlinkScalaKryoInstantiator's AllScalaRegistrar (flink-scala 1.20); com.twitter.chill 0.7.6.
 */
import { BIGINT, DOUBLE, INTEGER, list } from '../../types.js';
import { type Body, type KryoReader, keepPartial } from './reader.js';
import { type KryoList, type KryoMap, type KryoNode, NULL_NODE, scalar, text } from './tree.js';
import { readString, readVarInt } from './wire.js';

const IMMUTABLE = 'scala.collection.immutable.';
const MUTABLE = 'scala.collection.mutable.';
const WRAPPERS = 'scala.collection.convert.Wrappers$';
const SPECIALISED = ['JJ', 'JI', 'JD', 'IJ', 'II', 'ID', 'DJ', 'DI', 'DD'];

/** Classes with the ids 10 to 72. */
export const SCALA_IDS: readonly string[] = [
  ...['SeqWrapper', 'IteratorWrapper', 'MapWrapper', 'JListWrapper', 'JMapWrapper'].map(n => WRAPPERS + n),
  'scala.Some',
  'scala.util.Left',
  'scala.util.Right',
  `${IMMUTABLE}Vector`,
  ...['Set$Set1', 'Set$Set2', 'Set$Set3', 'Set$Set4', 'HashSet$HashTrieSet'].map(n => IMMUTABLE + n),
  ...['Map$Map1', 'Map$Map2', 'Map$Map3', 'Map$Map4', 'HashMap$HashTrieMap'].map(n => IMMUTABLE + n),
  ...['Range$Inclusive', 'NumericRange$Inclusive', 'NumericRange$Exclusive'].map(n => IMMUTABLE + n),
  ...['BitSet', 'HashMap', 'HashSet'].map(n => MUTABLE + n),
  `${WRAPPERS}IterableWrapper`,
  ...Array.from({ length: 22 }, (_, i) => `scala.Tuple${i + 1}`),
  ...['J', 'I', 'D'].map(t => `scala.Tuple1$mc${t}$sp`),
  ...SPECIALISED.map(t => `scala.Tuple2$mc${t}$sp`),
  'scala.Symbol',
  'scala.reflect.ClassTag',
  'scala.runtime.BoxedUnit',
];

function elements(r: KryoReader, node: KryoList, n: number): KryoNode {
  try {
    for (let i = 0; i < n; i++) node.items.push(r.classAndObject());
  } catch (error) {
    throw keepPartial(error, part => node.items.push(part), node);
  }
  return node;
}

function count(r: KryoReader): number {
  return r.count(readVarInt(r.c, 'number of elements'), 'number of elements');
}

const traversable: Body = (r, ref) => elements(r, { kind: 'list', className: ref.name, items: [] }, count(r));

/** Pairs become map entries; anything else stays a list. */
const traversableMap: Body = (r, ref) => asMap(traversable(r, ref));

function asMap(node: KryoNode): KryoNode {
  if (node.kind !== 'list') return node;
  const map: KryoMap = { kind: 'map', className: node.className, entries: [] };
  for (const item of node.items) {
    if (item.kind !== 'object' || item.fields.length !== 2 || item.fields[0].name !== '_1') return node;
    map.entries.push({ key: item.fields[0].value, value: item.fields[1].value });
  }
  return map;
}

/** varint n · ordering · elements. The ordering is left out. */
function sorted(r: KryoReader, className: string): KryoList {
  const node: KryoList = { kind: 'list', className, items: [] };
  const n = count(r);
  try {
    r.classAndObject();
  } catch (error) {
    throw keepPartial(error, part => node.items.push(part), node);
  }
  elements(r, node, n);
  return node;
}

const tuple =
  (n: number): Body =>
  r => {
    const node = r.opened<KryoNode & { kind: 'object' }>({ kind: 'object', className: '', fields: [] });
    for (let i = 1; i <= n; i++) {
      try {
        node.fields.push({ name: `_${i}`, value: r.classAndObject() });
      } catch (error) {
        throw keepPartial(error, part => node.fields.push({ name: `_${i}`, value: part }), node);
      }
    }
    return node;
  };

const specialised =
  (letters: string): Body =>
  r => ({
    kind: 'object',
    className: '',
    fields: Array.from(letters, (letter, i) => ({ name: `_${i + 1}`, value: fixedNumber(r, letter) })),
  });
function fixedNumber(r: KryoReader, letter: string): KryoNode {
  if (letter === 'J') return scalar(BIGINT, r.numbers.i64(r.c));
  return letter === 'I' ? scalar(INTEGER, r.numbers.i32(r.c)) : scalar(DOUBLE, r.numbers.f64(r.c));
}

const choice =
  (name: string): Body =>
  r => {
    const node: KryoNode & { kind: 'object' } = { kind: 'object', className: '', fields: [] };
    try {
      node.fields.push({ name, value: r.classAndObject() });
    } catch (error) {
      throw keepPartial(error, part => node.fields.push({ name, value: part }), node);
    }
    return node;
  };

const bitSet: Body = r => {
  const n = count(r);
  const bits: number[] = [];
  if (n > 0) readVarInt(r.c, 'largest bit');
  let bit = 0;
  for (let i = 0; i < n; i++) bits.push((bit += readVarInt(r.c, 'bit')));
  return scalar(list(INTEGER), bits);
};

/** A value of an Enumeration: `{"$class": enumeration, "id": n}`; its name is in the code of the enumeration only. */
const enumerationValue: Body = r => {
  const enumeration = r.classAndObject();
  const className = enumeration.kind === 'object' ? enumeration.className : '';
  return { kind: 'object', className, fields: [{ name: 'id', value: scalar(INTEGER, r.numbers.i32(r.c)) }] };
};

/** `None` is null, as everywhere; Nil is empty; other objects only have their class. */
const singleton: Body = (_r, ref) => {
  if (ref.name === 'scala.None$') return NULL_NODE;
  if (/^scala\.collection\..*(Nil|Empty\w*)\$$/.test(ref.name)) {
    if (/Map/.test(ref.name)) return { kind: 'map', className: ref.name, entries: [] };
    return { kind: 'list', className: ref.name, items: [] };
  }
  return { kind: 'object', className: ref.name, fields: [] };
};

const wrappedArray: Body = r => {
  r.object(r.dialect.classOf('java.lang.Class'));
  return r.classAndObject();
};

const BY_NAME: Readonly<Record<string, Body>> = {
  'scala.Some': r => r.classAndObject(),
  'scala.util.Left': choice('left'),
  'scala.util.Right': choice('right'),
  'scala.Symbol': r => text(`'${readString(r.c) ?? ''}`),
  'scala.util.matching.Regex': r => text(readString(r.c)),
  'scala.runtime.BoxedUnit': () => text('()'),
  'scala.reflect.ClassTag': r => r.object(r.dialect.classOf('java.lang.Class')),
  'scala.Enumeration$Val': enumerationValue,
  'scala.Enumeration$Value': enumerationValue,
  [`${WRAPPERS}IterableWrapper`]: r => r.classAndObject(),
  ...Object.fromEntries(Array.from({ length: 22 }, (_, i) => [`scala.Tuple${i + 1}`, tuple(i + 1)])),
  ...Object.fromEntries(['J', 'I', 'D', ...SPECIALISED].map(t => [`scala.Tuple${t.length}$mc${t}$sp`, specialised(t)])),
  [`${MUTABLE}BitSet`]: traversable,
};

/** Empty collections that are objects and have a serializer all the same; EmptySet and the empty Stream have none. */
const EMPTY_WITH_BODY = /^scala\.collection\.immutable\.(Nil|(\w+\$)?(Empty\w*Map|EmptyListSet|Nil))\$$/;

/** chill's default serializers of collections, by what their names say of their superclasses. */
const SERIALIZED =
  /^scala\.collection\.(immutable\.(\$colon\$colon|List|Vector|Queue|ListSet\b|Set\$Set\d|HashSet\$HashTrieSet|\w*Map)|mutable\.(\w*(Buffer|Queue|Set|Map)))/;

/** A body of chill's, or undefined. `isObject`: the class is an `object`. */
export function scalaBody(name: string, isObject: boolean): Body | undefined {
  if (isObject) return EMPTY_WITH_BODY.test(name) ? (/Map/.test(name) ? traversableMap : traversable) : singleton;
  if (Object.hasOwn(BY_NAME, name)) return BY_NAME[name];
  if (/^scala\.collection\.mutable\.WrappedArray/.test(name)) return wrappedArray;
  if (/^scala\.collection\.immutable\.BitSet/.test(name)) return bitSet;
  if (/^scala\.collection\.immutable\.(Tree|Sorted)Map/.test(name)) return (r, ref) => asMap(sorted(r, ref.name));
  if (/^scala\.collection\.immutable\.(Tree|Sorted)Set/.test(name)) return (r, ref) => sorted(r, ref.name);
  if (!SERIALIZED.test(name)) return undefined;
  return /Map/.test(name.slice(name.lastIndexOf('.') + 1)) ? traversableMap : traversable;
}
