/**
 * JSON text as a tree that loses nothing: numbers keep their digits, objects the order of their members and repeated names. It is
 * for text that people write; values are written by json.ts.
 */
export type JsonNode =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly members: readonly { readonly name: string; readonly value: JsonNode }[] };

const MAX_DEPTH = 200;
const TOKEN =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(true|false|null))/y;

/** The tree of a JSON text; undefined when it is none, or nested too deep. */
export function parseJson(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  try {
    const node = reader.node(0);
    return reader.ended() ? node : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The tree as text without white space, as values are written.
 * @param number how a number is spelled; as it stands
 */
export function compactJson(node: JsonNode, number: (text: string) => string = text => text): string {
  const inner = (n: JsonNode) => compactJson(n, number);
  switch (node.kind) {
    case 'null':
      return 'null';
    case 'boolean':
      return String(node.value);
    case 'number':
      return number(node.text);
    case 'string':
      return JSON.stringify(node.value);
    case 'array':
      return `[${node.items.map(inner).join(',')}]`;
    case 'object':
      return `{${node.members.map(m => `${JSON.stringify(m.name)}:${inner(m.value)}`).join(',')}}`;
  }
}

class Reader {
  private at = 0;
  private token = '';
  constructor(private readonly text: string) {
    this.next();
  }

  ended(): boolean {
    return this.token === '' && this.text.slice(this.at).trim() === '';
  }

  private next(): string {
    const { token } = this;
    TOKEN.lastIndex = this.at;
    const match = TOKEN.exec(this.text);
    this.token = match === null ? '' : match[0].trimStart();
    if (match !== null) this.at += match[0].length;
    return token;
  }

  private expect(token: string): void {
    if (this.next() !== token) throw new SyntaxError(token);
  }

  node(depth: number): JsonNode {
    if (depth > MAX_DEPTH) throw new SyntaxError('depth');
    const token = this.next();
    switch (token) {
      case '':
        throw new SyntaxError('end');
      case 'null':
        return { kind: 'null' };
      case 'true':
      case 'false':
        return { kind: 'boolean', value: token === 'true' };
      case '[': {
        const items: JsonNode[] = [];
        if (this.token !== ']') {
          items.push(this.node(depth + 1));
          while (this.token === ',') {
            this.next();
            items.push(this.node(depth + 1));
          }
        }
        this.expect(']');
        return { kind: 'array', items };
      }
      case '{': {
        const members: { name: string; value: JsonNode }[] = [];
        while (this.token !== '}') {
          if (members.length > 0) this.expect(',');
          const name = this.next();
          if (!name.startsWith('"')) throw new SyntaxError(name);
          this.expect(':');
          members.push({ name: JSON.parse(name) as string, value: this.node(depth + 1) });
        }
        this.expect('}');
        return { kind: 'object', members };
      }
      default:
        if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) as string };
        if (/^[-0-9]/.test(token)) return { kind: 'number', text: token };
        throw new SyntaxError(token);
    }
  }
}
