/**
 * The file of `stateinfo build` (`stateinfo.proto`): a StateInfo in an envelope with the versions of writer and least reader and a
 * checksum, so that a cut or changed file is never taken for a whole one.
 *
 * Absent texts are empty, absent lists are empty lists. What a newer writer adds is passed over as long as `min_reader_version` allows.
 */
import { readFileSync, statSync } from 'node:fs';
import { CorruptError, StateQueryError, UnsupportedError } from '../errors.js';
import { crc32c } from '../io/crc32c.js';
import { fileError } from '../io/source.js';
import type { ClassLayout } from '../java/class-file.js';
import { loadProtobuf } from '../proto/schema.js';

export const FORMAT = 'statequery-stateinfo';
export const VERSION = 1;
/** name of the file beside `_metadata` */
export const STATE_INFO_NAME = 'stateInfo';
const MAX_BYTES = 256 << 20;

export interface StateInfo {
  readonly writtenBy: string;
  readonly jobName: string;
  readonly checkpointId: bigint;
  readonly metadataVersion: number;
  readonly flinkVersions: string;
  readonly operators: readonly InfoOperator[];
  readonly classes: readonly ClassLayout[];
}
export interface InfoOperator {
  readonly id: string;
  readonly uid: string;
  readonly uidSource: string;
  readonly name: string;
  readonly parallelism: number;
  readonly maxParallelism: number;
  readonly planLabel: string;
  readonly hint: string;
  readonly chain: readonly string[];
  readonly states: readonly InfoState[];
}
export interface InfoState {
  readonly name: string;
  readonly kind: string;
  readonly stateType: string;
  readonly distributionMode: string;
  readonly backend: string;
  readonly variant: number;
  readonly subtasks: string;
  readonly ttl: boolean;
  readonly decodable: boolean;
  readonly reason: string;
  readonly key: InfoPart | null;
  readonly namespace: InfoPart | null;
  readonly mapKey: InfoPart | null;
  readonly value: InfoPart | null;
}
export interface InfoPart {
  readonly type: string;
  readonly serializer: string;
  readonly identity: string;
  readonly names: InfoNames | null;
}
export interface InfoNames {
  readonly columns: readonly { readonly name: string; readonly names: InfoNames | null }[];
  readonly element: InfoNames | null;
  readonly key: InfoNames | null;
  readonly value: InfoNames | null;
}

/** The messages of `stateinfo.proto`: fields in the order of their numbers, from 1. */
export const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  StateInfoFile: ['string format', 'uint32 version', 'uint32 minReaderVersion', 'bytes content', 'fixed32 checksum'],
  StateInfo: [
    'string writtenBy',
    'string jobName',
    'int64 checkpointId',
    'uint32 metadataVersion',
    'string flinkVersions',
    'repeated Operator operators',
    'repeated ClassLayout classes',
  ],
  Operator: [
    'string id',
    'string uid',
    'string uidSource',
    'string name',
    'uint32 parallelism',
    'uint32 maxParallelism',
    'string planLabel',
    'string hint',
    'repeated string chain',
    'repeated State states',
  ],
  State: [
    'string name',
    'string kind',
    'string stateType',
    'string distributionMode',
    'string backend',
    'uint32 variant',
    'string subtasks',
    'bool ttl',
    'bool decodable',
    'string reason',
    'Part key',
    'Part namespace',
    'Part mapKey',
    'Part value',
  ],
  Part: ['string type', 'string serializer', 'string identity', 'Names names'],
  Names: ['repeated Column columns', 'Names element', 'Names key', 'Names value'],
  Column: ['string name', 'Names names'],
  ClassLayout: [
    'string name',
    'string superName',
    'repeated string interfaces',
    'string signature',
    'bool isEnum',
    'bool isRecord',
    'bool isInterface',
    'bool isFinal',
    'bool isAbstract',
    'repeated string enumConstants',
    'repeated ClassField fields',
    'repeated string recordComponents',
  ],
  ClassField: ['string name', 'string descriptor', 'string signature', 'bool isStatic', 'bool isTransient', 'bool isSynthetic'],
};

interface Codecs {
  encode(message: string, value: object): Uint8Array;
  decode(message: string, bytes: Uint8Array): Record<string, unknown>;
}

async function codecs(): Promise<Codecs> {
  const { Field, Root, Type } = await loadProtobuf();
  const root = new Root();
  for (const [name, fields] of Object.entries(MESSAGES)) {
    const type = new Type(name);
    fields.forEach((text, i) => {
      const [fieldName, fieldType, rule] = text.split(' ').reverse();
      type.add(new Field(fieldName, i + 1, fieldType, rule));
    });
    root.add(type);
  }
  root.resolveAll();
  return {
    encode: (message, value) => root.lookupType(message).encode(root.lookupType(message).fromObject(value)).finish(),
    decode: (message, bytes) =>
      root.lookupType(message).toObject(root.lookupType(message).decode(bytes), { defaults: true, arrays: true, longs: String }),
  };
}

/** Whether bytes begin as such a file does. */
export function isStateInfo(bytes: Uint8Array): boolean {
  return bytes[0] === 0x0a && bytes[1] === FORMAT.length && Buffer.from(bytes.subarray(2, 2 + FORMAT.length)).toString('latin1') === FORMAT;
}

/** The bytes of a file. */
export async function encodeStateInfo(info: StateInfo): Promise<Uint8Array> {
  const { encode } = await codecs();
  const content = encode('StateInfo', { ...info, checkpointId: info.checkpointId.toString() });
  return encode('StateInfoFile', { format: FORMAT, version: VERSION, minReaderVersion: 1, content, checksum: crc32c(content) >>> 0 });
}

/** @throws CorruptError, UnsupportedError when a newer reader is needed */
export async function decodeStateInfo(bytes: Uint8Array, file: string): Promise<StateInfo> {
  if (!isStateInfo(bytes)) throw new CorruptError('not a stateInfo file: it does not begin as one', { file, offset: 0 });
  const { decode } = await codecs();
  try {
    const envelope = decode('StateInfoFile', bytes);
    const least = Number(envelope['minReaderVersion']);
    if (least > VERSION)
      throw new UnsupportedError(`a stateInfo file for readers from version ${least} on; this one reads version ${VERSION}`, { file });
    const content = envelope['content'] as Uint8Array;
    // a file that ends before its content has neither; the checksum of nothing is 0
    if (content.length === 0 || crc32c(content) >>> 0 !== Number(envelope['checksum']) >>> 0)
      throw new CorruptError('the checksum of the stateInfo file is wrong: it is cut off or changed', { file });
    const info = decode('StateInfo', content);
    return { ...info, checkpointId: BigInt(String(info['checkpointId'])), classes: layouts(info['classes']) } as unknown as StateInfo;
  } catch (error) {
    if (error instanceof StateQueryError) throw error;
    throw new CorruptError(`the stateInfo file cannot be decoded: ${error instanceof Error ? error.message : String(error)}`, {
      file,
      cause: error,
    });
  }
}

/** A signature or superclass that is not there is undefined, as class files have it. */
function layouts(classes: unknown): ClassLayout[] {
  return (classes as ClassLayout[]).map(({ signature, superName, fields, ...rest }) => ({
    ...rest,
    superName: superName === '' ? undefined : superName,
    ...(signature === '' ? {} : { signature }),
    fields: fields.map(f => ({ ...f, signature: f.signature === '' ? undefined : f.signature })),
  }));
}

/** @throws NotFoundError, IoError, CorruptError, UnsupportedError */
export async function readStateInfo(file: string): Promise<StateInfo> {
  return decodeStateInfo(readBytes(file), file);
}

export function readBytes(file: string): Uint8Array {
  try {
    if (statSync(file).size > MAX_BYTES) throw new CorruptError(`more than ${MAX_BYTES} bytes`, { file });
    return readFileSync(file);
  } catch (error) {
    throw error instanceof StateQueryError ? error : fileError(error, file);
  }
}
