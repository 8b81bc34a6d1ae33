/**
 * The snapshots below a directory, for `ls`: what each is, by its `_metadata` alone. State files are not looked at.
 */
import { StateQueryError } from '../errors.js';
import type { ReadStats } from '../io/source.js';
import { findSnapshots, type SnapshotPlace } from './locate.js';
import { readMetadataFile } from './metadata.js';
import { referencedBytes } from './references.js';
import { snapshotKind } from './snapshot-kind.js';

export interface SnapshotSummary {
  readonly directory: string;
  /** undefined: a checkpoint directory without `_metadata` */
  readonly metadataPath: string | undefined;
  readonly kind: 'savepoint' | 'checkpoint' | undefined;
  readonly format: 'canonical' | 'native' | undefined;
  readonly checkpointId: number | undefined;
  readonly metadataVersion: number | undefined;
  readonly operators: number | undefined;
  /** file time of `_metadata` (of the directory when it has none), ms since 1970 */
  readonly modifiedMillis: number;
  /** `_metadata` and all files it refers to, as their handles say, each once */
  readonly bytes: number | undefined;
  /** `_metadata` is there and readable; that its files are is for `verify` to say */
  readonly complete: boolean;
  /** why it is not complete */
  readonly problem: string | undefined;
}

/** All snapshots below `path`, the newest first; incomplete checkpoints too. @throws StateQueryError when `path` itself cannot be read */
export function listSnapshots(
  path: string,
  stats?: ReadStats,
): { readonly snapshots: SnapshotSummary[]; readonly errors: readonly StateQueryError[] } {
  const found = findSnapshots(path);
  const snapshots = [...found.places.map(place => summarize(place, stats)), ...found.incomplete.map(incompleteCheckpoint)];
  snapshots.sort((a, b) => b.modifiedMillis - a.modifiedMillis || (a.directory < b.directory ? -1 : a.directory > b.directory ? 1 : 0));
  return { snapshots, errors: found.errors };
}

function summarize(place: SnapshotPlace, stats: ReadStats | undefined): SnapshotSummary {
  const { directory, metadataPath, modifiedMillis } = place;
  try {
    const metadata = readMetadataFile(metadataPath, stats);
    const { kind, format } = snapshotKind(metadata, directory, metadataPath);
    return {
      directory,
      metadataPath,
      kind,
      format,
      checkpointId: metadata.checkpointId,
      metadataVersion: metadata.version,
      operators: metadata.operators.length,
      modifiedMillis,
      bytes: referencedBytes(metadata),
      complete: true,
      problem: undefined,
    };
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return {
      directory,
      metadataPath,
      kind: place.checkpoint === undefined ? undefined : 'checkpoint',
      format: undefined,
      checkpointId: place.checkpoint,
      metadataVersion: undefined,
      operators: undefined,
      modifiedMillis,
      bytes: undefined,
      complete: false,
      problem: error.describe(),
    };
  }
}

function incompleteCheckpoint(found: { readonly directory: string; readonly modifiedMillis: number }): SnapshotSummary {
  return {
    directory: found.directory,
    metadataPath: undefined,
    kind: 'checkpoint',
    format: undefined,
    checkpointId: Number(/\d+$/.exec(found.directory)?.[0]),
    metadataVersion: undefined,
    operators: undefined,
    modifiedMillis: found.modifiedMillis,
    bytes: undefined,
    complete: false,
    problem: 'no _metadata: the checkpoint was not completed',
  };
}
