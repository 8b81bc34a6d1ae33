/**
 * The properties at the end of `_metadata` V4+: org.apache.flink.runtime.checkpoint.CheckpointProperties as a Java object stream.
 *
 *   booleans   discardCancelled discardFailed discardFinished discardSubsumed discardSuspended forced unclaimed
 *   object     checkpointType, one of
 *     SavepointType    formatType (enum SavepointFormatType: CANONICAL, NATIVE), name, postCheckpointAction (NONE, SUSPEND, TERMINATE)
 *     CheckpointType   name, sharingFilesStrategy (enum FORWARD_BACKWARD, FORWARD, NO_SHARING)
 *
 * The classes have no version of their own and gained fields: they are looked up by name, what is missing is undefined.
 *
 * Flink: CheckpointProperties, SavepointType, CheckpointType, SnapshotType (1.17.2, 1.20.5, 2.3.0).
 */
import { Cursor } from '../io/cursor.js';
import { readJavaObject } from '../java/stream.js';
import { type JavaObject, type JavaValue, javaClassName, javaField, simpleClassName } from '../java/tree.js';
import type { Metadata } from './handles.js';

export interface CheckpointProperties {
  readonly kind: 'savepoint' | 'checkpoint' | undefined;
  /** `Savepoint`, `Terminate Savepoint`, `Suspend Savepoint`, `Checkpoint`, `Full Checkpoint` */
  readonly typeName: string | undefined;
  /** of savepoints */
  readonly format: 'canonical' | 'native' | undefined;
  /** of savepoints: NONE, SUSPEND, TERMINATE */
  readonly postAction: string | undefined;
  /** of checkpoints: FORWARD_BACKWARD, FORWARD, NO_SHARING */
  readonly sharingStrategy: string | undefined;
  readonly forced: boolean | undefined;
  /** a restored snapshot that the job did not take over (claim mode NO_CLAIM, LEGACY) */
  readonly unclaimed: boolean | undefined;
  /** when Flink removes the checkpoint by itself: `subsumed`, `finished`, `cancelled`, `failed`, `suspended` */
  readonly discardedWhen: readonly string[];
}

const CLASS = 'org.apache.flink.runtime.checkpoint.CheckpointProperties';
const DISCARD = ['Subsumed', 'Finished', 'Cancelled', 'Failed', 'Suspended'] as const;

/**
 * Decodes the properties; undefined when the file has none (V2, V3, or written without).
 * @param name the file's path, for errors
 * @throws CorruptError, UnsupportedError
 */
export function readProperties(metadata: Metadata, name: string): CheckpointProperties | undefined {
  if (metadata.properties === undefined) return undefined;
  const { bytes, offset } = metadata.properties;
  const c = new Cursor(bytes, 0, bytes.length, { file: name, where: 'checkpoint properties' }, offset);
  const value = readJavaObject(c);
  c.expectEnd('the checkpoint properties');
  if (value.kind === 'null') return undefined;
  if (value.kind !== 'object' || value.classDesc.name !== CLASS)
    return c.fail(`the properties are a ${javaClassName(value) ?? value.kind}, expected ${CLASS}`, 0);
  const type = javaField(value, 'checkpointType');
  const typeClass = type === undefined ? undefined : simpleClassName(javaClassName(type) ?? '');
  const typeObject = type?.kind === 'object' ? type : undefined;
  const format = constantOf(typeObject, 'formatType');
  return {
    kind: typeClass === 'SavepointType' ? 'savepoint' : typeClass === 'CheckpointType' ? 'checkpoint' : undefined,
    typeName: textOf(typeObject, 'name'),
    format: format === 'CANONICAL' ? 'canonical' : format === 'NATIVE' ? 'native' : undefined,
    postAction: constantOf(typeObject, 'postCheckpointAction'),
    sharingStrategy: constantOf(typeObject, 'sharingFilesStrategy'),
    forced: booleanOf(value, 'forced'),
    unclaimed: booleanOf(value, 'unclaimed'),
    discardedWhen: DISCARD.filter(when => booleanOf(value, `discard${when}`) === true).map(when => when.toLowerCase()),
  };
}

function fieldOf(object: JavaObject | undefined, name: string): JavaValue | undefined {
  return object === undefined ? undefined : javaField(object, name);
}
function booleanOf(object: JavaObject, name: string): boolean | undefined {
  const value = fieldOf(object, name);
  return value?.kind === 'boolean' ? value.value : undefined;
}
function textOf(object: JavaObject | undefined, name: string): string | undefined {
  const value = fieldOf(object, name);
  return value?.kind === 'string' ? value.value : undefined;
}
function constantOf(object: JavaObject | undefined, name: string): string | undefined {
  const value = fieldOf(object, name);
  return value?.kind === 'enum' ? value.constant : undefined;
}
