/** Damaged files: the right rows, or an error that names file and place. Never anything else, never for long. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { StreamHandle } from '../../src/checkpoint/handles.js';
import { StateQueryError } from '../../src/errors.js';
import { memorySource } from '../../src/io/source.js';
import { openChannels } from '../../src/state/channel.js';
import type { StateContext } from '../../src/state/entry.js';
import { openKeyedState, openOperatorState } from '../../src/state/open.js';
import { openRawKeyedState } from '../../src/state/raw-keyed.js';
import { rawPartitions } from '../../src/state/raw-operator.js';
import { operatorRows } from './rows.js';
import { random } from './seeded.js';
import { FIXTURES, findMetadata, openSnapshot, subtasks } from './snapshots.js';

interface Target {
  readonly name: string;
  readonly bytes: Buffer;
  /** reads all of it, with these bytes in the place of its file; @returns how many entries it has */
  read(bytes: Buffer): number;
}

/** The files of a snapshot, each with a way to read it when it is damaged. */
function targets(metadata: string): Target[] {
  const found: Target[] = [];
  const snapshot = openSnapshot(metadata);
  for (const { operator, subtask, context } of subtasks(snapshot)) {
    const add = (kind: string, stream: StreamHandle | undefined, read: (c: StateContext) => number) => {
      if (stream === undefined || stream.kind === 'empty-segment') return;
      const source = context.open(stream);
      if (source.size > 60_000) return;
      const bytes = Buffer.from(source.read(0, source.size));
      found.push({
        name: `${snapshot.name} ${kind} ${operator.uid ?? operator.id}/${subtask.index}`,
        bytes,
        read: damaged => read({ ...context, open: s => (s === stream ? memorySource(damaged, 'damaged') : context.open(s)) }),
      });
    };
    const { managedKeyed, managedOperator, rawKeyed, rawOperator, channels } = subtask;
    if (managedKeyed?.kind === 'key-groups')
      add('keyed', managedKeyed.stream, c => {
        const reader = openKeyedState(managedKeyed, c);
        return count(reader.entries({}));
      });
    if (managedKeyed?.kind === 'changelog')
      for (const log of managedKeyed.nonMaterialized)
        if (log.kind === 'changelog-stream')
          add('changelog', log.parts[0]?.stream, c => count(openKeyedState({ ...managedKeyed, materialized: [] }, c).entries({})));
    if (rawKeyed?.kind === 'key-groups')
      add('raw keyed', rawKeyed.stream, c => {
        const raw = openRawKeyedState(rawKeyed, c);
        return raw.kind === 'bytes' ? [...raw.groups()].length : count(raw.reader.entries({}));
      });
    if (managedOperator !== undefined)
      add('operator', managedOperator.stream, c => {
        const reader = openOperatorState(managedOperator, c);
        return operatorRows(reader, c).length;
      });
    if (rawOperator !== undefined) add('raw operator', rawOperator.stream, c => [...rawPartitions(rawOperator, c)].length);
    for (const handle of channels) add('channel', handle.stream, context => [...openChannels([{ handle, context }])[0].elements()].length);
  }
  return found;
}

function count(cursor: { next(): boolean; close(): void }): number {
  let n = 0;
  while (cursor.next()) n++;
  cursor.close();
  return n;
}

/** The entries read, or the error's place. */
function attempt(target: Target, bytes: Buffer): number | undefined {
  try {
    return target.read(bytes);
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    expect([3, 5, 6], error.message).toContain(error.exitCode);
    expect(error.file, error.message).toBeDefined();
    expect(error.where, error.message).toBeDefined();
    return undefined;
  }
}

const all = findMetadata(FIXTURES).flatMap(targets);
/** one file of each kind and format */
const chosen = [...new Map(all.map(t => [t.name.replace(/\/\d+$/, ''), t])).values()];

describe('damaged state files', () => {
  it('there are some', () => {
    expect(chosen.length).toBeGreaterThan(4);
    expect(readFileSync(findMetadata(FIXTURES)[0]).length).toBeGreaterThan(0);
  });

  it('cut anywhere: an error', () => {
    const r = random(11);
    for (const target of chosen) {
      expect(attempt(target, target.bytes)).toBeDefined();
      for (let i = 0; i < 12; i++) {
        const n = Math.floor(r() * target.bytes.length);
        const entries = attempt(target, target.bytes.subarray(0, n));
        // logs and channels are shared files: what is cut may be another's
        if (!/changelog|channel|raw operator|raw keyed/.test(target.name)) expect(entries, `${target.name} cut at ${n}`).toBeUndefined();
      }
    }
  });

  it('with bytes flipped, zeroed or blown up: entries or an error', () => {
    const r = random(12);
    for (const target of chosen) {
      for (let i = 0; i < 30; i++) {
        const bytes = Buffer.from(target.bytes);
        const at = Math.floor(r() * bytes.length);
        const how = Math.floor(r() * 4);
        if (how === 0) bytes[at] ^= 1 << Math.floor(r() * 8);
        else if (how === 1) bytes.subarray(at, at + 8).fill(0);
        else if (how === 2) bytes.subarray(at, at + 4).fill(0xff);
        else if (at + 4 <= bytes.length) bytes.writeInt32BE(0x7fffffff - Math.floor(r() * 1000), at);
        attempt(target, bytes);
      }
    }
  });

  it('with a part moved: entries or an error', () => {
    const r = random(13);
    for (const target of chosen) {
      for (let i = 0; i < 6; i++) {
        const a = Math.floor(r() * target.bytes.length);
        const b = Math.floor(r() * target.bytes.length);
        attempt(target, Buffer.concat([target.bytes.subarray(0, a), target.bytes.subarray(b)]));
      }
    }
  });
});
