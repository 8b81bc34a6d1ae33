/**
 * source_offsets: where each source goes on reading, whatever its connector stores: one row for each split of a reader or an
 * enumerator.
 *
 * What an enumerator knows beside its splits stands in the details of its rows (`enumerator`) when that is short, otherwise in a
 * row of its own without a holder. Bytes of a connector that is not known are rows without a connector, with `$hex` in the details.
 */
import type { Versioned } from '../connectors/bytes.js';
import { type Details, detailsJson } from '../connectors/details.js';
import { type DecodedSource, decodeSource } from '../connectors/detect.js';
import { decodeListEntry, decodeSourceCoordinator } from '../connectors/envelopes.js';
import type { Split } from '../connectors/format.js';
import { LEGACY_SOURCES } from '../connectors/legacy-sources.js';
import { StateQueryError } from '../errors.js';
import { BIGINT, INTEGER, JSON_TYPE, JsonText, VARCHAR, type Value } from '../types.js';
import { operatorScope } from './explain.js';
import { coordinatorBytes, elementValue, isBytesState, stateElements } from './operator-elements.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, OPERATOR_COLUMNS } from './spec.js';
import type { OperatorStates, OperatorView } from './states.js';
import type { Filter, Table, TableSpec } from './table.js';

export const SOURCE_OFFSETS: TableSpec = {
  name: 'source_offsets',
  aliases: ['SourceOffsets'],
  description: 'where each source goes on reading: one row for each split of a reader or an enumerator',
  columns: [
    ...OPERATOR_COLUMNS,
    column('subtask_index', INTEGER, 'subtask of the reader; NULL for the enumerator'),
    column('connector', VARCHAR, 'kafka, kinesis, filesystem, mysql-cdc …; NULL when the bytes do not tell'),
    column('holder', VARCHAR, 'reader, enumerator-assigned or enumerator-unassigned; NULL for what is no split'),
    column('topic', VARCHAR, 'topic or stream'),
    column('partition_id', INTEGER, 'partition of the topic'),
    column('next_offset', BIGINT, 'first record not yet read, whatever the connector stores'),
    column('stored_offset', BIGINT, 'offset as in the file, with the marks that connectors use for beginning and end'),
    column('offset_marker', VARCHAR, 'earliest, latest or committed; NULL where an offset is stored'),
    column('stop_offset', BIGINT, 'first record that is not read any more; NULL without end'),
    column('split_id', VARCHAR, 'name of the split'),
    column('details', JSON_TYPE, 'everything that the bytes say'),
  ],
  examples: ['SELECT topic, partition_id, next_offset FROM source_offsets ORDER BY topic, partition_id'],
};

export function sourceOffsetsTable(snapshot: OpenedSnapshot): Table {
  return rowTable(SOURCE_OFFSETS, filters => sourceOffsetRows(snapshot, filters), {
    scope: filters => operatorScope(snapshot, filters),
  });
}

const READER_STATE = 'SourceReaderState';
/** facts no longer than this stand in every row of the enumerator */
const SHORT_FACTS = 256;

/** The rows of source_offsets. */
export function* sourceOffsetRows(snapshot: OpenedSnapshot, filters: readonly Filter[] = []): Generator<Row> {
  for (const operator of snapshot.operators) {
    if (!operatorMightMatch(operator, filters)) continue;
    const states = snapshot.statesOf(operator);
    const cells = { operator_id: operator.id, operator_uid: operator.uid, operator_name: operator.name };
    for (const row of readSource(snapshot, states).rows()) yield { ...cells, ...row };
    yield* legacyRows(snapshot, states, cells);
  }
}

/** The names that may speak for a connector. */
export function namesOf(operator: OperatorView): string[] {
  return [operator.uid, operator.name].filter(n => n !== null);
}

/**
 * The connector of an operator's enumerator; undefined when there is none, or its bytes do not tell. Reads the splits of the
 * readers only where the enumerator alone does not say enough. @throws StateQueryError
 */
export function enumeratorConnector(snapshot: OpenedSnapshot, states: OperatorStates): string | undefined {
  const coordinator = coordinatorBytes(snapshot, states);
  const enumerator = coordinator === undefined ? undefined : attempt(() => decodeSourceCoordinator(coordinator));
  if (enumerator === undefined) return undefined;
  const alone = decodeSource({ splits: [], enumerator, names: namesOf(states.operator) });
  if (alone !== undefined) return alone.enumerator === undefined ? undefined : alone.connector;
  const { decoded } = readSource(snapshot, states);
  return decoded?.enumerator === undefined ? undefined : decoded.connector;
}

interface Source {
  readonly decoded: DecodedSource | undefined;
  rows(): Generator<Row>;
}
interface ReaderEntry {
  readonly subtask: number;
  readonly bytes: Uint8Array;
  readonly entry: Versioned | undefined;
}

/** Reads the new-style source of an operator, if it is one. */
export function readSource(snapshot: OpenedSnapshot, states: OperatorStates): Source {
  const entries: ReaderEntry[] = [];
  for (const { subtask, bytes } of stateElements(snapshot, states, v => v.name === READER_STATE && isBytesState(v))) {
    // the element is a byte[]: i32 length, bytes
    const value = bytes.subarray(4);
    entries.push({ subtask, bytes: value, entry: attempt(() => decodeListEntry(value)) });
  }
  const coordinator = coordinatorBytes(snapshot, states);
  const isReader = states.variants.some(v => v.name === READER_STATE);
  const enumerator = coordinator === undefined ? undefined : attempt(() => decodeSourceCoordinator(coordinator));
  const splits = entries.flatMap(e => (e.entry === undefined ? [] : [e.entry]));
  const decoded = decodeSource({ splits, enumerator, names: namesOf(states.operator) });
  return {
    decoded,
    *rows() {
      let next = 0;
      for (const { subtask, bytes, entry } of entries) {
        const split = entry === undefined ? undefined : decoded?.splits?.[next];
        if (entry !== undefined) next++;
        const cells = { subtask_index: subtask, holder: 'reader' };
        if (split !== undefined && decoded !== undefined) yield { ...cells, ...splitCells(decoded.connector, split) };
        else yield { ...cells, ...unknown(entry ?? { version: undefined, bytes }) };
      }
      if (enumerator === undefined) return;
      if (decoded?.enumerator !== undefined) yield* enumeratorRows(decoded.connector, decoded.enumerator);
      else if (isReader && enumerator.bytes.length > 0) yield unknown(enumerator);
    },
  };
}

function* enumeratorRows(connector: string, { splits, facts }: NonNullable<DecodedSource['enumerator']>): Generator<Row> {
  const text = facts === undefined ? undefined : detailsJson(facts);
  const short = text !== undefined && text.length <= SHORT_FACTS && splits.length > 0;
  for (const { holder, split } of splits) yield { holder, ...splitCells(connector, split, short ? facts : undefined) };
  if (text !== undefined && !short) yield { connector, details: new JsonText(text) };
}

function splitCells(connector: string, split: Split, enumerator?: Details): Row {
  return {
    connector: split.connector === undefined ? connector : split.connector,
    topic: split.topic ?? null,
    partition_id: split.partition ?? null,
    next_offset: split.next ?? null,
    stored_offset: split.stored ?? null,
    offset_marker: split.marker ?? null,
    stop_offset: split.stop ?? null,
    split_id: split.splitId,
    details: new JsonText(detailsJson(enumerator === undefined ? split.details : { ...split.details, enumerator })),
  };
}

function unknown({ version, bytes }: { readonly version: number | undefined; readonly bytes: Uint8Array }): Row {
  return { details: new JsonText(detailsJson({ serializer_version: version, $hex: bytes })) };
}

/** Sources that keep their positions in a state of their own, named after them. */
function* legacyRows(snapshot: OpenedSnapshot, states: OperatorStates, cells: Row): Generator<Row> {
  for (const variant of states.variants) {
    const format = variant.kind === 'operator' ? LEGACY_SOURCES.find(f => f.state.test(variant.name)) : undefined;
    if (format === undefined) continue;
    const bySubtask = new Map<number, Value[]>();
    for (const element of stateElements(snapshot, states, v => v === variant)) {
      const value = elementValue(snapshot, element);
      if (value === undefined) continue;
      const values = bySubtask.get(element.subtask);
      if (values === undefined) bySubtask.set(element.subtask, [value]);
      else values.push(value);
    }
    for (const [subtask, values] of bySubtask)
      for (const split of format.read(variant.shape.value.type, values, variant.name))
        yield { ...cells, subtask_index: subtask, holder: 'reader', ...splitCells(format.connector, split) };
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StateQueryError) return undefined;
    throw error;
  }
}
