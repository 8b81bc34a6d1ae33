/**
 * Avro schema resolution: whether a reader's schema reads what a writer's wrote (Avro 1.11 specification, "Schema Resolution";
 * Flink: AvroSerializerSnapshot.resolveSchemaCompatibility, which asks SchemaCompatibility).
 *
 *   record   every reader's field is in the writer (by name or alias) or has a default
 *   enum     every writer's symbol is in the reader, or the reader has a default
 *   int → long, float, double; long → float, double; float → double; string ↔ bytes
 *   union    every writer's branch is read by some branch of the reader
 */
import type { SerializerSnapshot } from '../serializers/codec.js';
import type { Compatibility } from './serializers.js';

const PROMOTIONS: Readonly<Record<string, readonly string[]>> = {
  int: ['int', 'long', 'float', 'double'],
  long: ['long', 'float', 'double'],
  float: ['float', 'double'],
  string: ['string', 'bytes'],
  bytes: ['bytes', 'string'],
};

type Schema = unknown;
type Definition = Readonly<Record<string, unknown>>;

/** The verdict over two AvroSerializer snapshots. */
export function avroCompatibility(old: SerializerSnapshot, next: SerializerSnapshot, place: string): Compatibility {
  const writer = String(old.details['schema']);
  const reader = String(next.details['schema']);
  const w = JSON.parse(writer) as Schema;
  const r = JSON.parse(reader) as Schema;
  if (JSON.stringify(w) === JSON.stringify(r)) return { level: 'as-is', reasons: [], losses: [] };
  const resolution = new Resolution();
  const problem = resolution.problem(w, r, '', '', place);
  if (problem !== undefined) return { level: 'incompatible', reasons: [problem], losses: [] };
  const generic = next.details['runtimeClass'] === 'org.apache.avro.generic.GenericRecord';
  // a generic record keeps the schema it was read with, and is then written by position with the other one
  const fails = generic ? (resolution.added[0] ?? resolution.defaulted[0]) : undefined;
  return {
    level: 'migration',
    reasons: [`${place}: the Avro schema changed, the new one reads the old`],
    losses: resolution.removed,
    ...(fails === undefined ? {} : { failsOnRocksdb: `${fails}: Flink cannot migrate generic records to that` }),
  };
}

class Resolution {
  readonly removed: string[] = [];
  readonly added: string[] = [];
  readonly defaulted: string[] = [];
  private readonly writers = new Map<string, Definition>();
  private readonly readers = new Map<string, Definition>();
  private readonly done = new Set<string>();

  /** What keeps the reader from reading, or undefined. */
  problem(writer: Schema, reader: Schema, writerSpace: string, readerSpace: string, place: string): string | undefined {
    const w = resolve(writer, writerSpace, this.writers);
    const r = resolve(reader, readerSpace, this.readers);
    if (w.branches !== undefined) {
      for (const branch of w.branches) {
        const problem = this.problem(branch, reader, w.space, readerSpace, place);
        if (problem !== undefined) return problem;
      }
      return undefined;
    }
    if (r.branches !== undefined) {
      const fits = r.branches.some(
        branch => new Resolution().copyOf(this).problem(writer, branch, writerSpace, r.space, place) === undefined,
      );
      return fits ? undefined : `${place}: no branch of the union reads ${w.type}`;
    }
    if (w.type !== r.type) {
      return PROMOTIONS[w.type]?.includes(r.type) === true ? undefined : `${place}: ${w.type} became ${r.type}`;
    }
    switch (w.type) {
      case 'record':
      case 'error':
        return this.record(w, r, place);
      case 'enum':
        return this.symbols(w, r, place);
      case 'fixed':
        return w.definition['size'] === r.definition['size'] && shortName(w) === shortName(r)
          ? undefined
          : `${place}: fixed ${shortName(w)} changed`;
      case 'array':
        return this.problem(w.definition['items'], r.definition['items'], w.space, r.space, `${place}[]`);
      case 'map':
        return this.problem(w.definition['values'], r.definition['values'], w.space, r.space, `${place}{}`);
      default:
        return undefined;
    }
  }

  private copyOf(other: Resolution): this {
    for (const [k, v] of other.writers) this.writers.set(k, v);
    for (const [k, v] of other.readers) this.readers.set(k, v);
    for (const k of other.done) this.done.add(k);
    return this;
  }

  private record(w: Resolved, r: Resolved, place: string): string | undefined {
    const pair = `${w.name}→${r.name}`;
    if (this.done.has(pair)) return undefined;
    this.done.add(pair);
    const aliases = listOf(r.definition['aliases']).map(a => String(a).split('.').pop());
    if (shortName(w) !== shortName(r) && !aliases.includes(shortName(w))) return `${place}: record ${w.name} became ${r.name}`;
    const written = new Map(listOf(w.definition['fields']).map(f => [String((f as Definition)['name']), f as Definition]));
    const used = new Set<string>();
    for (const field of listOf(r.definition['fields']) as Definition[]) {
      const name = String(field['name']);
      const source = [name, ...listOf(field['aliases']).map(String)].find(n => written.has(n));
      if (source === undefined) {
        if (!('default' in field)) return `${place}: field ${name} was added without a default`;
        this.added.push(`${place}: field ${name} was added`);
        continue;
      }
      used.add(source);
      const problem = this.problem((written.get(source) as Definition)['type'], field['type'], w.space, r.space, `${place}.${name}`);
      if (problem !== undefined) return problem;
    }
    for (const name of written.keys()) if (!used.has(name)) this.removed.push(`${place}.${name}: its values are dropped`);
    return undefined;
  }

  private symbols(w: Resolved, r: Resolved, place: string): string | undefined {
    const symbols = new Set(listOf(r.definition['symbols']));
    const gone = listOf(w.definition['symbols']).filter(s => !symbols.has(s));
    if (gone.length === 0) return undefined;
    if (!('default' in r.definition)) return `${place}: enum symbol ${gone.join(', ')} is gone and there is no default`;
    this.defaulted.push(`${place}: enum symbol ${gone.join(', ')} is gone`);
    return undefined;
  }
}

interface Resolved {
  readonly type: string;
  readonly name: string;
  readonly space: string;
  readonly definition: Definition;
  readonly branches?: readonly Schema[];
}

const shortName = (r: Resolved): string => r.name.split('.').pop() as string;
const listOf = (v: unknown): readonly unknown[] => (Array.isArray(v) ? v : []);

/** A schema with its name looked up and its namespace known. */
function resolve(schema: Schema, space: string, names: Map<string, Definition>): Resolved {
  if (Array.isArray(schema)) return { type: 'union', name: '', space, definition: {}, branches: schema };
  if (typeof schema === 'string') {
    const known = names.get(schema.includes('.') || space === '' ? schema : `${space}.${schema}`) ?? names.get(schema);
    return known === undefined ? { type: schema, name: schema, space, definition: {} } : resolve(known, space, names);
  }
  const definition = schema as Definition;
  const type = definition['type'];
  if (typeof type !== 'string') return resolve(type, space, names);
  if (definition['name'] === undefined) return { type, name: type, space, definition };
  const short = String(definition['name']);
  const own = short.includes('.')
    ? short.slice(0, short.lastIndexOf('.'))
    : typeof definition['namespace'] === 'string'
      ? definition['namespace']
      : space;
  const name = short.includes('.') || own === '' ? short : `${own}.${short}`;
  names.set(name, { ...definition, name, namespace: own });
  return { type, name, space: own, definition };
}
