/**
 * What a right answer is: TRUTH.json beside a state of the bench.
 *
 * States made by Flink (`bench-flink`) and by states.ts have the same operator `profile-op`: String keys `key_<i>`, `count` a Long,
 * `profile` a POJO. Flink's have an operator `events-op` as well, with a map of three entries for every third key.
 */
import { readFileSync } from 'node:fs';
import { amountOf, countOf, nameOf, statusOf } from './states.js';

export interface Truth {
  /** version of the Flink that wrote the state; absent: states.ts did */
  readonly flink?: string;
  readonly keys: number;
  readonly sumCount: number;
  readonly eventEntries: number;
  readonly eventSum: number;
  readonly byStatus: readonly { readonly status: number; readonly count: number; readonly sumAmount: number; readonly avgAmount: number }[];
  readonly samples: Readonly<Record<string, Sample>>;
}

export interface Sample {
  readonly count: number;
  readonly profile: { readonly id: number; readonly name: string; readonly amount: number; readonly status: number };
}

export const SAMPLE = 'key_662';
export const NAME_PREFIX = 'user-';

export function readTruth(file: string): Truth {
  return JSON.parse(readFileSync(file, 'utf8')) as Truth;
}

/** Of a state of states.ts. */
export function truthOfMade(keys: number): Truth {
  const byStatus = [0, 1, 2, 3, 4].map(status => ({ status, count: 0, sumAmount: 0 }));
  let sumCount = 0;
  for (let i = 0; i < keys; i++) {
    sumCount += countOf(i);
    const group = byStatus[statusOf(i)];
    group.count++;
    group.sumAmount += amountOf(i);
  }
  const sample = (i: number): Sample => ({
    count: countOf(i),
    profile: { id: i, name: nameOf(i), amount: amountOf(i), status: statusOf(i) },
  });
  return {
    keys,
    sumCount,
    eventEntries: 0,
    eventSum: 0,
    byStatus: byStatus.map(group => ({ ...group, avgAmount: group.sumAmount / group.count })),
    samples: Object.fromEntries([662, 0].map(i => [`key_${i}`, sample(i)])),
  };
}

/** Keys by the first digit of what follows `user-` in the name, ascending. */
export function namesByDigit(truth: Truth): readonly (readonly [prefix: string, count: number])[] {
  const counts = new Array<number>(16).fill(0);
  if (truth.flink === undefined) for (let i = 0; i < truth.keys; i++) counts[Number.parseInt(nameOf(i)[NAME_PREFIX.length], 16)]++;
  else countFlinkNames(truth.keys, counts);
  return counts.map((n, digit) => [NAME_PREFIX + digit.toString(16), n] as const).filter(([, n]) => n > 0);
}

/** Names of Flink's states have the digits of (i * 0x9E3779B97F4A7C15 mod 2^64) >>> 20; the product is added up in two halves here. */
function countFlinkNames(keys: number, counts: number[]): void {
  let high = 0;
  let low = 0;
  for (let i = 0; i < keys; i++) {
    const top = high >>> 20;
    let digits = top > 0 ? top : ((high << 12) | (low >>> 20)) >>> 0;
    while (digits > 15) digits >>>= 4;
    counts[digits]++;
    const sum = low + 0x7f4a7c15;
    high = (high + 0x9e3779b9 + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    low = sum >>> 0;
  }
}
