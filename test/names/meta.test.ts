/** What is said of operators and states for people: hints, places in the job graph, the page of `meta`. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metaJson, metaPage } from '../../src/cli/meta-page.js';
import type { Paint } from '../../src/output/color.js';
import { gatherNames } from '../../src/stateinfo/sources.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';

const ROOT = resolve(import.meta.dirname, '../..');
const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(ROOT, '../shared');
const STATED = join(SHARED, 'stated/sql');
const CORPUS = join(SHARED, 'corpus/sql');
const plain = (text: string): string => text;
const PAINT = { bold: plain, dim: plain, yellow: plain } as unknown as Paint;

async function pageOf(path: string, verbose = false): Promise<string> {
  const snapshot = await opened(path);
  try {
    return await metaPage(snapshot, PAINT, 100, verbose);
  } finally {
    snapshot.close();
  }
}
async function opened(path: string, beside = true): Promise<OpenedSnapshot> {
  return openSnapshot(path, await gatherNames(path, { beside }));
}

describe('an operator without a name', () => {
  const path = join(ROOT, 'fixtures/snapshots/1.20-kinds-rocksdb-canonical/snapshot');
  it('is told by its states', async () => {
    const snapshot = await opened(path);
    const hints = snapshot.operators.map(o => snapshot.hintOf(o));
    snapshot.close();
    expect(hints).toContain('process function; states count VALUE BIGINT; parallelism 2');
    expect(hints.find(h => h?.includes('value-long'))).toMatch(
      /^process function; states value-long VALUE BIGINT, .*map-string-long MAP VARCHAR => BIGINT, and 6 more; parallelism 2$/,
    );
    expect(await pageOf(path)).toContain('    likely: process function; states count VALUE BIGINT; parallelism 2\n');
  });
});

describe.runIf(existsSync(CORPUS))('an operator without a uid', () => {
  it('has an id from its place in the job graph', async () => {
    const snapshot = await opened(join(CORPUS, 'stream-exec-interval-join_1/interval-join-negative-interval/savepoint'));
    const told = snapshot.operators.flatMap(o => snapshot.topologyOf(o) ?? []);
    const json = JSON.parse(metaJson(snapshot, 'exact')) as { operators: { operator_id: string; remarks: string[] }[] };
    snapshot.close();
    expect(told.sort()).toEqual([
      'the id is that of its place in the job graph (node 6, behind 23_watermark-assigner): it changes with the graph, no uid is set',
      'the id is that of its place in the job graph (node 7, behind 27_watermark-assigner): it changes with the graph, no uid is set',
    ]);
    expect(json.operators.flatMap(o => o.remarks)).toEqual(expect.arrayContaining(told));
  });
});

describe.runIf(existsSync(STATED))('the page', () => {
  it('has names where a plan has them', async () => {
    const page = await pageOf(join(STATED, 'group-agg-grouping-sets-1.20/snapshot'));
    expect(page).toMatch(/^15_group-aggregate \(plan\), GroupAggregate\[15\], [0-9a-f]{32}, parallelism 2 of$/m);
    expect(page).toMatch(/^ {2}accState +keyed +VALUE +user VARCHAR, item INTEGER, "\$e" BIGINT\n +→ count1 BIGINT$/m);
  });
  it.each(['window-hop-onephase-1.20', 'match-recognize-heap-canonical-1.20', 'dedup-alltypes-lastrow-heap-canonical-1.20'])(
    'of %s fits 100 columns',
    async name => {
      const page = await pageOf(join(STATED, name, 'snapshot'), true);
      expect(page.split('\n').filter(line => line.length > 100)).toEqual([]);
      expect(page).toContain('_metadata version 4: 1.16–1.20');
    },
  );
});
