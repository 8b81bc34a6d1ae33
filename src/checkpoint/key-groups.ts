/**
 * Key groups: which of an operator's `maxParallelism` groups holds a key, and which subtask held a group.
 *
 *   key group = m(key.hashCode()) mod maxParallelism        m: one 4-byte round of murmur3-32 with seed 0, made non-negative
 *   subtask   = floor(key group × parallelism / maxParallelism)
 *
 * Pruning by key group is only as right as `hashCode`: it is known for the types below and not for user classes or enums.
 *
 * Flink: org.apache.flink.runtime.state.KeyGroupRangeAssignment, org.apache.flink.util.MathUtils.murmurHash (1.20.5).
 */
import type { KeyGroupRange } from './handles.js';

/** MathUtils.murmurHash: an int to a non-negative int. */
export function murmurOfHash(hash: number): number {
  let h = Math.imul(hash, 0xcc9e2d51);
  h = (h << 15) | (h >>> 17);
  h = Math.imul(h, 0x1b873593);
  h = (h << 13) | (h >>> 19);
  h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  h ^= 4;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  if (h >= 0) return h;
  return h === -0x80000000 ? 0 : -h;
}

/** The key group of a key with this Java hash code. @param maxParallelism of the operator, from `_metadata` */
export function keyGroupOfHash(hash: number, maxParallelism: number): number {
  return murmurOfHash(hash) % maxParallelism;
}

/** The subtask that a key group belongs to. */
export function subtaskOfKeyGroup(keyGroup: number, parallelism: number, maxParallelism: number): number {
  return Math.floor((keyGroup * parallelism) / maxParallelism);
}

/** The key groups of a subtask. A restored snapshot may say otherwise: the range in the handle rules. */
export function keyGroupsOfSubtask(subtask: number, parallelism: number, maxParallelism: number): KeyGroupRange {
  const first = Math.ceil((subtask * maxParallelism) / parallelism);
  const last = Math.floor(((subtask + 1) * maxParallelism - 1) / parallelism);
  return { first, count: last - first + 1 };
}

/** The max parallelism Flink chooses for an operator that sets none: 1.5 × parallelism as a power of two, 128 to 32768. */
export function defaultMaxParallelism(parallelism: number): number {
  const wanted = parallelism + Math.floor(parallelism / 2);
  let power = 128;
  while (power < wanted && power < 32768) power *= 2;
  return power;
}

/** String.hashCode(): over UTF-16 units. */
export function hashString(text: string): number {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (Math.imul(31, h) + text.charCodeAt(i)) | 0;
  return h;
}

/** Long.hashCode(). */
export function hashLong(value: bigint): number {
  return Number(BigInt.asIntN(32, value ^ (value >> 32n)));
}
