/**
 * Generic signatures of class files: text → tree.
 *
 *   type        B C D F I J S Z V · class type · `T` name `;` · `[` type
 *   class type  `L` package/Name [`<` argument+ `>`] (`.` Inner [`<` argument+ `>`])* `;`
 *   argument    `*` · [`+` extends | `-` super] type
 *   class       [`<` parameter+ `>`] class type of the superclass, class types of the interfaces
 *   parameter   name `:` [type] (`:` type)*
 *
 * A field descriptor is a signature without arguments. Mirrors JVMS 4.3.2 and 4.7.9.1 (Java SE 21).
 */
import { CorruptError } from '../errors.js';

export type JavaType =
  | { readonly kind: 'primitive'; readonly letter: 'B' | 'C' | 'D' | 'F' | 'I' | 'J' | 'S' | 'Z' | 'V' }
  | {
      readonly kind: 'class';
      /** Java name: `java.util.Map$Entry` */
      readonly name: string;
      /** of the last class in the chain; empty when raw */
      readonly args: readonly JavaTypeArgument[];
    }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'array'; readonly element: JavaType };
export interface JavaTypeArgument {
  /** `*` has no type; `+` extends, `-` super, `=` exactly */
  readonly wildcard: '*' | '+' | '-' | '=';
  readonly type: JavaType | undefined;
}
export interface JavaTypeParameter {
  readonly name: string;
  /** class bound first (when there is one), then interface bounds */
  readonly bounds: readonly JavaType[];
}
export interface ClassSignature {
  readonly parameters: readonly JavaTypeParameter[];
  readonly superclass: JavaType;
  readonly interfaces: readonly JavaType[];
}

const MAX_DEPTH = 64;

/** A field's signature or descriptor. @throws CorruptError */
export function parseSignature(text: string): JavaType {
  const p = new Parser(text);
  const type = p.type();
  p.end();
  return type;
}

/** The Signature attribute of a class. @throws CorruptError */
export function parseClassSignature(text: string): ClassSignature {
  const p = new Parser(text);
  const parameters = p.parameters();
  const superclass = p.type();
  const interfaces: JavaType[] = [];
  while (!p.done()) interfaces.push(p.type());
  return { parameters, superclass, interfaces };
}

class Parser {
  private at = 0;
  private depth = 0;
  constructor(private readonly text: string) {}

  done(): boolean {
    return this.at === this.text.length;
  }
  end(): void {
    if (!this.done()) this.fail();
  }
  private fail(): never {
    throw new CorruptError(`malformed signature ${JSON.stringify(this.text.slice(0, 200))} at character ${this.at}`);
  }
  private eat(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }
  private need(char: string): void {
    if (!this.eat(char)) this.fail();
  }
  /** Characters up to one of `stops`, at least one. */
  private name(stops: string): string {
    const start = this.at;
    while (this.at < this.text.length && !stops.includes(this.text[this.at])) this.at++;
    if (this.at === start || this.done()) this.fail();
    return this.text.slice(start, this.at);
  }

  type(): JavaType {
    if (++this.depth > MAX_DEPTH) this.fail();
    const type = this.oneType();
    this.depth--;
    return type;
  }
  private oneType(): JavaType {
    const letter = this.text[this.at++];
    switch (letter) {
      case 'B':
      case 'C':
      case 'D':
      case 'F':
      case 'I':
      case 'J':
      case 'S':
      case 'Z':
      case 'V':
        return { kind: 'primitive', letter };
      case '[':
        return { kind: 'array', element: this.type() };
      case 'T': {
        const name = this.name(';');
        this.need(';');
        return { kind: 'variable', name };
      }
      case 'L':
        return this.classType();
      default:
        this.at--;
        return this.fail();
    }
  }
  private classType(): JavaType {
    let name = this.name(';<.').replaceAll('/', '.');
    let args = this.args();
    while (this.eat('.')) {
      name += `$${this.name(';<.')}`;
      args = this.args();
    }
    this.need(';');
    return { kind: 'class', name, args };
  }
  private args(): JavaTypeArgument[] {
    const args: JavaTypeArgument[] = [];
    if (!this.eat('<')) return args;
    do {
      if (this.eat('*')) args.push({ wildcard: '*', type: undefined });
      else if (this.eat('+')) args.push({ wildcard: '+', type: this.type() });
      else if (this.eat('-')) args.push({ wildcard: '-', type: this.type() });
      else args.push({ wildcard: '=', type: this.type() });
    } while (!this.eat('>'));
    return args;
  }
  parameters(): JavaTypeParameter[] {
    const parameters: JavaTypeParameter[] = [];
    if (!this.eat('<')) return parameters;
    do {
      const name = this.name(':');
      const bounds: JavaType[] = [];
      this.need(':');
      if ('L[T'.includes(this.text[this.at] ?? '')) bounds.push(this.type());
      while (this.eat(':')) bounds.push(this.type());
      parameters.push({ name, bounds });
    } while (!this.eat('>'));
    return parameters;
  }
}
