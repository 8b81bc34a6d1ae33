/**
 * The frames that Flink itself puts around connector state.
 *
 *   list entry           i32 version · i32 len · bytes                                   SimpleVersionedListState (an element is a byte[])
 *   source coordinator   i32 serde version (1; 0: the split tracker's data follow) · i32 enumerator version · i32 len · bytes
 *   collector v2         i32 B91F252C · list of checkpoints                              CommittableCollectorSerializer
 *     checkpoint v0      i64 id · list of subtasks          v1: i64 id · i32 number of subtasks · list of subtasks
 *     subtask v0         list of requests · i32 committables · i32 drained · i32 failed
 *             v1         i32 subtask · as v0                v2: i32 subtask · list of requests · i32 committables · i32 failed
 *     request v0         i32 version · i32 len · committable · i32 retries · i32 state
 *   collector v1         [i32 B91F252C] · i32 committable version · i32 n × (i32 len · committable)   (1.12–1.14)
 *   global v2            i32 B91F252B · bool [list of global committables] · i32 version · i32 len · collector
 *
 *   list                 i32 version · i32 n × (i32 len · item)
 *
 * Flink: SimpleVersionedSerialization, SourceCoordinatorSerdeUtils, CommittableCollectorSerializer, GlobalCommitterSerializer (1.14–2.3).
 */
import type { Cursor } from '../io/cursor.js';
import { readCode, readVersioned, readVersionedList, readWhole, type Versioned } from './bytes.js';

/** An entry of a SimpleVersionedListState: the whole byte[]. */
export function decodeListEntry(bytes: Uint8Array): Versioned {
  return readWhole(bytes, 'list entry', c => readVersioned(c, 'list entry'));
}

/** The enumerator inside the state of a SourceCoordinator. */
export function decodeSourceCoordinator(bytes: Uint8Array): Versioned {
  return readWhole(bytes, 'coordinator state', c => {
    const serde = c.i32();
    if (serde !== 0 && serde !== 1) c.fail(`coordinator state of version ${serde}`, 0);
    const enumerator = readVersioned(c, 'enumerator');
    // 1.12's SplitAssignmentTracker: splits by checkpoint, all of them in the readers' state too
    if (serde === 0) c.position = c.end;
    return enumerator;
  });
}

export interface CommitRequest {
  readonly committable: Versioned;
  readonly checkpointId: bigint | null;
  readonly subtask: number | null;
  readonly retries: number | null;
  readonly state: string | null;
  /** of a global committer */
  readonly global?: true;
}

const COLLECTOR = 0xb91f252c;
const GLOBAL = 0xb91f252b;
const REQUEST_STATES = ['RECEIVED', 'RETRY', 'FAILED', 'COMMITTED'] as const;

/** A CommittableCollector: every request in it. */
export function decodeCollector({ version, bytes }: Versioned): CommitRequest[] {
  return readWhole(bytes, 'committables', c => readCollector(c, version));
}

function readCollector(c: Cursor, version: number): CommitRequest[] {
  if (version === 1) {
    // 1.12–1.14 put the magic number in front, readers of 1.15 and later expect none
    if (c.remaining >= 4 && c.u32() !== COLLECTOR) c.position -= 4;
    return readVersionedList(c, 'committables').map(committable => ({
      committable,
      checkpointId: null,
      subtask: null,
      retries: null,
      state: null,
    }));
  }
  if (version !== 2) c.fail(`committables of version ${version}`);
  magic(c, COLLECTOR);
  return readVersionedList(c, 'checkpoints').flatMap(checkpoint =>
    readWhole(checkpoint.bytes, 'checkpoint', x => {
      const checkpointId = x.i64();
      if (checkpoint.version > 1) x.fail(`checkpoint of version ${checkpoint.version}`);
      if (checkpoint.version === 1) x.i32();
      return readVersionedList(x, 'subtasks').flatMap(subtask =>
        readWhole(subtask.bytes, 'subtask', y => readSubtask(y, subtask.version, checkpointId)),
      );
    }),
  );
}

function readSubtask(c: Cursor, version: number, checkpointId: bigint): CommitRequest[] {
  if (version > 2) c.fail(`subtask of version ${version}`);
  const subtask = version === 0 ? null : c.i32();
  const requests = readVersionedList(c, 'requests').map(request =>
    readWhole(request.bytes, 'request', (x): CommitRequest => {
      if (request.version !== 0) x.fail(`request of version ${request.version}`);
      const committable = readVersioned(x, 'committable');
      const retries = x.i32();
      return { committable, checkpointId, subtask, retries, state: readCode(x, REQUEST_STATES, 'state of a request') };
    }),
  );
  c.take(version === 2 ? 8 : 12, 'numbers of committables');
  return requests;
}

/** The state of a global committer. */
export function decodeGlobalCommitter({ version, bytes }: Versioned): CommitRequest[] {
  return readWhole(bytes, 'global committables', c => {
    if (version !== 2) c.fail(`global committables of version ${version}`);
    magic(c, GLOBAL);
    const globals = c.bool() ? readVersionedList(c, 'global committables') : [];
    const collector = readVersioned(c, 'committables');
    return [
      ...globals.map(committable => ({
        committable,
        checkpointId: null,
        subtask: null,
        retries: null,
        state: null,
        global: true as const,
      })),
      ...decodeCollector(collector),
    ];
  });
}

function magic(c: Cursor, expected: number): void {
  const found = c.u32();
  if (found !== expected) c.fail(`begins with ${found.toString(16)}, expected ${expected.toString(16)}`, c.position - 4);
}
