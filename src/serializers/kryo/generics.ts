/**
 * How Kryo uses type arguments of fields: `List<String>` writes its elements without their class, since String is final.
 *
 * Kryo 2 (ScopedGenerics): a field hands the first level of its type arguments to the serializer of the value's class, of which
 * there is one for each class. A collection or map uses them once; FieldSerializer keeps them and resolves its type variables
 * by name, through the classes around it.
 *
 * Kryo 5 (StackedGenerics): a stack of full types beside the depth of the object they belong to; a serializer takes the one of
 * its own depth and pushes the last argument for the next level. Type variables are resolved by declaration.
 *
 * FieldSerializerGenericsUtil, Generics, CollectionSerializer.setGenerics (2.24.0); DefaultGenerics, GenericsUtil (5.6.2).
 */
import type { JavaType, JavaTypeArgument } from '../../java/signature.js';
import { arrayOf, type KryoClasses, type KryoField } from './classes.js';

const OBJECT = 'java.lang.Object';

/** First level of type arguments by class; undefined where one is not known. */
export type Arguments = readonly (string | undefined)[];
type Scope = { readonly classes: ReadonlyMap<string, string>; readonly parent: Scope | undefined };

export class ScopedGenerics {
  /** what serializers were told last, by class */
  private readonly told = new Map<string, Arguments | undefined>();
  private scope: Scope | undefined;

  constructor(private readonly classes: KryoClasses) {}

  /** Serializer.setGenerics */
  tell(className: string, args: Arguments | undefined): void {
    this.told.set(className, args);
  }

  /** Arguments for a collection or map, which forgets them: only those of final classes count. */
  take(className: string): Arguments {
    const args = this.told.get(className);
    this.told.delete(className);
    return (args ?? []).map(a => (a !== undefined && this.classes.isFinal(a) === true ? a : undefined));
  }

  /** Arguments that an array hands on to its elements. */
  peek(className: string): Arguments | undefined {
    return this.told.get(className);
  }

  /** Enters a class with its own type variables; returns what leave() takes. */
  enter(className: string): Scope | undefined {
    const before = this.scope;
    const parameters = this.classes.typeParameters(className);
    if (parameters.length > 0) {
      const args = this.told.get(className);
      const scope = new Map<string, string>();
      parameters.forEach((p, i) => {
        const concrete = args !== undefined && args.length > i ? args[i] : this.resolve(p.name);
        if (concrete !== undefined) scope.set(p.name, concrete);
      });
      this.scope = { classes: scope, parent: before };
    }
    return before;
  }
  leave(before: Scope | undefined): void {
    this.scope = before;
  }

  private resolve(variable: string): string | undefined {
    for (let s = this.scope; s !== undefined; s = s.parent) {
      const found = s.classes.get(variable);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The class of a field, and the arguments that its serializer is told. `inGeneric`: the owner has type variables. */
  ofField(field: KryoField, inGeneric: boolean): { type: string; args: Arguments | undefined } {
    const { generic } = field;
    if (generic === undefined || isPlain(generic)) return { type: field.type, args: undefined };
    if (generic.kind === 'variable') {
      const concrete = inGeneric ? this.resolve(generic.name) : undefined;
      return concrete === undefined ? { type: field.type, args: undefined } : { type: concrete, args: [concrete] };
    }
    const args = this.argumentsOf(generic, inGeneric);
    return { type: field.type, args: args?.[0] === undefined ? undefined : args };
  }

  private argumentsOf(type: JavaType, inGeneric: boolean): Arguments | undefined {
    if (type.kind === 'array') {
      if (type.element.kind === 'variable') {
        const concrete = inGeneric ? this.resolve(type.element.name) : undefined;
        return concrete === undefined ? undefined : [concrete];
      }
      return this.argumentsOf(type.element, inGeneric);
    }
    if (type.kind !== 'class' || type.args.length === 0) return undefined;
    return type.args.map(a => this.argument(a, inGeneric));
  }

  private argument({ wildcard, type }: JavaTypeArgument, inGeneric: boolean): string | undefined {
    if (wildcard !== '=' || type === undefined) return OBJECT;
    if (type.kind === 'class') return type.name;
    if (type.kind === 'variable') return inGeneric ? this.resolve(type.name) : undefined;
    if (type.kind !== 'array') return undefined;
    if (isPlain(type)) return erased(type);
    if (type.element.kind !== 'variable') return undefined;
    const concrete = inGeneric ? this.resolve(type.element.name) : undefined;
    return concrete === undefined ? undefined : arrayOf(concrete);
  }
}

/** A full type: its class or a type variable (`declaring class#name`), and its arguments. */
export interface FullType {
  readonly className?: string;
  readonly variable?: string;
  readonly args?: readonly FullType[];
}

export class StackedGenerics {
  private readonly types: { readonly type: FullType; readonly depth: number }[] = [];
  private readonly variables: { readonly variable: string; readonly className: string }[] = [];
  private readonly fieldTypes = new Map<KryoField, Map<string, FullType>>();

  constructor(
    private readonly classes: KryoClasses,
    private readonly depth: () => number,
  ) {}

  push(type: FullType): void {
    this.types.push({ type, depth: this.depth() });
  }
  /** Only what was pushed at this depth or deeper. */
  pop(): void {
    const top = this.types.at(-1);
    if (top !== undefined && top.depth >= this.depth()) this.types.pop();
  }
  /** The arguments for the object that is being read; the last one is pushed for the next level. */
  next(): readonly FullType[] | undefined {
    const top = this.types.at(-1);
    if (top?.type.args === undefined || top.depth !== this.depth() - 1) return undefined;
    const { args } = top.type;
    this.push(args[args.length - 1]);
    return args;
  }
  nextClass(): string | undefined {
    const args = this.next();
    return args === undefined ? undefined : this.resolve(args[0]);
  }
  /** The class of a type, if it is known. */
  resolve(type: FullType): string | undefined {
    if (type.className !== undefined) return type.className;
    for (let i = this.variables.length - 1; i >= 0; i--)
      if (this.variables[i].variable === type.variable) return this.variables[i].className;
    return undefined;
  }

  /** Stores what the type variables of `className` and of its superclasses stand for; returns how many. */
  pushVariables(className: string, args: readonly FullType[]): number {
    const own = this.classes.typeParameters(className).length;
    const parameters: string[][] = [];
    for (let current: string | undefined = className, i = 0; current !== undefined && current !== OBJECT && i < 64; i++) {
      for (const p of this.classes.typeParameters(current)) parameters.push(this.inherited(current, p.name));
      current = this.classes.superclassOf(current);
    }
    if (parameters.length === 0 || own > args.length || args.length > parameters.length) return 0;
    let pushed = 0;
    args.forEach((arg, i) => {
      const className_ = this.resolve(arg);
      if (className_ === undefined) return;
      for (const variable of parameters[i]) {
        this.variables.push({ variable, className: className_ });
        pushed++;
      }
    });
    return pushed;
  }
  popVariables(count: number): void {
    this.variables.length -= count;
  }

  /** A type variable and those of superclasses that it is passed to. */
  private inherited(className: string, name: string): string[] {
    const all = [`${className}#${name}`];
    let current = className;
    let variable = name;
    for (let i = 0; i < 64; i++) {
      const above = this.classes.genericSuperclass(current);
      if (above === undefined) break;
      const parameters = this.classes.typeParameters(above.name);
      above.args.forEach((a, k) => {
        if (a.wildcard === '=' && a.type?.kind === 'variable' && a.type.name === variable && parameters[k] !== undefined) {
          variable = parameters[k].name;
          all.push(`${above.name}#${variable}`);
        }
      });
      current = above.name;
    }
    return all;
  }

  /** The type of a field in an object of class `owner`. */
  ofField(field: KryoField, owner: string): FullType {
    const { generic } = field;
    if (generic === undefined) return { className: field.type };
    let byOwner = this.fieldTypes.get(field);
    if (byOwner === undefined) this.fieldTypes.set(field, (byOwner = new Map()));
    let type = byOwner.get(owner);
    if (type === undefined) byOwner.set(owner, (type = this.full(field.declaringClass, owner, generic, 0)));
    return type;
  }

  private full(from: string, to: string, type: JavaType, depth: number): FullType {
    if (depth > 32) return {};
    if (type.kind === 'class' && type.args.length > 0) {
      const args = type.args.map(a => {
        if (a.wildcard === '*' || a.type === undefined) return { className: OBJECT };
        return a.wildcard === '=' ? this.full(from, to, a.type, depth + 1) : this.resolved(from, to, a.type);
      });
      return { className: type.name, args };
    }
    if (type.kind === 'array' && !isPlain(type)) {
      let dimensions = 0;
      let element: JavaType = type;
      for (; element.kind === 'array'; element = element.element) dimensions++;
      const of = this.full(from, to, element, depth + 1);
      if (of.className === undefined) return of;
      let className = of.className;
      for (let i = 0; i < dimensions; i++) className = arrayOf(className);
      return { ...of, className };
    }
    return this.resolved(from, to, type);
  }

  private resolved(from: string, to: string, type: JavaType): FullType {
    if (type.kind !== 'variable') return { className: erased(type) };
    const found = this.resolveVariable(from, to, { className: from, name: type.name }, true, 0);
    return 'type' in found ? { className: erased(found.type) } : { variable: `${found.className}#${found.name}` };
  }

  private resolveVariable(
    from: string,
    current: string,
    variable: { className: string; name: string },
    first: boolean,
    depth: number,
  ): { className: string; name: string } | { type: JavaType } {
    const above = this.classes.genericSuperclass(current);
    if (above === undefined || depth > 32) return variable;
    let wanted = variable;
    if (above.name !== from) {
      const found = this.resolveVariable(from, above.name, variable, false, depth + 1);
      if ('type' in found) return found;
      wanted = found;
    }
    const index = this.classes.typeParameters(above.name).findIndex(p => p.name === wanted.name);
    const arg = above.args[index]?.type;
    if (arg === undefined) return wanted;
    if (arg.kind !== 'variable') return { type: arg };
    return first ? wanted : { className: current, name: arg.name };
  }
}

/** Without any type argument or variable. */
function isPlain(type: JavaType): boolean {
  if (type.kind === 'array') return isPlain(type.element);
  return type.kind === 'primitive' || (type.kind === 'class' && type.args.length === 0);
}

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

/** The class of a type without its arguments. */
export function erased(type: JavaType): string {
  switch (type.kind) {
    case 'primitive':
      return LETTERS[type.letter];
    case 'class':
      return type.name;
    case 'variable':
      return OBJECT;
    case 'array':
      return arrayOf(erased(type.element));
  }
}
