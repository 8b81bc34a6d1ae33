/**
 * Channel state of a subtask in `_metadata`: in-flight data of an unaligned checkpoint, one list for input channels and one for result
 * subpartitions.
 *
 *   V6 only  i8 type (1 input, 2 output, 3 merged input, 4 merged output)
 *   plain    i32 subtask (absent in 1.11), i32 gate or partition, i32 channel, i32 n, n × i64 offset, i64 size, stream
 *   merged   i32 subtask, i64 size, stream, i32 length, [i32 n, n × (i32 gate, i32 channel, i64 size, i32 m, m × i64 offset)] of that length
 *
 * Flink: ChannelStateHandleSerializer (1.15.4), ChannelStateHandleSerializerV1 and V2 (2.3.0), AbstractMergedChannelStateHandle.
 */
import type { Cursor } from '../io/cursor.js';
import type { ChannelHandle, MergedChannels, MetadataLayout } from './handles.js';
import { type HandleReader, readRequiredStream } from './state-handles.js';

export interface ChannelReader extends HandleReader {
  readonly channelLayout: NonNullable<MetadataLayout['channels']>;
  /** V6: a type byte in front of each entry */
  readonly typedChannels: boolean;
  /** set when an entry was read: its form depends on `channelLayout` */
  sawChannels: boolean;
}

/** Reads one list. @param subtask the subtask's own index, for entries that do not have one */
export function readChannels(r: ChannelReader, direction: ChannelHandle['direction'], subtask: number, out: ChannelHandle[]): void {
  const { c } = r;
  const n = c.count(`number of ${direction} channel entries`, 20);
  for (let i = 0; i < n; i++) {
    r.sawChannels = true;
    if (!r.typedChannels) {
      out.push(readChannel(r, direction, subtask));
      continue;
    }
    const type = c.u8('type of a channel entry');
    const plain = direction === 'input' ? 1 : 2;
    if (type === plain) out.push(readChannel(r, direction, subtask));
    else if (type === plain + 2) readMergedChannels(r, direction, out);
    else c.fail(`type of an ${direction} channel entry is ${type}, expected ${plain} or ${plain + 2}`, c.position - 1);
  }
}

function readChannel(r: ChannelReader, direction: ChannelHandle['direction'], subtask: number): ChannelHandle {
  const { c } = r;
  const subtaskIndex = r.channelLayout === 'with-subtask' ? readIndex(c, 'subtask') : subtask;
  const gateOrPartition = readIndex(c, 'gate or partition');
  const channelIndex = readIndex(c, 'channel');
  const offsets = readOffsets(c);
  const size = readChannelSize(c);
  const stream = readRequiredStream(r, 'channel state');
  return { direction, subtaskIndex, gateOrPartition, channelIndex, offsets, size, stream };
}

function readMergedChannels(r: ChannelReader, direction: ChannelHandle['direction'], out: ChannelHandle[]): void {
  const { c } = r;
  const subtaskIndex = readIndex(c, 'subtask');
  const size = readChannelSize(c);
  const stream = readRequiredStream(r, 'channel state');
  const length = c.count('length of merged channel offsets');
  const end = c.position + length;
  const channels = c.count('number of merged channels', 20);
  const merged: MergedChannels = { size, channels };
  for (let i = 0; i < channels; i++) {
    const gateOrPartition = readIndex(c, 'gate or partition');
    const channelIndex = readIndex(c, 'channel');
    const own = readChannelSize(c);
    const offsets = readOffsets(c);
    out.push({ direction, subtaskIndex, gateOrPartition, channelIndex, offsets, size: own, stream, merged });
  }
  if (c.position !== end) c.fail(`merged channel offsets of ${length} bytes end at ${c.position}, expected ${end}`);
}

function readIndex(c: Cursor, what: string): number {
  const index = c.i32(what);
  if (index < 0) c.fail(`${what} index of a channel is ${index}`, c.position - 4);
  return index;
}

function readChannelSize(c: Cursor): number {
  const size = c.i64Number('size of channel state');
  if (size < 0) c.fail(`size of channel state is ${size}`, c.position - 8);
  return size;
}

function readOffsets(c: Cursor): number[] {
  const n = c.count('number of channel offsets', 8);
  const offsets = new Array<number>(n);
  for (let i = 0; i < n; i++) {
    offsets[i] = c.i64Number('channel offset');
    if (offsets[i] < 0) c.fail(`channel offset is ${offsets[i]}`, c.position - 8);
  }
  return offsets;
}
