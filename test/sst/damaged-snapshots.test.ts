/** Damaged copies of snapshots that Flink wrote with RocksDB: the right entries or a typed error, whichever file is hit. */
import { describe, expect, it } from 'vitest';
import type { StreamHandle } from '../../src/checkpoint/handles.js';
import { NotFoundError, StateQueryError } from '../../src/errors.js';
import { memorySource } from '../../src/io/source.js';
import { openRocksdbState } from '../../src/state/rocksdb.js';
import { random } from '../state/seeded.js';
import { FIXTURES, findMetadata, openSnapshot } from '../state/snapshots.js';

const NAMES = [
  '2.3-small-rocksdb-incremental',
  '2.3-small-rocksdb-native',
  '2.3-small-forst-incremental-v2async',
  '1.20-small-rocksdb-incremental',
];
const places = NAMES.flatMap(name => {
  const [metadata] = findMetadata(`${FIXTURES}/${name}`);
  return metadata === undefined ? [] : [{ name, metadata }];
});

describe.each(places)('$name', ({ metadata }) => {
  const opened = openSnapshot(metadata);
  const found = opened.metadata.operators.flatMap(operator =>
    operator.subtasks.flatMap(subtask =>
      subtask.managedKeyed?.kind === 'incremental' ? [{ operator, subtask, handle: subtask.managedKeyed }] : [],
    ),
  );
  const { operator, subtask, handle } = found[0];
  const context = opened.context(operator, subtask);
  const nameOf = (stream: StreamHandle): string => ('path' in stream ? stream.path : 'meta');
  const files = new Map<string, Uint8Array>();
  for (const { stream } of [...handle.shared, ...handle.private, { stream: handle.meta }]) {
    const source = context.open(stream);
    files.set(nameOf(stream), Uint8Array.from(source.read(0, source.size)));
  }
  const names = [...files.keys()];
  const localNames = new Map([...handle.shared, ...handle.private].map(file => [nameOf(file.stream), file.localName]));

  /** Everything that the handle holds, its header included; what was warned of counts as told. */
  const read = (changed: ReadonlyMap<string, Uint8Array | undefined>): string[] => {
    const told: string[] = [];
    const reader = openRocksdbState(handle, {
      ...context,
      open(stream) {
        const name = nameOf(stream);
        const bytes = changed.has(name) ? changed.get(name) : files.get(name);
        if (bytes === undefined) throw new NotFoundError('no such file', { file: name });
        return memorySource(bytes, name);
      },
      warn: message => void told.push(message),
    });
    const rows: string[] = reader.header.states.map(state => `${state.name} ${state.stateType} ${state.value?.text}`);
    const cursor = reader.entries({ split: false });
    while (cursor.next())
      rows.push(
        `${cursor.state} ${cursor.keyGroup} ${Buffer.from(cursor.bytes.subarray(cursor.valueStart, cursor.valueEnd)).toString('hex')}`,
      );
    cursor.close();
    reader.close();
    return [...told, ...rows];
  };
  const right = read(new Map());

  it('has something to lose', () => {
    expect(right.length).toBeGreaterThan(3);
  });

  it('changed anywhere', () => {
    const next = random(21);
    let failed = 0;
    for (let round = 0; round < 400; round++) {
      const name = names[Math.floor(next() * names.length)];
      const bytes = Uint8Array.from(files.get(name) ?? []);
      const at = Math.floor(next() * bytes.length);
      const changed = new Map<string, Uint8Array | undefined>();
      const kind = Math.floor(next() * 6);
      if (kind === 0) changed.set(name, undefined);
      else if (kind === 1) changed.set(name, bytes.slice(0, at));
      else if (kind === 2) changed.set(name, bytes.fill(0, at, at + 1 + Math.floor(next() * 200)));
      else if (kind === 3) {
        const other = names[Math.floor(next() * names.length)];
        changed.set(name, files.get(other)).set(other, files.get(name));
      } else if (kind === 4) changed.set(name, new Uint8Array(bytes.length));
      else changed.set(name, bytes.fill(bytes[at] ^ (1 << Math.floor(next() * 8)), at, at + 1));
      // the header has no checksum: a changed name or type in it is what it says
      const header = [...changed.keys()].some(file => file === nameOf(handle.meta));
      try {
        const got = read(changed);
        if (!header) expect(got, `${localNames.get(name)} ${kind}`).toEqual(right);
      } catch (error) {
        failed++;
        expect(error, `${localNames.get(name)} ${kind}: ${error instanceof Error ? error.stack : error}`).toBeInstanceOf(StateQueryError);
        expect((error as StateQueryError).where ?? (error as StateQueryError).file).toBeDefined();
      }
    }
    expect(failed).toBeGreaterThan(200);
  });
});
