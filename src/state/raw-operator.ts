/**
 * Raw operator state: partitions of bytes that an operator wrote in a format of its own.
 *
 *   partitions back to back; `_metadata` has the offset of each, under the one name `_default_`
 *
 * An operator that wrote without beginning a partition has one whose offset is the end of its bytes: it is all of them.
 *
 * Flink: OperatorStateCheckpointOutputStream (1.8–2.3).
 */
import type { OperatorHandle } from '../checkpoint/handles.js';
import { CorruptError } from '../errors.js';
import type { StateContext } from './entry.js';

export interface RawPartition {
  readonly index: number;
  readonly bytes: Uint8Array;
  /** file offset of bytes[0] */
  readonly offset: number;
}

/** The partitions of one subtask's raw operator state. @throws StateQueryError */
export function* rawPartitions(handle: OperatorHandle, context: StateContext): Generator<RawPartition, void, undefined> {
  if (handle.empty === true || handle.stream.kind === 'empty-segment') return;
  const source = context.open(handle.stream);
  try {
    const offsets = handle.states.flatMap(state => state.offsets).sort((a, b) => a - b);
    const starts = offsets.length === 1 && offsets[0] === source.size ? [0] : offsets;
    for (let index = 0; index < starts.length; index++) {
      const start = starts[index];
      const end = starts[index + 1] ?? source.size;
      if (start < 0 || end > source.size || start > end)
        throw new CorruptError(`partition ${index} of raw state begins at ${start}, the file has ${source.size} bytes`, {
          file: source.name,
          where: context.where,
          hint: 'the file is truncated, or its snapshot was not completed',
        });
      yield { index, bytes: source.read(start, end - start), offset: source.base + start };
    }
  } finally {
    source.close();
  }
}
