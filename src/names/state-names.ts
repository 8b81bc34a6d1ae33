/**
 * Names of the columns of states: what a plan, a file of names or a stateInfo file knows of an operator, and how it is put on the
 * codecs of a state. A named codec reads, skips and appends exactly as before; its SQL type alone differs.
 */
import type { Codec } from '../serializers/codec.js';
import { wiredLike } from '../serializers/wire.js';
import type { SqlType } from '../types.js';
import { NameMismatch, type NameTree, nameType } from './name-tree.js';

/** Names inside of the parts of a state's rows. A part that is left out keeps its names. */
export interface StateNames {
  readonly key?: NameTree;
  readonly namespace?: NameTree;
  readonly mapKey?: NameTree;
  readonly value?: NameTree;
}
export type StatePart = keyof StateNames;

/** A state as its header registers it. */
export interface StateToName {
  readonly name: string;
  readonly kind: 'keyed' | 'operator' | 'broadcast' | 'timer';
}

/** What one source knows of the states of one operator. */
export interface OperatorNaming {
  /** in words, for reasons: `the plan` */
  readonly source: string;
  /** states that it was asked to name, each by name */
  readonly states?: readonly string[];
  /** Names that the state may have: the first that fits its types is taken. Empty: nothing is known of this state. */
  namesOf(state: StateToName): readonly StateNames[];
  /** how long values live, where the source tells */
  ttlMillis?(state: StateToName): bigint | undefined;
  /** what else is to be said of the names of a state's value */
  remark?(state: StateToName, value: SqlType): string | undefined;
}

/** Codecs of the parts of a state. */
export interface NamedParts {
  readonly key: Codec | undefined;
  readonly namespace: Codec | undefined;
  readonly mapKey: Codec | undefined;
  readonly value: Codec;
}

const PARTS: readonly StatePart[] = ['key', 'namespace', 'mapKey', 'value'];
const WORDS: Readonly<Record<StatePart, string>> = { key: 'key', namespace: 'namespace', mapKey: 'map key', value: 'value' };

/**
 * Puts names on a state. Sources come with the most trusted first; where several name the same part, that one has the last word.
 * @returns the parts, renamed where names fit, and why those of a source do not fit
 */
export function nameState<T extends NamedParts>(
  parts: T,
  state: StateToName,
  namings: readonly OperatorNaming[],
): { parts: T; notes: readonly string[] } {
  let named = parts;
  const notes: string[] = [];
  for (let i = namings.length - 1; i >= 0; i--) {
    const candidates = namings[i].namesOf(state);
    let reason: string | undefined;
    let fitting: T | undefined;
    for (const names of candidates) {
      const result = tryNames(named, names);
      if (typeof result !== 'string') {
        fitting = result;
        break;
      }
      reason ??= result;
    }
    if (fitting !== undefined) named = fitting;
    else if (reason !== undefined) notes.push(`column names of ${namings[i].source} do not fit: ${reason}`);
    const remark = namings[i].remark?.(state, named.value.type);
    if (remark !== undefined) notes.push(remark);
  }
  return { parts: named, notes };
}

function tryNames<T extends NamedParts>(parts: T, names: StateNames): T | string {
  const renamed: Partial<Record<StatePart, Codec>> = {};
  for (const part of PARTS) {
    const tree = names[part];
    if (tree === undefined) continue;
    const codec = parts[part];
    if (codec === undefined) return `the state has no ${WORDS[part]}`;
    const type = nameType(codec.type, tree, WORDS[part]);
    if (type instanceof NameMismatch) return type.reason;
    renamed[part] = withType(codec, type);
  }
  return { ...parts, ...renamed };
}

/** The codec under another type of the same form. */
export function withType(codec: Codec, type: SqlType): Codec {
  if (type === codec.type) return codec;
  if (Object.getPrototypeOf(codec) === Object.prototype) return wiredLike({ ...codec, type }, codec);
  return {
    type,
    length: codec.length,
    ...(codec.opaque === undefined ? {} : { opaque: codec.opaque }),
    ...(codec.unbounded === undefined ? {} : { unbounded: codec.unbounded }),
    ...(codec.mostlyBounded === undefined ? {} : { mostlyBounded: codec.mostlyBounded }),
    read: c => codec.read(c),
    skip: c => codec.skip(c),
    append: (c, out) => codec.append(c, out),
  };
}
