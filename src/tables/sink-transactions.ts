/**
 * sink_transactions: what sinks have begun and not yet committed: transactions, files, buffered requests; and the states of their
 * writers. One row for each.
 *
 * `state` is the state of the commit request as Flink names it (RECEIVED, RETRY, FAILED, COMMITTED), or: `writer` (the writer's own
 * state), `in-progress`, `pending`, `pre-committed`, `buffered`, `global`. Bytes of a connector that is not known are rows without
 * a connector, with `$hex` in the details.
 */
import type { Versioned } from '../connectors/bytes.js';
import { type Details, detailsJson, RawJson } from '../connectors/details.js';
import { decodeCommittables, decodeWriterStates } from '../connectors/detect.js';
import { type CommitRequest, decodeCollector, decodeGlobalCommitter, decodeListEntry } from '../connectors/envelopes.js';
import type { SinkItem } from '../connectors/format.js';
import { LEGACY_SINKS } from '../connectors/legacy-sinks.js';
import { decodeManifestCommittable } from '../connectors/paimon.js';
import { StateQueryError } from '../errors.js';
import { BIGINT, INTEGER, JSON_TYPE, JsonText, SMALLINT, VARCHAR } from '../types.js';
import { operatorScope } from './explain.js';
import { elementValue, isBytesState, stateElements } from './operator-elements.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { namesOf } from './source-offsets.js';
import { column, OPERATOR_COLUMNS } from './spec.js';
import type { OperatorStates } from './states.js';
import type { Filter, Table, TableSpec } from './table.js';

export const SINK_TRANSACTIONS: TableSpec = {
  name: 'sink_transactions',
  aliases: ['SinkTransactions'],
  description: 'what sinks have begun and not yet committed: transactions, files, buffered requests; states of their writers',
  columns: [
    ...OPERATOR_COLUMNS,
    column('subtask_index', INTEGER, 'subtask that stored it'),
    column('connector', VARCHAR, 'kafka, filesystem, iceberg, paimon …; NULL when the bytes do not tell'),
    column('checkpoint_id', BIGINT, 'checkpoint that it belongs to'),
    column('transaction_id', VARCHAR, 'name of the transaction or file'),
    column('producer_id', BIGINT, "producer id of Kafka's transaction"),
    column('epoch', SMALLINT, "epoch of Kafka's transaction"),
    column(
      'state',
      VARCHAR,
      'RECEIVED, RETRY, FAILED, COMMITTED of a commit request; writer, in-progress, pending, pre-committed, buffered',
    ),
    column('details', JSON_TYPE, 'everything that the bytes say'),
  ],
  examples: ['SELECT transaction_id, state FROM sink_transactions WHERE checkpoint_id = 42'],
};

export function sinkTransactionsTable(snapshot: OpenedSnapshot): Table {
  return rowTable(SINK_TRANSACTIONS, filters => sinkTransactionRows(snapshot, filters), {
    scope: filters => operatorScope(snapshot, filters),
  });
}

const WRITER_STATE = 'writer_raw_states';
const COMMITTER_STATE = 'streaming_committer_raw_states';
const GLOBAL_STATE = 'global_committer_raw_states';

interface Entry {
  readonly subtask: number;
  readonly bytes: Uint8Array;
  readonly entry: Versioned | undefined;
}

/** The rows of sink_transactions. */
export function* sinkTransactionRows(snapshot: OpenedSnapshot, filters: readonly Filter[] = []): Generator<Row> {
  for (const operator of snapshot.operators) {
    if (!operatorMightMatch(operator, filters)) continue;
    const states = snapshot.statesOf(operator);
    const cells = { operator_id: operator.id, operator_uid: operator.uid, operator_name: operator.name };
    for (const row of operatorRows(snapshot, states)) yield { ...cells, ...row };
  }
}

function* operatorRows(snapshot: OpenedSnapshot, states: OperatorStates): Generator<Row> {
  const names = namesOf(states.operator);
  const writers = listEntries(snapshot, states, WRITER_STATE);
  // a writer without a name may be that of a committer whose bytes say more
  if (writers.length > 0) yield* writerRows(writers, [...names, ...committersOf(snapshot)]);
  yield* committerRows(listEntries(snapshot, states, COMMITTER_STATE), names, decodeCollector);
  yield* committerRows(listEntries(snapshot, states, GLOBAL_STATE), names, decodeGlobalCommitter);
  for (const variant of states.variants) {
    const format = variant.kind === 'operator' ? LEGACY_SINKS.find(f => f.matches(variant.name, variant.registered.value)) : undefined;
    if (format === undefined) continue;
    for (const element of stateElements(snapshot, states, v => v === variant)) {
      const { connector, items } = format.read(element.bytes, variant.shape.value.type, () => elementValue(snapshot, element));
      for (const item of items) yield { subtask_index: element.subtask, connector, ...itemCells(item) };
    }
  }
}

/** The connectors of all committables of the snapshot. */
function committersOf(snapshot: OpenedSnapshot): string[] {
  const found = new Set<string>();
  for (const operator of snapshot.operators) {
    const states = snapshot.statesOf(operator);
    if (!states.variants.some(v => v.name === COMMITTER_STATE)) continue;
    // a committer whose file is damaged says nothing here, and what is wrong in its own rows
    const entries = attempt(() => listEntries(snapshot, states, COMMITTER_STATE)) ?? [];
    const requests = entries.flatMap(({ entry }) => (entry === undefined ? [] : (attempt(() => decodeCollector(entry)) ?? [])));
    const decoded = decodeCommittables(
      requests.map(r => r.committable),
      namesOf(operator),
    );
    if (decoded !== undefined) found.add(decoded.connector);
  }
  return [...found];
}

function listEntries(snapshot: OpenedSnapshot, states: OperatorStates, name: string): Entry[] {
  const entries: Entry[] = [];
  for (const { subtask, bytes } of stateElements(snapshot, states, v => v.name === name && isBytesState(v))) {
    const value = bytes.subarray(4);
    entries.push({ subtask, bytes: value, entry: attempt(() => decodeListEntry(value)) });
  }
  return entries;
}

function* writerRows(entries: readonly Entry[], names: readonly string[]): Generator<Row> {
  const decoded = decodeWriterStates(
    entries.flatMap(e => (e.entry === undefined ? [] : [e.entry])),
    names,
  );
  let next = 0;
  for (const { subtask, bytes, entry } of entries) {
    const items = entry === undefined ? undefined : decoded?.items[next++];
    if (items === undefined) yield { subtask_index: subtask, state: 'writer', ...unknown(entry ?? { version: undefined, bytes }) };
    else
      for (const item of items)
        yield { subtask_index: subtask, connector: item.connector ?? decoded?.connector ?? null, ...itemCells(item) };
  }
}

function* committerRows(
  entries: readonly Entry[],
  names: readonly string[],
  decode: (entry: Versioned) => readonly CommitRequest[],
): Generator<Row> {
  const collected = entries.map(e => ({ ...e, requests: e.entry === undefined ? undefined : attemptCollector(e.entry, decode) }));
  const requests = collected.flatMap(e => e.requests ?? []);
  const decoded = decodeCommittables(
    requests.map(r => r.committable),
    names,
  );
  let next = 0;
  for (const { subtask, bytes, entry, requests: own } of collected) {
    if (own === undefined) {
      const manifests = entry === undefined ? undefined : attempt(() => decodeManifestCommittable(entry));
      if (manifests !== undefined) {
        for (const item of manifests) yield { subtask_index: subtask, connector: 'paimon', ...itemCells(item) };
        continue;
      }
      yield { subtask_index: subtask, ...unknown(entry ?? { version: undefined, bytes }) };
      continue;
    }
    for (const request of own) {
      const item = decoded?.items[next++];
      const around = { checkpoint_id: request.checkpointId, state: request.global === true ? 'global' : request.state };
      const frame = { subtask: request.subtask ?? undefined, retries: request.retries ?? undefined };
      if (item === undefined) {
        yield { subtask_index: subtask, ...around, ...unknown(request.committable, frame) };
        continue;
      }
      const cells = itemCells(item, frame);
      yield {
        subtask_index: subtask,
        connector: item.connector ?? decoded?.connector ?? null,
        ...cells,
        ...around,
        checkpoint_id: request.checkpointId ?? cells['checkpoint_id'],
      };
    }
  }
}

function itemCells(item: SinkItem, frame: { readonly [name: string]: Details | undefined } = {}): Row {
  const { details } = item;
  const framed = Object.values(frame).some(v => v !== undefined);
  const isObject = typeof details === 'object' && details !== null && !Array.isArray(details) && !(details instanceof RawJson);
  const all: Details = framed
    ? isObject && !(details instanceof Uint8Array)
      ? { ...details, ...frame }
      : { committable: details, ...frame }
    : details;
  return {
    checkpoint_id: item.checkpointId ?? null,
    transaction_id: item.transactionId ?? null,
    producer_id: item.producerId ?? null,
    epoch: item.epoch ?? null,
    state: item.state ?? null,
    details: new JsonText(detailsJson(all)),
  };
}

function unknown(
  { version, bytes }: { readonly version: number | undefined; readonly bytes: Uint8Array },
  frame: { readonly [name: string]: Details | undefined } = {},
): Row {
  return { details: new JsonText(detailsJson({ serializer_version: version, $hex: bytes, ...frame })) };
}

const attemptCollector = (entry: Versioned, decode: (entry: Versioned) => readonly CommitRequest[]) => attempt(() => decode(entry));

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StateQueryError) return undefined;
    throw error;
  }
}
