/**
 * What is known of the classes that a Kryo value names: from the jars given, and of the platform without one (known-classes.ts).
 *
 *   fields       instance fields of the whole class chain as FieldSerializer takes them: sorted by name, a subclass's before its
 *                superclass's of the same name; transient ones left out; synthetic ones only where `synthetic` is asked for
 *   finality     a field of a final class has no class tag in the data
 *   base         which default serializer applies: found by the superclasses and interfaces
 *
 * com.esotericsoftware.kryo.serializers.FieldSerializer.rebuildCachedFields (2.24.0), CachedFields.rebuild (5.6.2).
 */
import { type JavaType, type JavaTypeParameter, parseClassSignature, parseSignature } from '../../java/signature.js';
import type { ClassLayout, ClassPool } from '../codec.js';
import { isPlatform, type KnownBase, knownBase, knownEnum, knownFinal, knownLayout, PRIMITIVES } from './known-classes.js';

export interface KryoField {
  readonly name: string;
  /** under which JSON shows it: `Child.dup` where the name occurs twice */
  readonly shown: string;
  /** Java name of the declared class, erased: `int`, `java.util.List`, `[Ljava.lang.String;` */
  readonly type: string;
  /** with type arguments, when the class file has them */
  readonly generic: JavaType | undefined;
  readonly declaringClass: string;
  readonly isSynthetic: boolean;
}
export interface KryoLayout {
  readonly name: string;
  readonly fields: readonly KryoField[];
  readonly hasSynthetic: boolean;
  readonly isRecord: boolean;
}

const MAX_SUPERCLASSES = 64;
const MAX_INTERFACES = 500;
const OBJECT = 'java.lang.Object';
/** Superclasses without instance fields that jars of users do not hold. */
const WITHOUT_FIELDS =
  /^(java\.lang\.(Number|Record)|scala\.runtime\.Abstract\w+|org\.apache\.flink\.api\.java\.tuple\.Tuple|java\.time\.ZoneId|org\.apache\.avro\.specific\.SpecificRecordBase|org\.apache\.flink\.types\.Either|org\.joda\.time\.base\.Abstract\w+|org\.joda\.time\.base\.BaseLocal|org\.joda\.time\.chrono\.BaseChronology)$/;

const LETTERS: Readonly<Record<string, string>> = {
  B: 'byte',
  C: 'char',
  D: 'double',
  F: 'float',
  I: 'int',
  J: 'long',
  S: 'short',
  Z: 'boolean',
  V: 'void',
};

/** The Java name of a descriptor: `I` → `int`, `Ljava/util/List;` → `java.util.List`, `[[I` → itself. */
export function classOfDescriptor(descriptor: string): string {
  if (descriptor.startsWith('[')) return descriptor.replaceAll('/', '.');
  return descriptor.startsWith('L') ? descriptor.slice(1, -1).replaceAll('/', '.') : (LETTERS[descriptor] ?? descriptor);
}

/** Component class of an array class: `[Ljava.lang.String;` → `java.lang.String`. */
export function componentOf(arrayClass: string): string {
  return classOfDescriptor(arrayClass.slice(1));
}

/** The array class of a component: `int` → `[I`. */
export function arrayOf(component: string): string {
  if (component.startsWith('[')) return `[${component}`;
  const letter = Object.keys(LETTERS).find(k => LETTERS[k] === component);
  return letter === undefined ? `[L${component};` : `[${letter}`;
}

export class KryoClasses {
  private readonly layouts = new Map<string, KryoLayout | undefined>();
  private readonly bases = new Map<string, ReadonlySet<string>>();

  constructor(private readonly pool: ClassPool | undefined) {}

  private find(name: string): ClassLayout | undefined {
    return isPlatform(name) ? undefined : this.pool?.find(name);
  }

  /** true when the class is known at all: a layout, or a class of the platform whose base is known */
  has(name: string): boolean {
    return this.find(name) !== undefined || knownLayout(name) !== undefined || this.baseOf(name) !== undefined;
  }

  /** Kryo.isFinal; undefined: not known. */
  isFinal(name: string): boolean | undefined {
    let element = name;
    while (element.startsWith('[')) element = componentOf(element);
    const layout = this.find(element);
    return layout?.isFinal ?? knownFinal(element);
  }

  isInterfaceOrAbstract(name: string): boolean {
    const layout = this.find(name);
    return layout !== undefined && (layout.isInterface || layout.isAbstract);
  }

  /** Constants of an enum by ordinal, also of the class of a constant with a body. */
  enumConstants(name: string): readonly string[] | undefined {
    const layout = this.find(name);
    if (layout === undefined) return knownEnum(name);
    if (layout.superName === 'java.lang.Enum') return layout.enumConstants;
    const above = layout.superName === undefined || layout.superName === OBJECT ? undefined : this.find(layout.superName);
    return above?.superName === 'java.lang.Enum' ? above.enumConstants : undefined;
  }

  /** The class itself and what it extends and implements, nearest first, as far as the jars tell. */
  ancestors(name: string): ReadonlySet<string> {
    const known = this.bases.get(name);
    if (known !== undefined) return known;
    const all = new Set<string>([name]);
    for (const one of all) {
      if (all.size > MAX_INTERFACES) break;
      const layout = this.find(one);
      const above = layout === undefined ? [knownLayout(one)?.superName] : [layout.superName, ...layout.interfaces];
      for (const x of above) if (x !== undefined && x !== OBJECT) all.add(x);
    }
    this.bases.set(name, all);
    return all;
  }

  /** Which default serializer of the platform's bases a class gets. */
  baseOf(name: string): KnownBase | undefined {
    const found = new Set<KnownBase>();
    for (const one of this.ancestors(name)) {
      const base = knownBase(one);
      if (base !== undefined) found.add(base);
    }
    // in the order of Kryo's default serializers
    for (const base of ['throwable', 'enum-set', 'sorted-set', 'collection', 'skip-list-map', 'sorted-map', 'map'] as const)
      if (found.has(base)) return base;
    return undefined;
  }

  /** Type parameters of a class, in order. */
  typeParameters(name: string): readonly JavaTypeParameter[] {
    const signature = this.find(name)?.signature;
    return signature === undefined ? [] : parseClassSignature(signature).parameters;
  }

  /** The superclass with its type arguments, when it has some. */
  genericSuperclass(name: string): (JavaType & { kind: 'class' }) | undefined {
    const signature = this.find(name)?.signature;
    if (signature === undefined) return undefined;
    const { superclass } = parseClassSignature(signature);
    return superclass.kind === 'class' && superclass.args.length > 0 ? superclass : undefined;
  }

  superclassOf(name: string): string | undefined {
    const layout = this.find(name);
    return layout === undefined ? knownLayout(name)?.superName : layout.superName;
  }

  /** A class with a static field MODULE$: an `object` of Scala. Without its class file, the name decides. */
  isScalaObject(name: string): boolean {
    if (!name.endsWith('$')) return false;
    const layout = this.find(name);
    return layout === undefined ? true : layout.fields.some(f => f.name === 'MODULE$' && f.isStatic);
  }

  /** Fields for FieldSerializer, or undefined when a class of the chain is not known. */
  layout(name: string): KryoLayout | undefined {
    if (this.layouts.has(name)) return this.layouts.get(name);
    const layout = this.readLayout(name);
    this.layouts.set(name, layout);
    return layout;
  }

  private readLayout(className: string): KryoLayout | undefined {
    const fields: Omit<KryoField, 'shown'>[] = [];
    let name: string | undefined = className;
    for (let i = 0; name !== undefined && name !== OBJECT; i++) {
      if (i > MAX_SUPERCLASSES) return undefined;
      const own: ClassLayout | undefined = this.find(name);
      const declaringClass: string = name;
      if (own !== undefined) {
        if (own.isInterface) return undefined;
        for (const f of own.fields) {
          if (f.isStatic || f.isTransient) continue;
          fields.push({
            name: f.name,
            type: classOfDescriptor(f.descriptor),
            generic: f.signature === undefined ? undefined : parseSignature(f.signature),
            declaringClass,
            isSynthetic: f.isSynthetic,
          });
        }
        name = own.superName;
        continue;
      }
      const known = knownLayout(name);
      if (known !== undefined) {
        for (const f of known.fields) fields.push({ ...f, generic: undefined, declaringClass, isSynthetic: f.name === '$outer' });
        name = known.superName;
      } else if (WITHOUT_FIELDS.test(name)) break;
      else return undefined;
    }
    const twice = new Set(fields.map(f => f.name).filter((n, i, all) => all.indexOf(n) !== i));
    const shown = fields.map(f => ({
      ...f,
      shown: twice.has(f.name)
        ? `${f.declaringClass.slice(Math.max(f.declaringClass.lastIndexOf('.'), f.declaringClass.lastIndexOf('$')) + 1)}.${f.name}`
        : f.name,
    }));
    // a stable sort: subclasses came first
    shown.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    const first = this.find(className);
    return { name: className, fields: shown, hasSynthetic: shown.some(f => f.isSynthetic), isRecord: first?.isRecord ?? false };
  }
}

/** Boxed class of a primitive and back. */
export const BOXES: Readonly<Record<string, string>> = {
  'java.lang.Integer': 'int',
  'java.lang.Long': 'long',
  'java.lang.Short': 'short',
  'java.lang.Byte': 'byte',
  'java.lang.Character': 'char',
  'java.lang.Boolean': 'boolean',
  'java.lang.Float': 'float',
  'java.lang.Double': 'double',
  'java.lang.Void': 'void',
};

/** MapReferenceResolver.useReferences of Kryo 2: not for boxes. */
export function isBoxed(name: string): boolean {
  return PRIMITIVES.has(name) || BOXES[name] !== undefined;
}
