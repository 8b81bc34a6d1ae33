/**
 * In which way Kryo wrote: its version, whether Scala was on the class path, and which class has which id.
 *
 *   0–8     int, String, float, boolean, byte, char, short, long, double (and their boxes); 9 void in Kryo 2
 *   10–72   Scala's, Flink 1.x with flink-scala                  73–84   Flink's own
 *   base +  the snapshot's registrations in order: base is 85, and 10 (Kryo 2) or 9 (Kryo 5) where Flink's own are missing. One
 *           without a serializer of a class that has an id already takes no number
 *
 * Flink: FlinkChillPackageRegistrar, FlinkScalaKryoInstantiator, KryoUtils.applyRegistrations (1.20, 2.3).
 */
import { BOXES, type KryoClasses } from './classes.js';
import type { Body, ClassRef, KryoDialect } from './reader.js';
import { SCALA_IDS } from './scala.js';
import { bodyOf } from './serializers.js';
import type { KryoConfiguration } from './snapshot.js';

const BASIC = ['int', 'java.lang.String', 'float', 'boolean', 'byte', 'char', 'short', 'long', 'double'];
const FLINKS = [
  'java.util.Arrays$ArrayList',
  'java.util.BitSet',
  'java.util.PriorityQueue',
  'java.util.regex.Pattern',
  'java.sql.Date',
  'java.sql.Time',
  'java.sql.Timestamp',
  'java.net.URI',
  'java.net.InetSocketAddress',
  'java.util.UUID',
  'java.util.Locale',
  'java.text.SimpleDateFormat',
];
const FIRST_SCALA = 10;
const FIRST_FLINKS = 73;
const FIRST_OWN = 85;

export interface Dialect extends KryoDialect {
  /** id of the first registration of the snapshot */
  readonly base: number;
  readonly ids: ReadonlyMap<number, ClassRef>;
}

/** Dialects of one version of Kryo, the likeliest first. */
export function dialectsOf(
  v5: boolean,
  configuration: KryoConfiguration,
  classes: KryoClasses,
  protobuf: KryoDialect['protobuf'],
): readonly Dialect[] {
  const make = (base: number, scala: boolean): Dialect => dialect(v5, base, scala, configuration, classes, protobuf);
  return v5 ? [make(FIRST_OWN, false), make(9, false)] : [make(FIRST_OWN, true), make(FIRST_OWN, false), make(10, false)];
}

function dialect(
  v5: boolean,
  base: number,
  scala: boolean,
  { registrations, defaults }: KryoConfiguration,
  classes: KryoClasses,
  protobuf: KryoDialect['protobuf'],
): Dialect {
  const ids = new Map<number, ClassRef>();
  const byName = new Map<string, ClassRef>();
  const add = (id: number, ref: ClassRef): void => {
    ids.set(id, ref);
    byName.set(ref.name, ref);
  };
  for (const [id, name] of BASIC.entries()) add(id, { name });
  for (const box of Object.keys(BOXES)) byName.set(box, { name: box });
  if (!v5) add(9, { name: 'void' });
  if (base === FIRST_OWN) {
    if (scala) for (const [i, name] of SCALA_IDS.entries()) add(FIRST_SCALA + i, { name, fixed: true });
    for (const [i, name] of FLINKS.entries()) add(FIRST_FLINKS + i, { name, fixed: true });
  }
  let next = base;
  for (const { className, serializer } of registrations) {
    if (serializer !== undefined) add(next++, { name: className, serializer });
    else if (!byName.has(className)) add(next++, { name: className });
  }
  const bodies = new Map<string, Body>();
  const plain = {
    v5,
    scala,
    classes,
    base,
    ids,
    registered: (id: number) => ids.get(id),
    classOf: (name: string) => byName.get(name) ?? { name },
    ...(protobuf === undefined ? {} : { protobuf }),
  };
  return {
    ...plain,
    body(ref) {
      const key = `${ref.name}\n${ref.serializer ?? ''}\n${ref.fixed === true}`;
      let body = bodies.get(key);
      if (body === undefined) {
        body = bodyOf(ref, plain, defaults);
        // a damaged file could name any number of classes
        if (bodies.size < 10_000) bodies.set(key, body);
      }
      return body;
    },
  };
}
