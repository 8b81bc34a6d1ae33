/**
 * Types in a compiled plan: text as Flink's SQL spells it, or a JSON object where text would lose something (time attributes).
 *
 *   "ROW<`word` VARCHAR(2147483647), `n` INT NOT NULL> NOT NULL"      "TIMESTAMP(3) WITH LOCAL TIME ZONE"      "INTERVAL SECOND(3)"
 *   {"type":"ROW","nullable":false,"fields":[{"name":"ts","fieldType":{"type":"TIMESTAMP_WITHOUT_TIME_ZONE","precision":3,"kind":"ROWTIME"}}]}
 *   {"type":"STRUCTURED_TYPE","implementationClass":"…","attributes":[{"name":"map","attributeType":"MAP<BIGINT, BIGINT NOT NULL>"}]}
 *
 * Mirrors LogicalTypeJsonSerializer and LogicalType.asSerializableString (Flink 1.15–2.3). What is not known becomes OTHER, which
 * agrees with any type of a snapshot.
 */
import type { LogicalField, LogicalType } from '../serializers/table/logical-type.js';

const MAX_DEPTH = 64;
const MAX_LENGTH = 2147483647;

/** A type as a plan writes it. Never throws: what cannot be read is OTHER. */
export function planType(json: unknown, depth = 0): LogicalType {
  if (typeof json === 'string') {
    const parser = new TypeParser(json);
    return parser.whole() ?? other(json);
  }
  if (typeof json !== 'object' || json === null || depth > MAX_DEPTH) return other('unknown');
  const o = json as Readonly<Record<string, unknown>>;
  const nullable = o['nullable'] !== false;
  const number = (key: string, otherwise: number): number => (typeof o[key] === 'number' ? o[key] : otherwise);
  const inner = (key: string): LogicalType => planType(o[key], depth + 1);
  const fields = (list: string, type: string): LogicalField[] =>
    (Array.isArray(o[list]) ? o[list] : []).map(f => ({ name: String(f?.name), type: planType(f?.[type], depth + 1) }));
  const kind = String(o['type']);
  switch (kind) {
    case 'ROW':
      return { kind, nullable, fields: fields('fields', 'fieldType') };
    case 'STRUCTURED_TYPE':
      if (!Array.isArray(o['attributes'])) return other(kind);
      return { kind: 'STRUCTURED', nullable, name: String(o['implementationClass']), fields: fields('attributes', 'attributeType') };
    case 'DISTINCT_TYPE':
      return 'sourceType' in o ? { kind: 'DISTINCT', nullable, name: 'DISTINCT', source: inner('sourceType') } : other(kind);
    case 'ARRAY':
    case 'MULTISET':
      return { kind, nullable, element: inner('elementType') };
    case 'MAP':
      return { kind, nullable, key: inner('keyType'), value: inner('valueType') };
    case 'TIMESTAMP_WITHOUT_TIME_ZONE':
      return { kind: 'TIMESTAMP', nullable, precision: number('precision', 6) };
    case 'TIMESTAMP_WITH_LOCAL_TIME_ZONE':
      return { kind: 'TIMESTAMP_LTZ', nullable, precision: number('precision', 6) };
    case 'TIMESTAMP_WITH_TIME_ZONE':
      return { kind: 'TIMESTAMP_TZ', nullable, precision: number('precision', 6) };
    case 'CHAR':
    case 'VARCHAR':
    case 'BINARY':
    case 'VARBINARY':
      return { kind, nullable, length: number('length', 1) };
    default:
      return other(kind);
  }
}

function other(name: string): LogicalType {
  return { kind: 'OTHER', nullable: true, name };
}

class Unreadable extends Error {}

/** Recursive descent over the text of a type. */
class TypeParser {
  private at = 0;
  constructor(private readonly text: string) {}

  whole(): LogicalType | undefined {
    try {
      const type = this.type(0);
      this.space();
      return this.at === this.text.length ? type : undefined;
    } catch (error) {
      if (error instanceof Unreadable) return undefined;
      throw error;
    }
  }

  private type(depth: number): LogicalType {
    if (depth > MAX_DEPTH) throw new Unreadable();
    const body = this.body(depth);
    const nullable = !this.words('NOT', 'NULL');
    if (nullable) this.words('NULL');
    return { ...body, nullable } as LogicalType;
  }

  private body(depth: number): object {
    this.space();
    if (this.peek('`')) return this.userType();
    const word = this.word();
    switch (word) {
      case 'CHAR':
      case 'BINARY':
        return { kind: word, length: this.parameter() ?? 1 };
      case 'VARCHAR':
      case 'VARBINARY':
        return { kind: word, length: this.parameter() ?? 1 };
      case 'STRING':
        return { kind: 'VARCHAR', length: MAX_LENGTH };
      case 'BYTES':
        return { kind: 'VARBINARY', length: MAX_LENGTH };
      case 'BOOLEAN':
      case 'TINYINT':
      case 'SMALLINT':
      case 'BIGINT':
      case 'FLOAT':
      case 'DATE':
      case 'NULL':
      case 'VARIANT':
      case 'BITMAP':
        return { kind: word };
      case 'INT':
      case 'INTEGER':
        return { kind: 'INTEGER' };
      case 'DOUBLE':
        this.words('PRECISION');
        return { kind: word };
      case 'DECIMAL':
      case 'DEC':
      case 'NUMERIC': {
        const [precision = 10, scale = 0] = this.parameters();
        return { kind: 'DECIMAL', precision, scale };
      }
      case 'TIME': {
        const precision = this.parameter() ?? 0;
        this.words('WITHOUT', 'TIME', 'ZONE');
        return { kind: 'TIME', precision };
      }
      case 'TIMESTAMP': {
        const precision = this.parameter() ?? 6;
        const local = this.words('WITH', 'LOCAL', 'TIME', 'ZONE');
        const zoned = !local && this.words('WITH', 'TIME', 'ZONE');
        this.words('WITHOUT', 'TIME', 'ZONE');
        this.attribute();
        return { kind: local ? 'TIMESTAMP_LTZ' : zoned ? 'TIMESTAMP_TZ' : 'TIMESTAMP', precision };
      }
      case 'TIMESTAMP_LTZ': {
        const precision = this.parameter() ?? 6;
        this.attribute();
        return { kind: 'TIMESTAMP_LTZ', precision };
      }
      case 'INTERVAL':
        return this.interval();
      case 'ARRAY':
      case 'MULTISET':
        return { kind: word, element: this.bracketed(() => this.type(depth + 1)) };
      case 'MAP':
        return this.bracketed(() => {
          const key = this.type(depth + 1);
          this.expect(',');
          return { kind: 'MAP', key, value: this.type(depth + 1) };
        });
      case 'ROW':
        return { kind: 'ROW', fields: this.fields(depth) };
      case 'STRUCTURED':
        return this.bracketed(() => {
          const name = this.quoted("'");
          const fields: LogicalField[] = [];
          while (this.take(',')) fields.push(this.field(depth));
          return { kind: 'STRUCTURED', name, fields };
        });
      case 'RAW': {
        this.expect('(');
        const className = this.quoted("'");
        while (this.take(',')) this.quoted("'");
        this.expect(')');
        return { kind: 'RAW', className, serializer: undefined };
      }
      default:
        if (word === '') throw new Unreadable();
        return { kind: 'OTHER', name: word };
    }
  }

  private interval(): object {
    const first = this.word();
    this.parameters();
    if (this.words('TO')) {
      this.word();
      this.parameters();
    }
    return { kind: first === 'YEAR' || first === 'MONTH' ? 'INTERVAL_YEAR_MONTH' : 'INTERVAL_DAY_TIME' };
  }
  /** `*ROWTIME*` in summaries */
  private attribute(): void {
    this.space();
    const match = /^\*(ROWTIME|PROCTIME)\*/.exec(this.text.slice(this.at, this.at + 16));
    if (match !== null) this.at += match[0].length;
  }
  private userType(): object {
    const parts = [this.quoted('`')];
    while (this.take('.')) parts.push(this.quoted('`'));
    return { kind: 'OTHER', name: parts.join('.') };
  }
  private fields(depth: number): LogicalField[] {
    return this.bracketed(() => {
      const fields: LogicalField[] = [];
      if (this.peek('>')) return fields;
      do fields.push(this.field(depth));
      while (this.take(','));
      return fields;
    });
  }
  private field(depth: number): LogicalField {
    this.space();
    const name = this.peek('`') ? this.quoted('`') : this.word();
    if (name === '') throw new Unreadable();
    const type = this.type(depth + 1);
    this.space();
    if (this.peek("'")) this.quoted("'");
    return { name, type };
  }
  private bracketed<T>(read: () => T): T {
    this.expect('<');
    const value = read();
    this.expect('>');
    return value;
  }
  /** Text in quotes, which stand twice inside of it. */
  private quoted(quote: string): string {
    this.expect(quote);
    let value = '';
    for (;;) {
      const end = this.text.indexOf(quote, this.at);
      if (end < 0) throw new Unreadable();
      value += this.text.slice(this.at, end);
      this.at = end + 1;
      if (this.text[this.at] !== quote) return value;
      value += quote;
      this.at++;
    }
  }
  private parameter(): number | undefined {
    return this.parameters()[0];
  }
  private parameters(): number[] {
    const match = /^\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)/.exec(this.text.slice(this.at, this.at + 64));
    if (match === null) return [];
    this.at += match[0].length;
    return match.slice(1).flatMap(n => (n === undefined ? [] : [Number(n)]));
  }
  private word(): string {
    this.space();
    const match = /^[A-Za-z_][A-Za-z0-9_]*/.exec(this.text.slice(this.at, this.at + 256));
    if (match === null) return '';
    this.at += match[0].length;
    return match[0];
  }
  private words(...wanted: readonly string[]): boolean {
    const from = this.at;
    if (wanted.every(w => this.word() === w)) return true;
    this.at = from;
    return false;
  }
  private space(): void {
    while (this.text[this.at] === ' ') this.at++;
  }
  private peek(char: string): boolean {
    this.space();
    return this.text[this.at] === char;
  }
  private take(char: string): boolean {
    if (!this.peek(char)) return false;
    this.at++;
    return true;
  }
  private expect(char: string): void {
    if (!this.take(char)) throw new Unreadable();
  }
}
