/** Compiled plans: every state of the SQL savepoints that Flink's own tests wrote, and of those whose contents are stated. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readMetadataFile } from '../../src/checkpoint/metadata.js';
import { ReadStats } from '../../src/io/source.js';
import { planNames } from '../../src/names/operator-names.js';
import { type CompiledPlan, parsePlan, readPlan } from '../../src/names/plan.js';
import { planNaming } from '../../src/names/plan-states.js';
import { type OpenedSnapshot, openSnapshot } from '../../src/tables/snapshot.js';
import type { StateVariant } from '../../src/tables/states.js';
import { sqlTypeText } from '../../src/types.js';

const SHARED = process.env['STATEQUERY_SHARED'] ?? resolve(import.meta.dirname, '../../../shared');
const CORPUS = join(SHARED, 'corpus/sql');
const STATED = join(SHARED, 'stated/sql');

function metadataFiles(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(f => basename(f) === '_metadata');
  return files.map(f => join(directory, f)).sort();
}
function planOf(metadataPath: string): string | undefined {
  for (let folder = dirname(metadataPath), up = 0; up < 5; folder = dirname(folder), up++)
    if (existsSync(join(folder, 'plan.json'))) return join(folder, 'plan.json');
  return undefined;
}

const open: OpenedSnapshot[] = [];
afterAll(() => {
  for (const snapshot of open) snapshot.close();
});
function named(metadataPath: string, plan: CompiledPlan): OpenedSnapshot {
  const snapshot = openSnapshot(metadataPath, { names: planNames(plan, readMetadataFile(metadataPath, new ReadStats())) });
  open.push(snapshot);
  return snapshot;
}
const variants = (s: OpenedSnapshot): StateVariant[] => s.operators.flatMap(o => [...s.statesOf(o).variants]);
const typesOf = ({ shape }: StateVariant): string =>
  [shape.key, shape.mapKey, shape.value].map(c => (c === undefined ? '-' : sqlTypeText(c.type))).join(' | ');
/** Types of a state, by `<uid>.<state>`. */
const table = (s: OpenedSnapshot): Record<string, string> =>
  Object.fromEntries(variants(s).map(v => [`${v.operator.uid}.${v.name}`, typesOf(v)]));

/** Fields that are called so by the plan, or by a class that the plan does not describe. */
const OWN_F = /async-calc|ltcnt|^f\.(s1|s2|capturedOrder)/;

describe.runIf(existsSync(CORPUS))('every plan of the corpus', () => {
  it('names every operator and every state of its savepoint', () => {
    const left: string[] = [];
    const nameless: string[] = [];
    let savepoints = 0;
    let states = 0;
    for (const metadataPath of metadataFiles(CORPUS)) {
      const plan = planOf(metadataPath);
      if (plan === undefined) continue;
      savepoints++;
      const snapshot = named(metadataPath, readPlan(plan));
      for (const o of snapshot.operators) if (o.uid === null || o.name === null) nameless.push(o.id);
      for (const variant of variants(snapshot)) {
        states++;
        const types = typesOf(variant);
        const id = `${variant.operator.uid}.${variant.name} ${types}`;
        const own = OWN_F.test(id);
        if (/\bf\d+ /.test(types) && !own) left.push(id);
        if (variant.notes.length > 0 && !own) left.push(`${id}: ${variant.notes.join('; ')}`);
      }
      snapshot.close();
    }
    expect(savepoints).toBe(144);
    expect(states).toBeGreaterThan(900);
    expect(left).toEqual([]);
    // an interval join over a window that cannot be: its operators have no uid
    expect(nameless).toEqual(['1846e22767797c2360005f016e92a2ad', 'baeb31bf019feaca4d90f67eb77d49b4']);
  }, 60_000);

  it.each([
    [
      'stream-exec-incremental-group-aggregate_1/incremental-group-aggregate-complex',
      {
        '14_global-group-aggregate.accState': 'STRUCT(a INTEGER) | - | STRUCT(count BIGINT, max BIGINT)',
        '18_incremental-group-aggregate.distinctAcc_0': 'STRUCT(b BIGINT, "$f2" INTEGER) | BIGINT | BIGINT',
        '20_global-group-aggregate.accState': 'STRUCT(b BIGINT) | - | STRUCT(sum BIGINT, count BIGINT, sum_1 BIGINT, sum_2 BIGINT)',
      },
    ],
    [
      'stream-exec-join_1/join-right-join',
      {
        '88_join.left-records': 'STRUCT(deptno INTEGER) | STRUCT(deptno INTEGER, name VARCHAR) | INTEGER',
        '88_join.right-records':
          'STRUCT(deptno INTEGER) | STRUCT(department_num INTEGER, department_name VARCHAR) | STRUCT(appearances INTEGER, associations INTEGER)',
      },
    ],
    [
      'stream-exec-temporal-join_1/temporal-join-table-join',
      {
        '9_temporal-join.left': 'STRUCT(currency VARCHAR) | BIGINT | STRUCT(amount BIGINT, currency VARCHAR, rowtime TIMESTAMP)',
        '9_temporal-join.right': 'STRUCT(currency VARCHAR) | BIGINT | STRUCT(currency VARCHAR, rate BIGINT, rowtime TIMESTAMP)',
      },
    ],
    [
      'stream-exec-multi-join_1/four-way-join-no-common-join-key-with-restore',
      {
        '40_multi-join.multi-join-input-0':
          'STRUCT(user_id_0 VARCHAR) | STRUCT(user_id_0 VARCHAR) | STRUCT(name VARCHAR, user_id_0 VARCHAR)',
        '45_multi-join.multi-join-input-1':
          'STRUCT(payment_id VARCHAR) | STRUCT(join_key STRUCT(user_id_3_key VARCHAR), record STRUCT(location VARCHAR, user_id_3 VARCHAR)) | INTEGER',
      },
    ],
    [
      'stream-exec-sink_1/insert-into-upsert-with-sink-upsert-materializer-writable-metadata-v1',
      { '3_upsert-materialize.values': 'STRUCT("name" VARCHAR) | - | STRUCT("name" VARCHAR, score BIGINT)[]' },
    ],
    [
      'stream-exec-rank_1/rank-test-update-fast-strategy',
      {
        '15_rank.data-state-with-update':
          'STRUCT(b VARCHAR) | STRUCT(a INTEGER, b VARCHAR) | STRUCT(record STRUCT(a INTEGER, b VARCHAR, count_c BIGINT), inner_rank INTEGER)',
      },
    ],
  ])('%s', (path, expected) => {
    const folder = join(CORPUS, path);
    const types = table(named(join(folder, 'savepoint/_metadata'), readPlan(join(folder, 'plan.json'))));
    const plain = (text: string): string => text.replaceAll('"name"', 'name');
    for (const [state, text] of Object.entries(expected)) expect(plain(types[state]), state).toBe(plain(text));
  });

  it('names nothing where types or numbers of columns differ, and says why', () => {
    const folder = join(CORPUS, 'stream-exec-join_1/join-right-join');
    const text = JSON.stringify(JSON.parse(JSON.stringify(readPlanJson(folder))));
    const metadata = join(folder, 'savepoint/_metadata');
    const before = table(named(metadata, parsePlan('{"nodes":[],"edges":[]}')));
    const wrongType = named(metadata, parsePlan(text.replaceAll('`deptno` INT', '`deptno` BIGINT')));
    expect(table(wrongType)['88_join.left-records']).toBe(before['88_join.left-records']);
    const notes = variants(wrongType).find(v => v.name === 'left-records')?.notes;
    expect(notes).toEqual(['column names of the plan do not fit: column 0 of key (deptno) is INTEGER, expected BIGINT']);
    const wider = named(metadata, parsePlan(text.replaceAll('`name` VARCHAR(2147483647)', '`name` VARCHAR(2147483647), `more` INT')));
    expect(table(wider)['88_join.left-records']).toBe(before['88_join.left-records']);
    expect(variants(wider).find(v => v.name === 'left-records')?.notes[0]).toContain('map key has 2 columns, expected 3');
  });
});

function readPlanJson(folder: string): unknown {
  const plan = readPlan(join(folder, 'plan.json'));
  const nodes = [...plan.nodes.values()];
  return { nodes: nodes.map(n => n.json), edges: nodes.flatMap(n => n.inputs.map(i => ({ source: i.id, target: n.id }))) };
}

describe.runIf(existsSync(STATED))('every plan of the stated savepoints', () => {
  it('names every state', () => {
    const left: string[] = [];
    let states = 0;
    for (const metadataPath of metadataFiles(STATED)) {
      const plan = planOf(metadataPath);
      if (plan === undefined) continue;
      const snapshot = named(metadataPath, readPlan(plan));
      for (const variant of variants(snapshot)) {
        states++;
        if (/\bf\d+ /.test(typesOf(variant)) || variant.notes.length > 0 || variant.operator.name === null)
          left.push(`${metadataPath} ${variant.operator.uid}.${variant.name} ${typesOf(variant)} ${variant.notes.join('; ')}`);
      }
      snapshot.close();
    }
    expect(left).toEqual([]);
    expect(states).toBeGreaterThan(400);
  }, 60_000);

  it.each([
    [
      'lookup-join-materialized-1.20',
      '237_lookup-join-materialize.values',
      'STRUCT(word0 VARCHAR) | - | STRUCT(wd VARCHAR, info VARCHAR)[]',
    ],
    [
      'interval-join-heap-canonical-1.20',
      '204_interval-join.IntervalJoinRightCache',
      'STRUCT(ak VARCHAR) | BIGINT | STRUCT(record STRUCT(bk VARCHAR, bv BIGINT, bt TIMESTAMP), emitted BOOLEAN)[]',
    ],
    ['topn-retract-1.20', '122_rank.sorted-map', 'STRUCT(color VARCHAR) | - | MAP(STRUCT(big BIGINT), BIGINT)'],
    [
      'window-hop-onephase-1.20',
      '266_window-aggregate.window-aggs',
      'STRUCT(user VARCHAR) | - | STRUCT(count1 BIGINT, sum INTEGER, sum_1 DOUBLE, count BIGINT, max DECIMAL(10,2), count_1 BIGINT, distinctAcc_0 VARCHAR)',
    ],
    [
      'over-proctime-rows-bounded-1.20',
      '361_over-aggregate.accState',
      'STRUCT(user VARCHAR) | - | STRUCT(count BIGINT, count_1 BIGINT, sum DOUBLE, count1 BIGINT)',
    ],
  ])('%s', (name, state, expected) => {
    const folder = join(STATED, name);
    const metadata = metadataFiles(join(folder, 'snapshot'))[0];
    expect(table(named(metadata, readPlan(join(folder, 'plan.json'))))[state]).toBe(expected);
  });
});

describe('a plan', () => {
  it('with parts of other kinds than expected names nothing of them', () => {
    const text = JSON.stringify({
      nodes: [
        { id: 1, type: 'stream-exec-exchange_1', outputType: 'ROW<`a` INT>' },
        { id: 2, type: 'stream-exec-group-aggregate_1', grouping: [7], aggCalls: [null, 3, { argList: 'x', type: {} }], outputType: 9 },
        { id: 3, type: 'stream-exec-rank_1', partition: null, orderBy: [], rankStrategy: { primaryKeys: [null] } },
      ],
      edges: [null, { source: 1, target: 2 }, { source: 1, target: 3 }],
    });
    const { nodes } = parsePlan(text);
    const namesOf = (id: number, name: string) => {
      const node = nodes.get(id);
      return node === undefined ? undefined : planNaming(node, `${id}_x`, 'the plan').namesOf({ name, kind: 'keyed' });
    };
    expect(namesOf(2, 'distinctAcc_0')).toEqual([]);
    expect(namesOf(2, 'accState')?.every(n => n.key === undefined)).toBe(true);
    expect(namesOf(3, 'data-state-with-update')?.map(n => n.key)).toEqual([{ kind: 'row', columns: [] }]);
  });

  it('is refused when it is none', () => {
    expect(() => parsePlan('{', 'p.json')).toThrow(/the plan is no JSON/);
    expect(() => parsePlan('[]', 'p.json')).toThrow(/no list of nodes/);
    expect(() => parsePlan('{"nodes":[{"id":"x"}]}', 'p.json')).toThrow(/a node without id or type/);
  });
});
