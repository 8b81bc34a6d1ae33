/**
 * Names by hand (`--names FILE`), in YAML or JSON: what operators are called, and the columns of their states.
 *
 *   operators:
 *     word-count:                        # uid, operator id or name
 *       name: count words                # what to call it
 *       uid: word-count                  # where it was found by its id
 *       key: [word]                      # columns of the key, in every state of the operator
 *       states:
 *         accState: [sum, count]         # columns of the value, in order; of the elements of a list, of the values of a map
 *         left-records:
 *           map_key: [id]                # key, namespace, map_key, value
 *           value: [{record: [id, name]}, ~]     # columns inside a column; ~ leaves the name
 *         profile: {value: {f0: id}}     # some columns under other names
 *
 * A list names every column, so its length has to agree with the type in the snapshot.
 */
import { readFileSync, statSync } from 'node:fs';
import { matchUids, operatorIdOf } from '../checkpoint/uid.js';
import { UsageError } from '../errors.js';
import { fileError } from '../io/source.js';
import { type NamedColumn, type NameTree, row } from './name-tree.js';
import type { KnownName, OperatorNames } from './operator-names.js';
import type { OperatorNaming, StateNames, StatePart } from './state-names.js';
import { parseYaml, type YamlEntry, type YamlValue } from './yaml.js';

const MAX_BYTES = 16 << 20;

export interface NamesFile {
  readonly file: string;
  readonly operators: readonly NamedOperator[];
}
interface NamedOperator {
  /** uid, id or name */
  readonly key: string;
  readonly line: number;
  readonly name: string | null;
  readonly uid: string | null;
  readonly keyNames: NameTree | undefined;
  readonly states: ReadonlyMap<string, StateNames>;
}

/** @throws NotFoundError, IoError, UsageError */
export async function readNamesFile(file: string): Promise<NamesFile> {
  let text: string;
  try {
    if (statSync(file).size > MAX_BYTES) throw new UsageError(`names of more than ${MAX_BYTES} bytes`, { file });
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw error instanceof UsageError ? error : fileError(error, file);
  }
  return parseNamesFile(text, file);
}

/** @throws UsageError with the line */
export async function parseNamesFile(text: string, file: string): Promise<NamesFile> {
  const reader = new Reader(file);
  const root = fieldsOf(reader, await parseYaml(text, file), 'the file', ['operators']);
  const operators = root.get('operators');
  if (operators === undefined) throw reader.fail(1, 'there is no map operators', 'operators: {word-count: {states: {…}}}');
  return { file, operators: reader.map(operators.value, 'operators').map(entry => operatorOf(reader, entry)) };
}

function operatorOf(reader: Reader, entry: YamlEntry): NamedOperator {
  const fields = fieldsOf(reader, entry.value, `operator ${entry.key}`, ['name', 'uid', 'key', 'states']);
  const text = (field: string): string | null => {
    const found = fields.get(field);
    return found === undefined ? null : reader.text(found.value, `${field} of ${entry.key}`);
  };
  const key = fields.get('key');
  const states = fields.get('states');
  return {
    key: entry.key,
    line: entry.line,
    name: text('name'),
    uid: text('uid'),
    keyNames: key === undefined ? undefined : reader.columns(key.value, `key of ${entry.key}`),
    states: new Map(states === undefined ? [] : reader.map(states.value, 'states').map(s => [s.key, stateOf(reader, s)])),
  };
}

const PARTS: Readonly<Record<string, StatePart>> = {
  key: 'key',
  namespace: 'namespace',
  map_key: 'mapKey',
  mapKey: 'mapKey',
  value: 'value',
};

function stateOf(reader: Reader, { key, value }: YamlEntry): StateNames {
  if (value.kind === 'list') return { value: reader.columns(value, `state ${key}`) };
  const names: Partial<Record<StatePart, NameTree>> = {};
  for (const part of reader.map(value, `state ${key}`)) {
    const known = PARTS[part.key];
    if (known === undefined) throw reader.fail(part.line, `state ${key} has no part ${part.key}`, 'key, namespace, map_key or value');
    names[known] = reader.columns(part.value, `${part.key} of ${key}`);
  }
  return names;
}

function fieldsOf(reader: Reader, value: YamlValue, what: string, known: readonly string[]): Map<string, YamlEntry> {
  const fields = new Map<string, YamlEntry>();
  for (const entry of reader.map(value, what)) {
    if (!known.includes(entry.key)) throw reader.fail(entry.line, `${what} has no ${entry.key}`, `it may have ${known.join(', ')}`);
    fields.set(entry.key, entry);
  }
  return fields;
}

class Reader {
  constructor(private readonly file: string) {}

  fail(line: number, message: string, hint?: string): UsageError {
    return new UsageError(`line ${line}: ${message}`, { file: this.file, ...(hint === undefined ? {} : { hint }) });
  }
  map(value: YamlValue, what: string): readonly YamlEntry[] {
    if (value.kind !== 'map') throw this.fail(value.line, `${what} is no map`);
    return value.entries;
  }
  text(value: YamlValue, what: string): string {
    if (value.kind !== 'scalar' || value.value === null || value.value === '') throw this.fail(value.line, `${what} is no text`);
    return String(value.value);
  }
  columns(value: YamlValue, what: string): NameTree {
    return { kind: 'inside', names: this.tree(value, what) };
  }
  /** `[a, ~, {b: […]}]` or `{f0: a}` */
  private tree(value: YamlValue, what: string): NameTree {
    if (value.kind === 'map')
      return { kind: 'renames', names: new Map(value.entries.map(e => [e.key, this.text(e.value, `name of ${e.key}`)])) };
    if (value.kind !== 'list') throw this.fail(value.line, `${what} is neither a list of columns nor a map of old and new names`);
    return row(
      value.items.map((item): NamedColumn => {
        if (item.kind === 'scalar' && item.value === null) return {};
        if (item.kind !== 'map') return { name: this.text(item, `a column of ${what}`) };
        if (item.entries.length !== 1) throw this.fail(item.line, `a column of ${what} has ${item.entries.length} names`);
        const [{ key, value: inner }] = item.entries;
        return { name: key, names: { kind: 'inside', names: this.tree(inner, key) } };
      }),
    );
  }
}

/**
 * The operators that the file names.
 * @param operators those of the snapshot, with what else is known of them
 * @param unknown called for each operator of the file that is not in the snapshot
 */
export function namesOfFile(
  { file, operators: named }: NamesFile,
  operators: readonly { readonly id: string; readonly uid: string | null; readonly name: string | null }[],
  unknown: (key: string, line: number) => void,
): OperatorNames {
  const found = new Map<string, KnownName>();
  const ids = operators.map(o => o.id);
  const byUid = matchUids(
    ids,
    named.map(n => ({ uid: n.key, name: undefined })),
  );
  for (const entry of named) {
    const { key, uid } = entry;
    const hashed = operatorIdOf(key);
    const matching = operators.filter(
      o => o.id === key.toLowerCase() || o.id === hashed || o.uid === key || o.name === key || byUid.get(o.id)?.uid === key,
    );
    if (matching.length === 0) unknown(key, entry.line);
    for (const { id } of matching)
      found.set(id, {
        uid: uid ?? (id === hashed ? key : null),
        name: entry.name,
        source: 'file',
        namings: [namingOf(entry, `the file ${file}`)],
      });
  }
  return found;
}

function namingOf({ keyNames, states }: NamedOperator, source: string): OperatorNaming {
  const common: StateNames = keyNames === undefined ? {} : { key: keyNames };
  return {
    source,
    states: [...states.keys()],
    namesOf({ name, kind }) {
      const names = states.get(name);
      const inherited = kind === 'keyed' || kind === 'timer' ? common : {};
      return names === undefined && Object.keys(inherited).length === 0 ? [] : [{ ...inherited, ...names }];
    },
  };
}
