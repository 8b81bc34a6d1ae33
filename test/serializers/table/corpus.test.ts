/**
 * The SQL savepoints that Flink's own restore tests use, with the compiled plan beside each: every state of every operator is
 * decoded to its last byte, and the columns have the types that the plan gives them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TRANSFORMATIONS } from '../../../src/checkpoint/sql-uids.js';
import { operatorIdOf } from '../../../src/checkpoint/uid.js';
import { columnValue, createColumn } from '../../../src/io/column.js';
import { Cursor } from '../../../src/io/cursor.js';
import { jsonOf } from '../../../src/io/json.js';
import type { Codec, SerializerSnapshot } from '../../../src/serializers/codec.js';
import { openKeyedState, openOperatorState } from '../../../src/state/open.js';
import { codecsOf } from '../../../src/state/state-codecs.js';
import { findMetadata, hasShared, openSnapshot, SHARED, subtasks } from '../../state/snapshots.js';

const SQL = join(SHARED, 'corpus/sql');

interface PlanNode {
  readonly id: number;
  readonly type: string;
  readonly outputType: unknown;
}
interface Plan {
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly { readonly source: number; readonly target: number }[];
}

/** A plan's type as statequery spells it, without NOT NULL. */
function spelled(type: unknown): string {
  if (typeof type === 'string') {
    return type
      .replaceAll('`', '')
      .replaceAll(/ NOT NULL/g, '')
      .replaceAll('VARCHAR(2147483647)', 'STRING')
      .replaceAll('VARBINARY(2147483647)', 'BYTES')
      .replaceAll(/TIMESTAMP\((\d)\) WITH LOCAL TIME ZONE/g, 'TIMESTAMP_LTZ($1)');
  }
  const t = type as { type: string; precision?: number; elementType?: unknown };
  if (t.type === 'TIMESTAMP_WITHOUT_TIME_ZONE') return `TIMESTAMP(${t.precision})`;
  if (t.type === 'TIMESTAMP_WITH_LOCAL_TIME_ZONE') return `TIMESTAMP_LTZ(${t.precision})`;
  return t.type;
}
/** The column types of a node's rows. */
function columnsOf(outputType: unknown): string[] {
  if (typeof outputType !== 'string') return (outputType as { fields: { fieldType: unknown }[] }).fields.map(f => spelled(f.fieldType));
  const columns: string[] = [];
  const inside = outputType.replace(/^ROW<(.*)>( NOT NULL)?$/s, '$1');
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= inside.length; i++) {
    if ('<('.includes(inside[i] ?? ' ')) depth++;
    else if (')>'.includes(inside[i] ?? ' ')) depth--;
    else if (i === inside.length || (inside[i] === ',' && depth === 0)) {
      columns.push(
        spelled(
          inside
            .slice(start, i)
            .trim()
            .replace(/^`[^`]*` /, ''),
        ),
      );
      start = i + 1;
    }
  }
  return columns;
}

/** All RowData below a snapshot, as lists of column types. */
function rowsIn(snapshot: SerializerSnapshot | undefined): string[][] {
  if (snapshot === undefined) return [];
  if (snapshot.serializer === 'RowDataSerializer') return [(snapshot.details['types'] as string[]).map(spelled)];
  return snapshot.children.flatMap(x => rowsIn(x.snapshot));
}
const includes = (all: readonly string[], some: readonly string[]): boolean => {
  const left = [...all];
  return some.every(t => {
    const at = left.indexOf(t);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
};

/** States whose rows are rows of the operator's input, or some of their columns. */
const ROWS_OF_INPUT = new Set([
  'deduplicate-state', 'left-records', 'right-records', 'left', 'right', 'inputState', 'values', 'eventQueuesStateName', 'sharedBuffer-events',
  'data-state-with-append', 'session-window-tvf-acc', 'window_deduplicate', 'window_rank', 'valueMapState', 'multi-join-input-0', 'multi-join-input-1',
  'multi-join-input-2', 'input-sort-buffer-data-0',
]); // biome-ignore format: a list

describe.runIf(hasShared)('SQL savepoints', () => {
  const found = findMetadata(SQL);

  it('are read to the last byte, with the types of the plan', { timeout: 60_000 }, () => {
    let states = 0;
    let values = 0;
    let typed = 0;
    const wrong: string[] = [];
    const opaque = new Set<string>();

    const check = (codec: Codec, bytes: Uint8Array, start: number, end: number, where: string): void => {
      const c = new Cursor(bytes, start, end);
      const value = codec.read(c);
      const s = new Cursor(bytes, start, end);
      codec.skip(s);
      const a = new Cursor(bytes, start, end);
      const column = createColumn(codec.type, 1);
      codec.append(a, column);
      const shown = jsonOf(codec.type, value).replaceAll(/"\$kind":"[^"]*",/g, '');
      if (c.position !== end || s.position !== end || a.position !== end)
        wrong.push(`${where}: ends at ${c.position}, ${s.position}, ${a.position} of ${end}`);
      if (jsonOf(codec.type, columnValue(column, 0)) !== shown)
        wrong.push(`${where}: ${shown} in a column is ${jsonOf(codec.type, columnValue(column, 0))}`);
      if (codec.opaque !== undefined) opaque.add(`${where}: ${codec.opaque}`);
      values++;
    };

    for (const path of found) {
      const snapshot = openSnapshot(path);
      // one test has the savepoint of another version in a folder below
      const above = ['..', '../..'].map(up => join(dirname(path), up, 'plan.json')).find(existsSync);
      const plan = JSON.parse(readFileSync(above ?? '', 'utf8')) as Plan;
      const nodes = new Map(plan.nodes.map(n => [n.id, n]));
      const operators = new Map<string, PlanNode>();
      for (const n of plan.nodes) for (const t of TRANSFORMATIONS) operators.set(operatorIdOf(`${n.id}_${t}`), n);
      for (const { operator, subtask, context } of subtasks(snapshot)) {
        const node = operators.get(operator.id);
        const inputs = plan.edges.filter(e => e.target === node?.id).map(e => columnsOf(nodes.get(e.source)?.outputType));
        if (subtask.managedOperator !== undefined) {
          const reader = openOperatorState(subtask.managedOperator, context);
          for (const state of reader.header.states) {
            states++;
            if (state.value === undefined) throw new Error(`${path} ${state.name}: ${state.unreadable}`);
            const codec = state.value.codec(context.codecs);
            for (const e of reader.elements(state)) check(codec, e.bytes, e.start, e.end, `${path} ${state.name}`);
          }
          reader.close();
        }
        if (subtask.managedKeyed === undefined) continue;
        const reader = openKeyedState(subtask.managedKeyed, context);
        const { key } = reader.header;
        const codecs = new Map(reader.header.states.map(s => [s.id, { state: s, ...codecsOf(key, s, context.codecs) }]));
        for (const state of reader.header.states) {
          states++;
          if (state.value === undefined) throw new Error(`${path} ${state.name}: ${state.unreadable}`);
          if (inputs.length === 0) continue;
          const rows = ROWS_OF_INPUT.has(state.name) ? rowsIn(state.value) : [];
          for (const row of [...rowsIn(key), ...rows].filter(r => !r.some(t => t.startsWith('ROW<')))) {
            typed++;
            if (!inputs.some(input => includes(input, row)))
              wrong.push(`${path} ${state.name}: (${row}) is no part of ${inputs.join(' | ')}`);
          }
        }
        const cursor = reader.entries({});
        while (cursor.next()) {
          const { state, ...parts } = codecs.get(cursor.state)!;
          const where = `${path} ${state.name}`;
          const { bytes } = cursor;
          expect([cursor.unsplit, cursor.unsplitKey]).toEqual([undefined, undefined]);
          check(parts.key, bytes, cursor.keyStart, cursor.keyEnd, `${where} key`);
          check(parts.namespace, bytes, cursor.namespaceStart, cursor.namespaceEnd, `${where} namespace`);
          if (state.kind === 'timer') continue;
          if (parts.mapKey !== undefined && parts.mapValue !== undefined) {
            check(parts.mapKey, bytes, cursor.userKeyStart, cursor.userKeyEnd, `${where} map key`);
            if (bytes[cursor.valueStart] === 0) check(parts.mapValue, bytes, cursor.valueStart + 1, cursor.valueEnd, `${where} map value`);
          } else if (parts.element !== undefined) {
            const c = new Cursor(bytes, cursor.valueStart, cursor.valueEnd);
            while (c.remaining > 0) {
              const start = c.position;
              parts.element.skip(c);
              check(parts.element, bytes, start, c.position, `${where} element`);
              if (c.remaining > 0) expect(c.u8()).toBe(0x2c);
            }
          } else if (parts.value !== undefined) check(parts.value, bytes, cursor.valueStart, cursor.valueEnd, where);
        }
        cursor.close();
        reader.close();
      }
    }
    expect(wrong.filter(w => !w.includes('"watermark"') && !w.includes('_delta_join_operator'))).toEqual([]);
    expect([...opaque]).toEqual([]);
    expect([found.length, states]).toEqual([144, 929]);
    expect(values).toBeGreaterThan(3000);
    expect(typed).toBeGreaterThan(400);
  });
});
