/**
 * What is to be said of a snapshot as a whole: the row of the `snapshot` table and the head of `meta`.
 */
import { isRelocatable, isSelfContained, referencedFiles, totalSize } from '../checkpoint/references.js';
import { newSize, operatorSizes } from '../checkpoint/sizes.js';
import { snapshotKind } from '../checkpoint/snapshot-kind.js';
import type { OpenedSnapshot } from './snapshot.js';

export interface SnapshotFacts {
  readonly path: string;
  readonly kind: 'savepoint' | 'checkpoint' | null;
  readonly format: 'canonical' | 'native' | null;
  readonly metadataVersion: number;
  readonly checkpointId: number;
  readonly checkpointType: string | null;
  /** of the `_metadata` file, ms since 1970; null when it cannot be asked */
  readonly modifiedAtMillis: number | null;
  readonly unaligned: boolean;
  readonly totalBytes: number;
  readonly newBytes: number | null;
  readonly channelBytes: number;
  readonly metadataBytes: number;
  readonly files: number;
  readonly selfContained: boolean;
  readonly relocatable: boolean;
}

/** No state file is opened; whether files are there is asked of the file system. */
export function snapshotFacts(snapshot: OpenedSnapshot, modifiedAtMillis: number | null): SnapshotFacts {
  const { metadata } = snapshot;
  const kind = snapshotKind(metadata, snapshot.directory, snapshot.metadataPath);
  const files = referencedFiles(metadata, snapshot.files);
  const channelBytes = metadata.operators.reduce((sum, o) => sum + operatorSizes(o).channelBytes, 0);
  return {
    path: snapshot.directory,
    kind: kind.kind ?? null,
    format: kind.format ?? null,
    metadataVersion: metadata.version,
    checkpointId: metadata.checkpointId,
    checkpointType: kind.properties?.typeName ?? null,
    modifiedAtMillis,
    unaligned: metadata.operators.some(o => o.subtasks.some(s => s.channels.length > 0)),
    totalBytes: totalSize(files),
    newBytes: newSize(metadata) ?? null,
    channelBytes,
    metadataBytes: metadata.size,
    files: files.length,
    selfContained: isSelfContained(files),
    relocatable: isRelocatable(metadata),
  };
}
