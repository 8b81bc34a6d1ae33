/**
 * Writes savepoints of any number of keys, where no Flink is at hand: operator `profile-op` with String keys `key_<i>`, ValueState<Long>
 * `count` and ValueState<Profile{id, name, amount, status}> `profile`, in two subtasks, in the canonical format or that of the hashmap
 * backend. Every value follows from the key's number, so what a right answer is needs no reading.
 */
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hashString, keyGroupOfHash, keyGroupsOfSubtask } from '../../src/checkpoint/key-groups.js';
import { operatorIdOf } from '../../src/checkpoint/uid.js';
import { keyGroups, metadata, type OperatorParts, relative } from '../checkpoint/encode.js';
import { snapshots } from '../serializers/support.js';
import { keyed, keyedHeaderBytes, LONG, type Snapshot, STRING } from '../state/encode.js';

export const countOf = (i: number): number => i % 1000;
export const statusOf = (i: number): number => (i >>> 2) % 5;
export const amountOf = (i: number): number => (i % 10007) / 4;
export const nameOf = (i: number): string => `user-${(Math.imul(i, 2654435761) >>> 0).toString(16)}${i % 3 === 0 ? '-\u00e9' : ''}`;

export interface GeneratedState {
  readonly path: string;
  /** of the state files */
  readonly bytes: number;
}

export const PARALLELISM = 2;
export const MAX_PARALLELISM = 128;
/** memory for key groups that are written at a time */
const MEMORY = 256 << 20;
const BYTES_OF_KEY = 160;

const PROFILE: Snapshot = out =>
  out.raw(
    snapshots.pojo(
      [
        ['amount', snapshots.simple('Double')],
        ['id', snapshots.simple('Long')],
        ['name', snapshots.simple('String')],
        ['status', snapshots.simple('Int')],
      ],
      [],
      [],
      'bench.Profile',
    ),
  );

export const STATES = ['count', 'profile'] as const;

export const headerOfStates = (): Uint8Array =>
  keyedHeaderBytes(STRING, [keyed('count', 'VALUE', LONG), keyed('profile', 'VALUE', PROFILE)]);

/** Bytes of one state in one key group, as they come. */
class Entries {
  private buffer = Buffer.allocUnsafe(1 << 12);
  length = 0;
  count = 0;
  /** where the last entry begins */
  last = 0;
  room(bytes: number): Buffer {
    if (this.length + bytes > this.buffer.length) {
      const next = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + bytes));
      this.buffer.copy(next, 0, 0, this.length);
      this.buffer = next;
    }
    return this.buffer;
  }
  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }
}

/** StringValue: varint (units + 1), units as varints (none above 2^14 here). */
function writeString(b: Buffer, at: number, text: string): number {
  let p = at;
  b[p++] = text.length + 1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 128) b[p++] = unit;
    else {
      b[p++] = (unit & 127) | 128;
      b[p++] = unit >> 7;
    }
  }
  return p;
}

function writeProfile(b: Buffer, at: number, i: number): number {
  let p = at;
  b[p++] = 2;
  b[p++] = 0;
  p = b.writeDoubleBE(amountOf(i), p);
  b[p++] = 0;
  p = b.writeInt32BE(0, p);
  p = b.writeInt32BE(i, p);
  b[p++] = 0;
  p = writeString(b, p, nameOf(i));
  b[p++] = 0;
  return b.writeInt32BE(statusOf(i), p);
}

function writeCount(b: Buffer, at: number, i: number): number {
  b.writeInt32BE(0, at);
  return b.writeInt32BE(countOf(i), at + 4);
}

/** The values of the states `count` and `profile`. */
export const WRITERS = [writeCount, writeProfile];

function addCanonical(entries: Entries, keyGroup: number, key: string, i: number, write: (typeof WRITERS)[number]): void {
  const b = entries.room(BYTES_OF_KEY);
  entries.last = entries.length;
  const keyStart = entries.length + 4;
  b[keyStart] = keyGroup;
  const keyEnd = writeString(b, keyStart + 1, key) + 1;
  b[keyEnd - 1] = 0;
  b.writeInt32BE(keyEnd - keyStart, keyStart - 4);
  const end = write(b, keyEnd + 4, i);
  b.writeInt32BE(end - keyEnd - 4, keyEnd);
  entries.length = end;
  entries.count++;
}

function addHeap(entries: Entries, _keyGroup: number, key: string, i: number, write: (typeof WRITERS)[number]): void {
  const b = entries.room(BYTES_OF_KEY);
  b[entries.length] = 0;
  entries.length = write(b, writeString(b, entries.length + 1, key), i);
  entries.count++;
}

const u16 = (n: number): Buffer => Buffer.of(n >> 8, n & 255);
const i32 = (n: number): Buffer => Buffer.of(n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255);

/** A key group's bytes. */
function groupBytes(form: Form, keyGroup: number, states: readonly Entries[]): Buffer[] {
  if (form === 'heap') return [i32(keyGroup), ...states.flatMap((entries, id) => [u16(id), i32(entries.count), entries.bytes])];
  const parts = [u16(0)];
  states.forEach((entries, id) => {
    entries.bytes[entries.last + 4] |= 0x80;
    parts.push(entries.bytes, u16(id + 1 < states.length ? id + 1 : 0xffff));
  });
  return parts;
}

export type Form = 'canonical' | 'heap';

/** Writes a savepoint of `keys` keys into a directory that it makes. */
export function writeState(directory: string, keys: number, form: Form = 'canonical'): GeneratedState {
  mkdirSync(directory, { recursive: true });
  const header = headerOfStates();
  const groupsAtOnce = Math.max(1, Math.floor((MEMORY / BYTES_OF_KEY / Math.max(1, keys)) * MAX_PARALLELISM));
  const add = form === 'canonical' ? addCanonical : addHeap;
  let bytes = 0;
  const subtasks = Array.from({ length: PARALLELISM }, (_, index) => {
    const range = keyGroupsOfSubtask(index, PARALLELISM, MAX_PARALLELISM);
    const file = join(directory, `state-${index}`);
    const fd = openSync(file, 'w');
    const offsets: number[] = [];
    let size = writeSync(fd, header);
    for (let from = range.first; from < range.first + range.count; from += groupsAtOnce) {
      const to = Math.min(from + groupsAtOnce, range.first + range.count);
      const groups = Array.from({ length: to - from }, () => WRITERS.map(() => new Entries()));
      for (let i = 0; i < keys; i++) {
        const key = `key_${i}`;
        const keyGroup = keyGroupOfHash(hashString(key), MAX_PARALLELISM);
        if (keyGroup >= from && keyGroup < to) WRITERS.forEach((write, s) => void add(groups[keyGroup - from][s], keyGroup, key, i, write));
      }
      groups.forEach((states, g) => {
        if (form === 'canonical' && states[0].count === 0) {
          offsets.push(0);
          return;
        }
        offsets.push(size);
        for (const part of groupBytes(form, from + g, states)) size += writeSync(fd, part);
      });
    }
    closeSync(fd);
    bytes += size;
    const handle = keyGroups(form === 'canonical' ? 7 : 3, range.first, offsets, relative(basename(file), size));
    return { index, body: { managedKeyed: handle } };
  });
  writeMetadata(directory, subtasks);
  return { path: directory, bytes };
}

/** `_metadata` of the operator with these subtasks; it is there when all else is. */
export function writeMetadata(directory: string, subtasks: OperatorParts['subtasks']): void {
  const operator: OperatorParts = {
    id: operatorIdOf('profile-op'),
    name: '',
    uid: 'profile-op',
    parallelism: PARALLELISM,
    maxParallelism: MAX_PARALLELISM,
    ...(subtasks === undefined ? {} : { subtasks }),
  };
  const target = join(directory, '_metadata');
  writeFileSync(`${target}.part`, metadata(5, [operator]));
  renameSync(`${target}.part`, target);
}
