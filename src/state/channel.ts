/**
 * Channel state: the data that was in flight when an unaligned checkpoint was taken.
 *
 *   file      i32 version 0 · chunks: i32 length · bytes; a channel's handle has the offsets of its chunks
 *   channel   its chunks in order: i32 length · element, …; elements may span chunks
 *   element   u8 kind, then     0 record     i64 timestamp · value        4 status         i32 (0 active, -1 idle)
 *                               1 record     value                        5 attributes     bool backlog
 *                               2 watermark  i64                          6 watermark      i32 subpartition · i64
 *                               3 latency    i64 time · i64 · i64 operator · i32 subtask
 *
 * The bytes of an input channel begin with an element and may end inside one, whose rest is then the beginning of what the
 * sender's result subpartition holds. A result subpartition therefore may begin and end inside an element, and nothing says
 * where its first whole one is: the first position from which lengths and kinds chain on to the end is taken.
 *
 * Which serializer wrote the values stands nowhere in a snapshot.
 *
 * Flink: ChannelStateSerializerImpl, SpillingAdaptiveSpanningRecordDeserializer, StreamElementSerializer (1.11–2.3).
 */
import type { ChannelHandle } from '../checkpoint/handles.js';
import { CorruptError, UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { ByteSource } from '../io/source.js';
import { type ByteStream, Window } from '../io/window.js';
import { type ChannelElementKind, findBegin, int, KINDS, type Lack, lackOf, plausible } from './channel-elements.js';
import type { StateContext } from './entry.js';
import { withWhere } from './header.js';

export type { ChannelElementKind } from './channel-elements.js';

/** One element of a channel. The object and its bytes are reused by the next one. */
export interface ChannelElement {
  readonly index: number;
  /** `continuation`: the end of an element that began on the other side of the connection */
  readonly kind: ChannelElementKind;
  /** false: the element goes on beyond this channel, or began before it */
  readonly complete: boolean;
  /** of a record that has one, a watermark (ms) */
  readonly timestamp: bigint | undefined;
  /** bytes[start, end): the record's value; of others everything behind the kind */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export interface ChannelReader {
  readonly handle: ChannelHandle;
  /** number of chunks */
  readonly buffers: number;
  /** bytes of the chunks, without their lengths */
  readonly size: number;
  /** @throws CorruptError */
  elements(): Iterable<ChannelElement>;
  /**
   * inputs: how many bytes the last element lacks, which the sender holds; where not even its length and kind are there, the
   * bytes that are; undefined when it is whole
   */
  lacks(): Lack | undefined;
  close(): void;
}

/**
 * Opens the data of channels; reads the lengths of their chunks. Give all channels of a snapshot at once: what the cut
 * elements of the inputs lack tells where those of the outputs begin. @throws StateQueryError
 */
export function openChannels(channels: readonly { readonly handle: ChannelHandle; readonly context: StateContext }[]): ChannelReader[] {
  const opened: ChannelReader[] = [];
  let lacking: Lack[] | undefined;
  const lackingBytes = (): readonly Lack[] => {
    lacking ??= opened.flatMap(({ handle, lacks }) => (handle.direction === 'input' ? (lacks() ?? []) : []));
    return lacking;
  };
  try {
    for (const { handle, context } of channels) opened.push(openChannel(handle, context, lackingBytes));
  } catch (error) {
    for (const reader of opened) reader.close();
    throw error;
  }
  return opened;
}

/** Opens the data of one channel. @param lacking what the cut elements of input channels lack */
export function openChannel(handle: ChannelHandle, context: StateContext, lacking: () => readonly Lack[] = () => []): ChannelReader {
  const source = context.open(handle.stream);
  try {
    const chunks = readChunks(handle, source);
    const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    return {
      handle,
      buffers: chunks.length,
      size,
      elements: () => elementsOf(handle, new ChunkStream(source, chunks), context, lacking),
      lacks: () => lackOf(new ChunkStream(source, chunks)),
      close: () => source.close(),
    };
  } catch (error) {
    source.close();
    throw withWhere(error, context.where, source.name);
  }
}

interface Chunk {
  readonly start: number;
  readonly length: number;
}

function readChunks({ offsets }: ChannelHandle, source: ByteSource): Chunk[] {
  const fail = (message: string, at: number): never => {
    throw new CorruptError(message, { file: source.name, offset: source.base + Math.max(0, Math.min(at, source.size)) });
  };
  if (offsets.length === 0) return [];
  const version = source.size < 4 ? fail('channel state without a version', 0) : new Cursor(source.read(0, 4)).i32();
  if (version !== 0) throw new UnsupportedError(`channel state of version ${version}`, { file: source.name, offset: source.base });
  return offsets.map(at => {
    if (at < 4 || at + 4 > source.size) fail(`channel data begins at ${at}, the file has ${source.size} bytes`, at);
    const length = new Cursor(source.read(at, 4)).i32();
    if (length < 0 || length > source.size - at - 4) fail(`channel data of ${length} bytes, ${source.size - at - 4} remain`, at);
    return { start: at + 4, length };
  });
}

/** The chunks of a channel as one stream. */
class ChunkStream implements ByteStream {
  readonly name: string;
  readonly what = "channel's data";
  remaining: number;
  private chunk = 0;
  private at = 0;

  constructor(
    private readonly source: ByteSource,
    private readonly chunks: readonly Chunk[],
  ) {
    this.name = source.name;
    this.remaining = chunks.reduce((sum, { length }) => sum + length, 0);
  }

  get offset(): number {
    const { chunks, chunk, at, source } = this;
    if (chunk < chunks.length) return source.base + chunks[chunk].start + at;
    const last = chunks[chunks.length - 1];
    return last === undefined ? source.base : source.base + last.start + last.length;
  }

  fill(target: Uint8Array, start: number, end: number): number {
    let to = start;
    while (to < end && this.chunk < this.chunks.length) {
      const { start: from, length } = this.chunks[this.chunk];
      const n = Math.min(end - to, length - this.at);
      if (n > 0) {
        const got = this.source.readInto(target.subarray(to, to + n), from + this.at);
        if (got < n) break;
        to += n;
        this.at += n;
        this.remaining -= n;
      }
      if (this.at === length) {
        this.chunk++;
        this.at = 0;
      }
    }
    return to - start;
  }
}

class Element implements ChannelElement {
  index = 0;
  kind: ChannelElementKind = 'record';
  complete = true;
  timestamp: bigint | undefined;
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
}

function* elementsOf(
  handle: ChannelHandle,
  stream: ChunkStream,
  context: StateContext,
  lacking: () => readonly Lack[],
): Generator<ChannelElement, void, undefined> {
  const window = new Window();
  const element = new Element();
  const where = `${context.where}, ${handle.direction} channel ${handle.gateOrPartition}/${handle.channelIndex}`;
  window.openStream(stream);
  try {
    if (handle.direction === 'output') {
      const begin = findBegin(window, lacking());
      if (begin > 0) {
        fill(element, window, 'continuation', false, begin);
        yield element;
        window.position += begin;
        element.index++;
      }
    }
    while (window.has(1)) {
      if (!window.has(5)) {
        // not even a kind
        fill(element, window, 'record', false, window.end - window.position);
        yield element;
        return;
      }
      const length = int(window.bytes, window.position);
      const kind = window.bytes[window.position + 4];
      if (!plausible(length, kind)) {
        window.fail(length < 1 ? `stream element of ${length} bytes` : `stream element of kind ${kind} and ${length} bytes`);
      }
      // an element that is cut is the last one: the window takes what there is of it
      const complete = window.has(4 + length);
      const available = complete ? length : window.end - window.position - 4;
      fill(element, window, KINDS[kind], complete, 4 + available);
      readHead(element, kind, element.start + 4);
      yield element;
      window.position += 4 + available;
      element.index++;
    }
  } catch (error) {
    throw withWhere(error, where, stream.name);
  } finally {
    window.close();
  }
}

function fill(element: Element, window: Window, kind: ChannelElementKind, complete: boolean, length: number): void {
  element.kind = kind;
  element.complete = complete;
  element.timestamp = undefined;
  element.bytes = window.bytes;
  element.start = window.position;
  element.end = window.position + length;
}

/** Steps over length and kind, and the timestamp of a record. */
function readHead(element: Element, kind: number, kindAt: number): void {
  element.start = kindAt + 1;
  const view = new DataView(element.bytes.buffer, element.bytes.byteOffset, element.bytes.byteLength);
  const has = (n: number) => element.end - element.start >= n;
  if (kind === 0) {
    // a record that ends inside its timestamp has no value yet
    element.timestamp = has(8) ? view.getBigInt64(element.start) : undefined;
    element.start = Math.min(element.end, element.start + 8);
  } else if (kind === 2 && has(8)) element.timestamp = view.getBigInt64(element.start);
  else if (kind === 6 && has(12)) element.timestamp = view.getBigInt64(element.start + 4);
}
