/**
 * Where the changes of a changelog lie: dstl files, and change sets inline in `_metadata`.
 *
 *   dstl file     u8 compressed (1: what follows is one stream of snappy frames) · change sets of several operators and subtasks
 *   change set    i32 n · n × group, at an offset that counts uncompressed bytes behind the first byte of the file
 *   group         i32 n · i32 key group (-1: registrations of states, the first group) · n × (i32 length · change)
 *
 * Flink: StateChangeFormat, StateChangeIteratorImpl, ChangelogStateHandleStreamImpl (1.15–2.3).
 */
import type { ChangelogMemoryHandle, ChangelogStreamHandle, StreamHandle } from '../checkpoint/handles.js';
import { Cursor } from '../io/cursor.js';
import { SnappyFrames } from '../io/snappy.js';
import type { ByteSource } from '../io/source.js';
import { Window } from '../io/window.js';
import type { StateContext } from './entry.js';
import { withWhere } from './header.js';

/** the "key group" of registrations */
export const REGISTRATIONS = -1;

/** Gets each change in order; the cursor spans the change and is reused. false: no more of them are wanted. */
export type ChangeVisitor = (keyGroup: number, change: Cursor) => unknown;

/**
 * Visits the changes of a handle, in the order in which they were made within a key group.
 * @param registrationsOnly reads no further than the registrations in front of each set
 */
export function readChangeSets(
  handle: ChangelogStreamHandle | ChangelogMemoryHandle,
  context: StateContext,
  registrationsOnly: boolean,
  visit: ChangeVisitor,
): void {
  if (handle.kind === 'changelog-memory') {
    for (const { keyGroup, bytes, offset } of handle.changes) {
      if (registrationsOnly && keyGroup !== REGISTRATIONS) continue;
      const { name, base } = context.open({ kind: 'inline', name: 'changes', bytes, offset });
      const change = new Cursor(bytes, 0, bytes.length, { file: name, where: context.where }, base);
      if (visit(keyGroup, change) === false) return;
    }
    return;
  }
  const file = new ChangeFile(context);
  let total = 0;
  try {
    for (const part of handle.parts) {
      const bytes = file.readSet(part.stream, part.offset, registrationsOnly, visit);
      if (bytes === undefined) return;
      total += bytes;
    }
    if (!registrationsOnly && total !== handle.size) file.fail(`changes of ${total} bytes, the state handle says ${handle.size}`);
  } catch (error) {
    throw withWhere(error, context.where, file.name);
  } finally {
    file.close();
  }
}

/** The file that is being read; sets that follow each other in one file are read in one pass. */
class ChangeFile {
  private readonly window = new Window();
  private source: ByteSource | undefined;
  private stream: StreamHandle | undefined;
  private compressed = false;
  /** uncompressed bytes before the window's position, behind the flag */
  private at = 0;

  constructor(private readonly context: StateContext) {}

  get name(): string {
    return this.source?.name ?? '';
  }

  fail(message: string): never {
    return this.window.fail(message);
  }

  close(): void {
    this.window.close();
    this.source?.close();
    this.source = undefined;
  }

  private seek(stream: StreamHandle, offset: number): void {
    if (!(sameStream(stream, this.stream) && offset >= this.at && this.compressed)) {
      if (!sameStream(stream, this.stream)) {
        this.source?.close();
        this.source = this.context.open(stream);
        this.stream = stream;
      }
      const source = this.source as ByteSource;
      this.window.open(source, 0, Math.min(1, source.size));
      const flag = this.window.u8('compression flag');
      if (flag > 1) this.window.fail(`compression flag of the changelog is ${flag}, expected 0 or 1`, 0);
      this.compressed = flag === 1;
      this.at = this.compressed ? 0 : offset;
      if (this.compressed) this.window.openStream(new SnappyFrames(source, 1, source.size, { verify: this.context.verify }));
      else this.window.open(source, Math.min(1 + offset, source.size), source.size);
    }
    while (this.at < offset) {
      const step = Math.min(offset - this.at, 1 << 16);
      this.window.need(step, 'change sets of others');
      this.window.position += step;
      this.at += step;
    }
  }

  /** @returns the bytes of the changes alone, which is what the handle counts; undefined when the visitor had enough */
  readSet(stream: StreamHandle, offset: number, registrationsOnly: boolean, visit: ChangeVisitor): number | undefined {
    this.seek(stream, offset);
    const { window } = this;
    const change = new Cursor(window.bytes, 0, 0, { file: this.name, where: this.context.where });
    const groups = window.i32('number of groups');
    let size = 4;
    let changes = 0;
    if (groups < 0) window.fail(`${groups} groups of changes`, window.position - 4);
    for (let g = 0; g < groups; g++) {
      const n = window.i32('number of changes');
      if (n < 0) window.fail(`${n} changes`, window.position - 4);
      const keyGroup = window.i32('key group');
      if (keyGroup < REGISTRATIONS || keyGroup >= this.context.maxParallelism)
        window.fail(`changes of key group ${keyGroup}`, window.position - 4);
      size += 8;
      if (registrationsOnly && keyGroup !== REGISTRATIONS) break;
      for (let i = 0; i < n; i++) {
        const length = window.i32('length of a change');
        window.need(length, 'change');
        change.reset(window.bytes, window.position, window.position + length, Math.max(0, window.base));
        if (visit(keyGroup, change) === false) return undefined;
        window.position += length;
        size += 4 + length;
        changes += length;
      }
    }
    this.at += size;
    return changes;
  }
}

function sameStream(a: StreamHandle, b: StreamHandle | undefined): boolean {
  if (a === b) return true;
  if (b === undefined || a.kind !== b.kind) return false;
  if (a.kind === 'file' || a.kind === 'relative') return a.path === (b as typeof a).path;
  return a.kind === 'segment' && a.path === (b as typeof a).path && a.start === (b as typeof a).start;
}
