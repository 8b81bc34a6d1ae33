/** --proto and --proto-type: schemas are read before a command runs, and taken when it opens a snapshot. */
import { UsageError } from '../errors.js';
import { openProto, type ProtoSchemas } from '../proto/schema.js';
import type { OpenOptions, ProtoSetting } from '../tables/snapshot.js';
import type { ReadingFlags } from './options.js';

const loaded = new Map<string, ProtoSchemas>();
const keyOf = (files: readonly string[]): string => files.join('\0');

/** Reads the files of --proto. @throws StateQueryError */
export async function loadProto(files: readonly string[]): Promise<void> {
  if (!loaded.has(keyOf(files))) loaded.set(keyOf(files), await openProto(files));
}

/** What the options say, for opening a snapshot. @throws UsageError */
export function protoOptions(flags: Pick<ReadingFlags, 'proto' | 'protoType'>): Pick<OpenOptions, 'proto'> {
  const { proto, protoType } = flags;
  if (proto.length === 0) {
    if (protoType.length === 0) return {};
    throw new UsageError('--proto-type without --proto', { hint: 'give the .proto file of the message with --proto' });
  }
  const schemas = loaded.get(keyOf(proto));
  if (schemas === undefined) throw new Error('the .proto files were not loaded');
  const types = protoType.flatMap(parseProtoType);
  for (const { message } of types)
    if (schemas.message(message) === undefined)
      throw new UsageError(`there is no message ${message} in the .proto files`, {
        hint: `they have ${schemas.names.slice(0, 20).join(', ')}`,
      });
  return { proto: { schemas, types } };
}

/** `[operator.]state=Message`; a dot may belong to either name, so every reading of it counts. @throws UsageError */
export function parseProtoType(text: string): readonly ProtoSetting[] {
  const at = text.lastIndexOf('=');
  const name = text.slice(0, at);
  const message = text.slice(at + 1).replace(/^\./, '');
  if (at < 1 || message === '')
    throw new UsageError(`--proto-type ${text}: expected state=Message`, { hint: '--proto-type orders=shop.v1.Order' });
  const settings: ProtoSetting[] = [{ state: name, message }];
  for (let dot = name.indexOf('.'); dot > 0 && dot < name.length - 1; dot = name.indexOf('.', dot + 1))
    settings.push({ operator: name.slice(0, dot), state: name.slice(dot + 1), message });
  return settings;
}
