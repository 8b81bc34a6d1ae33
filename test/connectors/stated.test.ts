/** Splits, enumerators, writer states and committables of stated snapshots, through source_offsets and sink_transactions. */
import { describe, expect, it } from 'vitest';
import { type Cells, hasStated, leaves, missing, type StatedOperator, statedCases, tablesOf } from './stated.js';

/** remarks beside the values, and words for what the table says in its own */
const REMARKS: ReadonlySet<string> = new Set(['note', 'meaning', 'starting', 'stopping', 'status', 'kind']);

const ofOperator = (rows: readonly Cells[], operator: StatedOperator): Cells[] =>
  rows.filter(r => r['operator_id'] === operator.operator_id);

describe.runIf(hasStated)('stated connectors', () => {
  for (const stated of statedCases('connectors')) {
    const sources = stated.operators.filter(o => o.coordinator !== undefined || o.states.some(s => s.name === 'SourceReaderState'));
    const sinks = stated.operators.filter(o => o.states.some(s => /_raw_states$/.test(s.name)));
    if (sources.length + sinks.length === 0) continue;
    describe(stated.name, () => {
      const tables = tablesOf(stated.snapshot);
      for (const operator of sources) {
        it(`${operator.uid}: splits`, () => {
          const rows = ofOperator(tables.offsets, operator).filter(r => r['holder'] === 'reader');
          const expected = operator.states.find(s => s.name === 'SourceReaderState')?.rows ?? [];
          expect(rows.map(r => r['subtask_index'])).toEqual(expected.map(r => r.subtask));
          expect(rows.filter(r => r['connector'] === null || r['connector'] === undefined)).toEqual([]);
          expected.forEach((row, i) => {
            expect(missing(leaves(row.decoded ?? null, REMARKS), [rows[i]])).toEqual([]);
          });
        });
        it(`${operator.uid}: enumerator`, () => {
          const rows = ofOperator(tables.offsets, operator).filter(r => r['holder'] !== 'reader');
          expect(rows.length).toBeGreaterThan(0);
          expect(missing(leaves(operator.coordinator?.decoded ?? null, REMARKS), rows)).toEqual([]);
        });
      }
      for (const operator of sinks) {
        it(`${operator.uid}: sink`, () => {
          const rows = ofOperator(tables.transactions, operator);
          const expected = operator.states
            .flatMap(s => s.rows)
            .flatMap(row => row.committables?.map(c => ({ ...row, decoded: c.decoded })) ?? [row]);
          expect(rows.map(r => r['subtask_index'])).toEqual(expected.map(r => r.subtask));
          expect(rows.filter(r => r['connector'] === null || r['connector'] === undefined)).toEqual([]);
          expected.forEach((row, i) => {
            expect(missing(leaves(row.decoded ?? null, REMARKS), [rows[i]])).toEqual([]);
            if (typeof row.checkpoint_id === 'string') expect(String(rows[i]['checkpoint_id'])).toBe(row.checkpoint_id);
          });
        });
      }
    });
  }
});
