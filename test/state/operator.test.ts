import { describe, expect, it } from 'vitest';
import type { OperatorHandle } from '../../src/checkpoint/handles.js';
import { openOperatorState } from '../../src/state/open.js';
import { rawPartitions } from '../../src/state/raw-operator.js';
import { frame, framed, HEADER } from '../io/snappy-frames.js';
import {
  contextOf,
  INT,
  inline,
  int,
  LONG,
  long,
  operatorHeaderBytes,
  type Snapshot,
  STRING,
  type StateDecl,
  string,
  UNKNOWN,
} from './encode.js';
import { problem } from './problem.js';
import { type ElementRow, operatorRows } from './rows.js';

const list = (name: string, mode: string, value: Snapshot): StateDecl => ({
  name,
  ordinal: 1,
  options: { OPERATOR_STATE_DISTRIBUTION_MODE: mode },
  serializers: { VALUE_SERIALIZER: value },
});
const broadcast = (name: string, key: Snapshot, value: Snapshot): StateDecl => ({
  name,
  ordinal: 2,
  options: { OPERATOR_STATE_DISTRIBUTION_MODE: 'BROADCAST' },
  serializers: { KEY_SERIALIZER: key, VALUE_SERIALIZER: value },
});
const LISTS = [list('split', 'SPLIT_DISTRIBUTE', STRING), list('none', 'SPLIT_DISTRIBUTE', LONG), list('union', 'UNION', LONG)];
const RULES = [broadcast('rules', STRING, INT)];
const STRINGS = ['a', '', 'ccc'].map(string);
const LONGS = [long(1), long(-2)];
const MAP = Buffer.concat([int(2), string('x'), int(1), string('y'), int(2)]);
const ROWS: ElementRow[] = [
  { state: 'split', index: 0, value: 'a' },
  { state: 'split', index: 1, value: '' },
  { state: 'split', index: 2, value: 'ccc' },
  { state: 'union', index: 0, value: '1' },
  { state: 'union', index: 1, value: '-2' },
  { state: 'rules', index: 0, mapKey: 'x', value: '1' },
  { state: 'rules', index: 1, mapKey: 'y', value: '2' },
];

const handleOf = (bytes: Buffer, states: OperatorHandle['states']): OperatorHandle => ({
  kind: 'operator',
  tag: 4,
  states,
  stream: inline(bytes),
});
const starts = (at: number, parts: readonly Buffer[]): number[] => {
  let p = at;
  return parts.map(part => {
    p += part.length;
    return p - part.length;
  });
};
const statesOf = (split: readonly number[], union: readonly number[], rules: readonly number[]): OperatorHandle['states'] => [
  { name: 'rules', mode: 'BROADCAST', offsets: rules },
  { name: 'none', mode: 'SPLIT_DISTRIBUTE', offsets: [] },
  { name: 'union', mode: 'UNION', offsets: union },
  { name: 'split', mode: 'SPLIT_DISTRIBUTE', offsets: split },
];

function plainFile(version?: false): OperatorHandle {
  const header = operatorHeaderBytes(LISTS, RULES, version);
  const all = [...STRINGS, ...LONGS, MAP];
  const at = starts(header.length, all);
  return handleOf(Buffer.concat([header, ...all]), statesOf(at.slice(0, 3), at.slice(3, 5), at.slice(5)));
}

/** 1.18.2+: one stream, flushed before each offset is taken. */
function flushedFile(): OperatorHandle {
  const header = operatorHeaderBytes(LISTS, RULES, true);
  const all = [...STRINGS, ...LONGS, MAP].map(part => frame(1, part));
  const at = starts(header.length + HEADER.length, all);
  return handleOf(Buffer.concat([header, HEADER, ...all]), statesOf(at.slice(0, 3), at.slice(3, 5), at.slice(5)));
}

/** 1.18.0 and 1.18.1: a stream for each state, offsets taken before anything was written. */
function unflushedFile(): OperatorHandle {
  const header = operatorHeaderBytes(LISTS, RULES, true);
  const streams = [Buffer.concat(STRINGS), Buffer.alloc(0), Buffer.concat(LONGS), MAP].map(framed);
  const at = starts(header.length, streams).map(p => p + HEADER.length);
  return handleOf(Buffer.concat([header, ...streams]), statesOf([at[0], at[0], at[0]], [at[2], at[2]], [at[3]]));
}

const rows = (handle: OperatorHandle) => {
  const context = contextOf();
  const reader = openOperatorState(handle, context);
  try {
    return operatorRows(reader, context);
  } finally {
    reader.close();
  }
};

describe('managed operator state', () => {
  it('gives list elements and broadcast entries', () => {
    expect(rows(plainFile())).toEqual(ROWS);
    expect(rows(plainFile(false))).toEqual(ROWS);
  });
  it('reads compressed state, also with the offsets of 1.18.0 and 1.18.1', () => {
    expect(rows(flushedFile())).toEqual(ROWS);
    expect(rows(unflushedFile())).toEqual(ROWS);
  });
  it('bounds elements of unknown length by their offsets', () => {
    const header = operatorHeaderBytes([list('s', 'UNION', UNKNOWN)], []);
    const parts = [Buffer.from('aa01', 'hex'), Buffer.from('bb', 'hex')];
    const context = contextOf();
    const hexes = (handle: OperatorHandle) => {
      const reader = openOperatorState(handle, context);
      return [...reader.elements(reader.header.states[0])].map(e => [
        Buffer.from(e.bytes.subarray(e.start, e.end)).toString('hex'),
        e.unsplit,
      ]);
    };
    const collect = (handle: OperatorHandle) => {
      const reader = openOperatorState(handle, context);
      const seen: unknown[] = [];
      for (const e of reader.elements(reader.header.states[0]))
        seen.push([Buffer.from(e.bytes.subarray(e.start, e.end)).toString('hex'), e.unsplit]);
      return seen;
    };
    const plain = handleOf(Buffer.concat([header, ...parts]), [{ name: 's', mode: 'UNION', offsets: starts(header.length, parts) }]);
    expect(collect(plain)).toEqual([
      ['aa01', undefined],
      ['bb', undefined],
    ]);
    const compressedHeader = operatorHeaderBytes([list('s', 'UNION', UNKNOWN)], [], true);
    const frames = parts.map(p => frame(0, p));
    const flushed = handleOf(Buffer.concat([compressedHeader, HEADER, ...frames]), [
      { name: 's', mode: 'UNION', offsets: starts(compressedHeader.length + HEADER.length, frames) },
    ]);
    expect(collect(flushed)).toEqual([
      ['aa01', undefined],
      ['bb', undefined],
    ]);
    const at = compressedHeader.length + HEADER.length;
    const unflushed = handleOf(Buffer.concat([compressedHeader, framed(Buffer.concat(parts))]), [
      { name: 's', mode: 'UNION', offsets: [at, at] },
    ]);
    expect(hexes(unflushed)).toEqual([['aa01bb', 'serializer com.example.Custom is not known; 1 more elements stand in the same bytes']]);
  });
  it('keeps broadcast entries of unknown length with what stands behind them', () => {
    const header = operatorHeaderBytes([], [broadcast('b', STRING, UNKNOWN)]);
    const body = Buffer.concat([int(2), string('k'), Buffer.from('aa', 'hex'), string('l'), Buffer.from('bb', 'hex')]);
    const reader = openOperatorState(
      handleOf(Buffer.concat([header, body]), [{ name: 'b', mode: 'BROADCAST', offsets: [header.length] }]),
      contextOf(),
    );
    const seen: unknown[] = [];
    for (const e of reader.elements(reader.header.states[0]))
      seen.push([
        Buffer.from(e.bytes.subarray(e.start, e.end)).toString('hex'),
        Buffer.from(e.bytes.subarray(e.valueStart, e.valueEnd)).toString('hex'),
        e.unsplit,
      ]);
    expect(seen).toEqual([['026b', 'aa026cbb', 'serializer com.example.Custom is not known; 1 more entries stand in the same bytes']]);
  });
  it('is empty where the handle says so', () => {
    const empty: OperatorHandle = { kind: 'operator', tag: 17, states: [], stream: { kind: 'empty-segment' }, empty: true };
    expect(rows(empty)).toEqual([]);
  });
  it('names file, offset and place of what is wrong', () => {
    const good = plainFile();
    const bytes = (good.stream as unknown as { bytes: Buffer }).bytes;
    const limit = good.states[3].offsets[0];
    const cut = handleOf(bytes.subarray(0, bytes.length - 2), good.states);
    expect(problem(() => rows(cut))).toMatch(
      /value needs 4 bytes, 2 remain \(state file, byte \d+, operator test, subtask 0, state rules\)/,
    );
    expect(problem(() => rows(handleOf(bytes, statesOf([limit + 1], [], []))))).toContain('1 bytes between the header and the first state');
    expect(problem(() => rows(handleOf(bytes, statesOf([999_999], [], []))))).toContain('the file has');
    expect(problem(() => rows(handleOf(bytes, statesOf([limit, limit - 1], [], []))))).toContain('before the one in front of it');
    expect(problem(() => rows(handleOf(bytes, [{ name: 'other', mode: 'UNION', offsets: [limit] }])))).toBe(
      'the metadata knows a state other (UNION) that the file does not (state file, operator test, subtask 0)',
    );
    const old = Buffer.from(bytes);
    old.writeInt32BE(4, 0);
    expect(problem(() => rows(handleOf(old, good.states)))).toContain('operator state format 4, which Flink 1.6 wrote, is not read');
  });
});

describe('raw operator state', () => {
  const parts = (offsets: readonly number[]) =>
    [
      ...rawPartitions(handleOf(Buffer.from('aabbccdd', 'hex'), [{ name: '_default_', mode: 'SPLIT_DISTRIBUTE', offsets }]), contextOf()),
    ].map(p => [p.index, Buffer.from(p.bytes).toString('hex'), p.offset]);
  it('gives partitions; without one, all bytes', () => {
    expect(parts([0, 1, 3])).toEqual([
      [0, 'aa', 0],
      [1, 'bbcc', 1],
      [2, 'dd', 3],
    ]);
    expect(parts([4])).toEqual([[0, 'aabbccdd', 0]]);
    expect(parts([])).toEqual([]);
    expect(problem(() => parts([0, 9]))).toContain('partition 0 of raw state');
  });
});
