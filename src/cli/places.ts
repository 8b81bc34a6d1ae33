/** What `ls` says of a snapshot that it found. */
import type { SnapshotPlace } from '../checkpoint/locate.js';
import { referencedFiles } from '../checkpoint/references.js';
import { StateQueryError } from '../errors.js';
import { openSnapshot } from '../tables/snapshot.js';
import type { Value } from '../types.js';

export interface PlaceFacts {
  readonly kind: string | null;
  readonly checkpoint_id: bigint | null;
  readonly size_bytes: Value;
  /** every file is there in full length; null when some are on another file system */
  readonly complete: boolean | null;
  readonly problem: string | null;
}

/** Reads `_metadata` and looks for every file; a snapshot that cannot be read keeps its line, with the reason. */
export function describePlace(place: SnapshotPlace): PlaceFacts {
  try {
    const snapshot = openSnapshot(place.metadataPath);
    try {
      const facts = snapshot.facts();
      const files = referencedFiles(snapshot.metadata, snapshot.files);
      const missing = files.filter(f => f.present === false).length;
      const short = files.filter(f => f.short).length;
      const elsewhere = files.some(f => f.present === undefined);
      const problems = [
        ...(missing > 0 ? [`${missing} of ${files.length} files missing`] : []),
        ...(short > 0 ? [`${short} files too short`] : []),
      ];
      return {
        kind: facts.kind,
        checkpoint_id: BigInt(snapshot.metadata.checkpointId),
        size_bytes: BigInt(facts.totalBytes),
        complete: problems.length > 0 ? false : elsewhere ? null : true,
        problem: problems.length > 0 ? problems.join(', ') : elsewhere ? 'some files are on another file system' : null,
      };
    } finally {
      snapshot.close();
    }
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return {
      kind: place.checkpoint === undefined ? null : 'checkpoint',
      checkpoint_id: place.checkpoint === undefined ? null : BigInt(place.checkpoint),
      size_bytes: null,
      complete: false,
      problem: error.describe(),
    };
  }
}
