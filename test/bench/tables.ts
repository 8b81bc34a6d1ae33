/**
 * Writes a native savepoint as RocksDB lays one out, with the operator, keys and values of states.ts: for each subtask and state the tables
 *
 *   level 1   three that follow each other, with every key; each fourth has a value that was overwritten, and some keys are gone
 *   level 0   one over the whole range: the new values, and tombstones
 *
 * The tables are made in memory, so it is for thousands of keys, not for millions.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashString, keyGroupOfHash, keyGroupsOfSubtask } from '../../src/checkpoint/key-groups.js';
import { i32, i64, list, type Part, relative, utf } from '../checkpoint/encode.js';
import {
  boundsOf,
  bytesOf,
  compareVersions,
  concat,
  DELETE,
  edit,
  encodeLog,
  encodeTable,
  PUT,
  type TableForm,
  type Version,
} from '../sst/encoder.js';
import { string } from '../state/encode.js';
import { type GeneratedState, headerOfStates, MAX_PARALLELISM, PARALLELISM, STATES, WRITERS, writeMetadata } from './states.js';

const TABLES = 3;
const GONE = 20;

/** What a lookup of a key that may be anywhere opens for each state. */
export const TABLES_OF_A_KEY = 2;

/** Writes it into a directory that it makes. */
export function writeTables(directory: string, keys: number, form: TableForm = {}): GeneratedState {
  mkdirSync(directory, { recursive: true });
  let bytes = 0;
  const write = (name: string, content: Uint8Array): Part => {
    writeFileSync(join(directory, name), content);
    bytes += content.length;
    return relative(name, content.length);
  };
  const subtasks = Array.from({ length: PARALLELISM }, (_, index) => {
    const { first, count } = keyGroupsOfSubtask(index, PARALLELISM, MAX_PARALLELISM);
    const shared: Part[] = [];
    const records = [concat(edit.comparator('leveldb.BytewiseComparator'), edit.logNumber(3), edit.lastSequence(BigInt(2 * keys)))];
    let number = 10;
    STATES.forEach((state, id) => {
      const family = id + 1;
      records.push(concat(edit.columnFamily(family), edit.addColumnFamily(state)));
      const { old, recent } = versionsOf(keys, WRITERS[id], keyGroup => keyGroup >= first && keyGroup < first + count);
      const size = Math.ceil(old.length / TABLES);
      const tables = [...Array.from({ length: TABLES }, (_, i) => old.slice(i * size, (i + 1) * size)), recent];
      tables.forEach((versions, i) => {
        const content = encodeTable(versions, { columnFamily: state, ...form });
        const name = `${String(number).padStart(6, '0')}.sst`;
        shared.push([utf(name), write(`subtask-${index}-${name}`, content)]);
        const level = i < TABLES ? 1 : 0;
        records.push(concat(edit.columnFamily(family), edit.newFile({ level, number, size: content.length, ...boundsOf(versions) })));
        number++;
      });
    });
    const others = {
      'MANIFEST-000004': encodeLog(records),
      CURRENT: bytesOf('MANIFEST-000004\n'),
    };
    const handle: Part = [
      11,
      i64(7),
      utf(`backend-${index}`),
      i32(first),
      i32(count),
      i64(bytes),
      write(`subtask-${index}-meta`, headerOfStates()),
      list(shared),
      list(Object.entries(others).map(([name, content]) => [utf(name), write(`subtask-${index}-${name}`, content)])),
      utf(`handle-${index}`),
    ];
    return { index, body: { managedKeyed: handle } };
  });
  writeMetadata(directory, subtasks);
  return { path: directory, bytes };
}

/** The versions of a state in some key groups, in the order of tables. */
function versionsOf(
  keys: number,
  write: (typeof WRITERS)[number],
  has: (keyGroup: number) => boolean,
): { old: Version[]; recent: Version[] } {
  const old: Version[] = [];
  const recent: Version[] = [];
  const buffer = Buffer.alloc(256);
  const encoded = (i: number): Uint8Array => Uint8Array.from(buffer.subarray(0, write(buffer, 0, i)));
  const add = (name: string, i: number, change: 'none' | 'overwritten' | 'gone'): void => {
    const keyGroup = keyGroupOfHash(hashString(name), MAX_PARALLELISM);
    if (!has(keyGroup)) return;
    const key = concat(Uint8Array.of(keyGroup), string(name), Uint8Array.of(0));
    old.push({ key, sequence: BigInt(i + 1), type: PUT, value: encoded(change === 'none' ? i : i + 1) });
    const sequence = BigInt(keys + i + 1);
    if (change === 'overwritten') recent.push({ key, sequence, type: PUT, value: encoded(i) });
    if (change === 'gone') recent.push({ key, sequence, type: DELETE, value: new Uint8Array(0) });
  };
  for (let i = 0; i < keys; i++) {
    add(`key_${i}`, i, i % 4 === 0 ? 'overwritten' : 'none');
    if (i % GONE === 0) add(`tmp_${i}`, i, 'gone');
  }
  return { old: old.sort(compareVersions), recent: recent.sort(compareVersions) };
}
