/**
 * Protobuf schemas out of the user's .proto files: parsed only (nothing is generated or run), with their imports.
 *
 * An import is looked for beside the file that names it, then below the folders of the given files and those around them; the
 * well-known types of google/protobuf come with the parser.
 *
 * Java classes, under which Kryo stores messages:
 *   java_package (else the package) . Message            java_multiple_files
 *   java_package . Outer$Message                         otherwise: java_outer_classname, else the file's name in camel case, with
 *                                                        OuterClass behind it where a message has that name
 *
 * Mirrors protoc's Java naming (protobuf 3.x) and protobufjs 8.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Enum, Field, Namespace, Root, Type } from 'protobufjs';
import { IoError, NotFoundError, UsageError } from '../errors.js';
import { compileMessage, type ProtoMessage, type RawField, type RawType } from './message.js';

/** The messages of some .proto files. */
export interface ProtoSchemas {
  /** By its full name, or by the end of it when that is unique (`Order` for `shop.v1.Order`); undefined: none. */
  message(name: string): ProtoMessage | undefined;
  /** By the Java class that protoc makes of it. */
  messageOfClass(className: string): ProtoMessage | undefined;
  /** full names, in the order of the files */
  readonly names: readonly string[];
}

const MAX_FILES = 2000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads .proto files. @throws NotFoundError, IoError, UsageError (a file that is no protobuf, a type that is nowhere) */
export async function openProto(files: readonly string[]): Promise<ProtoSchemas> {
  const protobuf = await loadProtobuf();
  const root = new protobuf.Root();
  // not in its types: which file the parsed objects are of
  const parser = protobuf.parse as unknown as { filename: string | null };
  const roots = [...new Set(files.map(f => dirname(resolve(f))))];
  const done = new Map<string, string>();
  const queue = files.map(f => resolve(f));
  while (queue.length > 0) {
    const path = queue.shift() as string;
    if (done.has(path)) continue;
    if (done.size >= MAX_FILES) throw new UsageError(`more than ${MAX_FILES} .proto files`);
    const text = readText(path);
    done.set(path, text);
    let parsed: { readonly imports: string[] | undefined; readonly weakImports: string[] | undefined };
    try {
      parser.filename = path;
      parsed = protobuf.parse(text, root, { keepCase: true });
    } catch (error) {
      throw new UsageError(`${path} is no .proto file: ${message(error)}`, { file: path });
    } finally {
      parser.filename = null;
    }
    for (const wanted of [...(parsed.imports ?? []), ...(parsed.weakImports ?? [])]) {
      const found = findImport(wanted, dirname(path), roots);
      if (found !== undefined) queue.push(found);
      else if (!addCommon(protobuf, root, wanted))
        throw new NotFoundError(`${path} imports ${wanted}, which is nowhere around it`, {
          file: path,
          hint: 'give that file with --proto too',
        });
    }
  }
  try {
    root.resolveAll();
  } catch (error) {
    throw new UsageError(`the .proto files are not complete: ${message(error)}`, {
      hint: 'give the files that define it with --proto too',
    });
  }
  return schemasOf(protobuf, root, done);
}

type Protobuf = typeof import('protobufjs');

/** The parser and runtime of protobuf, loaded when it is first asked for. */
export async function loadProtobuf(): Promise<Protobuf> {
  const module = (await import('protobufjs')) as unknown as Protobuf & { readonly default?: Protobuf };
  return module.default ?? module;
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readText(path: string): string {
  if (!existsSync(path)) throw new NotFoundError('there is no such .proto file', { file: path });
  try {
    if (statSync(path).size > MAX_BYTES) throw new UsageError(`more than ${MAX_BYTES} bytes`, { file: path });
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new IoError(`the .proto file cannot be read: ${message(error)}`, { file: path, cause: error });
  }
}

/** Beside the importing file and in the folders around it, then the same for the files that were given. */
function findImport(wanted: string, from: string, roots: readonly string[]): string | undefined {
  if (wanted.startsWith('/') || wanted.split('/').includes('..')) return undefined;
  for (const start of [from, ...roots]) {
    for (let folder = start, up = 0; up < 12; folder = dirname(folder), up++) {
      const path = join(folder, wanted);
      if (existsSync(path)) return path;
      if (dirname(folder) === folder) break;
    }
  }
  return undefined;
}

function addCommon(protobuf: Protobuf, root: Root, name: string): boolean {
  const common = protobuf.common.get(name);
  if (common?.nested === undefined || common.nested === null) return false;
  root.addJSON(common.nested);
  return true;
}

function schemasOf(protobuf: Protobuf, root: Root, files: ReadonlyMap<string, string>): ProtoSchemas {
  const types: Type[] = [];
  const walk = (space: Namespace): void => {
    for (const nested of space.nestedArray) {
      if (nested instanceof protobuf.Type) types.push(nested);
      if (nested instanceof protobuf.Namespace) walk(nested);
    }
  };
  walk(root);
  const raw = new Map<Type, RawType>();
  const rawOf = (type: Type): RawType => {
    let known = raw.get(type);
    if (known === undefined) {
      known = { name: fullName(type), fields: () => type.fieldsArray.map(f => rawField(protobuf, f, rawOf)) };
      raw.set(type, known);
    }
    return known;
  };
  const compiled = new Map<Type, ProtoMessage>();
  const messageOf = (type: Type | undefined): ProtoMessage | undefined => {
    if (type === undefined) return undefined;
    let known = compiled.get(type);
    if (known === undefined) {
      known = compileMessage(rawOf(type));
      compiled.set(type, known);
    }
    return known;
  };
  const byName = new Map(types.map(t => [fullName(t), t] as const));
  const byClass = new Map<string, Type>();
  for (const type of types) for (const name of javaClasses(type, files)) if (!byClass.has(name)) byClass.set(name, type);
  return {
    names: [...byName.keys()].filter(n => !n.startsWith('google.protobuf.')),
    message(name) {
      const exact = byName.get(name);
      if (exact !== undefined) return messageOf(exact);
      const ending = types.filter(t => fullName(t).endsWith(`.${name}`));
      return ending.length === 1 ? messageOf(ending[0]) : undefined;
    },
    messageOfClass: className => messageOf(byClass.get(className)),
  };
}

const fullName = (type: { readonly fullName: string }): string => type.fullName.replace(/^\./, '');

function rawField(protobuf: Protobuf, field: Field, rawOf: (type: Type) => RawType): RawField {
  field.resolve();
  const { resolvedType } = field;
  const extension = field.declaringField;
  return {
    name: extension === null || extension === undefined ? field.name : `[${field.name.replace(/^\./, '')}]`,
    number: field.id,
    type: field.type,
    repeated: field.repeated,
    presence: field.hasPresence || field.required === true,
    ...(resolvedType instanceof protobuf.Type ? { message: rawOf(resolvedType) } : {}),
    ...(resolvedType instanceof protobuf.Enum ? { constants: constants(resolvedType) } : {}),
    ...(field instanceof protobuf.MapField ? { mapKey: field.keyType } : {}),
  };
}

/** Names by number; of several for one number the first. */
function constants(type: Enum): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const [name, number] of Object.entries(type.values)) if (!names.has(number)) names.set(number, name);
  return names;
}

/** The classes that protoc can make of a message: in the outer class of its file, and on its own. */
function javaClasses(type: Type, files: ReadonlyMap<string, string>): string[] {
  const path = type.filename;
  if (path === null || path === undefined) return [];
  const text = (files.get(path) ?? '').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const option = (name: string): string | undefined => new RegExp(`\\boption\\s+${name}\\s*=\\s*"([^"]*)"`).exec(text)?.[1];
  const protoPackage = /(?:^|[\s;])package\s+([\w.]+)\s*;/.exec(text)?.[1] ?? '';
  const inside = fullName(type).slice(protoPackage === '' ? 0 : protoPackage.length + 1);
  const javaPackage = option('java_package') ?? protoPackage;
  const camel = basename(path, '.proto').replace(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_m, _gap, c: string) => c.toUpperCase());
  const nested = inside.replaceAll('.', '$');
  const prefix = javaPackage === '' ? '' : `${javaPackage}.`;
  const explicit = option('java_outer_classname');
  const outers = explicit === undefined ? [camel, `${camel}OuterClass`, `${camel}Proto`] : [explicit];
  return [`${prefix}${nested}`, ...outers.map(outer => `${prefix}${outer}$${nested}`)];
}
