import { describe, expect, it } from 'vitest';
import type { ChannelHandle } from '../../src/checkpoint/handles.js';
import { type ChannelReader, openChannel, openChannels } from '../../src/state/channel.js';
import { contextOf, inline, int, long, Out, string } from './encode.js';
import { problem } from './problem.js';

const element = (...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int(body.length), body]);
};
const record = (text: string, timestamp?: number): Buffer =>
  timestamp === undefined ? element(Buffer.from([1]), string(text)) : element(Buffer.from([0]), long(timestamp), string(text));
const watermark = (ms: number) => element(Buffer.from([2]), long(ms));

/** A file of chunks and the handles of its channels. */
function channels(...data: readonly { direction: 'input' | 'output'; chunks: readonly Buffer[] }[]): ChannelHandle[] {
  const out = new Out().i32(0);
  const made = data.map(({ direction, chunks }, i) => {
    const offsets = chunks.map(chunk => {
      const at = out.size;
      out.i32(chunk.length).raw(chunk);
      return at;
    });
    return { direction, subtaskIndex: 0, gateOrPartition: 0, channelIndex: i, offsets, size: 0 };
  });
  const stream = inline(out.bytes());
  return made.map(handle => ({ ...handle, stream }));
}
function elements(reader: ChannelReader): unknown[] {
  const seen: unknown[] = [];
  for (const e of reader.elements())
    seen.push([e.index, e.kind, e.complete, e.timestamp, Buffer.from(e.bytes.subarray(e.start, e.end)).toString('latin1')]);
  return seen;
}
const open = (handle: ChannelHandle) => openChannel(handle, contextOf());

describe('channel state', () => {
  it('gives the elements of every kind, over chunks of any length', () => {
    const all = Buffer.concat([
      record('a', 5),
      record('bb'),
      watermark(-7),
      element(Buffer.from([3]), long(1), long(2), long(3), int(4)),
      element(Buffer.from([4]), int(-1)),
      element(Buffer.from([5, 1])),
      element(Buffer.from([6]), int(2), long(9)),
    ]);
    const expected = [
      [0, 'record', true, 5n, '\x02a'],
      [1, 'record', true, undefined, '\x03bb'],
      [2, 'watermark', true, -7n, long(-7).toString('latin1')],
      [3, 'latency-marker', true, undefined, Buffer.concat([long(1), long(2), long(3), int(4)]).toString('latin1')],
      [4, 'watermark-status', true, undefined, int(-1).toString('latin1')],
      [5, 'record-attributes', true, undefined, '\x01'],
      [6, 'internal-watermark', true, 9n, Buffer.concat([int(2), long(9)]).toString('latin1')],
    ];
    for (const length of [1, 3, 7, 1000]) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < all.length; at += length) chunks.push(all.subarray(at, at + length));
      const [input, output] = channels({ direction: 'input', chunks }, { direction: 'output', chunks });
      expect(elements(open(input))).toEqual(expected);
      expect(elements(open(output))).toEqual(expected);
      expect([open(input).buffers, open(input).size, open(input).lacks()]).toEqual([chunks.length, all.length, undefined]);
    }
  });
  it('marks elements that are cut, and tells where the other side goes on', () => {
    const cut = record('the last one, in two parts', 77);
    for (let at = 1; at < cut.length; at++) {
      const [input, output] = channels(
        { direction: 'input', chunks: [Buffer.concat([record('first', 1), cut.subarray(0, at)])] },
        { direction: 'output', chunks: [Buffer.concat([cut.subarray(at), record('next', 2), record('and one more', 3)])] },
      );
      const [a, b] = openChannels([input, output].map(handle => ({ handle, context: contextOf() })));
      expect(a.lacks()).toEqual(at >= 5 ? cut.length - at : Uint8Array.from(cut.subarray(0, at)));
      const [first, last] = elements(a) as [unknown, [number, string, boolean, bigint | undefined, string]];
      expect(first).toEqual([0, 'record', true, 1n, '\x06first']);
      expect([last[0], last[2], last[3]]).toEqual([1, false, at >= 13 ? 77n : undefined]);
      const [begin, ...rest] = elements(b);
      expect(begin).toEqual([0, 'continuation', false, undefined, cut.subarray(at).toString('latin1')]);
      expect(rest).toEqual([
        [1, 'record', true, 2n, '\x05next'],
        [2, 'record', true, 3n, '\x0dand one more'],
      ]);
    }
  });
  it('finds no element in the middle of one', () => {
    const middle = Buffer.from('no length and no kind in here, only text');
    const [output] = channels({ direction: 'output', chunks: [middle] });
    expect(elements(open(output))).toEqual([[0, 'continuation', false, undefined, middle.toString('latin1')]]);
  });
  it('has channels without data', () => {
    const [none, empty] = channels({ direction: 'input', chunks: [] }, { direction: 'input', chunks: [Buffer.alloc(0)] });
    expect([open(none).buffers, elements(open(none)), open(empty).size, elements(open(empty))]).toEqual([0, [], 0, []]);
  });
  it('goes through more than a window', () => {
    const chunks = Array.from({ length: 200 }, (_, i) => record('x'.repeat(9000), i));
    const [output] = channels({ direction: 'output', chunks });
    expect(elements(open(output)).map(e => (e as [number, string, boolean, bigint])[3])).toEqual(chunks.map((_, i) => BigInt(i)));
  });
  it('names file, offset and place of what is wrong', () => {
    const [input] = channels({ direction: 'input', chunks: [record('a', 5), Buffer.from('0000000909', 'hex')] });
    expect(problem(() => elements(open(input)))).toMatch(
      /^stream element of kind 9 and 9 bytes, 15 bytes into the channel's data \(state file, byte \d+, operator test, subtask 0, input channel 0\/0\)$/,
    );
    const [zero] = channels({ direction: 'input', chunks: [Buffer.from('0000000001', 'hex')] });
    expect(problem(() => elements(open(zero)))).toContain('stream element of 0 bytes');
    expect(problem(() => open({ ...input, offsets: [999] }))).toContain('channel data begins at 999, the file has');
    const stream = (input.stream as unknown as { bytes: Buffer }).bytes;
    const edited = (edit: (b: Buffer) => void): ChannelHandle => {
      const copy = Buffer.from(stream);
      edit(copy);
      return { ...input, stream: inline(copy) };
    };
    expect(problem(() => open(edited(b => b.writeInt32BE(3, 0))))).toContain('channel state of version 3');
    expect(problem(() => open(edited(b => b.writeInt32BE(-1, 4))))).toContain('channel data of -1 bytes');
    expect(problem(() => open(edited(b => b.writeInt32BE(1 << 30, 4))))).toContain('channel data of 1073741824 bytes');
  });
});
