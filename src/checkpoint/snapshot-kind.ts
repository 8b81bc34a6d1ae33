/**
 * Savepoint or checkpoint, and in which format. From V4 on the properties say it; before, only these hints do:
 *
 *   tag 7                         a canonical savepoint (1.13+)
 *   files in chk-N, a shared list of an incremental handle with absolute paths, channel state, changelog files: a checkpoint
 *   directory chk-N               a checkpoint
 *   directory savepoint-…         a savepoint
 */
import { basename } from 'node:path';
import { StateQueryError } from '../errors.js';
import type { Metadata } from './handles.js';
import { type CheckpointProperties, readProperties } from './properties.js';
import { streamReferences } from './references.js';

export interface SnapshotKind {
  /** undefined: nothing tells */
  readonly kind: 'savepoint' | 'checkpoint' | undefined;
  /** of savepoints: canonical files can be read by every backend, native ones are the backend's own; undefined: nothing tells */
  readonly format: 'canonical' | 'native' | undefined;
  readonly properties: CheckpointProperties | undefined;
  /** why the properties could not be read */
  readonly problem: StateQueryError | undefined;
}

/** @param directory the snapshot's own @param name the file's path, for errors */
export function snapshotKind(metadata: Metadata, directory: string, name: string): SnapshotKind {
  let properties: CheckpointProperties | undefined;
  let problem: StateQueryError | undefined;
  try {
    properties = readProperties(metadata, name);
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    problem = error;
  }
  const hints = hintsOf(metadata);
  const kind = properties?.kind ?? hints.kind ?? kindOfName(basename(directory));
  const format = properties?.kind !== undefined ? properties.format : kind === 'savepoint' ? hints.format : undefined;
  return { kind, format, properties, problem };
}

function kindOfName(name: string): SnapshotKind['kind'] {
  if (/^chk-\d+$/.test(name)) return 'checkpoint';
  return /^savepoint-/.test(name) ? 'savepoint' : undefined;
}

function hintsOf(metadata: Metadata): Pick<SnapshotKind, 'kind' | 'format'> {
  let format: SnapshotKind['format'];
  let kind: SnapshotKind['kind'];
  for (const { tag, role, slot, stream } of streamReferences(metadata)) {
    if (tag === 7) return { kind: 'savepoint', format: 'canonical' };
    if (tag === 11 || tag === 12) format = 'native';
    const absolute = stream.kind === 'file' || stream.kind === 'segment';
    if ((role === 'shared' && absolute) || role === 'channel' || (role === 'changelog' && absolute)) kind = 'checkpoint';
    if (absolute && slot !== 'coordinator' && /\/chk-\d+\/[^/]+$/.test(stream.path)) kind = 'checkpoint';
  }
  return { kind, format };
}
